"""The fit of networks: mini-batches, steps, and when and why to end.

Codecs of networks, their states and their runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.codecs import (
    REALS,
    Boxed,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    require,
)
from rosenblatt.codecs import Array as ArrayCodec
from rosenblatt.estimators._linear import DRAWN, READS_TABLES, Parts
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.learning.fit_loop import FitLoop
from rosenblatt.learning.linear import LABELS
from rosenblatt.learning.stored_streams import COLUMN, require_names
from rosenblatt.learning.visitor import held_out_mask, without
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.order import Order, Visits
from rosenblatt.networks.backpropagation import Adam, Backpropagation, Momentum, take_step
from rosenblatt.networks.layers import (
    Coding,
    Cost,
    GainControl,
    Layer,
    LogSquare,
    Network,
    ReLU,
    Sigmoid,
    Tanh,
    n_parameters,
    n_weights,
    parts,
)
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.rows.memory import PEAK_COPIES, require_neurons
from rosenblatt.stopping import LossPlateau, StopReason
from rosenblatt.typing import Floats, Ints

# Examples, plan, state, reports and result of training a network.

Array = NDArray[Any]
BYTES_A_LAYER = 4096
"""What a layer takes beside its parameters: views of them, and arrays of its neurons."""


@dataclass(eq=False)
class NetworkState:
    """All that training carries from step to step."""

    theta: Array  # the parameters
    moments: Array  # what the steps remember, shape (n_moments, n_parameters)
    steps: int = 0  # made since the start
    visits: int = 0

    def become(self, other: NetworkState) -> None:
        """Take over the values of another state, in the room of this one."""
        np.copyto(self.theta, other.theta)
        np.copyto(self.moments, other.moments)
        self.steps, self.visits = other.steps, other.visits

    def copy(self) -> NetworkState:
        """Return an independent state."""
        return NetworkState(self.theta.copy(), self.moments.copy(), self.steps, self.visits)

    def scaled(self, layers: Sequence[Layer], power: int) -> NetworkState:
        """Return the state for inputs that are divided by a power of two: exact, short of underflow."""
        state = self.copy()
        first = parts(layers, state.theta)[0][0]
        np.ldexp(first, power, out=first)
        # Momentum is a change of parameters; Adam keeps means of slopes and of their squares.
        for times, moment in zip((1,) if len(state.moments) == 1 else (-1, -2), state.moments, strict=True):
            first = parts(layers, moment)[0][0]
            np.ldexp(first, power * times, out=first)
        return state

    def for_rule(self, rule: Momentum | Adam) -> NetworkState:
        """Return a state that steps of `rule` can go on from: memories of another kind of step are dropped."""
        if len(self.moments) == rule.n_moments:
            return self.copy()
        return begin(self.theta.copy(), rule, self.visits)


def begin(theta: Array, rule: Momentum | Adam, visits: int = 0) -> NetworkState:
    """Return the state before the first step."""
    return NetworkState(theta, np.zeros((rule.n_moments, theta.size), theta.dtype), 0, visits)


def require_parameters(layers: Sequence[Layer]) -> None:
    """Raise `InputError` if training a network would take more than the free memory."""
    n_bytes = 8 * PEAK_COPIES * n_parameters(layers) + BYTES_A_LAYER * len(layers)
    require_neurons(f"Training {n_parameters(layers):,} parameters of neurons", n_bytes)


def random_parameters(layers: Sequence[Layer], scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Draw the weights and biases of each layer, uniform between minus and plus its scale."""
    require_parameters(layers)
    theta = np.empty(n_parameters(layers))
    weights, biases = parts(layers, theta)
    for scale, w, b in zip(scales, weights, biases, strict=True):
        w[...] = rng.uniform(-scale, scale, w.shape)
        if b is not None:
            b[...] = rng.uniform(-scale, scale, b.shape)
    return theta


@dataclass(frozen=True)
class NetworkReport:
    """The report of a pass that callbacks get.

    Attributes
    ----------
    epoch : int
        The number of the pass, from 1.
    visits : int
        Rows visited in it.
    loss : float
        What is minimised, as a mean over the pass: each row by the parameters before its step.
    mistakes : int or None
        Rows whose class was predicted wrong when they were visited; None in regression.
    mse : float or None
        In regression, the mean squared error of the rows when they were visited.
    validation_error : float or None
        After the pass, the share of the rows held out that are wrong, or their mean squared error.
    seconds : float
        Time since training began, without the time of compiling loops.
    model : Network
        The network after the pass.
    """

    epoch: int
    visits: int
    loss: float
    mistakes: int | None
    mse: float | None
    validation_error: float | None
    seconds: float
    model: Network = field(repr=False)


