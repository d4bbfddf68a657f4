"""Visits rows and corrects weights: in short stretches, by the fastest loop that gives the same bits.

Rows that are visited one block at a time, for the fit loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import InputError, NonFiniteError, OrderError, WeightError
from rosenblatt.learning.plan import Model, Plan
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Stretch
from rosenblatt.loops import passes, screen
from rosenblatt.loops.decay import train_shrinking
from rosenblatt.loops.layout import CSR, Log, Machines, Rows, Sides, Targets
from rosenblatt.loops.order import Blockwise, Visits
from rosenblatt.loops.screen import MAX_SCREENED_FEATURES
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import require_finite
from rosenblatt.tables.blocks import Blocks
from rosenblatt.threads import Pool, allowed
from rosenblatt.typing import Floats, Ints

# Machines divided into groups, each of which a thread trains: one against the rest, or one against one.
#
# Such machines know nothing of each other. A group visits the same rows in the same order as all machines together
# would, so each machine makes the same mistakes, with the same bits. Groups wait for each other after each stretch
# of visits, and their mistakes are put in the order in which one thread makes them.

LEAST_DENSE, LEAST_SPARSE = 10, 8
"""The fewest machines of a group: each group reads all rows, which takes as long as scoring several machines.

They may not be below 2 and 4, the machines that loops score together.
"""


def make_visits(X: Rows, targets: Targets, state: State, plan: Plan, block: Visits, log: Log) -> tuple[int, int]:
    """Visit the rows of a stretch, and correct the state; return the mistakes and the visits made."""
    rule, u, t0 = state.rule_of_loops(plan.rule), state.u, state.averaged
    if plan.penalty is not None:
        weights = state.machines, state.shrunk_machines, state.mean_machines
        return train_shrinking(X, targets, block, rule, plan.penalty, *weights, t0, log)
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

    The rows are as the loops read them with the weights of the state, which `gather` changes; it is called at the
    end of the block too. `groups` are the machines of each group; see `Scheme.divided`. `rooms` has room for the
    mistakes of each group, made where it is missing or too small; give it to the next pass again.
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


# When the screen pays: it costs a few passes to set up and saves a part of each later one.

MIN_SHADOWED_BYTES = 4 << 20  # bytes; rows that sit in a core's own cache are read as fast as their shadows
FEWEST_FEATURES = 16  # below, the head of a record weighs more than it saves
MISTAKE_RATE = 0.05  # each mistake costs the screen an update of its own
STORED_PASSES = {8: 2, 4: 4}  # passes to wait for, by bytes a value, where rows come as stored
SCATTERED_PASSES = 1  # … and where they do not: a waiting row is dearer than a waiting byte


class Screening:
    """Decides, pass by pass, whether the next one is screened and whether to take reference scores anew.

    Nobody knows how many passes are ahead; that as many again will follow as have been is the usual guess, and it
    makes the set-up cost at most about what not having set up would have cost. `wanted` forces the answer.
    """

    def __init__(self, rows: Rows, wanted: bool | None) -> None:
        self._wanted = wanted
        self._possible = not isinstance(rows, CSR)
        if not isinstance(rows, CSR):
            self._possible = (
                rows.shape[1] <= MAX_SCREENED_FEATURES and rows.itemsize > 1
            )  # bytes are as small as their shadows
            self._large = rows.nbytes > MIN_SHADOWED_BYTES and rows.shape[1] >= FEWEST_FEATURES
            self._patience = STORED_PASSES.get(rows.itemsize, 0)
        self._passes = 0
        self._debt = 0.0

    def pays(self, mistake_rate: float, scattered: bool) -> bool:
        """Say whether to screen the next pass, given how the last one went."""
        if not self._possible or self._wanted is not None:
            return self._possible and bool(self._wanted)
        patience = SCATTERED_PASSES if scattered else self._patience
        return self._large and self._passes >= patience and mistake_rate < MISTAKE_RATE

    def passed(self, share_read: float) -> None:
        """Take note of a pass, and of the share of its rows that had to be read."""
        self._passes += 1
        self._debt += share_read

    def should_anchor(self) -> bool:
        """Say whether rows read in vain since the last time amount to the one reading it takes."""
        if self._debt < 1.0:
            return False
        self._debt = 0.0
        return True


# Rows held out for validation.


def hold_out(codes: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """Draw rows to hold out: the given fraction of each class, at least one and not all."""
    held = []
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        if len(rows) < 2:
            raise InputError(
                "early_stopping=True needs at least two rows of each class, one to train and one to validate on; "
                "a class here has one. Add rows, or set early_stopping=False."
            )
        held.append(rows[: min(max(1, round(fraction * len(rows))), len(rows) - 1)])
    return np.sort(np.concatenate(held)).astype(np.int64)


def held_out_mask(held_out: Ints | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Return which rows are held out; None if none are."""
    if held_out is None:
        return None
    mask = np.zeros(n_rows, np.bool_)
    mask[held_out] = True
    return mask


