"""One training of very many problems: passes until each of them ends by the library's rule, on any engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.order import Order
from rosenblatt.probes.engine import Engine, States
from rosenblatt.stopping import BRIEF_PATIENCE_PASSES, Plateau, StopReason, Trend, stop_if_interrupted
from rosenblatt.typing import Ints


class PassOfAll(NamedTuple):
    """What callbacks are told of a pass."""

    epoch: int
    mistakes: int  # of all problems
    visits: int  # of all problems
    seconds: float  # since training began
    active: int  # the problems that made the pass


@dataclass(frozen=True)
class Limits:
    """When training ends.

    Attributes
    ----------
    max_iter : int
        The most passes.
    max_time : float or None
        Seconds; training ends between two passes.
    patience : int or None
        Passes without a fall of the mistakes by 2 %; None is 5 for averages, and the trend for last weights.
    average : bool
        Whether hypotheses are averaged.
    stored : int
        The values that a pass reads.
    """

    max_iter: int
    max_time: float | None
    patience: int | None
    average: bool
    stored: int


class Ending:
    """Decides when one problem ends, as the fit of one `rosenblatt.Perceptron` does."""

    def __init__(self, limits: Limits) -> None:
        brief = limits.average or limits.patience is not None
        self._plateau = Plateau(limits.patience or BRIEF_PATIENCE_PASSES) if brief else None
        self._trend = Trend()
        self._limits = limits

    def ends(self, epoch: int, mistakes: int, *, late: bool) -> StopReason | None:
        """Take note of a pass; return why training ends with it, if it does. `late` says that time is over."""
        if mistakes == 0:
            return "separated"
        flat = self._trend.ends(mistakes, self._limits.stored)
        stalled = flat if self._plateau is None else self._plateau.ends(epoch, mistakes)
        if late:
            return "max_time"
        if stalled:
            return "plateau"
        return "max_iter" if epoch == self._limits.max_iter else None


class Trained(NamedTuple):
    """The result of training.

    Attributes
    ----------
    states : States
        Those after the last whole pass of each problem.
    passes, mistakes, all_mistakes : ndarray of int64
        The passes of each problem, the mistakes of its last one, and of all.
    reasons : list of str
        Why each problem ended.
    interruption : KeyboardInterrupt or None
        The Ctrl-C that ended training.
    """

    states: States
    passes: Ints
    mistakes: Ints
    all_mistakes: Ints
    reasons: list[StopReason]
    interruption: KeyboardInterrupt | None


def train(
    engine: Engine, k: int, order: Order, limits: Limits, callbacks: Sequence[Callable[[PassOfAll], object]] = ()
) -> Trained:
    """Make passes until every problem has ended; the engine has been started.

    Ctrl-C ends training with the last whole pass of all problems. In the first pass it is raised.
    """
    began = time.perf_counter()
    endings = [Ending(limits) for _ in range(k)]
    reasons: list[StopReason] = ["interrupted"] * k
    passes, last, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)
    active, epoch = np.arange(k), 0
    interruption: KeyboardInterrupt | None = None
    try:
        while len(active):
            stop_if_interrupted()
            visits = order.visits(epoch + 1)
            assert visits is not None, "orders of probes have no end"
            mistakes = engine.train_pass(active, visits)
            epoch += 1
            passes[active], last[active] = epoch, mistakes
            total[active] += mistakes
            seconds = time.perf_counter() - began
            report = PassOfAll(epoch, int(mistakes.sum()), len(active) * len(visits), seconds, len(active))
            answers = [callback(report) for callback in callbacks]
            late = limits.max_time is not None and seconds >= limits.max_time
            found = [endings[m].ends(epoch, int(last[m]), late=late) for m in active.tolist()]
            for m, reason in zip(active.tolist(), found, strict=True):
                reasons[m] = reason or "interrupted"
            active = active[[reason is None for reason in found]]
            if any(answers):
                break
    except KeyboardInterrupt as caught:
        if not epoch:
            raise
        interruption = caught
    states = engine.states()
    finite = np.isfinite(states.hypothesis()).all(axis=1)
    if not finite.all():
        raise TrainingOverflowError(
            f"Training problem {int(np.argmin(finite))} drove a weight beyond the largest float. Scale the "
            "features down."
        )
    return Trained(states, passes, last, total, reasons, interruption)