NetworkCallback: TypeAlias = Callable[[NetworkReport], object]


@dataclass(frozen=True)
class NetworkPlan:
    """How to train: everything but the data and the start."""

    layers: tuple[Layer, ...]
    cost: Cost  # the loss of a row
    rule: Momentum | Adam  # the steps
    order: Order  # the rows of each pass
    alpha: float = 0.0  # alpha/2 times the sum of squared weights is added to the mean loss
    batch_size: int = 200  # rows a step
    max_iter: int = 1000
    max_time: float | None = None  # seconds
    tol: float | None = None  # the share by which the loss must fall within `patience` passes
    patience: int = 10
    held_out: Ints | None = None  # rows not trained on; their error ends training and chooses the best pass
    callbacks: Sequence[NetworkCallback] = ()  # called after each pass; training ends if one returns True


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows, and what a network is to answer to them."""

    features: Features
    targets: Array  # shape (n_rows, n_outputs)
    weight: Array | None = None  # what the loss of each row is multiplied by
    codes: Ints | None = None  # in a classification, the class of each row
    coding: Coding | None = None  # in a classification, how outputs name classes
    classes: Array | None = None  # in a classification, the labels
    flat: bool = True  # whether y had one dimension

    def cast(self, dtype: DTypeLike) -> Examples:
        """Return the same examples in another precision."""
        features, X = self.features, self.features.rows
        if features.values.dtype != dtype:
            rows: Any = CSR(X.data.astype(dtype), X.indices, X.indptr) if isinstance(X, CSR) else X.astype(dtype)
            features = Features(rows, features.n_rows, features.n_features, features.names)
        with np.errstate(over="ignore"):  # the loss shows what float32 cannot hold
            weight = None if self.weight is None else self.weight.astype(dtype)
            return replace(self, features=features, targets=self.targets.astype(dtype), weight=weight)

    def error(self, network: Network) -> float:
        """Return the share of rows that are wrong, or the mean squared error."""
        outputs = network.outputs(self.features)
        if self.codes is not None and self.coding is not None:
            return float(np.mean(self.coding.codes(outputs) != self.codes))
        return float(np.square(outputs - self.targets, dtype=np.float64).mean())

    def take(self, rows: Ints) -> Examples:
        """Return some of the rows, as copies."""
        return replace(
            self,
            features=as_rows(self.features.native()[rows]),
            targets=self.targets[rows],
            weight=None if self.weight is None else self.weight[rows],
            codes=None if self.codes is None else self.codes[rows],
        )


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """The result of training: a state to predict by or to go on from, and how it was reached."""

    state: NetworkState
    stop_reason: StopReason
    losses: list[float]
    training_errors: list[float]
    validation_errors: list[float]
    mistakes_per_pass: list[int]
    best_pass: int | None
    interruption: KeyboardInterrupt | None = None


class Tally:
    """What is added up over the rows of a pass."""

    def __init__(self) -> None:
        self.loss, self.mistakes, self.squares, self.rows = 0.0, 0, 0.0, 0

    def errors_per_row(self, examples: Examples) -> float:
        """Return the share of wrong rows, or the mean squared error."""
        total = self.squares / examples.targets.shape[1] if examples.codes is None else self.mistakes
        return total / max(self.rows, 1)


class GradientSteps:
    """Steps over mini-batches, from a state that they change."""

    def __init__(self, plan: NetworkPlan, examples: Examples, state: NetworkState) -> None:
        self.plan, self.examples, self.state = plan, examples, state
        most = min(plan.batch_size, examples.features.n_rows)
        self.backward = Backpropagation(plan.layers, state.theta, plan.cost, most)
        self._decay = n_weights(plan.layers), plan.alpha
        self._nonnegative = [
            w for layer, w in zip(plan.layers, self.backward.weights, strict=True) if layer.nonnegative
        ]
        self._rows = examples.features.native()
        self._dense = isinstance(self._rows, np.ndarray)
        self._room = np.empty((most, examples.features.n_features), state.theta.dtype) if self._dense else None

    def over(self, visits: NDArray[Any] | None) -> Iterator[Tally]:
        """Visit rows in an order, or as stored, a batch at a time; yields the same tally after each step."""
        n_rows = self.examples.features.n_rows if visits is None else len(visits)
        tally = Tally()
        for first in range(0, n_rows, self.plan.batch_size):
            rows: Any = slice(first, min(first + self.plan.batch_size, n_rows))
            self.step(rows if visits is None else visits[rows], tally)
            yield tally

    def step(self, rows: Any, tally: Tally) -> None:
        """Make one step by the gradient of some rows."""
        examples, state = self.examples, self.state
        targets = examples.targets[rows]
        weight = None if examples.weight is None else examples.weight[rows]
        loss, outputs = self.backward.charge(self._batch(rows), targets, weight)
        tally.rows += len(targets)
        tally.loss += loss
        if examples.codes is None:
            wrong = outputs - targets
            tally.squares += float(np.vdot(wrong, wrong))
        elif examples.coding is not None:
            tally.mistakes += int(np.count_nonzero(examples.coding.codes(outputs) != examples.codes[rows]))
        state.steps += 1
        state.visits += len(targets)
        take_step(self.plan.rule, state.theta, self.backward.gradient, state.moments, self._decay, state.steps)
        for w in self._nonnegative:
            np.maximum(w, 0.0, out=w)

    def penalty(self) -> float:
        """Return alpha/2 times the squares of the weights."""
        n, alpha = self._decay
        if alpha == 0.0:
            return 0.0
        weights = self.state.theta[:n]
        return 0.5 * alpha * float(np.vdot(weights, weights))

    def _batch(self, rows: Any) -> Any:
        if self._room is None or isinstance(rows, slice):
            return self._rows[rows]
        # "clip" because the default would go through a buffer of its own, to raise without having written.
        return np.take(self._rows, rows, axis=0, out=self._room[: len(rows)], mode="clip")


def learn(examples: Examples, plan: NetworkPlan, state: NetworkState) -> tuple[float, int]:
    """Visit the rows once, in order, changing `state`; return the loss, and how many rows were predicted wrong."""
    descent = GradientSteps(plan, examples, state)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        *_, tally = descent.over(None)
        loss = tally.loss / tally.rows + descent.penalty()
    _require_finite(loss, state, "this chunk")
    return loss, tally.mistakes


class NetworkFit(FitLoop[NetworkState, NetworkRun, Visits]):
    """One fit under way."""

    def __init__(self, examples: Examples, plan: NetworkPlan, start: NetworkState) -> None:
        super().__init__(plan, start, start.copy())
        self.examples = examples
        self.descent = GradientSteps(plan, examples, self.state)
        self.held_out = held_out_mask(plan.held_out, examples.features.n_rows)
        self.unseen = None if plan.held_out is None else examples.take(plan.held_out)
        self.plateau = LossPlateau(plan.tol or 0.0, plan.patience, float(np.finfo(start.theta.dtype).eps))
        self.tally = Tally()
        self.losses: list[float] = []
        self.errors: list[float] = []
        self.mistakes: list[int] = []

    def run(self) -> NetworkRun:
        """Make passes until there is a reason to end."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the loss of the pass shows it
            return super().run()

    def _visits(self, epoch: int) -> Visits | None:
        visits = self.plan.order.visits(epoch)
        return visits if visits is None or self.held_out is None else without(self.held_out, visits)

    def _steps(self, epoch: int, visits: Visits) -> Iterable[Tally]:
        return self.descent.over(visits.view(np.int64))

    def _note(self, step: Tally, visits: Visits) -> int:
        self.tally = step
        return len(visits) - step.rows

    def _end_pass(self, epoch: int, visits: Visits) -> StopReason | None:
        loss = self.tally.loss / self.tally.rows + self.descent.penalty()
        _require_finite(loss, self.state, f"pass {epoch}")
        self.losses.append(loss)
        self.errors.append(self.tally.errors_per_row(self.examples))
        self.mistakes.append(self.tally.mistakes)
        self.note_complete(epoch)
        error = self.validate(epoch)
        if self.report(epoch, error):
            return "interrupted"
        if error is not None and self.validation.ends(epoch):
            return "validation"
        if self.plateau.ends(epoch, loss):
            return "plateau" if self.plan.tol is None else "tol"
        return "max_time" if self.out_of_time() else None

    def _held_out_error(self) -> float:
        assert self.unseen is not None, "rows are held out"
        return self.unseen.error(Network(self.plan.layers, self.state.theta))

    def _report_of(self, epoch: int, error: float | None, seconds: float) -> NetworkReport:
        of_classes = self.examples.codes is not None
        return NetworkReport(
            epoch=epoch,
            visits=self.tally.rows,
            loss=self.losses[-1],
            mistakes=self.tally.mistakes if of_classes else None,
            mse=None if of_classes else self.errors[-1],
            validation_error=error,
            seconds=seconds,
            model=Network(self.plan.layers, self.state.theta.copy()),
        )

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> NetworkRun:
        """Return the result: of the last pass, complete or ended by time, or of the best one by validation."""
        passes, state, best = self.complete.passes, self.state, None
        if self.validation.best_epoch and interruption is None:
            state, best = self.best, self.validation.best_epoch
        if not np.isfinite(state.theta).all():
            raise _overflowed(f"pass {passes}")
        return NetworkRun(
            state=state,
            stop_reason=reason,
            losses=self.losses[:passes],
            training_errors=self.errors[:passes],
            validation_errors=self.validation_errors[:passes],
            mistakes_per_pass=self.mistakes[:passes],
            best_pass=best,
            interruption=interruption,
        )


