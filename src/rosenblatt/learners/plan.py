"""How to train a perceptron, the report of each pass, and the result of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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


@dataclass(frozen=True)
class Plan:
    """How to train: everything but the data and the start.

    Attributes
    ----------
    rule : Rule
        What a mistake is and what it adds.
    order : Order
        The rows of each pass.
    scheme : Scheme
        How classes become hyperplanes.
    penalty : Penalty or None
        How weights shrink with every visit.
    class_weight : ndarray or None
        The weight of each class.
    zero : int
        The side of f = 0.
    radius : float or None
        R, where the rule's bias step is R²; for the record.
    start_at_first : bool
        Whether the first row visited is added to the start before anything else.
    max_iter : int
        The most passes.
    max_time : float or None
        The most seconds.
    tol, patience : float or None, int or None
        See `Tolerance`, `Plateau` and `Validation`.
    held_out : ndarray of int or None
        Rows that are not trained on; their error ends training and chooses the best pass.
    trace : {"mistakes", "counts"} or None
        What to keep of the run.
    screened : bool or None
        Whether to use the screen; None where it pays. The result is the same.
    callbacks : sequence of callables
        Each is called with a `PassReport` after each pass; if one returns True, training ends there.
    prove : callable or None
        If given, training ends at a repeated state that it proves inseparability from (see `Cycles`): two classes,
        no penalty.
    """

    rule: Rule
    order: Order
    scheme: Scheme
    penalty: Penalty | None = None
    class_weight: Floats | None = None
    zero: int = -1
    radius: float | None = None
    start_at_first: bool = False
    max_iter: int = 1000
    max_time: float | None = None
    tol: float | None = None
    patience: int | None = None
    held_out: Ints | None = None
    trace: Detail = "mistakes"
    screened: bool | None = None
    callbacks: Sequence[Callback] = ()
    prove: Prove | None = None


@dataclass(frozen=True, eq=False)
class PerceptronRun:
    """The result of training.

    Attributes
    ----------
    state : State
        The state after the last pass, or after the best one by validation.
    stop_reason : str
        Why training ended.
    converged : bool
        Whether every training row is right under `state`.
    mistakes_per_pass : list of int
        Mistakes of all passes made.
    trace : Trace
        The record of the passes that led to `state`.
    curve : Curve
        Training and validation error of all passes made.
    stuck : int
        Rows that are wrong though nothing will ever be corrected again: they lie exactly on the hyperplane, are
        never visited, or each pair of classes is separated but the sums over pairs are not.
    interruption : KeyboardInterrupt or None
        The Ctrl-C that ended the run; the caller raises it once the result is published.
    proof : object or None
        What the plan's `prove` made of a repeated state.
    """

    state: State
    stop_reason: StopReason
    converged: bool
    mistakes_per_pass: list[int]
    trace: Trace
    curve: Curve
    stuck: int = 0
    interruption: KeyboardInterrupt | None = None
    proof: Any | None = None