def without(held_out: NDArray[np.bool_], visits: Visits) -> Visits:
    """Return the visits to rows that are not held out."""
    kept: Visits = visits[~held_out[visits]]
    if not len(kept):
        raise OrderError("order visits only rows held out for validation. Let it visit other rows too.")
    return kept


BLOCK_VALUES = 1 << 25  # values read between two looks at the clock and at Ctrl-C: a few hundredths of a second
BLOCK_MISTAKES = 1 << 16  # mistakes of a stretch that there is room for
GROUP_MISTAKES = 1 << 20  # the same where several threads wait for each other after each stretch
WORTH_THREADS = 1 << 24  # products in a pass for which several threads are started: about five milliseconds
WORTH_COPIES = 8  # products for each weight: threads train copies of the weights, made for each pass


class Visitor:
    """Visits rows that are in memory, and moves one state.

    The fit loop asks it for the visits of a pass and only counts them. Relatives of the perceptron change how rows
    are visited.

    Parameters
    ----------
    batch : Batch
        The rows, those held out included.
    plan : Plan
        How to train.
    state : State
        Changed in place.

    Attributes
    ----------
    data : Batch or Blocks
        All rows: their number, features and classes.
    batch : Batch
        The rows in memory.
    X : ndarray or CSR
        The same rows as the loops read them with the weights of the state; see `State.meet`.
    settled : bool
        Whether nothing is left to learn, though the pass may have visits left; the plain perceptron never knows.
    extra_values : int
        Values read so far in addition to the rows visited; the plain perceptron reads none.
    """

    settled = False
    extra_values = 0
    may_screen = True  # False in subclasses that train by another loop
    _shadow: screen.Shadow | None = None
    _mistake_rate = 1.0
    _groups: Groups | None = None  # of machines, while several threads train them

    def __init__(self, batch: Batch, plan: Plan, state: State) -> None:
        self.data: Any = batch
        self.plan, self.state = plan, state
        self.held_out = held_out_mask(plan.held_out, batch.n_rows)
        self._validation_batch = None if plan.held_out is None else batch.take(plan.held_out)
        self._log = Log.room(0, len(state.machines))
        self._rooms: dict[int, Log] = {}  # for the mistakes of each group of machines
        self._look_at(batch, self.held_out)
        plain = self.may_screen and isinstance(self.targets, Sides) and plan.penalty is None
        plain = plain and not state.moves_more
        self._screening = Screening(self.X, plan.screened if plain else False)

    def _look_at(self, batch: Batch, held_out: NDArray[np.bool_] | None) -> None:
        """Visit these rows from now on; rows held out count nothing."""
        plan = self.plan
        self.batch, self.weight = batch, row_weights(batch, plan.class_weight)
        if held_out is not None:
            self.weight = np.where(held_out, 0.0, self.weight)
        self.targets = plan.scheme.targets(batch.codes, self.weight, plan.zero)
        self.X = self.state.meet(batch.rows)
        self._mistakes_a_visit = self.targets.members.shape[1] if isinstance(self.targets, Machines) else 1
        self._block = self._visits_at_once(BLOCK_MISTAKES)

    def _visits_at_once(self, most_mistakes: int) -> int:
        values_a_row = max(1, self.batch.stored // self.batch.n_rows)
        return max(1, min(most_mistakes // self._mistakes_a_visit, BLOCK_VALUES // values_a_row))

    def renumber(self) -> None:
        """Renumber the columns of the rows in memory, after the state has changed."""
        self.X = self.state.meet(self.batch.rows)

    def visits(self, epoch: int) -> Any:
        """Return the rows to visit in a pass, without those held out; None if the order has come to its end."""
        visits = self.plan.order.visits(epoch)
        return visits if visits is None or self.held_out is None else without(self.held_out, visits)

    def visit(self, visits: Any, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass but for the first `made`; yield each stretch once it is made."""
        visits = visits[made:]
        if not len(visits):
            return
        shadow = self._shadow_for(visits)
        mistakes = read = 0
        with self._divided(len(visits)) as groups:
            size = self._block if groups is None else self._visits_at_once(GROUP_MISTAKES)
            for first in range(0, len(visits), size):
                block = visits[first : first + size]
                if groups is None:
                    log = self._log_for(len(block) * self._mistakes_a_visit)
                    k, made, looked = self._train(block, log, shadow)
                    log = log.part(slice(k))
                else:
                    log, made = groups.train(block)
                    k, looked = len(log.at), made
                read += looked
                if made < len(block):
                    require_finite(self.batch)
                    raise overflow_error(self.state.visits + made)
                mistakes += k
                self.state.visits += made
                yield Stretch(block, log, self.state.visits - made)
        self._mistake_rate = mistakes / len(visits)
        self._screening.passed(read / len(visits))

    @contextmanager
    def _divided(self, n_visits: int) -> Iterator[Groups | None]:
        """Divide the machines into groups for the visits of a pass, if several threads are allowed and pay."""
        parts, targets = self._groups_for(n_visits), self.targets
        if len(parts) < 2 or not isinstance(targets, Machines):
            yield None
            return
        try:
            with Groups(self.X, targets, self.state, self.plan, parts, self._rooms) as self._groups:
                yield self._groups
        finally:
            self._groups = None

    def _groups_for(self, n_visits: int) -> list[Ints]:
        """Return the machines that each thread trains; none if one thread trains them all."""
        if not self.may_screen or not isinstance(self.targets, Machines):
            return []
        if not all(memory.divides for memory in self.state.memory.values()):
            return []
        products = n_visits * (self.batch.stored // self.batch.n_rows) * self._mistakes_a_visit
        if products < max(WORTH_THREADS, WORTH_COPIES * self.state.w.size):
            return []
        scheme = self.plan.scheme
        n_groups = min(allowed(), scheme.n_machines // fewest(self.X))
        return scheme.divided(n_groups) if n_groups > 1 else []

    def gather(self) -> None:
        """Bring the state up to date within a pass: several threads train copies of it."""
        if self._groups is not None:
            self._groups.gather()

    def first(self, visits: Any) -> int:
        """Return the row visited first."""
        return int(visits[0])

    def begin_at(self, row: int) -> None:
        """Add a row to the start itself, as if each machine that learns from it had been wrong on it."""
        machines = self.plan.scheme.first_steps(int(self.batch.codes[row]), self.plan.zero)
        log = Log.room(len(machines), len(self.state.machines))
        log.step[:], log.machine[:] = np.sign(self.weight[row]), machines
        self._take_steps(row, log, len(machines))

    def covers(self, visits: Any) -> bool:
        """Whether every row that counts is visited."""
        seen = self.weight == 0.0
        seen[visits] = True
        return bool(seen.all())

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows of the stretch that was yielded last."""
        codes: Ints = self.batch.codes[rows]
        return codes

    def require_usable(self, visits: Any) -> None:
        """Require that some row has a weight, and that values are finite in rows that training will not meet."""
        if not row_weights(self.batch, self.plan.class_weight).any():
            raise WeightError("sample_weight times class_weight is zero for every row. Give some of them weight.")
        if len(visits) < self.data.n_rows or not self.covers(visits):
            require_finite(self.batch)

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield all rows with their weights, part by part; a part is valid until the next one is asked for."""
        yield self.batch, self.weight

    def validation_error(self, model: Model) -> float:
        """Return the share of rows held out whose class is predicted wrong."""
        assert self._validation_batch is not None, "rows are held out"
        return model.error(self._validation_batch)

    def _take_steps(self, row: int, log: Log, count: int) -> None:
        for k in range(count):
            passes.take_step(self.X, self.targets, row, log, k, self.plan.rule.beta, self.state.w)

    def _train(self, block: Visits, log: Log, shadow: screen.Shadow | None) -> tuple[int, int, int]:
        """Make the visits of a stretch; return the mistakes, the visits made and the rows read."""
        rule, state = self.plan.rule, self.state
        if shadow is None:
            k, made = make_visits(self.X, self.targets, state, self.plan, block, log)
            return k, made, made
        k, made, read = screen.train_screened(shadow, self._pull, block, rule, state.w, log)
        if state.u is not None:
            passes.defer(self.X, self.targets, block, log, k, rule.beta, state.u, state.averaged)
        return k, made, read

    @property
    def _pull(self) -> Floats:
        assert isinstance(self.targets, Sides), "only one machine is screened"
        return self.targets.pull

    def _shadow_for(self, visits: Visits) -> screen.Shadow | None:
        neighbours = np.diff(visits[:256]) == 1  # unsigned: a step back is a large one
        if not self._screening.pays(
            self._mistake_rate, scattered=2 * np.count_nonzero(neighbours) < neighbours.size
        ):
            return None
        if self._shadow is None:
            shadow = screen.empty_shadow(self.X)  # type: ignore[arg-type]
            screen.cast(shadow, self._pull, self.state.w)
            self._shadow = shadow
        elif self._screening.should_anchor():
            screen.anchor(self._shadow, self._pull, self.state.w)
        return self._shadow

    def _log_for(self, mistakes: int) -> Log:
        if len(self._log.at) < mistakes:
            self._log = Log.room(mistakes, len(self.state.machines))
        return self._log


def row_weights(batch: Batch, class_weight: Floats | None) -> Floats:
    """Return the weight of each row times that of its class."""
    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight.copy()
    return weight if class_weight is None else weight * class_weight[batch.codes]


@dataclass(frozen=True, eq=False)
class Tour:
    """The visits of a pass: its blocks in order, and how many rows are visited in each."""

    epoch: int
    blocks: Ints
    lengths: Ints

    def __len__(self) -> int:
        return int(self.lengths.sum())


class BlockVisitor(Visitor):
    """Visits blocks, of which one is in memory at a time while the next is read; the order is `Blockwise`."""

    def __init__(self, blocks: Blocks, plan: Plan, state: State) -> None:
        assert isinstance(plan.order, Blockwise), "blocks are visited one after the other"
        self.data: Blocks = blocks
        self._order = plan.order
        self.plan, self.state = plan, state
        self.held_out = held_out_mask(plan.held_out, blocks.n_rows)
        lengths = np.diff(blocks.boundaries)
        if self.held_out is not None:
            lengths = lengths - np.add.reduceat(self.held_out, blocks.boundaries[:-1], dtype=np.int64)
        self._lengths = lengths
        self._log = Log.room(0, len(state.machines))
        self._rooms = {}
        self._screening = Screening(np.empty((1, 1)), False)
        self._first = 0  # the row of all rows that the block in memory begins with

    def renumber(self) -> None:
        """Do nothing: each block is numbered when it is looked at."""

    def visits(self, epoch: int) -> Tour:
        """Return the visits of a pass."""
        blocks = self._order.blocks(epoch)
        return Tour(epoch, blocks, self._lengths[blocks])

    def visit(self, visits: Tour, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass but for the first `made`; yield each stretch once it is made."""
        ends = np.cumsum(visits.lengths)
        skipped = int(np.searchsorted(ends, made, side="right"))
        if skipped == len(ends):
            return
        made -= int(ends[skipped - 1]) if skipped else 0
        order = visits.blocks[skipped:]
        for k, batch in zip(order.tolist(), self.data.walk(order), strict=True):
            local = self._within(visits.epoch, k)[made:]
            made = 0
            if not len(local):
                continue
            self._look_at_block(k, batch)
            with _named_from(batch, self._first):
                for stretch in super().visit(local):
                    yield stretch._replace(visits=stretch.visits + np.uint64(self._first))

    def covers(self, visits: Tour) -> bool:
        """Whether every row that counts is visited: orders of blocks leave none out."""
        return True

    def first(self, visits: Tour) -> int:
        """Return the row visited first, in its block."""
        k = int(visits.blocks[np.argmax(visits.lengths > 0)])
        self._look_at_block(k, self.data.read(k))
        return int(self._within(visits.epoch, k)[0])

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows of the block in memory."""
        return super().codes_of(rows - np.uint64(self._first))

    def require_usable(self, visits: Tour) -> None:
        """Leave rows held out to validation, which meets them: looking now would be one more reading of all."""

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield the blocks with the weights of their rows."""
        for k, batch in self._all():
            self._look_at_block(k, batch)
            yield batch, self.weight

    def validation_error(self, model: Model) -> float:
        """Return the share of rows held out whose class is predicted wrong."""
        assert self.held_out is not None, "rows are held out"
        wrong = 0
        for k, batch in self._all():
            rows = self._part(self.held_out, k)
            if rows.any():
                held = batch.take(rows)
                with _named_from(batch, int(self.data.boundaries[k])):
                    wrong += int(np.count_nonzero(model.codes(held) != held.codes))
        return wrong / int(np.count_nonzero(self.held_out))

    def _look_at_block(self, k: int, batch: Batch) -> None:
        self._first = int(self.data.boundaries[k])
        self._look_at(batch, None if self.held_out is None else self._part(self.held_out, k))

    def _all(self) -> Iterator[tuple[int, Batch]]:
        return enumerate(self.data.walk(range(len(self._lengths))))

    def _within(self, epoch: int, k: int) -> Visits:
        visits = self._order.within(epoch, k)
        if self.held_out is None:
            return visits
        kept: Visits = visits[~self._part(self.held_out, k)[visits]]
        return kept

    def _part(self, column: NDArray[Any], k: int) -> NDArray[Any]:
        first, last = self.data.boundaries[k : k + 2]
        return column[first:last]


@contextmanager
def _named_from(batch: Batch, first: int) -> Iterator[None]:
    """Let errors name rows by their number among all rows."""
    try:
        yield
    except NonFiniteError:
        require_finite(batch, first=first)
        raise
