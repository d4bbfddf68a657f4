"""The pocket algorithm (Gallant 1990): after each visit that moved weights, count the rows that are wrong.

A count ends as soon as it can no longer win. It begins with the rows that are wrong most often: each wrong row
moves half of the way up to the wrong rows before it. So a hypothesis that is no better than the pocket is rejected
after little more rows than the pocket has errors.

Reading rows takes most of the time, so several hypotheses are counted together (`Waiting`). Those that such a
count does not rule out are then counted alone, in the order of their visits. So the result is that of counting
each at once.
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
STRETCH = 256  # rows read by counts of several hypotheses before they ask whether one can still win
EIGHT = 8  # hypotheses whose count of a row is one reading


class ErrorCount(NamedTuple):
    """Which rows count as errors."""

    margin: float  # 0 counts wrong labels; more than 0 counts rows whose lead is smaller
    geometric: int  # 1 measures the lead as a distance, y f / ‖w‖; 0 as y f
    # whether f = 0 and ties between classes predict the positive or highest class (1), or the other (0)
    last_wins: int
    slack: float  # a bound on the relative rounding of a sum of weights; 0 if such sums are exact


class Waiting(NamedTuple):
    """Room for hypotheses that are counted together, as many as `w` has rows."""

    w: Floats  # their weights, in the order in memory that `dots` reads
    lanes: Ints  # their numbers
    scores: Floats  # of a row
    biases: Floats
    norms: Floats
    errors: Floats
    at: Any  # for each the visits and the mistakes of this stretch when it was found
    one: Floats  # the weights of one of them


class Pocket(NamedTuple):
    """The best hypothesis so far, changed in place."""

    w: Floats  # its padded weights
    errors: Floats  # one number: the total weight of its errors
    # the visits made when it was found, the rows read by counts so far (eight hypotheses count a row as one),
    # and how many to read before a pause
    progress: Ints
    rows: Any  # the rows that have weight, as they are stored
    front: Any  # the same in the order of counting
    right: ErrorCount  # which rows count as errors
    machines: Ints  # the numbers of the machines
    scores: Floats  # room for their scores of a row
    waiting: Waiting  # hypotheses still to be counted; of one row if each is counted at once


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
    k = waiting = 0
    for t in range(order.size):
        end = decide(targets, X, order, t, rule, w, log, k)
        if end < 0:
            done = count_waiting(w, X, targets, pocket, waiting, t0)
            return (k, t, False) if done < 0 else (pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True)
        if k == end:
            continue
        while k < end:
            log.at[k] = t
            take(targets, X, order[t], log, k, 1.0, rule.beta, w)
            follow(targets, X, order, t, w, log, k)
            k += 1
        if pocket.waiting.lanes.size == 1:
            consider(X, targets, w, pocket, t0 + t + 1)
        else:
            wait(w, pocket, waiting, t + 1, k)
            waiting += 1
            if waiting < pocket.waiting.lanes.size:
                continue
            done = count_waiting(w, X, targets, pocket, waiting, t0)
            waiting = 0
            if done >= 0:
                return pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True
        if pocket.errors[0] == 0.0 or pocket.progress[READ] >= pocket.progress[ENOUGH]:
            return k, t + 1, True
    done = count_waiting(w, X, targets, pocket, waiting, t0)
    if done >= 0:
        return pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True
    return k, order.size, True


@inline
def _wait(w: Any, pocket: Any, m: int, visits: int, mistakes: int) -> None:
    waiting = pocket.waiting
    for j in range(w.size):
        waiting.w[m, j] = w[j]
    waiting.norms[m] = _norm(w, pocket.right)
    waiting.at[m, 0], waiting.at[m, 1] = visits, mistakes


@inline
def _open_eights(pocket: Any, n: int) -> int:
    """Return how many eights of the first n hypotheses that wait have one that can still win."""
    errors, slack, eights = pocket.waiting.errors, pocket.right.slack, 0
    for first in range(0, n, EIGHT):
        is_open = False
        for m in range(first, min(first + EIGHT, n)):
            is_open |= errors[m] - errors[m] * slack < pocket.errors[0]
        eights += is_open
    return eights


@inline
def _count_waiting(w: Any, X: Any, targets: Any, pocket: Any, n: int, t0: int) -> int:
    if n == 0:
        return -1
    waiting, front, count = pocket.waiting, pocket.front, pocket.right
    for m in range(waiting.lanes.size):
        waiting.errors[m] = 0.0
        waiting.biases[m] = waiting.w[m, w.size - 1]
    read = found = 0
    eights = _open_eights(pocket, n)
    while eights > 0 and read < front.size:
        stop = min(read + STRETCH, front.size)
        for p in range(read, stop):
            i = front[p]
            dots(X, i, waiting.w, waiting.lanes, look_ahead(X, front, p), waiting.scores)
            weight = weight_of(targets, i)
            if count.margin > 0.0:
                for m in range(n):
                    f = waiting.scores[m] + waiting.biases[m]
                    waiting.errors[m] += weight if is_wrong(targets, i, f, waiting.norms[m], count) else 0.0
            else:  # the same without branches
                side = 1.0 if targets.pull[i] > 0.0 else -1.0
                tie = 1.0 if (side > 0.0) == (count.last_wins == 1) else 0.0
                for m in range(waiting.lanes.size):
                    lead = side * (waiting.scores[m] + waiting.biases[m])
                    right = (lead > 0.0) | ((lead == 0.0) & (tie > 0.0))
                    waiting.errors[m] += 0.0 if right & (lead < np.inf) else weight
            if is_wrong(targets, i, waiting.scores[0] + waiting.biases[0], waiting.norms[0], count):
                ahead = found + (p - found) // 2
                front[p], front[ahead] = front[ahead], i
                found += 1
        pocket.progress[READ] += eights * (stop - read)
        read = stop
        eights = _open_eights(pocket, n)
    for m in range(n):
        if waiting.errors[m] - waiting.errors[m] * count.slack < pocket.errors[0]:
            for j in range(w.size):
                waiting.one[j] = waiting.w[m, j]
            consider(X, targets, waiting.one, pocket, t0 + waiting.at[m, 0])
            if pocket.errors[0] == 0.0:
                put(waiting.one, w)
                return m
    return -1


@verb
def wait(w: Any, pocket: Any, m: Any, visits: Any, mistakes: Any) -> Any:
    """Keep a hypothesis to be counted later; several machines are counted at once."""
    if w.ndim == 1:
        return lambda w, pocket, m, visits, mistakes: _wait(w, pocket, m, visits, mistakes)
    return lambda w, pocket, m, visits, mistakes: None


@verb
def count_waiting(w: Any, X: Any, targets: Any, pocket: Any, n: Any, t0: Any) -> Any:
    """Count the first n hypotheses that wait; return the one with no errors, made `w` again, or −1."""
    if w.ndim == 1:
        return lambda w, X, targets, pocket, n, t0: _count_waiting(w, X, targets, pocket, n, t0)
    return lambda w, X, targets, pocket, n, t0: -1


@inline
def _short(lead: float, norm: float, count: ErrorCount) -> bool:
    # The zero vector has no distances, so no row is far enough from it.
    return not lead / norm >= count.margin if norm > 0.0 else True


@inline
def is_wrong(targets: Any, i: Any, f: float, norm: float, count: ErrorCount) -> bool:
    """Return whether a score f of row i is an error."""
    if f - f != 0.0:
        return True
    if count.margin > 0.0:
        return _short(f if targets.pull[i] > 0.0 else -f, norm, count)
    positive = f >= 0.0 if count.last_wins else f > 0.0
    return positive != (targets.pull[i] > 0.0)


@inline
def _sides_misses(targets: Any, X: Any, i: Any, after: Any, w: Any, norm: Any, count: Any) -> bool:
    return is_wrong(targets, i, dot(X, i, w, after) + w[-1], norm, count)


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
