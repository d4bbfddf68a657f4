"""Classifiers with hyperplanes, once they are trained: prediction and attributes.

Stored states that several estimators share, with the conditions that must hold of them.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import (
    INTEGERS,
    Codec,
    Context,
    Count,
    Flag,
    Maybe,
    Names,
    PerLabel,
    Record,
    Scalar,
    Several,
    StateSchema,
    Text,
    wrong,
)
from rosenblatt.estimators._features import ReadsTables
from rosenblatt.estimators._fitting import Drawn
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import MIXING, State
from rosenblatt.learning.stored_state import HYPERPLANES, require_hyperplanes, require_memory_of
from rosenblatt.learning.stored_streams import CURVE, TRACE, link_online, online_parts, require_names
from rosenblatt.learning.stream import Stream
from rosenblatt.learning.trace import Trace
from rosenblatt.loops.rules import PLAIN, Rule
from rosenblatt.rows.features import protect, read_only
from rosenblatt.rows.labels import as_labels, is_column
from rosenblatt.threads import using
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


LONGEST_TRACE = 2**16
"""The most mistakes of a fit that a model file or a pickle keeps: 1.5 MB. Of a longer run they keep counts."""

Parts = dict[str, Codec]


class CertificateCodec:
    """A proof that classes can or cannot be separated, as the text that anyone can check.

    Of a verdict in floats whose proof was not made, its numbers are kept.
    """

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the text, or the numbers of a verdict."""
        made = value.__dict__.get("proof", value)
        return made.numbers() if hasattr(made, "numbers") else made.to_json()

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the certificate. Reading does not verify it: its method `verify` does."""
        from rosenblatt.certify.certificate import Certificate, read_verdict

        try:
            if isinstance(stored, dict):
                return read_verdict(stored)
            proof = Certificate.from_json(stored if isinstance(stored, str) else "")
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            wrong(at, f"is not a proof: {error}")
        if proof.verdict == "undecided":
            wrong(at, "is not a proof")
        return proof


def facts(*names: str) -> Parts:
    """Return attributes that are single values."""
    return dict.fromkeys(names, Scalar())


READS_TABLES: Parts = {"_width": Count(1), "_names": Names()}
DRAWN = Record(Drawn, {"seed": Count(most=2**64 - 1), "held_out": Maybe(INTEGERS), "passes": Count()})
RUN: Parts = {
    "n_iter_": Count(),
    "converged_": Flag(),
    "stop_reason_": Text(),
    "curve_": CURVE,
    "_class_counts": PerLabel(Count()),
    "_trace": TRACE,
    "_traced": Flag(),
    "_untraced": Maybe(Text()),
    "_sparse_coef": Flag(),
}
"""What a fit by visits leaves besides its hyperplanes."""


def without_long_trace(held: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator, with only the counts of a trace that is too long for a file."""
    trace = held.get("_trace")
    if trace is None or trace.mistakes is None or len(trace) <= LONGEST_TRACE:
        return held
    why = (
        f"The model file or pickle this was loaded from kept no trace: a run of {len(trace):,} mistakes is longer "
        f"than the {LONGEST_TRACE:,} that files keep. Save the trace beside the model, by trace_.save."
    )
    return held | {"_trace": replace(trace, mistakes=None), "_traced": False, "_untraced": why}


def hyperplane_state(own: Parts) -> StateSchema:
    """Return the state of a classifier that is trained on one batch and predicts by hyperplanes.

    Parameters
    ----------
    own : mapping of str to Codec
        Its attributes besides the hyperplanes.
    """

    def link(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        require_memory_of(Rule, held["_state"])
        require_names(held)

    return StateSchema(HYPERPLANES | own, {}, link, without_long_trace)


BATCH: Parts = {"_fit_counts": Several(Count()), **RUN}
"""What a classifier trained on one batch by visits has besides its hyperplanes."""


def perceptron_state(rule: Any = Rule) -> StateSchema:
    """Return the stored state of a `Perceptron` that learns by a kind of rule.

    Parameters
    ----------
    rule : NamedTuple class
        `rosenblatt.loops.rules.Rule`, or a rule of your own whose fields are all numbers.
    """
    own: Parts = {"certificate_": Maybe(CertificateCodec()), "_drawn": DRAWN, "mixing_": MIXING}
    if rule not in PLAIN:
        own["_fit_wrong"] = Several(Count())
    return StateSchema(online_parts(rule), RUN | own, partial(link_online, rule=rule), without_long_trace)


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

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the scores from which labels are predicted.

        For two classes, f(x) = <w, x> + b for each row, positive for ``classes_[1]``. For more classes, one number
        for each row and class; the largest wins.
        """
        model = self._model()
        with using(self.n_jobs):
            return model.decision(self._features(X))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the predicted label of each row."""
        model = self._model()
        with using(self.n_jobs):
            return model.predict(self._features(X))

    def certify(
        self, X: MatrixLike, y: ColumnLike, *, margin: bool = False, time_limit: float | None = None
    ) -> Certificate:
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
            See `rosenblatt.tables.scaling`.
        """
        from rosenblatt.learning.scaled import fold_state

        self._require_fitted()
        self._state = fold_state(self._state, scaling)
        return self

    def _weight_sizes(self) -> Floats:
        """Return the largest absolute weight of each feature."""
        return self._model("coef_").sizes

    @property
    def coef_(self) -> Any:
        """The normal vectors of the hyperplanes, shape (n_machines, n_features); two classes have one."""
        model = self._model("coef_")
        if not self.__dict__.get("_sparse_coef"):
            return read_only(np.ascontiguousarray(np.atleast_2d(model.coef)))
        from scipy.sparse import csr_matrix  # a matrix, not an array, because scikit-learn's is one

        coef = csr_matrix(np.atleast_2d(model.weights[..., :-1]))
        if model.met is None:
            return protect(coef)
        columns = model.met.columns[coef.indices]
        return protect(csr_matrix((coef.data, columns, coef.indptr), (coef.shape[0], model.n_features)))

    @property
    def intercept_(self) -> Floats:
        """The biases, shape (n_machines,)."""
        return read_only(np.atleast_1d(self._model("intercept_").weights[..., -1]))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two, that of the positive side last."""
        self._require_fitted("classes_")
        return read_only(self._classes)

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

    def _own_rule(self, rule: Rule) -> Any:
        """Return the rule to learn by, given the one that the parameters name.

        A subclass with a rule of another kind overrides this; see `rosenblatt.loops.visits.resized`.
        """
        return rule

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
    def _separated_by(self) -> tuple[str, str] | None:
        """What separates the rows when training ends so, and what predicts, if these are two things."""
        return ("the last weights", "the average") if self.__dict__.get("average") else None

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
        return read_only(np.array([*self._fit_counts, *stream], np.int64))

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


def warn_of_column(y: ColumnLike | None) -> None:
    """Warn where y is a column, as scikit-learn does."""
    if is_column(y):
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
