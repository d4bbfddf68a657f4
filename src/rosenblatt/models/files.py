"""Saving and loading models: one file each, from which nothing is ever executed.

A file that has been read predicts by numpy alone if its model is linear, otherwise by its estimator. The steps of
a pipeline are written as data too.
"""

from __future__ import annotations

import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import registry
from rosenblatt.calibration import Calibration, SigmoidCurve, StepCurve
from rosenblatt.codecs import (
    SCALAR,
    Array,
    Codec,
    Context,
    Count,
    Either,
    Maybe,
    Number,
    Parameter,
    Record,
    Several,
    Tensors,
    UnsoundError,
    read_container,
    read_labels,
    require,
    same_length,
    stored_name,
    write_container,
    write_labels,
    wrong,
)
from rosenblatt.exceptions import InputError, ModelFileError, ParameterError, ShapeError
from rosenblatt.learning.linear import HYPERPLANES, LinearModel, linear_model, require_hyperplanes
from rosenblatt.rows.features import Features, as_rows, require_finite
from rosenblatt.tables import preparation as preparing
from rosenblatt.tables.monomials import Monomials, monomials_of
from rosenblatt.tables.online_scaling import OnlineScaling
from rosenblatt.tables.preparation import (
    COLUMNS,
    STEPS,
    Encoding,
    Preparation,
    Standardisation,
    UnitLength,
    require_names,
)
from rosenblatt.tables.recipe import MOST_COLUMNS, SparseRecipe, TableRecipe

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate

STEP_NAMES = {
    "MonomialMap",
    "Normalizer",
    "OnlineScaler",
    "StandardScaler",
    "TableEncoder",
    "VisualHierarchy",
}
"""The classes of steps that files hold."""
Kind = Literal["encoder", "scaler", "online", "normalizer", "monomials", "hierarchy"]


