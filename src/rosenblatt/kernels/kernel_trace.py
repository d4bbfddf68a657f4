"""The record of a kernel perceptron's run."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.kernels.kernel_model import Expansion, KernelModel, expansion_scores, points_of
from rosenblatt.kernels.kernel_state import NOT_OF_A_SET, Budget, KernelState
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import CachedRows, Kernel, Linear
from rosenblatt.learning.state import State
from rosenblatt.learning.trace import Trace, other_score
from rosenblatt.loops.layout import Log, Targets
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

REPLAY_MEGABYTES = 200.0


class _Data(NamedTuple):
    """Training rows for a replay, and the scores of the rows with mistakes."""

    points: Points
    codes: Ints
    targets: Targets
    few: CachedRows
    at: dict[int, int]
    scores: Floats


@dataclass(frozen=True, eq=False, repr=False)
class KernelTrace(Trace):
    """Every mistake of a kernel perceptron; f is the start plus the sum of ``step * y * k(X[index], ·)``."""

    kernel: Kernel = field(default_factory=Linear)  # resolved: without parameters that depend on data
    budget: Budget | None = None  # how many rows were kept
    numbered: bool = True  # whether rows had numbers, as in a fit, or were seen once, as in a stream

    def replay(self, X: MatrixLike, y: ColumnLike) -> KernelModel:  # type: ignore[override]  # another kind of model
        """Train again from the record alone, and return the model of the run, bit for bit; see `Trace.replay`."""
        return self.after_each_pass(X, y)[-1] if len(self.mistakes_per_pass) else self._start(X, y)

    def after_each_pass(self, X: MatrixLike, y: ColumnLike) -> list[KernelModel]:  # type: ignore[override]
        """Return the model at the end of each pass."""
        state = self.start.copy()
        assert isinstance(state, KernelState)
        data = self._data(X, y, state)
        machine = Expansion(self.kernel, state, self.budget)
        models, ends = [], np.cumsum(self.mistakes_per_pass)
        for part, visits in zip(pairwise([0, *ends.tolist()]), self.visits_per_pass, strict=True):
            end = state.visits + int(visits)
            for span in self._visits_of(part):
                self._repeat(data, machine, span)
            state.visits = end
            if part[0] == part[1]:
                _sum_anew(data, machine)
            models.append(KernelModel.of(state, self.kernel, self.scheme, self.classes, self.zero))
        return models

    def path(self, X: MatrixLike, y: ColumnLike, at: Any = None) -> tuple[Floats, Floats]:
        """Raise `InputError`: weights in the space of a kernel cannot be listed."""
        raise InputError(
            "The weights of a kernel perceptron lie in the kernel's space, so they cannot be listed. Use "
            "after_each_pass, or alpha and expansion."
        )

    def to_document(self, X: MatrixLike, y: ColumnLike, **about: Any) -> dict[str, Any]:
        """Raise `InputError`: a run document holds weights of the features."""
        raise InputError(
            "The weights of a kernel perceptron lie in the kernel's space, so no page can list them. Draw what it "
            "predicts by rb.plot.boundary, or open the data with `rosenblatt lab`."
        )

    def save(self, path: str | Path) -> None:
        """Write the mistakes to a ``.csv`` or ``.parquet`` file."""
        if Path(path).suffix == ".npz":
            raise ParameterError(
                f"path={str(path)!r}: an .npz file cannot hold the rows and the kernel that a replay needs. "
                "Write the mistakes as .csv or .parquet."
            )
        super().save(path)

    def _start(self, X: MatrixLike, y: ColumnLike) -> KernelModel:
        self._batch(X, y)
        assert isinstance(self.start, KernelState)
        return KernelModel.of(self.start, self.kernel, self.scheme, self.classes, self.zero)

    def _data(self, X: MatrixLike, y: ColumnLike, state: KernelState) -> _Data:
        batch = self._batch(X, y)
        codes = batch.codes + int(len(self.classes) == 1)
        mistakes = self._require_mistakes()
        self._require_possible(codes, mistakes.index, mistakes.machine)
        rows = np.unique(self.index)
        points = points_of(batch)
        scores = np.zeros((len(state.machines), len(rows)))
        if state.kept is not None:
            scores[:] = state.kept.scores[:, rows]
        elif self.budget is None:
            machines = np.ascontiguousarray(state.machines)
            expansion_scores(self.kernel, state.support.points, machines, points.take(rows), scores)
        targets = self.scheme.targets(codes, np.ones(batch.n_rows), self.zero)
        few = CachedRows(self.kernel, points.take(rows), REPLAY_MEGABYTES)
        return _Data(points, codes, targets, few, {int(i): k for k, i in enumerate(rows)}, scores)

    def _visits_of(self, part: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the mistakes of each visit, because several machines may err on one."""
        moments = self.visit[part[0] : part[1]]
        cuts = [*(np.flatnonzero(np.diff(moments)) + 1).tolist(), len(moments)] if len(moments) else []
        return [(part[0] + first, part[0] + last) for first, last in pairwise([0, *cuts])]

    def _repeat(self, data: _Data, machine: Expansion, span: tuple[int, int]) -> None:
        """Repeat the mistakes of one visit."""
        from rosenblatt.kernels.dual_loop import logged_moves, move_scores

        mistakes, state = self._require_mistakes(), machine.state
        first, last = span
        i = int(mistakes.index[first])
        log = Log.room(last - first, len(state.machines))
        log.step[:], log.machine[:] = mistakes.step[first:last], mistakes.machine[first:last]
        state.visits = int(mistakes.visit[first])
        x = state.support.like(data.points.row(i))
        if self.budget is None:
            s, k = data.scores[:, [data.at[i]]], np.empty((0, 1))
        else:
            s, k = machine.scores(x)
        s = s[:, 0] + state.machines[:, -1]
        for at in range(first, last):
            if self._score(s, int(data.codes[i]), int(mistakes.machine[at])) != mistakes.score[at]:
                raise other_score(at, i, float(mistakes.score[at]))
        c = np.zeros(len(s))
        logged_moves(data.targets, i, log, (0, last - first), c)
        machine.take(x, k, c, self.bias, i if self.numbered else NOT_OF_A_SET)
        if self.budget is None:
            move_scores(c, data.few.row(data.at[i]), data.scores)

    def _score(self, s: Floats, code: int, machine: int) -> float:
        match self.scheme.kind:
            case "binary":
                return float(s[0])
            case "direct":
                return float(s[code] - s[machine])
            case _:
                return float(s[machine])

    def _model(self, state: State) -> Any:
        raise AssertionError("a kernel trace makes its own models")


def _sum_anew(data: _Data, machine: Expansion) -> None:
    """Sum the scores in the order of the support, as training does after a pass without a mistake."""
    state = machine.state
    data.scores[:] = 0.0
    weights = np.ascontiguousarray(state.machines)
    expansion_scores(machine.kernel, state.support.points, weights, data.few.points, data.scores)
