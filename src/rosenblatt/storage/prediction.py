"""Prediction from model files: by numpy alone for linear models, by their estimators for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rosenblatt.columns.preparation import require_names
from rosenblatt.data.features import Features
from rosenblatt.exceptions import ParameterError
from rosenblatt.model.linear import LinearModel


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
