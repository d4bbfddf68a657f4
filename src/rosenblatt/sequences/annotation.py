"""Whether annotated sentences contradict each other: inconsistencies as people can act on them, with a proof."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import repr as short
from typing import Any

from rosenblatt.certify.certificate import Verification
from rosenblatt.certify.proof_reader import verify_sentences
from rosenblatt.escaping import count
from rosenblatt.exceptions import FormatError, InputError, Remedy, join_messages
from rosenblatt.sequences.exchanges import Inconsistency, Place
from rosenblatt.sequences.sentence_proof import SequenceAnswer, SequenceInseparable
from rosenblatt.sequences.sentence_verdict import MAX_WORK_UNITS, certify_sequences
from rosenblatt.sequences.sentences import Corpus
from rosenblatt.sequences.tagger_tasks import open_annotated
from rosenblatt.tables.reading import corpus_format
from rosenblatt.tasks.data import Log, log_info, show_data
from rosenblatt.tasks.data import Place as FilePlace

SHOWN_INCONSISTENCIES = 20  # inconsistencies that are printed
SHOWN_PLACES = 3  # places that are printed for each way to label
WORDS_AROUND = 2  # words printed on each side
HELD = ("columns", "label", "format", "encoding")


@dataclass(frozen=True, eq=False)
class CorpusCertificate:
    """Whether annotated sentences can be labelled correctly by a `SequencePerceptron`, with a proof.

    Attributes
    ----------
    answer : SequenceAnswer
        The answer, with its proof.
    inconsistencies : tuple of Inconsistency
        All inconsistencies of annotation, the clearest first: those whose minority is the smallest share.
    left_out : tuple of int
        The sentences that were left out of the answer, because their labels are in a minority.
    corpus : Corpus
        The sentences.
    """

    answer: SequenceAnswer
    inconsistencies: tuple[Inconsistency, ...]
    left_out: tuple[int, ...]
    corpus: Corpus = field(repr=False)
    columns: tuple[str, ...] = field(repr=False)
    label: str = field(repr=False)
    reading: Mapping[str, str] = field(repr=False)

    @property
    def verdict(self) -> str:
        """The answer: "separable", "inseparable" or "undecided"."""
        return self.answer.verdict

    def proof(self) -> str | None:
        """Return the proof with how the sentences were read; None if there is none."""
        if self.verdict == "undecided":
            return None
        held = f'"version": 1,\n "reading": {json.dumps(self.reading)},'
        return self.answer.to_json().replace('"version": 1,', held, 1)

    def text(self, most: int | None = SHOWN_INCONSISTENCIES) -> str:
        """Return the answer and up to so many inconsistencies as text; None shows all."""
        lines: list[str] = []
        if self.inconsistencies:
            minority = len({sentence for each in self.inconsistencies for sentence in each.minority})
            lines += [
                f"{count(len(self.inconsistencies), 'inconsistency', 'inconsistencies')} of annotation: the same "
                "words and neighbouring labels, but different labels for the words in brackets",
                *map(self.line, self.inconsistencies[:most]),
            ]
            if most is not None and len(self.inconsistencies) > most:
                more = Remedy("show_all", True, "text(None)")
                lines.append(f"… and {len(self.inconsistencies) - most} more; " + more + " shows them")
            lines += [
                "The last labelling of each line is the minority. All minorities together: "
                f"{count(minority, 'sentence')} of {self.n_sentences:,}.",
                "",
            ]
        return join_messages("\n", [*lines, str(self.answer)])

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return self.corpus.n_sentences

    def line(self, found: Inconsistency) -> str:
        """Return one inconsistency in one line: the words, and each way to label them with its places."""
        sides = [
            f"{' '.join(self.labels(inside))} ({self.places(places)})" for inside, places in found.variants.items()
        ]
        return f'"{self.words(found)}": {" against ".join(sides)}'

    def words(self, found: Inconsistency) -> str:
        """Return the words in brackets, and some on each side, as in the first place."""
        place = next(iter(found.variants.values()))[0]
        column, starts = self.corpus.column(self.columns[0]), self.corpus.starts
        own = column.codes[starts[place.sentence] : starts[place.sentence + 1]]
        words = [column.texts[code] for code in own.tolist()]
        stop = place.token + found.length
        inside = f"[{' '.join(words[place.token : stop])}]"
        return " ".join(
            [*words[max(0, place.token - WORDS_AROUND) : place.token], inside, *words[stop : stop + WORDS_AROUND]]
        )

    def labels(self, inside: Sequence[int]) -> list[str]:
        """Return labels by their codes."""
        return [self.answer.data.labels[code] for code in inside]

    def places(self, places: Sequence[Place]) -> str:
        """Return the first places of some as text."""
        more = [f"and {len(places) - SHOWN_PLACES} more"] * (len(places) > SHOWN_PLACES)
        return "; ".join([*map(self.place, places[:SHOWN_PLACES]), *more])

    def place(self, place: Place) -> str:
        """Return a place as text: the file and line of its first token, and its sentence."""
        name = self.corpus.ids[place.sentence] or str(place.sentence + 1)
        return f"{self.corpus.place(*place)}, sentence {name}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values; places have lines and sentences from 1, the proof counts from 0."""
        proof = self.proof()
        return {
            "verdict": self.verdict,
            "reason": self.answer.reason,
            "sentences": self.n_sentences,
            "tokens": self.corpus.n_tokens,
            "labels": list(self.answer.data.labels),
            "inconsistencies": [self._inconsistency(each) for each in self.inconsistencies],
            "left_out": [sentence + 1 for sentence in self.left_out],
            "proof": None if proof is None else json.loads(proof),
        }

    def _inconsistency(self, found: Inconsistency) -> dict[str, Any]:
        return {
            "words": self.words(found),
            "variants": [
                {
                    "labels": self.labels(inside),
                    "minority": k > 0,
                    "places": [self._place(place) for place in places],
                }
                for k, (inside, places) in enumerate(found.variants.items())
            ],
        }

    def _place(self, place: Place) -> dict[str, Any]:
        corpus = self.corpus
        return {
            "file": corpus.files[corpus.file_of[place.sentence]],
            "line": int(corpus.lines[corpus.starts[place.sentence] + place.token]),
            "sentence": place.sentence + 1,
            "id": corpus.ids[place.sentence],
        }


