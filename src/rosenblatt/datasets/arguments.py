"""What the makers of random data ask of their arguments, and how labels are flipped."""

from __future__ import annotations

from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Ints

__all__ = ["Seed", "check_share", "flip_share", "float_type", "whole"]

Seed: TypeAlias = int | np.random.Generator
"""A seed, or a generator to draw from."""


def whole(name: str, value: int, least: int) -> int:
    """Return a whole number that is at least `least`."""
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return number


def float_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Return float64 or float32 as a dtype."""
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ParameterError(f"dtype must be float64 or float32, got {kind}")
    return kind


def check_share(flip: float) -> None:
    """Refuse a share of labels to flip that is not between none and half."""
    if not 0 <= flip <= 0.5:
        raise ParameterError(f"flip must lie between 0 and 0.5, got {flip!r}")


def flip_share(y: Ints, share: float, rng: np.random.Generator) -> Ints:
    """Flip a share of the labels in place, and return which."""
    rows = np.sort(rng.choice(y.size, round(share * y.size), replace=False))
    y[rows] *= -1
    return rows
