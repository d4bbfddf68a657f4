"""The perceptron loop, what averaging adds to it, and its echoes: replaying recorded steps and scoring rows.

Weights are padded: ``w[:-1]`` are the feature weights and ``w[-1]`` is the bias, so a state is one array (S-5).
Several machines are the rows of one matrix, each padded so; a row of X is read once for all of them.

Averaging needs one more sum, u: each correction times the visits before it. The average of the hypotheses after
each of t visits is then ``w − u / t``, and keeping it costs nothing between mistakes. Nothing reads u while
training goes on. So it may be moved with w, while a dense row is at hand (`train` with u), or later from the log,
when the scattered places that sparse rows move can be asked for ahead (`defer`): the bits are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from rosenblatt.loops._jit import VERB, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import FAR, dot, dots_ahead, fits, look_ahead, prefetch_row, square
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.targets import PAIR, Log, Targets
from rosenblatt.loops.visits import (
    correction,
    decide,
    follow,
    move,
    prefetch_moved,
    recall,
    resized,
    take,
    would_fit,
)
from rosenblatt.typing import Floats, Ints

ONLY_ROW = np.zeros(1, np.uint64)
NEAR = 2  # mistakes ahead whose places in u are asked for


@jit
def train(
    X: Rows, targets: Targets, order: Any, rule: Rule, w: Floats, u: Floats | None, t0: int, log: Log
) -> tuple[int, int]:
    """Visit the rows of `order`, correcting `w`, and `u` if it is given, in place; return (mistakes, visits made).

    `t0` visits came before. Fewer visits than rows in `order` mean that the next row's score was not finite: that
    row or the weights are not, and nothing was done with it.
    """
    k = 0
    for t in range(order.size):
        end = decide(targets, X, order, t, rule, w, log, k)
        if end < 0:
            return k, t
        while k < end:
            log.at[k] = t
            take(targets, X, order[t], log, k, 1.0, rule.beta, w)
            follow(targets, X, order, t, w, log, k)
            if u is not None:
                take(targets, X, order[t], log, k, t0 + t, rule.beta, u)
            k += 1
    return k, order.size


@jit
def defer(X: Rows, targets: Targets, order: Any, log: Log, count: int, beta: float, u: Floats, t0: int) -> None:
    """Add to `u` the first mistakes of `log`, each times the visits before it; `t0` came before `order`.

    The rows to come are known here, as they are not in training, so that both they and their places in u can be
    asked for ahead.
    """
    for k in range(count):
        if k + FAR < count:
            prefetch_row(X, order[log.at[k + FAR]])
        if k + NEAR < count:
            prefetch_moved(targets, X, order[log.at[k + NEAR]], log, k + NEAR, u)
        take(targets, X, order[log.at[k]], log, k, t0 + log.at[k], beta, u)


@jit
def replay(X: Rows, targets: Targets, index: Any, log: Log, beta: float, w: Floats, u: Floats | None) -> int:
    """Take the logged steps again, in place; return the first whose score is not the logged one, or −1.

    `index` names the row of each step, ``log.at`` the visits made before it; weights of rows do not matter.
    """
    for k in range(index.size):
        after = look_ahead(X, index, k)
        i = index[k]
        if recall(targets, X, i, after, w, log, k) != log.score[k]:
            return k
        take(targets, X, i, log, k, 1.0, beta, w)
        if u is not None:
            take(targets, X, i, log, k, log.at[k], beta, u)
    return -1


@jit
def take_step(X: Rows, targets: Targets, i: int, log: Log, k: int, beta: float, w: Floats) -> None:
    """Take one step by hand: that of mistake k of `log`, as if it had been made on row i."""
    take(targets, X, i, log, k, 1.0, beta, w)


@jit
def scores(X: Rows, w: Floats, out: Floats) -> None:
    """Write f(x_i) for every row: the very numbers that training decides by."""
    for i in range(out.size):
        out[i] = dot(X, i, w, min(i + 1, out.size - 1)) + w[-1]


@jit
def machine_scores(X: Rows, w: Floats, order: Any, machines: Ints, room: Floats, out: Floats) -> None:
    """Write f_m(x_i) for every row i, all of which `order` names, and machine m; `room` is for two rows."""
    for i in range(order.size):
        dots_ahead(X, order, i, w, machines, room)
        for m in range(machines.size):
            out[i, m] = room[i % PAIR, m] + w[m, w.shape[1] - 1]


@jit
def score_row(X: Rows, w: Floats) -> float:
    """Return f of the only row of X."""
    return dot(X, 0, w, 0) + w[-1]


def named(rule: Any) -> Any:
    """Return a rule with its names."""
    raise TypeError("called from compiled loops only")


@overload(named, **VERB)  # type: ignore[untyped-decorator]
def _named(rule: Any) -> Any:
    if isinstance(rule, types.BaseNamedTuple):
        return lambda rule: rule
    return lambda rule: Rule(*rule)


@jit
def learn_row(X: Rows, pull: float, rule: Any, w: Floats, u: Floats | None, t: int) -> tuple[float, float]:
    """Visit the only row of X by one machine; return its score and the correction made (0 if it was right).

    A `Rule` may be a plain tuple, which crosses into compiled code in a third of the time.
    If the score is not finite, or a weight would not be, nothing is done and the score returned is not finite.
    """
    f = dot(X, 0, w, 0) + w[-1]
    if f - f != 0.0:
        return f, 0.0
    c = correction(named(rule), pull, f)
    if c != 0.0:
        c = resized(named(rule), c, f if c > 0.0 else -f, X, 0, 1)
        if not fits(X, 0, c, w, rule[1]) or (u is not None and not fits(X, 0, c * t, u, rule[1])):
            return np.inf, 0.0
        move(X, 0, c, rule[1], w)
        if u is not None:
            move(X, 0, c * t, rule[1], u)
    return f, c


@jit
def learn_row_by_machines(
    X: Rows, targets: Targets, rule: Rule, w: Floats, u: Floats | None, t: int, log: Log
) -> int:
    """Visit the only row of X by several machines; return the mistakes made, now in `log`.

    If a score is not finite, or a weight would not be, nothing is done and −1 returned.
    """
    count = decide(targets, X, ONLY_ROW, 0, rule, w, log, 0)
    for k in range(count):
        if not would_fit(targets, X, 0, log, k, 1.0, rule.beta, w):
            return -1
        if u is not None and not would_fit(targets, X, 0, log, k, t, rule.beta, u):
            return -1
    for k in range(count):
        take(targets, X, 0, log, k, 1.0, rule.beta, w)
        if u is not None:
            take(targets, X, 0, log, k, t, rule.beta, u)
    return count


@jit
def largest_square(X: Rows, n_rows: int) -> float:
    """Return R² = max ‖x_i‖²."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, square(X, i))
    return largest
