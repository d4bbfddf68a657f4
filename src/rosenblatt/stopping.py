"""When training ends, and why; and Ctrl-C, which training cannot lose.

Each rule takes note of every completed pass and returns whether to end there. These rules end runs that no longer
improve; the fit loop itself ends on "separated", "margin", "inseparable", "max_iter", "max_time", "cycle" and
"interrupted".
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import currentframe
from types import FrameType
from typing import Any, Literal, TypeAlias

StopReason: TypeAlias = Literal[
    "separated",
    "margin",
    "inseparable",
    "plateau",
    "tol",
    "max_iter",
    "max_time",
    "validation",
    "cycle",
    "interrupted",
]

LEAST_PATIENCE = 10
# Passes without a fall after which averages end, and after which a fit asks whether it can succeed
BRIEF_PATIENCE_PASSES = 5
MIN_FALL_SHARE = 0.02  # the share by which mistakes must fall below their mark
FEWEST_PASSES = 12  # before a trend is judged
AFFORDABLE_VALUES = 5e8  # values to read before a trend is judged: about a second
STEADY_SHARE = 0.95  # mistakes of later passes above this share of those of earlier ones do not fall
IN_A_ROW = 3  # passes that must agree


@dataclass
class Plateau:
    """Ends when the mistakes of a pass have not fallen for `patience` passes.

    They fall where they are more than 2 % below the mark, the count of the last pass that brought such a fall. So
    a minimum that is a hair lower does not renew patience, while many small falls add up.
    """

    patience: int = BRIEF_PATIENCE_PASSES
    mark: float = math.inf
    mark_epoch: int = 0

    def ends(self, epoch: int, mistakes: int) -> bool:
        """Take note of a pass, and say whether to end."""
        if mistakes < self.mark * (1.0 - MIN_FALL_SHARE):
            self.mark, self.mark_epoch = mistakes, epoch
        return epoch - self.mark_epoch >= self.patience


@dataclass
class Trend:
    """Ends when the mistakes of later passes are hardly fewer than those of earlier ones.

    After each pass the mean of the second half of all passes is compared with that of the quarter before it. Most
    data that is separated in the end makes at least 5 % fewer mistakes each time the passes double, even where
    single passes scatter. Training ends when three passes in a row find less than that, but not before `fewest`
    passes.
    """

    fewest: int = FEWEST_PASSES
    sums: list[int] = field(default_factory=lambda: [0])  # the mistakes up to each pass
    steady: int = 0

    def ends(self, mistakes: int, stored: int | None = None) -> bool:
        """Take note of the mistakes of a pass, and say whether to end.

        `stored` is the number of values that a pass reads. If it is given, small sets get all the passes they may
        need: as many as read 5·10⁸ values.
        """
        self.sums.append(self.sums[-1] + mistakes)
        epoch = len(self.sums) - 1
        half, quarter = epoch // 2, epoch // 4
        late = (self.sums[epoch] - self.sums[half]) * (half - quarter)
        early = (self.sums[half] - self.sums[quarter]) * (epoch - half)
        self.steady = self.steady + 1 if late >= STEADY_SHARE * early else 0
        fewest = self.fewest if stored is None else max(self.fewest, AFFORDABLE_VALUES / max(stored, 1))
        return self.steady >= IN_A_ROW and epoch >= fewest


@dataclass
class Tolerance:
    """Ends when the loss of a pass, the mean of max(0, −y f), has not fallen by `tol` for some passes.

    This is scikit-learn's rule.
    """

    tol: float
    patience: int
    best: float = math.inf
    waited: int = 0

    def ends(self, loss: float) -> bool:
        """Take note of a pass, and say whether to end."""
        self.waited = self.waited + 1 if loss > self.best - self.tol else 0
        self.best = min(self.best, loss)
        return self.waited >= self.patience


@dataclass
class Validation:
    """Ends when the error on rows held out has not fallen for some passes; of equal ones the last is best."""

    patience: int | None = None
    tol: float = 0.0
    best: float = math.inf
    best_epoch: int = 0
    fell_epoch: int = 0

    def improves(self, epoch: int, error: float) -> bool:
        """Take note of a pass, and say whether it is the best so far."""
        if error < self.best - self.tol:
            self.fell_epoch = epoch
        if error <= self.best:
            self.best, self.best_epoch = error, epoch
            return True
        return False

    def ends(self, epoch: int) -> bool:
        """Say whether to end after this pass."""
        patience = self.patience or max(LEAST_PATIENCE, epoch / 2)
        return epoch - self.fell_epoch >= patience


@dataclass
class LossPlateau:
    """Ends when a loss has not fallen by the share `tol` within `patience` passes, or is zero to rounding.

    Many small falls add up: the loss is compared with that of the last pass that brought such a fall. With a share
    of 0 any new minimum will do. A loss is zero to rounding if it is below the share `rounding` of the first one.
    """

    tol: float
    patience: int
    rounding: float = 0.0
    first: float = math.inf
    mark: float = math.inf
    mark_epoch: int = 0

    def ends(self, epoch: int, loss: float) -> bool:
        """Take note of a pass, and say whether to end."""
        if self.mark_epoch == 0:
            self.first = loss
        if self.mark_epoch == 0 or (loss < self.mark * (1.0 - self.tol) and loss > self.first * self.rounding):
            self.mark, self.mark_epoch = loss, epoch
        return epoch - self.mark_epoch >= self.patience


# Ctrl-C.
#
# Python raises KeyboardInterrupt between any two instructions. If one of them belongs to a weakref callback or to
# a ctypes callback, Python prints "Exception ignored in ..." and goes on, and the interrupt is lost. During a fit
# the handler of SIGINT therefore only notes the signal; the fit asks for it between batches and passes, and raises
# there.


class Watch:
    """The handler of SIGINT while a fit runs, in place of the one that was installed before."""

    def __init__(self, handler: Callable[[int, FrameType | None], Any]) -> None:
        self.handler = handler
        self.noted = self.delivered = self.closing = self.closed = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; pass on any that follows before the first has ended the fit."""
        second = self.noted or self.delivered
        if self.closed or (second and not self.closing):
            self.handler(number, frame)
        else:
            self.noted = True

    def deliver(self) -> None:
        """Call the handler if a signal was noted."""
        self.delivered, self.noted = self.noted, False
        if self.delivered:
            self.handler(signal.SIGINT, currentframe())
            self.delivered = False  # the handler did not raise, so the fit goes on


