"""Which rows to hold out for validation."""

from __future__ import annotations

import numpy as np

from rosenblatt.exceptions import InputError
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
