"""The limits of a search: seconds, and work.

Seconds end a search at another place on each machine. Work is counted, so that the same data ends at the same
place everywhere. One unit is about one multiplication of floats; exact arithmetic counts by the length of its
numbers.
"""

from __future__ import annotations

import time

from rosenblatt.stopping import stop_if_interrupted

PYTHON = 30  # units of one operation on integers of any length, as Python or flint do it
DIGITS = 32  # binary digits that exact equations gain for each unit: 64, in two products


class Unsettled(Exception):  # noqa: N818 - not an error: it becomes the verdict "undecided"
    """The question was not decided, for the reason given."""


class Exhausted(Unsettled):
    """The work was more than allowed."""


class Clock:
    """A limit in seconds, counted from now, and one in units of work; None means no limit.

    Examples
    --------
    >>> clock = Clock(None, work=100)
    >>> clock.spend(60, "reading")
    >>> clock.spend(60, "reading")
    Traceback (most recent call last):
    rosenblatt.certify.time_limit.Exhausted: The work allowed was over while reading.
    """

    def __init__(self, seconds: float | None, work: float | None = None) -> None:
        self.end = None if seconds is None else time.perf_counter() + seconds
        self.work, self.spent = work, 0.0

    @property
    def left(self) -> float | None:
        """The seconds left, None without a limit."""
        return None if self.end is None else self.end - time.perf_counter()

    @property
    def work_left(self) -> float | None:
        """The units of work left, None without a limit."""
        return None if self.work is None else self.work - self.spent

    def part(self, work: float) -> Clock:
        """Return a clock with the same end and its own limit of work, at most what is left here."""
        clock = Clock(None, work if self.work_left is None else min(work, self.work_left))
        clock.end = self.end
        return clock

    def spend(self, work: float, doing: str) -> None:
        """Count work about to be done; raise `Unsettled` if it is too much, or if the time is over."""
        self.check(doing)
        if self.work is not None and self.spent + work > self.work:
            raise Exhausted(f"The work allowed was over while {doing}.")
        self.spent += work

    def require(self, work: float, doing: str) -> None:
        """Raise `Exhausted` if less work is left than a step would take at least; it is not counted."""
        if self.work is not None and self.spent + work > self.work:
            raise Exhausted(f"The work allowed is too little for {doing}.")

    def afford(self, seconds: float, doing: str) -> None:
        """Raise `Unsettled` if a step that cannot be interrupted would take longer than the time left."""
        if self.left is not None and seconds > self.left:
            raise Unsettled(f"Time would be over while {doing}. Allow more (time_limit).")

    def check(self, doing: str) -> None:
        """Raise `Unsettled` if the time is over, and KeyboardInterrupt after Ctrl-C."""
        stop_if_interrupted()
        if self.end is not None and time.perf_counter() >= self.end:
            raise Unsettled(f"Time was over while {doing}. Allow more (time_limit).")


def exact_work(size: int, bits: int) -> float:
    """Return the work of solving `size` exact equations in integers of so many bits, roughly.

    One inverse modulo a prime, then as many products as the solution has digits (Dixon 1982).
    """
    return size**3 * (1.0 + (bits + size.bit_length()) / DIGITS) + PYTHON * size * size
