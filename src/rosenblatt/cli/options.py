"""The options that several commands share, each declared once, and how results and remarks are printed."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from itertools import chain
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from rosenblatt import registry
from rosenblatt.escaping import json_text, printable_lines
from rosenblatt.exceptions import MOST_NOTES, NOTE, Given, Message, MissingRoomError, Remedy, Term, brief_notes
from rosenblatt.parameters import Declared, PerceptronParameters, TrainingArguments
from rosenblatt.tables.reading import (
    CORPUS_FORMATS,
    FORMATS,
    MISSING_RULES,
    MOST_BITS,
    THOUSANDS,
    WEIGHTINGS,
    Column,
    Options,
    runs_of,
)
from rosenblatt.threads import using

Command: TypeAlias = Callable[..., Any]
OWN = "Options"

DATA = click.argument("data", nargs=-1, required=True, metavar="DATA...")


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


class Number(click.FloatRange):
    """A number within bounds."""

    name = "number"


class AnyNumber(click.types.FloatParamType):
    """A number without bounds, whose help names none."""

    name = "number"


class ModelPath(click.Path):
    """The path of a model, which must exist."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Require a file; name a similar one if there is none."""
        if not os.path.exists(value):
            from rosenblatt.tables.data_file import near_names

            self.fail(f"there is no such file: {value}{near_names(value)}", param, ctx)
        return super().convert(value, param, ctx)


MODEL = click.argument("model", type=ModelPath(dir_okay=False))
MIN_CLASS = click.option(
    "--min-class",
    metavar="N[:NAME]",
    help="Leave out classes with fewer than N rows, or give their rows the class NAME (all in memory).",
)
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
    """Prints results to standard output, and remarks to standard error."""

    as_json: bool  # whether the result is one JSON value
    quiet: bool  # whether remarks are not printed
    verbose: bool = False  # whether all notes are printed
    _notes: list[str] = field(default_factory=list)

    def result(self, text: str, value: Any) -> None:
        """Print a result: as text, or as JSON."""
        self.end_notes()
        click.echo(json_text(value) if self.as_json else printable_lines(in_options(text)))

    def remark(self, text: str) -> None:
        """Print a remark, unless the command is quiet; all notes but the first few wait for `end_notes`."""
        text = in_options(text)
        if text.startswith(NOTE) and not self.verbose:
            self._notes.append(text.removeprefix(NOTE))
            if len(self._notes) >= MOST_NOTES:
                return
        if not self.quiet:
            click.echo(printable_lines(text), err=True)

    def end_notes(self) -> None:
        """Print the notes that wait: one as it is, several in one line."""
        waiting = brief_notes(self._notes)[MOST_NOTES - 1 :]
        self._notes.clear()
        for line in waiting if not self.quiet else ():
            click.echo(printable_lines(in_options(line)), err=True)

    @property
    def shows_progress(self) -> bool:
        """Whether remarks go to a terminal."""
        return not self.quiet and sys.stderr.isatty()


def _gather_common(values: dict[str, Any]) -> dict[str, Any]:
    values.pop("debug")  # `main` has looked for it
    output = Output(values.pop("as_json"), values.pop("quiet"), values.pop("verbose"))
    click.get_current_context().call_on_close(output.end_notes)  # also where the command fails
    return values | {"output": output}


common = taking(
    [
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("-q", "--quiet", is_flag=True, help="Print only results and errors."),
        click.option(
            "-v",
            "--verbose",
            is_flag=True,
            help="Print all notes about the data; train also prints the margin and the mistake bound (R/γ)².",
        ),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    ],
    _gather_common,
)
"""Adds the options of all commands; the command gets `output`, an `Output`."""


