"""What a report is about: a trained classifier, the data it is shown, and what it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, as_labelled
from rosenblatt.data.labels import encode_labels
from rosenblatt.escaping import printable
from rosenblatt.evaluation import Evaluation, evaluate
from rosenblatt.exceptions import InputError, ParameterError, ShapeError
from rosenblatt.typing import Floats, Ints

PLANE = 2
"""Features that a picture of the plane has."""
WIDE, LARGE = 2000, 10**6
"""Features, and rows times features, beyond which margins are not enclosed: exactly, that takes minutes."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A classifier and labelled rows.

    Attributes
    ----------
    model : classifier
        Fitted.
    X, y
        The data, as handed in.
    batch : Batch
        The data, checked; its classes are those of the model.
    named : tuple of str or None
        The names of the features, where there are any.
    rows : sequence of str or None
        What each row is called, where it is known by more than its number.
    """

    model: Any
    X: Any
    y: Any
    batch: Batch
    named: tuple[str, ...] | None = None
    rows: Sequence[Any] | None = None

    @cached_property
    def predicted(self) -> Ints:
        """The class that each row is taken for, as a position in the classes."""
        return encode_labels(self.model.predict(self.X), self.batch.classes, self.batch.n_rows)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Predictions against labels."""
        return evaluate(self.batch.codes, self.predicted, self.batch.classes)

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        return [printable(label) for label in self.batch.classes.tolist()]

    def feature(self, j: int) -> str:
        """Return the name of a feature; x1, x2, … where it has none."""
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
        """Why margins of these rows are not enclosed; empty if they are."""
        n, d = self.batch.n_rows, self.batch.n_features
        if d <= WIDE and n * d <= LARGE:
            return ""
        return f"The exact margin of {n:,} rows with {d:,} features would take too long."

    @cached_property
    def hyperplanes(self) -> tuple[Floats, Floats] | None:
        """Weights and biases in the features given, one row a class, or one in all for two classes.

        Machines that tell pairs of classes apart add up to one row a class, because their scores do. None of a
        classifier that is no hyperplane in these features.
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
        """What labels are chosen by: a number a row for two classes, one a row and class for more."""
        if not hasattr(self.model, "decision_function"):
            return None
        return np.asarray(self.model.decision_function(self.X), np.float64)

    @cached_property
    def lead(self) -> Floats | None:
        """How right each row is, negative where it is wrong: see `lead_words`."""
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
        """What `lead` is."""
        if self.decision is not None and self.decision.ndim > 1:
            return "lead of the true class over the best other one"
        return "distance from the hyperplane" if self.hyperplanes is not None else "score"

    @cached_property
    def _native(self) -> Any:
        return self.batch.native()

    @cached_property
    def _norm(self) -> float:
        if self.hyperplanes is None:
            return 1.0
        return float(np.linalg.norm(self.hyperplanes[0])) or 1.0

    @cached_property
    def of_training(self) -> bool | None:
        """Whether these are the rows it was trained on; None if its record does not tell."""
        trace = getattr(self.model, "trace_", None)
        if self.hyperplanes is None or trace is None or trace.mistakes is None or not len(trace):
            return None
        try:
            trace.replay(self.X, self.y)
        except InputError:
            return False
        return True

    def row(self, i: int) -> tuple[Ints, Floats]:
        """Return the features that a row has, and their values, zeros left out."""
        X = self._native
        if isinstance(X, np.ndarray):
            stored = np.flatnonzero(X[i])
            return stored, X[i, stored].astype(np.float64)
        start, end = X.indptr[i], X.indptr[i + 1]
        return X.indices[start:end].astype(np.int64), X.data[start:end].astype(np.float64)


def subject_of(model: Any, X: Any, y: Any, names: Sequence[str] | None, rows: Sequence[Any] | None) -> Subject:
    """Check what a report is to be about."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise ParameterError(f"model is a {name}; pass a fitted classifier of rosenblatt.")
    check_is_fitted(model)
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        raise ParameterError(f"model is a {name} that predicts no classes; a report is of a classifier.")
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
    return Subject(model, X, y, batch, None if named is None else tuple(map(printable, named)), rows)
