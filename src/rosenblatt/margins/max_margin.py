"""The maximum-margin hyperplane (Boser, Guyon and Vapnik 1992): solve for few rows, then add rows as needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.exceptions import LabelError, TrainingOverflowError
from rosenblatt.margins.hulls import Hulls
from rosenblatt.margins.matrix import scaled_rows
from rosenblatt.margins.not_separable import Unfinished, separating, undecided, why_not
from rosenblatt.margins.quadratic import Widest, normalised, polish, sharpened, widest
from rosenblatt.typing import Floats, Ints

MOST_NEW = 100
MANY = 400
WELL_WITHIN = 3.0  # a row without weight that is farther than this many margins is dropped
SETTLED = 1e-13
TOUCHING = 1e-15  # of the radius: nothing but rounding
SHARP = 1e-9  # a solution whose relative gap on its own rows is at most this is not improved
SOUND = 1e-3  # a solution whose relative gap is larger than this is not used
WEIGHTY = 1e-9  # a support vector has at least this share of the largest dual weight
AS_GOOD = 1e-11
POLISHES = 30
FARTHEST = 200  # values from 2**-200 to 2**200 have fourth powers within the range of floats
GUESSES = (1.0, 10.0, 0.1, 100.0, 0.01)


@dataclass(frozen=True, eq=False)
class WidestHyperplane:
    """The hyperplane of largest margin."""

    w: Floats  # scaled so that y f = 1 on the support
    b: float
    margin: float  # the smallest y f/‖w‖ over all rows
    upper: float  # an upper bound on the margin of every hyperplane
    support: Ints  # the support vectors, by row number
    alpha: Floats  # their dual weights: w = Σ α_i y_i x_i
    n_iter: int  # rounds

    @property
    def gap(self) -> float:
        """The relative gap between the bounds."""
        return max(0.0, (self.upper - self.margin) / self.upper)


def max_margin(
    batch: Batch, *, bias: bool = True, max_iter: int = 1000, end: float | None = None
) -> WidestHyperplane:
    """Find the hyperplane of largest margin.

    Parameters
    ----------
    batch : Batch
        Rows of two classes; rows of weight 0 are left out, other weights have no effect.
    bias : bool
        Whether the hyperplane has a bias, and so need not contain the origin.
    max_iter : int
        The largest number of rounds.
    end : float or None
        The time, by `time.perf_counter`, after which the best hyperplane so far is returned.

    Raises
    ------
    NotSeparableError
        If no hyperplane separates the classes, or floats cannot decide it.
    """
    require_finite(batch)
    y = batch.signs.astype(np.float64)
    names = np.arange(batch.n_rows) if batch.weight is None else np.flatnonzero(batch.weight > 0.0)
    if len(names) < batch.n_rows:
        batch, y = batch.take(names), y[names]
    if abs(y.sum()) == y.size:
        raise LabelError("Only rows of one class have a weight above 0, but two classes are needed.")
    exponent = int(np.frexp(np.abs(batch.values).max(initial=0.0))[1])
    if abs(exponent) <= FARTHEST:
        return _Search(Hulls(batch, y, bias=bias), names, end).run(max_iter)
    found = _Search(Hulls(scaled_rows(batch, -exponent), y, bias=bias), names, end).run(max_iter)
    with np.errstate(over="ignore", under="ignore"):
        w = np.ldexp(found.w, -exponent)
        alpha = np.ldexp(found.alpha, -2 * exponent)  # α goes by the square, so it overflows before w does
    if not (np.isfinite(w).all() and w.any()):
        raise TrainingOverflowError(
            "The weights of the hyperplane are beyond the range of floats, because the features are too small or "
            "too large. Scale the features."
        )
    margin, upper = (float(np.ldexp(each, exponent)) for each in (found.margin, found.upper))
    return replace(found, w=w, alpha=alpha, margin=margin, upper=upper)


class _Search:
    """The best bounds so far, and the solutions that gave them."""

    def __init__(self, hulls: Hulls, names: Ints, end: float | None = None) -> None:
        self.hulls, self.y, self.names, self.end = hulls, hulls.y, names, end
        self.margin, self.upper = -np.inf, np.inf
        self.w, self.rows, self.lam = np.empty(0), np.empty(0, np.int64), np.empty(0)

    def run(self, max_iter: int) -> WidestHyperplane:
        """Solve for some rows and add those inside the margin, until there are none."""
        rows = self.first()
        guess = self.hulls.radius or 1.0
        for made in range(1, max_iter + 1):
            found = self.solve(rows, guess)
            f = self.note(rows, found)
            if self.upper <= TOUCHING * self.hulls.radius:
                raise why_not(self.hulls, rows, self.names, near=0.0)
            near = self.too_near(f, rows)
            if self.gap <= SETTLED or not near.size or (self.late and self.margin > 0.0):
                break
            if made == max_iter and self.margin <= 0.0:
                raise Unfinished(
                    f"After {made} rounds no hyperplane was found that separates every row, nor a reason why "
                    "there is none. Allow more rounds (max_iter), or use SoftMarginClassifier."
                )
            guess = 1.0 / float(np.linalg.norm(found.w))
            kept = (found.lam > WEIGHTY * found.lam.max()) | (self.y[rows] * f[rows] < WELL_WITHIN)
            rows = np.union1d(rows[kept] if len(rows) > MANY else rows, near)
        self.polish()
        if not self.margin > np.finfo(float).eps * self.hulls.reach:
            raise undecided(self.upper / (self.hulls.radius or 1.0))
        return self.result(made)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.end is not None and perf_counter() >= self.end

    @property
    def gap(self) -> float:
        """The relative gap between the best bounds."""
        return (self.upper - self.margin) / self.upper

    def first(self) -> Ints:
        """Return the rows of both classes that are closest along the line through the class means."""
        positive = self.y > 0.0
        means = np.where(positive, 1.0 / positive.sum(), -1.0 / (~positive).sum())
        f = self.y * self.hulls.matrix.times(self.hulls.matrix.combine(means))
        each = max(MOST_NEW // 2, min(2 * self.hulls.matrix.d, 2 * MOST_NEW))
        nearest = [
            np.flatnonzero(side)[np.argsort(f[side], kind="stable")[:each]] for side in (positive, ~positive)
        ]
        return np.sort(np.concatenate(nearest))

    def solve(self, rows: Ints, guess: float) -> Widest:
        """Solve for these rows; if that fails, find out whether they can be separated at all."""
        y, place, bias = self.y[rows], self.hulls.place(rows), self.hulls.bias
        found = self.attempt(place.rows, y, guess)
        if found is None:
            w = separating(place.rows, y, bias=bias)
            if w is None:
                raise why_not(self.hulls, rows, self.names)
            margin = self.hulls.least(place.rows @ w, y)[0] / float(np.linalg.norm(w))
            attempts = (self.attempt(place.rows, y, margin * each) for each in GUESSES)
            found = next((each for each in attempts if each is not None), None)
            if found is None:
                raise why_not(self.hulls, rows, self.names, near=0.0)  # floats said both yes and no
        return Widest(place.original(found.w), found.lam)

    def attempt(self, X: Floats, y: Floats, guess: float) -> Widest | None:
        """Return a usable solution, if PIQP finds one or comes near one."""
        found = widest(X, y, bias=self.hulls.bias, guess=guess)
        if found is not None and self.own_gap(found, X, y) > SHARP:
            other = sharpened(found, X, y, bias=self.hulls.bias)
            if other is not None and self.own_gap(other, X, y) < self.own_gap(found, X, y):
                found = other
        return found if found is not None and self.own_gap(found, X, y) <= SOUND else None

    def own_gap(self, found: Widest, X: Floats, y: Floats) -> float:
        """Return the relative gap between the bounds of a solution on its own rows."""
        margin = self.hulls.least(X @ found.w, y)[0] / float(np.linalg.norm(found.w))
        upper = float(np.linalg.norm((found.lam * y) @ X)) * (0.5 if self.hulls.bias else 1.0)
        return (upper - margin) / upper if upper > 0.0 else np.inf

    def note(self, rows: Ints, found: Widest) -> Floats:
        """Keep the bounds of a solution if they are better; return all scores, y f ≥ 1 on its own rows."""
        f = self.hulls.scores(found.w)
        margin = self.hulls.least(f, self.y)[0] / float(np.linalg.norm(found.w))
        if margin > self.margin:
            self.margin, self.w = margin, found.w
        upper = self.hulls.upper(rows, found.lam)
        if upper < self.upper:
            self.upper, self.rows, self.lam = upper, rows, found.lam
        here, b = self.hulls.least(f[rows], self.y[rows])
        return (f + b) / here

    def too_near(self, f: Floats, rows: Ints) -> Ints:
        """Return the rows inside the margin that the solution did not include, the nearest first."""
        z = self.y * f
        z[rows] = np.inf
        near = np.flatnonzero(z < 1.0)
        return near[np.argsort(z[near], kind="stable")[:MOST_NEW]]

    def polish(self) -> None:
        """Solve the equations of the support vectors; drop rows of negative weight, add rows inside the margin."""
        rows = self.rows[self.lam > WEIGHTY * self.lam.max()]
        for _ in range(POLISHES):
            if self.late:
                return
            place, y = self.hulls.place(rows), self.y[rows]
            if abs(y.sum()) == y.size and self.hulls.bias:
                return
            found = polish(place.rows, y, bias=self.hulls.bias)
            if (found.lam < 0.0).any():
                rows = np.delete(rows, int(np.argmin(found.lam)))
                continue
            lam = normalised(found.lam, y, bias=self.hulls.bias)
            if lam is None or not found.w.any():
                return
            f = self.note(rows, Widest(place.original(found.w), lam))
            if self.hulls.upper(rows, lam) <= self.upper * (1.0 + AS_GOOD):  # with no more rows than needed
                self.rows, self.lam = rows, lam
            near = self.too_near(f, rows)[:1]
            if self.gap <= 0.0 or not near.size:
                return
            rows = np.union1d(rows, near)

    def result(self, made: int) -> WidestHyperplane:
        """Return the result, the hyperplane scaled and moved back to the position of the data."""
        least, b = self.hulls.least(self.hulls.scores(self.w), self.y)
        holds = self.lam > WEIGHTY * self.lam.max()
        distance = self.hulls.distance(self.rows, self.lam)
        return WidestHyperplane(
            w=self.w / least,
            b=(b - float(self.hulls.center @ self.w)) / least,
            margin=self.margin,
            upper=max(self.upper, self.margin),
            support=self.names[self.rows[holds]],
            alpha=self.lam[holds] * (2.0 if self.hulls.bias else 1.0) / distance**2,
            n_iter=made,
        )
