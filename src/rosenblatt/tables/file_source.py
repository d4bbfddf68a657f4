"""Sources of labelled rows: what any source offers, and files of any format as one."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, Given, InputError, Message, NoRowsError, ParameterError, Remedy
from rosenblatt.parameters import (
    COMBINATION,
    Check,
    check_choice,
    check_count,
    check_flag,
    check_type,
    optional,
    unused,
)
from rosenblatt.rows.batch import Skipped
from rosenblatt.rows.features import Features
from rosenblatt.tables.data_file import DataFile, expand, once_only
from rosenblatt.tables.encoder import Encoder
from rosenblatt.tables.reading import (
    FORMATS,
    MISSING_RULES,
    MOST_BITS,
    THOUSANDS,
    WEIGHTINGS,
    Format,
    Options,
    recognise,
    runs_of,
)
from rosenblatt.tables.recipe import Recipe, SparseRecipe, TableRecipe
from rosenblatt.tables.roles import Roles, begin_recipe, choose, find_again
from rosenblatt.tables.table import SKIP, Block, Table, Wanted, label_kind, label_problems, read_labels
from rosenblatt.typing import Ints

if TYPE_CHECKING:
    from rosenblatt.tables.blocks import Blocks

__all__ = ["FileSource", "FrameSource", "Known", "ReadAgainError", "Source", "TableSource", "open_source"]


class ReadAgainError(FormatError):
    """Rows read so far were read wrongly; the source has learned how to read them, and must be read again."""


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What a source can say without reading all of its rows.

    Attributes
    ----------
    classes : ndarray
        The distinct labels, sorted.
    n_rows, n_features : int
        The size of the data.
    dtype : dtype or None
        The type of the values; None if only the rows tell.
    """

    classes: NDArray[Any]
    n_rows: int
    n_features: int
    dtype: np.dtype[Any] | None = None


class Source(ABC):
    """Rows that come in chunks, from the first row each time they are read.

    Subclasses define `chunks`; every other member has a default.

    Examples
    --------
    >>> from rosenblatt.rows.batch import Batch
    >>> from rosenblatt.rows.features import as_rows
    >>> class Squares(Source):
    ...     def chunks(self):
    ...         for n in range(4):
    ...             yield Batch.of(as_rows([[n, n * n]]), np.array([n > 1]))
    >>> [chunk.labels.tolist() for chunk in Squares().chunks()]
    [[False], [False], [True], [True]]
    >>> Squares().names is None
    True
    """

    @abstractmethod
    def chunks(self) -> Iterator[Features]:
        """Yield all rows, chunk by chunk: each a `Batch` with classes of its own, or `Features` without labels.

        Sparse rows may be only as wide as the features met so far. A missing number is NaN.
        """

    def blocks(self, *, memory: int | None = None, cache: str | os.PathLike[str] = "auto") -> Blocks:
        r"""Read all rows into blocks, for `fit_blocks`: in memory, or in a cache.

        Parameters
        ----------
        memory, cache
            See `rosenblatt.tables.collect.collect`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import rosenblatt as rb
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder) / "or.csv"
        ...     _ = table.write_text("a,b,either\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
        ...     blocks = rb.open_data(table, target="either").blocks()
        >>> blocks.n_rows, blocks.names
        (4, ('a', 'b'))
        >>> rb.Perceptron(order="cyclic").fit_blocks(blocks).coef_
        array([[2., 2.]])
        """
        from rosenblatt.tables.collect import collect

        return collect(self, memory=memory, cache=cache)

    def known(self) -> Known | None:
        """Return the classes and the size if they are known without reading all rows, else None."""
        return None

    def close(self) -> None:
        """Close files of a source that will not be read to its end."""
        return

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are read."""
        return ()

    @property
    def title(self) -> str:
        """What messages call a source without files."""
        return type(self).__name__

    @property
    def options(self) -> Options | None:
        """How the files are read; None if the rows cannot be read again from files."""
        return None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, complete once all chunks were read; None if they have none."""
        return None

    @property
    def n_features(self) -> int:
        """The number of features read so far."""
        return 0

    @property
    def recipe(self) -> Recipe | None:
        """How columns become features, complete once all chunks were read; None if nothing is encoded."""
        return None

    @property
    def other_target(self) -> str | None:
        """A column that could be the target as well, where none was asked for."""
        return None

    @property
    def measured(self) -> bool:
        """Whether features are measurements in units of their own, which the command line standardises."""
        return isinstance(self.recipe, TableRecipe)

    @property
    def description(self) -> str:
        """What is read and how, in one line."""
        return ""

    @property
    def skipped(self) -> Skipped:
        """The rows that the last reading left out because they could not be read."""
        return Skipped()

    @property
    def unlabelled(self) -> Skipped:
        """The rows that the last reading left out because they had no label."""
        return Skipped()

    @property
    def unmet(self) -> int:
        """The number of values that the last reading left out because training had not seen their feature."""
        return 0

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each row of the last reading, for learners that rank rows; None if there are none."""
        return None

    @property
    def unknown(self) -> Mapping[str, int]:
        """For each categorical column, the rows of the last reading whose value training had not seen."""
        return {}

    @property
    def n_read(self) -> int:
        """The number of rows of the last reading, as far as `unknown` counts them."""
        return 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about columns that a user may want to change, a sentence each."""
        return ()


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
    from rosenblatt.tables.sparse_source import SparseSource  # it derives from FileSource

    options = options or Options()
    require_valid(options)
    files = expand(places, options.encoding)
    formats = [recognise(file, options.format) for file in files]
    require_own(options, files[0].name, formats)
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


