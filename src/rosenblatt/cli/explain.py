"""`rosenblatt explain`: the parts of the decision scores of rows."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import DATA, MODEL, Output, Sectioned, Whole, common, reading


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt explain spam.model mail.csv --row 17
  rosenblatt explain iris.model @iris --row 1 --row 51 --class versicolor
  rosenblatt explain spam.model new.csv --json | jq '.[0].parts[:3]'

Rows are counted from 1. The parts are features, or the support points of a kernel, or the hypotheses of a vote.
They add up to the score exactly; what the sum of floats rounds off is listed as rounding. A value in parentheses
is the one that the learner gets, after scaling. JSON has all parts that are not zero.""",
)
@MODEL
@DATA
@click.option("--row", "rows", type=Whole(1), multiple=True, metavar="N",
              help="Row to explain; may be given again. [default: the first 5]")  # fmt: skip
@click.option("--class", "label", metavar="LABEL",
              help="Class whose score is explained, if there are more than two. [default: the predicted "
                   "one]")  # fmt: skip
@click.option("--top", type=Whole(1), default=10, show_default=True, help="Parts to show of each row.")
@reading
@common
def explain(
    model: str,
    data: tuple[str, ...],
    rows: tuple[int, ...],
    label: str | None,
    top: int,
    options: dict[str, Any],
    output: Output,
) -> None:
    """Show what speaks for and against the prediction of rows of DATA by MODEL."""
    from rosenblatt.reports.row_explanation import SHOWN_ROWS
    from rosenblatt.tasks.data import open_ready_model, source_for
    from rosenblatt.tasks.explaining import explain as explain_rows

    opened = open_ready_model(model)
    source = source_for(opened, data, options, labelled=False)
    which = rows or range(1, SHOWN_ROWS + 1)
    found = explain_rows(opened, source, label=label, which=which, first=1, log=output.remark)
    output.result(found.to_text(top), found.to_json())
