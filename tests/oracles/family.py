"""The perceptron's relatives as a textbook writes them: vote, pocket, lifting, soft margin, adaptive filter.

Like `reference`, this is plain Python that works on fractions, and what the fast loops are tested against. The
vote and the pocket look at every hypothesis of a run, so all of them are kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

from rosenblatt.loops.reference import Mistake, dot, plus

Weights: TypeAlias = list[list[Any]]
"""One vector for each machine, bias last; two classes need one machine."""


class Hypothesis(NamedTuple):
    """The weights after a number of visits, which stay until the next mistake."""

    visits: int
    w: Weights


def moves(kind: str, sides: Sequence[Sequence[int]], mistake: Mistake, y: int) -> list[tuple[int, int]]:
    """Return the machines that a mistake on a row of class `y` moves, with +1 towards the row or −1 away from it.

    `kind` is "direct" for one vector for each class. Otherwise `sides` are those of `reference.sides`, or
    ``[[-1, 1]]`` for two classes.
    """
    if kind == "direct":
        return [(y, 1), (mistake.machine, -1)]
    return [(mistake.machine, sides[mistake.machine][y])]


def hypotheses(
    X: Sequence[Sequence[Any]],
    mistakes: Iterable[Mistake],
    w: Weights,
    beta: Any,
    moved: Callable[[Mistake], list[tuple[int, int]]],
) -> list[Hypothesis]:
    """Return the start and the weights after each visit with mistakes, in order.

    Examples
    --------
    >>> mistake = Mistake(visit=0, index=1, score=0, step=1)
    >>> hypotheses([[1, 2], [3, 4]], [mistake], [[0, 0, 0]], beta=1, moved=lambda mistake: [(0, -1)])[-1]
    Hypothesis(visits=1, w=[[-3, -4, -1]])
    """
    path = [Hypothesis(0, w)]
    for mistake in mistakes:
        W = [list(w_m) for w_m in path[-1].w]
        for machine, sign in moved(mistake):
            W[machine] = plus(W[machine], mistake.step * sign, [*X[mistake.index], beta])
        if path[-1].visits == mistake.visit + 1:  # another machine erred on the same visit
            path.pop()
        path.append(Hypothesis(mistake.visit + 1, W))
    return path


def predicted(w: Weights, x: Sequence[Any], kind: str, pairs: Sequence[tuple[int, int]], zero: int) -> int:
    """Return the class of x: by the sign of one machine, the best score, or the best sum over pairs ("ovo")."""
    s = [dot(w_m[:-1], x) + w_m[-1] for w_m in w]
    if kind == "binary":
        return int(s[0] > 0 or (s[0] == 0 and zero > 0))
    if kind == "ovo":
        classes = range(1 + max(b for _, b in pairs))
        s = [sum(f * ((c == b) - (c == a)) for f, (a, b) in zip(s, pairs, strict=True)) for c in classes]
    return max(range(len(s)), key=lambda c: (s[c], c * zero))


def votes(path: Sequence[Hypothesis], total: int, n_classes: int, predict: Callable[[Weights], int]) -> list[int]:
    """Count the votes for each class: the hypothesis after each of `total` visits has one (Freund, Schapire 1999).

    Examples
    --------
    >>> path = [Hypothesis(0, [[0]]), Hypothesis(2, [[1]]), Hypothesis(5, [[-1]])]
    >>> votes(path, total=9, n_classes=2, predict=lambda w: int(w[0][0] > 0))
    [6, 3]
    """
    counts = [0] * n_classes
    present = 0
    for visits in range(1, total + 1):
        if present + 1 < len(path) and path[present + 1].visits == visits:
            present += 1
        counts[predict(path[present].w)] += 1
    return counts


def pocket(path: Sequence[Hypothesis], errors: Callable[[Weights], Any]) -> tuple[Hypothesis, Any]:
    """Return the first hypothesis with the fewest errors, and its errors (Gallant 1990)."""
    best = min(range(len(path)), key=lambda k: (errors(path[k].w), k))
    return path[best], errors(path[best].w)


def is_far(w: Sequence[Any], x: Sequence[Any], y: int, margin: Any, *, geometric: bool) -> bool:
    """Return whether y f(x), or the distance y f(x) / ‖w‖, is at least `margin`."""
    f = dot(w[:-1], x) + w[-1]
    if not geometric:
        return bool(y * f >= margin)
    norm = sqrt(sum(w_j * w_j for w_j in w[:-1]))
    return norm > 0 and float(y * f) / norm >= margin


class TrainedLifted(NamedTuple):
    """The weights and bias, the weight of each row's own coordinate, and the mistakes."""

    w: list[Any]
    b: Any
    v: list[Any]
    mistakes: list[Mistake]


