"""Training by iterative parameter mixing: the fit loop on the client, passes on the workers.

In a pass, partition i trains from the mixed weights w to w_i. Then w = Σ μ_i w_i, added in the order of the
partitions, with μ_i = 1/P, or the share of the pass's mistakes that partition i made. A partition of weight 0 adds
nothing. Where no partition made a mistake, all w_i are w, and so is the result.
`tests/oracles/mixing.py` has the same in plain Python.

Averages are mixed with the same weights. A state keeps u, the sum of all corrections, each times the visits
before it, so that w − u/t is the average over t visits. Partition i has n_i of the n rows, so it starts with
t n_i/n visits and u n_i/n, and its average is w_i − u_i/t_i. With u = Σ μ_i (n/n_i) u_i, the mixed w − u/t is
Σ μ_i (w_i − u_i/t_i).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from rosenblatt.distributed.cluster import WorkerRoom
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import PartFacts, WorkerPart
from rosenblatt.exceptions import NonFiniteError
from rosenblatt.learning.fit_loop import Keeper, PerceptronFit, wrong_rows
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.plan import Plan
from rosenblatt.learning.state import MetFeatures, Mixing, State
from rosenblatt.learning.visitor import BlockVisitor, Tour, Visitor, row_weights
from rosenblatt.loops.order import Blockwise, seed_of_pass
from rosenblatt.rows.batch import Batch
from rosenblatt.typing import Floats

# The arithmetic: mixing the states that partitions reached.


class PassCounts(NamedTuple):
    """What one partition counted in a pass.

    `wrong` counts updates on rows on their wrong side, for rules that correct others too. `loss` is the sum of
    max(0, −y f), where it is asked for.
    """

    mistakes: int
    visits: int
    wrong: int = 0
    loss: float = 0.0


class PartialPass(NamedTuple):
    """The pass of one partition: the state it reached, and what it counted."""

    state: State
    counts: PassCounts


class MixedPass(NamedTuple):
    """The pass of all partitions: the mixed state, and what each partition counted."""

    state: State
    counts: list[PassCounts]


def shares_of(mistakes: Sequence[int], kind: Mixing) -> list[Fraction]:
    """Return the mixing weight of each partition; uniform where no partition made a mistake."""
    total = sum(mistakes)
    if kind == "uniform" or not total:
        return [Fraction(1, len(mistakes))] * len(mistakes)
    return [Fraction(k, total) for k in mistakes]


def weighted_mistakes(mistakes: Sequence[int], kind: Mixing) -> Fraction:
    """Return Σ μ k of one pass, rounded to a float, so that sums over passes stay short."""
    total = sum((share * k for share, k in zip(shares_of(mistakes, kind), mistakes, strict=True)), Fraction(0))
    return Fraction(float(total))


def begin_state(state: State, passes: int, n_rows: int, n_all: int) -> State:
    """Return the state that a partition of `n_rows` of all `n_all` rows starts from, after some passes."""
    own = state.copy()
    if own.u is not None and n_rows != n_all:
        own.u = own.u * (n_rows / n_all)
    own.visits = passes * n_rows
    return own


def mix_states(before: State, parts: Sequence[PartialPass], kind: Mixing) -> State:
    """Return the state after a pass, given the one before it and the pass of each partition, in order."""
    made = [part.counts.visits for part in parts]
    visits = before.visits + sum(made)
    counts = [part.counts.mistakes for part in parts]
    if len(parts) == 1:
        return replace(parts[0].state, visits=visits)
    if not any(counts) and before.shrunk is None:
        return replace(before.copy(), visits=visits)
    if before.shrunk is not None:  # weights shrink without a mistake too; what was paid is paid
        states = [part.state.for_rule(average=False, shrinks=False) for part in parts]
        state = _sum(states, shares_of(counts, kind), [1.0] * len(parts))
        return replace(state.for_rule(average=False, shrinks=True), visits=visits)
    state = _sum([part.state for part in parts], shares_of(counts, kind), [sum(made) / own for own in made])
    return replace(state, visits=visits)


def _sum(states: Sequence[State], shares: Sequence[Fraction], factors: Sequence[float]) -> State:
    met = _all_met(states)
    chosen = [
        (state.spread() if met is None else state.part(met.columns), float(share), factor)
        for state, share, factor in zip(states, shares, factors, strict=True)
        if share
    ]
    w = reduce(_plus, (share * state.w for state, share, _ in chosen))
    sums = [(share * factor) * state.u for state, share, factor in chosen if state.u is not None]
    return State(w, reduce(_plus, sums) if sums else None, met=met)


def _plus(total: Floats, more: Floats) -> Floats:
    return total + more


def _all_met(states: Sequence[State]) -> MetFeatures | None:
    """Return all features that some partition met; None if all features have weights."""
    met = [state.met for state in states]
    if any(each is None for each in met):
        return None
    columns = np.unique(np.concatenate([each.columns for each in met if each is not None]))
    return MetFeatures(columns, states[0].n_features)


# Which partitions one task trains in a pass: one task a thread costs less than one a partition.

PLACEMENT_CHECK_SECONDS = 5.0  # seconds between looks at where partitions are
MAX_TIMES_SHARE = 1.25  # times its share of all rows that a task may have
BYTES_A_VALUE = 12  # bytes that a value of a row takes at most, with its column


class Placement:
    """Says which partitions go into one task. No result depends on it."""

    def __init__(self, blocks: PartitionedBlocks) -> None:
        self.blocks = blocks
        self._groups: list[list[int]] = []
        self._looked = 0.0

    def groups(self) -> list[list[int]]:
        """Return the numbers of the partitions of each task; where they are is looked up every few seconds."""
        if not self._groups or time.monotonic() - self._looked > PLACEMENT_CHECK_SECONDS:
            cluster = self.blocks.cluster
            if not self._groups:
                cluster.wait(self.blocks.parts)
            self._groups = group_partitions(self.blocks.known, cluster.holders(self.blocks.parts), cluster.rooms())
            self._looked = time.monotonic()
        return self._groups


def group_partitions(
    facts: Sequence[PartFacts], holders: Sequence[Sequence[str]], rooms: Mapping[str, WorkerRoom]
) -> list[list[int]]:
    """Return the partitions of each task: those of one worker, up to its share of all rows.

    A partition that several workers hold goes to the one with the fewest rows. A partition that no worker holds
    now is a task of its own. So is each partition of a worker whose memory is more than half full of them: Dask
    may have moved some to its disk, and would have to bring all of them back at once.
    """
    threads = sum(room.threads for room in rooms.values())
    most = MAX_TIMES_SHARE * sum(each.n_rows for each in facts) / max(threads, 1)
    held: dict[str, list[int]] = {}
    rows: dict[str, int] = dict.fromkeys(rooms, 0)
    able = [sorted(worker for worker in workers if worker in rooms) for workers in holders]
    groups = [[number] for number, workers in enumerate(able) if not workers]
    for number in sorted(range(len(able)), key=lambda number: len(able[number])):
        if able[number]:
            chosen = min(able[number], key=rows.__getitem__)
            held.setdefault(chosen, []).append(number)
            rows[chosen] += facts[number].n_rows
    for worker, numbers in held.items():
        memory = sum(BYTES_A_VALUE * facts[number].stored for number in numbers if facts[number].in_memory)
        full = 0 < rooms[worker].memory < 2 * memory
        group: list[int] = []
        for number in sorted(numbers):
            if group and (full or sum(facts[each].n_rows for each in [*group, number]) > most):
                groups.append(group)
                group = []
            group.append(number)
        groups.append(group)
    return sorted(groups)


SMALL_WEIGHTS_BYTES = 1 << 20  # bytes of the weights that tasks return
SECONDS_A_TASK = 0.5  # seconds of the passes that one task makes


class ClusterVisitor(Visitor):
    """Lets workers make each pass, and mixes what their partitions reached.

    The state goes to the workers as a task of its own. Dask runs it again if the workers that hold it die. With
    `machines`, a task trains one hyperplane on all rows, which are one partition.
    """

    def __init__(
        self,
        blocks: PartitionedBlocks,
        plan: Plan,
        state: State,
        seed: int | None,
        mixing: Mixing,
        *,
        machines: bool = False,
    ) -> None:
        self.data: PartitionedBlocks = blocks
        self.plan, self.state, self.mixing, self.machines = plan, state, mixing, machines
        self.held_out = None
        losses = plan.tol is not None or bool(plan.callbacks)
        told = replace(plan, callbacks=(), ask=None)
        self.task = FitTask(f"fit-{uuid4().hex}", told, seed, blocks.n_rows, losses)
        self._shared = blocks.cluster.share(self.task)
        self.placement = Placement(blocks)
        self._ahead: deque[MixedPass] = deque()  # passes that were made already
        self._seconds = math.inf  # of a pass, with all its messages

    def renumber(self) -> None:
        """Do nothing: workers number their rows."""

    def visits(self, epoch: int) -> Tour:
        """Return the visits of a pass: all partitions, in order."""
        lengths = np.diff(self.data.boundaries)
        return Tour(epoch, np.arange(len(lengths)), lengths)

    def visit(self, visits: Tour, made: int = 0) -> Iterator[Any]:
        """Let the workers make a pass; yield the counts of all partitions."""
        if made:
            return
        made_pass = self._stacked(visits.epoch) if self.machines else self._mixed(visits.epoch)
        self.state.become(made_pass.state)
        yield made_pass.counts

    def _stacked(self, epoch: int) -> MixedPass:
        """Make a pass of hyperplanes apart, each a task on the same rows."""
        cluster, tasks = self.data.cluster, self.plan.scheme.n_machines
        small = tasks * self.state.w.nbytes <= SMALL_WEIGHTS_BYTES
        state = self.state if small else cluster.share(self.state)
        arguments = self.data.parts * tasks, [state] * tasks, [self._shared] * tasks, [epoch] * tasks
        done = cluster.run_each(train_machine, *arguments, range(tasks))
        result: MixedPass = (
            stack_pass(cluster.answers(done)) if small else cluster.answer(cluster.run(stack_pass, done))
        )
        return result

    def _mixed(self, epoch: int) -> MixedPass:
        """Make a pass of all partitions, in a task for each thread that holds some of them.

        Small weights go straight to the tasks and back. Large ones are mixed by a worker, and travel once each.
        """
        if self._ahead:
            return self._ahead.popleft()
        groups, cluster = self.placement.groups(), self.data.cluster
        if len(groups) == 1:
            return self._many(epoch)
        small = len(self.data.parts) * self.state.w.nbytes <= SMALL_WEIGHTS_BYTES
        state, n = self.state if small else cluster.share(self.state), len(groups)
        parts = [[self.data.parts[number] for number in group] for group in groups]
        done = cluster.run_each(train_group, parts, [state] * n, [self._shared] * n, [epoch] * n, groups)
        if small:
            return mix_groups(self.state, cluster.answers(done), groups, self.mixing)
        result: MixedPass = cluster.answer(cluster.run(mix_groups, state, done, groups, self.mixing))
        return result

    def _many(self, epoch: int) -> MixedPass:
        """Make a pass, and with it the next few where passes are short: a task costs more than they do.

        A task makes at most one pass more than were made before, so that few are in vain when training ends.
        """
        arrays = 1 + (self.state.u is not None) + (self.state.shrunk is not None)
        fitting = SMALL_WEIGHTS_BYTES // (arrays * self.state.w.nbytes)
        short = int(SECONDS_A_TASK / self._seconds)
        passes = max(1, min(epoch, self.plan.max_iter - epoch + 1, fitting, short))
        began = time.perf_counter()
        cluster = self.data.cluster
        task = cluster.run(train_passes, self.data.parts, self.state, self._shared, epoch, passes, self.mixing)
        found: list[MixedPass] = cluster.answer(task)
        self._seconds = (time.perf_counter() - began) / len(found)
        self._ahead.extend(found[1:])
        return found[0]

    def covers(self, visits: Tour) -> bool:
        """Whether every row is visited: partitions leave none out."""
        return True

    def require_usable(self, visits: Tour) -> None:
        """Leave rows to the workers, which meet all of them."""

    def count_wrong(self) -> int:
        """Return how many rows are not right by the last weights."""
        return sum(self.data.each(count_wrong, self.data.cluster.share(self.state), self._shared))

    def ask(self, weight: Floats, work: float, model: LinearModel | None) -> Any:
        """Answer what a fit asks on a plateau, where all rows are one partition in memory."""
        cluster = self.data.cluster
        return cluster.answer(cluster.run(ask_part, self.data.parts[0], self._shared, work, model))

    weight: Any = None  # the workers know it


class MixedFit(PerceptronFit):
    """One fit under way on a cluster; only whole passes are counted and kept."""

    visitor: ClusterVisitor

    def __init__(self, visitor: ClusterVisitor, start: State, keeper: Keeper | None = None) -> None:
        super().__init__(visitor, start, keeper)
        self.weighted = Fraction(0)  # Σ μ k over all passes

    def _note(self, step: Sequence[PassCounts], visits: Any) -> int:  # type: ignore[override]
        recorder = self.recorder
        mistakes = [part.mistakes for part in step]
        recorder.mistakes_per_pass[-1] += sum(mistakes)
        recorder.wrong_per_pass[-1] += sum(part.wrong for part in step)
        recorder.visits_per_pass[-1] += len(visits)
        self.loss = sum((part.loss for part in step[1:]), step[0].loss)
        if not self.visitor.machines:
            self.weighted += weighted_mistakes(mistakes, self.visitor.mixing)
        return 0

    def _unseparated(self, visits: Any) -> int:
        return 0 if self._proves(visits) else self.visitor.count_wrong()


# What workers do in a pass: train on a partition, train some hyperplanes, count rows that are not right.


@dataclass(frozen=True, eq=False)
class FitTask:
    """What every task of one fit knows."""

    name: str  # tells this fit from others
    plan: Plan  # how to train; its order is that of each partition
    seed: int | None  # the seed of the order; None visits rows as they are stored
    n_rows: int  # the number of rows of all partitions
    losses: bool  # whether the loss of each pass is asked for

    def plan_of(self, part: WorkerPart, number: int) -> Plan:
        """Return the plan of a partition; the first has the order of a fit that has no other partition."""
        seed = self.seed
        if seed is not None and number:
            seed = int(seed_of_pass(np.uint64(seed), np.uint64(number)))
        return replace(self.plan, order=Blockwise(part.rows.boundaries, seed))


class _Counted(PerceptronFit):
    """One pass: the skeleton of a fit, without its end."""

    def counted(self, epoch: int) -> PartialPass:
        """Make the pass, and return the state with its counts."""
        visits = self.visitor.visits(epoch)
        self.recorder.begin_pass()
        for step in self.visitor.visit(visits):
            self._note(step, visits)
        recorder = self.recorder
        counts = recorder.mistakes_per_pass[-1], recorder.visits_per_pass[-1], recorder.wrong_per_pass[-1]
        return PartialPass(self.state.copy(), PassCounts(*counts, self.loss))


def train_part(part: WorkerPart, state: State, task: FitTask, epoch: int, number: int) -> PartialPass:
    """Make pass `epoch` over partition `number` from the mixed state; the result depends on nothing else."""
    start = begin_state(state, epoch - 1, part.n_rows, task.n_rows)
    with _naming(part):
        return _visited(part, task, f"{task.name}/part", start, epoch, lambda: task.plan_of(part, number))


def train_group(
    parts: list[WorkerPart], state: State, task: FitTask, epoch: int, numbers: list[int]
) -> list[PartialPass]:
    """Make pass `epoch` over several partitions, each from the mixed state."""
    return [train_part(part, state, task, epoch, number) for part, number in zip(parts, numbers, strict=True)]


def train_passes(
    parts: list[WorkerPart], state: State, task: FitTask, epoch: int, passes: int, kind: Mixing
) -> list[MixedPass]:
    """Make several passes over all partitions, mixing after each; stop after one without a mistake.

    Training may end before a later pass is needed. So an error in one ends the task without it, and is raised
    again by the task that begins with that pass.
    """
    numbers, found = list(range(len(parts))), list[MixedPass]()
    for current in range(epoch, epoch + passes):
        try:
            found.append(mix_pass(state, train_group(parts, state, task, current, numbers), kind))
        except Exception:
            if not found:
                raise
            break
        state = found[-1].state
        if not any(counts.mistakes for counts in found[-1].counts):
            break
    return found


def train_machine(part: WorkerPart, state: State, task: FitTask, epoch: int, machine: int) -> PartialPass:
    """Make pass `epoch` for one hyperplane of one-vs-rest or one-vs-one, as a problem of two classes."""
    sides = task.plan.scheme.sides(machine)
    own = State(state.w[machine].copy(), None if state.u is None else state.u[machine].copy(), state.visits)
    if state.met is not None:
        own.met = state.met

    def plan() -> Plan:
        return replace(task.plan_of(part, 0), scheme=Scheme.of("direct", 2), class_weight=None)

    def rows() -> Batch:
        batch = _batch(part)
        weight = row_weights(batch, task.plan.class_weight) * np.abs(sides)[batch.codes]
        codes = (sides[batch.codes] > 0).astype(np.int64)
        return replace(batch, codes=codes, classes=np.array([0, 1]), weight=weight)

    with _naming(part):
        return _visited(part, task, f"{task.name}/{machine}", own, epoch, plan, rows)


def mix_pass(before: State, parts: list[PartialPass], kind: Mixing) -> MixedPass:
    """Mix the passes of all partitions."""
    return MixedPass(mix_states(before, parts, kind), [part.counts for part in parts])


def mix_groups(before: State, done: list[list[PartialPass]], groups: list[list[int]], kind: Mixing) -> MixedPass:
    """Mix the passes of partitions that were trained in groups: in the order of the partitions."""
    passes = zip(chain.from_iterable(groups), chain.from_iterable(done), strict=True)
    return mix_pass(before, [made for _, made in sorted(passes, key=itemgetter(0))], kind)


def stack_pass(parts: list[PartialPass]) -> MixedPass:
    """Put hyperplanes that were trained apart together again."""
    states = [part.state for part in parts]
    sums = [state.u for state in states if state.u is not None]
    state = State(np.stack([state.w for state in states]), np.stack(sums) if sums else None, states[0].visits)
    state.met = states[0].met  # each of them met all rows
    return MixedPass(state, [part.counts for part in parts])


def count_wrong(part: WorkerPart, state: State, task: FitTask) -> int:
    """Count the rows of a partition that are not right by the last weights."""
    plan, wrong = task.plan, 0
    for _, batch in part.batches():
        model = LinearModel(state.last(), plan.scheme, batch.classes, plan.zero, state.met)
        weight = row_weights(batch, plan.class_weight)
        wrong += int(np.count_nonzero(wrong_rows(batch, model.scores(batch), plan) & (weight != 0.0)))
    return wrong


def ask_part(part: WorkerPart, task: FitTask, work: float, model: LinearModel | None) -> Any:
    """Decide on the worker whether hyperplanes separate the rows of the only partition."""
    from rosenblatt.estimators.perceptron_core import ask

    blocks = part.rows
    assert blocks.whole is not None, "only rows in memory are asked about"
    return ask(blocks, task.plan, row_weights(blocks.whole, task.plan.class_weight), work, model)


def _visited(
    part: WorkerPart,
    task: FitTask,
    key: str,
    start: State,
    epoch: int,
    plan: Callable[[], Plan],
    rows: Callable[[], Batch] | None = None,
) -> PartialPass:
    """Make a pass with the visitor of the pass before, which knows which rows need not be read.

    Another task may be using that visitor: then it is not there, and a new one takes its place. The result is the
    same.
    """
    visitor = part.kept.pop(key, None)
    if visitor is None:
        for other in [each for each in part.kept if not each.startswith(task.name)]:
            part.kept.pop(other, None)  # of a fit that has ended
        made = plan()
        if rows is None and part.rows.whole is None:
            visitor = BlockVisitor(part.rows, made, start)
        else:
            visitor = Visitor(_batch(part) if rows is None else rows(), made, start)
    else:
        visitor.state.become(start)
        visitor.renumber()
    loop = _Counted(visitor, start)
    loop.needs_leads |= task.losses
    found = loop.counted(epoch)
    part.kept[key] = visitor
    return found


def _batch(part: WorkerPart) -> Batch:
    whole = part.rows.whole
    assert whole is not None, "rows are in memory here"
    return whole


@contextmanager
def _naming(part: WorkerPart) -> Iterator[None]:
    """Let errors about values say which partition they are in."""
    try:
        yield
    except NonFiniteError as error:
        raise NonFiniteError(f"{part.name}: {error}") from error
