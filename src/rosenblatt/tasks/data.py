"""Data named by its place: files, standard input and built-in sets, as a source of rows or as arrays.

The options of reading that a proof holds, so that its data is read again in the same way.

Models given as a file or as an object, and the data they read.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import LARGEST_HEADER
from rosenblatt.exceptions import (
    NOTE,
    FormatError,
    Given,
    Message,
    ModelFileError,
    ParameterError,
    Remedy,
    fit_note,
)
from rosenblatt.models.files import StoredModel
from rosenblatt.models.opened import OpenedModel
from rosenblatt.parameters import unknown_name, unused
from rosenblatt.rooms import find
from rosenblatt.rows.features import as_frame, read_only
from rosenblatt.rows.features import show_value as as_shown
from rosenblatt.rows.labels import ContinuousLabelError
from rosenblatt.rows.memory import require_features
from rosenblatt.tables.file_source import Source
from rosenblatt.tables.reading import CORPUS_FORMATS, Options, named_corpus_format
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.table import MISSING_NAMES, NUMERAL

if TYPE_CHECKING:
    from rosenblatt.sequences.sentences import Corpus
    from rosenblatt.tables.blocks import Blocks, MemoryBlocks
    from rosenblatt.tables.scaling import Facts

__all__ = [
    "TAGGER",
    "Data",
    "DataTable",
    "Log",
    "RareClasses",
    "held_reading",
    "holding",
    "is_tagger",
    "keep_notes",
    "open_data",
    "open_ready_model",
    "rare_ways",
    "read_table",
    "require_numbers",
    "source_for",
]


TAGGER = "SequencePerceptron"
"""The learner of sentences, by name: files are told apart without importing it."""


def open_ready_model(model: Any) -> OpenedModel:
    """Return a model ready to read files: from its file, or from the estimator or pipeline in memory."""
    if isinstance(model, OpenedModel):
        return model
    if not isinstance(model, str | os.PathLike):
        return OpenedModel.of(model)
    if not _begins_as_a_model(model):
        raise ModelFileError(f"{os.fspath(model)} is not a model file; the order is MODEL DATA.")
    return OpenedModel.open(model)


def _begins_as_a_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a safetensors file does: with a length, and an object of JSON."""
    with open(path, "rb") as file:
        head = file.read(9)
    return len(head) < 9 or (int.from_bytes(head[:8], "little") <= LARGEST_HEADER and head[8:] == b"{")


def is_tagger(model: Any) -> bool:
    """Return whether a model, given as an estimator or as an opened file, labels sentences."""
    if isinstance(model, OpenedModel):
        return isinstance(model.stored, StoredModel) and model.stored.learner == TAGGER
    return type(model).__name__ == TAGGER


def source_for(model: OpenedModel, data: Data, options: Mapping[str, Any], *, labelled: bool = True) -> Source:
    """Open data in the same way as the training data of a model was read.

    Rows without a label cannot be judged, and are left out and counted unless `missing="error"` is given.
    """
    if not isinstance(data, Source):
        given = {"skip_unlabelled": labelled and options.get("missing") != "error"} | dict(options)
        source: Source = model.source(places_of(data), read_options(given), labelled=labelled, opener=open_places)
        return source
    require_no_options(options)
    return data


Place: TypeAlias = str | os.PathLike[str]
Data: TypeAlias = Place | Sequence[Place] | Source
"""A place, several places that are read as one data set, or a source; data frames are read as places are."""
Log: TypeAlias = Callable[[str], None]
"""Is called with one sentence at a time about the progress of a task."""

log_info: Log = logging.getLogger("rosenblatt").info
CONTINUOUS = (
    ", or predict numbers with "
    + Remedy("learner", "extreme", "ExtremeLearningMachine and")
    + " "
    + Remedy("task", "regression")
    + "."
)
MOST_GUESSED = 20
"""A target that was not named may have this many classes, however few rows there are."""
HARMLESS = ("labelled", "missing", "skip_bad", "skip_unlabelled", "chunk_bytes")
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


