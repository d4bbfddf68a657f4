"""The p-norm perceptron as a textbook writes it, and Winnow, which it comes near to as p grows.

Plain Python on any numbers that add and multiply; with a whole p the tests also run it on `fractions.Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rosenblatt.loops.reference import Mistake, dot, plus, share_of_step
from rosenblatt.loops.rules import Rule


class TrainedLink(NamedTuple):
    """θ, the weights that follow, their average, each with the entry of the bias last, and every mistake."""

    theta: list[Any]
    w: list[Any]
    average: list[Any]
    mistakes: list[Mistake]


def linked(theta: Sequence[Any], p: int) -> list[Any]:
    """Return sgn(θ_j) |θ_j|^(p − 1) of each entry.

    Examples
    --------
    >>> linked([2, -3], 4), linked([2, -3], 3)
    ([8, -27], [4, -9])
    """
    return [abs(t) ** (p - 1) if t >= 0 else -(abs(t) ** (p - 1)) for t in theta]


def train_linked(
    X: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    p: int,
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    root: Any = 1,
    weight: Sequence[Any] | None = None,
) -> TrainedLink:
    """Train from zero by the p-norm rule (Grove, Littlestone and Schuurmans 2001); `y` is −1 or +1.

    The bias is the weight of a constant feature `root`, the root of the rule's β.

    Examples
    --------
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1]
    >>> train_linked(X, y, [0, 1, 2, 3] * 6, p=2).w  # the perceptron
    [2.0, 2.0, -1.0]
    """
    theta = [0] * (len(X[0]) + 1)
    total, visits, mistakes = [0] * len(theta), 0, []
    for visit, i in enumerate(order):
        x = [*X[i], root]
        f = dot(linked(theta, p), x)
        step = rule.eta * share_of_step(rule, y[i], f) * (1 if weight is None else weight[i])
        if step > 0:
            theta = plus(theta, step * y[i], x)
            mistakes.append(Mistake(visit, i, f, step))
        total, visits = plus(total, 1, linked(theta, p)), visits + 1
    return TrainedLink(theta, linked(theta, p), [t / visits for t in total], mistakes)


def winnow(
    X: Sequence[Sequence[int]], y: Sequence[int], order: Iterable[int], threshold: Any, *, eliminates: bool = False
) -> tuple[list[Any], int]:
    """Return the weights and the mistakes of Winnow on rows of zeros and ones (Littlestone 1988); `y` is −1 or +1.

    Weights start at 1, and a row is positive if its weights sum to more than the threshold. The weights of a row
    are doubled after a missed positive. After a false positive they are halved (Winnow2), or set to zero
    (Winnow1, `eliminates`). If y is true where any of k of the d features is 1, Winnow2 with the threshold d makes
    at most 2 + 3k (1 + log₂ d) mistakes, and Winnow1 with d/2 at most 2 + 2k log₂ d.

    Examples
    --------
    >>> winnow([[1, 0, 0, 0], [0, 1, 0, 0]], [1, -1], [0, 1] * 6, threshold=4)
    ([8, 1, 1, 1], 3)
    """
    w: list[Any] = [1] * len(X[0])
    mistakes = 0
    for i in order:
        if (dot(w, X[i]) > threshold) == (y[i] > 0):
            continue
        mistakes += 1
        down = 0 if eliminates else 0.5
        w = [w_j if not x_j else w_j * 2 if y[i] > 0 else w_j * down for w_j, x_j in zip(w, X[i], strict=True)]
    return w, mistakes
