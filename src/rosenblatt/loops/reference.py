"""The perceptron as a textbook writes it: the specification every fast loop is tested against.

Plain Python, plain sums, one example after another. Read this first; trust it; never optimise it. It works
on any numbers that add and multiply, so the tests run it on `fractions.Fraction` as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rosenblatt.loops.rules import Rule


class Mistake(NamedTuple):
    """One update: the visit it happened on, the row, its score before, and the step taken."""

    visit: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Any
    step: Any


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


def train(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    w: Sequence[Any] | None = None,
    b: Any = 0,
    weight: Sequence[Any] | None = None,
) -> Trained:
    """Visit the rows named by `order`, one after another, and correct every mistake.

    The average is that of the hypotheses after each visit, the unchanged ones included.

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
        if step > 0:
            w = [w_j + step * y[i] * x_j for w_j, x_j in zip(w, X[i], strict=True)]
            b = b + step * y[i] * rule.beta
            mistakes.append(Mistake(visit, i, f, step))
        total_w = [t_j + w_j for t_j, w_j in zip(total_w, w, strict=True)]
        total_b, visits = total_b + b, visits + 1
    mean = [t_j / visits for t_j in total_w] if visits else list(w)
    return Trained(w, b, mean, total_b / visits if visits else b, mistakes)