def open_data(*places: Place, **options: Any) -> Any:
    """Open files, a built-in set or a dataframe as a source of labelled rows; read files of sentences.

    Parameters
    ----------
    *places : str, path, dataframe or list of mappings
        Files of any format, globs, ``-`` for standard input, or one built-in set such as ``@iris``. In memory, one
        dataframe of pandas, polars, pyarrow and all that narwhals reads, or one list of mappings of columns to
        values.
    **options
        How to read files: the attributes of `rosenblatt.tables.reading.Options`, such as ``target="label"``.

    Returns
    -------
    Source or Corpus
        The `chunks` of a source are its rows, and its `blocks` are what `fit_blocks` takes. Only the first rows of
        a file have been read. Files of sentences, by their name or `format`, are a `Corpus` of all sentences.

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
    if reads_sentences(places, format=options.get("format")):
        return open_sentences(places, options)
    return open_places(places_of(places), read_options(options), None)


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
    return table_of(source_of(places, options), log)


def table_of(source: Source, log: Log) -> DataTable:
    """Return all rows of a source as arrays; see `read_table`."""
    return filled_table(source, log)[0]


def filled_table(source: Source, log: Log) -> tuple[DataTable, dict[str, float]]:
    """Return all rows of a source as arrays, and the means that stand for the missing numbers of columns."""
    from rosenblatt.tables.collect import measure, transform_blocks
    from rosenblatt.tasks.training import preparation

    blocks: Any = all_rows(source, numbers=True)
    describe_reading(source, log)
    require_target(source, blocks, regression=None)
    blocks, recipe = mark_and_tell(blocks, log)
    before = preparation(blocks, recipe, fill=fills_means(source), scale=False)
    batch: Any = transform_blocks(blocks, *before).whole
    names = feature_names(source) if recipe is None else recipe.names(blocks.n_features)
    means: dict[str, float] = {}
    if before.filling is not None and isinstance(recipe, TableRecipe):
        gaps_of = measure(blocks).gaps(recipe.n_numbers)
        found = zip(recipe.measured, before.filling.means.tolist(), gaps_of, strict=False)
        means = {name: mean for name, mean, gaps in found if gaps}
    return DataTable(batch.native(), batch.classes[batch.codes], names), means


def mark_and_tell(blocks: Blocks, log: Log) -> tuple[Any, Recipe | None]:
    """Mark missing numbers where the recipe asks for it, say how many there are, and return the new recipe."""
    from rosenblatt.tables.collect import mark_gaps

    marked, gaps = mark_gaps(blocks)
    if gaps:
        log(NOTE + _note_counts("missing numbers became the mean of their column, and a mark: ", gaps))
    return marked, marked.facts.recipe


def _note_counts(about: str, gaps: Mapping[str, int], many: str = "columns") -> str:
    """Return a note of how many rows each column lacks, or each class has: the first few, and the sum of others.

    Examples
    --------
    >>> _note_counts("gaps: ", {"age": 177, "fare": 1, "cabin": 2, "deck": 3})
    "gaps: 'age' 177, 'fare' 1, 2 more columns 5"
    """
    counts = [*gaps.values()]

    def note(told: str, shown: int) -> str:
        rest = len(counts) - shown
        told = told.removesuffix(f" and {rest:,} more")
        return about + told + (f", {rest:,} more {many} {sum(counts[shown:]):,}" if rest else "")

    return fit_note([f"{column!r} {count:,}" for column, count in gaps.items()], note)


def keep_notes(log: Log, notes: list[str]) -> Log:
    """Return a log that passes lines on, and puts those that are notes into a list."""

    def told(line: str) -> None:
        if line.startswith(NOTE):
            notes.append(Message(*line.parts[1:]) if isinstance(line, Message) else line.removeprefix(NOTE))
        log(line)

    return told


def read_options(options: Mapping[str, Any]) -> Options:
    """Return options of reading; raise `ParameterError` for a name that is none."""
    known = sorted(each.name for each in fields(Options))
    for name in sorted(options.keys() - set(known)):
        raise unknown_name(name, name, "is not an option of reading data", known)
    given = dict(options)
    for name in ("features", "ignore", "text", "categorical", "hashed", "na"):
        if name in given:
            several = isinstance(given[name], Iterable) and not isinstance(given[name], str)
            given[name] = tuple(given[name]) if several else (given[name],)
    return Options(**given)


def open_places(places: Sequence[Any], options: Options, recipe: Recipe | None) -> Source:
    """Open files, a built-in set or a frame; a `recipe` reads columns in the same way as in training."""
    from rosenblatt.datasets import BuiltinSource
    from rosenblatt.tables.file_source import open_source, require_valid

    frames = [place for place in places if not isinstance(place, str)]
    if frames:
        from rosenblatt.tables.file_source import FrameSource

        if len(places) > 1:
            told = "A data frame must be passed alone. Drop the other data, or join the frames."
            raise ParameterError(told, parameter="data")
        require_valid(options)
        return FrameSource(frames[0], options, recipe)
    built_in = [place for place in places if place.startswith("@")]
    if not built_in:
        return open_source(places, options, recipe)
    if len(places) > 1:
        raise ParameterError(f"{built_in[0]} must be named alone. Drop the other data.", parameter="data")
    usual = Options()
    for each in fields(Options):
        if each.name not in HARMLESS and getattr(options, each.name) != getattr(usual, each.name):
            told = f"{built_in[0]} is a built-in set and has no option "
            raise unused(each.name, getattr(options, each.name), told)
    return BuiltinSource(built_in[0][1:])


def for_learning(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of reading with the defaults of training: gaps are filled, and rows without a label left out.

    With `missing="error"` both are errors.
    """
    asked = {"missing": "indicator"} | dict(options)
    return {"skip_unlabelled": asked["missing"] != "error"} | asked


