"""What estimators share that train a network: parameters, data, a run, and what is left of it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, as_rows, require_finite
from rosenblatt.data.labels import as_labels, encode_labels, listed
from rosenblatt.data.measurements import as_measurements
from rosenblatt.data.weights import as_weight, class_weights
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._parameters import (
    check_callbacks,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_verbose,
    generator,
)
from rosenblatt.estimators._preparing import Drawn
from rosenblatt.estimators._progress import progress_bar
from rosenblatt.estimators._tables import ReadsTables
from rosenblatt.exceptions import InputError, LabelError, ParameterError, ShapeError
from rosenblatt.learners.network import fit
from rosenblatt.learners.network_plan import (
    Examples,
    NetworkPlan,
    NetworkReport,
    NetworkRun,
    NetworkState,
    begin,
)
from rosenblatt.learners.order import make_order
from rosenblatt.learners.perceptron import row_weights
from rosenblatt.learners.validation import hold_out
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.steps import Adam, Momentum
from rosenblatt.model.network import Layer, Network
from rosenblatt.model.outputs import Coding, Cost, CrossEntropy, SquaredError
from rosenblatt.typing import Floats

TASKS = ("classification", "regression")
LOSSES = ("squared_error", "cross_entropy")
LIMITS = {"max_iter": "passes", "max_time": "seconds"}
SOLVERS = ("adam", "sgd")
BATCH = 200
LEAST_PASSES, LEAST_STEPS = 10, 300
"""To wait for the loss to fall: a pass over few rows is one step, and tells little."""


def check_training(p: Any) -> None:
    """Require every parameter of training to be usable; nothing has been done by then."""
    check_choice("task", p.task, TASKS)
    check_choice("loss", p.loss, LOSSES)
    check_choice("solver", p.solver, SOLVERS)
    if p.task == "regression" and p.loss == "cross_entropy":
        raise ParameterError("loss='cross_entropy' is for classes; task='regression' needs loss='squared_error'.")
    for name in ("nesterovs_momentum", "early_stopping", "warm_start"):
        check_flag(name, getattr(p, name))
    check_count("max_iter", p.max_iter)
    if p.n_iter_no_change is not None:
        check_count("n_iter_no_change", p.n_iter_no_change)
    if p.batch_size != "auto":
        check_count("batch_size", p.batch_size)
    check_number("eta0", p.eta0, above=0)
    check_number("alpha", p.alpha, least=0)
    for name in ("momentum", "beta_1", "beta_2"):
        check_number(name, getattr(p, name), least=0, below=1)
    check_number("epsilon", p.epsilon, above=0)
    check_number("validation_fraction", p.validation_fraction, above=0, below=1)
    if p.tol is not None:
        check_number("tol", p.tol, least=0, below=1)
    if p.max_time is not None:
        check_number("max_time", p.max_time, above=0)
    check_verbose(p.verbose)
    check_callbacks(p.callbacks, "NetworkReport")
    if p.task == "regression" and p.class_weight is not None:
        raise ParameterError("class_weight is for classes, but task='regression' has none. Use sample_weight.")


class Problem(NamedTuple):
    """Data as a network is told of it.

    Attributes
    ----------
    features : Features
        The rows, as they came.
    targets : ndarray of float64, shape (n_rows, n_outputs)
        What the outputs should be.
    weight : ndarray of float64 or None
        Of each row's loss.
    codes, coding, classes
        Of a classification, else None.
    flat : bool
        Whether y had one dimension.
    """

    features: Features
    targets: Floats
    weight: Floats | None
    codes: NDArray[np.int64] | None = None
    coding: Coding | None = None
    classes: NDArray[Any] | None = None
    flat: bool = True

    def examples(self, dtype: Any) -> Examples:
        """Return what a learner takes, in the precision of its parameters."""
        with np.errstate(over="ignore"):  # what float32 cannot hold is found by the loss
            weight = None if self.weight is None else self.weight.astype(dtype)
            targets = self.targets.astype(dtype)
            return Examples(_in_precision(self.features, dtype), targets, weight, self.codes, self.coding)


def _in_precision(features: Features, dtype: Any) -> Features:
    if features.values.dtype == dtype:
        return features
    X = features.rows
    rows: Any = CSR(X.data.astype(dtype), X.indices, X.indptr) if isinstance(X, CSR) else X.astype(dtype)
    return Features(rows, features.n_rows, features.n_features, features.names)


def read_problem(p: Any, X: Any, y: Any, sample_weight: Any, coding: Any, classes: Any = None) -> Problem:
    """Check data, and tell a network of it; `coding` makes a Coding for a number of classes.

    `classes` are those known before, which y need not all name.
    """
    features = as_rows(X)
    require_finite(features)  # a neuron that saturates would not notice
    weight = as_weight(sample_weight, features.n_rows)
    if p.task == "regression":
        values = as_measurements(y, features.n_rows)
        return Problem(features, values.reshape(len(values), -1), weight, flat=values.ndim == 1)
    warn_of_column(y)
    if classes is None:
        codes, classes = as_labels(y, features.n_rows)
    else:
        codes = encode_labels(y, classes, features.n_rows)
    known = (features.rows, features.n_rows, features.n_features, features.names)
    batch = Batch(*known, codes=codes, classes=classes, weight=weight)
    batch.require_classes()
    per_class = class_weights(p.class_weight, codes, classes)
    if weight is not None or per_class is not None:
        weight = row_weights(batch, per_class)
    code: Coding = coding(len(classes))
    return Problem(features, code.targets(codes, np.float64), weight, codes, code, classes)


def cost_of(p: Any) -> Cost:
    """Return the loss that the parameters name."""
    return CrossEntropy() if p.loss == "cross_entropy" else SquaredError()


def rule_of(p: Any) -> Momentum | Adam:
    """Return the steps that the parameters name."""
    eta = float(p.eta0)
    if p.solver == "sgd":
        return Momentum(eta, float(p.momentum), bool(p.nesterovs_momentum))
    return Adam(eta, float(p.beta_1), float(p.beta_2), float(p.epsilon))


class Trained(NamedTuple):
    """A run, and what it drew."""

    run: NetworkRun
    drawn: Drawn


def train(
    p: Any,
    problem: Problem,
    layers: tuple[Layer, ...],
    draw: Callable[[np.random.Generator], Floats],
    before: tuple[NetworkState, Drawn | None] | None = None,
) -> Trained:
    """Train a network from parameters that `draw` draws, or go on from the state and draws of a run `before`."""
    rng = generator(p.random_state)
    rule = rule_of(p)
    if before is None:
        start = begin(draw(rng).astype(problem.features.values.dtype), rule)
    else:
        start = before[0].for_rule(rule)
    held_out = _held_out(p, problem, rng) if p.early_stopping else None
    drawn = Drawn(int(rng.integers(2**64, dtype=np.uint64)), held_out)
    if before is not None and before[1] is not None:
        drawn = drawn.going_on(before[1], problem.features.n_rows)
    bar = progress_bar(p.max_iter, type(p).__name__, _told) if p.verbose else nullcontext()
    with bar as show:
        plan = plan_of(
            p,
            layers,
            n_rows=problem.features.n_rows,
            order=make_order(p.order, problem.features.n_rows, drawn.seed, drawn.passes),
            held_out=drawn.held_out,
            callbacks=[*([show] if show else []), *(p.callbacks or ())],
        )
        run = fit(problem.examples(start.theta.dtype), plan, start)
    return Trained(run, drawn._replace(passes=drawn.passes + len(run.losses)))


def plan_of(p: Any, layers: tuple[Layer, ...], n_rows: int, **given: Any) -> NetworkPlan:
    """Return the plan that the parameters describe."""
    batch_size = BATCH if p.batch_size == "auto" else int(p.batch_size)
    steps = -(-n_rows // batch_size)  # of a pass
    return NetworkPlan(
        layers=layers,
        cost=cost_of(p),
        rule=rule_of(p),
        alpha=float(p.alpha),
        batch_size=batch_size,
        max_iter=p.max_iter,
        max_time=p.max_time,
        tol=None if p.tol is None else float(p.tol),
        patience=p.n_iter_no_change or max(LEAST_PASSES, -(-LEAST_STEPS // steps)),
        **given,
    )


def _held_out(p: Any, problem: Problem, rng: np.random.Generator) -> NDArray[np.int64]:
    if problem.codes is not None:
        return hold_out(problem.codes, p.validation_fraction, rng)
    n_rows = problem.features.n_rows
    if n_rows < 2:
        raise InputError(
            "early_stopping=True needs at least two rows, one to train and one to validate on. Add rows, or set "
            "early_stopping=False."
        )
    return hold_out(np.zeros(n_rows, np.int64), p.validation_fraction, rng)


def _told(report: NetworkReport) -> str:
    return f"loss {report.loss:.4g}"


def published(p: Any, problem: Problem, layers: tuple[Layer, ...], trained: Trained) -> dict[str, Any]:
    """Return what an estimator is after a run, to be taken over all at once."""
    run = replace(trained.run, interruption=None)  # which would keep every frame alive it came through
    return {
        "n_iter_": len(run.losses),
        "stop_reason_": run.stop_reason,
        "converged_": run.stop_reason in ("tol", "plateau"),
        "loss_curve_": np.array(run.losses),
        "_run": run,
        "_state": run.state,
        "_layers": layers,
        "_loss": p.loss,
        "_drawn": trained.drawn,
        "_classes": problem.classes,
        "_coding": problem.coding,
        "_flat": problem.flat,
        "_width": problem.features.n_features,
        "_names": problem.features.names,
    }


def say_how_it_ended(p: Any, run: NetworkRun) -> None:
    """Warn where a run ended on a limit."""
    last = f"The loss of the last pass is {run.losses[-1]:.4g}." if run.losses else "No pass was completed."
    if p.verbose:
        print(f"Ended by {run.stop_reason!r} after {len(run.losses):,} passes. {last}", file=sys.stderr)
    if run.stop_reason in LIMITS:
        limit = getattr(p, run.stop_reason)
        made = f"{run.stop_reason}={limit} {LIMITS[run.stop_reason]}"
        if run.stop_reason == "max_iter" and len(run.losses) < p.max_iter:
            made = f"the {len(run.losses)} listed passes"
        warnings.warn(
            f"Training ended after {made} while the loss was still falling. {last} Allow more, or a larger tol.",
            ConvergenceWarning,
            stacklevel=4,
        )


class NetworkEstimator(ReadsTables, BaseEstimator):  # type: ignore[misc]
    """An estimator with a network in it."""

    warm_start: bool
    loss_curve_: Floats
    _state: NetworkState
    _layers: tuple[Layer, ...]
    _run: NetworkRun
    _classes: NDArray[Any] | None

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _network(self, attribute: str | None = None) -> Network:
        self._require_fitted(attribute)
        return Network(self._layers, self._state.theta)

    def _before(self, problem: Problem, layers: tuple[Layer, ...]) -> tuple[NetworkState, Drawn | None] | None:
        """Return state and draws of the last run, if this fit is to continue it."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        if problem.features.n_features != self._width:
            raise ShapeError(
                f"X has {problem.features.n_features} features, but warm_start=True goes on from {self._width}. "
                "Pass the same features, or set warm_start=False."
            )
        known = self._classes
        if problem.classes is not None and known is not None and problem.classes.tolist() != known.tolist():
            raise LabelError(
                f"y has the classes {listed(problem.classes)}, but warm_start=True goes on from "
                f"{listed(known)}. Pass the same classes, or set warm_start=False."
            )
        self._require_same_layers(layers, "warm_start=True")
        return self._state, self.__dict__.get("_drawn")

    def _require_same_layers(self, layers: tuple[Layer, ...], who: str) -> None:
        if layers != self._layers:
            raise ParameterError(
                f"{who} goes on from layers of {_shape(self._layers)} neurons, but parameters and data ask for "
                f"{_shape(layers)}, or for other activations. Keep them, or use a new estimator."
            )


def _shape(layers: tuple[Layer, ...]) -> str:
    return "-".join(str(n) for n in (layers[0].n_inputs, *(layer.n_neurons for layer in layers)))
