"""The features an estimator was trained on, and whether it is trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, as_rows
from rosenblatt.exceptions import InputError, PredictionOverflowError, ShapeError, TrainingOverflowError
from rosenblatt.registry import name_of


@contextmanager
def predicting() -> Iterator[None]:
    """Report an overflow in a map of features as one of predicting, not of training."""
    try:
        yield
    except TrainingOverflowError as error:
        raise PredictionOverflowError(str(error)) from error


class ReadsTables:
    """The features an estimator was trained on, required of every table it reads later."""

    _width: int
    _names: tuple[str, ...] | None
    _keeps_bytes = False  # True in classes whose loops predict rows of bytes

    def __sklearn_is_fitted__(self) -> bool:
        return "_width" in self.__dict__

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        self._require_fitted("n_features_in_")
        return self._width

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, where the data had any."""
        self._require_fitted("feature_names_in_")
        names = self._feature_names()
        if names is None:
            raise AttributeError("The training data had no feature names.")
        return np.array(names, dtype=object)

    def _require_fitted(self, attribute: str | None = None) -> None:
        if not self.__sklearn_is_fitted__():
            name = name_of(self)
            if attribute is not None:
                raise AttributeError(f"{name} has no attribute {attribute!r} before it is trained.")
            ways = "fit or partial_fit" if hasattr(self, "partial_fit") else "fit"
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {name} is not trained yet. Call {ways} first.")

    def _feature_names(self) -> tuple[str, ...] | None:
        return self._names

    def _without_names(self) -> Self:
        """Return a copy that knows its features by number: in a pipeline the first step knows the names."""
        nameless = copy(self)
        nameless.__dict__.update({name: None for name in ("_names", "_vocabulary") if name in self.__dict__})
        return nameless

    def _features(self, X: Any) -> Features:
        features = as_rows(X, keep_bytes=self._keeps_bytes)
        self._check_features(features)
        return features

    def _check_features(self, features: Features) -> None:
        """Require the features the model was trained on."""
        name = name_of(self)
        if features.n_features != self._width:
            raise ShapeError(
                f"X has {features.n_features} features, but {name} is expecting {self._width} features as input. "
                "Pass the same features in the same order as in training."
            )
        known = self._feature_names()
        if features.names is None and known is None:
            return
        if features.names is None:
            warnings.warn(
                f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=4
            )
        elif known is None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=4)
        elif features.names != known:
            raise InputError(_difference(known, features.names))


def tags_of_task(tags: Any, task: str) -> Any:
    """Return the tags of an estimator that predicts labels, or the numbers of a regression."""
    from sklearn.utils import ClassifierTags, RegressorTags

    tags.target_tags.required = True
    if task == "regression":
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.multi_output = True
    else:
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
    return tags


def _difference(known: tuple[str, ...], given: tuple[str, ...]) -> str:
    """Say how feature names differ, in scikit-learn's words."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    for title, names in (
        ("Feature names unseen at fit time", unseen),
        ("Feature names seen at fit time, yet now missing", missing),
    ):
        if names:
            message += f"{title}:\n" + "".join(f"- {name}\n" for name in names[:5]) + "- ...\n" * (len(names) > 5)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
        message += "Pass X[model.feature_names_in_].\n"
    return message
