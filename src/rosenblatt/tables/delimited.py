"""CSV and TSV: cut into blocks of whole rows, each read by pyarrow."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rosenblatt.exceptions import FormatError, Given, NoRowsError, ParameterError, Remedy
from rosenblatt.rows.features import show_value
from rosenblatt.tables.data_file import DataFile, closed_on_error
from rosenblatt.tables.delimited_rows import (
    BYTE_ORDER_MARK,
    LINE_END,
    Dialect,
    behind_rows,
    field_ends,
    fields_of,
    has_rows,
    last_end,
    row_lines,
    rows_of,
    whole_rows,
)
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.table import (
    FIRST_ROWS,
    LARGEST_EXACT_INTEGER,
    MISSING,
    NOTATIONS,
    SKIP,
    WRITTEN_TRUTH,
    Block,
    Doubt,
    Field,
    Notation,
    Problem,
    Wanted,
    dense,
    is_rounded,
    kind_of,
    missing_words,
    no_number,
    notations_of,
    require_room,
    too_long,
)
from rosenblatt.threads import on_pool
from rosenblatt.typing import Reals

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LOOKED_AT",
    "CsvTable",
    "TsvTable",
    "guess_delimiter",
    "infer_fields",
    "looks_like_header",
    "read_block",
    "read_columns",
]


# Blocks of delimited text read by pyarrow, and read again row by row where pyarrow refuses them.

LIKE_A_NUMBER = r"^[\s\v]*[+-]?[0-9.,][0-9., ']*([eE][+-]?[0-9]+)?[\s\v]*$"
DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/]\d{1,2}[-/]\d{2}"
    r"|\d{2}[.]\d{2}[.]\d{2}"
    r"|(?:[A-Z][a-z]{2,8},?\s+)?[A-Z][a-z]{2,8}\.?\s+\d{1,2},?\s+\d{4}"
    r"|(?:[A-Z][a-z]{2,8},?\s+)?\d{1,2}[\s-][A-Za-z]{3,9}\.?[\s-](?:\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}.*)?\s*$"
)
CURRENCY = "(?:[$€£¥]|USD|EUR|GBP|CHF)"
DECORATED = (
    rf"^\s*[+-]?\s*{CURRENCY}?\s*[+-]?(?:\d{{1,3}}(?:[.,' \x{{a0}}]\d{{3}})+|\d+)(?:[.,]\d+)?\s*"
    rf"(?:%|{CURRENCY})?\s*$"
)
POINT_BEFORE_THREE = r"^\s*[+-]?[1-9][0-9]{0,2}[.][0-9]{3}\s*$"
SMALL = r"^\s*[+-]?(?:0|[1-9][0-9]{0,2})\s*$"  # whole and below 1000
FEW_VALUES = 100  # of a column that are looked at before the others
THREE_DECIMALS = re.compile(rb"[.][0-9]{3}(?![0-9])")
HEXADECIMAL = re.compile(rb"0[xX]")
INTEGER = re.compile(r"\s*[+-]?[0-9]{16,}\s*")
BYTES_AT_ONCE = 1 << 20  # bytes that one thread parses at a time
COLUMNS_AT_ONCE = 4096  # columns whose types are inferred at a time
OTHER_POINT = "\u00b7"
"""Takes the place of points that are no decimal marks, so that they make no number."""


def read_block(
    data: bytes, line: int, dialect: Dialect, fields: tuple[Field, ...], wanted: Wanted, file: str
) -> Block:
    """Read the wanted columns of whole rows that begin at a line of a file; `file` is its name in messages."""
    import pyarrow as pa

    types = {j: pa.bool_() if fields[j].type == WRITTEN_TRUTH else pa.float64() for j in wanted.numbers}
    types |= dict.fromkeys([*wanted.strings, *([] if wanted.label is None else [wanted.label])], pa.string())
    # pyarrow knows decimal marks, but no separators of thousands: such numbers are read as strings first.
    grouped = {j for j, type_ in types.items() if dialect.notation.thousands and type_ == pa.float64()}
    first = {j: pa.string() if j in grouped else type_ for j, type_ in types.items()}

    def plain(columns: dict[int, pa.Array]) -> dict[int, pa.Array]:
        for j in grouped & columns.keys():
            columns[j] = _plain(columns[j], dialect, null=True).cast(pa.float64())
        return columns

    gathered = None
    with suppress(pa.ArrowException):  # whose traceback holds what was read so far
        gathered = _gather(map(plain, read_columns(data, dialect, len(fields), first)), wanted)
    if gathered is None:
        return _read_again(data, line, dialect, fields, wanted, types, file)

    @cache
    def lines() -> Any:
        return row_lines(data, dialect, line)  # only errors need to know

    bad = _BadRows(fields, file, lambda row: int(lines()[row]))
    block = _block_of(*gathered, wanted, dialect, fields, bad)
    numbers = block.numbers
    if not (
        numbers.max(initial=0) < LARGEST_EXACT_INTEGER and numbers.min(initial=0) > -LARGEST_EXACT_INTEGER
    ):  # so NaN is looked at too
        large = np.flatnonzero((np.abs(numbers) >= LARGEST_EXACT_INTEGER).any(axis=0)).tolist()
        places = {wanted.numbers[k]: k for k in large}
        for columns in read_columns(data, dialect, len(fields), dict.fromkeys(places, pa.string())):
            for j, written in columns.items():
                bad.refuse_rounded(j, _plain(written, dialect), numbers[:, places[j]])
    return block


def read_columns(
    data: bytes, dialect: Dialect, n_columns: int, types: dict[int, pa.DataType], *, long_rows: bool = False
) -> Iterator[dict[int, pa.Array]]:
    """Read some columns of rows that have `n_columns` fields each; empty lines are not rows.

    Parameters
    ----------
    types : dict of int to pyarrow.DataType
        The columns to read, by position from 0, and their types.
    long_rows : bool
        Whether a row may be longer than a mebibyte; then one thread parses everything.

    Yields
    ------
    dict of int to pyarrow.Array
        The columns by position: all of them at once, unless there are very many.

    Raises
    ------
    pyarrow.ArrowException
        Anything is wrong anywhere.
    """
    first = 0
    for width, text in _narrow(data, dialect, n_columns):
        here = types if width == n_columns else {j: types[j] for j in range(first, first + width) if j in types}
        options = {
            "column_types": {str(j - first): type_ for j, type_ in here.items()},
            "include_columns": [str(j - first) for j in here],
        }
        if here:
            table = _read(text, dialect, width, len(text) + 1 if long_rows else BYTES_AT_ONCE, options)
            yield dict(zip(here, map(_in_one_piece, table.columns), strict=True))
        first += width


def _in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def infer_fields(data: bytes, dialect: Dialect, names: list[str]) -> tuple[Field, ...]:
    """Infer from whole rows what the columns hold; the line of a doubt is the number of its row, from 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def matching(column: pa.ChunkedArray, pattern: str) -> int:
        return pc.sum(pc.match_substring_regex(column, pattern)).as_py() or 0

    def mostly(column: pa.ChunkedArray, pattern: str) -> bool:
        return bool(2 * matching(column, pattern) > len(column) - column.null_count)

    def first_of(column: pa.ChunkedArray, best: tuple[Notation, ...]) -> Doubt:
        """Return the first value that is a number in the best notations, but not as the text is read."""
        here = pc.match_substring_regex(column, dialect.notation.pattern)
        wanted = pc.and_not(pc.match_substring_regex(column, best[0].pattern), here)
        row = pc.index(wanted, True).as_py()
        return Doubt(column[row].as_py().strip(), row, best)

    def field(name: str, column: pa.ChunkedArray) -> Field:
        if pa.types.is_binary(column.type):  # strings that are not UTF-8; reading will say where they are
            return Field(name, "string", "string")
        if not pa.types.is_string(column.type):
            type_ = WRITTEN_TRUTH if pa.types.is_boolean(column.type) else sys.intern(str(column.type))
            return Field(name, kind_of(column.type), type_)
        n_values = len(column) - column.null_count
        if mostly(column, LIKE_A_NUMBER):
            counts = {each: matching(column, each.pattern) for each in NOTATIONS}
            if dialect.notation.thousands and counts[dialect.notation] == n_values:
                return Field(name, "number", "double")
            if 2 * max(counts.values()) > n_values:
                numeric, best = 2 * counts[dialect.notation] > n_values, notations_of(counts)
                doubt = None if dialect.notation in best else first_of(column, best)
                return Field(name, "string", "string", numeric, doubt)
        if mostly(column, DATE):
            return Field(name, "other", "date")
        decorated = None
        if mostly(column, DECORATED):
            decorated = column.filter(pc.match_substring_regex(column, DECORATED))[0].as_py().strip()
        return Field(name, "string", "string", decorated=decorated)

    fields: list[Field] = []
    for width, text in _narrow(data, dialect, len(names)):
        columns = _read(text, dialect, width, len(text) + 1, {"strings_can_be_null": True}).columns
        if HEXADECIMAL.search(text):
            columns = _decimal(columns, text, dialect)
        found = [*map(field, names[len(fields) : len(fields) + width], columns)]
        for j, value in _grouped(columns, text, dialect).items():
            found[j] = replace(found[j], grouped=value)
        fields += found
    return tuple(fields)


