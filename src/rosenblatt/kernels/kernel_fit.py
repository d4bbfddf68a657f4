"""The kernel perceptron: all scores are kept, and each mistake moves them by one kernel row.

A kernel perceptron that learns on-line, with a budget for streams that do not end. The record of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.codecs import Context
from rosenblatt.exceptions import Given, InputError, ParameterError
from rosenblatt.kernels import dual_loop as loop
from rosenblatt.kernels.dual_loop import judge_alone, logged_moves, move_scores
from rosenblatt.kernels.kernel_model import Expansion, KernelModel, expansion_scores, points_of
from rosenblatt.kernels.kernel_state import NOT_OF_A_SET, Budget, Kept, KernelState
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import CachedRows, Kernel, Linear
from rosenblatt.learning.fit_loop import PerceptronFit
from rosenblatt.learning.plan import PerceptronRun, Plan
from rosenblatt.learning.state import State
from rosenblatt.learning.stream import Stream, Target
from rosenblatt.learning.trace import Stretch, Trace, other_score
from rosenblatt.learning.visitor import Visitor
from rosenblatt.loops.layout import CSR, Log, Rows, Targets
from rosenblatt.loops.order import Visits
from rosenblatt.loops.screen import Shadow
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, require_finite
from rosenblatt.stopping import StopReason
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

BLOCK_WORK = 1 << 27  # multiplications between two looks at the clock, if every visit is a mistake
MIN_BLOCK_VISITS = 16
EVERY_ROW: Visits = np.empty(0, np.uint64)
VALUES_A_MISTAKE = 1 << 13  # values that could be read in the time that a mistake takes besides its kernel row
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
                machine.sum_anew(data.few.points, data.scores)
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
                Given("path", str(path))
                + ": an .npz file cannot hold the rows and the kernel that a replay needs. "
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


@dataclass(frozen=True)
class KernelPlan:
    """What a kernel adds to a plan."""

    kernel: Kernel  # with numbers for all it takes from data
    budget: Budget | None = None  # how many rows to keep; None keeps all
    cache_size: float = 200.0  # megabytes that kernel rows may take
    keeps_scores: bool = False  # whether a later fit may go on from this one


def fit_kernel(batch: Batch, plan: Plan, start: KernelState, own: KernelPlan) -> PerceptronRun:
    """Train on `batch` from `start` until a stop of `plan`."""
    require_finite(batch)  # a kernel may take infinity for a point far away
    kind = KernelVisitor if own.budget is None else ExpansionVisitor
    return KernelFit(kind(batch, plan, start.copy(), own=own), start).run()


def digest_of(features: Features) -> bytes:
    """Return a digest of rows."""
    rows = features.rows
    parts = rows if isinstance(rows, CSR) else (rows,)
    digest = hashlib.blake2b(repr([(part.shape, part.dtype.str) for part in parts]).encode(), digest_size=32)
    for part in parts:
        digest.update(np.ascontiguousarray(part).view(np.uint8).reshape(-1).data)
    return digest.digest()


class ExpansionVisitor(Visitor):
    """Visits rows by the expansion alone: in streams, and under a budget.

    With `numbered`, a row met again is the same row.
    """

    may_screen = False

    def __init__(
        self, batch: Batch, plan: Plan, state: KernelState, *, own: KernelPlan, numbered: bool = True
    ) -> None:
        super().__init__(batch, plan, state)
        self.own, self.numbered = own, numbered
        self.expansion = Expansion(own.kernel, state, own.budget)
        self.points = points_of(batch)
        rows = (own.budget.size if own.budget is not None else state.support.count) + 1
        a_visit = rows * max(1, batch.stored // batch.n_rows)
        self._block = min(self._block, max(MIN_BLOCK_VISITS, BLOCK_WORK // a_visit))

    def _train(self, block: Visits, log: Log, shadow: Shadow | None) -> tuple[int, int, int]:
        k, state = 0, self.expansion.state
        began = state.visits
        try:
            for t, i in enumerate(block.tolist()):
                state.visits = began + t
                end = self._visit(i, log, k)
                if end < 0:
                    return k, t, t
                log.at[k:end] = t
                k = end
        finally:
            state.visits = began  # the caller counts
        return k, len(block), len(block)

    def _visit(self, i: int, log: Log, k: int) -> int:
        state = self.expansion.state
        x = state.support.like(self.points.row(i))
        s, values = self.expansion.scores(x)
        end = loop.judge_alone(self.targets, i, self.plan.rule, s, state.machines, log, k)
        if end > k:
            self._move(i, x, values, log, (k, end))
        self.extra_values += x.n_features * state.support.count + VALUES_A_MISTAKE
        return end

    def _take_steps(self, row: int, log: Log, count: int) -> None:
        x = self.expansion.state.support.like(self.points.row(row))
        self._move(row, x, self.expansion.scores(x)[1], log, (0, count))

    def _move(self, i: int, x: Points, values: Floats, log: Log, span: tuple[int, int]) -> None:
        c = np.zeros(len(self.state.machines))
        loop.logged_moves(self.targets, i, log, span, c)
        self.expansion.take(x, values, c, self.plan.rule.beta, i if self.numbered else NOT_OF_A_SET)


class _Ahead(NamedTuple):
    """The last pass allowed: the rows in the order of their visits, and room for kernel values."""

    visits: Visits
    points: Points
    room: Floats


class KernelVisitor(Visitor):
    """Visits rows whose scores are all kept: looks ahead for the next mistake, and moves every score by its row.

    Scores are sums of steps in the order they are taken. Prediction sums them in the order of the support, which
    differs in the last bits once a row has been mistaken twice. So after a pass without a mistake they are summed
    anew as prediction does, and only if that pass's rows are right by these sums as well is the data separated. In
    the last pass (`is_last`) a mistake moves the scores of those rows alone that are visited after it.
    """

    may_screen = False

    def __init__(self, batch: Batch, plan: Plan, state: KernelState, *, own: KernelPlan) -> None:
        super().__init__(batch, plan, state)
        self.own, self.expansion = own, Expansion(own.kernel, state, None)
        self.points = points_of(batch)
        own.kernel.prepare(self.points)
        self.rows = CachedRows(own.kernel, self.points, own.cache_size)
        self.values_a_row = batch.stored + batch.n_rows
        self._block = min(self._block, max(MIN_BLOCK_VISITS, BLOCK_WORK // self.values_a_row))
        self.new: list[int] = []
        self.is_last, self._first = False, 0
        self._ahead: _Ahead | None = None
        support = state.support
        self.place_of: Ints = np.full(batch.n_rows, NOT_OF_A_SET)
        known = np.flatnonzero(support.ids != NOT_OF_A_SET)
        self.place_of[support.ids[known]] = known
        self.scores: Floats = np.zeros((len(state.machines), batch.n_rows))
        if state.kept is not None:
            self.scores[:] = state.kept.scores
            state.kept = None
        elif support.count:
            self.sum_anew()

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass; yield each stretch once it is made."""
        mistakes, self._first = 0, self.state.visits
        if self.is_last and not self.own.keeps_scores and len(np.unique(visits)) == len(visits):
            ordered = self.points.take(visits.astype(np.int64))
            self._ahead = _Ahead(visits, ordered, np.empty((1, len(visits))))
        for stretch in super().visit(visits):
            mistakes += len(stretch.log.at)
            yield stretch
        self._ahead = None
        if not mistakes:
            self.sum_anew()

    def sum_anew(self) -> None:
        """Sum all scores as prediction does."""
        self.expansion.sum_anew(self.points, self.scores)

    def has_mistake(self, visits: Visits) -> bool:
        """Whether a visit would be a mistake, at the present scores."""
        log = Log.room(self._mistakes_a_visit, len(self.scores))
        _, end = loop.next_mistake(
            self.targets, visits, 0, self.plan.rule, self.scores, self.state.machines, log, 0
        )
        return end != 0

    def _take_steps(self, row: int, log: Log, count: int) -> None:
        self.expansion.state.make_room(1)
        visit, own = np.array([row], np.uint64), self._own(row, 0)
        loop.correct(self.targets, visit, 0, self.plan.rule, self._moving(), log, (0, count), own)
        self.take_in()

    def _own(self, i: int, t: int) -> tuple[int, Floats, Visits, int]:
        """Return what `correct` asks of row i, visited t visits from now; it is given a place if need be."""
        place = int(self.place_of[i])
        if place == NOT_OF_A_SET:
            place = self.place_of[i] = self.expansion.state.support.count + len(self.new)
            self.new.append(i)
        return place, *self._values(i, self.state.visits - self._first + t), self.state.visits

    def _values(self, i: int, t: int) -> tuple[Floats, Visits]:
        """Return the kernel values of row i, the visit t of its pass, and with which rows; none named: all."""
        ahead = self._ahead
        if ahead is None:
            return self.rows.row(i), EVERY_ROW
        first, last = t + 1, len(ahead.visits)
        values = ahead.room[:, first:]
        if first < last:
            self.own.kernel.gram(self.points.row(i), ahead.points.part(first, last), out=values)
            self.extra_values += self.values_a_row * (last - first) // last
        return values[0], ahead.visits[first:]

    def _moving(self) -> loop.Moving:
        state = self.expansion.state
        return loop.Moving(self.scores, state.machines, np.empty((0, 0)) if state.sums is None else state.sums)

    def take_in(self) -> None:
        """Take the rows that were given places into the support."""
        if self.new:
            self.expansion.state.support.extend(self.points.take(np.array(self.new)))
            self.new.clear()

    def _train(self, block: Visits, log: Log, shadow: Shadow | None) -> tuple[int, int, int]:
        computed = self.rows.computed
        state = self.expansion.state
        state.make_room(len(block))
        moving = self._moving()
        k = 0
        t, end = loop.next_mistake(self.targets, block, 0, self.plan.rule, self.scores, moving.w, log, 0)
        while end > k:
            own = self._own(int(block[t]), t)
            span, k = (k, end), end
            t, end = loop.correct_and_go_on(self.targets, block, t, self.plan.rule, moving, log, span, own)
        self.take_in()
        self.extra_values += (self.rows.computed - computed) * self.values_a_row + k * VALUES_A_MISTAKE
        return k, t, t


