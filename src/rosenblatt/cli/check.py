"""`rosenblatt check`: whether a proof holds of data."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from rosenblatt.cli.main import DONE, NO
from rosenblatt.cli.options import COLUMN, COLUMNS, DATA, Output, Sectioned, as_typed, common, jobs, reading
from rosenblatt.exceptions import FormatError
from rosenblatt.rooms import find
from rosenblatt.tables.reading import Options


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt check proof.json data.csv

The proof holds the options with which certify read the data; options given here replace them.

The same check of a CSV file with nothing but Python's standard library:
  python -m rosenblatt.certify.check proof.json data.csv
  python -m rosenblatt.certify.check proof.json corpus.conllu

Exit codes: 0 the proof holds, 1 it does not, 2 something cannot be read.""",
)
@click.argument("proof", type=click.Path(exists=True, dir_okay=False))
@DATA
@click.option("--label", type=COLUMN, help="Of sentences: the column of labels. [default: as the proof says]")
@click.option("--columns", type=COLUMNS, help="Of sentences: the word and further columns. [default: as the proof "
              "says]")  # fmt: skip
@reading
@jobs
@common
def check(
    proof: str,
    data: tuple[str, ...],
    label: str | int | None,
    columns: tuple[str | int, ...] | None,
    options: dict[str, Any],
    output: Output,
) -> int:
    """Check PROOF against DATA, in exact arithmetic."""
    from rosenblatt.certify.proof_reader import read_file, verify_proofs
    from rosenblatt.tasks.data import held_reading, require_numbers, source_of, table_of

    try:
        proofs = read_file(proof)
    except FormatError as error:
        if any(map(_names_a_proof, data)):
            raise click.ClickException(f"{proof} is not a proof; the order is PROOF DATA") from error
        raise
    if "sentences" in proofs[0]["data"]:
        return _check_sentences(proofs[0], proof, data, {"label": label, "columns": columns, **options}, output)
    if label is not None or columns is not None:
        raise click.UsageError(
            "--label and --columns are for sentences, but the proof is about a table: use --target"
        )
    usual = Options()
    given = {name: value for name, value in options.items() if value != getattr(usual, name)}
    held = {name: value for name, value in held_reading(proofs, proof).items() if name not in given}
    source = source_of(data, {**held, **given})
    table = table_of(source, output.remark)
    found, verdict = verify_proofs(proofs, table.X, table.y)
    if not found:
        require_numbers(source, proofs)
    return _tell(found, verdict, held, as_typed((), held), output)


def _tell(found: Any, verdict: str, held: dict[str, Any], typed: str, output: Output) -> int:
    """Print whether a proof holds, and what decides which columns it is about."""
    answer = f"the proof holds: {found.reason}" if found else f"the proof does not hold: {found.reason}"
    if held:
        answer += f"\nread as the proof says, with {typed}"
    output.result(
        answer, {"holds": found.holds, "verdict": verdict, "reason": found.reason, "reading_of_proof": held}
    )
    return DONE if found else NO


def _check_sentences(proof: Any, path: str, data: tuple[str, ...], options: dict[str, Any], output: Output) -> int:
    check_corpus = find("sequences.annotation").check_corpus
    found, verdict, held = check_corpus(proof, *data, file=path, log=output.remark, **options)
    typed = " ".join(f"--{name} {shlex.quote(value)}" for name, value in held.items())
    return _tell(found, verdict, held, typed, output)


def _names_a_proof(place: str) -> bool:
    """Return whether a place is a file that begins as a proof does."""
    if not os.path.isfile(place):
        return False
    with open(place, "rb") as file:
        return b'"rosenblatt-proof"' in file.read(1 << 12)
