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
from rosenblatt.escaping import json_text, printable
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.loops.compilation import Seconds, Stopwatch
from rosenblatt.models.files import load, write_model
from rosenblatt.models.opened import OpenedModel
from rosenblatt.sequences.conll import read_corpus, read_unlabelled
from rosenblatt.sequences.sentences import Corpus
from rosenblatt.sequences.tag_scores import SequenceEvaluation, evaluate_sequences
from rosenblatt.tables.preparation import Preparation
from rosenblatt.tables.reading import Options
from rosenblatt.tasks.data import TAGGER, Log, Place, log_info, places_of, read_options, require_apart, show_data
from rosenblatt.tasks.plain_text import count, percent
from rosenblatt.tasks.summary import ENDINGS
from rosenblatt.tasks.training import TrainingInterrupted, watch_passes

if TYPE_CHECKING:
    from rosenblatt.sequences.estimator import SequencePerceptron

__all__ = ["TaggerSummary", "TrainedTagger", "evaluate_tagger", "open_annotated", "tag_file", "train_tagger"]


# How the training of a tagger went, in a few lines.


@dataclass(frozen=True, eq=False)
class TaggerSummary:
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


@dataclass(frozen=True, eq=False)
class TrainedTagger:
    """A trained tagger and how its training went.

    Attributes
    ----------
    model : SequencePerceptron
        The tagger.
    summary : TaggerSummary
        How training went.
    provenance : dict
        What a model file says about the origin of the model.
    """

    model: SequencePerceptron
    summary: TaggerSummary
    provenance: dict[str, Any]

    def save(self, path: Place) -> None:
        """Write the model to a file."""
        write_model(Preparation(), self.model, path, provenance=self.provenance)


def train_tagger(
    *places: Place,
    label: str | int | None = None,
    columns: Sequence[str | int] = (),
    parameters: Mapping[str, Any] | None = None,
    holdout: float | None = None,
    seed: int = 0,
    progress: bool = False,
    log: Log = log_info,
    **options: Any,
) -> TrainedTagger:
    r"""Train a `SequencePerceptron` on files of annotated sentences.

    Parameters
    ----------
    *places : str or path
        Files in CoNLL-U, or with one token a line and columns; see `rosenblatt.read_corpus`.
    label : str, int or None
        The column to predict, by name or by position from 1 (−1 is the last). By default ``upos`` of CoNLL-U, and
        the last column of other files.
    columns : sequence of str or int
        The columns that a token consists of: its word first. By default ``form``, or the first column.
    parameters : mapping or None
        Parameters of `SequencePerceptron`. The default of `templates` is "words", and for each further column the
        column of the token, of its neighbours, and the pairs of them.
    holdout : float or None
        Hold out this share of the sentences to measure the tagger on.
    seed : int
        Chooses the sentences held out, and is the `random_state` of the tagger.
    progress : bool
        Whether to show a progress bar on standard error.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        ``format`` and ``encoding``; see `rosenblatt.read_corpus`.

    Returns
    -------
    TrainedTagger
        With `model`, `summary` and `save`.

    Raises
    ------
    TrainingInterrupted
        Ctrl-C ended training after at least one pass. Its `result` is the tagger after the last completed pass.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder) / "tiny.conll"
    ...     _ = corpus.write_text("the DET\ndog NOUN\nbarks VERB\n\ndogs NOUN\nbark VERB\n")
    ...     trained = rb.train_tagger(corpus)
    ...     trained.save(f"{folder}/tags.model")
    ...     rb.load(f"{folder}/tags.model").predict([["the", "dog", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    >>> trained.model.columns_, trained.model.label_
    (('1',), '2')
    """
    from rosenblatt.sequences.templates import word_templates

    corpus, own, target = open_annotated(places, label, columns, options)
    given = {"templates": word_templates(len(own) - 1), "random_state": seed} | dict(parameters or {})
    model = _tagger(given)
    if given["templates"] is None:
        raise ParameterError(
            "templates=None takes features, but files hold words. Leave templates out, or name them."
        )
    log(f"{show_data(corpus.files)}: words from column {', '.join(own)}, labels from column {target}")
    X, y = _tokens(corpus, own), corpus.tokens(target)
    held = _held_out(len(X), holdout, seed)
    train = [i for i in range(len(X)) if i not in held]
    watch = Stopwatch()
    interruption = None
    try:
        with watch_passes(model, "sentences") if progress else nullcontext():
            model.fit([X[i] for i in train], [y[i] for i in train])
    except KeyboardInterrupt as caught:
        if vars(model).get("stop_reason_") != "interrupted" or not model.n_iter_:
            raise
        interruption = caught
    seconds = watch.read()
    model.columns_, model.label_ = own, target
    labels, counts = np.unique([label for i in train for label in y[i]], return_counts=True)
    summary = TaggerSummary(
        n_sentences=len(train),
        n_tokens=int(counts.sum()),
        n_features=model.n_features_,
        labels=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        n_passes=model.n_iter_,
        stop_reason=model.stop_reason_,
        mistakes_per_pass=model.mistakes_per_pass_.tolist(),
        trained_on=_measured(model, X, y, train),
        held_out=_measured(model, X, y, sorted(held)) if held else None,
        seconds=seconds.own,
        compile_seconds=seconds.compiling,
    )
    provenance = {
        "files": list(corpus.files),
        "sentences": len(train),
        "tokens": summary.n_tokens,
        "data": _fingerprint([X[i] for i in train], [y[i] for i in train]),
        "held_out": holdout,
        "all_data": _fingerprint(X, y) if held else None,  # with the sentences held out
    }
    trained = TrainedTagger(model, summary, provenance)
    if interruption is not None:
        raise TrainingInterrupted(trained) from interruption
    return trained


