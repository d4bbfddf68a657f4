"""The extreme learning machine: random neurons, and a read-out by least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from rosenblatt.codecs import (
    Array,
    Boxed,
    FixedParameters,
    Flag,
    Maybe,
    Number,
    Record,
    StateSchema,
    Text,
    require,
)
from rosenblatt.estimators._features import ReadsTables, predicting, tags_of_task
from rosenblatt.estimators._fitting import (
    check_classes,
    generator,
    require_same_classes,
)
from rosenblatt.estimators._linear import READS_TABLES, warn_of_column
from rosenblatt.exceptions import (
    Given,
    LabelError,
    ParameterError,
    ShapeError,
    Term,
    TrainingOverflowError,
)
from rosenblatt.learning.linear import LABELS
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import PAIR, oriented
from rosenblatt.networks.base import require_sense
from rosenblatt.parameters import Declared, PerceptronParameters, learned, like, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import as_weight
from rosenblatt.rows.features import Features, as_rows, read_only, require_finite
from rosenblatt.rows.labels import as_labels, as_measurements, encode_labels
from rosenblatt.rows.memory import require_neurons
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

# A layer of neurons with random weights that are not trained.

GRAIN = 2.0**-20
"""Weights are multiples of this, so that sums of dyadic features are exact in any order, and dense and sparse rows
of such data give the same bits."""

BLOCK_OUTPUTS = 2**16
"""Outputs computed at a time."""


def _logistic(z: Floats) -> Any:
    from scipy.special import expit

    return expit(z)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "logistic": _logistic,
    "relu": lambda z: np.maximum(z, 0.0),
    "sine": np.sin,
    "step": lambda z: (z > 0.0).astype(np.float64),
}


class RandomLayer(NamedTuple):
    """Neurons with one row of weights each, the bias last, and their activation."""

    weights: Floats
    activation: str

    @classmethod
    def draw(
        cls, n_neurons: int, n_features: int, activation: str, scale: float, rng: np.random.Generator
    ) -> RandomLayer:
        """Draw normal weights, by which the sums of standardised features have a standard deviation of `scale`."""
        require_neurons(
            f"Drawing {n_neurons:,} neurons for {n_features:,} features", 24 * n_neurons * (n_features + 1)
        )
        weights = scale * rng.standard_normal((n_neurons, n_features + 1))
        weights[:, :-1] /= np.sqrt(n_features)
        return cls(np.round(weights / GRAIN) * GRAIN, activation)

    def outputs(self, features: Features) -> Iterator[tuple[slice, Floats]]:
        """Yield some rows at a time and the output of each neuron, so that never all are in memory.

        The order of sums does not depend on the blocks.
        """
        step = max(1, BLOCK_OUTPUTS // len(self.weights))
        for first in range(0, features.n_rows, step):
            rows = slice(first, min(first + step, features.n_rows))
            sums = self._sums(features.part(rows))
            finite = np.isfinite(sums)
            if not finite.all():
                require_finite(features)
                row = first + int(np.argwhere(~finite)[0, 0])
                raise TrainingOverflowError(
                    f"Row {row} of X gives a neuron a sum beyond the largest float. Scale the features down."
                )
            yield rows, ACTIVATIONS[self.activation](sums)

    def _sums(self, features: Features) -> Floats:
        from rosenblatt.loops.passes import machine_scores

        n = len(self.weights)
        sums, room = np.empty((features.n_rows, n)), np.empty((PAIR, n))
        weights = oriented(self.weights, features.rows)
        machine_scores(
            features.rows, weights, np.arange(features.n_rows, dtype=np.uint64), np.arange(n), room, sums
        )
        return sums


# Least squares with a penalty, learned from blocks of rows: recursive least squares in square-root form.
#
# What is carried is the triangle R and the matrix Z of the QR factorisation of all rows so far, penalty rows
# first. New rows are put below it and the whole is factorised again. The normal equations, RᵀR β = RᵀZ, are never
# formed, so that the result is as good as that of one factorisation of everything: rounding is multiplied by the
# condition of the rows, not by its square.

LEAST_BLOCK = 256
PEAK_TRIANGLES = 14
"""How many arrays as large as the triangle a factorisation holds at its peak, by measurement."""


class Solution(NamedTuple):
    """The weights of each output, the bias last; and each output's sum of squared errors, as weighted."""

    weights: Floats
    squares: Floats


