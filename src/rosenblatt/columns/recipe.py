"""How the columns of a file become features, as a value that can be kept beside the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from rosenblatt.columns import schema
from rosenblatt.columns.labels import LabelKind
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.text.words import MOST_BITS, MOST_NGRAMS

__all__ = ["Place", "Recipe", "SparseRecipe", "TableRecipe"]

Place: TypeAlias = tuple[str, int]
"""A column: its name, and its position from 0."""

Words: TypeAlias = Mapping[int, tuple[str, ...]]
"""For hashed features, by number: the first few words that fell into them."""


@dataclass(frozen=True)
class Recipe(ABC):
    """How the columns of a file become features: a `TableRecipe` or a `SparseRecipe`."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features there are."""

    @property
    def hashes(self) -> bool:
        """Whether features are places that words fall into."""
        return False

    @abstractmethod
    def names(self, n_features: int) -> tuple[str, ...] | None:
        """Name the features, or return None where they have only numbers."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Describe the recipe with dicts, lists, strings, numbers and bools alone."""

    @staticmethod
    def from_json(description: object) -> Recipe:
        """Rebuild a recipe from what `to_json` gave; anything else is a `ModelFileError`.

        Examples
        --------
        >>> recipe = SparseRecipe(width=123, zero_based=False)
        >>> recipe.to_json()
        {'kind': 'sparse', 'width': 123, 'zero_based': False}
        >>> Recipe.from_json(recipe.to_json()) == recipe
        True
        """
        whole = schema.mapping(description, "recipe")
        match whole.get("kind"):
            case "sparse":
                return SparseRecipe._from(whole)
            case "table":
                return TableRecipe._from(whole)
        raise ModelFileError(f"recipe.kind is {schema.told(whole.get('kind'))}, but must be 'table' or 'sparse'.")


