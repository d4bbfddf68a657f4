"""A model file that has been read, and what can be made of it.

Prediction from model files: by numpy alone for linear models, by their estimators for others.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import registry
from rosenblatt.calibration import Calibration, SigmoidCurve, StepCurve
from rosenblatt.codecs import (
    SCALAR,
    Array,
    Codec,
    Context,
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
    wrong,
)
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.learning.linear import LinearModel
from rosenblatt.rows.features import Features
from rosenblatt.tables.preparation import Preparation, require_names

__all__ = ["FORMAT", "SCHEMA", "StoredModel", "open_model"]


@dataclass(frozen=True, eq=False)
class Predictor:
    """A linear model, and the names its features must have.

    Attributes
    ----------
    model : LinearModel
        What predicts.
    names : tuple or None
        The names of the features.
    """

    model: LinearModel
    names: tuple[Any, ...] | None = None

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
    """Any other model, which predicts by its estimator.

    Attributes
    ----------
    estimator : estimator
        What predicts.
    names : tuple or None
        The names of the features.
    """

    estimator: Any
    names: tuple[Any, ...] | None = None

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels; None for a regression."""
        classes: NDArray[Any] | None = getattr(self.estimator, "classes_", None)
        return classes

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
            raise ParameterError(
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
    """Read a model file, without making an estimator of it yet.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    StoredModel
        The content of the file.
    """
    document, tensors = read_container(path)
    try:
        return _stored(path, document, tensors)
    except UnsoundError as error:
        raise _refused(path, error) from None
    except RecursionError:
        raise _refused(path, "it is nested too deeply") from None


@dataclass(frozen=True, eq=False, repr=False)
class StoredModel:
    """The content of a model file.

    Attributes
    ----------
    path : str
        The file.
    learner : str
        The name of the estimator.
    feature_names : tuple or None
        The names of the features.
    classes : ndarray or None
        The labels.
    provenance : dict
        Where the model comes from.
    schema : int
        The version of the file.
    """

    path: str
    learner: str
    feature_names: tuple[Any, ...] | None
    classes: NDArray[Any] | None
    provenance: dict[str, Any]
    schema: int
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

        Also, where known, ``mistakes_per_pass`` of the fit, and ``visits`` since the start.
        """
        state = self._document["state"]
        single = {
            name: told for name, told in state.items() if name.endswith("_") and not isinstance(told, dict | list)
        }
        facts = self._reading(
            lambda: {name: SCALAR.decode(each, name, Context()) for name, each in single.items()}
        )
        if isinstance(state.get("fit_counts"), list):
            facts["mistakes_per_pass"] = list(state["fit_counts"])
        if isinstance(state.get("state"), dict) and isinstance(state["state"].get("visits"), int):
            facts["visits"] = state["state"]["visits"]
        return facts

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
        from rosenblatt.models.steps import PREPARATION

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
        from rosenblatt.learning.stored_state import HYPERPLANES, linear_model, require_hyperplanes

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