def train_lifted(
    X: Sequence[Sequence[Any]], y: Sequence[int], order: Iterable[int], square: Any, beta: Any = 1
) -> TrainedLifted:
    """Train on rows that each have one more coordinate of their own, so that they are separable; `square` is a².

    The lifted score of row i is a² f(x_i) + (1 − a²) v_i. The mistakes hold f(x_i), without the lift.

    Examples
    --------
    >>> result = train_lifted([[0], [0]], [-1, 1], order=[0, 1] * 3, square=0.5)
    >>> result.v, len(result.mistakes)
    ([-1, 1], 2)
    """
    w, b, v, mistakes = [0] * len(X[0]), 0, [0] * len(X), []
    for visit, i in enumerate(order):
        f = dot(w, X[i]) + b
        if y[i] * (square * f + (1 - square) * v[i]) <= 0:
            w = plus(w, y[i], X[i])
            b, v[i] = b + y[i] * beta, v[i] + y[i]
            mistakes.append(Mistake(visit, i, f, 1))
    return TrainedLifted(w, b, v, mistakes)


def descend(
    X: Sequence[Sequence[Any]],
    pull: Sequence[Any],
    order: Iterable[int],
    slope: Callable[[Any], Any],
    margin: Any,
    eta: Callable[[int], Any],
    l2: Any = 0,
    bias: Any = 1,
) -> tuple[list[Any], Any, list[Any], Any]:
    """Minimise a soft-margin loss by stochastic subgradient steps; return w, b and their averages over the visits.

    Each visit shrinks w by η l2, then adds η φ'(margin − y f) y x, with f from before the visit. `pull` is y times
    the row's weight, and `slope` is φ'.

    Examples
    --------
    >>> descend([[1, 2]], [1], [0, 0], lambda t: 1 if t > 0 else 0, 1, lambda t: 1)[:2]
    ([1, 2], 1)
    """
    w, b = [0 * margin] * len(X[0]), 0 * margin
    sum_w, sum_b, visits = list(w), b, 0
    for i in order:
        visits += 1
        y = 1 if pull[i] > 0 else -1
        step = eta(visits) * slope(margin - y * (dot(w, X[i]) + b)) * pull[i]
        shrink = max(0, 1 - eta(visits) * l2)
        w = plus([shrink * w_j for w_j in w], step, X[i])
        b += step * bias
        sum_w, sum_b = plus(sum_w, 1, w), sum_b + b
    return w, b, [total / visits for total in sum_w], sum_b / visits


def descend_batch(
    X: Sequence[Sequence[Any]],
    pull: Sequence[Any],
    steps: int,
    slope: Callable[[Any], Any],
    margin: Any,
    eta: Callable[[int], Any],
    l2: Any = 0,
    bias: Any = 1,
) -> tuple[list[Any], Any, list[Any], Any]:
    """Minimise the same loss by steps on all rows at once; return w, b and their averages over the steps.

    Each step shrinks w by η l2, then adds η times the mean of φ'(margin − y f) y x over the rows, with f from
    before the step. With φ'(t) = 1 for t ≥ 0 and the margin 0 it is gradient descent on the perceptron criterion.

    Examples
    --------
    >>> descend_batch([[1, 2], [-1, 0]], [1, -1], 1, lambda t: 1 if t >= 0 else 0, 0, lambda t: 2)[:2]
    ([2.0, 2.0], 0.0)
    """
    w, b = [0 * margin] * len(X[0]), 0 * margin
    sum_w, sum_b = list(w), b
    for step in range(1, steps + 1):
        total_w, total_b = [0 * margin] * len(w), 0 * margin
        for x, p in zip(X, pull, strict=True):
            y = 1 if p > 0 else -1
            part = slope(margin - y * (dot(w, x) + b)) * p
            total_w, total_b = plus(total_w, part, x), total_b + part * bias
        shrink, share = max(0, 1 - eta(step) * l2), eta(step) / len(X)
        w, b = plus([shrink * w_j for w_j in w], share, total_w), b + share * total_b
        sum_w, sum_b = plus(sum_w, 1, w), sum_b + b
    return w, b, [each / steps for each in sum_w], sum_b / steps


