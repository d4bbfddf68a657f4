"""Checks of plain values from a file nobody vouches for; each says which value is not what it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.data.reals import shown
from rosenblatt.exceptions import ModelFileError

__all__ = ["boolean", "categories", "integer", "mapping", "one_of", "only", "place", "places", "told", "words"]

told = shown


def mapping(value: object, name: str) -> dict[str, Any]:
    """Require an object of JSON."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise _wrong(value, name, "an object with strings for keys")
    return value


def only(whole: dict[str, Any], keys: Sequence[str], name: str) -> None:
    """Require these keys, all of them and no others."""
    unknown, lacking = sorted(set(whole) - set(keys)), [key for key in keys if key not in whole]
    if unknown:
        raise ModelFileError(f"{name} has the unknown key {told(unknown[0])}.")
    if lacking:
        raise ModelFileError(f"{name} lacks {told(lacking[0])}.")


def boolean(value: object, name: str) -> bool:
    """Require true or false."""
    if not isinstance(value, bool):
        raise _wrong(value, name, "true or false")
    return value


def integer(value: object, name: str, least: int, most: int) -> int:
    """Require a whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(value, name, f"a whole number from {least} to {most}")
    return value


def string(value: object, name: str) -> str:
    """Require a string that can be written."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise _wrong(value, name, "a string")
    return value


def one_of(value: object, choices: Sequence[str], name: str) -> str:
    """Require one of a few strings."""
    if not isinstance(value, str) or value not in choices:
        raise _wrong(value, name, f"one of {', '.join(choices)}")
    return value


def listed(value: object, name: str) -> list[Any]:
    """Require a list."""
    if not isinstance(value, list):
        raise _wrong(value, name, "a list")
    return value


def place(value: object, name: str, n_columns: int) -> tuple[str, int]:
    """Require a name and a position."""
    pair = listed(value, name)
    if len(pair) != 2:
        raise _wrong(value, name, "a name and a position")
    return string(pair[0], f"{name}[0]"), integer(pair[1], f"{name}[1]", 0, n_columns - 1)


def places(value: object, name: str, n_columns: int) -> tuple[tuple[str, int], ...]:
    """Require a list of names and positions."""
    return tuple(place(each, f"{name}[{i}]", n_columns) for i, each in enumerate(listed(value, name)))


def categories(value: object, n_columns: int) -> tuple[tuple[int, str], ...]:
    """Require distinct pairs of a categorical column and one of its values."""
    found = []
    for i, each in enumerate(listed(value, "recipe.categories")):
        pair = listed(each, f"recipe.categories[{i}]")
        if len(pair) != 2:
            raise _wrong(each, f"recipe.categories[{i}]", "a column and a value")
        column = integer(pair[0], f"recipe.categories[{i}][0]", 0, n_columns - 1)
        found.append((column, string(pair[1], f"recipe.categories[{i}][1]")))
    if len(set(found)) != len(found):
        raise ModelFileError("recipe.categories has the same category twice.")
    return tuple(found)


def words(value: object, n_columns: int, n_buckets: int) -> tuple[dict[int, tuple[str, ...]], ...] | None:
    """Require null, or for each hashed column a list of [feature, word, …]."""
    if value is None:
        return None
    columns = listed(value, "recipe.words")
    if len(columns) != n_columns:
        raise _wrong(len(columns), "the length of recipe.words", str(n_columns))
    return tuple(_words_of_one(each, f"recipe.words[{i}]", n_buckets) for i, each in enumerate(columns))


def _words_of_one(value: object, name: str, n_buckets: int) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for i, each in enumerate(listed(value, name)):
        entry = listed(each, f"{name}[{i}]")
        if not 2 <= len(entry) <= 4:
            raise _wrong(each, f"{name}[{i}]", "a feature and one to three words")
        bucket = integer(entry[0], f"{name}[{i}][0]", 0, n_buckets - 1)
        if bucket in found:
            raise ModelFileError(f"{name} has the feature {bucket} twice.")
        found[bucket] = tuple(string(word, f"{name}[{i}]") for word in entry[1:])
    return found


def _wrong(value: object, name: str, wanted: str) -> ModelFileError:
    return ModelFileError(f"{name} is {told(value)}, but must be {wanted}.")
