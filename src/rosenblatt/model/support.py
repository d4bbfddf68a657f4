"""The rows of a kernel expansion."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.loops.layout import CSR, part_of
from rosenblatt.typing import Floats, Ints

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
