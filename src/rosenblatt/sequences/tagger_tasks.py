"""Taggers from files of sentences: training, predicting and evaluating a `SequencePerceptron`."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rosenblatt.atomic import replacing
from rosenblatt.escaping import ShowsText, count, json_text, percent, printable
from rosenblatt.exceptions import Given, InputError, ParameterError, Remedy
from rosenblatt.loops.compilation import Seconds
from rosenblatt.models.files import load
from rosenblatt.models.opened import OpenedModel
from rosenblatt.parameters import UNUSED, unused
from rosenblatt.registry import BUILT_IN
from rosenblatt.sequences.conll import read_corpus, read_unlabelled
from rosenblatt.sequences.sentences import Corpus
from rosenblatt.sequences.tag_scores import SequenceEvaluation, evaluate_sequences
from rosenblatt.tables.preparation import Preparation
from rosenblatt.tables.reading import Options
from rosenblatt.tasks.data import (
    TAGGER,
    Log,
    Place,
    are_sentences,
    log_info,
    places_of,
    read_options,
    require_apart,
    require_no_options,
    show_data,
)
from rosenblatt.tasks.summary import ENDINGS
from rosenblatt.tasks.training import Training, TrainingResult, named_learner, not_taken

if TYPE_CHECKING:
    from rosenblatt.sequences.estimator import SequencePerceptron

# How the training of a tagger went, in a few lines.


@dataclass(frozen=True, eq=False)
class TaggerSummary(ShowsText):
    """How the training of a tagger went; ``print`` shows it.

    Attributes
    ----------
    n_sentences, n_tokens, n_features : int
        The size of the training data, and the number of features with weights.
    labels : dict
        The number of tokens of each label.
    n_passes, stop_reason, mistakes_per_pass
        How training went.
    trained_on, held_out : SequenceEvaluation or None
        The tagger on its training sentences, and on those held out, if there are any.
    seconds, compile_seconds : float
        The time that training took, without reading and compiling, and the time that compiling loops for it took,
        which is 0 if the cache had them.
    """

    n_sentences: int
    n_tokens: int
    n_features: int
    labels: dict[str, int]
    n_passes: int
    stop_reason: str
    mistakes_per_pass: list[int]
    trained_on: SequenceEvaluation
    held_out: SequenceEvaluation | None
    seconds: float
    compile_seconds: float

    def __str__(self) -> str:
        named = [f"{printable(label)} {n:,}" for label, n in self.labels.items()]
        more = ", …" if len(named) > 8 else ""
        listed = [f"{each:,}" for each in self.mistakes_per_pass]
        if len(listed) > 8:
            listed = [*listed[:5], "…", *listed[-2:]]
        lines = [
            f"tagger: {count(self.n_sentences, 'sentence')}, {count(self.n_tokens, 'token')}, "
            f"{count(self.n_features, 'feature')}, {count(len(named), 'label')} ({', '.join(named[:8])}{more})",
            f"{ENDINGS.get(self.stop_reason, self.stop_reason)} after {count(self.n_passes, 'pass', 'passes')}, "
            f"{Seconds(self.seconds, self.compile_seconds)}; "
            f"{count(sum(self.mistakes_per_pass), 'mistake')}: {', '.join(listed)}",
            f"training: {_rates(self.trained_on)}",
        ]
        if self.held_out is not None:
            lines.append(f"{count(self.held_out.n_sentences, 'held-out sentence')}: {_rates(self.held_out)}")
        return "\n".join(lines)

    def _html_parts(self) -> tuple[object, ...]:
        parts: list[object] = [*str(self).splitlines()]
        if self.held_out is not None:
            _, *held_out = self.held_out._html_parts()
            parts += ["held-out sentences:", *held_out]
        return tuple(parts)

    def details(self) -> str:
        """Return all that is known about the training, as text."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        return {
            "sentences": self.n_sentences,
            "tokens": self.n_tokens,
            "features": self.n_features,
            "labels": self.labels,
            "passes": self.n_passes,
            "stop_reason": self.stop_reason,
            "mistakes_per_pass": self.mistakes_per_pass,
            "trained_on": self.trained_on.to_json(),
            "held_out": None if self.held_out is None else self.held_out.to_json(),
            "seconds": round(self.seconds, 3),
            "compile_seconds": round(self.compile_seconds, 3),
        }


def _rates(found: SequenceEvaluation) -> str:
    spans = "" if found.spans is None else f", F1 of spans {percent(found.spans.f1)}"
    return f"{percent(found.accuracy)} of tokens, {percent(found.sentence_accuracy)} of sentences{spans}"


