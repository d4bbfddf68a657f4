"""One source of labelled rows, whatever the files behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import MOST_BITS, MOST_NGRAMS, Recipe, SparseRecipe, TableRecipe
from rosenblatt.columns.source import Known, Source
from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.exceptions import FormatError, InputError, ParameterError
from rosenblatt.formats.inputs import STDIN, Input, expand
from rosenblatt.formats.opening import is_sparse
from rosenblatt.formats.sparse_rows import SparseRows
from rosenblatt.formats.tables import Tables

__all__ = ["FileSource", "open_source"]


def open_source(places: Sequence[str], options: Options | None = None, recipe: Recipe | None = None) -> FileSource:
    r"""Open files as one source of rows.

    Parameters
    ----------
    places : sequence of str
        Paths, globs, or ``-`` for standard input; gzip and zstd are recognised. Read in this order.
    options : Options, optional
        How to read them.
    recipe : Recipe, optional
        How columns became features in training: read data to be predicted, in the same way. Columns, target and
        encoding then come from the recipe, not from the options; values it does not know become nothing.

    Returns
    -------
    FileSource
        Its first rows have been looked at, no more.

    Raises
    ------
    FormatError
        A file that is not what its format says, with the place.
    InputError
        Files that are not there, or options that contradict each other.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "mail.csv"
    ...     _ = table.write_text("length,sender,label\n3.5,bob,ham\n9,eve,spam\n")
    ...     source = open_source([str(table)])
    ...     [chunk] = source.chunks()
    >>> source.description
    "CSV with a header; target 'label'; 1 number, 1 category column"
    >>> source.names
    ('length', 'sender=bob', 'sender=eve')
    >>> chunk.labels
    array(['ham', 'spam'], dtype='<U4')
    """
    options = options or Options()
    _require_sound(options)
    return FileSource(expand(places), options, recipe)


class FileSource(Source):
    """Files opened as one source of rows; see `open_source`.

    Attributes
    ----------
    files : tuple of str
        What is read, as it is named in messages.
    formats : tuple of str
        The format of each.
    options : Options
        How they are read.
    skipped : Skipped
        Rows that the last pass left out because they could not be read.
    """

    files: tuple[str, ...] = ()
    options: Options = Options()
    skipped: Skipped = Skipped()

    def __init__(self, inputs: list[Input], options: Options, recipe: Recipe | None) -> None:
        self.files = tuple(each.name for each in inputs)
        self.formats = tuple(each.format(options.format) for each in inputs)
        self.options, self.skipped = options, Skipped()
        self._begun = False
        kinds = {is_sparse(each, format_) for each, format_ in zip(inputs, self.formats, strict=True)}
        if len(kinds) > 1:
            raise InputError(f"{', '.join(self.files)}: tables and sparse rows cannot be read as one source.")
        sparse = kinds.pop()
        if recipe is not None and isinstance(recipe, SparseRecipe) != sparse:
            raise InputError(
                f"{self.files[0]} holds {'sparse rows' if sparse else 'a table'}, but the model was trained on "
                f"{'a table' if sparse else 'sparse rows'}. Hand in data of the same kind."
            )
        skipped = self.skipped if options.skip_bad else None
        self._reader: Tables | SparseRows
        if sparse:
            self._reader = SparseRows(inputs, self.formats, options, cast("SparseRecipe | None", recipe), skipped)
        else:
            self._reader = Tables(inputs, self.formats, options, cast("TableRecipe | None", recipe), skipped)

    @property
    def recipe(self) -> Recipe:
        """How columns become features, as far as it was learned; complete once all chunks were read."""
        return self._reader.recipe

    @property
    def n_features(self) -> int:
        """How many features there are, as far as they were met."""
        return self._reader.n_features

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features; complete once all chunks were read.

        None where they have only numbers, or are hashed: `Recipe.names` names these, too, all of them.
        """
        recipe = self._reader.recipe
        return None if recipe.hashes else recipe.names(recipe.n_features)

    @property
    def unmet(self) -> int:
        """How many values the last pass left out because training never met their feature."""
        return self._reader.unmet

    @property
    def description(self) -> str:
        """What is read and how, in one line."""
        several = f"{len(self.files)} files; " if len(self.files) > 1 else ""
        return several + self._reader.description

    def chunks(self) -> Iterator[Chunk]:
        """Read everything once, from the start. A second time works as well, except for standard input."""
        if self._begun and STDIN in self.files:
            raise InputError("Standard input can be read only once: save it to a file first.")
        self._begun = True
        self.skipped.count = 0
        self.skipped.first.clear()
        return self._chunks()

    def close(self) -> None:
        """Close a source that will not be read; one read to its end, or to an error, is closed already."""
        self._reader.close()

    def known(self) -> Known | None:
        """Tell classes and sizes where no more than the labels must be read for it; else None.

        This is so of Parquet, NPY and NPZ whose features are all numbers.
        """
        found = None if self.options.skip_bad else self._reader.known()
        if found is None:
            return None
        n_rows, labels = found
        return Known(np.unique(np.concatenate(labels)), n_rows, self._reader.n_features) if n_rows else None

    def _chunks(self) -> Iterator[Chunk]:
        empty = True
        for chunk in self._reader.chunks():
            empty = False
            yield chunk
        if empty:
            why = f"; the first problem: {self.skipped.first[0]}" if self.skipped.count else ""
            raise FormatError(f"there is not one row that can be read{why}", file=self.files[0])


def _require_sound(options: Options) -> None:
    if options.missing not in ("error", "zero", "mean"):
        raise ParameterError(f"missing is {options.missing!r}, but must be 'error', 'zero' or 'mean'.")
    if not 1 <= options.bits <= MOST_BITS:
        raise ParameterError(f"bits is {options.bits}, but must lie in 1 … {MOST_BITS}.")
    if not 1 <= options.ngrams <= MOST_NGRAMS:
        raise ParameterError(f"ngrams is {options.ngrams}, but must lie in 1 … {MOST_NGRAMS}.")
    if options.chunk_bytes < 1:
        raise ParameterError(f"chunk_bytes is {options.chunk_bytes}, but must be at least 1.")
