"""Soft-margin classifiers: a loss, a penalty, and a bound on what is left to gain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.codecs import Flag
from rosenblatt.estimators._features import also_scale
from rosenblatt.estimators._fitting import generator
from rosenblatt.estimators._linear import LinearClassifier, facts, hyperplane_state, warn_of_column
from rosenblatt.exceptions import Given, ParameterError, Remedy
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.state import State
from rosenblatt.loops.descent import Hinge, Logistic, Loss, SquaredHinge
from rosenblatt.margins.softest import Limits, SoftPlan, SoftSolution, fit, weights
from rosenblatt.margins.stochastic import DescentSettings
from rosenblatt.parameters import (
    COMBINATION,
    Declared,
    PerceptronParameters,
    check_choice,
    check_number,
    learned,
    like,
    param,
    positional,
)
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Batch, as_batch, class_weights
from rosenblatt.rows.memory import require_features
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

DESCENTS = ("sgd", "batch")
RATES = ("optimal", "constant", "invscaling", "adaptive")


def _check_rate(name: str, value: object) -> None:
    if not callable(value):
        check_choice(name, value, RATES)


class SoftMarginClassifier(Declared, LinearClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The hyperplane that minimises a mean loss plus a penalty, with a bound on the distance to the minimum.

    ``objective_`` is ``Σ s_i ℓ(y_i f(x_i)) / Σ s_i + alpha · penalty(w)``, with s the sample weights and
    f(x) = <w, x> + b; the bias is not penalised. No hyperplane has an objective below ``objective_ - gap_``.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_hyperplanes, n_features) and (n_hyperplanes,)
        One hyperplane for two classes; for more, one for each class against the rest, the largest f wins.
    objective_ : float
        The value reached, summed over the hyperplanes.
    gap_ : float
        An upper bound on the distance from `objective_` to the minimum. It comes from the dual problem, or is
        `objective_` itself because no objective is negative; see `gap_from_`. It includes 10⁻¹⁴ of the objective
        for rounding. Without a penalty it holds against weights up to a million times larger than those found.
    gap_from_ : {"dual", "zero"}
        The source of the bound.
    converged_ : bool
        Whether ``gap_ ≤ tol · objective_``; an objective below 10⁻¹² of that of zero weights counts as 0.
    stop_reason_ : str
        "tol", "max_iter", "max_time" or "interrupted"; "plateau" if the loss of "sgd" or "batch" stopped falling
        before the gap was within `tol`; "stalled" if rounding prevents progress; "no_minimum" if the loss falls
        for ever. All but "tol" and "interrupted" give a warning.
    n_iter_ : int
        The number of steps, or of passes for "sgd".
    t_ : int
        Only for "sgd" and "batch": the number of visits, including those of earlier fits with `warm_start`. For
        several hyperplanes, the largest number of one of them.
    classes_, n_features_in_, feature_names_in_
        The labels, the number of features, and their names if X had any.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = SoftMarginClassifier(alpha=0.01, tol=1e-8).fit(X, y)
    >>> clf.coef_.round(3), clf.intercept_.round(3), round(clf.objective_, 4), clf.stop_reason_
    (array([[2., 2.]]), array([-1.]), 0.04, 'tol')
    """

    _learner = built_in(
        "SoftMarginClassifier",
        hyperplane_state(
            facts("objective_", "gap_", "gap_from_", "converged_", "stop_reason_", "n_iter_")
            | {"_sparse_coef": Flag(), "_descended": Flag()}
        ),
    )

    loss: str = positional(
        default="hinge",
        kw_only=False,
        doc="max(0, 1 − y f), its square, log(1 + exp(−y f)), or max(0, margin − y f), the perceptron's.",
        one_of=("hinge", "squared_hinge", "logistic", "perceptron"),
    )
    penalty: str | None = param(
        "l2",
        "½‖w‖², ‖w‖₁, (1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁, or nothing.",
        one_of=("l2", "l1", "elasticnet", None),
    )
    alpha: float = param(0.0001, "The strength of the penalty.", check=None)
    l1_ratio: float = param(0.15, "The share of ‖w‖₁ in the elastic net.", least=0, most=1)
    margin: float = param(
        1.0,
        'The margin of loss "perceptron". It is above 0, because at 0 the weights 0 have no loss; only "sgd" and '
        '"batch", which start there and move at every mistake, also take 0. Then training ends when every row is '
        "right.",
        least=0,
    )
    fit_intercept: bool = param(True, "Whether to learn a bias.")
    solver: str = param(
        "auto",
        '"newton": Newton\'s method, for "l2" with at most 2000 rows or features. "coordinate": dual coordinate '
        'ascent, for "l2" with many rows and many features. "interior": a primal-dual interior-point method for '
        'any loss and penalty, exact in a few dozen steps for features of any scale. "auto" chooses between '
        'these three, and begins with passes of "coordinate" where steps of "newton" are costly. "sgd": '
        'stochastic subgradient descent, a step for each row. "batch": subgradient descent, a step for each pass '
        "over all rows.",
        one_of=("auto", "newton", "coordinate", "interior", "sgd", "batch"),
    )
    max_iter: int = param(1000, "The maximum number of steps, or passes over the data, for each hyperplane.")
    tol: float = param(
        1e-3,
        'Training ends when ``gap_ ≤ tol · objective_``. "sgd" and "batch" also end when the mean loss of a pass '
        "has not fallen by `tol` for `n_iter_no_change` passes.",
        least=0,
    )
    max_time: float | None = param(
        None, "The maximum training time in seconds. Several hyperplanes get equal parts of it.", above=0
    )
    learning_rate: str | Callable[[int], float] = param(
        "optimal",
        'The step size of "sgd" at visit t, and of "batch" at step t: 1 / (alpha (t₀ + t)), eta0, eta0 / '
        "t^power_t, or eta0 divided by five whenever the loss no longer falls. A callable gets t, which is 1 at "
        "the first visit or step of each fit and of each hyperplane, and returns the step size: a finite number "
        "above 0. A model file holds no callable.",
        kind='{"optimal", "constant", "invscaling", "adaptive"} or callable',
        check=_check_rate,
    )
    eta0: float = param(0.01, 'The first step size, where `learning_rate` is not "optimal".', above=0)
    power_t: float = param(0.5, 'The power of t in the step size "invscaling".')
    shuffle: bool = param(True, 'Whether "sgd" visits the rows in a new random order each pass.')
    average: bool = param(
        False, 'Whether "sgd" and "batch" predict by the average of the hypotheses after each visit or step.'
    )
    n_iter_no_change: int = param(
        5, 'The number of passes without a lower loss after which "sgd" and "batch" end.'
    )
    class_weight: Any = like(PerceptronParameters, doc="Multiplies the loss of each class.")
    warm_start: bool = param(
        False,
        'Whether "sgd" and "batch" start at the weights of the last fit; the other solvers reach the minimum '
        "from any start.",
    )
    random_state: Any = like(
        PerceptronParameters, doc='The random seed for the orders of "sgd" and "coordinate", which "auto" may use.'
    )
    _descended: bool = learned()

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the objective.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The examples.
        y : sequence, shape (n_rows,)
            Their labels.
        sample_weight : array-like or None
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        SoftMarginClassifier
            The trained estimator. An error leaves it unchanged; Ctrl-C keeps the best hyperplane so far, if each
            class has one.
        """
        with interruptible():
            self._check_parameters()
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight)
            require_features(batch.n_features)
            start = self._start(batch)
            found = fit(batch, class_weights(self.class_weight, batch.codes, batch.classes), self._plan(), start)
            scheme = Scheme.of("ovr", len(batch.classes))
            if len(found) == scheme.n_machines:
                self._publish(found, batch, scheme, 0 if start is None else self._state.visits)
            for each in found:
                if each.interruption is not None:
                    raise each.interruption
            self._say_how_it_ended(batch)
            return self

    @property
    def t_(self) -> int:
        """The number of visits; only for solver="sgd" and "batch"."""
        self._require_fitted("t_")
        if not self._descended:
            raise AttributeError("t_ counts visits, which only solver='sgd' and 'batch' make.")
        return self._state.visits

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if callable(self.learning_rate) and self.solver not in DESCENTS:
            told = "A callable " + Given("learning_rate") + " gives the steps of solver='sgd' or 'batch', but "
            told += Given("solver", self.solver) + " takes its own. Choose one of these solvers."
            raise ParameterError(told, code=COMBINATION)
        if self.penalty is not None or (self.solver in DESCENTS and self.learning_rate == "optimal"):
            check_number("alpha", self.alpha, above=0)
        if self.margin == 0 and self.solver not in DESCENTS:
            raise ParameterError(
                Given("margin", self.margin)
                + f" must be above 0 for solver={self.solver!r}: with 0 the weights 0 have no "
                "loss. Use solver='sgd' or 'batch', which take a margin of 0, or rosenblatt.Perceptron."
            )
        if self.loss != "perceptron" and self.margin != 1:
            raise ParameterError(
                Given("margin", self.margin)
                + f" belongs to loss='perceptron', but the loss is {self.loss!r}, whose "
                "margin is fixed. Drop it, or change the loss."
            )

    def _plan(self) -> SoftPlan:
        share = {"l2": 0.0, "l1": 1.0, "elasticnet": float(self.l1_ratio)}
        l1, l2 = 0.0, 0.0
        if self.penalty is not None:
            l1, l2 = self.alpha * share[self.penalty], self.alpha * (1.0 - share[self.penalty])
        loss: dict[str, Loss] = {
            "perceptron": Hinge(float(self.margin)),
            "hinge": Hinge(),
            "squared_hinge": SquaredHinge(),
            "logistic": Logistic(),
        }
        seed = int(generator(self.random_state).integers(2**63))
        descent = DescentSettings(
            learning_rate=self.learning_rate,  # type: ignore[arg-type]  # checked
            eta0=float(self.eta0),
            power_t=float(self.power_t),
            alpha=float(self.alpha),
            average=bool(self.average),
            shuffle=bool(self.shuffle),
            tol=float(self.tol),
            patience=self.n_iter_no_change,
            seed=seed,
        )
        return SoftPlan(
            loss=loss[self.loss],
            l1=l1,
            l2=l2,
            bias=bool(self.fit_intercept),
            solver=self.solver,  # type: ignore[arg-type]  # checked
            descent=descent,
            limits=Limits(float(self.tol), self.max_iter, self.max_time),
        )

    def _start(self, batch: Batch) -> Floats | None:
        if not self.warm_start or self.solver not in DESCENTS or not self.__sklearn_is_fitted__():
            return None
        if batch.n_features != self._width or not np.array_equal(batch.classes, self._classes):
            raise ParameterError(
                Given("warm_start", True)
                + " continues a fit with other features or classes than those of X and y. Pass the "
                "same, or set warm_start=False."
            )
        return self._state.spread().w

    def _publish(self, found: list[SoftSolution], batch: Batch, scheme: Scheme, before: int) -> None:
        worst = next((each for each in found if not each.converged), found[-1])
        visits = before + max(each.visits for each in found)
        self._become(
            State(weights(found, batch.n_features), visits=visits),
            scheme,
            batch,
            objective_=sum(each.value for each in found),
            gap_=sum(each.gap for each in found),
            gap_from_="dual" if all(each.bounded for each in found) else "zero",
            converged_=all(each.converged for each in found),
            stop_reason_=worst.reason,
            n_iter_=max(each.n_iter for each in found),
            _descended=self.solver in DESCENTS,
        )

    def _say_how_it_ended(self, batch: Batch) -> None:
        """Warn where training did not reach the minimum."""
        left = f"The objective {self.objective_:.6g} may be up to {self.gap_:.2g} above its least value."
        if self.margin == 0:
            left = "With margin=0 the least objective is 0, at the weights 0, so gap_ has no meaning."
        said = {
            "max_iter": f"Training ended after max_iter={self.max_iter} steps. {left} "
            "Allow more, or a larger tol.",
            "max_time": f"Training ended after max_time={self.max_time} seconds. {left} "
            "Allow more, or a larger tol.",
            "plateau": f"The loss did not fall by tol={self.tol} for {self.n_iter_no_change} passes. {left} "
            "Use "
            + Remedy("average", True)
            + " or another "
            + Remedy("learning_rate")
            + (", or the default solver." if self.margin > 0 else "."),
            "stalled": f"Rounding allowed no better after {self.n_iter_} steps. {left} Raise tol.",
            "no_minimum": "The classes are separable, so without a penalty the logistic loss has no minimum: it "
            "falls towards 0 as the weights grow for ever. They were left where they separate the classes. Use a "
            "penalty, or MaxMarginClassifier.",
        }
        if self.stop_reason_ in said and (self.stop_reason_ == "no_minimum" or not self.converged_):
            also = "" if self.stop_reason_ == "no_minimum" else also_scale(batch)
            warnings.warn(f"{said[self.stop_reason_]}{also}", ConvergenceWarning, stacklevel=3)