def _grouped(columns: list[pa.ChunkedArray], text: bytes, dialect: Dialect) -> dict[int, str]:
    """Return the columns whose points could separate thousands, as in 7.700 beside 950, and a value of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def could_be(column: pa.ChunkedArray) -> bool:
        """Return whether all numbers are below 1000 and have at most three decimals."""
        kept = column.drop_null().combine_chunks()
        if len(kept) <= 2:
            return False
        values = np.frombuffer(kept.buffers()[1], np.float64, len(kept), 8 * kept.offset)  # without pandas
        for part in (values[:FEW_VALUES], values):  # few values rule most columns out
            if not ((np.abs(part) < 1000).all() and (np.round(part, 3) == part).all()):
                return False
        return True

    if dialect.notation != Notation():
        return {}
    floats = [j for j, column in enumerate(columns) if column.type == pa.float64() and could_be(column)]
    if not floats or not THREE_DECIMALS.search(text):
        return {}
    options = {
        "column_types": {str(j): pa.string() for j in floats},
        "include_columns": [str(j) for j in floats],
        "strings_can_be_null": True,
    }
    found = {}
    for j, column in zip(floats, _read(text, dialect, len(columns), len(text) + 1, options).columns, strict=True):
        written = column.drop_null()
        grouped = pc.match_substring_regex(written, POINT_BEFORE_THREE)
        others = written.filter(pc.invert(grouped))
        small = len(others) > 0 and pc.all(pc.match_substring_regex(others, SMALL)).as_py()
        if small and len(written) - len(others) > 1:
            found[j] = written.filter(grouped)[0].as_py().strip()
    return found


def _decimal(columns: list[pa.ChunkedArray], text: bytes, dialect: Dialect) -> list[pa.ChunkedArray]:
    """Return columns of which those with hexadecimal integers, which pyarrow takes for numbers, are strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = [j for j, column in enumerate(columns) if pa.types.is_integer(column.type)]
    options = {
        "column_types": {str(j): pa.string() for j in whole},
        "include_columns": [str(j) for j in whole],
        "strings_can_be_null": True,
    }
    if whole:
        written = _read(text, dialect, len(columns), len(text) + 1, options).columns
        for j, column in zip(whole, written, strict=True):
            if pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
                columns[j] = column
    return columns


