"""How the columns of a table become features, as a value that is kept beside the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rosenblatt.codecs import (
    Codec,
    Context,
    Count,
    Flag,
    Maybe,
    Record,
    Several,
    Simple,
    Text,
    UnsoundError,
    require,
    show_short,
    wrong,
)
from rosenblatt.exceptions import Given, ModelFileError, ParameterError, Remedy
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.dates import DATE_FORMS, Form
from rosenblatt.tables.reading import MISSING_RULES, MOST_BITS, THOUSANDS, WEIGHTINGS, Missing, runs_of
from rosenblatt.tables.table import LabelKind

__all__ = ["Place", "Recipe", "SparseRecipe", "TableRecipe"]

Place: TypeAlias = tuple[str, int]
"""A column: its name, and its position from 0."""

Words: TypeAlias = Mapping[int, tuple[str, ...]]
"""The first few words of each hashed feature, by its number."""

MOST_COLUMNS = 2**31 - 1
MOST_FEATURES = 2**31
"""The most features of numbers and words: places of features have 32 bits, and categories come behind these."""
BYTES_A_NAME = 100  # a string and its place in a tuple
ROLES = ("numbers", "texts", "hashed", "categorical", "dates")


@dataclass(frozen=True)
class Recipe(ABC):
    """How columns become features: a `TableRecipe` or a `SparseRecipe`."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features there are."""

    @property
    def hashes(self) -> bool:
        """Whether words are hashed to features."""
        return False

    @property
    def n_numbers(self) -> int | None:
        """How many features are numbers of a table, which come first; None where there is no table."""
        return None

    @abstractmethod
    def names(self, n_features: int) -> tuple[str, ...] | None:
        """Return the names of the features, or None where they have only numbers."""

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as dicts, lists, strings, numbers and bools."""
        kind = "table" if isinstance(self, TableRecipe) else "sparse"
        return {"kind": kind, **RECIPES[kind].encode(self, "recipe", Context())}

    @staticmethod
    def from_json(description: object) -> Recipe:
        """Return the recipe that `to_json` described; raise `ModelFileError` for anything else.

        Examples
        --------
        >>> recipe = SparseRecipe(width=123, zero_based=False)
        >>> recipe.to_json()
        {'kind': 'sparse', 'width': 123, 'zero_based': False}
        >>> Recipe.from_json(recipe.to_json()) == recipe
        True
        """
        try:
            recipe: Recipe = RECIPE.decode(description, "recipe", Context())
        except UnsoundError as error:
            raise ModelFileError(f"{error}.") from None
        return recipe


@dataclass(frozen=True)
class SparseRecipe(Recipe):
    """Features that have numbers in the file, as in svmlight.

    Attributes
    ----------
    width : int
        How many features there are.
    zero_based : bool or None
        Whether files count features from 0; None where the data was no text.
    """

    width: int
    zero_based: bool | None

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.width

    def names(self, n_features: int) -> None:
        """Return None: the features have only numbers."""
        _require_width(n_features, self.width)


@dataclass(frozen=True)
class TableRecipe(Recipe):
    """Features made of the columns of a table.

    First the numbers, then a mark for each number that can be missing, then 2^bits for each text, then as many for
    each hashed column, then one for each category in the order in which they first occur, row by row and from left
    to right.

    Attributes
    ----------
    named : bool
        Whether the columns have names; if not, they are found by position.
    n_columns : int
        How many the table has.
    target : Place or None
        The labels.
    labels : {"number", "truth", "name"} or None
        What they are.
    numbers, texts, hashed, categorical : tuple of Place
        The columns by their use.
    categories : tuple of (int, str or None)
        The place of a categorical column among these, and a value: one pair for each feature. None is the level of
        missing values.
    ngrams : int or str
        The runs of words that count as one; see `rosenblatt.tables.reading.Runs`.
    bits : int
        Each hashed column has 2^bits features.
    missing : {"error", "zero", "mean", "indicator"}
        What stands for a missing number; see `Options`.
    weighting : {"tfidf", "count"}
        What becomes of the counts of words; see `rosenblatt.tables.scaling.Weighting`.
    words : tuple of mapping, or None
        For each text and hashed column, the first few words of each feature.
    na : tuple of str
        Words that stand for a missing value, beside the usual ones; those that begin with = are in their place.
    decimal, thousands : str
        The decimal mark of numbers in text, and what stands between thousands, or "".
    indicators : tuple of int
        The places of numbers that have a mark: a feature that is 1 where the number is missing, and else 0.
    dates : tuple of Place
        Columns of dates. Their days since 1970 are numbers, behind the others.
    date_forms : tuple of str
        How each of them is written; see `rosenblatt.tables.dates`.
    date_parts : tuple of (int, str)
        Categories behind those of columns: the month or the weekday of one of the dates.
    """

    named: bool
    n_columns: int
    target: Place | None
    labels: LabelKind | None
    numbers: tuple[Place, ...] = ()
    texts: tuple[Place, ...] = ()
    hashed: tuple[Place, ...] = ()
    categorical: tuple[Place, ...] = ()
    categories: tuple[tuple[int, str | None], ...] = ()
    ngrams: int | str = 1
    bits: int = 18
    missing: Missing = "error"
    weighting: Literal["tfidf", "count"] = "tfidf"
    words: tuple[Words, ...] | None = field(default=None, hash=False)
    na: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str = ""
    indicators: tuple[int, ...] = ()
    dates: tuple[Place, ...] = ()
    date_forms: tuple[Form, ...] = ()
    date_parts: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of_numbers(cls, names: Sequence[str] | None, n_columns: int, missing: Missing = "error") -> TableRecipe:
        """Return the recipe of a table whose columns are all features as they are."""
        called = [f"x{j + 1}" for j in range(n_columns)] if names is None else names
        places = tuple((name, j) for j, name in enumerate(called))
        return cls(names is not None, n_columns, None, None, numbers=places, missing=missing)

    @property
    def columns(self) -> tuple[Place, ...]:
        """The columns that are features, in the order of their use."""
        return self.numbers + self.texts + self.hashed + self.categorical + self.dates

    @property
    def hashes(self) -> bool:
        """Whether words are hashed to features."""
        return bool(self.texts or self.hashed)

    @property
    def n_numbers(self) -> int:
        """How many features are numbers; they come first."""
        return len(self.numbers) + len(self.dates)

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the columns whose features are numbers: those of numbers, and of dates."""
        return tuple(name for name, _ in self.numbers + self.dates)

    @property
    def levelled(self) -> tuple[str, ...]:
        """The names of what has categories: columns, and then parts of dates."""
        parts = (f"{self.dates[which][0]} {part}" for which, part in self.date_parts)
        return (*(name for name, _ in self.categorical), *parts)

    @property
    def only_numbers(self) -> bool:
        """Whether every feature is a number of the table."""
        return len(self.columns) == len(self.numbers)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        hashed = len(self.texts) + len(self.hashed)
        return self.n_numbers + len(self.indicators) + (hashed << self.bits) + len(self.categories)

    @property
    def first_word(self) -> int:
        """The first feature behind the numbers and their marks."""
        return self.n_numbers + len(self.indicators)

    @property
    def may_lack(self) -> tuple[str, ...]:
        """The columns that rows in the form of mappings need not name."""
        if self.missing == "indicator":
            return tuple(self.measured[which] for which in self.indicators)
        return () if self.missing == "error" else tuple(name for name, _ in self.columns)

    @property
    def fills_means(self) -> bool:
        """Whether missing numbers become the mean of their column."""
        return self.missing == "mean" or (self.missing == "indicator" and bool(self.n_numbers))

    def names(self, n_features: int) -> tuple[str, ...]:
        """Return the names: ``age``, ``text=free`` or ``text#17`` where no word is known, ``colour=red``.

        The level of missing values is called ``colour is missing``, and so is the mark of a missing number.

        Examples
        --------
        >>> recipe = TableRecipe(True, 3, ("y", 2), "name", numbers=(("age", 0),), categorical=(("colour", 1),),
        ...                      categories=((0, "red"), (0, "blue")))
        >>> recipe.names(3)
        ('age', 'colour=red', 'colour=blue')
        """
        _require_width(n_features, self.n_features)
        way_out = "Hash text into fewer (" + Remedy("bits") + "), or use the numbers of the features."
        require_memory(f"The names of {n_features:,} features", BYTES_A_NAME * n_features, way_out)
        named = [name for name, _ in self.numbers] + [f"{name} in days" for name, _ in self.dates]
        named += [f"{self.measured[which]} is missing" for which in self.indicators]
        for which, (column, _) in enumerate(self.texts + self.hashed):
            known: Words = self.words[which] if self.words else {}
            one = [f"{column}#{bucket}" for bucket in range(1 << self.bits)]
            for bucket, words in known.items():
                one[bucket] = f"{column}={'|'.join(words)}"
            named += one
        levelled = self.levelled
        for which, value in self.categories:
            column = levelled[which]
            named.append(f"{column} is missing" if value is None else f"{column}={value}")
        return tuple(named)


