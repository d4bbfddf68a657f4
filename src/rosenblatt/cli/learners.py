"""Learners by name, and their parameters from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from rosenblatt import registry
from rosenblatt.cli.options import taking
from rosenblatt.exceptions import ParameterError

__all__ = ["learning", "make_learner"]


class LearnerName(click.ParamType[str]):
    """The name of a learner of this package, of an installed one, or of one that the process registered."""

    name = "learner"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Require a name that a learner has."""
        if not registry.is_command(str(value)):
            names = registry.commands()
            near = get_close_matches(str(value), names, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(names)}."
            self.fail(f"{value!r} is not a learner. {hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin as typed."""
        return [CompletionItem(name) for name in registry.commands() if name.startswith(incomplete)]


class LearnerOption(click.Option):
    """An option whose help lists the learners there are when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """List all names."""
        self.help = f"One of {', '.join(registry.commands())}."
        return super().get_help_record(ctx)


KERNELS = {"linear": "Linear", "polynomial": "Polynomial", "rbf": "RBF", "laplacian": "Laplacian"}


class KernelType(click.ParamType[Any]):
    """A kernel by name, with numbers in parentheses."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Make the kernel that is named."""
        from rosenblatt import kernels
        from rosenblatt.exceptions import InputError

        kind, _, inside = str(value).partition("(")
        if kind not in KERNELS or (inside and not inside.endswith(")")):
            self.fail(
                f"{value!r} is no kernel; there are {', '.join(KERNELS)}, as in 'rbf(gamma=0.5)'.", param, ctx
            )
        try:
            given = dict(_setting(part.strip()) for part in inside[:-1].split(",") if part.strip())
            return getattr(kernels, KERNELS[kind])(**given)
        except (TypeError, InputError) as error:
            self.fail(f"{value!r}: {error}", param, ctx)


_PARAMETERS: tuple[Callable[[Any], Any], ...] = (
    click.option("--learner", cls=LearnerOption, type=LearnerName(), default="averaged", show_default=True,
                 metavar="NAME"),
    click.option("--max-iter", type=click.IntRange(1), metavar="N", help="The most passes."),
    click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="S", help="The most seconds."),
    click.option("--n-iter-no-change", type=click.IntRange(1), metavar="N",
                 help="End after so many passes without progress."),
    click.option("--tol", type=float, metavar="X", help="Also end when the loss falls by less than this."),
    click.option("--early-stopping", is_flag=True, default=None, help="Hold out rows, and end by their error."),
    click.option("--eta0", type=float, metavar="X", help="The learning rate η."),
    click.option("--bias", type=click.Choice(["unit", "radius", "none"]), help="What the bias gains by a step."),
    click.option("--margin", type=float, metavar="X", help="A visit is a mistake if y·f is not above this."),
    click.option("--order", type=click.Choice(["shuffle", "cyclic", "random"]), help="The order of visits."),
    click.option("--multiclass", type=click.Choice(["direct", "ovr", "ovo"]), help="How more than two "
                 "classes are told apart."),
    click.option("--class-weight", type=click.Choice(["balanced"]), help="Weigh classes by their rarity."),
    click.option("--kernel", type=KernelType(), help="Such as 'rbf' or 'polynomial(degree=3, c=1)'."),
    click.option("--budget", type=click.IntRange(1), metavar="N", help="The most rows a kernel model keeps."),
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                 help="Any other parameter of the learner, as in Python."),
    click.option("--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True,
                 help="Of all that is random."),
)  # fmt: skip

_NAMED = ("max_iter", "max_time", "n_iter_no_change", "tol", "early_stopping", "eta0", "bias", "margin", "order",
          "multiclass", "class_weight", "kernel", "budget")  # fmt: skip


def _gather(values: dict[str, Any]) -> dict[str, Any]:
    given = {name: values.pop(name) for name in _NAMED}
    parameters = {name: value for name, value in given.items() if value is not None}
    if parameters.get("bias") == "none":
        parameters["bias"] = None
    parameters |= dict(_setting(each) for each in values.pop("settings"))
    if "random_state" in parameters:
        raise click.UsageError("give random_state as --seed")
    if isinstance(parameters.get("class_weight"), dict):
        weights = parameters["class_weight"]  # JSON has texts for names alone, where labels may be numbers
        parameters["class_weight"] = {_label(name): weight for name, weight in weights.items()}
    return values | {"parameters": parameters | {"random_state": values.pop("seed")}}


learning = taking(_PARAMETERS, _gather, "Learning")
"""Gives a command the options of a learner; it is called with `learner`, its name, and `parameters`."""


def make_learner(name: str, parameters: dict[str, Any]) -> Any:
    """Return the estimator that a name and parameters stand for.

    Examples
    --------
    >>> make_learner("averaged", {"eta0": 0.5, "random_state": 0})
    Perceptron(average=True, eta0=0.5)
    """
    kind, fixed = registry.command(name)
    estimator = kind(**fixed)
    known = estimator.get_params(deep=False)
    for parameter in parameters:
        if parameter == "random_state" and parameter not in known:
            continue  # nothing is random there
        if parameter in fixed:
            raise ParameterError(
                f"--learner {name} always sets {parameter}={fixed[parameter]}. Choose another learner."
            )
        if parameter not in known or parameter == "callbacks":
            near = get_close_matches(parameter, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(sorted(known))}."
            raise ParameterError(f"--learner {name} has no parameter {parameter}. {hint}")
    return estimator.set_params(**{key: value for key, value in parameters.items() if key in known})


def _label(name: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(name)
        except ValueError:
            pass
    return name


def _setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; a value is JSON where it can be, and text otherwise."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--set {text!r} must be NAME=VALUE, such as --set alpha=0.01")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, {"None": None, "True": True, "False": False}.get(value, value)
