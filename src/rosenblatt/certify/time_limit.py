"""The time that a search may take."""

from __future__ import annotations

import time


class Unsettled(Exception):  # noqa: N818 - an end, not an error: it becomes the verdict "undecided"
    """Nothing was decided; says why."""


class Clock:
    """The time allowed.

    Parameters
    ----------
    seconds : float or None
        None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float | None:
        """The seconds left."""
        return None if self.end is None else self.end - time.perf_counter()

    def afford(self, seconds: float, doing: str) -> None:
        """Raise `Unsettled` if something that cannot be broken off would take longer than there is time."""
        if self.left is not None and seconds > self.left:
            raise Unsettled(f"Time would be over while {doing}. Allow more (time_limit).")

    def check(self, doing: str) -> None:
        """Raise `Unsettled` if time is over."""
        if self.end is not None and time.perf_counter() >= self.end:
            raise Unsettled(f"Time was over while {doing}. Allow more (time_limit).")