def _require_finite(loss: float, state: NetworkState, when: str) -> None:
    if not (np.isfinite(loss) and np.isfinite(state.theta).all()):
        raise _overflowed(when)


def _overflowed(when: str) -> TrainingOverflowError:
    return TrainingOverflowError(
        f"Training drove the loss or a weight beyond the largest float in {when}. Scale the features (and the "
        "targets of a regression) down, or lower eta0."
    )


RESPONSE = Either(
    {
        "logistic": (Sigmoid, Record(Sigmoid, {})),
        "tanh": (Tanh, Record(Tanh, {})),
        "relu": (ReLU, Record(ReLU, {})),
        "log square": (LogSquare, Record(LogSquare, {})),
        "gain control": (GainControl, Record(GainControl, {"sigma": Number(least=0.0)})),
    }
)
LAYER = Record(
    Layer,
    {
        "n_inputs": Count(1, 2**31),
        "n_neurons": Count(1, 2**31),
        "responses": Several(RESPONSE, tuple),
        "bias": Flag(),
        "nonnegative": Flag(),
    },
)


def _sound_state(state: NetworkState) -> None:
    moments = state.moments
    require(moments.dtype == state.theta.dtype, "parameters and moments have different precisions")
    require(
        len(moments) in (1, 2) and moments.shape[1] == state.theta.size,
        "the numbers of moments and of parameters differ",
    )


