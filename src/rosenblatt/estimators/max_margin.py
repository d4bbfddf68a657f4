"""The maximum-margin classifier: of all separating hyperplanes the one farthest from the data."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.codecs import INTEGERS, Array, Flag, NativeTable
from rosenblatt.estimators._features import also_scale
from rosenblatt.estimators._fitting import list_numbers
from rosenblatt.estimators._linear import LinearClassifier, facts, hyperplane_state, warn_of_column
from rosenblatt.exceptions import SOFT_MARGIN, Message, NotSeparableError, Term
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.state import State
from rosenblatt.margins.widest import Unfinished, max_margin
from rosenblatt.parameters import Declared, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import protect, read_only
from rosenblatt.rows.memory import require_features
from rosenblatt.typing import ColumnLike, MatrixLike

MAX_PROOF_SECONDS = 5.0  # after which it stays with what floats could say


class MaxMarginClassifier(Declared, LinearClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The hard-margin hyperplane, which maximises the smallest distance y f(x)/‖w‖ of a row.

    A perceptron finds some hyperplane that separates the classes; this is the widest. Without a bias its
    margin γ is that of the mistake bound R²/γ²; with one, `rosenblatt.bounds` says which margin each bound needs.
    It exists only if the classes are separable; if they are not, `NotSeparableError` names rows whose combinations
    meet, and its attribute `certificate` proves that they do.
    If the rows are separable, but by less than floats can resolve, the error contains the proof of that.
    `SoftMarginClassifier` takes any data.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (1, n_features) and (1,)
        The hyperplane, scaled so that y f = 1 on the support vectors: the margin is 1/‖w‖.
    margin_ : float
        γ, the least y f/‖w‖ over all rows.
    gap_ : float
        ``(upper − margin_) / upper``, where `upper`, half the distance of two points in the classes' hulls, is a
        bound that no hyperplane's margin exceeds.
    support_ : ndarray of int
        The rows nearest to the hyperplane, which determine it.
    support_vectors_ : ndarray or sparse array
        These rows.
    dual_coef_ : ndarray, shape (1, n_support)
        α_i y_i of each: ``coef_ = dual_coef_ @ support_vectors_``. They scale with the inverse square of the
        features. So they are 0 for features beyond 10¹⁶⁰, and features below 10⁻¹⁵⁰ are refused.
    n_iter_ : int
        The number of rounds.
    classes_, n_features_in_, feature_names_in_
        The labels, the number of features, and their names if X had any.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = MaxMarginClassifier().fit(X, y)
    >>> clf.coef_.round(6), clf.intercept_.round(6), round(clf.margin_, 6), clf.support_
    (array([[2., 2.]]), array([-1.]), 0.353553, array([0, 1, 2]))
    """

    _learner = built_in(
        "MaxMarginClassifier",
        hyperplane_state(
            facts("margin_", "gap_", "n_iter_")
            | {
                "support_": INTEGERS,
                "support_vectors_": NativeTable(),
                "dual_coef_": Array(2),
                "_sparse_coef": Flag(),
            }
        ),
    )

    fit_intercept: bool = param(
        True, "Whether to learn a bias. Without one the hyperplane goes through the origin."
    )
    tol: float = param(
        1e-9,
        "The relative gap above which a warning is given. The solution is always as exact as floats allow.",
        least=0,
    )
    max_iter: int = param(
        1000, "The maximum number of rounds. Each round adds rows that are too close to the hyperplane."
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The examples.
        y : sequence, shape (n_rows,)
            Their labels, of two classes.
        sample_weight : array-like or None
            A row of weight 0 is left out. Other weights change nothing: a hard margin is the same for one row and
            for two in its place.

        Returns
        -------
        MaxMarginClassifier
            The trained estimator. An error leaves it unchanged.

        Raises
        ------
        NotSeparableError
            If no hyperplane separates the classes, or none that floats can represent. Its `certificate` proves
            which, unless the decision takes more than a few seconds.
        """
        self._check_parameters()
        warn_of_column(y)
        batch = as_batch(X, y, sample_weight)
        require_features(batch.n_features)
        bias = bool(self.fit_intercept)
        try:
            found = max_margin(batch, bias=bias, max_iter=self.max_iter)
        except NotSeparableError as error:
            raise _explained(error, batch, bias=bias) from None
        signs = np.where(batch.codes[found.support] > 0, 1.0, -1.0)
        self._become(
            State(np.append(found.w, found.b)),
            Scheme.of("ovr", 2),
            batch,
            margin_=found.margin,
            gap_=found.gap,
            support_=read_only(found.support),
            support_vectors_=protect(batch.native()[found.support]),
            dual_coef_=read_only((found.alpha * signs)[None, :]),
            n_iter_=found.n_iter,
        )
        if found.gap > self.tol:
            warnings.warn(
                f"After {found.n_iter} rounds the margin {found.margin:.6g} is up to {found.gap:.1g} below the "
                f"largest, relatively, more than tol={self.tol}. Allow more, or raise tol."
                f"{also_scale(batch)}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self


def _explained(error: NotSeparableError, batch: Batch, *, bias: bool) -> NotSeparableError:
    """Return the error for data without a widest hyperplane, with the exact reason if it is found in time.

    Rows of weight 0 do not count. Rows that others prove inseparable are so in all of the data, which is what that
    proof is of; a proof that they are separable is of the rows that have weight.
    """
    from rosenblatt.certify.certificate import Inseparable, Separable
    from rosenblatt.certify.separability import Question
    from rosenblatt.certify.time_limit import Clock
    from rosenblatt.certify.verdict import witness

    names = np.arange(batch.n_rows) if batch.weight is None else np.flatnonzero(batch.weight > 0.0)
    whole = len(names) == batch.n_rows
    part = batch if whole else batch.take(names)
    found = Question(part, bias, margin=False, clock=Clock(MAX_PROOF_SECONDS)).pair(1, 0)
    if isinstance(found, Inseparable) and not whole:
        proof = witness(batch, names[list(found.support)], list(found.weights), bias=bias)
        if proof is None:
            return error
        found = proof
    through = "" if bias else " through the origin"
    proof_here = Term("proof", "the certificate of this error proves it")
    if isinstance(found, Inseparable):
        what = "the convex hulls of the two classes meet" if bias else "the hull of the rows y·x holds the origin"
        proved = NotSeparableError(
            f"No hyperplane{through} separates the classes: {what}"
            + Term("support", f", in a combination of {list_numbers('row', found.support)} that is exact")
            + " ("
            + proof_here
            + "). Use "
            + SOFT_MARGIN
            + ", which allows for rows on the wrong side."
        )
    elif isinstance(found, Separable):
        apart = "The classes are separable" + ("" if bias else " through the origin")
        shown = proof_here + ("" if whole else ", for the rows that have weight")
        if isinstance(error, Unfinished):
            proved = Unfinished(Message(error.args[0], f" {apart}, though (", shown, ")."))
        else:
            proved = NotSeparableError(
                f"{apart} ("
                + shown
                + "), but by less than floats can resolve beside the size of the data: the widest hyperplane was "
                "not found. Scale the features, or use " + SOFT_MARGIN + "."
            )
    else:
        return error
    proved.certificate = found
    return proved
