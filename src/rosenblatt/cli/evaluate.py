"""`rosenblatt evaluate`: measure a model, or a learner by cross-validation."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import (
    COLUMN,
    MIN_CLASS,
    SCALE,
    Output,
    Sectioned,
    common,
    jobs,
    kind_of,
    learning,
    reading,
)
from rosenblatt.parameters import FoldArguments


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt evaluate spam.model held_out.csv
  rosenblatt evaluate --cv 5 mail.csv --text message
  rosenblatt evaluate tagger.model en_ewt-test.conllu
  rosenblatt evaluate --cv 10 @breast-cancer --learner soft-margin

With --cv there is no MODEL: the rows are divided into K folds, each class evenly. Each fold is predicted by a
model trained on the other folds, and features are scaled by those folds.""",
)
@click.argument("places", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option(
    "--cv", type=kind_of(FoldArguments, "folds"), metavar="K", help="Cross-validate a learner with K folds."
)
@click.option("--label", type=COLUMN, help="Of sentences: the column of true labels. [default: that of training]")
@click.option("--positive", metavar="LABEL", help="Class of F1, ROC AUC, average precision and thresholds.")
@MIN_CLASS
@SCALE
@learning
@reading
@jobs
@common
def evaluate(
    places: tuple[str, ...],
    cv: int | None,
    label: str | int | None,
    positive: str | None,
    min_class: str | None,
    scale: bool | None,
    learner: str | None,
    parameters: dict[str, Any],
    seed: int,
    options: dict[str, Any],
    output: Output,
) -> None:
    """Measure MODEL on DATA: accuracy, precision, recall, F1, ROC AUC, thresholds and the confusion matrix."""
    from rosenblatt.tasks.evaluating import evaluate as evaluate_model
    from rosenblatt.tasks.evaluating import evaluate_folds

    found: Any
    if cv is not None:
        from rosenblatt.tasks.data import reads_sentences

        if reads_sentences(places, label, options["format"]):
            raise click.UsageError("--cv is for tables: hold out sentences with `rosenblatt train --holdout`")
        found = evaluate_folds(
            learner,
            places,
            folds=cv,
            positive=positive,
            scale=scale,
            seed=seed,
            min_class=min_class,
            parameters=parameters,
            log=output.remark,
            **options,
        )
    elif min_class is not None:
        raise click.UsageError("--min-class is for --cv: a trained model has its classes")
    elif len(places) < 2:
        raise click.UsageError("name a model and data, or cross-validate a learner with --cv K")
    else:
        found = evaluate_model(places[0], places[1:], positive=positive, label=label, log=output.remark, **options)
    output.result(str(found), found.to_json())
