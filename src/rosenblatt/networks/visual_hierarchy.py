"""A model of the visual pathway as a feature map."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from rosenblatt.codecs import StateSchema, require
from rosenblatt.estimators._fitting import generator
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.networks import base as shared
from rosenblatt.networks.base import NetworkEstimator
from rosenblatt.networks.layers import Coding, GainControl, Layer, LogSquare, Network, ReLU, n_parameters, parts
from rosenblatt.networks.multilayer_perceptron import MultilayerPerceptron
from rosenblatt.networks.network_fit import (
    MISTAKES_MADE,
    NETWORK,
    NETWORK_FIT,
    TASK,
    begin,
    link_layers,
    require_parameters,
)
from rosenblatt.parameters import check_count, like, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import as_weight
from rosenblatt.rows.features import as_rows, read_only, require_finite
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

POOLED_CELLS = 10
"""Simple cells that a complex cell listens to before it learns: sums of hundreds would be much the same."""

OF_RUNS = (
    *("n_iter_", "stop_reason_", "converged_", "loss_curve_", "_run"),
    *("_drawn", "_coding", "_classes", "_flat", "_loss"),
)
"""Attributes of a trained hierarchy that one with random weights does not have."""


def _link(held: dict[str, Any]) -> None:
    link_layers(held)
    n_layers = len(held["_layers"])
    require(n_layers in (3, 4) and (n_layers == 4 or "_run" not in held), "the number of layers is wrong")


class VisualHierarchy(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NetworkEstimator):  # type: ignore[misc]
    """Simple cells, complex cells with gain control, and a third layer: features of images.

    ==========  =======================================  ====================
    layer       a neuron's response                      neurons, by default
    ==========  =======================================  ====================
    simple      max(<w, x>, 0)                           600
    complex     c = log(<w, y>² + 1) with all w ≥ 0,     100
                then c_i / sqrt(σ² + mean_j c_j²)
    third       max(<w, z>, 0)                           50
    ==========  =======================================  ====================

    The division is gain control: cells inhibit each other by their common activity, so that contrast hardly
    changes what the third layer sees. σ is the activity (root of the mean square of c) at which it sets in. No
    layer has a bias.

    Before they learn, simple and third cells have uniform weights of variance 1/n_inputs and 2/n_inputs; a
    complex cell listens to ten simple cells, drawn at random, with weights uniform between 0 and 1.

    Attributes
    ----------
    coefs_ : list of three ndarray, shape (n_inputs, n_neurons)
        The weights of each layer; copies.
    readout_coef_, readout_intercept_ : ndarray
        Of the read-out, if it was trained.
    n_iter_, loss_curve_, stop_reason_, converged_
        Of training, as for `MultilayerPerceptron`.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> VisualHierarchy().fit_transform(X / 16).shape
    (1797, 50)
    """

    _learner = built_in("VisualHierarchy", StateSchema(NETWORK, TASK | MISTAKES_MADE | NETWORK_FIT, _link))

    sizes: Any = positional(
        default=(600, 100, 50), kw_only=False, doc="The neurons of each layer.", kind="sequence of three int"
    )
    sigma: float = param(1.0, "σ of the gain control.", above=0)
    training: str = param(
        "random",
        '"random" keeps the random weights. "backpropagation" learns them together with a linear read-out of the '
        "third layer that predicts y. After each step, negative weights of complex cells are set to 0.",
        one_of=("random", "backpropagation"),
    )
    task: str = param(
        "classification", 'What y holds, for "backpropagation".', one_of=("classification", "regression")
    )
    loss: str = like(MultilayerPerceptron)
    eta0: float = param(0.003)
    random_state: Any = param(0, "The random seed.")

    def fit(self, X: MatrixLike, y: ColumnLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Draw the weights, and train them if ``training="backpropagation"``; see `MultilayerPerceptron.fit`.

        Each row of X is an image. Only "backpropagation" needs y.
        """
        with interruptible():
            self._check_parameters()
            if self.training == "random":
                return self._fit_random(X, sample_weight)
            examples = shared.read_examples(self, X, y, sample_weight, self._coding_of)
            readout = Layer(self._sizes()[-1], examples.targets.shape[1])
            layers = (*self._make_layers(examples.features.n_features), readout)
            self._train(examples, layers, lambda rng: _draw(layers, rng))
            return self

    def transform(self, X: MatrixLike) -> NDArray[Any]:
        """Return the responses of the third layer, shape (n_rows, sizes[2])."""
        network = self._network().first(3)
        return network.outputs(self._features(X))

    @property
    def coefs_(self) -> list[NDArray[Any]]:
        """The weights of the three layers, shape (n_inputs, n_neurons)."""
        return [read_only(w.copy()) for w in self._network("coefs_").parts.weights[:3]]

    @property
    def readout_coef_(self) -> NDArray[Any]:
        """The weights of the read-out, shape (sizes[2], n_outputs)."""
        return read_only(self._trained_network("readout_coef_").parts.weights[3].copy())

    @property
    def readout_intercept_(self) -> NDArray[Any]:
        """The biases of the read-out."""
        return read_only(np.array(self._trained_network("readout_intercept_").parts.biases[3]))

    @property
    def _n_features_out(self) -> int:
        self._require_fitted()
        return self._layers[2].n_neurons

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.training == "backpropagation"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._sizes()

    def _sizes(self) -> list[int]:
        try:
            sizes = list(self.sizes)
        except TypeError:
            sizes = []
        if len(sizes) != 3:
            raise ParameterError(Given("sizes", self.sizes) + " must be three numbers of neurons, one a layer.")
        return [check_count("sizes", size) for size in sizes]

    def _make_layers(self, n_features: int) -> tuple[Layer, ...]:
        simple, complex_, third = self._sizes()
        gain = GainControl(float(self.sigma))
        return (
            Layer(n_features, simple, (ReLU(),), bias=False),
            Layer(simple, complex_, (LogSquare(), gain), bias=False, nonnegative=True),
            Layer(complex_, third, (ReLU(),), bias=False),
        )

    def _coding_of(self, n_classes: int) -> Coding:
        return Coding(n_classes, middle=0.0 if self.loss == "cross_entropy" else 0.5)

    def _fit_random(self, X: MatrixLike, sample_weight: ArrayLike | None) -> Self:
        features = as_rows(X)
        require_finite(features)
        as_weight(sample_weight, features.n_rows)  # not used here, but checked
        layers = self._make_layers(features.n_features)
        theta = _draw(layers, generator(self.random_state)).astype(features.values.dtype)
        for name in OF_RUNS:
            self.__dict__.pop(name, None)
        state = begin(theta, shared.rule_of(self))
        self.__dict__.update(_state=state, _layers=layers, _width=features.n_features, _names=features.names)
        return self

    def _trained_network(self, attribute: str) -> Network:
        network = self._network(attribute)
        if len(network.layers) < 4:
            raise AttributeError(f"{attribute} is of training='backpropagation'.")
        return network


def _draw(layers: tuple[Layer, ...], rng: np.random.Generator) -> Floats:
    """Draw the weights of the hierarchy; those of a read-out are zero, so that it begins without an opinion."""
    require_parameters(layers)
    theta = np.zeros(n_parameters(layers))
    simple, complex_, third = parts(layers, theta).weights[:3]
    simple[...] = rng.uniform(-1.0, 1.0, simple.shape) * np.sqrt(3.0 / len(simple))
    for cell in range(complex_.shape[1]):
        heard = rng.choice(len(complex_), min(POOLED_CELLS, len(complex_)), replace=False)
        complex_[heard, cell] = rng.uniform(0.0, 1.0, len(heard))
    third[...] = rng.uniform(-1.0, 1.0, third.shape) * np.sqrt(6.0 / len(third))
    return theta
