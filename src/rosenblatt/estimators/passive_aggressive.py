"""Passive-aggressive learning as a scikit-learn classifier.

Passive-aggressive regression as a scikit-learn regressor.
"""

from __future__ import annotations

import math
import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from rosenblatt.codecs import StateSchema, require
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._one_vector import VECTOR, VECTOR_FIT, OneVector, without_run
from rosenblatt.estimators.perceptron import OwnRule
from rosenblatt.estimators.perceptron_core import PassiveCore
from rosenblatt.exceptions import ShapeError
from rosenblatt.learning.state import State, require_memory_of
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import Values
from rosenblatt.loops.rules import Passive
from rosenblatt.parameters import like, param
from rosenblatt.registry import built_in
from rosenblatt.rows.features import Features, read_only
from rosenblatt.rows.labels import as_measurements
from rosenblatt.typing import ColumnLike, Floats, MatrixLike, RowLike


class PassiveAggressiveClassifier(PassiveCore, OwnRule):
    """Passive-aggressive learning: each update is the shortest one that gives the row a margin of 1.

    A row with y f < 1 is corrected by the step c = (1 − y f) / x², where x² = ‖x‖² + β includes the bias. Where
    two vectors are compared directly both move, and x² counts twice. `C` limits the step (Crammer et al. 2006).
    Takes all parameters of scikit-learn's ``PassiveAggressiveClassifier``, and more of `Perceptron`.

    With ``C=math.inf`` and another `eta0` it is the relaxation method (Agmon 1954; Motzkin and Schoenberg 1954):
    the step is in proportion to the error. For 0 < eta0 < 2 each update brings the weights nearer to every
    hyperplane that gives all rows their margin.

    Attributes
    ----------
    n_mistakes_, mistakes_per_pass_ : int, ndarray
        The visits with y f ≤ 0, in total and in each pass; those with y f < 0 if `margin` is 0.
    n_updates_, updates_per_pass_ : int, ndarray
        The visits with y f < `margin`. The trace holds these.
    stop_reason_ : str
        "margin" after a pass without an update: every row has its margin ("separated" with ``margin=0``). Else
        "plateau", "tol", "max_iter", "max_time", "validation" or "interrupted".
    converged_ : bool
        Whether training ended because every row has its margin.
    coef_, intercept_, classes_, n_iter_, trace_, curve_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`; `curve_` counts updates.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = PassiveAggressiveClassifier(order="cyclic").fit(X, y)
    >>> clf.stop_reason_, clf.n_mistakes_, clf.n_updates_ > clf.n_mistakes_, clf.score(X, y)
    ('plateau', 5, True, 1.0)
    """

    _learner = PassiveCore._learner


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    require_memory_of(Passive, held["_state"])
    require(held["_state"].w.shape == (held["_width"] + 1,), "weights and features have different numbers")


class PassiveAggressiveRegressor(RegressorMixin, OneVector):  # type: ignore[misc]
    """Passive-aggressive regression: each update is the shortest one that brings a row within ε of its number.

    A row with ``|y − f| > ε`` is corrected by the step ``c = (|y − f| − ε) / x²``, x² = ‖x‖² + 1 with the bias.
    `C` limits it (Crammer et al. 2006). Takes the parameters of scikit-learn's ``PassiveAggressiveRegressor``, but
    for early stopping.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_features,) and (1,)
        The weights and the bias.
    n_iter_, stop_reason_ : int, str
        The passes of the last fit, and its end: "margin" after a pass without an update, "tol", "plateau",
        "max_iter", "max_time" or "interrupted".
    n_updates_, updates_per_pass_ : int, list of int
        The visits that moved weights.
    t_ : int
        The number of visits since the start.

    Examples
    --------
    >>> reg = PassiveAggressiveRegressor(epsilon=0.01).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> bool(abs(reg.predict([[3.0]])[0] - 7.0) < 0.1)
    True
    """

    _learner = built_in("PassiveAggressiveRegressor", StateSchema(VECTOR, VECTOR_FIT, _link, without_run))

    C: float = like(
        PassiveAggressiveClassifier, doc="The aggressiveness; ``math.inf`` always takes the whole step."
    )
    loss: str = param(
        "epsilon_insensitive",
        "The first is PA-I, with the step min(C, c); the second PA-II, with x² + 1 / (2C) in place of x².",
        one_of=("epsilon_insensitive", "squared_epsilon_insensitive"),
    )
    epsilon: float = param(0.1, "ε, the error that is not corrected.", least=0)
    tol: float | None = param(
        1e-3,
        "Training ends when the mean of ``max(0, |y − f| − ε)`` over a pass has not fallen by `tol` for "
        "`n_iter_no_change` passes. None: when the number of updates has not fallen by 2 %.",
    )

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train until a stopping rule ends it; a sample weight multiplies C.

        `checkpoint`, `every` and `resume` are those of `Perceptron.fit_blocks`: they let a fit that was cut short
        go on, to the same bits.
        """
        warn_of_column(y)
        return self._fit(X, y, sample_weight, checkpoint, every, resume)

    def partial_fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Visit the rows of a chunk once, in the order they come."""
        return self._partial_fit(X, y, sample_weight)

    def learn_one(self, x: RowLike, y: float, sample_weight: float | None = None) -> Self:
        """Visit one example, a sequence of numbers or a mapping of feature names to values.

        Names never met before become features, names left out are zero.
        """
        return self._learn_one(x, [y], sample_weight)

    def predict_one(self, x: RowLike) -> float | None:
        """Return the number of one example; None before the first one was learned."""
        return float(self.predict(self._one(x))[0]) if self.__sklearn_is_fitted__() else None

    def predict(self, X: MatrixLike) -> Floats:
        """Return the number predicted for each row."""
        return self._numbers(X)

    @property
    def coef_(self) -> Floats:
        """The weights."""
        self._require_fitted("coef_")
        return read_only(self._hypothesis()[:-1].copy())

    @property
    def intercept_(self) -> Floats:
        """The bias."""
        self._require_fitted("intercept_")
        return read_only(self._hypothesis()[-1:].copy())

    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        return State.zero((n_features + 1,), average=self.average)

    def _targets(
        self, y: ColumnLike, features: Features, weight: Floats | None, classes: ColumnLike | None, *, begins: bool
    ) -> tuple[Values, dict[str, Any]]:
        values = as_measurements(y, features.n_rows)
        if values.ndim == 2 and values.shape[1] != 1:
            raise ShapeError(f"y has {values.shape[1]} numbers a row. Train one regressor for each column of y.")
        flat = np.ascontiguousarray(values.reshape(-1))
        return Values(flat.copy(), np.ones(features.n_rows) if weight is None else weight), {}

    def _rule(self) -> Passive:
        C = float(self.C)
        most, soft = (C, 0.0) if self.loss == "epsilon_insensitive" else (math.inf, 1.0 / (2.0 * C))
        return Passive(beta=1.0 if self.fit_intercept else 0.0, margin=-float(self.epsilon), most=most, soft=soft)

    def _loss(self, targets: Values) -> Any:
        epsilon = float(self.epsilon)
        return lambda rows, log: np.abs(targets.value[rows] - log.score) - epsilon
