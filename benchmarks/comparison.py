"""One line of the table, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AtLeast:
    """A target for the ratio: as many times as fast as the peer."""

    ratio: float

    def __str__(self) -> str:
        return f"≥ {self.ratio:.3g}×"

    def reached(self, comparison: Comparison) -> bool | None:
        """Say whether it is reached; None if there is no peer to compare with."""
        return None if comparison.ratio is None else comparison.ratio >= self.ratio


@dataclass(frozen=True)
class AtMost:
    """A target for our own time."""

    seconds: float

    def __str__(self) -> str:
        return f"≤ {duration(self.seconds)}"

    def reached(self, comparison: Comparison) -> bool | None:
        """Say whether it is reached."""
        return min(comparison.our_seconds) <= self.seconds


@dataclass(frozen=True)
class Comparison:
    """A workload, a peer, and the processor seconds of both.

    Attributes
    ----------
    workload, peer : str
        What is done, and by whom else.
    our_seconds, peer_seconds : list of float
        Of every turn. No turns of the peer mean that it is not installed.
    target : AtLeast, AtMost or None
        What PERFORMANCE.md asks for.
    bytes : int
        What reading the data once a pass amounts to.
    limit : float or None
        The bytes a second that one thread can read, measured beside this workload.
    models : str
        How the two models compare.
    """

    workload: str
    peer: str
    our_seconds: list[float]
    peer_seconds: list[float]
    target: AtLeast | AtMost | None = None
    bytes: int = 0
    limit: float | None = None
    models: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the peer: the least disturbed turns of both."""
        return min(self.peer_seconds) / min(self.our_seconds) if self.peer_seconds else None

    @property
    def share_of_limit(self) -> float | None:
        """Bytes a second over the limit; more than 1 where the screen spared the reading."""
        return self.bytes / min(self.our_seconds) / self.limit if self.limit else None

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None if there is none or no peer."""
        return self.target and self.target.reached(self)


def duration(seconds: float) -> str:
    """Write seconds in a unit that suits them.

    Examples
    --------
    >>> duration(0.0123)
    '12.3 ms'
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
