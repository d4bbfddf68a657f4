"""The options of learners: their name and their parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from rosenblatt import registry
from rosenblatt.cli.options import taking

__all__ = ["learning", "parameters_of"]


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


KERNELS = {"linear": "Linear", "polynomial": "Polynomial", "rbf": "RBF", "laplacian": "Laplacian"}


class KernelType(click.ParamType[Any]):
    """A kernel by name, with its parameters in parentheses."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kernel."""
        from rosenblatt import kernels
        from rosenblatt.exceptions import InputError

        kind, _, inside = str(value).partition("(")
        if kind not in KERNELS or (inside and not inside.endswith(")")):
            self.fail(f"{value!r} is not a kernel. Use {', '.join(KERNELS)}, as in 'rbf(gamma=0.5)'.", param, ctx)
        try:
            given = dict(_setting(part.strip()) for part in inside[:-1].split(",") if part.strip())
            return getattr(kernels, KERNELS[kind])(**given)
        except (TypeError, InputError) as error:
            self.fail(f"{value!r}: {error}", param, ctx)


def _gather(values: dict[str, Any]) -> dict[str, Any]:
    given = {name: values.pop(name) for name in NAMED}
    parameters = {name: value for name, value in given.items() if value is not None}
    if parameters.get("bias") == "none":
        parameters["bias"] = None
    parameters |= dict(_setting(each) for each in values.pop("settings"))
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
        click.option("--tol", type=float, metavar="X", help="Also stop when the loss falls by less than X."),
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


def parameters_of(settings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that lines of NAME=VALUE set; a kernel is named as by --kernel."""
    parameters = dict(_setting(each) for each in settings)
    if isinstance(parameters.get("kernel"), str):
        parameters["kernel"] = KernelType().convert(parameters["kernel"], None, None)
    return parameters


def _label(name: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(name)
        except ValueError:
            pass
    return name


def _setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE, where the value is JSON or, if it is not valid JSON, text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--set {text!r} must be NAME=VALUE, such as --set alpha=0.01")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, {"None": None, "True": True, "False": False}.get(value, value)
