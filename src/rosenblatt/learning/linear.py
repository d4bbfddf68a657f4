"""Models that are hyperplanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import Message, NonFiniteError, PredictionOverflowError, Term
from rosenblatt.learning.plain_scores import plain_scores, suffices
from rosenblatt.learning.scheme import ClassModel, Scheme
from rosenblatt.learning.state import MetFeatures, State
from rosenblatt.loops.layout import CSR, PAIR, Rows, oriented, part_of
from rosenblatt.rows.features import Features, require_finite, require_width
from rosenblatt.rows.reals import read_only
from rosenblatt.threads import in_parts, ordered
from rosenblatt.typing import Floats

DENSE_NANOSECONDS, SPARSE_NANOSECONDS, READING_PRODUCTS = 0.1, 0.3, 3
"""Nanoseconds for a value times the weight of a machine, and how many such products take as long as reading it."""


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel(ClassModel):
    """f(x) = <w, x> + b for one or several machines, and how f becomes a class."""

    # (n_features + 1,) or (n_machines, n_features + 1): w with b last; two classes need one machine.
    # (with `met`, those of the features met)
    weights: Floats
    scheme: Scheme  # how scores become classes
    classes: NDArray[Any]  # the labels; of two, the negative one comes first
    # the side of f = 0: −1 or +1. Among many classes, whether a tie goes to the lowest or the highest
    zero: int = -1
    met: MetFeatures | None = None  # the features with weights, if they are not all of them

    @classmethod
    def of(cls, state: State, width: int, scheme: Scheme, classes: NDArray[Any], zero: int) -> LinearModel:
        """Return the model of a state, over its first `width` features: a stream keeps room for more."""
        weights, met = state.hypothesis(), state.met
        if met is not None:
            met, width = met.up_to(width)
        if width < weights.shape[-1] - 1:
            weights = weights[..., np.r_[0:width, -1]]
        return cls(weights, scheme, classes, zero, met)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[-1]) - 1 if self.met is None else self.met.n_features

    @property
    def all_weights(self) -> Floats:
        """The weights of all features, with the bias last."""
        return self.weights if self.met is None else self.met.spread(self.weights)

    @property
    def coef(self) -> Floats:
        """The normal vector w, or one for each machine."""
        return self.all_weights[..., :-1]

    @property
    def intercept(self) -> Any:
        """The bias b, or one for each machine."""
        return float(self.weights[-1]) if self.weights.ndim == 1 else self.weights[:, -1]

    def scores(self, features: Features) -> Floats:
        """Return f(x) for every row and machine, by the arithmetic of training.

        So a row that is right at the end of training is always predicted right.
        """
        require_width(features, self.n_features)
        rows, weights = self._numbered(features.rows)
        few = suffices(rows, len(np.atleast_2d(weights)))
        out = (plain_scores if few else loop_scores)(rows, weights)
        # A score is finite only if its row is, so checking n scores replaces checking n × d values.
        finite = np.isfinite(out)
        if not finite.all():
            require_finite(features)
            raise overflow(int(np.argwhere(~finite)[0, 0]))
        return out

    def _numbered(self, rows: Rows) -> tuple[Rows, Floats]:
        """Return rows and weights that belong together; a column without a weight gets one of zero.

        Leaving such values out would change the order of sums, and so their bits, and would hide a NaN.
        """
        if self.met is None or not isinstance(rows, CSR):
            return rows, self.all_weights
        return self.met.numbered(rows), np.insert(self.weights, len(self.met.columns), 0.0, axis=-1)

    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: f(x), or one number for each class."""
        return self.scheme.decision(self.scores(features))


def loop_scores(rows: Rows, weights: Floats) -> Floats:
    """Return f(x) for every row and machine by the compiled loops, on as many threads as are allowed."""
    n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
    weights = oriented(weights, rows)
    out = np.empty((n_rows, *weights.shape[:-1]))
    values, a_machine = (
        (rows.data.size, SPARSE_NANOSECONDS) if isinstance(rows, CSR) else (rows.size, DENSE_NANOSECONDS)
    )
    at_memory_speed = weights.ndim == 1 and not isinstance(rows, CSR)  # one thread reads as fast as two
    work = 0.0 if at_memory_speed else values * a_machine * (weights.size // weights.shape[-1] + READING_PRODUCTS)
    parts = in_parts(n_rows, work)
    if len(parts) == 1:  # without the detour by way of a pool, which takes longer than a short row
        _write_scores(rows, weights, out, parts[0])
        return out
    for _ in ordered(lambda part: _write_scores(rows, weights, out, part), parts):
        pass
    return out


def _write_scores(rows: Rows, weights: Floats, out: Floats, which: range) -> None:
    from rosenblatt.loops.passes import machine_scores, scores

    part, room = part_of(rows, which.start, which.stop), out[which.start : which.stop]
    if weights.ndim == 1:
        scores(part, weights, room)
    else:
        machines, pair = np.arange(len(weights)), np.empty((PAIR, len(weights)))
        machine_scores(part, weights, np.arange(len(which), dtype=np.uint64), machines, pair, room)


def overflow(row: int | None = None) -> PredictionOverflowError:
    """Return the error for a finite row whose score is not finite: one of X, or x alone."""
    what = Message("x") if row is None else f"row {row} of " + Term("rows", "X")
    return PredictionOverflowError(
        "The score of "
        + what
        + " exceeds the largest float, so it cannot be predicted. Look for a wrong value or "
        "unit in this row; if the features are so large, scale them down before training and predicting.",
        row=row,
    )


def score_of_row(row: Rows, state: State, scheme: Scheme, classes: NDArray[Any], zero: int) -> Any:
    """Return the score of one row by any state, at the cost of its own features."""
    own, n_features = row, state.n_features
    if not isinstance(row, CSR):
        state = state.spread()
    else:
        state = state.part(row.indices)
        own = row._replace(indices=read_only(np.arange(len(row.indices), dtype=np.uint32)))
    model = LinearModel(state.hypothesis(), scheme, classes, zero)
    try:
        score = model.decision(Features(own, 1, state.n_features))[0]
    except NonFiniteError:
        require_finite(Features(row, 1, n_features), name="x")
        raise
    except PredictionOverflowError:
        raise overflow() from None
    return float(score) if score.ndim == 0 else score
