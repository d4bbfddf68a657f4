"""The fit loop of networks: mini-batches, steps, and when and why to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, as_rows
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.learners.backpropagation import Backpropagation
from rosenblatt.learners.order import Order
from rosenblatt.loops.steps import Adam, Momentum, take_step
from rosenblatt.model.network import Layer, Network, n_parameters, n_weights, parts
from rosenblatt.model.outputs import Coding, Cost
from rosenblatt.stopping import LossPlateau, StopReason, Validation
from rosenblatt.typing import Floats, Ints

Array = NDArray[Any]


@dataclass(eq=False)
class NetworkState:
    """All that training carries from step to step.

    Attributes
    ----------
    theta : ndarray
        The parameters.
    moments : ndarray, shape (n_moments, n_parameters)
        What the steps remember.
    steps, visits : int
        Made since the start.
    """

    theta: Array
    moments: Array
    steps: int = 0
    visits: int = 0

    def become(self, other: NetworkState) -> None:
        """Take over the values of another state, in the room of this one."""
        np.copyto(self.theta, other.theta)
        np.copyto(self.moments, other.moments)
        self.steps, self.visits = other.steps, other.visits

    def copy(self) -> NetworkState:
        """Return a state of its own."""
        return NetworkState(self.theta.copy(), self.moments.copy(), self.steps, self.visits)

    def for_rule(self, rule: Momentum | Adam) -> NetworkState:
        """Return a state that steps of `rule` can go on from: memories of another kind of step are dropped."""
        if len(self.moments) == rule.n_moments:
            return self.copy()
        return begin(self.theta.copy(), rule, self.visits)


def begin(theta: Array, rule: Momentum | Adam, visits: int = 0) -> NetworkState:
    """Return the state before the first step."""
    return NetworkState(theta, np.zeros((rule.n_moments, theta.size), theta.dtype), 0, visits)


def random_parameters(layers: Sequence[Layer], scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Draw the weights and biases of each layer, uniform between minus and plus its scale."""
    theta = np.empty(n_parameters(layers))
    weights, biases = parts(layers, theta)
    for scale, w, b in zip(scales, weights, biases, strict=True):
        w[...] = rng.uniform(-scale, scale, w.shape)
        if b is not None:
            b[...] = rng.uniform(-scale, scale, b.shape)
    return theta


@dataclass(frozen=True)
class NetworkReport:
    """What is told of each pass once it is over.

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
        Since training began.
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
    """How to train: everything but the data and the start.

    Attributes
    ----------
    layers : tuple of Layer
        The network.
    cost : Cost
        The loss of a row.
    rule : Momentum or Adam
        The steps.
    alpha : float
        Of the penalty on weights: alpha/2 times the sum of their squares.
    batch_size : int
        Rows a step.
    order : Order
        The rows of each pass.
    max_iter, max_time : int, float or None
        The most passes, and seconds.
    tol : float or None
        The share by which the loss must fall within `patience` passes.
    patience : int
        See `LossPlateau` and `Validation`.
    held_out : ndarray of int or None
        Rows not to train on, but to end by and to choose the best pass by.
    callbacks : sequence of callables
        Each is called with a `NetworkReport` after each pass; if one returns True, training ends there.
    """

    layers: tuple[Layer, ...]
    cost: Cost
    rule: Momentum | Adam
    order: Order
    alpha: float = 0.0
    batch_size: int = 200
    max_iter: int = 1000
    max_time: float | None = None
    tol: float | None = None
    patience: int = 10
    held_out: Ints | None = None
    callbacks: Sequence[NetworkCallback] = ()


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows and what a network is to answer to them.

    Attributes
    ----------
    features : Features
        The rows, of the network's precision.
    targets : ndarray, shape (n_rows, n_outputs)
        Of the same precision.
    weight : ndarray or None
        What each row's loss is multiplied by.
    codes, coding : ndarray, Coding, or None
        Of classes: that of each row, and how outputs name them.
    """

    features: Features
    targets: Array
    weight: Array | None = None
    codes: Ints | None = None
    coding: Coding | None = None

    def error(self, network: Network) -> float:
        """Return the share of rows that are wrong, or the mean squared error."""
        outputs = network.outputs(self.features)
        if self.codes is not None and self.coding is not None:
            return float(np.mean(self.coding.codes(outputs) != self.codes))
        return float(np.square(outputs - self.targets, dtype=np.float64).mean())

    def take(self, rows: Ints) -> Examples:
        """Return some of the rows, as copies."""
        return Examples(
            features=as_rows(self.features.native()[rows]),
            targets=self.targets[rows],
            weight=None if self.weight is None else self.weight[rows],
            codes=None if self.codes is None else self.codes[rows],
            coding=self.coding,
        )


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """What a fit loop returns: the state to predict by or to go on from, and how it came about."""

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


