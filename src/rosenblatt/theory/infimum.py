"""The least a-priori bound on mistakes (S-28), over vectors v, any of which gives one."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from rosenblatt.certify.margin import Margin
from rosenblatt.loops.losses import Hinge
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Objective
from rosenblatt.margins.soft_margin import Limits, minimise
from rosenblatt.rationals.dyadic import exact, nearest
from rosenblatt.rationals.dyadic import above, root_above
from rosenblatt.theory.training_set import TrainingSet, norm_square, raised
from rosenblatt.typing import Floats

ROUNDS = 20
SECONDS = 2.0  # for one solution on the way
GAIN = 1e-4  # of the bound, for which another round is made
PRECISION = 1e-5  # of a solution on the way, which need not be the best of all
LARGE = 10**9  # products of a step of the interior-point method, above which coordinates are descended


class Comparator(NamedTuple):
    """v: weights, and the bias that stands for its last coordinate times √β."""

    w: Floats
    b: float

    def times(self, scale: float) -> Comparator:
        """Return a multiple."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return Comparator(self.w * scale, self.b * scale)

    @property
    def finite(self) -> bool:
        """Whether it can be used."""
        return bool(np.isfinite(self.w).all() and np.isfinite(self.b))


def of_margin(margin: Margin) -> Comparator:
    """Return about w*/γ, by which every row has y f ≥ 1."""
    w = [nearest((value / margin.least).numerator, (value / margin.least).denominator) for value in margin.w]
    b = margin.b / margin.least
    return Comparator(np.array(w), nearest(b.numerator, b.denominator))


def a_priori_value(sample: TrainingSet, v: Comparator, beta: Fraction, passes: int) -> float:
    """Return at least (‖v‖C/2 + sqrt(‖v‖²C²/4 + L))²; with A = ‖v‖²C² that is A/2 + L + sqrt(A (A/4 + L))."""
    losses = sample.hinges(v.w, v.b)
    if losses == inf:
        return inf
    A, L = norm_square(v.w, v.b, beta) * (sample.square + beta), passes * exact(losses)
    return raised(above(A / 2 + L) + root_above(A * (A / 4 + L)))


class Infimum(NamedTuple):
    """The least a-priori bound found, its vector, and the best vector of a soft margin, None if there was none."""

    value: float
    v: Comparator
    soft: Comparator | None = None


def infimum(sample: TrainingSet, beta: Fraction, passes: int) -> Infimum:
    """Minimise the a-priori bound over v.

    Its root r is the largest number with r C ‖v‖ + L(v) ≥ r² for all v, the left side being convex in v. Where r
    is too large, the v that minimises it gives a smaller r, and so on down; a soft margin whose penalty has the
    slope of r C ‖v‖ at the last v leads there. Every v on the way gives a bound that holds.
    """
    zero = Comparator(np.zeros(sample.d), 0.0)
    best, softest = Infimum(float(passes * sample.n), zero), inf  # by v = 0 every visit may be a mistake
    margin = sample.margin(beta)
    if margin is not None and (widest := of_margin(margin)).finite:
        value = a_priori_value(sample, widest, beta, passes)
        best = Infimum(value, widest) if value < best.value else best
    C = sqrt(above(sample.square + beta))
    penalty = C * C
    if not (passes and 0.0 < penalty < inf):
        return best
    for _ in range(ROUNDS):
        v = _soft(sample, beta, penalty)
        norm = sqrt(above(norm_square(v.w, v.b, beta))) if v.finite else 0.0
        if not 0.0 < norm < inf:
            break
        value = a_priori_value(sample, v, beta, passes)
        last = penalty
        penalty = sqrt(min(value, best.value)) * C / (passes * norm)
        settled = value > best.value * (1.0 - GAIN) and abs(penalty - last) <= 0.01 * last
        if value < softest:
            best, softest = best._replace(soft=v), value
        if value < best.value:
            best = best._replace(value=value, v=v)
        if settled or not 0.0 < penalty < inf:
            break
    return best


def _soft(sample: TrainingSet, beta: Fraction, penalty: float) -> Comparator:
    """Minimise Σ max(0, 1 − y f) + penalty/2 ‖v‖², nearly."""
    pad = sqrt(above(beta))
    matrix = Matrix(sample.batch, bias=pad > 0.0, pad=pad)
    bias = "penalised" if matrix.bias else None
    with np.errstate(all="ignore"):
        problem = Objective(matrix, sample.y, np.ones(sample.n), Hinge(), 0.0, penalty, bias)  # type: ignore[arg-type]
        smaller = min(matrix.n, matrix.width)
        large = float(matrix.n) * matrix.width * smaller > LARGE
        solver = partial(coordinate, rng=np.random.default_rng(0)) if large else interior
        theta = minimise(
            problem, np.zeros(matrix.width), solver, Limits(PRECISION, max_time=sample.seconds(SECONDS))
        ).theta
        return Comparator(theta[: sample.d], pad * float(theta[-1]) if matrix.bias else 0.0)
