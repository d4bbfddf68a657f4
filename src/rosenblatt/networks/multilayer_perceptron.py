"""Feed-forward networks of smooth neurons, trained by backpropagation."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from rosenblatt.codecs import StateSchema
from rosenblatt.estimators._features import tags_of_task
from rosenblatt.estimators._fitting import (
    check_classes,
    generator,
    require_same_classes,
)
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.loops.order import Cyclic
from rosenblatt.networks import base as shared
from rosenblatt.networks.base import ReportedNetwork
from rosenblatt.networks.layers import RESPONSES, Coding, CrossEntropy, Layer, n_parameters
from rosenblatt.networks.network_fit import (
    MISTAKES_MADE,
    NETWORK,
    NETWORK_FIT,
    TASK,
    Examples,
    NetworkState,
    begin,
    learn,
    link_layers,
    random_parameters,
)
from rosenblatt.parameters import check_count, learned, param, positional
from rosenblatt.registry import built_in
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, MatrixLike

HIDDEN = ("logistic", "tanh", "relu", "identity")
FIT_ONLY = ("n_iter_", "stop_reason_", "converged_", "_run")


def _classifies(self: Any) -> bool:
    return bool(self.task == "classification")


def _tells_chances(self: Any) -> bool:
    learned = self.__dict__.get("_loss", self.loss)  # parameters may have changed since
    return bool(self.task == "classification" and learned == "cross_entropy")


class MultilayerPerceptron(ReportedNetwork):
    """Layers of smooth neurons trained by backpropagation, for classification or regression.

    Training minimises the mean loss of a row plus ``alpha/2`` times the sum of all squared weights without the
    biases. float32 data is trained, and predicted, in float32; everything else in float64.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        The weights, shape (n_inputs, n_neurons), and the biases of each layer; copies.
    n_iter_ : int
        The number of passes of the last `fit`.
    loss_curve_ : ndarray
        The minimised loss in each pass, where each row is scored by the parameters at its visit. A stream adds one
        number for each chunk.
    loss_ : float
        The last value of `loss_curve_`.
    stop_reason_ : str
        "tol", "plateau" (of tol=None), "validation", "max_iter", "max_time" or "interrupted".
    converged_ : bool
        Whether training ended because the loss fell no more.
    classes_, n_mistakes_, mistakes_per_pass_, curve_
        Of a classification: the labels; rows that were predicted wrong when they were visited, in all and in
        each pass; and the errors of training and validation.
    mse_curve_, validation_mse_ : ndarray
        Of a regression: the mean squared error of each pass in training, and after it on the rows held out.
    t_ : int
        The number of visits since the start.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = MultilayerPerceptron(hidden_layer_sizes=4).fit(X, y)
    >>> clf.score(X, y), clf.stop_reason_, [w.shape for w in clf.coefs_]
    (1.0, 'tol', [(2, 4), (4, 1)])
    """

    _learner = built_in(
        "MultilayerPerceptron",
        StateSchema(
            NETWORK | TASK | MISTAKES_MADE,
            NETWORK_FIT,
            link_layers,
        ),
    )

    _scales_inputs = True
    task: str = positional(
        default="classification",
        kw_only=False,
        doc="What y holds: labels, or numbers (one a row, or one row of numbers each).",
        one_of=("classification", "regression"),
    )
    hidden_layer_sizes: Any = param(
        (100,), "The neurons of each hidden layer; none at all for a single layer.", kind="int or sequence of int"
    )
    activation: str = param("tanh", "How hidden neurons respond to their sums.", one_of=HIDDEN)
    output_activation: str | None = param(
        None,
        'How output neurons respond; with "cross_entropy" they have no choice. None is "identity".',
        one_of=(*HIDDEN, None),
    )
    loss: str = param(
        "squared_error",
        "½ Σ_j (o_j − u_j)² of outputs o and targets u, or −log of the probability given to the right class "
        "(softmax; of two classes, logistic). The targets of classes are one-hot: 1 for the class of the row and "
        '0 for the others, ±1 if the outputs are "tanh"; of two classes the second alone has an output, see '
        "`one_hot`.",
        one_of=("squared_error", "cross_entropy"),
    )
    one_hot: bool = param(False, "Whether two classes have an output each, as three have. The larger output wins.")
    _coding: Coding | None = learned()
    _flat: bool = learned()

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train until a stopping rule ends it; see `stop_reason_`.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The examples.
        y : sequence, shape (n_rows,); of a regression also (n_rows, n_outputs)
            Their labels, or numbers.
        sample_weight : array-like or None
            Multiplies the loss of each row.

        Returns
        -------
        MultilayerPerceptron
            The trained estimator. An error leaves it unchanged; Ctrl-C leaves the last completed pass.
        """
        with interruptible():
            self._check_parameters()
            examples = shared.read_examples(self, X, y, sample_weight, self._coding_of)
            layers = self._make_layers(examples)
            what = f"A network of {shared.shape_of(layers)} neurons"
            bytes_a_weight = examples.features.values.dtype.itemsize * (1 + shared.rule_of(self).n_moments)
            n = n_parameters(layers)
            shared.require_sense(what, n, examples.features, bytes_a_weight, "hidden_layer_sizes")
            self._train(examples, layers, partial(random_parameters, layers, self._scales(layers)))
            return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the rows of a chunk once, in their order, `batch_size` a step; parameters as in `fit`.

        Chunks of whole batches leave the same bits as all their rows at once. `order`, `early_stopping` and the
        stops are for `fit`. `classes` are all classes there are; None takes those of the first chunk. An error
        leaves the estimator unchanged.
        """
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ParameterError(
                Given("class_weight", "balanced")
                + " needs all rows, but partial_fit sees a chunk of them. Give the weights."
            )
        fitted = self.__sklearn_is_fitted__()
        examples = shared.read_examples(self, X, y, sample_weight, self._coding_of, self._known_classes(classes))
        layers = self._make_layers(examples)
        if fitted:
            self._check_features(examples.features)
            self._require_same_layers(layers, "partial_fit")
            state = self._state.for_rule(shared.rule_of(self))
        else:
            state = self._first_state(examples, layers)
        n_rows = examples.features.n_rows
        plan = shared.plan_of(self, layers, n_rows, order=Cyclic(n_rows))
        loss, mistakes = learn(examples.cast(state.theta.dtype), plan, state)
        if not fitted:
            self.__dict__.update(_classes=examples.classes, _flat=examples.flat)
            self.__dict__.update(_width=examples.features.n_features, _names=examples.features.names)
        for name in FIT_ONLY:
            self.__dict__.pop(name, None)
        held = self.__dict__
        held.update(
            loss_curve_=np.append(held.get("loss_curve_", ()), loss),
            _fit_mistakes=held.get("_fit_mistakes", []),
            _stream_mistakes=(held.get("_stream_mistakes") or 0) + mistakes,
            _coding=examples.coding,
            _loss=self.loss,
            _layers=layers,
            _state=state,
        )
        return self

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the label of every row, or its number or numbers."""
        outputs = self._outputs(X)
        if self._classes is not None and self._coding is not None:
            return self._classes[self._coding.codes(outputs)]
        return outputs[:, 0] if self._flat else outputs

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> NDArray[Any]:
        """Return the scores from which labels are predicted.

        For two classes, one number for each row, positive for ``classes_[1]``. For more classes, one number for
        each row and class; the largest wins. They are outputs before the softmax, or those of the squared error.
        The one output of two classes is less the value half-way between its targets; of two outputs, it is the
        second less the first.
        """
        outputs = self._outputs(X)
        if self._coding is None:
            told = (
                Given("task", self.task)
                + " was changed after training: this network predicts numbers. Fit it again."
            )
            raise ParameterError(told)
        return self._coding.decision(outputs)

    @available_if(_tells_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> NDArray[Any]:
        """Return the probability of every class, by a network trained with "cross_entropy"."""
        chances = CrossEntropy().chances(self._outputs(X))
        return np.hstack([1.0 - chances, chances]) if chances.shape[1] == 1 else chances

    @available_if(_tells_chances)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> NDArray[Any]:
        """Return the logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[Any] = np.log(self.predict_proba(X))
        return logarithms

    def score(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of a classification, or R² of a regression."""
        mixin = RegressorMixin if self.task == "regression" else ClassifierMixin
        return float(mixin.score(self, X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        return tags_of_task(super().__sklearn_tags__(), self.task)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss == "cross_entropy" and self.output_activation is not None:
            raise ParameterError(
                Given("output_activation", self.output_activation)
                + " cannot be combined with loss='cross_entropy', "
                "whose outputs become probabilities by softmax. Leave it None."
            )
        self._sizes()

    def _sizes(self) -> list[int]:
        sizes = self.hidden_layer_sizes
        try:
            listed_sizes = list(sizes) if np.ndim(sizes) else [sizes]
        except (TypeError, ValueError):
            listed_sizes = [sizes]
        return [check_count("hidden_layer_sizes", size) for size in listed_sizes]

    def _coding_of(self, n_classes: int) -> Coding:
        signs = self.loss != "cross_entropy" and self.output_activation == "tanh"
        middle = 0.0 if signs or self.loss == "cross_entropy" else 0.5  # of a cross entropy, even odds
        return Coding(n_classes, -1.0 if signs else 0.0, 1.0, middle=None if self.one_hot else middle)

    def _make_layers(self, examples: Examples) -> tuple[Layer, ...]:
        sizes = [examples.features.n_features, *self._sizes(), examples.targets.shape[1]]
        names = [self.activation] * (len(sizes) - 2) + [self.output_activation or "identity"]
        shapes = zip(sizes[:-1], sizes[1:], names, strict=True)
        return tuple(Layer(n_in, n_out, RESPONSES[name]) for n_in, n_out, name in shapes)

    def _scales(self, layers: tuple[Layer, ...]) -> list[float]:
        """Return how far from zero layers begin, so that signals neither fade nor grow (Glorot 2010, He 2015)."""
        scales = [float(np.sqrt(6.0 / (layer.n_inputs + layer.n_neurons))) for layer in layers]
        for k, layer in enumerate(layers[:-1]):
            if self.activation == "logistic":
                scales[k] *= 4.0  # its slope at 0 is a quarter of that of tanh
            elif self.activation == "relu":
                scales[k] = float(np.sqrt(6.0 / layer.n_inputs))
        return scales

    def _first_state(self, examples: Examples, layers: tuple[Layer, ...]) -> NetworkState:
        theta = random_parameters(layers, self._scales(layers), generator(self.random_state))
        return begin(theta.astype(examples.features.values.dtype), shared.rule_of(self))

    def _known_classes(self, classes: ColumnLike | None) -> Any:
        if self.task == "regression":
            if classes is not None:
                raise ParameterError(
                    "classes are for task='classification'; leave them out of a regression.", parameter="classes"
                )
            return None
        known = self.__dict__.get("_classes")
        if classes is None:
            return known
        declared = check_classes(classes)
        if known is None:
            return declared
        require_same_classes(declared, known)
        return known

    def _outputs(self, X: MatrixLike) -> NDArray[Any]:
        network = self._network()
        return network.outputs(self._features(X))
