"""`rosenblatt report`: one page about a model and its data."""

from __future__ import annotations

import click

from rosenblatt.cli.data import DATA, feature_names, open_data, reading, remark_on_source, require_apart, shown
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.columns.options import Options


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt report spam.model held_out.csv -o report.html

The page holds everything it shows: it can be mailed, and opened without a network.""",
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), default="report.html", show_default=True,
              help="Where the page goes.")  # fmt: skip
@click.option("--title", help="The heading of the page.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True,
              help="The most seconds for proofs.")  # fmt: skip
@reading
@common
def report(
    model: str,
    data: tuple[str, ...],
    path: str,
    title: str | None,
    time_limit: float,
    options: Options,
    output: Output,
) -> None:
    """Write a page: learning curve, bounds, weights or boundary, confusions, errors, and the certificate."""
    from rosenblatt.reports.page import write_report
    from rosenblatt.storage.opened import OpenedModel

    opened = OpenedModel.open(model)
    source = opened.source(data, options, labelled=True, opener=open_data)
    require_apart(path, [model, *source.files])
    X, y = opened.table(source)
    remark_on_source(source, output)
    written = write_report(
        path,
        opened.stored.estimator(),
        X,
        y,
        names=opened.names if opened.preparation.steps else feature_names(source),
        title=title or f"{model} on {shown(data)}",
        provenance=opened.stored.provenance,
        time_limit=time_limit,
    )
    output.result(str(written), {"report": str(written)})
