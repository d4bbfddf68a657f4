"""What a trained tagger answers: labels, margins, scores, and its weights by name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rosenblatt.data.sequences import ItemVocabulary, SequenceRows, as_label_codes, as_sentences
from rosenblatt.estimators._parameters import check_count
from rosenblatt.exceptions import ParameterError
from rosenblatt.model.sequence import SequenceModel, SequenceState
from rosenblatt.text.templates import HashedTemplates, TemplateVocabulary
from rosenblatt.trace.sequence import SequenceTrace, steps_of
from rosenblatt.typing import Floats, Ints


class Tagger(BaseEstimator):  # type: ignore[misc]
    """Labels the tokens of sentences with weights that a subclass trains."""

    beam: int | None
    order: int
    _state: SequenceState
    _vocabulary: ItemVocabulary | TemplateVocabulary | HashedTemplates
    _classes: NDArray[Any]
    _last: Floats
    _trace: SequenceTrace
    columns_: tuple[str, ...] | None = None
    label_: str | None = None

    def predict(self, X: Any, k: int | None = None) -> list[Any]:
        """Return the labels of each sentence.

        Parameters
        ----------
        X : iterable of sentences
            As in `fit`.
        k : int or None
            If given, return the k best labellings of each sentence, best first; fewer if there are fewer.

        Returns
        -------
        list
            A list of labels for each sentence, or with `k` a list of such lists.
        """
        model, rows = self._predictor(X)
        labels = self._classes.tolist()
        if k is not None and check_count("k", k):
            self._require_exact("predict with k")
            return [
                [[labels[code] for code in codes] for codes in model.best(rows, i, k)[0].tolist()]
                for i in range(rows.n_sentences)
            ]
        flat = [labels[code] for code in model.codes(rows, self.beam).tolist()]
        return [flat[begin:end] for begin, end in pairwise(rows.starts.tolist())]

    def predict_one(self, x: Any) -> list[Any] | None:
        """Return the labels of one sentence; None before the first one was learned from."""
        return self.predict([x])[0] if self.__sklearn_is_fitted__() else None

    def margins(self, X: Any) -> list[Floats]:
        """Return how far each label of each token is from the best labelling.

        Parameters
        ----------
        X : iterable of sentences
            As in `fit`.

        Returns
        -------
        list of ndarray
            For each sentence an array of shape (n_tokens, n_labels): the score of the best labelling in which the
            token has the label, minus the best score. The predicted labels have 0. These are not probabilities.
        """
        self._require_exact("margins")
        model, rows = self._predictor(X)
        found = model.margins(rows)
        return [found[begin:end] for begin, end in pairwise(rows.starts.tolist())]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens that are labelled correctly, weighted by their sentences."""
        self._require_fitted()
        sentences = as_sentences(X)
        _, codes = as_label_codes(y, sentences, self._classes)
        model, rows = self._predictor(sentences)
        right = model.codes(rows, self.beam) == codes
        weights = np.repeat(steps_of(sample_weight, len(sentences)), np.diff(rows.starts))
        return float(np.average(right, weights=weights))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self._fitted("classes_")._classes

    @property
    def n_features_(self) -> int:
        """The number of features with weights."""
        return self._fitted("n_features_")._vocabulary.n_features

    @property
    def transition_features_(self) -> dict[tuple[Any, ...], float]:
        """The weight of each pair (before, label), and with order 2 of each (before that, before, label).

        Before is None at the start of a sentence.
        """
        _, t, scale = self._fitted("transition_features_")._state.scaled(slice(0))
        labels = [*self._classes.tolist(), None]
        before = [(k,) for k in labels] + [(j, k) for j in labels for k in labels]
        at = np.argwhere((t != 0.0) & np.isfinite(t))
        return {(*before[k], labels[label]): float(t[k, label] / scale) for k, label in at.tolist()}

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weight of each pair (feature, label)."""
        fitted = self._fitted("state_features_")
        names, labels = fitted._vocabulary.names(), fitted._classes.tolist()
        w, _, scale = fitted._state.scaled(slice(len(names)))
        at = np.argwhere(w != 0.0).tolist()
        return {(names[f], labels[label]): float(w[f, label] / scale) for f, label in at}

    @property
    def mistakes_per_pass_(self) -> Ints:
        """The number of sentences with a mistake, for each pass of the last fit."""
        return self._traced("mistakes_per_pass_").mistakes_per_pass

    @property
    def trace_(self) -> SequenceTrace:
        """Every mistake of the last fit."""
        return self._traced("trace_")

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def _traced(self, attribute: str) -> SequenceTrace:
        if "_trace" not in self.__dict__:
            when = "in a stream" if self.__sklearn_is_fitted__() else "before it is trained"
            raise AttributeError(f"SequencePerceptron has no attribute {attribute!r} {when}.")
        return self._trace

    def _fitted(self, attribute: str) -> Self:
        if self.__sklearn_is_fitted__():
            return self
        raise AttributeError(f"SequencePerceptron has no attribute {attribute!r} before it is trained.")

    def _require_exact(self, what: str) -> None:
        if self.beam is not None or self.order != 1:
            raise ParameterError(f"{what} needs exact search of order 1. Train with beam=None and order=1.")

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This SequencePerceptron is not trained yet. Call fit or partial_fit first.")

    def _predictor(self, X: Any) -> tuple[SequenceModel, SequenceRows]:
        self._require_fitted()
        return self._state.predictor(self._last, self._vocabulary.rows(as_sentences(X), grows=False))
