"""Probabilities from scores: curves fitted to scores of rows that a model was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats, Ints

Method: TypeAlias = Literal["sigmoid", "isotonic"]
METHODS: tuple[str, ...] = get_args(Method)
DEFAULT_FOLDS = 5
"""Parts of the rows, each scored by a model that was trained on the others."""
MOST_STEPS = 100
"""Newton steps that fit a sigmoid; about ten are needed."""


@dataclass(frozen=True, eq=False)
class SigmoidCurve:
    """p = 1 / (1 + exp(−(slope · score + shift))) (Platt 1999)."""

    slope: float
    shift: float

    def shares(self, scores: Floats) -> Floats:
        """Return the probability of each score."""
        z = self.slope * scores + self.shift
        small = np.exp(-np.abs(z))  # it cannot overflow
        return np.asarray(np.where(z >= 0.0, 1.0, small) / (1.0 + small))

    def stretched(self, factor: float) -> SigmoidCurve:
        """Return the curve for scores that are `factor` times as large."""
        return SigmoidCurve(self.slope / factor, self.shift)


@dataclass(frozen=True, eq=False)
class StepCurve:
    """A curve that never falls, straight between its corners and constant outside (Zadrozny & Elkan 2002)."""

    scores: Floats
    heights: Floats

    def shares(self, scores: Floats) -> Floats:
        """Return the probability of each score."""
        return np.asarray(np.interp(scores, self.scores, self.heights))

    def stretched(self, factor: float) -> StepCurve:
        """Return the curve for scores that are `factor` times as large."""
        return StepCurve(self.scores * factor, self.heights)


Curve: TypeAlias = SigmoidCurve | StepCurve


@dataclass(frozen=True, eq=False)
class Calibration:
    """Curves from decision scores to probabilities: for two classes that of the second, otherwise one for each.

    Examples
    --------
    >>> Calibration((SigmoidCurve(2.0, 0.0),)).probabilities(np.array([0.0, 1.0])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """

    curves: tuple[Curve, ...]

    @property
    def method(self) -> str:
        """How the curves were fitted: "sigmoid" or "isotonic"."""
        return "sigmoid" if isinstance(self.curves[0], SigmoidCurve) else "isotonic"

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class for each row; the probabilities of a row sum to 1.

        Parameters
        ----------
        scores : array of shape (n_rows,) or (n_rows, n_classes)
            Decision scores.
        """
        scores = np.asarray(scores, np.float64)
        if len(self.curves) == 1:
            share = self.curves[0].shares(scores)
            return np.column_stack([1.0 - share, share])
        shares = np.column_stack([curve.shares(each) for curve, each in zip(self.curves, scores.T, strict=True)])
        total = shares.sum(axis=1, keepdims=True)
        even = np.full(shares.shape, 1.0 / len(self.curves))
        return np.asarray(np.divide(shares, total, out=even, where=total > 0.0))


def fit_calibration(scores: Any, codes: Ints, *, method: str = "sigmoid", scale: float = 1.0) -> Calibration:
    """Fit the curves of a calibration to decision scores of rows that were not trained on.

    A sigmoid needs few rows. An isotonic curve has any rising shape, and needs about a thousand rows. The scores
    to be calibrated are `scale` times as large as these.
    """
    require_method(method)
    scores = np.asarray(scores, np.float64)
    fit = fit_sigmoid if method == "sigmoid" else fit_steps
    if scores.ndim == 1:
        return Calibration((fit(scores, codes == 1).stretched(scale),))
    return Calibration(tuple(fit(each, codes == c).stretched(scale) for c, each in enumerate(scores.T)))


def require_method(method: str) -> None:
    """Raise `ParameterError` for a method that is not known."""
    if method not in METHODS:
        raise ParameterError(
            f"method is {method!r}; choose 'sigmoid' or 'isotonic'.", parameter="method", value=method
        )


def fit_sigmoid(scores: Floats, positive: Any) -> SigmoidCurve:
    """Return the sigmoid of the greatest likelihood, by Newton's method (Lin, Lin & Weng 2007).

    The targets are not 0 and 1 but Platt's: (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2). So the slope stays finite where
    the scores separate the classes.
    """
    positive = np.asarray(positive, np.bool_)
    size = float(np.abs(scores).max(initial=0.0)) or 1.0
    f = scores / size
    n_plus, n_minus = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (n_plus + 1.0) / (n_plus + 2.0), 1.0 / (n_minus + 2.0))
    slope, shift = 0.0, float(np.log((n_plus + 1.0) / (n_minus + 1.0)))
    loss = _loss(f, target, slope, shift)
    for _ in range(MOST_STEPS):
        p = SigmoidCurve(slope, shift).shares(f)
        error, weight = p - target, p * (1.0 - p)
        g0, g1 = float(error @ f), float(error.sum())
        h00, h01, h11 = float(weight @ (f * f)) + 1e-12, float(weight @ f), float(weight.sum()) + 1e-12
        if max(abs(g0), abs(g1)) < 1e-9 * len(f):
            break
        determinant = h00 * h11 - h01 * h01
        step0, step1 = (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
        rate = 1.0
        while (after := _loss(f, target, slope - rate * step0, shift - rate * step1)) > loss and rate > 1e-10:
            rate /= 2.0
        if after >= loss:
            break
        slope, shift, loss = slope - rate * step0, shift - rate * step1, after
    return SigmoidCurve(slope / size, shift)


def fit_steps(scores: Floats, positive: Any) -> StepCurve:
    """Return the rising curve of least squares, by pooling neighbours that fall (Ayer et al. 1955)."""
    order = np.argsort(scores, kind="stable")
    places, starts, counts = np.unique(scores[order], return_index=True, return_counts=True)
    sums = np.add.reduceat(np.asarray(positive, np.float64)[order], starts)
    pools: list[list[float]] = []  # [sum, rows, first place, last place]
    for k, (total, rows) in enumerate(zip(sums.tolist(), counts.tolist(), strict=True)):
        pools.append([total, rows, k, k])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            total, rows, _, last = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += rows
            pools[-1][3] = last
    corners = [(places[int(k)], pool[0] / pool[1]) for pool in pools for k in dict.fromkeys(pool[2:])]
    at, heights = np.array(corners, np.float64).T
    return StepCurve(at, heights)


def _loss(f: Floats, target: Floats, slope: float, shift: float) -> float:
    z = slope * f + shift
    return float(np.sum(np.logaddexp(0.0, z) - target * z))


def size_of(scores: Any) -> float:
    """Return the root mean square of decision scores, by which those of different models are made comparable."""
    return float(np.sqrt(np.mean(np.square(np.asarray(scores, np.float64))))) or 1.0
