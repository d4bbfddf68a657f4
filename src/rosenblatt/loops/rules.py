"""The update rule as a value.

The perceptron's rules are one sentence: *if y f falls short of the margin, add η y x to w and η y β to b.* They
differ in five numbers, so a rule is those five numbers, and no loop asks which rule it runs:

===============  =======================  ==============================================
radius           ``beta = R**2``          the bias moves with the radius R of the data
unit             ``beta = 1``             the bias is the weight of a constant feature
no bias          ``beta = 0``             the hyperplane passes through the origin
ties             ``tie_plus, tie_minus``  the share of a step that is taken at y f = margin
===============  =======================  ==============================================

Rules of other kinds have numbers of their own after these five; `rosenblatt.loops.visits` knows their steps.

A penalty and its effect on weights as values, which need no compiled loop; `decay` trains with them.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats


class Penalty(NamedTuple):
    """Every visit multiplies each weight by `keep` and moves it towards zero by `rent`."""

    keep: float
    rent: float


class Shrunk(NamedTuple):
    """How far stored weights have shrunk: `sums` holds scale and total, `paid` has the shape of the weights."""

    sums: Floats
    paid: Floats

    def weights(self, w: Floats) -> Floats:
        """Return the weights that stored ones stand for: scale · soft(w, total − paid), and the same bias."""
        scale, total = self.sums
        v, rent = w[..., :-1], total - self.paid[..., :-1]
        weights = w.copy(order="K")
        weights[..., :-1] = scale * (np.sign(v) * np.maximum(np.abs(v) - rent, 0.0))
        return weights


Tie: TypeAlias = Literal["mistake", "sign", "half", "correct"]
Zero: TypeAlias = Literal[-1, 1]


class Rule(NamedTuple):
    """When a visit is a mistake, and what the mistake adds."""

    eta: float = 1.0  # the learning rate η
    beta: float = 1.0  # what the bias gains for each unit of step: 1, R² or 0
    margin: float = 0.0  # a visit is a mistake if y f < margin; y f = margin is a tie
    tie_plus: float = 1.0  # the share of a step taken at a tie, for y = +1
    tie_minus: float = 1.0  # and for y = −1


class Margins(NamedTuple):
    """The perceptron with uneven margins (Li et al. 2002): `margin` is for y = +1, `margin_minus` for y = −1."""

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0
    margin_minus: float = 0.0


class Power(NamedTuple):
    """The p-norm perceptron (Grove, Littlestone and Schuurmans 2001): the perceptron's rule moves θ, not w.

    The weights follow by w_j = sgn(θ_j) |θ_j|^(p − 1), so that p = 2 is the perceptron. `p` is a whole number;
    0 stands for the even number nearest to 2 ln d, for d features.
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0
    p: float = 0.0


class Linked(NamedTuple):
    """A `Power` rule as the loops read it: with θ, of the shape of the weights, and two numbers in `unit`.

    θ is kept divided by a power of two, the first of these numbers, so that the powers stay within floats. The
    second is the largest |θ_j| so far.
    """

    eta: float
    beta: float
    margin: float
    tie_plus: float
    tie_minus: float
    p: float
    theta: Floats
    unit: Floats


PLAIN = (Rule, Margins, Power, Linked)
"""Rules by which each update is a mistake, and each step has the same length."""


def is_plain(rule: Any) -> bool:
    """Return whether each update of a rule is a mistake, and each step has the same length."""
    return isinstance(rule, PLAIN)


def margin_of(rule: Any, y: Any) -> Any:
    """Return the margin of a rule for rows with label y; of several rows where y is an array."""
    if not isinstance(rule, Margins):
        return rule.margin
    return (
        np.where(y > 0, rule.margin, rule.margin_minus) if isinstance(y, np.ndarray) else rule[2 if y > 0 else 5]
    )


class Passive(NamedTuple):
    """A passive-aggressive rule: the shortest step that gives a visit its margin (Crammer et al. 2006).

    For a row with x² = ‖x‖² + β and the weight m, the step is η min(most · m, (margin − y f) / (x² + soft / m)).
    PA has no bound on the step and nothing to soften it; PA-I has ``most = C`` and PA-II ``soft = 1 / (2C)``. PA
    with another η is the relaxation method (Agmon 1954; Motzkin and Schoenberg 1954).
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 1.0
    tie_plus: float = 0.0
    tie_minus: float = 0.0
    most: float = math.inf
    soft: float = 0.0


class Confidence(NamedTuple):
    """A rule that keeps a variance s_j for each weight, and moves weights of large variance most.

    With v = Σ s_j x_j², the bias counting as β s_b, an update adds c y s_j x_j to each weight and subtracts
    b s_j² x_j² from its variance. AROW (Crammer, Kulesza and Dredze 2009) has ``phi = 0`` and updates if y f < 1.
    SCW-I (Wang, Zhao and Hoi 2012) has ``phi > 0`` and updates if y f < φ √v.
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 1.0
    tie_plus: float = 0.0
    tie_minus: float = 0.0
    r: float = 1.0  # AROW: how slowly variances shrink
    C: float = 1.0  # SCW-I: the longest step
    phi: float = 0.0  # SCW-I: φ = Φ⁻¹(confidence)


class Shaped(NamedTuple):
    """A `Confidence` rule as the loops read it: with the variances, an array of the shape of the weights."""

    eta: float
    beta: float
    margin: float
    tie_plus: float
    tie_minus: float
    r: float
    C: float
    phi: float
    s: Floats


def tie_shares(tie: Tie, zero: Zero = -1) -> tuple[float, float]:
    """Return the share of a step taken at a tie, for a positive and for a negative example.

    ``"mistake"`` counts every tie as a mistake and ``"correct"`` none; ``"half"`` takes half a step, as if sgn(0)
    were 0; ``"sign"`` takes a full step if sgn(0) = `zero` is not the label.

    Examples
    --------
    >>> tie_shares("sign", zero=-1)
    (1.0, 0.0)
    """
    match tie:
        case "mistake":
            return 1.0, 1.0
        case "correct":
            return 0.0, 0.0
        case "half":
            return 0.5, 0.5
        case "sign":
            return (1.0, 0.0) if zero < 0 else (0.0, 1.0)
    raise ParameterError(f"tie={tie!r} is not known. Use 'mistake', 'sign', 'half' or 'correct'.")
