"""Collect mistakes during a run.

Training and validation error over passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import Log
from rosenblatt.rows.batch import as_labelled
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from rosenblatt.learning.trace import Trace


@dataclass(frozen=True, eq=False)
class Curve:
    """The errors of each pass.

    Attributes
    ----------
    training : ndarray
        The share of visits in each pass that were mistakes, or, from `exact_curve`, the share of training rows
        that are wrong after it.
    validation : ndarray or None
        The share of validation rows that are wrong after each pass.
    """

    training: Floats
    validation: Floats | None = None

    @property
    def passes(self) -> Ints:
        """1, 2, …: the passes."""
        return np.arange(1, len(self.training) + 1)

    @property
    def best(self) -> int | None:
        """The last of the passes with the lowest validation error."""
        if self.validation is None or not len(self.validation):
            return None
        return int(np.flatnonzero(self.validation == self.validation.min())[-1]) + 1


def exact_curve(
    trace: Trace, X: MatrixLike, y: ColumnLike, validation: tuple[MatrixLike, ColumnLike] | None = None
) -> Curve:
    """Replay a run, and measure the model at the end of each pass on its data and on validation data.

    Training only counts mistakes, by the weights at each visit. This reads all data once for each pass, and so is
    done on request.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> exact_curve(clf.trace_, X, y).training.tolist()[-1]
    0.0
    """
    models = trace.after_each_pass(X, y)
    sets = [as_labelled(*pair, trace.classes) for pair in ((X, y), validation) if pair is not None]
    return Curve(*(np.array([model.error(batch) for model in models]) for batch in sets))


Detail: TypeAlias = Literal["mistakes", "counts"] | None


class Mistakes(NamedTuple):
    """Mistakes in order, as one array for each of their properties.

    Inseparable data makes millions of mistakes, so they are kept small: row numbers in 32 bits if these suffice,
    and equal steps as one number repeated without memory. `machine` is the hyperplane that erred; for classes
    compared directly, the class predicted.
    """

    visit: Ints
    index: NDArray[Any]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Floats
    step: Floats
    machine: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[Mistakes], count: int) -> Mistakes:
        """Return the first `count` mistakes of several parts, in order."""
        if not parts:
            integers, floats = np.empty(0, np.int64), np.empty(0)
            return cls(integers, integers, floats, floats, np.empty(0, np.int32))
        visit, index, score, step, machine = (
            np.concatenate(column)[:count] for column in zip(*parts, strict=True)
        )
        return cls(visit, index, score, _small(step), _small(machine))


def _small(column: NDArray[Any]) -> NDArray[Any]:
    """Return equal values as one number repeated without memory."""
    if not len(column) or (column != column[0]).any():
        return column
    return np.broadcast_to(np.array(column[0]), column.shape)


class Stretch(NamedTuple):
    """Some visits, the mistakes among them, with places in `visits`, and the number of visits before."""

    visits: NDArray[np.unsignedinteger]
    log: Log
    first: int

    @property
    def rows(self) -> NDArray[np.unsignedinteger]:
        """The row of each mistake."""
        return self.visits[self.log.at]


class Recorder:
    """Counts the mistakes of each pass, and keeps the mistakes themselves if `detail` is "mistakes".

    Parameters
    ----------
    detail : {"mistakes", "counts"} or None
        What to keep.
    most : int or None
        The most mistakes to keep. Once there are more, all of them are dropped and only counts are kept.
    """

    def __init__(self, detail: Detail, most: int | None = None) -> None:
        self.detail, self.most = detail, most
        self._is_cut = False
        self.mistakes_per_pass: list[int] = []
        self.visits_per_pass: list[int] = []
        self.wrong_per_pass: list[
            int
        ] = []  # of rules that also correct rows on their right side: those with y f ≤ 0
        self._parts: list[Mistakes] = []

    def begin_pass(self) -> None:
        """Start counting a new pass."""
        self.mistakes_per_pass.append(0)
        self.visits_per_pass.append(0)
        self.wrong_per_pass.append(0)

    def add(self, stretch: Stretch, wrong: int = 0) -> None:
        """Record some visits; `wrong` of their updates were made on a row on its wrong side."""
        log = stretch.log
        self.wrong_per_pass[-1] += wrong
        self.mistakes_per_pass[-1] += len(log.at)
        self.visits_per_pass[-1] += len(stretch.visits)
        if self.detail != "mistakes" or self._is_cut or not len(log.at):
            return
        if self.most is not None and sum(self.mistakes_per_pass) > self.most:
            self._is_cut, self._parts = True, []
        else:
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
        """Drop all counts after the first `passes` passes."""
        del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:], self.wrong_per_pass[passes:]

    def go_on_from(self, mistakes: list[int], visits: list[int], wrong: list[int], kept: Mistakes | None) -> None:
        """Continue from another recorder of the same detail: its counts of each pass, and its mistakes."""
        self.mistakes_per_pass, self.visits_per_pass = list(mistakes), list(visits)
        self.wrong_per_pass = list(wrong)
        self._parts = [] if kept is None or not len(kept.visit) else [kept]
        self._is_cut = self.detail == "mistakes" and kept is None

    @property
    def cut(self) -> int | None:
        """The number of mistakes after which all of them were dropped, or None if that did not happen."""
        return self.most if self._is_cut else None

    def fork(self) -> Recorder:
        """Return a recorder that continues from here and does not change this one."""
        fork = Recorder(self.detail, self.most)
        fork.mistakes_per_pass = list(self.mistakes_per_pass)
        fork.visits_per_pass = list(self.visits_per_pass)
        fork.wrong_per_pass = list(self.wrong_per_pass)
        fork._parts, fork._is_cut = list(self._parts), self._is_cut
        return fork

    def mirror(self) -> None:
        """Negate the scores, as for opposite labels, and swap the two rivals."""
        self._parts = [part._replace(score=0.0 - part.score, machine=1 - part.machine) for part in self._parts]

    def unfold(self) -> None:
        """Turn scores of one machine, whose mistakes name their rivals, into leads of one class over the other.

        The lead is y f − (−y f), exactly twice y f; y is positive if the rival is class 0.
        """
        self._parts = [
            part._replace(score=np.where(part.machine == 0, 2.0, -2.0) * part.score) for part in self._parts
        ]

    def make_room(self, code: int) -> None:
        """Renumber rivals for a new class at position `code`."""
        self._parts = [part._replace(machine=part.machine + (part.machine >= code)) for part in self._parts]

    def mistakes(self, passes: int | None = None) -> Mistakes | None:
        """Return the mistakes of the first passes, or of all passes; None if they were not kept."""
        if self.detail != "mistakes" or self._is_cut:
            return None
        count = sum(self.mistakes_per_pass[:passes])
        joined = Mistakes.joined(self._parts, count)
        if len(self._parts) > 1 and count == sum(self.mistakes_per_pass):
            self._parts = [joined]  # the next call joins only the new ones
        return joined
