"""Learners and scalers of this package in river: pipelines, metrics, `progressive_val_score`.

river has its own base classes, and `learn_one` returns nothing there. The classes here hold an estimator of this
package as their parameter, and follow river's rules: `clone` gives one that has learned nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from rosenblatt.codecs import plain_value
from rosenblatt.estimators.online_scaler import OnlineScaler
from rosenblatt.estimators.passive_aggressive import PassiveAggressiveRegressor
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.voted import VotedPerceptron
from rosenblatt.exceptions import Given, LabelError, ParameterError

try:
    from river import base
except ImportError as error:
    raise ImportError("rosenblatt.compat.river needs river: pip install river") from error

__all__ = ["RiverClassifier", "RiverRegressor", "RiverScaler"]


class _Wrapper:
    """Keeps the estimator that was given as it is, and learns with a copy of it."""

    _estimator: Any

    def _begin(self, given: Any, ability: str) -> None:
        if not hasattr(given, ability):
            told = f"{type(given).__name__} has no {ability}, so it cannot learn from a stream."
            raise ParameterError(told, parameter="learner")
        self._estimator = clone(given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._estimator!r})"


class RiverClassifier(_Wrapper, base.Classifier):
    """A classifier of this package as a classifier of river.

    Parameters
    ----------
    learner : estimator
        A classifier with `learn_one`, such as `Perceptron(average=True)` or `ConfidenceWeightedClassifier()`. None
        means `Perceptron()`. It stays as it is: a copy learns.
    classes : sequence of labels or None
        All labels of the stream. None lets labels become classes as they come, which needs a learner that compares
        classes directly. `OrdinalPerceptron`, and ``multiclass="ovr"`` or ``"ovo"``, need the labels.

    Attributes
    ----------
    model : estimator
        The copy that learns. It has the weights, can be saved, and predicts tables.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from rosenblatt.compat.river import RiverClassifier
    >>> model = RiverClassifier(rb.Perceptron(average=True))
    >>> model.learn_one({"cheap": 1.0, "pills": 1.0}, "spam")
    >>> model.learn_one({"see": 1.0, "you": 1.0}, "ham")
    >>> model.predict_one({"cheap": 1.0, "lunch": 1.0})
    'spam'
    """

    def __init__(self, learner: Any = None, classes: Sequence[Any] | None = None) -> None:
        self.learner, self.classes = learner, classes
        self._begin(Perceptron() if learner is None else learner, "learn_one")
        name, grows = type(self._estimator).__name__, getattr(self._estimator, "multiclass", None) == "direct"
        if not is_classifier(self._estimator) or name == "MultilabelPerceptron":
            told = f"{name} does not give an example one label of several, so it is no classifier."
            raise ParameterError(told, parameter="learner")
        if classes is None and not grows:
            raise ParameterError(
                Given("learner", self._estimator) + " must know all labels before the first example. Pass them to "
                "RiverClassifier by classes=[...], or take a learner that grows, such as Perceptron()."
            )

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learner": Perceptron()}
        yield {"learner": Perceptron(average=True)}

    @property
    def model(self) -> Any:
        """The estimator that learns."""
        return self._estimator

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example; without `classes`, a new label becomes a new class."""
        label, weight = plain_value(y), None if w == 1.0 else float(w)
        if self.classes is None:
            self._estimator.learn_one(x, label, "grow", weight)
        elif label in self.classes:
            self._estimator.learn_one(x, label, self.classes, weight)
        else:
            raise LabelError(
                f"y={label!r} is not one of the labels {list(self.classes)!r} of RiverClassifier. Name all."
            )

    def predict_one(self, x: dict[Any, Any], **unused: Any) -> Any:
        """Return the predicted label of one example; None before the first one."""
        return plain_value(self._estimator.predict_one(x))

    def predict_proba_one(self, x: dict[Any, Any], **unused: Any) -> dict[Any, float]:
        """Return a share for each label, as river's linear models make it of scores; these are not calibrated.

        Of two labels the share is the sigmoid of the score, as in river's `Perceptron`, and of several the softmax
        of their scores, as in its `SoftmaxRegression`. The scores of a perceptron grow while it learns, so the
        shares are often near 0 and 1 and say too much. A `VotedPerceptron` gives the shares of its votes.

        Returns
        -------
        dict
            Shares that add up to 1; empty before the first example. Of the labels True and False both are there,
            also where only one was met.

        Raises
        ------
        NotImplementedError
            If the learner has no scores.

        Examples
        --------
        >>> model = RiverClassifier()
        >>> model.learn_one({"cheap": 1.0}, "spam")
        >>> model.learn_one({"lunch": 1.0}, "ham")
        >>> model.predict_proba_one({"cheap": 1.0})
        {'ham': 0.2689414213699951, 'spam': 0.7310585786300049}
        """
        if not hasattr(self._estimator, "score_one"):
            raise NotImplementedError(
                f"{type(self._estimator).__name__} has no score of each label, so it has no predict_proba_one in "
                "river. Use predict_one, and metrics of labels such as Accuracy."
            )
        score = self._estimator.score_one(x)
        if score is None:
            return {}
        labels = [plain_value(label) for label in self._estimator.classes_]
        votes = isinstance(self._estimator, VotedPerceptron)
        if np.ndim(score) == 0:  # it speaks for the second label, or for the only one
            if len(labels) == 1:
                if not isinstance(labels[0], bool):
                    return {labels[0]: 1.0}
                labels = [not labels[0], labels[0]]
            score = np.array([1.0 - score, 1.0 + score] if votes else [0.0, score])
        shares = score if votes else np.exp(score - np.max(score))
        return dict(zip(labels, (shares / shares.sum()).tolist(), strict=True))


class RiverRegressor(_Wrapper, base.Regressor):
    """A learner of numbers, such as `PassiveAggressiveRegressor`, as a regressor of river.

    Parameters
    ----------
    learner : estimator
        With `learn_one`; None means `PassiveAggressiveRegressor()`. It stays as it is: a copy learns.

    Attributes
    ----------
    model : estimator
        The copy that learns.
    """

    def __init__(self, learner: Any = None) -> None:
        self.learner = learner
        self._begin(PassiveAggressiveRegressor() if learner is None else learner, "learn_one")

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learner": PassiveAggressiveRegressor()}

    @property
    def model(self) -> Any:
        """The estimator that learns."""
        return self._estimator

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example."""
        self._estimator.learn_one(x, float(y), None if w == 1.0 else float(w))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return the predicted number of one example; 0 before the first one."""
        known = self._estimator.__sklearn_is_fitted__()
        return float(self._estimator.predict_one(x)) if known else 0.0


class RiverScaler(_Wrapper, base.Transformer):
    """An `OnlineScaler` as a transformer of river.

    Parameters
    ----------
    scaler : OnlineScaler
        None means `OnlineScaler()`. It stays as it is: a copy learns.

    Attributes
    ----------
    model : OnlineScaler
        The copy that learns.
    """

    def __init__(self, scaler: Any = None) -> None:
        self.scaler = scaler
        self._begin(OnlineScaler() if scaler is None else scaler, "transform_one")

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"scaler": OnlineScaler()}

    @property
    def model(self) -> Any:
        """The scaler that learns."""
        return self._estimator

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Learn one example."""
        self._estimator.learn_one(x)

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """Return one example, scaled by what was met before it."""
        scaled: dict[Any, Any] = self._estimator.transform_one(x)
        return scaled
