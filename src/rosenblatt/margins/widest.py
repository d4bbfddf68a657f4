"""The maximum-margin hyperplane (Boser, Guyon and Vapnik 1992): solve for few rows, then add rows as needed.

The maximum-margin hyperplane of few rows: minimise ½‖w‖² subject to y_i (<w, x_i> + b) ≥ 1.

PIQP solves this quadratic program; `polish` then solves the equations of its solution to the last digits.

The convex hulls of two classes, and the two bounds that enclose the largest margin.

For every normal vector w the smallest y f/‖w‖ over all rows is a lower bound. For all weights λ that sum to 1 in
each class, half the distance between the two points they define is an upper bound. Without a bias there is one
hull, that of the y_i x_i, and the distance is that from the origin. Both bounds are evaluated on the data.

Whether two hulls meet: a separating hyperplane says no, a common point yes, and floats may find neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.optimize import nnls
from scipy.sparse import issparse

from rosenblatt.exceptions import SOFT_MARGIN, LabelError, NotSeparableError, Remedy, TrainingOverflowError
from rosenblatt.loops.descent import Hinge
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import BLOCK_VALUES, Matrix, scaled_rows
from rosenblatt.margins.objective import Objective
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, as_rows, require_finite
from rosenblatt.typing import Floats, Ints

MAX_DENSE_FEATURES = 1000  # sparse rows of up to this many features are made dense, some at a time
MAX_UNREDUCED_FEATURES = 300  # rows of up to this many features are not reduced, even if there are fewer rows
MAX_DENSE_VALUES = 2**22  # values that sparse rows may have when made dense


class Hulls:
    """Rows of two sides y, −1.0 and +1.0; with `bias`, hyperplanes need not contain the origin.

    With a bias the rows are moved to have their mean at the origin: that changes no distance, and saves digits
    when they lie far from it. Sparse rows of many features are neither moved nor made dense.
    """

    def __init__(self, features: Features, y: Floats, *, bias: bool) -> None:
        self.matrix, self.y, self.bias = Matrix(features, bias=False), y, bias
        self.center = np.zeros(features.n_features)
        self.dense = not self.matrix.sparse or features.n_features <= MAX_DENSE_FEATURES
        if bias and self.dense:
            self.center = self.matrix.combine(np.full(y.size, 1.0 / y.size))

    @cached_property
    def radius(self) -> float:
        """The largest distance of a row from the center."""
        if not self.dense:
            return self.reach
        step = max(1, BLOCK_VALUES // self.matrix.d)
        blocks = (self.moved(slice(start, start + step)) for start in range(0, self.matrix.n, step))
        return float(np.sqrt(max(np.einsum("ij,ij->i", block, block).max() for block in blocks)))

    @cached_property
    def reach(self) -> float:
        """The largest norm of a row, to which the rounding errors of scores are proportional."""
        return float(np.sqrt(self.matrix.squares.max()))

    def scores(self, w: Floats) -> Floats:
        """Return <w, x_i − center> for every row."""
        return self.matrix.times(w) - self.center @ w

    def place(self, rows: Ints) -> Coordinates:
        """Return some rows, in fewer coordinates if they have many features."""
        return Coordinates(self.moved(rows))

    def moved(self, rows: Ints | slice) -> Any:
        """Return some rows relative to the center."""
        return self.matrix.dense(rows) - self.center if self.dense else self.matrix.X[rows]

    def distance(self, rows: Ints, lam: Floats) -> float:
        """Return the distance between the two points that weights of some rows define."""
        return float(np.linalg.norm((lam * self.y[rows]) @ self.moved(rows)))

    def upper(self, rows: Ints, lam: Floats) -> float:
        """Return the upper bound on the margin from weights of some rows."""
        return self.distance(rows, lam) * (0.5 if self.bias else 1.0)

    def least(self, f: Floats, y: Floats) -> tuple[float, float]:
        """Return the smallest y (f + b) for scores f and the best bias b, and b."""
        if not self.bias:
            return float((y * f).min()), 0.0
        plus, minus = float(f[y > 0.0].min()), float(f[y < 0.0].max())
        return 0.5 * (plus - minus), -0.5 * (plus + minus)


class Coordinates:
    """Rows in at most as many coordinates as there are rows, with the same products, distances and margins."""

    def __init__(self, X: Any) -> None:
        self.X = X
        n, d = X.shape
        sparse = issparse(X)
        self.basis: Floats | None = None
        self.combination: Floats | None = None
        used: Any = np.unique(X.indices) if sparse else slice(None)
        self.used = used
        if d <= max(n, MAX_UNREDUCED_FEATURES):
            self.rows: Floats = np.asarray(X.toarray() if sparse else X, np.float64)
        elif sparse and n * used.size > MAX_DENSE_VALUES:
            values, vectors = eigh((X.astype(np.float64) @ X.T).toarray())
            root = np.sqrt(np.maximum(values, values[-1] * np.finfo(float).eps))
            self.rows, self.combination = vectors * root, vectors / root
        else:
            few = X[:, used].toarray() if sparse else X
            Q, R = qr(np.asarray(few, np.float64).T, mode="economic")
            self.basis, self.rows = np.asarray(Q, np.float64), np.ascontiguousarray(R.T)

    def original(self, w: Floats) -> Floats:
        """Return a normal vector in the original features."""
        if self.combination is not None:
            return np.asarray(self.X.T @ (self.combination @ w), np.float64)
        if self.basis is None:
            return w
        full = np.zeros(self.X.shape[1])
        full[self.used] = self.basis @ w
        return full


SOLVER_TOLERANCE = 1e-13
MAX_SOLVER_STEPS = 200
MAX_REFINEMENTS = 3
MIN_WEIGHT_SHARE = 1e-4


class Widest(NamedTuple):
    """A normal vector w with y f ≥ 1 for some bias, and weights λ ≥ 0 that sum to 1 in each class."""

    w: Floats
    lam: Floats


def widest(X: Floats, y: Floats, *, bias: bool, guess: float) -> Widest | None:
    """Solve the program by PIQP; return None if it fails.

    Features are scaled to one range, which badly scaled data needs. `guess` is roughly the margin: it scales the
    objective to about 1, because PIQP would take a thin margin for zero.
    """
    import piqp

    n, d = X.shape
    size = np.abs(X).max(axis=0)
    size[size == 0.0] = 1.0
    G = y[:, None] * (np.column_stack([X / size, np.ones(n)]) if bias else X / size)
    P = np.diag(np.append((guess / size) ** 2, np.zeros(int(bias))))
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = SOLVER_TOLERANCE
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = SOLVER_TOLERANCE
    settings.max_iter = MAX_SOLVER_STEPS
    solver.setup(
        np.asfortranarray(P), np.zeros(d + bias), G=np.asfortranarray(G), h_l=np.ones(n), h_u=np.full(n, np.inf)
    )
    solver.solve()
    w, lam = solver.result.x[:d] / size, np.maximum(solver.result.z_l, 0.0)
    if not (np.isfinite(w).all() and np.isfinite(lam).all() and w.any()):
        return None
    shares = normalise(lam, y, bias=bias)
    return None if shares is None else Widest(w, shares)


def polish(X: Floats, y: Floats, *, bias: bool) -> Widest:
    """Return the shortest w with y f = 1 on every row, and its dual weights, some of which may be negative.

    Both come from one singular value decomposition, refined with the true residual.
    """
    A = X - X.mean(axis=0) if bias else X
    target = y - y.mean() if bias else y
    U, s, Vt = svd(A, full_matrices=False)
    kept = s > s[0] * np.finfo(float).eps * max(A.shape)
    U, s, V = U[:, kept], s[kept], Vt[kept].T
    w = V @ (U.T @ target / s)
    for _ in range(MAX_REFINEMENTS):
        w = w + V @ (U.T @ (target - A @ w) / s)
    return Widest(w, y * (U @ (V.T @ w / s)))


def sharpen(found: Widest, X: Floats, y: Floats, *, bias: bool) -> Widest | None:
    """Return the solution for the rows of largest weight only: small weights of others hide a thin margin."""
    held = np.flatnonzero(found.lam > MIN_WEIGHT_SHARE * found.lam.max())
    while held.size and not (bias and abs(y[held].sum()) == held.size):
        exact = polish(X[held], y[held], bias=bias)
        if (exact.lam > 0.0).all():
            lam = np.zeros(y.size)
            lam[held] = exact.lam
            shares = normalise(lam, y, bias=bias)
            return None if shares is None else Widest(exact.w, shares)
        held = np.delete(held, int(np.argmin(exact.lam)))
    return None


def normalise(lam: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Scale weights to sum to 1 in each class, or in total without a bias; None if that is impossible."""
    groups = (y > 0.0, y < 0.0) if bias else (np.ones(y.size, np.bool_),)
    shares = lam.copy()
    for group in groups:
        total = lam[group].sum()
        if not total > 0.0:
            return None
        shares[group] /= total
    return shares


