"""Models with calibrated probabilities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.calibration import DEFAULT_FOLDS, Calibration, fit_calibration, require_method, size_of
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.parameters import Declared, learned, param, positional
from rosenblatt.rows.features import read_only
from rosenblatt.rows.labels import encode_labels
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike


class CalibratedModel(Declared, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with `predict_proba`; `rosenblatt.calibrate` makes one from a trained model.

    Labels and decision scores are those of the model. A label is not always the class of the largest probability:
    near the boundary a score can have a probability on the other side of one half.

    Attributes
    ----------
    model_ : classifier or Pipeline
        Trained on all rows.
    calibration_ : Calibration
        The curves.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> model = CalibratedModel(rb.Perceptron(average=True)).fit(X, y)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    model: Any = positional(
        kw_only=False,
        doc="It must have `decision_function`. `fit` trains a copy.",
        kind="classifier or scikit-learn Pipeline",
    )
    method: str = param(
        "sigmoid",
        "The shape of the curves from scores to probabilities; see `calibrate`.",
        kind='"sigmoid" or "isotonic"',
    )
    folds: int = param(DEFAULT_FOLDS, "The number of parts that the rows are divided into.")
    model_: Any = learned()
    calibration_: Calibration = learned()

    @classmethod
    def of(cls, model: Any, calibration: Calibration, folds: int = DEFAULT_FOLDS) -> CalibratedModel:
        """Return a trained model with these curves."""
        made = cls(model, method=calibration.method, folds=folds)
        made.model_, made.calibration_ = model, calibration
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return "calibration_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def fit(self, X: MatrixLike, y: ColumnLike) -> CalibratedModel:
        """Train a copy of the model on all rows, and calibrate it."""
        trained = clone(self.model).fit(X, y)
        self.calibration_ = calibrate(trained, X, y, method=self.method, folds=self.folds).calibration_
        self.model_ = trained
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `predict_proba`."""
        return read_only(np.asarray(self.model_.classes_))

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return int(self.model_.n_features_in_)

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the label of every row."""
        return np.asarray(self.model_.predict(X))

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the scores that labels are chosen by."""
        return np.asarray(self.model_.decision_function(X))

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of each class for every row; the columns are in the order of `classes_`."""
        return self.calibration_.probabilities(self.decision_function(X))


def calibrate(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    *,
    method: str = "sigmoid",
    folds: int = DEFAULT_FOLDS,
    n_jobs: int | None = None,
) -> CalibratedModel:
    """Give a trained classifier probabilities.

    The model is trained again on all but one fold of the rows, for each fold, and scores the fold left out. Curves
    from scores to probabilities are fitted to these scores. The model itself stays the same.

    Parameters
    ----------
    model : classifier or scikit-learn Pipeline
        Trained; it must have `decision_function`.
    X, y : rows and labels
        Its training data.
    method : "sigmoid" or "isotonic"
        A sigmoid (Platt 1999) needs few rows. An isotonic curve (Zadrozny & Elkan 2002) has any rising shape, and
        needs about a thousand rows.
    folds : int
        The number of parts. Each class is distributed evenly.
    n_jobs : int or None
        The number of threads that train folds side by side; −1 means all cores. BLAS uses one thread, so that the
        results are the same for any number. None means ROSENBLATT_THREADS, or one.

    Returns
    -------
    CalibratedModel
        With the labels and scores of the model, and `predict_proba`. `rosenblatt.save` takes it.

    Notes
    -----
    ``sklearn.calibration.CalibratedClassifierCV`` works as well, and can use rows that were set aside. The scores
    of each model are divided by their root mean square over all rows first, because the weights of a perceptron
    grow with the number of rows that it learns.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y, _ = rb.read_table("@breast-cancer")
    >>> model = make_pipeline(StandardScaler(), rb.Perceptron(average=True, random_state=0)).fit(X, y)
    >>> probable = rb.calibrate(model, X, y)
    >>> probable.predict_proba(X).sum(axis=1)[:3]
    array([1., 1., 1.])
    """
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing as taken

    require_method(method)
    check_is_fitted(model)
    if not hasattr(model, "decision_function") or not hasattr(model, "classes_"):
        told = f"A {type(model).__name__} has no decision_function for classes, so that it cannot be calibrated."
        raise ParameterError(told, parameter="model")
    if hasattr(model, "predict_proba"):
        raise ParameterError(f"This {type(model).__name__} has predict_proba already.", parameter="model")
    labels = np.asarray(y)
    classes = np.asarray(model.classes_)
    codes = encode_labels(labels, classes, len(labels))
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise ParameterError("Calibration needs two classes, but the model knows one.", parameter="model")
    if folds < 2 or counts.min() < folds:
        raise ParameterError(
            Given("folds", folds) + f" must be at least 2 and at most the rows of the rarest class; "
            f"{classes[counts.argmin()]!s} has {counts.min()}."
        )
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(codes)), codes))

    def scores_of(part: tuple[Ints, Ints]) -> Floats:
        kept, left = part
        again = clone(model).fit(taken(X, kept), labels[kept])
        found = np.asarray(again.decision_function(X), np.float64)
        return np.asarray(found[left] / size_of(found))

    scores: Any = None
    with warnings.catch_warnings(), using(n_jobs), one_blas_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the model itself has told of it
        for (_, left), found in zip(parts, ordered(scores_of, parts, foreign=True), strict=True):
            scores = np.empty((len(codes), *found.shape[1:])) if scores is None else scores
            scores[left] = found
    size = size_of(model.decision_function(X))
    return CalibratedModel.of(model, fit_calibration(scores, codes, method=method, scale=size), folds)
