"""The pocket algorithm (Gallant 1990): after each visit that moved weights, count the rows that are wrong.

A count ends as soon as it can no longer win. It begins with the rows that are wrong most often: each wrong row
moves half of the way up to the wrong rows before it. So a hypothesis that is no better than the pocket is rejected
after little more rows than the pocket has errors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops._jit import inline, jit, verb
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import dot, dots, look_ahead
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.targets import Log, Sides, Targets
from rosenblatt.loops.visits import decide, follow, take
from rosenblatt.typing import Floats, Ints

VISIT, READ, ENOUGH = 0, 1, 2


class ErrorCount(NamedTuple):
    """Which rows count as errors."""

    margin: float  # 0 counts wrong labels; more than 0 counts rows whose lead is smaller
    geometric: int  # 1 measures the lead as a distance, y f / ‖w‖; 0 as y f
    # whether f = 0 and ties between classes predict the positive or highest class (1), or the other (0)
    last_wins: int
    slack: float  # a bound on the relative rounding of a sum of weights; 0 if such sums are exact


class Pocket(NamedTuple):
    """The best hypothesis so far, changed in place."""

    w: Floats  # its padded weights
    errors: Floats  # one number: the total weight of its errors
    # the visits made when it was found, the rows read by counts so far, and how many to read before a pause
    progress: Ints
    rows: Any  # the rows that have weight, as they are stored
    front: Any  # the same in the order of counting
    right: ErrorCount  # which rows count as errors
    machines: Ints  # the numbers of the machines
    scores: Floats  # room for their scores of a row


@jit
def consider(X: Rows, targets: Targets, w: Floats, pocket: Pocket, visit: int) -> bool:
    """Count the errors of `w`, and pocket it if they are fewer; return whether they are."""
    front, count = pocket.front, pocket.right
    norm = _norm(w, count)
    errors, found = 0.0, 0
    for p in range(front.size):
        after = look_ahead(X, front, p)
        i = front[p]
        if misses(targets, X, i, after, w, norm, pocket):
            ahead = found + (p - found) // 2
            front[p], front[ahead] = front[ahead], i
            found += 1
            errors += weight_of(targets, i)
            if errors - errors * count.slack >= pocket.errors[0]:
                pocket.progress[READ] += p + 1
                return False
    pocket.progress[READ] += front.size
    if count.slack > 0.0:  # so that the sum does not depend on the order of counting
        errors = 0.0
        for p in range(front.size):
            i = pocket.rows[p]
            if misses(targets, X, i, i, w, norm, pocket):
                errors += weight_of(targets, i)
        if errors >= pocket.errors[0]:
            return False
    put(w, pocket.w)
    pocket.errors[0] = errors
    pocket.progress[VISIT] = visit
    return True


@jit
def train(
    X: Rows, targets: Targets, order: Any, rule: Rule, w: Floats, t0: int, log: Log, pocket: Pocket
) -> tuple[int, int, bool]:
    """Visit the rows of `order`, correcting `w`, and keep the best hypothesis; return (mistakes, visits, finite).

    Training ends early if no row is wrong, if counts have read enough rows, or before a row whose score is not
    finite. `t0` visits came before.
    """
    k = 0
    for t in range(order.size):
        end = decide(targets, X, order, t, rule, w, log, k)
        if end < 0:
            return k, t, False
        if k == end:
            continue
        while k < end:
            log.at[k] = t
            take(targets, X, order[t], log, k, 1.0, rule.beta, w)
            follow(targets, X, order, t, w, log, k)
            k += 1
        consider(X, targets, w, pocket, t0 + t + 1)
        if pocket.errors[0] == 0.0 or pocket.progress[READ] >= pocket.progress[ENOUGH]:
            return k, t + 1, True
    return k, order.size, True


@inline
def _short(lead: float, norm: float, count: ErrorCount) -> bool:
    # The zero vector has no distances, so no row is far enough from it.
    return not lead / norm >= count.margin if norm > 0.0 else True


@inline
def _sides_misses(targets: Any, X: Any, i: Any, after: Any, w: Any, norm: Any, count: Any) -> bool:
    f = dot(X, i, w, after) + w[-1]
    if f - f != 0.0:
        return True
    if count.margin > 0.0:
        return _short(f if targets.pull[i] > 0.0 else -f, norm, count)
    positive = f >= 0.0 if count.last_wins else f > 0.0
    return positive != (targets.pull[i] > 0.0)


@inline
def _classes_miss(targets: Any, X: Any, i: Any, after: Any, w: Any, pocket: Any) -> bool:
    scores, count = pocket.scores, pocket.right
    dots(X, i, w, pocket.machines, after, scores)
    y = targets.code[i]
    own = scores[y] + w[y, w.shape[1] - 1]
    lead = np.inf
    for c in range(scores.size):
        if c != y:
            ahead = own - (scores[c] + w[c, w.shape[1] - 1])
            if ahead - ahead != 0.0:
                return True
            if count.margin == 0.0 and ahead == 0.0 and (c > y) == (count.last_wins == 1):
                return True  # the tie goes to the other class
            lead = min(lead, ahead)
    return lead < count.margin


def _is_sides(targets: Any) -> bool:
    return targets.instance_class is Sides


@verb
def misses(targets: Any, X: Any, i: Any, after: Any, w: Any, norm: Any, pocket: Any) -> Any:
    """Return whether row i is an error of `w`, as is every row whose score is not finite."""
    if _is_sides(targets):
        return lambda targets, X, i, after, w, norm, pocket: _sides_misses(
            targets, X, i, after, w, norm, pocket.right
        )
    return lambda targets, X, i, after, w, norm, pocket: _classes_miss(targets, X, i, after, w, pocket)


@verb
def weight_of(targets: Any, i: Any) -> Any:
    """Return the weight of row i."""
    if _is_sides(targets):
        return lambda targets, i: abs(targets.pull[i])
    return lambda targets, i: targets.weight[i]


@verb
def put(w: Any, into: Any) -> Any:
    """Copy weights."""

    def vector(w: Any, into: Any) -> None:
        for j in range(w.size):
            into[j] = w[j]

    def matrix(w: Any, into: Any) -> None:
        for m in range(w.shape[0]):
            for j in range(w.shape[1]):
                into[m, j] = w[m, j]

    return vector if w.ndim == 1 else matrix


@verb
def _norm(w: Any, count: Any) -> Any:
    """Return ‖w‖ without the bias, or 1 if leads are not distances."""

    def norm(w: Any, count: Any) -> Any:
        if count.geometric == 0 or count.margin == 0.0:
            return 1.0
        square = 0.0
        for j in range(w.size - 1):
            square += w[j] * w[j]
        return np.sqrt(square)

    return norm if w.ndim == 1 else lambda w, count: 1.0