MAX_NEW_ROWS = 100
MANY_ROWS = 400
WELL_WITHIN = 3.0  # a row without weight that is farther than this many margins is dropped
SETTLED_GAP = 1e-13
TOUCHING_SHARE = 1e-15  # of the radius: nothing but rounding
SHARP_GAP = 1e-9  # a solution whose relative gap on its own rows is at most this is not improved
MAX_SOUND_GAP = 1e-3  # a solution whose relative gap is larger than this is not used
SUPPORT_WEIGHT_SHARE = 1e-9  # a support vector has at least this share of the largest dual weight
AS_GOOD_SHARE = 1e-11
MAX_POLISHES = 30
SAFE_FOURTH_POWER = 200  # values from 2**-200 to 2**200 have fourth powers within the range of floats
GUESSES = (1.0, 10.0, 0.1, 100.0, 0.01)


MEETING_SHARE = 1e-12  # hulls whose distance is at most this share of the data's radius count as meeting
MAX_INTERIOR_STEPS = 100
MAX_LISTED_ROWS = 12  # rows that an error names


class Unfinished(NotSeparableError):  # noqa: N818 - callers need not tell it from a NotSeparableError
    """The search reached its limit before it separated every row."""


def separating(X: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Return a normal vector that separates the rows, if minimising the hinge loss without a penalty finds one."""
    matrix = Matrix(as_rows(X), bias=bias)
    problem = Objective(matrix, y, np.full(y.size, 1.0 / y.size), Hinge(), bias="free" if bias else None)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for iterate in interior(problem, np.zeros(matrix.width)):
            if iterate.t is not None and (iterate.t < 0.5).all():  # y f > ½ everywhere: well away from zero
                return iterate.theta[: X.shape[1]]
            if iterate.made >= MAX_INTERIOR_STEPS:
                break
    return None


def common_point(X: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Return weights, summing to 1 in each class, of two hull points as near each other as possible.

    Each class has at most one more row with weight than there are dimensions. Without a bias the weights are of
    one point, near the origin. None if there are no such weights.
    """
    scale = max(float(np.sqrt((X * X).sum(axis=1).max())), np.finfo(float).tiny)
    Z = (y[:, None] * X / scale).T
    sums = np.stack([y > 0.0, y < 0.0]) if bias else np.ones((1, y.size))
    lam, _ = nnls(np.vstack([Z, sums]), np.append(np.zeros(len(Z)), np.ones(len(sums))), maxiter=30 * y.size)
    return normalise(lam, y, bias=bias)


def why_not(hulls: Hulls, rows: Ints, names: Ints, near: float = MEETING_SHARE) -> NotSeparableError:
    """Return the error for rows that no hyperplane was found to separate; `names` are the row numbers it shows.

    Hulls whose distance is at most `near` times the radius count as meeting.
    """
    lam = common_point(hulls.place(rows).rows, hulls.y[rows], bias=hulls.bias)
    radius = hulls.radius or 1.0
    distance = np.inf if lam is None else hulls.distance(rows, lam) / radius
    if lam is None or not distance <= near:  # a distance that is not a number proves nothing
        return undecided_error(distance)
    held = names[rows[lam > 0.0]]
    shown = ", ".join(map(str, held[:MAX_LISTED_ROWS])) + (
        f" and {len(held) - MAX_LISTED_ROWS} more" if len(held) > MAX_LISTED_ROWS else ""
    )
    which, what = "hyperplane", "the convex hulls of the two classes meet"
    if not hulls.bias:
        which, what = "hyperplane through the origin", "the hull of the rows y·x holds the origin"
    return NotSeparableError(
        f"No {which} separates the classes: {what}, in a combination of rows {shown} (to {distance:.1g} of the "
        "radius of the data). Use " + SOFT_MARGIN + ", which allows for rows on the wrong side."
    )


def undecided_error(distance: float) -> NotSeparableError:
    """Return the error for classes so near each other that floats cannot decide whether they touch."""
    return NotSeparableError(
        "Floats cannot decide whether the classes are separable: their hulls come within "
        f"{distance:.1g} of the radius of the data, and no hyperplane separates them by more than rounding. "
        "Scale the features, or use " + SOFT_MARGIN + "."
    )


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
    if abs(exponent) <= SAFE_FOURTH_POWER:
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
    if not np.isfinite(alpha).all():
        raise TrainingOverflowError(
            "The weights of the support vectors, which grow with the inverse square of the features, are beyond "
            "the range of floats. Scale the features."
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
            if self.upper <= TOUCHING_SHARE * self.hulls.radius:
                raise why_not(self.hulls, rows, self.names, near=0.0)
            near = self.too_near(f, rows)
            if self.gap <= SETTLED_GAP or not near.size or (self.late and self.margin > 0.0):
                break
            if made == max_iter and self.margin <= 0.0:
                raise Unfinished(
                    f"After {made} rounds no hyperplane was found that separates every row, nor a reason why "
                    "there is none. Allow more rounds (" + Remedy("max_iter") + "), or use " + SOFT_MARGIN + "."
                )
            guess = 1.0 / float(np.linalg.norm(found.w))
            kept = (found.lam > SUPPORT_WEIGHT_SHARE * found.lam.max()) | (self.y[rows] * f[rows] < WELL_WITHIN)
            rows = np.union1d(rows[kept] if len(rows) > MANY_ROWS else rows, near)
        self.polish()
        if not self.margin > np.finfo(float).eps * self.hulls.reach:
            raise undecided_error(self.upper / (self.hulls.radius or 1.0))
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
        each = max(MAX_NEW_ROWS // 2, min(2 * self.hulls.matrix.d, 2 * MAX_NEW_ROWS))
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
        if found is not None and self.own_gap(found, X, y) > SHARP_GAP:
            other = sharpen(found, X, y, bias=self.hulls.bias)
            if other is not None and self.own_gap(other, X, y) < self.own_gap(found, X, y):
                found = other
        return found if found is not None and self.own_gap(found, X, y) <= MAX_SOUND_GAP else None

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
        return near[np.argsort(z[near], kind="stable")[:MAX_NEW_ROWS]]

    def polish(self) -> None:
        """Solve the equations of the support vectors; drop rows of negative weight, add rows inside the margin."""
        rows = self.rows[self.lam > SUPPORT_WEIGHT_SHARE * self.lam.max()]
        for _ in range(MAX_POLISHES):
            if self.late:
                return
            place, y = self.hulls.place(rows), self.y[rows]
            if abs(y.sum()) == y.size and self.hulls.bias:
                return
            found = polish(place.rows, y, bias=self.hulls.bias)
            if (found.lam < 0.0).any():
                rows = np.delete(rows, int(np.argmin(found.lam)))
                continue
            lam = normalise(found.lam, y, bias=self.hulls.bias)
            if lam is None or not found.w.any():
                return
            f = self.note(rows, Widest(place.original(found.w), lam))
            if self.hulls.upper(rows, lam) <= self.upper * (1.0 + AS_GOOD_SHARE):  # with no more rows than needed
                self.rows, self.lam = rows, lam
            near = self.too_near(f, rows)[:1]
            if self.gap <= 0.0 or not near.size:
                return
            rows = np.union1d(rows, near)

    def result(self, made: int) -> WidestHyperplane:
        """Return the result, the hyperplane scaled and moved back to the position of the data."""
        least, b = self.hulls.least(self.hulls.scores(self.w), self.y)
        holds = self.lam > SUPPORT_WEIGHT_SHARE * self.lam.max()
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
