"""The structured perceptron for sequences, with the methods of scikit-learn and python-crfsuite."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rosenblatt.data.labels import as_labels
from rosenblatt.data.sequences import (
    ItemVocabulary,
    Sentences,
    SequenceRows,
    as_label_codes,
    as_sentences,
    frequent,
    starts_of,
)
from rosenblatt.data.weights import single_weight
from rosenblatt.estimators._parameters import check_choice, check_count, check_flag, check_number, generator
from rosenblatt.exceptions import LabelError, ParameterError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.sequence import SequencePlan, SequenceRun, fit_sequences, learn
from rosenblatt.model.constraints import as_constraints, require_allowed
from rosenblatt.model.sequence import SequenceModel, SequenceState
from rosenblatt.registry import Learner
from rosenblatt.text.templates import TemplateVocabulary, as_templates
from rosenblatt.trace.sequence import SequenceTrace, steps_of
from rosenblatt.trace.sequence_schemas import SEQUENCE_STATE, without_long_log
from rosenblatt.typing import Floats, Ints


class SequencePerceptron(BaseEstimator):  # type: ignore[misc]
    """The structured perceptron for sequences (Collins 2002).

    It labels the tokens of a sentence together: the score of a labelling adds the weights of the features of each
    token with its label, and the weights of neighbouring labels. The best labelling is found exactly, by the
    algorithm of Viterbi (1967). At each mistake the weights gain the features of the true labelling and lose those
    of the wrong one.

    Parameters
    ----------
    max_iter : int
        The maximum number of passes. Training ends earlier if all sentences are labelled correctly.
    average : bool
        Whether to predict by the average of the weights over all visits, not by the last weights.
    margin : float
        What each wrong label scores more while training, so that the truth must win by this much for each wrong
        token. 0 is the rule of Collins.
    tie : {"sign", "mistake"}
        Whether a labelling with the same score as the true one is a mistake. "sign": only if it is predicted; of
        equal labellings the one with the lower last label is. "mistake": always, which takes twice the time.
    constraints : None, "bio", "bioes", or list of pairs
        Which labels may follow each other, in training and in predicting. Pairs (before, label) are forbidden;
        (None, label) forbids a first label, and (label, None) a last one.
    templates : None, "words", or list
        None: the items of X are features, as in python-crfsuite. "words": the items are words, whose features are
        the word, its neighbours, beginnings, endings and shape. A list has templates such as ``"lower"``,
        ``("suffix3", -1)`` and ``(("lower", -1), ("lower", 0))``.
    min_freq : int
        Features that occur less often in the training data are left out.
    shuffle : bool
        Whether to visit sentences in a new random order in each pass.
    random_state : int, RandomState, Generator or None
        Random seed of the order.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transition_features_ : dict
        The weight of each pair (before, label); before is None at the start of a sentence.
    state_features_ : dict
        The weight of each pair (feature, label). Weights of 0 are left out in both.
    n_iter_ : int
        The number of passes.
    stop_reason_ : str
        Why training ended: "separated" (a pass without a mistake), "max_iter" or "interrupted".
    converged_ : bool
        Whether a pass was without a mistake.
    mistakes_per_pass_ : ndarray of int
        The sentences with a mistake, for each pass.
    n_skipped_ : int
        The number of empty sentences in the training data.
    trace_ : SequenceTrace
        Every mistake of the fit, which can be replayed. Streams have none.

    Notes
    -----
    If all values are whole numbers, scores are exact below 2⁵³. Several threads may predict at the same time.

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> tagger = SequencePerceptron(templates="words").fit(X, y)
    >>> tagger.predict([["the", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    >>> tagger.stop_reason_
    'separated'
    """

    _learner = Learner(SEQUENCE_STATE, abilities=frozenset({"streams", "examples", "traces"}))

    _state: SequenceState
    _vocabulary: ItemVocabulary | TemplateVocabulary
    _classes: NDArray[Any]
    _last: Floats
    _trace: SequenceTrace

    def __init__(
        self,
        *,
        max_iter: int = 10,
        average: bool = True,
        margin: float = 0.0,
        tie: str = "sign",
        constraints: Any = None,
        templates: Any = None,
        min_freq: int = 1,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.max_iter = max_iter
        self.average = average
        self.margin = margin
        self.tie = tie
        self.constraints = constraints
        self.templates = templates
        self.min_freq = min_freq
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on sentences from zero weights.

        Parameters
        ----------
        X : iterable of sentences
            Each a sequence of items: dictionaries, lists or sets of features as python-crfsuite reads them, or
            with `templates` words, or tuples of a word and further texts.
        y : iterable of sequences of labels
            One label for each item. Empty sentences are skipped and counted.
        sample_weight : sequence or None
            The weight of each sentence, by which its updates are multiplied.

        Returns
        -------
        SequencePerceptron
            The estimator. An error leaves it unchanged.

        Raises
        ------
        LabelError
            There is only one label, or one that the constraints forbid.
        """
        with interruptible():
            plan = self._plan(generator(self.random_state) if self.shuffle else None)
            sentences = as_sentences(X)
            classes, codes = as_label_codes(y, sentences, None)
            if len(classes) < 2:
                raise LabelError(
                    f"All tokens have the label {classes[0]!s}, so there is nothing to learn. Pass two or more."
                )
            held = as_constraints(self.constraints, classes)
            steps = steps_of(sample_weight, len(sentences))
            vocabulary = self._new_vocabulary()
            rows = vocabulary.rows(sentences, grows=True)
            require_allowed(held, codes, rows.starts, classes)
            rows = frequent(rows, vocabulary, self.min_freq)
            state = SequenceState.zero(vocabulary.n_features, held.pairs, average=self.average)
            run = fit_sequences(rows, codes, steps, state, held.last, plan)
            touched = run.state.touched(vocabulary.n_features)
            vocabulary.keep(touched)
            run.state.keep(touched)
            self._publish(run, vocabulary, classes, held.pairs, held.last, rows)
        if run.interruption is not None:
            raise run.interruption
        if run.stop_reason == "max_iter" and not self.average:
            warnings.warn(
                f"max_iter={self.max_iter} was reached without labelling all sentences correctly. Allow more "
                "passes, or use average=True, which needs no separation.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit more sentences once, in their order.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : sequence or None
            All labels, in the first call; by default those of its y. Later calls may repeat it.

        Returns
        -------
        SequencePerceptron
            The estimator. Bad input leaves it unchanged.
        """
        sentences = as_sentences(X)
        return self._visit(sentences, y, classes, steps_of(sample_weight, len(sentences)))

    def _visit(self, sentences: Sentences, y: Any, classes: Any, steps: Floats) -> Self:
        """Visit sentences once; the updates of each are multiplied by its step."""
        plan = self._plan(None)
        if self.min_freq > 1:
            raise ParameterError(
                "min_freq cannot be used with partial_fit, which knows no later data. Set it to 1."
            )
        begun = self.__sklearn_is_fitted__()
        known = self._known_classes(classes, begun)
        known, codes = as_label_codes(y, sentences, known)
        if len(known) < 2:
            raise LabelError(f"There is only the label {known[0]!s}. Pass all labels as classes to partial_fit.")
        held = as_constraints(self.constraints, known)
        vocabulary = self._vocabulary if begun else self._new_vocabulary()
        if begun and (
            (self._state.u is not None) != self.average
            or not np.array_equal(np.isneginf(self._state.t), np.isneginf(held.pairs))
        ):
            raise ParameterError(
                "average and constraints cannot change in partial_fit. Use fit, or a new estimator."
            )
        require_allowed(held, codes, starts_of(sentences), known)
        state = self._state if begun else SequenceState.zero(0, held.pairs, average=self.average)
        rows = state.meet(sentences, vocabulary)
        visits = np.flatnonzero(np.diff(rows.starts)).astype(np.uint64)
        for name in ("_trace", "_fit_counts", "n_iter_", "stop_reason_", "converged_", "n_skipped_"):
            self.__dict__.pop(name, None)
        self._state, self._vocabulary, self._classes, self._last = state, vocabulary, known, held.last
        learn(rows, codes, steps, state, held.last, visits, plan)
        return self

    def learn_one(self, x: Any, y: Any, sample_weight: float = 1.0) -> Self:
        """Visit one sentence: a sequence of items, and their labels."""
        return self._visit(as_sentences([x]), [y], None, np.array([single_weight(sample_weight)]))

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
            return [
                [[labels[code] for code in codes] for codes in model.best(rows, i, k)[0].tolist()]
                for i in range(rows.n_sentences)
            ]
        flat = [labels[code] for code in model.codes(rows).tolist()]
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
        model, rows = self._predictor(X)
        found = model.margins(rows)
        return [found[begin:end] for begin, end in pairwise(rows.starts.tolist())]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens that are labelled correctly, weighted by their sentences."""
        self._require_fitted()
        sentences = as_sentences(X)
        _, codes = as_label_codes(y, sentences, self._classes)
        model, rows = self._predictor(sentences)
        right = model.codes(rows) == codes
        weights = np.repeat(steps_of(sample_weight, len(sentences)), np.diff(rows.starts))
        return float(np.average(right, weights=weights))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self._fitted("classes_")._classes

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """The weight of each pair (before, label); before is None at the start of a sentence."""
        _, t, scale = self._fitted("transition_features_")._state.scaled(slice(0))
        labels = [*self._classes.tolist(), None]
        at = np.argwhere((t != 0.0) & np.isfinite(t))
        return {(labels[k], labels[label]): float(t[k, label] / scale) for k, label in at.tolist()}

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

    def __getstate__(self) -> dict[str, Any]:
        return without_long_log(super().__getstate__())

    def _traced(self, attribute: str) -> SequenceTrace:
        if "_trace" not in self.__dict__:
            when = "in a stream" if self.__sklearn_is_fitted__() else "before it is trained"
            raise AttributeError(f"SequencePerceptron has no attribute {attribute!r} {when}.")
        return self._trace

    def _fitted(self, attribute: str) -> Self:
        if self.__sklearn_is_fitted__():
            return self
        raise AttributeError(f"SequencePerceptron has no attribute {attribute!r} before it is trained.")

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This SequencePerceptron is not trained yet. Call fit or partial_fit first.")

    def _plan(self, rng: np.random.Generator | None) -> SequencePlan:
        """Check the parameters, and return how to train."""
        check_choice("tie", self.tie, ("sign", "mistake"))
        for name in ("average", "shuffle"):
            check_flag(name, getattr(self, name))
        check_count("min_freq", self.min_freq)
        seed = None if rng is None else int(rng.integers(2**64, dtype=np.uint64))
        margin = check_number("margin", self.margin, least=0)
        return SequencePlan(check_count("max_iter", self.max_iter), margin, self.tie == "mistake", seed)

    def _new_vocabulary(self) -> ItemVocabulary | TemplateVocabulary:
        return ItemVocabulary() if self.templates is None else TemplateVocabulary(as_templates(self.templates))

    def _known_classes(self, classes: Any, begun: bool) -> NDArray[Any] | None:
        if begun:
            if classes is not None and set(classes) != set(self._classes.tolist()):
                raise ParameterError("classes are not those of the first call. Leave classes out, or use fit.")
            return self._classes
        return None if classes is None else as_labels(list(classes), len(list(classes)))[1]

    def _predictor(self, X: Any) -> tuple[SequenceModel, SequenceRows]:
        self._require_fitted()
        return self._state.predictor(self._last, self._vocabulary.rows(as_sentences(X), grows=False))

    def _publish(
        self,
        run: SequenceRun,
        vocabulary: Any,
        classes: NDArray[Any],
        pairs: Floats,
        last: Floats,
        rows: SequenceRows,
    ) -> None:
        self.__dict__.update(
            _state=run.state,
            _vocabulary=vocabulary,
            _classes=classes,
            _last=last,
            _trace=run.trace(pairs, classes, vocabulary, rows.n_sentences),
            n_iter_=len(run.mistakes_per_pass),
            stop_reason_=run.stop_reason,
            converged_=run.stop_reason == "separated",
            n_skipped_=int((np.diff(rows.starts) == 0).sum()),
        )