def _narrow(data: bytes, dialect: Dialect, n_columns: int) -> Iterator[tuple[int, bytes]]:
    """Cut a wide table into narrow ones from left to right, and yield the width and the text of each.

    pyarrow takes about 6 kB for each column that it reads at a time. A table with rows of other widths is not cut:
    pyarrow refuses it.
    """
    starts = [*range(0, n_columns, COLUMNS_AT_ONCE), n_columns]
    if n_columns % COLUMNS_AT_ONCE == 1:
        del starts[-2]  # a last column alone could be an empty line, which is no row
    rows = list(rows_of(data, dialect)) if len(starts) > 2 else []
    if not rows or any(row.n_fields != n_columns for row in rows):
        yield n_columns, data
        return
    last = np.array(starts[1:]) - 1
    cuts = [[0, *(field_ends(row.data, dialect)[last] + 1).tolist()] for row in rows]
    for k in range(len(starts) - 1):
        parts = [*(row.data[cut[k] : cut[k + 1] - 1] for row, cut in zip(rows, cuts, strict=True)), b""]
        yield starts[k + 1] - starts[k], b"\n".join(parts)


def _read(data: bytes, dialect: Dialect, n_columns: int, at_once: int, options: dict[str, Any]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    if data.startswith(BYTE_ORDER_MARK):  # not at the start of the file; an empty line keeps it from being dropped
        data = b"\n" + data
    return csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(
            column_names=[str(j) for j in range(n_columns)],
            block_size=at_once,
            # Threads that have nothing to do may abort a short process at its end.
            use_threads=len(data) > at_once and not on_pool(),
        ),
        csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=dialect.quotes(data),
        ),
        csv.ConvertOptions(null_values=dialect.missing, decimal_point=dialect.notation.decimal, **options),
    )