@dataclass(frozen=True, eq=False)
class MonomialStep:
    """A `MonomialMap` of so many features, without scikit-learn."""

    n_features: int
    degree: int
    c: float
    max_bytes: int | None
    columns: tuple[str, ...] | None = None

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self._monomials.n_columns

    def features(self, features: Features) -> Features:
        """Return the monomials."""
        if features.n_features != self.n_features:
            raise ShapeError(f"The data has {features.n_features} features, but the map has {self.n_features}.")
        require_finite(features)
        return monomials_of(features, self._monomials, self.max_bytes)

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the monomials as they are written."""
        called = list(names or self.columns or [f"x{j + 1}" for j in range(self.n_features)])
        return tuple(self._monomials.names(called))

    @property
    def _monomials(self) -> Monomials:
        return Monomials(self.n_features, self.degree, self.c)


@dataclass(frozen=True, eq=False)
class HierarchyStep:
    """A `VisualHierarchy`, by its estimator."""

    estimator: Any

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the features of the training data, where they had any."""
        return tuple(getattr(self.estimator, "feature_names_in_", ())) or None

    @property
    def n_features(self) -> int:
        """How many features it takes."""
        return int(self.estimator.n_features_in_)

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return len(self.estimator.get_feature_names_out())

    def features(self, features: Features) -> Features:
        """Return the responses of the last layer."""
        return as_rows(self.estimator._without_names().transform(features.native()))

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the names of the neurons of the last layer."""
        return tuple(self.estimator.get_feature_names_out().tolist())


class HierarchyCodec:
    """The parameters, the state and the names of the features of a `VisualHierarchy`."""

    def encode(self, value: HierarchyStep, at: str, context: Context) -> Any:
        """Return parameters and state."""
        own = Context(context.tensors, value.columns)
        told = registry.declaration_of(value.estimator).state.encode(value.estimator, f"{at}.", own)
        return {"columns": COLUMNS.encode(value.columns, at, context), "learner": told}

    def decode(self, told: Any, at: str, context: Context) -> HierarchyStep:
        """Return the step."""
        if not isinstance(told, dict) or told.keys() != {"columns", "learner"}:
            wrong(at, "does not have the parts it should have")
        own = Context(context.tensors, COLUMNS.decode(told["columns"], at, context))
        cls = registry.class_of("VisualHierarchy")
        return HierarchyStep(registry.declaration_of(cls).state.decode(cls, told["learner"], f"{at}.", own))


def _sound_monomials(step: MonomialStep) -> None:
    require(step.columns is None or len(step.columns) == step.n_features, "it has other columns")
    Monomials(step.n_features, step.degree, step.c)


MONOMIALS: Codec = Record(
    MonomialStep,
    {
        "n_features": Count(1, MOST_COLUMNS),
        "degree": Count(1, 170),
        "c": Number(least=0.0),
        "max_bytes": Maybe(Count(1)),
        "columns": COLUMNS,
    },
    check=_sound_monomials,
)
KINDS: dict[str, tuple[type, Codec]] = STEPS | {
    "monomials": (MonomialStep, MONOMIALS),
    "hierarchy": (HierarchyStep, HierarchyCodec()),
}


def _prepared(steps: Any) -> Preparation:
    preparation = Preparation(tuple(steps))
    for before, step in pairwise(preparation.steps):
        require(step.n_features == before.n_outputs, "the steps of its preparation do not fit each other")
    return preparation


class PreparationCodec:
    """The list of steps, each with its kind."""

    steps = Several(Either(KINDS), _prepared)

    def encode(self, value: Preparation, at: str, context: Context) -> Any:
        """Return the list."""
        return self.steps.encode(value.steps, at, context)

    def decode(self, told: Any, at: str, context: Context) -> Preparation:
        """Return the preparation."""
        preparation: Preparation = self.steps.decode(told, at, context)
        return preparation


PREPARATION = PreparationCodec()


def take_apart(model: Any) -> tuple[Preparation, Any]:
    """Return the preparation and the learner of a model: a learner, or a scikit-learn pipeline that ends in one.

    An error names a step that no file can hold.
    """
    from sklearn.pipeline import Pipeline

    if type(model) is not Pipeline:
        return Preparation(), model
    *before, (_, learner) = model.steps
    steps: list[Any] = []
    before = [(name, step) for name, step in before if step is not None and step != "passthrough"]
    for name, step in before:
        found = _step_of(step)
        if found is None or (isinstance(found, Encoding) and steps):
            raise ParameterError(
                f"model is not understood here: its step {name!r} is {type(step).__name__}. A TableEncoder may "
                "come first, then StandardScaler, OnlineScaler, Normalizer(), MonomialMap and VisualHierarchy. "
                + _advice([each for _, each in before], len(steps)),
                parameter="model",
            )
        if steps and getattr(found, "columns", None) and not isinstance(found, HierarchyStep):
            found = replace(found, columns=None)  # the names of its features come from the step before
        steps.append(found)
    return Preparation(tuple(steps)), learner


def _advice(before: Sequence[Any], at: int) -> str:
    """Say what to do about a step that no file can hold, with those that a `TableEncoder` replaces too."""
    from rosenblatt.models.advice import ALONE, advice

    last = max(k for k, step in enumerate(before) if k == at or type(step).__name__ not in STEP_NAMES)
    if any(type(step).__name__ in STEP_NAMES - {"StandardScaler"} for step in before[: last + 1]):
        return f"{ALONE.capitalize()}."
    return advice(before[: last + 1], followed=last + 1 < len(before))


def put_together(preparation: Preparation, learner: Any) -> Any:
    """Return a scikit-learn pipeline, or the learner alone where nothing has to be done before it."""
    from sklearn.pipeline import Pipeline

    steps = [_estimator_of(step) for step in preparation.steps if not _is_nothing(step)]
    if not steps:
        return learner
    return Pipeline([*_named(steps), ("learner", learner)])


def _is_nothing(step: Any) -> bool:
    """Return whether a step only says how the command line read sparse files."""
    sparse = isinstance(step, Encoding) and isinstance(step.recipe, SparseRecipe)
    return sparse and step.parameters is None and not any(step.transformation.steps)


def _named(steps: Sequence[tuple[Kind, Any]]) -> list[tuple[str, Any]]:
    """Return steps with names that differ: "scaler", "scaler2", …."""
    seen: Counter[str] = Counter()
    named = []
    for name, step in steps:
        seen[name] += 1
        named.append((name if seen[name] == 1 else f"{name}{seen[name]}", step))
    return named


def _step_of(estimator: Any) -> Any:
    """Return the step that an estimator is, or None if no file can hold it."""
    from sklearn.preprocessing import Normalizer, StandardScaler
    from sklearn.utils.validation import check_is_fitted

    from rosenblatt.estimators.monomial_map import MonomialMap
    from rosenblatt.estimators.online_scaler import OnlineScaler
    from rosenblatt.estimators.table_encoder import TableEncoder

    is_hierarchy = registry.name_of(estimator) == "VisualHierarchy" and registry.is_registered(estimator)
    known = (StandardScaler, OnlineScaler, Normalizer, MonomialMap, TableEncoder)
    if not is_hierarchy and type(estimator) not in known:
        return None
    if isinstance(estimator, Normalizer):  # which learns nothing but the features, and those only from `fit`
        if estimator.norm != "l2" or not hasattr(estimator, "n_features_in_"):
            return None
    else:
        check_is_fitted(estimator)
    if isinstance(estimator, TableEncoder):
        return estimator._step()
    if is_hierarchy:
        return HierarchyStep(estimator)
    if isinstance(estimator, OnlineScaler):
        return estimator._step()
    columns = tuple(getattr(estimator, "feature_names_in_", ())) or None
    width = int(estimator.n_features_in_)
    if isinstance(estimator, MonomialMap):
        return MonomialStep(width, estimator.degree, float(estimator.c), estimator.max_bytes, columns)
    if isinstance(estimator, Normalizer):
        return UnitLength(width, columns)
    seen = np.asarray(estimator.n_samples_seen_)
    figures = (estimator.mean_, estimator.var_, estimator.scale_)
    mean, var, scale = (None if each is None else np.asarray(each, np.float64) for each in figures)
    return Standardisation(
        with_mean=bool(estimator.with_mean),
        with_std=bool(estimator.with_std),
        n_features=width,
        mean=mean,
        var=var,
        scale=scale,
        n_samples_seen=seen.astype(np.int64 if seen.dtype.kind in "iu" else np.float64),
        columns=columns,
    )


def _estimator_of(step: Any) -> tuple[Kind, Any]:
    """Return the estimator that does what a step does, and what to call it."""
    match step:
        case Encoding():
            from rosenblatt.estimators.table_encoder import TableEncoder

            return "encoder", TableEncoder.of(step)
        case HierarchyStep():
            return "hierarchy", step.estimator
        case MonomialStep():
            return "monomials", _monomial_map(step)
        case OnlineScaling():
            from rosenblatt.estimators.online_scaler import OnlineScaler

            return "online", OnlineScaler._of(step)
        case UnitLength():
            from sklearn.preprocessing import Normalizer

            return "normalizer", _known_features(Normalizer(), step)
        case _:
            return "scaler", _standard_scaler(step)


def _monomial_map(step: MonomialStep) -> Any:
    """Return the map, fitted on a row of zeros: all it learns is how many features there are, and their names."""
    from scipy.sparse import csr_array

    from rosenblatt.estimators.monomial_map import MonomialMap

    row: Any = csr_array((1, step.n_features))
    if step.columns is not None:
        import pyarrow as pa

        row = pa.table({name: [0.0] for name in step.columns})
    return MonomialMap(step.degree, step.c, max_bytes=step.max_bytes).fit(row)


def _standard_scaler(step: Standardisation) -> Any:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=step.with_mean, with_std=step.with_std)
    scaler.mean_, scaler.var_, scaler.scale_ = step.mean, step.var, step.scale
    scaler.n_samples_seen_ = step.n_samples_seen[()]
    return _known_features(scaler, step)


def _known_features(estimator: Any, step: Standardisation | UnitLength) -> Any:
    estimator.n_features_in_ = step.n_features
    if step.columns is not None:
        estimator.feature_names_in_ = np.array(step.columns, dtype=object)
    return estimator


# A model file that has been read, and what can be made of it.


@dataclass(frozen=True, eq=False)
class Predictor:
    """A linear model, and the names its features must have."""

    model: LinearModel  # what predicts
    names: tuple[Any, ...] | None = None  # the names of the features

    has_scores = True

    @property
    def classes(self) -> NDArray[Any]:
        """The labels."""
        return self.model.classes

    @property
    def n_features(self) -> int:
        """The width of rows."""
        return self.model.n_features

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        require_names(features, self.names)
        return self.model.predict(features)

    def decision(self, features: Features) -> NDArray[Any]:
        """Return the scores by which labels are chosen: one a row for two classes, else one for each class."""
        require_names(features, self.names)
        return self.model.decision(features)


@dataclass(frozen=True, eq=False)
class EstimatorPredictor:
    """Any other model, which predicts by its estimator."""

    estimator: Any  # what predicts
    names: tuple[Any, ...] | None = None  # the names of the features

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels; None for a regression."""
        classes: NDArray[Any] | None = getattr(self.estimator, "classes_", None)
        return classes

    @property
    def columns(self) -> list[str] | None:
        """The names of what is predicted of each row, if it is several values: probes, or labels of a set."""
        names = getattr(self.estimator, "names_", None)
        if names is None and hasattr(self.estimator, "predict_sets"):
            names = self.estimator.classes_.tolist()
        return None if names is None else list(map(str, names))

    @property
    def n_features(self) -> int:
        """The width of rows."""
        return int(self.estimator.n_features_in_)

    @property
    def has_scores(self) -> bool:
        """Whether `decision` is there."""
        return hasattr(self.estimator, "decision_function")

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label, or the number or numbers, of every row."""
        return self._answer("predict", features)

    def decision(self, features: Features) -> NDArray[Any]:
        """Return the scores by which labels are chosen."""
        return self._answer("decision_function", features)

    def probabilities(self, features: Features) -> NDArray[Any] | None:
        """Return the probability of each class, if the estimator has its own."""
        return self._answer("predict_proba", features) if hasattr(self.estimator, "predict_proba") else None

    def _answer(self, method: str, features: Features) -> NDArray[Any]:
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, method) or not hasattr(self.estimator, "n_features_in_"):
            raise InputError(
                f"A {name} makes no predictions of that kind from rows. Load it, and use its methods."
            )
        require_names(features, self.names)
        from rosenblatt.estimators._features import ReadsTables

        # Names were compared above; the array passed on has none.
        answer: NDArray[Any]
        if isinstance(self.estimator, ReadsTables):
            answer = getattr(self.estimator._without_names(), method)(features.native())
            return answer
        import warnings

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            answer = getattr(self.estimator, method)(features.native())
            return answer


SCHEMA = 1
"""The version of the format."""
FORMAT = "rosenblatt-model"
PARTS = {
    *("format", "schema", "learner", "parameters", "feature_names", "classes", "state"),
    *("preparation", "calibration", "provenance"),
}
PARAMETER = Parameter()


def _sound_steps(curve: StepCurve) -> None:
    at, heights = curve.scores, curve.heights
    require(len(at) and same_length(at, heights), "its corners are incomplete")
    require((np.diff(at) > 0.0).all() and (np.diff(heights) >= 0.0).all(), "it does not rise")
    require(0.0 <= heights[0] and heights[-1] <= 1.0, "it is no probability")


CURVES: dict[str, tuple[type, Codec]] = {
    "sigmoid": (SigmoidCurve, Record(SigmoidCurve, {"slope": Number(), "shift": Number()})),
    "isotonic": (StepCurve, Record(StepCurve, {"scores": Array(), "heights": Array()}, check=_sound_steps)),
}
CALIBRATION: Codec = Maybe(Record(Calibration, {"curves": Several(Either(CURVES), tuple)}))
T = TypeVar("T")


def open_model(path: str | os.PathLike[str]) -> StoredModel:
    """Read a model file, without making an estimator of it yet."""
    document, tensors = read_container(path)
    try:
        return _stored(path, document, tensors)
    except UnsoundError as error:
        raise _refused(path, error) from None
    except RecursionError:
        raise _refused(path, "it is nested too deeply") from None


@dataclass(frozen=True, eq=False, repr=False)
class StoredModel:
    """The content of a model file."""

    path: str  # the file
    learner: str  # the name of the estimator
    feature_names: tuple[Any, ...] | None  # the names of the features
    classes: NDArray[Any] | None  # the labels
    provenance: dict[str, Any]  # where the model comes from
    schema: int  # the version of the file
    _document: dict[str, Any] = field(repr=False)
    _tensors: Tensors = field(repr=False)

    def __repr__(self) -> str:
        return f"<StoredModel: {self.learner} in {self.path}>"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        told, context = self._document["parameters"], self._context()
        return self._reading(lambda: {name: PARAMETER.decode(each, name, context) for name, each in told.items()})

    @property
    def facts(self) -> dict[str, Any]:
        """The results of training that are single values: ``n_iter_``, ``stop_reason_``, ``converged_``, ….

        Also, where known, ``mistakes_per_pass`` of the fit, ``updates_per_pass`` where a rule counts them apart,
        and ``visits`` since the start.
        """
        state = self._document["state"]
        single = {
            name: told
            for name, told in state.items()
            if name.endswith("_") and name != "certificate_" and not isinstance(told, dict | list)
        }
        facts = self._reading(
            lambda: {name: SCALAR.decode(each, name, Context()) for name, each in single.items()}
        )
        counts, wrong = state.get("fit_counts"), state.get("fit_wrong")
        if isinstance(counts, list):
            facts["mistakes_per_pass"] = list(wrong if isinstance(wrong, list) else counts)
        if isinstance(counts, list) and isinstance(wrong, list):
            facts["updates_per_pass"] = list(counts)
        if isinstance(state.get("state"), dict) and isinstance(state["state"].get("visits"), int):
            facts["visits"] = state["state"]["visits"]
        return facts

    @property
    def certificate(self) -> Certificate | None:
        """The proof that ended training, or the verdict in floats; reading does not verify it."""
        if (told := self._document["state"].get("certificate_")) is None:
            return None
        from rosenblatt.estimators._linear import CertificateCodec

        found: Certificate = self._reading(lambda: CertificateCodec().decode(told, "certificate_", Context()))
        return found

    @cached_property
    def preparation(self) -> Preparation:
        """What is done to data before the learner sees it."""
        return self._reading(self._preparation)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The curves from scores to probabilities, if the model has them."""
        return self._reading(self._calibration)

    def _calibration(self) -> Calibration | None:
        context = self._context()
        calibration: Calibration | None = CALIBRATION.decode(self._document["calibration"], "calibration", context)
        left = [name for name in context.tensors if name.split(".")[0] == "calibration"]
        require(not left, "it holds arrays that no part of its calibration is made of")
        if calibration is not None:
            n = 0 if self.classes is None else len(self.classes)
            require(
                n >= 2 and len(calibration.curves) == (1 if n == 2 else n), "its calibration has other classes"
            )
        return calibration

    def _preparation(self) -> Preparation:
        from rosenblatt.models.files import PREPARATION

        context = self._context()
        preparation = PREPARATION.decode(self._document["preparation"], "preparation", context)
        left = [name for name in context.tensors if name.split(".")[0] == "preparation"]
        require(not left, "it holds arrays that its preparation does not use")
        return preparation

    def estimator(self) -> Any:
        """Return the trained learner, a new one with each call."""
        from rosenblatt.estimators._features import ReadsTables

        cls = registry.class_of(self.learner)

        prepared = self.preparation

        def made() -> Any:
            context = self._context()
            parts = {name: self._document[name] for name in ("parameters", "state")}
            model = registry.declaration_of(cls).state.decode(cls, parts, "", context)
            require(not context.tensors.keys() - self._others(), "it holds arrays that the model does not use")
            require(names_of(model) == self.feature_names, "feature_names are not those of the model")
            if not prepared.steps:
                return model
            width = model.n_features_in_ if isinstance(model, ReadsTables) else None
            require(width == prepared.n_outputs, "its preparation and its learner do not fit each other")
            return model._without_names()

        return self._reading(made)

    def predictor(self) -> Predictor | EstimatorPredictor:
        """Return the learner for prediction; linear ones need neither scikit-learn nor a compiled loop.

        The scores are those of the estimator, bit for bit.
        """
        return self._reading(self._predictor)

    def _predictor(self) -> Predictor | EstimatorPredictor:
        names = None if self.preparation.steps else self.feature_names
        if not registry.is_linear(self.learner):
            return EstimatorPredictor(self.estimator(), names)
        state, context = self._document["state"], self._context()
        require({stored_name(name) for name in HYPERPLANES} <= state.keys(), "parts of its state are missing")
        held = {name: codec.decode(state[stored_name(name)], name, context) for name, codec in HYPERPLANES.items()}
        require_hyperplanes(held)
        predictor = Predictor(linear_model(held), names)
        expected = self.preparation.n_outputs
        require(expected in (None, predictor.n_features), "its preparation and its learner do not fit each other")
        return predictor

    def _context(self) -> Context:
        return Context(Tensors(self._tensors), self.feature_names, self.classes)

    def _others(self) -> set[str]:
        """Return the names of the arrays that are no part of the learner."""
        parts = ("calibration", "preparation", "provenance")
        return {name for name in self._tensors if name.split(".")[0] in parts}

    def _reading(self, make: Callable[[], T]) -> T:
        try:
            return make()
        except UnsoundError as error:
            raise _refused(self.path, error) from None
        except RecursionError:
            raise _refused(self.path, "it is nested too deeply") from None


