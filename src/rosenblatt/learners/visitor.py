"""Visits rows and corrects weights: in short stretches, by the fastest loop that gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.exceptions import WeightError
from rosenblatt.learners.groups import Groups, fewest, make_visits
from rosenblatt.learners.order import Visits
from rosenblatt.learners.plan import Model, Plan
from rosenblatt.learners.screening import Screening
from rosenblatt.learners.validation import held_out_mask, without
from rosenblatt.loops import passes, screen
from rosenblatt.loops.targets import Log, Machines, Sides
from rosenblatt.model.state import State, overflowed
from rosenblatt.threads import allowed
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats, Ints

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
                    raise overflowed(self.state.visits + made)
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
        if self.state.dual is not None:  # its machines share a unit
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
            passes.defer(self.X, self.targets, block, log, k, rule.beta, state.u, state.visits)
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
