"""The blocked form of the perceptron's loop in plain numpy: what the kernels of a GPU do, one problem at a time.

A block of rows is scored by the weights at its start. A walk corrects the scores by the block's Gram matrix, in
whole numbers, and decides a row where the bound leaves no doubt of its side. Other rows are scored as in the loop.
Then the mistakes are added in order. ``docs/understand/probes_on_a_gpu.md`` derives the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

U = 2.0**-53
TINY = 1e-290
CHUNK, COARSE = 32, 6  # inside a chunk, scores are kept in units 2**COARSE times as large
CLAMP = 2**30


class Block(NamedTuple):
    """What is known of a block before its rows are decided; scores are in units of ``norm / unit``."""

    norm: Any  # at least ‖(x, 1)‖ for each row
    unit: float
    far: Any  # far[i, r] is what a mistake on row i adds to the score of row r
    near: Any  # the same in coarse units
    drift: float  # at least what all steps together move (w, b)


def factor(d: int, block: int) -> float:
    """Return the factor of (A + D) in T."""
    return 1.01 * U * (4 * (d + block) + 64)


def bound(d: int, block: int, A: float, D: float) -> float:
    """Return T: scores of the loop and of the walk differ by at most T times the norm of the row."""
    return factor(d, block) * (A + D) + TINY


def prepare(X: Any, step: Any, beta: float, multiply: Callable[[Any, Any], Any]) -> Block:
    """Measure the rows of a block, and write its Gram matrix as whole numbers."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        norm = np.sqrt((X * X).sum(axis=1) + 1.0) * (1.0 + 1e-12)
        norm[~(norm < 1e150)] = math.inf
        reach = np.where(step > 0.0, step * norm, 0.0) * max(1.0, beta)
        top, drift = float(reach.max()), float(reach.sum() * (1.0 + 1e-12))
        shift = 29 - math.frexp(top * 1.001)[1] + 1 if 1e-200 < top < 1e200 else 600 if top < 1.0 else -600
        unit = 2.0**shift
        real = (multiply(X, X) + beta) * (step[:, None] * unit / norm)
        real[~(np.abs(real) < 2**31 - 1)] = 0.0
    return Block(norm, unit, np.rint(real).astype(np.int64), np.rint(real / 2**COARSE).astype(np.int64), drift)


def potential_of(w: Any, beta: float) -> float:
    """Return a bound of Q = |w|² + b² / β, which mistakes let grow slowly; |w|² + b² where β = 0."""
    with np.errstate(over="ignore", under="ignore"):
        square = float((w[:-1] ** 2).sum() + w[-1] ** 2 / (beta or 1.0))
    return square * (1.0 + 1e-12) + 1e-300


def growth_of(step: float, norm: float, rule: Any, T: float) -> float:
    """Return how much a mistake lets Q grow at most; with β = 0 this holds only if b is 0, as the page says."""
    length = step * norm * max(1.0, rule.beta)
    return length * (length + 2.0 * T) + 2.0 * step * max(rule.margin, 0.0)


class Trained(NamedTuple):
    """The places of the mistakes, and how many rows the bound left in doubt."""

    mistakes: list[int]
    doubts: int


def train(
    X: Any,
    y: Any,
    rule: Any,
    w: Any,
    u: Any = None,
    visits: int = 0,
    *,
    weight: Any = None,
    size: int = 256,
    score: Callable[[Any, Any], float],
    multiply: Callable[[Any, Any], Any] = lambda a, b: a @ b.T,
) -> Trained:
    """Make one pass over rows with labels −1, 0 or +1, in place; `score` is the loop's own <w, x> + b.

    Without a bias step there must be no bias either: the bound of the norm needs it.
    """
    assert rule.beta > 0.0 or w[-1] == 0.0
    d, mistakes, doubts = X.shape[1], [], 0
    potential = potential_of(w, rule.beta)
    for first in range(0, len(X), size):
        rows, sides = X[first : first + size], y[first : first + size]
        steps = rule.eta * (np.ones(len(rows)) if weight is None else weight[first : first + size])
        block = prepare(rows, steps, rule.beta, multiply)
        A = math.sqrt(potential * max(1.0, rule.beta)) * (1.0 + 1e-6)
        T = bound(d, size, A, block.drift)
        fits = (A + block.drift + abs(rule.margin)) * block.unit < 1e18
        slack = math.ceil(T * block.unit * (1.0 + 1e-9)) + size // 2 + 3 if fits else 2**63 - 1
        with np.errstate(over="ignore", invalid="ignore"):
            scores = (multiply(rows, w[None, :-1])[:, 0] + w[-1]) * (block.unit / block.norm)
            edges = rule.margin * (block.unit / block.norm)
        z = [round(f) if fits else 0 for f in scores.tolist()]
        edge = [round(e) if fits else 0 for e in edges.tolist()]
        made: list[int] = []
        start = w.copy()
        for chunk in range(0, len(rows), CHUNK):
            here = range(chunk, min(chunk + CHUNK, len(rows)))
            added = sides[made].astype(np.int64) @ block.far[made] if made else np.zeros(len(rows), np.int64)
            fine = {r: int(sides[r]) * (z[r] + int(added[r])) - edge[r] for r in here}
            coarse = {r: min(max(fine[r] >> COARSE, -CLAMP), CLAMP) for r in here}
            limit = (slack >> COARSE) + 20 if slack >> COARSE < 2**28 else math.inf
            known = len(made)
            for r in here:
                if sides[r] == 0 or steps[r] == 0.0 or coarse[r] > limit:
                    continue
                wrong = coarse[r] < -limit
                if not wrong:
                    exact = fine[r] + sum(int(sides[i] * sides[r]) * int(block.far[i, r]) for i in made[known:])
                    wrong = fits and exact < -slack
                    if not fits or -slack <= exact <= slack:
                        doubts += 1
                        now = start.copy()
                        for i in made:
                            move(now, rows[i], steps[i] * sides[i], rule.beta)
                        lead = int(sides[r]) * score(rows[r], now)
                        if not math.isfinite(lead):
                            raise OverflowError(first + r)
                        tie = rule.tie_plus if sides[r] > 0 else rule.tie_minus
                        wrong = lead < rule.margin or (lead == rule.margin and tie == 1.0)
                if wrong:
                    made.append(r)
                    for q in here:
                        coarse[q] += int(sides[r] * sides[q]) * int(block.near[r, q])
        for r in made:
            c = steps[r] * sides[r]
            move(w, rows[r], c, rule.beta)
            if u is not None:
                move(u, rows[r], c * float(visits + first + r), rule.beta)
            potential += growth_of(steps[r], block.norm[r], rule, T)
        potential *= 1.0 + 1e-12
        mistakes += [first + r for r in made]
    return Trained(mistakes, doubts)


def move(w: Any, x: Any, c: float, beta: float) -> None:
    """Add c x to the weights and c β to the bias, with two roundings each."""
    w[:-1] += c * x
    w[-1] += c * beta
