"""What every classifier with hyperplanes has in common once it is trained."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from rosenblatt.data.targets import is_column
from rosenblatt.estimators._fitted import FittedToFeatures
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.typing import Floats


class LinearClassifier(ClassifierMixin, FittedToFeatures):  # type: ignore[misc]
    """Prediction by a state, and its attributes.

    The attributes are read from the state when asked for, so that learning one more example costs nothing but
    the learning; they are copies, so that it changes nothing handed out before.
    """

    _zero: int
    _state: State
    _scheme: Scheme
    _classes: NDArray[Any]
    _sparse_coef: bool

    def decision_function(self, X: Any) -> Floats:
        """Return what labels are chosen by.

        Of two classes f(x) = <w, x> + b for every row, positive on the side of ``classes_[1]``; of more, one
        number for every row and class, the largest of which wins.
        """
        model = self._model()
        return model.decision(self._features(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row."""
        model = self._model()
        return model.predict(self._features(X))

    def sparsify(self) -> Self:
        """Hand out `coef_` as a sparse matrix from now on; what the model is and predicts stays the same."""
        self._require_fitted()
        self._sparse_coef = True
        return self

    def densify(self) -> Self:
        """Hand out `coef_` as an array again."""
        self._require_fitted()
        self._sparse_coef = False
        return self

    @property
    def coef_(self) -> Any:
        """The normal vectors of the hyperplanes, shape (n_machines, n_features); two classes have one."""
        coef = np.ascontiguousarray(np.atleast_2d(self._model("coef_").coef))
        if not self.__dict__.get("_sparse_coef"):
            return coef
        from scipy.sparse import csr_matrix

        return csr_matrix(coef)  # a matrix, not an array, because scikit-learn's is one

    @property
    def intercept_(self) -> Floats:
        """The biases, shape (n_machines,)."""
        return np.atleast_1d(self._model("intercept_").weights[..., -1])

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two, that of the positive side last."""
        self._require_fitted("classes_")
        return self._classes

    def _model(self, attribute: str | None = None) -> LinearModel:
        self._require_fitted(attribute)
        weights = self._state.hypothesis()
        if self._width < self._state.n_features:  # a stream keeps room for features to come
            weights = weights[..., [*range(self._width), -1]]
        return LinearModel(weights, self._scheme, self._classes, self._zero)


class VisitingClassifier(LinearClassifier):
    """A classifier trained by visits to rows, which its state counts."""

    @property
    def t_(self) -> int:
        """The visits made since the start."""
        self._require_fitted("t_")
        return self._state.visits


def warn_of_column(y: Any) -> None:
    """Warn where y is a column, as scikit-learn does."""
    if is_column(y):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
