"""How well sequences are labelled: tokens, whole sentences, and spans as conlleval counts them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.escaping import ShowsText, printable
from rosenblatt.evaluation import Evaluation, Seen, align_columns, evaluate, not_new
from rosenblatt.exceptions import ShapeError

OF_SPANS = re.compile(r"O|[BIELSU]-.*", re.DOTALL)
_SAME = {"L": "E", "U": "S"}  # the letters of BILOU


class Span(NamedTuple):
    """A span of tokens with a type: from `begin` up to, not including, `end`."""

    begin: int
    end: int
    type: str


def spans_of(labels: Sequence[str]) -> list[Span]:
    """Return the spans of a sentence labelled with IOB1, IOB2 (BIO), BIOES or BILOU.

    A span begins at a B- or S-, and at an I- or E- that no span of its type precedes: a lone I- begins a span, as
    in conlleval. It ends before the next beginning, before O, and behind E- and S-.

    Examples
    --------
    >>> spans_of(["B-LOC", "I-LOC", "O", "I-PER", "B-PER", "I-ORG"])
    [Span(begin=0, end=2, type='LOC'), Span(begin=3, end=4, type='PER'), Span(begin=4, end=5, type='PER'), \
Span(begin=5, end=6, type='ORG')]
    """
    found: list[Span] = []
    begin, inside = 0, None
    for i, label in enumerate([*labels, "O"]):
        letter, _, kind = label.partition("-")
        letter = _SAME.get(letter, letter)
        if inside is not None and (letter in ("O", "B", "S") or kind != inside):
            found.append(Span(begin, i, inside))
            inside = None
        if letter != "O" and inside is None:
            begin, inside = i, kind
        if letter in ("E", "S") and inside is not None:
            found.append(Span(begin, i + 1, inside))
            inside = None
    return found


class SpanCounts(NamedTuple):
    """Counts of spans: those found correctly, those predicted, and the true ones.

    A predicted span is correct if a true span has the same beginning, end and type.
    """

    correct: int
    predicted: int
    true: int

    @property
    def precision(self) -> float:
        """Of the predicted spans, the share that is correct; 0.0 if there are none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Of the true spans, the share that was found; 0.0 if there are none."""
        return self.correct / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0.0 if nothing is correct."""
        return 2 * self.correct / (self.predicted + self.true) if self.correct else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self._asdict() | {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, eq=False)
