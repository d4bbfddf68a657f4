"""Collects mistakes while a run goes on."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints

Detail: TypeAlias = Literal["mistakes", "counts"] | None


class Mistakes(NamedTuple):
    """Mistakes in the order they were made, one array for each thing known of them.

    Millions of mistakes are common where data does not separate, so they are kept small: row numbers in 32 bits
    where these suffice, and steps that are all the same as one number seen many times.
    """

    visit: Ints
    index: NDArray[Any]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Floats
    step: Floats

    @classmethod
    def joined(cls, parts: list[Mistakes], count: int) -> Mistakes:
        """Return one record of several, in their order, up to a number of mistakes."""
        integers, floats = np.empty(0, np.int64), np.empty(0)
        columns = zip(*parts, strict=True) if parts else ([integers], [integers], [floats], [floats])
        visit, index, score, step = (np.concatenate(column)[:count] for column in columns)
        return cls(visit, index, score, _small(step))


def _small(step: Floats) -> Floats:
    """Return steps that are all the same as one number seen many times."""
    if not len(step) or (step != step[0]).any():
        return step
    return np.broadcast_to(np.array(step[0]), step.shape)


class Recorder:
    """Counts mistakes pass by pass, and keeps each one if asked to.

    Parameters
    ----------
    detail : {"mistakes", "counts"} or None
        Whether to keep the mistakes themselves.
    """

    def __init__(self, detail: Detail) -> None:
        self.detail = detail
        self.mistakes_per_pass: list[int] = []
        self.visits_per_pass: list[int] = []
        self._parts: list[Mistakes] = []

    def begin_pass(self) -> None:
        """Start counting a new pass."""
        self.mistakes_per_pass.append(0)
        self.visits_per_pass.append(0)

    def add(self, index: NDArray[np.unsignedinteger], at: Ints, score: Floats, step: Floats, first: int) -> None:
        """Note a stretch of visits: the rows visited, and of the mistakes among them place, score and step.

        `first` is the number of visits made before the stretch.
        """
        self.mistakes_per_pass[-1] += len(at)
        self.visits_per_pass[-1] += len(index)
        if self.detail == "mistakes" and len(at):
            rows = index[at]
            small = np.int32 if rows.max() <= np.iinfo(np.int32).max else np.int64
            self._parts.append(Mistakes(at + first, rows.astype(small), score.copy(), _small(step.copy())))

    def keep(self, passes: int) -> None:
        """Forget all but the first `passes` passes."""
        del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:]

    def fork(self) -> Recorder:
        """Return a recorder that goes on from here and leaves this one as it is."""
        fork = Recorder(self.detail)
        fork.mistakes_per_pass = list(self.mistakes_per_pass)
        fork.visits_per_pass = list(self.visits_per_pass)
        fork._parts = list(self._parts)
        return fork

    def mirror(self) -> None:
        """Turn the scores around, as the opposite labels would have had them."""
        self._parts = [part._replace(score=0.0 - part.score) for part in self._parts]

    def mistakes(self, passes: int | None = None) -> Mistakes | None:
        """Return the mistakes of the first passes, or of all; None if they were not recorded."""
        if self.detail != "mistakes":
            return None
        return Mistakes.joined(self._parts, sum(self.mistakes_per_pass[:passes]))