def source_of(data: Data, options: Mapping[str, Any], *, learning: bool = False) -> Source:
    """Return a source as it is, or open the places; with the defaults of training, or else of proofs."""
    if not isinstance(data, Source):
        asked = for_learning(options) if learning else options
        return open_places(places_of(data), read_options(asked), None)
    require_no_options(options)
    return data


def require_no_options(options: Mapping[str, Any]) -> None:
    """Refuse options of reading for data that is in memory, or open already."""
    if options:
        name, value = next(iter(options.items()))
        raise unused(name, value, after=" is an option of reading files, but none is named")


def places_of(data: Any) -> list[Any]:
    """Return all places as texts, and a data frame as it is; raise `ParameterError` for anything else."""
    if isinstance(data, str | os.PathLike) or _is_table(data) or not isinstance(data, Iterable):
        data = [data]
    elif hasattr(data, "to_frame") or isinstance(data, Mapping):
        data = [data]  # a column of a frame or a mapping, which name no files
    found = [os.fspath(each) if isinstance(each, str | os.PathLike) else each for each in data]
    for each in found:
        if not isinstance(each, str) and not _is_table(each):
            raise ParameterError(
                f"data holds {type(each).__name__}, but must name files or be a data frame or a list of "
                "mappings. Pass arrays and other lists as X and y to the fit of an estimator, such as "
                "Perceptron().fit(X, y).",
                parameter="data",
            )
    return found


def _is_table(data: Any) -> bool:
    """Return whether data is a data frame, or a list of mappings of columns to values.

    Names and lists of them are told apart without loading narwhals.
    """
    if isinstance(data, list | tuple) and data:
        return all(isinstance(each, Mapping) for each in data)
    if isinstance(data, str | os.PathLike | list | tuple | np.ndarray):
        return False
    return as_frame(data, name="data") is not None


def all_rows(source: Source, *, numbers: bool = False) -> MemoryBlocks:
    """Read all rows of a source into memory; `numbers` allows labels of a regression."""
    from rosenblatt.tables.collect import collect

    blocks: MemoryBlocks = collect(source, memory=sys.maxsize, cache="no", numbers=numbers)  # type: ignore[assignment]
    assert blocks.whole is not None, "no data is larger than all memory"
    require_features(blocks.n_features)
    return blocks


