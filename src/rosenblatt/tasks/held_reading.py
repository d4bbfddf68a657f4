"""The options of reading that a proof holds, so that its data is read again in the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from rosenblatt.columns.labels import NUMERAL
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.source import Source
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError

__all__ = ["held_reading", "holding", "require_numbers"]

NOT_HELD = ("labelled", "chunk_bytes")
"""Options that do not change what is read."""


def holding(proof: str, options: Mapping[str, Any]) -> str:
    """Return the text of a proof that also holds the options of reading that are not the default."""
    usual = Options()
    held = {name: value for name, value in options.items() if value != getattr(usual, name)}
    if not held:
        return proof
    return re.sub(r'"version": \d+,', lambda found: f'{found[0]}\n "reading": {json.dumps(held)},', proof, count=1)


def held_reading(proofs: Sequence[Mapping[str, Any]], file: str) -> dict[str, Any]:
    """Return the options of reading that the first of several proofs holds; nothing in them is trusted.

    Raises
    ------
    FormatError
        An option is unknown, or has a value that it cannot have.
    """
    held = dict(proofs[0].get("reading", {}))
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
    if not isinstance(recipe, TableRecipe) or recipe.texts or recipe.hashed:
        return
    n_columns = len(recipe.numbers) + len(recipe.categorical)
    words = [(k, value) for k, value in recipe.categories if value is not None and not NUMERAL.fullmatch(value)]
    if words and any(proof["data"]["features"] == n_columns != source.n_features for proof in proofs):
        (name, _), value = recipe.categorical[words[0][0]], words[0][1]
        raise FormatError(
            f"{name!r} is {shown(value)}, which is no number, but the proof is about {n_columns} numbers a row",
            file=source.files[0],
        )


def _fits(name: str, value: Any, usual: Any) -> bool:
    if isinstance(usual, tuple):
        kinds = (str,) if name == "na" else (str, int)
        return type(value) is list and all(type(each) in kinds for each in value)
    if name in ("header", "zero_based"):
        return type(value) is bool
    if name == "target":
        return type(value) in (str, int)
    return type(value) is (str if usual is None else type(usual))
