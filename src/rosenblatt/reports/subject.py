"""The subject of a report: a trained classifier, data, and its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import printable
from rosenblatt.evaluation import Evaluation, Seen, class_code, evaluate, seen_words
from rosenblatt.exceptions import InputError, ParameterError, ShapeError
from rosenblatt.reports.row_explanation import Explainer, explainer_of, model_of
from rosenblatt.rows.batch import Batch, as_labelled
from rosenblatt.rows.labels import encode_labels
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

PLANE = 2
"""The number of features of a picture of the plane."""
MAX_MARGIN_FEATURES, MAX_MARGIN_VALUES = 2000, 10**6
"""Exact margins would take minutes for more features, or more rows times features."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A classifier and labelled rows."""

    model: Any
    X: Any  # the data as passed
    y: Any
    batch: Batch  # the data, checked, with the classes of the model
    named: tuple[str, ...] | None = None  # the names of the features, if there are any
    rows: Sequence[Any] | None = None  # the names of the rows, if there are any
    # Which of the rows were in the training data; None asks the trace, and "unknown" says that it cannot tell.
    seen: Seen | Literal["unknown"] | None = None
    positive: int | None = None  # the class of precision and recall, if one was chosen
    trained: Any = None  # the rows as the learner got them, if they are scaled and X is not
    first: int = 0  # the number of the first row

    @cached_property
    def predicted(self) -> Ints:
        """The class predicted for each row, as a position in the classes."""
        return encode_labels(self.model.predict(self.X), self.batch.classes, self.batch.n_rows)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Predictions against labels."""
        codes, classes = self.batch.codes, self.batch.classes
        return evaluate(codes, self.predicted, classes, positive=self.positive, scores=self.decision)

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        return [printable(label) for label in self.batch.classes.tolist()]

    def feature(self, j: int) -> str:
        """Return the name of a feature, or x1, x2, … without names."""
        return f"x{j + 1}" if self.named is None else self.named[j]

    @property
    def kind(self) -> str:
        """The kind of classifier."""
        return type(self.model).__name__

    @property
    def pairwise(self) -> bool:
        """Whether the columns are kernel values between rows, not features."""
        return bool(self.model.__sklearn_tags__().input_tags.pairwise)

    @property
    def dear(self) -> str:
        """Why the margin of these rows is not computed; empty if it is."""
        n, d = self.batch.n_rows, self.batch.n_features
        if d <= MAX_MARGIN_FEATURES and n * d <= MAX_MARGIN_VALUES:
            return ""
        return f"The exact margin of {n:,} rows with {d:,} features would take too long."

    @cached_property
    def hyperplanes(self) -> tuple[Floats, Floats] | None:
        """Weights and biases, one row for each class, or one row for two classes; None if the model has none.

        Machines for pairs of classes are summed to one row for each class, as their scores are.
        """
        from rosenblatt.estimators._linear import LinearClassifier

        if not isinstance(self.model, LinearClassifier) or not hasattr(self.model, "coef_"):
            return None
        coef = self.model.coef_
        w = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, np.float64)
        b = np.asarray(self.model.intercept_, np.float64)
        scheme = self.model._scheme
        if scheme.kind != "ovo":
            return w, b
        return scheme.decision(w.T).T, scheme.decision(b[None])[0]

    @cached_property
    def decision(self) -> Floats | None:
        """The decision values: one number for each row, or one for each row and class."""
        if not hasattr(self.model, "decision_function"):
            return None
        return np.asarray(self.model.decision_function(self.X), np.float64)

    @cached_property
    def lead(self) -> Floats | None:
        """By how much each row is right, negative if it is wrong; see `lead_words`."""
        f, codes = self.decision, self.batch.codes
        if f is None:
            return None
        if f.ndim == 1:
            signed = np.where(codes == len(self.batch.classes) - 1, f, -f)
            return signed / self._norm
        rows = np.arange(len(codes))
        others = f.copy()
        others[rows, codes] = -np.inf
        return np.asarray(f[rows, codes] - others.max(axis=1))

    @property
    def lead_words(self) -> str:
        """The meaning of `lead`."""
        if self.decision is not None and self.decision.ndim > 1:
            return "lead of the true class over the best other one"
        return "distance from the hyperplane" if self.hyperplanes is not None else "score"

    @cached_property
    def explainer(self) -> Explainer | str:
        """What gives the parts of a row's score, or why nothing does."""
        try:
            return explainer_of(model_of(self.model))
        except InputError as error:
            return str(error)

    @cached_property
    def _norm(self) -> float:
        if self.hyperplanes is None:
            return 1.0
        return float(np.linalg.norm(self.hyperplanes[0])) or 1.0

    @property
    def seen_words(self) -> str:
        """Whether the model was trained on these rows, in a sentence."""
        if self.seen == "unknown":
            return seen_words(None)
        if self.seen is not None or self.of_training is None:
            return seen_words(self.seen)
        return seen_words("all" if self.of_training else "other")

    @cached_property
    def of_training(self) -> bool | None:
        """Whether these are the training rows; None if that is not known."""
        if self.seen is not None:
            return None if self.seen == "unknown" else self.seen == "all"
        trace = getattr(self.model, "trace_", None)
        if self.hyperplanes is None or trace is None or trace.mistakes is None or not len(trace):
            return None
        return bool(trace.is_of(self.as_trained, self.y))

    @property
    def as_trained(self) -> Any:
        """The rows as the learner got them."""
        return self.X if self.trained is None else self.trained


def subject_of(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    names: Sequence[str] | None,
    rows: Sequence[Any] | None,
    seen: Seen | Literal["unknown"] | None = None,
    positive: Any = None,
    trained: Any = None,
    first: int = 0,
) -> Subject:
    """Check the model and the data of a report."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise ParameterError(f"model is a {name}; pass a fitted classifier of rosenblatt.", parameter="model")
    check_is_fitted(model)
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        raise ParameterError(
            f"model is a {name} that predicts no classes; a report needs a classifier.", parameter="model"
        )
    batch = as_labelled(X, y, np.asarray(model.classes_))
    if names is None:
        known: NDArray[Any] | None = getattr(model, "feature_names_in_", None)
        named = batch.names or (None if known is None else tuple(known))
    else:
        named = tuple(names)
    if named is not None and len(named) != batch.n_features:
        raise ShapeError(f"names has {len(named)} names, but X has {batch.n_features} features.")
    if rows is not None and len(rows) != batch.n_rows:
        raise ShapeError(f"rows has {len(rows)} names, but X has {batch.n_rows} rows.")
    named = None if named is None else tuple(map(printable, named))
    code = None if positive is None else class_code(positive, batch.classes)
    return Subject(model, X, y, batch, named, rows, seen, code, trained, first)
