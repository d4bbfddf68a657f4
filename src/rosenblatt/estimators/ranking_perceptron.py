"""The perceptron for rankings as a scikit-learn estimator."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.codecs import StateSchema, require
from rosenblatt.estimators._one_vector import VECTOR, VECTOR_FIT, OneVector, without_run
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.learning.state import State, require_memory_of
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import Log, Pairs
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import replay_pairs
from rosenblatt.parameters import fixed, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import as_weight
from rosenblatt.rows.features import Features, read_only
from rosenblatt.rows.labels import as_measurements
from rosenblatt.rows.pairs import as_groups, pairs_of
from rosenblatt.typing import ColumnLike, Floats, MatrixLike


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    require_memory_of(Rule, held["_state"])
    require(held["_state"].w.shape == (held["_width"] + 1,), "weights and features have different numbers")


class RankingPerceptron(OneVector):
    """The perceptron for rankings: rows of the same group are to score in the order of their y.

    A visit compares two rows of a group. If the one with the larger y does not score higher, it is added to the
    vector and the other one subtracted: this is the perceptron on differences of rows. If some vector of norm 1
    tells all pairs apart by γ, there are at most R²/γ² updates, where R is the largest ‖x⁺ − x⁻‖; see
    `rosenblatt.bounds`.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        The vector. There is no bias: it would not change any order.
    n_iter_, stop_reason_ : int, str
        The passes of the last fit, and its end: "separated" after a pass without an update, "tol", "plateau",
        "max_iter", "max_time" or "interrupted".
    n_updates_, updates_per_pass_ : int, list of int
        The visits that moved weights.
    t_ : int
        The number of visits since the start; a visit is a pair.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    >>> ranker = RankingPerceptron().fit(X, [3, 1, 9, 2], qid=["a", "a", "b", "b"])
    >>> ranker.score(X, [3, 1, 9, 2], qid=["a", "a", "b", "b"]), ranker.stop_reason_
    (1.0, 'separated')
    """

    _learner = built_in("RankingPerceptron", StateSchema(VECTOR, VECTOR_FIT, _link, without_run))
    _visited = "pair"

    eta0: float = param(1.0, "The learning rate.", above=0)
    margin: float = param(0.0, "A pair is corrected if the difference of its scores is at most `margin`.", least=0)
    fit_intercept: bool = fixed(False)
    max_iter: int = param(1000, "The maximum number of passes over all pairs.")
    tol: float | None = param(
        None,
        "Training also ends when the mean of max(0, margin − difference) over a pass has not fallen by `tol` for "
        "`n_iter_no_change` passes. None: when the number of updates has not fallen by 2 %.",
    )
    shuffle: bool = param(True, "Whether pairs are visited in random order.")

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train until a stopping rule ends it.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The rows.
        y : sequence of numbers, shape (n_rows,)
            Larger numbers are to be ranked higher, within a group.
        qid : sequence or None
            The group of each row, such as the query that it answers; None puts all rows into one group. Only rows
            of the same group are compared. In LIBSVM files these are the numbers after ``qid:``.
        sample_weight : array-like or None
            The step on a pair is multiplied by the weights of both rows.
        checkpoint, every, resume
            As in `Perceptron.fit_blocks`: where to save the state of training, after how many passes, and whether
            to continue from there.
        """
        return self._fit(X, (y, qid), sample_weight, checkpoint, every, resume)

    def partial_fit(
        self, X: MatrixLike, y: ColumnLike, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Visit all pairs of a chunk once, group by group; rows are compared within the chunk only."""
        return self._partial_fit(X, (y, qid), sample_weight)

    def predict(self, X: MatrixLike) -> Floats:
        """Return the score of each row; rows of a group are ranked by it, the highest first."""
        return self._numbers(X)

    def score(
        self, X: MatrixLike, y: ColumnLike, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of pairs in the right order, weighted if rows have weights; equal scores count half.

        With two values of y and one group this is the area under the ROC curve.
        """
        found = self.predict(X)
        weight = as_weight(sample_weight, len(found))
        plus, minus, each = self._pairs((y, qid), len(found), weight)
        if not len(plus):
            raise LabelError("No group has rows with different y, so there is no pair to judge. Pass other rows.")
        right = np.where(found[plus] > found[minus], 1.0, np.where(found[plus] == found[minus], 0.5, 0.0))
        return float(np.average(right, weights=each))

    def replay(self, X: MatrixLike, y: ColumnLike, qid: ArrayLike | None = None) -> Floats:
        """Train again from the record of the last fit or chunk alone, and return its weights, bit for bit.

        Parameters
        ----------
        X, y, qid : array-like
            The data of the last call of `fit` or `partial_fit`. Each update is checked by its score.

        Returns
        -------
        ndarray
            The vector, and a last entry of zero.
        """
        return self._replayed(X, (y, qid))

    @property
    def coef_(self) -> Floats:
        """The vector."""
        self._require_fitted("coef_")
        return read_only(self._hypothesis()[:-1].copy())

    def _pairs(self, y: tuple[Any, Any], n_rows: int, weight: Floats | None) -> tuple[Any, Any, Floats]:
        values = as_measurements(y[0], n_rows)
        if values.ndim != 1:
            raise ShapeError(f"y has {values.shape[1]} numbers a row, but one is needed to rank rows by.")
        plus, minus = pairs_of(values, as_groups(y[1], n_rows))
        return plus, minus, np.ones(len(plus)) if weight is None else weight[plus] * weight[minus]

    def _targets(
        self, y: Any, features: Features, weight: Floats | None, classes: ColumnLike | None, *, begins: bool
    ) -> tuple[Pairs, dict[str, Any]]:
        return Pairs(*self._pairs(y, features.n_rows, weight)), {}

    def _n_visits(self, targets: Pairs, features: Features) -> int:
        return len(targets.plus)

    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        return State.zero((n_features + 1,), average=self.average)

    def _rule(self) -> Rule:
        return Rule(eta=float(self.eta0), beta=0.0, margin=float(self.margin))

    def _loss(self, targets: Pairs) -> Any:
        margin = float(self.margin)
        return lambda pairs, log: margin - log.score

    def _replay(self, rows: Any, targets: Pairs, index: Any, log: Log, state: State) -> int:
        return replay_pairs(rows, targets, index, log, state.w, state.u)
