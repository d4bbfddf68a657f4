"""What workers do in a pass: train on a partition, train some hyperplanes, count rows that are not right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from rosenblatt.distributed.mixing import MixedPass, PartialPass, PassCounts, begin_state, mix_states
from rosenblatt.distributed.parts import WorkerPart
from rosenblatt.exceptions import NonFiniteError
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.order import Blockwise
from rosenblatt.learning.perceptron_fit import PerceptronFit, wrong_rows
from rosenblatt.learning.plan import Plan
from rosenblatt.learning.recorder import Stretch
from rosenblatt.learning.scheme import Scheme
from rosenblatt.learning.state import Mixing, State
from rosenblatt.learning.visitor import BlockVisitor, Visitor, row_weights
from rosenblatt.loops.shuffle import seed_of_pass
from rosenblatt.rows.batch import Batch
from rosenblatt.typing import Floats

__all__ = ["FitTask", "ask_part", "count_wrong", "mix_groups", "train_group", "train_machine", "train_passes"]


@dataclass(frozen=True, eq=False)
class FitTask:
    """What every task of one fit knows.

    Attributes
    ----------
    name : str
        Tells this fit from others.
    plan : Plan
        How to train; its order is that of each partition.
    seed : int or None
        The seed of the order; None visits rows as they are stored.
    n_rows : int
        The number of rows of all partitions.
    losses : bool
        Whether the loss of each pass is asked for.
    """

    name: str
    plan: Plan
    seed: int | None
    n_rows: int
    losses: bool

    def plan_of(self, part: WorkerPart, number: int) -> Plan:
        """Return the plan of a partition; the first has the order of a fit that has no other partition."""
        seed = self.seed
        if seed is not None and number:
            seed = int(seed_of_pass(np.uint64(seed), np.uint64(number)))
        return replace(self.plan, order=Blockwise(part.rows.boundaries, seed))


class _Counted(PerceptronFit):
    """One pass: the skeleton of a fit, without its end."""

    losses = False

    def _lead(self, stretch: Stretch) -> Floats:
        if self.plain and not self.losses:
            return np.empty(0)
        codes = self.visitor.codes_of(stretch.rows)
        lead: Floats = self.plan.scheme.lead_of_mistakes(stretch.log.score, stretch.log.machine, codes)
        return lead

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


def ask_part(part: WorkerPart, task: FitTask, work: float) -> Any:
    """Decide on the worker whether hyperplanes separate the rows of the only partition."""
    from rosenblatt.estimators.perceptron_core import ask

    blocks = part.rows
    assert blocks.whole is not None, "only rows in memory are asked about"
    return ask(blocks, task.plan, row_weights(blocks.whole, task.plan.class_weight), work)


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
    loop.losses = task.losses
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
