"""The options of learners: their name and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from rosenblatt import registry
from rosenblatt.cli.options import taking
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
        self.help = f"Learner: one of {', '.join(registry.commands())}."
        return super().get_help_record(ctx)


class KernelType(click.ParamType[Any]):
    """A kernel by name, with its parameters in parentheses."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kernel."""
        from rosenblatt.tasks.learning import kernel_of

        try:
            return kernel_of(str(value))
        except ParameterError as error:
            self.fail(str(error), param, ctx)


def _set(settings: Sequence[str]) -> dict[str, Any]:
    if not settings:
        return {}
    from rosenblatt.tasks.learning import parameters_of

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


NAMED = ("max_iter", "max_time", "n_iter_no_change", "tol", "early_stopping", "eta0", "bias", "margin", "order",
         "multiclass", "class_weight", "kernel", "budget")  # fmt: skip

learning = taking(
    [
        click.option("--learner", cls=LearnerOption, type=LearnerName(), default="averaged", show_default=True,
                     metavar="NAME"),
        click.option("--max-iter", type=click.IntRange(1), metavar="N", help="Maximum number of passes."),
        click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="S",
                     help="Maximum seconds of training."),
        click.option("--n-iter-no-change", type=click.IntRange(1), metavar="N",
                     help="Stop after N passes without progress."),
        click.option("--tol", type=float, metavar="X", help="Stop by the loss, once it falls by less than X."),
        click.option("--early-stopping", is_flag=True, default=None, help="Stop by the error on held-out rows."),
        click.option("--eta0", type=float, metavar="X", help="Learning rate η."),
        click.option("--bias", type=click.Choice(["unit", "radius", "none"]),
                     help="Change of the bias by an update: 1, R², or none."),
        click.option("--margin", type=float, metavar="X", help="Update if y·f is not greater than X."),
        click.option("--order", type=click.Choice(["shuffle", "cyclic", "random"]), help="Order of the rows."),
        click.option("--multiclass", type=click.Choice(["direct", "ovr", "ovo"]),
                     help="Method for more than two classes."),
        click.option("--class-weight", type=click.Choice(["balanced"]), help="Weigh rare classes more."),
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