class _BadRows(dict[int, FormatError]):
    """The first error of each row of a block that holds a bad value."""

    def __init__(self, fields: tuple[Field, ...], file: str, line: Callable[[int], int]) -> None:
        super().__init__()
        self._fields, self._file, self.line = fields, file, line

    def field(self, j: int) -> Field:
        """Return a column."""
        return self._fields[j]

    def name(self, j: int) -> str:
        """Return the name of a column."""
        return self._fields[j].name

    def refuse(self, row: int, j: int, problem: Problem) -> None:
        """Note what is wrong in column `j` of a row."""
        self.setdefault(row, problem.error(file=self._file, line=self.line(row), column=j + 1))

    def refuse_rounded(self, j: int, written: pa.Array, numbers: Any) -> None:
        """Refuse integers that float64 rounded. Other numbers are rounded already where they are written."""
        for row in np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT_INTEGER).tolist():
            value = written[row].as_py()
            if INTEGER.fullmatch(value) and is_rounded(value.strip()):
                self.refuse(row, j, too_long(value.strip(), self.name(j)))


def _gather(parts: Iterable[dict[int, pa.Array]], wanted: Wanted) -> tuple[Reals, dict[int, pa.Array]]:
    """Return the numbers of columns that come in parts, and the other columns as they are."""
    numbers: Reals = np.empty((0, 0))
    places = {j: k for k, j in enumerate(wanted.numbers)}
    others: dict[int, pa.Array] = {}
    for columns in parts:
        n_rows = len(next(iter(columns.values())))
        here = [j for j in columns if j in places]
        found, _ = dense([columns[j] for j in here], n_rows)
        if tuple(here) == wanted.numbers:
            numbers = found
        else:
            if not numbers.size:
                numbers = np.empty((n_rows, len(places)))
            numbers[:, [places[j] for j in here]] = found
        others |= {j: column for j, column in columns.items() if j not in places}
    return numbers, others


def _block_of(
    numbers: Reals,
    others: dict[int, pa.Array],
    wanted: Wanted,
    dialect: Dialect,
    fields: tuple[Field, ...],
    bad: _BadRows,
) -> Block:
    """Return the block of some columns; a label that is a number is written plainly."""
    import pyarrow.compute as pc

    label = None if wanted.label is None else others[wanted.label]
    if wanted.label is not None and dialect.notation != Notation() and fields[wanted.label].kind == "number":
        written = others[wanted.label]
        label = _plain(written, dialect)
        for row in pc.indices_nonzero(pc.match_substring(label, OTHER_POINT)).to_pylist():
            value = written[row].as_py()
            told = readings_of(value, dialect.notation, fields[wanted.label])
            bad.refuse(row, wanted.label, no_number(value, fields[wanted.label].name, readings=told))
    return Block(numbers, [others[j] for j in wanted.strings], label, bad.line, bad)