def _stored(path: Any, document: dict[str, Any], tensors: Tensors) -> StoredModel:
    require(document.get("format") == FORMAT, "it does not say that it is a model")
    schema = document.get("schema")
    require(type(schema) is int and schema >= 1, "it does not say which version of the format it has")
    if schema > SCHEMA:  # type: ignore[operator]  # it is an integer
        wrong("it", f"has version {schema} of the format, but this rosenblatt reads up to {SCHEMA}: update it")
    require(document.keys() == PARTS, "its header does not have the parts it should have")
    learner = document["learner"]
    if not isinstance(learner, str) or not registry.is_known(learner):
        raise ModelFileError(
            f"{os.fspath(path)} holds a model of {learner!r:.60}, but no learner with that name is registered. "
            "Import the module that defines it and call rosenblatt.register on the class, or install its package."
        )
    require(isinstance(document["parameters"], dict), "it has no parameters")
    require(isinstance(document["state"], dict), "it has no state")
    provenance = PARAMETER.decode(document["provenance"], "provenance", Context(Tensors(tensors)))
    require(isinstance(provenance, dict), "its provenance is no table")
    classes = None if document["classes"] is None else read_labels(document["classes"], "classes")
    names = document["feature_names"]
    require(names is None or (isinstance(names, list) and _are_names(names)), "feature_names are no names")
    return StoredModel(
        path=os.fspath(path),
        learner=learner,
        feature_names=None if names is None else tuple(names),
        classes=classes,
        provenance=provenance,
        schema=schema,  # type: ignore[arg-type]  # it is an integer
        _document=document,
        _tensors=tensors,
    )


