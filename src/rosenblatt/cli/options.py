"""The options that several commands share, each declared once, and how results and remarks are printed."""

from __future__ import annotations

import csv
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from itertools import chain
from typing import Any, TypeAlias

import click

from rosenblatt.escaping import json_text, printable_lines
from rosenblatt.tables.formats import CORPUS_FORMATS, FORMATS
from rosenblatt.tables.notation import THOUSANDS
from rosenblatt.tables.reading import MOST_BITS, MOST_NGRAMS, Column, Options
from rosenblatt.threads import using

__all__ = [
    "COLUMN",
    "COLUMNS",
    "DATA",
    "MODEL",
    "SCALE",
    "Output",
    "Sectioned",
    "as_typed",
    "common",
    "jobs",
    "reading",
    "taking",
]

Command: TypeAlias = Callable[..., Any]
OWN = "Options"

DATA = click.argument("data", nargs=-1, required=True, metavar="DATA...")


class ModelPath(click.Path):
    """The path of a model, which must exist."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Require a file; name a similar one if there is none."""
        if not os.path.exists(value):
            from rosenblatt.tables.data_file import near_names

            self.fail(f"there is no such file: {value}{near_names(value)}", param, ctx)
        return super().convert(value, param, ctx)


MODEL = click.argument("model", type=ModelPath(dir_okay=False))
SCALE = click.option(
    "--scale/--no-scale",
    default=None,
    help="Standardise numbers for training; the model takes them as they are. [default: yes for tables, no for "
    "sparse files and worked examples such as @xor]",
)


class Sectioned(click.Command):
    """A command whose help lists its own options first, and then those of `taking` under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and not isinstance(each, click.Argument):
                sections.setdefault(getattr(each, "section", OWN), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def taking(
    options: Sequence[Callable[[Any], Any]], gather: Callable[[dict[str, Any]], dict[str, Any]], section: str = OWN
) -> Callable[[Command], Command]:
    """Return a decorator that adds options under a heading; `gather` turns their values into arguments."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> Any:
            return command(**gather(values))

        decorated: Command = called
        for option in reversed(options):
            decorated = option(decorated)
            decorated.__click_params__[-1].section = section  # type: ignore[attr-defined]
        return decorated

    return decorate


@dataclass(frozen=True)
class Output:
    """Prints results to standard output, and remarks to standard error.

    Attributes
    ----------
    as_json : bool
        Whether the result is one JSON value.
    quiet : bool
        Whether remarks are not printed.
    """

    as_json: bool
    quiet: bool

    def result(self, text: str, value: Any) -> None:
        """Print a result: as text, or as JSON."""
        click.echo(json_text(value) if self.as_json else printable_lines(text))

    def remark(self, text: str) -> None:
        """Print a remark, unless the command is quiet."""
        if not self.quiet:
            click.echo(printable_lines(text), err=True)

    @property
    def shows_progress(self) -> bool:
        """Whether remarks go to a terminal."""
        return not self.quiet and sys.stderr.isatty()


def _gather_common(values: dict[str, Any]) -> dict[str, Any]:
    values.pop("debug")  # `main` has looked for it
    return values | {"output": Output(values.pop("as_json"), values.pop("quiet"))}


common = taking(
    [
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("-q", "--quiet", is_flag=True, help="Print only results and errors."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    ],
    _gather_common,
)
"""Adds the options of all commands; the command gets `output`, an `Output`."""


class JobsType(click.ParamType[int]):
    """A number of threads, or −1 for all cores."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Require a whole number other than 0."""
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number == 0:
            self.fail(f"{value!r} is no number of threads. Use one such as 4, or -1 for all cores.", param, ctx)
        return number


def jobs(command: Command) -> Command:
    """Add the option ``--jobs``; the command runs with as many threads."""

    @wraps(command)
    def called(**values: Any) -> Any:
        with using(values.pop("jobs")):
            return command(**values)

    about = "Use N threads, -1 for all cores. Results are the same. [default: ROSENBLATT_THREADS, or one]"
    return click.option("--jobs", type=JobsType(), metavar="N", help=about)(called)


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


class ColumnsType(click.ParamType[tuple[Column, ...]]):
    """Columns separated by commas; a name with a comma stands in double quotes, as in CSV."""

    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Column, ...]:
        """Read each as a column."""
        [names] = csv.reader([str(value)], skipinitialspace=True)
        return tuple(COLUMN.convert(each.strip(), param, ctx) for each in names if each.strip())


