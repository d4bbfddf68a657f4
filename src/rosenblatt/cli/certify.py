"""`rosenblatt certify`: decide whether classes are separable, with a proof."""

from __future__ import annotations

import json
import shlex
from typing import Any, Literal

import click

from rosenblatt.cli.main import DONE, NO, UNDECIDED
from rosenblatt.cli.options import DATA, Output, Sectioned, as_typed, common, reading
from rosenblatt.cli.python_words import in_options

CODES = {"separable": DONE, "inseparable": NO, "undecided": UNDECIDED}


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt certify @xor                      # no, with a point of both convex hulls as the proof
  rosenblatt certify probes.parquet -o proof.json --margin
  rosenblatt check proof.json probes.parquet   # anyone can check it

Exit codes: 0 separable, 1 not separable, 3 undecided.""",
)
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="Proof file to write.")
@click.option("--margin", is_flag=True, help="Also compute bounds of the largest margin.")
@click.option(
    "--ties/--no-ties",
    default=None,
    help="Decide separation with ties without a limit, or not at all.  [default: half the work of the verdict]",
)
@click.option(
    "--multiclass",
    type=click.Choice(["direct"]),
    help="For several classes: whether one argmax of linear functions makes no error.  [default: pairs and rest]",
)
@click.option("--no-bias", is_flag=True, help="Only hyperplanes through the origin.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Maximum seconds.")
@reading
@common
def certify(
    data: tuple[str, ...],
    path: str | None,
    margin: bool,
    ties: bool | None,
    multiclass: Literal["direct"] | None,
    no_bias: bool,
    time_limit: float | None,
    options: dict[str, Any],
    output: Output,
) -> int:
    """Decide exactly whether a hyperplane separates the classes of DATA, and prove it."""
    from rosenblatt.atomic import write_whole
    from rosenblatt.certify.certificate import Answer
    from rosenblatt.certify.separability import certify as decide
    from rosenblatt.certify.wording import wording
    from rosenblatt.tasks.data import read_table, require_apart
    from rosenblatt.tasks.held_reading import holding

    require_apart(path, data)
    X, y, names = read_table(*data, log=output.remark, **options)
    if len(set(y.tolist())) == 1:
        output.remark(f"note: all rows have the label {y[0]!s}, so there is nothing to separate")
    answer = decide(X, y, bias=not no_bias, margin=margin, ties=ties, multiclass=multiclass, time_limit=time_limit)
    answer = answer if names is None else answer.renamed(names)
    proof = None if answer.verdict == "undecided" else holding(answer.to_json(), options)
    if path is not None and proof is not None:
        write_whole(path, (proof + "\n").encode())
        again = f"rosenblatt check {shlex.quote(path)} {as_typed(data, {})}"
        output.remark(f"the proof is in {path} and counts rows from 0; check it with: {again}")
    elif path is not None:
        output.remark(f"there is no proof to write to {path}")
    n_rows, n_features = X.shape
    value = {"verdict": answer.verdict, "reason": answer.reason, "rows": n_rows, "features": n_features}
    text = in_options(wording(answer, first=1) if isinstance(answer, Answer) else str(answer))
    output.result(text, value | {"proof": None if proof is None else json.loads(proof)})
    return CODES[answer.verdict]