def _are_names(names: list[Any]) -> bool:
    scalars = all(
        type(name) in (str, int, bool) or (type(name) is float and math.isfinite(name)) for name in names
    )
    return scalars and len(set(names)) == len(names)


def names_of(model: Any) -> tuple[Any, ...] | None:
    """Return the names of an estimator's features."""
    names = model._feature_names() if hasattr(model, "_feature_names") else None
    return None if names is None else tuple(names)


def _refused(path: Any, why: object) -> ModelFileError:
    return ModelFileError(
        f"{os.fspath(path)} is not a model that can be trusted: {why}. Save the model again, or use another copy "
        "of the file."
    )


# Where a model comes from: by what software it was trained, when, and from which data.


def made_by(**told: Any) -> dict[str, Any]:
    """Return what can be said of any model, and what is told besides.

    Examples
    --------
    >>> sorted(made_by(command="train mail.csv"))
    ['command', 'created', 'numpy', 'python', 'rosenblatt']
    """
    from rosenblatt._version import __version__

    return {
        "rosenblatt": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    } | told


def save(model: Any, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
    """Write a trained model to a file, from which `load` makes the same one.

    The file is a safetensors file; ``docs/look_up/model_files.md`` specifies what is in it. It is written whole or
    not at all: after an error, or a crash, the file that was there before is unchanged.

    Parameters
    ----------
    model : estimator of this package, scikit-learn Pipeline, or CalibratedModel
        Trained. A pipeline has a `TableEncoder`, `StandardScaler`, `OnlineScaler`, `Normalizer`, `MonomialMap` or
        `VisualHierarchy`, or several of them, before a learner of this package. A stream goes on after loading
        with the same bits as without.
    path : str or path
        The file; any name will do.
    provenance : mapping or None
        Where the model comes from, such as the hash of its data; versions and the time are added.

    Raises
    ------
    ParameterError
        If the model or a step is of another package, or holds what no file can: functions (callable kernels,
        orders, callbacks), generators of random numbers, labels that are neither numbers nor texts.
    StorageError
        If the file cannot be written.

    Notes
    -----
    A record of a fit with more than 65,536 mistakes is saved without the mistakes: the counts and the curve are
    kept, and ``trace_`` of the loaded model says so. A stream's record is kept whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import Perceptron, TableEncoder
    >>> mail = ["win a prize", "see you at home", "free prize", "home at six"]
    >>> model = make_pipeline(TableEncoder(), Perceptron()).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/spam.model")
    ...     load(f"{folder}/spam.model").predict(["a prize", "at home"])
    array(['spam', 'ham'], dtype='<U4')
    """
    from rosenblatt.estimators.calibrated import CalibratedModel
    from rosenblatt.models.files import take_apart

    calibration = None
    if isinstance(model, CalibratedModel):
        _require_trained(model)
        model, calibration = model.model_, model.calibration_
    write_model(*take_apart(model), path, provenance=provenance, calibration=calibration)


def write_model(
    preparation: Preparation,
    learner: Any,
    path: str | os.PathLike[str],
    *,
    provenance: Mapping[str, Any] | None,
    calibration: Calibration | None = None,
) -> None:
    """Write a learner, and what is done to data before it, to a file; see `save`."""
    from rosenblatt.estimators._features import ReadsTables
    from rosenblatt.models.files import PREPARATION

    name = registry.name_of(learner)
    if not registry.is_registered(learner):
        raise ParameterError(_why_no_learner(learner, name), parameter="model")
    _require_trained(learner)
    if preparation.steps:
        if not isinstance(learner, ReadsTables):
            told = f"model cannot be saved: a {name} reads signals, and has no place in a pipeline."
            raise ParameterError(told, parameter="model")
        learner = learner._without_names()
    encoder = None if preparation.encoding is None else preparation.encoding.parameters
    if encoder is not None and encoder.get("vocabulary", True) is None:  # the words were not asked for
        preparation = with_largest_words(preparation, learner)
    labels = vars(learner).get("_classes", getattr(learner, "classes_", None))
    context = Context(names=names_of(learner), classes=labels)
    try:
        classes = None if context.classes is None else write_labels(context.classes, "classes")
        names = None
        if context.names is not None:
            names = [_name(each, context) for each in context.names]
            context.names = tuple(names)
        made = registry.declaration_of(learner).state.encode(learner, "", context)
        prepared = PREPARATION.encode(preparation, "preparation", context)
        curves = CALIBRATION.encode(calibration, "calibration", context)
        told = PARAMETER.encode(made_by(**(provenance or {})), "provenance", context)
    except UnsoundError as error:
        raise ParameterError(f"model cannot be saved: {error}.", parameter="model") from None
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "learner": name,
        "parameters": made["parameters"],
        "feature_names": names,
        "classes": classes,
        "state": made["state"],
        "preparation": prepared,
        "calibration": curves,
        "provenance": told,
    }
    write_container(path, document, context.tensors)


