"""The perceptron loop, averaging, replaying recorded steps, and scoring rows.

Weights are padded: ``w[:-1]`` are the feature weights and ``w[-1]`` is the bias, so a state is one array. Several
machines are the rows of one matrix; a row of X is read once for all of them.

Averaging needs one more sum, u: each correction times the visits before it. The average of the hypotheses after
each of t visits is then ``w − u / t``, so averaging costs nothing between mistakes. An average that begins later
counts visits from there, and none before. Training never reads u, so u is moved either with w, while a dense row
is in the cache (`train` with u), or later from the log, when the scattered places that sparse rows move can be
prefetched (`defer`). Both give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rosenblatt.loops._jit import Kind, inline, jit, verb
from rosenblatt.loops.layout import PAIR, Log, Order, Rows, Sides, Targets
from rosenblatt.loops.rows import VISITS_AHEAD, dot, dots_ahead, fits, look_ahead, prefetch_row, square
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.steps import MOVES, NO_RIVAL
from rosenblatt.loops.visits import (
    decide,
    follow,
    move,
    move_own,
    prefetch_moved,
    recall,
    step,
    take,
    update,
    would_fit,
)
from rosenblatt.typing import Floats, Ints

ONLY_ROW = np.zeros(1, np.uint64)
MISTAKES_AHEAD = 2  # mistakes ahead whose places in u are prefetched


@jit
def train(
    X: Rows,
    targets: Targets,
    order: Order,
    rule: Rule | tuple[float, ...],
    w: Floats,
    u: Floats | None,
    t0: int,
    log: Log,
) -> tuple[int, int]:
    """Visit the rows of `order`, correcting `w`, and `u` if given, in place; return (mistakes, visits made).

    The average has `t0` visits, or begins in −t0 visits. Fewer visits than rows in `order` mean that the score of
    the next row was not finite, and that this row changed nothing.
    """
    k = 0
    for t in range(order.size):
        end = decide(targets, X, order, t, rule, w, log, k)
        if end < 0:
            return k, t
        while k < end:
            log.at[k] = t
            update(targets, X, order[t], log, k, max(t0 + t, 0), rule, w, u)
            follow(targets, X, order, t, w, log, k)
            k += 1
    return k, order.size


@jit
def train_lifted(
    X: Rows, targets: Sides, order: Order, square: float, beta: float, w: Floats, v: Floats, log: Log
) -> tuple[int, int]:
    """Visit rows lifted by one coordinate each, correcting `w` and `v` in place; return as `train` does.

    The lifted row is [a x_i; sqrt(1 − a²) e_i], and the lifted weights sum y times such rows over the mistakes. So
    the lifted score is a² (<w, x_i> + b) + (1 − a²) v_i, where w, b and v_i are the same sums without the factors:
    no square root is taken, and exact data stays exact where a² is a dyadic fraction. `square` is a². The log
    holds f = <w, x_i> + b, the score of the weights that predict.
    """
    k = 0
    for t in range(order.size):
        after = look_ahead(X, order, t)
        i = order[t]
        f = dot(X, i, w, after) + w[-1]
        lifted = square * f + (1.0 - square) * v[i]
        if lifted - lifted != 0.0:
            return k, t
        step = 1.0 if targets.pull[i] > 0.0 else -1.0
        if step * lifted <= 0.0:
            log.at[k] = t
            log.score[k] = f
            log.step[k] = 1.0
            move(X, i, step, beta, w)
            v[i] += step
            k += 1
    return k, order.size


@jit
def defer(X: Rows, targets: Targets, order: Order, log: Log, count: int, beta: float, u: Floats, t0: int) -> None:
    """Add to `u` the first `count` mistakes of `log`, each times the visits before it; see `train` for `t0`.

    The rows are known ahead here, unlike in training, so they and their places in u are prefetched.
    """
    for k in range(count):
        if k + VISITS_AHEAD < count:
            prefetch_row(X, order[log.at[k + VISITS_AHEAD]])
        if k + MISTAKES_AHEAD < count:
            prefetch_moved(targets, X, order[log.at[k + MISTAKES_AHEAD]], log, k + MISTAKES_AHEAD, u)
        take(targets, X, order[log.at[k]], log, k, max(t0 + log.at[k], 0), beta, u)


@jit
def replay(X: Rows, targets: Targets, index: Order, log: Log, rule: Rule, w: Floats, u: Floats | None) -> int:
    """Take the logged steps again, in place; return the first step whose score differs from the log, or −1.

    `index` holds the row of each step, ``log.at`` the visits made before it.
    """
    for k in range(index.size):
        after = look_ahead(X, index, k)
        i = index[k]
        if recall(targets, X, i, after, w, log, k) != log.score[k]:
            return k
        update(targets, X, i, log, k, log.at[k], rule, w, u)
    return -1


@jit
def take_step(X: Rows, targets: Targets, i: int, log: Log, k: int, beta: float, w: Floats) -> None:
    """Take the step of mistake k of `log` on row i."""
    take(targets, X, i, log, k, 1.0, beta, w)


@jit
def scores(X: Rows, w: Floats, out: Floats) -> None:
    """Write f(x_i) for every row: the same bits that training decides by."""
    for i in range(out.size):
        out[i] = dot(X, i, w, min(i + 1, out.size - 1)) + w[-1]


@jit
def machine_scores(X: Rows, w: Floats, order: Order, machines: Ints, room: Floats, out: Floats) -> None:
    """Write f_m(x_i) for every row i and machine m; `order` is 0, 1, …, and `room` holds scores of two rows.

    The order has the type that it has in training, so that the parts that both loops call are compiled once.
    """
    for i in range(order.size):
        dots_ahead(X, order, i, w, machines, room)
        for m in range(machines.size):
            out[i, m] = room[i % PAIR, m] + w[m, w.shape[1] - 1]


@jit
def score_row(X: Rows, w: Floats) -> float:
    """Return f of the only row of X."""
    return dot(X, 0, w, 0) + w[-1]


@verb
def named(rule: Kind) -> Any:
    """Return a rule with its names."""
    if isinstance(rule, types.BaseNamedTuple):
        return lambda rule: rule
    return lambda rule: Rule(*rule)


@jit
def learn_row(
    X: Rows, pull: float, rule: Rule | tuple[float, ...], w: Floats, u: Floats | None, t: int
) -> tuple[float, float]:
    """Visit the only row of X by one machine; return its score and the correction made (0 if it was right).

    A `Rule` may be a plain tuple, which crosses into compiled code in a third of the time. If the score or a
    corrected weight is not finite, nothing changes and the score returned is not finite.
    """
    return visit_only_row(X, pull, rule, w, u, t)


@inline
def visit_only_row(
    X: Rows, pull: float, rule: Rule | tuple[float, ...], w: Floats, u: Floats | None, t: int
) -> tuple[float, float]:
    """Do what `learn_row` does, inside another loop."""
    f = dot(X, 0, w, 0) + w[-1]
    if f - f != 0.0:
        return f, 0.0
    c = step(named(rule), pull, f, X, 0, 0, NO_RIVAL)
    if c != 0.0:
        if not fits(X, 0, c, w, rule[1]) or (u is not None and not fits(X, 0, c * t, u, rule[1])):
            return np.inf, 0.0
        move_only_row(named(rule), X, f, c, w, u, t)
    return f, c


@verb
def move_only_row(rule: Kind, X: Kind, f: Kind, c: Kind, w: Kind, u: Kind, t: Kind) -> Any:
    """Move the weights, and u if it is given, by the step c on the only row of X, whose score is f."""
    if rule.instance_class in MOVES:
        return lambda rule, X, f, c, w, u, t: move_own(rule, X, 0, f, c, t, 0, 0, 0.0, w, u)
    return lambda rule, X, f, c, w, u, t: _move_only_row(rule, X, c, w, u, t)


@inline
def _move_only_row(rule: Rule, X: Rows, c: float, w: Floats, u: Floats | None, t: int) -> None:
    move(X, 0, c, rule.beta, w)
    if u is not None:
        move(X, 0, c * t, rule.beta, u)


@jit
def learn_row_by_machines(
    X: Rows, targets: Targets, rule: Rule, w: Floats, u: Floats | None, t: int, log: Log
) -> int:
    """Visit the only row of X by several machines; return the number of mistakes, which are now in `log`.

    If a score or a corrected weight is not finite, nothing changes and the result is −1.
    """
    count = decide(targets, X, ONLY_ROW, 0, rule, w, log, 0)
    for k in range(count):
        if not would_fit(targets, X, 0, log, k, 1.0, rule.beta, w):
            return -1
        if u is not None and not would_fit(targets, X, 0, log, k, t, rule.beta, u):
            return -1
    for k in range(count):
        update(targets, X, 0, log, k, t, rule, w, u)
    return count


@jit
def largest_square(X: Rows, n_rows: int) -> float:
    """Return R² = max ‖x_i‖²."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, square(X, i))
    return largest
