"""Classifiers with hyperplanes: prediction, attributes, and learning from a stream.

Stored states that several estimators share, with the conditions that must hold of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from rosenblatt.estimators import _fitting as fitting
from rosenblatt.estimators._features import ReadsMappings, ReadsTables
from rosenblatt.estimators._fitting import (
    Drawn,
    check_classes,
    generator,
    publish_attributes,
    require_same_classes,
)
from rosenblatt.exceptions import Given, InputError, ParameterError
from rosenblatt.learning.linear import HYPERPLANES, LinearModel, Scheme, require_hyperplanes, score_of_row
from rosenblatt.learning.online import OnlineModel
from rosenblatt.learning.plan import PerceptronRun
from rosenblatt.learning.state import MIXING, State, fold_state, is_wide, require_memory_of
from rosenblatt.learning.stored_streams import CURVE, TRACE, link_online, online_parts, require_names
from rosenblatt.learning.stream import Stream
from rosenblatt.learning.trace import Trace
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.named_features import score_named
from rosenblatt.loops.passes import score_row
from rosenblatt.loops.rules import PLAIN, Rule
from rosenblatt.rows.batch import Batch, Vocabulary, as_weight, single_weight, vector_row
from rosenblatt.rows.features import protect, read_only
from rosenblatt.rows.labels import as_labels, is_column
from rosenblatt.tables.blocks import Blocks
from rosenblatt.threads import using
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


LONGEST_TRACE = 2**16
"""The most mistakes of a fit that a model file or a pickle keeps: 1.5 MB. Of a longer run they keep counts."""

BEGINNING = RLock()
"""Is held while a stream begins; each stream has a lock of its own from then on."""
FIT_ONLY = ("n_iter_", "converged_", "stop_reason_", "curve_", "certificate_", "mixing_")

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
    """Return the state of a classifier that predicts by hyperplanes, and its `own`."""

    def link(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        require_memory_of(Rule, held["_state"])
        require_names(held)

    return StateSchema(HYPERPLANES | own, {}, link, without_long_trace)


BATCH: Parts = {"_fit_counts": Several(Count()), **RUN}
"""What a classifier trained on one batch by visits has besides its hyperplanes."""


def perceptron_state(rule: Any = Rule) -> StateSchema:
    """Return the stored state of a `Perceptron` that learns by `Rule`, or your own with fields of numbers."""
    own: Parts = {"certificate_": Maybe(CertificateCodec()), "_drawn": DRAWN, "mixing_": MIXING}
    if rule not in PLAIN:
        own["_fit_wrong"] = Several(Count())
    return StateSchema(online_parts(rule), RUN | own, partial(link_online, rule=rule), without_long_trace)


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

    def _become(self, state: State, scheme: Scheme, batch: Batch, **own: Any) -> None:
        """Publish the hyperplanes that a solver found, all at once: Ctrl-C cannot leave half of them."""
        self.__dict__.update(
            _state=state,
            _scheme=scheme,
            _width=batch.n_features,
            _classes=batch.classes,
            _zero=-1,
            _names=batch.names,
            _sparse_coef=False,
            **own,
        )

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
        """Turn hyperplanes for scaled features into those for the features before scaling."""
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


class OnlineLearning(ReadsMappings, VisitingClassifier):
    """`partial_fit`, `learn_one` and `predict_one`."""

    _check_parameters: Any  # of `Declared`
    device: str
    average: bool | int
    multiclass: str
    penalty: Any
    init: Any
    trace: Any
    zero: int
    random_state: Any
    _stream_kind: ClassVar[type[Stream]] = Stream

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the rows of a chunk once, in the order they come.

        Chunks, single rows, and one `fit` of one cyclic pass over all of them leave the same bits. `order` and
        `shuffle` are for `fit`: the order of a stream is the stream's.

        Parameters
        ----------
        X, y : array-like
            A chunk of examples and their labels. The examples may be a list of mappings, as in `learn_one`.
        classes : sequence of labels, "grow" or None
            The classes, if they are to be known from the first call on. "grow" takes labels as they come
            (``multiclass="direct"``); None takes two as they come.
        sample_weight : array-like or None
            Multiplies the step of each row.

        Returns
        -------
        self
            The estimator. An error leaves it unchanged.
        """
        warn_of_column(y)
        with self._alone():
            features, vocabulary, new_names = self._chunk(X)
            codes, found = as_labels(y, features.n_rows, features.n_features)
            weight = as_weight(sample_weight, features.n_rows)
            if vocabulary is None and self.__sklearn_is_fitted__():
                self._check_features(features)
            stream = self._stream_for(features.n_features, classes).fork()
            if self.__sklearn_is_fitted__():
                stream.rule = self._rule_to_go_on_by(stream)
            stream.make_room(features.n_features)
            labels = found.tolist()
            if self._begins_at_first() and (weight is None or weight[0] > 0.0):
                stream.begin_at(features.rows, labels[codes[0]])
            stream.learn_rows(features, codes, labels, weight)
            self._follow(stream, features.n_features, features.names)
            if vocabulary is not None:  # after the state that has room for the new names
                vocabulary.add(new_names)
                self._vocabulary = vocabulary
        return self

    def learn_one(
        self, x: RowLike, y: Hashable, classes: ColumnLike | None = None, sample_weight: float | None = None
    ) -> Self:
        """Visit one example.

        Parameters
        ----------
        x : sequence of numbers, or mapping of feature names to values
            The example. Names never met before become features, names left out are zero.
        y : label
            Its class. Two classes may be met on the way.
        classes : sequence of labels, "grow" or None
            As in `partial_fit`: all classes there are, or "grow" to take labels as they come.
        sample_weight : float or None
            Multiplies the step.

        Returns
        -------
        self
            The estimator. An error leaves it unchanged. Several threads may learn at once: each example is learned
            once, in the order in which they come to it.
        """
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is not None and classes is None and sample_weight is None:
            with stream.lock:
                # Another thread may have gone on with a fork.
                target = stream.known_target(y) if self._stream is stream else None
                if target is not None and type(x) is np.ndarray:
                    stream.learn_row(vector_row(x, self._width), target)
                    return self
                if target is not None and type(x) is dict and stream.learns_pairs and self._vocabulary is not None:
                    pairs = self._vocabulary.pairs(x)
                    if pairs is not None and stream.learn_pairs(pairs, target):  # type: ignore[arg-type]
                        return self
        return self._learn_one_with_care(x, y, classes, sample_weight)

    def predict_one(self, x: RowLike) -> Any:
        """Return the label of one example.

        Parameters
        ----------
        x : sequence of numbers, or mapping of feature names to values
            The example. Names never met before are left out.

        Returns
        -------
        label or None
            None before the first example: no label is known yet.
        """
        score = self.score_one(x)
        if score is None:
            return None
        if type(score) is float:
            positive = score >= 0.0 if self._zero > 0 else score > 0.0
            return self._classes[-1 if positive else 0]
        return self._classes[self._scheme.choose(score[None], self._zero)[0]]

    def score_one(self, x: RowLike) -> Any:
        """Return the score that the label of one example is chosen by.

        Parameters
        ----------
        x : sequence of numbers, or mapping of feature names to values
            The example. Names never met before are left out.

        Returns
        -------
        float, ndarray or None
            As `decision_function` returns it, to the bit; None before the first example.
        """
        if "_state" not in self.__dict__:
            return None
        # The row first: while another thread learns, its state may have more features than the row, never fewer.
        vocabulary = self.__dict__.get("_vocabulary") if type(x) is dict else None
        pairs = None if vocabulary is None else vocabulary.pairs(x)
        state = self._state
        if pairs is not None and state.w.ndim == 1 and state.shrunk is None and state.met is None:
            f = score_named(pairs, state.w, state.u, max(state.averaged, 0) if state.memory else state.visits)
            if f - f == 0.0:
                return f
        row = self._row(x)
        state = self._state
        if state.w.ndim == 1 and state.u is None and state.shrunk is None and state.met is None:
            f = score_row(row, state.w)
            if f - f == 0.0:
                return f
        return score_of_row(row, state, self._scheme, self._classes, self._zero)

    def _row(self, x: RowLike) -> Rows:
        """Return one example as a matrix of one row."""
        if type(x) is not np.ndarray and isinstance(x, Mapping):
            return self._known_vocabulary().row(x, learn=False)[0]
        return vector_row(x, self._width)

    def set_params(self, **params: Any) -> Self:
        """Set parameters. A stream continues with a new `eta0`, `margin`, `C` or `r`; others raise an error."""
        before = self.get_params(deep=False)
        super().set_params(**params)  # type: ignore[misc]
        stream = self.__dict__.get("_stream")
        if stream is not None:
            try:
                stream.rule = self._rule_to_go_on_by(stream)
            except InputError:
                super().set_params(**before)  # type: ignore[misc]
                raise
        return self

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other thread learn meanwhile."""
        while True:
            lock = self._lock()
            with lock:
                if lock is self._lock():  # another thread may have begun the stream
                    yield
                    return

    def _lock(self) -> Any:
        stream = self.__dict__.get("_stream")
        return BEGINNING if stream is None else stream.lock

    def _learn_one_with_care(
        self, x: RowLike, y: Hashable, classes: ColumnLike | None, sample_weight: float | None
    ) -> Self:
        """Learn one example that may bring the first label, a new one, new features, or a weight."""
        with self._alone():
            weight = 1.0 if sample_weight is None else single_weight(sample_weight)
            return self._learn_one_alone(x, y, classes, weight)

    def _learn_one_alone(self, x: RowLike, y: Hashable, classes: ColumnLike | None, weight: float) -> Self:
        vocabulary: Vocabulary | None = None
        new_names: list[Any] = []
        if isinstance(x, Mapping):
            vocabulary = self._known_vocabulary()
            row: Rows
            row, new_names = vocabulary.row(x, learn=True)
            width = len(vocabulary) + len(new_names)
        else:
            row = vector_row(x, self.__dict__.get("_width"))
            width = row.shape[1]
        stream = self._stream_for(width, classes)
        if stream.known_target(y) is None or width > stream.state.n_features:
            stream = stream.fork()
            stream.make_room(width)
        stream.meet(y)
        if self._begins_at_first() and weight > 0.0:
            stream.begin_at(row, y)
        stream.learn_row(row, stream.target(y, weight))
        self._follow(stream, width, None)
        if vocabulary is not None:  # after the state that has room for the new names
            vocabulary.add(new_names)
            self._vocabulary = vocabulary
        return self

    def _begins_at_first(self) -> bool:
        return bool(self.init == "first") and not self.__sklearn_is_fitted__()

    def _rule_of_stream(self) -> tuple[Rule, float | None]:
        """Return the rule, and R if it uses one: given, or found by the fit that the stream goes on from."""
        self._check_parameters()
        fitting.require_cpu(self.device)
        return fitting.make_rule(self, None, self.__dict__.get("_trace"))

    def _rule_to_go_on_by(self, stream: Stream) -> Rule:
        """Return the rule that the parameters name now, if the stream can go on by it."""
        rule, _ = self._rule_of_stream()
        changed = {
            "multiclass": self.multiclass != stream.multiclass,
            "penalty": (self.penalty and fitting.make_penalty(self)) != stream.penalty,
            "bias": rule.beta != stream.rule.beta,
            "tie": (rule.tie_plus, rule.tie_minus) != (stream.rule.tie_plus, stream.rule.tie_minus),
            "zero": self.zero != self._zero,
            "average": int(self.average) != stream.state.average,
            "class_weight": fitting.stream_weights(self) != stream.class_weight,
            "trace": fitting.detail(self, stream=True) != stream.recorder.detail,
        }
        for name, is_changed in changed.items():
            if is_changed:
                raise ParameterError(
                    Given(name) + " cannot change while a stream is under way. Use a new estimator."
                )
        return rule

    def _stream_for(self, n_features: int, classes: ColumnLike | None) -> Stream:
        """Return the stream under way, or a new one."""
        stream: Stream | None = self.__dict__.get("_stream")
        grows = isinstance(classes, str) and classes == "grow"
        if grows and self.multiclass != "direct":
            raise ParameterError(
                Given("classes", "grow")
                + f" needs multiclass='direct': a machine of multiclass={self.multiclass!r} that "
                "begins late has missed what the others learned from."
            )
        if stream is not None:
            _require_same(classes, stream.classes)
            if grows and not stream.grows:
                stream = stream.fork()
                stream.grows = True
            return stream
        rule, radius = self._rule_of_stream()
        fitted = self.__sklearn_is_fitted__()
        if fitted:
            _require_same(classes, self._classes)
        known = self._classes if fitted else _declared(classes)
        scheme = Scheme.of(self.multiclass, len(known))
        if fitted and scheme != self._scheme:
            raise ParameterError(
                Given("multiclass", self.multiclass)
                + f" cannot continue from {self._scheme.kind!r}. Use a new estimator."
            )
        if fitted:
            state = self._state.copy()
            state = state.for_rule(average=state.average, shrinks=self.penalty is not None)
        else:
            state = self._beginning(scheme.shape(n_features), n_features)
        return self._new_stream(
            state,
            rule,
            multiclass=self.multiclass,
            zero=self.zero,
            penalty=None if self.penalty is None else fitting.make_penalty(self),
            classes=known,
            grows=grows,
            class_weight=fitting.stream_weights(self, self.__dict__.get("_class_counts")),
            may_mirror=rule.tie_plus == rule.tie_minus and self.init != "random",
            detail=fitting.detail(self, stream=True),
            radius=radius,
        )

    def _beginning(self, shape: tuple[int, ...], n_features: int) -> State:
        """Return the state that a new stream begins with."""
        state = fitting.start_from(self, shape, generator(self.random_state), sparse=is_wide(shape))
        return state.for_updates_by(self._rule_of_stream()[0])

    def _new_stream(self, *arguments: Any, **named: Any) -> Stream:
        return self._stream_kind(*arguments, **named)

    def _publish(self, run: PerceptronRun, blocks: Blocks, **own: Any) -> None:
        """Set the attributes after a fit; `own` are those that other estimators do not have."""
        vocabulary = None if blocks.names is None else Vocabulary(blocks.names, grows=False)
        self.__dict__.pop("mixing_", None)  # of a distributed fit before
        self.__dict__.update(publish_attributes(self, run, blocks), _vocabulary=vocabulary, _stream=None, **own)

    def _follow(self, stream: Stream, width: int, names: Any) -> None:
        """Publish where a stream stands."""
        for attribute in FIT_ONLY:
            self.__dict__.pop(attribute, None)
        self._fit_counts = self.__dict__.get("_fit_counts", [])
        self._vocabulary = self.__dict__.get("_vocabulary")
        self._stream, self._state = stream, stream.state
        self._classes, self._scheme = stream.classes, stream.scheme
        self._width, self._zero = width, self.zero
        self._names = self.__dict__.get("_names") if names is None else names  # once known, names stay

    def online_model(self) -> OnlineModel:
        """Return the model without scikit-learn that learns for this estimator; both go on together."""
        vocabulary = self.__dict__.get("_vocabulary")
        return OnlineModel(self._stream_for(self._width, None), self._width, vocabulary, self._names)

    def go_on_with(self, model: OnlineModel) -> Self:
        """Learn and predict with an online model from now on."""
        self._vocabulary = model.vocabulary
        self._follow(model.stream, model.n_features, None)
        return self


def _declared(classes: ColumnLike | None) -> NDArray[Any]:
    """Return the classes declared on the first call, sorted; none if there are none."""
    if classes is None or (isinstance(classes, str) and classes == "grow"):
        return np.empty(0, dtype=object)
    return check_classes(classes, or_else=", 'grow' or None")


def _require_same(classes: ColumnLike | None, known: NDArray[Any]) -> None:
    declared = _declared(classes)
    if len(declared):
        require_same_classes(declared, known)
