"""The perceptron loop, what averaging adds to it, and its echoes: replaying recorded steps and scoring rows.

Weights are padded: ``w[:-1]`` are the feature weights and ``w[-1]`` is the bias, so a state is one array (S-5).

Averaging needs one more sum, u: each correction times the visits before it. The average of the hypotheses after
each of t visits is then ``w − u / t``, and keeping it costs nothing between mistakes. Nothing reads u while
training goes on. So it may be moved with w, while a dense row is at hand (`train` with u), or later from the log,
when the scattered places that sparse rows move can be asked for ahead (`defer`): the bits are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import FAR, add, dot, fits, look_ahead, prefetch_row, prefetch_weights, square
from rosenblatt.loops.rules import Rule
from rosenblatt.typing import Floats, Ints

NEAR = 2  # mistakes ahead whose places in u are asked for


class Log(NamedTuple):
    """Room for the mistakes of a stretch of visits: position in the order, score before, step taken."""

    at: Ints
    score: Floats
    step: Floats


@inline
def correction(rule: Rule, pull: float, f: float) -> float:
    """Return c such that the visit adds c x to w: 0 if it was right.

    `pull` is y times the example's weight. A weight of 0 makes no mistakes.
    """
    z = f if pull > 0.0 else -f
    if z > rule.margin:
        return 0.0
    if z < rule.margin:
        return rule.eta * pull
    # The tie, y f = margin exactly, is decided here and nowhere else.
    return rule.eta * (rule.tie_plus if pull > 0.0 else rule.tie_minus) * pull


@inline
def move(X: Rows, i: int, c: float, beta: float, w: Floats) -> None:
    """Move the weights by c x_i and the bias by c β."""
    add(X, i, c, w)
    w[-1] += c * beta


@jit
def train(
    X: Rows, pull: Floats, order: Any, rule: Rule, w: Floats, u: Floats | None, t0: int, log: Log
) -> tuple[int, int]:
    """Visit the rows of `order`, correcting `w`, and `u` if it is given, in place; return (mistakes, visits made).

    `t0` visits came before. Fewer visits than rows in `order` mean that the next row's score was not finite: that
    row or the weights are not, and nothing was done with it.
    """
    k = 0
    for t in range(order.size):
        after = look_ahead(X, order, t)
        i = order[t]
        f = dot(X, i, w, after) + w[-1]
        if f - f != 0.0:
            return k, t
        c = correction(rule, pull[i], f)
        if c != 0.0:
            move(X, i, c, rule.beta, w)
            if u is not None:
                move(X, i, c * (t0 + t), rule.beta, u)
            log.at[k] = t
            log.score[k] = f
            log.step[k] = abs(c)
            k += 1
    return k, order.size


@jit
def defer(X: Rows, pull: Floats, order: Any, log: Log, k: int, beta: float, u: Floats, t0: int) -> None:
    """Add to `u` the first k corrections of `log`, each times the visits before it; `t0` came before `order`.

    The rows to come are known here, as they are not in training, so that both they and their places in u can be
    asked for ahead.
    """
    for m in range(k):
        if m + FAR < k:
            prefetch_row(X, order[log.at[m + FAR]])
        if m + NEAR < k:
            prefetch_weights(X, order[log.at[m + NEAR]], u)
        i = order[log.at[m]]
        c = log.step[m] if pull[i] > 0.0 else -log.step[m]
        move(X, i, c * (t0 + log.at[m]), beta, u)


@jit
def replay(X: Rows, pull: Floats, index: Any, log: Log, beta: float, w: Floats, u: Floats | None) -> int:
    """Take the logged steps again, in place; return the first whose score is not the logged one, or −1.

    `index` names the row of each step, ``log.at`` the visits made before it, `pull` is ±1.
    """
    for k in range(index.size):
        after = look_ahead(X, index, k)
        i = index[k]
        f = dot(X, i, w, after) + w[-1]
        if f != log.score[k]:
            return k
        c = log.step[k] * pull[i]
        move(X, i, c, beta, w)
        if u is not None:
            move(X, i, c * log.at[k], beta, u)
    return -1


@jit
def step(X: Rows, i: int, c: float, beta: float, w: Floats) -> None:
    """Take one step by hand: move the weights by c x_i and the bias by c β."""
    move(X, i, c, beta, w)


@jit
def scores(X: Rows, w: Floats, out: Floats) -> None:
    """Write f(x_i) for every row: the very numbers that training decides by."""
    for i in range(out.size):
        out[i] = dot(X, i, w, min(i + 1, out.size - 1)) + w[-1]


@jit
def score_row(X: Rows, w: Floats) -> float:
    """Return f of the only row of X."""
    return dot(X, 0, w, 0) + w[-1]


@jit
def learn_row(
    X: Rows, pull: float, rule: tuple[float, ...], w: Floats, u: Floats | None, t: int
) -> tuple[float, float]:
    """Visit the only row of X; return its score and the correction made (0 if it was right).

    If the score is not finite, or a weight would not be, nothing is done and the score returned is not finite.
    """
    f = dot(X, 0, w, 0) + w[-1]
    if f - f != 0.0:
        return f, 0.0
    c = correction(Rule(*rule), pull, f)
    if c != 0.0:
        if not fits(X, 0, c, w, rule[1]) or (u is not None and not fits(X, 0, c * t, u, rule[1])):
            return np.inf, 0.0
        move(X, 0, c, rule[1], w)
        if u is not None:
            move(X, 0, c * t, rule[1], u)
    return f, c


@jit
def largest_square(X: Rows, n_rows: int) -> float:
    """Return R² = max ‖x_i‖²."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, square(X, i))
    return largest
