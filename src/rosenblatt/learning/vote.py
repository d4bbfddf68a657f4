"""From the record of a run to the vote of its hypotheses, for fits and for streams.

Only rows that mistakes were made on are kept, and what was done with them: never the weights of each hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learning.linear import ClassModel, LinearModel, Scheme, overflow
from rosenblatt.learning.state import State
from rosenblatt.learning.stream import Stream, Target
from rosenblatt.learning.trace import Trace
from rosenblatt.loops.layout import CSR, PAIR, Rows
from rosenblatt.loops.votes import Moves
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, as_rows, stack_rows
from rosenblatt.threads import in_parts, ordered
from rosenblatt.typing import Floats, Ints

# The vote of all hypotheses of a run (Freund and Schapire 1999).

ROWS_AT_ONCE = 32  # rows predicted side by side
PRODUCT_NANOSECONDS = 0.3  # nanoseconds for a value times that of a row with a mistake
NUMBERS_AT_ONCE = 1 << 22  # numbers held at once: rows, and their products with the rows of mistakes


@dataclass(frozen=True, eq=False, slots=True)
class Hypotheses:
    """The hypotheses of a run, stored as its mistakes."""

    start: LinearModel  # the first hypothesis
    # the rows with mistakes, each once; sparse ones are stored feature by feature. None if there were none
    rows: Rows | None
    moves: Moves  # how each mistake changes the scores
    first: int  # the visits that the start survived
    visits: int  # the visits of the whole run
    n_mistaken: int  # the number of rows in `rows`
    bias: float  # β, the gain of the bias for each unit of step

    @property
    def survived(self) -> Ints:
        """The visits that each hypothesis survived, beginning with the start."""
        survived = self.moves.survived
        return np.concatenate([[self.first], survived[survived > 0]], dtype=np.int64)

    def votes(self, features: Features) -> Ints:
        """Return for every row the votes for each class, in the order of the start's `classes`."""
        start = self._start_for(features.n_features)
        s = start.decision(features)  # also checks that rows are finite
        votes = np.zeros((features.n_rows, max(2, len(start.classes))), np.int64)
        codes = (s >= 0.0 if start.zero > 0 else s > 0.0) if s.ndim == 1 else start.scheme.choose(s, start.zero)
        # Before the first visit the start alone votes.
        votes[np.arange(len(votes)), codes.astype(np.int64)] = self.first if self.visits else 1
        if self.rows is not None:
            self._run(features, self.rows, s, votes)
        return votes

    def choices(self, features: Features) -> Ints:
        """Return for every row the class that each hypothesis of `survived` predicts: ``[row, hypothesis]``."""
        from rosenblatt.loops.votes import vote_for_classes, vote_for_sides

        start = self._start_for(features.n_features)
        s = start.decision(features)
        binary, last_wins = s.ndim == 1, int(start.zero > 0)
        first = (s >= 0.0 if last_wins else s > 0.0) if binary else start.scheme.choose(s, start.zero)
        chosen = [first.astype(np.int64)]
        if self.rows is None:
            return np.stack(chosen, axis=1)
        g = np.full((features.n_rows, self.n_mistaken), self.bias)
        if isinstance(self.rows, CSR):
            self._sparse_products(features.rows, self.rows, 0, g)
            g = np.ascontiguousarray(g.T)
        else:
            g = np.empty((self.n_mistaken, features.n_rows))
            self._dense_products(features, self.rows, 0, g)
        g = g if binary else np.ascontiguousarray(g.T)
        for k in range(len(self.moves.row)):  # one move at a time, by the loops that count the votes
            row, target, step, survived = self.moves
            one = slice(k, k + 1)
            move = Moves(row[one], target[one], step[one], survived[one])
            votes = np.zeros(s.shape, np.int64)
            (vote_for_sides if binary else vote_for_classes)(g, move, last_wins, s, votes)
            if move.survived[0]:
                chosen.append((votes > 0).astype(np.int64) if binary else np.argmax(votes, axis=1))
        return np.stack(chosen, axis=1)

    def _run(self, features: Features, rows: Rows, s: Floats, votes: Ints) -> None:
        from rosenblatt.loops.votes import turn, vote_for_classes, vote_for_sides

        n_mistaken = self.n_mistaken
        side_by_side = int(np.clip(NUMBERS_AT_ONCE // max(n_mistaken, features.n_features + 1), 1, ROWS_AT_ONCE))
        last_wins, cast = int(self.start.zero > 0), self.visits - self.first

        def vote(first: int, room: tuple[Floats, Floats]) -> None:
            part = slice(first, min(first + side_by_side, features.n_rows))
            n = part.stop - first
            products = room[0][: n * n_mistaken].reshape(n, n_mistaken)  # of a row to predict after another
            g = room[1][: n * n_mistaken].reshape(n_mistaken, n)  # of a row of a mistake after another
            if isinstance(rows, CSR):
                products.fill(self.bias)
                self._sparse_products(features.rows, rows, first, products)
            else:
                self._dense_products(features, rows, first, g)
            if s.ndim == 1:
                if isinstance(rows, CSR):
                    turn(products, g)
                positive = np.zeros(n, np.int64)
                vote_for_sides(g, self.moves, last_wins, s[part], positive)
                votes[part, 1] += positive
                votes[part, 0] += cast - positive
            else:
                if not isinstance(rows, CSR):
                    turn(g, products)
                vote_for_classes(products, self.moves, last_wins, s[part], votes[part])

        def vote_all(part: range) -> None:
            room = np.empty(side_by_side * n_mistaken), np.empty(side_by_side * n_mistaken)
            for k in part:
                vote(k * side_by_side, room)

        work = PRODUCT_NANOSECONDS * n_mistaken * features.stored
        for _ in ordered(vote_all, in_parts(-(-features.n_rows // side_by_side), work)):
            pass
        finite = np.isfinite(s) if s.ndim == 1 else np.isfinite(s).all(axis=1)
        if not finite.all():
            raise overflow(int(np.argmin(finite)))

    def _sparse_products(self, X: Rows, rows: CSR, first: int, products: Floats) -> None:
        """Add <x_r, x_b> for the sparse rows x_r of mistakes and the rows x_b to predict, from `first` on."""
        from rosenblatt.loops.votes import products_of_dense, products_of_sparse

        if isinstance(X, CSR):
            products_of_sparse(rows, X, first, products)
        else:
            products_of_dense(rows, X, first, products)

    def _dense_products(self, features: Features, rows: Rows, first: int, g: Floats) -> None:
        """Set ``g[r, b]`` to <x_r, x_b> + β, for dense rows x_r of mistakes."""
        from rosenblatt.loops.passes import machine_scores
        from rosenblatt.loops.votes import lay

        # The rows to predict act as weights, and those of mistakes as data.
        w = np.zeros((g.shape[1], features.n_features + 1))
        lay(features.rows, first, w)
        w[:, -1] = self.bias
        machine_scores(rows, w, np.arange(len(g), dtype=np.uint64), np.arange(len(w)), np.empty((PAIR, len(w))), g)

    def _start_for(self, n_features: int) -> LinearModel:
        start = self.start
        if start.weights.shape[-1] == n_features + 1:
            return start
        # A stream has seen more features since.
        return LinearModel(State(start.weights).grown(n_features).w, start.scheme, start.classes, start.zero)


@dataclass(frozen=True, eq=False, slots=True)
class VotedModel(ClassModel):
    """All hypotheses of a run, or of consecutive runs; each has one vote for each visit it survived."""

    runs: Sequence[Hypotheses]  # in the order of training
    scheme: Scheme  # as in `LinearModel`
    classes: NDArray[Any]
    # the side of f = 0 and of equal votes; among many classes, whether ties go to the lowest or the highest
    zero: int = -1

    @property
    def survived(self) -> Ints:
        """The visits that each hypothesis survived, beginning with the start."""
        survived = self.runs[0].survived
        for run in self.runs[1:]:  # it starts at the hypothesis before
            survived[-1] += run.first
            survived = np.concatenate([survived, run.survived[1:]])
        return survived

    @property
    def _asked(self) -> Sequence[Hypotheses]:
        """The runs that made visits, or the first run if none did."""
        return [run for run in self.runs if run.visits] or self.runs[:1]

    def votes(self, features: Features) -> Ints:
        """Return for every row the votes for each class."""
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        votes = np.zeros((features.n_rows, max(2, len(self.classes))), np.int64)
        for run in self._asked:
            known = run.start.classes.tolist()
            # A single known class is the positive one.
            places = [place[label] for label in known] if len(known) > 1 else [0, 1]
            votes[:, places] += run.votes(features)
        return votes

    def ballots(self, features: Features) -> tuple[Ints, Ints]:
        """Return the votes of each hypothesis, and the class that each predicts for every row.

        One that was the last of a run and the first of the next is listed twice, each time with its own votes.
        """
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        survived, codes = [], []
        for run in self._asked:
            known = run.start.classes.tolist()
            places = np.array([place[label] for label in known] if len(known) > 1 else [0, 1])
            survived.append(run.survived if run.visits else np.ones(1, np.int64))
            codes.append(places[run.choices(features)])
        return np.concatenate(survived), np.concatenate(codes, axis=1)

    def decision(self, features: Features) -> Floats:
        """Return the share of votes for the positive class minus the share against, or the share of each class."""
        votes = self.votes(features)
        total = max(1, sum(run.visits for run in self.runs))
        if self.scheme.kind == "binary":
            shares: Floats = (votes[:, 1] - votes[:, 0]) / total
        else:
            shares = votes / total
        return shares


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
            self._rows, self._labels = [stack_rows(self._rows)], [np.concatenate(self._labels)]
        codes = np.array([self._codes[label] for label in self._numbers], np.int64)[self._labels[0]]
        return _hypotheses(trace, self._rows[0], row, codes[row])

    def _numbered(self, codes: Ints) -> Ints:
        """Return the numbers of the labels of classes."""
        numbers = np.zeros(max(2, len(self._codes)), np.int64)
        for label, code in self._codes.items():
            numbers[code] = self._numbers.setdefault(label, len(self._numbers))
        return numbers[codes]