CORPUS_OPTIONS = ("format", "encoding")
"""The options of reading that sentences have."""
HARMLESS = ("labelled", "chunk_bytes")


class SentenceTraining(Training):
    """The training of a `SequencePerceptron` on annotated sentences."""

    unit = "sentences"

    def open(self) -> None:
        """Read the sentences, and make the tagger."""
        from rosenblatt.sequences.templates import word_templates

        self.name = TAGGER
        self.refuse_unused(BUILT_IN[TAGGER].abilities)
        if self.learner not in (None, "averaged") and type(self.learner).__name__ != TAGGER:
            raise unused("learner", self.learner, f"Sentences train a {TAGGER}, not another ")
        self.corpus, self.own, self.target = open_annotated(
            self.data, self.label, self.columns or (), self.options
        )
        usual = {"templates": word_templates(len(self.own) - 1), "random_state": self.seed}
        if self.learner is None or isinstance(self.learner, str):
            self.estimator = _tagger(usual | dict(self.parameters or {}))
        else:
            self.name, self.estimator = named_learner(self.learner, self.parameters, self.seed)
        if self.estimator.templates is None:
            told = " takes features, but files hold words. Leave templates out, or name them."
            raise ParameterError(Given("templates", None) + told)
        files, words = show_data(self.corpus.files), ", ".join(self.own)
        self.log(f"{files}: words from column {words}, labels from column {self.target}")

    def prepare(self) -> None:
        """Hold out sentences."""
        self.X, self.y = _tokens(self.corpus, self.own), self.corpus.tokens(self.target)
        self.held = _held_out(len(self.X), self.holdout, self.seed)
        self.kept = [i for i in range(len(self.X)) if i not in self.held]

    def learn(self) -> None:
        """Train on the sentences that are not held out."""
        self.estimator.fit(*self._trained_on(), **self.saving)

    def _trained_on(self) -> tuple[list[Any], list[Any]]:
        return [self.X[i] for i in self.kept], [self.y[i] for i in self.kept]

    def judge(self, seconds: Seconds, *, interrupted: bool) -> TrainingResult:
        """Measure the tagger on the sentences of training, and on those held out."""
        model, (X, y) = self.estimator, self._trained_on()
        model.columns_, model.label_ = self.own, self.target
        labels, counts = np.unique([label for each in y for label in each], return_counts=True)
        held = sorted(self.held)
        summary = TaggerSummary(
            n_sentences=len(X),
            n_tokens=int(counts.sum()),
            n_features=model.n_features_,
            labels=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
            n_passes=model.n_iter_,
            stop_reason=model.stop_reason_,
            mistakes_per_pass=model.mistakes_per_pass_.tolist(),
            trained_on=evaluate_sequences(y, model.predict(X)),
            held_out=_measured(model, self.X, self.y, held) if held else None,
            seconds=seconds.own,
            compile_seconds=seconds.compiling,
        )
        provenance = {
            "files": list(self.corpus.files),
            "sentences": len(X),
            "tokens": summary.n_tokens,
            "data": _fingerprint(X, y),
            "held_out": self.holdout,
            "all_data": _fingerprint(self.X, self.y) if held else None,  # with the sentences held out
        }
        return TrainingResult(model, Preparation(), summary, provenance, None, self.checkpoint)


def open_annotated(
    data: Any, label: str | int | None, columns: Sequence[str | int], options: Mapping[str, Any]
) -> tuple[Corpus, tuple[str, ...], str]:
    """Return annotated sentences, the columns that a token consists of, and the column of labels."""
    corpus = open_corpus(data, options)
    names = list(corpus.columns)
    own = tuple(_column("columns", each, corpus) for each in columns) or (_first_of(("form", names[0]), names),)
    target = _column("label", label, corpus) if label is not None else _first_of(("upos", names[-1]), names)
    if target in own:
        raise ParameterError(
            f"{show_data(corpus.files)}: the column {target!r} is both a feature and the label. Name another "
            "column with " + Remedy("label") + f"; there are {', '.join(names)}.",
            parameter="label",
            value=target,
        )
    return corpus, own, target


