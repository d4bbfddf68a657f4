"""`TableEncoder` on partitions: each learns from its own rows, and what they learned is merged in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rosenblatt.distributed.cluster import Cluster
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import FilePart, load_file
from rosenblatt.distributed.sources import (
    delayed_pairs,
    file_parts,
    is_files,
    learn_from_files,
    merge_recipes,
    merge_statistics,
    merge_weightings,
    places_of,
    rows_on_workers,
)
from rosenblatt.estimators.table_encoder import CHOSEN, TableEncoder, from_1, measure_features
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.tables.collect import DEFAULT_MEMORY_BYTES
from rosenblatt.tables.in_memory import learn_table
from rosenblatt.tables.preparation import Encoding
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.scaling import Statistics, Weighting

__all__ = ["encode_partitions", "fit_encoder"]


def fit_encoder(
    encoder: TableEncoder, X: Any, y: Any = None, *, client: Any = None, **options: Any
) -> TableEncoder:
    """Fit a `TableEncoder` in one pass over the partitions of a Dask DataFrame or of files.

    Every worker learns the categories, words, means and deviations of its partitions. They are merged in the order
    of the partitions. Categories and words are those that `TableEncoder.fit` finds on all rows, in the same order.
    The first partition decides which columns are numbers.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted in place.
    X, y, **options
        A Dask DataFrame and its labels, or file names and how to read them; see `partition`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.

    Returns
    -------
    TableEncoder
        The encoder.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=None) as client:
    ...     encoder = rd.fit_encoder(rb.TableEncoder(scale=True), rows, labels, client=client)
    >>> bool(abs(encoder.transform(X).mean()) < 1e-12)
    True
    """
    cluster = Cluster(client)
    how = encoder._options()
    gathers = encoder.missing == "mean" or bool(encoder.scale)
    columns: tuple[str, ...] | None = None
    if is_files(X):
        files = file_parts(cluster, places_of(X), _of_files(how, options))
        recipe, _, statistics, _, weighting = learn_from_files(cluster, files, gathers, weighs=True)
    else:
        recipe, statistics, columns, weighting = _learned_from_frame(cluster, X, y, how, gathers)
    encoder.encoding_ = encoder._learned(recipe, statistics, columns, weighting)
    return encoder


def encode_partitions(
    encoder: TableEncoder,
    X: Any,
    y: Any = None,
    *,
    client: Any = None,
    memory: int = DEFAULT_MEMORY_BYTES,
    **options: Any,
) -> PartitionedBlocks:
    """Return data in partitions as the features of a fitted encoder, encoded by the workers that hold them."""
    cluster, encoding = Cluster(client), encoder.encoding_
    if not is_files(X):
        return PartitionedBlocks.of(cluster, rows_on_workers(cluster, X, y, encoding))
    files = file_parts(cluster, places_of(X), _of_files(encoder._options(), options))
    parts = [FilePart(path, how, encoding.recipe, memory) for path, how in files]
    blocks = PartitionedBlocks.of(cluster, [cluster.run(load_file, part) for part in parts])
    blocks = blocks.transformed(encoding.transformation)
    blocks.scaling = None  # the encoder scales, so that the weights stay those of scaled features
    blocks.names = None
    return blocks


def _of_files(how: Options, options: dict[str, Any]) -> Options:
    """Return how files are read: positions of columns from 1, and the options that are no parameters."""
    columns: dict[str, Any] = {name: tuple(from_1(column) for column in getattr(how, name)) for name in CHOSEN}
    return replace(how, **columns, **options)


def _learned_from_frame(
    cluster: Cluster, X: Any, y: Any, how: Options, gathers: bool
) -> tuple[Recipe, Statistics, tuple[str, ...] | None, Weighting | None]:
    rows = [cluster.client.compute(rows) for rows, _ in delayed_pairs(X, y)]
    lengths = cluster.answers([cluster.run(len, each) for each in rows])
    rows = [each for each, length in zip(rows, lengths, strict=True) if length]
    if not rows:
        raise ShapeError(f"All {len(lengths)} partitions are empty, but at least one row is needed.")
    first = cluster.run(_learn, rows[0], how, None, gathers)
    start = cluster.run(_beginning, first)
    found = cluster.answers([first, *(cluster.run(_learn, each, how, start, gathers) for each in rows[1:])])
    begun, names = found[0].recipe, found[0].columns
    if not isinstance(begun, TableRecipe):
        raise InputError("X is sparse, but the encoder reads tables here. Encode numbers before, or pass a frame.")
    asked = {*how.categorical}
    chosen = frozenset(
        k for k, (name, j) in enumerate(begun.categorical) if {name, j, j - begun.n_columns} & asked
    )
    recipe = merge_recipes(replace(begun, categories=(), words=None), [each.recipe for each in found], chosen)
    statistics = merge_statistics(recipe, [(each.recipe, each.statistics) for each in found])
    return recipe, statistics, names, merge_weightings([each.weighting for each in found])


def _learn(frame: Any, how: Options, start: Recipe | None, gathers: bool) -> Encoding:
    """Learn from one partition; `start` says which columns are what."""
    features, recipe, names = learn_table(frame, how, start)
    statistics = Statistics()
    if gathers:
        measure_features([features], statistics)
    weighting = Weighting.of(recipe)
    if weighting is not None:
        weighting = weighting.add(features.rows, features.n_rows)
    return Encoding(recipe, weighting=weighting, statistics=statistics, columns=names)


def _beginning(first: Encoding) -> Recipe:
    """Return what the first partition says about columns, without what it learned."""
    recipe = first.recipe
    return replace(recipe, categories=(), words=None) if isinstance(recipe, TableRecipe) else recipe
