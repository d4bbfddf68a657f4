"""The fit loop of networks: mini-batches, steps, and when and why to end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import OrderError, TrainingOverflowError
from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.learners.backpropagation import Backpropagation
from rosenblatt.learners.network_plan import Examples, NetworkPlan, NetworkReport, NetworkRun, NetworkState
from rosenblatt.loops.steps import take_step
from rosenblatt.model.network import Network, n_weights
from rosenblatt.stopping import LossPlateau, StopReason, Validation


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
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        *_, tally = descent.over(None)
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
        stop_if_interrupted()
        visits = self.plan.order.visits(epoch) if epoch <= self.plan.max_iter else None
        if visits is None:
            return "max_iter"
        if self.plan.held_out is not None:
            visits = visits[~self.held_out[visits]]
            if not len(visits):
                raise OrderError("order visits rows held out for validation alone. Let it visit others too.")
        tally = Tally()
        for tally in self.descent.over(visits.view(np.int64)):
            stop_if_interrupted()
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
        self.losses.append(loss)
        self.errors.append(tally.errors_per_row(self.examples))
        self.mistakes.append(tally.mistakes)
        self.spare.become(self.state)
        before, self.complete = self.complete, _Complete(self.spare, epoch)  # from here on the pass counts
        self.spare = before.state if before.passes else self.state.copy()

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
