"""Confidence-weighted learning as a scikit-learn classifier: AROW and SCW-I."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

from rosenblatt.estimators._linear import perceptron_state
from rosenblatt.estimators.perceptron import OwnRule
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.learning.stream import Stream
from rosenblatt.loops.rules import Confidence, Rule, Variance
from rosenblatt.parameters import POSITIVE, or_infinite, param
from rosenblatt.registry import built_in
from rosenblatt.rows.features import read_only


class ConfidenceWeightedClassifier(OwnRule):
    """Learning with a variance for each weight: weights of features rarely seen move most.

    Each weight has a variance s_j, which starts at 1 and falls with every update of its feature. An update on a
    row moves weights by c y s_j x_j. On streams and in single passes this often makes far fewer mistakes
    than the perceptron, and needs no average. AROW (Crammer, Kulesza and Dredze 2009) bears wrong labels; SCW-I
    (Wang, Zhao and Hoi 2012) asks for a margin that grows with the variance of the score.

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

    _learner = built_in("ConfidenceWeightedClassifier", perceptron_state(Confidence))

    rule: str = param(
        "arow",
        "AROW updates if y f < 1, SCW-I if y f < φ √v, where v = Σ s_j x_j² and φ = Φ⁻¹(`confidence`).",
        one_of=("arow", "scw"),
    )
    r: float = param(1.0, "AROW: larger values let variances fall more slowly, and weights move less.", above=0)
    C: float = param(1.0, "SCW-I: the longest step c. ``math.inf`` is CW.", check=or_infinite(POSITIVE))
    confidence: float = param(
        0.9, "SCW-I: the probability that a row is right after its update, between 0.5 and 1.", above=0.5, below=1
    )
    class_weight: Any = param(
        None, "Divides r, or multiplies C, for each class, as a sample weight does for each row."
    )
    multiclass: str = param("direct", more="Classes that are compared directly add their variances.")

    @property
    def variance_(self) -> Any:
        """The variance of each weight of `coef_`."""
        self._require_fitted("variance_")
        state = self._state.narrowed(self._width).spread()
        variance = state.memory["variance"]
        assert isinstance(variance, Variance), "the rule has variances"
        return read_only(variance.s.reshape(-1, self._width + 1)[:, :-1].copy())

    def _own_rule(self, rule: Rule) -> Confidence:
        r, C = float(self.r), float(self.C)
        if self.rule == "arow":
            return Confidence(*rule, r, C, 0.0)
        # The margin of SCW-I is φ √v; what it shares with other rules is that a row must be on its right side.
        return Confidence(*rule._replace(margin=0.0), r, C, NormalDist().inv_cdf(self.confidence))

    def _rule_to_go_on_by(self, stream: Stream) -> Any:
        rule = super()._rule_to_go_on_by(stream)
        if not stream.state.memory["variance"].suits(rule):
            told = " cannot change while a stream is under way. Use a new estimator."
            raise ParameterError(Given("rule") + " and " + Given("confidence") + told)
        return rule