_watch: Watch | None = None
_cancelled: ContextVar[threading.Event | None] = ContextVar("rosenblatt_cancelled", default=None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Note SIGINT instead of raising it, until `stop_if_interrupted` is called or the block ends.

    A second SIGINT raises at once. Nothing changes in other threads than the main one, where the signal is ignored
    or handled outside of Python, and inside another such block, which then notes the signals of both.

    Examples
    --------
    >>> with interruptible():
    ...     try:
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("noted")
    ...         stop_if_interrupted()
    ...     except KeyboardInterrupt:
    ...         print("raised")
    noted
    raised
    """
    global _watch
    before, outer = signal.getsignal(signal.SIGINT), _watch
    if threading.current_thread() is not threading.main_thread() or not callable(before) or before is outer:
        yield
        return
    watch = Watch(before)
    try:
        _watch = watch
        signal.signal(signal.SIGINT, watch)
        try:
            yield
        except KeyboardInterrupt:
            watch.noted = False  # this one stands for both
            raise
    finally:
        watch.closing = True  # from here on a signal is noted, so that it cannot come between these steps
        _watch = outer
        try:
            found = signal.signal(signal.SIGINT, before)
            if found is not watch:  # code called by the fit has installed its own
                signal.signal(signal.SIGINT, found)
        finally:
            watch.closed = True
        watch.deliver()


def stop_if_interrupted() -> None:
    """Raise KeyboardInterrupt here if Ctrl-C was pressed since the fit began, or if this thread is to end."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise KeyboardInterrupt
    if _watch is not None and threading.current_thread() is threading.main_thread():
        _watch.deliver()


def cancel_by(event: threading.Event) -> None:
    """Let `stop_if_interrupted` end the work of this context once the event is set.

    Only the main thread sees Ctrl-C; it tells the others so.
    """
    _cancelled.set(event)
