"""Which column of a table is the target and which are features of what kind: chosen, or found again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rosenblatt.exceptions import (
    FormatError,
    Given,
    Message,
    ParameterError,
    Remedy,
    fit_note,
    join_messages,
    list_first,
)
from rosenblatt.parameters import COMBINATION, RANGE
from rosenblatt.rows.features import show_value
from rosenblatt.tables.dates import Form, are_compact, find_form, find_stray, varying_parts
from rosenblatt.tables.reading import Column, Options, runs_of
from rosenblatt.tables.recipe import MOST_FEATURES, ROLES, Place, TableRecipe
from rosenblatt.tables.table import (
    LARGEST_EXACT_INTEGER,
    NOTATIONS,
    WRITTEN_TRUTH,
    Problem,
    Table,
    error_at,
    label_kind,
    told_readings,
)

if TYPE_CHECKING:
    from rosenblatt.tables.table import Field, Table

__all__ = [
    "Roles",
    "assign",
    "begin_recipe",
    "choose",
    "doubtful",
    "find_again",
    "is_index",
    "left_out",
    "told_identifiers",
]


# Notes about columns that a user may want to treat in another way, each with the way to do so.

DATES = ("date", "timestamp", "time32", "time64")
"""How the types of columns of dates and times begin."""
SAYS_DATE = re.compile(r"(?i:(?:.*[^a-z])?(?:birth|start|end)?date(?:[^a-z].*)?)|.*[a-z]Date(?:[^a-z].*)?")
"""Names of columns whose whole numbers may be dates."""
WHOLE = ("int", "uint", "number")
"""How the types of columns of whole numbers begin; JSON has only numbers."""
IDENTIFIER = re.compile(r"(?:.*[_\s.-])?(?:id|ID|Id|index|Index)|.*[a-z](?:Id|ID)")
"""Names of columns of numbers that seldom are features."""


def left_out(table: Table, asked: set[int | None], dates: Collection[int] = ()) -> dict[int, str]:
    """Return the columns that are no features unless they are asked for, each with the note about its kind."""
    notes: dict[int, str] = {}
    empty: list[int] = []
    times: list[int] = []
    for j, field in enumerate(table.fields):
        if j in asked:
            continue
        if is_index(field, j):
            which = "the first column has no name" if j == 0 else f"column {j + 1} has no name and no values"
            which = which if not field.name else f"the first column is called {field.name!r}"
            notes[j] = f"{which} and was left out; give it a name to use it"
        elif field.type == "null":
            empty.append(j)
        elif field.kind == "other" and field.type.startswith(DATES) and j not in dates:
            times.append(j)
    if empty:
        has, was = ("has", "was") if len(empty) == 1 else ("have", "were")
        note = fit_note(
            _shown_names(table, empty),
            lambda told, shown: f"{told} {has} no values, at least in the first rows, and {was} left out",
        )
        notes |= dict.fromkeys(empty, note)
    return notes | dict.fromkeys(times, _no_dates(table, times) if times else "")


def _shown_names(table: Table, columns: Sequence[int]) -> list[str]:
    """Return the names of columns, each in quotes."""
    return [repr(table.fields[j].name) for j in columns]


def _with_way(table: Table, columns: Sequence[int], told: Callable[[str], str], way: str, then: str) -> str:
    """Return one note about columns with its way out: a parameter that takes their names, and what it does."""
    names = tuple(table.fields[j].name for j in columns)
    return fit_note(
        _shown_names(table, columns),
        lambda listed, shown: told(listed) + Remedy(way, names[:shown]) + then,
        lambda listed, shown: told(listed) + Remedy(way) + then,
    )


def _no_dates(table: Table, columns: Sequence[int]) -> str:
    """Return one note about all columns of dates or times that were left out."""
    holds, was = ("holds", "was") if len(columns) == 1 else ("hold", "were")
    about = f" {holds} dates or times and {was} left out; "
    return _with_way(table, columns, lambda listed: listed + about, "categorical", " takes each as a category")


def is_index(field: Field, position: int) -> bool:
    """Return whether a column seems to number the rows, as pandas and R write it, or to be empty."""
    if position == 0 and field.name == "Unnamed: 0":
        return field.type.startswith("int")
    return not field.name and (position == 0 or field.type == "null")


FEWEST_IDENTIFIERS = 50
"""A column whose first values all differ tells rows apart only if there are so many."""


def find_identifiers(table: Table, features: Sequence[int]) -> list[int]:
    """Return the features that name or count the rows, judged by their first rows.

    All values differ, in at least `FEWEST_IDENTIFIERS` rows. They are words that form no text, or whole numbers in
    a column that is called so, or so large that floats round them; the first column may also count from 0 or 1
    under any name.
    """
    found: list[int] = []
    if table.first_count is not None and table.first_count < FEWEST_IDENTIFIERS:
        return found
    for j in features:
        field = table.fields[j]
        whole = field.type.startswith(WHOLE)
        words = field.kind == "string" and not field.numeric and field.decorated is None
        if not (words or whole) or len(found) >= MOST_LOOKED_AT:
            continue
        values = table.first_values(j)
        if len({*values}) < max(len(values), FEWEST_IDENTIFIERS) or (whole and not _are_whole(values)):
            continue
        if (words and not _are_texts(values)) or (
            whole and _name_rows([int(value) for value in values], field, j)
        ):
            found.append(j)
    return found if len(found) < len(features) else []


def _name_rows(values: Sequence[int], field: Field, position: int) -> bool:
    """Return whether whole numbers that differ name rows: by their name or size, or because they count rows."""
    large = any(abs(value) > LARGEST_EXACT_INTEGER for value in values)
    return large or IDENTIFIER.fullmatch(field.name) is not None or (position == 0 and _counts(values))


def _are_whole(values: Sequence[Any]) -> bool:
    """Return whether numbers are written without a point: JSON has one type for all numbers."""
    return not any(isinstance(value, float) for value in values)


def _counts(values: Sequence[int]) -> bool:
    """Return whether numbers count from 0 or 1."""
    return values[0] in (0, 1) and all(b - a == 1 for a, b in pairwise(values))


def told_identifiers(table: Table, found: Sequence[int]) -> str:
    """Return one note about all columns that seem to name the rows."""
    one = len(found) == 1
    about = " seems to name the rows and was left out; " if one else " seem to name the rows and were left out; "
    if table.argument:
        then = " takes each value as a category"
        return _with_way(table, found, lambda listed: listed + about, "categorical", then)
    use = f"{about}to use {'it' if one else 'them'}, name all columns in "
    return fit_note(_shown_names(table, found), lambda listed, shown: listed + use + Remedy("features"))


def doubtful(table: Table, features: Sequence[int]) -> Iterator[str]:
    """Yield notes about features that seem to be identifiers, or numbers that were not read as numbers."""
    fields = [table.fields[j] for j in features]
    strings = [
        j for j in features if table.typed and table.fields[j].kind == "string" and not table.fields[j].numeric
    ][:MOST_LOOKED_AT]
    written = {j: value for j in strings if (value := _written_number(table.first_values(j))) is not None}
    if written:
        holds, value = "holds" if len(written) == 1 else "hold", show_value(next(iter(written.values())))
        yield fit_note(
            _shown_names(table, [*written]),
            lambda listed, shown: (
                f"{listed} {holds} numbers as text ({value}), which were taken as categories; cast them to "
                "numbers to use them so"
            ),
            lambda listed, shown: f"{listed} {holds} numbers as text ({value}), taken as categories; cast them",
        )
    lengths = [j for j in features if _is_length(table.fields[j])]
    if lengths:
        hold = "holds" if len(lengths) == 1 else "hold"
        yield fit_note(_shown_names(table, lengths), lambda told, shown: f"{told} {hold} lengths of time, in days")
    decorated = [f"{field.name!r} ({field.decorated!r})" for field in fields if field.decorated is not None]
    if decorated:
        yield fit_note(
            decorated,
            lambda told, shown: f"numbers were taken as categories in {told}; write them plainly, as 1700",
        )
    grouped = [j for j in features if table.fields[j].grouped is not None]
    if grouped:
        value, thousands = table.fields[grouped[0]].grouped, Remedy("thousands", ".")
        yield fit_note(
            _shown_names(table, grouped),
            lambda listed, shown: (
                f"the point of {value} in {listed} was read as a decimal mark; if it separates thousands, use "
                + thousands
            ),
            lambda listed, shown: f"{value} in {listed} has a decimal point; for thousands use " + thousands,
        )
    whole = [j for j in features if table.fields[j].type.startswith(("int", "uint"))]
    called = [j for j in whole if IDENTIFIER.fullmatch(table.fields[j].name)]
    if called:
        verb = " is used as a feature" if len(called) == 1 else " are used as features"
        about = f"{verb}; leave out with "
        yield _with_way(table, called, lambda listed: listed + about, "ignore", " what only numbers rows")


def _written_number(values: Sequence[object]) -> str | None:
    """Return a number with a decimal mark or a separator if most values of a column are numbers as text.

    Columns of JSON Lines may mix texts with other values.

    Examples
    --------
    >>> _written_number(["1,5", "2", 3]), _written_number(["1,5", 2, 3])
    ('1,5', None)
    """
    texts = [value for value in values if isinstance(value, str)]
    numbers = [text for text in texts if any(each.plain(text) is not None for each in NOTATIONS)]
    marked = (text for text in numbers if not text.strip().lstrip("+-").isdecimal())
    return next(marked, None) if 2 * len(numbers) > len(values) else None


TARGETS = ("label", "target", "class", "y")
"""Usual names of a target, in upper or lower case; the first of these that there is counts."""
ANSWERS = ({"0", "1"}, {"1", "2"}, {"-1", "1"}, {"yes", "no"}, {"y", "n"}, {"true", "false"})
"""How two classes are written that answer a question, in upper or lower case."""
MOST_LOOKED_AT = 20
"""So many columns of text are searched for numbers, which takes time for each."""
FEW_VALUES = 20
"""A column of this many different values may hold classes, however few rows there are."""


FEWEST_TEXTS, MIN_MEAN_WORDS, MIN_MEAN_CHARACTERS = 20, 5, 30
"""A column of strings is text if it has so many values, and they are so long on average: longer than names are."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of one file by what they are for, each a position from 0.

    Attributes
    ----------
    target : int or None
        The labels.
    numbers, texts, hashed, categorical : tuple of int
        The features: numbers as they are, texts as bags of words, values hashed, values one feature each.
    dates : tuple of int
        Features as well: dates, as days and by month and weekday.
    chosen : frozenset of int
        The categorical ones that were asked for, and so may have many values: their places among these.
    notes : tuple of str
        Which columns were left out without being asked to and why, and which may not be meant as features.
    date_forms, date_parts
        How dates are written, and which of their parts are categories; see `TableRecipe`.
    identifiers : tuple of int
        Columns that were left out because they seem to name the rows.
    other_target : int or None
        A column that could be the target as well, where no target was asked for.
    """

    target: int | None
    numbers: tuple[int, ...]
    texts: tuple[int, ...]
    hashed: tuple[int, ...]
    categorical: tuple[int, ...]
    dates: tuple[int, ...] = ()
    chosen: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    date_forms: tuple[Form, ...] = ()
    date_parts: tuple[tuple[int, str], ...] = ()
    identifiers: tuple[int, ...] = ()
    other_target: int | None = None

    @property
    def strings(self) -> tuple[int, ...]:
        """The columns that are read as strings."""
        return self.texts + self.hashed + self.categorical + self.dates


def choose(table: Table, options: Options) -> Roles:
    """Return the role of every column of a table with a target, by the options and by what the columns hold."""
    target, other, note = _target(table, options)
    roles = replace(assign(table, options, target), other_target=other)
    return roles if note is None else replace(roles, notes=(note, *roles.notes))


def assign(table: Table, options: Options, target: int | None) -> Roles:
    """Return the role of every column but the target, by the options and by what the columns hold."""
    asked = _asked(table, options)
    _require_compatible(table, target, asked)
    named = {j for positions in asked.values() for j in positions}
    special = {*asked["text"], *asked["categorical"], *asked["hashed"]}
    dates, strays = _find_dates(table, {target, *special, *asked["ignore"]})
    for j in [*strays] if options.skip_bad else asked["features"]:  # rows of the others are left out, or refused
        if j in strays:
            dates[j] = strays.pop(j)[0]
    if options.date == "none":
        left = [j for j in dates if j not in asked["features"]]
        skipped = dict.fromkeys(left, _no_dates(table, left) if left else "")
        dates = {}
    else:
        skipped = {}
    if not table.argument:
        skipped = left_out(table, {target, *named}, {*dates, *strays, *skipped}) | skipped
        skipped |= dict.fromkeys(strays, _told_strays(table, strays) if strays else "")
    used = asked["features"] or [j for j in range(len(table.fields)) if j != target and j not in skipped]
    ids: list[int] = []
    if table.named and not asked["features"]:
        ids = find_identifiers(table, [j for j in used if j not in named and j not in dates])
        used = [j for j in used if j not in ids]
        skipped |= {ids[0]: told_identifiers(table, ids)} if ids else {}
    used = sorted({*used, *asked["text"], *asked["categorical"], *asked["hashed"]} - {*asked["ignore"]})
    plain = [j for j in used if j not in special and j not in dates]
    _require_usable(table, plain, target)
    _require_names(table, used, target, chosen=options.target is not None)
    strings = [j for j in plain if table.fields[j].kind == "string" and not table.fields[j].numeric]
    if not used:
        raise _nothing_left(table, target)
    texts, told = _recognise_text(table, strings, options)
    categorical = tuple(sorted({*asked["categorical"], *strings} - {*texts}))
    doubts = [*_told_repeated(table, used), *doubtful(table, [j for j in plain if j not in named])]
    notes = told if asked["features"] else (*dict.fromkeys(skipped.values()), *doubts, *told)
    places = [j for j in used if j in dates]
    if places:
        notes += (_told_dates(table, {j: dates[j] for j in places}),)
    return Roles(
        target,
        tuple(j for j in plain if j not in strings),
        tuple(sorted({*asked["text"], *texts})),
        tuple(sorted({*asked["hashed"]})),
        categorical,
        tuple(places),
        frozenset(k for k, position in enumerate(categorical) if position in asked["categorical"]),
        notes,
        tuple(dates[j][0] for j in places),
        tuple((k, part) for k, j in enumerate(places) for part in dates[j][1]),
        tuple(ids),
    )


def _asked(table: Table, options: Options) -> dict[str, list[int]]:
    """Return the columns that each option names."""
    return {
        name: [j for column in getattr(options, name) for j in _positions(table, column, name)]
        for name in ("features", "ignore", "text", "categorical", "hashed")
    }


def _recognise_text(table: Table, strings: Sequence[int], options: Options) -> tuple[list[int], tuple[str, ...]]:
    """Return the one column of strings that holds texts, with a note, where none was named and one does."""
    if table.argument or options.text or len(strings) > MOST_LOOKED_AT:
        return [], ()
    found = [j for j in strings if _holds_texts(table, j)]
    if len(found) != 1:
        return [], ()
    about, then = " holds texts and was read as words; ", " takes each as a category"
    return found, (_with_way(table, found, lambda listed: listed + about, "categorical", then),)


def _holds_texts(table: Table, position: int) -> bool:
    """Return whether a column holds long strings of several words, most of which differ, in its first rows."""
    if table.fields[position].kind != "string" or table.fields[position].numeric:
        return False
    return _are_texts(table.first_values(position))


def _are_texts(found: Sequence[Any]) -> bool:
    """Return whether values are long strings of several words, most of which differ."""
    values = [value for value in found if isinstance(value, str)]
    if len(values) < FEWEST_TEXTS or 2 * len({*values}) <= len(values):
        return False
    words = sum(len(value.split()) for value in values)
    return words >= MIN_MEAN_WORDS * len(values) and sum(map(len, values)) >= MIN_MEAN_CHARACTERS * len(values)


Dated: TypeAlias = tuple[Form, list[str]]
"""The form of dates, and which parts of them vary."""


def _find_dates(
    table: Table, others: Collection[int | None]
) -> tuple[dict[int, Dated], dict[int, tuple[Dated, str]]]:
    """Return the columns whose first values are dates, and those of most dates, with the first other value."""
    found: dict[int, Dated] = {}
    strays: dict[int, tuple[Dated, str]] = {}
    for j, field in enumerate(table.fields):
        says = SAYS_DATE.fullmatch(field.name) is not None
        typed = field.kind == "other" and field.type.startswith(("date", "timestamp"))
        if j not in others and says and field.type.startswith(WHOLE):
            values = [str(value) for value in table.first_values(j)]
            if are_compact(values):
                found[j] = "compact", varying_parts(values, "compact")
            continue
        written = table.typed and field.kind == "string"  # the first rows of text have been looked at for dates
        if j in others or not (typed or written):
            continue
        values = [str(value) if typed else value for value in table.first_values(j)]
        form = find_form(values) or ("compact" if says and are_compact(values) else None)
        stray = find_stray(values) if form is None else None
        if form is not None:
            found[j] = form, varying_parts(values, form)
        elif stray is not None:
            strays[j] = (stray[0], varying_parts(values, stray[0])), stray[1]
    return found, strays


def _told_repeated(table: Table, used: Sequence[int]) -> Iterator[str]:
    """Yield a note about features that share their name with another, and have got one of their own."""
    own = [_own_name(table, j, used) for j in used]
    found = [repr(name) for j, name in zip(used, own, strict=True) if table.fields[j].called not in (None, name)]
    if found:
        yield fit_note(found, lambda told, shown: f"columns of one name have its number in theirs: {told}")


def _own_name(table: Table, position: int, used: Sequence[int]) -> str:
    """Return the name of a column: as the file has it, unless another one in use is called the same."""
    field = table.fields[position]
    alone = field.called is not None and sum(table.fields[j].called == field.called for j in {*used}) == 1
    return field.called if alone and field.called is not None else field.name


def _told_strays(table: Table, strays: dict[int, tuple[Dated, str]]) -> str:
    """Return one note about the columns of dates that hold something else, and were left out."""
    told = [f"{table.fields[j].name!r} ({show_value(value)})" for j, (_, value) in strays.items()]
    was, way = "was" if len(strays) == 1 else "were", Remedy("skip_bad", True)
    return fit_note(
        told,
        lambda listed, shown: f"{listed} {was} left out, for what is no date; " + way + " leaves out such rows",
    )


def _told_dates(table: Table, dates: dict[int, Dated]) -> str:
    """Return one note about all columns of dates."""
    order = {"mdy": ", month first", "dmy": ", day first"}
    alike: dict[str, list[str]] = {}
    for j, (form, parts) in dates.items():
        kind = ", ".join(["days", *parts]) + order.get(form, "")
        alike.setdefault(kind, []).append(repr(table.fields[j].name))
    told = [f"{list_first(names)} ({kind})" for kind, names in alike.items()]
    none = Remedy("date", "none")
    return fit_note(
        told,
        lambda listed, shown: f"dates became numbers: {listed}; leave them out with " + none,
        lambda listed, shown: f"dates: {listed}; " + none + " leaves them out",
    )


def begin_recipe(table: Table, roles: Roles, options: Options) -> TableRecipe:
    """Return what is known of a recipe before the first row is read."""
    used = [*roles.numbers, *roles.strings, *(() if roles.target is None else (roles.target,))]

    def places(positions: tuple[int, ...]) -> tuple[Place, ...]:
        return tuple((_own_name(table, j, used), j) for j in positions)

    target = None if roles.target is None else table.fields[roles.target]
    recipe = TableRecipe(
        named=table.named,
        n_columns=len(table.fields),
        target=None if roles.target is None else places((roles.target,))[0],
        labels=None if target is None else label_kind(target),
        numbers=places(roles.numbers),
        texts=places(roles.texts),
        hashed=places(roles.hashed),
        categorical=places(roles.categorical),
        dates=places(roles.dates),
        date_forms=roles.date_forms,
        date_parts=roles.date_parts,
        ngrams=runs_of(options.ngrams).told,
        bits=options.bits,
        weighting=options.weighting,
        missing=options.missing,
        na=options.na,
        decimal=table.notation.decimal,
        thousands=table.notation.thousands,
    )
    if recipe.n_features > MOST_FEATURES:
        told = f" makes {recipe.n_features:,} features of {len(recipe.texts + recipe.hashed)} columns, more than "
        told += f"{MOST_FEATURES:,}. Use fewer bits."
        raise ParameterError(Given("bits", options.bits) + told, code=RANGE)
    return recipe


def _nothing_left(table: Table, target: int | None) -> FormatError:
    if table.argument:
        return error_at("no column is left: " + Remedy("ignore") + " names all of them", table, code="no-features")
    problem = (
        "there is only one column, so nothing is left to learn from: the target is "
        f"{_called(table, target)}. Check "
    )
    problem += Remedy("delimiter") + ", " + Remedy("target") + " and " + Remedy("ignore")
    return error_at(problem, table, code="no-features")


def find_again(table: Table, recipe: TableRecipe, options: Options) -> Roles:
    """Find the columns of a recipe in another table: by name if they have names, else by position."""
    if recipe.named and table.named:
        places = {field.name: j for j, field in reversed([*enumerate(table.fields)])}
        places |= _of_repeated(table, recipe)
        lacking = [name for name, _ in recipe.columns if name not in places]
        if lacking:
            told = _lacking(lacking, [field.name for field in table.fields])
            raise error_at(told, table, _header(table), code="no-such-column", value=lacking[0])
        found = [places[name] for name, _ in recipe.columns]
        target = places.get(recipe.target[0]) if recipe.target else _unused_target(table, options, found)
    else:
        found, target = _by_position(table, recipe, options)
    if options.target is not None:
        target = _position(table, options.target, "target")
    if target is None and options.labelled:
        wanted = "none" if recipe.target is None else repr(recipe.target[0])
        problem = f"there is no column of labels (in training it was {wanted}); name it with " + Remedy("target")
        raise FormatError(problem, code="no-target", file=table.file, line=1)
    if target in found:
        raise FormatError(f"the target {_called(table, target)} is a feature of the model too", file=table.file)
    several = iter(found)
    by_role: dict[str, Any] = {role: tuple(next(several) for _ in getattr(recipe, role)) for role in ROLES}
    return Roles(target, **by_role)


def _header(table: Table) -> int | None:
    """Return the line that names the columns, where there are lines."""
    return None if table.argument else 1


def _of_repeated(table: Table, recipe: TableRecipe) -> dict[str, int]:
    """Return the columns of a recipe whose name several columns have: those at their places in training."""
    counts = Counter(field.called or field.name for field in table.fields)
    found = {}
    for name, position in (*recipe.columns, *([] if recipe.target is None else [recipe.target])):
        if counts[name] > 1:
            if len(table.fields) != recipe.n_columns or table.fields[position].called != name:
                told = f"{counts[name]} columns are called {name!r}; rename all but one"
                raise error_at(told, table, _header(table), code="column-twice", value=name)
            found[name] = position
    return found


def _require_names(table: Table, features: Sequence[int], target: int | None, *, chosen: bool) -> None:
    """Require names that differ of the columns in use, and of a feature and a target that was not `chosen`."""
    seen: dict[str, int] = {}
    called = None if target is None or chosen else table.fields[target].called
    for j in sorted({*features, *(() if target is None else (target,))}) if table.named else ():
        name = table.fields[j].name
        if not name and not table.argument:
            raise FormatError(
                f"column {j + 1} has no name. Give it one, or leave it out with "
                + Remedy("ignore", (j + 1,))
                + "; if the first line is no header, say so with "
                + Remedy("header", False),
                file=table.file,
                line=1,
                column=j + 1,
            )
        if called is not None and table.fields[j].called == called:
            name = called
        if name in seen:
            raise FormatError(
                f"two columns are called {name!r}; rename one, or leave one out with "
                + Remedy("ignore", (j + _first(table),)),
                code="column-twice",
                value=name,
                file=table.file,
                line=1,
                column=j + 1,
            )
        seen[name] = j


def _first(table: Table) -> int:
    """Return the number of the first column, by which a column without a name is given."""
    return 0 if table.argument else 1


def _by_position(table: Table, recipe: TableRecipe, options: Options) -> tuple[list[int], int | None]:
    width, target = len(table.fields), recipe.target[1] if recipe.target else None
    positions = [position for _, position in recipe.columns]
    if width == recipe.n_columns:
        return positions, target
    if target is not None and width == recipe.n_columns - 1:
        return [position - (position > target) for position in positions], None
    if target is None and width == recipe.n_columns + 1 and not table.argument:
        target = _target(table, replace(options, labelled=True)).position
        assert target is not None, "one column is the last"
        return [position + (position >= target) for position in positions], target
    raise error_at(_other_width(table, recipe.n_columns, target is not None), table, _header(table), code="width")


def _other_width(table: Table, trained: int, labelled: bool) -> str:
    """Return what is said of a table without names that has another number of columns."""
    width = len(table.fields)
    if table.argument:  # scikit-learn's estimator checks look for these words
        return (
            f"{table.file} has {width} features, but TableEncoder is expecting {trained - labelled} features as "
            "input. Pass the columns of training, or a table whose columns have names"
        )
    without = f" (or {trained - 1} without the labels)" if labelled else ""
    return (
        f"the table has {width} columns, but the one that was learned from had {trained}{without}, and they "
        "have no names to find them by"
    )


def _unused_target(table: Table, options: Options, found: list[int]) -> int | None:
    """Return the default target of a table for a recipe that was learned without labels."""
    target = _target(table, options).position
    return None if target in found else target


class _Target(NamedTuple):
    """The column that is the target, another that could be it, and a note about the two."""

    position: int | None
    other: int | None = None
    note: str | None = None


def _target(table: Table, options: Options) -> _Target:
    """Return the column that was asked for, or else the one that seems to be the target."""
    if options.target is not None:
        return _Target(_position(table, options.target, "target"))
    if not options.labelled:
        named = _usual(table)
        return _Target(named[0] if named else None)
    taken, other, why = _guess(table, {j for positions in _asked(table, options).values() for j in positions})
    if other is None or (_is_measured(table, taken) and not _holds_classes(table, taken)):
        return _Target(taken, other)  # a learner of classes refuses such numbers, and names the other
    name, second = table.fields[taken].name, table.fields[other].name
    why = f", because {second!r} {why}" if why else ""
    takes = Remedy("target", second) + f" takes {second!r}"
    return _Target(taken, other, f"{name!r} was taken as the target{why}; " + takes)


def _guess(table: Table, given: Collection[int]) -> tuple[int, int | None, str]:
    """Return the column that is the target, another that could be it, and why that was not taken.

    It is the column with a usual name, or else the last one. A name alone does not make a target of measurements:
    numbers under it give way to a last or first column of few words, unless they are codes of two classes. Columns
    that are given another role stay out of this.
    """
    last = len(table.fields) - 1
    while table.named and last > 0 and is_index(table.fields[last], last):
        last -= 1
    first = 0
    while table.named and first < last and is_index(table.fields[first], first):
        first += 1
    named = _usual(table)
    if not named and table.format != "NPZ" and _holds_texts(table, last):  # its labels can be read only once
        classes = (position for position in range(last) if _holds_classes(table, position))
        if (position := next(classes, None)) is not None:
            return position, last, "holds texts"
    names = [j for j in (first,) if j != last and j not in given and _holds_names(table, j)]
    if not named:
        sure = not names or (_answers(table, last) and not _answers(table, first))
        return last, None if sure else first, ""
    if named == [last]:
        return last, None if not names or _answers(table, last) or _holds_names(table, last) else first, ""
    could = [j for j in named if _holds_classes(table, j)]
    certain = [j for j in could if _answers(table, j) or _holds_names(table, j)]
    usual = (certain or could or named)[0]
    if len(could) > 1:
        return usual, next(j for j in could if j != usual), ""
    if usual == last:
        return last, None, ""
    if last not in named and last not in given and _holds_names(table, last):
        names.insert(0, last)
    names = [j for j in names if j not in named]
    if certain:
        return usual, last if last in names else None, ""
    if names:
        field = table.fields[usual]
        numbers = "numbers" if field.kind == "number" and field.type != "null" else "no names of classes"
        return names[0], usual, "holds " + ("many different values" if _holds_words(table, usual) else numbers)
    if not could and last not in named and _holds_classes(table, last):
        return last, usual, "holds many different values"
    return usual, None, ""


def _usual(table: Table) -> list[int]:
    """Return the columns with a usual name of a target, the most usual name first."""
    lowered = [field.name.lower() for field in table.fields] if table.named else []
    return [lowered.index(name) for name in TARGETS if name in lowered]


def _holds_names(table: Table, position: int) -> bool:
    """Return whether a column holds few different words, as the names of classes are."""
    return _holds_words(table, position) and _holds_classes(table, position)


def _is_measured(table: Table, position: int) -> bool:
    """Return whether a column holds numbers with fractions."""
    return table.fields[position].type.startswith(("double", "float", "decimal"))


def _answers(table: Table, position: int) -> bool:
    """Return whether a column holds the answers to a question, as words or as codes."""
    if table.fields[position].kind == "other":
        return False
    values = {str(value).lower().removeprefix("+").removesuffix(".0") for value in table.first_values(position)}
    return bool(values) and any(values <= answers for answers in ANSWERS)


def _holds_words(table: Table, position: int) -> bool:
    """Return whether a column holds names or truth values, not numbers."""
    field = table.fields[position]
    return field.type in ("bool", WRITTEN_TRUTH) or (field.kind == "string" and not field.numeric)


def _holds_classes(table: Table, position: int) -> bool:
    """Return whether a column holds few different values in its first rows, so that most occur again."""
    if table.fields[position].kind == "other" or _is_length(table.fields[position]):
        return False
    values = table.first_values(position)
    levels = len({*values})
    if _holds_words(table, position):
        return 0 < levels <= max(2, min(FEW_VALUES, len(values) - 1), len(values) // 2)
    return 0 < levels <= max(2, min(FEW_VALUES, len(values) // 2))


def _positions(table: Table, column: Column, name: str) -> list[int]:
    """Return the columns that an option names: several columns of one name can be ignored together."""
    named = [j for j, field in enumerate(table.fields) if column in (field.name, field.called)]
    return named if name == "ignore" and len(named) > 1 else [_position(table, column, name)]


def _position(table: Table, column: Column, name: str) -> int:
    names, width, first = [field.called or field.name for field in table.fields], len(table.fields), _first(table)
    option = Remedy(name) + ": "
    own = [j for j, field in enumerate(table.fields) if column == field.name != field.called]
    if own:
        return own[0]
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            told = f"{names.count(column)} columns are called {column!r}; choose one by its position"
            raise error_at(option + told, table, code="column-twice", value=column)
        return names.index(column)
    try:
        number = None if table.argument and isinstance(column, str) else int(column)
    except ValueError:
        number = None
    if number is None:
        raise error_at(option + _lacking([str(column)], names), table, code="no-such-column", value=column)
    if first <= number < first + width:
        return number - first
    if -width <= number <= -1:
        return number + width
    last = first + width - 1
    told = f"there is no column {number}; positions run from {first} to {last}, or from -1 backwards"
    raise error_at(option + told, table, code="no-such-column", value=column)


def _lacking(names: Sequence[str], known: Iterable[str]) -> str:
    known = list(known)
    told = []
    for name in names[:5]:
        close = get_close_matches(name, known, n=3)
        told.append(repr(name) + (f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    there = ", ".join(show_value(name) for name in known[:12]) + (", …" if len(known) > 12 else "")
    return f"there is no column {', '.join(told)}{more}; the columns are {there}"


def _require_compatible(table: Table, target: int | None, asked: dict[str, list[int]]) -> None:
    for name, positions in asked.items():
        if target is not None and target in positions and name != "ignore":
            both = (
                f"{table.file}: {_called(table, target)} is the target and cannot be in "
                + Given(name)
                + " as well. "
            )
            raise ParameterError(both + "Name another with " + Remedy("target") + ".", parameter=name)
    if target in asked["ignore"]:
        told = f"{table.file}: {_called(table, target)} is the target and cannot be ignored. Name another with "
        raise ParameterError(told + Remedy("target") + ".", parameters=("ignore", "target"))
    exclusive = ("ignore", "text", "categorical", "hashed")
    for position in range(len(table.fields)):
        several = [Message(Given(name)) for name in exclusive if position in asked[name]]
        if position in asked["features"] and position in asked["ignore"]:
            several.insert(0, Message(Given("features")))
        if len(several) > 1:
            places = join_messages(" and in ", several) + "; choose one."
            raise ParameterError(f"{table.file}: {_called(table, position)} is in " + places, code=COMBINATION)


def _require_usable(table: Table, plain: Sequence[int], target: int | None) -> None:
    refused = [table.fields[j] for j in plain if table.fields[j].kind == "other"]
    if refused:
        first = refused[0]
        raise error_at(
            f"column {first.name!r} holds values of type {first.type}, which are no features: leave it out with "
            + Remedy("ignore", tuple(field.name for field in refused[:8]))
            + ", or take its values as names with "
            + Remedy("categorical")
            + " or "
            + Remedy("hashed"),
            table,
            column=first.name,
            code="column-type",
        )
    for field in (table.fields[j] for j in plain):
        if field.doubt is not None:
            value, line, readings = field.doubt
            one = len(readings) == 1
            how = "is no number as numbers are read here" if one else "can be read in several ways"
            told = f"{field.name!r} is {show_value(value)}, which {how}: " + told_readings(value, readings)
            ways = (
                "use that if all numbers are written so" if one else "use the one that is meant",
                "take the values as names with " + Remedy("categorical", (field.name,)),
                "leave the column out with " + Remedy("ignore", (field.name,)),
            )
            raise error_at(Problem(told, ways, "ambiguous-number", value), table, line, field.name)
    if target is not None and (table.fields[target].kind == "other" or _is_length(table.fields[target])):
        field = table.fields[target]
        raise FormatError(
            f"the target {field.name!r} holds values of type {field.type}, which name no classes; "
            "name another with " + Remedy("target"),
            code="column-type",
            file=table.file,
            column=target + 1,
        )


def _is_length(field: Field) -> bool:
    """Return whether a column holds lengths of time."""
    return field.type.startswith("duration")


def _called(table: Table, position: int | None) -> str:
    return "none" if position is None else f"column {position + 1}, {table.fields[position].name!r}"
