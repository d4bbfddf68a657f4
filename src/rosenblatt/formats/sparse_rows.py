"""Several files of sparse rows read as one: svmlight, and NPZ as scipy saves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from numpy.typing import NDArray

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import SparseRecipe
from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.formats.inputs import Input, Stream

if TYPE_CHECKING:
    from rosenblatt.formats.sparse_npz import SparseArchive
    from rosenblatt.formats.svmlight import SvmlightReader

__all__ = ["SparseRows"]

FOR_TABLES = ("features", "ignore", "text", "categorical", "hashed")


class SparseRows:
    """Files of sparse rows read one after the other; parameters as those of `Tables`."""

    def __init__(
        self,
        inputs: list[Input],
        formats: tuple[str, ...],
        options: Options,
        recipe: SparseRecipe | None,
        skipped: Skipped | None,
    ) -> None:
        unusable = [name for name in FOR_TABLES if getattr(options, name)]
        if recipe is None and (unusable or options.target is not None):
            name = unusable[0] if unusable else "target"
            raise ParameterError(f"--{name} chooses columns of tables, but {inputs[0].name} holds sparse rows.")
        self._inputs, self._formats, self._options = inputs, formats, options
        self._given, self._skipped = recipe, skipped
        self.unmet, self._width = 0, 0
        self._stream: Stream | None = None
        self._zero_based = options.zero_based
        if recipe is not None and options.zero_based is None:
            self._zero_based = recipe.zero_based
        if recipe is not None and self._zero_based is None and "svmlight" in formats:
            raise ParameterError(
                f"the model knows features by their numbers from 0, but not how {inputs[0].name} counts: say "
                "so with --zero-based or --one-based."
            )

    @property
    def recipe(self) -> SparseRecipe:
        """The recipe, as far as it was learned."""
        return self._given or SparseRecipe(max(self._width, 1), self._zero_based)

    @property
    def n_features(self) -> int:
        """How many features there are, as far as they were met."""
        return self._width if self._given is None else self._given.width

    @property
    def description(self) -> str:
        """What is read and how."""
        if "svmlight" not in self._formats:
            return "sparse rows of NPZ"
        if self._zero_based is None:
            return "svmlight"
        return f"svmlight; features counted from {0 if self._zero_based else 1}"

    def chunks(self) -> Iterator[Chunk]:
        """Read all of them once."""
        self.unmet = 0
        for number in range(len(self._inputs)):
            reader = self._open(number)
            before = self.unmet
            try:
                for chunk in reader.chunks():
                    self._zero_based = getattr(reader, "zero_based", self._zero_based)
                    self.unmet = before + reader.unmet
                    if self._given is None:
                        self._width = max(self._width, chunk.features.n_features)
                        chunk = replace(chunk, features=replace(chunk.features, n_features=self._width))
                    yield chunk
                self.unmet = before + reader.unmet
            finally:
                self.close()

    def close(self) -> None:
        """Close what is open."""
        if self._stream is not None:
            self._stream.close()

    def known(self) -> tuple[int, list[NDArray[Any]]] | None:
        """Give the number of rows and the labels where this takes reading no more than these."""
        if set(self._formats) != {"npz"}:
            return None
        n_rows, labels = 0, []
        for number in range(len(self._inputs)):
            archive: Any = self._open(number)
            found = archive.labels()
            if found is None:
                return None  # reading will tell what is wrong, and where
            n_rows += archive.n_rows
            labels += found
            if self._given is None:
                self._width = max(self._width, archive.n_features)
        return n_rows, labels

    def _open(self, number: int) -> SvmlightReader | SparseArchive:
        place, options = self._inputs[number], self._options
        width = None if self._given is None else self._given.width
        if self._formats[number] == "svmlight":
            from rosenblatt.formats.svmlight import SvmlightReader

            self._stream = place.open()
            return SvmlightReader(
                cast("BinaryIO", self._stream),
                file=place.name,
                zero_based=self._zero_based,
                skipped=self._skipped,
                chunk_bytes=options.chunk_bytes,
                width=width,
            )
        from rosenblatt.formats.numpy_files import Archive
        from rosenblatt.formats.sparse_npz import SparseArchive

        archive = SparseArchive(
            Archive(place.path or "", place.name),
            file=place.name,
            skipped=self._skipped,
            chunk_bytes=options.chunk_bytes,
            width=width,
        )
        if options.labelled and not archive.has_labels:
            raise FormatError("there are no labels: the file has no array called y", file=place.name)
        return archive