def _require_width(asked: int, width: int) -> None:
    if asked != width:
        raise ParameterError(
            Given("n_features", asked) + f" contradicts the recipe, which makes {width} features."
        )


class Name(Text):
    """A string without half characters, which cannot be written."""

    def fits(self, told: Any) -> bool:
        """Return whether a value is such a string."""
        return type(told) is str and not any("\ud800" <= character <= "\udfff" for character in told)


@dataclass(frozen=True)
class Pair:
    """A tuple of two values, each with its own codec."""

    first: Codec
    second: Codec

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a list of two."""
        first, second = value
        return [self.first.encode(first, at, context), self.second.encode(second, at, context)]

    def decode(self, told: Any, at: str, context: Context) -> tuple[Any, Any]:
        """Return the tuple."""
        if not isinstance(told, list) or len(told) != 2:
            wrong(at, f"is {show_short(told)}, but must be a list of two")
        return self.first.decode(told[0], at, context), self.second.decode(told[1], at, context)


class WordsOfOne:
    """The words of one hashed column: lists of a feature and one to three words."""

    def encode(self, value: Words, at: str, context: Context) -> Any:
        """Return the lists, by feature."""
        return [[feature, *value[feature]] for feature in sorted(value)]

    def decode(self, told: Any, at: str, context: Context) -> Words:
        """Return the words by feature."""
        if not isinstance(told, list):
            wrong(at, "is no list")
        found: dict[int, tuple[str, ...]] = {}
        for each in told:
            if not isinstance(each, list) or not 2 <= len(each) <= 4:
                wrong(at, f"holds {show_short(each)}, but must hold lists of a feature and one to three words")
            feature, *words = each
            COUNT.decode(feature, at, context)
            require(feature not in found, f"{at} has the feature {feature} twice")
            found[feature] = tuple(NAME.decode(word, at, context) for word in words)
        return found


def _sound_table(recipe: TableRecipe) -> None:
    target = () if recipe.target is None else (recipe.target,)
    positions = [position for _, position in (*recipe.columns, *target)]
    require(max(positions, default=0) < recipe.n_columns, "a column lies beyond the last one")
    require(len(set(positions)) == len(positions), "it names one column twice")
    require(recipe.columns, "it has no columns of features")
    require((recipe.labels is None) == (recipe.target is None), "labels must be null exactly where target is")
    categories = recipe.categories
    require(len(set(categories)) == len(categories), "it has the same category twice")
    require(recipe.decimal != recipe.thousands, "decimal and thousands must differ")
    most = max((column for column, _ in categories), default=-1)
    require(most < len(recipe.categorical) + len(recipe.date_parts), "a category is of no column")
    require(len(recipe.date_forms) == len(recipe.dates), "the forms are not those of the dates")
    require(max((which for which, _ in recipe.date_parts), default=-1) < len(recipe.dates), "a part is of no date")
    marked = recipe.indicators
    require(marked == tuple(sorted({*marked})), "its marks of missing numbers do not ascend")
    require(max(marked, default=-1) < recipe.n_numbers, "a mark is of no number")
    require(not marked or recipe.missing == "indicator", "it marks missing numbers, but does not fill them")
    require(recipe.n_features <= MOST_FEATURES, f"it makes more than {MOST_FEATURES:,} features")
    if recipe.words is not None:
        require(len(recipe.words) == len(recipe.texts + recipe.hashed), "words are not of each hashed column")
        most = max((feature for one in recipe.words for feature in one), default=-1)
        require(most < 1 << recipe.bits, "words are of a feature that there is not")


class RunsOfWords(Simple):
    """The parameter `ngrams`, as `Runs.told` writes it."""

    def fits(self, stored: Any) -> bool:
        """Return whether a value is one, and written so."""
        try:
            return type(stored) in (int, str) and runs_of(stored).told == stored
        except ParameterError:
            return False


NAME, COUNT = Name(), Count()
PLACE = Pair(NAME, Count(0, MOST_COLUMNS - 1))
RECIPES: dict[str, Record] = {
    "table": Record(
        TableRecipe,
        {
            "named": Flag(),
            "n_columns": Count(1, MOST_COLUMNS),
            "target": Maybe(PLACE),
            "labels": Maybe(Text(("number", "truth", "name"))),
            **dict.fromkeys(ROLES, Several(PLACE, tuple)),
            "categories": Several(Pair(COUNT, Maybe(NAME)), tuple),
            "ngrams": RunsOfWords(),
            "bits": Count(1, MOST_BITS),
            "missing": Text(MISSING_RULES),
            "weighting": Text(WEIGHTINGS),
            "words": Maybe(Several(WordsOfOne(), tuple)),
            "na": Several(NAME, tuple),
            "decimal": Text((".", ",")),
            "thousands": Text(("", *THOUSANDS)),
            "indicators": Several(COUNT, tuple),
            "date_forms": Several(Text(DATE_FORMS), tuple),
            "date_parts": Several(Pair(COUNT, Text(("month", "weekday"))), tuple),
        },
        check=_sound_table,
        before={"weighting": "count", "indicators": [], "dates": [], "date_forms": [], "date_parts": []},
    ),
    "sparse": Record(SparseRecipe, {"width": Count(1, MOST_COLUMNS), "zero_based": Maybe(Flag())}),
}


class RecipeCodec:
    """A recipe of either kind, with the name of its kind."""

    def encode(self, value: Recipe, at: str, context: Context) -> Any:
        """Return a table of the kind and the parts."""
        return value.to_json()

    def decode(self, told: Any, at: str, context: Context) -> Recipe:
        """Return the recipe."""
        kind = told.get("kind") if isinstance(told, dict) else None
        if not isinstance(kind, str) or kind not in RECIPES:
            wrong(at, f"has the kind {show_short(kind)}, but it must be 'table' or 'sparse'")
        parts = {name: part for name, part in told.items() if name != "kind"}
        recipe: Recipe = RECIPES[kind].decode(parts, at, context)
        return recipe


RECIPE = RecipeCodec()
