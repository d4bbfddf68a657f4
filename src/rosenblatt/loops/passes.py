"""The perceptron loop, and its two echoes: scoring rows, and replaying recorded steps.

Weights are padded: ``w[:-1]`` are the feature weights and ``w[-1]`` is the bias, so a state is one array
(S-5). `u` is None, or the sum that averaging defers: each correction times the visits before it. The average
of the hypotheses after each of t visits is then ``w − u / t``, and keeping it costs nothing between mistakes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import add, dot, look_ahead, square
from rosenblatt.loops.rules import Rule
from rosenblatt.typing import Floats, Ints


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
def correct(X: Rows, i: int, c: float, beta: float, w: Floats, u: Floats | None, t: int) -> None:
    """Move the weights by c x_i, the bias by c β, and the deferred sum by t times as much."""
    add(X, i, c, w)
    w[-1] += c * beta
    if u is not None:
        add(X, i, c * t, u)
        u[-1] += c * t * beta


@jit
def train(
    X: Rows, pull: Floats, order: Any, rule: Rule, w: Floats, u: Floats | None, t0: int, log: Log
) -> tuple[int, int]:
    """Visit the rows of `order`, correcting `w` and `u` in place; return (mistakes, visits made).

    `t0` visits came before. Fewer visits than rows in `order` mean that the next row's score was not finite:
    that row or the weights are not, and nothing was done with it.
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
            correct(X, i, c, rule.beta, w, u, t0 + t)
            log.at[k] = t
            log.score[k] = f
            log.step[k] = abs(c)
            k += 1
    return k, order.size


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
        correct(X, i, log.step[k] * pull[i], beta, w, u, log.at[k])
    return -1


@jit
def step(X: Rows, i: int, c: float, beta: float, w: Floats) -> None:
    """Take one step by hand: move the weights by c x_i and the bias by c β."""
    correct(X, i, c, beta, w, None, 0)


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

    If the score is not finite nothing is done.
    """
    f = dot(X, 0, w, 0) + w[-1]
    c = 0.0
    if f - f == 0.0:
        c = correction(Rule(*rule), pull, f)
        if c != 0.0:
            correct(X, 0, c, rule[1], w, u, t)
    return f, c


@jit
def largest_square(X: Rows, n_rows: int) -> float:
    """Return R² = max ‖x_i‖²."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, square(X, i))
    return largest
