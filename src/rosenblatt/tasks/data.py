"""Data named by its place: files, standard input and built-in sets, as a source of rows or as arrays."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import Recipe, TableRecipe
from rosenblatt.columns.source import Source
from rosenblatt.data.labels import ContinuousLabelError
from rosenblatt.data.memory import require_features
from rosenblatt.exceptions import ParameterError

if TYPE_CHECKING:
    from rosenblatt.blocks.memory import Blocks, MemoryBlocks

__all__ = ["Data", "DataTable", "Log", "open_data", "read_table"]

Place: TypeAlias = str | os.PathLike[str]
Data: TypeAlias = Place | Sequence[Place] | Source
"""A place, several places that are read as one data set, or a source."""
Log: TypeAlias = Callable[[str], None]
"""Is called with one sentence at a time about the progress of a task."""

log_info: Log = logging.getLogger("rosenblatt").info
NOTHING: Mapping[str, Any] = MappingProxyType({})
CONTINUOUS = (
    "holds continuous numbers; choose another with --target, or predict numbers with --learner extreme --set "
    "task=regression."
)
ADVICE = re.compile(r"(?:; correct it,|\. Correct it,|; fill it in,).*")
"""How an error about a row goes on where it says what to do, which is of no use for rows that were left out."""
MOST_GUESSED = 20
"""A target that was not named may have this many classes, however few rows there are."""
HARMLESS = ("labelled", "missing", "skip_bad", "chunk_bytes")
"""Options that change nothing about a built-in set."""


class DataTable(NamedTuple):
    """Labelled rows in memory.

    Attributes
    ----------
    X : ndarray or sparse array, shape (n_rows, n_features)
        The features.
    y : ndarray, shape (n_rows,)
        The labels.
    names : tuple of str or None
        The names of the features.
    """

    X: Any
    y: NDArray[Any]
    names: tuple[str, ...] | None


def open_data(*places: Place, **options: Any) -> Source:
    """Open files or a built-in set as a source of labelled rows.

    Parameters
    ----------
    *places : str or path
        Files of any format, globs, ``-`` for standard input, or one built-in set such as ``@iris``.
    **options
        How to read files: the attributes of `rosenblatt.columns.options.Options`, such as ``target="label"``.

    Returns
    -------
    Source
        Its `chunks` are the rows. Only the first rows of a file have been read.

    Raises
    ------
    InputError
        If a file does not exist or does not follow its format, or if options contradict each other.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> source = rb.open_data("@iris")
    >>> source.description
    'built in: 150 rows, 4 features'
    >>> [chunk.n_rows for chunk in source.chunks()]
    [150]
    """
    return open_places([os.fspath(place) for place in places], read_options(options), None)


def read_table(*places: Place, log: Log = log_info, **options: Any) -> DataTable:
    r"""Read files or a built-in set into arrays.

    Parameters
    ----------
    *places : str or path
        See `open_data`.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        See `open_data`. ``missing="mean"`` replaces missing numbers by the mean of their column.

    Returns
    -------
    DataTable
        A tuple of the features, the labels, and the names of the features. The features are a sparse array if the
        data has text, categories or sparse rows, and an array otherwise.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "fruit.csv"
    ...     _ = table.write_text("weight,length,label\n150,7,apple\n120,,banana\n110,19,banana\n")
    ...     X, y, names = rb.read_table(table, missing="mean")
    >>> X
    array([[150.,   7.],
           [120.,  13.],
           [110.,  19.]])
    >>> y.tolist(), names
    (['apple', 'banana', 'banana'], ('weight', 'length'))
    """
    return table_of(open_data(*places, **options), log)


def table_of(source: Source, log: Log) -> DataTable:
    """Return all rows of a source as arrays; see `read_table`."""
    from rosenblatt.blocks.scaled import transformed
    from rosenblatt.tasks.learning import preparation

    blocks: Any = all_rows(source, numbers=True)
    describe_reading(source, log)
    require_target(source, blocks, regression=None)
    before = preparation(blocks, source.recipe, fill=fills_means(source), scale=False)
    batch = transformed(blocks, *before).batch  # type: ignore[attr-defined]
    return DataTable(batch.native(), batch.classes[batch.codes], feature_names(source))


def read_options(options: Mapping[str, Any]) -> Options:
    """Return options of reading; raise `ParameterError` for a name that is none."""
    known = {each.name for each in fields(Options)}
    unknown = sorted(options.keys() - known)
    if unknown:
        raise ParameterError(
            f"{unknown[0]!r} is not an option of reading data. Use one of {', '.join(sorted(known))}."
        )
    given = dict(options)
    for name in ("features", "ignore", "text", "categorical", "hashed", "na"):
        if name in given:
            given[name] = (given[name],) if isinstance(given[name], str | int) else tuple(given[name])
    return Options(**given)


def open_places(places: Sequence[str], options: Options, recipe: Recipe | None) -> Source:
    """Open files or a built-in set; a `recipe` reads columns in the same way as in training."""
    from rosenblatt.datasets.builtin import BuiltinSource
    from rosenblatt.formats.source import open_source

    built_in = [place for place in places if place.startswith("@")]
    if not built_in:
        return open_source(places, options, recipe)
    if len(places) > 1:
        raise ParameterError(f"{built_in[0]} must be named alone. Drop the other data.")
    usual = Options()
    for each in fields(Options):
        if each.name not in HARMLESS and getattr(options, each.name) != getattr(usual, each.name):
            name = each.name.replace("_", "-")
            raise ParameterError(f"{built_in[0]} is a built-in set and has no option {name}. Drop --{name}.")
    return BuiltinSource(built_in[0][1:])


def source_of(data: Data, options: Mapping[str, Any]) -> Source:
    """Return a source as it is, or open the places."""
    if not isinstance(data, Source):
        return open_data(*places_of(data), **options)
    require_no_options(options)
    return data


def require_no_options(options: Mapping[str, Any]) -> None:
    """Refuse options of reading for data that is in memory, or open already."""
    if options:
        raise ParameterError(f"{next(iter(options))} is an option of reading files, but none is named. Drop it.")


def places_of(data: Place | Sequence[Place]) -> list[str]:
    """Return all places as texts."""
    return [os.fspath(place) for place in ([data] if isinstance(data, str | os.PathLike) else data)]


def all_rows(source: Source, *, numbers: bool = False) -> MemoryBlocks:
    """Read all rows of a source into memory; `numbers` allows labels of a regression."""
    from rosenblatt.blocks.collect import collect
    from rosenblatt.blocks.memory import MemoryBlocks

    blocks = collect(source, memory=sys.maxsize, cache="no", numbers=numbers)
    assert isinstance(blocks, MemoryBlocks), "no data is larger than all memory"
    require_features(blocks.n_features)
    return blocks


def fills_means(source: Source) -> bool:
    """Return whether missing numbers become the mean of their column."""
    return source.options is not None and source.options.missing == "mean"


def require_target(source: Source, blocks: Blocks, *, regression: bool | None) -> None:
    """Refuse names where numbers are predicted, and numbers or identifiers where classes are.

    Where it is not known what will be predicted, `regression` is None and a target that was named is accepted.
    """
    classes, which = blocks.classes, _target_words(source)
    named = isinstance(source.recipe, TableRecipe) and source.recipe.target is not None
    guessed = source.options is not None and source.options.target is None
    if regression:
        if classes.dtype.kind not in "iuf":
            raise ParameterError(
                f"{which} holds names such as {classes[0]!s}, but a regression predicts numbers; choose "
                "another column with --target, or leave out task=regression."
            )
        return
    if not (named and guessed and len(classes) > max(MOST_GUESSED, blocks.n_rows // 2)):
        return
    if classes.dtype.kind in "iuf":
        raise ParameterError(f"{which} {CONTINUOUS}")
    raise ParameterError(
        f"{which} holds {len(classes):,} different values in {blocks.n_rows:,} rows; choose another with "
        "--target, or name this one to take each value as a class."
    )


def note_similar(classes: NDArray[Any], log: Log) -> None:
    """Say which classes differ only in upper and lower case or in spaces."""
    alike: dict[str, list[str]] = {}
    for label in classes.tolist() if classes.dtype.kind == "U" else ():
        alike.setdefault(" ".join(label.split()).casefold(), []).append(label)
    groups = [", ".join(map(repr, labels)) for labels in alike.values() if len(labels) > 1]
    if groups:
        log(f"note: labels that differ only in case or spaces are classes of their own: {'; '.join(groups[:8])}")


@contextmanager
def explained_target(source: Source) -> Iterator[None]:
    """Explain labels that are fractions by the column that holds them."""
    try:
        yield
    except ContinuousLabelError as error:
        raise ParameterError(f"{_target_words(source)} {CONTINUOUS}") from error


def _target_words(source: Source) -> str:
    """Return the file and the target, and how it was chosen, as the subject of a sentence."""
    recipe, which = source.recipe, "the target"
    if isinstance(recipe, TableRecipe) and recipe.target is not None:
        name, position = recipe.target
        which = f"the target, {name!r},"
        if source.options is not None and source.options.target is None:
            last = "the last column" if position == recipe.n_columns - 1 else f"column {position + 1}"
            which = f"{last}, {name!r}, was taken as the target and"
    return f"{shown(source.files)}: {which}" if source.files else which


def require_apart(path: Place | None, places: Sequence[Place]) -> None:
    """Refuse to write over a file that is read."""
    for place in places:
        if path is not None and os.path.exists(path) and os.path.exists(place) and os.path.samefile(path, place):
            raise ParameterError(
                f"{os.fspath(path)} is an input and would be overwritten. Choose another output file."
            )


def feature_names(source: Source) -> tuple[str, ...] | None:
    """Return the names of all features of a source that has been read, including hashed ones."""
    if source.names is not None or source.recipe is None:
        return source.names
    return source.recipe.names(source.n_features)


def shown(places: Sequence[Place]) -> str:
    """Return a short name for data.

    Examples
    --------
    >>> shown(["-"]), shown(["a.csv", "b.csv", "c.csv"])
    ('standard input', 'a.csv and 2 more')
    """
    first = os.fspath(places[0])
    if len(places) == 1:
        return "standard input" if first == "-" else first
    return f"{first} and {len(places) - 1} more"


def describe_reading(source: Source, log: Log, facts: Mapping[str, Any] = NOTHING) -> None:
    """Say how a source was read and what was left out; `facts` are those of the reading that made a cache."""
    for line in _descriptions(source, facts):
        log(line)


def _descriptions(source: Source, facts: Mapping[str, Any]) -> Iterator[str]:
    name = shown(source.files) if source.files else type(source).__name__
    yield f"{name}: {facts.get('description', source.description)}"
    yield from (f"note: {note}" for note in source.notes)
    skipped = facts.get("skipped", source.skipped.count)
    if skipped:
        yield f"rows left out because they could not be read: {skipped:,}"
        yield from (f"  {ADVICE.sub('', str(problem))}" for problem in source.skipped.first)
    if source.unmet:
        yield f"values ignored because their features did not occur in training: {source.unmet:,}"
    for column, rows in source.unknown.items():
        yield f"{column}: {rows:,} of {source.n_read:,} rows hold a value not seen in training"
