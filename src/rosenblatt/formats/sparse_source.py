"""Files of sparse rows as one source: svmlight, and NPZ as scipy saves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import NDArray

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import SparseRecipe
from rosenblatt.data.chunk import Chunk
from rosenblatt.exceptions import ParameterError
from rosenblatt.formats.catalogue import Format
from rosenblatt.formats.data_file import DataFile
from rosenblatt.formats.source import FileSource

__all__ = ["SparseReader", "SparseSource"]

FOR_TABLES = ("features", "ignore", "text", "categorical", "hashed", "target")


class SparseReader(Protocol):
    """A file of sparse rows, opened. It can be read once.

    `n_features` is as given, as the file says, or as met so far; `unmet` counts values beyond the number given.
    `zero_based` says whether the file counts features from 0; None while unknown, or if the file is not text.
    """

    n_features: int
    zero_based: bool | None
    unmet: int

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows, some at a time."""

    def labels(self) -> Iterator[NDArray[Any] | None]:
        """Read the labels alone, some at a time; None stands for labels that are missing or wrong."""

    def close(self) -> None:
        """Close the file."""


class SparseSource(FileSource):
    """Files of sparse rows, read one after the other."""

    def __init__(
        self,
        files: Sequence[DataFile],
        formats: Sequence[Format],
        options: Options,
        recipe: SparseRecipe | None,
    ) -> None:
        super().__init__(files, formats, options)
        self._given, self._width = recipe, 0
        self._reader: SparseReader | None = None
        self._zero_based = options.zero_based
        if recipe is None:
            self._require_no_columns()
        elif self._zero_based is None:
            self._zero_based = recipe.zero_based
            if self._zero_based is None and "svmlight" in self.formats:
                raise ParameterError(
                    f"the model numbers its features from 0, but {self.files[0]} may count from 0 or from 1: say "
                    "which with --zero-based or --one-based."
                )

    @property
    def recipe(self) -> SparseRecipe:
        """The number of features and where the files count them from; complete once all chunks were read."""
        return self._given or SparseRecipe(max(self._width, 1), self._zero_based)

    @property
    def n_features(self) -> int:
        """The number of features met so far."""
        return self._width if self._given is None else self._given.width

    def close(self) -> None:
        """Close the file being read."""
        if self._reader is not None:
            self._reader.close()

    def _described(self) -> str:
        if "svmlight" not in self.formats:
            return "sparse rows of NPZ"
        if self._zero_based is None:
            return "svmlight"
        return f"svmlight; features counted from {0 if self._zero_based else 1}"

    def _chunks(self) -> Iterator[Chunk]:
        for file, format_ in self._inputs:
            before = self.unmet
            with closing(self._open(file, format_)) as reader:
                for chunk in reader.chunks():
                    self._zero_based = self._zero_based if reader.zero_based is None else reader.zero_based
                    self._width = max(self._width, chunk.n_features)
                    self.unmet = before + reader.unmet
                    yield replace(chunk, n_features=self.n_features)
                self.unmet = before + reader.unmet

    def _labels(self) -> Iterator[NDArray[Any] | None]:
        for file, format_ in self._inputs:
            with closing(self._open(file, format_)) as reader:
                self._width = max(self._width, reader.n_features)
                yield from reader.labels()

    def _open(self, file: DataFile, format_: Format) -> SparseReader:
        assert format_.open_sparse is not None, "only files of sparse rows are opened here"
        options = replace(self.options, zero_based=self._zero_based)
        width = None if self._given is None else self._given.width
        self._reader = format_.open_sparse(file, options, width, self.skipped if options.skip_bad else None)
        return self._reader

    def _require_no_columns(self) -> None:
        o = self.options
        columns = o.features, o.ignore, o.text, o.categorical, o.hashed, o.target
        for name, given in zip(FOR_TABLES, columns, strict=True):
            if given not in ((), None):
                raise ParameterError(f"--{name} chooses columns of tables, but {self.files[0]} holds sparse rows.")
