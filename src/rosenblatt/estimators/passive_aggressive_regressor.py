"""Passive-aggressive regression as a scikit-learn regressor."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from rosenblatt.data.features import Features
from rosenblatt.data.measurements import as_measurements
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._one_vector import VECTOR, VECTOR_FIT, OneVector, without_run
from rosenblatt.estimators._parameters import check_choice, check_number
from rosenblatt.exceptions import ShapeError
from rosenblatt.learners.stream_schemas import require_names
from rosenblatt.loops.rules import Passive
from rosenblatt.loops.targets import Values
from rosenblatt.model.state import State
from rosenblatt.registry import Learner
from rosenblatt.schema.codecs import require
from rosenblatt.schema.estimators import StateSchema
from rosenblatt.typing import Floats


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    require(held["_state"].w.shape == (held["_width"] + 1,), "weights and features have different numbers")


class PassiveAggressiveRegressor(RegressorMixin, OneVector):  # type: ignore[misc]
    """Passive-aggressive regression: each update is the shortest one that brings a row within ε of its number.

    A row with ``|y − f| > ε`` is corrected by the step ``c = (|y − f| − ε) / x²``, x² = ‖x‖² + 1 with the bias.
    `C` limits it (Crammer et al. 2006). Takes the parameters of scikit-learn's ``PassiveAggressiveRegressor``, but
    for early stopping.

    Parameters
    ----------
    C : float
        The aggressiveness; ``math.inf`` always takes the whole step.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        The first is PA-I, with the step min(C, c); the second PA-II, with x² + 1 / (2C) in place of x².
    epsilon : float
        ε, the error that is not corrected.
    fit_intercept : bool
        Whether there is a bias.
    max_iter : int
        The maximum number of passes.
    tol : float or None
        Training ends when the mean of ``max(0, |y − f| − ε)`` over a pass has not fallen by `tol` for
        `n_iter_no_change` passes. None: when the number of updates has not fallen by 2 %.
    n_iter_no_change : int
        See `tol`.
    shuffle, random_state
        Whether rows are visited in random order, and the seed of it.
    warm_start : bool
        Whether `fit` continues from the last one.
    average : bool
        Whether to predict with the average of the hypotheses after each visit.
    verbose : int
        Ignored.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_features,) and (1,)
        The weights and the bias.
    n_iter_, stop_reason_ : int, str
        The passes of the last fit, and its end: "margin" after a pass without an update, "tol", "plateau" or
        "max_iter".
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

    _learner = Learner(
        StateSchema(VECTOR, VECTOR_FIT, _link, without_run),
        commands={"pa-regressor": {}},
        abilities=frozenset({"streams", "examples"}),
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: Any = 0,
        warm_start: bool = False,
        average: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train until a stopping rule ends it; a sample weight multiplies C."""
        warn_of_column(y)
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Visit the rows of a chunk once, in the order they come."""
        return self._partial_fit(X, y, sample_weight)

    def learn_one(self, x: Any, y: float, sample_weight: float | None = None) -> Self:
        """Visit one example, a sequence of numbers or a mapping of feature names to values.

        Names never met before become features, names left out are zero.
        """
        return self._learn_one(x, [y], sample_weight)

    def predict_one(self, x: Any) -> float | None:
        """Return the number of one example; None before the first one was learned."""
        return float(self.predict(self._one(x))[0]) if self.__sklearn_is_fitted__() else None

    def predict(self, X: Any) -> Floats:
        """Return the number predicted for each row."""
        return self._numbers(X)

    @property
    def coef_(self) -> Floats:
        """The weights."""
        self._require_fitted("coef_")
        return self._hypothesis()[:-1].copy()

    @property
    def intercept_(self) -> Floats:
        """The bias."""
        self._require_fitted("intercept_")
        return self._hypothesis()[-1:].copy()

    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        return State.zero((n_features + 1,), average=self.average)

    def _targets(
        self, y: Any, features: Features, weight: Floats | None, classes: Any, *, begins: bool
    ) -> tuple[Values, dict[str, Any]]:
        values = as_measurements(y, features.n_rows)
        if values.ndim == 2 and values.shape[1] != 1:
            raise ShapeError(f"y has {values.shape[1]} numbers a row. Train one regressor for each column of y.")
        flat = np.ascontiguousarray(values.reshape(-1))
        return Values(flat.copy(), np.ones(features.n_rows) if weight is None else weight), {}

    def _rule(self) -> Passive:
        choices = ("epsilon_insensitive", "squared_epsilon_insensitive")
        check_choice("loss", self.loss, choices)
        epsilon = check_number("epsilon", self.epsilon, least=0)
        C = self.C if self.C == math.inf else check_number("C", self.C, above=0)
        most, soft = (C, 0.0) if self.loss == choices[0] else (math.inf, 1.0 / (2.0 * C))
        return Passive(beta=1.0 if self.fit_intercept else 0.0, margin=-epsilon, most=most, soft=soft)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._rule()

    def _loss(self, targets: Values) -> Any:
        epsilon = float(self.epsilon)
        return lambda rows, log: np.abs(targets.value[rows] - log.score) - epsilon
