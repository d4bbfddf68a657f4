"""`rosenblatt trace`: every update of a run, as the lectures print them."""

from __future__ import annotations

from typing import Any, NamedTuple

import click
import numpy as np

from rosenblatt.cli.data import DATA, reading, require_apart
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.cli.text import aligned, number, vector
from rosenblatt.columns.options import Options
from rosenblatt.exceptions import ParameterError

FEW = 12  # weights that fit on a line


class Lecture(NamedTuple):
    """How a source runs its own example."""

    eta0: float = 1.0
    start: tuple[float, ...] | None = None
    start_bias: float = 0.0
    first: int = 1


AS_IN_THE_LECTURE = {"@six-points": Lecture(0.2, (1.0, 0.5), 0.0, 5)}


def _numbers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    try:
        return None if value is None else tuple(float(each) for each in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} must be numbers between commas, such as 1,0.5") from None


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt trace @six-points                       # as in the lecture
  rosenblatt trace @six-points --start 0,0 --eta0 1 --bias radius --first 1
  rosenblatt trace @spam-table
  rosenblatt trace data.csv --limit 20

Rows are counted from 1.""",
)
@DATA
@click.option("--eta0", type=float, help="The learning rate η. [default: 1]")
@click.option("--start", callback=_numbers, help="The weights to start from. [default: zeros]")
@click.option("--start-bias", type=float, help="The bias to start from. [default: 0]")
@click.option("--first", type=click.IntRange(1), help="The row that each pass begins with. [default: 1]")
@click.option("--bias", type=click.Choice(["unit", "radius", "none"]), default="unit", show_default=True,
              help="What the bias gains by a step: 1, R², or nothing.")  # fmt: skip
@click.option("--margin", type=float, default=0.0, help="A visit is a mistake if y·f is not above this.")
@click.option("--shuffle", is_flag=True, help="Visit in a random order, new in each pass.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the random order.")
@click.option("--max-iter", type=click.IntRange(1), default=100, show_default=True, help="The most passes.")
@click.option("--limit", type=click.IntRange(0), default=100, show_default=True, help="The most updates shown.")
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False),
              help="Write the whole record: .npz, .csv or .parquet.")  # fmt: skip
@reading
@common
def trace(
    data: tuple[str, ...],
    eta0: float | None,
    start: tuple[float, ...] | None,
    start_bias: float | None,
    first: int | None,
    bias: str,
    margin: float,
    shuffle: bool,
    seed: int,
    max_iter: int,
    limit: int,
    path: str | None,
    options: Options,
    output: Output,
) -> int:
    """Show every update that the perceptron makes on DATA, with the weights after it."""
    import rosenblatt as rb
    from rosenblatt.cli.table import read_table

    require_apart(path, data)
    table = read_table(data, options, output, filled=True)
    usual = AS_IN_THE_LECTURE.get(data[0], Lecture())
    rate = usual.eta0 if eta0 is None else eta0
    begin = usual.first if first is None else first
    offset = usual.start_bias if start_bias is None else start_bias
    weights = usual.start if start is None else start
    if begin > table.n_rows:
        raise ParameterError(f"--first {begin} is beyond the {table.n_rows} rows.")
    order: Any = "shuffle" if shuffle else np.roll(np.arange(table.n_rows), 1 - begin)
    clf = rb.Perceptron(
        eta0=rate, bias=None if bias == "none" else bias, margin=margin, order=order, max_iter=max_iter,
        random_state=seed, trace="mistakes",
    )  # fmt: skip
    given = {} if weights is None and not offset else {"intercept_init": offset, "coef_init": weights}
    clf.fit(table.X, table.y, **given)
    if path is not None:
        clf.trace_.save(path)
        output.remark(f"the whole record is in {path}")
    visits = "in a random order" if shuffle else f"from row {begin} on"
    settings = f"η = {number(rate)}, start {_start(clf.trace_)}, {visits}"
    output.result("\n".join(_lines(clf, table, settings, limit)), _value(clf, limit))
    return 0


def _start(record: Any) -> str:
    w = record.start.w
    if not w.any():
        return "zero"
    return f"w = {vector(w[..., :-1].ravel()[:FEW])}, b = {number(float(w.ravel()[-1]))}"


def _lines(clf: Any, table: Any, settings: str, limit: int) -> list[str]:
    record = clf.trace_
    heading = [f"{table.n_rows} rows, {table.n_features} features; {settings}", ""]
    few = np.size(record.start.w) <= FEW and record.start.w.ndim == 1
    columns = ["pass", "visit", "row", "label", *([] if record.scheme.kind == "binary" else ["against"]), "score",
               *(["w", "b"] if few else [])]  # fmt: skip
    rows = [columns]
    if few:
        W, b = record.path(table.X, table.y)
        rows.append([*[""] * (len(columns) - 3), "start", vector(W[0]), number(float(b[0]))])
    for k in range(min(len(record), limit)):
        i = int(record.index[k])
        rival = [] if record.scheme.kind == "binary" else [_rival(record, k)]
        state = [vector(W[k + 1]), number(float(b[k + 1]))] if few else []
        rows.append([str(record.epoch[k]), str(record.visit[k] + 1), str(i + 1), str(table.y[i]), *rival,
                     number(float(record.score[k])), *state])  # fmt: skip
    body = aligned(rows)
    if len(record) > limit:
        body.append(f"… and {len(record) - limit:,} more; --limit shows more of them, -o writes them all")
    return [*heading, *body, "", _ending(clf)]


def _rival(record: Any, k: int) -> str:
    return str(record.predicted[k]) if record.scheme.kind == "direct" else f"machine {record.machine[k] + 1}"


def _ending(clf: Any) -> str:
    counts = ", ".join(str(count) for count in clf.mistakes_per_pass_[:20])
    more = ", …" if clf.n_iter_ > 20 else ""
    ends = "no mistake in the last pass" if clf.converged_ else "the classes are not separated"
    return f"{clf.stop_reason_} in pass {clf.n_iter_}: {ends}. Mistakes in each pass: {counts}{more}"


def _value(clf: Any, limit: int) -> dict[str, Any]:
    record = clf.trace_
    updates = {name: getattr(record, name)[:limit].tolist() for name in record.columns}
    return {
        "stop_reason": clf.stop_reason_,
        "passes": clf.n_iter_,
        "mistakes_per_pass": clf.mistakes_per_pass_.tolist(),
        "updates": updates,
        "coef": clf.coef_.tolist(),
        "intercept": clf.intercept_.tolist(),
    }