class Parsed(click.ParamType[Any]):
    """The type of an option whose text a function reads; it may raise `click.BadParameter`."""

    def __init__(self, name: str, read: Callable[[Any], Any]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what the function reads."""
        return self.read(value)


def _jobs(value: Any) -> int:
    """Return a number of threads, or −1 for all cores."""
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number == 0:
        raise click.BadParameter(f"{value!r} is no number of threads. Use one such as 4, or -1 for all cores.")
    return number


def jobs(command: Command) -> Command:
    """Add the option ``--jobs``; the command runs with as many threads."""

    @wraps(command)
    def called(**values: Any) -> Any:
        with using(values.pop("jobs")):
            return command(**values)

    about = "Use N threads, -1 for all cores. Results are the same. [default: ROSENBLATT_THREADS, or one]"
    return click.option("--jobs", type=Parsed("jobs", _jobs), metavar="N", help=about)(called)


def _column(value: Any) -> Column:
    """Return a column: a number is a position from 1 (−1 is the last), and anything else a name."""
    try:
        position = int(value)
    except ValueError:
        return str(value)
    if position == 0:
        raise click.BadParameter("columns are counted from 1, or from the end as -1.")
    return position


def _columns(value: Any) -> tuple[Column, ...]:
    """Return columns that commas separate; a name with a comma stands in double quotes, as in CSV."""
    [names] = csv.reader([str(value)], skipinitialspace=True)
    return tuple(_column(each.strip()) for each in names if each.strip())


COLUMN, COLUMNS = Parsed("column", _column), Parsed("columns", _columns)
RUNS = Parsed("runs", lambda value: runs_of(value).told)
SEVERAL = ("features", "ignore", "text", "categorical", "hashed")  # "na" is a tuple of words already


def _gather_reading(values: dict[str, Any]) -> dict[str, Any]:
    for name in SEVERAL:
        values[name] = tuple(chain.from_iterable(values[name]))
    if values["missing"] is None:  # what is usual depends on the task
        del values["missing"]
    return values | {
        "options": {each.name: values.pop(each.name) for each in fields(Options) if each.name in values}
    }


reading = taking(
    [
        click.option("--target", type=COLUMN, help="Column of the labels, by name or position. [default: label, "
                     "target, class or y, or else the last; of these, the one that holds classes]"),
        click.option("--features", type=COLUMNS, multiple=True, help="Use only these columns, such as a,b,5."),
        click.option("--ignore", type=COLUMNS, multiple=True, help="Leave these columns out."),
        click.option("--text", type=COLUMNS, multiple=True, help="Treat as text (words)."),
        click.option("--categorical", type=COLUMNS, multiple=True, help="Treat as categories (one-hot)."),
        click.option("--hashed", type=COLUMNS, multiple=True, help="Treat as categories (hashed)."),
        click.option("--ngrams", type=RUNS, metavar="N", default=1, show_default=True, help="Count sequences of up"
                     " to N words. 2-3: of two and three words; char:2-5: of two to five characters in a word."),
        click.option("--weighting", type=click.Choice(WEIGHTINGS), default=WEIGHTINGS[0], show_default=True,
                     help="Weight words by (1 + log count) · idf, each text at length 1, or only count them."),
        click.option("--bits", type=Whole(1, MOST_BITS), metavar="N", default=18, show_default=True,
                     help="Hash words into 2^N features."),
        click.option("--vocabulary/--no-vocabulary", default=None, help="Store up to three words of each feature, "
                     "or none, to name weights. [default: one of each, of the largest weights]"),
        click.option("--missing", type=click.Choice(MISSING_RULES), help="How to fill missing numbers: not at "
                     "all, by 0, by the mean, or by the mean and a feature that marks them; missing categories "
                     "are a category of their own. With error, rows without a label are refused too, not left out."
                     " [default: indicator for training, error for proofs; a model fills as in training]"),
        click.option("--date", type=click.Choice(["auto", "none"]), default="auto", show_default=True,
                     help="Turn dates into numbers (days, with month and weekday), or leave them out."),
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


SPELLED = {("scale", "online"): "--online-scale", ("cache", "no"): "--no-cache"}
"""Values that have an option of their own."""
TERMS = {
    "target": "the target",
    "certify": "rosenblatt certify",
    "proof": "rosenblatt certify prints the proof",
    "proved": "proved; rosenblatt certify prints the proof",
    "support": "",
    "label": "--label",
}
"""Things of Python that have another name here."""


def in_options(text: str) -> str:
    """Return a message in the words of the command line.

    Examples
    --------
    >>> in_options("Use " + Remedy("learner", "averaged", "average=True") + ", or set " + Remedy("bits") + ".")
    'Use --learner averaged, or set --bits.'
    """
    return text.told(_said) if isinstance(text, Message) else text


def as_option(parameter: str, value: Any = None) -> str:
    """Return how a parameter is set on the command line, or only its option.

    Examples
    --------
    >>> as_option("header", False), as_option("ignore", ("age", "size")), as_option("alpha", 0.5)
    ('--no-header', '--ignore age --ignore size', '--set alpha=0.5')
    """
    if (parameter, value) in SPELLED:
        return SPELLED[parameter, value]
    option = _option(parameter)
    if option is None or (isinstance(value, str | int) and not _takes(option, value)):
        text = value if isinstance(value, str) else json.dumps(value)
        return "--set " + (parameter if value is None else shlex.quote(f"{parameter}={text}"))
    on, off = option.opts[-1], option.secondary_opts
    if value is None or isinstance(value, bool):
        return off[-1] if value is False and off else on
    several = [str(one) for one in (value if isinstance(value, tuple) else (value,))]
    if option.type is COLUMNS:
        several = ['"' + one.replace('"', '""') + '"' if "," in one else one for one in several]
    return " ".join(f"{on} {shlex.quote(one)}" for one in several)


def _said(slot: Remedy | Given | Term) -> str:
    if isinstance(slot, Term):
        return TERMS.get(slot.name, slot.python)
    if isinstance(slot, Given) and not isinstance(slot.value, str | int | float | tuple):
        if slot.is_named or _option(slot.parameter) is not None:
            return as_option(slot.parameter)
        return as_option(slot.parameter) + "=null" if slot.value is None else str(slot)
    return as_option(slot.parameter, slot.value)


def _takes(option: click.Option, value: str | int) -> bool:
    """Return whether an option can have a value; the learner of a command may have others for its parameter."""
    if isinstance(value, bool):
        return value or not option.is_flag or bool(option.secondary_opts)
    return not isinstance(option.type, click.Choice) or value in option.type.choices


def _option(parameter: str) -> click.Option | None:
    """Return the option that sets a parameter: of the command that runs, or of the first command that has one.

    A command that has ``--set`` sets all parameters of learners by it that are not options of its own.
    """
    from rosenblatt.cli.main import COMMANDS, commands

    context = click.get_current_context(silent=True)
    if context is not None:
        found = _option_of(context.command, parameter)
        sets = found is None and _option_of(context.command, "settings") is not None
        if found is not None or (sets and any(_has(each, parameter) for each in registry.BUILT_IN)):
            return found
    every = (commands.get_command(click.Context(commands, resilient_parsing=True), each) for each in COMMANDS)
    found_there = (_option_of(command, parameter) for command in every if command is not None)
    return next((each for each in found_there if each is not None), None)


def _has(learner: str, parameter: str) -> bool:
    """Return whether a learner has a parameter; one whose room was left out has none."""
    try:
        return parameter in registry.defaults_of(learner)
    except MissingRoomError:
        return False


def _option_of(command: click.Command, parameter: str) -> click.Option | None:
    name = f"--{parameter.replace('_', '-')}"
    options = (each for each in command.params if isinstance(each, click.Option))
    return next((each for each in options if each.name == parameter or name in each.opts), None)


def as_typed(places: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return places and options of reading as a user types them.

    Examples
    --------
    >>> as_typed(["my mail.csv"], {"target": 1, "text": ("body",), "header": False, "missing": "zero"})
    "'my mail.csv' --target 1 --text body --no-header --missing zero"
    """
    usual, typed = Options(), [shlex.quote(place) for place in places]
    typed += [as_option(name, value) for name, value in options.items() if value != getattr(usual, name)]
    return " ".join(typed)


# The options of learners: their name and their parameters.


class LearnerName(click.ParamType[str]):
    """The name of a registered learner."""

    name = "learner"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Require the name of a learner."""
        registry.require_command(str(value))
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed."""
        return [CompletionItem(name) for name in registry.commands() if name.startswith(incomplete)]


class LearnerOption(click.Option):
    """An option whose help lists all registered learners."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        default = f"[default: {registry.OF_TABLES} for tables, {registry.OF_OTHERS} for other data]"
        self.help = f"Learner: one of {', '.join(registry.commands())}. {default}"
        return super().get_help_record(ctx)


def _kernel(value: Any) -> Any:
    """Return a kernel by its name, with its parameters in parentheses."""
    from rosenblatt.tasks.training import kernel_of

    return kernel_of(str(value))


def _set(settings: Sequence[str]) -> dict[str, Any]:
    if not settings:
        return {}
    from rosenblatt.tasks.training import parameters_of

    return parameters_of(settings)


def _gather(values: dict[str, Any]) -> dict[str, Any]:
    given = {name: values.pop(name) for name in NAMED}
    parameters = {name: value for name, value in given.items() if value is not None}
    if parameters.get("bias") == "none":
        parameters["bias"] = None
    parameters |= _set(values.pop("settings"))
    if "random_state" in parameters:
        raise click.UsageError("set random_state with --seed")
    if isinstance(parameters.get("class_weight"), dict):
        weights = parameters["class_weight"]  # JSON has only texts as names, but labels may be numbers
        parameters["class_weight"] = {_label(name): weight for name, weight in weights.items()}
    return values | {"parameters": parameters}


def kind_of(owner: type[Declared], name: str, *choices: str) -> Any:
    """Return the type of an option: what a declared parameter may be, or `choices` where it has fewer here.

    Examples
    --------
    >>> kind_of(PerceptronParameters, "validation_fraction")
    <Number 0<x<1>
    """
    declared = owner._declared[name]
    bounds: Any = declared.bounds
    if choices or declared.choices:
        return click.Choice(choices or [each for each in declared.choices if isinstance(each, str)])
    if declared.type == "int":
        return Whole(bounds.get("least", 1), bounds.get("most"))
    if not bounds:
        return AnyNumber()
    least, most = bounds.get("above", bounds.get("least")), bounds.get("below", bounds.get("most"))
    return Number(least, most, min_open="above" in bounds, max_open="below" in bounds)


def _declared_option(name: str, *choices: str) -> Any:
    """Return the option for a declared parameter; `choices` are those of the command line, where it has fewer."""
    declared, how = PerceptronParameters._declared[name], dict[str, Any](is_flag=True)
    if declared.type != "bool":
        metavar = {"int": "N", "float": "X"}.get(declared.type)
        how = {"type": kind_of(PerceptronParameters, name, *choices), "metavar": metavar}
    return click.option(f"--{name.replace('_', '-')}", default=None, help=declared.help, **how)


SHARED = {
    "max_iter": (),
    "max_time": (),
    "n_iter_no_change": (),
    "tol": (),
    "early_stopping": (),
    "eta0": (),
    "bias": ("unit", "radius", "none"),
    "margin": (),
    "order": ("shuffle", "cyclic", "random"),
    "multiclass": (),
    "class_weight": ("balanced",),
}
"""The parameters that have an option of their own, and the values that it takes, where they are fewer."""
NAMED = (*SHARED, "kernel", "budget")

learning = taking(
    [
        click.option("--learner", cls=LearnerOption, type=LearnerName(), metavar="NAME"),
        *(_declared_option(name, *choices) for name, choices in SHARED.items()),
        click.option("--kernel", type=Parsed("kernel", _kernel), help="Kernel, such as 'rbf' or "
                     "'polynomial(degree=3, c=1)'."),
        click.option("--budget", type=Whole(1), metavar="N", help="Maximum rows in a kernel model."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Any other parameter of the learner, as in Python."),
        click.option("--seed", type=kind_of(TrainingArguments, "seed"), metavar="N", default=0, show_default=True,
                     help="Random seed."),
    ],
    _gather,
    "Learning",
)  # fmt: skip
"""Adds the options of learners; the command gets `learner`, a name, its `parameters`, and the `seed`."""


def _label(name: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(name)
        except ValueError:
            pass
    return name
