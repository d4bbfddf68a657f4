"""JSON Lines: one flat object on each line; and JSON: an array of objects, or an object of columns.

The standard library parses all lines of a block at once; it accepts only valid JSON and reports the place of every
error. pyarrow's reader would be faster, but accepts objects that span lines and types that change between blocks.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exceptions import FormatError, NoRowsError, Remedy
from rosenblatt.rows.features import show_value
from rosenblatt.tables.data_file import DataFile, closed_on_error
from rosenblatt.tables.delimited_rows import LINE_END, Dialect, last_end, whole_rows
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.table import (
    FIRST_ROWS,
    LARGEST_EXACT_INTEGER,
    Block,
    Field,
    Kind,
    Problem,
    TypedTable,
    Wanted,
    from_strings,
    is_rounded,
    no_number,
    too_long,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JsonLinesTable", "JsonTable"]

LINES = Dialect("\n", quoted=False)
SIMPLE = frozenset((str, int, float, bool, type(None)))


class JsonLinesTable(TypedTable):
    """A file of JSON objects, one on each line, opened; see `rosenblatt.tables.table.Table`.

    The columns of a recipe exist even if the first lines lack them. Without a recipe and `options.features`, a key
    that the first lines lack is an error.
    """

    format, named = "JSON Lines", True

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        self.file, self._chunk_bytes = file.name, options.chunk_bytes
        self._known: frozenset[str] | None = None  # while there are keys to be learned, or all are allowed
        with closed_on_error(file.open()) as self._stream:
            head, complete = self._stream.beginning(1)
            if not head.strip():
                raise FormatError("the file is empty", file=self.file)
            self._begin(self._first_objects(head, complete), options, recipe)

    def _begin(self, first: _Objects, options: Options, recipe: TableRecipe | None) -> None:
        """Learn the columns from the first objects."""
        types: dict[str, type | None] = dict.fromkeys(name for name, _ in recipe.columns) if recipe else {}
        for row in first.rows:
            for name, value in row.items():
                if types.get(name) is None:
                    types[name] = None if value is None else type(value)
        if not types:
            raise (
                first.lost[0] if first.lost else FormatError("the objects have no keys", file=self.file, line=1)
            )
        self.fields = tuple(_field(name, type_) for name, type_ in types.items())
        if recipe is None and not options.features:
            self._known = frozenset(types)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first lines, without missing ones."""
        rows = self._first_objects(*self._stream.beginning(1)).rows[:FIRST_ROWS]
        values = (row.get(self.fields[position].name) for row in rows)
        return [value for value in values if value is not None]

    def _first_objects(self, head: bytes, complete: bool) -> _Objects:
        return self._objects(head if complete else head[: last_end(head, LINES)] or head, 1)

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        for data, line in whole_rows(self._stream, self._chunk_bytes, LINES, self.file):
            found = self._objects(data, line)
            if found.rows or found.lost:
                yield self._block(found, wanted)

    def _block(self, found: _Objects, wanted: Wanted) -> Block:
        bad: dict[int, FormatError] = {}

        def refuse(row: int, j: int, problem: Problem) -> None:
            bad.setdefault(row, problem.error(file=self.file, line=found.lines[row], column=j + 1))

        def numbers_of(j: int) -> list[float]:
            name = self.fields[j].name
            values = [row.get(name) for row in found.rows]
            if not {str, int}.isdisjoint(map(type, values)):
                for row, value in enumerate(values):
                    if isinstance(value, str):
                        refuse(row, j, no_number(value, name))
                    elif isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER and is_rounded(str(value)):
                        refuse(row, j, too_long(value, name))
                    else:
                        continue
                    values[row] = None
            return [math.nan if value is None else value for value in values]

        def strings_of(j: int) -> pa.Array:
            name = self.fields[j].name
            values = [_as_string(row.get(name)) for row in found.rows]
            try:
                return from_strings(values)
            except UnicodeEncodeError:
                for row, value in enumerate(values):
                    if value is not None and any("\ud800" <= character <= "\udfff" for character in value):
                        refuse(row, j, Problem(f"{name!r} holds half of a character (a lone surrogate)"))
                        values[row] = None
                return from_strings(values)

        numbers = np.empty((len(found.rows), len(wanted.numbers)))
        for k, j in enumerate(wanted.numbers):
            numbers[:, k] = numbers_of(j)
        strings = [strings_of(j) for j in wanted.strings]
        label = None if wanted.label is None else strings_of(wanted.label)
        return Block(numbers, strings, label, found.lines.__getitem__, bad, found.lost)

    def _objects(self, data: bytes, first: int) -> _Objects:
        """Read the objects of whole lines; `first` is the number of the first line."""
        lines = [(n, line) for n, line in enumerate(LINE_END.split(data), first) if line.strip()]
        try:
            # No string can hold a line end, so that lines joined by one are separated where they end.
            rows = _loads(b"[" + b",\n".join(line for _, line in lines) + b"]")
            if len(rows) == len(lines) and not any(map(self._problem, rows)):
                return _Objects(rows, [number for number, _ in lines], [])
        except (ValueError, RecursionError):
            pass  # one of the lines is wrong: find out which
        found = _Objects([], [], [])
        for number, line in lines:
            column = None
            try:
                row = _loads(line)
                problem = self._problem(row)
            except json.JSONDecodeError as error:
                problem, column = f"is no JSON: {error.msg}", error.colno
            except UnicodeDecodeError as error:
                problem, column = "is not UTF-8; save the file as UTF-8", error.start + 1
            except (ValueError, RecursionError) as error:
                problem = f"is no JSON that can be used: {error}"
            if problem:
                found.lost.append(FormatError(problem, file=self.file, line=number, column=column))
            else:
                found.rows.append(row)
                found.lines.append(number)
        return found

    def _problem(self, row: object) -> str | None:
        if not isinstance(row, dict):
            return f'is {show_value(row)}, but every line must be an object, as in {{"x": 1.5, "label": "yes"}}'
        if not SIMPLE.issuperset(map(type, row.values())):
            name = next(name for name, value in row.items() if type(value) not in SIMPLE)
            return f"{name!r} is {show_value(row[name])}; nested values cannot be features: flatten them"
        if self._known is not None and not row.keys() <= self._known:
            name = next(name for name in row if name not in self._known)
            return (
                f"the key {name!r} is not among those of the first lines. Name the columns to use with "
                + Remedy("features")
                + ", or give the first line every key (null where it has no value)"
            )
        return None


