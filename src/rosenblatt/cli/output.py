"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import click

from rosenblatt.cli.options import taking
from rosenblatt.escaping import json_text, printable_lines

__all__ = ["Output", "common"]


@dataclass(frozen=True)
class Output:
    """Where results and remarks go.

    Attributes
    ----------
    as_json : bool
        Whether the result is one JSON value.
    quiet : bool
        Whether remarks are kept back.
    """

    as_json: bool
    quiet: bool

    def result(self, text: str, value: Any) -> None:
        """Print a result: as text for people, or as JSON."""
        click.echo(json_text(value) if self.as_json else printable_lines(text))

    def remark(self, text: str) -> None:
        """Say something on the way."""
        if not self.quiet:
            click.echo(printable_lines(text), err=True)

    @property
    def shows_progress(self) -> bool:
        """Whether someone is there to watch."""
        return not self.quiet and sys.stderr.isatty()


def _gather(values: dict[str, Any]) -> dict[str, Any]:
    values.pop("debug")  # `main` has looked for it
    return values | {"output": Output(values.pop("as_json"), values.pop("quiet"))}


common = taking(
    [
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("-q", "--quiet", is_flag=True, help="Print results and errors only."),
        click.option("--debug", is_flag=True, help="Show where in the code an error arose."),
    ],
    _gather,
)
"""Gives a command the options that all have; it is called with `output`."""
