"""`certify_sequences`: from sentences to a certificate."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify import check
from rosenblatt.certify.sequence_certificate import (
    SequenceAnswer,
    SequenceData,
    SequenceInseparable,
    SequenceSeparable,
    SequenceUndecided,
)
from rosenblatt.certify.sequence_problem import SequenceProblem
from rosenblatt.certify.sequence_search import Gap, search
from rosenblatt.certify.time_limit import Clock
from rosenblatt.data.sequences import ItemVocabulary, Sentences, as_label_codes, as_sentences, read_item
from rosenblatt.exceptions import InputError, LabelError, ParameterError
from rosenblatt.model.constraints import Constraints, as_constraints, require_allowed
from rosenblatt.text.templates import Template, TemplateVocabulary, as_templates

WORK = 3e11  # units of work: ten minutes or so


def certify_sequences(
    X: Any,
    y: Any,
    *,
    templates: Any = None,
    constraints: Any = None,
    without: Iterable[int] = (),
    time_limit: float | None = None,
    work: float | None = WORK,
) -> SequenceAnswer:
    """Decide whether a `SequencePerceptron` can label every sentence correctly, and prove it.

    Parameters
    ----------
    X : iterable of sentences
        As in `SequencePerceptron.fit`.
    y : iterable of sequences of labels
        One label for each token.
    templates, constraints
        As in `SequencePerceptron`. All features take part, also those that occur once.
    without : iterable of int
        Sentences that take no part, from 0: for example ``answer.minority`` of an earlier answer.
    time_limit : float or None
        Seconds after which the answer is "undecided"; None means no limit.
    work : float or None
        The work allowed, in units of about one multiplication; None means no limit. The same data ends at the same
        place on every machine.

    Returns
    -------
    SequenceSeparable, SequenceInseparable or SequenceUndecided
        The answer, with its proof.

    Examples
    --------
    >>> X = [["we", "saw", "her", "duck"], ["they", "saw", "her", "duck"]]
    >>> y = [["PRON", "VERB", "PRON", "VERB"], ["PRON", "VERB", "DET", "NOUN"]]
    >>> answer = certify_sequences(X, y, templates=["lower"])
    >>> answer.verdict, answer.kind, answer.minority
    ('inseparable', 'exchange', (1,))
    >>> certify_sequences(X, y, templates=["lower"], without=answer.minority).verdict
    'separable'
    """
    for name, value in (("time_limit", time_limit), ("work", work)):
        if value is not None and not (isinstance(value, int | float | np.number) and value >= 0):
            raise ParameterError(f"{name} must be None or a number ≥ 0, got {value!r}.")
    sentences = as_sentences(X)
    classes, codes = as_label_codes(y, sentences, None)
    labels = tuple(str(label) for label in classes.tolist())
    if len(set(labels)) < len(labels):
        raise LabelError("Two labels are the same as text, so a proof cannot tell them apart. Rename one of them.")
    left_out = tuple(sorted({_sentence(each, len(sentences)) for each in without}))
    held = as_constraints(constraints, classes)
    given = None if templates is None else as_templates(templates)
    vocabulary = ItemVocabulary() if given is None else TemplateVocabulary(given)
    rows = vocabulary.rows(sentences, grows=True)
    require_allowed(held, codes, rows.starts, classes)
    problem = SequenceProblem(rows, codes, vocabulary.n_features, held, left_out)
    data = SequenceData(
        len(sentences),
        len(codes),
        labels,
        None if given is None else tuple(map(_written, given)),
        _forbidden(held),
        left_out,
        _fingerprint(sentences, codes.tolist(), given),
    )
    found = search(problem, Clock(time_limit, work))
    if isinstance(found.answer, str):
        return SequenceUndecided(data=data, why=found.answer)
    if isinstance(found.answer, Gap):
        names = tuple(vocabulary.names()) if isinstance(vocabulary, ItemVocabulary) else None
        least = None if found.answer.least is None else Fraction(found.answer.least)
        return SequenceSeparable(
            data=data,
            scores=problem.original(found.answer.scores),
            features=vocabulary.n_features,
            names=names,
            least=least,
            highest=found.highest,
        )
    order = sorted(range(len(found.answer.others)), key=lambda k: found.answer.others[k])  # type: ignore[union-attr]
    return SequenceInseparable(
        data=data,
        others=tuple(found.answer.others[k] for k in order),
        weights=tuple(found.answer.weights[k] for k in order),
        kind=found.answer.kind,
        inconsistencies=tuple(found.inconsistent),
    )


def posed(X: Any, y: Any, templates: Any, constraints: Any) -> SequenceProblem:
    """Return the question that `certify_sequences` decides."""
    sentences = as_sentences(X)
    classes, codes = as_label_codes(y, sentences, None)
    held = as_constraints(constraints, classes)
    vocabulary = ItemVocabulary() if templates is None else TemplateVocabulary(as_templates(templates))
    rows = vocabulary.rows(sentences, grows=True)
    require_allowed(held, codes, rows.starts, classes)
    return SequenceProblem(rows, codes, vocabulary.n_features, held)


def problem_of(data: SequenceData, X: Any, y: Any, names: Iterable[str] | None) -> SequenceProblem | str:
    """Return the problem that a proof is about, or why these are not its sentences; `names` are its features."""
    sentences, labels = as_sentences(X), as_sentences(y, "y")
    number = {label: code for code, label in enumerate(data.labels)}
    if len(sentences) != len(labels) or any(len(a) != len(b) for a, b in zip(sentences, labels, strict=False)):
        return "Sentences and labels do not have the same lengths."
    found = [number.get(str(label), -1) for own in labels for label in own]
    if -1 in found or len(set(found)) < len(number) or len(number) < len(data.labels):
        return "The labels of these sentences are not those of the proof."
    given = None if data.templates is None else tuple(map(_read_template, data.templates))
    try:
        sha256 = _fingerprint(sentences, found, given)
        vocabulary = ItemVocabulary(names or ()) if given is None else TemplateVocabulary(as_templates(given))
    except (InputError, ParameterError, check.DataError) as error:
        return f"These are not the sentences of the proof: {error}"
    if (len(sentences), len(found), sha256) != (data.sentences, data.tokens, data.sha256):
        return "These are not the sentences of the proof: the fingerprints differ."
    rows = vocabulary.rows(sentences, grows=True)
    n = len(data.labels)
    held, codes = Constraints(np.zeros((n + 1, n)), np.zeros(n)), np.array(found, np.int64)
    for before, label in data.forbidden:
        if label == n:
            held.last[before] = -np.inf
        else:
            held.pairs[before, label] = -np.inf
    try:
        require_allowed(held, codes, rows.starts, np.array(data.labels))
    except LabelError:
        return "The proof forbids the true labels of a sentence."
    return SequenceProblem(rows, codes, vocabulary.n_features, held, data.without)


def _sentence(number: Any, count: int) -> int:
    if not isinstance(number, int | np.integer) or not 0 <= number < count:
        raise ParameterError(f"without: there is no sentence {number!r}. Count them from 0 to {count - 1}.")
    return int(number)


def _written(template: Template) -> str:
    """Write a template as proofs have it.

    >>> _written((("lower", -1), ("suffix2", 0)))
    'lower[-1] & suffix2'
    """
    return " & ".join(f"{column}[{offset:+d}]" if offset else str(column) for column, offset in template)


def _read_template(text: str) -> Template:
    return tuple(
        (int(column) if column.isdigit() else column, offset) for column, offset in check.TokenReader.split(text)
    )


def _forbidden(held: Constraints) -> tuple[tuple[int, int], ...]:
    n = len(held.last)
    pairs = [(int(k), int(label)) for k, label in np.argwhere(held.pairs)]
    return tuple(pairs + [(int(label), n) for label in np.flatnonzero(held.last)])


def _fingerprint(sentences: Sentences, codes: list[int], templates: tuple[Template, ...] | None) -> str:
    """Return the SHA-256 of sentences as `check.py` computes it."""
    reader = check.TokenReader(None if templates is None else [_written(each) for each in templates])
    made, first = check.SentenceFingerprint(reader), 0
    for sentence in sentences:
        tokens = [
            read_item(token) if templates is None else tuple(token) if isinstance(token, list) else token
            for token in sentence
        ]
        made.add(tokens, codes[first : first + len(sentence)])
        first += len(sentence)
    return made.hexdigest()
