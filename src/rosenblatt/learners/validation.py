"""Rows held out for validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import InputError, OrderError
from rosenblatt.learners.order import Visits
from rosenblatt.typing import Ints


def hold_out(codes: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """Draw rows to hold out: the given fraction of each class, at least one and not all.

    Returns
    -------
    ndarray of int
        Row numbers, ascending.
    """
    held = []
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        if len(rows) < 2:
            raise InputError(
                "early_stopping=True needs at least two rows of each class, one to train and one to validate on; "
                "a class here has one. Add rows, or set early_stopping=False."
            )
        held.append(rows[: min(max(1, round(fraction * len(rows))), len(rows) - 1)])
    return np.sort(np.concatenate(held)).astype(np.int64)


def held_out_mask(held_out: Ints | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Return which rows are held out; None if none are."""
    if held_out is None:
        return None
    mask = np.zeros(n_rows, np.bool_)
    mask[held_out] = True
    return mask


def without(held_out: NDArray[np.bool_], visits: Visits) -> Visits:
    """Return the visits to rows that are not held out."""
    kept: Visits = visits[~held_out[visits]]
    if not len(kept):
        raise OrderError("order visits only rows held out for validation. Let it visit other rows too.")
    return kept
