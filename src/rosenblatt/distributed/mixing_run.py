"""Training by iterative parameter mixing: the fit loop on the client, passes on the workers."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Future

from rosenblatt.distributed.cluster import WorkerRoom
from rosenblatt.distributed.mixing import MixedPass, PassCounts, weighted_mistakes
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import PartFacts
from rosenblatt.distributed.pass_tasks import (
    FitTask,
    ask_part,
    count_wrong,
    mix_groups,
    stack_pass,
    train_group,
    train_machine,
    train_passes,
)
from rosenblatt.learning.perceptron_fit import Keeper, PerceptronFit
from rosenblatt.learning.plan import Ask, Plan
from rosenblatt.learning.state import Mixing, State
from rosenblatt.learning.visitor import Tour, Visitor
from rosenblatt.typing import Floats

__all__ = ["ClusterVisitor", "MixedFit", "Placement", "group_partitions"]


# Which partitions one task trains in a pass: one task a thread costs less than one a partition.

PLACEMENT_CHECK_SECONDS = 5.0  # seconds between looks at where partitions are
MAX_TIMES_SHARE = 1.25  # times its share of all rows that a task may have
BYTES_A_VALUE = 12  # bytes that a value of a row takes at most, with its column


class Placement:
    """Says which partitions go into one task. No result depends on it.

    Parameters
    ----------
    blocks : PartitionedBlocks
        The partitions.
    """

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

    The state goes to the workers as a task of its own. Dask runs it again if the workers that hold it die.

    Parameters
    ----------
    blocks : PartitionedBlocks
        The rows.
    plan : Plan
        How to train.
    state : State
        Changed in place after each pass.
    seed : int or None
        The seed of the order.
    mixing : {"uniform", "mistakes"}
        How partitions are weighted.
    machines : bool
        Whether a task trains one hyperplane on all rows, which are one partition.
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
        self._shared = self._share(self.task)
        self.placement = Placement(blocks)
        self._ahead: deque[MixedPass] = deque()  # passes that were made already
        self._seconds = math.inf  # of a pass, with all its messages

    def _share(self, value: Any) -> Future[Any]:
        return self.data.cluster.run(carry, value)

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
        state = self.state if small else self._share(self.state)
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
        state, n = self.state if small else self._share(self.state), len(groups)
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
        return sum(self.data.each(count_wrong, self._share(self.state), self._shared))

    def question(self) -> Ask | None:
        """Return what a fit asks on a plateau, if all rows are one partition in memory."""
        if len(self.data.parts) > 1 or not self.data.known[0].in_memory:
            return None
        return self._ask

    def _ask(self, weight: Floats, work: float) -> Any:
        cluster = self.data.cluster
        return cluster.answer(cluster.run(ask_part, self.data.parts[0], self._shared, work))

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


def carry(value: Any) -> Any:
    """Return a value: a task that carries it to the workers."""
    return value
