"""The record of a run on sequences, from which its weights can be rebuilt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.rows.batch import as_weight
from rosenblatt.sequences.loop import ENDS_BEFORE, MistakeLog, replay_sentences
from rosenblatt.sequences.sentences import SequenceRows, as_label_codes, as_sentences
from rosenblatt.sequences.tagger_model import SequenceState
from rosenblatt.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class SequenceTrace:
    """Every mistake of a run on sequences, in order.

    The mistakes determine the model: each adds the features of the true labelling minus those of the wrong one.

    Attributes
    ----------
    mistakes_per_pass, visits_per_pass : ndarray of int
        For each pass.
    n_sentences : int
        The number of sentences.
    classes : ndarray
        The labels.
    """

    log: MistakeLog | None = field(repr=False)
    mistakes_per_pass: Ints
    visits_per_pass: Ints
    n_sentences: int
    average: bool
    pairs: Floats = field(repr=False)
    classes: NDArray[Any] = field(repr=False)
    vocabulary: Any = field(repr=False)

    def __len__(self) -> int:
        return int(self.mistakes_per_pass.sum())

    def __repr__(self) -> str:
        kept = "" if self.log is not None else ", counts only"
        passes = len(self.mistakes_per_pass)
        return f"SequenceTrace({len(self)} mistakes in {passes} passes over {self.n_sentences} sentences{kept})"

    def _mistakes(self) -> MistakeLog:
        if self.log is None:
            raise InputError(
                "This trace holds counts only: the run was too long for the model file or pickle it comes from. "
                "Train again to have every mistake."
            )
        return self.log

    @property
    def epoch(self) -> Ints:
        """The pass of each mistake, from 1."""
        return np.repeat(np.arange(1, len(self.mistakes_per_pass) + 1), self.mistakes_per_pass)

    @property
    def visit(self) -> Ints:
        """The number of visits made before each mistake."""
        return self._mistakes().visit

    @property
    def sentence(self) -> Ints:
        """The sentence of each mistake."""
        return self._mistakes().sentence

    @property
    def gap(self) -> Floats:
        """The score of the true labelling minus that of the wrong one, which includes `margin` for each token."""
        return self._mistakes().gap

    def wrong(self, mistake: int) -> list[tuple[int, Any]]:
        """Return the tokens that a mistake labelled wrongly, by position, with the wrong label of each.

        Parameters
        ----------
        mistake : int
            The number of the mistake, from 0.
        """
        log = self._mistakes()
        if not 0 <= mistake < len(self):
            raise InputError(f"There is no mistake {mistake}: the trace has {len(self)}, counted from 0.")
        part = slice(0 if mistake == 0 else int(log.stop[mistake - 1]), int(log.stop[mistake]))
        wrong = log.wrong_label[part] != ENDS_BEFORE
        labels = self.classes[log.wrong_label[part][wrong]].tolist()
        return list(zip(log.wrong_at[part][wrong].tolist(), labels, strict=True))

    def replay(
        self, X: Iterable[Any], y: Any, sample_weight: ArrayLike | None = None, *, stop: int | None = None
    ) -> SequenceState:
        """Make the updates again, without searching for labellings.

        Parameters
        ----------
        X, y, sample_weight
            The sentences of the run, their labels and their weights.
        stop : int or None
            The number of mistakes after which to stop; None makes all updates.

        Returns
        -------
        SequenceState
            The weights, bit for bit those of the run: ``w`` of features, in the order of the model, and ``t`` of
            pairs of labels.
        """
        sentences = as_sentences(X)
        _, codes = as_label_codes(y, sentences, self.classes)
        if len(sentences) != self.n_sentences:
            raise ShapeError(
                f"X has {len(sentences)} sentences, but the run had {self.n_sentences}. Pass the data of the run."
            )
        rows = self.vocabulary.rows(sentences, grows=False)
        fault = fault_of(self._mistakes(), rows, len(self.classes))
        if fault is not None:
            raise InputError(f"This is not the data of the run: {fault}. Pass the data of the run.")
        return replay_updates(
            rows,
            codes,
            steps_of(sample_weight, len(sentences)),
            self._mistakes(),
            len(self) if stop is None else stop,
            SequenceState.zero(self.vocabulary.n_features, self.pairs, average=self.average),
            int(self.visits_per_pass.sum()),
        )


def steps_of(sample_weight: ArrayLike | None, n_sentences: int) -> Floats:
    """Return the length of the updates of each sentence: its weight, or 1."""
    weights = as_weight(sample_weight, n_sentences)
    return np.ones(n_sentences) if weights is None else np.ascontiguousarray(weights)


def replay_updates(
    rows: SequenceRows,
    codes: Ints,
    steps: Floats,
    log: MistakeLog,
    stop: int,
    state: SequenceState,
    visits: int,
    first: int = 0,
) -> SequenceState:
    """Make the updates of a log from `first` to before `stop`, and return the state, after so many `visits`."""
    found = np.empty(rows.longest, np.int64)
    replay_sentences(*rows, codes, steps, log, first, stop, state.w, state.u, state.t, state.tu, found)
    state.visits = visits
    return state


def fault_of(log: MistakeLog, rows: SequenceRows, n_labels: int) -> str | None:
    """Return why a log cannot be one of these sentences, or None: loops do not check where they write."""
    if not ((log.sentence >= 0) & (log.sentence < rows.n_sentences)).all():
        return "a mistake is in a sentence that does not exist"
    lengths = np.diff(rows.starts)[log.sentence]
    length = np.repeat(lengths, np.diff(log.stop, prepend=0))
    ends = log.wrong_label == ENDS_BEFORE
    if not ((log.wrong_at >= 0) & (log.wrong_at < length + ends)).all():
        return "a mistake is at a token that does not exist"
    if not ((log.wrong_label >= 0) & (log.wrong_label < n_labels) | ends).all():
        return "a mistake has a label that does not exist"
    return None
