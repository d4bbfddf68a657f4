"""What an engine is: it trains very many perceptrons on one matrix, reading each row once a pass for all of them.

`rosenblatt.probes.cpu` is the engine of compiled loops, `rosenblatt.probes.gpu` that of one NVIDIA GPU. Both give
the same bits. When a problem ends is decided above them (`rosenblatt.probes.probes`), so that it is the same for
both. This module needs numpy alone: a machine with a GPU may have neither numba nor scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import Remedy
from rosenblatt.loops.rules import Rule
from rosenblatt.typing import Floats, Ints

Visits: TypeAlias = NDArray[np.uint64]
Signs: TypeAlias = NDArray[np.int8]

KINDS = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": np.uint16,
    "uint8": np.uint8,
}
"""The kinds of values that engines read, and the numpy type that holds them: bfloat16 as its 16 bits."""

ON_CPU = Remedy("device", "cpu")
"""The way out of what no GPU does."""


def widen(values: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return 16-bit values as float32, which is exact, and others as they are.

    Examples
    --------
    >>> widen(np.array([0x3FC0], np.uint16), "bfloat16")
    array([1.5], dtype=float32)
    """
    if kind == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float32) if kind == "float16" else values


@dataclass(frozen=True, eq=False)
class Matrix:
    """The rows of all problems, where they lie."""

    # The rows one after another. On the host each part is a C-contiguous numpy array of two dimensions, perhaps a
    # memory map. On a device it is what the user gave, with ``__cuda_array_interface__`` or ``__dlpack__``.
    parts: tuple[Any, ...]
    kind: str  # the kind of the values, one of `KINDS`; the same for all parts
    on_device: bool = False  # whether the parts lie in the memory of a GPU
    streamed: bool = False  # whether rows are read in blocks of neighbours, because they may not be in memory

    @property
    def starts(self) -> Ints:
        """The first row of each part, and behind them the number of rows."""
        return np.cumsum([0, *(part.shape[0] for part in self.parts)])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.parts[0].shape[1])

    def gather(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows of the host in any order, as they are stored, as one array.

        Examples
        --------
        >>> X = Matrix((np.array([[0.0], [1.0]]), np.array([[2.0]])), "float64")
        >>> X.gather(np.array([2, 0])).tolist()
        [[2.0], [0.0]]
        """
        if len(self.parts) == 1:
            found: NDArray[Any] = np.asarray(self.parts[0][rows])
            return found
        out = np.empty((len(rows), self.n_features), KINDS[self.kind])
        which = np.searchsorted(self.starts, rows, side="right") - 1
        for p in np.unique(which).tolist():
            here = which == p
            out[here] = self.parts[p][rows[here] - rows.dtype.type(self.starts[p])]
        return out


@dataclass(frozen=True, eq=False)
class Problems:
    """The label that each row has in each of k problems: −1, +1, or 0 where the row is not in the problem.

    Problems with the same labels that leave out different rows, as folds do, share a column of labels, so that a
    thousand problems on a million rows need no gigabyte.
    """

    labels: Signs  # −1, 0 or +1, C-contiguous
    column: Ints  # the column of labels that each problem has
    fold: Signs | None = None  # the fold of each row
    left_out: Signs | None = None  # the fold whose rows a problem leaves out; −1 leaves out none
    weight: Floats | None = None  # what multiplies the step of each row; None is 1 for all

    @property
    def count(self) -> int:
        """The number of problems."""
        return len(self.column)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    def signs(self, rows: NDArray[Any] | slice, problems: Ints | slice = slice(None)) -> Signs:
        """Return the labels of some rows in some problems: a row of the result for each row.

        Examples
        --------
        >>> labels = np.array([[1], [-1], [1]], np.int8)
        >>> fold, left_out = np.array([0, 1, 1], np.int8), np.array([-1, 0, 1], np.int8)
        >>> Problems(labels, np.zeros(3, np.int64), fold, left_out).signs(np.arange(3)).tolist()
        [[1, 0, 1], [-1, -1, 0], [1, 1, 0]]
        """
        signs = self.labels[rows][:, self.column[problems]]
        if self.fold is not None and self.left_out is not None:
            signs[self.fold[rows][:, None] == self.left_out[problems]] = 0
        return signs

    def judged(self, rows: NDArray[Any] | slice, problems: Ints | slice = slice(None)) -> Signs:
        """Return the labels by which problems are judged: of the rows left out, or where there are none of all.

        Examples
        --------
        >>> labels = np.array([[1], [-1], [1]], np.int8)
        >>> fold, left_out = np.array([0, 1, 1], np.int8), np.array([-1, 0, 1], np.int8)
        >>> Problems(labels, np.zeros(3, np.int64), fold, left_out).judged(np.arange(3)).tolist()
        [[1, 1, 0], [-1, 0, -1], [1, 0, 1]]
        """
        signs = self.labels[rows][:, self.column[problems]]
        if self.fold is not None and self.left_out is not None:
            left_out = self.left_out[problems]
            signs[(self.fold[rows][:, None] != left_out) & (left_out >= 0)] = 0
        return signs


@dataclass(frozen=True)
class Plan:
    """What all problems of one training share."""

    # the step η, what the bias moves by (0: there is none), the margin, and the shares of a step that are taken on
    # a tie, y f = margin, of a positive and of a negative row
    rule: Rule = Rule()  # noqa: RUF009 - a rule is an immutable value
    average: bool = True  # whether hypotheses are averaged over the visits, so that u is kept


@dataclass(frozen=True, eq=False)
class States:
    """What `rosenblatt.Perceptron` keeps, for each problem; the bias is the last weight."""

    w: Floats  # the weights after the last whole pass of each problem
    u: Floats | None  # the sum of all corrections, each times the visits before it
    # The visits. A row that is not in a problem counts, as a row of weight 0 does: it is never a mistake.
    visits: Ints

    def hypothesis(self) -> Floats:
        """Return the weights that predict: the averages, or the last weights."""
        if self.u is None:
            return self.w.copy()
        return self.w - self.u / np.maximum(self.visits, 1)[:, None]


class Engine(Protocol):
    """Trains all problems side by side.

    An engine serves one training: `start`, passes, perhaps `count_right`, and `close`. It raises `DeviceError`
    where its device is missing, too small, lost, or cannot do what is asked; the message says what can.
    """

    @property
    def name(self) -> str:
        """What the engine computes on, in words for people, such as "the CPU, 2 threads"."""

    def start(self, matrix: Matrix, problems: Problems, plan: Plan, begin: States | None = None) -> None:
        """Prepare training from zero weights, or from given ones; check that there is enough memory."""

    def train_pass(self, active: Ints, order: Visits | None) -> Ints:
        """Make one pass of the problems `active`, whose numbers ascend; return the mistakes of each.

        `order` holds the row of each visit; None is 0, 1, …. All active problems have made as many visits before.
        The pass is whole or not made at all: after an error or Ctrl-C, `states` are those before it. A row whose
        score is not finite raises `NonFiniteError` that names it, or `TrainingOverflowError` if the row is finite.
        A row that is not finite raises this even if it is in no problem, as a row of weight 0 does.
        """

    def states(self) -> States:
        """Return copies of the states of all problems, on the host."""

    def count_right(self, hypothesis: Floats, rows: slice | None = None) -> Ints:
        """Return how many of the rows that judge a problem it predicts right, of all rows or of some.

        `hypothesis` has a row of weights for each problem, and `Problems.judged` says which rows judge it. The
        score is the one that training computes, and a score of 0 predicts −1. One that is not finite raises as in
        training.
        """

    def close(self) -> None:
        """Give all memory back. Calling it again does nothing."""
