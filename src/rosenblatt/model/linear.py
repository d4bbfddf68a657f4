"""A hyperplane that tells two classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, require_finite
from rosenblatt.exceptions import ShapeError, TrainingOverflowError
from rosenblatt.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel:
    """f(x) = <w, x> + b, and what its sign means.

    Attributes
    ----------
    weights : ndarray, shape (n_features + 1,)
        w with b last.
    classes : ndarray, shape (2,)
        The label of the negative side, then that of the positive one.
    zero : int
        The side that f = 0 belongs to: −1 or +1 (S-2).
    """

    weights: Floats
    classes: NDArray[Any]
    zero: int = -1

    @property
    def coef(self) -> Floats:
        """The normal vector w."""
        return self.weights[:-1]

    @property
    def intercept(self) -> float:
        """The bias b."""
        return float(self.weights[-1])

    def decision(self, features: Features) -> Floats:
        """Return f(x) for every row, by the arithmetic training decides by.

        A row that training left on its right side is therefore predicted on that side, always.
        """
        from rosenblatt.loops.passes import scores

        if features.n_features != len(self.coef):
            raise ShapeError(
                f"X has {features.n_features} features, but the model was trained on {len(self.coef)}. "
                "Pass the same features in the same order as in training."
            )
        out = np.empty(features.n_rows)
        scores(features.rows, self.weights, out)
        # A score is finite only if its row is: checking n scores replaces checking n × d values.
        if not np.isfinite(out).all():
            require_finite(features)
            row = int(np.flatnonzero(~np.isfinite(out))[0])
            raise overflow(f"row {row} of X")
        return out

    def positive(self, scores: Floats) -> NDArray[np.bool_]:
        """Return which scores mean the positive side."""
        return scores >= 0.0 if self.zero > 0 else scores > 0.0

    def label(self, positive: Any) -> Any:
        """Return the label of each side; a stream that has met one class so far knows no other."""
        return self.classes[np.where(positive, len(self.classes) - 1, 0)]

    def error(self, batch: Batch) -> float:
        """Return the share of rows whose label is predicted wrong."""
        return float(np.mean(self.positive(self.decision(batch)) != (batch.signs > 0)))

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        labels: NDArray[Any] = self.label(self.positive(self.decision(features)))
        return labels


def overflow(what: str) -> TrainingOverflowError:
    """Return the error for a finite row whose score is not."""
    return TrainingOverflowError(f"The score of {what} exceeds the largest float. Scale the features down.")
