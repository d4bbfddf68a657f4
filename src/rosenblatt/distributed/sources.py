"""`partition`: from Dask collections, delayed batches and file names to partitions on workers.

How files in partitions become features: the columns by the first file, categories and words of all, merged.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Future

from rosenblatt.distributed.cluster import Cluster
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import (
    PARTITION_BYTES,
    FilePart,
    PartFacts,
    WorkerPart,
    load_batch,
    load_file,
    load_rows,
    row_groups_of,
    weighting_of,
)
from rosenblatt.estimators.table_encoder import figures_of
from rosenblatt.exceptions import Given, InputError, NoRowsError, ParameterError, ShapeError
from rosenblatt.parameters import unused
from rosenblatt.tables.encoder import MOST_CATEGORIES, WORDS_SHOWN
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.preparation import Encoding
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, SparseRecipe, TableRecipe, Words
from rosenblatt.tables.scaling import Statistics, Transformation, Weighting
from rosenblatt.typing import ColumnLike, MatrixLike

Files = Sequence[tuple[str, Options]]


class LearnedFiles(NamedTuple):
    """What files in partitions taught: the recipe of all, that of the first, figures, and notes on columns."""

    recipe: Recipe
    start: Recipe
    statistics: Statistics
    notes: list[str]
    weighting: Weighting | None = None


def learn_from_files(
    cluster: Cluster, files: Files, gathers: bool = False, *, weighs: bool = False
) -> LearnedFiles:
    """Learn from files in one pass; the first file says which columns are what.

    Tables whose features are numbers, texts and hashed columns are known from the first file. For categories and
    words, and for statistics and weights of words where these are asked for, every partition is read. Sparse files
    need none of this.
    """
    start, notes = _first_begun(cluster, files)
    if not isinstance(start, TableRecipe) or not (
        start.levelled or files[0][1].vocabulary or gathers or (weighs and start.texts)
    ):
        return LearnedFiles(start, start, Statistics(), notes)
    found = cluster.answers([cluster.run(_learned, *file, start, gathers) for file in files])
    learned = [each for each in found if each is not None]
    recipe = merge_recipes(start, [each for each, *_ in learned])
    statistics = merge_statistics(recipe, [(each, figures) for each, figures, _ in learned])
    return LearnedFiles(recipe, start, statistics, notes, merge_weightings([each for *_, each in learned]))


def merge_weightings(parts: Sequence[Weighting | None]) -> Weighting | None:
    """Return the weighting of words by the rows of all partitions; None where words are only counted."""
    counted = [each for each in parts if each is not None]
    return reduce(Weighting.merge, counted) if counted else None


def _first_begun(cluster: Cluster, files: Files) -> tuple[Recipe, list[str]]:
    """Return what the first file that has rows says about its columns."""
    for last, file in enumerate(files, 1 - len(files)):
        try:
            return cluster.answer(cluster.run(_begun, *file))  # type: ignore[no-any-return]
        except NoRowsError:
            if not last:
                raise
    raise AssertionError("there are files")


def _begun(path: str, options: Options) -> tuple[Recipe, list[str]]:
    source = open_source([path], options)
    try:
        return source.recipe, [f"{path}: {source.description}", *source.notes]
    finally:
        source.close()


def _learned(
    path: str, options: Options, start: TableRecipe, gathers: bool
) -> tuple[TableRecipe, Statistics, Weighting | None] | None:
    """Read a partition and return what its rows add to the recipe; None if it has no rows."""
    try:
        source = open_source([path], options, start, learning=True)
        statistics, weighting = figures_of(source, gathers)
    except NoRowsError:
        return None
    recipe = source.recipe
    assert isinstance(recipe, TableRecipe), "a table was opened"
    return recipe, statistics, weighting


def merge_recipes(start: TableRecipe, learned: Sequence[TableRecipe]) -> TableRecipe:
    """Return the recipe that reading all partitions one after the other would have learned.

    Examples
    --------
    >>> start = TableRecipe(True, 2, None, None, categorical=(("colour", 0), ("size", 1)))
    >>> one = replace(start, categories=((0, "red"), (1, "big")))
    >>> two = replace(start, categories=((1, "small"), (0, "red"), (0, "blue")))
    >>> merge_recipes(start, [one, two]).categories
    ((0, 'red'), (1, 'big'), (1, 'small'), (0, 'blue'))
    """
    categories = tuple(dict.fromkeys(category for each in learned for category in each.categories))
    for which, (name, _) in enumerate(start.categorical):
        levels = sum(column == which for column, _ in categories)
        if levels > MOST_CATEGORIES:
            told = f"Column {name!r} holds {levels:,} different values in all partitions, more than "
            told += f"{MOST_CATEGORIES:,}. Leave it out with ignore, or name it in text or hashed."
            raise InputError(told, code="too-many-categories", column=name)
    words: tuple[Words, ...] | None = None
    if learned and learned[0].words is not None:
        columns = len(learned[0].words)
        words = tuple(_merged_words([each.words[k] for each in learned if each.words]) for k in range(columns))
    return replace(start, categories=categories, words=words)


def _merged_words(parts: Sequence[Words]) -> Words:
    """Return the words of all partitions: as many as one asks for, or the first of each feature."""
    from rosenblatt.tables.words import MetWords

    if isinstance(parts[0], MetWords):
        met = parts[0].copy()
        for part in parts[1:]:
            for feature in sorted(part.keys() - met.keys()):
                met.add(feature, part[feature][0].encode())
        return met
    merged: dict[int, tuple[str, ...]] = {}
    for part in parts:
        for feature, words in part.items():
            known = merged.get(feature, ())
            merged[feature] = tuple(dict.fromkeys((*known, *words)))[:WORDS_SHOWN]
    return merged


def merge_statistics(recipe: TableRecipe, parts: Sequence[tuple[Any, Statistics | None]]) -> Statistics:
    """Return the statistics of all features, merged in the order of the partitions.

    Each partition numbers the categories in the order in which it met them. Those it did not meet are zero in all
    of its rows.
    """
    total = Statistics()
    places = {category: k for k, category in enumerate(recipe.categories)}
    before = recipe.n_features - len(recipe.categories)
    for own, statistics in parts:
        if statistics is None or not statistics.n_rows:
            continue
        if not own.categories:
            total.merge(statistics)
            continue
        at = np.r_[np.arange(before), [before + places[category] for category in own.categories]].astype(np.int64)
        wide = Statistics(
            np.full(recipe.n_features, statistics.n_rows),
            np.zeros(recipe.n_features),
            np.zeros(recipe.n_features),
            statistics.n_rows,
            statistics.sparse,
        )
        width = len(statistics.count)  # features behind the last one that is not zero have no figures
        for name in ("count", "mean", "squares"):
            getattr(wide, name)[at[:width]] = getattr(statistics, name)
        total.merge(wide)
    return total


def partition(
    X: MatrixLike,
    y: ColumnLike | None = None,
    *,
    client: Any = None,
    memory: int = PARTITION_BYTES,
    scale: bool = False,
    log: Any = None,
    **options: Any,
) -> PartitionedBlocks:
    """Bring data into partitions on the workers of a cluster, without ever holding all of it in one place.

    Parameters
    ----------
    X : Dask array, Dask DataFrame, list of delayed batches, or file names
        The rows. Each chunk of rows of an array, each partition of a frame, each delayed pair ``(X, y)`` or
        `Batch`, and each file is a partition; of Parquet each row group is. Workers read files by themselves, by
        the same name, and keep those of more than `memory` bytes in a cache on their disks.
    y : Dask array, Dask Series, name of a column, or None
        The labels; of a frame the column that holds them. None for delayed batches and files.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.
    memory : int
        The bytes up to which a worker holds a file in memory.
    scale : bool
        Whether to standardise numbers, by the means and deviations of all partitions. The weights of a model
        trained on them are turned into weights of the original features.
    log : callable or None
        Is called with one sentence at a time about what was read.
    **options
        How to read files: the attributes of `rosenblatt.tables.reading.Options`.

    Returns
    -------
    PartitionedBlocks
        What `fit` and `certify` take; partitions stay on their workers as long as it lives.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     parts = rd.partition(rows, labels, client=client)
    ...     n = parts.n_rows
    >>> n
    200
    """
    cluster = Cluster(client)
    if is_files(X):
        if y is not None:
            raise ParameterError(
                "y must be None for files: name the column of labels with target=.", parameter="y"
            )
        return partition_files(cluster, places_of(X), Options(**options), memory=memory, scale=scale, log=log)
    if options:
        name, value = next(iter(options.items()))
        raise unused(name, value, after=" is an option of reading files, but X is none")
    blocks = PartitionedBlocks.of(cluster, rows_on_workers(cluster, X, y))
    if not scale:
        return blocks
    return blocks.transformed(Transformation.of(blocks.measured(), fill=False, scale=True))


def is_files(X: MatrixLike) -> bool:
    """Return whether X names files."""
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(each, str | os.PathLike) for each in X)


def places_of(X: Any) -> list[str]:
    """Return file names and globs as texts."""
    return [os.fspath(each) for each in ([X] if isinstance(X, str | os.PathLike) else X)]


def rows_on_workers(
    cluster: Cluster, X: Any, y: Any, encoding: Encoding | None = None
) -> list[Future[WorkerPart]]:
    """Return the partitions of a Dask collection or of delayed batches, each a `WorkerPart`."""
    if isinstance(X, list | tuple) and X and all(isinstance(each, Delayed | Future) for each in X):
        if y is not None:
            raise ParameterError("y must be None for delayed batches: each computes a pair (X, y).", parameter="y")
        batches = [_computed(cluster, each) for each in X]
        return [cluster.run(load_batch, each, f"partition {k}") for k, each in enumerate(batches)]
    pairs = delayed_pairs(X, y)
    return [
        cluster.run(load_rows, _computed(cluster, rows), _computed(cluster, labels), f"partition {k}", encoding)
        for k, (rows, labels) in enumerate(pairs)
    ]


def delayed_pairs(X: MatrixLike, y: ColumnLike | None) -> list[tuple[Any, Any]]:
    """Return the rows and labels of each partition of a Dask collection, as delayed values."""
    if isinstance(X, da.Array):
        return _of_arrays(X, y)
    if is_dask_collection(X) and hasattr(X, "map_partitions") and hasattr(X, "columns"):
        return _of_frame(X, y)
    raise InputError(
        f"X is a {type(X).__name__}, but must be a Dask array, a Dask DataFrame, a list of delayed batches, or "
        "file names. Rows in memory are trained by Perceptron.fit."
    )


def _of_arrays(X: Any, y: Any) -> list[tuple[Any, Any]]:
    if X.ndim != 2:
        raise ShapeError(f"X has {X.ndim} dimensions, but must have 2: rows and features.")
    if y is None:
        raise ParameterError("y is missing. Pass the labels of the rows as a Dask array.", parameter="y")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    if not isinstance(y, da.Array):
        if hasattr(y, "to_dask_array"):
            y = y.to_dask_array(lengths=X.chunks[0])
        elif is_dask_collection(y):
            raise InputError(f"y is a {type(y).__name__}, but must be a Dask array or Series.")
        else:
            y = da.from_array(y, chunks=(X.chunks[0],))
    if y.chunks[0] != X.chunks[0]:
        if y.shape[0] != X.shape[0]:
            raise ShapeError(f"X has {X.shape[0]} rows, but y has {y.shape[0]} labels.")
        y = y.rechunk((X.chunks[0],))
    return list(zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True))


def _of_frame(X: Any, y: Any) -> list[tuple[Any, Any]]:
    if y is None:
        raise ParameterError(
            "y is missing. Pass the name of the column that holds the labels, or a Dask Series.", parameter="y"
        )
    if isinstance(y, str):
        if y not in X.columns:
            raise ParameterError(
                Given("y", y) + f" is not a column of X. Its columns are {', '.join(map(str, X.columns))}."
            )
        X, y = X.drop(columns=[y]), X[y]
    rows, labels = X.to_delayed(), y.to_delayed()
    if len(rows) != len(labels):
        raise ShapeError(f"X has {len(rows)} partitions, but y has {len(labels)}. Take y from the same frame.")
    return list(zip(rows, labels, strict=True))


def _computed(cluster: Cluster, value: object) -> Future[Any]:
    """Return a value that workers compute and hold."""
    if isinstance(value, Future):
        return value
    with dask.config.set({"optimization.fuse.active": True}):
        return cluster.client.compute(value)


def partition_files(
    cluster: Cluster, places: Sequence[str], options: Options, *, memory: int, scale: bool | None, log: Any = None
) -> PartitionedBlocks:
    """Read files on workers: one partition a file, or a row group of Parquet; `scale` None scales only tables."""
    wanted = file_parts(cluster, places, options)
    learned = learn_from_files(cluster, wanted, options.missing == "indicator")
    recipe = learned.recipe if isinstance(learned.recipe, TableRecipe) else None
    if recipe is not None and options.missing == "indicator":
        gaps = learned.statistics.gaps(recipe.n_numbers)
        recipe = replace(recipe, indicators=tuple(np.flatnonzero(gaps).tolist()))
    for note in learned.notes if log is not None else ():
        log(note)
    fill = options.missing == "mean" if recipe is None else recipe.fills_means
    scale = recipe is not None if scale is None else scale
    scales = scale and (recipe is None or recipe.n_numbers != 0)

    def read(options_of: Sequence[tuple[str, Options]]) -> PartitionedBlocks:
        parts = [FilePart(path, how, recipe, memory, statistics=scales or fill) for path, how in options_of]
        return PartitionedBlocks.of(cluster, [cluster.run(load_file, part) for part in parts])

    blocks = read(wanted)
    if options.zero_based is None and counts_from(blocks.known) == {True, False}:  # one file has an index 0
        blocks = read([(path, replace(how, zero_based=True)) for path, how in wanted])
    whole = recipe or _of_sparse(blocks)
    how, begun = Transformation(), Weighting.of(whole)
    if scales or fill:
        numbers = None if whole is None else whole.n_numbers
        how = Transformation.of(blocks.measured(), fill=fill, scale=scales, numbers=numbers)
    if begun is not None:
        how = how._replace(weighting=merge_weightings(blocks.each(weighting_of, begun)))
    blocks = blocks.transformed(how)
    blocks.recipe = whole
    return blocks


def counts_from(known: Sequence[PartFacts]) -> set[bool | None]:
    """Return whether sparse files count their features from 0, as far as they say."""
    return {getattr(each.facts.recipe, "zero_based", None) for each in known} - {None}


def _of_sparse(blocks: PartitionedBlocks) -> Recipe:
    """Return the recipe of sparse files: as many features as the widest of them has."""
    bases = counts_from(blocks.known)
    return SparseRecipe(blocks.n_features, bases.pop() if bases else None)


def file_parts(cluster: Cluster, places: Sequence[str], options: Options) -> list[tuple[str, Options]]:
    """Return the files of the partitions, as workers see them, and how to read each: whole, or one row group."""
    files = cluster.answer(cluster.run(_expanded, list(places), options.encoding))
    groups = [0] * len(files)
    if options.row_groups is None:
        groups = cluster.answers([cluster.run(row_groups_of, path) for path in files])
    return [
        (path, options if count < 2 else replace(options, row_groups=(group,)))
        for path, count in zip(files, groups, strict=True)
        for group in range(max(count, 1))
    ]


def _expanded(places: list[str], encoding: str | None) -> list[str]:
    """Return the files that names and globs stand for, as workers see them."""
    from rosenblatt.tables.data_file import expand

    files = expand(places, encoding)
    for file in files:
        if file.is_stream:
            raise InputError(f"{file.name} can be read only once, but workers need a file that each can open.")
    return [os.path.abspath(file.path) for file in files]
