"""The bound on the mistakes of the p-norm perceptron (Grove, Littlestone and Schuurmans 2001).

If u separates the padded rows by y <u, x> ≥ γ, there are at most (p − 1) X_p² ‖u‖_q² / γ² mistakes, where X_p is
the largest p-norm of a row and 1/p + 1/q = 1. Any u gives a bound. Two are tried: that of maximum margin, and that
of smallest 1-norm, which is best where few features matter. Floats propose it; its margin is exact, and roots are
rounded up.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, inf, log, nextafter
from typing import Any

import numpy as np

from rosenblatt.certify.rationals import UNIT, above, exact, root_above, root_below
from rosenblatt.loops.layout import CSR
from rosenblatt.theory.bound import Bound
from rosenblatt.theory.observed_run import ObservedRun
from rosenblatt.theory.separable import INSEPARABLE, NOT_THROUGH_THE_ORIGIN
from rosenblatt.theory.training_set import TrainingSet
from rosenblatt.typing import Floats

MOST_VALUES = 1 << 22  # of rows that the linear program is tried on


def power_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return the bound on the mistakes of a `PNormPerceptron` on separable rows."""
    bound = Bound(
        "p_norm", "Grove, Littlestone and Schuurmans 2001", "(p − 1) X_p² ‖u‖_q²/γ²", rule="PNormPerceptron"
    )
    if run is None or run.power is None:
        return bound.without("it is about PNormPerceptron; pass one as model")
    if run.odd_steps or run.start.any():
        return bound.without(run.odd_steps or "the start is not the origin")
    margin = sample.margin(run.beta)
    if margin is None:
        return bound.without(sample.refusal(run.beta) or (INSEPARABLE if run.beta else NOT_THROUGH_THE_ORIGIN))
    p, root = run.power, (root_below(run.beta), root_above(run.beta))
    tried = [(tuple(map(abs, margin.w)), abs(margin.b), margin.least)]
    proposal = _sparsest(sample, p, run.beta)
    if proposal is not None:
        least = sample.least(*proposal)
        if least > 0:
            tried.append((tuple(abs(exact(v)) for v in proposal[0].tolist()), abs(exact(proposal[1])), least))
    longest = _longest(sample, p, root[1])
    norms = [
        exact(norm_above([above(v) for v in (*w, b / exact(root[0]) if run.beta else Fraction(0)) if v], p))
        / least
        for w, b, least in tried
    ]
    value = (p - 1) * exact(longest) ** 2 * min(norms) ** 2
    uses = {"p": (float(p), float(p)), "X_p": (longest, longest), "‖u‖_q": (above(min(norms)), above(min(norms)))}
    rows = "x" if not run.beta else f"(x, {root[1]:g})"
    return replace(bound, value=above(value), of=f"{rows} with γ = 1", uses=uses, observed=run.mistakes)


def norm_above(values: list[float], p: int) -> float:
    """Return an upper bound on the q-norm of positive numbers, where q = p/(p − 1), within a few last places.

    Examples
    --------
    >>> norm_above([3.0, 4.0], 2)
    5.0
    """
    total = sum((exact(_power_above(exact(value), p, p - 1)) for value in values), Fraction(0))
    return _power_above(total, p - 1, p)


def _power_above(value: Fraction, power: int, root: int) -> float:
    """Return a float not below value^(power / root): floats find it, and whole powers decide."""
    if not value:
        return 0.0
    guess = exp((log(value.numerator) - log(value.denominator)) * power / root)
    rounded, wanted = float(np.round(guess)), value**power
    if rounded and abs(rounded - guess) < 1e-9 * guess and Fraction(rounded) ** root == wanted:
        return rounded
    while guess < inf and Fraction(guess) ** root < wanted:
        guess = nextafter(guess * (1.0 + 4.0 * UNIT), inf)
    return guess


def _longest(sample: TrainingSet, p: int, root: float) -> float:
    """Return an upper bound on the largest p-norm of a row padded with `root`.

    Values are divided by a power of two. Each product and each sum is rounded at most once.
    """
    rows = sample.batch.rows
    values = rows.data if isinstance(rows, CSR) else rows
    scale = 2.0 ** int(np.frexp(max(float(np.abs(values).max(initial=0.0)), root))[1])
    with np.errstate(under="ignore"):
        powers = _powers(np.abs(np.asarray(values, np.float64)) / scale, p)
        if isinstance(rows, CSR):
            lengths: Any = np.diff(rows.indptr.astype(np.int64))
            row = np.repeat(np.arange(sample.n), lengths)
            sums = np.bincount(row, weights=powers, minlength=sample.n)
        else:
            sums = powers.sum(axis=1)
        largest = float(sums.max()) + float(_powers(np.array([root / scale]), p)[0])
    rounding = 1 + 4 * (sample.d + p + 8) * Fraction(UNIT)
    least = Fraction(sample.d + 1) / 2**1000  # what underflow may have taken away
    return nextafter(_power_above(exact(largest) * rounding + least, 1, p) * scale, inf)


def _powers(values: Floats, p: int) -> Floats:
    """Return values^p by squaring."""
    powers, squares = np.ones_like(values), values
    while p:
        powers = powers * squares if p % 2 else powers
        squares, p = squares * squares, p // 2
    return powers


def _sparsest(sample: TrainingSet, p: int, beta: Fraction) -> tuple[Floats, float] | None:
    """Return a hyperplane of about the smallest 1-norm with y f ≥ 1 on every row; None for p = 2 or many rows."""
    if p == 2 or sample.given is not None or sample.n * (sample.d + 1) > MOST_VALUES:
        return None
    from scipy.optimize import linprog

    root = float(beta) ** 0.5
    rows = np.column_stack([sample.batch.dense(), np.full(sample.n, root)]) * sample.y[:, None]
    limit: Any = {"time_limit": sample.seconds(60.0)}
    both, least = np.hstack([-rows, rows]), -np.ones(sample.n)
    found: Any = linprog(np.ones(both.shape[1]), both, least, method="highs", options=limit)
    if found.x is None:
        return None
    u = found.x[: rows.shape[1]] - found.x[rows.shape[1] :]
    return np.ascontiguousarray(u[:-1]), float(u[-1]) * root
