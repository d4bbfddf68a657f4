"""`partition`: from Dask collections, delayed batches and file names to partitions on workers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dask
import dask.array as da
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Future

from rosenblatt.blocks.collect import MEMORY
from rosenblatt.columns.options import Options
from rosenblatt.columns.preparation import Encoding
from rosenblatt.columns.recipe import Recipe, SparseRecipe, TableRecipe
from rosenblatt.columns.scaling import Transformation
from rosenblatt.distributed.cluster import Cluster
from rosenblatt.distributed.file_encoding import learned_from_files
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import (
    FilePart,
    PartFacts,
    WorkerPart,
    load_batch,
    load_file,
    load_rows,
    row_groups_of,
)
from rosenblatt.exceptions import InputError, ParameterError, ShapeError

__all__ = ["partition"]


def partition(
    X: Any,
    y: Any = None,
    *,
    client: Any = None,
    memory: int = MEMORY,
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
        the same name, and keep those of more than `memory` bytes in a cache beside them.
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
        How to read files: the attributes of `rosenblatt.columns.options.Options`.

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
    >>> with Client(n_workers=1, processes=False, dashboard_address=None) as client:
    ...     parts = rd.partition(rows, labels, client=client)
    ...     n = parts.n_rows
    >>> n
    200
    """
    cluster = Cluster(client)
    if is_files(X):
        if y is not None:
            raise ParameterError("y must be None for files: name the column of labels with target=.")
        return partition_files(cluster, places_of(X), Options(**options), memory=memory, scale=scale, log=log)
    if options:
        raise ParameterError(f"{next(iter(options))} is an option of reading files, but X is none. Drop it.")
    blocks = PartitionedBlocks.of(cluster, rows_on_workers(cluster, X, y))
    if not scale:
        return blocks
    return blocks.transformed(Transformation.of(blocks.measured(), fill=False, scale=True))


def is_files(X: Any) -> bool:
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
            raise ParameterError("y must be None for delayed batches: each computes a pair (X, y).")
        batches = [_computed(cluster, each) for each in X]
        return [cluster.run(load_batch, each, f"partition {k}") for k, each in enumerate(batches)]
    pairs = delayed_pairs(X, y)
    return [
        cluster.run(load_rows, _computed(cluster, rows), _computed(cluster, labels), f"partition {k}", encoding)
        for k, (rows, labels) in enumerate(pairs)
    ]


def delayed_pairs(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return the rows and labels of each partition of a Dask collection, as delayed values."""
    if isinstance(X, da.Array):
        return _of_arrays(X, y)
    if _is_frame(X):
        return _of_frame(X, y)
    raise InputError(
        f"X is a {type(X).__name__}, but must be a Dask array, a Dask DataFrame, a list of delayed batches, or "
        "file names. Rows in memory are trained by Perceptron.fit."
    )


def _is_frame(X: Any) -> bool:
    return is_dask_collection(X) and hasattr(X, "map_partitions") and hasattr(X, "columns")


def _of_arrays(X: da.Array, y: Any) -> list[tuple[Any, Any]]:
    if X.ndim != 2:
        raise ShapeError(f"X has {X.ndim} dimensions, but must have 2: rows and features.")
    if y is None:
        raise ParameterError("y is missing. Pass the labels of the rows as a Dask array.")
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
        raise ParameterError("y is missing. Pass the name of the column that holds the labels, or a Dask Series.")
    if isinstance(y, str):
        if y not in X.columns:
            raise ParameterError(
                f"y={y!r} is not a column of X. Its columns are {', '.join(map(str, X.columns))}."
            )
        X, y = X.drop(columns=[y]), X[y]
    rows, labels = X.to_delayed(), y.to_delayed()
    if len(rows) != len(labels):
        raise ShapeError(f"X has {len(rows)} partitions, but y has {len(labels)}. Take y from the same frame.")
    return list(zip(rows, labels, strict=True))


def _computed(cluster: Cluster, value: Any) -> Future[Any]:
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
    learned = learned_from_files(cluster, wanted)
    recipe = learned.recipe if isinstance(learned.recipe, TableRecipe) else None
    for note in learned.notes if log is not None else ():
        log(note)
    fill = options.missing == "mean"
    scale = recipe is not None if scale is None else scale

    def read(options_of: Sequence[tuple[str, Options]]) -> PartitionedBlocks:
        parts = [FilePart(path, how, recipe, memory, statistics=scale or fill) for path, how in options_of]
        return PartitionedBlocks.of(cluster, [cluster.run(load_file, part) for part in parts])

    blocks = read(wanted)
    if options.zero_based is None and counts_from(blocks.known) == {True, False}:  # one file has an index 0
        blocks = read([(path, replace(how, zero_based=True)) for path, how in wanted])
    whole = recipe or _of_sparse(blocks)
    if scale or fill:
        numbers = None if whole is None else whole.n_numbers
        how = Transformation.of(blocks.measured(), fill=fill, scale=scale, numbers=numbers)
        blocks = blocks.transformed(how)
    blocks.recipe = whole
    return blocks


def counts_from(known: Sequence[PartFacts]) -> set[bool | None]:
    """Return whether sparse files count their features from 0, as far as they say."""
    recipes = [each.facts.get("recipe") or {} for each in known]
    return {recipe.get("zero_based") for recipe in recipes} - {None}


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
    from rosenblatt.formats.data_file import expand

    files = expand(places, encoding)
    for file in files:
        if file.is_stream:
            raise InputError(f"{file.name} can be read only once, but workers need a file that each can open.")
    return [os.path.abspath(file.path) for file in files]
