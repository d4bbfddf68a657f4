"""The structured perceptron for sequences, with the methods of scikit-learn and python-crfsuite."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rosenblatt.estimators._fitting import generator, keeping, open_checkpoint, progress_bar
from rosenblatt.exceptions import Given, LabelError, ParameterError, Remedy
from rosenblatt.learning.checkpoint import fingerprint
from rosenblatt.learning.plan import Predicts
from rosenblatt.parameters import Declared, PerceptronParameters, check_count, like, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import single_weight
from rosenblatt.rows.features import read_only
from rosenblatt.rows.labels import as_labels
from rosenblatt.sequences.sentence_problem import as_constraints, require_all_features, require_allowed
from rosenblatt.sequences.sentences import (
    ItemVocabulary,
    Sentences,
    SequenceRows,
    as_label_codes,
    as_sentences,
    frequent,
    starts_of,
)
from rosenblatt.sequences.tagger_file import SEQUENCE_STATE, without_long_log
from rosenblatt.sequences.tagger_fit import (
    UPDATES,
    SequenceCheckpoint,
    SequenceFit,
    SequencePlan,
    SequenceRun,
    learn,
)
from rosenblatt.sequences.tagger_model import SequenceModel, SequenceState, with_triples
from rosenblatt.sequences.tagger_trace import SequenceTrace, steps_of
from rosenblatt.sequences.templates import HashedTemplates, TemplateVocabulary, as_templates
from rosenblatt.stopping import interruptible
from rosenblatt.tables.reading import MOST_BITS
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from rosenblatt.sequences.sentence_proof import SequenceAnswer


# What a trained tagger answers: labels, margins, scores, and its weights by name.


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

    def predict(self, X: Iterable[Any], k: int | None = None) -> list[Any]:
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

    def predict_one(self, x: Iterable[Any]) -> list[Any] | None:
        """Return the labels of one sentence; None before the first one was learned from."""
        return self.predict([x])[0] if self.__sklearn_is_fitted__() else None

    def margins(self, X: Iterable[Any]) -> list[Floats]:
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

    def score(self, X: Iterable[Any], y: Any, sample_weight: ArrayLike | None = None) -> float:
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
        return read_only(self._fitted("classes_")._classes)

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
        return read_only(self._traced("mistakes_per_pass_").mistakes_per_pass)

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
            raise _inexact(what)

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This SequencePerceptron is not trained yet. Call fit or partial_fit first.")

    def _predictor(self, X: Iterable[Any]) -> tuple[SequenceModel, SequenceRows]:
        self._require_fitted()
        return self._state.predictor(self._last, self._vocabulary.rows(as_sentences(X), grows=False))


def _inexact(what: str | Given) -> ParameterError:
    told = what + " needs exact search of order 1. Use " + Remedy("order", 1) + " without " + Given("beam") + "."
    first = (what.parameter,) if isinstance(what, Given) else ()
    return ParameterError(told, parameters=(*first, "beam", "order"))


class SequencePerceptron(Declared, Tagger):
    """The structured perceptron for sequences (Collins 2002).

    It labels the tokens of a sentence together: the score of a labelling adds the weights of the features of each
    token with its label, and the weights of neighbouring labels. The best labelling is found exactly, by the
    algorithm of Viterbi (1967). At each mistake the weights gain the features of the true labelling and lose those
    of the wrong one.

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
    n_features_ : int
        The number of features with weights.
    stop_reason_ : str
        Why training ended: "separated" (a pass without a mistake), "max_iter", "max_time" or "interrupted".
    converged_ : bool
        Whether a pass was without a mistake.
    mistakes_per_pass_ : ndarray of int
        The sentences with a mistake, for each pass.
    n_skipped_ : int
        The number of empty sentences in the training data.
    trace_ : SequenceTrace
        Every mistake of the fit, which can be replayed. Streams have none.
    columns_, label_ : tuple of str, str or None
        The columns of files that tokens and labels were read from, if `rosenblatt.train` trained it.

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

    _learner = built_in("SequencePerceptron", SEQUENCE_STATE)

    max_iter: int = param(
        10, "The maximum number of passes. Training ends earlier if all sentences are labelled correctly."
    )
    average: bool = param(
        True, "Whether to predict by the average of the weights over all visits, not by the last weights."
    )
    margin: float = param(
        0.0,
        "What each wrong label scores more while training, so that the truth must win by this much for each "
        "wrong token. 0 is the rule of Collins.",
        least=0,
    )
    tie: str = param(
        "sign",
        'Whether a labelling with the same score as the true one is a mistake. "sign": only if it is predicted; '
        'of equal labellings the one with the lower last label is. "mistake": always, which takes twice the '
        "time.",
        one_of=("sign", "mistake"),
    )
    constraints: Any = param(
        None,
        "Which labels may follow each other, in training and in predicting. Pairs (before, label) are forbidden; "
        "(None, label) forbids a first label, and (label, None) a last one.",
        kind='None, "bio", "bioes", or list of pairs',
    )
    order: int = param(
        1,
        "How many labels before a token are features of its label. 2 has weights for three labels in a row "
        "besides those for two; exact search then takes time with the third power of the number of labels.",
        one_of=(1, 2),
    )
    beam: int | None = param(
        None, "The number of prefixes of labellings that search keeps from token to token. None searches exactly."
    )
    update: str = param(
        "max",
        'With a beam, where in the sentence an update ends. "max": where the wrong labels are furthest above the '
        'truth. "early": where the truth leaves the beam. "full": at the end, which may correct what was no '
        "mistake of the weights but of the search; it is there for comparison.",
        one_of=UPDATES,
    )
    templates: Any = param(
        None,
        'None: the items of X are features, as in python-crfsuite. "words": the items are words, whose features '
        'are the word, its neighbours, beginnings, endings and shape. A list has templates such as ``"lower"``, '
        '``("suffix3", -1)`` and ``(("lower", -1), ("lower", 0))``.',
        kind='None, "words", or list',
    )
    min_freq: int = param(1, "Features that occur less often in the training data are left out.")
    hash_bits: int | None = param(
        None,
        "Hash the features of templates to 2^hash_bits numbers, so that the model has a fixed size and remembers "
        "no words. None numbers them exactly.",
        most=MOST_BITS,
    )
    shuffle: bool = param(True, "Whether to visit sentences in a new random order in each pass.")
    random_state: Any = like(PerceptronParameters, doc="Random seed of the order.")
    verbose: int = like(PerceptronParameters)
    max_time: float | None = like(
        PerceptronParameters,
        doc="The maximum number of seconds that training takes, after features are made; it ends between two "
        "blocks of sentences.",
    )
    callbacks: Any = like(PerceptronParameters)

    def fit(
        self,
        X: Iterable[Any],
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
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
        checkpoint, every, resume
            As in `Perceptron.fit_blocks`: where to save the state of training, after how many passes, and whether
            to continue from there.

        Returns
        -------
        SequencePerceptron
            The estimator. An error leaves it unchanged.

        Raises
        ------
        LabelError
            There is only one label, or one that the constraints forbid.
        """
        with interruptible(), keeping(checkpoint, every, resume) as kept:
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
            pairs = with_triples(held.pairs, self.order)
            state = SequenceState.zero(vocabulary.n_features, pairs, average=self.average)
            data = rows, codes, steps, held.pairs, held.last, classes.tolist()
            keeper, saved = open_checkpoint(self, kept, lambda: fingerprint(*data), SequenceCheckpoint)
            if self.shuffle and saved is not None:
                plan = replace(plan, seed=saved.seed)
            if keeper is not None:
                keeper.seed = plan.seed or 0

            def model(state: SequenceState) -> Predicts:
                made, known = (
                    copy(self),
                    copy(vocabulary),
                )  # which forgets features that have no weights at the end
                made.__dict__.update(_state=state, _vocabulary=known, _classes=classes, _last=held.last)
                return made

            bar = progress_bar(self.max_iter, type(self).__name__, unit="sentences") if self.verbose else None
            with bar or nullcontext() as show:
                told = replace(plan, callbacks=[*([show] if show else []), *(self.callbacks or ())])
                loop = SequenceFit(rows, codes, steps, state, held.last, told, model, keeper)
                if saved is not None:
                    loop.go_on(saved)
                run = loop.run()
            if self.hash_bits is None:
                touched = run.state.touched(vocabulary.n_features)
                vocabulary.keep(touched)
                run.state.keep(touched)
            self._publish(run, vocabulary, classes, pairs, held.last, rows)
        counts, reason = run.mistakes_per_pass, run.stop_reason
        if self.verbose:
            print(f"Ended by {reason!r}: {len(counts):,} passes, {sum(counts):,} mistakes.", file=sys.stderr)
        if run.interruption is not None:
            raise run.interruption
        amounts = {"max_iter": "passes", "max_time": "time"}
        if reason in amounts and not self.average:
            warnings.warn(
                Remedy(reason, getattr(self, reason))
                + f" was reached without labelling all sentences correctly. Allow more {amounts[reason]}, or use "
                + Remedy("average", True)
                + ", which needs no separation.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(
        self,
        X: Iterable[Any],
        y: Any,
        classes: Iterable[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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

    def _visit(self, sentences: Sentences, y: Any, classes: Iterable[Any] | None, steps: Floats) -> Self:
        """Visit sentences once; the updates of each are multiplied by its step."""
        plan = self._plan(None)
        if self.min_freq > 1:
            told = " cannot be used with partial_fit, which knows no later data. Set it to 1."
            raise ParameterError(Given("min_freq", self.min_freq) + told)
        begun = self.__sklearn_is_fitted__()
        known = self._known_classes(classes, begun)
        known, codes = as_label_codes(y, sentences, known)
        if len(known) < 2:
            raise LabelError(f"There is only the label {known[0]!s}. Pass all labels as classes to partial_fit.")
        held = as_constraints(self.constraints, known)
        vocabulary = self._vocabulary if begun else self._new_vocabulary()
        pairs = with_triples(held.pairs, self.order)
        if begun and (
            (self._state.u is not None) != self.average
            or not np.array_equal(np.isneginf(self._state.t), np.isneginf(pairs))
        ):
            told = " cannot change in partial_fit. Use fit, or a new estimator."
            raise ParameterError(Given("average") + ", " + Given("order") + " and " + Given("constraints") + told)
        require_allowed(held, codes, starts_of(sentences), known)
        state = self._state if begun else SequenceState.zero(0, pairs, average=self.average)
        rows = state.meet(sentences, vocabulary)
        visits = np.flatnonzero(np.diff(rows.starts)).astype(np.uint64)
        for name in ("_trace", "_fit_counts", "n_iter_", "stop_reason_", "converged_", "n_skipped_"):
            self.__dict__.pop(name, None)
        self._state, self._vocabulary, self._classes, self._last = state, vocabulary, known, held.last
        learn(rows, codes, steps, state, held.last, visits, plan)
        return self

    def certify(
        self, X: Iterable[Any], y: Any, *, without: Iterable[int] = (), time_limit: float | None = None
    ) -> SequenceAnswer:
        """Decide whether some weights label every sentence correctly, and prove it.

        The question is about `templates` and `constraints`, with exact search; the estimator need not be trained,
        and is not changed.

        Parameters
        ----------
        X, y
            As in `fit`.
        without : iterable of int
            Sentences that take no part, from 0: for example ``answer.minority`` of an earlier answer.
        time_limit : float or None
            Seconds after which the answer is "undecided"; None leaves only a limit of work.

        Returns
        -------
        SequenceSeparable, SequenceInseparable or SequenceUndecided
            The answer, with its proof. If it is no, ``answer.inconsistencies`` are all places that are annotated
            in several ways.
        """
        from rosenblatt.sequences.sentence_verdict import certify_sequences

        require_all_features(self, "A proof")
        return certify_sequences(
            X, y, templates=self.templates, constraints=self.constraints, without=without, time_limit=time_limit
        )

    def learn_one(self, x: Iterable[Any], y: Any, sample_weight: float = 1.0) -> Self:
        """Visit one sentence: a sequence of items, and their labels."""
        return self._visit(as_sentences([x]), [y], None, np.array([single_weight(sample_weight)]))

    def __getstate__(self) -> dict[str, Any]:
        return without_long_log(super().__getstate__())

    def _plan(self, rng: np.random.Generator | None) -> SequencePlan:
        """Check the parameters, and return how to train."""
        self._check_parameters()
        if self.hash_bits is not None and (self.templates is None or self.min_freq > 1):
            told = Given("hash_bits") + " needs " + Given("templates") + ", and "
            raise ParameterError(told + Remedy("min_freq", 1) + ": hashed features are not counted.")
        seed = None if rng is None else int(rng.integers(2**64, dtype=np.uint64))
        if self.tie == "mistake" and (self.beam is not None or self.order == 2):
            raise _inexact(Given("tie", "mistake"))
        return SequencePlan(
            int(self.max_iter),
            float(self.margin),
            self.tie == "mistake",
            seed,
            self.beam,
            self.order,
            "full" if self.beam is None else self.update,
            self.max_time,
        )

    def _new_vocabulary(self) -> ItemVocabulary | TemplateVocabulary | HashedTemplates:
        if self.hash_bits is not None:
            return HashedTemplates(self.templates, self.hash_bits)
        return ItemVocabulary() if self.templates is None else TemplateVocabulary(as_templates(self.templates))

    def _known_classes(self, classes: Iterable[Any] | None, begun: bool) -> NDArray[Any] | None:
        if begun:
            if classes is not None and set(classes) != set(self._classes.tolist()):
                raise ParameterError(Given("classes") + " are not those of the first call. Drop them, or use fit.")
            return self._classes
        return None if classes is None else as_labels(list(classes), len(list(classes)))[1]

    def _publish(
        self,
        run: SequenceRun,
        vocabulary: Any,
        classes: NDArray[Any],
        pairs: Floats,
        last: Floats,
        rows: SequenceRows,
    ) -> None:
        for name in ("columns_", "label_"):
            self.__dict__.pop(name, None)
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
