"""The extreme learning machine: random neurons, and a read-out by least squares."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from rosenblatt.data.features import Features, as_rows
from rosenblatt.data.labels import as_labels, encode_labels
from rosenblatt.data.measurements import as_measurements
from rosenblatt.data.weights import as_weight
from rosenblatt.estimators._features import ReadsTables, predicting, tags_of_task
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._parameters import (
    check_choice,
    check_count,
    check_number,
    declared_classes,
    generator,
    require_same_classes,
)
from rosenblatt.estimators.schemas import READS_TABLES
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.learners.regression_schemas import RIDGE
from rosenblatt.learners.ridge import RecursiveRidge
from rosenblatt.learners.stream_schemas import require_names
from rosenblatt.maps.random_layer import ACTIVATIONS, RandomLayer
from rosenblatt.maps.schemas import RANDOM_LAYER
from rosenblatt.model.schemas import LABELS
from rosenblatt.registry import Learner
from rosenblatt.schema.codecs import Boxed, Flag, Maybe, Record, require
from rosenblatt.schema.estimators import FixedParameters, StateSchema
from rosenblatt.typing import Floats

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


class ExtremeLearningMachine(ReadsTables, BaseEstimator):  # type: ignore[misc]
    """A hidden layer of fixed random neurons, and a linear read-out by least squares (Huang, Zhu and Siew 2006).

    It has the layers of the Mark I, but one least-squares solution in the place of the learning rule.

    Parameters
    ----------
    n_hidden : int
        The number of random neurons.
    task : {"classification", "regression"}
        Whether y holds labels, which the read-out learns as one-hot targets, or one or more numbers a row.
    activation : {"tanh", "logistic", "relu", "sine", "step"}
        The activation function of the neurons.
    alpha : float
        The penalty on the read-out's squared weights (not on its bias), at least 0.
    weight_scale : float
        The standard deviation of the sums of the neurons on standardised features, and of their biases. Larger
        values make the learned function rougher.
    random_state : int, RandomState, Generator or None
        The random seed for the neurons.

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

    _learner = Learner(
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
        commands={"extreme": {}},
        abilities=frozenset({"streams"}),
    )

    _layer: RandomLayer
    _ridge: RecursiveRidge
    _targets: _Targets
    _kept: dict[str, Any]

    def __init__(
        self,
        n_hidden: int = 500,
        *,
        task: str = "classification",
        activation: str = "tanh",
        alpha: float = 0.1,
        weight_scale: float = 1.0,
        random_state: Any = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.task = task
        self.activation = activation
        self.alpha = alpha
        self.weight_scale = weight_scale
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = tags_of_task(super().__sklearn_tags__(), self.task)
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
                f"y has only one class, {targets.classes[0]!r}, but two are needed to tell apart. "
                "Add rows of another class."
            )
        weight = as_weight(sample_weight, features.n_rows)
        layer, ridge = self._begin(features, targets, numbers)
        self._learn(layer, ridge, features, targets._replace(grows=False), codes, numbers, weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
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

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row, or its numbers."""
        outputs = self._outputs(X)
        if self._targets.classes is None:
            return outputs[:, 0] if self._targets.flat else outputs
        chosen: NDArray[Any] = self._targets.classes[outputs.argmax(axis=1)]  # of a tie the first
        return chosen

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return one output for each class; for two classes, that of the second minus that of the first."""
        outputs = self._outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classification, or R² of a regression."""
        measure = accuracy_score if _classifies(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        self._require_fitted("classes_")
        if self._targets.classes is None:
            raise AttributeError("A regression has no classes.")
        return self._targets.classes

    @property
    def coef_(self) -> Floats:
        """The weights of the read-out."""
        self._require_fitted("coef_")
        return self._ridge.solution().weights[:, :-1].copy()

    @property
    def intercept_(self) -> Floats:
        """The biases of the read-out."""
        self._require_fitted("intercept_")
        return self._ridge.solution().weights[:, -1].copy()

    @property
    def hidden_coef_(self) -> Floats:
        """The weights of the random neurons."""
        self._require_fitted("hidden_coef_")
        return self._layer.weights[:, :-1].copy()

    @property
    def hidden_intercept_(self) -> Floats:
        """The biases of the random neurons."""
        self._require_fitted("hidden_intercept_")
        return self._layer.weights[:, -1].copy()

    @property
    def training_mse_(self) -> float:
        """The mean squared error on all rows seen."""
        self._require_fitted("training_mse_")
        return float(self._ridge.solution().squares.mean() / self._ridge.total_weight)

    def _check_parameters(self) -> None:
        check_count("n_hidden", self.n_hidden)
        check_choice("task", self.task, ("classification", "regression"))
        check_choice("activation", self.activation, ACTIVATIONS)
        check_number("alpha", self.alpha, least=0)
        check_number("weight_scale", self.weight_scale, above=0)

    def _require_same_parameters(self) -> None:
        for name, kept in self._kept.items():
            if getattr(self, name) != kept:
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} cannot continue from {kept!r}. Use fit, or a new machine."
                )

    def _told(self, y: Any, n_rows: int, known: _Targets | None, classes: Any) -> tuple[_Targets, Any, Any]:
        """Return what is known of the targets from here on, and the codes of labels or the numbers."""
        if not _classifies(self):
            if classes is not None:
                raise ParameterError("classes are for task='classification'. Leave them out.")
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
        declared = None if classes is None else declared_classes(classes)
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

    def _outputs(self, X: Any) -> Floats:
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
