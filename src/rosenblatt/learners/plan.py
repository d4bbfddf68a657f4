"""How to train a perceptron, the report of each pass, and the result of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from rosenblatt.learners.cycles import Prove
from rosenblatt.learners.order import Order
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.shrinking import Penalty
from rosenblatt.model.kernel import KernelModel
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.stopping import StopReason
from rosenblatt.trace.curve import Curve
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Detail
from rosenblatt.typing import Floats, Ints

Model: TypeAlias = LinearModel | KernelModel


@dataclass(frozen=True)
class PassReport:
    """The report of a pass that callbacks get.

    Attributes
    ----------
    epoch : int
        The number of the pass, from 1.
    mistakes, visits : int
        Mistakes and visits of this pass.
    loss : float
        The mean of max(0, −y f) over the visits of the pass. The losses of several machines are added; if classes
        are compared directly, y f is the lead over the best rival.
    validation_error : float or None
        The share of validation rows that are wrong after the pass.
    seconds : float
        Time since training began.
    model : LinearModel or KernelModel
        The hypothesis after the pass.
    """

    epoch: int
    mistakes: int
    visits: int
    loss: float
    validation_error: float | None
    seconds: float
    model: Model = field(repr=False)


Callback: TypeAlias = Callable[[PassReport], object]


class Proof(Protocol):
    """The answer to whether a fit can end without a mistake."""

    @property
    def verdict(self) -> str:
        """Either "separable" or "inseparable"."""


Ask: TypeAlias = Callable[[Floats, float], Proof | None]
"""Takes the weight of each row, and the work allowed, in multiplications; returns a proof if that sufficed."""


@dataclass(frozen=True)
class Plan:
    """How to train: everything but the data and the start."""

    rule: Rule  # what a mistake is and what it adds
    order: Order  # the rows of each pass
    scheme: Scheme  # how classes become hyperplanes
    penalty: Penalty | None = None  # how weights shrink with every visit
    class_weight: Floats | None = None  # of each class
    zero: int = -1  # the side of f = 0
    radius: float | None = None  # R, where the rule's bias step is R²; for the record
    start_at_first: bool = False  # whether the first row visited is added to the start before anything else
    max_iter: int = 1000
    max_time: float | None = None  # seconds
    tol: float | None = None  # see `Tolerance` and `Validation`
    patience: int | None = None  # see `Plateau`, `Tolerance` and `Validation`
    brief: bool = False  # whether few passes on a plateau end training without a patience: of averages and votes
    ask: Ask | None = None  # asked on a plateau whether training can end without a mistake at all
    held_out: Ints | None = None  # rows not trained on; their error ends training and chooses the best pass
    trace: Detail = "mistakes"  # what to keep of the run
    most_mistakes: int | None = None  # to keep; of a longer run only the counts are kept
    screened: bool | None = None  # whether to use the screen, None where it pays; the result is the same
    callbacks: Sequence[Callback] = ()  # called after each pass; training ends if one returns True
    prove: Prove | None = None  # ends training at repeated weights that it makes a proof of: see `Cycles`


@dataclass(frozen=True, eq=False)
class PerceptronRun:
    """The result of training."""

    state: State  # after the last pass, or after the best one by validation
    stop_reason: StopReason
    converged: bool  # whether every training row is right under `state`
    mistakes_per_pass: list[int]  # of all passes made: the visits that moved weights
    wrong_per_pass: list[int]  # those of them on a row on its wrong side, counted for rules other than `Rule`
    trace: Trace  # of the passes that led to `state`
    curve: Curve  # training and validation error of all passes made
    stuck: int = 0  # rows that are wrong though no visit will ever change the weights again
    interruption: KeyboardInterrupt | None = None  # raised by the caller once the result is published
    proof: Any | None = None  # that no hyperplane separates the rows: from repeated weights, or asked for
    separable: bool = False  # whether it was proved that training ends without a mistake