@dataclass(frozen=True)
class SparseRecipe(Recipe):
    """Features that have numbers of their own in the file, as in svmlight.

    Attributes
    ----------
    width : int
        How many features were met.
    zero_based : bool or None
        Whether the numbers in the file begin at 0; None where the file was no text.
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

    def to_json(self) -> dict[str, Any]:
        """Describe the recipe with plain values."""
        return {"kind": "sparse", "width": self.width, "zero_based": self.zero_based}

    @staticmethod
    def _from(whole: dict[str, Any]) -> SparseRecipe:
        schema.only(whole, ("kind", "width", "zero_based"), "recipe")
        based = whole["zero_based"]
        zero_based = None if based is None else schema.boolean(based, "recipe.zero_based")
        return SparseRecipe(schema.integer(whole["width"], "recipe.width", 1, 2**31 - 1), zero_based)


@dataclass(frozen=True)
class TableRecipe(Recipe):
    """Features made of the columns of a table.

    First the numbers, then 2^bits for each text, then as many for each hashed column, then one for each category
    in the order in which they were first met, row by row and from left to right.

    Attributes
    ----------
    named : bool
        Whether the columns have names of their own; if not, they are found by position.
    n_columns : int
        How many the table has.
    target : Place or None
        The labels.
    labels : {"number", "truth", "name"} or None
        What they are.
    numbers, texts, hashed, categorical : tuple of Place
        The columns by their use.
    categories : tuple of (int, str)
        Which of the categorical columns, and its value: one a feature.
    ngrams, bits : int
        The longest run of words that counts as one; hashed features are 2^bits a column.
    missing : {"error", "zero", "mean"}
        What was to be done about missing values.
    words : tuple of mapping, or None
        For each text and hashed column, the first few words of each feature.
    """

    named: bool
    n_columns: int
    target: Place | None
    labels: LabelKind | None
    numbers: tuple[Place, ...] = ()
    texts: tuple[Place, ...] = ()
    hashed: tuple[Place, ...] = ()
    categorical: tuple[Place, ...] = ()
    categories: tuple[tuple[int, str], ...] = ()
    ngrams: int = 1
    bits: int = 18
    missing: Literal["error", "zero", "mean"] = "error"
    words: tuple[Words, ...] | None = field(default=None, hash=False)

    @property
    def columns(self) -> tuple[Place, ...]:
        """The columns that are features, in the order of their use."""
        return self.numbers + self.texts + self.hashed + self.categorical

    @property
    def hashes(self) -> bool:
        """Whether features are places that words fall into."""
        return bool(self.texts or self.hashed)

    @property
    def only_numbers(self) -> bool:
        """Whether every feature is a number of the table."""
        return len(self.columns) == len(self.numbers)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        hashed = len(self.texts) + len(self.hashed)
        return len(self.numbers) + (hashed << self.bits) + len(self.categories)

    def names(self, n_features: int) -> tuple[str, ...]:
        """Name the features: ``age``, ``text=free`` or ``text#17`` where no word is known, ``colour=red``.

        Examples
        --------
        >>> recipe = TableRecipe(True, 3, ("y", 2), "name", numbers=(("age", 0),), categorical=(("colour", 1),),
        ...                      categories=((0, "red"), (0, "blue")))
        >>> recipe.names(3)
        ('age', 'colour=red', 'colour=blue')
        """
        _require_width(n_features, self.n_features)
        named = [name for name, _ in self.numbers]
        for which, (column, _) in enumerate(self.texts + self.hashed):
            known: Words = self.words[which] if self.words else {}
            one = [f"{column}#{bucket}" for bucket in range(1 << self.bits)]
            for bucket, words in known.items():
                one[bucket] = f"{column}={'|'.join(words)}"
            named += one
        named += [f"{self.categorical[column][0]}={value}" for column, value in self.categories]
        return tuple(named)

    def to_json(self) -> dict[str, Any]:
        """Describe the recipe with plain values."""
        words = self.words
        return {
            "kind": "table",
            "named": self.named,
            "n_columns": self.n_columns,
            "target": None if self.target is None else list(self.target),
            "labels": self.labels,
            **{role: [list(place) for place in getattr(self, role)] for role in ROLES},
            "categories": [list(category) for category in self.categories],
            "ngrams": self.ngrams,
            "bits": self.bits,
            "missing": self.missing,
            "words": None if words is None else [[[b, *one[b]] for b in sorted(one)] for one in words],
        }

    @staticmethod
    def _from(whole: dict[str, Any]) -> TableRecipe:
        keys = (
            "kind",
            "named",
            "n_columns",
            "target",
            "labels",
            *ROLES,
            "categories",
            "ngrams",
            "bits",
            "missing",
        )
        schema.only(whole, (*keys, "words"), "recipe")
        n_columns = schema.integer(whole["n_columns"], "recipe.n_columns", 1, 2**31 - 1)
        places = {role: schema.places(whole[role], f"recipe.{role}", n_columns) for role in ROLES}
        target = None if whole["target"] is None else schema.place(whole["target"], "recipe.target", n_columns)
        used = [*(place for role in ROLES for place in places[role]), *([target] if target else [])]
        if len({position for _, position in used}) != len(used):
            raise ModelFileError("recipe names one column twice.")
        if len(used) == (target is not None):
            raise ModelFileError("recipe has no columns of features.")
        labels = whole["labels"]
        if labels is not None:
            schema.one_of(labels, ("number", "truth", "name"), "recipe.labels")
        if (labels is None) != (target is None):
            raise ModelFileError("recipe.labels must be null exactly where recipe.target is.")
        bits = schema.integer(whole["bits"], "recipe.bits", 1, MOST_BITS)
        return TableRecipe(
            named=schema.boolean(whole["named"], "recipe.named"),
            n_columns=n_columns,
            target=target,
            labels=cast(LabelKind, labels),
            categories=schema.categories(whole["categories"], len(places["categorical"])),
            ngrams=schema.integer(whole["ngrams"], "recipe.ngrams", 1, MOST_NGRAMS),
            bits=bits,
            missing=cast(Any, schema.one_of(whole["missing"], ("error", "zero", "mean"), "recipe.missing")),
            words=schema.words(whole["words"], len(places["texts"]) + len(places["hashed"]), 1 << bits),
            **places,
        )


ROLES = ("numbers", "texts", "hashed", "categorical")


def _require_width(asked: int, width: int) -> None:
    if asked != width:
        raise ParameterError(f"n_features is {asked}, but the recipe makes {width} features.")
