"""Fits of `Perceptron` and `MultilabelPerceptron` on a GPU: an engine makes whole passes and counts mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.exceptions import DeviceError
from rosenblatt.learning.fit_loop import PerceptronFit
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.one_vector import Part, VectorFit, VectorPlan, VectorRun
from rosenblatt.learning.plan import PerceptronRun, Plan
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Recorder, Stretch
from rosenblatt.learning.visitor import Visitor
from rosenblatt.loops.layout import Log
from rosenblatt.loops.rules import Rule
from rosenblatt.probes import engine as engines
from rosenblatt.probes.devices import with_engine
from rosenblatt.probes.engine import KINDS, ON_CPU, Engine, Matrix, Problems, Signs, States, Visits
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.blocks import Blocks
from rosenblatt.typing import Floats


def _refuse(*refusals: tuple[object, str]) -> None:
    """Raise an error for the first thing that is asked for and that no GPU does."""
    for asked, what in refusals:
        if asked:
            raise DeviceError(f"A GPU trains no {what}. Use " + ON_CPU + ".")


class _Machines:
    """The hyperplanes of a state, while an engine trains them."""

    def __init__(self, engine: Engine, X: Any, signs: Signs, weight: Floats, rule: Any, state: State) -> None:
        _refuse(
            (not isinstance(X, np.ndarray) or X.dtype.name not in KINDS, "sparse rows"),
            (type(rule) is not Rule, "uneven margins and no rule but the perceptron's"),
            ({getattr(rule, "tie_plus", 0.0), getattr(rule, "tie_minus", 0.0)} - {0.0, 1.0}, "half steps on ties"),
            (state.averaging is not None, "averages that begin later than with the first visit"),
        )
        matrix = Matrix((np.ascontiguousarray(X),), X.dtype.name)
        weights = None if (weight == 1.0).all() else np.ascontiguousarray(weight, np.float64)
        problems = Problems(signs, np.arange(signs.shape[1]), weight=weights)
        u = None if state.u is None else np.atleast_2d(state.u)
        begin = States(state.machines, u, np.full(signs.shape[1], state.visits, np.int64))
        engine.start(matrix, problems, engines.Plan(rule, state.u is not None), begin)
        self._engine, self._all, self._rows = engine, np.arange(signs.shape[1]), len(signs)

    def visit(self, order: Visits, state: State) -> Stretch:
        """Make a pass, and write the hyperplanes to the state; the stretch only counts mistakes."""
        _refuse((len(order) != self._rows, "orders that visit a row twice in a pass"))
        count = int(self._engine.train_pass(self._all, order).sum())
        found = self._engine.states()
        state.machines[:] = found.w
        if state.u is not None and found.u is not None:
            np.atleast_2d(state.u)[:] = found.u
        state.visits += len(order)
        zeros, unknown = np.broadcast_to(np.int64(0), count), np.broadcast_to(np.nan, count)
        log = Log(zeros, unknown, unknown, np.broadcast_to(np.int32(0), count), np.empty((0, 0)))
        return Stretch(order, log, state.visits - len(order))


def _room(n_rows: int, n_machines: int) -> Signs:
    require_memory("The sides of all rows", n_rows * n_machines, "Use " + ON_CPU + ".")
    return np.full((n_rows, n_machines), -1, np.int8)


# Sets of labels


class _SetsFit(VectorFit):
    """A fit whose visits an engine makes."""

    def __init__(self, plan: VectorPlan, start: State, engine: Engine) -> None:
        super().__init__(plan, start)
        self.recorder = Recorder("counts")
        self._engine = engine
        self._machines: _Machines | None = None

    def _visit(self, part: Part) -> Iterator[tuple[Stretch, float]]:
        state, targets, X = self.state, part.targets, part.features.rows
        if self._machines is None:
            _refuse((not isinstance(X, np.ndarray), "sparse rows"))
            state.meet(X)
            signs = _room(part.features.n_rows, len(targets.machines))
            signs[np.repeat(np.arange(len(signs)), np.diff(targets.indptr)), targets.labels] = 1
            self._machines = _Machines(self._engine, X, signs, targets.weight, self.plan.rule, state)
        stretch = self._machines.visit(part.order, state)
        if not np.isfinite(state.hypothesis()).all():
            raise overflow_error(state.visits)
        yield stretch, float(len(stretch.log.at))


def fit_sets(
    device: str, plan: VectorPlan, start: State, keeper: object, otherwise: Callable[[], VectorRun]
) -> VectorRun:
    """Train a hyperplane for each label; `otherwise` trains them on the CPU."""

    def train(engine: Engine) -> VectorRun:
        _refuse((keeper is not None, "runs with a checkpoint"))
        return _SetsFit(plan, start, engine).run()

    return with_engine(device, train, otherwise)


# Classes


class _EngineVisitor(Visitor):
    """Visits rows by an engine, a pass at a time."""

    def __init__(self, batch: Batch, plan: Plan, state: State, engine: Engine) -> None:
        super().__init__(batch, plan, state)
        self._engine = engine
        self._machines: _Machines | None = None

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make a pass."""
        if self._machines is None:  # here the start may have moved to the first row
            signs = sides(self.plan.scheme)[:, self.batch.codes].T
            rule = self.plan.rule
            self._machines = _Machines(
                self._engine, self.X, np.ascontiguousarray(signs), self.weight, rule, self.state
            )
        yield self._machines.visit(visits, self.state)


def sides(scheme: Scheme) -> Signs:
    """Return the side of each class for each hyperplane, one row for each hyperplane.

    Examples
    --------
    >>> sides(Scheme.of("ovr", 3)).tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """
    if scheme.kind == "binary":
        return np.array([[-1, 1]], np.int8)
    return np.array([scheme.sides(m) for m in range(scheme.n_machines)], np.int8)


def fit_machines(
    device: str, blocks: Blocks, plan: Plan, start: State, keeper: object, otherwise: Callable[[], PerceptronRun]
) -> PerceptronRun:
    """Train hyperplanes of classes; `otherwise` trains them on the CPU."""

    def train(engine: Engine) -> PerceptronRun:
        whole, named = blocks.whole, plan.trace == "mistakes" and plan.most_mistakes is None
        _refuse(
            (whole is None, "rows that are not in memory"),
            (plan.scheme.kind == "direct", "classes that are compared directly (multiclass='direct')"),
            (keeper is not None, "runs with a checkpoint"),
            (plan.penalty is not None, "weights under a penalty"),
            (plan.prove is not None, "runs with stop_on_cycle=True"),
            (plan.tol is not None, "runs that end by tol"),
            (plan.held_out is not None, "runs with early_stopping=True"),
            (not plan.order.complete, "orders but 'shuffle' and 'cyclic'"),
            (named, "runs with trace='mistakes'"),
        )
        assert whole is not None, "it was refused"
        _refuse((not isinstance(whole.rows, np.ndarray), "sparse rows"))
        require_memory("The sides of all rows", whole.n_rows * plan.scheme.n_machines, "Use " + ON_CPU + ".")
        counted = replace(plan, trace=plan.trace and "counts", most_mistakes=None)
        return PerceptronFit(_EngineVisitor(whole, counted, start.copy(), engine), start).run()

    return with_engine(device, train, otherwise)
