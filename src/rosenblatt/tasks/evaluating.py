"""How good a model is, on rows it has not seen: `evaluate` and `evaluate_folds`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import ShowsText
from rosenblatt.evaluation import Evaluation, RegressionEvaluation, class_code
from rosenblatt.evaluation import evaluate as compare
from rosenblatt.exceptions import Given, ParameterError, Remedy
from rosenblatt.models.opened import HeldModel, OpenedModel
from rosenblatt.parameters import UNUSED, EvaluationArguments, FoldArguments
from rosenblatt.registry import abilities
from rosenblatt.rooms import find
from rosenblatt.rows.labels import encode_labels
from rosenblatt.rows.pairs import PairEvaluation, as_groups
from rosenblatt.tables.collect import fingerprint_of, transform_blocks
from rosenblatt.tables.data_file import closed_on_error
from rosenblatt.tables.file_source import Source
from rosenblatt.tasks.data import (
    Log,
    RareClasses,
    all_rows,
    describe_reading,
    explain_target,
    fills_means,
    is_tagger,
    log_info,
    mark_and_tell,
    note_similar,
    open_ready_model,
    rare_ways,
    require_files,
    require_no_options,
    require_target,
    source_for,
    source_of,
)
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import ColumnLike, Ints, MatrixLike

if TYPE_CHECKING:
    from rosenblatt.sequences.tag_scores import SequenceEvaluation

__all__ = ["CrossValidation", "evaluate", "evaluate_folds"]


def evaluate(
    model: Any,
    data: Any,
    y: ColumnLike | None = None,
    *,
    positive: Any = None,
    label: str | int | None = None,
    log: Log = log_info,
    **options: Any,
) -> Evaluation | RegressionEvaluation | PairEvaluation | SequenceEvaluation:
    """Compare the predictions of a model with labels, or with numbers.

    Parameters
    ----------
    model : path, OpenedModel, estimator or scikit-learn Pipeline
        Trained. With X and y it can be any classifier that has `predict` and `classes_`.
    data : str, path, several of them, dataframe, Source, or X
        Files, a built-in set or a dataframe with labels, read a part at a time (see `open_data`), or with `y` rows
        in memory. A tagger takes sentences as `train` does.
    y : sequence or None
        The labels of rows in memory.
    positive : label or None
        The class of ROC AUC, average precision and the thresholds; by default the second of two classes.
    label : str, int or None
        For a tagger, the column of the true labels in files; by default that of training.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        How to read files; see `open_data`. The columns and their use come from the model. Rows without a label
        are left out, and a note counts them; ``missing="error"`` refuses them.

    Returns
    -------
    Evaluation, RegressionEvaluation, PairEvaluation or SequenceEvaluation
        Accuracy, precision, recall, F1, the confusion matrix, and ROC AUC of the positive class. Of a model that
        predicts numbers, the mean squared error; of one that ranks rows, the pairs in the right order. Of a tagger
        also sentences and spans. `seen` is "all" where it is known that the model was trained on these rows: by
        the fingerprint in its file, or by the trace of a classifier in memory, which not all have.

    Raises
    ------
    LabelError
        If a label is not a class of the model.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, _ = rb.read_table("@iris")
    >>> model = rb.SoftMarginClassifier().fit(X, y)
    >>> rb.evaluate(model, X, y).accuracy == rb.evaluate(model, "@iris").accuracy == model.score(X, y)
    True
    """
    EvaluationArguments(label=label, log=log)._check_parameters()
    if is_tagger(model) and y is not None:
        require_no_options(options)
        compared: SequenceEvaluation = find("sequences.tag_scores").evaluate_sequences(y, model.predict(data))
        return compared
    from rosenblatt.tasks.training import was_trained_on

    if y is None:
        opened = model if is_tagger(model) else open_ready_model(model)
        if is_tagger(opened):
            evaluate_tagger = find("sequences.tagger_tasks").evaluate_tagger
            if positive is not None:
                raise ParameterError(
                    "A tagger has no positive class. Drop " + Given("positive") + ".", code=UNUSED
                )
            require_files(data)
            tagged: SequenceEvaluation = evaluate_tagger(opened, data, label=label, log=log, **options)
            return tagged
        if label is not None:
            told = Given("label") + " is for taggers, but the model predicts rows of tables. Use "
            raise ParameterError(told + Remedy("target") + ".", code=UNUSED, value=label)
        source = source_for(opened, data, options)
        found = opened.evaluate(source, positive)
        describe_reading(source, log)
        if not _can_be_read_again(source):
            return found  # so they are not compared with those of training
        numbers = opened.predictor.classes is None
        seen = opened.seen(found.n_rows, lambda: fingerprint_of(source, numbers=numbers))
        if isinstance(opened.stored, HeldModel) and was_trained_on(opened.stored, opened, source, found.n_rows):
            seen = "all"
        return replace(found, seen=seen)
    require_no_options(options)
    if isinstance(model, str | os.PathLike | OpenedModel):
        opened = open_ready_model(model)
        labels, classes = opened.predict(data), opened.predictor.classes
        decide = opened.decision if opened.predictor.has_scores else None
    else:
        labels, classes = model.predict(data), getattr(model, "classes_", None)
        decide = getattr(model, "decision_function", None)
    if classes is None:
        ranks = "groups" in abilities(model if not isinstance(model, str | os.PathLike | OpenedModel) else None)
        return PairEvaluation.of(y, labels) if ranks else RegressionEvaluation.of(y, labels)
    codes = encode_labels(y, classes, len(labels))
    code = None if positive is None else class_code(positive, np.asarray(classes))
    scores = decide(data) if decide is not None and (code is not None or len(classes) == 2) else None
    predicted = encode_labels(labels, classes, len(labels))
    found = compare(codes, predicted, classes, positive=code, scores=scores)
    return replace(found, seen="all") if _replays(model, data, y, len(labels)) else found


def _can_be_read_again(source: Source) -> bool:
    """Return whether a source is of files, a built-in set or a data frame, and not of standard input."""
    from rosenblatt.tables.file_source import FrameSource

    if not source.files:
        return isinstance(source, FrameSource)
    return all(name.startswith("@") or os.path.isfile(name) for name in source.files)


def _replays(model: Any, X: MatrixLike, y: ColumnLike, n_rows: int) -> bool:
    """Return whether a model is known to be trained on these rows, by the trace of its training."""
    from rosenblatt.tasks.training import run_of

    steps = getattr(model, "steps", None)  # of a scikit-learn Pipeline
    run = run_of(steps[-1][1] if steps else model, n_rows)
    return run is not None and run.is_of(model[:-1].transform(X) if steps and len(steps) > 1 else X, y)


@dataclass(frozen=True, eq=False)
class CrossValidation(ShowsText):
    """The evaluations of a cross-validation; ``print`` shows them.

    Attributes
    ----------
    learner : str
        The name of the learner.
    folds : list of Evaluation or RegressionEvaluation
        Each fold, predicted by a model that was trained on the other folds.
    """

    learner: str
    folds: list[Any]

    @property
    def total(self) -> Any:
        """All folds together: every row is predicted once."""
        return reduce(lambda one, other: one.merged(other), self.folds)

    def __str__(self) -> str:
        return f"{self._folds()}; all together:\n\n{self.total}"

    def _html_parts(self) -> tuple[object, ...]:
        _, *total = self.total._html_parts()
        return "Cross-validation", f"{self._folds()}; all together:", *total

    def _folds(self) -> str:
        what, rates = "accuracy", [getattr(fold, "accuracy", 0.0) for fold in self.folds]
        if isinstance(self.folds[0], RegressionEvaluation):
            what, rates = "MSE", [fold.mse for fold in self.folds]
        if isinstance(self.folds[0], PairEvaluation):
            what, rates = "pairs in order", [fold.share for fold in self.folds]
        each = ", ".join(f"{rate:g}" if what == "MSE" else f"{rate:.4f}" for rate in rates)
        return f"{self.learner}, {len(self.folds)} folds, {what} {each}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        folds = [fold.to_json() for fold in self.folds]
        return {"learner": self.learner, "folds": folds, "all": self.total.to_json()}


def evaluate_folds(
    learner: Any,
    data: Any,
    y: ColumnLike | None = None,
    *,
    folds: int = 5,
    positive: Any = None,
    scale: bool | None = None,
    seed: int = 0,
    min_class: int | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    log: Log = log_info,
    n_jobs: int | None = None,
    **options: Any,
) -> CrossValidation:
    """Predict each fold of the data by a model that was trained on the other folds.

    Parameters
    ----------
    learner : str, estimator, scikit-learn Pipeline or None
        A name that ``rosenblatt train --learner`` takes, or an estimator of this package, which is not changed. A
        pipeline that begins with a `TableEncoder` takes tables in memory; the encoder learns from the rows that
        are trained on. None: as in `train`; "averaged" for rows in memory.
    data : str, path, several of them, dataframe, Source, or X
        Files, a built-in set or a dataframe with its labels (see `open_data`), or with `y` rows in memory.
    y : sequence or None
        The labels of rows in memory.
    folds : int
        The number of parts. Each class is distributed evenly; groups of a ranking stay whole.
    positive : label or None
        The class whose F1 is given; by default the second of two classes.
    scale : bool or None
        Whether to standardise features, by the means and deviations of the rows trained on; see `train`. None: yes
        for tables that are read, no for rows in memory.
    seed : int
        Shuffles the rows, and is the `random_state` of a learner given by name.
    min_class : int, str or None
        Of data that is read: classes with fewer rows are left out, such as 5, or become one class: "5:other".
    parameters : mapping or None
        Parameters of a learner given by name.
    log : callable
        Is called with one sentence at a time about what was read.
    n_jobs : int or None
        The number of threads that train folds side by side; −1 means all cores. BLAS uses one thread, so that the
        results are the same for any number. None means ROSENBLATT_THREADS, or one.
    **options
        How to read files; see `open_data`. Rows without a label are left out, as `train` does.

    Returns
    -------
    CrossValidation
        The evaluations of the folds, and of all of them together.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.evaluate_folds("soft-margin", "@iris", folds=3, scale=True)
    >>> [round(fold.accuracy, 2) for fold in found.folds], found.total.n_rows
    ([0.98, 0.92, 0.96], 150)
    """
    from rosenblatt.rows.batch import as_batch
    from rosenblatt.tables.blocks import TakenBlocks
    from rosenblatt.tasks.training import (
        default_learner,
        evaluate_predictions,
        fit_prepared,
        is_regression,
        named_learner,
        preparation,
        scales_by_default,
        takes_groups,
        unscaled,
    )

    asked = FoldArguments(folds=folds, scale=scale, seed=seed, min_class=min_class, parameters=parameters, log=log)
    asked._check_parameters()
    fill, recipe, groups, rare = False, None, None, RareClasses.of(min_class)
    if y is not None and _reads_tables(learner):
        require_no_options(options)
        if min_class is not None:
            raise ParameterError(
                "min_class is for data that is read. Leave rare classes out of X and y before.",
                parameter="min_class",
            )
        if scale or parameters:
            told = "The learner is a pipeline: use TableEncoder(scale=True), and set parameters in it."
            raise ParameterError(told, parameter="scale" if scale else "parameters")
        return _of_pipeline(learner, data, y, folds=folds, positive=positive, seed=seed, n_jobs=n_jobs)
    source = None if y is not None else source_of(data, options, learning=True)
    with nullcontext() if source is None else closed_on_error(source):
        if learner is None:
            learner = default_learner(source is not None and source.measured)
        regression = is_regression(named_learner(learner, parameters, seed, bare=True)[1])
    if source is None:
        require_no_options(options)
        if min_class is not None:
            raise ParameterError(
                "min_class is for data that is read. Leave rare classes out of X and y before.",
                parameter="min_class",
            )
        batch, scale = as_batch(data, y), bool(scale)
    else:
        with explain_target(source):
            blocks = all_rows(source, numbers=regression)
        describe_reading(source, log)
        blocks = blocks if rare is None or regression else rare.apart(blocks, log)
        blocks, recipe = mark_and_tell(blocks, log)
        note_similar(blocks.classes, log, source.options)
        require_target(source, blocks, regression=regression)
        batch, fill = blocks.whole, fills_means(source)
        groups = source.groups if takes_groups(named_learner(learner, parameters, seed, bare=True)[1]) else None
        scale = scales_by_default(source) if scale is None else scale
    code = None if positive is None or regression else class_code(positive, batch.classes)
    dealt = np.zeros_like(batch.codes) if regression or groups is not None else batch.codes
    fold_of = deal(dealt, folds, seed, batch.classes, rare)
    if groups is not None:
        numbers = as_groups(groups, batch.n_rows)
        fold_of = deal(np.zeros(int(numbers.max()) + 1, np.int64), folds, seed)[numbers]
    name, _ = named_learner(learner, parameters, seed, bare=True)

    def tried(fold: int) -> Evaluation | RegressionEvaluation | PairEvaluation:
        _, estimator = named_learner(learner, parameters, seed, bare=True)
        rows = TakenBlocks(batch, fold_of != fold)
        before = preparation(rows, recipe, fill=fill, scale=scale)
        own, others = (None, None) if groups is None else (groups[fold_of == fold], groups[fold_of != fold])
        fit_prepared(estimator, transform_blocks(rows, *before), others)
        left = unscaled(estimator, before)
        return evaluate_predictions(estimator, left, batch.take(fold_of == fold), positive=code, groups=own)

    with using(n_jobs, batch.stored), one_blas_thread():
        return CrossValidation(name, list(ordered(tried, range(folds), foreign=True)))


def _reads_tables(learner: Any) -> bool:
    """Return whether a learner is a pipeline that begins with a `TableEncoder`."""
    steps: Sequence[Any] = getattr(learner, "steps", ())
    return bool(steps) and type(steps[0][1]).__name__ == "TableEncoder"


def _of_pipeline(
    pipeline: Any, X: Any, y: ColumnLike | None, *, folds: int, positive: Any, seed: int, n_jobs: int | None
) -> CrossValidation:
    """Cross-validate a pipeline on a table in memory; see `evaluate_folds`."""
    from sklearn.base import clone

    from rosenblatt.rows.labels import as_labels, one_a_row
    from rosenblatt.tables.in_memory import n_rows_of, take_rows
    from rosenblatt.tasks.training import is_regression, takes_groups

    last = pipeline.steps[-1][1]
    if takes_groups(last):
        told = "A pipeline that ranks rows needs their groups. Cross-validate it on files with qid."
        raise ParameterError(told, parameter="data")
    n_rows, regression = n_rows_of(X), is_regression(last)
    labels = one_a_row(y, n_rows)
    codes, classes = (np.zeros(n_rows, np.int64), None) if regression else as_labels(y, n_rows)
    code = None if positive is None or classes is None else class_code(positive, classes)
    fold_of = deal(codes, folds, seed)

    def tried(fold: int) -> Evaluation | RegressionEvaluation:
        others, own = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        fitted = clone(pipeline).fit(take_rows(X, others), labels[others])
        predicted = fitted.predict(take_rows(X, own))
        if classes is None:
            return RegressionEvaluation.of(labels[own], predicted)
        return compare(codes[own], encode_labels(predicted, classes, len(own)), classes, positive=code)

    with using(n_jobs, n_rows), one_blas_thread():
        return CrossValidation(type(last).__name__, list(ordered(tried, range(folds), foreign=True)))


def _ways(counts: Ints, classes: NDArray[Any], folds: int, rare: RareClasses | None) -> str:
    """Return how to go on where classes have fewer rows than there are folds."""
    least = int(counts[counts > 0].min())
    if (counts >= folds).sum() < 2:  # without the rare classes there is nothing to tell apart
        return f"Use at most {least} folds." if least > 1 else "Use fewer folds."
    return rare_ways(counts, classes, folds, rare) + (f", or use at most {least} folds." if least > 1 else ".")


def deal(codes: Ints, folds: int, seed: int, classes: Any = None, rare: RareClasses | None = None) -> Ints:
    """Return the fold of each row: each class is shuffled and distributed evenly.

    The classes are distributed one after the other, so that the sizes of folds differ by at most one row.

    Examples
    --------
    >>> np.bincount(deal(np.array([0, 0, 1, 0, 1, 0, 1]), 3, seed=0)).tolist()
    [3, 2, 2]
    """
    counts = np.bincount(codes)
    least = counts[counts > 0].min()
    if least < folds:
        which = "one" if classes is None else f"class {classes[np.flatnonzero(counts == least)[0]]!s}"
        raise ParameterError(
            f"{folds} folds need {folds} rows of each class, but {which} has {least}. "
            + ("Use fewer." if classes is None else _ways(counts, classes, folds, rare)),
            parameter="folds",
            value=folds,
        )
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    fold = np.empty(len(codes), np.int64)
    fold[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % folds
    return fold
