"""The Mark I: photocells, association units wired to them at random, and response units that learn."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.codecs import (
    Array,
    Count,
    FixedParameters,
    Flag,
    Maybe,
    Nested,
    Number,
    Record,
    Several,
    StateSchema,
    require,
)
from rosenblatt.estimators._features import ReadsTables, predicting
from rosenblatt.estimators._fitting import generator
from rosenblatt.estimators._linear import READS_TABLES, warn_of_column
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.exceptions import Given, ParameterError, TrainingOverflowError
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.parameters import (
    Declared,
    PerceptronParameters,
    check_count,
    check_number,
    learned,
    like,
    param,
    positional,
)
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import vector_row
from rosenblatt.rows.features import Features, as_rows, read_only, require_finite
from rosenblatt.rows.memory import require_neurons
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike

# A retina of photocells, which sees images of any size.

SHADES = 2.0**16
"""The shades of a graded cell. Their sums are exact, so that no order of addition changes a neuron."""

BLOCK_PIXELS = 2**20
"""Pixels computed at a time."""


class Retina(NamedTuple):
    """Photocells before an image."""

    shape: tuple[int, int]  # rows and columns of photocells
    image_shape: tuple[int, int]  # rows and columns of pixels
    graded: bool  # whether cells distinguish shades of light; otherwise they are on or off
    # the dark and the bright pixel value; None for the darkest and the brightest cell of each image
    exposure: tuple[float, float] | None

    def look(self, features: Features) -> Iterator[tuple[slice, Floats]]:
        """Yield some images at a time, and the light on each photocell, from 0 to 1."""
        height, width = self.image_shape
        down, across = resampling(height, self.shape[0]), resampling(width, self.shape[1])
        n_cells = self.shape[0] * self.shape[1]
        step = max(1, BLOCK_PIXELS // (height * width + n_cells))
        for first in range(0, features.n_rows, step):
            rows = slice(first, min(first + step, features.n_rows))
            images = features.part(rows).dense().reshape(-1, height, width)
            with np.errstate(over="ignore", invalid="ignore"):
                # One image after another: the order of sums of one large product depends on its size.
                seen = (down @ images @ across.T).reshape(-1, n_cells)
                light = self._expose(seen)
            finite = np.isfinite(light).all(axis=1) & np.isfinite(seen).all(axis=1)
            if not finite.all():
                require_finite(features)
                row = first + int(np.argmin(finite))
                raise TrainingOverflowError(f"The pixels of row {row} of X are too large for floats. Scale them.")
            yield rows, np.round(light * SHADES) / SHADES if self.graded else (light > 0.5).astype(np.float64)

    def _expose(self, seen: Floats) -> Floats:
        if self.exposure is None:
            dark, bright = seen.min(axis=1, keepdims=True), seen.max(axis=1, keepdims=True)
        else:
            dark, bright = (np.full((len(seen), 1), value) for value in self.exposure)
        contrast = bright - dark
        blank = contrast == 0.0
        light: Floats = np.where(blank, 0.0, (seen - dark) / np.where(blank, 1.0, contrast))
        return np.clip(light, 0.0, 1.0)


def resampling(n_from: int, n_to: int) -> Floats:
    """Return the matrix that turns a line of pixels into one of another length.

    A shorter line has the averages over the parts that its pixels cover, a longer one interpolates between the
    centres of the old pixels. The weights of each new pixel sum to 1.

    Examples
    --------
    >>> resampling(4, 2)
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    >>> resampling(2, 4)
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.25, 0.75],
           [0.  , 1.  ]])
    """
    old = np.arange(n_from)
    if n_to <= n_from:
        edges = np.arange(n_to + 1) * n_from / n_to
        begin, end = edges[:-1, None], edges[1:, None]
        covered = np.clip(np.minimum(end, old + 1) - np.maximum(begin, old), 0.0, None)
        weights: Floats = covered / covered.sum(axis=1, keepdims=True)
        return weights
    centres = (np.arange(n_to) + 0.5) * n_from / n_to - 0.5
    centres = np.clip(centres, 0.0, n_from - 1.0)[:, None]
    near: Floats = np.clip(1.0 - np.abs(centres - old), 0.0, None)
    return near


def image_shape_of(n_features: int, image_shape: Any) -> tuple[int, int]:
    """Return the given shape of images; by default a square if the number of pixels is one, else a line."""
    if image_shape is None:
        edge = math.isqrt(n_features)
        return (edge, edge) if edge * edge == n_features else (1, n_features)
    height, width = image_shape
    if height * width != n_features:
        raise ParameterError(
            Given("image_shape", image_shape) + f" has {height * width} pixels, but X has {n_features} features. "
            "Give the rows and columns of the images."
        )
    return height, width


# Association units, each wired to a few random photocells (Rosenblatt 1958).

FEW_IMAGES = 16
"""For fewer images it is faster to add the wired photocells than to multiply by the whole matrix."""


@dataclass(frozen=True, eq=False, repr=False)
class Wiring:
    """The photocells that excite and inhibit each association unit.

    A unit is on if the light that excites it exceeds the light that inhibits it by at least the threshold.

    Attributes
    ----------
    excitatory : ndarray of int, shape (n_units, n_excitatory)
        The photocells that excite each unit, numbered line by line from the top left.
    inhibitory : ndarray of int, shape (n_units, n_inhibitory)
        The photocells that inhibit it, all different from those.
    threshold : float
        The least difference between the light that excites a unit and the light that inhibits it.
    retina : pair of int
        The rows and columns of photocells.

    Examples
    --------
    >>> wiring = Wiring.draw(3, 2, 1, 1.0, (4, 4), np.random.default_rng(0))
    >>> wiring
    <Wiring: 3 association units on 4 × 4 photocells, each excited by 2 and inhibited by 1, threshold 1>
    >>> wiring.picture(0)
    array([[ 0,  0,  0,  0],
           [ 0,  0,  0,  0],
           [ 1,  1,  0, -1],
           [ 0,  0,  0,  0]], dtype=int8)
    """

    excitatory: Ints
    inhibitory: Ints
    threshold: float
    retina: tuple[int, int]

    @classmethod
    def draw(
        cls, n_units: int, excitatory: int, inhibitory: int, threshold: float, retina: tuple[int, int], rng: Any
    ) -> Wiring:
        """Wire each unit to different photocells, all equally likely."""
        n_cells = retina[0] * retina[1]
        n_wires = excitatory + inhibitory
        if n_wires > n_cells:
            raise ParameterError(
                Given("excitatory", excitatory)
                + f" and inhibitory={inhibitory} are more wires than the retina's {n_cells} "
                "photocells. Lower them, or enlarge the retina."
            )
        n_bytes = n_units * (200 + 32 * n_wires + 9 * n_cells)  # lists, and a matrix as bytes and as floats
        require_neurons(f"Wiring {n_units:,} association units to {n_cells:,} photocells", n_bytes)
        wires = np.array([rng.choice(n_cells, n_wires, replace=False) for _ in range(n_units)], np.int64)
        parts = np.ascontiguousarray(wires[:, :excitatory]), np.ascontiguousarray(wires[:, excitatory:])
        return cls(read_only(parts[0]), read_only(parts[1]), threshold, retina)

    @property
    def n_units(self) -> int:
        """The number of association units."""
        return len(self.excitatory)

    def matrix(self) -> NDArray[np.int8]:
        """Return the wires as numbers, shape (n_units, n_photocells): 1 excites, −1 inhibits, 0 is no wire."""
        wires = np.zeros((self.n_units, self.retina[0] * self.retina[1]), np.int8)
        unit = np.arange(self.n_units)[:, None]
        wires[unit, self.excitatory] = 1
        wires[unit, self.inhibitory] = -1
        return wires

    def picture(self, unit: int) -> NDArray[np.int8]:
        """Return the wires of one unit, in the layout of the retina."""
        wires = np.zeros(self.retina, np.int8)
        wires.flat[self.excitatory[unit]] = 1
        wires.flat[self.inhibitory[unit]] = -1
        return wires

    def respond(self, light: Floats) -> NDArray[np.float32]:
        """Return which units are on, 1 or 0, for the light on the photocells, shape (n_rows, n_photocells).

        float32 holds both exactly, in half the memory. Sums of light are exact, so both ways of adding agree.
        """
        if len(light) < FEW_IMAGES:
            excited = light[:, self.excitatory].sum(axis=2) - light[:, self.inhibitory].sum(axis=2)
        else:
            excited = light @ self.matrix().T.astype(np.float64)
        on: NDArray[np.float32] = (excited >= self.threshold).astype(np.float32)
        return on

    def __repr__(self) -> str:
        rows, columns = self.retina
        return (
            f"<Wiring: {self.n_units} association units on {rows} × {columns} photocells, each excited by "
            f"{self.excitatory.shape[1]} and inhibited by {self.inhibitory.shape[1]}, "
            f"threshold {self.threshold:g}>"
        )


MOST_CELLS = 2**26
"""The most photocells of a retina: an image has one number for each."""

PAIR = Several(Count(1, MOST_CELLS), tuple, 2)


def _sound_wiring(wiring: Wiring) -> None:
    n_cells = wiring.retina[0] * wiring.retina[1]
    require(n_cells <= MOST_CELLS, "there are too many photocells")
    require(
        len(wiring.excitatory) == len(wiring.inhibitory) > 0,
        "the numbers of exciting and of inhibiting wires differ",
    )
    for wires in (wiring.excitatory, wiring.inhibitory):
        require(
            wires.min(initial=0) >= 0 and wires.max(initial=0) < n_cells,
            "a wire ends at a photocell that is not there",
        )


WIRES = Array(2, (np.int64,))
WIRING = Record(
    Wiring,
    {"excitatory": WIRES, "inhibitory": WIRES, "threshold": Number(), "retina": PAIR},
    check=_sound_wiring,
)


def _sound_retina(retina: Retina) -> None:
    require(
        retina.exposure is None or retina.exposure[0] != retina.exposure[1],
        "the exposure has the same value for dark and for bright",
    )


RETINA = Record(
    Retina,
    {
        "shape": PAIR,
        "image_shape": Several(Count(1), tuple, 2),
        "graded": Flag(),
        "exposure": Maybe(Several(Number(), tuple, 2)),
    },
    check=_sound_retina,
)


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


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        rows, columns = value
    except (TypeError, ValueError):
        raise ParameterError(Given(name, value) + " must be a pair of integers: rows and columns.") from None
    return check_count(name, rows), check_count(name, columns)


def _exposure(name: str, value: Any) -> tuple[float, float]:
    try:
        dark, bright = value
    except (TypeError, ValueError):
        raise ParameterError(
            Given(name, value) + " must be None or a pair: a dark value and a bright one."
        ) from None
    dark, bright = check_number(name, dark), check_number(name, bright)
    if dark == bright:
        raise ParameterError(Given(name, value) + " must be two different values, of dark and of bright.")
    return dark, bright


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


class MarkOne(Declared, ReadsTables, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The machine of 1960: a retina, random wires, association units, and response units that learn.

    An image falls on 20 × 20 photocells. Each association unit is wired to a few of them at random, some of which
    excite and some inhibit it, and is on or off; the wires never change. Response units weigh the association
    units, and learn by the perceptron rule. Two classes have one response unit; more classes have one each.

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

    _learner = built_in(
        "MarkOne",
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
    )

    n_association: int = positional(
        default=512,
        kw_only=False,
        doc="The number of association units. The machine had 512; its first demonstration spoke of about 1000.",
    )
    excitatory: int = param(4, "How many photocells excite each association unit.")
    inhibitory: int = param(2, "How many photocells inhibit each association unit.", least=0)
    threshold: float = param(
        1.0, "A unit is on if the light that excites it exceeds the light that inhibits it by this or more."
    )
    retina: tuple[int, int] = param(
        (20, 20),
        "Rows and columns of photocells. Images of any other size are resampled: averaged over the area each "
        "cell covers where there are more pixels, interpolated where there are fewer.",
        kind="pair of int",
        check=_pair,
    )
    image_shape: tuple[int, int] | None = param(
        None,
        "Rows and columns of the images. None: square if the number of features is a square; otherwise a single "
        "line of pixels, stretched over the retina.",
        kind="pair of int or None",
        check=_pair,
    )
    photocells: str = param(
        "binary",
        "The machine's were on or off: on if the light is nearer to bright than to dark. Graded ones pass on how "
        "much light there is, from 0 to 1.",
        one_of=("binary", "graded"),
    )
    exposure: tuple[float, float] | None = param(
        None,
        "The values of a dark and a bright pixel, in either order, such as (0, 255). None uses the extremes of "
        "each image, as a camera does; an image without contrast is then all dark.",
        kind="pair of float or None",
        check=_exposure,
    )
    multiclass: str = like(PerceptronParameters)
    average: bool = like(PerceptronParameters)
    margin: float = like(PerceptronParameters)
    order: Any = like(PerceptronParameters)
    max_iter: int = like(PerceptronParameters)
    n_iter_no_change: int | None = like(PerceptronParameters, doc="Of the response units, as in `Perceptron`.")
    max_time: float | None = like(PerceptronParameters)
    random_state: Any = like(PerceptronParameters, doc="The random seed for the wires and the order of visits.")
    trace: Any = like(PerceptronParameters)
    verbose: int = like(PerceptronParameters)
    callbacks: Any = like(PerceptronParameters)
    wiring_: Wiring = learned()
    _retina: Retina = learned()
    _response: Perceptron = learned()
    _kept: dict[str, Any] = learned()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
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

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the images of a chunk once, in their order; see `Perceptron.partial_fit`."""
        features = as_rows(X)
        warn_of_column(y)
        if self.__sklearn_is_fitted__():
            self._check_features(features)
        retina, wiring, response = self._going_on(features.n_features)
        response.partial_fit(_associate(retina, wiring, features), y, classes, sample_weight)
        self._publish(retina, wiring, response, features)
        return self

    def learn_one(
        self, x: RowLike, y: Hashable, classes: ColumnLike | None = None, sample_weight: float | None = None
    ) -> Self:
        """Visit one image, a sequence of numbers line by line: a trial. See `Perceptron.learn_one`."""
        features = _one(x, self.__dict__.get("_width"))
        retina, wiring, response = self._going_on(features.n_features)
        response.learn_one(_associate(retina, wiring, features)[0], y, classes, sample_weight)
        self._publish(retina, wiring, response, features)
        return self

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the label of every image."""
        self._require_fitted()
        return self._response.predict(self.associate(X))

    def predict_one(self, x: RowLike) -> Any:
        """Return the label of one image; None before the first one."""
        return self._response.predict_one(self._associated(x)) if self.__sklearn_is_fitted__() else None

    def score_one(self, x: RowLike) -> Any:
        """Return the outputs of the response units for one image; None before the first one."""
        return self._response.score_one(self._associated(x)) if self.__sklearn_is_fitted__() else None

    def _associated(self, x: RowLike) -> NDArray[np.float32]:
        """Return which association units one image turns on."""
        with predicting():
            on: NDArray[np.float32] = _associate(self._retina, self.wiring_, _one(x, self._width))[0]
        return on

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the outputs of the response units: one for each image, or for each class if they are many."""
        self._require_fitted()
        return self._response.decision_function(self.associate(X))

    def see(self, X: MatrixLike) -> Floats:
        """Return the light on the photocells, shape (n_images, rows, columns)."""
        self._require_fitted()
        with predicting():
            seen = np.concatenate([light for _, light in self._retina.look(self._features(X))])
        return seen.reshape(-1, *self._retina.shape)

    def associate(self, X: MatrixLike) -> NDArray[np.float32]:
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
        self._check_parameters()
        shape = _pair("retina", self.retina)
        image_shape = None if self.image_shape is None else _pair("image_shape", self.image_shape)
        exposure = None if self.exposure is None else _exposure("exposure", self.exposure)
        retina = Retina(shape, image_shape_of(n_features, image_shape), self.photocells == "graded", exposure)
        rng = generator(self.random_state)
        wiring = Wiring.draw(
            int(self.n_association), int(self.excitatory), int(self.inhibitory), float(self.threshold), shape, rng
        )
        own = {name: getattr(self, name) for name in RESPONSE}
        return retina, wiring, Perceptron(random_state=int(rng.integers(2**31)), **own)

    def _going_on(self, n_features: int) -> tuple[Retina, Wiring, Perceptron]:
        if not self.__sklearn_is_fitted__():
            return self._built(n_features)
        for name, before in self._kept.items():
            now = getattr(self, name)
            if now is not before and not np.array_equal(now, before):  # shapes may be given as arrays
                raise ParameterError(
                    Given(name, now) + f" cannot continue from {before!r}. Use fit, or a new machine."
                )
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
            _response=response.set_params(callbacks=None),  # a file keeps none; a stream sets them again
            _kept={name: getattr(self, name) for name in MACHINE},
            _width=features.n_features,
            _names=self.__dict__.get("_names") if features.names is None else features.names,
        )


def _associate(retina: Retina, wiring: Wiring, features: Features) -> NDArray[np.float32]:
    on = np.empty((features.n_rows, wiring.n_units), np.float32)
    for rows, light in retina.look(features):
        on[rows] = wiring.respond(light)
    return on


def _one(x: RowLike, n_features: int | None) -> Features:
    row = vector_row(x, n_features)
    return Features(row, 1, row.shape[1])
