"""`rosenblatt inspect`: what a model file holds."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.cli.text import aligned, count, number
from rosenblatt.escaping import printable


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt inspect spam.model
  rosenblatt inspect spam.model --weights 50
  rosenblatt inspect spam.model --json | jq .provenance""",
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--weights", type=click.IntRange(0), default=10, show_default=True, help="How many weights to show.")
@common
def inspect(model: str, weights: int, output: Output) -> None:
    """Show the learner, the largest weights by name, and where MODEL came from. Nothing in it is executed."""
    from rosenblatt.storage.opened import OpenedModel

    opened = OpenedModel.open(model)
    stored, predictor, recipe = opened.stored, opened.predictor, opened.recipe
    largest = _largest(opened, predictor, weights)
    value = {
        "learner": stored.learner,
        "classes": None if stored.classes is None else stored.classes.tolist(),
        "features": predictor.n_features,
        "parameters": stored.parameters,
        "training": stored.facts,
        "weights": [{"of": of, "feature": name, "weight": weight} for of, name, weight in largest],
        "preprocessing": None if recipe is None else recipe.to_json(),
        "provenance": stored.provenance,
    }
    output.result("\n".join(_lines(stored, predictor.n_features, largest)), value)


def _largest(opened: Any, predictor: Any, weights: int) -> list[tuple[str, str, float]]:
    """Return the weights that are largest in size, of each hyperplane, with what it is of and the feature."""
    linear = getattr(predictor, "model", None)
    if linear is None:
        return []
    names, rows = opened.names, []
    for of, w in zip(linear.scheme.titles(linear.classes), np.atleast_2d(linear.coef), strict=True):
        order = np.argsort(-np.abs(w), kind="stable")[:weights]
        rows += [(of, names[j] if names else f"x{j + 1}", float(w[j])) for j in order if w[j] != 0.0]
    return rows


def _lines(stored: Any, n_features: int, largest: list[tuple[str, str, float]]) -> list[str]:
    from rosenblatt.registry import class_of

    usual = class_of(stored.learner)().get_params(deep=False)
    changed = {name: value for name, value in stored.parameters.items() if value != usual.get(name)}
    lines = [f"{stored.learner}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"]
    if stored.classes is not None:
        labels = ", ".join(map(printable, stored.classes.tolist()[:20]))
        lines.append(f"{count(n_features, 'feature')}, {len(stored.classes)} classes: {labels}")
    if largest:
        several = len({of for of, _, _ in largest}) > 1
        rows = [[*([of] if several else []), name, f"{weight:+.6g}"] for of, name, weight in largest]
        lines += ["", "largest weights", *("  " + line for line in aligned(rows, left=range(1 + several)))]
    for title, values in (("training", stored.facts), ("provenance", stored.provenance)):
        lines += ["", title, *_named(values)] if values else []
    return lines


def _named(values: dict[str, Any]) -> list[str]:
    return [
        "  " + line for line in aligned([[name, _short(value)] for name, value in values.items()], left=(0, 1))
    ]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_short, value[:12])) + (f", … ({len(value)})" if len(value) > 12 else "")
    return str(value)
