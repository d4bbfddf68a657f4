"""Parquet, and Arrow's own files and streams (Feather among them): typed columns, some rows at a time."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar

from rosenblatt.exceptions import FormatError
from rosenblatt.tables.data_file import DataFile, reason_of
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.table import (
    FIRST_ROWS,
    Block,
    Field,
    TypedTable,
    Wanted,
    arrow_block,
    kind_of,
    require_distinct,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowTable", "ParquetTable"]

INDEX = re.compile(r"__index_level_\d+__")
"""The name of row numbers that pandas writes beside a table; they are not features."""
MOST_ROWS = 1 << 20  # of a block
PAGE_BYTES = 1 << 13
"""Bytes of each column of Parquet that are fetched at a time; without this, all of a row group's would be."""
MAX_GROUP_BYTES = 1 << 27
"""Bytes up to which a row group is read column by column. That takes less time and memory: side by side, each
column holds a page and a dictionary."""


class _ColumnarTable(TypedTable, ABC):
    """A file of typed columns, opened; see `rosenblatt.tables.table.Table`."""

    format: ClassVar[str]
    named = True
    _n_rows: int | None = None  # how many the file says it has, if it does

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        self.file, self._chunk_bytes, self._row_groups = file.name, options.chunk_bytes, options.row_groups
        try:
            schema = self._open(file)
            columns = [f for f in schema if not INDEX.fullmatch(f.name)]
            self.fields = tuple(Field(f.name, kind_of(f.type), str(f.type)) for f in columns)
        except FormatError:
            raise
        except _arrow_errors() as error:
            raise self._damaged(error) from error
        if not self.fields:
            raise FormatError("the table has no columns", file=self.file)
        require_distinct([field.name for field in self.fields], self.file)

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @abstractmethod
    def _open(self, file: DataFile) -> pa.Schema:
        """Open the file and return its schema."""

    @abstractmethod
    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Read the named columns, about `_chunk_bytes` at a time."""

    @abstractmethod
    def _first(self, name: str) -> pa.Array | None:
        """Return a column of the first rows, which are read again later; None if there are no rows."""

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""
        try:
            column = self._first(self.fields[position].name)
            if column is None:
                return []
            column.validate(full=True)  # a damaged file may hold strings that are nowhere
            return list(column[:FIRST_ROWS].drop_null().to_pylist())
        except _arrow_errors() as error:
            raise self._damaged(error) from error

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        positions = [*wanted.numbers, *wanted.strings, *([] if wanted.label is None else [wanted.label])]
        first = start = self._first_row()
        batches = None
        while True:
            try:
                if batches is None:
                    batches = self._batches([self.fields[j].name for j in positions])
                batch = next(batches, None)
                if batch is None:
                    break
                block = arrow_block(batch, wanted, self, start + 1) if batch.num_rows else None
            except _arrow_errors() as error:
                raise self._damaged(error) from error
            start += batch.num_rows
            del batch  # so that only one is in memory
            if block is not None:
                yield block
        if self._n_rows not in (None, start - first):
            raise self._damaged(ValueError(f"it should have {self._n_rows} rows, but has {start - first}"))

    def _first_row(self) -> int:
        """Return the number of the first row that is read."""
        return 0

    def _rows_in_chunk(self, bytes_a_row: float) -> int:
        return int(min(max(self._chunk_bytes / max(bytes_a_row, 1), 1), MOST_ROWS))

    def _damaged(self, error: BaseException) -> FormatError:
        return FormatError(f"is no valid {self.format} file: {reason_of(error)}", file=self.file)


class ParquetTable(_ColumnarTable):
    """A Parquet file, opened."""

    format = "Parquet"

    def _open(self, file: DataFile) -> pa.Schema:
        import pyarrow.parquet as pq

        self._parquet = pq.ParquetFile(file.path, pre_buffer=False, buffer_size=PAGE_BYTES)
        metadata = self._parquet.metadata
        self._n_rows = int(metadata.num_rows)
        if self._row_groups is not None:
            if not all(0 <= group < metadata.num_row_groups for group in self._row_groups):
                raise FormatError(
                    f"has {metadata.num_row_groups} row groups, from 0, but not all of {list(self._row_groups)}",
                    file=self.file,
                )
            self._n_rows = sum(int(metadata.row_group(group).num_rows) for group in self._row_groups)
        return self._parquet.schema_arrow

    def _first_row(self) -> int:
        groups = self._row_groups or (0,)
        return sum(int(self._parquet.metadata.row_group(group).num_rows) for group in range(groups[0]))

    def close(self) -> None:
        """Close the file, and give back the memory that reading pages took."""
        import pyarrow as pa

        self._parquet.close()
        pa.default_memory_pool().release_unused()

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        bytes_a_row = self._bytes_a_row(len(names))
        size = self._rows_in_chunk(bytes_a_row)
        groups = range(self._parquet.num_row_groups) if self._row_groups is None else self._row_groups
        for number in groups:
            # Neither this nor its caller keeps a batch while rows made of it are in use.
            if bytes_a_row * self._parquet.metadata.row_group(number).num_rows <= MAX_GROUP_BYTES:
                yield from self._whole(number, names, size)
            else:
                found = self._parquet.iter_batches(size, [number], columns=names, use_threads=False)
                yield from map(methodcaller("select", names), found)

    def _first(self, name: str) -> pa.Array | None:
        batch = next(self._parquet.iter_batches(FIRST_ROWS, columns=[name], use_threads=False), None)
        return None if batch is None else batch.column(0)

    def _whole(self, number: int, names: list[str], size: int) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        read = partial(self._parquet.read_row_group, number, use_threads=False)
        table = pa.table([read(columns=[name]).column(0) for name in names], names)
        yield from table.to_batches(size)

    def _bytes_a_row(self, n_wanted: int) -> float:
        """Estimate the size of a row from the metadata of row groups.

        The metadata of columns is not used: pyarrow ends the process where that is damaged.
        """
        metadata: Any = self._parquet.metadata
        groups = [metadata.row_group(number) for number in range(min(metadata.num_row_groups, 8))]
        most = max((float(group.total_byte_size) / max(group.num_rows, 1) for group in groups), default=0.0)
        return most * n_wanted / max(int(metadata.num_columns), 1)


class ArrowTable(_ColumnarTable):
    """An Arrow file, mapped into memory, or an Arrow stream."""

    format = "Arrow"

    def _open(self, file: DataFile) -> pa.Schema:
        import pyarrow as pa

        self._source: Any = pa.memory_map(file.path, "r") if file.is_plain else pa.PythonFile(file.open(), "r")
        self._file: Any = None
        if file.is_plain and self._source.read_at(6, 0) == b"ARROW1":
            self._file = pa.ipc.open_file(self._source)
            return self._file.schema
        self._stream = pa.ipc.open_stream(self._source)
        self._ahead: list[pa.RecordBatch] = []  # read from the stream before its turn
        return self._stream.schema

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _first(self, name: str) -> pa.Array | None:
        if self._file is not None:
            batches = [self._file.get_batch(0)] if self._file.num_record_batches else []
        else:
            self._ahead = batches = self._ahead or list(islice(self._stream, 1))
        if not batches:
            return None
        batches[0].validate()
        return batches[0].column(batches[0].schema.get_field_index(name))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        file = self._file
        stream = chain(self._ahead, self._stream) if file is None else ()
        for batch in stream if file is None else map(file.get_batch, range(file.num_record_batches)):
            batch.validate()
            chosen = batch.select(names)
            size = self._rows_in_chunk(chosen.nbytes / max(batch.num_rows, 1))
            for start in range(0, batch.num_rows, size):
                yield chosen.slice(start, size)


def _arrow_errors() -> tuple[type[BaseException], ...]:
    import pyarrow as pa

    return pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, UnicodeDecodeError
