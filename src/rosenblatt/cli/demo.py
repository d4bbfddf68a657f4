"""`rosenblatt demo`: the main commands on built-in data."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rosenblatt.cli.main import commands
from rosenblatt.cli.options import Output, Sectioned, common

CHAPTERS = (
    ("Six points, step by step, as in the lecture", ("trace @six-points",)),
    ("Spam by its words", ("trace @spam-table",)),
    (
        "XOR: no line separates it, and this is the proof",
        ("certify @xor -o {out}/xor.json", "check {out}/xor.json @xor"),
    ),
    (
        "Breast cancer: trained, evaluated, certified",
        (
            "train @breast-cancer -o {out}/cancer.model --holdout 0.25",
            "evaluate --cv 5 @breast-cancer --learner soft-margin",
            "certify @breast-cancer -o {out}/cancer.json",
            "check {out}/cancer.json @breast-cancer",
        ),
    ),
    (
        "Ten digits: which can a plane tell from the others?",
        (
            "train @digits -o {out}/digits.model",
            "evaluate {out}/digits.model @digits",
            "certify @digits -o {out}/digits.json",
            "check {out}/digits.json @digits",
        ),
    ),
    ("A page about it all", ("report {out}/cancer.model @breast-cancer -o {out}/report.html",)),
)


@click.command(cls=Sectioned)
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False), default="rosenblatt-demo",
              show_default=True, help="Folder for models, proofs and the report.")  # fmt: skip
@common
def demo(folder: str, output: Output) -> None:
    """Run the main commands on built-in data and show each of them, in less than a minute."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for title, lines in CHAPTERS:
        click.echo(f"\n{title}\n{'─' * len(title)}")
        for line in lines:
            arguments = [part.format(out=folder) for part in shlex.split(line)]
            click.echo(f"\n$ rosenblatt {shlex.join(arguments)}")
            commands.main([*arguments, "--quiet"], standalone_mode=False)
    output.remark("\nOpen the report in a browser:")
    click.echo(Path(folder) / "report.html")