def open_annotated(
    places: Sequence[Place], label: str | int | None, columns: Sequence[str | int], options: Mapping[str, Any]
) -> tuple[Corpus, tuple[str, ...], str]:
    """Return annotated sentences, the columns that a token consists of, and the column of labels."""
    corpus = _read(places, options)
    names = list(corpus.columns)
    own = tuple(_column(each, names, corpus) for each in columns) or (_first_of(("form", names[0]), names),)
    target = _column(label, names, corpus) if label is not None else _first_of(("upos", names[-1]), names)
    if target in own:
        raise ParameterError(
            f"{show_data(corpus.files)}: the column {target!r} is both a feature and the label. Name "
            "another column "
            f"with --label; there are {', '.join(names)}."
        )
    return corpus, own, target


def evaluate_tagger(
    model: Any, *places: Place, label: str | int | None = None, log: Log = log_info, **options: Any
) -> SequenceEvaluation:
    """Compare the labels that a tagger predicts with those in files.

    Parameters
    ----------
    model : path or SequencePerceptron
        Trained.
    *places : str or path
        Files of annotated sentences; see `rosenblatt.read_corpus`.
    label : str, int or None
        The column of the true labels; by default that of training.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        ``format`` and ``encoding``; see `rosenblatt.read_corpus`.
    """
    model = OpenedModel.open(model) if isinstance(model, str | os.PathLike) else model
    tagger = tagger_of(model)
    corpus = _read(places, options)
    names = list(corpus.columns)
    own, target = _columns_for(tagger, corpus), tagger.label_
    if label is not None:
        target = _column(label, names, corpus)
    elif target is None or target not in names:
        target = _first_of(("upos", names[-1]), names)
    if target in own:
        raise ParameterError(
            f"{show_data(corpus.files)} has no column of labels beside its words. Name it with --label; there "
            f"are {', '.join(names)}."
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
    places: Place | Sequence[Place],
    output: Place | BinaryIO,
    *,
    scores: bool = False,
    as_json: bool = False,
    log: Log = log_info,
    **options: Any,
) -> None:
    """Label the tokens of files, and write one line for each: the word, a tab and its label.

    An empty line ends each sentence, so that the result is a file of columns.

    Parameters
    ----------
    model : path or SequencePerceptron
        Trained.
    places : str, path, or several of them
        Files of sentences, with or without labels; see `rosenblatt.read_corpus`. Tokens without labels stand one
        a line. A line of several words is a sentence, unless one of them is a label of the model or the name of
        the file tells its format; ``format="text"`` and ``format="conll"`` say which it is.
    output : path or binary file
        Where the lines go. A path is written completely or not at all.
    scores : bool
        Whether to add how far the best labelling with another label of this token is behind.
    as_json : bool
        Whether each sentence is one JSON object.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        ``format`` and ``encoding``; see `rosenblatt.read_corpus`.
    """
    model = OpenedModel.open(model) if isinstance(model, str | os.PathLike) else model
    tagger = tagger_of(model)
    corpus, by_line = _read_unlabelled(tagger, places_of(places), options)
    if by_line:
        log(f"{show_data(by_line)}: each line was read as a sentence; --format conll reads a word a line")
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
        raise ParameterError(f"model is a {type(found).__name__}, which labels no sentences. Pass a {TAGGER}.")
    return found


