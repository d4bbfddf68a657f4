"""`rosenblatt trace`: show every update of a run."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt import presets
from rosenblatt.cli.options import DATA, Output, Sectioned, Whole, common, reading


def _start(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[float, ...] | str | None:
    if value is None or value == "first":
        return value
    try:
        return tuple(float(each) for each in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} must be numbers separated by commas, such as 1,0.5, or first for y₁x₁"
        ) from None


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt trace @six-points                       # as in the lecture
  rosenblatt trace @six-points --preset koski        # Rosenblatt's algorithm in the same lecture
  rosenblatt trace @xor --preset zhang               # weights that come back: a cycle
  rosenblatt trace @spam-table
  rosenblatt trace data.csv --limit 20
  rosenblatt trace @six-points --html run.html

Rows are counted from 1.""",
)
@DATA
@click.option("--preset", type=click.Choice(presets.names()),
              help="Rule and start of a lecture. Other options change parts of it.")  # fmt: skip
@click.option("--eta0", type=float, help="Learning rate η. [default: 1]")
@click.option("--start", callback=_start, help="Initial weights, or first for y₁x₁. [default: zeros]")
@click.option("--start-bias", type=float, help="Initial bias. [default: 0]")
@click.option("--first", type=Whole(1), help="First row of each pass. [default: 1]")
@click.option("--bias", type=click.Choice(["unit", "radius", "none"]),
              help="Change of the bias by an update: 1, R², or none. [default: unit]")  # fmt: skip
@click.option("--tie", type=click.Choice(["mistake", "sign", "half", "correct"]),
              help="What a score of 0 is: a mistake, one if sgn(0) is not the label, half a step, or correct. "
                   "[default: mistake]")  # fmt: skip
@click.option("--zero", type=click.Choice(["-1", "1"]), help="Side that sgn(0) means. [default: -1]")
@click.option("--stop-on-cycle/--no-stop-on-cycle", default=None,
              help="End when the weights come back, which proves that no line exists (two classes).")  # fmt: skip
@click.option("--margin", type=float, default=0.0, help="Update if y·f is not greater than this.")
@click.option("--shuffle", is_flag=True, help="Use a new random order in each pass.")
@click.option("--seed", type=Whole(0), default=0, help="Random seed.")
@click.option("--max-iter", type=Whole(1), default=100, show_default=True, help="Maximum passes.")
@click.option("--limit", type=Whole(0), default=100, show_default=True, help="Maximum updates to show.")
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False),
              help="File for the whole record: .npz, .csv or .parquet.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), help="Page to step through the run (two classes).")
@reading
@common
def trace(
    data: tuple[str, ...],
    bias: str | None,
    zero: str | None,
    limit: int,
    path: str | None,
    html: str | None,
    options: dict[str, Any],
    output: Output,
    **settings: Any,
) -> None:
    """Show every update that the perceptron makes on DATA, with the weights after it."""
    from rosenblatt.tasks.data import require_apart
    from rosenblatt.tasks.updates import trace_updates

    require_apart(path, data)
    require_apart(html, data)
    if bias is not None:
        settings["bias"] = None if bias == "none" else bias
    if zero is not None:
        settings["zero"] = int(zero)
    updates = trace_updates(*data, log=output.remark, **settings, **options)
    if path is not None:
        updates.estimator.trace_.save(path)
        output.remark(f"the whole record is in {path}")
    if html is not None:
        updates.write_page(html)
        output.remark(f"the page is {html}")
    output.result(updates.to_text(limit), updates.to_json(limit))
