"""What the perceptron's relatives share with it: its parameters, its plan, and the record of its run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.weights import class_weights
from rosenblatt.estimators import _settings as settings
from rosenblatt.estimators._linear import VisitingClassifier
from rosenblatt.estimators._parameters import generator
from rosenblatt.estimators._progress import progress_bar
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.learners.perceptron import Plan, Run, row_weights
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Floats, Ints


class Prepared(NamedTuple):
    """All that a learner takes."""

    batch: Batch
    weight: Floats
    plan: Plan
    start: State


def parameters(estimator: Any) -> SimpleNamespace:
    """Return the parameters of a perceptron: the estimator's, and the defaults of those it does not have."""
    return SimpleNamespace(**Perceptron().get_params() | estimator.get_params(deep=False))


@contextmanager
def prepared(p: Any, batch: Batch, coef_init: Any = None, intercept_init: Any = None) -> Iterator[Prepared]:
    """Turn parameters and data into what a learner takes; training goes on inside, under the progress bar."""
    batch.require_classes()
    scheme = Scheme.of(p.multiclass, len(batch.classes))
    weight = row_weights(batch, class_weights(p.class_weight, batch.codes, batch.classes))
    rng = generator(p.random_state)
    shape = scheme.shape(batch.n_features)
    given = coef_init is not None or intercept_init is not None
    if given:
        start = settings.given_start(p, shape, coef_init, intercept_init)
    else:
        start = settings.start_from(p, shape, rng)
    seed = int(rng.integers(2**64, dtype=np.uint64))
    rule, radius = settings.make_rule(p, batch)
    with progress_bar(p.max_iter) if p.verbose else nullcontext() as show:
        plan = Plan(
            rule=rule,
            order=settings.resolve_order(p, batch.n_rows, seed, 0),
            scheme=scheme,
            zero=p.zero,
            radius=radius,
            start_at_first=p.init == "first" and not given,
            max_iter=p.max_iter,
            max_time=p.max_time,
            tol=p.tol,
            patience=p.n_iter_no_change,
            trace=settings.detail(p, stream=False),
            callbacks=[*([show] if show else []), *(p.callbacks or ())],
        )
        yield Prepared(batch, weight, plan, start)


def published(run: Run, batch: Batch, zero: int) -> dict[str, Any]:
    """Return what an estimator is after a run, but for the hypothesis that it predicts by."""
    return {
        "n_iter_": len(run.mistakes_per_pass),
        "mistakes_per_pass_": np.array(run.mistakes_per_pass, np.int64),
        "n_mistakes_": sum(run.mistakes_per_pass),
        "converged_": run.converged,
        "stop_reason_": run.stop_reason,
        "curve_": run.curve,
        "_trace": run.trace,
        "_scheme": run.trace.scheme,
        "_width": batch.n_features,
        "_classes": batch.classes,
        "_zero": zero,
        "_names": batch.names,
    }


class Recorded(VisitingClassifier):
    """A classifier trained by one run."""

    n_mistakes_: int
    mistakes_per_pass_: Ints
    trace: Any
    _trace: Trace

    @property
    def trace_(self) -> Trace:
        """The record of the run."""
        self._require_fitted("trace_")
        if self.trace is None:
            raise AttributeError("This run kept no trace, as trace=None asks for.")
        return self._trace
