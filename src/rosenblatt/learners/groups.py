"""Machines divided into groups, each of which a thread trains: one against the rest, or one against one.

Such machines know nothing of each other. A group visits the same rows in the same order as all machines together
would, so each machine makes the same mistakes, with the same bits. Groups wait for each other after each stretch
of visits, and their mistakes are put in the order in which one thread makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

import numpy as np

from rosenblatt.learners.order import Visits
from rosenblatt.learners.plan import Plan
from rosenblatt.loops import passes
from rosenblatt.loops.decay import train_shrinking
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.targets import Log, Machines, Targets
from rosenblatt.model.state import State
from rosenblatt.threads import Pool
from rosenblatt.typing import Ints

__all__ = ["Groups", "make_visits"]

LEAST_DENSE, LEAST_SPARSE = 10, 8
"""The fewest machines of a group: each group reads all rows, which takes as long as scoring several machines.

They may not be below 2 and 4, the machines that loops score together.
"""


def make_visits(X: Rows, targets: Targets, state: State, plan: Plan, block: Visits, log: Log) -> tuple[int, int]:
    """Visit the rows of a stretch, and correct the state; return the mistakes and the visits made."""
    rule, u, t0 = state.rule_of_loops(plan.rule), state.u, state.visits
    if plan.penalty is not None:
        return train_shrinking(X, targets, block, rule, plan.penalty, state.machines, state.shrunk_machines, log)
    if isinstance(X, np.ndarray) or state.moves_more:
        return passes.train(X, targets, block, rule, state.w, u, t0, log)
    k, made = passes.train(X, targets, block, rule, state.w, None, t0, log)
    if u is not None:
        passes.defer(X, targets, block, log, k, rule.beta, u, t0)
    return k, made


class Group(NamedTuple):
    """Some machines: their numbers among all, the labels as they read them, and their own weights."""

    machines: Ints
    targets: Machines
    state: State


class Groups:
    """The groups of a state for the visits of one pass; use it in a ``with`` block.

    Parameters
    ----------
    X : ndarray or CSR
        The rows, as the loops read them with the weights of the state.
    targets : Machines
        Their labels.
    state : State
        The state of all machines. It is changed by `gather`, which is called at the end of the block too.
    plan : Plan
        How to train.
    groups : sequence of ndarray
        The machines of each group; see `Scheme.divided`.
    rooms : dict of int to Log
        Room for the mistakes of each group, made where it is missing or too small; give it to the next pass again.
    """

    def __init__(
        self,
        X: Rows,
        targets: Machines,
        state: State,
        plan: Plan,
        groups: Sequence[Ints],
        rooms: dict[int, Log],
    ) -> None:
        self.X, self.state, self.plan, self._rooms = X, state, plan, rooms
        self._logs = [Log.room(0)] * len(groups)
        self._pool = Pool(len(groups))

        def copied(machines: Ints) -> Group:
            return Group(machines, part_of(targets, machines), state.some(machines, X))

        with ExitStack() as failing:
            failing.push(self._pool.__exit__)
            self.groups = list(self._pool.ordered(copied, groups))
            failing.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        with self._pool:
            if raised[0] is None:
                self.gather()
        if raised[0] is not None:  # once no thread trains any more
            for group in self.groups:
                self._write(group)

    def train(self, block: Visits) -> tuple[Log, int]:
        """Make the visits of a stretch; return the mistakes, and the visits made.

        Mistakes come in the order of visits, and those of one visit in the order of machines. Fewer visits than
        rows of `block` mean that a score was not finite, as in `passes.train`.
        """
        made = min(self._pool.ordered(lambda number: self._train(number, block), range(len(self.groups))))
        return _joined(self._logs), made

    def gather(self) -> None:
        """Write the weights of the groups to the state of all machines."""
        for _ in self._pool.ordered(self._write, self.groups):
            pass

    def _write(self, group: Group) -> None:
        self.state.take_machines(group.machines, group.state)

    def _train(self, number: int, block: Visits) -> int:
        machines, targets, state = self.groups[number]
        most = len(block) * targets.members.shape[1]
        log = self._rooms.get(number)
        if log is None or len(log.at) < most or log.scores.shape[1] != len(machines):
            log = self._rooms[number] = Log.room(most, len(machines))
        state.visits = self.state.visits
        k, made = make_visits(self.X, targets, state, self.plan, block, log)
        self._logs[number] = log.part(slice(k))._replace(machine=machines.astype(np.int32)[log.machine[:k]])
        return made


def fewest(X: Rows) -> int:
    """Return how many machines a group has at least."""
    return LEAST_SPARSE if isinstance(X, CSR) else LEAST_DENSE


def part_of(targets: Machines, machines: Ints) -> Machines:
    """Return labels as some machines read them, numbered from 0; each class must have equally many of them."""
    kept = np.isin(targets.members, machines)
    shape = len(kept), -1
    members = np.searchsorted(machines, targets.members[kept]).reshape(shape)
    return targets._replace(members=members, side=targets.side[kept].reshape(shape))


def _joined(logs: Sequence[Log]) -> Log:
    at, score, step, machine = (np.concatenate(column) for column in zip(*(log[:4] for log in logs), strict=True))
    n_machines = int(machine.max(initial=0)) + 1
    order = np.argsort(at * n_machines + machine, kind="stable")  # each log is sorted already, so this is a merge
    return Log(at[order], score[order], step[order], machine[order], logs[0].scores)