def evaluate_tagger(
    model: Any, data: Any, *, label: str | int | None = None, log: Log = log_info, **options: Any
) -> SequenceEvaluation:
    """Compare the labels that a tagger predicts with those of sentences, by default in the column of training."""
    model = OpenedModel.open(model) if isinstance(model, str | os.PathLike) else model
    tagger = tagger_of(model)
    corpus = open_corpus(data, options)
    names = list(corpus.columns)
    own, target = _columns_for(tagger, corpus), tagger.label_
    if label is not None:
        target = _column("label", label, corpus)
    elif target is None or target not in names:
        target = _first_of(("upos", names[-1]), names)
    if target in own:
        raise ParameterError(
            f"{show_data(corpus.files)} has no column of labels beside its words. Name it with "
            + Remedy("label")
            + f"; there are {', '.join(names)}.",
            code="no-target",
            parameter="label",
        )
    log(f"{show_data(corpus.files)}: words from column {', '.join(own)}, labels from column {target}")
    truth, known = corpus.tokens(target), set(tagger.classes_.tolist())
    if not any(known.intersection(each) for each in truth):
        raise InputError(
            f"{show_data(corpus.files)}: no label of the model is in column {target}, which begins with "
            f"{truth[0][0]!r}; its labels are {', '.join(map(str, tagger.classes_.tolist()[:10]))}. Name the "
            "column of labels, or annotate the words."
        )
    X = _tokens(corpus, own)
    found = evaluate_sequences(truth, tagger.predict(X))
    if not isinstance(model, OpenedModel):
        return found
    return replace(found, seen=model.seen(len(X), lambda: _fingerprint(X, truth)))


def tag_file(
    model: Any,
    data: Any,
    output: Place | BinaryIO,
    *,
    scores: bool = False,
    as_json: bool = False,
    log: Log = log_info,
    **options: Any,
) -> None:
    """Label the tokens of files, and write one line for each: the word, a tab and its label.

    An empty line ends each sentence, so that the result is a file of columns. In files, tokens without labels
    stand one a line. A line of several words is a sentence, unless one of them is a label of the model or the name
    of the file tells its format; ``format="text"`` and ``format="conll"`` say which it is. `scores` adds how far
    the best labelling with another label of this token is behind.
    """
    model = OpenedModel.open(model) if isinstance(model, str | os.PathLike) else model
    tagger = tagger_of(model)
    corpus, by_line = _read_unlabelled(tagger, data, options)
    if by_line:
        word_a_line = Remedy("format", "conll") + " reads a word a line"
        log(f"{show_data(by_line)}: each line was read as a sentence; " + word_a_line)
    own = _columns_for(tagger, corpus)
    X = _tokens(corpus, own)
    labels = tagger.predict(X)
    words = corpus.tokens(own[0])
    behind: Sequence[Any] = [None] * len(X)
    if scores:
        behind = [[float(-np.sort(row)[-2]) for row in each] for each in tagger.margins(X)]
    people_read = not isinstance(output, str | os.PathLike) and output.isatty()
    write = _sentence_as_json if as_json else partial(_sentence_as_lines, printable if people_read else str)
    opening: Any = nullcontext(output)
    if isinstance(output, str | os.PathLike):
        paths = [model.stored.path] if isinstance(model, OpenedModel) else []
        require_apart(output, [*corpus.files, *paths])
        opening = replacing(output)
    with opening as file:
        for each in zip(words, labels, behind, strict=True):
            file.write(write(*each).encode("utf-8", "surrogatepass"))
        file.flush()
    log(f"{show_data(corpus.files)}: {count(corpus.n_sentences, 'sentence')}, {count(corpus.n_tokens, 'token')}")


def tagger_of(model: Any) -> SequencePerceptron:
    """Return a tagger from its file, or as it is."""
    from rosenblatt.sequences.estimator import SequencePerceptron

    found = load(model) if isinstance(model, str | os.PathLike) else model
    if isinstance(model, OpenedModel):
        found = model.stored.estimator()
    if not isinstance(found, SequencePerceptron):
        told = f"model is a {type(found).__name__}, which labels no sentences. Pass a {TAGGER}."
        raise ParameterError(told, parameter="model")
    return found


def _tagger(parameters: Mapping[str, Any]) -> SequencePerceptron:
    from rosenblatt.sequences.estimator import SequencePerceptron

    known = SequencePerceptron._get_param_names()
    for name in parameters:
        if name not in known:
            raise not_taken(TAGGER, name, known)
    return SequencePerceptron(**parameters)


def open_corpus(data: Any, options: Mapping[str, Any]) -> Corpus:
    """Return the sentences of files, of lists, or of a corpus."""
    if isinstance(data, Corpus):
        require_no_options(options)
        return data
    if are_sentences(data):
        require_no_options(options)
        return Corpus.of(data)
    places = places_of(data)
    if not all(isinstance(place, str) for place in places):
        told = Given("label") + " is for sentences, but the data is a data frame. Use " + Remedy("target") + "."
        raise ParameterError(told, code=UNUSED)
    given = _corpus_options(places, options)
    return read_corpus(*places, format=given.format, encoding=given.encoding)


