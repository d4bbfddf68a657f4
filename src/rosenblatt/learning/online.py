"""A classifier that learns one row at a time, below scikit-learn; servers and files of streams use it."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Codec, Context, Maybe, Tensors
from rosenblatt.exceptions import InputError
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.plan import Model
from rosenblatt.learning.state import State
from rosenblatt.learning.stored_streams import link_online, online_parts
from rosenblatt.learning.stream import Stream
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.rules import Margins, Rule, is_plain
from rosenblatt.rows.batch import Vocabulary, vector_row
from rosenblatt.rows.features import Features
from rosenblatt.rows.labels import as_labels
from rosenblatt.tables.online_scaling import ONLINE_SCALING, OnlineScaling
from rosenblatt.typing import RowLike

FEW_ROWS, LARGE_WEIGHT_COUNT = 8, 1 << 16
"""Rows scored one by one, and weights of which no copy is made for a few rows."""


PERCEPTRON = Rule()
PARTS = ("_state", "_scheme", "_classes", "_zero", "_width", "_names", "_vocabulary", "_stream")
"""What is packed, by the names of files."""
SCALER: Codec = Maybe(ONLINE_SCALING)


class Packed(NamedTuple):
    """All of an online model: its kind of rule, values as JSON has them, and arrays."""

    rule: type
    document: dict[str, Any]
    arrays: Tensors


class OnlineModel:
    """A model that learns and predicts row by row.

    Learning is the update of `Perceptron.learn_one` and `partial_fit`: the same rows leave the same bits.

    Parameters
    ----------
    stream : Stream
        The state, the rule and the classes; it goes on in place.
    n_features : int
        The number of features; the stream may have room for more.
    vocabulary : Vocabulary or None
        The names of features, where examples are mappings.
    names : tuple or None
        The names that features had in a table.
    scaler : OnlineScaling or None
        Scales each row by the rows before it, and learns it with the stream; None: rows are learned as they are.

    Examples
    --------
    >>> model = OnlineModel.begin(n_features=2)
    >>> for x, label in [([1.0, 0.0], "no"), ([0.0, 1.0], "yes"), ([1.0, 0.5], "no")]:
    ...     _ = model.learn(x, label)
    >>> str(model.predict([0.0, 2.0])), model.classes.tolist(), model.seen
    ('yes', ['no', 'yes'], 3)
    """

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        vocabulary: Vocabulary | None = None,
        names: tuple[Any, ...] | None = None,
        scaler: OnlineScaling | None = None,
    ) -> None:
        self.stream, self.n_features = stream, n_features
        self.vocabulary, self.names, self.scaler = vocabulary, names, scaler
        self._linear: Model | None = None

    @classmethod
    def begin(
        cls,
        rule: Any = PERCEPTRON,
        *,
        n_features: int | None = None,
        classes: Sequence[Any] = (),
        multiclass: str = "direct",
        average: int = False,
        zero: int = -1,
    ) -> OnlineModel:
        """Return a model that has seen nothing.

        Parameters
        ----------
        rule : Rule, or a rule of another kind
            What an update is.
        n_features : int or None
            The number of features. None: examples are mappings, and each new name becomes a feature.
        classes : sequence
            The labels, if they are known; otherwise each new label becomes a class.
        multiclass : {"direct", "ovr", "ovo"}
            How several classes become hyperplanes; only "direct" can let them grow.
        average : bool or int
            Whether to predict with the average over all visits, or from which visit on.
        zero : {-1, 1}
            The side of a score of 0.
        """
        known = as_labels(list(classes), len(classes))[1] if len(classes) else np.empty(0, dtype=object)
        width = 1 if n_features is None else n_features
        state = State.zero(Scheme.of(multiclass, len(known)).shape(width), average=average)
        stream = Stream(
            state.for_updates_by(rule),
            rule,
            multiclass=multiclass,
            zero=zero,
            penalty=None,
            classes=known,
            grows=not len(known) and multiclass == "direct",
            class_weight={},
            may_mirror=rule.tie_plus == rule.tie_minus,
            detail=None,
            radius=None,
        )
        return cls(stream, width, Vocabulary(grows=True) if n_features is None else None)

    # What it knows

    @property
    def classes(self) -> NDArray[Any]:
        """The labels met so far, sorted."""
        return self.stream.classes

    @property
    def seen(self) -> int:
        """The examples learned from."""
        return self.stream.seen

    @property
    def mistakes(self) -> int:
        """The updates made."""
        return self.stream.mistakes

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """The names of the features, where they have any."""
        return self.names if self.vocabulary is None else tuple(self.vocabulary.names)

    @property
    def known_vocabulary(self) -> Vocabulary:
        """The names by which mappings are read; raises `InputError` if features have none."""
        return Vocabulary.of(self.names) if self.vocabulary is None else self.vocabulary

    # Learning

    def learn(self, x: RowLike, label: Hashable, weight: float = 1.0) -> int:
        """Learn one example: a sequence of numbers, a mapping of names to values, or a matrix of one row.

        Return the updates that it took: 0 if it was right.
        """
        new: list[Any] = []
        row: Rows
        if type(x) not in (CSR, np.ndarray) and isinstance(x, Mapping):
            row, new = self.known_vocabulary.row(x, learn=True)
            self.grow(len(self.known_vocabulary) + len(new))
        else:
            row = self._row(x)
        self.meet(label)
        before = self.stream.mistakes
        scaler = None if self.scaler is None else self.scaler.copy()
        if scaler is not None:
            row = scaler.follow(row)
        self.stream.learn_row(row, self.stream.target(label, weight))
        self.scaler = scaler  # a row that the stream refuses is not met
        if new:
            self.known_vocabulary.add(new)
        self.forget_model()
        return self.stream.mistakes - before

    def meet(self, label: Hashable, *, anyway: bool = False) -> None:
        """Make a label a class if it is not one; `anyway` does so also where the classes were declared."""
        stream = self.stream
        if stream.knows(label):
            return
        grows, stream.grows = stream.grows, stream.grows or anyway
        try:
            stream.meet(label)
        finally:
            stream.grows = grows
        self.forget_model()

    def grow(self, n_features: int, names: Sequence[Any] = ()) -> None:
        """Have at least so many features; `names` are those of the new ones."""
        if names:
            self.known_vocabulary.add(names)
        if n_features > self.n_features:
            self.stream.make_room(n_features)
            self.n_features = n_features
            self.forget_model()

    def forget_model(self) -> None:
        """Drop what is kept for predictions: the weights have changed."""
        self._linear = None

    # Prediction

    def score(self, x: RowLike) -> Any:
        """Return f(x), or one number for each class; a matrix of one row is read at the cost of its features."""
        return self._score(self._row(x) if self.scaler is None else self.scaler.scale(self._row(x)))

    def _score(self, row: Rows) -> Any:
        """Return the score of a row as the stream sees it."""
        from rosenblatt.loops.passes import score_row

        stream, state = self.stream, self.stream.state
        if not stream.linear:
            return self.model().decision(Features(row, 1, self.n_features))[0]
        if state.w.ndim == 1 and state.u is None and state.shrunk is None and state.met is None:
            f = score_row(row, state.w)
            if f - f == 0.0:
                return f
        if isinstance(row, CSR) or state.w.size > LARGE_WEIGHT_COUNT:
            return stream.score(row)
        return self.model().decision(Features(row, 1, row.shape[1]))[0]

    def predict(self, x: RowLike) -> Any:
        """Return the label of one example."""
        score, stream = self.score(x), self.stream
        if np.ndim(score) == 0:
            positive = score >= 0.0 if stream.zero > 0 else score > 0.0
            return self.classes[-1 if positive else 0]
        return self.classes[stream.scheme.choose(np.asarray(score)[None], stream.zero)[0]]

    def decide(self, features: Features) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the labels and the scores of rows."""
        stream, features = self.stream, self.seen_by_stream(features)
        if features.n_rows <= FEW_ROWS and stream.linear:
            scores = np.array([self._score(row) for row in features.each()])
        else:
            scores = self.model().decision(features)
        return self.classes[stream.scheme.choose(scores, stream.zero)], scores

    def seen_by_stream(self, features: Features) -> Features:
        """Return rows as the stream sees them: scaled, if there is a scaler."""
        return features if self.scaler is None else self.scaler.features(features)

    def model(self) -> Model:
        """Return what predicts many rows as the stream sees them; few weights are kept until the next update."""
        if self._linear is not None:
            return self._linear
        model = self.stream.model(self.n_features)
        if self.stream.linear and self.stream.state.w.size <= LARGE_WEIGHT_COUNT:
            self._linear = model
        return model

    def _row(self, x: RowLike) -> Rows:
        if isinstance(x, CSR) or (isinstance(x, np.ndarray) and x.ndim == 2):
            return x
        if isinstance(x, Mapping):
            return self.known_vocabulary.row(x, learn=False)[0]
        return vector_row(x, self.n_features)

    # Copies

    def copy(self) -> OnlineModel:
        """Return a model that shares nothing that learning changes."""
        vocabulary = None if self.vocabulary is None else self.vocabulary.copy()
        scaler = None if self.scaler is None else self.scaler.copy()
        return OnlineModel(self.stream.fork(), self.n_features, vocabulary, self.names, scaler)

    def pack(self) -> Packed:
        """Return the whole model as values and arrays, which another process can `unpack`."""
        stream = self.stream
        if type(stream) is not Stream:
            raise InputError("Only models of hyperplanes can be packed. Save the estimator instead.")
        values = (stream.state, stream.scheme, stream.classes, stream.zero, self.n_features, self.names)
        held = dict(zip(PARTS, (*values, self.vocabulary, stream), strict=True))
        rule = Rule if isinstance(stream.rule, Margins) else type(stream.rule)
        codecs, context = online_parts(rule), Context()
        document = {name: codecs[name].encode(value, name, context) for name, value in held.items()}
        document["scaler"] = SCALER.encode(self.scaler, "scaler", context)
        return Packed(rule, document, _copied(context.tensors))

    @classmethod
    def unpack(cls, packed: Packed) -> OnlineModel:
        """Return the model that `pack` packed; a damaged one raises an error."""
        codecs, context = online_parts(packed.rule), Context(_copied(packed.arrays))
        held = {name: codecs[name].decode(packed.document[name], name, context) for name in PARTS}
        link_online(held, packed.rule)
        scaler = SCALER.decode(packed.document["scaler"], "scaler", context)
        return cls(held["_stream"], held["_width"], held["_vocabulary"], held["_names"], scaler)

    def digest(self) -> bytes:
        """Return a hash of all that predictions and learning depend on, however it lies in memory."""
        stream, state = self.stream, self.stream.state
        found = hashlib.blake2b(digest_size=16)
        labels = [(type(label).__name__, label) for label in self.classes.tolist()]
        wrong = None if is_plain(stream.rule) else stream.wrong  # plain rules do not always count these
        told = (labels, self.n_features, state.visits, stream.mistakes, stream.seen, wrong)
        found.update(repr(told).encode())
        for part in stream.bytes_of_state(self.n_features):
            found.update(part)
        for part in () if self.scaler is None else self.scaler.parts():
            found.update(part)
        return found.digest()


def _copied(arrays: Tensors) -> Tensors:
    return Tensors({name: array.copy() for name, array in arrays.items()})
