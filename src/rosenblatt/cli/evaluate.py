"""`rosenblatt evaluate`: how good a model is, or how good a learner would be."""

from __future__ import annotations

from functools import reduce
from typing import Any

import click

from rosenblatt.cli.data import reading
from rosenblatt.cli.learners import learning
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.columns.options import Options


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt evaluate spam.model held_out.csv
  rosenblatt evaluate --cv 5 mail.csv --text message
  rosenblatt evaluate --cv 10 @breast-cancer --learner soft-margin --scale

With --cv no model is named: rows are dealt into K folds, each class evenly, and each fold is predicted by a model
trained on the others, with its own means and scales.""",
)
@click.argument("places", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option("--cv", type=click.IntRange(2), metavar="K", help="Cross-validate a learner with K folds.")
@click.option("--scale", is_flag=True, help="With --cv: standardise features.")
@learning
@reading
@common
def evaluate(
    places: tuple[str, ...],
    cv: int | None,
    scale: bool,
    learner: str,
    parameters: dict[str, Any],
    options: Options,
    output: Output,
) -> None:
    """Measure MODEL on DATA: accuracy, precision, recall, F1 and the confusion matrix."""
    if cv is None:
        if len(places) < 2:
            raise click.UsageError("name a model and data, or cross-validate a learner with --cv K")
        from rosenblatt.cli.data import open_data, remark_on_source
        from rosenblatt.storage.opened import OpenedModel

        model = OpenedModel.open(places[0])
        source = model.source(places[1:], options, labelled=True, opener=open_data)
        found = model.evaluate(source)
        remark_on_source(source, output)
        output.result(str(found), found.to_json())
        return
    from rosenblatt.cli.folds import cross_validate
    from rosenblatt.cli.table import read_table
    from rosenblatt.evaluation import Evaluation

    table = read_table(places, options, output)
    folds = cross_validate(learner, parameters, table, cv, scale=scale)
    total = reduce(Evaluation.merged, folds)
    accuracies = ", ".join(f"{fold.accuracy:.4f}" for fold in folds)
    output.result(
        f"{learner}, {cv} folds, accuracy {accuracies}; all together:\n\n{total}",
        {"learner": learner, "folds": [fold.to_json() for fold in folds], "all": total.to_json()},
    )