def fills_means(source: Source) -> bool:
    """Return whether missing numbers become the mean of their column."""
    if isinstance(source.recipe, TableRecipe):
        return source.recipe.fills_means
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
                "another column with " + Remedy("target") + ", or leave out " + Remedy("task", "regression") + ".",
                code="names-as-numbers",
                parameter="target",
                value=str(classes[0]),
            )
        return
    if not (named and guessed and len(classes) > max(MOST_GUESSED, blocks.n_rows // 2)):
        return
    if classes.dtype.kind in "iuf":
        raise _continuous(source)
    raise ParameterError(
        f"{which} holds {len(classes):,} different values in {blocks.n_rows:,} rows; choose "
        + _another_target(source)
        + ", or name this one to take each value as a class.",
        code="too-many-classes",
        parameter="target",
    )


class RareClasses(NamedTuple):
    """What becomes of classes with few rows.

    Attributes
    ----------
    least : int
        The fewest rows of a class that stays.
    into : str or None
        The class that the rows of the others are given; None: they are left out.
    """

    least: int
    into: str | None = None

    @classmethod
    def of(cls, told: int | str | None) -> RareClasses | None:
        """Return what a parameter says: a number of rows, such as 5, with a class if rows are merged: "5:other".

        Examples
        --------
        >>> RareClasses.of(5), RareClasses.of("5:other")
        (RareClasses(least=5, into=None), RareClasses(least=5, into='other'))
        """
        if told is None:
            return None
        least, colon, into = str(told).partition(":")
        if isinstance(told, bool) or not least.isdecimal() or int(least) < 1 or (colon and not into):
            raise ParameterError(Given("min_class", told) + " must be a number of rows, such as 5, or '5:other'.")
        return cls(int(least), into or None)

    def apart(self, blocks: MemoryBlocks, log: Log) -> MemoryBlocks:
        """Return blocks without the rows of rare classes, or with these as rows of one class, and say so."""
        from rosenblatt.tables.blocks import MemoryBlocks

        counts, classes, batch = blocks.counts, blocks.classes, blocks.whole
        rare = np.flatnonzero((counts > 0) & (counts < self.least))
        if not len(rare):
            return blocks
        if self.into is None:
            kept = np.flatnonzero(counts >= self.least)
            if len(kept) < 2:
                have = f"one of {len(classes)} classes has" if len(kept) else "no class has"
                raise ParameterError(
                    f"At least two classes must stay, but {have} {self.least} rows. Name a smaller number in "
                    + Remedy("min_class")
                    + ".",
                    parameter="min_class",
                    value=self.least,
                )
            batch = batch.take(np.isin(batch.codes, kept))
            left, places = classes[kept], np.searchsorted(kept, batch.codes)
        else:
            if classes.dtype.kind != "U":
                raise ParameterError(
                    f"The labels are numbers such as {classes[0]!s}, so that rare classes cannot become "
                    f"{self.into!r}. Leave them out with " + Remedy("min_class", self.least) + ".",
                    parameter="min_class",
                    value=f"{self.least}:{self.into}",
                )
            few = {*rare.tolist()}
            names = [self.into if code in few else name for code, name in enumerate(classes.tolist())]
            left, joined = np.unique(names, return_inverse=True)
            places = joined[batch.codes]
        rows_of = {str(classes[code]): int(counts[code]) for code in rare.tolist()}
        done = "were left out" if self.into is None else f"became {self.into!r}"
        log(NOTE + _note_counts(f"rare classes {done}: ", rows_of, "classes"))
        merged = replace(batch, codes=read_only(places.astype(batch.codes.dtype)), classes=read_only(left))
        return MemoryBlocks(merged, facts=blocks.facts)


def rare_ways(counts: Any, classes: NDArray[Any], least: int, merged: RareClasses | None = None) -> str:
    """Return how to go on without classes of fewer rows; merging them is offered where that gives enough.

    Where rare classes were `merged` into one, that is too small as well: they have to be left out.
    """
    rare = counts[(counts > 0) & (counts < least)]
    if merged is not None and merged.into in classes[(counts > 0) & (counts < least)].tolist():
        leave = Remedy("min_class", max(least, merged.least))
        return f"Too few rows became {merged.into!r}; leave them out with " + leave
    ways = "Leave rare classes out with " + Remedy("min_class", least)
    if rare.sum() >= least and classes.dtype.kind == "U":
        ways += ", merge them with " + Remedy("min_class", f"{least}:other")
    return ways


def note_similar(classes: NDArray[Any], log: Log, options: Options | None) -> None:
    """Say which classes differ only in upper and lower case or in spaces, and which may mean a missing label.

    `options` are those of reading: they say whether rows without a label are an error.
    """
    alike: dict[str, list[str]] = {}
    for label in classes.tolist() if classes.dtype.kind == "U" else ():
        alike.setdefault(" ".join(label.split()).casefold(), []).append(label)
    groups = [" and ".join(map(repr, labels[:3])) for labels in alike.values() if len(labels) > 1]
    if groups:
        about = "labels that differ only in case or spaces are classes of their own: "
        log(NOTE + fit_note(groups, lambda told, shown: about + told))
    for label in classes.tolist() if classes.dtype.kind == "U" else ():
        if label.strip() in MISSING_NAMES:
            ways = Message(Remedy("na", (label.strip(),)))
            if options is None or not options.skip_unlabelled:
                ways += " " + Remedy("skip_bad", True)
            log(NOTE + f"{label!r} is a class like others; if it means that the label is missing, use " + ways)


@contextmanager
def explain_target(source: Source) -> Iterator[None]:
    """Explain labels that are fractions by the column that holds them."""
    try:
        yield
    except ContinuousLabelError as error:
        raise _continuous(source) from error


def _continuous(source: Source) -> ParameterError:
    """Return the error for a target of continuous numbers."""
    told = _target_words(source) + " holds continuous numbers; choose " + _another_target(source) + CONTINUOUS
    return ParameterError(told, code="continuous-target", parameter="target")


def _another_target(source: Source) -> Message:
    """Return how to choose another target, with the name of a column that could be it."""
    name = source.other_target
    return "another with " + (Remedy("target") if name is None else Remedy("target", name))


def _target_words(source: Source) -> str:
    """Return the file and the target, and how it was chosen, as the subject of a sentence."""
    recipe, which = source.recipe, "the target"
    if isinstance(recipe, TableRecipe) and recipe.target is not None:
        name, position = recipe.target
        which = f"the target, {name!r},"
        if source.options is not None and source.options.target is None:
            last = "the last column" if position == recipe.n_columns - 1 else f"column {position + 1}"
            which = f"{last}, {name!r}, was taken as the target and"
    return f"{show_data(source.files)}: {which}" if source.files else which


def require_files(data: Any) -> None:
    """Refuse a source of rows where files of sentences are read."""
    if isinstance(data, Source):
        told = "A tagger reads files of sentences, not a source of rows. Name the files."
        raise ParameterError(told, parameter="data")


def require_apart(path: Place | None, places: Sequence[Place]) -> None:
    """Refuse to write over a file that is read."""
    for place in places:
        if path is not None and os.path.exists(path) and os.path.exists(place) and os.path.samefile(path, place):
            told = f"{os.fspath(path)} is an input and would be overwritten. Choose another output file."
            raise ParameterError(told, parameter="output", value=os.fspath(path))


def feature_names(source: Source) -> tuple[str, ...] | None:
    """Return the names of all features of a source that has been read, including hashed ones."""
    if source.names is not None or source.recipe is None:
        return source.names
    return source.recipe.names(source.n_features)


def show_data(places: Sequence[Place]) -> str:
    """Return a short name for data.

    Examples
    --------
    >>> show_data(["-"]), show_data(["a.csv", "b.csv", "c.csv"])
    ('standard input', 'a.csv and 2 more')
    """
    first = os.fspath(places[0])
    if len(places) == 1:
        return "standard input" if first == "-" else first
    return f"{first} and {len(places) - 1} more"


def describe_reading(source: Source, log: Log, facts: Facts | None = None) -> None:
    """Say how a source was read and what was left out; `facts` are those of the reading that made a cache."""
    for line in _descriptions(source, facts):
        log(line)


def _descriptions(source: Source, facts: Facts | None) -> Iterator[str]:
    name = show_data(source.files) if source.files else source.title
    yield f"{name}: {source.description if facts is None else facts.description}"
    yield from (NOTE + note for note in source.notes)
    unlabelled = source.unlabelled.count if facts is None else facts.unlabelled
    if unlabelled:
        yield NOTE + tell_unlabelled(unlabelled, source.recipe)
    skipped = source.skipped.count if facts is None else facts.skipped
    if skipped:
        yield f"rows left out because they could not be read: {skipped:,}"
        yield from ("  " + problem.told(()) for problem in source.skipped.first)
    if source.unmet:
        yield f"values ignored because their features did not occur in training: {source.unmet:,}"
    for column, rows in source.unknown.items():
        yield f"{column}: {rows:,} of {source.n_read:,} rows hold a value not seen in training"


def tell_unlabelled(count: int, recipe: Recipe | None) -> str:
    """Return the note about rows without a label, which are no rows to learn from or to be judged by."""
    target = recipe.target if isinstance(recipe, TableRecipe) else None
    name = "the target" if target is None else repr(target[0])
    have, were, them = ("row has", "was", "it") if count == 1 else ("rows have", "were", "them")
    refuses = Remedy("missing", "error") + f" refuses {them}"
    return fit_note(
        [name], lambda told, shown: f"{count:,} {have} no label in {told} and {were} left out; " + refuses
    )


def reads_sentences(data: Any, label: Any = None, format: str | None = None) -> bool:
    """Return whether data is sentences: in memory, by a label or format asked for, or by the names of files."""
    if label is not None or format in CORPUS_FORMATS or hasattr(type(data), "n_sentences") or are_sentences(data):
        return True
    places = [data] if isinstance(data, str | os.PathLike) else data if isinstance(data, list | tuple) else ()
    named = [os.fspath(place) for place in places if isinstance(place, str | os.PathLike)]
    return format is None and any(named_corpus_format(name) is not None for name in named)


def open_sentences(data: Any, options: Mapping[str, Any]) -> Corpus:
    """Return the sentences of files, or of lists in memory."""
    corpus: Corpus = find("sequences.tagger_tasks").open_corpus(data, options)
    return corpus


def are_sentences(data: Any) -> bool:
    """Return whether data is a list of sentences: of lists of words, or of tuples of texts.

    Examples
    --------
    >>> are_sentences([["the", "dog"]]), are_sentences([[("the", "DET")]]), are_sentences(["a.csv", "b.csv"])
    (True, True, False)
    """
    for _ in range(2):
        if not isinstance(data, list | tuple) or not data:
            return False
        data = data[0]
    return isinstance(data[0] if isinstance(data, list | tuple) and data else data, str)


NOT_HELD = ("labelled", "chunk_bytes")
"""Options that do not change what is read."""


def holding(proof: str, options: Mapping[str, Any], means: Mapping[str, float] | None = None) -> str:
    """Return the text of a proof with the options of reading that are not the default, and the means filled in."""
    usual = Options()
    held = {name: value for name, value in options.items() if value != getattr(usual, name)}
    if not held:
        return proof
    held |= {"means": dict(means)} if means else {}
    return re.sub(r'"version": \d+,', lambda found: f'{found[0]}\n "reading": {json.dumps(held)},', proof, count=1)


def held_reading(proofs: Sequence[Mapping[str, Any]], file: str) -> dict[str, Any]:
    """Return the options of reading that the first of several proofs holds; nothing in them is trusted.

    Raises
    ------
    FormatError
        An option is unknown, or has a value that it cannot have.
    """
    held = dict(proofs[0].get("reading", {}))
    held.pop("means", None)  # the fingerprint of the rows depends on them
    usual = {each.name: each.default for each in fields(Options) if each.name not in NOT_HELD}
    for name, value in held.items():
        if name not in usual or not _fits(name, value, usual[name]):
            raise FormatError(
                f"its reading holds {name[:40]!r}, which is no option or has another type", file=file
            )
        if isinstance(value, list):
            held[name] = tuple(value)
    return held


def require_numbers(source: Source, proofs: Sequence[Mapping[str, Any]]) -> None:
    """Refuse data with categories if proofs are about as many features as it has columns, all of them numbers.

    A proof does not hold for such data, because a value is no number. `check.py` refuses the data as well.
    """
    recipe = source.recipe
    if not isinstance(recipe, TableRecipe) or recipe.texts or recipe.hashed or recipe.dates:
        return
    n_columns = len(recipe.numbers) + len(recipe.categorical)
    words = [(k, value) for k, value in recipe.categories if value is not None and not NUMERAL.fullmatch(value)]
    if words and any(proof["data"]["features"] == n_columns != source.n_features for proof in proofs):
        (name, _), value = recipe.categorical[words[0][0]], words[0][1]
        raise FormatError(
            f"{name!r} is {as_shown(value)}, which is no number, but the proof is about {n_columns} numbers a row",
            file=source.files[0],
        )


def _fits(name: str, value: object, usual: Any) -> bool:
    if isinstance(usual, tuple):
        kinds = (str,) if name == "na" else (str, int)
        return type(value) is list and all(type(each) in kinds for each in value)
    if name in ("header", "zero_based"):
        return type(value) is bool
    if name == "target":
        return type(value) in (str, int)
    return type(value) is (str if usual is None else type(usual))