class Descent:
    """Steps over mini-batches, from a state that they change."""

    def __init__(self, plan: NetworkPlan, examples: Examples, state: NetworkState) -> None:
        self.plan, self.examples, self.state = plan, examples, state
        most = min(plan.batch_size, examples.features.n_rows)
        self.backward = Backpropagation(plan.layers, state.theta, plan.cost, most)
        self._decay = n_weights(plan.layers), plan.alpha
        self._nonnegative = [
            w
            for layer, w in zip(plan.layers, self.backward.weights, strict=True)
            if layer.nonnegative
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
            tally.mistakes += np.count_nonzero(examples.coding.codes(outputs) != examples.codes[rows])
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


def fit(examples: Examples, plan: NetworkPlan, start: NetworkState) -> NetworkRun:
    """Train from `start` until a stop of `plan`."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # found by the loss of the pass
        return _Fit(examples, plan, start).run()


class Learned(NamedTuple):
    """The loss of a chunk, and how many of its rows were predicted wrong at their visit."""

    loss: float
    mistakes: int


def learn(examples: Examples, plan: NetworkPlan, state: NetworkState) -> Learned:
    """Visit the rows once, as they come, changing `state`."""
    descent = Descent(plan, examples, state)
    tally = Tally()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for tally in descent.over(None):
            pass
        loss = tally.loss / tally.rows + descent.penalty()
    _require_finite(loss, state, "this chunk")
    return Learned(loss, tally.mistakes)


class _Complete(NamedTuple):
    """The last completed pass: one value, so that Ctrl-C cannot fall between its parts."""

    state: NetworkState
    passes: int


class _Fit:
    """One fit under way."""

    def __init__(self, examples: Examples, plan: NetworkPlan, start: NetworkState) -> None:
        self.examples, self.plan = examples, plan
        self.state, self.spare = start.copy(), start.copy()
        self.complete = _Complete(start, 0)
        self.best: NetworkState | None = None
        self.descent = Descent(plan, examples, self.state)
        self.held_out = np.zeros(examples.features.n_rows, np.bool_)
        self.unseen: Examples | None = None
        if plan.held_out is not None:
            self.held_out[plan.held_out] = True
            self.unseen = examples.take(plan.held_out)
        self.plateau = LossPlateau(plan.tol or 0.0, plan.patience, float(np.finfo(start.theta.dtype).eps))
        self.validation = Validation(plan.patience)
        self.losses: list[float] = []
        self.errors: list[float] = []
        self.validation_errors: list[float] = []
        self.mistakes: list[int] = []
        self.began = time.perf_counter()

    def run(self) -> NetworkRun:
        """Make passes until there is a reason to end."""
        try:
            reason = None
            while reason is None:
                reason = self.next_pass(self.complete.passes + 1)
            return self.finish(reason)
        except KeyboardInterrupt as interruption:
            return self.finish("interrupted", interruption)

    def next_pass(self, epoch: int) -> StopReason | None:
        """Make one pass; return why training ends with it, if it does."""
        visits = self.plan.order.visits(epoch) if epoch <= self.plan.max_iter else None
        if visits is None:
            return "max_iter"
        if self.plan.held_out is not None:
            visits = visits[~self.held_out[visits]]
        tally = Tally()
        for tally in self.descent.over(visits.view(np.int64)):
            if tally.rows < len(visits) and self.out_of_time():
                return "max_time"
        return self.judge(epoch, tally)

    def judge(self, epoch: int, tally: Tally) -> StopReason | None:
        """Take note of a completed pass; return why training ends after it, if it does."""
        loss = tally.loss / tally.rows + self.descent.penalty()
        _require_finite(loss, self.state, f"pass {epoch}")
        self.note_complete(epoch, loss, tally)
        error = self.validate(epoch)
        if self.report(epoch, tally, loss, error):
            return "interrupted"
        if error is not None and self.validation.ends(epoch):
            return "validation"
        if self.plateau.ends(epoch, loss):
            return "plateau" if self.plan.tol is None else "tol"
        return "max_time" if self.out_of_time() else None

    def note_complete(self, epoch: int, loss: float, tally: Tally) -> None:
        """Remember the state after a completed pass, in one of two buffers that take turns."""
        self.spare.become(self.state)
        before, self.complete = self.complete, _Complete(self.spare, epoch)
        self.spare = before.state if before.passes else self.state.copy()
        self.losses.append(loss)
        self.errors.append(tally.errors_per_row(self.examples))
        self.mistakes.append(tally.mistakes)

    def validate(self, epoch: int) -> float | None:
        """Measure the pass on the rows held out, and remember the best."""
        if self.unseen is None:
            return None
        error = self.unseen.error(Network(self.plan.layers, self.state.theta))
        self.validation_errors.append(error)
        if self.validation.improves(epoch, error):
            self.best = self.state.copy()
        return error

    def report(self, epoch: int, tally: Tally, loss: float, error: float | None) -> bool:
        """Tell the callbacks of a pass; return whether one of them wants to end."""
        if not self.plan.callbacks:
            return False
        of_classes = self.examples.codes is not None
        told = NetworkReport(
            epoch=epoch,
            visits=tally.rows,
            loss=loss,
            mistakes=tally.mistakes if of_classes else None,
            mse=None if of_classes else self.errors[-1],
            validation_error=error,
            seconds=time.perf_counter() - self.began,
            model=Network(self.plan.layers, self.state.theta.copy()),
        )
        answers = [callback(told) for callback in self.plan.callbacks]
        return any(answers)

    def out_of_time(self) -> bool:
        """Whether the time allowed is over."""
        return self.plan.max_time is not None and time.perf_counter() - self.began >= self.plan.max_time

    def finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> NetworkRun:
        """Put together what is left behind: the last completed pass, or the best by validation."""
        passes, best = self.complete.passes, None
        state = self.state if reason == "max_time" else self.complete.state  # time ends passes half way
        if self.best is not None and interruption is None:
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
