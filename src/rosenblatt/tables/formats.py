"""The formats of data files: how each is recognised, what it can hold, and what opens it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias

from rosenblatt.exceptions import FormatError, ParameterError, Remedy

if TYPE_CHECKING:
    from rosenblatt.rows.batch import Skipped
    from rosenblatt.tables.data_file import DataFile
    from rosenblatt.tables.reading import Options
    from rosenblatt.tables.recipe import TableRecipe
    from rosenblatt.tables.sparse_source import SparseReader
    from rosenblatt.tables.table import Table

__all__ = ["CORPUS_FORMATS", "FORMATS", "Format", "corpus_format", "recognise"]

OpenTable: TypeAlias = "Callable[[DataFile, Options, TableRecipe | None], Table]"
"""Takes the file, how to read it, and the recipe of a trained model or of the files before this one."""

OpenSparse: TypeAlias = "Callable[[DataFile, Options, int | None, Skipped | None], SparseReader]"
"""Takes the file, how to read it, the number of features if it is known, and where to count bad rows."""

HEAD_BYTES = 1 << 16  # bytes by which formats are recognised
LOOKED_AT = 1 << 12  # bytes in which a zero shows that a file is no text
ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*\{")
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


def _lazy(place: str) -> Callable[..., Any]:
    """Return a function that imports what it calls: naming formats on the command line loads no reader."""
    return lambda *arguments: resolve_name(f"rosenblatt.tables.{place}")(*arguments)


_EVERY = (
    Format("csv", ("csv",), (), _lazy("delimited:CsvTable")),
    Format("tsv", ("tsv", "tab"), (), _lazy("delimited:TsvTable")),
    Format(
        "svmlight", ("svm", "svmlight", "libsvm"), (), None, _lazy("svmlight:open_svmlight"), lambda file: True
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
        raise ParameterError(f"format is {asked!r}, but sentences are read as one of {', '.join(CORPUS_FORMATS)}.")
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
    if asked is not None and asked not in FORMATS and asked not in CORPUS_FORMATS:
        raise ParameterError(f"format is {asked!r}, but must be one of {', '.join(FORMATS)}.")
    if asked in CORPUS_FORMATS or (asked is None and named_corpus_format(file.inner) is not None):
        raise FormatError(
            "this is a file of sentences, not a table. `rosenblatt train` reads it with "
            + Remedy("label")
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
        found = _by_mark(head) or _by_ending(file.inner) or FORMATS[_by_text(head)]
        if not found.marks and b"\0" in head[:LOOKED_AT]:
            raise FormatError(_no_text(head), file=file.name)
        if ARRAY_OF_OBJECTS.match(head):
            found = FORMATS["json"]
    if file.encoding is not None and found.marks:
        raise ParameterError(f"{file.name} is {found.name}, which is no text. Drop " + Remedy("encoding") + ".")
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


def _by_text(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "json" if OBJECT_OF_COLUMNS.match(text) else "jsonl"
    lines = [line for line in text.splitlines()[:100] if line.strip() and not line.startswith(b"#")]
    if lines and SVMLIGHT.match(lines[0]):
        return "svmlight"
    return "tsv" if lines and b"\t" in lines[0] and b"," not in lines[0].split(b"\t")[0] else "csv"
