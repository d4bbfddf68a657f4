"""Annotated sentences: columns as in the CoNLL shared tasks, CoNLL-U, and plain text with a sentence a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from rosenblatt.exceptions import FormatError, Given, InputError, ParameterError, Remedy
from rosenblatt.rows.features import read_only, show_value
from rosenblatt.sequences.sentences import Corpus, TokenColumn
from rosenblatt.tables.data_file import DataFile, expand
from rosenblatt.tables.delimited_rows import LineBlocks
from rosenblatt.tables.reading import corpus_format, named_corpus_format

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
DOCUMENT = "-DOCSTART-"
_BLOCK_BYTES = 1 << 22  # bytes
_ID = re.compile(r"([1-9][0-9]*)|[0-9]+-[0-9]+|[0-9]+\.[0-9]+", re.ASCII)
_BLANKS = re.compile("[ \t]+")
_NAMES = re.compile(r"#\s*global\.columns\s*=\s*(.+)")
_SENTENCE_ID = re.compile(r"#\s*sent_id\s*=\s*(.*)")


class _Line(NamedTuple):
    """A line of a file: its number from 1, and its text without the line end."""

    number: int
    text: str


class _Part:
    """The sentences of one file, as they are read.

    Texts are in one flat list, because a list for each token would take most of the time.
    """

    def __init__(self, file: str, names: tuple[str, ...]) -> None:
        self.file, self.names = file, names
        self.texts: list[str] = []
        self.lines: list[int] = []
        self.lengths: list[int] = []
        self.ids: list[str | None] = []
        self.size = 0  # tokens of the sentence being read
        self.by_line = False  # whether each line is a sentence

    def add(self, line: int, fields: Sequence[str]) -> None:
        """Add a token to the sentence."""
        if "" in fields:
            at = fields.index("")
            raise self.problem(f"the field {self.names[at]} is empty. Write _ for a missing value", line)
        self.texts += fields
        self.lines.append(line)
        self.size += 1

    def end_sentence(self, sentence_id: str | None = None) -> None:
        """End the sentence, if it has a token."""
        if self.size:
            self.lengths.append(self.size)
            self.ids.append(sentence_id)
            self.size = 0

    def problem(self, problem: str, line: int) -> FormatError:
        """Return the error about a line."""
        return FormatError(problem, file=self.file, line=line)


def read_corpus(
    *places: str,
    format: str | None = None,
    names: Sequence[str] | None = None,
    encoding: str | None = None,
) -> Corpus:
    """Read annotated sentences from files.

    Parameters
    ----------
    *places : str
        Paths, globs, or ``-`` for standard input. gzip, zstd and zip archives of one file are recognised.
    format : {"conllu", "conll", "text"} or None
        None: by the name of the file; ``.conllu`` and ``.conllup`` are CoNLL-U, all others are columns.

        "conllu"
            Ten fields a line, separated by tabs. Lines of ranges (``1-2``), empty nodes (``8.1``) and comments are
            skipped; ``# sent_id`` is kept, and ``# global.columns`` names other columns.
        "conll"
            Fields separated by tabs, or by blanks where the first line of tokens has no tab; an empty line after
            each sentence. Lines with ``-DOCSTART-`` are skipped. A line before a sentence is a comment if it
            begins with ``#`` and has another number of fields.
        "text"
            A sentence a line, its tokens separated by blanks.
    names : sequence of str, optional
        The names of the columns of "conll"; by default ``"1"``, ``"2"``, ….
    encoding : str, optional
        The encoding of the files; by default UTF-8.

    Returns
    -------
    Corpus
        The sentences with their columns, and the place of each token. Empty sentences are left out.

    Raises
    ------
    FormatError
        A line does not follow the format; the error has the file and the line.
    InputError
        A file does not exist, or files have different columns.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> lines = ["the DET", "dog NOUN", "", "dogs NOUN", "bark VERB", ""]
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "two.conll").write_text(chr(10).join(lines), "utf-8")
    ...     corpus = read_corpus(f"{folder}/two.conll")
    >>> corpus.tokens("1"), corpus.tokens("2")
    ([['the', 'dog'], ['dogs', 'bark']], [['DET', 'NOUN'], ['NOUN', 'VERB']])
    """
    files = expand(places, encoding)
    return _joined([_read_file(file, corpus_format(file.inner, format), names) for file in files])


def read_unlabelled(
    *places: str, is_labelled: Callable[[Sequence[str]], bool], encoding: str | None = None
) -> tuple[Corpus, list[str]]:
    """Read sentences to be labelled, and return which files have a sentence on each line.

    Files whose names tell no format are judged by their lines. With tabs, with a word a line, or with a label in
    their first line they have columns. If lines of several words differ in length, or there is only one, each line
    is a sentence. If all have the same length, they may be either, which is an error, as for a single line with
    tabs. `is_labelled` says of the fields of a line whether one of them is a label.
    """
    parts, sentences = [], []
    for file in expand(places, encoding):
        format = named_corpus_format(file.inner)
        part = _read_file(file, format or partial(_told_by_lines, is_labelled=is_labelled), None)
        parts.append(part)
        if format is None and part.by_line:
            sentences.append(file.name)
    return _joined(parts), sentences


def _told_by_lines(lines: Sequence[_Line], file: str, *, is_labelled: Callable[[Sequence[str]], bool]) -> str:
    """Return the format of lines: "conll" or "text"."""
    tokens = [line for line in lines if line.text.strip(" \t") and not line.text.startswith(("#", DOCUMENT))]
    tabs = bool(tokens) and "\t" in tokens[0].text
    if not tokens or (tabs and len(tokens) > 1):
        return "conll"
    first = _split(tokens[0].text, tabs)
    if len(first) == 1 or is_labelled(first):
        return "conll"
    if not tabs and (len(tokens) == 1 or any(len(_split(line.text, tabs=False)) != len(first) for line in tokens)):
        return "text"
    lines_have = "the only line has tabs between its" if tabs else "every line has"
    raise FormatError(
        f"{lines_have} {_fields(len(first))}, and none of the first line is a label of the model",
        (
            "use " + Remedy("format", "text") + " if each line is a sentence",
            Remedy("format", "conll") + " if each is one word and what is known of it",
        ),
        file=file,
        line=tokens[0].number,
    )


def read_corpus_text(
    text: str, *, format: str = "conll", names: Sequence[str] | None = None, file: str = "<text>"
) -> Corpus:
    """Read annotated sentences from a text; the parameters are those of `read_corpus`."""
    return _joined([_parsed(_numbered(text, 1), corpus_format(file, format), names, file)])


def _read_file(
    file: DataFile, format: str | Callable[[Sequence[_Line], str], str], names: Sequence[str] | None
) -> _Part:
    """Read a file in a format, or in the one that a function tells by its lines."""
    stream = file.open()
    try:
        lines = _lines(LineBlocks(stream, file=file.name, skipped=None), file.name)
        if isinstance(format, str):
            return _parsed(lines, format, names, file.name)
        every = list(lines)
        return _parsed(iter(every), format(every, file.name), names, file.name)
    finally:
        stream.close()


def _lines(blocks: LineBlocks, file: str) -> Iterator[_Line]:
    while stop := blocks.read(_BLOCK_BYTES):
        encoded = bytes(blocks.text[: stop - 1])
        first = blocks.before + 1
        if b"\0" in encoded:
            line = first + encoded.count(b"\n", 0, encoded.index(b"\0"))
            raise FormatError("there is a zero byte, so this is no text", file=file, line=line)
        try:
            text = encoded.decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                "the line is not UTF-8. Name the encoding, such as latin-1, with " + Remedy("encoding"),
                code="encoding",
                file=file,
                line=first + encoded.count(b"\n", 0, error.start),
            ) from None
        yield from _numbered(text, first)


def _numbered(text: str, first: int) -> Iterator[_Line]:
    """Return the lines of a text; only line feeds end them, not the other characters of `str.splitlines`."""
    return (_Line(i, line.removesuffix("\r")) for i, line in enumerate(text.split("\n"), first))


def _parsed(lines: Iterator[_Line], format: str, names: Sequence[str] | None, file: str) -> _Part:
    if names is not None and format != "conll":
        told = Given("names") + f" belong to the format 'conll', but {file} is read as {format!r}. Drop "
        raise ParameterError(told + Given("names") + ".")
    match format:
        case "conll":
            part = _read_columns(lines, file, None if names is None else tuple(names))
        case "conllu":
            part = _read_conllu(lines, file)
        case _:
            part = _read_text(lines, file)
    if not part.lengths:
        raise FormatError("there is not one sentence", file=file)
    return part


def _read_columns(lines: Iterator[_Line], file: str, names: tuple[str, ...] | None) -> _Part:
    head: list[_Line] = []
    for line in lines:
        head.append(line)
        if line.text.strip(" \t") and not line.text.startswith("#"):
            break
    tabs = bool(head) and "\t" in head[-1].text
    width = len(_split(head[-1].text, tabs)) if head else 0
    part = _Part(file, tuple(str(i + 1) for i in range(width)) if names is None else names)
    if len(set(part.names)) < len(part.names):
        raise ParameterError(Given("names", part.names) + " must be different: each is the name of a column.")
    for number, text in chain(head, lines):
        if not text.strip(" \t"):
            part.end_sentence()
            continue
        fields = _split(text, tabs)
        if len(fields) != len(part.names):
            if part.size == 0 and text.startswith("#"):
                continue
            raise part.problem(
                f"the line has {_fields(len(fields))}, but the first line of tokens has "
                f"{_fields(len(part.names))}. If each line is a sentence, use " + Remedy("format", "text"),
                number,
            )
        if fields[0] != DOCUMENT:
            part.add(number, fields)
    part.end_sentence()
    return part


def _fields(n: int) -> str:
    return f"{n} field{'s' * (n != 1)}"


def _split(line: str, tabs: bool) -> list[str]:
    return line.split("\t") if tabs else _BLANKS.split(line.strip(" \t"))


def _read_conllu(lines: Iterable[_Line], file: str) -> _Part:
    part = _Part(file, CONLLU_COLUMNS)
    sentence_id: str | None = None
    id_at = 0
    for number, text in lines:
        if not text.strip(" \t"):
            part.end_sentence(sentence_id)
            sentence_id = None
        elif text.startswith("#"):
            if part.size:
                raise part.problem(
                    "a comment stands within a sentence. Put an empty line after each sentence", number
                )
            if named := _NAMES.fullmatch(text):
                part.names = _named_columns(named[1], part, number)
                id_at = part.names.index("id") if "id" in part.names else -1
            elif found := _SENTENCE_ID.fullmatch(text):
                sentence_id = found[1].strip() or None
        else:
            fields = text.split("\t")
            if len(fields) != len(part.names):
                raise part.problem(
                    f"the line has {_fields(len(fields))} separated by tabs, but must have {len(part.names)}. Use "
                    "the format 'conll' for other columns",
                    number,
                )
            if id_at < 0 or _is_word(fields[id_at], part, number):
                part.add(number, fields)
    part.end_sentence(sentence_id)
    return part


def _named_columns(written: str, part: _Part, line: int) -> tuple[str, ...]:
    """Return the columns that ``# global.columns`` names."""
    names = tuple(written.lower().split())
    if part.lengths:
        raise part.problem("global.columns must stand before all sentences", line)
    if len(set(names)) < len(names):
        raise part.problem(f"the columns are {' '.join(names)}, but must have different names", line)
    return names


