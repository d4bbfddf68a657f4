"""Checks of constructor parameters: each error names the parameter, the value, and what it may be."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt.exceptions import ParameterError


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Require one of a few values."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(plain is choice or (type(plain) is type(choice) and plain == choice) for choice in choices):
        raise ParameterError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}.")


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
) -> float:
    """Require a finite real number within bounds."""
    wanted = "a finite number"
    wanted += f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    wanted += f" and below {below:g}" if below is not None else ""
    fits = _is(value, Real) and math.isfinite(value)
    if (
        not fits
        or (above is not None and not value > above)
        or (least is not None and not value >= least)
        or (below is not None and not value < below)
    ):
        raise ParameterError(f"{name}={value!r} must be {wanted}.")
    return float(value)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any) -> int:
    """Require a positive integer."""
    if not _is(value, Integral) or value < 1:
        raise ParameterError(f"{name}={value!r} must be an integer of at least 1.")
    return int(value)


def check_flag(name: str, value: Any) -> None:
    """Require True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name}={value!r} must be True or False.")


def check_verbose(value: Any) -> None:
    """Require a number of words, or a flag, which is one."""
    if not isinstance(value, Integral) or value < 0:
        raise ParameterError(f"verbose={value!r} must be an integer of at least 0.")


def check_callbacks(value: Any, told: str) -> None:
    """Require None or a list of functions of what passes are told by."""
    if value is None:
        return
    if not isinstance(value, list | tuple) or not all(callable(callback) for callback in value):
        raise ParameterError(f"callbacks={value!r} must be a list of functions of a {told}.")


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a scikit-learn `random_state` stands for."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    if random_state is None or (_is(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(None if random_state is None else int(random_state))
    raise ParameterError(
        f"random_state={random_state!r} must be None, a non-negative integer, a RandomState or a Generator."
    )