def adapt(
    far: Sequence[Any], mic: Sequence[Any], n_taps: int, mu: Any, eps: Any = 0, *, normalised: bool
) -> tuple[list[Any], list[Any]]:
    """Adapt a filter from zero taps; return the error at each microphone sample, and the taps (Widrow, Hoff 1960).

    The taps are the weights of a linear neuron, and the last `n_taps` samples of the far end its input, newest
    first. The update is the perceptron's with the error in the place of the label: w += μ e x̄, divided by
    ε + ‖x‖² if `normalised`. Samples may be complex.

    Examples
    --------
    >>> adapt([1, 0, 1], [2, 1, 3], 2, 1, normalised=False)
    ([2, 1, 1], [3, 1])
    """
    w, x, errors = [0 * mu] * n_taps, [0 * mu] * n_taps, []
    for newest, heard in zip(far, mic, strict=True):
        x = [newest, *x[:-1]]
        e = heard - dot(w, x)
        power = eps + sum((x_k * x_k.conjugate()).real for x_k in x)
        step = (mu * e / power if power else 0 * mu) if normalised else mu * e
        w = plus(w, step, [x_k.conjugate() for x_k in x])
        errors.append(e)
    return errors, w


class TrainedRanks(NamedTuple):
    """The vector and the thresholds, their averages over the visits, and the ranks that visits were off."""

    w: list[Any]
    thresholds: list[Any]
    average_w: list[Any]
    average_thresholds: list[Any]
    off: int


def train_ranks(
    X: Sequence[Sequence[Any]], y: Sequence[int], order: Iterable[int], n_ranks: int, eta: Any = 1
) -> TrainedRanks:
    """Train by PRank (Crammer and Singer 2001); `y` counts ranks from 0.

    A row of rank y belongs above the thresholds r < y and below the others; a score on a threshold is off.

    Examples
    --------
    >>> result = train_ranks([[0], [1], [2]], [0, 1, 2], [0, 1, 2] * 20, 3)
    >>> result.thresholds == sorted(result.thresholds)
    True
    """
    w, b = [0] * len(X[0]), [0] * (n_ranks - 1)
    total_w, total_b, visits, off = [0] * len(w), [0] * len(b), 0, 0
    for i in order:
        f = dot(w, X[i])
        sides = [1 if y[i] > r else -1 for r in range(n_ranks - 1)]
        slips = [side if side * (f - b_r) <= 0 else 0 for side, b_r in zip(sides, b, strict=True)]
        w = plus(w, eta * sum(slips), X[i])
        b = [b_r - eta * slip for b_r, slip in zip(b, slips, strict=True)]
        off += sum(abs(slip) for slip in slips)
        total_w, total_b, visits = plus(total_w, 1, w), plus(total_b, 1, b), visits + 1
    return TrainedRanks(w, b, [t / visits for t in total_w], [t / visits for t in total_b], off)


def train_pairs(
    X: Sequence[Sequence[Any]], pairs: Iterable[tuple[int, int]], eta: Any = 1, margin: Any = 0
) -> tuple[list[Any], list[Any], int]:
    """Visit pairs of rows, of which the first should score higher; return w, its average, and the updates.

    Examples
    --------
    >>> train_pairs([[1, 0], [0, 0]], [(0, 1)] * 4)
    ([1, 0], [1.0, 0.0], 1)
    """
    w, total, visits, updates = [0] * len(X[0]), [0] * len(X[0]), 0, 0
    for better, worse in pairs:
        if dot(w, X[better]) - dot(w, X[worse]) <= margin:
            w = plus(plus(w, eta, X[better]), -eta, X[worse])
            updates += 1
        total, visits = plus(total, 1, w), visits + 1
    return w, [t / visits for t in total], updates
