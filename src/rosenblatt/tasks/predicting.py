"""Predictions of files, written line by line in constant memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any, BinaryIO

from rosenblatt.atomic import replacing
from rosenblatt.escaping import as_field, json_text, printable
from rosenblatt.exceptions import ParameterError, Remedy
from rosenblatt.models.files import EstimatorPredictor
from rosenblatt.rooms import find
from rosenblatt.rows.features import Features
from rosenblatt.tasks.data import (
    Data,
    Log,
    Place,
    describe_reading,
    is_tagger,
    log_info,
    open_ready_model,
    require_apart,
    require_files,
    source_for,
)
from rosenblatt.threads import ordered

__all__ = ["predict_file"]


def predict_file(
    model: Any,
    data: Data,
    output: Place | BinaryIO,
    *,
    scores: bool = False,
    probabilities: bool = False,
    as_json: bool = False,
    log: Log = log_info,
    **options: Any,
) -> None:
    r"""Predict the label of every row of files, and write one line for each.

    Parameters
    ----------
    model : path, OpenedModel, estimator or scikit-learn Pipeline
        Trained.
    data : str, path, several of them, or Source
        Files of any size, or a built-in set; see `open_data`. Labels are not needed. A tagger takes sentences
        as `train` does; see `rosenblatt.sequences.tagger_tasks.tag_file`.
    output : path or binary file
        Where the lines go. A path is written completely or not at all.
    scores : bool
        Whether to add the decision score, or the score of each class if there are more than two. Without JSON the
        lines are then a table with a header, separated by tabs. Probes and sets of labels are always such a table,
        with a column for each.
    probabilities : bool
        Whether to add the probability of each class. The model must be calibrated; see `rosenblatt.calibrate`.
    as_json : bool
        Whether each line is a JSON object.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        How to read files; see `open_data`. The columns and their use come from the model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     new = Path(folder) / "new.csv"
    ...     _ = new.write_text("length\n2.5\n-1\n")
    ...     model = rb.Perceptron().fit([[0.0], [1.0]], ["short", "long"])
    ...     rb.predict_file(model, new, f"{folder}/lines.txt")
    ...     Path(f"{folder}/lines.txt").read_text().split()
    ['long', 'short']
    """
    opened = model if is_tagger(model) else open_ready_model(model)
    if is_tagger(opened):
        tag_file = find("sequences.tagger_tasks").tag_file
        if probabilities:
            told = "A tagger has no probabilities, only scores. Use " + Remedy("scores", True) + "."
            raise ParameterError(told, code="no-probabilities", parameter="probabilities", value=True)
        require_files(data)
        tag_file(opened, data, output, scores=scores, as_json=as_json, log=log, **options)
        return
    source = source_for(opened, data, options, labelled=False)
    predictor = opened.predictor
    if isinstance(output, str | os.PathLike):
        require_apart(output, [opened.stored.path, *source.files])
        opening: Any = replacing(output)
    else:
        opening = nullcontext(output)
    people_read = not isinstance(output, str | os.PathLike) and output.isatty()
    field = lru_cache(maxsize=1 << 10)(printable if people_read else as_field)
    write = _as_json if as_json else partial(_as_text, field)
    with opening as file:
        columns = predictor.columns if isinstance(predictor, EstimatorPredictor) else None
        headings = _headings(predictor.classes, columns) if scores else []
        headings += _chances(predictor.classes) if probabilities else []
        if (headings or columns) and not as_json:
            file.write(("\t".join(map(field, [*(columns or ["label"]), *headings])) + "\n").encode())

        def lines(features: Features) -> bytes:
            numbers = {}
            if scores:
                numbers["score"] = predictor.decision(features).tolist()
            if probabilities:
                numbers["probabilities"] = opened.probabilities(features).tolist()
            labels = predictor.predict(features).tolist()
            if columns is not None and as_json:
                labels = [dict(zip(columns, each, strict=True)) for each in labels]
            return write(labels, numbers, predictor.classes).encode()

        for text in ordered(lines, map(opened.preparation.features, source.chunks())):
            file.write(text)
        file.flush()
    describe_reading(source, log)


def _headings(classes: Any, columns: list[str] | None) -> list[str]:
    if columns is not None:
        return [f"score:{name}" for name in columns]
    return ["score"] if classes is None or len(classes) == 2 else [f"score:{label}" for label in classes.tolist()]


def _chances(classes: Any) -> list[str]:
    return [f"probability:{label}" for label in ([] if classes is None else classes.tolist())]


def _as_text(field: Callable[[Any], str], labels: list[Any], numbers: dict[str, list[Any]], classes: Any) -> str:
    cells = (map(field, label) if isinstance(label, list) else [field(label)] for label in labels)
    columns = [[each if isinstance(each, list) else [each] for each in column] for column in numbers.values()]
    rows: Any = (chain.from_iterable(each) for each in zip(*columns, strict=True)) if columns else repeat(())
    return "".join("\t".join([*label, *map(repr, row)]) + "\n" for label, row in zip(cells, rows, strict=False))


def _as_json(labels: list[Any], numbers: dict[str, list[Any]], classes: Any) -> str:
    if "probabilities" in numbers:
        named = [str(label) for label in classes.tolist()]
        numbers["probabilities"] = [dict(zip(named, each, strict=True)) for each in numbers["probabilities"]]
    return "".join(
        json_text({"label": label} | {name: column[i] for name, column in numbers.items()}) + "\n"
        for i, label in enumerate(labels)
    )
