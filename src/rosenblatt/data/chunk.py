"""What readers give: rows that came together, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.features import Features
from rosenblatt.exceptions import FormatError

__all__ = ["Chunk", "Skipped"]

SHOWN = 5  # of the rows skipped


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Consecutive rows of a source.

    Attributes
    ----------
    features : Features
        The rows; sparse ones may be as narrow as what has been met so far. A missing number is NaN.
    labels : ndarray or None
        One a row, as they were read: int64, float64, bool or str; None where the source has no labels.
    """

    features: Features
    labels: NDArray[Any] | None


@dataclass(slots=True)
class Skipped:
    """What was left out because it could not be read, where that was allowed.

    Attributes
    ----------
    count : int
        All of it.
    first : list of FormatError
        The first few, each with its place.
    """

    count: int = 0
    first: list[FormatError] = field(default_factory=list)

    def add(self, problem: FormatError) -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(problem)
