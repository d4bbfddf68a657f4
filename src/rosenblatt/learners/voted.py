"""From the record of a run to the vote of its hypotheses, for fits and for streams.

Only rows that mistakes were made on are kept, and what was done with them: never the weights of each hypothesis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, as_rows, stacked
from rosenblatt.learners.stream import Stream, Target
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.votes import Moves
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.model.voted import Hypotheses
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Floats, Ints


def hypotheses_of(trace: Trace, batch: Batch) -> Hypotheses:
    """Return the hypotheses of a run over `batch`."""
    rows, row = np.unique(trace.index, return_inverse=True)
    return _hypotheses(trace, batch.take(rows) if len(rows) else None, row, batch.codes[trace.index])


def _hypotheses(trace: Trace, mistaken: Features | None, row: NDArray[Any], codes: Ints) -> Hypotheses:
    """Return hypotheses from a record; `row` and `codes` are the row of each mistake and its class."""
    start = LinearModel(trace.start.spread().last(), trace.scheme, trace.classes, trace.zero)
    begin = trace.start.visits
    made = int(trace.visits_per_pass.sum())
    visits = np.concatenate([trace.visit, [begin + made]], dtype=np.int64)
    first = int(visits[0]) - begin
    moves = _moves(trace.scheme, row.astype(np.int64), codes, trace.machine, trace.step, np.diff(visits))
    rows, n_mistaken = (None, 0) if mistaken is None else (_by_product(mistaken), mistaken.n_rows)
    return Hypotheses(start, rows, moves, first, made, n_mistaken, trace.bias)


def _by_product(mistaken: Features) -> Rows:
    """Return rows as products with them are taken: sparse ones feature by feature."""
    if isinstance(mistaken.rows, CSR):
        return as_rows(mistaken.native().T.tocsr()).rows
    return mistaken.rows


def _moves(scheme: Scheme, row: Ints, codes: Ints, machine: Ints, step: Floats, survived: Ints) -> Moves:
    """Return what mistakes did to the number, or the numbers of all classes, that labels are chosen by."""
    if scheme.kind == "binary":
        return Moves(row, np.zeros_like(row), np.where(codes == 1, step, -step), survived)
    if scheme.kind == "ovr":
        return Moves(row, machine, np.where(machine == codes, step, -step), survived)
    if scheme.kind == "direct":
        gains, loses = codes, machine
    else:
        negative, positive = np.array(scheme.pairs).T[:, machine]
        gains = codes
        loses = np.where(codes == positive, negative, positive)
    twice = np.repeat(np.arange(len(row)), 2)
    both = np.column_stack([gains, loses]).reshape(-1)
    signs = np.tile([1.0, -1.0], len(row))
    kept = np.column_stack([np.zeros_like(survived), survived]).reshape(-1)
    return Moves(row[twice], both, step[twice] * signs, kept)


class _Kept(NamedTuple):
    """Hypotheses of the last prediction, and what they depend on."""

    hypotheses: Hypotheses
    mistakes: int
    n_features: int
    start: State
    classes: NDArray[Any]


class VotedStream(Stream):
    """A stream that keeps the rows it was wrong on, and their labels.

    Labels are kept as numbers in the order they were met in, because a class that is met later may stand before
    others; what is put together for a prediction is kept until the next mistake.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._rows: list[Features] = []
        self._numbers: dict[Any, int] = {}
        self._labels: list[Ints] = []
        self._told: _Kept | None = None

    def __getstate__(self) -> dict[str, Any]:
        # These can be made again, so that a prediction does not change the file of a stream.
        return super().__getstate__() | {"_told": None}

    def fork(self) -> VotedStream:
        """Return a stream that goes on from here and leaves this one as it is."""
        fork = super().fork()
        assert isinstance(fork, VotedStream)
        fork._rows, fork._labels, fork._numbers = list(self._rows), list(self._labels), dict(self._numbers)
        fork._told = None  # each stream lets the last hypothesis survive by itself
        return fork

    def learn_row(self, X: Rows, target: Target) -> None:
        """Visit one example, and keep it if it was a mistake."""
        before = self.mistakes
        super().learn_row(X, target)
        if self.mistakes > before:
            # The caller may write to its vector again.
            row = X if isinstance(X, CSR) else X.copy()
            code = int(target > 0.0) if isinstance(target, float) else int(target.code[0])  # type: ignore[union-attr]
            self._rows.append(Features(row, 1, self.state.n_features if isinstance(X, CSR) else X.shape[1]))
            self._labels.append(self._numbered(np.array([code])))

    def _learn(self, features: Features, codes: Ints, weight: Floats) -> None:
        seen, before = self.seen, self.mistakes
        super()._learn(features, codes, weight)
        if self.mistakes > before:
            wrong = np.unique(self.recorder.last_rows(self.mistakes - before)) - seen
            known = (features.rows, features.n_rows, features.n_features)
            self._rows.append(Batch(*known, codes=codes, classes=self.classes).take(wrong))
            self._labels.append(self._numbered(codes[wrong]))

    def hypotheses(self, n_features: int) -> Hypotheses:
        """Return the hypotheses of the stream so far, over its first `n_features` features."""
        kept = self._told
        same = (
            kept is not None
            and (kept.mistakes, kept.n_features) == (self.mistakes, n_features)
            and kept.start is self.start
            and kept.classes is self.classes
        )
        found = self._go_on(kept.hypotheses) if kept is not None and same else self._put_together(n_features)
        self._told = _Kept(found, self.mistakes, n_features, self.start, self.classes)
        return found

    def _go_on(self, before: Hypotheses) -> Hypotheses:
        """Return the hypotheses kept; the last one has survived all visits since."""
        since = self.seen - before.visits
        if self.mistakes:
            before.moves.survived[-1] += since
            return replace(before, visits=self.seen)
        return replace(before, visits=self.seen, first=before.first + since)

    def _put_together(self, n_features: int) -> Hypotheses:
        trace = self.trace(n_features)
        if not len(trace):
            return _hypotheses(trace, None, np.empty(0, np.int64), np.empty(0, np.int64))
        # Rows are numbered as they come: mistakes on the same one stand side by side.
        row = np.concatenate([[0], np.cumsum(np.diff(trace.index) != 0)])
        if len(self._rows) > 1:
            self._rows, self._labels = [stacked(self._rows)], [np.concatenate(self._labels)]
        codes = np.array([self._codes[label] for label in self._numbers], np.int64)[self._labels[0]]
        return _hypotheses(trace, self._rows[0], row, codes[row])

    def _numbered(self, codes: Ints) -> Ints:
        """Return the numbers of the labels of classes."""
        numbers = np.zeros(max(2, len(self._codes)), np.int64)
        for label, code in self._codes.items():
            numbers[code] = self._numbers.setdefault(label, len(self._numbers))
        return numbers[codes]
