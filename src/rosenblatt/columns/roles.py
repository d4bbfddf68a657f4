"""Which column of a table is the target and which are features of what kind: chosen, or found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from rosenblatt.columns.labels import label_kind
from rosenblatt.columns.notes import doubtful, is_index, left_out
from rosenblatt.columns.options import Column, Options
from rosenblatt.columns.recipe import Place, TableRecipe
from rosenblatt.columns.table import Field, Table
from rosenblatt.columns.wording import COMMAND_LINE, Wording
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError, ParameterError

__all__ = ["Roles", "assign", "begun", "choose", "find_again"]

TARGETS = ("label", "target", "class", "y")
"""The default target: the first of these names that there is, in upper or lower case."""


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
        The categorical ones that were asked for, and so may have many values: their places among these.
    notes : tuple of str
        Which columns were left out without being asked to and why, and which may not be meant as features.
    """

    target: int | None
    numbers: tuple[int, ...]
    texts: tuple[int, ...]
    hashed: tuple[int, ...]
    categorical: tuple[int, ...]
    chosen: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def strings(self) -> tuple[int, ...]:
        """The columns that are read as strings."""
        return self.texts + self.hashed + self.categorical


def choose(table: Table, options: Options) -> Roles:
    """Return the role of every column of a table with a target, by the options and by what the columns hold."""
    return assign(table, options, _target(table, options))


def assign(table: Table, options: Options, target: int | None, wording: Wording = COMMAND_LINE) -> Roles:
    """Return the role of every column but the target, by the options and by what the columns hold."""
    asked = {
        name: [j for column in getattr(options, name) for j in _positions(table, column, name, wording)]
        for name in ("features", "ignore", "text", "categorical", "hashed")
    }
    _require_compatible(table, target, asked, wording)
    named = {j for positions in asked.values() for j in positions}
    skipped = left_out(table, {target, *named}) if wording.skips_columns else {}
    used = asked["features"] or [j for j in range(len(table.fields)) if j != target and j not in skipped]
    used = sorted({*used, *asked["text"], *asked["categorical"], *asked["hashed"]} - {*asked["ignore"]})
    special = {*asked["text"], *asked["categorical"], *asked["hashed"]}
    plain = [j for j in used if j not in special]
    _require_usable(table, plain, target, wording)
    _require_names(table, used if target is None else [*used, target], wording)
    strings = [j for j in plain if table.fields[j].kind == "string" and not table.fields[j].numeric]
    if not used:
        raise wording.error(wording.nothing_left.format(target=_called(table, target)), table)
    categorical = tuple(sorted({*asked["categorical"], *strings}))
    doubts = doubtful(table, [j for j in plain if j not in named])
    notes = () if asked["features"] else (*skipped.values(), *doubts)
    return Roles(
        target,
        tuple(j for j in plain if j not in strings),
        tuple(sorted({*asked["text"]})),
        tuple(sorted({*asked["hashed"]})),
        categorical,
        frozenset(k for k, position in enumerate(categorical) if position in asked["categorical"]),
        notes,
    )


def begun(table: Table, roles: Roles, options: Options) -> TableRecipe:
    """Return what is known of a recipe before the first row is read."""

    def places(positions: tuple[int, ...]) -> tuple[Place, ...]:
        return tuple((table.fields[j].name, j) for j in positions)

    target = None if roles.target is None else table.fields[roles.target]
    return TableRecipe(
        named=table.named,
        n_columns=len(table.fields),
        target=None if target is None or roles.target is None else (target.name, roles.target),
        labels=None if target is None else label_kind(target),
        numbers=places(roles.numbers),
        texts=places(roles.texts),
        hashed=places(roles.hashed),
        categorical=places(roles.categorical),
        ngrams=options.ngrams,
        bits=options.bits,
        missing=options.missing,
        na=options.na,
    )


def find_again(table: Table, recipe: TableRecipe, options: Options, wording: Wording = COMMAND_LINE) -> Roles:
    """Find the columns of a recipe in another table: by name if they have names, else by position."""
    if recipe.named and table.named:
        places = {field.name: j for j, field in reversed([*enumerate(table.fields)])}
        lacking = [name for name, _ in recipe.columns if name not in places]
        places |= _of_repeated(table, recipe, wording)
        if lacking:
            raise wording.error(_lacking(lacking, [field.name for field in table.fields]), table, wording.header)
        found = [places[name] for name, _ in recipe.columns]
        target = places.get(recipe.target[0]) if recipe.target else _unused_target(table, options, found)
    else:
        found, target = _by_position(table, recipe, options, wording)
    if options.target is not None:
        target = _position(table, options.target, "target", wording)
    if target is None and options.labelled:
        wanted = "none" if recipe.target is None else repr(recipe.target[0])
        problem = f"there is no column of labels (in training it was {wanted}); name it with --target"
        raise FormatError(problem, file=table.file, line=1)
    if target in found:
        raise FormatError(f"the target {_called(table, target)} is a feature of the model too", file=table.file)
    several = iter(found)
    numbers, texts, hashed, categorical = (
        tuple(next(several) for _ in part)
        for part in (recipe.numbers, recipe.texts, recipe.hashed, recipe.categorical)
    )
    return Roles(target, numbers, texts, hashed, categorical)


