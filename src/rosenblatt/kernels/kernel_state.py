"""The state of training a kernel perceptron.

A limit on the rows of a kernel expansion: which row a new one replaces, or how the others represent it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.learning.state import State
from rosenblatt.loops.layout import CSR, Rows, part_of
from rosenblatt.typing import Floats, Ints

# The rows of a kernel expansion.

NOT_OF_A_SET = -1


class Support:
    """Rows in the order they were added, each with its number in the training set.

    With precomputed kernel values the numbers suffice, and `keeps_rows` is False.
    """

    def __init__(self, n_features: int, *, keeps_rows: bool = True) -> None:
        self.n_features, self.keeps_rows = n_features, keeps_rows
        self.count = 0
        self._ids: Ints = np.empty(0, np.int64)
        self._squares: Floats = np.empty(0)
        self._rows: Any = None  # Rows with room for more, after the first one is added

    @property
    def ids(self) -> Ints:
        """The number of each row in the training set; −1 for a row of a stream or of another set."""
        return self._ids[: self.count]

    @property
    def points(self) -> Points:
        """The rows as the points of a kernel: views, which change with the support."""
        rows, n = self._rows, self.count
        if rows is None:
            rows = np.empty((n, self.n_features if self.keeps_rows else 0))
        return Points(part_of(rows, 0, n), n, self.n_features, self.ids, self._squares[:n])

    def like(self, points: Points) -> Points:
        """Return points in the layout of these rows; without rows, unchanged."""
        if not self.keeps_rows or self._rows is None:
            return points
        return points.like(self.points)

    def append(self, row: Points, number: int) -> int:
        """Add a row, and return its place."""
        place = self.count
        if place == len(self._ids):
            self._ids, self._squares = _longer(self._ids), _longer(self._squares)
        if self.keeps_rows:
            self._write(place, row)
        self._ids[place] = number
        self.count += 1
        return place

    def extend(self, rows: Points) -> None:
        """Add rows that have numbers."""
        assert rows.ids is not None, "rows of a training set have numbers"
        while self.count + rows.n_rows > len(self._ids):
            self._ids, self._squares = _longer(self._ids), _longer(self._squares)
        for i, number in enumerate(rows.ids.tolist()):
            self.append(rows.row(i), number)

    def replace(self, place: int, row: Points, number: int) -> None:
        """Put another row in a place."""
        if self.keeps_rows:
            self._write(place, row)
        self._ids[place] = number

    def renumber(self, ids: Ints) -> None:
        """Give the rows their numbers in another training set."""
        self._ids[: self.count] = ids

    def copy(self) -> Support:
        """Return a support that shares no array with this one."""
        copy = Support(self.n_features, keeps_rows=self.keeps_rows)
        copy.count = self.count
        copy._ids, copy._squares = self._ids.copy(), self._squares.copy()
        copy._rows = _copied(self._rows)
        return copy

    def widened(self, n_features: int) -> Support:
        """Return a copy with more features, which are zero in all rows."""
        copy = self.copy()
        copy.n_features = n_features
        if isinstance(copy._rows, np.ndarray):
            copy._rows = np.pad(copy._rows, ((0, 0), (0, n_features - copy._rows.shape[1])))
        return copy

    def _write(self, place: int, row: Points) -> None:
        row = self.like(row)
        self._squares[place] = row.squares[0]
        if isinstance(row.rows, CSR):
            assert self._rows is None or isinstance(self._rows, CSR)
            self._rows = _written(self._rows, self.count, place, row.rows)
        else:
            assert not isinstance(self._rows, CSR)
            self._rows = _table(self._rows, len(self._ids), row.rows)
            self._rows[place] = row.rows[0]


def _longer(array: Any, least: int = 8) -> Any:
    return np.concatenate([array, np.zeros(max(least, len(array)), array.dtype)])


def _copied(rows: Any) -> Any:
    if isinstance(rows, CSR):
        return CSR(rows.data.copy(), rows.indices.copy(), rows.indptr.copy())
    return None if rows is None else rows.copy()


def _table(table: Any, capacity: int, row: Any) -> Any:
    """Return a table with room for `capacity` rows, of a dtype that also holds `row`."""
    if table is None:
        return np.zeros((capacity, row.shape[1]), row.dtype)
    kind = np.result_type(table, row)
    if len(table) == capacity and table.dtype == kind:
        return table
    grown = np.zeros((capacity, table.shape[1]), kind)
    grown[: len(table)] = table
    return grown


def _written(rows: CSR | None, count: int, place: int, row: CSR) -> CSR:
    """Return sparse rows with `row` at a place, after the last row or instead of one."""
    start, stop = int(row.indptr[0]), int(row.indptr[1])
    data, indices = row.data[start:stop], row.indices[start:stop]
    if rows is None:
        rows = CSR(np.empty(0, data.dtype), np.empty(0, indices.dtype), np.zeros(1, np.uint64))
    used = int(rows.indptr[count])
    if place < count:
        first, last = int(rows.indptr[place]), int(rows.indptr[place + 1])
        indptr = rows.indptr[: count + 1].copy()
        indptr[place + 1 :] += np.uint64(len(data))
        indptr[place + 1 :] -= np.uint64(last - first)
        joined = np.concatenate([rows.data[:first], data, rows.data[last:used]])
        columns = np.concatenate([rows.indices[:first], indices, rows.indices[last:used]])
        return CSR(joined, columns, indptr)
    kind = np.result_type(rows.data, data)
    wide = np.result_type(rows.indices, indices)
    values, columns = rows.data.astype(kind, copy=False), rows.indices.astype(wide, copy=False)
    indptr = rows.indptr
    while used + len(data) > len(values):
        values, columns = _longer(values, 64), _longer(columns, 64)
    if place + 2 > len(indptr):
        indptr = _longer(indptr)
    values[used : used + len(data)], columns[used : used + len(data)] = data, indices
    indptr[place + 1] = used + len(data)
    return CSR(values, columns, indptr)


class Kept(NamedTuple):
    """The scores of a training set, without the bias, for a fit that continues on the same rows.

    They are sums of steps in the order of training; summed again they would differ in their last bits.
    """

    digest: bytes
    scores: Floats


@dataclass(eq=False, slots=True)
class KernelState(State):
    """A state whose weights belong to rows instead of features: f(x) = Σ w_i k(x_i, x) + b.

    Weights beyond the number of rows, before the bias, are zero: room for later rows.
    """

    support: Support = field(default_factory=lambda: Support(0))  # the rows
    kept: Kept | None = None  # the scores of the rows it was trained on
    # the inverse Gram matrix of the rows, ridge included, where a budget projects on them
    inverse: Floats | None = None
    # for each row the number of visits before it was added
    born: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def empty(cls, n_machines: int | None, support: Support, *, average: bool) -> KernelState:
        """Return a state of zeros without rows; `n_machines` is None for two classes, which need one machine."""
        shape = (1,) if n_machines is None else (n_machines, 1)
        return cls(np.zeros(shape), np.zeros(shape) if average else None, support=support)

    @property
    def n_features(self) -> int:
        """The number of features of the rows."""
        return self.support.n_features

    @property
    def sums(self) -> Floats | None:
        """The sums for averaging as a matrix, one row for each machine."""
        return None if self.u is None else np.atleast_2d(self.u)

    def meet(self, X: Rows) -> Rows:
        """Return the rows as they are: they are not multiplied by these weights."""
        return X

    def copy(self) -> KernelState:
        """Return a state that shares no array with this one."""
        inverse = None if self.inverse is None else self.inverse.copy()
        copy = self._each(lambda w: w.copy())
        return replace(copy, support=self.support.copy(), inverse=inverse, born=self.born.copy())

    def become(self, other: State) -> None:
        """Take over the values of another state."""
        assert isinstance(other, KernelState)
        copy = other.copy()
        self.w, self.u, self.visits = copy.w, copy.u, copy.visits
        self.support, self.kept, self.inverse, self.born = copy.support, copy.kept, copy.inverse, copy.born

    def note_born(self, place: int) -> None:
        """Record when the row in a place was added."""
        if place == len(self.born):
            self.born = np.append(self.born, self.visits)
        self.born[place] = self.visits

    def make_room(self, rows: int) -> None:
        """Make room in the weights for some more rows."""
        room = self.w.shape[-1] - 1
        if self.support.count + rows > room:
            more = max(8, room, rows)
            self.w = np.insert(self.w, [room] * more, 0.0, axis=-1)
            self.u = None if self.u is None else np.insert(self.u, [room] * more, 0.0, axis=-1)

    def grown(self, n_features: int) -> KernelState:
        """Return the same state over rows with more features."""
        return replace(self.copy(), support=self.support.widened(n_features))

    def narrowed(self, n_features: int) -> KernelState:
        """Return the same state: features that no row has take no room."""
        return self.copy()

    def for_rule(self, *, average: int, shrinks: bool) -> KernelState:
        """Return the state from which a rule that averages, or does not, continues."""
        begins, copy = bool(average) and self.u is None, self.copy()
        u = np.zeros_like(self.w) if begins else copy.u if average else None
        return replace(copy, u=u, visits=0 if begins else self.visits)

    def _each(
        self, change: Callable[[Floats], Floats], even: Callable[[Floats], Floats] | None = None
    ) -> KernelState:
        return replace(self, w=change(self.w), u=None if self.u is None else change(self.u))


Policy: TypeAlias = Literal["oldest", "random", "projection"]
POLICIES = ("oldest", "random", "projection")

RIDGE = 2.0**-20
"""Added to the diagonal of the Gram matrix, as a share of it, because rows may nearly repeat each other."""
NOVEL = 8.0 * RIDGE
"""A row with a smaller share outside the span of the others is represented by them, even if there is room."""


class Budget(NamedTuple):
    """How many rows to keep, and what to do with one more.

    A new row replaces the oldest one (the forgetron), replaces one drawn at random (the randomized budget
    perceptron), or is projected on the span of the others (the projectron), whose coefficients then change f as
    nearly as possible in the same way.
    """

    size: int  # the largest number of rows
    policy: Policy
    seed: int = 0  # the seed of the draws

    def gives_way(self, state: KernelState, before: int) -> int:
        """Return the place of the row to replace after a mistake that `before` visits preceded."""
        if self.policy == "oldest":
            return int(np.argmin(state.born))
        from rosenblatt.loops.order import seed_of_pass

        return int(seed_of_pass(np.uint64(self.seed), np.uint64(before))) % self.size


def shares(state: KernelState, k: Floats, own: float) -> tuple[Floats, float]:
    """Return the coefficients d that best represent a new row, and the square of the rest.

    d solves (K + ridge) d = k, where k are the kernel values of the row with the rows kept, and `own` that with
    itself. The products are summed in a fixed order, like all that training decides by.
    """
    from rosenblatt.loops.passes import scores

    n = len(k)
    assert state.inverse is not None, "a projection needs the inverse"
    padded = np.zeros(state.inverse.shape[1] + 1)
    padded[:n] = k
    d = np.empty(len(state.inverse))
    scores(state.inverse, padded, d)
    missed = np.empty(1)
    scores(np.ascontiguousarray(d[None]), padded, missed)
    return d[:n], own * (1.0 + RIDGE) - float(missed[0])


def extend_inverse(state: KernelState, d: Floats, missed: float) -> None:
    """Extend the inverse by one more row, which the others represent by d up to `missed`."""
    n = len(d)
    inverse = state.inverse
    assert inverse is not None, "a projection needs the inverse"
    inverse[:n, :n] += np.multiply.outer(d, d) / missed
    inverse[n, :n] = inverse[:n, n] = -d / missed
    inverse[n, n] = 1.0 / missed
