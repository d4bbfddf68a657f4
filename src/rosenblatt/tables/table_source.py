"""Tables as one source of rows, by a recipe that is given, or learned while they are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, InputError, Message, ParameterError, Remedy
from rosenblatt.rows.batch import Chunk
from rosenblatt.tables.data_file import DataFile
from rosenblatt.tables.encoder import Encoder
from rosenblatt.tables.file_source import FileSource
from rosenblatt.tables.formats import Format
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.roles import Roles, begin_recipe, choose, find_again
from rosenblatt.tables.table import Block, Table, Wanted
from rosenblatt.tables.target_column import label_kind, label_problems, read_labels

__all__ = ["FrameSource", "TableSource"]

ONLY_FILES = ("format", "header", "delimiter", "encoding", "decimal", "thousands", "zero_based", "row_groups")
"""Options that a data frame does not have."""


class TableSource(FileSource):
    """Tables, read one after the other."""

    def __init__(
        self,
        files: Sequence[DataFile],
        formats: Sequence[Format],
        options: Options,
        recipe: TableRecipe | None,
        *,
        learning: bool = False,
    ) -> None:
        super().__init__(files, formats, options)
        self._begin(self._open(*self._inputs[0], recipe), recipe, learning=learning)

    def _begin(self, table: Table, recipe: TableRecipe | None, *, learning: bool) -> None:
        """Choose the columns of the first table, or find those of the recipe."""
        options = self.options
        self._given = None if learning else recipe
        self._format = table.format
        try:
            if recipe is None:
                roles = choose(table, options)
                start = begin_recipe(table, roles, options)
            else:
                roles = find_again(table, recipe, options)
                start = _for_reading(recipe, table, roles, options)
        except BaseException:
            table.close()
            raise
        self._about_columns = roles.notes
        self._columns = frozenset(field.name for field in table.fields)
        self._target = roles.target
        self._encoder = Encoder(
            start,
            learning=recipe is None or learning,
            skipped=self.skipped if options.skip_bad else None,
            vocabulary=options.vocabulary,
            chosen=roles.chosen,
        )
        self._first: tuple[Table, Roles] | None = (table, roles)

    @property
    def recipe(self) -> TableRecipe:
        """How columns become features; complete once all chunks were read."""
        return self._given or self._encoder.recipe

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What was decided about columns, a sentence each; complete once all chunks were read."""
        return (*self._about_columns, *self._encoder.notes())

    @property
    def n_features(self) -> int:
        """The number of features met so far."""
        return self._encoder.n_features

    @property
    def unknown(self) -> Mapping[str, int]:
        """For each categorical column, the rows of the last reading whose value training had not seen."""
        return self._encoder.unknown

    @property
    def n_read(self) -> int:
        """The number of rows of the last reading."""
        return self._encoder.n_rows

    def close(self) -> None:
        """Close the table that was opened and not read."""
        if self._first is not None:
            self._first[0].close()

    def _described(self) -> str:
        recipe = self._encoder.recipe
        parts = [
            _count(len(recipe.numbers), "number"),
            _count(len(recipe.texts), "text"),
            _count(len(recipe.hashed), "hashed column"),
            _count(len(recipe.categorical), "category column"),
        ]
        labels = "no labels" if self._target is None or not recipe.target else f"target {recipe.target[0]!r}"
        return f"{self._format}; {labels}; {', '.join(filter(None, parts))}"

    def _chunks(self) -> Iterator[Chunk]:
        self._encoder.begin_again()
        for file, format_ in self._inputs:
            table, roles = self._next_table(file, format_)
            label = roles.target if self.options.labelled else None
            wanted = Wanted(roles.numbers, roles.strings, label)
            # Blocks are released before their table, which gives back what memory they took.
            with closing(table), closing(_parts_of(table, wanted)) as parts:
                yield from self._encoder.chunks(parts, table)

    def _labels(self) -> Iterator[NDArray[Any] | None]:
        kind = self._encoder.recipe.labels
        if not self._encoder.recipe.only_numbers or kind is None:
            yield None
            return
        for file, format_ in self._inputs:
            with closing(self._open(file, format_, self.recipe)) as table:
                roles = find_again(table, self.recipe, self.options)
                for block in table.blocks(Wanted(label=roles.target)):
                    na = self._encoder.recipe.na
                    bad = block.label is None or label_problems(block.label, kind, na, typed=table.typed)
                    yield None if bad else read_labels(block.label, kind)

    def _next_table(self, file: DataFile, format_: Format) -> tuple[Table, Roles]:
        if self._first is not None:
            found, self._first = self._first, None
            return found
        table = self._open(file, format_, self.recipe)
        try:
            if self._given is None and table.named and self.recipe.named and not format_.optional_columns:
                self._require_same_columns(table)
            return table, find_again(table, self._encoder.recipe, self.options)
        except BaseException:
            table.close()
            raise

    def _open(self, file: DataFile, format_: Format, recipe: TableRecipe | None) -> Table:
        assert format_.open_table is not None, "only tables are opened here"
        return format_.open_table(file, self.options, recipe)

    def _require_same_columns(self, table: Table) -> None:
        names = frozenset(field.name for field in table.fields)
        for what, differing in (("lacks", self._columns - names), ("has in addition", names - self._columns)):
            if differing:
                listed = ", ".join(map(repr, sorted(differing)[:5]))
                raise FormatError(
                    f"{what} the column {listed}, unlike {self.files[0]}; files read together must agree",
                    file=table.file,
                    line=1,
                )


