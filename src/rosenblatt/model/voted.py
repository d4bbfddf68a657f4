"""The vote of all hypotheses of a run (Freund and Schapire 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.targets import PAIR
from rosenblatt.loops.votes import Moves
from rosenblatt.model.linear import LinearModel, overflow
from rosenblatt.model.scheme import ClassModel, Scheme
from rosenblatt.model.state import State
from rosenblatt.threads import in_parts, ordered
from rosenblatt.typing import Floats, Ints

MOST = 32  # rows predicted side by side
PRODUCT = 0.3  # nanoseconds for a value times that of a row with a mistake
ROOM = 1 << 22  # numbers held at once: rows, and their products with the rows of mistakes


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

    def _run(self, features: Features, rows: Rows, s: Floats, votes: Ints) -> None:
        from rosenblatt.loops.votes import turn, vote_for_classes, vote_for_sides

        n_mistaken = self.n_mistaken
        side_by_side = int(np.clip(ROOM // max(n_mistaken, features.n_features + 1), 1, MOST))
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

        work = PRODUCT * n_mistaken * features.stored
        for _ in ordered(vote_all, in_parts(-(-features.n_rows // side_by_side), work)):
            pass
        finite = np.isfinite(s) if s.ndim == 1 else np.isfinite(s).all(axis=1)
        if not finite.all():
            raise overflow(f"row {int(np.argmin(finite))} of X")

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
        machine_scores(rows, w, np.arange(len(g)), np.arange(len(w)), np.empty((PAIR, len(w))), g)

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

    def decision(self, features: Features) -> Floats:
        """Return the share of votes for the positive class minus the share against, or the share of each class."""
        votes = self.votes(features)
        total = max(1, sum(run.visits for run in self.runs))
        if self.scheme.kind == "binary":
            shares: Floats = (votes[:, 1] - votes[:, 0]) / total
        else:
            shares = votes / total
        return shares
