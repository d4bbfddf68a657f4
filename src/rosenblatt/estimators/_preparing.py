"""From parameters and data to what a learner takes, and from its run to what an estimator then is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import listed
from rosenblatt.data.weights import class_weights
from rosenblatt.estimators import _settings as settings
from rosenblatt.estimators._parameters import generator
from rosenblatt.estimators._progress import progress_bar
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.learners.order import Order
from rosenblatt.learners.perceptron import row_weights
from rosenblatt.learners.plan import Plan, Run
from rosenblatt.learners.validation import hold_out
from rosenblatt.loops.passes import largest_square
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.typing import Floats, Ints


class Drawn(NamedTuple):
    """What a run drew at random, for the fit that goes on from it."""

    seed: int
    held_out: Ints | None
    passes: int = 0

    def going_on(self, before: Drawn, n_rows: int) -> Drawn:
        """Return what the run `before` had drawn: its orders, and the rows held out if they still exist."""
        if self.held_out is None or before.held_out is None or before.held_out[-1] >= n_rows:
            return before._replace(held_out=self.held_out)
        return before


class Before(NamedTuple):
    """The run that a fit goes on from: its state, and what it drew, if that is known."""

    state: State
    drawn: Drawn | None


class Prepared(NamedTuple):
    """All that a learner takes besides the data, and what was drawn for it."""

    weight: Floats
    plan: Plan
    start: State
    drawn: Drawn


class Problem(NamedTuple):
    """What has to be known of data to make a plan; what takes a reading of all rows is asked for only if needed.

    Attributes
    ----------
    n_rows, n_features : int
        Its size.
    classes : ndarray
        The labels.
    codes : callable
        Returns the class of each row.
    largest_square : callable
        Returns the largest ‖x‖² of a row.
    order : callable
        Returns the order of visits, from a seed and the number of passes made before.
    at_hand : bool
        Whether all rows are in memory.
    """

    n_rows: int
    n_features: int
    classes: NDArray[Any]
    codes: Callable[[], Ints]
    largest_square: Callable[[], float]
    order: Callable[[int, int], Order]
    at_hand: bool = True

    @classmethod
    def of(cls, p: Any, batch: Batch) -> Problem:
        """Return the problem that a batch poses to an estimator with parameters `p`."""
        return cls(
            batch.n_rows,
            batch.n_features,
            batch.classes,
            codes=lambda: batch.codes,
            largest_square=lambda: largest_square(batch.rows, batch.n_rows),
            order=lambda seed, made: settings.resolve_order(p, batch.n_rows, seed, made),
        )


@contextmanager
def prepared(
    p: Any, batch: Batch, coef_init: Any = None, intercept_init: Any = None, before: Before | None = None
) -> Iterator[Prepared]:
    """Turn parameters and data into what a learner takes; training goes on inside, under the progress bar.

    A start that is given, be it only its bias, stands in the place of `init`; so does the run `before`.
    """
    batch.require_classes()
    weight = row_weights(batch, class_weights(p.class_weight, batch.codes, batch.classes))
    with planned(p, Problem.of(p, batch), coef_init, intercept_init, before) as (plan, start, drawn):
        yield Prepared(weight, plan, start, drawn)


@contextmanager
def planned(
    p: Any,
    problem: Problem,
    coef_init: Any = None,
    intercept_init: Any = None,
    before: Before | None = None,
    redrawn: Drawn | None = None,
) -> Iterator[tuple[Plan, State, Drawn]]:
    """Turn parameters and what is known of data into a plan, a start and what was drawn at random.

    What an interrupted run had drawn stands in the place of all that would be `redrawn`, but for the start.
    """
    scheme = Scheme.of(p.multiclass, len(problem.classes))
    rng = generator(p.random_state)
    shape = scheme.shape(problem.n_features)
    given = coef_init is not None or intercept_init is not None
    if before is not None:
        start = before.state
    elif given:
        start = settings.given_start(p, shape, coef_init, intercept_init)
    else:
        start = settings.start_from(p, shape, rng)
    if redrawn is None:
        held_out = hold_out(problem.codes(), p.validation_fraction, rng) if p.early_stopping else None
        drawn = Drawn(int(rng.integers(2**64, dtype=np.uint64)), held_out)
    else:
        drawn = redrawn
    if before is not None and before.drawn is not None:
        drawn = drawn.going_on(before.drawn, problem.n_rows)
    rule, radius = settings.make_rule(p, problem.largest_square)
    with progress_bar(p.max_iter) if p.verbose else nullcontext() as show:
        plan = Plan(
            rule=rule,
            order=problem.order(drawn.seed, drawn.passes),
            scheme=scheme,
            penalty=None if p.penalty is None else settings.make_penalty(p),
            zero=p.zero,
            radius=radius,
            start_at_first=p.init == "first" and before is None and not given,
            max_iter=p.max_iter,
            max_time=p.max_time,
            tol=p.tol,
            patience=p.n_iter_no_change,
            held_out=drawn.held_out,
            trace=settings.detail(p, stream=not problem.at_hand),
            callbacks=[*([show] if show else []), *(p.callbacks or ())],
        )
        yield plan, start, drawn


class Described(Protocol):
    """What an estimator keeps of the data it was trained on."""

    @property
    def n_features(self) -> int: ...
    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def counts(self) -> Ints: ...


def require_same_problem(p: Any, batch: Described, scheme: Scheme) -> None:
    """Require data with the features and classes of the run that a warm start goes on from, by the same scheme."""
    if batch.n_features != p.n_features_in_:
        raise ShapeError(
            f"X has {batch.n_features} features, but warm_start=True goes on from {p.n_features_in_}. "
            "Pass the same features, or set warm_start=False."
        )
    if Scheme.of(p.multiclass, len(p.classes_)) != scheme:
        raise ParameterError(
            f"multiclass={p.multiclass!r} cannot go on from {scheme.kind!r}. Set warm_start=False."
        )
    if not np.array_equal(batch.classes, p.classes_):
        raise LabelError(
            f"y has the classes {listed(batch.classes)}, but warm_start=True goes on from "
            f"{listed(p.classes_)}. Pass the same classes, or set warm_start=False."
        )


def published(p: Any, run: Run, batch: Described) -> dict[str, Any]:
    """Return what an estimator with parameters `p` is after a run, but for what is its own.

    It is to be taken over all at once, so that Ctrl-C cannot leave half of it.
    """
    return {
        "n_iter_": len(run.mistakes_per_pass),
        "converged_": run.converged,
        "stop_reason_": run.stop_reason,
        "curve_": run.curve,
        "_state": run.state,
        "_scheme": run.trace.scheme,
        "_width": batch.n_features,
        "_classes": batch.classes,
        "_zero": p.zero,
        "_names": batch.names,
        "_class_counts": dict(zip(batch.classes.tolist(), batch.counts.tolist(), strict=True)),
        "_fit_counts": run.mistakes_per_pass,
        "_trace": run.trace,
        "_traced": p.trace is not None,
        "_untraced": None,
        "_sparse_coef": False,
    }
