"""What the estimators with a network share: parameters, data, training, and attributes afterwards."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.estimators._features import ReadsTables, also_scale
from rosenblatt.estimators._fitting import Before, Drawn, draw, generator, progress_bar, require_same_data
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.exceptions import Given, InputError, ParameterError, Remedy, WeightError
from rosenblatt.learning.trace import Curve
from rosenblatt.learning.visitor import row_weights
from rosenblatt.loops.order import make_order
from rosenblatt.margins.matrix import scaled_rows
from rosenblatt.networks.backpropagation import Adam, Momentum
from rosenblatt.networks.layers import Coding, CrossEntropy, Layer, Network, SquaredError
from rosenblatt.networks.network_fit import (
    Examples,
    NetworkCallback,
    NetworkFit,
    NetworkPlan,
    NetworkReport,
    NetworkRun,
    NetworkState,
    begin,
)
from rosenblatt.parameters import (
    Declared,
    PerceptronParameters,
    check_callbacks,
    check_count,
    learned,
    like,
    param,
)
from rosenblatt.rows.batch import Batch, as_weight, class_weights
from rosenblatt.rows.features import Features, as_rows, read_only, require_finite
from rosenblatt.rows.labels import as_labels, as_measurements, encode_labels
from rosenblatt.rows.memory import format_bytes
from rosenblatt.typing import Floats, Ints, MatrixLike

DEFAULT_BATCH_ROWS = 200
LARGE_WEIGHT_COUNT = 10**7  # weights, which a step changes in hundredths of a second
WEIGHTS_A_VALUE = 10  # times more weights than values: most of them are never told from their start
LEAST_PASSES, LEAST_STEPS = 10, 300
"""To wait for the loss to fall: a pass over few rows is a single step."""

# Inputs of a larger root mean square are divided in training: they would saturate every neuron
LARGE_ROOT_MEAN_SQUARE = 16.0
WANTED_ROOT_MEAN_SQUARE = 0.5  # by the power of two that brings it to at most this


def read_examples(
    p: Any,
    X: MatrixLike,
    y: Any,
    sample_weight: ArrayLike | None,
    coding: Any,
    classes: Any = None,
) -> Examples:
    """Check data and return examples in their own precision; `coding` makes a Coding for a number of classes.

    `classes` are those known before, which y need not all name.
    """
    features = as_rows(X)
    require_finite(features)  # a neuron that saturates would not notice
    weight = as_weight(sample_weight, features.n_rows)
    if p.task == "regression":
        values = as_measurements(y, features.n_rows)
        return Examples(features, values.reshape(len(values), -1), weight, flat=values.ndim == 1)
    warn_of_column(y)
    if classes is None:
        codes, classes = as_labels(y, features.n_rows, features.n_features)
    else:
        codes = encode_labels(y, classes, features.n_rows)
    known = (features.rows, features.n_rows, features.n_features, features.names)
    batch = Batch(*known, codes=codes, classes=classes, weight=weight)
    batch.require_classes()
    per_class = class_weights(p.class_weight, codes, classes)
    if weight is not None or per_class is not None:
        weight = row_weights(batch, per_class)
        if not weight.any():
            raise WeightError("sample_weight times class_weight is zero for every row. Give some of them weight.")
    code: Coding = coding(len(classes))
    return Examples(features, code.targets(codes, np.float64), weight, codes, code, classes)


def rule_of(p: Any) -> Momentum | Adam:
    """Return the steps that the parameters name."""
    eta = float(p.eta0)
    if p.solver == "sgd":
        return Momentum(eta, float(p.momentum), bool(p.nesterovs_momentum))
    return Adam(eta, float(p.beta_1), float(p.beta_2), float(p.epsilon))


def plan_of(p: Any, layers: tuple[Layer, ...], n_rows: int, **given: Any) -> NetworkPlan:
    """Return the plan that the parameters describe."""
    batch_size = DEFAULT_BATCH_ROWS if p.batch_size == "auto" else int(p.batch_size)
    steps = -(-n_rows // batch_size)  # of a pass
    return NetworkPlan(
        layers=layers,
        cost=CrossEntropy() if p.loss == "cross_entropy" else SquaredError(),
        rule=rule_of(p),
        alpha=float(p.alpha),
        batch_size=batch_size,
        max_iter=p.max_iter,
        max_time=p.max_time,
        tol=None if p.tol is None else float(p.tol),
        patience=p.n_iter_no_change or max(LEAST_PASSES, -(-LEAST_STEPS // steps)),
        **given,
    )


def _codes(examples: Examples) -> Ints:
    """Return the classes that rows are held out of; the rows of a regression are all of one."""
    if examples.codes is not None:
        return examples.codes
    n_rows = examples.features.n_rows
    if n_rows < 2:
        raise InputError(
            "early_stopping=True needs at least two rows, one to train and one to validate on. Add rows, or set "
            "early_stopping=False."
        )
    return np.zeros(n_rows, np.int64)


def _check_batch(name: str, value: object) -> None:
    if value != "auto":
        check_count(name, value)


class NetworkEstimator(Declared, ReadsTables, BaseEstimator):  # type: ignore[misc]
    """An estimator with a network in it."""

    solver: str = param(
        "adam",
        "The steps: by running means of the gradient and its square, or along the gradient with momentum.",
        one_of=("adam", "sgd"),
    )
    eta0: float = param(0.005, "The learning rate η.", above=0)
    momentum: float = param(0.9, 'The share of the last step that "sgd" repeats.', least=0, below=1)
    nesterovs_momentum: bool = param(
        True, 'Whether "sgd" takes the gradient after that part of the step (Nesterov).'
    )
    beta_1: float = param(0.9, 'How slowly the mean of the gradient changes in "adam".', least=0, below=1)
    beta_2: float = param(0.999, 'How slowly the mean of its square changes in "adam".', least=0, below=1)
    epsilon: float = param(1e-8, 'What "adam" adds to the root of the mean square.', above=0)
    alpha: float = param(0.0001, "The weight decay.", least=0)
    batch_size: Any = param(
        "auto",
        'Rows a step; "auto" is 200, or all rows if there are fewer.',
        kind='int or "auto"',
        check=_check_batch,
    )
    order: Any = like(PerceptronParameters)
    max_iter: int = like(PerceptronParameters, 10_000)
    tol: float | None = param(
        0.02,
        "Training ends when the loss of a pass has not fallen by this share within `n_iter_no_change` passes; "
        "None ends it when there was no new minimum.",
        least=0,
        below=1,
    )
    n_iter_no_change: int | None = param(
        None,
        "The number of passes to wait for a lower loss or validation error. None is 10, or as many as make 300 "
        "steps.",
    )
    max_time: float | None = like(PerceptronParameters, more="The last pass may then be partial.")
    early_stopping: bool = param(
        False,
        "Whether to hold out `validation_fraction` of the rows (of each class). Training ends when their error "
        "had no new minimum for `n_iter_no_change` passes, and the best network by this error is returned.",
    )
    validation_fraction: float = like(PerceptronParameters)
    class_weight: Any = like(PerceptronParameters, doc="Multiplies the loss of each class.")
    warm_start: bool = param(
        False,
        "Whether to continue from the last fit: parameters, steps and random order are those of an uninterrupted "
        "run.",
    )
    random_state: Any = like(PerceptronParameters)
    verbose: int = like(PerceptronParameters)
    callbacks: Any = like(
        PerceptronParameters,
        doc="Each is called after each pass with a `NetworkReport`; training ends if one returns True.",
        check=partial(check_callbacks, report="NetworkReport"),
    )
    _scales_inputs = False  # whether training divides large inputs; weights are stored for the inputs as they are
    loss_curve_: Floats = learned()
    _state: NetworkState = learned()
    _layers: tuple[Layer, ...] = learned()
    _run: NetworkRun = learned()
    _classes: NDArray[Any] | None = learned()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        p: Any = self
        if p.task == "regression" and p.loss == "cross_entropy":
            raise ParameterError(
                Given("loss", "cross_entropy") + " is for classes; task='regression' needs loss='squared_error'."
            )
        if p.task == "regression" and p.class_weight is not None:
            raise ParameterError(
                "class_weight is for classes, but task='regression' has none. Use sample_weight.",
                parameter="class_weight",
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _network(self, attribute: str | None = None) -> Network:
        self._require_fitted(attribute)
        return Network(self._layers, self._state.theta)

    def _train(
        self, examples: Examples, layers: tuple[Layer, ...], first: Callable[[np.random.Generator], Floats]
    ) -> None:
        """Train from the parameters that `first` draws, or go on from the last run; set all attributes at once."""
        p: Any = self
        before = self._before(examples, layers)
        n_rows, rng, rule = examples.features.n_rows, generator(p.random_state), rule_of(p)
        power = _power(examples.features) if self._scales_inputs else 0
        if before is None:
            start = begin(first(rng).astype(examples.features.values.dtype), rule)
        else:
            start = before[0].for_rule(rule).scaled(layers, power)
        drawn = draw(p, lambda: _codes(examples), n_rows, rng, before)
        bar = progress_bar(p.max_iter, type(p).__name__, lambda report: f"loss {report.loss:.4g}")
        with bar if p.verbose else nullcontext() as show:
            order = make_order(p.order, n_rows, drawn.seed, drawn.passes)
            callbacks = [*([show] if show else []), *(_in_own_units(each, power) for each in p.callbacks or ())]
            plan = plan_of(p, layers, n_rows, order=order, held_out=drawn.held_out, callbacks=callbacks)
            smaller = examples
            if power:
                smaller = replace(examples, features=scaled_rows(examples.features, -power))
            run = NetworkFit(smaller.cast(start.theta.dtype), plan, start).run()
            run = replace(run, state=run.state.scaled(layers, -power))
        self.__dict__.update(
            n_iter_=len(run.losses),
            stop_reason_=run.stop_reason,
            converged_=run.stop_reason in ("tol", "plateau"),
            loss_curve_=read_only(np.array(run.losses)),
            _run=replace(run, interruption=None),  # which would keep every frame alive that it came through
            _state=run.state,
            _layers=layers,
            _loss=p.loss,
            _drawn=drawn._replace(passes=drawn.passes + len(run.losses)),
            _classes=examples.classes,
            _coding=examples.coding,
            _flat=examples.flat,
            _width=examples.features.n_features,
            _names=examples.features.names,
            **self._counted(run),
        )
        _conclude(p, run, examples.features)

    def _counted(self, run: NetworkRun) -> dict[str, Any]:
        return {}

    def _before(self, examples: Examples, layers: tuple[Layer, ...]) -> Before | None:
        """Return state and draws of the last run, if this fit is to continue it."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        require_same_data(examples.features.n_features, examples.classes, self._width, self._classes)
        self._require_same_layers(layers, "warm_start=True")
        drawn: Drawn | None = self.__dict__.get("_drawn")
        return self._state, drawn

    def _require_same_layers(self, layers: tuple[Layer, ...], who: str) -> None:
        if layers != self._layers:
            raise InputError(
                f"{who} continues from layers of {shape_of(self._layers)} neurons, but parameters and data ask "
                f"for {shape_of(layers)}, or for other activations. Keep them, or use a new estimator."
            )


