"""Classifiers with hyperplanes, once they are trained: prediction and attributes."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import as_labels, is_column
from rosenblatt.estimators._features import ReadsTables
from rosenblatt.estimators.schemas import without_long_trace
from rosenblatt.exceptions import ScaleWarning
from rosenblatt.learners.stream import Stream
from rosenblatt.loops.layout import CSR
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.threads import using
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


SAMPLE = 1000  # rows that scales are measured on
SCALES = 1e3  # the ratio of scales that is warned of


class NoProbabilities:
    """Takes the place of `predict_proba`: `hasattr` finds nothing, and the error says what to do."""

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__} has scores (decision_function) but no predict_proba. "
            "rosenblatt.calibrate(model, X, y) returns a model that has it."
        )


class LinearClassifier(ReadsTables):
    """Prediction by a state, and its attributes. Estimators also inherit from scikit-learn's base classes.

    The attributes are read from the state when asked for, so that learning one more example costs nothing but
    the learning; they are copies, so that later learning does not change them.
    """

    _zero: int
    _state: State
    _scheme: Scheme
    _classes: NDArray[Any]
    _sparse_coef: bool
    get_params: Any  # of a base class
    n_jobs: int | None = None  # a parameter of those that train on several threads
    predict_proba = NoProbabilities()

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the scores from which labels are predicted.

        For two classes, f(x) = <w, x> + b for each row, positive for ``classes_[1]``. For more classes, one number
        for each row and class; the largest wins.
        """
        model = self._model()
        with using(self.n_jobs):
            return model.decision(self._features(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row."""
        model = self._model()
        with using(self.n_jobs):
            return model.predict(self._features(X))

    def certify(self, X: Any, y: Any, *, margin: bool = False, time_limit: float | None = None) -> Certificate:
        """Decide whether a hyperplane separates the classes, and prove it; see `rosenblatt.certify`.

        The question is exact, and depends on the data alone: whether a hyperplane of this classifier's kind, with
        a bias if it has one, separates the classes. The hyperplane of the model is tried first.
        """
        from rosenblatt.certify.separability import certify

        self._require_fitted()
        classes = as_labels(y, self._features(X).n_rows)[1]
        guess = self._normal() if np.array_equal(classes, self._classes) else None
        return certify(X, y, bias=self._has_bias(), margin=margin, time_limit=time_limit, guess=guess)

    def _normal(self) -> Floats | None:
        """Return the normal vector of the one hyperplane, if there is one."""
        return self._model().coef if self._scheme.kind == "binary" else None

    def _has_bias(self) -> bool:
        """Whether the hyperplanes may miss the origin."""
        params = self.get_params(deep=False)
        return bool(params.get("fit_intercept", True)) and params.get("bias", "unit") not in (None, 0)

    def sparsify(self) -> Self:
        """Return `coef_` as a sparse matrix from now on; the model and its predictions stay the same."""
        self._require_fitted()
        self._sparse_coef = True
        return self

    def densify(self) -> Self:
        """Return `coef_` as an array again."""
        self._require_fitted()
        self._sparse_coef = False
        return self

    def unscale(self, scaling: Any) -> Self:
        """Turn hyperplanes for scaled features into those for the features before scaling.

        Parameters
        ----------
        scaling : Scaling
            See `rosenblatt.columns.scaling`.
        """
        from rosenblatt.blocks.scaled import folded

        self._require_fitted()
        self._state = folded(self._state, scaling)
        return self

    @property
    def coef_(self) -> Any:
        """The normal vectors of the hyperplanes, shape (n_machines, n_features); two classes have one."""
        model = self._model("coef_")
        if not self.__dict__.get("_sparse_coef"):
            return np.ascontiguousarray(np.atleast_2d(model.coef))
        from scipy.sparse import csr_matrix  # a matrix, not an array, because scikit-learn's is one

        coef = csr_matrix(np.atleast_2d(model.weights[..., :-1]))
        if model.met is None:
            return coef
        columns = model.met.columns[coef.indices]
        return csr_matrix((coef.data, columns, coef.indptr), (coef.shape[0], model.n_features))

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
        return LinearModel.of(self._state, self._width, self._scheme, self._classes, self._zero)


class VisitingClassifier(LinearClassifier):
    """A classifier trained by visits to rows: in a fit, and in a stream after it where it can learn from one."""

    _fit_counts: list[int]
    _trace: Trace
    _traced: bool
    _untraced: str | None = None
    _stream: Stream | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: of a long run only the counts, like a model file."""
        return without_long_trace(super().__getstate__())  # type: ignore[arg-type]

    def __copy__(self) -> Self:
        """Return a shallow copy, with the whole trace."""
        return self._with(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a deep copy, with the whole trace."""
        return self._with(deepcopy(self.__dict__, memo))

    def _with(self, attributes: dict[str, Any]) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(attributes)
        return other

    @property
    def t_(self) -> int:
        """The number of visits since the start."""
        self._require_fitted("t_")
        return self._state.visits

    @property
    def n_mistakes_(self) -> int:
        """The mistakes made so far."""
        return int(self.mistakes_per_pass_.sum())

    @property
    def mistakes_per_pass_(self) -> Ints:
        """The mistakes of each pass; a stream is one."""
        self._require_fitted("mistakes_per_pass_")
        stream = [] if self._stream is None else [self._stream.mistakes]
        return np.array([*self._fit_counts, *stream], np.int64)

    @property
    def n_updates_(self) -> int:
        """The number of updates so far: of this learner the mistakes, by each machine that made one."""
        return self.n_mistakes_

    @property
    def trace_(self) -> Trace:
        """The record of the run: of the last fit, or of the stream since."""
        self._require_fitted("trace_")
        traced = self._traced if self._stream is None else self._stream.recorder.detail is not None
        if not traced:
            raise AttributeError(self._untraced or "This run kept no trace, as trace=None asked for.")
        return self._trace if self._stream is None else self._stream.trace(self._width)


def warn_of_scales(batch: Batch) -> None:
    """Warn where dense columns differ in scale by more than 10³; the scale is the mean size of values but zeros.

    At most 1000 rows are looked at, so that this costs little. Sparse rows are counts and flags, which are better
    left alone.
    """
    if isinstance(batch.rows, CSR):
        return
    some = np.abs(batch.rows[:: -(-batch.n_rows // SAMPLE)]).astype(np.float64)
    counts = np.count_nonzero(some, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = some.sum(axis=0)[counts > 0] / counts[counts > 0]
    if len(sizes) < 2 or not np.isfinite(sizes).all() or sizes.max() / SCALES <= sizes.min():
        return
    columns = np.flatnonzero(counts)
    names = [repr(int(k) if batch.names is None else batch.names[k]) for k in columns]
    largest, smallest = int(sizes.argmax()), int(sizes.argmin())
    power = int(np.log10(sizes[largest]) - np.log10(sizes[smallest]))
    warnings.warn(
        f"Column {names[largest]} is more than {times(power)} times larger than column {names[smallest]}; the "
        "perceptron is not scale-free. Standardise (TableEncoder(scale=True), StandardScaler).",
        ScaleWarning,
        stacklevel=3,
    )


def times(power: int) -> str:
    """Return a power of ten.

    Examples
    --------
    >>> times(12)
    '10¹²'
    """
    return "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def warn_of_column(y: Any) -> None:
    """Warn where y is a column, as scikit-learn does."""
    if is_column(y):
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
