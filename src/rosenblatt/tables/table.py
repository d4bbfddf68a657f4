"""Tables as the encoder sees them, from files of any format or from memory.

Conversions between numpy, strings and Arrow through their buffers.

``pyarrow.array`` and ``Array.to_numpy`` import pandas where it is installed, which takes longer than reading a
small file; buffers do not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, Message, Remedy, join_messages
from rosenblatt.rows.features import show_value
from rosenblatt.rows.labels import factorize
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.reading import THOUSANDS
from rosenblatt.typing import Ints, Reals

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FIRST_ROWS",
    "LARGEST_EXACT_INTEGER",
    "MISSING",
    "MISSING_NAMES",
    "NOTATIONS",
    "SKIP",
    "WRITTEN_TRUTH",
    "Block",
    "Doubt",
    "Field",
    "Kind",
    "LabelKind",
    "Notation",
    "Problem",
    "Table",
    "TypedTable",
    "Wanted",
    "arrow_block",
    "asked_words",
    "dense",
    "distinct",
    "error_at",
    "from_numpy",
    "from_strings",
    "kind_of",
    "label_kind",
    "label_problems",
    "missing_words",
    "notations_of",
    "read_labels",
    "require_distinct",
    "require_room",
    "told_readings",
]


# How numbers are written in text: their decimal mark, and what stands between thousands.


class Notation(NamedTuple):
    """A way to write numbers.

    With `thousands`, the digits before the decimal mark may stand in groups: one to three, and then three each.

    Examples
    --------
    >>> Notation(",", ".").plain("1.250,5"), Notation(".", ",").plain("1,25")
    ('1250.5', None)
    """

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, decimal: str | None, thousands: str | None) -> Notation:
        """Return the notation of two options; the decimal mark is a point, or a comma if points group digits."""
        return cls(decimal or ("," if thousands == "." else "."), thousands or "")

    @property
    def pattern(self) -> str:
        """A regular expression, for pyarrow and for Python, that matches numbers."""
        mark = f"[{self.decimal}]"
        plain = f"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        groups = f"[1-9][0-9]{{0,2}}(?:[{self.thousands}][0-9]{{3}})+(?:{mark}[0-9]*)?|" if self.thousands else ""
        return rf"^[\s\v]*[+-]?(?:{groups}{plain})[\s\v]*$"

    @property
    def options(self) -> Message:
        """The parameters of reading that choose it."""
        decimal, thousands = Remedy("decimal", self.decimal), Remedy("thousands", self.thousands)
        if not self.thousands:
            return Message(decimal)
        return Message(thousands) if self.decimal == "." else thousands + " " + decimal

    def plain(self, value: str) -> str | None:
        """Return a number with a decimal point and without separators; None if this is no number."""
        if not _compiled(self.pattern).search(value):
            return None
        return value.strip().replace(self.thousands, "").replace(self.decimal, ".")


NOTATIONS = (Notation(), Notation(","), *(Notation(d, t) for t in THOUSANDS for d in ".," if d != t))
"""All that are looked for, those without separators first."""


class Doubt(NamedTuple):
    """A value of a column of numbers that is no number as the column is read, but is one in other notations."""

    value: str
    line: int
    readings: tuple[Notation, ...]


def notations_of(counts: dict[Notation, int]) -> tuple[Notation, ...]:
    """Return the notations in which the most values are numbers, given how many are in each.

    A notation with separators counts only if they occur, and one with a decimal comma besides only if that does.

    Examples
    --------
    >>> values = ["7,700", "950"]
    >>> notations_of({each: sum(each.plain(value) is not None for value in values) for each in NOTATIONS})
    (Notation(decimal=',', thousands=''), Notation(decimal='.', thousands=','))
    """
    used = [each for each in NOTATIONS if not each.thousands or counts[each] > counts[each._replace(thousands="")]]
    most = max(counts[each] for each in used)
    found = [each for each in used if counts[each] == most]
    points = {each.thousands for each in found if each.decimal == "." and each.thousands}
    return tuple(each for each in found if each.decimal == "." or each.thousands not in points)


def told_readings(value: str, readings: Iterable[Notation]) -> Message:
    """Return by which parameters a value is which number.

    Examples
    --------
    >>> told_readings("7,700", [Notation(".", ","), Notation(",")])
    "thousands=',' reads 7700, decimal=',' reads 7.700"
    """
    return join_messages(", ", (each.options + f" reads {each.plain(value)}" for each in readings))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z"), re.ASCII)


# Tables as the encoder sees them, from files of any format or from memory.


def distinct(column: pa.Array) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct values in order of their first rows, null as None, and which of them each row has."""
    encoded = column.dictionary_encode(null_encoding="encode")
    codes = encoded.indices
    if len(codes) == 0:
        return [], np.empty(0, np.int32)
    return encoded.dictionary.to_pylist(), np.frombuffer(
        codes.buffers()[1], np.int32, len(codes), 4 * codes.offset
    )


