"""`rosenblatt report`: write one page about a model and its data."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import DATA, MODEL, Number, Output, Sectioned, common, reading


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt report spam.model held_out.csv -o report.html

The page is one file that needs nothing else: it can be sent by mail, and opened without a network.""",
)
@MODEL
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), default="report.html", show_default=True,
              help="HTML file to write.")  # fmt: skip
@click.option("--title", help="Title of the page.")
@click.option("--positive", metavar="LABEL", help="Class of ROC AUC, average precision and thresholds.")
@click.option("--time-limit", type=Number(0, min_open=True), default=10.0, show_default=True,
              help="Maximum seconds for proofs.")  # fmt: skip
@reading
@common
def report(
    model: str,
    data: tuple[str, ...],
    path: str,
    title: str | None,
    positive: str | None,
    time_limit: float,
    options: dict[str, Any],
    output: Output,
) -> None:
    """Write a page: learning curve, bounds, weights or boundary, confusion matrix, errors, and the certificate."""
    from rosenblatt.tasks.reporting import report as write

    written = write(
        model,
        data,
        path=path,
        title=title,
        positive=positive,
        time_limit=time_limit,
        first=1,
        log=output.remark,
        **options,
    )
    output.result(str(written), {"report": str(written)})
