"""Hyperplanes that tell classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, require_finite
from rosenblatt.exceptions import ShapeError, TrainingOverflowError
from rosenblatt.loops.layout import CSR, Rows, oriented
from rosenblatt.loops.targets import PAIR
from rosenblatt.model.plain_scores import plain_scores, suffices
from rosenblatt.model.scheme import Scheme
from rosenblatt.typing import Floats, Ints


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel:
    """f(x) = <w, x> + b, once or for several machines, and what its values mean.

    Attributes
    ----------
    weights : ndarray, shape (n_features + 1,) or (n_machines, n_features + 1)
        w with b last; of two classes there is one machine.
    scheme : Scheme
        How scores become classes.
    classes : ndarray
        The labels. Of two, that of the negative side comes first.
    zero : int
        The side that f = 0 belongs to: −1 or +1 (S-2). Among many classes, whether a tie goes to the lowest or the
        highest.
    """

    weights: Floats
    scheme: Scheme
    classes: NDArray[Any]
    zero: int = -1

    @property
    def coef(self) -> Floats:
        """The normal vector w, or one a machine."""
        return self.weights[..., :-1]

    @property
    def intercept(self) -> Any:
        """The bias b, or one a machine."""
        return float(self.weights[-1]) if self.weights.ndim == 1 else self.weights[:, -1]

    def scores(self, features: Features) -> Floats:
        """Return f(x) for every row and machine, by the arithmetic training decides by.

        A row that training left on its right side is therefore predicted on that side, always.
        """
        n_features = self.weights.shape[-1] - 1
        if features.n_features != n_features:
            raise ShapeError(
                f"X has {features.n_features} features, but the model was trained on {n_features}. "
                "Pass the same features in the same order as in training."
            )
        few = suffices(features.rows, len(np.atleast_2d(self.weights)))
        out = (plain_scores if few else loop_scores)(features.rows, self.weights)
        # A score is finite only if its row is: checking the scores replaces checking n × d values.
        finite = np.isfinite(out)
        if not finite.all():
            require_finite(features)
            raise overflow(f"row {int(np.argwhere(~finite)[0, 0])} of X")
        return out

    def decision(self, features: Features) -> Floats:
        """Return for every row what its label is chosen by: f(x), or one number a class."""
        return self.scheme.decision(self.scores(features))

    def codes(self, features: Features) -> Ints:
        """Return the class of every row, as a position in `classes`."""
        return self.scheme.choose(self.decision(features), self.zero)

    def error(self, batch: Batch) -> float:
        """Return the share of rows whose label is predicted wrong."""
        return float(np.mean(self.codes(batch) != batch.codes))

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        return self.classes[self.codes(features)]


def loop_scores(rows: Rows, weights: Floats) -> Floats:
    """Return f(x) for every row and machine by the compiled loops."""
    from rosenblatt.loops.passes import machine_scores, scores

    n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
    weights = oriented(weights, rows)
    if weights.ndim == 1:
        out = np.empty(n_rows)
        scores(rows, weights, out)
        return out
    out = np.empty((n_rows, len(weights)))
    machines, room = np.arange(len(weights)), np.empty((PAIR, len(weights)))
    machine_scores(rows, weights, np.arange(n_rows), machines, room, out)
    return out


def overflow(what: str) -> TrainingOverflowError:
    """Return the error for a finite row whose score is not."""
    return TrainingOverflowError(f"The score of {what} exceeds the largest float. Scale the features down.")