NETWORK_STATE = Record(
    NetworkState,
    {"theta": ArrayCodec(1, REALS), "moments": ArrayCodec(2, REALS), "steps": Count(), "visits": Count()},
    check=_sound_state,
)
CODING = Record(
    Coding, {"n_classes": Count(2, 2**31), "low": Number(), "high": Number(), "middle": Maybe(Number())}
)
NUMBERS = Several(Number(finite=False))


NETWORK_RUN = Record(
    dict,
    {
        "stop_reason": Text(),
        "losses": NUMBERS,
        "training_errors": NUMBERS,
        "validation_errors": NUMBERS,
        "mistakes_per_pass": Several(Count()),
        "best_pass": Maybe(Count()),
    },
)
"""All of a run but its state, which the estimator holds."""


def link_network(held: dict[str, Any]) -> None:
    """Require that layers, parameters and classes agree, and give the run its state."""
    layers, state = held["_layers"], held["_state"]
    require(layers and held["_width"] == layers[0].n_inputs, "layers and features contradict each other")
    for before, after in pairwise(layers):
        require(
            before.n_neurons == after.n_inputs,
            "a layer has another number of inputs than the one before has neurons",
        )
    require(state.theta.size == n_parameters(layers), "the layers have another number of parameters")
    coding, classes = held.get("_coding"), held.get("_classes")
    require((coding is None) == (classes is None), "classes and outputs contradict each other")
    if coding is not None:
        require(coding.n_classes == len(held["_classes"]), "classes and outputs contradict each other")
        require(coding.n_outputs == layers[-1].n_neurons, "classes and outputs contradict each other")
    if "_run" in held:
        held["_run"] = NetworkRun(state=state, **held["_run"])


NETWORK: Parts = {"_state": NETWORK_STATE, "_layers": Several(LAYER, tuple), **READS_TABLES}
"""What every network has."""
TASK: Parts = {
    "_loss": Text(("squared_error", "cross_entropy")),
    "_coding": Maybe(CODING),
    "_classes": Maybe(Boxed(LABELS)),
    "_flat": Flag(),
    "loss_curve_": COLUMN,
}
"""What a network learns, and how its loss fell."""
MISTAKES_MADE: Parts = {"_fit_mistakes": Several(Count()), "_stream_mistakes": Maybe(Count())}
"""The mistakes of each pass of a network's fit, and of its stream."""
NETWORK_FIT: Parts = {
    "n_iter_": Count(),
    "stop_reason_": Text(),
    "converged_": Flag(),
    "_run": NETWORK_RUN,
    "_drawn": DRAWN,
}
"""What a fit of a network leaves besides."""


def link_layers(held: dict[str, Any]) -> None:
    """Require that layers, parameters, classes and names of a network agree."""
    link_network(held)
    require_names(held)
