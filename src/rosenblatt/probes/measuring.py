"""How probes are measured: labels, folds in proportion, controls with random labels, and Wilson's interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import LabelError, ShapeError, Term
from rosenblatt.probes.engine import Signs
from rosenblatt.rows.features import as_frame
from rosenblatt.rows.labels import as_labels, is_missing

MAX_FOLDS = 100
NORMAL_QUANTILE = 1.959963984540054  # of 97.5 %, for intervals of 95 %


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the interval of 95 % of a share (Wilson 1927).

    Examples
    --------
    >>> low, high = wilson(90, 100)
    >>> f"{low:.3f} {high:.3f}"
    '0.826 0.945'
    """
    if not count:
        return 0.0, 1.0
    z2, share = NORMAL_QUANTILE**2, right / count
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    reach = NORMAL_QUANTILE * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count)) / (1 + z2 / count)
    return (0.0 if right == 0 else centre - reach), (1.0 if right == count else centre + reach)


# Labels: one column for each problem.


def as_signs(Y: Any, n_rows: int) -> tuple[list[str], Signs]:
    """Return the names of the problems, and the label −1, 0 or +1 of each row in each of them.

    In a matrix or a column that holds −1, 0 means that a row is not in the problem, and so does a missing value
    anywhere. Two other labels are the negative and the positive side, in order; more labels are problems of one
    class against the rest.

    Examples
    --------
    >>> names, signs = as_signs({"plural": [0, 1, None], "tag": ["N", "V", "A"]}, 3)
    >>> names
    ['plural', 'tag=A', 'tag=N', 'tag=V']
    >>> signs.tolist()
    [[-1, -1, 1, -1], [1, -1, -1, 1], [0, 1, -1, -1]]
    """
    names, columns = [], []
    for name, column, signed in _columns(Y):
        if len(column) != n_rows:
            told = f" has {len(column)} labels, but there are {n_rows} rows of "
            raise ShapeError(
                _named(name) + told + Term("embeddings", "X") + ".", row=min(len(column), n_rows), column=name
            )
        for label, signs in _problems(name, column, signed):
            if not ((signs > 0).any() and (signs < 0).any()):
                told = " has rows of one side only, so there is nothing to tell apart. Drop the column."
                raise LabelError(_named(label) + told, column=name)
            names.append(label)
            columns.append(signs)
    if not columns:
        raise LabelError(
            _named("") + " has no column, so there is nothing to learn. Pass at least one column of labels."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise LabelError(_named("") + f" has two problems with the name {twice!r}. Rename a column.")
    return names, np.ascontiguousarray(np.stack(columns, axis=1))


def _named(column: str) -> Term:
    """Return how messages name the labels, or a column of them; a file of labels has other names for these."""
    return Term("labels", f"Y[{column!r}]" if column else "Y")


def _columns(Y: Any) -> Iterator[tuple[str, NDArray[Any], bool]]:
    """Yield the name and the values of each column, and whether these are −1, 0 (not in the problem) and +1."""
    named: list[tuple[str, Any]] | None
    if isinstance(Y, Mapping):
        named = [(str(name), values) for name, values in Y.items()]
    else:
        frame = as_frame(Y, name="Y")
        named = None if frame is None else [(str(each.name), each.to_native()) for each in frame.iter_columns()]
    if named is not None:
        for name, values in named:
            column = _as_column(values)
            yield name, column, _are_signs(column)
        return
    title = getattr(Y, "name", None)  # of a series
    table = _as_array(Y)
    if table.ndim == 1:
        yield "" if title is None else str(title), table, _are_signs(table)
    elif table.ndim == 2:
        signed = _are_signs(table)
        for j in range(table.shape[1]):
            yield str(j), table[:, j], signed
    else:
        raise ShapeError(
            f"Y has {table.ndim} dimensions; pass a column, or a matrix with a column for each problem."
        )


def _as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        table = np.asarray(values.data).astype(object)
        table[np.ma.getmaskarray(values)] = None
        return table
    return np.asarray(values)


def _as_column(values: Any) -> NDArray[Any]:
    column = _as_array(values)
    if column.ndim != 1:
        raise ShapeError(f"A column of Y has the shape {column.shape}; it must have one label for each row.")
    return column


def _are_there(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are not missing: None, NaN, NaT and the NA of pandas are."""
    if values.dtype == object:
        flat = [not is_missing(each) for each in values.ravel()]
        return np.array(flat, np.bool_).reshape(values.shape)
    return np.asarray(values == values)


def _are_signs(values: NDArray[Any]) -> bool:
    """Return whether −1 is among the values that are not missing, and all of these are −1, 0 or 1."""
    known = values[_are_there(values)]
    numbers = (int, float, np.integer, np.floating)
    if values.dtype == object and all(isinstance(each, numbers) and type(each) is not bool for each in known):
        known = known.astype(np.float64)
    return known.dtype.kind in "if" and bool((known == -1).any() and np.isin(known, (-1, 0, 1)).all())


def _problems(name: str, column: NDArray[Any], signed: bool) -> Iterator[tuple[str, Signs]]:
    there = _are_there(column)
    signs = np.zeros(len(column), np.int8)
    if signed:
        signs[there] = column[there].astype(np.int8)
        yield name, signs
        return
    if not there.any():
        raise LabelError(_named(name) + " has no label at all. Drop the column.", column=name)
    kept = column[there].tolist() if column.dtype == object else column[there]
    codes, classes = as_labels(kept, int(there.sum()))
    if len(classes) <= 2:
        signs[there] = np.where(codes == 1, 1, -1)
        yield name, signs
        return
    for code, label in enumerate(classes.tolist()):
        one = signs.copy()
        one[there] = np.where(codes == code, 1, -1)
        yield f"{name}={label}" if name else str(label), one


# Folds and controls.


def deal_folds(signs: Signs, folds: int, rng: np.random.Generator) -> Signs:
    """Return the fold of each row, the same for all problems, in proportion to the sides of each.

    The rarest side of all problems is dealt first, and each fold gets equally many of its rows; then come the rows
    of the next rarest side that have no fold yet, which go where this side is short, and so on (after Sechidis,
    Tsoumakas and Vlahavas 2011).

    Examples
    --------
    >>> fold = deal_folds(np.repeat([[1], [-1]], [4, 8], axis=0).astype(np.int8), 4, np.random.default_rng(0))
    >>> np.bincount(fold[:4]).tolist(), np.bincount(fold[4:]).tolist()
    ([1, 1, 1, 1], [2, 2, 2, 2])
    """
    n, k = signs.shape
    fold = np.full(n, -1, np.int8)
    order = rng.permutation(n)
    shuffled = signs[order]
    counts = np.concatenate([np.count_nonzero(signs > 0, axis=0), np.count_nonzero(signs < 0, axis=0)])
    dealt = np.full(n, -1, np.int8)
    for side in np.argsort(counts, kind="stable").tolist():
        members = shuffled[:, side % k] == (1 if side < k else -1)
        free = np.flatnonzero(members & (dealt < 0))
        if len(free):
            has = np.bincount(dealt[members & (dealt >= 0)], minlength=folds)
            dealt[free] = _fill(has, len(free), rng)
    free = np.flatnonzero(dealt < 0)
    dealt[free] = _fill(np.zeros(folds, np.int64), len(free), rng)
    fold[order] = dealt
    return fold


def _fill(has: NDArray[Any], count: int, rng: np.random.Generator) -> Signs:
    """Return the folds of `count` rows: first those that have fewest, then all in turn."""
    level = has.copy()
    places = np.argsort(level + rng.random(len(level)), kind="stable")
    level = level[places]
    low, high = int(level.min()), int(level.max()) + count
    while low < high:  # the highest level that these rows can fill up to
        middle = (low + high + 1) // 2
        if np.maximum(middle - level, 0).sum() <= count:
            low = middle
        else:
            high = middle - 1
    gets = np.maximum(low - level, 0)
    rest = count - int(gets.sum())
    gets[np.flatnonzero(level + gets == low)[:rest]] += 1
    return rng.permutation(np.repeat(places, gets)).astype(np.int8)


def control_labels(signs: Signs, fold: Signs, types: NDArray[Any] | None, rng: np.random.Generator) -> Signs:
    """Return the labels of a control task: as many of each side as in each problem, for random rows.

    They are shuffled among the rows of a problem within each fold. With `types`, all rows of a type get the same
    label, which is that of a random row (Hewitt and Liang 2019).
    """
    control = np.zeros_like(signs)
    if types is not None:
        codes, kinds = as_labels(types, len(signs))
        for j in range(signs.shape[1]):
            rows = np.flatnonzero(signs[:, j])
            drawn = signs[rng.choice(rows, len(kinds)), j]
            control[rows, j] = drawn[codes[rows]]
        return control
    for j in range(signs.shape[1]):
        for f in np.unique(fold).tolist():
            rows = np.flatnonzero((signs[:, j] != 0) & (fold == f))
            control[rows, j] = rng.permutation(signs[rows, j])
    return control


# What was measured of one probe.


@dataclass(frozen=True)
class ProbeResult:
    """What was measured of one probe; a row of the table of `rosenblatt.Probes`.

    Attributes
    ----------
    name : str
        The name of the problem.
    rows, positive : int
        Its rows, and those on the positive side.
    passes, mistakes : int
        The passes over all rows, and the mistakes of the last one.
    end : str
        Why training on all rows ended.
    training : int
        The rows that the probe of all rows predicts right.
    right : int or None
        The rows that are right when they are left out, each by the probe of the other folds; None without folds.
    control, controlled : int or None
        The same of the control tasks, and the number of their rows; None without controls.
    separable : str or None
        "yes" and "no" are proved, "undecided" says that the work allowed was not enough; None: it was not asked.
    """

    name: str
    rows: int
    positive: int
    passes: int
    mistakes: int
    end: str
    training: int
    right: int | None
    control: int | None
    controlled: int | None
    separable: str | None

    @property
    def accuracy(self) -> float | None:
        """The share of rows that are right when they are left out."""
        return None if self.right is None else self.right / self.rows

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the accuracy."""
        return None if self.right is None else wilson(self.right, self.rows)

    @property
    def majority(self) -> float:
        """The share of the larger side: the accuracy of always predicting it."""
        return max(self.positive, self.rows - self.positive) / self.rows

    @property
    def control_accuracy(self) -> float | None:
        """The accuracy of the control tasks."""
        return None if not self.controlled or self.control is None else self.control / self.controlled

    @property
    def control_interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the accuracy of the control tasks."""
        return None if not self.controlled or self.control is None else wilson(self.control, self.controlled)

    @property
    def selectivity(self) -> float | None:
        """The accuracy less that of the control tasks."""
        control = self.control_accuracy
        return None if self.accuracy is None or control is None else self.accuracy - control

    def cells(self) -> dict[str, Any]:
        """Return the row of the table: the columns that were measured."""
        cells: dict[str, Any] = {"probe": self.name, "rows": self.rows, "majority": self.majority}
        cells["training"] = self.training / self.rows
        if self.interval is not None:
            cells |= {"accuracy": self.accuracy, "low": self.interval[0], "high": self.interval[1]}
        if self.control_interval is not None:
            low, high = self.control_interval
            cells |= {"control": self.control_accuracy, "control_low": low, "control_high": high}
            cells["selectivity"] = self.selectivity
        if self.separable is not None:
            cells["separable"] = self.separable
        return cells | {"passes": self.passes, "mistakes": self.mistakes, "end": self.end}