class RecursiveRidge:
    """The minimum of Σ weight (y − <β, h> − b)² + alpha ‖β‖², after any number of rows.

    Rows wait until there are as many as a block takes, wherever chunks end: so any chunking makes the same
    factorisations, and leaves the same bits. A single row costs, on average, what the classical update does. With
    alpha = 0, and where the rows do not determine all weights, the shortest are found.
    """

    def __init__(self, n_inputs: int, n_outputs: int, alpha: float) -> None:
        m = n_inputs + 1  # the bias is the weight of a constant, and the only one without a penalty
        require_neurons(f"Least squares for {n_inputs:,} neurons", 8 * PEAK_TRIANGLES * m * (m + n_outputs))
        self.alpha = alpha
        self.block = max(2 * m, LEAST_BLOCK)
        self.triangle = np.zeros((m, m))
        np.fill_diagonal(self.triangle[:-1, :-1], np.sqrt(alpha))
        self.turned = np.zeros((m, n_outputs))
        self.unexplained = np.zeros(n_outputs)
        self.total_weight = 0.0
        self._waiting: list[Floats] = []
        self._n_waiting = 0
        self._solution: Solution | None = None

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return self.turned.shape[1]

    def fork(self) -> RecursiveRidge:
        """Return one that goes on by itself: nothing here is ever changed in place."""
        other = copy(self)
        other._waiting = list(self._waiting)
        return other

    def insert_output(self, at: int) -> None:
        """Add an output that has been 0 so far."""
        m = len(self.triangle)
        self.turned = np.insert(self.turned, at, 0.0, axis=1)
        self.unexplained = np.insert(self.unexplained, at, 0.0)
        self._waiting = [np.insert(rows, m + at, 0.0, axis=1) for rows in self._waiting]
        self._solution = None

    def add(self, H: Floats, Y: Floats, weight: Floats | None) -> None:
        """Learn from rows and their targets, shapes (n, n_inputs) and (n, n_outputs)."""
        rows = np.hstack([H, np.ones((len(H), 1)), Y])
        if weight is not None:
            counts = weight > 0.0  # others must not fill a block
            rows = rows[counts] * np.sqrt(weight[counts])[:, None]
        with np.errstate(over="ignore"):
            if not np.isfinite(np.vdot(rows, rows)):  # said of these rows, not when they have become a block
                raise TrainingOverflowError(
                    "Squares exceed the largest float. Scale features, targets or weights."
                )
        self.total_weight += len(H) if weight is None else float(weight.sum())
        while self._n_waiting + len(rows) >= self.block:
            missing = self.block - self._n_waiting
            self._waiting.append(rows[:missing])
            self.triangle, self.turned, self.unexplained = self._factorised()
            self._waiting, self._n_waiting = [], 0
            rows = rows[missing:]
        if len(rows):
            self._waiting.append(rows)
            self._n_waiting += len(rows)
        self._solution = None

    def solution(self) -> Solution:
        """Return the weights that all rows so far lead to."""
        if self._solution is None:
            self._solution = self._solve()
        return self._solution

    def _factorised(self) -> tuple[Floats, Floats, Floats]:
        """Return triangle, targets and the squares no weights explain, with the rows that wait."""
        from scipy.linalg import qr

        m, k = self.turned.shape
        stacked = np.vstack([np.hstack([self.triangle, self.turned]), *self._waiting])
        (factor,) = qr(np.asfortranarray(stacked), mode="r", overwrite_a=True, check_finite=False)
        if not np.isfinite(factor).all():
            raise TrainingOverflowError("Sums of squares exceed the largest float. Scale features or targets.")
        left = np.square(factor[m : m + k, m:]).sum(axis=0)
        return factor[:m, :m].copy(), factor[:m, m:].copy(), self.unexplained + left

    def _solve(self) -> Solution:
        from scipy.linalg import lstsq, solve_triangular

        R, Z, unexplained = self._factorised() if self._waiting else (self.triangle, self.turned, self.unexplained)
        if self.alpha > 0.0 and R[-1, -1] != 0.0:
            weights = solve_triangular(R, Z, check_finite=False)
        else:
            weights = lstsq(R, Z, check_finite=False)[0]
        # Where the triangle is singular, not even the turned targets are reached.
        squares = unexplained + np.square(Z - R @ weights).sum(axis=0)
        squares -= self.alpha * np.square(weights[:-1]).sum(axis=0)
        return Solution(weights.T, np.maximum(squares, 0.0))


