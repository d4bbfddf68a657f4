"""Pairs of rows of which one is to be ranked above the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.labels import factorize, one_a_row
from rosenblatt.data.memory import require_memory
from rosenblatt.data.reals import read_only
from rosenblatt.exceptions import LabelError
from rosenblatt.typing import Floats, Ints

BYTES_A_PAIR = 64


def as_groups(qid: Any, n_rows: int) -> Ints:
    """Return the group of each row, as a number; None puts all rows into one group.

    Examples
    --------
    >>> as_groups(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if qid is None:
        return np.zeros(n_rows, np.int64)
    try:
        return factorize(one_a_row(qid, n_rows))[1]
    except LabelError as error:
        raise LabelError(f"qid must name the group of each row. {error}") from error


def pairs_of(values: Floats, groups: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of rows of the same group with different values: the rows with the larger, and the others.

    Groups come in ascending order, and pairs in the order of their rows.

    Examples
    --------
    >>> plus, minus = pairs_of(np.array([2.0, 0.0, 1.0, 5.0]), np.array([0, 0, 0, 1]))
    >>> plus.tolist(), minus.tolist()
    ([0, 0, 2], [1, 2, 1])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    members = np.split(order, starts[1:])
    need = sum(len(each) * (len(each) - 1) // 2 for each in members) * BYTES_A_PAIR
    require_memory("Comparing all pairs of rows", need, "Pass the groups of rows as qid, or fewer rows.")
    found = [np.nonzero(values[each][:, None] > values[each][None, :]) for each in members]
    plus = np.concatenate([each[above] for each, (above, _) in zip(members, found, strict=True)])
    minus = np.concatenate([each[below] for each, (_, below) in zip(members, found, strict=True)])
    return read_only(plus), read_only(minus)