def from_numpy(values: NDArray[Any]) -> pa.Array:
    """Return a 1-D array of bools, numbers or strings as Arrow holds it.

    Raises ValueError for strings of characters that do not exist.

    Examples
    --------
    >>> from_numpy(np.array([True, False, True])).to_pylist()
    [True, False, True]
    >>> from_numpy(np.array([1, 2, 3])[::2]).to_pylist()
    [1, 3]
    """
    import pyarrow as pa

    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.dtype.kind == "U":
        if native.view(np.uint32).max(initial=0) > sys.maxunicode:  # tolist would raise SystemError
            raise ValueError("there are strings of characters that do not exist")
        return from_strings(native.tolist())
    if values.dtype.kind == "b":
        native = np.packbits(native, bitorder="little")
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(native)])


def from_strings(values: Sequence[str | None]) -> pa.Array:
    """Return strings as Arrow holds them; None is null. Raises UnicodeEncodeError for half characters.

    Examples
    --------
    >>> from_strings(["perceptron", None, "ω"]).to_pylist()
    ['perceptron', None, 'ω']
    """
    import pyarrow as pa

    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(each) for each in encoded], out=offsets[1:])
    present = np.packbits(np.array([value is not None for value in values], bool), bitorder="little")
    buffers = [pa.py_buffer(present), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    long = pa.Array.from_buffers(pa.large_string(), len(values), buffers)
    return long.cast(pa.string())


MISSING_NAMES = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?")
"""Strings that stand for a missing category in CSV and TSV."""
MISSING = (*MISSING_NAMES, "-", ".")
"""Strings that stand for a missing number in CSV and TSV; as names, - and . mean themselves."""

LARGEST_EXACT_INTEGER = 2**53
"""Beyond this, float64 does not hold every integer."""

WRITTEN_TRUTH = "true or false"
"""The type of a text column that holds truth values: as features they are 0 and 1, as labels they stay text."""

BYTES_A_COLUMN = 1000
"""What a column takes while a table is read, by measurement: its name, its type, its role and its recipe."""

FIRST_ROWS = 1000
"""The rows by which a column is judged."""

Kind: TypeAlias = Literal["number", "string", "other"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table: its name, what it holds, and the type that its file gives it.

    Strings are `numeric` if most of them are numbers, so that the others are mistakes and no categories. There is
    a `doubt` if more of them would be numbers with another decimal mark, or with separators of thousands. If most
    of them are numbers with a sign of a currency or with %, one of these is `decorated`. If every number is whole
    and below 1000, or has a point before three digits, which could also separate thousands, one is `grouped`. If
    several columns are `called` the same, all but the first have the number of their column in the name.
    """

    name: str
    kind: Kind
    type: str
    numeric: bool = False
    doubt: Doubt | None = None
    decorated: str | None = None
    grouped: str | None = None
    called: str | None = None


SKIP = "leave such rows out with " + Remedy("skip_bad", True)
"""The way out for a row that cannot be read."""


class Problem(NamedTuple):
    """What is wrong with a value, and what can be done about it; see `FormatError`."""

    text: str
    ways: tuple[str, ...] = ()
    code: str | None = None
    value: object = None

    def error(self, **place: Any) -> FormatError:
        """Return the problem as an error at a place."""
        return FormatError(self.text, self.ways, code=self.code, value=self.value, **place)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns to read, by position from 0."""

    numbers: tuple[int, ...] = ()
    strings: tuple[int, ...] = ()
    label: int | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Consecutive rows of a table.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, columns)
        The wanted numbers, C-contiguous and writable; a missing one is NaN.
    strings : list of pyarrow.Array
        One for each wanted column.
    label : pyarrow.Array or None
        The labels; strings where the file is text.
    line : callable
        Takes a row of this block, from 0, and returns its line in the file, or its number without lines.
    bad : dict of int to FormatError
        Rows of this block that cannot be read.
    lost : list of FormatError
        Rows that could not be split into fields, and so are not part of the block.
    """

    numbers: Reals
    strings: list[pa.Array]
    label: pa.Array | None
    line: Callable[[int], int]
    bad: dict[int, FormatError] = field(default_factory=dict)
    lost: list[FormatError] = field(default_factory=list)


class Table(Protocol):
    """An open table. A file can be read once; open it again to read it again.

    In a table that is `typed`, only null and NaN are missing, while words such as NA may stand for missing values
    in text. `notation` says how numbers are written in text. An `argument` is X of an estimator: its rows and
    columns count from 0, it holds no labels, and no row of it can be left out.
    """

    file: str
    named: bool
    fields: tuple[Field, ...]

    @property
    def argument(self) -> bool:
        """Whether this is X of an estimator."""

    @property
    def typed(self) -> bool:
        """Whether values have types."""

    @property
    def notation(self) -> Notation:
        """How numbers are written."""

    @property
    def format(self) -> str:
        """The name of the format."""

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""

    @property
    def first_count(self) -> int | None:
        """The number of first rows, where looking at a column means to read all of them; else None."""

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Yield the wanted columns, some rows at a time."""

    def close(self) -> None:
        """Close the file."""


class TypedTable:
    """A table whose values have types."""

    first_count: int | None = None

    typed = True
    argument = False
    notation = Notation()


def error_at(
    problem: Problem | str, table: Table, line: int | None = None, column: str | None = None, **data: Any
) -> FormatError:
    """Return an error that names its place: file, line and number of the column, or the row and column of X."""
    told = Problem(problem) if isinstance(problem, str) else problem
    if table.argument:
        return told._replace(**data).error(argument=table.file, row=line, column=column)
    names = [field.name for field in table.fields]
    position = names.index(column) + 1 if column in names else None
    return told._replace(**data).error(file=table.file, line=line, column=position)


def missing_words(na: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """Return the words that stand for missing values in text: the usual ones and others, or exactly those with =.

    Examples
    --------
    >>> missing_words(["-999"], ["", "NA"]), missing_words(["=?", "=none"], ["", "NA"])
    (('', 'NA', '-999'), ('', '?', 'none'))
    """
    exact = any(word.startswith("=") for word in na)
    return tuple(dict.fromkeys((*(("",) if exact else usual), *asked_words(na))))


def asked_words(na: Sequence[str]) -> tuple[str, ...]:
    """Return the words that were asked for, without the sign that leaves out the usual ones."""
    return tuple(word.removeprefix("=") for word in na)


def require_distinct(names: Sequence[str], file: str) -> None:
    """Raise `FormatError` if two columns have the same name."""
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if name in seen:
            raise FormatError(
                f"two columns are called {name!r}; rename one",
                code="column-twice",
                file=file,
                line=1,
                column=position,
            )
        seen.add(name)


def require_room(n_columns: int, file: str, n_bytes: int = 0) -> None:
    """Raise `InputError` if columns, and `n_bytes` for their values, would take more than the free memory."""
    require_memory(
        f"{file}: reading {n_columns:,} columns",
        n_columns * BYTES_A_COLUMN + n_bytes,
        "Save the values that are not zero in the LIBSVM format, or split the columns over several models.",
    )


def kind_of(type_: pa.DataType) -> Kind:
    """Return what a type of Arrow means here."""
    from pyarrow import types

    if types.is_dictionary(type_):
        return "string" if kind_of(type_.value_type) == "string" else "other"
    if types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_) or types.is_null(type_):
        return "number"
    if types.is_decimal(type_) or types.is_duration(type_):
        return "number"
    is_string = types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    return "string" if is_string else "other"


def arrow_block(batch: pa.RecordBatch, wanted: Wanted, table: Table, first: int) -> Block:
    """Return the block of rows that Arrow holds.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        The wanted columns: numbers, then strings, then the label.
    wanted : Wanted
        Which columns of the table these are.
    table : Table
        Where they come from.
    first : int
        The number of the first row.
    """
    columns = batch.columns
    n, m = len(wanted.numbers), len(wanted.strings)
    bad: dict[int, FormatError] = {}

    def refuse(row: int, k: int, problem: Callable[[str], Problem]) -> None:
        name = table.fields[wanted.numbers[k]].name
        bad.setdefault(row, error_at(problem(name), table, first + row, name))

    numeric = list(columns[:n])
    for k, column in enumerate(numeric):
        if kind_of(column.type) == "string":
            numeric[k], words = _spelled(column)
            for row, word in words:
                among = table.fields[wanted.numbers[k]].numeric  # numbers and words beside each other
                refuse(
                    row, k, partial(no_number, word, trained=table.argument and not among, argument=table.argument)
                )
    numbers, inexact = dense(numeric, batch.num_rows)
    for row, k, value in inexact:
        refuse(row, k, partial(too_long, value))
    for column in columns[n:]:
        column.validate(full=kind_of(column.type) != "number")  # files are not checked for UTF-8 before
    label = None if wanted.label is None else _plain(columns[-1])
    strings = [_as_strings(column) for column in columns[n : n + m]]
    return Block(numbers, strings, label, lambda row: first + row, bad)


def _spelled(column: pa.Array) -> tuple[pa.Array, list[tuple[int, str]]]:
    """Return strings as the numbers that they spell, and the rows and words that spell none; these become null."""
    import pyarrow as pa

    strings, words = _plain(column), []
    try:
        return strings.cast(pa.float64()), []
    except pa.ArrowInvalid:
        values: list[Any] = []
        for row, each in enumerate(strings):
            try:
                values.append(each.cast(pa.float64()).as_py())
            except pa.ArrowInvalid:
                values.append(None)
                words.append((row, each.as_py()))
    return pa.array(values, pa.float64()), words


def _as_strings(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column if column.type == pa.string() else _plain(column).cast(pa.string())


def _plain(column: pa.Array) -> pa.Array:
    """Return a column without a dictionary."""
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def dense(columns: Sequence[pa.Array], n_rows: int) -> tuple[Reals, list[tuple[int, int, str]]]:
    """Return columns of numbers as rows; a null becomes NaN.

    Parameters
    ----------
    columns : sequence of pyarrow.Array
        Bools, integers, floats, decimals, nulls, or lengths of time, which become days.
    n_rows : int
        How many each has.

    Returns
    -------
    rows : ndarray of shape (n_rows, len(columns))
        C-contiguous; float32 where every column is of at most 32-bit floats, else float64.
    inexact : list of (row, column, value)
        The integers that float64 would round, the first one of each column.
    """
    import pyarrow as pa

    if not columns:
        return np.empty((n_rows, 0)), []
    single = all(pa.types.is_float32(each.type) or pa.types.is_float16(each.type) for each in columns)
    target = pa.float32() if single else pa.float64()
    long = (pa.int64(), pa.uint64())
    inexact = [(row, j, value) for j, c in enumerate(columns) if c.type in long for row, value in _rounded(c)]
    cast = [each if each.type == target else _as_float(each, target) for each in columns]
    batch = pa.RecordBatch.from_arrays(cast, names=[""] * len(cast))
    # Arrow transposes several times as fast as column by column assignment in numpy does.
    tensor: Any = batch.to_tensor(null_to_nan=True, row_major=True)
    return tensor.to_numpy(), inexact


UNITS_A_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


def _as_float(column: pa.Array, target: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_duration(column.type):
        import pyarrow.compute as pc

        return pc.divide(column.cast(pa.int64()).cast(target, safe=False), UNITS_A_DAY[column.type.unit])
    # Integers that float64 rounds have been found before, so that the cast need not check.
    return column.cast(target, safe=False)


def _rounded(column: pa.Array) -> list[tuple[int, str]]:
    import pyarrow.compute as pc

    extremes = pc.min_max(column)
    if not any(each.is_valid and abs(each.as_py()) > LARGEST_EXACT_INTEGER for each in extremes.values()):
        return []
    values = column.to_pylist()
    return [(i, str(v)) for i, v in enumerate(values) if v is not None and int(float(v)) != v]


def is_rounded(value: str) -> bool:
    """Return whether float64 cannot hold an integer."""
    if len(value) > 400:
        return True
    exact = int(value)
    return abs(exact) >= 2**1024 or int(float(exact)) != exact


def too_long(value: object, name: str) -> Problem:
    """Return what is wrong with an integer that float64 would round."""
    ways = (
        "leave the column out with " + Remedy("ignore", (name,)) + " if it is an identifier",
        "take its values as names with " + Remedy("hashed", (name,)),
    )
    told = f"{name!r} is {show_value(value)}, an integer beyond 2^53 that float64 would round"
    return Problem(told, ways, "inexact-integer", value)


def no_number(
    value: object,
    name: str,
    *,
    trained: bool = False,
    argument: bool = False,
    na: bool = False,
    first_line: bool = False,
    readings: Sequence[Notation] = (),
) -> Problem:
    """Return what is wrong with a word among numbers.

    In a `trained` column numbers were met in training. No row of an `argument` can be left out. `na` says whether
    the file may have words for missing values, and `first_line` that this is the first line of a file without a
    header; in the notations of `readings` the value is a number.
    """
    text: str = f"{name!r} is {show_value(value)}, but the column holds numbers"
    ways: tuple[str, ...] = ("correct it", SKIP)
    if trained:
        text, ways = f"it is {show_value(value)}, but this column held numbers in training. Pass a number", ()
    elif readings:
        text = f"{name!r} is {show_value(value)}, which is no number as numbers are read here: " + told_readings(
            str(value), readings
        )
        ways = ("use that if all numbers are written so", *ways)
    elif first_line:
        text = (
            f"{show_value(value)} is no number, but the column below holds numbers. If the first line names the "
            "columns, use " + Remedy("header", True) + "; if it is a title, remove it"
        )
        ways = ()
    else:
        missing = ["use " + Remedy("na", (str(value).strip(),)) + " if it means a missing value"] if na else []
        categories = "use " * (not na) + Remedy("categorical", (name,)) + " if the values are categories"
        ways = ("correct it", *missing, categories, *(() if argument else (SKIP,)))
    return Problem(text, ways, "not-a-number", value)


# Labels of a table: whole numbers, numbers, truth values or names.

LabelKind: TypeAlias = Literal["number", "truth", "name"]

NUMERAL = re.compile(r"\s*+[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?\s*+", re.ASCII)
LONGEST_LABEL = 1000  # characters; a longer label is a text that was taken for one


def label_kind(field: Field) -> LabelKind:
    """Return what the labels of a column are."""
    if field.type == "bool":
        return "truth"
    return "number" if field.kind == "number" and field.type != WRITTEN_TRUTH else "name"


def label_problems(
    labels: pa.Array, kind: LabelKind, na: Sequence[str] = (), *, typed: bool = False
) -> dict[int, Problem]:
    """Return what is wrong with the rows whose label is missing or of another kind.

    The words of `na` stand for missing labels if labels are names. The usual words do so only among numbers, and
    not in a table that is `typed`.
    """
    if kind == "number" and _are_integers(labels):
        return {}
    values, codes = distinct(labels)
    words = {*(asked_words(na) if kind == "name" or typed else missing_words(na, MISSING_NAMES))}
    wrong = {code: problem for code, value in enumerate(values) if (problem := _problem(value, kind, words))}
    if not wrong:
        return {}
    rows = np.flatnonzero(np.isin(codes, list(wrong)))
    return {int(row): wrong[int(codes[row])] for row in rows}


def read_labels(labels: pa.Array, kind: LabelKind) -> tuple[NDArray[Any], Ints]:
    """Return the distinct labels, sorted, and for each row its position among them; there may be no problems.

    They are int64 where all are whole, else float64; bool; or str.
    """
    if kind == "number" and _are_integers(labels):
        return factorize(np.frombuffer(labels.buffers()[1], np.int64, len(labels), 8 * labels.offset))
    values, codes = distinct(labels)
    if kind == "truth":
        found = np.array([_truth(value) for value in values], bool)
    elif kind == "name":
        found = np.array([_name(value) for value in values], np.str_)
    else:
        numbers = [_number(value) for value in values]
        whole = all(isinstance(number, int) for number in numbers)
        found = np.array(numbers, np.int64 if whole else np.float64)
    classes, of_values = factorize(found)  # what is written differently may be the same label
    return classes, of_values[codes]


def _are_integers(labels: pa.Array) -> bool:
    """Return whether labels are int64 without nulls, so that none has to be looked at."""
    return str(labels.type) == "int64" and labels.null_count == 0 and len(labels) > 0


def _problem(value: Any, kind: LabelKind, words: Collection[str]) -> Problem | None:
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return Problem("the label is missing", ("give the row one", SKIP), "missing-label")
    if kind == "number":
        if isinstance(value, bool) or (isinstance(value, str) and not NUMERAL.fullmatch(value)):
            if isinstance(value, str) and value.strip() in words:
                told = f"the label is {show_value(value)}, which is taken for missing among numbers"
                names_a_class = "use " + Remedy("na", "=") + " if it names a class"
                return Problem(told, ("give the row a number", names_a_class, SKIP), "missing-label", value)
            return Problem(
                f"the label {show_value(value)} is no number, but those at the beginning are; write them all "
                "alike",
                code="unlike-label",
                value=value,
            )
        if abs(float(value)) == np.inf:
            return Problem(f"the label {show_value(value)} is not finite", code="unlike-label", value=value)
        if isinstance(_number(value), int) and abs(int(_number(value))) >= 2**63:
            return Problem(f"the label {show_value(value)} is beyond 64 bits", code="unlike-label", value=value)
    if kind == "truth" and not isinstance(value, bool) and str(value).lower() not in ("true", "false"):
        return Problem(
            f"the label {show_value(value)} is neither true nor false, as those at the beginning are",
            code="unlike-label",
            value=value,
        )
    if kind == "name":
        name = _name(value)
        if name.strip() in words:
            told = (
                f"the label is {show_value(value)}, which " + Remedy("na") + " names as a word for missing values"
            )
            return Problem(told, ("give the row one", SKIP), "missing-label", value)
        if len(name) > LONGEST_LABEL:
            told = f"the label has {len(name)} characters, more than {LONGEST_LABEL}; name the target with "
            return Problem(told + Remedy("target"))
        if "\0" in name:
            return Problem("the label holds a NUL character")
    return None


def _number(value: Any) -> int | float:
    """Read a number, as an int where it is whole; an integer that is written as one is never rounded."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < LARGEST_EXACT_INTEGER else number


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
