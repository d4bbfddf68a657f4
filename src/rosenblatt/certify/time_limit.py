"""The time limit of a search."""

from __future__ import annotations

import time


class Unsettled(Exception):  # noqa: N818 - not an error: it becomes the verdict "undecided"
    """The question was not decided, for the reason given."""


class Clock:
    """A time limit in seconds, counted from now; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float | None:
        """The seconds left, None without a limit."""
        return None if self.end is None else self.end - time.perf_counter()

    def afford(self, seconds: float, doing: str) -> None:
        """Raise `Unsettled` if a step that cannot be interrupted would take longer than the time left."""
        if self.left is not None and seconds > self.left:
            raise Unsettled(f"Time would be over while {doing}. Allow more (time_limit).")

    def check(self, doing: str) -> None:
        """Raise `Unsettled` if the time is over."""
        if self.end is not None and time.perf_counter() >= self.end:
            raise Unsettled(f"Time was over while {doing}. Allow more (time_limit).")