RANDOM_LAYER = Record(RandomLayer, {"weights": Array(2), "activation": Text(tuple(ACTIVATIONS))})


def _parts_of_ridge(ridge: RecursiveRidge) -> dict[str, Any]:
    m, k = ridge.turned.shape
    names = ("alpha", "triangle", "turned", "unexplained", "total_weight")
    return {name: getattr(ridge, name) for name in names} | {
        "waiting": np.vstack([np.empty((0, m + k)), *ridge._waiting]),
        "solution": ridge.solution(),
    }


def _ridge(
    alpha: float,
    triangle: Any,
    turned: Any,
    unexplained: Any,
    total_weight: float,
    waiting: Any,
    solution: Solution,
) -> RecursiveRidge:
    m = len(triangle)
    require(m >= 2 and triangle.shape == (m, m) and len(turned) == m, "triangle and targets have different shapes")
    k = turned.shape[1]
    require(k >= 1 and unexplained.shape == (k,) and waiting.shape[1] == m + k, "the number of outputs is wrong")
    require(
        solution.weights.shape == (k, m) and solution.squares.shape == (k,),
        "the solution has another number of outputs",
    )
    ridge = RecursiveRidge(m - 1, k, alpha)
    require(len(waiting) < ridge.block, "more rows are pending than a block has")
    ridge.triangle, ridge.turned, ridge.unexplained, ridge.total_weight = (
        triangle,
        turned,
        unexplained,
        total_weight,
    )
    ridge._waiting, ridge._n_waiting = [waiting] if len(waiting) else [], len(waiting)
    ridge._solution = solution
    return ridge


RIDGE = Record(
    _ridge,
    {
        "alpha": Number(least=0.0),
        "triangle": Array(2),
        "turned": Array(2),
        "unexplained": Array(),
        "total_weight": Number(least=0.0),
        "waiting": Array(2),
        "solution": Record(Solution, {"weights": Array(2), "squares": Array()}),
    },
    take=_parts_of_ridge,
)


FIXED = ("task", "n_hidden", "activation", "alpha", "weight_scale")
"""Parameters that a stream cannot change on its way."""


class _Targets(NamedTuple):
    """What is known of the targets: labels, and whether more may come; or whether numbers have one dimension."""

    classes: NDArray[Any] | None
    grows: bool = False
    flat: bool = True


def _classifies(machine: Any) -> bool:
    return bool(machine.task != "regression")


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    layer, ridge, targets = held["_layer"], held["_ridge"], held["_targets"]
    require(layer.weights.shape[1] == held["_width"] + 1, "the neurons have another number of inputs")
    require(len(layer.weights) == len(ridge.triangle) - 1, "the read-out has another number of inputs")
    n_outputs = ridge.n_outputs if targets.classes is None else len(targets.classes)
    require(n_outputs == ridge.n_outputs, "the numbers of classes and of outputs differ")


