"""How to train a perceptron, the report of each pass, and the result of training.

Finds repeated weights, which may prove that nothing separates the data.

If w is the same at two moments, what was added in between is zero: Σ λ_i y_i (x_i, β) = 0, where λ_i is the sum
of the steps taken on row i. Then no hyperplane has every y_i f(x_i) > 0, for any order, margin and start. This
holds in rationals; floats can absorb an update and stand still without it. So a repeat is only a candidate, which
`prove` confirms or refutes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import State
from rosenblatt.learning.trace import Curve, Detail, Stretch, Trace
from rosenblatt.loops.order import Order
from rosenblatt.loops.rules import Penalty, Rule
from rosenblatt.stopping import StopReason
from rosenblatt.typing import Floats, Ints, MatrixLike

MAX_KEPT_STATES = 1 << 16  # remembered, by 16 bytes each
MAX_KEPT_MISTAKES = 1 << 24  # remembered, by a row number and a step: 256 MiB

Prove: TypeAlias = Callable[[Ints, list[Fraction]], Any | None]
"""Takes different rows and their positive weights; returns a proof that their sum is 0, None if it is not."""


class _Pass(NamedTuple):
    """A pass with mistakes: the state it began from, and the rows and steps of its mistakes."""

    state: bytes
    rows: Ints
    steps: Floats


class Cycles:
    """Compares the weights after each pass with those after earlier ones, and with those at the start.

    The last `MAX_KEPT_STATES` states and `MAX_KEPT_MISTAKES` mistakes are remembered; a repeat after more than
    that is not noticed. States are remembered by a digest; `prove` refutes two that only seem equal.
    """

    def __init__(self, prove: Prove, w: Floats) -> None:
        self._prove = prove
        self._state = _digest(w)
        self._passes: deque[_Pass] = deque()
        self._forgotten = 0  # passes
        self._mistakes = 0
        self._began: dict[bytes, int] = {}  # the number of the last pass from each state
        self._parts: list[tuple[Ints, Floats]] = []
        self._refuted = 0
        self._wait = 0

    def add(self, stretch: Stretch) -> None:
        """Take note of the mistakes of a stretch of visits."""
        if len(stretch.log.at):
            self._parts.append((stretch.rows.astype(np.int64), stretch.log.step.copy()))

    def end_pass(self, w: Floats) -> Any | None:
        """Take note of the weights after a pass; return the proof that they give, if there is one."""
        if not self._parts:
            return None  # a state that nothing moved is no repeat
        self._note(w)
        first = self._began.get(self._state)
        if first is None:
            return None
        if self._wait:
            self._wait -= 1
            return None
        between = [self._passes[k - self._forgotten] for k in range(first, self._forgotten + len(self._passes))]
        rows, weights = _combination(between)
        proof = self._prove(rows, weights) if weights else None
        if proof is None:  # floats may stand still for long: test repeats ever more seldom
            self._wait = 2**self._refuted
            self._refuted += 1
        return proof

    def _note(self, w: Floats) -> None:
        rows, steps = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        self._parts = []
        self._began[self._state] = self._forgotten + len(self._passes)
        self._passes.append(_Pass(self._state, rows, steps))
        self._mistakes += len(rows)
        self._state = _digest(w)
        while len(self._passes) > MAX_KEPT_STATES or self._mistakes > MAX_KEPT_MISTAKES:
            oldest = self._passes.popleft()
            if self._began[oldest.state] == self._forgotten:
                del self._began[oldest.state]
            self._mistakes -= len(oldest.rows)
            self._forgotten += 1


def _digest(w: Floats) -> bytes:
    return blake2b((w + 0.0).tobytes(), digest_size=16).digest()  # + 0.0 makes −0.0 a zero


def _combination(passes: list[_Pass]) -> tuple[Ints, list[Fraction]]:
    """Return the rows that mistakes were made on, and the exact sum of the steps of each."""
    rows = np.concatenate([each.rows for each in passes])
    steps = np.concatenate([each.steps for each in passes])
    pairs, counts = np.unique(np.column_stack([rows, steps.view(np.int64)]), axis=0, return_counts=True)
    sums: dict[int, Fraction] = {}
    for row, step, count in zip(pairs[:, 0].tolist(), pairs[:, 1].view(np.float64), counts.tolist(), strict=True):
        if step > 0.0:  # one too small for a float is none
            sums[row] = sums.get(row, Fraction(0)) + count * Fraction(float(step))
    return np.array([*sums], np.int64), [*sums.values()]


if TYPE_CHECKING:
    from rosenblatt.kernels.kernel_model import KernelModel

Model: TypeAlias = "LinearModel | KernelModel"


class Predicts(Protocol):
    """What predicts rows, such as an estimator."""

    def predict(self, X: MatrixLike) -> Any:
        """Return what is predicted for each row."""


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
        The mean of max(0, −y f) over the visits of the pass; NaN where a GPU trains, which counts mistakes alone.
        The losses of several machines are added; if classes
        are compared directly, y f is the lead over the best rival. Learners of other targets have the loss that
        their `tol` is about.
    validation_error : float or None
        The share of validation rows that are wrong after the pass.
    seconds : float
        Time since training began, without the time of compiling loops.
    model : LinearModel, KernelModel or estimator
        The hypothesis after the pass: of learners of ranks, orders, numbers, sets of labels and sequences a copy
        of the estimator that predicts with it.
    """

    epoch: int
    mistakes: int
    visits: int
    loss: float
    validation_error: float | None
    seconds: float
    model: Model | Predicts = field(repr=False)


Callback: TypeAlias = Callable[[PassReport], object]


class Proof(Protocol):
    """The answer to whether a fit can end without a mistake."""

    @property
    def verdict(self) -> str:
        """Either "separable" or "inseparable"."""


Ask: TypeAlias = Callable[[Floats, float, LinearModel | None], Proof | None]
"""Takes the weight of each row, the work allowed, in multiplications, and what was learned, if it is one question.

Returns a proof if the work sufficed."""


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
    proof: Any | None = None  # that none or some hyperplane separates the rows: by repeated weights, or asked for
    separable: bool = False  # whether it was proved that training ends without a mistake
    undecided: bool = False  # whether that was asked, or was too much to ask
