"""The options of learners: their name and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from rosenblatt import registry
from rosenblatt.cli.options import taking
from rosenblatt.estimators._declarations import PerceptronParameters
from rosenblatt.exceptions import ParameterError

__all__ = ["learning"]


class LearnerName(click.ParamType[str]):
    """The name of a registered learner."""

    name = "learner"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Require the name of a learner."""
        if not registry.is_command(str(value)):
            names = registry.commands()
            near = get_close_matches(str(value), names, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(names)}."
            self.fail(f"{value!r} is not a learner. {hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed."""
        return [CompletionItem(name) for name in registry.commands() if name.startswith(incomplete)]


class LearnerOption(click.Option):
    """An option whose help lists all registered learners."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        default = "[default: averaged; averaged-pa1 where there is text]"
        self.help = f"Learner: one of {', '.join(registry.commands())}. {default}"
        return super().get_help_record(ctx)


class KernelType(click.ParamType[Any]):
    """A kernel by name, with its parameters in parentheses."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kernel."""
        from rosenblatt.tasks.training import kernel_of

        try:
            return kernel_of(str(value))
        except ParameterError as error:
            self.fail(str(error), param, ctx)


def _set(settings: Sequence[str]) -> dict[str, Any]:
    if not settings:
        return {}
    from rosenblatt.tasks.training import parameters_of

    try:
        return parameters_of(settings)
    except ParameterError as error:
        raise click.UsageError(f"--set {error}") from error


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


def _option(name: str, *choices: str) -> Any:
    """Return the option for a declared parameter; `choices` are those of the command line, where it has fewer."""
    declared = PerceptronParameters._declared[name]
    bounds, kind = declared.bounds, dict[str, Any]()
    match declared.type:
        case "bool":
            kind = {"is_flag": True}
        case "int":
            kind = {"type": click.IntRange(1), "metavar": "N"}
        case "float":
            least = bounds.get("above", bounds.get("least"))
            kind = {
                "type": click.FloatRange(least, min_open="above" in bounds) if bounds else float,
                "metavar": "X",
            }
        case _:
            kind = {"type": click.Choice(choices or declared.choices)}
    return click.option(f"--{name.replace('_', '-')}", default=None, help=declared.help, **kind)


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
        *(_option(name, *choices) for name, choices in SHARED.items()),
        click.option("--kernel", type=KernelType(), help="Kernel, such as 'rbf' or 'polynomial(degree=3, c=1)'."),
        click.option("--budget", type=click.IntRange(1), metavar="N", help="Maximum rows in a kernel model."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Any other parameter of the learner, as in Python."),
        click.option("--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True,
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
