"""The Mark I: photocells, association units wired to them at random, and response units that learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.data.features import Features, as_rows
from rosenblatt.data.single import vector_row
from rosenblatt.estimators._features import ReadsTables, predicting
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._parameters import check_choice, check_count, check_number, generator
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.schemas import READS_TABLES
from rosenblatt.exceptions import ParameterError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.stream_schemas import require_names
from rosenblatt.maps.retina import Retina, image_shape_of
from rosenblatt.maps.schemas import RETINA, WIRING
from rosenblatt.maps.wiring import Wiring
from rosenblatt.registry import Learner
from rosenblatt.schema.codecs import require
from rosenblatt.schema.estimators import FixedParameters, Nested, StateSchema
from rosenblatt.typing import Floats

RESPONSE = (
    *("multiclass", "average", "margin", "order", "max_iter"),
    *("n_iter_no_change", "max_time", "trace", "verbose", "callbacks"),
)
"""Parameters of the response units."""

MACHINE = (
    *("n_association", "excitatory", "inhibitory", "threshold"),
    *("retina", "image_shape", "photocells", "exposure"),
)
"""Parameters of the other units, which a stream cannot change."""


def _of_response(name: str, doc: str) -> property:
    """Return an attribute that is the response units'."""

    def attribute(self: Any) -> Any:
        self._require_fitted(name)
        return getattr(self._response, name)

    return property(attribute, doc=doc)


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    retina, wiring = held["_retina"], held["wiring_"]
    height, width = retina.image_shape
    require(height * width == held["_width"], "the retina is for images of another size")
    require(retina.shape == wiring.retina, "the wiring is for another retina")
    n_inputs = held["_response"].n_features_in_
    require(n_inputs == wiring.n_units, "the response units have another number of inputs")