class ReportedNetwork(NetworkEstimator):
    """Attributes that are read from the network and its last run when they are asked for."""

    _fit_mistakes: list[int] = learned()
    _stream_mistakes: int | None = learned()

    def _counted(self, run: NetworkRun) -> dict[str, Any]:
        return {"_fit_mistakes": run.mistakes_per_pass, "_stream_mistakes": None}

    @property
    def coefs_(self) -> list[NDArray[Any]]:
        """The weights of each layer, shape (n_inputs, n_neurons)."""
        return [read_only(w.copy()) for w in self._network("coefs_").parts.weights]

    @property
    def intercepts_(self) -> list[NDArray[Any]]:
        """The biases of each layer."""
        return [read_only(b.copy()) for b in self._network("intercepts_").parts.biases if b is not None]

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two, that of the positive side last."""
        self._require_fitted("classes_")
        if self._classes is None:
            raise AttributeError("A regression has no classes.")
        return read_only(self._classes)

    @property
    def loss_(self) -> float:
        """The last loss."""
        self._require_fitted("loss_")
        if not len(self.loss_curve_):
            raise AttributeError("No pass was completed, so that no loss is known.")
        return float(self.loss_curve_[-1])

    @property
    def t_(self) -> int:
        """The number of visits since the start."""
        self._require_fitted("t_")
        return self._state.visits

    @property
    def n_mistakes_(self) -> int:
        """The mistakes made so far."""
        return int(self.mistakes_per_pass_.sum())

    @property
    def mistakes_per_pass_(self) -> Ints:
        """Rows predicted wrong at their visit, in each pass; a stream is one."""
        self._require_fitted("mistakes_per_pass_")
        if self._classes is None:
            raise AttributeError("A regression counts no mistakes: see mse_curve_.")
        stream = [] if self._stream_mistakes is None else [self._stream_mistakes]
        return read_only(np.array([*self._fit_mistakes, *stream], np.int64))

    @property
    def curve_(self) -> Curve:
        """Training and validation error over passes, of a classification."""
        run = self._last_run("curve_", "classification")
        if not run.validation_errors:
            return Curve(np.array(run.training_errors))
        measured = len(run.validation_errors)  # Ctrl-C may come before a pass is measured
        return Curve(np.array(run.training_errors[:measured]), np.array(run.validation_errors))

    @property
    def mse_curve_(self) -> Floats:
        """The mean squared error of each pass in training, of a regression."""
        return read_only(np.array(self._last_run("mse_curve_", "regression").training_errors))

    @property
    def validation_mse_(self) -> Floats:
        """The mean squared error on the rows held out after each pass, of a regression."""
        run = self._last_run("validation_mse_", "regression")
        if not run.validation_errors:
            raise AttributeError("No rows were held out: early_stopping=True does so.")
        return read_only(np.array(run.validation_errors))

    def _last_run(self, attribute: str, task: str) -> NetworkRun:
        self._require_fitted(attribute)
        if (self._classes is None) != (task == "regression"):
            raise AttributeError(f"{attribute} is of task={task!r}.")
        if "_run" not in self.__dict__:
            raise AttributeError(f"{attribute} is of a fit, but the last that was learned is a stream.")
        return self._run


def _power(features: Features) -> int:
    """Return the power of two that training divides inputs by: 0 unless their root mean square is large."""
    values = features.values.astype(np.float64, copy=False).ravel()
    with np.errstate(over="ignore"):
        size = float(np.sqrt(values @ values / (features.n_rows * features.n_features)))
    return math.ceil(math.log2(size / WANTED_ROOT_MEAN_SQUARE)) if LARGE_ROOT_MEAN_SQUARE < size < math.inf else 0


def _in_own_units(callback: NetworkCallback, power: int) -> NetworkCallback:
    """Pass reports on with the network for the inputs as they are."""
    if not power:
        return callback

    def called(report: NetworkReport) -> object:
        layers, theta = report.model.layers, report.model.theta
        state = NetworkState(theta, np.zeros((1, theta.size), theta.dtype))
        return callback(replace(report, model=Network(layers, state.scaled(layers, -power).theta)))

    return called


def _conclude(p: Any, run: NetworkRun, features: Features) -> None:
    """Warn where a published run ended on a limit, and raise the Ctrl-C that ended it."""
    last = f"The loss of the last pass is {run.losses[-1]:.4g}." if run.losses else "No pass was completed."
    if p.verbose:
        print(f"Ended by {run.stop_reason!r} after {len(run.losses):,} passes. {last}", file=sys.stderr)
    made = None
    if run.stop_reason == "max_iter":
        limit = f"max_iter={p.max_iter}" if len(run.losses) >= p.max_iter else f"the {len(run.losses)} listed"
        made = f"{limit} passes"
    elif run.stop_reason == "max_time":
        made = f"max_time={p.max_time} seconds"
    if made is not None:
        warnings.warn(
            f"Training ended after {made} while the loss was still falling. {last} Allow more, or a larger tol."
            f"{also_scale(features)}",
            ConvergenceWarning,
            stacklevel=4,
        )
    if run.interruption is not None:
        raise run.interruption


def require_sense(what: str, n_weights: int, features: Features, bytes_a_weight: int, parameter: str) -> None:
    """Refuse what is huge and has many times more weights than the rows have values.

    Hashed text makes such networks of nearly any number of rows, and each step changes every weight.
    """
    stored = max(features.stored, 1)
    if n_weights <= LARGE_WEIGHT_COUNT or n_weights <= WEIGHTS_A_VALUE * stored:
        return
    raise ParameterError(
        f"{what} has {n_weights:,} weights, {n_weights // stored:,} times as many as the rows have values "
        f"({stored:,}), and its model would take {format_bytes(bytes_a_weight * n_weights)}. Hash text into fewer "
        "features ("
        + Remedy("bits")
        + "), choose fewer neurons ("
        + Remedy(parameter)
        + "), or use a linear learner such as "
        + Remedy("learner", "averaged", "Perceptron(average=True)")
        + ".",
        code="memory",
        parameter=parameter,
    )


def shape_of(layers: tuple[Layer, ...]) -> str:
    """Return the sizes of layers, the inputs first, such as "2-4-1"."""
    return "-".join(str(n) for n in (layers[0].n_inputs, *(layer.n_neurons for layer in layers)))
