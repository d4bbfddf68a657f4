"""Ctrl-C that training cannot lose.

Python raises KeyboardInterrupt between any two instructions. If one of them belongs to a weakref callback or to a
ctypes callback, Python prints "Exception ignored in ..." and goes on, and the interrupt is lost. During a fit the
handler of SIGINT therefore only notes the signal; the fit asks for it between batches and passes and raises there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import currentframe
from types import FrameType
from typing import Any

__all__ = ["cancel_by", "interruptible", "stop_if_interrupted"]


class Watch:
    """The handler of SIGINT while a fit runs.

    Parameters
    ----------
    handler : callable
        The handler that was installed before; the default one raises KeyboardInterrupt.
    """

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