class KernelFit(PerceptronFit):
    """A fit whose weights belong to rows."""

    visitor: KernelVisitor | ExpansionVisitor

    def __init__(self, visitor: KernelVisitor | ExpansionVisitor, start: KernelState) -> None:
        super().__init__(visitor, start)
        self.own = visitor.own
        self.best_scores: Floats | None = None
        self.complete_scores: Floats | None = None

    def _steps(self, epoch: int, visits: Visits) -> Iterable[Stretch]:
        if isinstance(self.visitor, KernelVisitor):
            self.visitor.is_last = epoch == self.plan.max_iter
        return super()._steps(epoch, visits)

    def _proves(self, visits: Visits) -> bool:
        """Whether a pass without a mistake leaves none: by the scores kept, but not by those summed anew."""
        return isinstance(self.visitor, ExpansionVisitor) and super()._proves(visits)

    def _at_rest(self, visits: Visits) -> bool:
        """Whether no visit will ever move the weights again."""
        if isinstance(self.visitor, KernelVisitor) and self.visitor.has_mistake(visits):
            return False
        return super()._at_rest(visits)

    def _last_scores(self, batch: Batch) -> Floats:
        """Return the scores of all rows by the last hypothesis."""
        if not isinstance(self.visitor, KernelVisitor):
            return self.model(last=True).scores(batch)
        scores = self.visitor.scores + self.state.machines[:, -1:]
        return scores[0] if self.plan.scheme.kind == "binary" else np.ascontiguousarray(scores.T)

    def model(self, *, last: bool = False) -> KernelModel:
        """Return the hypothesis of this moment."""
        assert isinstance(self.state, KernelState)
        return KernelModel.of(self.state, self.own.kernel, *self._labelled(), last=last)

    def note_complete(self, epoch: int) -> None:
        """Remember the state after a completed pass, and its scores if a later fit may go on from them."""
        super().note_complete(epoch)
        self.complete_scores = self._kept_scores()

    def validate(self, epoch: int) -> float | None:
        """Measure the pass on the rows held out, and remember the best."""
        error = super().validate(epoch)
        if error is not None and self.validation.best_epoch == epoch:
            self.best_scores = self._kept_scores()
        return error

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> PerceptronRun:
        run = super()._finish(reason, interruption)
        if self.own.keeps_scores and isinstance(run.state, KernelState):
            if run.state is self.best:
                scores = self.best_scores
            elif run.state is self.complete.state:
                scores = self.complete_scores
            else:
                scores = self._kept_scores()
            run.state.kept = None if scores is None else Kept(digest_of(self.visitor.batch), scores)
        return run

    def _kept_scores(self) -> Floats | None:
        """Return the scores of this moment, if a later fit may go on from them."""
        if not self.own.keeps_scores or not isinstance(self.visitor, KernelVisitor):
            return None
        return self.visitor.scores.copy()

    def trace(self, passes: int) -> KernelTrace:
        """Return the record of the first passes."""
        return kernel_trace(super().trace(passes), self.own)


