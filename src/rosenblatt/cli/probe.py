"""`rosenblatt probe`: train and measure linear probes on embeddings."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import Output, Sectioned, Whole, common, jobs
from rosenblatt.exceptions import FormatError, LabelError, Message, ShapeError, Term

SIDES = {"-1": -1, "0": 0, "": 0, "1": 1, "+1": 1}


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt probe embeddings.npy labels.csv -o probes.csv --report probes.html
  rosenblatt probe layer1.npy layer2.npy labels.csv --layers   # a probe of each label for each layer
  rosenblatt probe a.npy b.npy labels.csv --controls 3         # two shards of the same rows

EMBEDDINGS are NPY, safetensors (a matrix) or Parquet (one column of lists, or columns of numbers). LABELS is a CSV
file with a column for each problem and a line for each row: -1, 0 (not in the problem) and 1, two labels, or
several (one problem for each). An empty field is a row that is not in the problem.""",
)
@click.argument("embeddings", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.argument("labels", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="CSV file to write the table to.")
@click.option("--report", type=click.Path(dir_okay=False), help="HTML page to write.")
@click.option("--model", type=click.Path(dir_okay=False), help="Model file to write the probes to.")
@click.option("--layers", is_flag=True, help="Each file is a layer of the same rows, not a shard.")
@click.option("--folds", type=Whole(2), default=5, show_default=True, help="Number of folds.")
@click.option("--controls", type=Whole(0), default=1, show_default=True, help="Control tasks a problem.")
@click.option("--max-iter", type=Whole(1), default=1000, show_default=True, help="Maximum number of passes.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Random seed.")
@click.option("--no-verdict", is_flag=True, help="Do not decide whether problems are separable.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "auto"]), default="cpu", show_default=True,
              help="Where to train.")  # fmt: skip
@jobs
@common
def probe(
    embeddings: tuple[str, ...],
    labels: str,
    path: str | None,
    report: str | None,
    model: str | None,
    layers: bool,
    folds: int,
    controls: int,
    max_iter: int,
    seed: int,
    no_verdict: bool,
    device: str,
    output: Output,
) -> None:
    """Train a linear probe for each column of LABELS on EMBEDDINGS, and measure it on rows it has not seen."""
    from rosenblatt.atomic import write_whole
    from rosenblatt.rooms import find
    from rosenblatt.tasks.data import require_apart

    if model is not None and layers:
        raise click.UsageError("--model holds the probes of one matrix. Drop --layers, or train each layer alone.")
    for written in (path, report, model):
        require_apart(written, (*embeddings, labels))
    columns, lines = _columns(labels)
    probes = find("probes.probes").Probes(
        folds=folds,
        controls=controls,
        max_iter=max_iter,
        random_state=seed,
        decide=not no_verdict,
        device=device,
        verbose=int(output.shows_progress),
    )
    with _told_of_file(labels, lines):
        if layers:
            trained: Any = probes.fit_layers(_named(embeddings), columns)
        else:
            trained = probes.fit(embeddings[0] if len(embeddings) == 1 else list(embeddings), columns)
    if not layers:
        output.remark(f"trained on {probes.device_}")
    table = trained.table()
    if path is not None:
        write_whole(path, table.to_csv().encode())
    if model is not None:
        probes.save(model)
    if report is not None:
        from rosenblatt.reports.probes_page import write_probes

        told = {"embeddings": ", ".join(embeddings), "labels": labels}
        write_probes(report, trained, provenance=told)
    output.result(str(table), table.to_dicts())


def _named(paths: tuple[str, ...]) -> dict[str, str]:
    """Return the files by their names, or by their paths where two have the same name."""
    names = {Path(each).stem: each for each in paths}
    return names if len(names) == len(paths) else {each: each for each in paths}


def _columns(path: str) -> tuple[dict[str, Any], list[int]]:
    """Return the columns of a CSV file of labels, and the line of each row, with that of the names before them.

    Sides −1, 0 and 1 are numbers, and empty fields are missing.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            rows, ends = [], [0]
            for row in reader:
                rows.append(row)
                ends.append(reader.line_num)
    except UnicodeDecodeError:
        raise FormatError("is no text in UTF-8", ("save it again as UTF-8",), file=path) from None
    (header, *rows), lines = rows or [[]], [end + 1 for end in ends[:-1]] or [1]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FormatError(f"has two columns {twice!r}", ("rename one",), file=path, line=1)
    for line, row in zip(lines[1:], rows, strict=True):
        if len(row) != len(header):
            told = f"has {len(row)} fields, but the first line has {len(header)}"
            raise FormatError(told, ("correct it",), file=path, line=line)
    columns: dict[str, Any] = {}
    for name, values in zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True):
        if "-1" in values and set(values) <= SIDES.keys():
            columns[name] = np.array([SIDES[value] for value in values])
        else:
            columns[name] = np.array([value or None for value in values], dtype=object)
    return columns, lines


@contextmanager
def _told_of_file(path: str, lines: list[int]) -> Iterator[None]:
    """Say which line and column of the file of labels an error is about, in place of Y."""
    try:
        yield
    except (LabelError, ShapeError) as error:
        message = error.args[0]
        parts = message.parts if isinstance(message, Message) else ()
        if not any(isinstance(part, Term) and part.name == "labels" for part in parts):
            raise
        line = lines[min(1 + error.row, len(lines) - 1)] if error.row is not None else lines[0]
        names = {
            "labels": "the file" if error.column is None else f"column {error.column!r}",
            "embeddings": "the embeddings",
        }
        told = [names[part.name] if isinstance(part, Term) else part for part in parts]
        kind = type(error)
        raise kind(
            Message(f"{path}:{line}: ", *told), code=error.code, file=path, line=line, column=error.column
        ) from error