class FrameSource(TableSource):
    """A data frame, read as a file of its columns would be."""

    title = "the data frame"

    def __init__(self, frame: Any, options: Options, recipe: Recipe | None) -> None:
        from rosenblatt.tables.in_memory import table_of  # which reading files does not need

        FileSource.__init__(self, [], [], options)
        for name in ONLY_FILES:
            if getattr(options, name) != getattr(Options(), name):
                raise ParameterError(
                    f"{name} is an option of reading files, but the data is a data frame. Drop it."
                )
        if recipe is not None and not isinstance(recipe, TableRecipe):
            raise InputError(
                "The data is a table, but the model was trained on sparse rows. Pass a sparse matrix."
            )
        self._table: Table = table_of(frame, file=self.title, argument=False)
        self._begin(self._table, recipe, learning=False)

    def known(self) -> None:
        """Return None: the labels are not read apart."""

    def _chunks(self) -> Iterator[Chunk]:
        self._encoder.begin_again()
        assert self._first is not None, "it was opened"
        _, roles = self._first
        label = roles.target if self.options.labelled else None
        for block in self._table.blocks(Wanted(roles.numbers, roles.strings, label)):
            chunk = self._encoder.chunk(block, self._table)
            if chunk is not None:
                yield chunk


def _parts_of(table: Table, wanted: Wanted) -> Generator[Callable[[], Block], None, None]:
    """Yield functions that read a block each: text is divided before it is read, and other tables while."""
    from rosenblatt.tables.delimited import CsvTable

    if isinstance(table, CsvTable):
        yield from table.parts(wanted)
    else:
        yield from (lambda block=block: block for block in table.blocks(wanted))


def _for_reading(recipe: TableRecipe, table: Table, roles: Roles, options: Options) -> TableRecipe:
    """Adapt a given recipe to the labels and missing values of these files."""
    if recipe.missing == "error" and options.missing != "error":
        if options.missing == "mean":
            mean, ways = Remedy("missing", "mean"), Message(Remedy("missing", "zero"))
            if not options.skip_bad:
                ways += " or " + Remedy("skip_bad", True)
            raise ParameterError(
                mean
                + " needs the means of the training rows, but the model has none. Train with "
                + mean
                + ", or use "
                + ways
                + "."
            )
        recipe = replace(recipe, missing=options.missing)
    if options.na:
        recipe = replace(recipe, na=tuple(dict.fromkeys((*recipe.na, *options.na))))
    if roles.target is not None and recipe.labels is None:
        field = table.fields[roles.target]
        recipe = replace(recipe, target=(field.name, roles.target), labels=label_kind(field))
    return recipe


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""
