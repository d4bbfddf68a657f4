"""What an update is, as a value (S-7 … S-10).

All rules are one sentence: *if y f falls short of the margin, add η y x to w and η y β to b.* They differ
in five numbers, so a rule is those five numbers, and no loop ever asks which rule it runs:

=================  =======================  ==========================================
S-7  Rosenblatt    ``beta = R**2``          bias moves with the radius of the data
S-8  plain         ``beta = 1``             bias is the weight of a constant feature
S-10 no bias       ``beta = 0``             the hyperplane goes through the origin
S-9  ties          ``tie_plus, tie_minus``  how much of a step is taken when y f = margin
=================  =======================  ==========================================
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from rosenblatt.exceptions import ParameterError

Tie: TypeAlias = Literal["mistake", "sign", "half", "correct"]
Zero: TypeAlias = Literal[-1, 1]


class Rule(NamedTuple):
    """One training rule: when a visit is a mistake, and what it then adds.

    Parameters
    ----------
    eta : float
        The learning rate η.
    beta : float
        What the bias gains for each unit of step: 1, R² or 0.
    margin : float
        A visit is a mistake if y f < margin; y f = margin is a tie.
    tie_plus, tie_minus : float
        The share of a full step taken at a tie, for y = +1 and y = −1.
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0


def tie_shares(tie: Tie, zero: Zero = -1) -> tuple[float, float]:
    """Return the share of a step that a tie earns, for a positive and for a negative example.

    ``"mistake"`` counts every tie as a mistake; ``"correct"`` none (Z); ``"half"`` takes half a step, as if
    sgn(0) were 0; ``"sign"`` takes a full one where sgn(0) = `zero` is not the label.

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
    raise ParameterError(f"tie={tie!r} is not a rule; use 'mistake', 'sign', 'half' or 'correct'.")