def certify_corpus(
    data: Any,
    *,
    label: str | int | None = None,
    columns: Sequence[str | int] = (),
    templates: Any = None,
    constraints: Any = None,
    without_inconsistent: bool = False,
    time_limit: float | None = None,
    work: float | None = MAX_WORK_UNITS,
    log: Log = log_info,
    **options: Any,
) -> CorpusCertificate:
    r"""Decide whether annotated sentences can all be labelled correctly, and list where they contradict.

    Parameters
    ----------
    data, label, columns
        As in `rosenblatt.train`.
    templates, constraints
        As in `SequencePerceptron`; by default the templates of `rosenblatt.train`.
    without_inconsistent : bool
        Whether to decide about the sentences that are not in the minority of an inconsistency.
    time_limit, work
        As in `rosenblatt.certify.certify_sequences`.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        ``format`` and ``encoding``; see `rosenblatt.sequences.conll.read_corpus`.

    Returns
    -------
    CorpusCertificate
        With `verdict`, `inconsistencies`, `text` and `proof`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder) / "tiny.conll"
    ...     _ = corpus.write_text("it VERB\nwas VERB\nput VERB\nup PRT\n\nit VERB\nwas VERB\nput VERB\nup ADVP\n")
    ...     found = certify_corpus(corpus)
    >>> found.verdict, found.words(found.inconsistencies[0])
    ('inseparable', 'was put [up]')
    """
    from rosenblatt.sequences.templates import word_templates

    corpus, own, target = open_annotated(data, label, columns, options)
    log(f"{show_data(corpus.files)}: words from column {', '.join(own)}, labels from column {target}")
    given = word_templates(len(own) - 1) if templates is None else templates
    X, y = corpus.tokens(own[0], *own[1:]), corpus.tokens(target)
    limits: dict[str, Any] = {"time_limit": time_limit, "work": work}
    answer = certify_sequences(X, y, templates=given, constraints=constraints, **limits)
    found: tuple[Inconsistency, ...] = ()
    left_out: tuple[int, ...] = ()
    if isinstance(answer, SequenceInseparable):
        found = tuple(sorted(answer.inconsistencies, key=_share))
        if without_inconsistent and answer.minority:
            left_out = answer.minority
            answer = certify_sequences(X, y, templates=given, constraints=constraints, without=left_out, **limits)
    format = options.get("format") or corpus_format(corpus.files[0])
    reading = {"columns": ",".join(own), "label": target, "format": format}
    if options.get("encoding"):
        reading["encoding"] = options["encoding"]
    return CorpusCertificate(answer, found, left_out, corpus, own, target, reading)


def check_corpus(
    proof: Mapping[str, Any], *places: FilePlace, file: str, log: Log = log_info, **options: Any
) -> tuple[Verification, str, dict[str, str]]:
    """Check a proof about sentences against files; return the result, the verdict, and how files were read.

    `file` is the file of the proof, for messages. `options` replace those of the proof: ``label``, ``columns``,
    ``format`` and ``encoding``.
    """
    held = {name: value for name, value in dict(proof.get("reading", {})).items() if not options.get(name)}
    for name, value in held.items():
        if name not in HELD or type(value) is not str:
            raise FormatError(f"its reading holds {short(name)}, which sentences do not have", file=file)
    if proof["data"]["templates"] is None:
        raise InputError(f"{file} is about features, which files of sentences do not hold. Use `verify`.")
    given = {name: value for name, value in {**options, **held}.items() if value is not None}
    label, columns = given.pop("label", None), given.pop("columns", ())
    columns = columns.split(",") if isinstance(columns, str) else columns
    corpus, words, target = open_annotated(places, label, columns, given)
    log(f"{show_data(corpus.files)}: words from column {', '.join(words)}, labels from column {target}")
    X, y = corpus.tokens(words[0], *words[1:]), corpus.tokens(target)
    return *verify_sentences(proof, X, y), held


def _share(found: Inconsistency) -> tuple[float, int, Place]:
    """Return what inconsistencies are ordered by: the share of the minority, then how many places there are."""
    first, *others = map(len, found.variants.values())
    places = [place for each in found.variants.values() for place in each]
    return sum(others) / (first + sum(others)), -first, min(places)
