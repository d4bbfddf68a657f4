"""From parameters and data to what a learner takes, and from its run to what an estimator then is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import listed
from rosenblatt.data.weights import class_weights
from rosenblatt.estimators import _settings as settings
from rosenblatt.estimators._parameters import generator
from rosenblatt.estimators._progress import progress_bar
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.learners.perceptron import row_weights
from rosenblatt.learners.plan import Plan, Run
from rosenblatt.learners.validation import hold_out
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


@contextmanager
def prepared(
    p: Any, batch: Batch, coef_init: Any = None, intercept_init: Any = None, before: Before | None = None
) -> Iterator[Prepared]:
    """Turn parameters and data into what a learner takes; training goes on inside, under the progress bar.

    A start that is given, be it only its bias, stands in the place of `init`; so does the run `before`.
    """
    batch.require_classes()
    scheme = Scheme.of(p.multiclass, len(batch.classes))
    weight = row_weights(batch, class_weights(p.class_weight, batch.codes, batch.classes))
    rng = generator(p.random_state)
    shape = scheme.shape(batch.n_features)
    given = coef_init is not None or intercept_init is not None
    if before is not None:
        start = before.state
    elif given:
        start = settings.given_start(p, shape, coef_init, intercept_init)
    else:
        start = settings.start_from(p, shape, rng)
    held_out = hold_out(batch.codes, p.validation_fraction, rng) if p.early_stopping else None
    drawn = Drawn(int(rng.integers(2**64, dtype=np.uint64)), held_out)
    if before is not None and before.drawn is not None:
        drawn = drawn.going_on(before.drawn, batch.n_rows)
    rule, radius = settings.make_rule(p, batch)
    with progress_bar(p.max_iter) if p.verbose else nullcontext() as show:
        plan = Plan(
            rule=rule,
            order=settings.resolve_order(p, batch.n_rows, drawn.seed, drawn.passes),
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
            trace=settings.detail(p, stream=False),
            callbacks=[*([show] if show else []), *(p.callbacks or ())],
        )
        yield Prepared(weight, plan, start, drawn)


def require_same_problem(p: Any, batch: Batch, scheme: Scheme) -> None:
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


def published(p: Any, run: Run, batch: Batch) -> dict[str, Any]:
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
        "_class_counts": dict(zip(batch.classes.tolist(), np.bincount(batch.codes).tolist(), strict=True)),
        "_fit_counts": run.mistakes_per_pass,
        "_trace": run.trace,
        "_traced": p.trace is not None,
        "_untraced": None,
        "_sparse_coef": False,
    }