COLUMN, COLUMNS = ColumnType(), ColumnsType()
SEVERAL = ("features", "ignore", "text", "categorical", "hashed")  # "na" is a tuple of words already
OPPOSITES = {"--header": "--no-header", "--zero-based": "--one-based"}


def _gather_reading(values: dict[str, Any]) -> dict[str, Any]:
    for name in SEVERAL:
        values[name] = tuple(chain.from_iterable(values[name]))
    return values | {
        "options": {each.name: values.pop(each.name) for each in fields(Options) if each.name in values}
    }


reading = taking(
    [
        click.option("--target", type=COLUMN, help="Column of the labels, by name or position. [default: label, "
                     "target, class or y, or else the last; of these, the one that holds classes]"),
        click.option("--features", type=COLUMNS, multiple=True, help="Use only these columns, such as a,b,5."),
        click.option("--ignore", type=COLUMNS, multiple=True, help="Leave these columns out."),
        click.option("--text", type=COLUMNS, multiple=True, help="Treat as text (counts of words)."),
        click.option("--categorical", type=COLUMNS, multiple=True, help="Treat as categories (one-hot)."),
        click.option("--hashed", type=COLUMNS, multiple=True, help="Treat as categories (hashed)."),
        click.option("--ngrams", type=click.IntRange(1, MOST_NGRAMS), metavar="N", default=1, show_default=True,
                     help="Count sequences of up to N words."),
        click.option("--bits", type=click.IntRange(1, MOST_BITS), metavar="N", default=18, show_default=True,
                     help="Hash words into 2^N features."),
        click.option("--vocabulary", is_flag=True, help="Store the words, so that weights have names."),
        click.option("--missing", type=click.Choice(["error", "zero", "mean"]), default="error", show_default=True,
                     help="How to fill missing numbers; missing categories are a category of their own."),
        click.option("--na", multiple=True, metavar="WORD", help="Another word for missing values, such as -999; "
                     "=WORD: this one instead of the usual ones."),
        click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, and count them."),
        click.option("--format", type=click.Choice([*FORMATS, *CORPUS_FORMATS]), metavar="NAME",
                     help=f"File format: {', '.join(FORMATS)}; of sentences: {', '.join(CORPUS_FORMATS)}. "
                     "[default: by name or content]"),
        click.option("--header/--no-header", default=None, help="Whether the first line names the columns. "
                     "[default: by its content]"),
        click.option("--delimiter", metavar="C", help="Separator of columns in CSV."),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of numbers in CSV and TSV. "
                     "[default: by their content]"),
        click.option("--thousands", type=click.Choice(THOUSANDS), metavar="C", help="Separator of thousands in "
                     "numbers of CSV and TSV, such as ','. [default: none]"),
        click.option("--encoding", metavar="NAME", help="Encoding of text files, such as latin-1. "
                     "[default: UTF-8]"),
        click.option("--zero-based/--one-based", default=None, help="First feature number in LIBSVM files. "
                     "[default: by the first rows]"),
    ],
    _gather_reading,
    "Reading",
)  # fmt: skip
"""Adds the options of reading; the command gets `options`, a dict for `rosenblatt.open_data`."""


def as_typed(places: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return places and options of reading as a user types them.

    Examples
    --------
    >>> as_typed(["my mail.csv"], {"target": 1, "text": ("body",), "header": False, "missing": "zero"})
    "'my mail.csv' --target 1 --text body --no-header --missing zero"
    """
    usual, typed = Options(), [shlex.quote(place) for place in places]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value == getattr(usual, name):
            continue
        if isinstance(value, bool):
            typed.append(flag if value else OPPOSITES[flag])
        else:
            several = value if isinstance(value, tuple) else (value,)
            typed += [f"{flag} {shlex.quote(str(one))}" for one in several]
    return " ".join(typed)