class MarkOne(ReadsTables, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The machine of 1960: a retina, random wires, association units, and response units that learn.

    An image falls on 20 × 20 photocells. Each association unit is wired to a few of them at random, some of which
    excite and some inhibit it, and is on or off; the wires never change. Response units weigh the association
    units, and learn by the perceptron rule. Two classes have one response unit; more classes have one each.

    Parameters
    ----------
    n_association : int
        The number of association units. The machine had 512; its first demonstration spoke of about 1000.
    excitatory, inhibitory : int
        How many photocells excite and inhibit each association unit.
    threshold : float
        A unit is on if the light that excites it exceeds the light that inhibits it by this or more.
    retina : pair of int
        Rows and columns of photocells. Images of any other size are resampled: averaged over the area each cell
        covers where there are more pixels, interpolated where there are fewer.
    image_shape : pair of int or None
        Rows and columns of the images. None: square if the number of features is a square; otherwise a single line
        of pixels, stretched over the retina.
    photocells : {"binary", "graded"}
        The machine's were on or off: on if the light is nearer to bright than to dark. Graded ones pass on how
        much light there is, from 0 to 1.
    exposure : pair of float or None
        The values of a dark and a bright pixel, in either order, such as (0, 255). None uses the
        extremes of each image, as a camera does; an image without contrast is then all dark.
    multiclass, average, margin, order, max_iter, n_iter_no_change, max_time, trace, verbose, callbacks
        Of the response units, as in `Perceptron`.
    random_state : int, RandomState, Generator or None
        The random seed for the wires and the order of visits.

    Attributes
    ----------
    wiring_ : Wiring
        The wires: ``excitatory``, ``inhibitory``, ``matrix()``, and ``picture(unit)`` to look at.
    coef_, intercept_ : ndarray, shapes (n_machines, n_association) and (n_machines,)
        The weights from association units to response units.
    n_iter_, n_mistakes_, mistakes_per_pass_, converged_, stop_reason_, trace_, curve_, t_, classes_
        As in `Perceptron`. The trace is of the response units: it replays by ``trace_.replay(associate(X), y)``.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Examples
    --------
    The first demonstration: fifty cards with a square on the left or the right.

    >>> from rosenblatt.datasets import make_cards
    >>> X, y = make_cards(250, seed=0)
    >>> machine = MarkOne()
    >>> for card, side in zip(X[:50], y[:50]):
    ...     machine = machine.learn_one(card, side)
    >>> bool(machine.score(X[50:], y[50:]) > 0.97)
    True
    >>> machine.wiring_
    <Wiring: 512 association units on 20 × 20 photocells, each excited by 4 and inhibited by 2, threshold 1>
    """

    _learner = Learner(
        StateSchema(
            READS_TABLES
            | {
                "wiring_": WIRING,
                "_retina": RETINA,
                "_response": Nested(Perceptron, Perceptron._learner.state),
                "_kept": FixedParameters(MACHINE),
            },
            link=_link,
        ),
        commands={"mark-one": {}},
        abilities=frozenset({"streams", "examples", "traces"}),
    )

    wiring_: Wiring
    _retina: Retina
    _response: Perceptron
    _kept: dict[str, Any]

    def __init__(
        self,
        n_association: int = 512,
        *,
        excitatory: int = 4,
        inhibitory: int = 2,
        threshold: float = 1.0,
        retina: tuple[int, int] = (20, 20),
        image_shape: tuple[int, int] | None = None,
        photocells: str = "binary",
        exposure: tuple[float, float] | None = None,
        multiclass: str = "direct",
        average: bool = False,
        margin: float = 0.0,
        order: Any = "shuffle",
        max_iter: int = 1000,
        n_iter_no_change: int | None = None,
        max_time: float | None = None,
        random_state: Any = 0,
        trace: Any = "auto",
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.n_association = n_association
        self.excitatory = excitatory
        self.inhibitory = inhibitory
        self.threshold = threshold
        self.retina = retina
        self.image_shape = image_shape
        self.photocells = photocells
        self.exposure = exposure
        self.multiclass = multiclass
        self.average = average
        self.margin = margin
        self.order = order
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.max_time = max_time
        self.random_state = random_state
        self.trace = trace
        self.verbose = verbose
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw new wires, and train the response units until a stopping rule ends it.

        Each row of X is an image, line by line; otherwise parameters and result are as in `Perceptron.fit`.
        """
        with interruptible():
            features = as_rows(X)
            warn_of_column(y)
            retina, wiring, response = self._built(features.n_features)
            on = _associate(retina, wiring, features)
            try:
                response.fit(on, y, sample_weight=sample_weight)
            finally:
                if response.__sklearn_is_fitted__():  # also by what Ctrl-C left
                    self._publish(retina, wiring, response, features)
            return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit the images of a chunk once, in their order; see `Perceptron.partial_fit`."""
        features = as_rows(X)
        warn_of_column(y)
        if self.__sklearn_is_fitted__():
            self._check_features(features)
        retina, wiring, response = self._going_on(features.n_features)
        response.partial_fit(_associate(retina, wiring, features), y, classes, sample_weight)
        self._publish(retina, wiring, response, features)
        return self

    def learn_one(self, x: Any, y: Any, classes: Any = None, sample_weight: float | None = None) -> Self:
        """Visit one image, a sequence of numbers line by line: a trial. See `Perceptron.learn_one`."""
        features = _one(x, self.__dict__.get("_width"))
        retina, wiring, response = self._going_on(features.n_features)
        response.learn_one(_associate(retina, wiring, features)[0], y, classes, sample_weight)
        self._publish(retina, wiring, response, features)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every image."""
        self._require_fitted()
        return self._response.predict(self.associate(X))

    def predict_one(self, x: Any) -> Any:
        """Return the label of one image; None before the first one."""
        return self._response.predict_one(self._associated(x)) if self.__sklearn_is_fitted__() else None

    def score_one(self, x: Any) -> Any:
        """Return the outputs of the response units for one image; None before the first one."""
        return self._response.score_one(self._associated(x)) if self.__sklearn_is_fitted__() else None

    def _associated(self, x: Any) -> NDArray[np.float32]:
        """Return which association units one image turns on."""
        with predicting():
            on: NDArray[np.float32] = _associate(self._retina, self.wiring_, _one(x, self._width))[0]
        return on

    def decision_function(self, X: Any) -> Floats:
        """Return the outputs of the response units: one for each image, or for each class if they are many."""
        self._require_fitted()
        return self._response.decision_function(self.associate(X))

    def see(self, X: Any) -> Floats:
        """Return the light on the photocells, shape (n_images, rows, columns)."""
        self._require_fitted()
        with predicting():
            seen = np.concatenate([light for _, light in self._retina.look(self._features(X))])
        return seen.reshape(-1, *self._retina.shape)

    def associate(self, X: Any) -> NDArray[np.float32]:
        """Return which association units are on, 1 or 0, shape (n_images, n_association)."""
        self._require_fitted()
        with predicting():
            return _associate(self._retina, self.wiring_, self._features(X))

    coef_ = _of_response("coef_", "The weights from association units to response units.")
    intercept_ = _of_response("intercept_", "The biases of the response units.")
    classes_ = _of_response("classes_", "The labels.")
    n_iter_ = _of_response("n_iter_", "Passes made by the last fit.")
    n_mistakes_ = _of_response("n_mistakes_", "The mistakes made so far.")
    mistakes_per_pass_ = _of_response("mistakes_per_pass_", "The mistakes of each pass; a stream is one.")
    converged_ = _of_response("converged_", "Whether every training image is right.")
    stop_reason_ = _of_response("stop_reason_", "Why training ended.")
    trace_ = _of_response("trace_", "The record of the run, of the response units.")
    curve_ = _of_response("curve_", "Training error over passes.")
    t_ = _of_response("t_", "The visits made since the start.")

    def _built(self, n_features: int) -> tuple[Retina, Wiring, Perceptron]:
        check_choice("photocells", self.photocells, ("binary", "graded"))
        shape, image_shape = _pair("retina", self.retina), None
        if self.image_shape is not None:
            image_shape = _pair("image_shape", self.image_shape)
        retina = Retina(
            shape, image_shape_of(n_features, image_shape), self.photocells == "graded", _exposure(self.exposure)
        )
        rng = generator(self.random_state)
        wiring = Wiring.draw(
            check_count("n_association", self.n_association),
            check_count("excitatory", self.excitatory),
            0 if self.inhibitory == 0 else check_count("inhibitory", self.inhibitory),
            check_number("threshold", self.threshold),
            shape,
            rng,
        )
        own = {name: getattr(self, name) for name in RESPONSE}
        return retina, wiring, Perceptron(random_state=int(rng.integers(2**31)), **own)

    def _going_on(self, n_features: int) -> tuple[Retina, Wiring, Perceptron]:
        if not self.__sklearn_is_fitted__():
            return self._built(n_features)
        for name, kept in self._kept.items():
            now = getattr(self, name)
            if now is not kept and not np.array_equal(now, kept):  # shapes may be given as arrays
                raise ParameterError(f"{name}={now!r} cannot continue from {kept!r}. Use fit, or a new machine.")
        before = self._response.get_params()
        now = {name: getattr(self, name) for name in RESPONSE}
        changed = {name: value for name, value in now.items() if value is not before[name]}
        if changed:
            self._response.set_params(**changed)
        return self._retina, self.wiring_, self._response

    def _publish(self, retina: Retina, wiring: Wiring, response: Perceptron, features: Features) -> None:
        self.__dict__.update(
            wiring_=wiring,
            _retina=retina,
            _response=response,
            _kept={name: getattr(self, name) for name in MACHINE},
            _width=features.n_features,
            _names=self.__dict__.get("_names") if features.names is None else features.names,
        )


def _associate(retina: Retina, wiring: Wiring, features: Features) -> NDArray[np.float32]:
    on = np.empty((features.n_rows, wiring.n_units), np.float32)
    for rows, light in retina.look(features):
        on[rows] = wiring.respond(light)
    return on


def _one(x: Any, n_features: int | None) -> Features:
    row = vector_row(x, n_features)
    return Features(row, 1, row.shape[1])


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        rows, columns = value
    except (TypeError, ValueError):
        raise ParameterError(f"{name}={value!r} must be a pair of integers: rows and columns.") from None
    return check_count(name, rows), check_count(name, columns)


def _exposure(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    try:
        dark, bright = value
    except (TypeError, ValueError):
        raise ParameterError(
            f"exposure={value!r} must be None or a pair: a dark value and a bright one."
        ) from None
    dark, bright = check_number("exposure", dark), check_number("exposure", bright)
    if dark == bright:
        raise ParameterError(f"exposure={value!r} must be two different values, of dark and of bright.")
    return dark, bright
