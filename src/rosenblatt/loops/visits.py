"""One visit: is it a mistake, and what does the mistake add? For two classes and for many, one name each.

`decide` writes the mistakes of a visit to the log and moves nothing; `take` moves weights by one logged mistake.
Training is both; a replay is `recall`, to check the score, and `take`; averaging is `take` on another sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from rosenblatt.loops._jit import inline
from rosenblatt.loops.dense import PAIR
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import add, dot, dots, dots_ahead, fits, look_ahead, prefetch_weights, renew
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.targets import Direct, Log, Sides, Targets
from rosenblatt.typing import Floats

NOT_FINITE = -1

_verb = {"strict": False, "jit_options": {"forceinline": True}}


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


def room_for_scores(w: Floats) -> Floats:
    """Return an array for the scores of two rows by all machines."""
    raise TypeError("called from compiled loops only")


def decide(
    targets: Targets, X: Rows, order: Any, t: int, rule: Rule, w: Floats, s: Floats, log: Log, k: int
) -> int:
    """Score the visit t and log its mistakes from k on; return k plus their number, or NOT_FINITE.

    `s` is room for scores, kept from one visit to the next.
    """
    raise TypeError("called from compiled loops only")


def follow(targets: Targets, X: Rows, order: Any, t: int, w: Floats, s: Floats, log: Log, k: int) -> None:
    """Bring scores known ahead of their visit up to date, once mistake k of the visit t has moved the weights."""
    raise TypeError("called from compiled loops only")


def recall(targets: Targets, X: Rows, i: int, after: int, w: Floats, log: Log, k: int) -> float:
    """Return the score by which mistake k was one, at the present weights."""
    raise TypeError("called from compiled loops only")


def take(targets: Targets, X: Rows, i: int, log: Log, k: int, factor: float, beta: float, w: Floats) -> None:
    """Move the weights by mistake k, made on row i, times `factor`."""
    raise TypeError("called from compiled loops only")


def would_fit(targets: Targets, X: Rows, i: int, log: Log, k: int, factor: float, beta: float, w: Floats) -> bool:
    """Whether `take` would leave every weight finite."""
    raise TypeError("called from compiled loops only")


def prefetch_moved(targets: Targets, X: Rows, i: int, log: Log, k: int, w: Floats) -> None:
    """Ask memory for the weights that `take` moves."""
    raise TypeError("called from compiled loops only")


@overload(room_for_scores, **_verb)  # type: ignore[untyped-decorator]
def _room_for_scores(w: Any) -> Any:
    if w.ndim == 1:
        return lambda w: None
    return lambda w: np.empty((PAIR, w.shape[0]))


# Two sides


@inline
def _sides_decide(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, log: Any, k: Any) -> int:
    i = order[t]
    after = look_ahead(X, order, t)
    f = dot(X, i, w, after) + w[-1]
    if f - f != 0.0:
        return NOT_FINITE
    c = correction(rule, targets.pull[i], f)
    if c == 0.0:
        return k
    log.score[k] = f
    log.step[k] = abs(c)
    return k + 1


@inline
def _sides_step(targets: Any, i: Any, log: Any, k: Any) -> float:
    return log.step[k] if targets.pull[i] > 0.0 else -log.step[k]


# One vector a class


@inline
def _rival(s: Any, y: Any, last_wins: Any) -> int:
    """Return the class other than y with the highest score; of equal ones the lowest, or the highest."""
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, s.size):
        if c != y and (s[c] > s[rival] or (last_wins and s[c] == s[rival])):
            rival = c
    return rival


@inline
def _direct_decide(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, s: Any, log: Any, k: Any) -> int:
    dots_ahead(X, order, t, w, targets.machines, s)
    scores = s[t % PAIR]
    for m in range(scores.size):
        scores[m] += w[m, w.shape[1] - 1]
    i = order[t]
    y = targets.code[i]
    rival = _rival(scores, y, targets.last_wins)
    f = scores[y] - scores[rival]
    if f - f != 0.0:
        return NOT_FINITE
    # A tie asks which side the row is on, as between two classes: the higher-numbered one is the positive.
    side = 1.0 if y > rival else -1.0
    c = correction(rule, side * targets.weight[i], side * f)
    if c == 0.0:
        return k
    log.score[k] = f
    log.step[k] = abs(c)
    log.machine[k] = rival
    return k + 1


@inline
def _direct_follow(targets: Any, X: Any, order: Any, t: Any, w: Any, s: Any, log: Any, k: Any) -> None:
    renew(X, order, t, w, targets.code[order[t]], s)
    renew(X, order, t, w, log.machine[k], s)


@inline
def _direct_recall(targets: Any, X: Any, i: Any, after: Any, w: Any, log: Any, k: Any) -> float:
    own, rival = w[targets.code[i]], w[log.machine[k]]
    return (dot(X, i, own, after) + own[-1]) - (dot(X, i, rival, after) + rival[-1])


@inline
def _direct_take(targets: Any, X: Any, i: Any, log: Any, k: Any, factor: Any, beta: Any, w: Any) -> None:
    c = log.step[k] * factor
    move(X, i, c, beta, w[targets.code[i]])
    move(X, i, -c, beta, w[log.machine[k]])


@inline
def _direct_fits(targets: Any, X: Any, i: Any, log: Any, k: Any, factor: Any, beta: Any, w: Any) -> bool:
    c = log.step[k] * factor
    return fits(X, i, c, w[targets.code[i]], beta) and fits(X, i, -c, w[log.machine[k]], beta)


@inline
def _direct_prefetch(targets: Any, X: Any, i: Any, log: Any, k: Any, w: Any) -> None:
    prefetch_weights(X, i, w[targets.code[i]])
    prefetch_weights(X, i, w[log.machine[k]])


# Machines side by side


@inline
def _machines_decide(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, s: Any, log: Any, k: Any) -> int:
    i = order[t]
    members, side = targets.members[targets.code[i]], targets.side[targets.code[i]]
    if members.size == w.shape[0]:
        dots_ahead(X, order, t, w, members, s)
    else:
        dots(X, i, w, members, look_ahead(X, order, t), s[t % PAIR])
    for p in range(members.size):
        m = members[p]
        f = s[t % PAIR, m] + w[m, w.shape[1] - 1]
        if f - f != 0.0:
            return NOT_FINITE
        c = correction(rule, side[p] * targets.weight[i], f)
        if c != 0.0:
            log.score[k] = f
            log.step[k] = abs(c)
            log.machine[k] = m
            k += 1
    return k


@inline
def _machines_follow(targets: Any, X: Any, order: Any, t: Any, w: Any, s: Any, log: Any, k: Any) -> None:
    if targets.members.shape[1] == w.shape[0]:
        renew(X, order, t, w, log.machine[k], s)


@inline
def _machines_step(targets: Any, i: Any, log: Any, k: Any) -> float:
    members, side = targets.members[targets.code[i]], targets.side[targets.code[i]]
    p = 0
    while members[p] != log.machine[k]:
        p += 1
    return log.step[k] * side[p]


def _kind(targets: Any) -> Any:
    return targets.instance_class


@overload(decide, **_verb)  # type: ignore[untyped-decorator]
def _decide(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, s: Any, log: Any, k: Any) -> Any:
    if _kind(targets) is Sides:
        return lambda targets, X, order, t, rule, w, s, log, k: _sides_decide(
            targets, X, order, t, rule, w, log, k
        )
    if _kind(targets) is Direct:
        return lambda targets, X, order, t, rule, w, s, log, k: _direct_decide(
            targets, X, order, t, rule, w, s, log, k
        )
    return lambda targets, X, order, t, rule, w, s, log, k: _machines_decide(
        targets, X, order, t, rule, w, s, log, k
    )


@overload(follow, **_verb)  # type: ignore[untyped-decorator]
def _follow(targets: Any, X: Any, order: Any, t: Any, w: Any, s: Any, log: Any, k: Any) -> Any:
    if _kind(targets) is Sides:
        return lambda targets, X, order, t, w, s, log, k: None
    if _kind(targets) is Direct:
        return lambda targets, X, order, t, w, s, log, k: _direct_follow(targets, X, order, t, w, s, log, k)
    return lambda targets, X, order, t, w, s, log, k: _machines_follow(targets, X, order, t, w, s, log, k)


@overload(recall, **_verb)  # type: ignore[untyped-decorator]
def _recall(targets: Any, X: Any, i: Any, after: Any, w: Any, log: Any, k: Any) -> Any:
    if _kind(targets) is Sides:
        return lambda targets, X, i, after, w, log, k: dot(X, i, w, after) + w[-1]
    if _kind(targets) is Direct:
        return lambda targets, X, i, after, w, log, k: _direct_recall(targets, X, i, after, w, log, k)
    return lambda targets, X, i, after, w, log, k: (
        dot(X, i, w[log.machine[k]], after) + w[log.machine[k], w.shape[1] - 1]
    )


@overload(take, **_verb)  # type: ignore[untyped-decorator]
def _take(targets: Any, X: Any, i: Any, log: Any, k: Any, factor: Any, beta: Any, w: Any) -> Any:
    if _kind(targets) is Sides:
        return lambda targets, X, i, log, k, factor, beta, w: move(
            X, i, _sides_step(targets, i, log, k) * factor, beta, w
        )
    if _kind(targets) is Direct:
        return lambda targets, X, i, log, k, factor, beta, w: _direct_take(targets, X, i, log, k, factor, beta, w)
    return lambda targets, X, i, log, k, factor, beta, w: move(
        X, i, _machines_step(targets, i, log, k) * factor, beta, w[log.machine[k]]
    )


@overload(would_fit, **_verb)  # type: ignore[untyped-decorator]
def _would_fit(targets: Any, X: Any, i: Any, log: Any, k: Any, factor: Any, beta: Any, w: Any) -> Any:
    if _kind(targets) is Direct:
        return lambda targets, X, i, log, k, factor, beta, w: _direct_fits(targets, X, i, log, k, factor, beta, w)
    return lambda targets, X, i, log, k, factor, beta, w: fits(
        X, i, _machines_step(targets, i, log, k) * factor, w[log.machine[k]], beta
    )


@overload(prefetch_moved, **_verb)  # type: ignore[untyped-decorator]
def _prefetch_moved(targets: Any, X: Any, i: Any, log: Any, k: Any, w: Any) -> Any:
    if _kind(targets) is Sides:
        return lambda targets, X, i, log, k, w: prefetch_weights(X, i, w)
    if _kind(targets) is Direct:
        return lambda targets, X, i, log, k, w: _direct_prefetch(targets, X, i, log, k, w)
    return lambda targets, X, i, log, k, w: prefetch_weights(X, i, w[log.machine[k]])
