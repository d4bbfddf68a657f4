"""Confidence-weighted learning as a scikit-learn classifier: AROW and SCW-I."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

from rosenblatt.estimators._linear import perceptron_state
from rosenblatt.estimators._parameters import check_choice, check_number
from rosenblatt.estimators.perceptron import OwnRule, Perceptron
from rosenblatt.exceptions import ParameterError
from rosenblatt.learning.stream import Stream
from rosenblatt.loops.rules import Confidence, Rule, Variance
from rosenblatt.rows.reals import read_only


class ConfidenceWeightedClassifier(OwnRule):
    """Learning with a variance for each weight: weights of features rarely seen move most.

    Each weight has a variance s_j, which starts at 1 and falls with every update of its feature. An update on a
    row moves weights by c y s_j x_j. On streams and in single passes this often makes far fewer mistakes
    than the perceptron, and needs no average. AROW (Crammer, Kulesza and Dredze 2009) bears wrong labels; SCW-I
    (Wang, Zhao and Hoi 2012) asks for a margin that grows with the variance of the score.

    Parameters
    ----------
    rule : {"arow", "scw"}
        AROW updates if y f < 1, SCW-I if y f < φ √v, where v = Σ s_j x_j² and φ = Φ⁻¹(`confidence`).
    r : float
        AROW: larger values let variances fall more slowly, and weights move less.
    C : float
        SCW-I: the longest step c. ``math.inf`` is CW.
    confidence : float
        SCW-I: the probability that a row is right after its update, between 0.5 and 1.
    class_weight : dict, "balanced" or None
        Divides r, or multiplies C, for each class, as a sample weight does for each row.
    n_iter_no_change : int or None
        How many passes may go by before the updates of a pass fall by 2 %; then training ends on a plateau.
    multiclass : {"direct", "ovr", "ovo"}
        As in `Perceptron`. Classes that are compared directly add their variances.
    fit_intercept, max_iter, tol, early_stopping, validation_fraction, shuffle, verbose, n_jobs, random_state,
    warm_start, average, bias, radius, zero, init, order, max_time, trace, callbacks
        As in `Perceptron`.

    Attributes
    ----------
    variance_ : ndarray, shape (n_machines, n_features)
        The variance of each weight in `coef_`, 1 for a feature without an update.
    n_mistakes_, mistakes_per_pass_ : int, ndarray
        The visits with y f ≤ 0, in total and in each pass.
    n_updates_, updates_per_pass_ : int, ndarray
        The visits that moved weights. The trace holds these.
    stop_reason_ : str
        After a pass without an update "margin" with AROW, and "separated" with SCW-I. Else "plateau", "tol",
        "max_iter", "max_time", "validation" or "interrupted".
    converged_ : bool
        Whether training ended because no row needed an update.
    coef_, intercept_, classes_, n_iter_, trace_, curve_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`; `curve_` counts updates.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = ConfidenceWeightedClassifier(order="cyclic").fit(X, y)
    >>> clf.score(X, y), clf.variance_.shape, bool((clf.variance_ < 1.0).all())
    (1.0, (1, 2), True)
    """

    _learner = replace(
        Perceptron._learner,
        state=perceptron_state(Confidence),
        commands={"arow": {}, "scw": {"rule": "scw"}},
        abilities=Perceptron._learner.abilities - {"mixing"},  # only weights are mixed
    )

    def __init__(
        self,
        *,
        rule: str = "arow",
        r: float = 1.0,
        C: float = 1.0,
        confidence: float = 0.9,
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
        self.rule = rule
        self.r = r
        self.C = C
        self.confidence = confidence
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

    @property
    def variance_(self) -> Any:
        """The variance of each weight of `coef_`."""
        self._require_fitted("variance_")
        state = self._state.narrowed(self._width).spread()
        variance = state.memory["variance"]
        assert isinstance(variance, Variance), "the rule has variances"
        return read_only(variance.s.reshape(-1, self._width + 1)[:, :-1].copy())

    def _own_rule(self, rule: Rule) -> Confidence:
        check_choice("rule", self.rule, ("arow", "scw"))
        r = check_number("r", self.r, above=0)
        C = self.C if self.C == math.inf else check_number("C", self.C, above=0)
        confidence = check_number("confidence", self.confidence, above=0.5, below=1)
        if self.rule == "arow":
            return Confidence(*rule, r, C, 0.0)
        # The margin of SCW-I is φ √v; what it shares with other rules is that a row must be on its right side.
        return Confidence(*rule._replace(margin=0.0), r, C, NormalDist().inv_cdf(confidence))

    def _rule_to_go_on_by(self, stream: Stream) -> Any:
        rule = super()._rule_to_go_on_by(stream)
        if not stream.state.memory["variance"].suits(rule):
            raise ParameterError(
                "rule and confidence cannot change while a stream is under way. Use a new estimator."
            )
        return rule
