"""What the theorems need to know about the data: exact radius and margins, and sums rounded up."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.certify.decide import Decision, Plane, decide
from rosenblatt.certify.margin import Margin, margin_of
from rosenblatt.certify.nearest_points import Scores
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rationals import UNIT, above, as_integers, exact, root_below, shifted
from rosenblatt.certify.time_limit import Clock
from rosenblatt.exceptions import Given, ParameterError, ShapeError
from rosenblatt.margins.matrix import Matrix, scaled_rows
from rosenblatt.parameters import RANGE
from rosenblatt.rows.batch import as_batch
from rosenblatt.rows.features import Features, require_finite
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

SAFE_SQUARE_POWER = 400  # values from 2**-400 to 2**400 have squares within the range of floats
BLOCK_VALUES = 2**18


class GivenHyperplane(NamedTuple):
    """A hyperplane at which bounds are evaluated, and a margin γ; None stands for the margin that it has."""

    w: Floats
    b: float
    gamma: Fraction | None


class TrainingSet:
    """Rows of two classes.

    Parameters
    ----------
    X, y
        As `rosenblatt.rows.batch.as_batch` takes them.
    clock : Clock or None
        The time limit of decisions and margins, which raise `Unsettled` after it.

    If `given` is set to a hyperplane, `margin` returns the margin of this one instead of the largest.
    """

    given: GivenHyperplane | None = None

    def __init__(self, X: MatrixLike, y: ColumnLike, clock: Clock | None = None) -> None:
        self.clock = Clock(None) if clock is None else clock
        self.batch = as_batch(X, y)
        require_finite(self.batch)
        self.y = self.batch.signs.astype(np.float64)
        self.n, self.d = self.batch.n_rows, self.batch.n_features
        self._problems: dict[bool, SeparationProblem] = {}
        self._decisions: dict[bool, Decision] = {}
        self._margins: dict[Fraction | None, Margin | None] = {}

    def seconds(self, most: float) -> float:
        """Return the time limit of a solver: `most`, or the seconds that are left if they are fewer."""
        self.clock.check("evaluating bounds")
        return most if self.clock.left is None else max(min(most, self.clock.left), 0.0)

    @cached_property
    def square(self) -> Fraction:
        """R², the largest ‖x‖², exactly."""
        return largest_square(self.batch)

    def problem(self, *, bias: bool) -> SeparationProblem:
        """Return the question whether a hyperplane separates the rows, through the origin if without a bias."""
        if bias not in self._problems:
            self._problems[bias] = SeparationProblem(self.batch, self.y, bias=bias)
        return self._problems[bias]

    def decision(self, *, bias: bool) -> Decision:
        """Return the answer to `problem`."""
        if bias not in self._decisions:
            self._decisions[bias] = decide(self.problem(bias=bias), self.clock)
        return self._decisions[bias]

    @property
    def separable(self) -> bool:
        """Whether a hyperplane separates the rows; it need not contain the origin."""
        return isinstance(self.decision(bias=True), Plane)

    def margin(self, padding: Fraction | None) -> Margin | None:
        """Return the margin of rows padded with √β, or None if nothing separates them.

        A padding β of 0 means no padding, and None a free bias.
        """
        if self.given is not None:
            return None if self.refusal(padding) else self._given_margin(self.given, padding)
        if padding not in self._margins:
            bias = padding != 0
            decision, found = self.decision(bias=bias), None
            if isinstance(decision, Plane):
                found = margin_of(self.problem(bias=bias), decision, self.clock, padding=padding or None)
            self._margins[padding] = found
        return self._margins[padding]

    def refusal(self, padding: Fraction | None) -> str:
        """Return why the hyperplane given has no margin for rows padded with √β; empty if it has one."""
        if self.given is None:
            return ""
        w, b, gamma = self.given
        if b and padding == 0:
            return "the hyperplane given does not contain the origin"
        least = self.least(w, b)
        if least <= 0:
            return "the hyperplane given does not separate the rows"
        short = gamma is not None and least**2 < gamma**2 * norm_square(w, b, padding or Fraction(0))
        return "the margin of the hyperplane given is smaller than gamma" if short else ""

    def _given_margin(self, given: GivenHyperplane, padding: Fraction | None) -> Margin:
        w, b, gamma = given
        least, norm = self.least(w, b), norm_square(w, b, padding or Fraction(0))
        square = least**2 / norm
        if gamma is not None:
            square = gamma**2
            least = exact(root_below(square * norm))
        normal = tuple(exact(value) for value in w.tolist())
        return Margin((square, square), normal, exact(b), least, np.zeros(0, np.int64), (), padding)

    def signed_scores(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Return y (<w, x> + b) of every row in floats, and a bound on the error of each."""
        problem = self.problem(bias=True)
        direction = problem.direction(w)
        if direction is None:
            return self.y * b, 0.0
        v, factor = direction
        f, error = problem.scores(v)
        scale = above(1 / factor)  # a power of two
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            f = f * scale + b
            error = raise_bound(error * scale + UNIT * float(np.abs(f).max()) + 2.0**-1000)
        return self.y * f, error

    def exact_scores(self, w: Floats, b: float) -> list[Fraction]:
        """Return y (<w, x> + b) of every row, exactly."""
        problem = self.problem(bias=True)
        direction = problem.direction(w)
        scores = [Fraction(0)] * self.n
        if direction is not None:
            v, factor = direction
            scores = [score / factor for score in problem.exact_scores(np.arange(self.n), v)]
        offset = exact(b)
        return [int(side) * (score + offset) for side, score in zip(self.y, scores, strict=True)]

    def least(self, w: Floats, b: float) -> Fraction:
        """Return the smallest y (<w, x> + b) over all rows, exactly."""
        problem = self.problem(bias=True)
        direction = problem.direction(w)
        if direction is None:
            return -abs(exact(b))
        v, factor = direction
        scores = Scores.of(problem, v)
        ends = ((1, scores.lowest), (-1, scores.highest))
        return min(sign * (end / factor + exact(b)) for sign, end in ends if end is not None)

    def hinges(self, w: Floats, b: float, power: int = 1, *, times: Ints | None = None) -> float:
        """Return an upper bound on Σ max(0, 1 − y f)^power over all rows, each counted `times`."""
        z, error = self.signed_scores(w, b)
        with np.errstate(over="ignore", invalid="ignore"):
            losses = np.maximum(0.0, 1.0 - z + error) ** power
            losses = losses if times is None else losses * times
        return total(losses)

    def squares(self, times: Ints, beta: Fraction) -> float:
        """Return an upper bound on Σ (‖x‖² + β) over all rows, each counted `times`."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            squares = Matrix(self.batch, bias=False).squares + above(beta)
            rounding = 1.0 + 4.0 * (self.d + 4) * UNIT
            return total(times * (squares * rounding + (self.d + 1) * 2.0**-1022))


def as_hyperplane(sample: TrainingSet, w: ArrayLike, b: float) -> tuple[Floats, float]:
    """Check a hyperplane, and return its normal vector and its bias."""
    normal = np.asarray(w, np.float64).reshape(-1)
    if normal.size != sample.d:
        raise ShapeError(f"w has {normal.size} entries, but X has {sample.d} features. Pass one number a feature.")
    offset = float(b)
    if not (np.isfinite(normal).all() and abs(offset) < inf):
        raise ParameterError(Given("w") + " and " + Given("b") + " must be finite numbers.", code=RANGE)
    if not normal.any():
        raise ParameterError("w is zero, so there is no hyperplane. Pass another vector.", parameter="w")
    return normal, offset


def norm_square(w: Floats, b: float, beta: Fraction) -> Fraction:
    """Return ‖w‖² + b²/β of floats, exactly; ‖w‖² if β is 0."""
    square = sum((exact(value) ** 2 for value in w.tolist()), Fraction(0))
    return square + exact(b) ** 2 / beta if beta else square


def total(values: Floats) -> float:
    """Return an upper bound on the sum of numbers ≥ 0 that were rounded a few times each."""
    with np.errstate(over="ignore"):
        return raise_bound(float(values.sum()) * (1.0 + 2.0 * len(values) * UNIT)) if values.any() else 0.0


def raise_bound(value: float) -> float:
    """Return an upper bound on a value ≥ 0 before a few roundings; infinity for NaN."""
    return nextafter(value * (1.0 + 32.0 * UNIT), inf) if value == value else inf


def largest_square(features: Features) -> Fraction:
    """Return the largest ‖x‖², exactly; floats select the rows that may attain it.

    Examples
    --------
    >>> from rosenblatt.rows.features import as_rows
    >>> largest_square(as_rows([[3.0, 4.0], [0.5, 0.0]]))
    Fraction(25, 1)
    """
    power = int(np.frexp(np.abs(features.values).max(initial=0.0))[1])
    near = features if abs(power) <= SAFE_SQUARE_POWER else scaled_rows(features, -power)
    with np.errstate(under="ignore"):
        squares = Matrix(near, bias=False).squares
    # The relative error of each is below (d + 2) u, and underflow is nothing compared with the largest.
    rows = np.flatnonzero(squares >= squares.max() * (1.0 - 8.0 * (features.n_features + 4) * UNIT))
    matrix = Matrix(features, bias=False)
    step = max(1, BLOCK_VALUES // features.n_features)
    best = Fraction(0)
    for start in range(0, len(rows), step):
        table = matrix.dense(rows[start : start + step])
        integers, powers = as_integers(table, np.zeros(features.n_features, np.int64))
        for row, own in zip(integers, powers.tolist(), strict=True):
            best = max(best, shifted(sum(value * value for value in row), 2 * own))
    return best
