"""What a source yields: labelled rows, and a record of the rows that could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.features import Features
from rosenblatt.exceptions import FormatError

__all__ = ["Chunk", "Skipped"]

SHOWN = 5  # errors of skipped rows that are kept


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Chunk(Features):
    """Consecutive rows of a source, with their labels.

    Attributes
    ----------
    rows, n_rows, n_features, names
        As in `Features`. Sparse rows may be only as wide as the features met so far. A missing number is NaN.
    labels : ndarray or None
        One label for each row, of type int64, float64, bool or str; None where the source has no labels.
    """

    labels: NDArray[Any] | None

    @classmethod
    def of(cls, features: Features, labels: NDArray[Any] | None) -> Chunk:
        """Return features with their labels, without a copy."""
        return cls(features.rows, features.n_rows, features.n_features, features.names, labels=labels)


@dataclass(slots=True)
class Skipped:
    """Rows that were left out because they could not be read.

    Attributes
    ----------
    count : int
        How many there were.
    first : list of FormatError
        The errors of the first few rows, each with its place.
    """

    count: int = 0
    first: list[FormatError] = field(default_factory=list)

    def add(self, problem: FormatError) -> None:
        """Count one more row."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(problem)

    def merge(self, others: Skipped) -> None:
        """Count rows that come after these."""
        self.count += others.count
        self.first += others.first[: SHOWN - len(self.first)]