def require_own(options: Options, name: str, formats: Sequence[Format]) -> None:
    """Refuse options that belong to other formats than those of the files."""
    taken = {option for each in formats for option in each.own}
    for option in dict.fromkeys(option for each in FORMATS.values() for option in each.own):
        value = getattr(options, option)
        if value is not None and option not in taken:
            raise unused(option, value, f"{name} is {formats[0].name}, which has no option ")


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
    unlabelled : Skipped
        Rows that the last pass left out because they had no label.
    unmet : int
        Values that the last pass left out because training had not met their feature.
    notes : tuple of str
        What was decided about columns, a sentence each.
    """

    files: tuple[str, ...] = ()
    options: Options = Options()
    skipped: Skipped = Skipped()
    unlabelled: Skipped = Skipped()
    unmet: int = 0
    notes: tuple[str, ...] = ()

    def __init__(self, files: Sequence[DataFile], formats: Sequence[Format], options: Options) -> None:
        self.files = tuple(file.name for file in files)
        self.formats = tuple(format_.name for format_ in formats)
        self.options, self.skipped, self.unlabelled, self.unmet = options, Skipped(), Skipped(), 0
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

    def chunks(self) -> Iterator[Features]:
        """Read everything from the start. Standard input and pipes can be read only once."""
        files = [file for file, _ in self._inputs]
        if self._begun and any(file.is_stream for file in files):
            raise once_only(files)
        self._begun = True
        self.skipped.clear()
        self.unlabelled.clear()
        self.unmet = 0
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
            classes.append(labels[0])
            n_rows += len(labels[1])
        return Known(np.unique(np.concatenate(classes)), n_rows, self.n_features) if n_rows else None

    @abstractmethod
    def close(self) -> None:
        """Close a source that will not be read; one read to its end, or to an error, is closed already."""

    @abstractmethod
    def _described(self) -> str:
        """Return what is read and how."""

    @abstractmethod
    def _chunks(self) -> Iterator[Features]:
        """Read all files once."""

    @abstractmethod
    def _labels(self) -> Iterator[tuple[NDArray[Any], Ints] | None]:
        """Read the labels alone, some at a time, as `read_labels` does; None: they are missing or wrong."""

    def _all_chunks(self) -> Iterator[Features]:
        empty = True
        for chunk in self._chunks():
            empty = False
            yield chunk
        if empty:
            file = self.files[0] if self.files else self.title
            found = [*self.skipped.first, *self.unlabelled.first]
            if not found:
                raise NoRowsError("there is not one row that can be read", file=file)
            told = found[0].told(tuple(each for each in found[0].ways if each != SKIP))
            what = "can be read" if self.skipped.count else "has a label"
            raise NoRowsError(f"there is not one row that {what}; the first problem: " + told, file=file)


_TEXT = optional(partial(check_type, types=(str,), wanted="a text"))
_COLUMN = partial(check_type, types=(str, int), wanted="the name or the position of a column")


def _each(check: Check) -> Check:
    """Return a check of every item of a list."""

    def checked(name: str, value: Any) -> None:
        check_type(name, value, types=(tuple, list), wanted="a list")
        for each in value:
            check(name, each)

    return checked


CHECKS: dict[str, Check] = {
    "format": _TEXT,
    "header": optional(check_flag),
    "delimiter": _TEXT,
    "target": optional(_COLUMN),
    "labelled": check_flag,
    **dict.fromkeys(("features", "ignore", "text", "categorical", "hashed"), _each(_COLUMN)),
    "ngrams": lambda name, value: runs_of(value),
    "weighting": partial(check_choice, choices=WEIGHTINGS),
    "bits": partial(check_count, most=MOST_BITS),
    "vocabulary": optional(check_flag),
    "missing": partial(check_choice, choices=MISSING_RULES),
    "date": partial(check_choice, choices=("auto", "none")),
    "na": _each(partial(check_type, types=(str,), wanted="a word or a list of words")),
    "encoding": _TEXT,
    "decimal": partial(check_choice, choices=(None, ".", ",")),
    "thousands": partial(check_choice, choices=(None, *THOUSANDS)),
    "skip_bad": check_flag,
    "skip_unlabelled": check_flag,
    "zero_based": optional(check_flag),
    "row_groups": optional(_each(partial(check_count, least=0))),
    "chunk_bytes": check_count,
}
"""What each option of reading may be."""


def require_valid(options: Options) -> None:
    """Raise `ParameterError` for values that options cannot have."""
    for name, check in CHECKS.items():
        check(name, getattr(options, name))
    if options.thousands is not None and options.thousands == options.decimal:
        told = Given("thousands", options.thousands) + " and " + Given("decimal", options.decimal)
        raise ParameterError(told + " must differ.", code=COMBINATION)


# Tables as one source of rows, by a recipe that is given, or learned while they are read.

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
        self._other_target = None if roles.other_target is None else table.fields[roles.other_target].name
        self._columns = frozenset(field.name for field in table.fields)
        self._target = roles.target
        self._encoder = Encoder(
            start,
            learning=recipe is None or learning,
            skipped=self.skipped if options.skip_bad else None,
            unlabelled=self.unlabelled if options.skip_unlabelled else None,
            vocabulary=options.vocabulary,
            chosen=roles.chosen,
        )
        self._first: tuple[Table, Roles] | None = (table, roles)

    @property
    def recipe(self) -> TableRecipe:
        """How columns become features; complete once all chunks were read."""
        return self._given or self._encoder.recipe

    @property
    def other_target(self) -> str | None:
        """A column that could be the target as well, where none was asked for."""
        return self._other_target

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
            _count(len(recipe.dates), "date column"),
        ]
        labels = "no labels" if self._target is None or not recipe.target else f"target {recipe.target[0]!r}"
        return f"{self._format}; {labels}; {', '.join(filter(None, parts))}"

    def _chunks(self) -> Iterator[Features]:
        self._encoder.begin_again()
        for file, format_ in self._inputs:
            table, roles = self._next_table(file, format_)
            label = roles.target if self.options.labelled else None
            wanted = Wanted(roles.numbers, roles.strings, label)
            # Blocks are released before their table, which gives back what memory they took.
            with closing(table), closing(_parts_of(table, wanted)) as parts:
                yield from self._encoder.chunks(parts, table)

    def _labels(self) -> Iterator[tuple[NDArray[Any], Ints] | None]:
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
                told = " is an option of reading files, but the data is a data frame"
                raise unused(name, getattr(options, name), after=told)
        if recipe is not None and not isinstance(recipe, TableRecipe):
            raise InputError(
                "The data is a table, but the model was trained on sparse rows. Pass a sparse matrix."
            )
        self._table: Table = table_of(frame, file=self.title, argument=False)
        self._begin(self._table, recipe, learning=False)

    def known(self) -> None:
        """Return None: the labels are not read apart."""

    def _chunks(self) -> Iterator[Features]:
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
        if options.missing in ("mean", "indicator"):
            ways = Message(Remedy("missing", "zero"))
            if not options.skip_bad:
                ways += " or " + Remedy("skip_bad", True)
            told = (
                Given("missing", options.missing)
                + " needs the means of the training rows, but the model has none. "
            )
            raise ParameterError(told + "Train with it, or use " + ways + ".")
        recipe = replace(recipe, missing=options.missing)
    if options.na:
        recipe = replace(recipe, na=tuple(dict.fromkeys((*recipe.na, *options.na))))
    if roles.target is not None and recipe.labels is None:
        field = table.fields[roles.target]
        recipe = replace(recipe, target=(field.name, roles.target), labels=label_kind(field))
    return recipe


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""
