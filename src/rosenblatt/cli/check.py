"""`rosenblatt check`: whether a proof holds of data."""

from __future__ import annotations

import os
from typing import Any

import click

from rosenblatt.cli.main import DONE, NO
from rosenblatt.cli.options import DATA, Output, Sectioned, as_typed, common, reading
from rosenblatt.columns.options import Options
from rosenblatt.exceptions import FormatError


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt check proof.json data.csv

The proof holds the options with which certify read the data; options given here replace them.

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
    from rosenblatt.tasks.data import open_data, table_of
    from rosenblatt.tasks.held_reading import held_reading, require_numbers

    try:
        proofs = read_file(proof)
    except FormatError as error:
        if any(map(_names_a_proof, data)):
            raise click.ClickException(f"{proof} is not a proof; the order is PROOF DATA") from error
        raise
    usual = Options()
    given = {name: value for name, value in options.items() if value != getattr(usual, name)}
    held = {name: value for name, value in held_reading(proofs, proof).items() if name not in given}
    source = open_data(*data, **held, **given)
    table = table_of(source, output.remark)
    found, verdict = verify_proofs(proofs, table.X, table.y)
    if not found:
        require_numbers(source, proofs)
    answer = f"the proof holds: {found.reason}" if found else f"the proof does not hold: {found.reason}"
    if held:  # they decide which columns the proof is about
        answer += f"\nread as the proof says, with {as_typed((), held)}"
    output.result(
        answer, {"holds": found.holds, "verdict": verdict, "reason": found.reason, "reading_of_proof": held}
    )
    return DONE if found else NO


def _names_a_proof(place: str) -> bool:
    """Return whether a place is a file that begins as a proof does."""
    if not os.path.isfile(place):
        return False
    with open(place, "rb") as file:
        return b'"rosenblatt-proof"' in file.read(1 << 12)
