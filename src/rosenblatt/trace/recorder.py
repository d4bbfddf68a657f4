"""Collects mistakes while a run goes on."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints

Detail: TypeAlias = Literal["mistakes", "counts"] | None


class Mistakes(NamedTuple):
    """Mistakes in the order they were made, one array for each thing known of them."""

    epoch: Ints
    visit: Ints
    index: Ints  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Floats
    step: Floats

    @classmethod
    def none(cls) -> Mistakes:
        """Return an empty record."""
        integers, floats = np.empty(0, np.int64), np.empty(0)
        return cls(integers, integers, integers, floats, floats)

    @classmethod
    def joined(cls, parts: list[Mistakes]) -> Mistakes:
        """Return one record of several, in their order."""
        return cls(*map(np.concatenate, zip(*[cls.none(), *parts], strict=True)))


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
            epoch = np.full(len(at), len(self.mistakes_per_pass), np.int64)
            self._parts.append(Mistakes(epoch, at + first, index[at].astype(np.int64), score.copy(), step.copy()))

    def keep(self, passes: int) -> None:
        """Forget all but the first `passes` passes."""
        del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:]
        self._parts = [part for part in self._parts if part.epoch[0] <= passes]

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

    def mistakes(self) -> Mistakes | None:
        """Return all mistakes, or None if they were not kept."""
        return Mistakes.joined(self._parts) if self.detail == "mistakes" else None
