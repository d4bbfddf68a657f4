"""Prediction from model files: of linear models by numpy alone, of others by their estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.features import Features
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.model.linear import LinearModel


@dataclass(frozen=True, eq=False)
class Predictor:
    """A linear model, and the names its features must have.

    Attributes
    ----------
    model : LinearModel
        What predicts.
    names : tuple or None
        Of the features.
    """

    model: LinearModel
    names: tuple[Any, ...] | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """The labels."""
        return self.model.classes

    @property
    def n_features(self) -> int:
        """The width of rows."""
        return int(self.model.weights.shape[-1]) - 1

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        _require_names(features, self.names)
        return self.model.predict(features)

    def decision(self, features: Features) -> NDArray[Any]:
        """Return what labels are chosen by: of two classes one number a row, of more one for each."""
        _require_names(features, self.names)
        return self.model.decision(features)


@dataclass(frozen=True, eq=False)
class EstimatorPredictor:
    """Any other model, by its estimator.

    Attributes
    ----------
    estimator : estimator
        What predicts.
    names : tuple or None
        Of the features.
    """

    estimator: Any
    names: tuple[Any, ...] | None = None

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels, of a classifier."""
        classes: NDArray[Any] | None = getattr(self.estimator, "classes_", None)
        return classes

    @property
    def n_features(self) -> int:
        """The width of rows."""
        return int(self.estimator.n_features_in_)

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label, or the number or numbers, of every row."""
        return self._answer("predict", features)

    def decision(self, features: Features) -> NDArray[Any]:
        """Return what labels are chosen by."""
        return self._answer("decision_function", features)

    def _answer(self, method: str, features: Features) -> NDArray[Any]:
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, method) or not hasattr(self.estimator, "n_features_in_"):
            raise ParameterError(
                f"A {name} makes no predictions of that kind from rows. Load it, and use its methods."
            )
        _require_names(features, self.names)
        import warnings

        with warnings.catch_warnings():
            # Names were compared above; rows handed on as an array have none.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            answer: NDArray[Any] = getattr(self.estimator, method)(features.native())
        return answer


def _require_names(features: Features, names: tuple[Any, ...] | None) -> None:
    if features.names is not None and names is not None and features.names != names:
        other = next((pair for pair in zip(names, features.names, strict=False) if pair[0] != pair[1]), None)
        what = f"{other[0]!r} and {other[1]!r}" if other else "their numbers differ"
        raise InputError(
            f"The features are not those of the model: where it has one, the data has another ({what}). Pass the "
            "columns of training, in that order."
        )
