"""A learner that goes on from a model file without scikit-learn, which takes longer to load than all else does."""

from __future__ import annotations

from copy import copy
from threading import Lock
from typing import Any

from rosenblatt.learning.linear import LinearModel, score_of_row
from rosenblatt.learning.state import State
from rosenblatt.learning.stored_streams import link_online, online_parts
from rosenblatt.learning.stream import Stream
from rosenblatt.loops import rules
from rosenblatt.loops.layout import Rows
from rosenblatt.models.stored import StoredModel, names_of
from rosenblatt.registry import BUILT_IN
from rosenblatt.rows.single import Vocabulary
from rosenblatt.schema.codecs import require
from rosenblatt.schema.plain import stored_name

__all__ = ["StreamedLearner", "read_streamed"]

RULES = {name: getattr(rules, entry.rule) for name, entry in BUILT_IN.items() if entry.rule is not None}
"""The learners whose streams need nothing of their estimators, and the rules they learn by."""


def read_streamed(stored: StoredModel) -> StreamedLearner | None:
    """Return the learner of a model file if it has a stream to go on with, else None.

    Parameters
    ----------
    stored : StoredModel
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> from rosenblatt.models.stored import open_model
    >>> with TemporaryDirectory() as folder:
    ...     rb.save(rb.Perceptron().learn_one([1.0], "no").learn_one([2.0], "yes"), f"{folder}/m")
    ...     read_streamed(open_model(f"{folder}/m")).stream.seen
    2
    """
    state, rule = stored._document["state"], RULES.get(stored.learner)
    if rule is None or state.get("stream") is None:
        return None
    parts = online_parts(rule)

    def made() -> StreamedLearner:
        context = stored._context()
        require({stored_name(name) for name in parts} <= state.keys(), "parts of its state are missing")
        held = {
            name: codec.decode(state[stored_name(name)], stored_name(name), context)
            for name, codec in parts.items()
        }
        link_online(held)
        learner = StreamedLearner(stored, held)
        require(names_of(learner) == stored.feature_names, "feature_names are not those of the model")
        if stored.preparation.steps:
            expected = stored.preparation.n_outputs
            require(learner._width == expected, "its preparation and its learner do not fit each other")
            learner._names = learner._vocabulary = None
        return learner

    return stored._reading(made)


class StreamedLearner:
    """What a stream needs of an `OnlineLearning`, under the same names.

    Parameters
    ----------
    stored : StoredModel
        The file that it comes from.
    held : mapping of str to object
        The attributes of the estimator, as `online_parts` names them.
    """

    _vocabulary: Vocabulary | None
    _names: tuple[Any, ...] | None

    def __init__(self, stored: StoredModel, held: dict[str, Any]) -> None:
        self._shell = _Shell(stored)
        self._vocabulary, self._names = held["_vocabulary"], held["_names"]
        self._zero: int = held["_zero"]
        self._follow(held["_stream"], held["_width"], None)

    @property
    def stream(self) -> Stream:
        """The stream."""
        return self._stream

    @property
    def multiclass(self) -> str:
        """How several classes become hyperplanes."""
        return self._stream.multiclass

    def estimator(self) -> Any:
        """Return the estimator, with the stream as it is now: both go on together."""
        return self._shell.around(self)

    def _stream_for(self, n_features: int, classes: None) -> Stream:
        return self._stream

    def _follow(self, stream: Stream, width: int, names: None) -> None:
        self._stream, self._state, self._width = stream, stream.state, width
        self._classes, self._scheme = stream.classes, stream.scheme

    def _model(self) -> LinearModel:
        return LinearModel.of(self._state, self._width, self._scheme, self._classes, self._zero)

    def _score_of_row(self, row: Rows, state: State) -> Any:
        return score_of_row(row, state, self._scheme, self._classes, self._zero)

    def _feature_names(self) -> tuple[Any, ...] | None:
        return self._names if self._vocabulary is None else tuple(self._vocabulary.names)

    def _known_vocabulary(self) -> Vocabulary:
        return Vocabulary.of(self._names) if self._vocabulary is None else self._vocabulary


class _Shell:
    """The estimator of a file without its weights, made when it is first asked for."""

    def __init__(self, stored: StoredModel) -> None:
        self._stored: StoredModel | None = stored
        self._empty: Any = None
        self._lock = Lock()

    def around(self, learner: StreamedLearner) -> Any:
        """Return the estimator with the stream of a learner."""
        with self._lock:
            if self._stored is not None:
                self._empty = self._stored.estimator()
                # The file, and what it had learned, is not needed any more.
                self._empty._state = self._empty._stream = self._empty._vocabulary = self._stored = None
        made = copy(self._empty)
        made._vocabulary = learner._vocabulary
        made._follow(learner._stream, learner._width, None)
        return made
