"""`rosenblatt inspect`: show the contents of a model file."""

from __future__ import annotations

import click

from rosenblatt.cli.options import MODEL, Output, Sectioned, Whole, common


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt inspect spam.model
  rosenblatt inspect spam.model --weights 50
  rosenblatt inspect spam.model --json | jq .provenance""",
)
@MODEL
@click.option("--weights", type=Whole(0), default=10, show_default=True, help="Weights to show.")
@common
def inspect(model: str, weights: int, output: Output) -> None:
    """Show the learner, the largest weights by name, and the origin of MODEL. Nothing in it is executed."""
    from rosenblatt.tasks.contents import inspect_model

    contents = inspect_model(model, weights=weights)
    output.result(str(contents), contents.to_json())
