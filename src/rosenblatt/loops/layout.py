"""The two layouts of a matrix that loops read: a C-contiguous array, and compressed sparse rows.

Labels as the loops read them: two sides, several classes compared directly, or several binary machines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints, Reals

Unsigned: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]

ROWS_AT_A_TIME = 1 << 13
"""Rows that are copied at a time."""

Order: TypeAlias = NDArray[np.uint64] | Ints
"""Numbers of rows, in the order of their visits."""


class CSR(NamedTuple):
    """Compressed sparse rows.

    Column numbers and row starts are unsigned views of scipy's arrays: with signed ones every look-up would first
    check for a negative index.
    """

    data: Reals
    indices: Unsigned
    indptr: Unsigned


Rows: TypeAlias = Reals | CSR


def part_of(X: Rows, first: int, last: int) -> Rows:
    """Return consecutive rows, without a copy."""
    return CSR(X.data, X.indices, X.indptr[first : last + 1]) if isinstance(X, CSR) else X[first:last]


VALUES_AT_A_TIME = 1 << 18
"""Stored values that are worked on at a time, where temporary arrays of all would take several times the rows."""


def value_slices(X: CSR) -> Iterator[slice]:
    """Yield slices of the stored values, so short that temporary arrays of their size are small."""
    return (slice(first, first + VALUES_AT_A_TIME) for first in range(0, X.data.size, VALUES_AT_A_TIME))


def row_slices(X: Any) -> Iterator[slice]:
    """Yield slices of sparse rows, scipy's too, each with about as many stored values as `value_slices` have."""
    n_rows = len(X.indptr) - 1
    step = max(1, n_rows * VALUES_AT_A_TIME // max(1, X.data.size))
    return (slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step))


def csr_take(X: CSR, index: Ints) -> CSR:
    """Return copies of some rows, a part at a time: the places of values take as much memory as the values."""
    starts = X.indptr.astype(np.int64)
    lengths = np.diff(starts)[index]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    data, indices = np.empty(indptr[-1], X.data.dtype), np.empty(indptr[-1], X.indices.dtype)
    for first in range(0, len(index), ROWS_AT_A_TIME):
        rows = slice(first, first + ROWS_AT_A_TIME)
        values = slice(indptr[first], indptr[min(first + ROWS_AT_A_TIME, len(index))])
        # Copying keeps the distance of a value from the start of its row.
        at = np.arange(values.start, values.stop)
        at += np.repeat(starts[:-1][index[rows]] - indptr[:-1][rows], lengths[rows])
        data[values], indices[values] = X.data[at], X.indices[at]
    return CSR(data, indices, indptr.astype(np.uint64))


def oriented(w: Floats, X: Rows) -> Floats:
    """Return the weights of several machines in the memory order that the loops for `X` read.

    Dense rows read one machine after another, sparse rows one feature after another.
    """
    if w.ndim == 1:
        return w
    return np.asfortranarray(w) if isinstance(X, CSR) else np.ascontiguousarray(w)


PAIR = 2  # visits, and machines, that are scored together


class Sides(NamedTuple):
    """Two classes and one machine: for each row its label ±1 times its weight."""

    pull: Floats


class Direct(NamedTuple):
    """One vector for each class, all compared on each visit (Crammer and Singer 2003).

    `code` and `weight` are the class and the weight of each row, `machines` is 0, 1, …, and `last_wins` says which
    of equally good rivals is chosen: 0 the lowest class, 1 the highest.
    """

    code: Ints
    weight: Floats
    machines: Ints
    last_wins: int


class Machines(NamedTuple):
    """Several binary machines: one against the rest, or one against one.

    `code` and `weight` are the class and the weight of each row. For each class, `members` holds the machines that
    learn from it, and `side` whether it is their positive side (+1) or negative side (−1).
    """

    code: Ints
    weight: Floats
    members: Ints
    side: Floats


class Values(NamedTuple):
    """Numbers that one machine is to predict, and the weight of each row."""

    value: Floats
    weight: Floats


class Ranks(NamedTuple):
    """Ranks 0, 1, …, K − 1 of rows, and the weight of each row.

    One vector scores a row, and K − 1 thresholds cut the scores. In place of a bias, the weights hold the negative
    thresholds from position `first` on.
    """

    code: Ints
    weight: Floats
    first: int


class Pairs(NamedTuple):
    """Pairs of rows, of which `plus` should score higher than `minus`, and the weight of each pair."""

    plus: Ints
    minus: Ints
    weight: Floats


class Sets(NamedTuple):
    """A set of labels for each row, and one machine for each label: the row is on its positive side or not.

    The labels of row i are ``labels[indptr[i] : indptr[i + 1]]``, in ascending order; `machines` is 0, 1, ….
    """

    indptr: Ints
    labels: Ints
    weight: Floats
    machines: Ints


Targets: TypeAlias = Sides | Direct | Machines | Values | Ranks | Pairs | Sets


class Log(NamedTuple):
    """Room for the mistakes of some visits.

    Each mistake has its position in the order, the score before it, the step taken, and the machine that erred, or
    with `Direct` the rival class. Loops write the scores of two visits to `scores`.
    """

    at: Ints
    score: Floats
    step: Floats
    machine: NDArray[np.int32]
    scores: Floats

    @classmethod
    def room(cls, mistakes: int, machines: int = 1) -> Log:
        """Return an empty log; a single machine has number 0."""
        at, score, step = np.zeros(mistakes, np.int64), np.empty(mistakes), np.empty(mistakes)
        return cls(at, score, step, np.zeros(mistakes, np.int32), np.empty((PAIR, machines)))

    def part(self, part: slice) -> Log:
        """Return some of the mistakes."""
        return Log(self.at[part], self.score[part], self.step[part], self.machine[part], self.scores)