class JsonTable(JsonLinesTable):
    """A whole JSON document, in memory: an array of objects, or columns as `pandas.DataFrame.to_json` writes them.

    Rows count from 1, because they have no lines of their own.
    """

    format = "JSON"

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        self.file, self._known = file.name, None
        with closed_on_error(file.open()) as self._stream:
            data = self._stream.read().removeprefix(b"\xef\xbb\xbf")
            try:
                rows = _rows_of(_loads(data))
            except json.JSONDecodeError as error:
                told = f"is no JSON: {error.msg}"
                if error.msg == "Extra data":
                    told += "; if there is an object on each line, use " + Remedy("format", "jsonl")
                raise FormatError(told, file=self.file, line=error.lineno, column=error.colno) from error
            except NoTableError as error:
                raise FormatError(str(error), file=self.file) from error
            except (ValueError, RecursionError) as error:
                raise FormatError(f"is no JSON that can be used: {error}", file=self.file) from error
            if not rows:
                raise NoRowsError("there is not one row", file=self.file)
            self._all = self._checked(rows)
            first = _Objects(self._all.rows[:FIRST_ROWS], self._all.lines, self._all.lost)
            self._begin(first, options, recipe)
            self._all = self._checked(rows)  # now that the keys are known

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""
        values = (row.get(self.fields[position].name) for row in self._all.rows[:FIRST_ROWS])
        return [value for value in values if value is not None]

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Yield the wanted columns of all rows."""
        yield self._block(self._all, wanted)

    def _problem(self, row: object) -> str | None:
        if isinstance(row, list):
            return (
                f"is an array of {len(row)} values without names; write each row as an object, as "
                "DataFrame.to_json(orient='records') does"
            )
        return super()._problem(row)

    def _checked(self, rows: list[Any]) -> _Objects:
        """Return the rows that are flat objects, and the errors of the others."""
        found = _Objects([], [], [])
        for number, row in enumerate(rows, 1):
            problem = self._problem(row)
            if problem:
                found.lost.append(FormatError(problem, file=self.file, line=number))
            else:
                found.rows.append(row)
                found.lines.append(number)
        return found


def _rows_of(document: Any) -> list[Any]:
    """Return the rows of a document, whose orientation is one of those of `pandas.DataFrame.to_json`.

    Examples
    --------
    >>> _rows_of({"a": {"0": 1, "1": 2}, "y": {"0": "p", "1": "q"}})
    [{'a': 1, 'y': 'p'}, {'a': 2, 'y': 'q'}]
    >>> _rows_of({"columns": ["a"], "index": [0], "data": [[1]]}), _rows_of({"a": [1, 2]})
    ([{'a': 1}], [{'a': 1}, {'a': 2}])
    """
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and document.keys() == {"schema", "data"} and isinstance(document["data"], list):
        return [_without_index(row, document["schema"]) for row in document["data"]]  # to_json(orient="table")
    columns = [*document.values()] if isinstance(document, dict) else []
    lists = bool(columns) and all(isinstance(each, list) for each in columns)
    if lists and document.keys() >= {"columns", "data"}:
        return [dict(zip(document["columns"], row, strict=True)) for row in document["data"]]
    if lists and len({len(each) for each in columns}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    if columns and all(isinstance(each, dict) for each in columns):
        if all(name.isdigit() for name in document) and not all(name.isdigit() for name in columns[0]):
            return columns  # one object for each number of a row
        keys = dict.fromkeys(key for each in columns for key in each)
        return [{name: each.get(key) for name, each in document.items()} for key in keys]
    raise NoTableError(
        f"is JSON, but no table: {_shape(document)}. A table is an array of objects, one for each row, or an "
        "object of columns. Save the rows so" + (_OF_FEATURES if _is_geographic(document) else "")
    )


class NoTableError(ValueError):
    """A JSON document that is no table."""


_OF_FEATURES = ": of GeoJSON, the properties of each feature"
SHAPES = {dict: "object", list: "array", str: "text", bool: "truth value", int: "number", float: "number"}
SHOWN_KEYS = 5


def _shape(document: Any) -> str:
    """Return what a document is, with its first keys.

    Examples
    --------
    >>> _shape({"type": "FeatureCollection", "features": [{}, {}]})
    "it is an object with the keys 'type' (text), 'features' (array of 2)"
    """
    if not isinstance(document, dict):
        return f"it is {show_value(document)}"
    kinds = [f"array of {len(each):,}" if isinstance(each, list) else SHAPES.get(type(each), "null")
             for each in document.values()]  # fmt: skip
    keys = [f"{show_value(key)} ({kind})" for key, kind in zip(document, kinds, strict=True)]
    more = f" and {len(keys) - SHOWN_KEYS} more" if len(keys) > SHOWN_KEYS else ""
    return f"it is an object with the keys {', '.join(keys[:SHOWN_KEYS])}{more}"


def _is_geographic(document: Any) -> bool:
    return isinstance(document, dict) and document.get("type") == "FeatureCollection"


def _without_index(row: Any, schema: Any) -> Any:
    """Return a row without the columns that number the rows, where a schema names these."""
    index = schema.get("primaryKey", ()) if isinstance(schema, dict) else ()
    return {name: value for name, value in row.items() if name not in index} if isinstance(row, dict) else row


class _Objects(NamedTuple):
    """Objects, their lines, and the errors of lines that hold none."""

    rows: list[dict[str, Any]]
    lines: list[int]
    lost: list[FormatError]


def _field(name: str, type_: type | None) -> Field:
    kind: Kind = "string" if type_ is str else "number"
    return Field(name, kind, "bool" if type_ is bool else kind)


def _loads(data: bytes) -> Any:
    return json.loads(data.decode(), parse_constant=_refuse_constant, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {show_value(name)} stands twice in one object; keep one of them")
    return made


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON; a missing number is null")


def _as_string(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, str) else repr(value)
