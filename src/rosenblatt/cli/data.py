"""DATA on the command line: the options of reading, and opening what they name."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from types import MappingProxyType
from typing import Any

import click

from rosenblatt.cli.options import taking
from rosenblatt.cli.output import Output
from rosenblatt.columns.options import Column, Options
from rosenblatt.exceptions import ParameterError
from rosenblatt.formats.catalogue import FORMATS
from rosenblatt.text import MOST_BITS, MOST_NGRAMS

__all__ = [
    "DATA",
    "as_typed",
    "feature_names",
    "open_data",
    "reading",
    "remark_on_source",
    "require_apart",
    "require_classes",
    "shown",
]

NOTHING: Mapping[str, Any] = MappingProxyType({})

DATA = click.argument("data", nargs=-1, required=True, metavar="DATA...")


class ColumnType(click.ParamType[Column]):
    """A column by name, or by position from 1 (−1 is the last)."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Column:
        """Read a number as a position and anything else as a name."""
        try:
            position = int(value)
        except ValueError:
            return str(value)
        if position == 0:
            self.fail("columns are counted from 1, or from the end as -1.", param, ctx)
        return position


COLUMN = ColumnType()


class ColumnsType(click.ParamType[tuple[Column, ...]]):
    """Columns between commas."""

    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Column, ...]:
        """Read each as a column."""
        return tuple(COLUMN.convert(each.strip(), param, ctx) for each in str(value).split(",") if each.strip())


COLUMNS = ColumnsType()

MANY = 20  # labels that may all be different, in a table so small that it is but an example

OPPOSITES = {"--header": "--no-header", "--zero-based": "--one-based"}

ANYWAY = ("labelled", "missing", "skip_bad", "chunk_bytes")
"""Options that are as true of a built-in set as of files: nothing is missing there, or bad."""

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--target", type=COLUMN, help="The labels, by name or position. [default: label, target, class "
                 "or y; else the last]"),
    click.option("--features", type=COLUMNS, multiple=True, help="Use these only, such as a,b,5."),
    click.option("--ignore", type=COLUMNS, multiple=True, help="Leave these out."),
    click.option("--text", type=COLUMNS, multiple=True, help="Of text: each word a feature."),
    click.option("--categorical", type=COLUMNS, multiple=True, help="Of names: each name a feature."),
    click.option("--hashed", type=COLUMNS, multiple=True, help="Of very many names, hashed."),
    click.option("--ngrams", type=click.IntRange(1, MOST_NGRAMS), metavar="N", default=1, show_default=True,
                 help="Count runs of up to so many words."),
    click.option("--bits", type=click.IntRange(1, MOST_BITS), metavar="N", default=18, show_default=True,
                 help="Hash words into 2^bits features."),
    click.option("--vocabulary", is_flag=True, help="Remember words, so that their weights have names."),
    click.option("--missing", type=click.Choice(["error", "zero", "mean"]), default="error", show_default=True,
                 help="What to put in the place of missing numbers."),
    click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, and count them."),
    click.option("--format", type=click.Choice(list(FORMATS)), metavar="NAME",
                 help=f"One of {', '.join(FORMATS)}. [default: by name or content]"),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns. "
                 "[default: by its looks]"),
    click.option("--delimiter", metavar="C", help="Between the fields of a line."),
    click.option("--zero-based/--one-based", default=None, help="Where LIBSVM counts features from. "
                 "[default: by the first rows]"),
)  # fmt: skip


def _gather(values: dict[str, Any]) -> dict[str, Any]:
    for name in ("features", "ignore", "text", "categorical", "hashed"):
        if name in values:
            values[name] = tuple(chain.from_iterable(values[name]))
    known = {each.name: values.pop(each.name) for each in fields(Options) if each.name in values}
    return values | {"options": Options(**known)}


reading = taking(_OPTIONS, _gather, "Reading")
"""Gives a command the options of reading; it is called with `options`, an `Options`."""


def open_data(places: Sequence[str], options: Options, recipe: Any = None) -> Any:
    """Return the source that DATA names: files, standard input, or a built-in set."""
    from rosenblatt.datasets.builtin import BuiltinSource
    from rosenblatt.formats.source import open_source

    named = [place for place in places if place.startswith("@")]
    if named and len(places) > 1:
        raise ParameterError(f"{named[0]} is a set of its own. Name it alone, or files alone.")
    if named:
        _require_none(options, named[0])
        return BuiltinSource(named[0][1:])
    return open_source(places, options, recipe)


def require_apart(path: str | None, places: Sequence[str]) -> None:
    """Refuse to write over a file that is read."""
    for place in places:
        if path is not None and os.path.exists(path) and os.path.exists(place) and os.path.samefile(path, place):
            raise ParameterError(f"{path} is read and would be written over. Choose another place with --output.")


def require_classes(source: Any, options: Options, n_classes: int, n_rows: int) -> None:
    """Refuse a column that nobody called the target, and whose values are nearly all different, as texts are."""
    target = getattr(source.recipe, "target", None)
    if options.target is None and target is not None and n_classes > max(MANY, n_rows // 2):
        raise ParameterError(
            f"{shown(source.files)}: the target, {target[0]!r}, has {n_classes:,} different labels in {n_rows:,} "
            "rows. Name the column of labels with --target; if it is this one, name it, too."
        )


def _require_none(options: Options, name: str) -> None:
    usual = Options()
    for each in fields(Options):
        given = getattr(options, each.name)
        if each.name not in ANYWAY and given != getattr(usual, each.name):
            raise ParameterError(f"{name} is built in and read as it is. Drop --{each.name.replace('_', '-')}.")


def shown(places: Sequence[str]) -> str:
    """Return DATA as people call it."""
    if len(places) == 1:
        return "standard input" if places[0] == "-" else places[0]
    return f"{places[0]} and {len(places) - 1} more"


def as_typed(places: Sequence[str], options: Options) -> str:
    """Return DATA and the options of reading as they are typed, so that it is read in the same way again.

    Examples
    --------
    >>> as_typed(["my mail.csv"], Options(target=1, text=("body",), header=False, missing="zero"))
    "'my mail.csv' --no-header --target 1 --text body --missing zero"
    """
    usual, typed = Options(), [shlex.quote(place) for place in places]
    for each in fields(Options):
        value, flag = getattr(options, each.name), "--" + each.name.replace("_", "-")
        if value == getattr(usual, each.name) or each.name in ("labelled", "chunk_bytes"):
            continue
        if isinstance(value, bool):
            typed.append(flag if value else OPPOSITES[flag])
        else:
            several = value if isinstance(value, tuple) else (value,)
            typed += [f"{flag} {shlex.quote(str(one))}" for one in several]
    return " ".join(typed)


def feature_names(source: Any) -> tuple[str, ...] | None:
    """Return the names of all features of a source that has been read, hashed ones as well."""
    if source.names is not None or source.recipe is None:
        names: tuple[str, ...] | None = source.names
        return names
    named: tuple[str, ...] | None = source.recipe.names(source.n_features)
    return named


def remark_on_source(source: Any, output: Output, facts: Mapping[str, Any] = NOTHING) -> None:
    """Say how a source was read, and what was left out of it; `facts` are of the reading that made a cache."""
    output.remark(f"{shown(source.files)}: {facts.get('description', source.description)}")
    skipped = facts.get("skipped", source.skipped.count)
    if skipped:
        output.remark(f"rows left out because they could not be read: {skipped:,}")
        for problem in source.skipped.first:
            output.remark(f"  {problem}")
    if source.unmet:
        output.remark(f"values ignored because their features were never met in training: {source.unmet:,}")
