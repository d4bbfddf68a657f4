"""`rosenblatt check`: whether a proof holds of data."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.main import DONE, NO
from rosenblatt.cli.options import DATA, Output, Sectioned, common, reading


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt check proof.json data.csv

The same check of a CSV file with nothing but Python's standard library:
  python -m rosenblatt.certify.check proof.json data.csv

Exit codes: 0 the proof holds, 1 it does not, 2 something cannot be read.""",
)
@click.argument("proof", type=click.Path(exists=True, dir_okay=False))
@DATA
@reading
@common
def check(proof: str, data: tuple[str, ...], options: dict[str, Any], output: Output) -> int:
    """Check PROOF against DATA, in exact arithmetic."""
    from rosenblatt.certify.proof_reader import read_file, verify_proofs
    from rosenblatt.tasks.data import read_table

    proofs = read_file(proof)
    table = read_table(*data, log=output.remark, **options)
    found, verdict = verify_proofs(proofs, table.X, table.y)
    output.result(
        f"the proof holds: {found.reason}" if found else f"the proof does not hold: {found.reason}",
        {"holds": found.holds, "verdict": verdict, "reason": found.reason},
    )
    return DONE if found else NO