def _tagger(parameters: Mapping[str, Any]) -> SequencePerceptron:
    from rosenblatt.sequences.estimator import SequencePerceptron

    known = SequencePerceptron._get_param_names()
    for name in parameters:
        if name not in known:
            raise ParameterError(f"{TAGGER} has no parameter {name}. It takes {', '.join(sorted(known))}.")
    return SequencePerceptron(**parameters)


def _read(places: Sequence[Place], options: Mapping[str, Any]) -> Corpus:
    given = _corpus_options(places, options)
    return read_corpus(*(os.fspath(place) for place in places), format=given.format, encoding=given.encoding)


def _read_unlabelled(
    tagger: SequencePerceptron, places: Sequence[Place], options: Mapping[str, Any]
) -> tuple[Corpus, list[str]]:
    """Return sentences to be labelled, and the files whose lines were found to be sentences."""
    given = _corpus_options(places, options)
    width = tagger._vocabulary.width if tagger.columns_ is None else len(tagger.columns_)
    if given.format is not None or width != 1:
        return _read(places, options), []
    known = {str(label) for label in tagger.classes_.tolist()}
    at = int(tagger.label_) - 1 if tagger.label_ is not None and tagger.label_.isdecimal() else -1

    def is_labelled(fields: Sequence[str]) -> bool:
        return fields[at if at < len(fields) else -1] in known

    names = (os.fspath(place) for place in places)
    return read_unlabelled(*names, is_labelled=is_labelled, encoding=given.encoding)


def _corpus_options(places: Sequence[Place], options: Mapping[str, Any]) -> Options:
    """Return options of reading; raise `ParameterError` for those that sentences do not have."""
    usual, given = Options(), read_options(options)
    for each in fields(Options):
        if each.name not in (*CORPUS_OPTIONS, *HARMLESS) and getattr(given, each.name) != getattr(
            usual, each.name
        ):
            name = each.name.replace("_", "-")
            raise ParameterError(
                f"{show_data(places)} holds sentences, which have no option {name}. Drop --{name}."
            )
    return given


def _column(given: str | int, names: Sequence[str], corpus: Corpus) -> str:
    """Return the name of a column that is given by name or by position."""
    if isinstance(given, int) and str(given) not in names:
        if not 1 <= abs(given) <= len(names):
            raise ParameterError(f"{show_data(corpus.files)} has no column {given}: there are {len(names)}.")
        return names[given - 1 if given > 0 else given]
    corpus.column(str(given))
    return str(given)


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
        raise ParameterError("The tagger reads features, not words, so it cannot read files. Use it from Python.")
    if width > len(names):
        raise ParameterError(f"The tagger reads {width} columns, but {show_data(corpus.files)} has {len(names)}.")
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
        raise ParameterError(
            f"holdout={share} of {count(n, 'sentence')} leaves none to train on or none to measure on."
        )
    return set(np.random.default_rng(seed).permutation(n)[:size].tolist())


def _measured(model: SequencePerceptron, X: Any, y: Any, which: Sequence[int]) -> SequenceEvaluation:
    return evaluate_sequences([y[i] for i in which], model.predict([X[i] for i in which]))


def _sentence_as_lines(
    field: Callable[[Any], str], words: Sequence[str], labels: Sequence[Any], behind: Sequence[float] | None
) -> str:
    parts = [map(field, words), map(field, labels), *([] if behind is None else [map(repr, behind)])]
    return "".join("\t".join(each) + "\n" for each in zip(*parts, strict=True)) + "\n"


def _sentence_as_json(words: Sequence[str], labels: Sequence[Any], behind: Sequence[float] | None) -> str:
    value = {"tokens": words, "labels": labels} | ({} if behind is None else {"scores": behind})
    return json_text(value) + "\n"
