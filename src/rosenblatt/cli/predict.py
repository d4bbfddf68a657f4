"""`rosenblatt predict`: predict the labels of files, in constant memory."""

from __future__ import annotations

import sys
from typing import Any

import click

from rosenblatt.cli.options import DATA, MODEL, Output, Sectioned, common, jobs, reading


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt predict spam.model new.csv
  rosenblatt predict spam.model new.csv --scores -o predicted.tsv
  rosenblatt predict tagger.model words.txt
  cat new.jsonl | rosenblatt predict spam.model - --json

Prints one label a line, in quotes as in CSV where it holds a tab, a quote or a line end. With --scores it prints a
table with a header, separated by tabs: for two classes one score, which is positive for the second class, and
otherwise one score for each class. Columns are found by the names they had in training, and labels are not needed.
Rows that --skip-bad leaves out have no line.

A tagger reads sentences: a token a line with an empty line after each sentence, CoNLL-U, or a sentence a line,
which --format text asks for where all lines are of one length. It prints each word with its label, separated by a
tab; --scores adds how far the best other label is behind.""",
)
@MODEL
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="File to write instead of printing.")
@click.option("--scores", is_flag=True, help="Add the decision score.")
@click.option("--probabilities", is_flag=True, help="Add the probability of each class (model trained with "
              "--probabilities).")  # fmt: skip
@reading
@jobs
@common
def predict(
    model: str,
    data: tuple[str, ...],
    path: str | None,
    scores: bool,
    probabilities: bool,
    options: dict[str, Any],
    output: Output,
) -> None:
    """Predict the label of every row of DATA with MODEL."""
    from rosenblatt.tasks.predicting import predict_file

    sys.stdout.flush()
    lines = sys.stdout.buffer if path is None else path
    predict_file(
        model,
        data,
        lines,
        scores=scores,
        probabilities=probabilities,
        as_json=output.as_json,
        log=output.remark,
        **options,
    )
    if path is not None:
        output.remark(f"written to {path}")
