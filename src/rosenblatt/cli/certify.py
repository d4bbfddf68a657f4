"""`rosenblatt certify`: separable or not, with a proof."""

from __future__ import annotations

import json
import shlex

import click

from rosenblatt.cli.data import DATA, as_typed, reading, require_apart
from rosenblatt.cli.main import DONE, NO, UNDECIDED
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.columns.options import Options

CODES = {"separable": DONE, "inseparable": NO, "undecided": UNDECIDED}


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt certify @xor                      # no, and why: a point of both hulls
  rosenblatt certify probes.parquet -o proof.json --margin
  rosenblatt check proof.json probes.parquet   # anyone can check it

Exit codes: 0 separable, 1 not separable, 3 undecided.""",
)
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="Write the proof to a file.")
@click.option("--margin", is_flag=True, help="Enclose the largest margin as well.")
@click.option("--no-bias", is_flag=True, help="Only hyperplanes through the origin.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="The most seconds.")
@reading
@common
def certify(
    data: tuple[str, ...],
    path: str | None,
    margin: bool,
    no_bias: bool,
    time_limit: float | None,
    options: Options,
    output: Output,
) -> int:
    """Decide whether a hyperplane separates the classes of DATA, exactly, and prove it."""
    from rosenblatt.atomic import write_whole
    from rosenblatt.certify.separability import certify as decide
    from rosenblatt.cli.table import read_table

    require_apart(path, data)
    table = read_table(data, options, output, filled=True)
    answer = decide(table.X, table.y, bias=not no_bias, margin=margin, time_limit=time_limit)
    if table.names is not None:
        answer = answer.renamed(table.names)
    proof = None if answer.verdict == "undecided" else answer.to_json()
    if path is not None and proof is not None:
        write_whole(path, (proof + "\n").encode())
        again = f"rosenblatt check {shlex.quote(path)} {as_typed(data, options)}"
        output.remark(f"the proof is in {path}; check it with: {again}")
    elif path is not None:
        output.remark(f"there is no proof to write to {path}")
    output.result(
        str(answer),
        {
            "verdict": answer.verdict,
            "reason": answer.reason,
            "rows": table.n_rows,
            "features": table.n_features,
            "proof": None if proof is None else json.loads(proof),
        },
    )
    return CODES[answer.verdict]