def _read_again(
    data: bytes,
    line: int,
    dialect: Dialect,
    fields: tuple[Field, ...],
    wanted: Wanted,
    types: dict[int, pa.DataType],
    file: str,
) -> Block:
    """Read rows as bytes, keep those that can be used, and say what is wrong with the others."""
    import pyarrow as pa

    rows = list(rows_of(data, dialect, line))
    whole = [row for row in rows if row.n_fields == len(fields)]
    data = b"\n".join(row.data for row in whole) + b"\n"
    bad = _BadRows(fields, file, lambda row: whole[row].line)
    columns = read_columns(data, dialect, len(fields), dict.fromkeys(types, pa.binary()), long_rows=True)
    values = ({j: _values_of(column, j, types[j], dialect, bad) for j, column in raw.items()} for raw in columns)
    try:
        numbers, others = _gather(values, wanted)
    except pa.ArrowException as error:
        raise FormatError(f"these lines cannot be read: {error}", file=file, line=line) from error
    block = _block_of(numbers, others, wanted, dialect, fields, bad)
    block.lost = [
        FormatError(
            f"the row has {row.n_fields} fields instead of {len(fields)}",
            ("correct it", SKIP),
            code="ragged-row",
            file=file,
            line=row.line,
        )
        for row in rows
        if row.n_fields != len(fields)
    ]
    return block


def _values_of(column: pa.Array, j: int, type_: pa.DataType, dialect: Dialect, bad: _BadRows) -> pa.Array:
    """Return values of a type; those that are wrong are null, and noted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = bad.name(j)
    strings, wrong = _convert(column, pa.string())
    for row in wrong:
        found = show_value(column[row].as_py())
        problem = f"{name!r} is not UTF-8: {found}; name its encoding (" + Remedy("encoding", "latin-1") + ")"
        bad.refuse(row, j, Problem(problem, code="encoding"))
    if type_ == pa.string():
        return strings
    written = _plain(strings, dialect, null=True)
    values, wrong = _convert(written, type_)
    for row in wrong:
        value = strings[row].as_py()
        told = readings_of(value, dialect.notation, bad.field(j)) if type_ == pa.float64() else []
        bad.refuse(row, j, no_number(value, name, na=True, first_line=bad.line(row) == 1, readings=told))
    if type_ == pa.float64():
        bad.refuse_rounded(j, written, pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False))
    return values


def _plain(strings: pa.Array, dialect: Dialect, *, null: bool = False) -> pa.Array:
    """Return numbers trimmed, with a decimal point and without separators; with `null`, missing ones are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    notation = dialect.notation
    written = pc.ascii_trim_whitespace(strings)
    missing = pc.is_in(written, pa.array(dialect.missing)) if null else None
    if notation.thousands:
        is_number = pc.match_substring_regex(written, notation.pattern)
        written = pc.if_else(is_number, pc.replace_substring(written, notation.thousands, ""), written)
    if notation.decimal != ".":
        written = pc.replace_substring(written, ".", OTHER_POINT)
        written = pc.replace_substring(written, notation.decimal, ".")
    return written if missing is None else pc.if_else(missing, pa.scalar(None, pa.string()), written)


def readings_of(value: str, notation: Notation, field: Field) -> list[Notation]:
    """Return the notations in which a value is a number that may stand beside the numbers of its column.

    If some of those have a decimal mark, the value can only have separators of thousands beside.
    """
    others = notations_of({each: int(each.plain(value) is not None) for each in NOTATIONS})
    if notation.plain(value) is not None or all(each.plain(value) is None for each in others):
        return []
    if field.doubt is not None:
        return [each for each in others if each in field.doubt.readings]
    whole = field.type.startswith("int")
    return [each for each in others if whole or each.decimal == notation.decimal]


def _convert(values: pa.Array, type_: pa.DataType) -> tuple[pa.Array, list[int]]:
    """Cast values; return null where that fails, and the positions of these, found by halving."""
    import pyarrow as pa

    try:
        return values.cast(type_), []
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, type_), [0]
    half = len(values) // 2
    left, wrong = _convert(values[:half], type_)
    right, more = _convert(values[half:], type_)
    return pa.concat_arrays([left, right]), [*wrong, *(half + row for row in more)]


# CSV and TSV: cut into blocks of whole rows, each read by pyarrow.

# What the first rows of delimited text tell: the delimiter, and whether the first row holds names.

DELIMITERS = ",;\t|"
LOOKED_AT = 20  # rows
KEPT_CELLS = 500_000  # of the first rows: splitting them again for each of many columns takes long
FEWEST_KEPT = 50  # rows: with fewer, no column is looked at for what names rows
PLAIN_NAME = re.compile(r"[^\W\d][\w.\-]{0,63}")


