"""Which column of a table is the target, which are features, and of what kind: chosen, or found again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rosenblatt.columns.options import Column, Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.table import Field, Table
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError, ParameterError

__all__ = ["Roles", "choose", "find_again"]

TARGETS = ("label", "target", "class", "y")
"""What the target is called where nobody says: the first of these that there is, in any case of letters."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of one file by what they are for, each a position from 0.

    Attributes
    ----------
    target : int or None
        The labels.
    numbers, texts, hashed, categorical : tuple of int
        The features: numbers as they are, texts as bags of words, values hashed, values one feature each.
    chosen : frozenset of int
        The categorical ones that were asked for by name, and so may have many values.
    """

    target: int | None
    numbers: tuple[int, ...]
    texts: tuple[int, ...]
    hashed: tuple[int, ...]
    categorical: tuple[int, ...]
    chosen: frozenset[int] = frozenset()


def choose(table: Table, options: Options) -> Roles:
    """Give every column of a table its role, by what was asked for and by what the columns hold."""
    target = _target(table, options)
    asked = {
        name: _positions(table, getattr(options, name), f"--{name}")
        for name in ("features", "ignore", "text", "categorical", "hashed")
    }
    _require_compatible(table, target, asked)
    used = asked["features"] or [j for j in range(len(table.fields)) if j != target]
    used = sorted({*used, *asked["text"], *asked["categorical"], *asked["hashed"]} - {*asked["ignore"]})
    special = {*asked["text"], *asked["categorical"], *asked["hashed"]}
    plain = [j for j in used if j not in special]
    _require_usable(table, plain, target)
    strings = [j for j in plain if table.fields[j].kind == "string" and not table.fields[j].numeric]
    roles = Roles(
        target,
        tuple(j for j in plain if j not in strings),
        tuple(sorted(asked["text"])),
        tuple(sorted(asked["hashed"])),
        tuple(sorted([*asked["categorical"], *strings])),
        frozenset(asked["categorical"]),
    )
    if not used:
        raise FormatError(
            "there is only one column, so nothing is left to learn from: "
            f"the target is {_called(table, target)}. Check --delimiter, --target and --ignore",
            file=table.file,
        )
    return roles


def find_again(table: Table, recipe: TableRecipe, options: Options) -> Roles:
    """Find the columns of a recipe in another table: by name if they have names, else by position."""
    if recipe.named and table.named:
        places = {field.name: j for j, field in enumerate(table.fields)}
        lacking = [name for name, _ in recipe.columns if name not in places]
        if lacking:
            raise FormatError(f"{_lacking(lacking, places)}", file=table.file, line=1)
        found = [places[name] for name, _ in recipe.columns]
        target = places.get(recipe.target[0]) if recipe.target else None
    else:
        found, target = _by_position(table, recipe)
    if options.target is not None:
        target = _positions(table, (options.target,), "--target")[0]
    if target is None and options.labelled:
        wanted = "none" if recipe.target is None else repr(recipe.target[0])
        raise FormatError(f"there is no column of labels (in training it was {wanted})", file=table.file, line=1)
    if target in found:
        raise FormatError(f"the target {_called(table, target)} is a feature of the model too", file=table.file)
    several = iter(found)
    numbers, texts, hashed, categorical = (
        tuple(next(several) for _ in part)
        for part in (recipe.numbers, recipe.texts, recipe.hashed, recipe.categorical)
    )
    return Roles(target, numbers, texts, hashed, categorical)


def _by_position(table: Table, recipe: TableRecipe) -> tuple[list[int], int | None]:
    width, target = len(table.fields), recipe.target[1] if recipe.target else None
    positions = [position for _, position in recipe.columns]
    if width == recipe.n_columns:
        return positions, target
    if target is not None and width == recipe.n_columns - 1:
        return [position - (position > target) for position in positions], None
    without = "" if target is None else f" (or {recipe.n_columns - 1} without the labels)"
    raise FormatError(
        f"the table has {width} columns, but the one that was learned from had {recipe.n_columns}{without}, and "
        "they have no names to find them by",
        file=table.file,
        line=1,
    )


def _target(table: Table, options: Options) -> int | None:
    if options.target is not None:
        return _positions(table, (options.target,), "--target")[0]
    if table.named:
        lowered = [field.name.lower() for field in table.fields]
        for name in TARGETS:
            if name in lowered:
                return lowered.index(name)
    return len(table.fields) - 1 if options.labelled else None


def _positions(table: Table, columns: Iterable[Column], option: str) -> list[int]:
    return [_position(table, column, option) for column in columns]


def _position(table: Table, column: Column, option: str) -> int:
    names, width = [field.name for field in table.fields], len(table.fields)
    if isinstance(column, str) and column in names:
        return names.index(column)
    try:
        number = int(column)
    except ValueError:
        raise FormatError(f"{option}: {_lacking([str(column)], names)}", file=table.file) from None
    if 1 <= number <= width:
        return number - 1
    if -width <= number <= -1:
        return number + width
    raise FormatError(
        f"{option}: there is no column {number}; positions run from 1 to {width}, or from -1 backwards",
        file=table.file,
    )


def _lacking(names: Sequence[str], known: Iterable[str]) -> str:
    known = list(known)
    told = []
    for name in names[:5]:
        close = get_close_matches(name, known, n=3)
        told.append(repr(name) + (f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    there = ", ".join(shown(name) for name in known[:12]) + (", …" if len(known) > 12 else "")
    return f"there is no column {', '.join(told)}{more}; the columns are {there}"


def _require_compatible(table: Table, target: int | None, asked: dict[str, list[int]]) -> None:
    for name, positions in asked.items():
        if target in positions and name != "ignore":
            raise ParameterError(
                f"{table.file}: {_called(table, target)} is the target and cannot be in --{name} as well. "
                "Name another with --target."
            )
    if target in asked["ignore"]:
        raise ParameterError(f"{table.file}: {_called(table, target)} is the target and cannot be ignored.")
    exclusive = ("ignore", "text", "categorical", "hashed")
    for position in range(len(table.fields)):
        several = [f"--{name}" for name in exclusive if position in asked[name]]
        if position in asked["features"] and "--ignore" in several:
            several.insert(0, "--features")
        if len(several) > 1:
            raise ParameterError(
                f"{table.file}: {_called(table, position)} is in {' and in '.join(several)}; choose one."
            )


def _require_usable(table: Table, plain: Sequence[int], target: int | None) -> None:
    refused = [j for j in plain if table.fields[j].kind == "other"]
    if refused:
        first = table.fields[refused[0]]
        listed = " --ignore ".join(str(table.fields[j].name) for j in refused[:8])
        raise FormatError(
            f"column {first.name!r} holds values of type {first.type}, which are no features: leave it out with "
            f"--ignore {listed}, or take its values as names with --categorical or --hashed",
            file=table.file,
            column=refused[0] + 1,
        )
    for j in plain:
        if table.fields[j].decimal_commas:
            name = table.fields[j].name
            raise FormatError(
                f"{name!r} holds numbers with decimal commas, which are not read: write them with points, or "
                f"leave the column out with --ignore {name}",
                file=table.file,
                column=j + 1,
            )
    if target is not None and table.fields[target].kind == "other":
        field: Field = table.fields[target]
        raise FormatError(
            f"the target {field.name!r} holds values of type {field.type}, which name no classes; "
            "name another with --target",
            file=table.file,
            column=target + 1,
        )


def _called(table: Table, position: int | None) -> str:
    return "none" if position is None else f"column {position + 1}, {table.fields[position].name!r}"
