"""How files in partitions become features: the columns by the first file, categories and words of all, merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.columns.encoder import MOST_AUTOMATIC, MOST_CHOSEN, WORDS_SHOWN
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import Recipe, TableRecipe, Words
from rosenblatt.columns.statistics import Statistics
from rosenblatt.distributed.cluster import Cluster
from rosenblatt.estimators.table_encoder import measured
from rosenblatt.exceptions import NoRowsError, ParameterError
from rosenblatt.formats.source import open_source

__all__ = ["learned_from_files", "merged_recipe", "merged_statistics"]

Files = Sequence[tuple[str, Options]]


class LearnedFiles(NamedTuple):
    """What files in partitions taught: the recipe of all, that of the first, statistics, and notes on columns."""

    recipe: Recipe
    start: Recipe
    statistics: Statistics
    notes: list[str]


def learned_from_files(cluster: Cluster, files: Files, gathers: bool = False) -> LearnedFiles:
    """Learn from files in one pass; the first file says which columns are what.

    Tables whose features are numbers, texts and hashed columns are known from the first file. For categories and
    words, and for statistics where they are asked for, every partition is read. Sparse files need none of this.
    """
    start, notes = _first_begun(cluster, files)
    if not isinstance(start, TableRecipe) or not (start.categorical or files[0][1].vocabulary or gathers):
        return LearnedFiles(start, start, Statistics(), notes)
    found = cluster.answers([cluster.run(_learned, *file, start, gathers) for file in files])
    learned = [each for each in found if each is not None]
    chosen = _chosen(start, files[0][1])
    recipe = merged_recipe(start, [each for each, _ in learned], chosen)
    return LearnedFiles(recipe, start, merged_statistics(recipe, learned), notes)


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
) -> tuple[TableRecipe, Statistics] | None:
    """Read a partition and return what its rows add to the recipe; None if it has no rows."""
    statistics = Statistics()
    try:
        source = open_source([path], options, start, learning=True)
        if gathers:
            measured(source.chunks(), statistics)
        else:
            for _ in source.chunks():
                pass
    except NoRowsError:
        return None
    recipe = source.recipe
    assert isinstance(recipe, TableRecipe), "a table was opened"
    return recipe, statistics


def _chosen(recipe: TableRecipe, options: Options) -> frozenset[int]:
    asked = {*options.categorical}
    return frozenset(
        k for k, (name, j) in enumerate(recipe.categorical) if {name, j + 1, j - recipe.n_columns} & asked
    )


def merged_recipe(start: TableRecipe, learned: Sequence[TableRecipe], chosen: frozenset[int]) -> TableRecipe:
    """Return the recipe that reading all partitions one after the other would have learned.

    Examples
    --------
    >>> start = TableRecipe(True, 2, None, None, categorical=(("colour", 0), ("size", 1)))
    >>> one = replace(start, categories=((0, "red"), (1, "big")))
    >>> two = replace(start, categories=((1, "small"), (0, "red"), (0, "blue")))
    >>> merged_recipe(start, [one, two], frozenset()).categories
    ((0, 'red'), (1, 'big'), (1, 'small'), (0, 'blue'))
    """
    categories = tuple(dict.fromkeys(category for each in learned for category in each.categories))
    for which, (name, _) in enumerate(start.categorical):
        most = MOST_CHOSEN if which in chosen else MOST_AUTOMATIC
        levels = sum(column == which for column, _ in categories)
        if levels > most:
            raise ParameterError(
                f"Column {name!r} holds {levels:,} different values in all partitions, more than {most:,}. Leave "
                "it out with ignore, or name it in text, hashed or categorical."
            )
    words: tuple[Words, ...] | None = None
    if learned and learned[0].words is not None:
        columns = len(learned[0].words)
        words = tuple(_merged_words([each.words[k] for each in learned if each.words]) for k in range(columns))
    return replace(start, categories=categories, words=words)


def _merged_words(parts: Sequence[Words]) -> dict[int, tuple[str, ...]]:
    merged: dict[int, tuple[str, ...]] = {}
    for part in parts:
        for feature, words in part.items():
            known = merged.get(feature, ())
            merged[feature] = tuple(dict.fromkeys((*known, *words)))[:WORDS_SHOWN]
    return merged


def merged_statistics(recipe: TableRecipe, parts: Sequence[tuple[Any, Statistics | None]]) -> Statistics:
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