def is_search(model: Any) -> bool:
    """Return whether a model is a search of scikit-learn's over parameters."""
    return hasattr(model, "best_estimator_") or type(model).__name__.endswith("SearchCV")


def _why_no_learner(model: Any, name: str) -> str:
    """Say why what should be the learner of a model file is none."""
    if is_search(model):
        return f"model cannot be saved: a {name} searches for a model. Save its best_estimator_."
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        text = (
            f"model cannot be saved: a {name} prepares rows and predicts nothing. Put it before a learner in "
            "sklearn.pipeline.make_pipeline, train that, and save it. "
        )
        return text if name in STEP_NAMES else text + _advice([model], 0)
    if type(model).__module__.startswith("sklearn."):
        return (
            f"model cannot be saved: {name} is a learner of scikit-learn, and files hold those of this package. "
            "Save it with joblib or skops."
        )
    return (
        f"model cannot be saved: {name} is not a registered learner, nor a pipeline that ends in one. Call "
        "rosenblatt.register on your class first."
    )


def with_largest_words(preparation: Preparation, learner: Any) -> Preparation:
    """Return a preparation with only those words that belong to the largest weights of the learner behind it."""
    from rosenblatt.estimators._linear import LinearClassifier

    encoding = preparation.encoding
    recipe = None if encoding is None else encoding.recipe
    if encoding is None or not isinstance(recipe, TableRecipe) or not any(recipe.words or ()):
        return preparation
    met = recipe.words or ()
    sizes = learner._weight_sizes() if isinstance(learner, LinearClassifier) else np.empty(0)
    if len(sizes) != recipe.n_features:  # the learner has no weights, or those of other features
        sizes = np.ones(recipe.n_features)
    first, width = recipe.first_word, 1 << recipe.bits
    features = np.concatenate([[*each] for each in met]).astype(np.int64)
    column = np.repeat(np.arange(len(met)), [len(each) for each in met])
    strength = sizes[first + column * width + features]
    largest = np.argsort(-strength, kind="stable")[: preparing.MOST_WORDS]
    largest = largest[strength[largest] > 0.0]
    kept = tuple(
        {feature: each[feature] for feature in features[largest[column[largest] == k]].tolist()}
        for k, each in enumerate(met)
    )
    return Preparation((replace(encoding, recipe=replace(recipe, words=kept)), *preparation.steps[1:]))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a trained model from a file that `save` or ``rosenblatt train`` wrote.

    Nothing in the file is executed. It is checked against its checksum, and every part of it against all others,
    before an estimator is made.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or Pipeline
        The learner, with the same parameters and the same bits. If other steps come first, the result is a
        scikit-learn pipeline of these steps and the learner. A model that was trained from a table begins with a
        `TableEncoder` called "encoder". Then come "scaler", "online", "normalizer", "monomials" or "hierarchy",
        and at last "learner". A calibrated model is a `CalibratedModel` of these.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or contradicts itself.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from tempfile import TemporaryDirectory
    >>> clf = rb.Perceptron().fit(*rb.datasets.load_or())
    >>> with TemporaryDirectory() as folder:
    ...     rb.save(clf, f"{folder}/or.model")
    ...     again = rb.load(f"{folder}/or.model")
    >>> again
    Perceptron()
    """
    from rosenblatt.models.files import put_together

    stored = open_model(path)
    model = put_together(stored.preparation, stored.estimator())
    if stored.calibration is None:
        return model
    from rosenblatt.estimators.calibrated import CalibratedModel

    return CalibratedModel.of(model, stored.calibration)


def _name(name: Any, context: Context) -> Any:
    told = SCALAR.encode(name, "feature_names", context)
    if told is None or isinstance(told, dict):
        wrong("feature_names", f"has the name {name!r}, which no model file can hold")
    return told


def _require_trained(model: Any) -> None:
    if not model.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {registry.name_of(model)} is not trained yet, so there is nothing to save.")
