"""The kernel perceptron as a textbook writes it (Aizerman, Braverman and Rozonoer 1964), like `reference`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rosenblatt.loops.reference import Mistake, best_rival, dot, plus, share_of_step
from rosenblatt.loops.rules import Rule


class TrainedKernel(NamedTuple):
    """For each machine the signed coefficients of the rows and the bias, their averages, and all mistakes."""

    alpha: list[list[Any]]
    b: list[Any]
    average_alpha: list[list[Any]]
    average_b: list[Any]
    mistakes: list[Mistake]


def train_kernel(
    K: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    weight: Sequence[Any] | None = None,
) -> TrainedKernel:
    """Visit rows of two classes, ±1, known by their symmetric Gram matrix; f(x_j) = Σ α_i K_ij + b.

    Textbooks write α_i y_i for what is one signed number here.

    Examples
    --------
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1]
    >>> K = [[(u[0] * v[0] + u[1] * v[1] + 1) ** 2 for v in X] for u in X]
    >>> result = train_kernel(K, y, order=[0, 1, 2, 3] * 40)
    >>> result.alpha, result.b, len(result.mistakes)
    ([[-8.0, 6.0, 6.0, -5.0]], [-1.0], 25)
    """
    alpha, b = [0] * len(K), 0
    total, total_b, visits, mistakes = [0] * len(K), 0, 0, []
    for visit, j in enumerate(order):
        f = dot(alpha, [row[j] for row in K]) + b
        step = rule.eta * share_of_step(rule, y[j], f) * (1 if weight is None else weight[j])
        if step > 0:
            alpha[j] += step * y[j]
            b = b + step * y[j] * rule.beta
            mistakes.append(Mistake(visit, j, f, step))
        total, total_b, visits = plus(total, 1, alpha), total_b + b, visits + 1
    mean = [t / visits for t in total] if visits else alpha
    return TrainedKernel([alpha], [b], [mean], [total_b / visits if visits else b], mistakes)


def train_kernel_direct(
    K: Sequence[Sequence[Any]],
    y: Sequence[int],
    order: Iterable[int],
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    *,
    n_classes: int,
    weight: Sequence[Any] | None = None,
    zero: int = -1,
) -> TrainedKernel:
    """Compare classes directly: a mistake raises the row's coefficient in its class and lowers the rival's."""
    classes = range(n_classes)
    alpha, b = [[0] * len(K) for _ in classes], [0] * n_classes
    total, total_b, visits, mistakes = [[0] * len(K) for _ in classes], [0] * n_classes, 0, []
    for visit, j in enumerate(order):
        s = [dot(alpha[c], [row[j] for row in K]) + b[c] for c in classes]
        rival = best_rival(s, y[j], zero)
        f = s[y[j]] - s[rival]
        side = 1 if y[j] > rival else -1
        step = rule.eta * share_of_step(rule, side, side * f) * (1 if weight is None else weight[j])
        if step > 0:
            for c, c_step in ((y[j], step), (rival, -step)):
                alpha[c][j] += c_step
                b[c] += c_step * rule.beta
            mistakes.append(Mistake(visit, j, f, step, rival))
        total = [plus(t_c, 1, a_c) for t_c, a_c in zip(total, alpha, strict=True)]
        total_b, visits = plus(total_b, 1, b), visits + 1
    count = visits or 1
    means = [[t / count for t in t_c] for t_c in total]
    return TrainedKernel(alpha, b, means, [t / count for t in total_b], mistakes)
