"""Files of any format as one source of labelled rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import InputError, NoRowsError, ParameterError
from rosenblatt.rows.batch import Chunk, Skipped
from rosenblatt.tables.data_file import DataFile, expand, once_only
from rosenblatt.tables.formats import Format, recognise
from rosenblatt.tables.notation import THOUSANDS
from rosenblatt.tables.reading import MOST_BITS, MOST_NGRAMS, Options
from rosenblatt.tables.recipe import Recipe, SparseRecipe, TableRecipe
from rosenblatt.tables.source import Known, Source
from rosenblatt.tables.table import SKIP

__all__ = ["FileSource", "open_source"]


def open_source(
    places: Sequence[str],
    options: Options | None = None,
    recipe: Recipe | None = None,
    *,
    learning: bool = False,
) -> FileSource:
    r"""Open files as one source of rows.

    Parameters
    ----------
    places : sequence of str
        Paths, globs, or ``-`` for standard input, read in this order. gzip, zstd and zip archives of one table are
        recognised.
    options : Options, optional
        How to read them.
    recipe : Recipe, optional
        How columns became features in training: the files are read in the same way, for prediction. Columns,
        target and encoding then come from the recipe, not from the options, and categories that the recipe does
        not know are ignored.
    learning : bool
        Whether a recipe of a table, which names its columns, goes on learning categories and words.

    Returns
    -------
    FileSource
        Only the first rows have been looked at.

    Raises
    ------
    FormatError
        A file does not follow its format; the error has the place.
    InputError
        Files do not exist, or options contradict each other.

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
    from rosenblatt.tables.sparse_source import SparseSource  # these derive from FileSource
    from rosenblatt.tables.table_source import TableSource

    options = options or Options()
    require_valid(options)
    files = expand(places, options.encoding)
    formats = [recognise(file, options.format) for file in files]
    kinds = {format_.is_sparse(file) for file, format_ in zip(files, formats, strict=True)}
    if len(kinds) > 1:
        names = ", ".join(file.name for file in files)
        raise InputError(f"{names}: tables and sparse rows cannot be read as one source.")
    sparse = kinds.pop()
    if sparse and (recipe is None or isinstance(recipe, SparseRecipe)):
        return SparseSource(files, formats, options, recipe)
    if not sparse and (recipe is None or isinstance(recipe, TableRecipe)):
        return TableSource(files, formats, options, recipe, learning=learning)
    here, there = ("sparse rows", "a table") if sparse else ("a table", "sparse rows")
    raise InputError(
        f"{files[0].name} holds {here}, but the model was trained on {there}. Use data of the same kind."
    )


class FileSource(Source):
    """Files opened as one source of rows; see `open_source`.

    Attributes
    ----------
    files : tuple of str
        The names of the files.
    formats : tuple of str
        The format of each.
    options : Options
        How they are read.
    skipped : Skipped
        Rows that the last pass left out because they could not be read.
    unmet : int
        Values that the last pass left out because training had not met their feature.
    notes : tuple of str
        What was decided about columns, a sentence each.
    """

    files: tuple[str, ...] = ()
    options: Options = Options()
    skipped: Skipped = Skipped()
    unmet: int = 0
    notes: tuple[str, ...] = ()

    def __init__(self, files: Sequence[DataFile], formats: Sequence[Format], options: Options) -> None:
        self.files = tuple(file.name for file in files)
        self.formats = tuple(format_.name for format_ in formats)
        self.options, self.skipped, self.unmet = options, Skipped(), 0
        self._inputs = list(zip(files, formats, strict=True))
        self._begun = False

    @property
    @abstractmethod
    def recipe(self) -> Recipe:
        """How columns become features; complete once all chunks were read."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features met so far."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, complete once all chunks were read.

        None where features have only numbers, or are hashed: `Recipe.names` names the hashed ones too.
        """
        return None if self.recipe.hashes else self.recipe.names(self.recipe.n_features)

    @property
    def description(self) -> str:
        """What is read and how, in one line."""
        several = f"{len(self.files)} files; " if len(self.files) > 1 else ""
        return several + self._described()

    def chunks(self) -> Iterator[Chunk]:
        """Read everything from the start. Standard input and pipes can be read only once."""
        files = [file for file, _ in self._inputs]
        if self._begun and any(file.is_stream for file in files):
            raise once_only(files)
        self._begun = True
        self.skipped.count = self.unmet = 0
        self.skipped.first.clear()
        return self._all_chunks()

    def known(self) -> Known | None:
        """Return the classes and the size, or None if that needs more than reading the labels.

        They are known for Parquet, NPY and NPZ whose features are all numbers.
        """
        if self.options.skip_bad or not all(format_.labels_apart for _, format_ in self._inputs):
            return None
        n_rows, classes = 0, []
        for labels in self._labels():
            if labels is None:
                return None  # reading will say what is wrong, and where
            n_rows += len(labels)
            classes.append(np.unique(labels))
        return Known(np.unique(np.concatenate(classes)), n_rows, self.n_features) if n_rows else None

    @abstractmethod
    def close(self) -> None:
        """Close a source that will not be read; one read to its end, or to an error, is closed already."""

    @abstractmethod
    def _described(self) -> str:
        """Return what is read and how."""

    @abstractmethod
    def _chunks(self) -> Iterator[Chunk]:
        """Read all files once."""

    @abstractmethod
    def _labels(self) -> Iterator[NDArray[Any] | None]:
        """Read the labels alone, some at a time; None stands for labels that are missing or wrong."""

    def _all_chunks(self) -> Iterator[Chunk]:
        empty = True
        for chunk in self._chunks():
            empty = False
            yield chunk
        if empty:
            file = self.files[0] if self.files else self.title
            if not self.skipped.count:
                raise NoRowsError("there is not one row that can be read", file=file)
            first = self.skipped.first[0]
            told = first.told(tuple(each for each in first.ways if each != SKIP))
            raise NoRowsError("there is not one row that can be read; the first problem: " + told, file=file)


def require_valid(options: Options) -> None:
    """Raise `ParameterError` for values that options cannot have."""
    if options.missing not in ("error", "zero", "mean"):
        raise ParameterError(f"missing is {options.missing!r}, but must be 'error', 'zero' or 'mean'.")
    for name, value, most in (("bits", options.bits, MOST_BITS), ("ngrams", options.ngrams, MOST_NGRAMS)):
        if not 1 <= value <= most:
            raise ParameterError(f"{name} is {value}, but must lie in 1 … {most}.")
    if options.decimal not in (None, ".", ","):
        raise ParameterError(f"decimal is {options.decimal!r}, but must be '.' or ','.")
    if options.thousands not in (None, *THOUSANDS):
        raise ParameterError(
            f"thousands is {options.thousands!r}, but must be one of {', '.join(map(repr, THOUSANDS))}."
        )
    if options.thousands is not None and options.thousands == options.decimal:
        raise ParameterError(f"thousands and decimal are both {options.decimal!r}, but must differ.")
    if options.chunk_bytes < 1:
        raise ParameterError(f"chunk_bytes is {options.chunk_bytes}, but must be at least 1.")
