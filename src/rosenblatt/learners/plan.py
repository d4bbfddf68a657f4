"""How a fit is to be made, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rosenblatt.learners.cycles import Prove
from rosenblatt.learners.order import Order
from rosenblatt.learners.report import Callback
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.shrinking import Penalty
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.stopping import StopReason
from rosenblatt.trace.curve import Curve
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Detail
from rosenblatt.typing import Ints


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
    zero : int
        The side of f = 0.
    radius : float or None
        R, where the rule's bias step is R²; for the record.
    start_at_first : bool
        Whether the first row visited is added to the start before anything else (S-10).
    max_iter : int
        The most passes.
    max_time : float or None
        The most seconds.
    tol, patience : float or None, int or None
        See `Tolerance`, `Plateau` and `Validation`.
    held_out : ndarray of int or None
        Rows not to train on, but to end by and to choose the best pass by.
    trace : {"mistakes", "counts"} or None
        What to keep of the run.
    screened : bool or None
        Whether to use the screen; None where it pays. The result is the same.
    callbacks : sequence of callables
        Each is called with a `PassReport` after each pass; if one returns True, training ends there.
    prove : callable or None
        If given, training ends with a repeated state from which it makes a proof (see `Cycles`): two classes, and
        no penalty.
    """

    rule: Rule
    order: Order
    scheme: Scheme
    penalty: Penalty | None = None
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
class Run:
    """What a fit loop returns: the state to predict by or to go on from, and how it came about.

    Attributes
    ----------
    state : State
        After the last pass, or after the best one by validation.
    stop_reason : str
        Why training ended.
    converged : bool
        Whether every training row is right under `state`.
    mistakes_per_pass : list of int
        Of all passes made.
    trace : Trace
        Of the passes that led to `state`.
    curve : Curve
        Training and validation error of all passes made.
    stuck : int
        Rows that are wrong though nothing will ever be corrected again: they lie exactly on the hyperplane, are
        never visited, or every pair of classes is told apart but their sums are not.
    interruption : KeyboardInterrupt or None
        The Ctrl-C that ended the run, for the caller to raise again once all is in order.
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
