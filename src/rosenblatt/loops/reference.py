"""The perceptron as a textbook writes it: the specification every fast loop is tested against.

Plain Python, plain sums, one example after another. Read this first; trust it; never optimise it. It works
on any numbers that add and multiply, so the tests run it on `fractions.Fraction` as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from rosenblatt.loops.rules import Rule


class Mistake(NamedTuple):
    """One update: the visit it happened on, the row, its score before, the step taken, and by which machine.

    Of two classes there is one machine. Classes compared directly have the one the row was taken for.
    """

    visit: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Any
    step: Any
    machine: int = 0


class Trained(NamedTuple):
    """What the reference leaves behind: last weights, averaged weights, and every mistake in order."""

    w: list[Any]
    b: Any
    average_w: list[Any]
    average_b: Any
    mistakes: list[Mistake]


def share_of_step(rule: Rule, y: int, f: Any) -> Any:
    """How much of a step a visit with label `y` and score `f` earns: 1, 0, or a tie's share."""
    if y * f < rule.margin:
        return 1
    if y * f > rule.margin:
        return 0
    return rule.tie_plus if y > 0 else rule.tie_minus


def towards_zero(w: Any, rent: Any) -> Any:
    """Move a weight towards zero, and not past it."""
    return w - rent if w > rent else w + rent if w < -rent else 0 * w


def train(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    w: Sequence[Any] | None = None,
    b: Any = 0,
    weight: Sequence[Any] | None = None,
    keep: Any = 1,
    rent: Any = 0,
) -> Trained:
    """Visit the rows named by `order`, one after another, and correct every mistake.

    The average is that of the hypotheses after each visit, the unchanged ones included. With a penalty every visit
    also shrinks all weights: before the correction by the factor `keep`, after it by `rent` towards zero.

    Examples
    --------
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1]
    >>> result = train(X, y, order=[0, 1, 2, 3] * 6)
    >>> result.w, result.b, len(result.mistakes)
    ([2.0, 2.0], -1.0, 9)
    """
    w = [0] * len(X[0]) if w is None else list(w)
    total_w, total_b, visits = [0] * len(w), 0, 0
    mistakes = []
    for visit, i in enumerate(order):
        f = sum(w_j * x_j for w_j, x_j in zip(w, X[i], strict=True)) + b
        step = rule.eta * share_of_step(rule, y[i], f) * (1 if weight is None else weight[i])
        w = [keep * w_j for w_j in w]
        if step > 0:
            w = [w_j + step * y[i] * x_j for w_j, x_j in zip(w, X[i], strict=True)]
            b = b + step * y[i] * rule.beta
            mistakes.append(Mistake(visit, i, f, step))
        w = [towards_zero(w_j, rent) for w_j in w]
        total_w = [t_j + w_j for t_j, w_j in zip(total_w, w, strict=True)]
        total_b, visits = total_b + b, visits + 1
    mean = [t_j / visits for t_j in total_w] if visits else list(w)
    return Trained(w, b, mean, total_b / visits if visits else b, mistakes)


class TrainedClasses(NamedTuple):
    """What is left of several machines: their padded weights, bias last, the averages, and every mistake."""

    w: list[list[Any]]
    average: list[list[Any]]
    mistakes: list[Mistake]


def train_direct(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    *,
    w: Sequence[Sequence[Any]],
    weight: Sequence[Any] | None = None,
    zero: int = -1,
    keep: Any = 1,
    rent: Any = 0,
) -> TrainedClasses:
    """Compare one vector a class (S-31): on a mistake the row is added to its own and taken from its rival's.

    The rival is the best class other than y; of equal ones the lowest, or with ``zero=+1`` the highest. The start
    `w` is one padded vector a class, bias last.

    Examples
    --------
    >>> result = train_direct([[0], [1], [2]], [0, 1, 2], order=[0, 1, 2] * 12, w=[[0, 0], [0, 0], [0, 0]])
    >>> result.w, len(result.mistakes)
    ([[-3.0, 2.0], [0.0, 1.0], [3.0, -3.0]], 20)
    """
    W = [list(w_c) for w_c in w]
    total, visits, mistakes = [[0] * len(w_c) for w_c in W], 0, []
    for visit, i in enumerate(order):
        s = [sum(w_j * x_j for w_j, x_j in zip(w_c, X[i], strict=False)) + w_c[-1] for w_c in W]
        others = [c for c in range(len(W)) if c != y[i]]
        rival = max(others, key=lambda c: (s[c], c * zero))
        f = s[y[i]] - s[rival]
        side = 1 if y[i] > rival else -1
        step = rule.eta * share_of_step(rule, side, side * f) * (1 if weight is None else weight[i])
        W = [[*(keep * w_j for w_j in w_c[:-1]), w_c[-1]] for w_c in W]
        if step > 0:
            for c, c_step in ((y[i], step), (rival, -step)):
                moves = [*(c_step * x_j for x_j in X[i]), c_step * rule.beta]
                W[c] = [w_j + move for w_j, move in zip(W[c], moves, strict=True)]
            mistakes.append(Mistake(visit, i, f, step, rival))
        W = [[*(towards_zero(w_j, rent) for w_j in w_c[:-1]), w_c[-1]] for w_c in W]
        total = [[t + w_j for t, w_j in zip(t_c, w_c, strict=True)] for t_c, w_c in zip(total, W, strict=True)]
        visits += 1
    mean = [[t / visits for t in t_c] for t_c in total] if visits else W
    return TrainedClasses(W, mean, mistakes)


def sides(multiclass: str, n_classes: int) -> list[list[int]]:
    """Return for each machine the side of each class: +1, −1, or 0 where it does not take part (S-32, S-33).

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
    keep: Any = 1,
    rent: Any = 0,
) -> TrainedClasses:
    """Train machines of two sides, one after another: each makes those visits of `order` that concern it."""
    weights, averages, mistakes = [], [], []
    for m, (side, start) in enumerate(zip(sides, w, strict=True)):
        labels = [side[c] or 1 for c in y]
        taking_part = [(1 if weight is None else weight[i]) * abs(side[c]) for i, c in enumerate(y)]
        result = train(X, labels, order, rule, start[:-1], start[-1], taking_part, keep, rent)
        weights.append([*result.w, result.b])
        averages.append([*result.average_w, result.average_b])
        mistakes += [mistake._replace(machine=m) for mistake in result.mistakes]
    mistakes.sort(key=lambda mistake: (mistake.visit, mistake.machine))
    return TrainedClasses(weights, averages, mistakes)
