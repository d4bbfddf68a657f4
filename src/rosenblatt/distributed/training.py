"""Training by iterative parameter mixing: the fit loop on the client, passes on the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Future

from rosenblatt.blocks.visitor import Tour
from rosenblatt.distributed.mixing import PassCounts, weighted_mistakes
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.pass_tasks import (
    FitTask,
    ask_part,
    count_wrong,
    mix_pass,
    stack_pass,
    train_machine,
    train_part,
)
from rosenblatt.learners.perceptron import Keeper, PerceptronFit
from rosenblatt.learners.plan import Ask, Plan
from rosenblatt.learners.visitor import Visitor
from rosenblatt.model.state import State
from rosenblatt.trace.mixing import Mixing
from rosenblatt.typing import Floats

__all__ = ["ClusterVisitor", "MixedFit"]

SMALL = 1 << 20  # bytes of the weights of all tasks


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

    def _share(self, value: Any) -> Future[Any]:
        return self.data.cluster.run(carried, value)

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
        tasks = self.plan.scheme.n_machines if self.machines else len(self.data.parts)
        # Small weights go straight to the tasks and back; large ones are mixed by a worker, and travel once each.
        small = tasks * self.state.w.nbytes <= SMALL
        state, cluster = self.state if small else self._share(self.state), self.data.cluster
        parts = self.data.parts * tasks if self.machines else self.data.parts  # the same rows for each hyperplane
        function: Any = train_machine if self.machines else train_part
        done = [
            cluster.run(function, part, state, self._shared, visits.epoch, number)
            for number, part in enumerate(parts)
        ]
        if small:
            results = cluster.answers(done)
            mixed, counts = stack_pass(results) if self.machines else mix_pass(self.state, results, self.mixing)
        else:
            last = (
                cluster.run(stack_pass, done) if self.machines else cluster.run(mix_pass, state, done, self.mixing)
            )
            mixed, counts = cluster.answer(last)
        self.state.become(mixed)
        yield counts

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


def carried(value: Any) -> Any:
    """Return a value: a task that carries it to the workers."""
    return value
