"""A learner that goes on from a model file without scikit-learn, which takes longer to load than all else does."""

from __future__ import annotations

from copy import copy
from threading import Lock
from typing import Any

from rosenblatt.codecs import require, stored_name
from rosenblatt.learning.online import OnlineModel
from rosenblatt.learning.stored_streams import link_online, online_parts
from rosenblatt.learning.stream import Stream
from rosenblatt.loops import rules
from rosenblatt.models.files import StoredModel
from rosenblatt.registry import BUILT_IN

RULES = {name: getattr(rules, entry.rule) for name, entry in BUILT_IN.items() if entry.rule is not None}
"""The learners whose streams need nothing of their estimators, and the rules they learn by."""


def read_streamed(stored: StoredModel) -> StreamedLearner | None:
    """Return the learner of a model file if it has a stream to go on with, else None.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> from rosenblatt.models.files import open_model
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
        link_online(held, rule)
        online = OnlineModel(held["_stream"], held["_width"], held["_vocabulary"], held["_names"])
        require(online.feature_names == stored.feature_names, "feature_names are not those of the model")
        if stored.preparation.steps:
            expected = stored.preparation.n_outputs
            require(online.n_features == expected, "its preparation and its learner do not fit each other")
            online.names = online.vocabulary = None
        return StreamedLearner(_Shell(stored), online)

    return stored._reading(made)


class StreamedLearner:
    """The online model of a file, and its estimator, which is made when it is first asked for."""

    def __init__(self, shell: _Shell, online: OnlineModel) -> None:
        self._shell, self._online = shell, online

    @property
    def stream(self) -> Stream:
        """The stream."""
        return self._online.stream

    def online_model(self) -> OnlineModel:
        """Return what learns and predicts."""
        return self._online

    def go_on_with(self, model: OnlineModel) -> StreamedLearner:
        """Learn and predict with another online model from now on."""
        self._online = model
        return self

    def estimator(self) -> Any:
        """Return the estimator, with the stream as it is now: both go on together."""
        return self._shell.around(self._online)


class _Shell:
    """The estimator of a file without its weights, made when it is first asked for."""

    def __init__(self, stored: StoredModel) -> None:
        self._stored: StoredModel | None = stored
        self._empty: Any = None
        self._lock = Lock()

    def around(self, online: OnlineModel) -> Any:
        """Return the estimator with an online model."""
        with self._lock:
            if self._stored is not None:
                # The file, and what it had learned, is not needed any more.
                self._empty, self._stored = self._stored.estimator().go_on_with(online), None
        return copy(self._empty).go_on_with(online)