def _is_word(written: str, part: _Part, line: int) -> bool:
    """Return whether an id is that of a word, not of a range or an empty node; it must be the next one."""
    found = _ID.fullmatch(written)
    if found is None:
        raise part.problem(
            f"the id is {show_value(written)}, but must be a number such as 3, a range 1-2 or an empty node 8.1",
            line,
        )
    if found[1] is None:
        return False
    if int(written) != part.size + 1:
        raise part.problem(
            f"the id is {written}, but should be {part.size + 1}. Number words from 1, and put an empty line "
            "after each sentence",
            line,
        )
    return True


def _read_text(lines: Iterable[_Line], file: str) -> _Part:
    part = _Part(file, ("1",))
    part.by_line = True
    for number, text in lines:
        if stripped := text.strip(" \t"):
            for word in _BLANKS.split(stripped):
                part.add(number, (word,))
            part.end_sentence()
    return part


def _joined(parts: Sequence[_Part]) -> Corpus:
    """Return the sentences of several files as one corpus."""
    names = parts[0].names
    for part in parts:
        if part.names != names:
            raise InputError(
                f"{part.file} has the columns {', '.join(part.names)}, but {parts[0].file} has "
                f"{', '.join(names)}. Read them apart."
            )
    texts = list(chain.from_iterable(part.texts for part in parts))
    starts = list(accumulate(chain.from_iterable(part.lengths for part in parts), initial=0))
    lines = list(chain.from_iterable(part.lines for part in parts))
    file_of = [i for i, part in enumerate(parts) for _ in part.lengths]
    return Corpus(
        {name: TokenColumn.of(texts[k :: len(names)]) for k, name in enumerate(names)},
        read_only(np.array(starts, np.int64)),
        read_only(np.array(lines, np.int64)),
        tuple(part.file for part in parts),
        read_only(np.array(file_of, np.int64)),
        tuple(chain.from_iterable(part.ids for part in parts)),
    )
