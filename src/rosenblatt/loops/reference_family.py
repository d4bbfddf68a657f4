"""The perceptron's relatives as a textbook writes them: vote, pocket and lifting, in plain Python.

The vote and the pocket look at every hypothesis of a run, so here all of them are kept. Like `reference`, this is
what the fast loops are tested against, and works on fractions as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

from rosenblatt.loops.reference import Mistake

Weights: TypeAlias = list[list[Any]]
"""One padded vector a machine, bias last; two classes have one."""


class Hypothesis(NamedTuple):
    """What the weights were after so many visits, until the next mistake."""

    visits: int
    w: Weights


def moves(kind: str, sides: Sequence[Sequence[int]], mistake: Mistake, y: int) -> list[tuple[int, int]]:
    """Return the machines that a mistake on a row of class `y` moves, and whether towards the row or away from it.

    `kind` is "direct" for one vector a class; else `sides` are those of `reference.sides`, or of two classes
    ``[[-1, 1]]``.
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
            x = [*X[mistake.index], beta]
            W[machine] = [w_j + mistake.step * sign * x_j for w_j, x_j in zip(W[machine], x, strict=True)]
        if path[-1].visits == mistake.visit + 1:  # another machine's, on the same visit
            path.pop()
        path.append(Hypothesis(mistake.visit + 1, W))
    return path


def predicted(w: Weights, x: Sequence[Any], kind: str, pairs: Sequence[tuple[int, int]], zero: int) -> int:
    """Return the class of x: by the sign of one machine, the best score, or the best sum over pairs ("ovo")."""
    s = [sum(w_j * x_j for w_j, x_j in zip(w_m, x, strict=False)) + w_m[-1] for w_m in w]
    if kind == "binary":
        return int(s[0] > 0 or (s[0] == 0 and zero > 0))
    if kind == "ovo":
        classes = range(1 + max(b for _, b in pairs))
        s = [sum(f * ((c == b) - (c == a)) for f, (a, b) in zip(s, pairs, strict=True)) for c in classes]
    return max(range(len(s)), key=lambda c: (s[c], c * zero))


def votes(path: Sequence[Hypothesis], total: int, n_classes: int, predict: Callable[[Weights], int]) -> list[int]:
    """Let the hypothesis after each of `total` visits vote for a class: each votes for the visits it survived.

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
    """Return the first hypothesis with the fewest errors, and these."""
    best = min(range(len(path)), key=lambda k: (errors(path[k].w), k))
    return path[best], errors(path[best].w)


def is_far(w: Sequence[Any], x: Sequence[Any], y: int, margin: Any, *, geometric: bool) -> bool:
    """Whether y f(x), or the distance y f(x) / ‖w‖, is at least `margin`."""
    f = sum(w_j * x_j for w_j, x_j in zip(w, x, strict=False)) + w[-1]
    if not geometric:
        return bool(y * f >= margin)
    norm = sqrt(sum(w_j * w_j for w_j in w[:-1]))
    return norm > 0 and float(y * f) / norm >= margin


class Lifted(NamedTuple):
    """What lifting leaves: the weights of the features, those of the rows' own coordinates, and the mistakes."""

    w: list[Any]
    b: Any
    v: list[Any]
    mistakes: list[Mistake]


def train_lifted(
    X: Sequence[Sequence[Any]], y: Sequence[int], order: Iterable[int], square: Any, beta: Any = 1
) -> Lifted:
    """Train on rows lifted by one coordinate each (S-22), `square` being a².

    The lifted score of row i is a² f(x_i) + (1 − a²) v_i, where w, b and v sum the mistakes as they do without
    lifting; the mistakes listed tell f(x_i).

    Examples
    --------
    >>> result = train_lifted([[0], [0]], [-1, 1], order=[0, 1] * 3, square=0.5)
    >>> result.v, len(result.mistakes)
    ([-1, 1], 2)
    """
    w, b, v, mistakes = [0] * len(X[0]), 0, [0] * len(X), []
    for visit, i in enumerate(order):
        f = sum(w_j * x_j for w_j, x_j in zip(w, X[i], strict=True)) + b
        if y[i] * (square * f + (1 - square) * v[i]) <= 0:
            w = [w_j + y[i] * x_j for w_j, x_j in zip(w, X[i], strict=True)]
            b, v[i] = b + y[i] * beta, v[i] + y[i]
            mistakes.append(Mistake(visit, i, f, 1))
    return Lifted(w, b, v, mistakes)
