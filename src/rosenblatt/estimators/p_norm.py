"""The p-norm perceptron as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from rosenblatt.estimators._linear import perceptron_state
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.loops.rules import Dual, Power, Rule
from rosenblatt.parameters import fixed, param, positional
from rosenblatt.registry import built_in

LARGEST_P = 64


def _check_power(name: str, value: object) -> None:
    if isinstance(value, str) and value == "auto":
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or not 2 <= int(value) <= LARGEST_P:
        raise ParameterError(Given(name, value) + f" must be a whole number from 2 to {LARGEST_P}, or 'auto'.")


class PNormPerceptron(Perceptron):
    """The p-norm perceptron: few relevant features among very many cost few mistakes.

    The perceptron's update moves a vector θ, and the weights are ``w_j = sgn(θ_j) |θ_j|^(p − 1)``, so that large
    entries count for more (Grove, Littlestone and Schuurmans 2001). ``p=2`` is the perceptron. With p = 2 ln d the
    mistakes grow with the logarithm of the number of features, as Winnow's do (Littlestone 1988). There are at
    most (p − 1) X_p² ‖u‖_q² / γ² if u separates the rows by γ, where 1/p + 1/q = 1; see `rosenblatt.bounds`.

    Attributes
    ----------
    p_ : int
        The power in use.
    coef_, intercept_ : ndarray
        The weights, after the link. They are known up to a positive factor: θ is divided by a power of two where
        powers would leave the range of floats.
    classes_, n_iter_, n_mistakes_, mistakes_per_pass_, converged_, stop_reason_, certificate_, trace_, curve_, t_,
    n_features_in_, feature_names_in_
        As in `Perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (500, 1000))
    >>> y = X[:, :3].sum(axis=1) > 0.0  # three of a thousand features matter
    >>> few, many = PNormPerceptron().fit(X, y), PNormPerceptron(p=2).fit(X, y)
    >>> few.p_, few.n_mistakes_ < many.n_mistakes_ / 2
    (14, True)
    """

    _learner = built_in("PNormPerceptron", perceptron_state(Power))
    p: Any = positional(
        default="auto",
        kw_only=False,
        doc="A whole number from 2 to 64. Powers of whole numbers are products, which have the same bits on every "
        'machine. "auto" is the even number nearest to 2 ln d for the d features of `fit`, or of the first chunk '
        "or example of a stream; `p_` is its value.",
        kind='int or "auto"',
        check=_check_power,
    )
    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    eta0: float = fixed(1.0)
    init: Any = fixed("zero")
    margin: float = fixed(0.0)
    stop_on_cycle: bool = fixed(False)
    device: str = fixed("cpu")
    bias: Any = param("unit", more="The bias is the weight of a constant feature.")

    @property
    def p_(self) -> int:
        """The power in use."""
        self._require_fitted("p_")
        dual = self._state.memory["dual"]
        assert isinstance(dual, Dual), "the rule has a power"
        return int(dual.p)

    def _own_rule(self, rule: Rule) -> Power:
        return Power(*rule, p=0.0 if isinstance(self.p, str) else float(self.p))

    def _rule_of_stream(self) -> tuple[Any, float | None]:
        rule, radius = super()._rule_of_stream()
        if self.__sklearn_is_fitted__() and rule.p not in (0.0, float(self.p_)):  # type: ignore[attr-defined]
            raise ParameterError(
                f"p cannot change to {self.p} while a stream is under way. Use a new estimator.",
                parameter="p",
                value=self.p,
            )
        return rule, radius
