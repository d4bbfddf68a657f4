"""Why a model predicts what it predicts: `explain`, which reads models and rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.models.files import EstimatorPredictor, Predictor
from rosenblatt.models.opened import OpenedModel
from rosenblatt.reports.row_explanation import Explanation, RowExplanation, explainer_of, model_of
from rosenblatt.rows.features import Features
from rosenblatt.tables.file_source import Source
from rosenblatt.tasks.data import (
    Log,
    describe_reading,
    is_tagger,
    log_info,
    open_ready_model,
    require_no_options,
    source_for,
)

__all__ = ["explain"]


def explain(
    model: Any,
    rows: Any,
    *,
    label: Any = None,
    which: Sequence[int] | range | None = None,
    first: int = 0,
    log: Log = log_info,
    **options: Any,
) -> Explanation:
    """Explain the decision scores of rows by parts that add up to them exactly.

    The parts of linear models, averaged ones among them, are weight times value of each feature. Those of a kernel
    perceptron are its support points, and those of a vote are its hypotheses. In a pipeline the features are those
    that the learner gets, with the names that a `TableEncoder` gives them.

    Parameters
    ----------
    model : path, OpenedModel, estimator or scikit-learn Pipeline
        Trained.
    rows : dataframe, list of mappings, list of texts, array, sparse matrix, path or Source
        The rows, with the columns of training. A str or path is a file or a built-in set; see `open_data`.
    label : label or None
        The class whose score is explained, if there are more than two. The default is the predicted class. A
        `MultilabelPerceptron` needs one, and so do `Probes` of several problems.
    which : sequence of int, range or None
        The rows to explain, by their numbers; None for all. A range may name more rows than there are.
    first : int
        The number of the first row.
    log : callable
        Is called with one sentence at a time about what was read from a file.
    **options
        How to read a file; see `open_data`. The columns and their use come from the model.

    Returns
    -------
    Explanation
        One `RowExplanation` for each row.

    Raises
    ------
    InputError
        For a model whose score is no such sum, such as a network; the message says what to use instead.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from sklearn.pipeline import make_pipeline
    >>> fruit = [{"size": 3.0, "colour": "red"}, {"size": 0.5, "colour": "brown"}, {"size": 2.0, "colour": "red"}]
    >>> model = make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit(fruit, ["apple", "nut", "apple"])
    >>> print(rb.explain(model, [{"size": 1.0, "colour": "brown"}]))
    row 0: apple, by a score of -0.5 (positive: nut, negative: apple)
      feature       value  weight  contribution
      size              1    -1.5          -1.5
      colour=brown      1       1            +1
    """
    opened = _open(model)
    predictor = opened.predictor
    source = None
    if isinstance(rows, str | os.PathLike | Source):
        source = source_for(opened, rows, options, labelled=False)
    else:
        require_no_options(options)
    explained = explainer_of(
        predictor.model if isinstance(predictor, Predictor) else model_of(predictor.estimator), label
    )
    wanted = which if which is None or isinstance(which, range) else [int(each) for each in which]
    found: dict[int, RowExplanation] = {}
    at = first
    for raw, features in _read(opened, rows, source):
        names = opened.names or features.names
        for i in range(features.n_rows):
            if wanted is None or at + i in wanted:
                one, row = raw.part(slice(i, i + 1)), features.part(slice(i, i + 1))
                scores = predictor.decision(row) if predictor.has_scores else predictor.predict(row)
                told = explained(at + i, one, row, scores, names)
                if told.label is None and told.of is None and predictor.has_scores:  # one vector decides
                    told = replace(told, label=np.ravel(predictor.predict(row))[0])
                found[at + i] = told
        at += features.n_rows
        if wanted is not None and at > max(wanted, default=-1):
            break
    absent = [] if isinstance(wanted, range) else [row for row in wanted or () if row not in found]
    if absent:
        raise InputError(f"there is no row {absent[0]}: the rows are {first} to {at - 1}. Choose one of these.")
    if source is not None:
        describe_reading(source, log)
    return Explanation(found.values() if wanted is None else [found[row] for row in wanted if row in found])


def _open(model: Any) -> OpenedModel:
    opened = model if is_tagger(model) else open_ready_model(model)
    if is_tagger(opened):
        told = "A tagger scores whole sentences, so its score is no sum over a row. Use evaluate."
        raise ParameterError(told, parameter="model")
    return opened


def _read(opened: OpenedModel, rows: Any, source: Source | None) -> Iterator[tuple[Features, Features]]:
    """Yield rows as they are in the data, and as the learner gets them."""
    preparation = opened.preparation
    if source is not None:
        chunks: Iterable[Features] = source.chunks()
    elif not preparation.steps and isinstance(opened.predictor, EstimatorPredictor):
        chunks = [opened.predictor.estimator._features(rows)]  # which knows the names of mappings
    else:
        chunks = [preparation.read_raw(rows)]
    for chunk in chunks:
        features = preparation.features(chunk)
        yield (chunk if preparation.keeps_columns else features), features
