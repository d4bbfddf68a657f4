"""One visit: whether it is a mistake, and what the mistake adds, for two classes and for many.

`decide` scores a visit and `judge` logs its mistakes; neither moves weights. `take` moves weights by one logged
mistake. Training does both. A replay checks the score (`recall`) and calls `take`. Averaging calls `take` on
another sum.

Ranking: one vector, corrected by pairs of rows of which one should score higher than the other.

A pair is an example x⁺ − x⁻ of a perceptron without a bias. Its score is the difference of two scores that
prediction computes too, so that a pair that training left in its right order is predicted in this order.

PRank: one vector scores rows, and thresholds cut the scores into ranks (Crammer and Singer 2001).

A row of rank y should score above the thresholds below y and below the others. An update moves each threshold that
the score is on the wrong side of, and the vector by their number. The thresholds stay in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops import rule_steps  # noqa: F401  # it registers the steps of rules
from rosenblatt.loops._jit import VERB, Kind, inline, jit, verb
from rosenblatt.loops._vector import machine
from rosenblatt.loops.layout import (
    PAIR,
    Direct,
    Log,
    Machines,
    Order,
    Pairs,
    Ranks,
    Rows,
    Sets,
    Sides,
    Targets,
    Values,
)
from rosenblatt.loops.rows import add, dot, dots, dots_ahead, fits, look_ahead, prefetch_weights, renew
from rosenblatt.loops.rules import PLAIN, Rule
from rosenblatt.loops.steps import MOVES, NO_RIVAL, SIZES, STEPS
from rosenblatt.typing import Floats, Ints

__all__ = ["NOT_FINITE", "VERB", "correction", "decide", "judge", "move", "moves", "resized", "take", "update"]


@inline
def _slip(targets: Ranks, i: int, r: int, f: float, w: Floats) -> float:
    """Return ±1, the side of threshold r that row i belongs to, if its score f is not there; otherwise 0."""
    side = 1.0 if targets.code[i] > r else -1.0
    return side if side * (f + w[targets.first + r]) <= 0.0 else 0.0


@inline
def decide_rank(targets: Ranks, X: Rows, order: Order, t: int, rule: Rule, w: Floats, log: Log, k: int) -> int:
    """Score visit t and log its update, if it needs one, with the number of thresholds to move as its machine."""
    after = look_ahead(X, order, t)
    i = order[t]
    f = dot(X, i, w, after)
    if f - f != 0.0:
        return -1
    if targets.weight[i] == 0.0:
        return k
    slips = 0
    for r in range(w.size - targets.first):
        slips += 1 if _slip(targets, i, r, f, w) != 0.0 else 0
    if slips == 0:
        return k
    log.score[k] = f
    log.step[k] = rule.eta * targets.weight[i]
    log.machine[k] = slips
    return k + 1


@inline
def update_rank(
    targets: Ranks, X: Rows, i: int, log: Log, k: int, t: int, rule: Rule, w: Floats, u: Floats | None
) -> None:
    """Move the thresholds on the wrong side of a score, and the vector by their number."""
    step, slips = log.step[k], 0.0
    for r in range(w.size - targets.first):
        slip = _slip(targets, i, r, log.score[k], w)
        slips += slip
        w[targets.first + r] += step * slip * rule.beta
        if u is not None:
            u[targets.first + r] += step * slip * rule.beta * t
    add(X, i, step * slips, w)
    if u is not None:
        add(X, i, step * slips * t, u)


@jit
def rank_scores(X: Rows, order: Order, w: Floats, out: Floats) -> None:
    """Write <w, x_i> for every row of `order`, which is 0, 1, …: the bits that training decides by."""
    for i in range(order.size):
        out[i] = dot(X, order[i], w, look_ahead(X, order, i))


@jit
def replay_ranks(X: Rows, targets: Ranks, index: Order, log: Log, rule: Rule, w: Floats, u: Floats | None) -> int:
    """Take logged steps again, in place, as `rosenblatt.loops.passes.replay` does."""
    for k in range(index.size):
        if dot(X, index[k], w, look_ahead(X, index, k)) != log.score[k]:
            return k
        update_rank(targets, X, index[k], log, k, log.at[k], rule, w, u)
    return -1


def ranks_of(scores: Floats, w: Floats, first: int) -> Ints:
    """Return the rank of each score: the number of thresholds that it reaches before the first it does not."""
    reached = scores[:, None] + w[None, first:] >= 0.0
    ranks: Ints = reached.cumprod(axis=1).sum(axis=1)
    return ranks


@inline
def pair_score(targets: Pairs, X: Rows, order: Order, t: int, w: Floats) -> float:
    """Return f(x⁺) − f(x⁻) of the pair that is visited at t; the rows of the next pair are prefetched."""
    p, after = order[t], order[min(t + 1, order.size - 1)]
    plus, minus = targets.plus[p], targets.minus[p]
    return dot(X, plus, w, minus) - dot(X, minus, w, targets.plus[after])


@inline
def decide_pair(targets: Pairs, X: Rows, order: Order, t: int, rule: Rule, w: Floats, log: Log, k: int) -> int:
    """Score visit t, a pair, and log its update if it needs one: the score falls short of the margin, or ties."""
    f = pair_score(targets, X, order, t, w)
    if f - f != 0.0:
        return -1
    weight = targets.weight[order[t]]
    share = 1.0 if f < rule.margin else rule.tie_plus if f == rule.margin else 0.0
    if share * weight == 0.0:
        return k
    log.score[k] = f
    log.step[k] = rule.eta * share * weight
    return k + 1


@inline
def update_pair(targets: Pairs, X: Rows, p: int, log: Log, k: int, t: int, w: Floats, u: Floats | None) -> None:
    """Add the better row of pair p to the vector, and subtract the other one."""
    add(X, targets.plus[p], log.step[k], w)
    add(X, targets.minus[p], -log.step[k], w)
    if u is not None:
        add(X, targets.plus[p], log.step[k] * t, u)
        add(X, targets.minus[p], -log.step[k] * t, u)


@jit
def replay_pairs(X: Rows, targets: Pairs, index: Order, log: Log, w: Floats, u: Floats | None) -> int:
    """Take logged steps again, in place, as `rosenblatt.loops.passes.replay` does; `index` holds pairs."""
    for k in range(index.size):
        if pair_score(targets, X, index, k, w) != log.score[k]:
            return k
        update_pair(targets, X, index[k], log, k, log.at[k], w, u)
    return -1


# Sets of labels: whether a row has one.


@inline
def is_labelled(targets: Sets, i: int, m: int) -> bool:
    """Return whether label m is in the set of row i."""
    p, end = targets.indptr[i], targets.indptr[i + 1]
    while p < end and targets.labels[p] < m:
        p += 1
    return p < end and targets.labels[p] == m


# The best class other than a row's own, for classes compared directly, and the rows that need not look for it.


@inline
def rival_of(scores: Floats, y: int, last_wins: int) -> int:
    """Return the best class other than y; of equal ones the lowest, or with `last_wins` the highest."""
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, scores.size):
        if c != y and (scores[c] > scores[rival] or (last_wins and scores[c] == scores[rival])):
            rival = c
    return rival


@verb
def widest(rule: Kind) -> Any:
    """Return a lead beyond which no row moves weights, and not below 0."""
    if rule.instance_class in STEPS:
        return lambda rule: np.inf
    if "margin_minus" in rule.instance_class._fields:
        return lambda rule: max(rule.margin, rule.margin_minus, 0.0)
    return lambda rule: max(rule.margin, 0.0)


@inline
def leads(scores: Floats, y: int, lead: float) -> bool:
    """Return whether class y leads each other class by a finite number above `lead`, itself ≥ 0.

    Counting takes vector instructions and no branch for a class, so it is far faster than finding the rival.
    """
    near = 0
    for c in range(scores.size):
        near += 0 if lead < scores[y] - scores[c] < np.inf else 1
    return near == 1  # y itself


NOT_FINITE = -1


@verb
def wanted(rule: Kind, pull: Kind) -> Any:
    """Return the margin that a rule wants of an example."""
    if "margin_minus" in rule.instance_class._fields:
        return lambda rule, pull: rule.margin if pull > 0.0 else rule.margin_minus
    return lambda rule, pull: rule.margin


@inline
def correction(rule: Rule, pull: float, f: float) -> float:
    """Return c such that the visit adds c x to w: 0 if it was right.

    `pull` is y times the weight of the example. An example of weight 0 is never a mistake.
    """
    z = f if pull > 0.0 else -f
    margin = wanted(rule, pull)
    if z > margin:
        return 0.0
    if z < margin:
        return rule.eta * pull
    # The tie, y f = margin, of the perceptron's rules; `decide_pair` decides two visits at once in the same way.
    return rule.eta * (rule.tie_plus if pull > 0.0 else rule.tie_minus) * pull


@verb
def resized(rule: Kind, c: Kind, lead: Kind, X: Kind, i: Kind, machines: Kind) -> Any:
    """Return the correction that a rule makes instead of c, which is `Rule`'s.

    What a mistake is stays the same; see `rosenblatt.loops.steps.size_of`. An ``@overload`` of this function with
    ``**VERB`` does the same for a rule that is not registered there.
    """
    if rule.instance_class in PLAIN:
        return lambda rule, c, lead, X, i, machines: c
    return SIZES.get(rule.instance_class)


@verb
def step(rule: Kind, pull: Kind, f: Kind, X: Kind, i: Kind, m: Kind, rival: Kind) -> Any:
    """Return the step of visiting row i, such as c where c x is added to w: 0 if nothing moves.

    `f` is the score by machine m, or its lead over the machine `rival`; there is no rival if it is negative.
    """
    if rule.instance_class in STEPS:
        return STEPS[rule.instance_class]
    return lambda rule, pull, f, X, i, m, rival: _plain_step(rule, pull, f, X, i, rival)


@inline
def _plain_step(rule: Rule, pull: float, f: float, X: Rows, i: int, rival: int) -> float:
    c = correction(rule, pull, f)
    return c if c == 0.0 else resized(rule, c, f if c > 0.0 else -f, X, i, 1 if rival < 0 else 2)


@inline
def move(X: Rows, i: int, c: float, beta: float, w: Floats) -> None:
    """Move the weights by c x_i and the bias by c β."""
    add(X, i, c, w)
    w[-1] += c * beta


# What differs between kinds of targets


@verb
def decide(targets: Kind, X: Kind, order: Kind, t: Kind, rule: Kind, w: Kind, log: Kind, k: Kind) -> Any:
    """Score visit t and log its mistakes from k on; return k plus their number, or NOT_FINITE."""
    if targets.instance_class is Sides:
        return _decide_side
    if targets.instance_class is Values:
        return _decide_value
    if targets.instance_class is Ranks:
        return decide_rank
    if targets.instance_class is Pairs:
        return decide_pair
    return _decide_machines


@verb
def judge(targets: Kind, X: Kind, i: Kind, scores: Kind, rule: Kind, log: Kind, k: Kind) -> Any:
    """Log the mistakes on row i of X from k on, given its scores by all machines; return the same as `decide`.

    Without rows at hand X is None, and the rule must be a `Rule`.
    """
    if targets.instance_class is Sides:
        return lambda targets, X, i, scores, rule, log, k: _judge_side(targets, X, i, scores[0], rule, log, k)
    if targets.instance_class is Direct:
        return _judge_direct
    if targets.instance_class is Sets:
        return _judge_set
    return _judge_machines


@verb
def moves(targets: Kind, i: Kind, log: Kind, k: Kind) -> Any:
    """Return a machine that mistake k on row i moves, the multiple of x, and both for a second machine."""
    if targets.instance_class is Sides:
        return lambda targets, i, log, k: (0, log.step[k] if targets.pull[i] > 0.0 else -log.step[k], 0, 0.0)
    if targets.instance_class is Values:
        return lambda targets, i, log, k: (0, log.step[k] if log.machine[k] > 0 else -log.step[k], 0, 0.0)
    if targets.instance_class is Direct:
        return lambda targets, i, log, k: (targets.code[i], log.step[k], log.machine[k], -log.step[k])
    if targets.instance_class is Sets:
        return lambda targets, i, log, k: (
            log.machine[k],
            log.step[k] if is_labelled(targets, i, log.machine[k]) else -log.step[k],
            0,
            0.0,
        )
    return lambda targets, i, log, k: (
        log.machine[k],
        log.step[k] * _side(targets, targets.code[i], log.machine[k]),
        0,
        0.0,
    )


# One machine


@inline
def _decide_side(targets: Sides, X: Rows, order: Order, t: int, rule: Rule, w: Floats, log: Log, k: int) -> int:
    after = look_ahead(X, order, t)
    return _judge_side(targets, X, order[t], dot(X, order[t], w, after) + w[-1], rule, log, k)


@inline
def _judge_side(targets: Sides, X: Rows, i: int, f: float, rule: Rule, log: Log, k: int) -> int:
    if f - f != 0.0:
        return NOT_FINITE
    c = step(rule, targets.pull[i], f, X, i, 0, NO_RIVAL)
    if c == 0.0:
        return k
    log.score[k] = f
    log.step[k] = abs(c)
    return k + 1


@inline
def _decide_value(targets: Values, X: Rows, order: Order, t: int, rule: Rule, w: Floats, log: Log, k: int) -> int:
    """Decide by −|y − f|, which is to reach the margin −ε; the machine logged is 1 if f is to rise."""
    after = look_ahead(X, order, t)
    i = order[t]
    f = dot(X, i, w, after) + w[-1]
    if f - f != 0.0:
        return NOT_FINITE
    e = targets.value[i] - f
    c = step(rule, targets.weight[i] if e > 0.0 else -targets.weight[i], -e, X, i, 0, NO_RIVAL)
    if c == 0.0:
        return k
    log.score[k] = f
    log.step[k] = abs(c)
    log.machine[k] = 1 if e > 0.0 else 0
    return k + 1


# Several machines


@inline
def _decide_machines(
    targets: Direct | Machines | Sets, X: Rows, order: Order, t: int, rule: Rule, w: Floats, log: Log, k: int
) -> int:
    s = log.scores
    score_visit(targets, X, order, t, w, s)
    for m in range(w.shape[0]):
        s[t % PAIR, m] += w[m, w.shape[1] - 1]
    return judge(targets, X, order[t], s[t % PAIR], rule, log, k)


@inline
def _judge_direct(targets: Direct, X: Rows, i: int, scores: Floats, rule: Rule, log: Log, k: int) -> int:
    y = targets.code[i]
    if leads(scores, y, widest(rule)):
        return k
    rival = rival_of(scores, y, targets.last_wins)
    f = scores[y] - scores[rival]
    if f - f != 0.0:
        return NOT_FINITE
    # A tie depends on the side of the row, as between two classes: the higher-numbered class is the positive one.
    side = 1.0 if y > rival else -1.0
    c = step(rule, side * targets.weight[i], side * f, X, i, y, rival)
    if c == 0.0:
        return k
    log.score[k] = f
    log.step[k] = abs(c)
    log.machine[k] = rival
    return k + 1


@inline
def _judge_machines(targets: Machines, X: Rows, i: int, scores: Floats, rule: Rule, log: Log, k: int) -> int:
    which, side = targets.members[targets.code[i]], targets.side[targets.code[i]]
    for p in range(which.size):
        f = scores[which[p]]
        if f - f != 0.0:
            return NOT_FINITE
        c = step(rule, side[p] * targets.weight[i], f, X, i, which[p], NO_RIVAL)
        if c != 0.0:
            log.score[k] = f
            log.step[k] = abs(c)
            log.machine[k] = which[p]
            k += 1
    return k


@inline
def _judge_set(targets: Sets, X: Rows, i: int, scores: Floats, rule: Rule, log: Log, k: int) -> int:
    p, end = targets.indptr[i], targets.indptr[i + 1]
    for m in range(targets.machines.size):
        labelled = p < end and targets.labels[p] == m
        p += 1 if labelled else 0
        f = scores[m]
        if f - f != 0.0:
            return NOT_FINITE
        c = step(rule, targets.weight[i] if labelled else -targets.weight[i], f, X, i, m, NO_RIVAL)
        if c != 0.0:
            log.score[k] = f
            log.step[k] = abs(c)
            log.machine[k] = m
            k += 1
    return k


@inline
def _side(targets: Machines, y: int, m: int) -> float:
    p = 0
    while targets.members[y, p] != m:
        p += 1
    return targets.side[y, p]


@verb
def all_judge(targets: Kind, w: Kind) -> Any:
    """Return whether every machine learns from every row."""
    if targets.instance_class in (Direct, Sets):
        return lambda targets, w: True
    return lambda targets, w: targets.members.shape[1] == w.shape[0]


@verb
def score_visit(targets: Kind, X: Kind, order: Kind, t: Kind, w: Kind, s: Kind) -> Any:
    """Write <w_m, x> of visit t to ``s[t % 2]``, at least for the machines that learn from it."""
    if targets.instance_class in (Direct, Sets):
        return lambda targets, X, order, t, w, s: dots_ahead(X, order, t, w, targets.machines, s)
    return _score_members


@inline
def _score_members(targets: Machines, X: Rows, order: Order, t: int, w: Floats, s: Floats) -> None:
    if all_judge(targets, w):
        dots_ahead(X, order, t, w, targets.members[0], s)
    else:
        which = targets.members[targets.code[order[t]]]
        dots(X, order[t], w, which, look_ahead(X, order, t), s[t % PAIR])


# What does not differ


@inline
def take(targets: Targets, X: Rows, i: int, log: Log, k: int, factor: float, beta: float, w: Floats) -> None:
    """Move the weights by mistake k, made on row i, times `factor`."""
    m, c, m2, c2 = moves(targets, i, log, k)
    move(X, i, c * factor, beta, machine(w, m))
    if c2 != 0.0:
        move(X, i, c2 * factor, beta, machine(w, m2))


@verb
def update(targets: Kind, X: Kind, i: Kind, log: Kind, k: Kind, t: Kind, rule: Kind, w: Kind, u: Kind) -> Any:
    """Move the weights by mistake k, made on row i after t visits, and the sum u for averaging if it is given."""
    if targets.instance_class is Ranks:
        return update_rank
    if targets.instance_class is Pairs:
        return lambda targets, X, i, log, k, t, rule, w, u: update_pair(targets, X, i, log, k, t, w, u)
    return _update_own if rule.instance_class in MOVES else _update_plain


@inline
def _update_plain(
    targets: Targets, X: Rows, i: int, log: Log, k: int, t: int, rule: Rule, w: Floats, u: Floats | None
) -> None:
    take(targets, X, i, log, k, 1.0, rule.beta, w)
    if u is not None:
        take(targets, X, i, log, k, t, rule.beta, u)


@inline
def _update_own(
    targets: Targets, X: Rows, i: int, log: Log, k: int, t: int, rule: Rule, w: Floats, u: Floats | None
) -> None:
    m, c, m2, c2 = moves(targets, i, log, k)
    move_own(rule, X, i, log.score[k], c, t, m, m2, c2, w, u)


@verb
def move_own(
    rule: Kind, X: Kind, i: Kind, f: Kind, c: Kind, t: Kind, m: Kind, m2: Kind, c2: Kind, w: Kind, u: Kind
) -> Any:
    """Move weights and memory as a rule says that keeps more than weights."""
    return MOVES.get(rule.instance_class)


@inline
def would_fit(targets: Targets, X: Rows, i: int, log: Log, k: int, factor: float, beta: float, w: Floats) -> bool:
    """Return whether `take` would leave every weight finite."""
    m, c, m2, c2 = moves(targets, i, log, k)
    return fits(X, i, c * factor, machine(w, m), beta) and fits(X, i, c2 * factor, machine(w, m2), beta)


@inline
def recall(targets: Targets, X: Rows, i: int, after: int, w: Floats, log: Log, k: int) -> float:
    """Return the score that made visit k a mistake, computed from the present weights."""
    m, _, m2, c2 = moves(targets, i, log, k)
    own = machine(w, m)
    f = dot(X, i, own, after) + own[-1]
    if c2 != 0.0:
        rival = machine(w, m2)
        f -= dot(X, i, rival, after) + rival[-1]
    return f


@inline
def prefetch_moved(targets: Targets, X: Rows, i: int, log: Log, k: int, w: Floats) -> None:
    """Prefetch the weights that `take` moves."""
    m, _, m2, c2 = moves(targets, i, log, k)
    prefetch_weights(X, i, machine(w, m))
    if c2 != 0.0:
        prefetch_weights(X, i, machine(w, m2))


@verb
def follow(targets: Kind, X: Kind, order: Kind, t: Kind, w: Kind, log: Kind, k: Kind) -> Any:
    """Update scores computed ahead of their visit, after mistake k of visit t has moved the weights."""
    if targets.instance_class in (Sides, Values, Ranks, Pairs):
        return lambda targets, X, order, t, w, log, k: None
    return _follow_machines


@inline
def _follow_machines(
    targets: Direct | Machines | Sets, X: Rows, order: Order, t: int, w: Floats, log: Log, k: int
) -> None:
    if all_judge(targets, w):
        m, _, m2, c2 = moves(targets, order[t], log, k)
        renew(X, order, t, w, m, log.scores)
        if c2 != 0.0:
            renew(X, order, t, w, m2, log.scores)
