"""Collects mistakes while a run goes on."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.targets import Log
from rosenblatt.typing import Floats, Ints

Detail: TypeAlias = Literal["mistakes", "counts"] | None


class Mistakes(NamedTuple):
    """Mistakes in the order they were made, one array for each thing known of them.

    Millions of mistakes are common where data does not separate, so they are kept small: row numbers in 32 bits
    where these suffice, and steps that are all the same as one number seen many times. `machine` tells which of
    several hyperplanes made the mistake; of classes compared directly, which one the row was taken for.
    """

    visit: Ints
    index: NDArray[Any]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Floats
    step: Floats
    machine: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[Mistakes], count: int) -> Mistakes:
        """Return one record of several, in their order, up to a number of mistakes."""
        if not parts:
            integers, floats = np.empty(0, np.int64), np.empty(0)
            return cls(integers, integers, floats, floats, np.empty(0, np.int32))
        visit, index, score, step, machine = (
            np.concatenate(column)[:count] for column in zip(*parts, strict=True)
        )
        return cls(visit, index, score, _small(step), _small(machine))


def _small(column: NDArray[Any]) -> NDArray[Any]:
    """Return values that are all the same as one number seen many times."""
    if not len(column) or (column != column[0]).any():
        return column
    return np.broadcast_to(np.array(column[0]), column.shape)


class Stretch(NamedTuple):
    """Visits made, and the mistakes among them.

    Attributes
    ----------
    visits : ndarray
        The rows visited, in order.
    log : Log
        The mistakes; their places are places in `visits`.
    first : int
        The number of visits made before.
    """

    visits: NDArray[np.unsignedinteger]
    log: Log
    first: int

    @property
    def rows(self) -> NDArray[np.unsignedinteger]:
        """The row of each mistake."""
        return self.visits[self.log.at]


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

    def add(self, stretch: Stretch) -> None:
        """Note a stretch of visits."""
        log = stretch.log
        self.mistakes_per_pass[-1] += len(log.at)
        self.visits_per_pass[-1] += len(stretch.visits)
        if self.detail == "mistakes" and len(log.at):
            rows = stretch.rows
            small = np.int32 if rows.max() <= np.iinfo(np.int32).max else np.int64
            kept = log.score.copy(), _small(log.step.copy()), _small(log.machine.copy())
            self._parts.append(Mistakes(log.at + stretch.first, rows.astype(small), *kept))

    def last_rows(self, count: int) -> Ints:
        """Return the rows of the last `count` mistakes recorded."""
        parts: list[NDArray[Any]] = []
        for part in reversed(self._parts):
            parts.insert(0, part.index[-count:])
            count -= len(parts[0])
            if count <= 0:
                break
        return np.concatenate(parts).astype(np.int64)

    def keep(self, passes: int) -> None:
        """Forget all but the first `passes` passes."""
        del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:]

    def go_on_from(self, mistakes: list[int], visits: list[int], kept: Mistakes | None) -> None:
        """Take over what another recorder of the same detail noted: counts a pass, and the mistakes kept."""
        self.mistakes_per_pass, self.visits_per_pass = list(mistakes), list(visits)
        self._parts = [] if kept is None or not len(kept.visit) else [kept]

    def fork(self) -> Recorder:
        """Return a recorder that goes on from here and leaves this one as it is."""
        fork = Recorder(self.detail)
        fork.mistakes_per_pass = list(self.mistakes_per_pass)
        fork.visits_per_pass = list(self.visits_per_pass)
        fork._parts = list(self._parts)
        return fork

    def mirror(self) -> None:
        """Turn the scores around, as the opposite labels would have had them; rivals swap places."""
        self._parts = [part._replace(score=0.0 - part.score, machine=1 - part.machine) for part in self._parts]

    def unfold(self) -> None:
        """Turn scores of one machine, whose mistakes name their rivals, into leads of one class over the other.

        That lead is y f − (−y f), twice y f without rounding; y is positive where the rival is class 0.
        """
        self._parts = [
            part._replace(score=np.where(part.machine == 0, 2.0, -2.0) * part.score) for part in self._parts
        ]

    def make_room(self, code: int) -> None:
        """Renumber rivals, because a new class stands at position `code`."""
        self._parts = [part._replace(machine=part.machine + (part.machine >= code)) for part in self._parts]

    def mistakes(self, passes: int | None = None) -> Mistakes | None:
        """Return the mistakes of the first passes, or of all; None if they were not recorded."""
        if self.detail != "mistakes":
            return None
        count = sum(self.mistakes_per_pass[:passes])
        joined = Mistakes.joined(self._parts, count)
        if len(self._parts) > 1 and count == sum(self.mistakes_per_pass):
            self._parts = [joined]  # a stream that is asked again has only the new ones to join
        return joined
