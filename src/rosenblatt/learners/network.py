"""The fit of networks: mini-batches, steps, and when and why to end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.learners.backpropagation import Backpropagation
from rosenblatt.learners.fit_loop import FitLoop
from rosenblatt.learners.network_plan import Examples, NetworkPlan, NetworkReport, NetworkRun, NetworkState
from rosenblatt.learners.validation import held_out_mask, without
from rosenblatt.loops.steps import take_step
from rosenblatt.model.network import Network, n_weights
from rosenblatt.stopping import LossPlateau, StopReason


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


class NetworkFit(FitLoop[NetworkState, NetworkRun]):
    """One fit under way.

    Parameters
    ----------
    examples : Examples
        The rows and their targets.
    plan : NetworkPlan
        How to train.
    start : NetworkState
        Where training begins.
    """

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

    def _visits(self, epoch: int) -> Any:
        visits = self.plan.order.visits(epoch)
        return visits if visits is None or self.held_out is None else without(self.held_out, visits)

    def _steps(self, epoch: int, visits: Any) -> Iterable[Tally]:
        return self.descent.over(visits.view(np.int64))

    def _note(self, step: Tally, visits: Any) -> int:
        self.tally = step
        return len(visits) - step.rows

    def _end_pass(self, epoch: int, visits: Any) -> StopReason | None:
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
