"""One HTML page about a model and its data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rosenblatt.atomic import require_place
from rosenblatt.exceptions import ParameterError
from rosenblatt.models.opened import HeldModel
from rosenblatt.reports.page import write_report
from rosenblatt.tasks.data import (
    Log,
    Place,
    all_rows,
    describe_reading,
    feature_names,
    is_tagger,
    log_info,
    open_ready_model,
    places_of,
    require_apart,
    require_no_options,
    show_data,
    source_for,
)
from rosenblatt.tasks.training import run_of, scaled_as_trained, was_trained_on
from rosenblatt.typing import ColumnLike

__all__ = ["report"]

SCALES = {
    "True": "numbers were standardised for training; weights and rows here are in the units of the data",
    "False": "none: the learner got the numbers as they are",
    "None": "none: the learner got the numbers as they are",
    "online": "numbers were standardised by a scaler that goes on learning",
}
"""How rows were scaled, by what the model file says of it."""


def report(
    model: Any,
    data: Any,
    y: ColumnLike | None = None,
    *,
    path: Place = "report.html",
    title: str | None = None,
    positive: Any = None,
    time_limit: float | None = 10.0,
    first: int = 0,
    log: Log = log_info,
    **options: Any,
) -> Path:
    """Write one self-contained HTML page about a model and its data.

    The page shows the learning curve, the bounds, the weights or the decision boundary, the confusion matrix, the
    errors, and whether the classes are separable.

    Parameters
    ----------
    model : path, OpenedModel, estimator or scikit-learn Pipeline
        A trained classifier of this package.
    data : str, path, several of them, Source, or X
        Files or a built-in set with labels (see `open_data`), or with `y` rows in memory.
    y : sequence or None
        The labels of rows in memory.
    path : path
        The file to write.
    title : str or None
        The title of the page.
    positive : label or None
        The class of ROC AUC, average precision and the thresholds; by default the second of two classes.
    time_limit : float or None
        The maximum time in seconds for the proof of separability, and for the bounds.
    first : int
        The number of the first row on the page.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        How to read files; see `open_data`. The columns and their use come from the model.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    rosenblatt.reports.page.write_report : The same for a classifier and arrays, with more options.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> trained = rb.train("@six-points")
    >>> with TemporaryDirectory() as folder:
    ...     page = rb.report(trained.model, "@six-points", path=f"{folder}/six.html")
    ...     "6 of 6 rows right" in page.read_text(encoding="utf-8")
    True
    """
    require_place(path)
    opened = model if is_tagger(model) else open_ready_model(model)
    if is_tagger(opened):
        told = "A report is about rows of a table, and there is none about taggers. Use evaluate."
        raise ParameterError(told, parameter="model")
    trained, seen = None, None
    if y is None:
        source = source_for(opened, data, options)
        require_apart(path, [opened.stored.path, *source.files])
        blocks = all_rows(source)
        X, y = opened.table(blocks.whole, source)
        seen = opened.seen(blocks.n_rows, lambda: blocks.fingerprint)
        describe_reading(source, log)
        if seen == "all" and opened.stored.provenance.get("scaled") is True:
            trained = scaled_as_trained(blocks, source)
        if isinstance(opened.stored, HeldModel) and was_trained_on(opened.stored, opened, source, blocks.n_rows):
            seen = "all"
            run = run_of(opened.stored.learner, blocks.n_rows)
            if run is not None and not run.is_of(X, y):
                trained = scaled_as_trained(blocks, source)
        names = opened.names if opened.preparation.steps else feature_names(source)
        if title is None and isinstance(model, str | os.PathLike):
            title = f"{os.fspath(model)} on {show_data(source.files if data is source else places_of(data))}"
    else:
        require_no_options(options)
        features = opened.features(data)
        X, names = features.native(), opened.names or features.names
        run = run_of(opened.stored.estimator(), features.n_rows)
        scaled = opened.preparation.steps and (run is None or not run.is_of(X, y))
        seen = "unknown" if scaled else None  # rows that were scaled for training are others to the trace
    return write_report(
        path,
        opened.stored.estimator(),
        X,
        y,
        names=names,
        title=title,
        positive=positive,
        seen=seen,
        trained=trained,
        prepared=_prepared(opened.stored.provenance),
        provenance=opened.stored.provenance,
        first=first,
        time_limit=time_limit,
    )


def _prepared(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Return how rows were scaled and split before training, as sentences by name."""
    told = {}
    if "scaled" in provenance:
        told["scale"] = SCALES[str(provenance["scaled"])]
    if "held_out" in provenance:
        share, rows = provenance["held_out"], provenance.get("rows", 0)
        told["split"] = (
            f"trained on all {rows:,} rows"
            if share is None
            else f"trained on {rows:,} rows; {share:.3g} of all were held out"
        )
    return told
