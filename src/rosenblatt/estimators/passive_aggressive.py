"""Passive-aggressive learning as a scikit-learn classifier."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rosenblatt.estimators._own_rule import OwnRule
from rosenblatt.estimators._parameters import check_choice, check_number
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.schemas import perceptron_state
from rosenblatt.loops.rules import Passive, Rule


class PassiveAggressiveClassifier(OwnRule):
    """Passive-aggressive learning: each update is the shortest one that gives the row a margin of 1.

    A row with y f < 1 is corrected by the step c = (1 − y f) / x², where x² = ‖x‖² + β includes the bias. Where
    two vectors are compared directly both move, and x² counts twice. `C` limits the step (Crammer et al. 2006).
    Takes all parameters of scikit-learn's ``PassiveAggressiveClassifier``, and more of `Perceptron`.

    With ``C=math.inf`` and another `eta0` it is the relaxation method (Agmon 1954; Motzkin and Schoenberg 1954):
    the step is in proportion to the error. For 0 < eta0 < 2 each update brings the weights nearer to every
    hyperplane that gives all rows their margin.

    Parameters
    ----------
    C : float
        The aggressiveness. ``math.inf`` is PA, which always takes the whole step.
    loss : {"hinge", "squared_hinge"}
        "hinge" is PA-I, with the step min(C, c). "squared_hinge" is PA-II, with x² + 1 / (2C) in place of x².
    eta0 : float
        Multiplies every step: the λ of the relaxation method. 1 goes to the margin, 2 as far beyond it.
    margin : float
        The margin that an update gives the row, in place of 1. With 0 the weights 0 are never corrected, so that a
        start is needed.
    tol : float or None
        If given, training also ends when the mean loss of a pass, max(0, margin − y f), has not fallen by `tol`
        for `n_iter_no_change` passes.
    n_iter_no_change : int or None
        How many passes may go by before the updates of a pass fall by 2 %; then training ends on a plateau.
    class_weight : dict, "balanced" or None
        Multiplies C for each class, as a sample weight does for each row: a row of weight m counts as one with the
        aggressiveness m C. With ``C=math.inf`` only weights of zero matter.
    fit_intercept, max_iter, early_stopping, validation_fraction, shuffle, verbose, n_jobs, random_state,
    warm_start, average, bias, radius, zero, init, order, multiclass, max_time, trace, callbacks
        As in `Perceptron`.

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

    _learner = replace(
        Perceptron._learner,
        state=perceptron_state(Passive),
        commands={"pa": {"C": math.inf}, "pa1": {}, "pa2": {"loss": "squared_hinge"}},
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        eta0: float = 1.0,
        margin: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = 5,
        shuffle: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool = False,
        bias: Any = "unit",
        radius: float | None = None,
        zero: Any = -1,
        init: Any = "zero",
        order: Any = "shuffle",
        multiclass: str = "direct",
        max_time: float | None = None,
        trace: Any = "auto",
        callbacks: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.eta0 = eta0
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average
        self.bias = bias
        self.radius = radius
        self.zero = zero
        self.init = init
        self.order = order
        self.multiclass = multiclass
        self.max_time = max_time
        self.trace = trace
        self.callbacks = callbacks

    def _own_rule(self, rule: Rule) -> Passive:
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        check_number("margin", self.margin, least=0)  # not a pair
        C = self.C if self.C == math.inf else check_number("C", self.C, above=0)
        most, soft = (C, 0.0) if self.loss == "hinge" else (math.inf, 1.0 / (2.0 * C))
        return Passive(*rule, most, soft)