def guess_delimiter(data: bytes) -> str:
    r"""Return the delimiter that splits the rows into the most fields, as many in each; a comma if none does.

    Examples
    --------
    >>> guess_delimiter(b"a;b;c\n1,5;2;3\n2,5;2;4\n")
    ';'
    """
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = rows_of(data, Dialect(delimiter, quoted=True))
        widths = {row.n_fields for row in islice(rows, LOOKED_AT)}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    if most > 1:
        return best
    first = data.lstrip().partition(b"\n")[0]  # reading will report rows of different lengths
    return max(DELIMITERS, key=lambda delimiter: (first.count(delimiter.encode()), delimiter == ","))


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns.

    It does if it holds no numbers except column numbers, and a name above a column that holds only numbers. Its
    other names may be empty or repeated: reading will report that. Without such a column it does if its fields are
    distinct plain words that do not occur again in their columns. Numbers may be written in any notation.

    Examples
    --------
    >>> looks_like_header([["age", "label"], ["31", "yes"]])
    True
    >>> looks_like_header([["sunny", "no"], ["rainy", "yes"], ["sunny", "yes"]])
    False
    """
    first = [field.strip() for field in rows[0]]
    if not _are_column_numbers([field for field in first if _is_number(field)]):
        return False

    def column(j: int) -> list[str]:  # one at a time, because there may be very many
        return [row[j].strip() for row in rows[1:] if j < len(row)]

    for j, field in enumerate(first):
        if field not in MISSING and not _is_number(field) and _only_numbers(column(j)):
            return True
    # Row numbers, as pandas writes them, are in a column without a name.
    before = int(len(first) > 1 and not first[0] and _only_numbers(column(0)))
    first = first[before:]
    if len(set(first)) != len(first) or not all(PLAIN_NAME.fullmatch(f) and f not in MISSING for f in first):
        return False
    return all(field not in column(j) for j, field in enumerate(first, before))


def _are_column_numbers(numerals: list[str]) -> bool:
    """Return whether the numbers in a row count the columns, as in "label,0,1,2", and so name them."""
    starts = [[str(start + j) for j in range(len(numerals))] for start in (0, 1)]
    return not numerals or (len(numerals) > 1 and numerals in starts)


def _is_number(field: str) -> bool:
    return any(notation.plain(field) is not None for notation in NOTATIONS)


def _only_numbers(column: list[str]) -> bool:
    values = [value for value in column if value not in MISSING]
    return bool(values) and all(map(_is_number, values))


SEPARATOR = re.compile(rb"\Asep=(\\t|[\t!#-/:-@[-`{-~])[ ]*(?:\r\n|\n|\r|\Z)", re.IGNORECASE)
"""A first line that names the delimiter, as in sep=; or sep=,."""
MOST_COLUMNS = 1_000_000
"""The names of more do not fit into a model file."""
BYTES_A_CHARACTER = 16
"""What a character of the first rows takes, as the strings of their fields."""


class CsvTable:
    """A CSV file, opened; see `rosenblatt.tables.table.Table`.

    A delimiter, header or notation of numbers that is None is found out from the first rows. If the columns of the
    recipe have names and the first row has one of these, it is a header. A first line such as ``sep=;``, as Excel
    reads and writes it, names the delimiter and is no row.
    """

    tabs: ClassVar[bool] = False
    typed: ClassVar[bool] = False
    argument: ClassVar[bool] = False
    _first_rows: list[list[str]] | None = None

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        delimiter = options.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
            raise ParameterError(Given("delimiter", delimiter) + " must be one ASCII character that is no quote.")
        self.file, self._chunk_bytes = file.name, options.chunk_bytes
        expected = {name for name, _ in recipe.columns} if recipe and recipe.named else set()
        with closed_on_error(file.open()) as self._stream:
            head, complete = self._stream.beginning(LOOKED_AT)
            if not head.strip():
                raise FormatError("the file is empty", file=self.file)
            told = SEPARATOR.match(head)
            self._line = 1  # the first that is read
            if told is not None:
                self._stream.read(told.end())
                head, self._line = head[told.end() :], 2
                if not has_rows(head):
                    raise NoRowsError(
                        "there is a line that names the delimiter, but no rows", file=self.file, line=1
                    )
            sample = head[: behind_rows(head, LOOKED_AT)]
            named = None if told is None else told[1].decode().replace("\\t", "\t")
            chosen = delimiter or named or ("\t" if self.tabs else guess_delimiter(sample))
            missing = missing_words((*options.na, *(recipe.na if recipe else ())), MISSING)
            given = options.decimal is not None or options.thousands is not None
            notation = Notation.of(options.decimal, options.thousands)
            if recipe is not None and not given:
                notation = Notation(recipe.decimal, recipe.thousands)
            self._dialect = Dialect(chosen, not self.tabs, notation, missing)
            width = next(rows_of(sample, self._dialect)).n_fields
            if width > MOST_COLUMNS:
                raise FormatError(
                    f"the first row has {width:,} fields, but a table of text may have {MOST_COLUMNS:,} columns. "
                    "Save the values that are not zero in the LIBSVM format", file=self.file, line=self._line
                )  # fmt: skip
            require_room(width, self.file, BYTES_A_CHARACTER * len(sample))
            rows = list(islice(fields_of(sample, self._dialect), LOOKED_AT))
            first = [field.strip() for field in rows[0]]
            header = options.header
            self.named = looks_like_header(rows) or bool(expected & set(first)) if header is None else header
            self.format = ("TSV" if self.tabs else "CSV") + (
                " with a header" if self.named else " without a header"
            )
            if self.named:
                self._require_names(first)
            names = first if self.named else [f"x{j}" for j in range(1, len(first) + 1)]
            end = len(head) if complete else last_end(head, self._dialect) or len(head)
            self.fields = self._inferred(head[:end], names)
            if given:
                self.fields = tuple(replace(field, grouped=None) for field in self.fields)
            else:
                self._find_notation(head[:end])
            self.fields = _with_own_names(self.fields) if self.named else self.fields

    @property
    def notation(self) -> Notation:
        """How numbers are written."""
        return self._dialect.notation

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""
        rows = self._first_rows if self.first_count and self._first_rows is not None else self._read_first_rows()
        values = (row[position].strip() for row in rows)
        return [value for value in values if value not in self._dialect.missing]

    @cached_property
    def first_count(self) -> int:
        """The number of first rows; they are kept if they are many, and their cells are not too many."""
        head, _ = self._stream.beginning(LOOKED_AT)
        lines = head.count(b"\n") + head.count(b"\r") + 1  # at least as many as there are rows
        if lines < FEWEST_KEPT:
            return lines  # splitting long lines would take as much memory as reading them
        count = sum(1 for _ in self._read_first_rows())
        if count >= FEWEST_KEPT and count * len(self.fields) <= KEPT_CELLS:
            self._first_rows = list(self._read_first_rows())
        return count

    def _read_first_rows(self) -> Iterator[list[str]]:
        head, complete = self._stream.beginning(LOOKED_AT)
        data = head if complete else head[: last_end(head, self._dialect)] or head
        if self.named:
            data, _ = self._without_header(data, self._line)
        rows = islice(fields_of(data, self._dialect), FIRST_ROWS)
        return (row for row in rows if len(row) == len(self.fields))

    def parts(self, wanted: Wanted) -> Iterator[Callable[[], Block]]:
        """Yield a function for some rows at a time, which reads their wanted columns."""
        before_header = self.named
        for data, line in whole_rows(self._stream, self._chunk_bytes, self._dialect, self.file, self._line):
            if before_header and has_rows(data):
                data, line = self._without_header(data, line)
                before_header = False
            if has_rows(data):
                yield partial(read_block, data, line, self._dialect, self.fields, wanted, self.file)

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        return (read() for read in self.parts(wanted))

    def _inferred(self, head: bytes, names: list[str]) -> tuple[Field, ...]:
        """Infer from the first rows what columns hold; rows of another width do not count."""
        import pyarrow as pa

        data, line = self._without_header(head, self._line) if self.named else (head, self._line)
        if not has_rows(data):
            raise NoRowsError("there are names of columns, but no rows", file=self.file, line=self._line)
        try:
            fields = infer_fields(data, self._dialect, names)
            return _with_lines(fields, lambda row: int(row_lines(data, self._dialect, line)[row]))
        except pa.ArrowException:
            rows = [row for row in rows_of(data, self._dialect, line) if row.n_fields == len(names)]
        if not rows:
            problem = f"no row has {len(names)} fields, as the first has; check " + Remedy("delimiter") + " and "
            raise FormatError(problem + Remedy("header"), code="ragged-row", file=self.file, line=line)
        try:
            fields = infer_fields(b"\n".join(row.data for row in rows) + b"\n", self._dialect, names)
            return _with_lines(fields, lambda row: rows[row].line)
        except pa.ArrowException as error:
            raise FormatError(f"cannot be read as {self.format}: {error}", file=self.file, line=1) from error

    def _find_notation(self, head: bytes) -> None:
        """Read numbers as the first rows have them, where these leave no doubt.

        The notation of the recipe is kept unless the numbers of a column can only be read in another. Decimal
        commas are read if a column can only have these, commas do not separate the columns, and no column has
        decimal points.
        """

        def only(notation: Notation | None) -> bool:
            """Return whether the numbers of some column can only be read in this notation, or in one other."""
            found = [field.doubt.readings for field in self.fields if field.doubt is not None]
            return any(len(each) == 1 and notation in (None, each[0]) for each in found)

        names = [field.name for field in self.fields]
        if self.notation != Notation() and only(None):
            self._dialect = self._dialect._replace(notation=Notation())
            self.fields = self._inferred(head, names)
        if self.notation != Notation() or self._dialect.delimiter == "," or not only(Notation(",")):
            return
        points, before = self._dialect, self.fields
        for notation in (Notation(","), Notation(",", ".")):
            self._dialect = points._replace(notation=notation)
            self.fields = self._inferred(head, names)
            lost = [
                old.kind == "number" and new.kind != "number" for old, new in zip(before, self.fields, strict=True)
            ]
            if not any(lost):
                break
        if notation.thousands or any(lost):
            readings = (Notation(","),) if any(lost) else (notation,)
            self._dialect = points
            self.fields = tuple(_with_readings(field, readings) for field in before)

    def _without_header(self, data: bytes, line: int) -> tuple[bytes, int]:
        """Return the rows after the first of a text that begins at `line`, and the line where they begin."""
        first = data[: behind_rows(data, 2)]
        lines = row_lines(first, self._dialect, line)
        if len(lines) < 2:  # there is nothing but a header, or it has several lines
            first, lines = data, row_lines(data, self._dialect, line)
        if len(lines) < 2:
            return b"", line
        second = int(lines[1])
        ends = islice(LINE_END.finditer(first), second - line - 1, None)
        return data[next(ends).end() :], second

    def _require_names(self, names: list[str]) -> None:
        if "\ufffd" in "".join(names):
            problem = "the header is not UTF-8; name its encoding, such as " + Remedy("encoding", "latin-1")
            raise FormatError(problem, code="encoding", file=self.file, line=1)


def _with_own_names(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return columns of which those that are called the same have names of their own."""
    if len({field.name for field in fields}) == len(fields):
        return fields
    counts, met = Counter(field.name for field in fields), set[str]()
    made = []
    for position, field in enumerate(fields, 1):
        name = field.name
        if name and counts[name] > 1:
            own = f"{name} (column {position})" if name in met else name
            made.append(replace(field, name=own, called=name))
        else:
            made.append(field)
        met.add(name)
    return tuple(made)


def _with_lines(fields: tuple[Field, ...], line: Callable[[int], int]) -> tuple[Field, ...]:
    """Return columns whose doubts have lines instead of the numbers of rows."""
    return tuple(
        field if field.doubt is None else replace(field, doubt=field.doubt._replace(line=line(field.doubt.line)))
        for field in fields
    )


def _with_readings(field: Field, readings: tuple[Notation, ...]) -> Field:
    """Return a column that could only have decimal commas, with what the other columns allow."""
    if field.doubt is None or field.doubt.readings != (Notation(","),):
        return field
    return replace(field, doubt=field.doubt._replace(readings=readings))


class TsvTable(CsvTable):
    """A TSV file, opened: fields are separated by tabs, and quotes are plain characters."""

    tabs = True