class SequenceEvaluation(ShowsText):
    """Predicted labels of sentences against true ones.

    Attributes
    ----------
    tokens : Evaluation
        All tokens, with the confusion matrix of labels.
    n_sentences, n_right : int
        The number of sentences, and of those whose labels are all correct.
    types : dict or None
        The counts of spans of each type; None if the labels are not those of spans.
    seen : "all", "some", "other" or None
        Whether the tagger was trained on these sentences; None if that is not known.

    Examples
    --------
    >>> truth = [["B-LOC", "I-LOC", "O"], ["B-PER", "O"]]
    >>> found = evaluate_sequences(truth, [["B-LOC", "O", "O"], ["B-PER", "O"]])
    >>> found.accuracy, found.sentence_accuracy, found.spans.f1
    (0.8, 0.5, 0.5)
    >>> print(found)
    tokens     0.8000   4 of 5 correct
    sentences  0.5000   1 of 2 correct
    spans      0.5000   F1; precision 0.5000, recall 0.5000: 1 correct of 2 found, 2 true
    <BLANKLINE>
         precision  recall      F1  found  true
    LOC     0.0000  0.0000  0.0000      1     1
    PER     1.0000  1.0000  1.0000      1     1
    """

    tokens: Evaluation
    n_sentences: int
    n_right: int
    types: dict[str, SpanCounts] | None
    seen: Seen | None = None

    @property
    def accuracy(self) -> float:
        """The share of tokens labelled correctly."""
        return self.tokens.accuracy

    @property
    def sentence_accuracy(self) -> float:
        """The share of sentences whose labels are all correct; 0.0 without sentences."""
        return self.n_right / self.n_sentences if self.n_sentences else 0.0

    @property
    def spans(self) -> SpanCounts | None:
        """The counts of all spans; None if the labels are not those of spans."""
        if self.types is None:
            return None
        return SpanCounts(*(sum(each) for each in zip((0, 0, 0), *self.types.values(), strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        spans = self.spans
        return {
            "accuracy": self.accuracy,
            "sentences": self.n_sentences,
            "sentences_right": self.n_right,
            "sentence_accuracy": self.sentence_accuracy,
            "spans": None if spans is None else spans.to_json(),
            "types": None if self.types is None else {name: each.to_json() for name, each in self.types.items()},
            "tokens": self.tokens.to_json(),
            "seen": self.seen,
        }

    def __str__(self) -> str:
        if not self.n_sentences:
            return "no sentences"
        tokens = self.tokens
        lines = [
            *(text for line in not_new(self.seen, "sentences") for text in (line, "")),
            f"tokens     {self.accuracy:.4f}   {tokens.n_right:,} of {tokens.n_rows:,} correct",
            f"sentences  {self.sentence_accuracy:.4f}   {self.n_right:,} of {self.n_sentences:,} correct",
        ]
        labels = [printable(label) for label in tokens.classes.tolist()]
        if (spans := self.spans) is None:
            return "\n".join(
                [*lines, "", *tokens.rate_lines(labels, "tokens"), "", *tokens.confusion_lines(labels)]
            )
        lines.append(
            f"spans      {spans.f1:.4f}   F1; precision {spans.precision:.4f}, recall {spans.recall:.4f}: "
            f"{spans.correct:,} correct of {spans.predicted:,} found, {spans.true:,} true"
        )
        table = [["", "precision", "recall", "F1", "found", "true"]]
        for name, each in (self.types or {}).items():
            rates = [f"{rate:.4f}" for rate in (each.precision, each.recall, each.f1)]
            table.append([printable(name), *rates, f"{each.predicted:,}", f"{each.true:,}"])
        return "\n".join([*lines, "", *align_columns(table)])


def evaluate_sequences(truth: Any, predicted: Any) -> SequenceEvaluation:
    """Compare predicted labels of sentences with true ones.

    Spans are counted if each label is O or begins with B-, I-, E-, S-, L- or U-, and one is not O. They are
    counted as by conlleval, the program of the CoNLL shared tasks (Tjong Kim Sang and Buchholz 2000); see
    `spans_of`.

    Parameters
    ----------
    truth, predicted : iterables of sequences of labels
        For each sentence as many labels as it has tokens. Labels that only one side has are counted as wrong.

    Raises
    ------
    ShapeError
        The numbers of sentences or of labels differ.
    """
    true, found = [list(each) for each in truth], [list(each) for each in predicted]
    if len(true) != len(found):
        raise ShapeError(f"{len(true)} sentences have true labels, but {len(found)} have predicted ones.")
    for i, (one, other) in enumerate(zip(true, found, strict=True)):
        if len(one) != len(other):
            raise ShapeError(f"Sentence {i} has {len(one)} true labels, but {len(other)} predicted ones.")
    number = _numbers(chain(chain.from_iterable(true), chain.from_iterable(found)))
    codes = [np.array([number[label] for label in chain.from_iterable(side)], np.int64) for side in (true, found)]
    names = list(number)
    return SequenceEvaluation(
        evaluate(codes[0], codes[1], np.array(names) if names else np.array(["O"])),
        len(true),
        sum(one == other for one, other in zip(true, found, strict=True)),
        _types(true, found) if _are_of_spans(names) else None,
    )


def _numbers(labels: Iterator[Hashable]) -> dict[Any, int]:
    kinds = set(labels)
    return {label: i for i, label in enumerate(sorted(kinds, key=lambda each: (str(type(each)), each)))}


def _are_of_spans(labels: Sequence[Any]) -> bool:
    return bool(set(labels) - {"O"}) and all(
        isinstance(label, str) and OF_SPANS.fullmatch(label) for label in labels
    )


def _types(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, SpanCounts]:
    correct: Counter[str] = Counter()
    found: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for one, other in zip(truth, predicted, strict=True):
        own, guessed = set(spans_of(one)), set(spans_of(other))
        true.update(span.type for span in own)
        found.update(span.type for span in guessed)
        correct.update(span.type for span in own & guessed)
    return {name: SpanCounts(correct[name], found[name], true[name]) for name in sorted(true | found)}
