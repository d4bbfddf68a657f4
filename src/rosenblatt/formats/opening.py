"""From a file and its format to what reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.table import Table
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.inputs import Input, Stream

__all__ = ["is_sparse", "open_table"]


def is_sparse(place: Input, format_: str) -> bool:
    """Tell whether a file holds sparse rows; any other is a table."""
    if format_ != "npz":
        return format_ == "svmlight"
    from rosenblatt.formats.numpy_files import Archive
    from rosenblatt.formats.sparse_npz import SparseArchive

    return SparseArchive.recognises(Archive(place.path or "", place.name))


def open_table(place: Input, format_: str, options: Options, recipe: TableRecipe | None) -> Table:
    """Open a file as a table.

    Parameters
    ----------
    place : Input
        The file.
    format_ : str
        Any but svmlight.
    options : Options
        How to read it.
    recipe : TableRecipe or None
        How the columns of other files became features, if this is not the first.
    """
    match format_:
        case "csv" | "tsv":
            return _open_delimited(place, format_, options, recipe)
        case "jsonl":
            return _open_json_lines(place, options, recipe)
        case "parquet" | "arrow":
            from rosenblatt.formats.columnar import ColumnarTable

            if place.path and not place.is_compressed:
                return ColumnarTable(place.path, file=place.name, format_=format_, chunk_bytes=options.chunk_bytes)
            with _closing_on_error(place.open()) as stream:
                return ColumnarTable(stream, file=place.name, format_=format_, chunk_bytes=options.chunk_bytes)
    return _open_matrix(place, format_, options, recipe)


@contextmanager
def _closing_on_error(stream: Stream) -> Iterator[Stream]:
    try:
        yield stream
    except BaseException:
        stream.close()
        raise


def _open_delimited(place: Input, format_: str, options: Options, recipe: TableRecipe | None) -> Table:
    from rosenblatt.formats.delimited import DelimitedTable

    with _closing_on_error(place.open()) as stream:
        return DelimitedTable(
            stream,
            file=place.name,
            tabs=format_ == "tsv",
            delimiter=options.delimiter,
            header=options.header,
            expected=frozenset(name for name, _ in recipe.columns) if recipe and recipe.named else frozenset(),
            chunk_bytes=options.chunk_bytes,
        )


def _open_json_lines(place: Input, options: Options, recipe: TableRecipe | None) -> Table:
    from rosenblatt.formats.json_lines import JsonLinesTable

    with _closing_on_error(place.open()) as stream:
        return JsonLinesTable(
            stream,
            file=place.name,
            expected=[name for name, _ in recipe.columns] if recipe else [],
            closed=recipe is None and not options.features,
            chunk_bytes=options.chunk_bytes,
        )


def _open_matrix(place: Input, format_: str, options: Options, recipe: TableRecipe | None) -> Table:
    from rosenblatt.formats.matrix import LABELS, MatrixTable
    from rosenblatt.formats.numpy_files import Archive

    path = place.path or ""
    archive = Archive(path, place.name) if format_ == "npz" else None
    table = MatrixTable(path, file=place.name, archive=archive, chunk_bytes=options.chunk_bytes)
    unlabelled = archive is not None and not table.has_labels
    if unlabelled and options.labelled and options.target is None and recipe is None:
        raise FormatError(
            f"there are no labels: the file has no array called {' or '.join(LABELS)}. If they are a column of "
            "the table, name it with --target",
            file=place.name,
        )
    return table
