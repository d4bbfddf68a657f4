"""The perceptron as a textbook writes it. Read this first; every fast loop is tested against it.

Plain Python, plain sums, one example after another, never optimised. It works on any numbers that add and
multiply, so the tests also run it on `fractions.Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from rosenblatt.loops.rules import Passive, Rule, margin_of


class Mistake(NamedTuple):
    """One update: its visit, its row, the score before it, the step taken, and the machine that erred.

    Two classes need one machine, number 0. Where classes are compared directly, `machine` is the rival class.
    """

    visit: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Any
    step: Any
    machine: int = 0


class TrainedBinary(NamedTuple):
    """The last weights and bias, their averages over the visits, and every mistake in order."""

    w: list[Any]
    b: Any
    average_w: list[Any]
    average_b: Any
    mistakes: list[Mistake]


class TrainedClasses(NamedTuple):
    """The same for several machines: one vector each, with the bias as its last entry."""

    w: list[list[Any]]
    average: list[list[Any]]
    mistakes: list[Mistake]


def dot(w: Sequence[Any], x: Sequence[Any]) -> Any:
    """Return <w, x>."""
    return sum(w_j * x_j for w_j, x_j in zip(w, x, strict=True))


def plus(w: Sequence[Any], c: float, x: Sequence[Any]) -> list[Any]:
    """Return w + c x."""
    return [w_j + c * x_j for w_j, x_j in zip(w, x, strict=True)]


def share_of_step(rule: Rule, y: int, f: float) -> Any:
    """Return how much of a step a visit with label `y` and score `f` takes: 1, 0, or the share of a tie."""
    margin = margin_of(rule, y)
    if y * f < margin:
        return 1
    if y * f > margin:
        return 0
    return rule.tie_plus if y > 0 else rule.tie_minus


def step_of(rule: Any, y: int, f: float, x: Sequence[Any], weight: float = 1, machines: int = 1) -> Any:
    """Return the step that a visit takes; it moves one or two machines by x.

    Examples
    --------
    >>> step_of(Passive(), y=1, f=0.5, x=[1, 1])  # 0.5 / (1 + 1 + 1)
    0.16666666666666666
    >>> step_of(Passive(eta=2.0), y=1, f=0.5, x=[1, 1])  # the reflection, twice as far
    0.3333333333333333
    """
    step = rule.eta * share_of_step(rule, y, f) * weight
    if step == 0 or not isinstance(rule, Passive):
        return step
    weight = step / rule.eta
    x2 = machines * (dot(x, x) + rule.beta) + rule.soft / weight
    return step if x2 == 0 else rule.eta * min(rule.most * weight, (rule.margin - y * f) / x2)


def towards_zero(w: Any, rent: Any) -> Any:
    """Move a weight towards zero by `rent`, and stop there."""
    return w - rent if w > rent else w + rent if w < -rent else 0 * w


def train(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    w: Sequence[Any] | None = None,
    b: Any = 0,
    weight: Sequence[Any] | None = None,
    keep: float = 1,
    rent: Any = 0,
    average: int = 1,
) -> TrainedBinary:
    """Visit the rows of `order`, one after another, and correct every mistake; `y` is −1 or +1.

    A penalty also shrinks all weights on every visit: by the factor `keep` before the correction, and by `rent`
    towards zero after it. The averages are over the hypotheses after each visit, from visit `average` on, counted
    from 1; before it, the average is the last hypothesis.

    Examples
    --------
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1]
    >>> result = train(X, y, order=[0, 1, 2, 3] * 6)
    >>> result.w, result.b, len(result.mistakes)
    ([2.0, 2.0], -1.0, 9)
    """
    w = [0] * len(X[0]) if w is None else list(w)
    total_w, total_b, visits, mistakes = [0] * len(w), 0, 0, []
    for visit, i in enumerate(order):
        f = dot(w, X[i]) + b
        step = step_of(rule, y[i], f, X[i], 1 if weight is None else weight[i])
        w = [keep * w_j for w_j in w]
        if step > 0:
            w = plus(w, step * y[i], X[i])
            b = b + step * y[i] * rule.beta
            mistakes.append(Mistake(visit, i, f, step))
        w = [towards_zero(w_j, rent) for w_j in w]
        if visit + 1 >= average:
            total_w, total_b, visits = plus(total_w, 1, w), total_b + b, visits + 1
    mean = [t_j / visits for t_j in total_w] if visits else list(w)
    return TrainedBinary(w, b, mean, total_b / visits if visits else b, mistakes)


def best_rival(s: Sequence[Any], y: int, zero: int) -> int:
    """Return the best class other than `y`; of equal ones the lowest, or with ``zero=+1`` the highest."""
    return max((c for c in range(len(s)) if c != y), key=lambda c: (s[c], c * zero))


def train_direct(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    *,
    w: Sequence[Sequence[Any]],
    weight: Sequence[Any] | None = None,
    zero: int = -1,
    keep: float = 1,
    rent: Any = 0,
    average: int = 1,
) -> TrainedClasses:
    """Compare one vector for each class (Crammer and Singer 2003); `y` counts classes from 0.

    On a mistake the row is added to the vector of its own class and subtracted from that of the best rival. The
    start `w` is one vector for each class, bias last.

    Examples
    --------
    >>> result = train_direct([[0], [1], [2]], [0, 1, 2], order=[0, 1, 2] * 12, w=[[0, 0], [0, 0], [0, 0]])
    >>> result.w, len(result.mistakes)
    ([[-3.0, 2.0], [0.0, 1.0], [3.0, -3.0]], 20)
    """
    W = [list(w_c) for w_c in w]
    total, visits, mistakes = [[0] * len(w_c) for w_c in W], 0, []
    for visit, i in enumerate(order):
        s = [dot(w_c[:-1], X[i]) + w_c[-1] for w_c in W]
        rival = best_rival(s, y[i], zero)
        f = s[y[i]] - s[rival]
        side = 1 if y[i] > rival else -1
        step = step_of(rule, side, side * f, X[i], 1 if weight is None else weight[i], machines=2)
        W = [[*(keep * w_j for w_j in w_c[:-1]), w_c[-1]] for w_c in W]
        if step > 0:
            for c, c_step in ((y[i], step), (rival, -step)):
                W[c] = plus(W[c], c_step, [*X[i], rule.beta])
            mistakes.append(Mistake(visit, i, f, step, rival))
        W = [[*(towards_zero(w_j, rent) for w_j in w_c[:-1]), w_c[-1]] for w_c in W]
        if visit + 1 >= average:
            total, visits = [plus(t_c, 1, w_c) for t_c, w_c in zip(total, W, strict=True)], visits + 1
    mean = [[t / visits for t in t_c] for t_c in total] if visits else W
    return TrainedClasses(W, mean, mistakes)


def sides(multiclass: str, n_classes: int) -> list[list[int]]:
    """Return for each machine the side of each class: +1, −1, or 0 where it does not take part.

    Examples
    --------
    >>> sides("ovr", 3)
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> sides("ovo", 3)
    [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]
    """
    classes = range(n_classes)
    if multiclass == "ovr":
        return [[1 if c == m else -1 for c in classes] for m in classes]
    return [[-1 if c == a else 1 if c == b else 0 for c in classes] for a, b in combinations(classes, 2)]


def train_machines(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Sequence[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    *,
    sides: Sequence[Sequence[int]],
    w: Sequence[Sequence[Any]],
    weight: Sequence[Any] | None = None,
    keep: float = 1,
    rent: Any = 0,
    average: int = 1,
) -> TrainedClasses:
    """Train several binary machines, each on the rows of the classes that it tells apart."""
    weights, averages, mistakes = [], [], []
    for m, (side, start) in enumerate(zip(sides, w, strict=True)):
        labels = [side[c] or 1 for c in y]
        taking_part = [(1 if weight is None else weight[i]) * abs(side[c]) for i, c in enumerate(y)]
        result = train(X, labels, order, rule, start[:-1], start[-1], taking_part, keep, rent, average)
        weights.append([*result.w, result.b])
        averages.append([*result.average_w, result.average_b])
        mistakes += [mistake._replace(machine=m) for mistake in result.mistakes]
    mistakes.sort(key=lambda mistake: (mistake.visit, mistake.machine))
    return TrainedClasses(weights, averages, mistakes)
