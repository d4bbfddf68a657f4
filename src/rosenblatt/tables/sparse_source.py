"""Files of sparse rows as one source: svmlight, and NPZ as scipy saves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, ParameterError, Remedy
from rosenblatt.parameters import unused
from rosenblatt.rows.features import Features
from rosenblatt.tables.data_file import DataFile
from rosenblatt.tables.file_source import FileSource, ReadAgainError
from rosenblatt.tables.reading import Format, Options
from rosenblatt.tables.recipe import SparseRecipe
from rosenblatt.tables.svmlight_plain import ZeroIndexError
from rosenblatt.typing import Ints

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

    def chunks(self) -> Iterator[Features]:
        """Read the rows, some at a time."""

    def labels(self) -> Iterator[tuple[NDArray[Any], Ints] | None]:
        """Read the labels alone, some at a time, as `read_labels` does; None: they are missing or wrong."""

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
        self._queries: list[Ints] = []
        self._reader: SparseReader | None = None
        self._zero_based = options.zero_based
        self._guesses = options.zero_based is None and not (recipe is not None and recipe.zero_based)
        if recipe is None:
            self._require_no_columns()
        elif self._zero_based is None:
            self._zero_based = recipe.zero_based
            if self._zero_based is None and "svmlight" in self.formats:
                raise ParameterError(
                    f"the model numbers its features from 0, but {self.files[0]} may count from 0 or from 1: say "
                    "which with " + Remedy("zero_based", True) + " or " + Remedy("zero_based", False) + ".",
                    parameter="zero_based",
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

    @property
    def groups(self) -> Ints | None:
        """The number after ``qid:`` of each row of the last reading; None unless every row has one."""
        found = np.concatenate([np.empty(0, np.int64), *self._queries])
        return found if len(found) and found.min() >= 0 else None

    def _chunks(self) -> Iterator[Features]:
        self._queries = []
        for file, format_ in self._inputs:
            before = self.unmet
            with closing(self._open(file, format_)) as reader:
                for chunk in self._counted_from_one_number(reader, file):
                    self._width = max(self._width, chunk.n_features)
                    self.unmet = before + reader.unmet
                    queries = getattr(reader, "queries", np.full(chunk.n_rows, -1))
                    # Rows without a group take no memory.
                    self._queries.append(
                        queries if queries.max() >= 0 else np.broadcast_to(np.int64(-1), len(queries))
                    )
                    yield replace(chunk, n_features=self.n_features)
                self.unmet = before + reader.unmet

    def _counted_from_one_number(self, reader: SparseReader, file: DataFile) -> Iterator[Features]:
        """Yield the chunks of a file after comparing where it counts features from with what is known.

        A model's data may count from 0 where the training data counted from 1: its indices are converted.
        """
        try:
            for chunk in reader.chunks():
                if self._given is None and self._zero_based is False and reader.zero_based:
                    raise ZeroIndexError(  # noqa: TRY301  # as the reader raises it
                        "index 0, where the files before count from 1; say "
                        + Remedy("zero_based", True)
                        + " if all count from 0",
                        file=file.name,
                    )
                self._zero_based = self._zero_based if reader.zero_based is None else reader.zero_based
                self._require_own_base(reader, file)
                yield chunk
        except ZeroIndexError as error:
            if not self._guesses or self._given is not None or any(each.is_stream for each, _ in self._inputs):
                raise
            self._zero_based, self._width = True, 0
            raise ReadAgainError(
                "index 0 comes after rows that were read as counted from 1; they must be read again, or with "
                + Remedy("zero_based", True),
                file=file.name,
                line=error.line,
            ) from error

    def _require_own_base(self, reader: SparseReader, file: DataFile) -> None:
        """Refuse a file whose indices run from 1 to the number of features, if the model counts from 0."""
        given = self._given
        if given is None or not given.zero_based or self.options.zero_based is not None:
            return
        smallest, largest = getattr(reader, "span", (0, -1))
        if smallest >= 1 and largest == given.width:
            raise FormatError(
                f"the model counts its {given.width} features from 0, but this file has the index {largest} and "
                "no 0: say "
                + Remedy("zero_based", False)
                + " if it counts from 1, or "
                + Remedy("zero_based", True),
                file=file.name,
            )

    def _labels(self) -> Iterator[tuple[NDArray[Any], Ints] | None]:
        for file, format_ in self._inputs:
            with closing(self._open(file, format_)) as reader:
                self._width = max(self._width, reader.n_features)
                yield from reader.labels()

    def _open(self, file: DataFile, format_: Format) -> SparseReader:
        assert format_.open_sparse is not None, "only files of sparse rows are opened here"
        guess = self._guesses and not (self._zero_based and self._given is None)
        options = replace(self.options, zero_based=None if guess else self._zero_based)
        width = None if self._given is None else self._given.width
        self._reader = format_.open_sparse(file, options, width, self.skipped if options.skip_bad else None)
        return self._reader

    def _require_no_columns(self) -> None:
        o = self.options
        columns = o.features, o.ignore, o.text, o.categorical, o.hashed, o.target
        for name, given in zip(FOR_TABLES, columns, strict=True):
            if given not in ((), None):
                raise unused(
                    name, given, after=f" chooses columns of tables, but {self.files[0]} holds sparse rows"
                )
