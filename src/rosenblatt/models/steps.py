"""The steps of a pipeline as files hold them, and as scikit-learn has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rosenblatt import registry
from rosenblatt.codecs import Codec, Context, Count, Either, Maybe, Number, Record, Several, require, wrong
from rosenblatt.exceptions import ParameterError, ShapeError
from rosenblatt.rows.features import Features, as_rows, require_finite
from rosenblatt.tables.monomials import Monomials, monomials_of
from rosenblatt.tables.online_scaling import OnlineScaling
from rosenblatt.tables.preparation import COLUMNS, STEPS, Encoding, Preparation, Standardisation, UnitLength
from rosenblatt.tables.recipe import MOST_COLUMNS, SparseRecipe

__all__ = ["PREPARATION", "HierarchyStep", "MonomialStep", "put_together", "take_apart"]

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

    Raises
    ------
    ParameterError
        For a step that no file can hold; its message names the step.
    """
    from sklearn.pipeline import Pipeline

    if type(model) is not Pipeline:
        return Preparation(), model
    *before, (_, learner) = model.steps
    steps: list[Any] = []
    for name, step in before:
        if step is None or step == "passthrough":
            continue
        found = _step_of(step)
        if found is None or (isinstance(found, Encoding) and steps):
            raise ParameterError(
                f"model cannot be written: its step {name!r} is {repr(step)[:80]}. A file holds a TableEncoder as "
                "the first step, and StandardScaler, OnlineScaler, Normalizer(), MonomialMap and VisualHierarchy. "
                + _advice(step)
            )
        steps.append(found)
    return Preparation(tuple(steps)), learner


def _advice(step: Any) -> str:
    """Say how to write a step with a `TableEncoder`, if it is a ColumnTransformer of parts that it has."""
    from sklearn.compose import ColumnTransformer

    otherwise = "Save the learner alone, and prepare its rows yourself."
    if not isinstance(step, ColumnTransformer):
        return otherwise
    parameters: dict[str, Any] = {}
    for _, each, columns in getattr(step, "transformers_", step.transformers):
        parts = [done for _, done in each.steps] if hasattr(each, "steps") else [each]
        if any(type(part).__name__ == "OneHotEncoder" for part in parts):  # a missing category is one of its own
            parts = [part for part in parts if type(part).__name__ != "SimpleImputer"]
        for part in parts:
            found = _as_parameters(part, columns)
            if found is None:
                return otherwise
            for name, value in found.items():
                parameters[name] = parameters.get(name, []) + value if isinstance(value, list) else value
    written = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return f"Use TableEncoder({written}) in place of the ColumnTransformer and train again, or: {otherwise}"


def _as_parameters(part: Any, columns: Any) -> dict[str, Any] | None:
    """Return the parameters of a `TableEncoder` that do what a transformer does to columns; None if none do."""
    known = [columns] if isinstance(columns, str | int) else columns
    if not isinstance(known, list | tuple | np.ndarray) or not all(isinstance(each, str | int) for each in known):
        known = None
    match part if isinstance(part, str) else type(part).__name__:
        case "passthrough" | "FunctionTransformer" if part == "passthrough" or part.func is None:
            return {}
        case "StandardScaler":
            return {"scale": True}
        case "SimpleImputer" if part.strategy == "mean":
            return {"missing": "mean"}
        case "SimpleImputer" if part.strategy == "constant" and part.fill_value in (None, 0):
            return {"missing": "zero"}
        case "OneHotEncoder" if known is not None:
            return {"categorical": list(known)}
        case "CountVectorizer" | "HashingVectorizer" if known is not None:
            return {"text": list(known)}
        case "drop" if known is not None:
            return {"ignore": list(known)} if len(known) else {}
        case _:
            return None


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
        return estimator.encoding_
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