class ExtremeLearningMachine(Declared, ReadsTables, BaseEstimator):  # type: ignore[misc]
    """A hidden layer of fixed random neurons, and a linear read-out by least squares (Huang, Zhu and Siew 2006).

    It has the layers of the Mark I, but one least-squares solution in the place of the learning rule.

    Attributes
    ----------
    hidden_coef_, hidden_intercept_ : ndarray, shapes (n_hidden, n_features) and (n_hidden,)
        The random neurons.
    coef_, intercept_ : ndarray, shapes (n_outputs, n_hidden) and (n_outputs,)
        The read-out; one output a class.
    classes_ : ndarray
        The labels, sorted. Only for classification.
    training_mse_ : float
        The mean squared error on all rows seen, against one-hot targets or numbers, as weighted.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Notes
    -----
    `partial_fit` is recursive least squares in square-root form. Chunks of any size give the same bits as one fit,
    and the memory used does not grow with the number of rows. Features should have similar scales, about 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ExtremeLearningMachine(100).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    >>> round(clf.training_mse_, 2)
    0.01
    """

    _learner = built_in(
        "ExtremeLearningMachine",
        StateSchema(
            READS_TABLES
            | {
                "_layer": RANDOM_LAYER,
                "_ridge": RIDGE,
                "_targets": Record(_Targets, {"classes": Maybe(Boxed(LABELS)), "grows": Flag(), "flat": Flag()}),
                "_kept": FixedParameters(FIXED),
            },
            link=_link,
        ),
    )

    n_hidden: int = positional(default=500, kw_only=False, doc="The number of random neurons.")
    task: str = param(
        "classification",
        "Whether y holds labels, which the read-out learns as one-hot targets, or one or more numbers a row.",
        one_of=("classification", "regression"),
    )
    activation: str = param("tanh", "The activation function of the neurons.", one_of=tuple(ACTIVATIONS))
    alpha: float = param(
        0.1, "The penalty on the read-out's squared weights (not on its bias), at least 0.", least=0
    )
    weight_scale: float = param(
        1.0,
        "The standard deviation of the sums of the neurons on standardised features, and of their biases. Larger "
        "values make the learned function rougher.",
        above=0,
    )
    random_state: Any = like(PerceptronParameters, doc="The random seed for the neurons.")
    _layer: RandomLayer = learned()
    _ridge: RecursiveRidge = learned()
    _targets: _Targets = learned()
    _kept: dict[str, Any] = learned()

    def __sklearn_tags__(self) -> Any:
        tags = tags_of_task(super().__sklearn_tags__(), self.task)
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw the neurons, and solve for the read-out.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The examples.
        y : sequence
            Their labels, or their numbers, shape (n_rows,) or (n_rows, n_outputs).
        sample_weight : array-like or None
            The weight of the error of each row; a row of weight 2 counts as two rows.

        Returns
        -------
        ExtremeLearningMachine
            The estimator. An error leaves it unchanged.
        """
        self._check_parameters()
        features = as_rows(X)
        targets, codes, numbers = self._told(y, features.n_rows, None, None)
        if targets.classes is not None and len(targets.classes) < 2:
            raise LabelError(
                Term("target", "y")
                + f" has only one class, {targets.classes[0]!r}, but two are needed to tell apart. "
                "Add rows of another class."
            )
        weight = as_weight(sample_weight, features.n_rows)
        what = f"A random layer of {self.n_hidden:,} neurons on {features.n_features:,} features"
        require_sense(what, self.n_hidden * features.n_features, features, 8, "n_hidden")
        layer, ridge = self._begin(features, targets, numbers)
        self._learn(layer, ridge, features, targets._replace(grows=False), codes, numbers, weight)
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more chunk; the result has the same bits as one `fit` on all rows.

        Parameters and result are as in `fit`. `classes` are all classes there are, on the first call; None takes
        labels as they come.
        """
        self._check_parameters()
        features = as_rows(X)
        known: _Targets | None = None
        if self.__sklearn_is_fitted__():
            self._require_same_parameters()
            self._check_features(features)
            known = self._targets
        targets, codes, numbers = self._told(y, features.n_rows, known, classes)
        weight = as_weight(sample_weight, features.n_rows)
        if known is None:
            layer, ridge = self._begin(features, targets, numbers)
        else:
            layer, ridge = self._layer, self._ridge.fork()
            for at in _new_places(known, targets):
                ridge.insert_output(at)
        self._learn(layer, ridge, features, targets, codes, numbers, weight)
        return self

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the predicted label of each row, or its numbers."""
        outputs = self._outputs(X)
        if self._targets.classes is None:
            return outputs[:, 0] if self._targets.flat else outputs
        chosen: NDArray[Any] = self._targets.classes[outputs.argmax(axis=1)]  # of a tie the first
        return chosen

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> Floats:
        """Return one output for each class; for two classes, that of the second minus that of the first."""
        outputs = self._outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def score(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of a classification, or R² of a regression."""
        measure = accuracy_score if _classifies(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        self._require_fitted("classes_")
        if self._targets.classes is None:
            raise AttributeError("A regression has no classes.")
        return read_only(self._targets.classes)

    @property
    def coef_(self) -> Floats:
        """The weights of the read-out."""
        self._require_fitted("coef_")
        return read_only(self._ridge.solution().weights[:, :-1].copy())

    @property
    def intercept_(self) -> Floats:
        """The biases of the read-out."""
        self._require_fitted("intercept_")
        return read_only(self._ridge.solution().weights[:, -1].copy())

    @property
    def hidden_coef_(self) -> Floats:
        """The weights of the random neurons."""
        self._require_fitted("hidden_coef_")
        return read_only(self._layer.weights[:, :-1].copy())

    @property
    def hidden_intercept_(self) -> Floats:
        """The biases of the random neurons."""
        self._require_fitted("hidden_intercept_")
        return read_only(self._layer.weights[:, -1].copy())

    @property
    def training_mse_(self) -> float:
        """The mean squared error on all rows seen."""
        self._require_fitted("training_mse_")
        return float(self._ridge.solution().squares.mean() / self._ridge.total_weight)

    def _require_same_parameters(self) -> None:
        for name, kept in self._kept.items():
            if getattr(self, name) != kept:
                raise ParameterError(
                    Given(name, getattr(self, name))
                    + f" cannot continue from {kept!r}. Use fit, or a new machine."
                )

    def _told(
        self, y: ColumnLike, n_rows: int, known: _Targets | None, classes: ColumnLike | None
    ) -> tuple[_Targets, Any, Any]:
        """Return what is known of the targets from here on, and the codes of labels or the numbers."""
        if not _classifies(self):
            if classes is not None:
                raise ParameterError("classes are for task='classification'. Leave them out.", parameter="classes")
            numbers = as_measurements(y, n_rows)
            table = numbers.reshape(n_rows, -1)
            if known is None:
                return _Targets(None, flat=numbers.ndim == 1), None, table
            if table.shape[1] != self._ridge.n_outputs:
                raise ShapeError(
                    f"y has {table.shape[1]} numbers a row, but there were {self._ridge.n_outputs} before."
                )
            return known, None, table
        warn_of_column(y)
        declared = None if classes is None else check_classes(classes)
        if known is None:
            if declared is not None:
                return _Targets(declared), encode_labels(y, declared, n_rows), None
            codes, found = as_labels(y, n_rows)
            return _Targets(found, grows=True), codes, None
        before: Any = known.classes
        if declared is not None:
            require_same_classes(declared, before)
        if not known.grows:
            return known, encode_labels(y, before, n_rows), None
        _, found = as_labels(y, n_rows)
        alike = before.dtype.kind == found.dtype.kind != "O"
        both = np.concatenate([before, found]) if alike else [*before.tolist(), *found.tolist()]
        every = as_labels(both, len(both))[1]
        return _Targets(every, grows=True), encode_labels(y, every, n_rows), None

    def _begin(self, features: Features, targets: _Targets, numbers: Any) -> tuple[RandomLayer, RecursiveRidge]:
        rng = generator(self.random_state)
        layer = RandomLayer.draw(self.n_hidden, features.n_features, self.activation, self.weight_scale, rng)
        n_outputs = numbers.shape[1] if targets.classes is None else len(targets.classes)
        return layer, RecursiveRidge(self.n_hidden, n_outputs, float(self.alpha))

    def _learn(
        self,
        layer: RandomLayer,
        ridge: RecursiveRidge,
        features: Features,
        targets: _Targets,
        codes: Any,
        numbers: Any,
        weight: Floats | None,
    ) -> None:
        one_hot = np.eye(ridge.n_outputs) if numbers is None else None
        for rows, H in layer.outputs(features):
            Y = numbers[rows] if one_hot is None else one_hot[codes[rows]]
            ridge.add(H, Y, None if weight is None else weight[rows])
        self.__dict__.update(
            _layer=layer,
            _ridge=ridge,
            _targets=targets,
            _kept={name: getattr(self, name) for name in FIXED},
            _width=features.n_features,
            _names=self.__dict__.get("_names") if features.names is None else features.names,
        )

    def _outputs(self, X: MatrixLike) -> Floats:
        self._require_fitted()
        features = self._features(X)
        weights: Floats | None = None
        out = np.empty((features.n_rows, self._ridge.n_outputs))
        with predicting():
            for rows, H in self._layer.outputs(features):
                weights = self._ridge.solution().weights if weights is None else weights
                out[rows] = H @ weights[:, :-1].T + weights[:, -1]
        return out


def _new_places(known: _Targets, targets: _Targets) -> list[int]:
    """Return where classes were added, in order."""
    if known.classes is None or targets.classes is None:
        return []
    before = set(known.classes.tolist())
    return [at for at, label in enumerate(targets.classes.tolist()) if label not in before]