def _of_repeated(table: Table, recipe: TableRecipe, wording: Wording) -> dict[str, int]:
    """Return the columns of a recipe whose name several columns have: those at their places in training."""
    counts = Counter(field.name for field in table.fields)
    found = {}
    for name, position in (*recipe.columns, *([] if recipe.target is None else [recipe.target])):
        if counts[name] > 1:
            if len(table.fields) != recipe.n_columns or table.fields[position].name != name:
                raise wording.error(f"{counts[name]} columns are called {name!r}; rename all but one", table, 1)
            found[name] = position
    return found


def _require_names(table: Table, used: Sequence[int], wording: Wording) -> None:
    """Require the columns in use to have names that differ."""
    seen: dict[str, int] = {}
    for j in sorted({*used}) if table.named else ():
        name = table.fields[j].name
        first = wording.first_column
        if not name and wording.skips_columns:
            raise FormatError(
                f"column {j + 1} has no name. Give it one, or leave it out with --ignore {j + 1}; if the first "
                "line is no header, say so with --no-header",
                file=table.file,
                line=1,
                column=j + 1,
            )
        if name in seen:
            raise FormatError(
                f"two columns are called {name!r}; rename one, or leave one out with "
                f"{wording.use('ignore', str(j + first))}",
                file=table.file,
                line=1,
                column=j + 1,
            )
        seen[name] = j


def _by_position(
    table: Table, recipe: TableRecipe, options: Options, wording: Wording
) -> tuple[list[int], int | None]:
    width, target = len(table.fields), recipe.target[1] if recipe.target else None
    positions = [position for _, position in recipe.columns]
    if width == recipe.n_columns:
        return positions, target
    if target is not None and width == recipe.n_columns - 1:
        return [position - (position > target) for position in positions], None
    if target is None and width == recipe.n_columns + 1 and wording.reads_labels:
        target = _target(table, replace(options, labelled=True))
        return [position + (position >= target) for position in positions], target
    raise wording.error(wording.other_width(width, recipe.n_columns, target is not None), table, wording.header)


def _unused_target(table: Table, options: Options, found: list[int]) -> int | None:
    """Return the default target of a table for a recipe that was learned without labels."""
    target = _target(table, options)
    return None if target in found else target


def _target(table: Table, options: Options) -> Any:
    if options.target is not None:
        return _position(table, options.target, "target", COMMAND_LINE)
    if table.named:
        lowered = [field.name.lower() for field in table.fields]
        for name in TARGETS:
            if name in lowered:
                return lowered.index(name)
    last = len(table.fields) - 1
    while table.named and last > 0 and is_index(table.fields[last], last):
        last -= 1
    return last if options.labelled else None


def _positions(table: Table, column: Column, name: str, wording: Wording) -> list[int]:
    """Return the columns that an option names: several columns of one name can be ignored together."""
    named = [j for j, field in enumerate(table.fields) if field.name == column]
    return named if name == "ignore" and len(named) > 1 else [_position(table, column, name, wording)]


def _position(table: Table, column: Column, name: str, wording: Wording) -> int:
    names, width, first = [field.name for field in table.fields], len(table.fields), wording.first_column
    option = wording.option(name)
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            raise wording.error(
                f"{option}: {names.count(column)} columns are called {column!r}; choose one by its position", table
            )
        return names.index(column)
    number = wording.position(column)
    if number is None:
        raise wording.error(f"{option}: {_lacking([str(column)], names)}", table)
    if first <= number < first + width:
        return number - first
    if -width <= number <= -1:
        return number + width
    last = first + width - 1
    raise wording.error(
        f"{option}: there is no column {number}; positions run from {first} to {last}, or from -1 backwards", table
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


def _require_compatible(table: Table, target: int | None, asked: dict[str, list[int]], wording: Wording) -> None:
    for name, positions in asked.items():
        if target is not None and target in positions and name != "ignore":
            raise ParameterError(
                f"{table.file}: {_called(table, target)} is the target and cannot be in --{name} as well. "
                "Name another with --target."
            )
    if target in asked["ignore"]:
        raise ParameterError(f"{table.file}: {_called(table, target)} is the target and cannot be ignored.")
    exclusive = ("ignore", "text", "categorical", "hashed")
    for position in range(len(table.fields)):
        several = [wording.option(name) for name in exclusive if position in asked[name]]
        if position in asked["features"] and position in asked["ignore"]:
            several.insert(0, wording.option("features"))
        if len(several) > 1:
            raise ParameterError(
                f"{table.file}: {_called(table, position)} is in {' and in '.join(several)}; choose one."
            )


def _require_usable(table: Table, plain: Sequence[int], target: int | None, wording: Wording) -> None:
    refused = [table.fields[j] for j in plain if table.fields[j].kind == "other"]
    if refused:
        first, option = refused[0], wording.option
        ignore = wording.use("ignore", *(field.name for field in refused[:8]))
        raise wording.error(
            f"column {first.name!r} holds values of type {first.type}, which are no features: leave it out with "
            f"{ignore}, or take its values as names with {option('categorical')} or {option('hashed')}",
            table,
            column=first.name,
        )
    for j in plain:
        if table.fields[j].decimal_commas:
            name = table.fields[j].name
            raise wording.error(
                f"{name!r} holds numbers with decimal commas, but numbers are read with points: say --decimal , "
                f"if all have commas, or leave the column out with {wording.use('ignore', name)}",
                table,
                column=name,
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
