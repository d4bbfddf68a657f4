"""`rosenblatt check`: whether a proof holds of data."""

from __future__ import annotations

from pathlib import Path
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
    from rosenblatt.certify.certificate import Certificate
    from rosenblatt.exceptions import FormatError, InputError
    from rosenblatt.tasks.data import read_table

    try:
        claim = Certificate.from_json(Path(proof).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise FormatError(f"this is not UTF-8, so no proof: {error.reason}", file=proof) from error
    except InputError as error:
        raise FormatError(f"this is no proof: {error}", file=proof) from error
    table = read_table(*data, log=output.remark, **options)
    found = claim.verify(table.X, table.y)
    output.result(
        f"the proof holds: {found.reason}" if found else f"the proof does not hold: {found.reason}",
        {"holds": found.holds, "verdict": claim.verdict, "reason": found.reason},
    )
    return DONE if found else NO