def _read_unlabelled(
    tagger: SequencePerceptron, data: Any, options: Mapping[str, Any]
) -> tuple[Corpus, list[str]]:
    """Return sentences to be labelled, and the files whose lines were found to be sentences."""
    width = tagger._vocabulary.width if tagger.columns_ is None else len(tagger.columns_)
    if isinstance(data, Corpus) or are_sentences(data) or options.get("format") is not None or width != 1:
        return open_corpus(data, options), []
    places = places_of(data)
    given = _corpus_options(places, options)
    known = {str(label) for label in tagger.classes_.tolist()}
    at = int(tagger.label_) - 1 if tagger.label_ is not None and tagger.label_.isdecimal() else -1

    def is_labelled(fields: Sequence[str]) -> bool:
        return fields[at if at < len(fields) else -1] in known

    return read_unlabelled(*places, is_labelled=is_labelled, encoding=given.encoding)


def _corpus_options(places: Sequence[Place], options: Mapping[str, Any]) -> Options:
    """Return options of reading; raise `ParameterError` for those that sentences do not have."""
    usual, given = Options(), read_options(options)
    for each in fields(Options):
        if each.name not in (*CORPUS_OPTIONS, *HARMLESS) and getattr(given, each.name) != getattr(
            usual, each.name
        ):
            told = f"{show_data(places)} holds sentences, which have no option "
            raise unused(each.name, getattr(given, each.name), told)
    return given


def _column(parameter: str, given: str | int, corpus: Corpus) -> str:
    """Return the name of a column that a parameter gives by name or by position."""
    names = list(corpus.columns)
    if str(given) in names:
        return str(given)
    if isinstance(given, int) and 1 <= abs(given) <= len(names):
        return names[given - 1 if given > 0 else given]
    told = f" is not a column of {show_data(corpus.files)}. There are {', '.join(names)}."
    raise ParameterError(Given(parameter, given) + told, code="no-such-column")


def _first_of(wanted: Sequence[str], names: Sequence[str]) -> str:
    return next(each for each in wanted if each in names)


def _columns_for(tagger: SequencePerceptron, corpus: Corpus) -> tuple[str, ...]:
    """Return the columns of a corpus that a tagger reads: those of training, or the words."""
    names = tuple(corpus.columns)
    columns = tagger.columns_
    if columns is not None and (len(columns) > 1 or columns[0] in names):
        for each in columns:
            corpus.column(each)
        return columns
    width = tagger._vocabulary.width if columns is None else 1
    if width is None:
        raise InputError("The tagger reads features, not words, so it cannot read files. Use it from Python.")
    if width > len(names):
        raise InputError(f"The tagger reads {width} columns, but {show_data(corpus.files)} has {len(names)}.")
    first = names.index("form") if "form" in names else 0
    return names[first : first + 1] if width == 1 else names[:width]


def _tokens(corpus: Corpus, columns: Sequence[str]) -> list[list[Any]]:
    return corpus.tokens(columns[0], *columns[1:])


def _fingerprint(X: Sequence[Sequence[Any]], y: Sequence[Sequence[str]]) -> str:
    """Return a digest of sentences with their labels, in their order."""
    digest = hashlib.sha256()
    for each in zip(X, y, strict=True):
        digest.update(json.dumps(each).encode() + b"\n")
    return digest.hexdigest()


def _held_out(n: int, share: float | None, seed: int) -> set[int]:
    if share is None:
        return set()
    size = round(share * n)
    if not 1 <= size < n:
        told = f" of {count(n, 'sentence')} leaves none to train on or none to measure on."
        raise ParameterError(Given("holdout", share) + told)
    return set(np.random.default_rng(seed).permutation(n)[:size].tolist())


def _measured(model: Any, X: Any, y: Any, which: Sequence[int]) -> SequenceEvaluation:
    return evaluate_sequences([y[i] for i in which], model.predict([X[i] for i in which]))


def _sentence_as_lines(
    field: Callable[[Any], str], words: Sequence[str], labels: Sequence[Any], behind: Sequence[float] | None
) -> str:
    parts = [map(field, words), map(field, labels), *([] if behind is None else [map(repr, behind)])]
    return "".join("\t".join(each) + "\n" for each in zip(*parts, strict=True)) + "\n"


def _sentence_as_json(words: Sequence[str], labels: Sequence[Any], behind: Sequence[float] | None) -> str:
    value = {"tokens": words, "labels": labels} | ({} if behind is None else {"scores": behind})
    return json_text(value) + "\n"
