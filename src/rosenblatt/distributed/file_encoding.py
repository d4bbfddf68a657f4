"""How files in partitions become features: the columns by the first file, categories and words of all, merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rosenblatt.columns.encoder import MOST_AUTOMATIC, MOST_CHOSEN, WORDS_SHOWN
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import Recipe, TableRecipe, Words
from rosenblatt.distributed.cluster import Cluster
from rosenblatt.exceptions import ParameterError
from rosenblatt.formats.source import NoRowsError, open_source

__all__ = ["learned_recipe", "merged_recipe"]

Files = Sequence[tuple[str, Options]]


def learned_recipe(cluster: Cluster, files: Files) -> tuple[Recipe | None, Recipe, list[str]]:
    """Return the recipe of a table for all partitions, that of the first file, and notes about columns.

    Sparse files need no common recipe, only a common base. Tables whose features are numbers, texts and hashed
    columns are known from the first file; for categories and words every partition is read once more.
    """
    start, notes = cluster.answer(cluster.run(_begun, *files[0]))
    if not isinstance(start, TableRecipe):
        return None, start, notes
    if not start.categorical and not files[0][1].vocabulary:
        return start, start, notes
    learned = cluster.answers([cluster.run(_learned, *file, start) for file in files])
    chosen = _chosen(start, files[0][1])
    return merged_recipe(start, [each for each in learned if each is not None], chosen), start, notes


def _begun(path: str, options: Options) -> tuple[Recipe, list[str]]:
    source = open_source([path], options)
    try:
        return source.recipe, [f"{path}: {source.description}", *source.notes]
    finally:
        source.close()


def _learned(path: str, options: Options, start: TableRecipe) -> TableRecipe | None:
    """Read a partition and return what its rows add to the recipe; None if it has no rows."""
    source = open_source([path], options, start, learning=True)
    try:
        for _ in source.chunks():
            pass
    except NoRowsError:
        return None
    recipe = source.recipe
    assert isinstance(recipe, TableRecipe), "a table was opened"
    return recipe


def _chosen(recipe: TableRecipe, options: Options) -> frozenset[int]:
    asked = {*options.categorical}
    return frozenset(
        k
        for k, (name, j) in enumerate(recipe.categorical)
        if {name, j + 1, j - recipe.n_columns} & asked
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
                f"Column {name!r} holds {levels:,} different values in all partitions, more than {most:,}. Leave it "
                "out with ignore, or name it in text, hashed or categorical."
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
