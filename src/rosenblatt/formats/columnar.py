"""Parquet, and Arrow's own files and streams (Feather among them): typed columns, some rows at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from rosenblatt.columns.table import Block, Field, Wanted, arrow_block, kind_of, require_distinct
from rosenblatt.exceptions import FormatError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ColumnarTable"]

INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls the numbers of rows that it writes beside a table: they say nothing of the rows."""
MOST = 1 << 20  # rows of a block
PAGES = 1 << 13
"""Bytes of each column of Parquet that are fetched at a time; without this, all of a row group's would be."""


class ColumnarTable:
    """A Parquet or Arrow file, opened.

    Parameters
    ----------
    place : str or binary file
        The path; Arrow streams may also be read from a file that is open.
    file : str
        Its name in messages.
    format_ : {"parquet", "arrow"}
        Which it is.
    chunk_bytes : int
        About how much to read at once.
    """

    named = True

    def __init__(self, place: Any, *, file: str, format_: str, chunk_bytes: int = 1 << 21) -> None:
        self.file, self._chunk_bytes = file, chunk_bytes
        self.format = "Parquet" if format_ == "parquet" else "Arrow"
        self._opened: _Parquet | _Arrow
        try:
            self._opened = _Parquet(place) if format_ == "parquet" else _Arrow(place)
            schema = self._opened.schema
            columns = [f for f in schema if not INDEX.fullmatch(f.name)]
            self.fields = tuple(Field(f.name, kind_of(f.type), str(f.type)) for f in columns)
        except FormatError:
            raise
        except _arrow_errors() as error:
            raise self._damaged(error) from error
        if not self.fields:
            raise FormatError("the table has no columns", file=file)
        require_distinct([field.name for field in self.fields], file)

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        positions = [*wanted.numbers, *wanted.strings, *([] if wanted.label is None else [wanted.label])]
        start, batches = 0, None
        while True:
            try:
                if batches is None:
                    names = [self.fields[j].name for j in positions]
                    batches = self._opened.batches(names, self._chunk_bytes)
                batch = next(batches, None)
                if batch is None:
                    break
                block = arrow_block(batch, wanted, self, start + 1) if batch.num_rows else None
            except _arrow_errors() as error:
                raise self._damaged(error) from error
            start += batch.num_rows
            del batch
            if block is not None:
                yield block

    def _damaged(self, error: BaseException) -> FormatError:
        reason = " ".join(str(error).split())[:300]
        return FormatError(f"is no sound {self.format} file: {reason}", file=self.file)


class _Parquet:
    def __init__(self, place: Any) -> None:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(place, pre_buffer=False, buffer_size=PAGES)
        self.schema = self._file.schema_arrow

    def close(self) -> None:
        self._file.close()

    def batches(self, names: list[str], chunk_bytes: int) -> Iterator[pa.RecordBatch]:
        size = _rows_in(chunk_bytes, self._bytes_a_row(len(names)))
        # Neither this nor its caller keeps a batch while rows made of it are in use.
        found = self._file.iter_batches(size, columns=names, use_threads=False)
        return map(methodcaller("select", names), found)

    def _bytes_a_row(self, n_wanted: int) -> float:
        """Estimate from what the file says of its row groups.

        What it says of columns is not asked for: pyarrow ends the process where that is damaged.
        """
        metadata: Any = self._file.metadata
        most: float = 0.0
        for number in range(min(metadata.num_row_groups, 8)):
            group = metadata.row_group(number)
            most = max(most, float(group.total_byte_size) / max(group.num_rows, 1))
        return most * n_wanted / max(int(metadata.num_columns), 1)


class _Arrow:
    def __init__(self, place: Any) -> None:
        import pyarrow as pa

        self._source = source = pa.memory_map(place, "r") if isinstance(place, str) else pa.PythonFile(place, "r")
        self._reader: Any
        if isinstance(place, str) and source.read_at(6, 0) == b"ARROW1":
            self._reader = pa.ipc.open_file(source)
            self._n_batches = self._reader.num_record_batches
        else:
            self._reader, self._n_batches = pa.ipc.open_stream(source), None
        self.schema = self._reader.schema

    def close(self) -> None:
        self._source.close()

    def batches(self, names: list[str], chunk_bytes: int) -> Iterator[pa.RecordBatch]:
        for batch in self._all():
            batch.validate()
            chosen = batch.select(names)
            size = _rows_in(chunk_bytes, chosen.nbytes / max(batch.num_rows, 1))
            for start in range(0, batch.num_rows, size):
                yield chosen.slice(start, size)

    def _all(self) -> Iterator[pa.RecordBatch]:
        if self._n_batches is None:
            yield from self._reader
        else:
            yield from map(self._reader.get_batch, range(self._n_batches))


def _rows_in(chunk_bytes: int, bytes_a_row: float) -> int:
    return int(min(max(chunk_bytes / max(bytes_a_row, 1), 1), MOST))


def _arrow_errors() -> tuple[type[BaseException], ...]:
    import pyarrow as pa

    return pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, UnicodeDecodeError