def kernel_trace(plain: Trace, own: KernelPlan, *, numbered: bool = True) -> KernelTrace:
    """Return a record with the kernel that its mistakes are of."""
    held = {each.name: getattr(plain, each.name) for each in fields(plain)}
    return KernelTrace(**held, kernel=own.kernel, budget=own.budget, numbered=numbered)


class KernelStream(Stream):
    """A stream whose state is an expansion in a kernel."""

    own_parts = ("own",)
    linear = False
    state: KernelState
    start: KernelState

    def __init__(self, state: KernelState, *arguments: Any, own: KernelPlan, **named: Any) -> None:
        self.own = own
        state.kept = None
        state.support.renumber(np.full(state.support.count, NOT_OF_A_SET))  # rows to come are of no set
        super().__init__(state, *arguments, **named)

    def learn_row(self, X: Rows, target: Target) -> None:
        """Visit one example: a matrix of one row, and what it is to be."""
        assert not isinstance(target, float), "an expansion takes targets"
        state, log = self.state, self._log
        x = self._point(X)
        if not np.isfinite(x.rows.data if isinstance(x.rows, CSR) else x.rows).all():
            raise self._not_finite(X)
        machine = Expansion(self.own.kernel, state, self.own.budget)
        s, values = machine.scores(x)
        count = judge_alone(target, 0, self.rule, s, state.machines, log, 0)
        if count < 0:
            raise self._not_finite(X)
        if count:
            c = np.zeros(len(s))
            logged_moves(target, 0, log, (0, count), c)
            machine.take(x, values, c, self.rule.beta)
            self.mistakes += count
            if self.scheme.kind == "binary":  # a mistake names its rival, should there come to be more than one
                log.machine[0] = target.pull[0] <= 0.0  # type: ignore[union-attr]
            if self.recorder.detail == "mistakes":
                self._keep(count)
        state.visits += 1
        self.seen += 1

    def learn_rows(self, features: Features, *labelled: Any) -> None:
        """Visit rows in order."""
        require_finite(features)  # a kernel may take infinity for a point far away
        super().learn_rows(features, *labelled)

    def model(self, n_features: int) -> KernelModel:
        """Return what predicts by the state as it is now."""
        model = KernelModel.of(self.state, self.own.kernel, self.scheme, self.classes, self.zero)
        model.support.n_features = n_features  # there may be room for features to come
        return model

    def bytes_of_state(self, n_features: int) -> Iterable[bytes]:
        """Return what decides predictions and learning, without room for later rows."""
        from rosenblatt.kernels.kernel_file import KERNEL_STATE

        n, context = self.state.support.count, Context()
        trimmed = self.state._each(lambda w: w[..., np.r_[0:n, -1]])
        yield repr(KERNEL_STATE.encode(trimmed, "state", context)).encode()
        for name in sorted(context.tensors):
            yield np.ascontiguousarray(context.tensors[name]).tobytes()

    def trace(self, n_features: int) -> KernelTrace:
        """Return the record of the stream so far."""
        return kernel_trace(super().trace(n_features), self.own, numbered=False)

    def _visitor(self, batch: Batch) -> Visitor:
        return ExpansionVisitor(batch, self._plan(batch.n_rows), self.state, own=self.own, numbered=False)

    def _target(self, label: Any, weight: float) -> Target:
        code = self._codes[label]
        return self.scheme.targets(np.array([code]), np.array([weight]), self.zero)

    def _point(self, X: Rows) -> Points:
        return self.state.support.like(Points(X, 1, self.state.n_features))
