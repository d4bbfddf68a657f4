"""`rosenblatt predict`: labels of a stream of rows, in constant memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, BinaryIO

import click

from rosenblatt.cli.data import DATA, open_data, reading, remark_on_source, require_apart
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.columns.options import Options
from rosenblatt.escaping import as_field, json_text, printable


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt predict spam.model new.csv
  rosenblatt predict spam.model new.csv --scores -o predicted.tsv
  cat new.jsonl | rosenblatt predict spam.model - --json

One label a line, in quotes as in CSV where it holds a tab, a quote or a line end; with --scores a table with a
heading, between tabs: of two classes the score that is positive for the second, of more one a class. Columns are
found by the names they had in training; labels may be there or not. Rows that
--skip-bad leaves out have no line.""",
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="Write to a file.")
@click.option("--scores", is_flag=True, help="Add what labels are chosen by.")
@reading
@common
def predict(
    model: str, data: tuple[str, ...], path: str | None, scores: bool, options: Options, output: Output
) -> None:
    """Predict the label of every row of DATA by MODEL."""
    from rosenblatt.storage.opened import OpenedModel

    opened = OpenedModel.open(model)
    source = opened.source(data, options, opener=open_data)
    require_apart(path, [model, *source.files])
    predictor = opened.predictor
    people_read = path is None and sys.stdout.isatty()
    field = lru_cache(maxsize=1 << 10)(printable if people_read else as_field)
    write = _as_json if output.as_json else partial(_as_text, field)
    with _writing(path) as file:
        if scores and not output.as_json:
            file.write(("\t".join(["label", *map(field, _headings(predictor.classes))]) + "\n").encode())
        for features, _ in opened.rows(source):
            decision = predictor.decision(features).tolist() if scores else None
            file.write(write(predictor.predict(features).tolist(), decision).encode())
    remark_on_source(source, output)
    if path is not None:
        output.remark(f"written to {path}")


def _headings(classes: Any) -> list[str]:
    return ["score"] if classes is None or len(classes) == 2 else [f"score:{label}" for label in classes.tolist()]


def _as_text(field: Callable[[Any], str], labels: list[Any], scores: list[Any] | None) -> str:
    if scores is None:
        return "".join(f"{field(label)}\n" for label in labels)
    rows = (each if isinstance(each, list) else [each] for each in scores)
    return "".join(
        "\t".join([field(label), *map(repr, row)]) + "\n" for label, row in zip(labels, rows, strict=True)
    )


def _as_json(labels: list[Any], scores: list[Any] | None) -> str:
    rows: Iterator[dict[str, Any]] = (
        ({"label": label} for label in labels)
        if scores is None
        else ({"label": label, "score": score} for label, score in zip(labels, scores, strict=True))
    )
    return "".join(json_text(row) + "\n" for row in rows)


@contextmanager
def _writing(path: str | None) -> Iterator[BinaryIO]:
    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from rosenblatt.atomic import replacing

    with replacing(path) as file:
        yield file
