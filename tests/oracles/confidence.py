"""AROW and SCW-I as their papers write them, with a variance for each weight: plain Python, one row after another.

AROW only adds, multiplies and divides, so the tests run it on `fractions.Fraction`. SCW-I takes roots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

from rosenblatt.loops.reference import Mistake, best_rival, dot
from rosenblatt.loops.rules import Confidence


class TrainedConfidence(NamedTuple):
    """Weights and variances of each machine, the bias last in each, the averages of weights, and every update."""

    w: list[list[Any]]
    s: list[list[Any]]
    average: list[list[Any]]
    mistakes: list[Mistake]


def coefficients(rule: Confidence, z: Any, v: Any, weight: Any = 1) -> tuple[Any, Any]:
    """Return c and b for a row of signed score z and variance v; (0, 0) if nothing moves.

    Examples
    --------
    >>> coefficients(Confidence(r=1.0), 0.0, 3.0)
    (0.25, 0.25)
    """
    if weight == 0:
        return 0, 0
    if rule.phi == 0:
        b = 1 / (v + rule.r / weight)
        return ((rule.margin - z) * b, b) if z < rule.margin else (0, 0)
    phi = rule.phi
    if v == 0 or z >= phi * sqrt(v):
        return 0, 0
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    c = min(rule.C * weight, max(0, (-z * psi + sqrt(z**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)))
    root = (-c * v * phi + sqrt(c**2 * v**2 * phi**2 + 4 * v)) / 2
    return c, c * phi / (root + v * c * phi)


def train_confidence(
    X: Sequence[Sequence[Any]],
    sides: Sequence[Sequence[int]] | None,
    y: Sequence[int],
    order: Iterable[int],
    rule: Confidence,
    n_machines: int,
    weight: Sequence[Any] | None = None,
) -> TrainedConfidence:
    """Visit the rows of `order`; `y` counts classes from 0.

    `sides` holds for each machine the side of each class (+1, −1, or 0 if it takes no part). Without it the
    machines are vectors of classes, which are compared directly. Weights start at 0 and variances at 1.
    """
    features = len(X[0]) + 1
    w, s = ([[start] * features for _ in range(n_machines)] for start in (0, 1))
    total: list[list[Any]] = [[0] * features for _ in range(n_machines)]
    visits, mistakes = 0, []
    for visit, i in enumerate(order):
        scores = [dot(w_m[:-1], X[i]) + w_m[-1] for w_m in w]
        squares = [*(x_j**2 for x_j in X[i]), rule.beta]
        spread = [dot(s_m, squares) for s_m in s]
        if sides is None:
            rival = best_rival(scores, y[i], -1)
            f = scores[y[i]] - scores[rival]
            moves = [(f, f, spread[y[i]] + spread[rival], rival, [(y[i], 1), (rival, -1)])]
        else:
            own = [(m, side[y[i]]) for m, side in enumerate(sides) if side[y[i]]]
            moves = [(scores[m], side * scores[m], spread[m], m, [(m, side)]) for m, side in own]
        for f, z, v, name, moved in moves:
            c, b = coefficients(rule, z, v, 1 if weight is None else weight[i])
            if c == 0:
                continue
            mistakes.append(Mistake(visit, i, f, c, name))
            for m, side in moved:
                for j, (x_j, square) in enumerate(zip([*X[i], rule.beta], squares, strict=True)):
                    w[m][j] += c * side * s[m][j] * x_j
                    s[m][j] -= b * s[m][j] ** 2 * square
        total = [[t + w_j for t, w_j in zip(t_m, w_m, strict=True)] for t_m, w_m in zip(total, w, strict=True)]
        visits += 1
    average = [[t / visits for t in t_m] for t_m in total] if visits else w
    return TrainedConfidence(w, s, average, mistakes)
