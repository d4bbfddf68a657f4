"""How to read files: the options as one value, and the formats.

Each format says how it is recognised, what it can hold, and what opens it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from rosenblatt.exceptions import FormatError, Given, ParameterError, Remedy, Term
from rosenblatt.parameters import RANGE, check_choice, refusal, unused

if TYPE_CHECKING:
    from rosenblatt.rows.batch import Skipped
    from rosenblatt.tables.data_file import DataFile
    from rosenblatt.tables.recipe import TableRecipe
    from rosenblatt.tables.sparse_source import SparseReader
    from rosenblatt.tables.table import Table

__all__ = [
    "CORPUS_FORMATS",
    "FORMATS",
    "MISSING_RULES",
    "MOST_BITS",
    "MOST_NGRAMS",
    "THOUSANDS",
    "WEIGHTINGS",
    "Column",
    "Format",
    "Missing",
    "Options",
    "Runs",
    "corpus_format",
    "loop_pays",
    "recognise",
    "runs_of",
]


MOST_BITS = 28
"""Hashed features are at most 2^28 for each column."""

MOST_NGRAMS = 16
"""The most words, or characters, of a run that counts as one feature."""

WEIGHTINGS = ("tfidf", "count")
"""What the counts of words can become; the first is the default."""

THOUSANDS = (",", ".", "'", " ")
"""What may stand between thousands."""

Missing: TypeAlias = Literal["error", "zero", "mean", "indicator"]
MISSING_RULES: tuple[Missing, ...] = ("error", "zero", "mean", "indicator")
"""What to do about missing numbers."""


def loop_pays(n_bytes: int, small: int) -> bool:
    """Return whether to use a compiled loop: it is loaded already, or there are more than `small` bytes.

    Loading numba takes about half a second; plain Python gives the same result on small inputs before that.
    """
    return n_bytes > small or "numba" in sys.modules


class Runs(NamedTuple):
    """Which runs of words, or of characters within words, count as one feature: those from `least` to `most`."""

    least: int
    most: int
    characters: bool = False

    @property
    def told(self) -> int | str:
        """The parameter `ngrams` that says so: the longest run, where it is of words and the shortest is one."""
        lengths = f"{self.least}-{self.most}"
        return f"char:{lengths}" if self.characters else self.most if self.least == 1 else lengths


def runs_of(ngrams: int | str) -> Runs:
    """Return what `ngrams` says: 2 and "1-2" are words and pairs of words, "char:2-5" two to five characters.

    Examples
    --------
    >>> runs_of("char:2-5")
    Runs(least=2, most=5, characters=True)
    >>> runs_of("1-2").told
    2
    """
    found = re.fullmatch(r"(char:)?(?:([0-9]{1,2})-)?([0-9]{1,2})", str(ngrams))
    if found is not None and not isinstance(ngrams, bool):
        characters, most = found[1] is not None, int(found[3])
        runs = Runs(int(found[2] or (most if characters else 1)), most, characters)
        if 1 <= runs.least <= most <= MOST_NGRAMS:
            return runs
    raise ParameterError(
        Given("ngrams", ngrams) + f" must be the longest run of words, such as 2, or lengths such as '1-2', or "
        f"'char:2-5' for characters; each from 1 to {MOST_NGRAMS}."
    )


Column: TypeAlias = str | int
"""A column by its name, or by its position: from 1, or from the end as −1."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to read a source; None means that the file tells.

    Attributes
    ----------
    format : str or None
        One of the names in `rosenblatt.tables.reading.FORMATS`.
    header : bool or None
        Whether the first line of CSV and TSV names the columns.
    delimiter : str or None
        What separates the fields of CSV.
    target : Column or None
        The labels. None: the column called label, target, class or y, or else the last one; of these two, the one
        that holds classes.
    labelled : bool
        Whether there must be labels; if not, those of a table are not read, so that their column may be empty.
    features, ignore : tuple of Column
        The columns to use (all if empty), and those not to.
    text : tuple of Column
        Columns of text, each turned into its words.
    categorical, hashed : tuple of Column
        Columns whose values are names: one feature a name, or hashed. Columns of strings are categorical anyway.
    ngrams : int or str
        Which runs of words count as one: the longest, or lengths such as "1-2"; "char:2-5" for runs of characters.
    weighting : {"tfidf", "count"}
        Whether words are weighted, (1 + log count) · idf and each text at length 1, or only counted.
    bits : int
        Hashed features are 2^bits, for each text or hashed column.
    vocabulary : bool or None
        Whether to remember which words fall into which hashed feature, so that weights have names: up to three of
        each. None: the first one met, of runs of words and up to 2^20 features a column; a model file keeps those
        of the largest weights.
    missing : {"error", "zero", "mean", "indicator"}
        What to do about missing numbers: refuse them, or use 0, or the mean of the column, or this mean and one
        more feature that marks them. Missing categories are a level of their own.
    date : {"auto", "none"}
        Whether columns of dates become numbers: days, and month and weekday as categories; or are left out.
    na : tuple of str
        More words that stand for a missing value. With a sign = before them, "=NA", they take the place of the
        usual words, and "=" alone leaves only empty fields.
    encoding : str or None
        The encoding of text files, such as "latin-1"; None: UTF-8.
    decimal : {".", ","} or None
        The decimal mark of CSV and TSV; None: a comma where numbers have it and columns are separated otherwise.
    thousands : {",", ".", "'", " "} or None
        What stands between thousands in the numbers of CSV and TSV; None: nothing.
    skip_bad : bool
        Whether rows that cannot be read are counted and left out.
    skip_unlabelled : bool
        Whether rows of a table whose label is missing are counted and left out, as training and evaluation do
        unless `missing` is "error".
    zero_based : bool or None
        Whether the column numbers of svmlight begin at 0.
    row_groups : tuple of int or None
        The row groups of Parquet to read, from 0; None: all.
    chunk_bytes : int
        About how much to read at once.
    """

    format: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    target: Column | None = None
    labelled: bool = True
    features: tuple[Column, ...] = ()
    ignore: tuple[Column, ...] = ()
    text: tuple[Column, ...] = ()
    categorical: tuple[Column, ...] = ()
    hashed: tuple[Column, ...] = ()
    ngrams: int | str = 1
    weighting: Literal["tfidf", "count"] = "tfidf"
    bits: int = 18
    vocabulary: bool | None = None
    missing: Missing = "error"
    date: Literal["auto", "none"] = "auto"
    na: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[",", ".", "'", " "] | None = None
    skip_bad: bool = False
    skip_unlabelled: bool = False
    zero_based: bool | None = None
    row_groups: tuple[int, ...] | None = None
    chunk_bytes: int = 1 << 21


OpenTable: TypeAlias = "Callable[[DataFile, Options, TableRecipe | None], Table]"
"""Takes the file, how to read it, and the recipe of a trained model or of the files before this one."""

OpenSparse: TypeAlias = "Callable[[DataFile, Options, int | None, Skipped | None], SparseReader]"
"""Takes the file, how to read it, the number of features if it is known, and where to count bad rows."""

HEAD_BYTES = 1 << 16  # bytes by which formats are recognised
LOOKED_AT = 1 << 12  # bytes in which a zero shows that a file is no text
JSON_ARRAY = re.compile(rb"\s*\[\s*[\[{]")
OBJECT_OF_COLUMNS = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[\[{]')
SVMLIGHT = re.compile(rb"[+-]?[\d.]+([eE][+-]?\d+)?([ \t]+qid:\d+)?([ \t]+\d+:[^\s:]+)+[ \t]*(#.*)?\r?$")


@dataclass(frozen=True)
class Format:
    """A format of data files.

    Attributes
    ----------
    name : str
        What options call it.
    endings : tuple of str
        How names of such files end.
    marks : tuple of bytes
        The first bytes of such files, where these identify the format.
    open_table, open_sparse : callable or None
        Open a file as a table or as sparse rows; None where the format cannot hold these.
    is_sparse : callable
        Takes a file and returns whether it holds sparse rows.
    on_disk : tuple of bytes
        Files that begin with one of these must be plain files on disk: neither compressed nor a stream.
    labels_apart : bool
        Whether labels can be read without reading the features.
    optional_columns : bool
        Whether a file may lack columns that others have.
    own : tuple of str
        The options that not every format has.
    """

    name: str
    endings: tuple[str, ...]
    marks: tuple[bytes, ...]
    open_table: OpenTable | None
    open_sparse: OpenSparse | None = None
    is_sparse: Callable[[DataFile], bool] = lambda file: False
    on_disk: tuple[bytes, ...] = ()
    labels_apart: bool = False
    optional_columns: bool = False
    own: tuple[str, ...] = ()


def _lazy(place: str) -> Callable[..., Any]:
    """Return a function that imports what it calls: naming formats on the command line loads no reader."""
    return lambda *arguments: resolve_name(f"rosenblatt.tables.{place}")(*arguments)


OF_DELIMITED = ("header", "delimiter", "decimal", "thousands")
_EVERY = (
    Format("csv", ("csv",), (), _lazy("delimited:CsvTable"), own=OF_DELIMITED),
    Format("tsv", ("tsv", "tab"), (), _lazy("delimited:TsvTable"), own=OF_DELIMITED),
    Format(
        "svmlight",
        ("svm", "svmlight", "libsvm"),
        (),
        None,
        _lazy("svmlight:open_svmlight"),
        lambda file: True,
        own=("zero_based",),
    ),
    Format(
        "parquet", ("parquet", "pq"), (b"PAR1",), _lazy("columnar:ParquetTable"), on_disk=(b"",), labels_apart=True
    ),
    Format(
        "arrow",
        ("arrow", "arrows", "feather", "ipc"),
        (b"ARROW1", b"\xff\xff\xff\xff"),
        _lazy("columnar:ArrowTable"),
        on_disk=(b"ARROW1",),
    ),
    Format(
        "npz",
        ("npz",),
        (b"PK\x03\x04", b"PK\x05\x06"),
        _lazy("numpy_files:NpzTable"),
        _lazy("numpy_files:SparseNpz"),
        _lazy("numpy_files:is_sparse_npz"),
        on_disk=(b"",),
        labels_apart=True,
    ),
    Format("npy", ("npy",), (b"\x93NUMPY",), _lazy("numpy_files:NpyTable"), on_disk=(b"",), labels_apart=True),
    Format("jsonl", ("jsonl", "ndjson"), (), _lazy("json_lines:JsonLinesTable"), optional_columns=True),
    Format("json", (), (), _lazy("json_lines:JsonTable"), optional_columns=True),
)
FORMATS = {each.name: each for each in _EVERY}
"""All formats by name."""

CORPUS_FORMATS = {"conllu": ("conllu", "conllup"), "conll": ("conll", "iob", "iob2", "bio"), "text": ()}
"""The formats of annotated sentences, and how names of such files end."""


def corpus_format(path: str, asked: str | None = None) -> str:
    """Return the format of a file of sentences: the one asked for, or else by its name, or "conll".

    Examples
    --------
    >>> corpus_format("en_ewt-ud-train.conllu.gz"), corpus_format("eng.testa"), corpus_format("news", "text")
    ('conllu', 'conll', 'text')
    """
    if asked is not None and asked not in CORPUS_FORMATS:
        told = f"does not fit: sentences are read as one of {', '.join(CORPUS_FORMATS)}"
        raise refusal("format", asked, told, RANGE)
    return asked or named_corpus_format(path) or "conll"


def named_corpus_format(path: str) -> str | None:
    """Return the format of sentences by which the name of a file ends, or None."""
    ending = _ending(path)
    return next((name for name, endings in CORPUS_FORMATS.items() if ending in endings), None)


def recognise(file: DataFile, asked: str | None = None) -> Format:
    """Return the format of a file: the one asked for, or else by its first bytes, its name, or its text.

    Raises
    ------
    FormatError
        The file is empty, or its format cannot be read from where it is.
    ParameterError
        `asked` is no format.
    """
    if asked is not None:
        check_choice("format", asked, (*FORMATS, *CORPUS_FORMATS))
    if asked in CORPUS_FORMATS or (asked is None and named_corpus_format(file.inner) is not None):
        raise FormatError(
            "this is a file of sentences, not a table. `rosenblatt train` reads it with "
            + Term("label", "label")
            + ", and `predict` and `evaluate` do with a model trained so",
            code="sentences",
            file=file.name,
        )
    head = file.head(HEAD_BYTES)
    if not head:
        raise FormatError("the file is empty", file=file.name)
    if asked is not None:
        found = FORMATS[asked]
    else:
        found = _by_mark(head) or _by_ending(file.inner) or FORMATS[_by_text(head, file.inner)]
        if not found.marks and b"\0" in head[:LOOKED_AT]:
            raise FormatError(_no_text(head), file=file.name)
        if JSON_ARRAY.match(head) and found.name in ("jsonl", "csv") and _ending(file.inner) != "csv":
            found = FORMATS["json"]
    if file.encoding is not None and found.marks:
        raise unused("encoding", file.encoding, f"{file.name} is {found.name}, which is no text and has no ")
    if head.startswith(found.on_disk) and not file.is_plain:
        where = file.where if file.is_stream else "a compressed file"
        raise FormatError(f"{found.name} cannot be read from {where}: save it to a plain file", file=file.name)
    return found


def _no_text(head: bytes) -> str:
    """Return the message about a file that is neither text nor of a known binary format."""
    if head[8:9] == b"{" and b"rosenblatt" in head:
        return "this is a model file, not data"
    return (
        f"this is not text, nor another format that can be read ({', '.join(FORMATS)}). If it is UTF-16 text, use "
        + Remedy("encoding", "utf-16")
    )


def _is_one_document(text: bytes, path: str) -> bool:
    """Return whether an object is the whole of a file called .json: it ends on a later line, or holds others."""
    first, _, rest = text.partition(b"\n")
    if _ending(path) != "json":
        return False
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return True
    return not rest.strip() and any(isinstance(value, dict | list) for value in found.values())


def _by_mark(head: bytes) -> Format | None:
    return next((each for each in FORMATS.values() if head.startswith(each.marks)), None)


def _by_ending(path: str) -> Format | None:
    ending = _ending(path)
    return next((each for each in FORMATS.values() if ending in each.endings), None)


def _ending(path: str) -> str | None:
    """Return how the name of a file ends, without the ending of its compression."""
    parts = Path(path).name.lower().split(".")[1:]
    while parts and parts[-1] in ("gz", "gzip", "zst", "zstd"):
        parts.pop()
    return parts[-1] if parts else None


def _by_text(head: bytes, path: str) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "json" if OBJECT_OF_COLUMNS.match(text) or _is_one_document(text, path) else "jsonl"
    lines = [line for line in text.splitlines()[:100] if line.strip() and not line.startswith(b"#")]
    if lines and SVMLIGHT.match(lines[0]):
        return "svmlight"
    return "tsv" if lines and b"\t" in lines[0] and b"," not in lines[0].split(b"\t")[0] else "csv"
