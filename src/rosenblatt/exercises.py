"""Exercises on the lectures: questions, answers that check themselves, and sheets with other numbers.

Every right answer is computed in fractions from the numbers of the question. A wrong answer gets a hint, which is
computed too: the first number that is wrong, the slip that leads to it, or the row on the wrong side.

>>> import rosenblatt as rb
>>> rb.exercises.check("koski-1", 1)
Right.
>>> rb.exercises.check("koski-1", 3)
Not yet: f(x) = 3 is too large. You may have the sign of the second product wrong: -2 is negative.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np

from rosenblatt import presets
from rosenblatt.exceptions import ParameterError

__all__ = ["Exercise", "Result", "check", "get", "names", "sheet"]

Vector: TypeAlias = list[Fraction]
Judge: TypeAlias = Callable[[Any], str]

F = Fraction
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Result:
    """What a checker says about an answer; it is true if the answer is right.

    Attributes
    ----------
    right : bool
        Whether the answer is right.
    hint : str
        What is wrong; empty for a right answer.

    Examples
    --------
    >>> bool(Result(True)), Result(False, "The bias is missing.")
    (True, Not yet: The bias is missing.)
    """

    right: bool
    hint: str = ""

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return "Right." if self.right else f"Not yet: {self.hint}"


@dataclass(frozen=True)
class Exercise:
    """A question with numbers, its worked answer, and a checker.

    Attributes
    ----------
    name : str
        The lecture and a number, such as "koski-3".
    title : str
        What it is about.
    question : str
        The question, in Markdown.
    form : str
        What an answer looks like in Python.
    worked : str
        The worked answer, in Markdown.
    solution : object
        One right answer. Other answers can be right as well, where the question asks for any.

    Examples
    --------
    >>> exercise = get("hladka-holub-3")
    >>> exercise.title, exercise.solution
    ('Why an update helps', 26)
    """

    name: str
    title: str
    question: str
    form: str
    worked: str
    solution: Any
    judge: Judge

    def check(self, answer: Any) -> Result:
        """Return whether an answer is right, or a hint.

        Examples
        --------
        >>> bool(get("zhang-7").check([1, 1, 1, 1]))
        True
        """
        try:
            hint = self.judge(answer)
        except _NotAnAnswerError as error:
            hint = str(error)
        return Result(not hint, hint)


class _NotAnAnswerError(Exception):
    """The answer does not have the form that the question asks for."""


# Reading and writing numbers


def _number(value: Any) -> Fraction:
    try:
        exact = Fraction(value) if isinstance(value, str | Fraction) else Fraction(float(value))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise _NotAnAnswerError(
            f"{value!r} is not a number. Pass numbers, or fractions as text such as '1/3'."
        ) from None
    short = exact.limit_denominator(10**6)
    return short if abs(short - exact) < F(1, 10**12) else exact  # 0.1 means a tenth


def _numbers(answer: Any, count: int | None = None) -> Vector:
    """Return the numbers of an answer in one list, however they are nested."""
    if isinstance(answer, str | bytes) or not isinstance(answer, Sequence | np.ndarray):
        found = [_number(answer)]
    else:
        found = [each for part in answer for each in _numbers(part)]
    if count is not None and len(found) != count:
        raise _NotAnAnswerError(f"The answer has {len(found)} numbers; {count} are asked for.")
    return found


def _show(value: Any) -> str:
    """Return a number as a decimal if that is exact and short, else as a fraction; a vector in brackets."""
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_show, value)) + ")"
    value = F(value)
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(value):.10g}" if rest == 1 and value.denominator <= 10**6 else str(value)


def _float(value: Any) -> Any:
    """Return plain Python numbers that a reader can paste."""
    if isinstance(value, list | tuple):
        return [_float(each) for each in value]
    value = F(value)
    return value.numerator if value.denominator == 1 else float(value)


# The exact engine


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * z for x, z in zip(a, b, strict=True)), F(0))


def _plus(a: Sequence[Fraction], factor: Fraction | int, b: Sequence[Fraction]) -> Vector:
    return [x + factor * z for x, z in zip(a, b, strict=True)]


def _padded(rows: Sequence[Vector], constant: Fraction | int = 1) -> list[Vector]:
    return [[*row, F(constant)] for row in rows]


@dataclass(frozen=True)
class _Update:
    """A mistake of a run: its pass from 1, its row from 0, and the weights after it, with the bias last."""

    number: int
    row: int
    after: Vector


def _run(
    preset: presets.Preset, rows: Sequence[Vector], labels: Sequence[int], passes: int = 500
) -> list[_Update]:
    """Return every update of a preset's run, in fractions."""
    rule = preset.rule
    eta, tie, zero = F(str(rule.get("eta0", 1))), rule.get("tie", "mistake"), rule.get("zero", -1)
    gain = {"unit": F(1), "radius": max(_dot(row, row) for row in rows), None: F(0)}[rule.get("bias", "unit")]
    first = preset.first - 1
    state = [F(0)] * (len(rows[0]) + 1)
    if preset.start is not None:
        state = [F(str(each)) for each in (*preset.start, preset.start_bias)]
    elif rule.get("init") == "first":
        state = _plus(state, labels[first], [*rows[first], gain])
    done: list[_Update] = []
    for number in range(1, passes + 1):
        before = len(done)
        for i in (*range(first, len(rows)), *range(first)):
            score = _dot(state, [*rows[i], F(1)])
            signed = labels[i] * score
            if signed < 0 or (signed == 0 and (tie == "mistake" or (tie == "sign" and labels[i] != zero))):
                state = _plus(state, eta * labels[i], [*rows[i], gain])
                done.append(_Update(number, i, state))
        if len(done) == before or (rule.get("stop_on_cycle") and not any(state)):
            break
    return done


def _certified(rows: Sequence[Vector], labels: Sequence[int], *, bias: bool = True, margin: bool = False) -> Any:
    from rosenblatt.certify.separability import certify
    from rosenblatt.exceptions import TrivialSeparationWarning

    X = [[float(v) for v in row] for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSeparationWarning)  # an exercise has few rows
        return certify(X, list(labels), bias=bias, margin=margin, ties=False)


def _squared_margin(rows: Sequence[Vector], labels: Sequence[int], *, bias: bool = True) -> Fraction:
    """Return the square of the margin of a set, or a lower bound that is within rounding."""
    return Fraction(_certified(rows, labels, bias=bias, margin=True).margin.squared[0])


# Judges


def _expect(
    expected: Sequence[Any],
    named: Sequence[str],
    slips: Sequence[tuple[Sequence[Any], str]] = (),
    digits: bool = False,
) -> Judge:
    """Return a judge of numbers: it names the first wrong one, and the slip that gives the answer if one does.

    With `digits`, three of them are enough, because the number has no end.
    """
    wanted = [F(each) for each in expected]

    def near(a: Fraction, b: Fraction) -> bool:
        return abs(a - b) <= (F(1, 1000) if digits else F(1, 10**6)) * max(F(1), abs(b))

    def judge(answer: Any) -> str:
        found = _numbers(answer, len(wanted))
        wrong = [j for j, (a, b) in enumerate(zip(found, wanted, strict=True)) if not near(a, b)]
        if not wrong:
            return ""
        for values, hint in slips:
            slip = [F(each) for each in values]
            if slip != wanted and all(near(a, b) for a, b in zip(found, slip, strict=True)):
                return f"{_first(found, wanted, named, wrong)} {hint}"
        return _first(found, wanted, named, wrong)

    return judge


CHOICES = ("the output", "the prediction", "the class", "the pocket")
"""Numbers that are names: such a one is wrong, and not too large or too small."""


def _first(found: Vector, wanted: Vector, named: Sequence[str], wrong: Sequence[int]) -> str:
    j, others = wrong[0], len(wrong) - 1
    side = "small" if found[j] < wanted[j] else "large"
    more = f" {others} more numbers are wrong." if others > 1 else " One more number is wrong." if others else ""
    if named[j] in CHOICES:
        return f"{named[j][0].upper()}{named[j][1:]} is not {_show(found[j])}.{more}"
    return f"{named[j]} = {_show(found[j])} is too {side}.{more}"


def _expect_rows(expected: Sequence[int], what: str, why: Callable[[int, int], str]) -> Judge:
    """Return a judge of a list of row numbers, counted from 1, in order; `why` explains a wrong entry."""

    def judge(answer: Any) -> str:
        numbers = _numbers(answer)
        found = [int(each) for each in numbers]
        if found != numbers:
            raise _NotAnAnswerError("The answer is a list of whole numbers.")
        for k, (a, b) in enumerate(zip(found, expected, strict=False), 1):
            if a != b:
                return f"Entry {k} of {what} is not {a}. {why(k, a)}"
        if len(found) < len(expected):
            return f"{what[0].upper()}{what[1:]} has more entries than these {len(found)}."
        return (
            f"{what[0].upper()}{what[1:]} ends after {len(expected)} entries."
            if len(found) > len(expected)
            else ""
        )

    return judge


def _separates(rows: Sequence[Vector], labels: Sequence[int], answer: Any) -> tuple[Vector, str]:
    """Return the vector of an answer, and a hint if it leaves a row on the wrong side."""
    found = _numbers(answer, len(rows[0]))
    for i, (row, label) in enumerate(zip(rows, labels, strict=True), 1):
        score = _dot(found, row)
        if label * score <= 0:
            where = "on the hyperplane" if score == 0 else "on the wrong side"
            return found, f"Row {i} is {where}: its score is {_show(score)}, and its label is {label:+d}."
    return found, ""


# Drawing numbers


class _Draw:
    """The numbers of the lecture without a seed, and others with one."""

    def __init__(self, seed: int | None, name: str) -> None:
        self.seed = seed
        self._rng = np.random.default_rng([seed, *name.encode("utf-8")]) if seed is not None else None

    def pick(self, usual: Any, *others: Any) -> Any:
        return usual if self._rng is None else others[int(self._rng.integers(len(others)))]

    def vector(self, usual: Sequence[Any], low: int, high: int, step: Fraction | int = 1) -> Vector:
        """Return numbers between low and high steps that are not all zero."""
        if self._rng is None:
            return [F(str(each)) for each in usual]
        drawn = [F(0)]
        while not any(drawn):
            drawn = [int(each) * F(step) for each in self._rng.integers(low, high + 1, len(usual))]
        return drawn

    def cloud(
        self,
        load: str,
        n: int,
        d: int,
        low: int = -4,
        high: int = 4,
        step: Fraction | int = HALF,
        bias: bool = True,
    ) -> tuple[list[Vector], list[int]]:
        """Return rows that a hyperplane separates, with both labels: those of a built-in set, or drawn ones."""
        if self._rng is None:
            from rosenblatt.datasets.loaded import BUILTIN

            X, y, _ = BUILTIN[load].load()
            return [[F(str(v)) for v in row] for row in X.tolist()], [int(label) for label in y]
        while True:
            rows = [self.vector([0] * d, low, high, step) for _ in range(n)]
            line = self.vector([0] * (d + 1), -3, 3)
            line[-1] *= bias
            scores = [_dot(line, [*row, F(1)]) for row in rows]
            labels = [1 if score > 0 else -1 for score in scores]
            if 0 not in scores and len(set(labels)) == 2 and len({tuple(row) for row in rows}) == n:
                return rows, labels


def _table(rows: Sequence[Vector], labels: Sequence[int]) -> str:
    """Return rows and labels as a Markdown table."""
    lines = [
        "| row | " + " | ".join(f"feature $x_{j + 1}$" for j in range(len(rows[0]))) + " | label $y$ |",
        "|" + "---|" * (len(rows[0]) + 2),
    ]
    lines += [
        f"| {i} | " + " | ".join(map(_show, row)) + f" | {label:+d} |"
        for i, (row, label) in enumerate(zip(rows, labels, strict=True), 1)
    ]
    return "\n".join(lines)


Made: TypeAlias = tuple[str, str, str, str, Any, Judge]
"""What a maker returns: title, question, form, worked answer, solution and judge."""


def _sum_of(w: Sequence[Fraction], x: Sequence[Fraction], b: Fraction | int | None = None) -> str:
    """Return a score as a sum of products, in words."""
    parts = " + ".join(f"{_show(a)}·{_show(c) if c >= 0 else f'({_show(c)})'}" for a, c in zip(w, x, strict=True))
    return parts if b is None else f"{parts} + {_show(b) if b >= 0 else f'({_show(F(b))})'}"


# Koski


def _koski_1(draw: _Draw) -> Made:
    w, b, x = draw.vector([1, 0.5], 1, 5, HALF), draw.pick(F(0), F(1), F(-1)), draw.vector([2, -2], -4, -1)
    score = _dot(w, x) + b
    slips = [
        (
            [w[0] * x[0] - w[1] * x[1] + b],
            f"You may have the sign of the second product wrong: {_show(x[1])} is negative.",
        ),
        ([_dot(w, x)], "The bias is missing."),
    ]
    return (
        "A score",
        f"The weights are $w = {_show(w)}$ and the bias is $b = {_show(b)}$. Compute $f(x)$ for $x = {_show(x)}$.",
        "a number",
        f"$f(x)$ = {_sum_of(w, x, b)} = {_show(score)}.",
        _float(score),
        _expect([score], ["f(x)"], slips),
    )


def _koski_2(draw: _Draw) -> Made:
    w, b = draw.vector([1, 0.5], -4, 4, HALF), draw.pick(F(0), F(1), F(-1))
    x, eta = draw.vector([2, -2], -4, 4), draw.pick(F(1, 5), F(1, 10), F(1, 2), F(1, 4))
    y = -1 if _dot(w, x) + b >= 0 else 1
    after = [*_plus(w, eta * y, x), b + eta * y]
    slips = [
        ([*_plus(w, -eta * y, x), b - eta * y], f"You went the other way: the label is {y:+d}."),
        ([*_plus(w, y, x), b + y], f"The learning rate is missing: the step is η = {_show(eta)}."),
        ([*_plus(w, eta * y, x), b], "The weights are right. The bias gains η·y too."),
    ]
    return (
        "An update",
        f"The weights are $w = {_show(w)}$, $b = {_show(b)}$, and $\\eta = {_show(eta)}$. The example $x = "
        f"{_show(x)}$ has the "
        f"label $y = {y:+d}$, and is a mistake. What are $w_1$, $w_2$ and $b$ after the update?",
        "[w1, w2, b]",
        f"Add $\\eta y x$ = {_show([eta * y * v for v in x])} to $w$ and $\\eta y$ = {_show(eta * y)} to $b$: "
        f"$w$ = {_show(after[:2])}, $b$ = {_show(after[2])}.",
        _float(after),
        _expect(after, ["w1", "w2", "b"], slips),
    )


def _koski_3(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    preset = presets.get("koski-example")
    done = _run(preset, rows, labels)
    visited = [each.row + 1 for each in done]
    listed = "; ".join(f"point {each.row + 1}: {_show(each.after)}" for each in done) or "no update at all"
    states = [[F(1), HALF, F(0)], *(each.after for each in done)]

    def why(k: int, point: int) -> str:
        """Say what is wrong with a point as the k-th correction: its score at that time, or its turn."""
        if not 1 <= point <= len(rows):
            return f"There is no point {point}."
        at = done[k - 2].row + 1 if k > 1 else preset.first - 1  # the row visited next
        if (point - 1 - at) % len(rows) > (done[k - 1].row - at) % len(rows):
            return f"Another point is wrong before its turn comes{': begin with point 5' if k == 1 else ''}."
        score = _dot(states[k - 1], [*rows[point - 1], F(1)])
        return f"When its turn comes its score is {_show(score)}, and its label is {labels[point - 1]:+d}: right."

    return (
        "A whole run",
        "Run the worked example on these points: start at $w = (1, 0.5)$, $b = 0$, with $\\eta = 0.2$, and begin "
        "with "
        "point 5. After point 6 comes point 1. A score of 0 means +1. Which points are corrected, in order?\n\n"
        + _table(rows, labels),
        "a list of point numbers, such as [5, 2]",
        f"The weights $(w_1, w_2, b)$ after each update are: {listed}. Then a whole pass has no mistake.",
        visited,
        _expect_rows(visited, "the list of corrected points", why),
    )


def _koski_4(draw: _Draw) -> Made:
    w = [F(each) for each in draw.pick((3, 4), (4, 3), (-3, 4), (6, -8), (5, 12))]
    b, x = draw.pick(F(-2), F(1), F(-3), F(5)), draw.vector([1, 1], -3, 3)
    length = F(round(float(_dot(w, w)) ** 0.5))
    score = _dot(w, x) + b
    r = score / length
    foot = _plus(x, -r / length, w)
    slips = [
        ([score, *foot], "This is the score. Divide it by the length of w."),
        ([score, *_plus(x, -score, w)], "This is the score, not the distance. Divide it by the length of w."),
        ([r, *_plus(x, -r, w)], "The distance is right. Walk along the unit vector w/‖w‖, not along w."),
        ([r, *_plus(x, r / length, w)], "The distance is right. From x you walk against w."),
        ([-r, *foot], "The point is right. The distance has the sign of f(x)."),
    ]
    return (
        "Distance and projection",
        f"For $w = {_show(w)}$ and $b = {_show(b)}$, find the signed distance $r_x$ of $x = {_show(x)}$ from "
        f"$D$, and its "
        "projection $x_p$.",
        "[r, p1, p2]",
        f"$\\lVert w\\rVert$ = {_show(length)} and $f(x)$ = {_show(score)}, so $r_x$ = {_show(r)}. Then "
        f"$x_p = x - r_x w/\\lVert w\\rVert$ = {_show(foot)}, and indeed $f(x_p)$ = {_show(_dot(w, foot) + b)}.",
        _float([r, *foot]),
        _expect(
            [r, *foot], ["r", "the first coordinate of x_p", "the second coordinate of x_p"], slips, digits=True
        ),
    )


def _koski_5(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    solution = _run(presets.get("hladka-holub"), rows, labels)[-1].after

    def judge(answer: Any) -> str:
        return _separates(_padded(rows), labels, answer)[1]

    return (
        "Find a line",
        "Find $w_1$, $w_2$ and $b$ that put every point on its right side. Any line will do.\n\n"
        + _table(rows, labels),
        "[w1, w2, b]",
        f"One line is $w$ = {_show(solution[:2])}, $b$ = {_show(solution[2])}. Times $y$, its scores are "
        + ", ".join(_show(y * _dot(solution, [*x, F(1)])) for x, y in zip(rows, labels, strict=True))
        + ": all above 0.",
        _float(solution),
        judge,
    )


def _koski_6(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    last = len(rows)
    plus = [row for row, label in zip(rows, labels, strict=True) if label != labels[-1]]
    others = [row for row, label in zip(rows[:-1], labels[:-1], strict=True) if label == labels[-1]]
    middle = [sum(column, F(0)) / len(plus) for column in zip(*plus, strict=True)]

    def judge(answer: Any) -> str:
        moved = _numbers(answer, 2)
        found = _certified([*rows[:-1], moved], labels, bias=True)
        if found.verdict == "inseparable":
            return ""
        line = [F(float(each)) for each in (*found.w, found.b)]
        return (
            f"A line still exists: w = {_show([round(v, 3) for v in line[:2]])}, b = {_show(round(line[2], 3))}."
        )

    alone = "" if others else " It is the only point of its label."
    return (
        "Make it impossible",
        f"Move point {last}, and keep its label {labels[-1]:+d}, so that no line separates the points any more. "
        f"Where do you "
        f"put it?{alone}\n\n" + _table(rows, labels),
        "[x1, x2]",
        f"Anywhere in the convex hull of the other label. Their mean is {_show(middle)}: a line that has them "
        f"all on one side "
        "has their mean there too.",
        _float(middle),
        judge,
    )


def _koski_7(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    preset = presets.get("koski")
    square = max(_dot(row, row) for row in rows)
    first = [each for each in _run(preset, rows, labels) if each.number == 1]
    unit = [each for each in _run(presets.get("hladka-holub"), rows, labels) if each.number == 1]
    gain = f"In the pseudocode it gains y·R², and R² is {_show(square)}."
    slips = [
        (unit[-1].after, f"This bias gains y. {gain}"),
        (
            [*first[-1].after[:2], first[-1].after[2] / square],
            f"The weights are right. This bias gains y. {gain}",
        ),
    ]
    return (
        "Rosenblatt's algorithm",
        "Do one pass of Rosenblatt's algorithm from zero with $\\eta = 1$, where the bias gains $y_i R^2$ and a "
        "score of 0 is "
        "a mistake. What are $w_1$, $w_2$ and $b$ after it?\n\n" + _table(rows, labels),
        "[w1, w2, b]",
        f"$R^2$ = {_show(square)}. The updates are "
        + "; ".join(f"point {each.row + 1}: {_show(each.after)}" for each in first)
        + ".",
        _float(first[-1].after),
        _expect(first[-1].after, ["w1", "w2", "b"], slips),
    )


def _koski_8(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    line = (
        [F(1, 2), F(1), F(1, 5)]
        if draw.seed is None
        else _run(presets.get("hladka-holub"), rows, labels)[-1].after
    )
    margins = [y * _dot(line, [*x, F(1)]) for x, y in zip(rows, labels, strict=True)]
    functional = min(margins)
    length = F(float(_dot(line[:2], line[:2])) ** 0.5)
    slips = [
        ([functional, functional], "The functional margin is right. Divide it by the length of w for the other."),
        ([functional, functional / _dot(line[:2], line[:2])], "Divide by the length of w, not by its square."),
        ([max(margins), max(margins) / length], "A margin of a set is the smallest of its rows, not the largest."),
    ]
    return (
        "Two margins",
        f"Compute the functional and the geometric margin of these points with regard to $w = {_show(line[:2])}$, "
        f"$b = {_show(line[2])}$. Three digits are enough.\n\n" + _table(rows, labels),
        "[functional, geometric]",
        f"The values $y_i f(x_i)$ are {', '.join(map(_show, margins))}. The smallest is {_show(functional)}. "
        f"Divided by "
        f"$\\lVert w\\rVert$ = {float(length):.4f} it is {float(functional / length):.4f}.",
        [float(functional), round(float(functional / length), 6)],
        _expect(
            [functional, functional / length],
            ["the functional margin", "the geometric margin"],
            slips,
            digits=True,
        ),
    )


def _koski_9(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    square = max(_dot(row, row) for row in rows)
    best = 4 * square / _squared_margin(rows, labels)
    limit = int(best * F(6, 5)) + 1
    from rosenblatt.estimators.max_margin import MaxMarginClassifier

    widest = MaxMarginClassifier().fit([[float(v) for v in row] for row in rows], labels)
    solution = [round(float(v), 3) for v in (*widest.coef_[0], widest.intercept_[0])]

    def judge(answer: Any) -> str:
        line, hint = _separates(_padded(rows), labels, answer)
        if hint:
            return f"A bound needs a line that separates. {hint}"
        least = min(y * _dot(line, [*x, F(1)]) for x, y in zip(rows, labels, strict=True))
        bound = 4 * square * _dot(line[:2], line[:2]) / least**2
        return (
            ""
            if bound <= limit
            else f"This line separates, but proves only (2R/γ)² = {float(bound):.1f}. Find a wider one."
        )

    return (
        "Prove a bound",
        f"Prove that Rosenblatt's algorithm makes at most {limit} mistakes on these points. A proof is a line "
        f"$(w_*, b_*)$ with "
        f"$(2R/\\gamma)^2 \\le {limit}$, where $\\gamma$ is its smallest $y_i f(x_i)/\\lVert w_*\\rVert$.\n\n"
        + _table(rows, labels),
        "[w1, w2, b]",
        f"$R^2$ = {_show(square)}, and the widest line has $\\gamma$ = {float(4 * square / best) ** 0.5:.4f}, so "
        f"$(2R/\\gamma)^2$ = "
        f"{float(best):.2f}. That line is about {_show([F(str(v)) for v in solution])}.",
        solution,
        judge,
    )


def _koski_10(draw: _Draw) -> Made:
    rows, labels = draw.cloud("six-points", 6, 2)
    square, margin = max(_dot(row, row) for row in rows), _squared_margin(rows, labels)
    repeats = _run(presets.get("koski"), rows, labels)[-1].number + 1
    largest = float(repeats**2 * margin) ** 0.5 / float(square)
    solution = float(f"{largest / 2:.2g}")

    def judge(answer: Any) -> str:
        (c,) = _numbers(answer, 1)
        if c <= 0:
            return "The number must be positive."
        if c * c * square**2 < repeats**2 * margin:
            return ""
        printed = float(c) * float(square) / float(margin) ** 0.5
        return f"With this c, R²/γ = {printed:.2f}, and {repeats} repeats are within it. Make the points smaller."

    return (
        "Refute a bound",
        "A theorem in the lecture is printed with at most $R^2/\\gamma$ repeats. Show that this cannot be: "
        "multiply all "
        "points by a number $c > 0$, so that $R^2/\\gamma$ is below the number of repeats. From zero the "
        "algorithm makes "
        f"{repeats} repeats for every $c$, the last one without a mistake.\n\n" + _table(rows, labels),
        "a number c",
        "For the points $c\\,x$ the weights are $c$ times the old ones and the bias is $c^2$ times. So all "
        "scores gain "
        "$c^2$, and no mistake changes. $R^2$ gains $c^2$ and $\\gamma$ gains $c$, so the printed bound gains "
        "$c$. Any "
        f"$c$ below {largest:.4f} refutes it.",
        solution,
        judge,
    )


# Hladká and Holub


def _hladka_holub_1(draw: _Draw) -> Made:
    theta, bias = draw.vector([2, 3], -3, 3), draw.pick(F(-4), F(-2), F(1), F(3))
    x = draw.vector([1, 1], -3, 3)
    a = _dot(theta, x) + bias
    output = 1 if a > 0 else -1
    slips = [
        ([a, -output], "The activation is right. The output is +1 if a > 0, else −1."),
        ([a - bias, 1 if a - bias > 0 else -1], "The bias Θ₀ is missing."),
    ]
    return (
        "An activation",
        f"With $\\Theta = {_show(theta)}$ and $\\Theta_0 = {_show(bias)}$, compute the activation $a$ of $x = "
        f"{_show(x)}$, and the "
        "output.",
        "[a, output]",
        f"$a$ = {_sum_of(theta, x, bias)} = {_show(a)}, so the output is {output:+d}.",
        _float([a, F(output)]),
        _expect([a, F(output)], ["a", "the output"], slips),
    )


def _hladka_holub_2(draw: _Draw) -> Made:
    delta = draw.pick(F(3), F(-2), F(5, 2), F(1, 2), F(-4))
    return (
        "A threshold",
        f"A neuron fires if $\\Theta^Tx > {_show(delta)}$. Which bias $\\Theta_0$ gives the same neuron with the "
        f"threshold 0?",
        "a number",
        f"$\\Theta^Tx > {_show(delta)}$ means $\\Theta^Tx - ({_show(delta)}) > 0$. So $\\Theta_0$ = "
        f"{_show(-delta)}.",
        _float(-delta),
        _expect([-delta], ["Θ₀"], [([delta], "Bring the threshold to the other side: its sign changes.")]),
    )


def _hladka_holub_3(draw: _Draw) -> Made:
    x, y = draw.vector([3, 4], -4, 4), draw.pick(1, 1, -1)
    square = _dot(x, x)
    slips = [
        ([square], "The bias grows too: that adds 1."),
        ([square * 2], "Only the weights and the bias change, each once."),
        ([F(float(square) ** 0.5)], "Square the length of x. The bias adds 1."),
        ([F(float(square) ** 0.5) + 1], "Square the length of x."),
    ]
    return (
        "Why an update helps",
        f"The example $x = {_show(x)}$ with label $y = {y:+d}$ was a mistake, and has been corrected once. By "
        f"how much has $y a$ of "
        "the same example grown?",
        "a number",
        f"$y a' = y(\\Theta_0 + y) + y(\\Theta + yx)^Tx = ya + 1 + x^Tx$. It grew by 1 + {_show(square)} = "
        f"{_show(square + 1)}.",
        _float(square + 1),
        _expect([square + 1], ["the growth"], slips),
    )


def _hladka_holub_4(draw: _Draw) -> Made:
    rows, labels = draw.cloud("and", 4, 2, -2, 2, 1)
    first = [each for each in _run(presets.get("hladka-holub"), rows, labels) if each.number == 1]
    tie = [each for each in _run(presets.get("kernels"), rows, labels) if each.number == 1]
    slips = [(tie[-1].after if tie else [F(0)] * 3, "An activation of 0 is an error too: ya ≤ 0.")]
    return (
        "One pass by hand",
        "Do one pass of the training algorithm from zero. What are $\\Theta_1$, $\\Theta_2$ and $\\Theta_0$ "
        "after it?\n\n" + _table(rows, labels),
        "[Θ1, Θ2, Θ0]",
        "The updates are "
        + "; ".join(f"row {each.row + 1}: {_show(each.after)}" for each in first)
        + ", each as $(\\Theta_1, \\Theta_2, \\Theta_0)$.",
        _float(first[-1].after),
        _expect(first[-1].after, ["Θ1", "Θ2", "Θ0"], slips),
    )


def _hladka_holub_5(draw: _Draw) -> Made:
    rows, labels = draw.cloud("and", 4, 2, -2, 2, 1)
    done = _run(presets.get("hladka-holub"), rows, labels)
    passes = done[-1].number + 1
    slips = [
        ([F(len(done)), F(passes - 1)], "The updates are right. The pass without an error counts as well."),
        ([F(passes), F(len(done))], "You have exchanged the two numbers."),
    ]
    return (
        "Until it rests",
        "Run the training algorithm from zero on these rows until a pass has no error. How many updates are "
        "made, and how many "
        "passes, with the last?\n\n" + _table(rows, labels),
        "[updates, passes]",
        "The updates in each pass are "
        + ", ".join(str(sum(each.number == p for each in done)) for p in range(1, passes + 1))
        + f": {len(done)} updates in {passes} passes. Check with `rosenblatt trace`.",
        [len(done), passes],
        _expect([F(len(done)), F(passes)], ["the number of updates", "the number of passes"], slips),
    )


def _hladka_holub_6(draw: _Draw) -> Made:
    theta = [F(each) for each in draw.pick((3, 4), (4, 3), (-3, 4), (6, 8), (-4, -3))]
    bias = draw.pick(F(-5), F(5), F(-10), F(10), F(-2))
    near = [-bias * v / _dot(theta, theta) for v in theta]
    slips = [
        ([-v for v in near], "The other direction: a negative bias shifts the hyperplane along Θ."),
        ([-bias * v for v in theta], "Divide by the square of the length of Θ."),
    ]
    return (
        "A shift",
        f"Which point of the hyperplane $\\Theta_0 + \\Theta^Tx = 0$ is nearest to the origin, if $\\Theta = "
        f"{_show(theta)}$ and "
        f"$\\Theta_0 = {_show(bias)}$?",
        "[x1, x2]",
        f"It is a multiple $t\\Theta$ with $\\Theta_0 + t\\lVert\\Theta\\rVert^2 = 0$, so $t$ = "
        f"{_show(-bias / _dot(theta, theta))} and "
        f"the point is {_show(near)}.",
        _float(near),
        _expect(near, ["x1", "x2"], slips, digits=True),
    )


UNIT_ROWS = (
    (F(3, 5), F(4, 5)),
    (F(4, 5), F(3, 5)),
    (F(5, 13), F(12, 13)),
    (F(12, 13), F(5, 13)),
    (F(0), F(1)),
    (F(1), F(0)),
)
"""Rows of length 1 with fractions as coordinates."""


def _hladka_holub_7(draw: _Draw) -> Made:
    pairs = [(a, b) for a, b in combinations(UNIT_ROWS, 2)]
    a, b = draw.pick((UNIT_ROWS[0], UNIT_ROWS[5]), *pairs)
    rows = [list(a), [-v for v in b]]
    inner = _dot(a, b)
    squared = (1 + inner) / 2  # of two unit rows y·x, the widest normal halves their angle
    slips = [
        ([squared], "This is γ². The bound is 1/γ²."),
        ([F(float(1 / squared) ** 0.5)], "This is 1/γ. Square it."),
        ([F(1) / inner if inner else F(0)], "The best Θ lies halfway between."),
    ]
    return (
        "The bound",
        f"Two examples: $x = {_show(rows[0])}$ with label +1 and $x = {_show(rows[1])}$ with label −1. Without a "
        f"bias, what is the "
        "bound $1/\\gamma^2$? Three digits are enough.",
        "a number",
        f"Both $y x$ have length 1, and their inner product is {_show(inner)}. The best $\\Theta$ halves their "
        f"angle, so "
        f"$\\gamma^2 = (1 + {_show(inner)})/2$ = {_show(squared)} and $1/\\gamma^2$ = {_show(1 / squared)}.",
        float(1 / squared),
        _expect([1 / squared], ["the bound"], slips, digits=True),
    )


def _hladka_holub_8(draw: _Draw) -> Made:
    thetas = [draw.vector(usual, -2, 2) for usual in ((1, 0), (0, 1), (-1, 1))]
    x = draw.vector([2, 1], -3, 3)
    scores = [_dot(theta, x) for theta in thetas]
    guess = max(range(3), key=lambda i: scores[i])  # the first of equals
    label = draw.pick(2, *[i for i in range(3) if i != guess])
    label = label if label != guess else (guess + 1) % 3
    after = [list(theta) for theta in thetas]
    after[label], after[guess] = _plus(after[label], 1, x), _plus(after[guess], -1, x)
    flat = [v for theta in after for v in theta]
    half = [list(theta) for theta in thetas]
    half[label] = _plus(half[label], 1, x)
    slips = [
        ([v for theta in half for v in theta], "The vector of the right class gains x. The one that won loses x."),
        ([v for theta in thetas for v in theta], "Nothing has changed, but the answer was wrong."),
    ]
    return (
        "Three classes",
        "The weights of three classes are "
        + ", ".join(f"$\\Theta^{i + 1} = {_show(theta)}$" for i, theta in enumerate(thetas))
        + f". The example $x = {_show(x)}$ belongs to class {label + 1}. Give all three vectors after the visit. "
        "Of equal activations "
        "the first wins.",
        "[[Θ1 of class 1, Θ2 of class 1], …], three pairs",
        f"The activations are {', '.join(map(_show, scores))}, so class {guess + 1} wins, which is wrong. "
        f"$\\Theta^{label + 1}$ gains "
        f"$x$ and $\\Theta^{guess + 1}$ loses it: {', '.join(map(_show, after))}.",
        _float(after),
        _expect(flat, [f"weight {j + 1} of class {i + 1}" for i in range(3) for j in range(2)], slips),
    )


def _hladka_holub_9(draw: _Draw) -> Made:
    count = draw.pick(2, 2, 3, 4)
    solution = [F(1), F(-1), F(1), F(-1)][:count]

    def judge(answer: Any) -> str:
        values = _numbers(answer, count)
        if any(abs(v) > 1 for v in values):
            return "The theorem asks for |x| ≤ 1 for every example."
        labels = [1 if v > 0 else -1 for v in values]
        if 0 in values or len(set(labels)) == 1:
            return "Take positive and negative numbers; 0 has no label here."
        rows = [[v] for v in values]
        gamma = min(abs(a - b) for a in values for b in values if a * b < 0) / 2  # the middle of the gap is widest
        mistakes = len(_run(presets.get("hladka-holub"), rows, labels))
        if mistakes * gamma**2 > 1:
            return ""
        return (
            f"Here γ = {_show(gamma)} and 1/γ² = {float(1 / gamma**2):.2f}. The pseudocode makes {mistakes} "
            f"updates, which is within it."
        )

    return (
        "Where the bound fails",
        f"The theorem has a margin with a bias; its proof has no bias. Find {count} numbers between −1 and 1, "
        f"positive ones labelled "
        "+1 and negative ones −1, on which the pseudocode makes more than $1/\\gamma^2$ updates. Here $\\gamma$ "
        "is half the gap "
        "between the labels.",
        f"a list of {count} numbers, in the order of the visits",
        f"{_show(solution)} will do. The bias needs updates of its own, which $1/\\gamma^2$ does not count."
        if count == 2
        else f"{_show(solution)} will do, as a run shows.",
        _float(solution),
        judge,
    )


# Harchaoui


def _harchaoui_cloud(draw: _Draw, n: int = 5) -> tuple[list[Vector], list[int]]:
    if draw.seed is None:
        rows = [[F(1), F(2)], [F(2), F(-1)], [F(-1), F(1)], [F(1), F(-1)], [F(-2), F(-1)]]
        return rows, [1 if row[1] > row[0] else -1 for row in rows]
    return draw.cloud("diagonal", n, 2, -3, 3, 1, bias=False)


def _harchaoui_1(draw: _Draw) -> Made:
    rows, labels = _harchaoui_cloud(draw)
    W = draw.vector([1, 1], -2, 2)
    wrong = [i for i, (x, y) in enumerate(zip(rows, labels, strict=True), 1) if y * _dot(W, x) < 0]

    def judge(answer: Any) -> str:
        found = (
            {int(each) for each in _numbers(list(answer) if isinstance(answer, set) else answer)}
            if answer != []
            else set()
        )
        for i in sorted(found ^ set(wrong)):
            product = labels[i - 1] * _dot(W, rows[i - 1]) if 1 <= i <= len(rows) else None
            if product is None:
                return f"There is no row {i}."
            return (
                f"Row {i} has yWᵀx = {_show(product)}, so it is "
                f"{'misclassified' if product < 0 else 'not misclassified'}."
            )
        return ""

    return (
        "Wrong rows",
        f"Let $W = {_show(W)}$, without a bias. Which rows have $yW^Tx < 0$?\n\n" + _table(rows, labels),
        "a list of row numbers, or []",
        "The values $yW^Tx$ are "
        + ", ".join(_show(y * _dot(W, x)) for x, y in zip(rows, labels, strict=True))
        + f". Below 0 are the rows {wrong}.",
        wrong,
        judge,
    )


def _harchaoui_2(draw: _Draw) -> Made:
    rows, labels = _harchaoui_cloud(draw)
    W = [F(-3, 5), F(4, 5)] if draw.seed is None else [F(v) for v in draw.pick(None, *UNIT_ROWS)]
    values = [y * _dot(W, x) for x, y in zip(rows, labels, strict=True)]
    slips = [
        ([max(values)], "The margin of a set is the smallest value, not the largest."),
        ([min(abs(v) for v in values)], "Keep the sign: a row on the wrong side has a negative value."),
    ]
    return (
        "The margin of a vector",
        f"Compute $\\min y W^Tx$ over these rows, for $W = {_show(W)}$, which has length 1.\n\n"
        + _table(rows, labels),
        "a number",
        f"The values are {', '.join(map(_show, values))}; the smallest is {_show(min(values))}."
        + (" It is not positive, so this $W$ does not separate." if min(values) <= 0 else ""),
        _float(min(values)),
        _expect([min(values)], ["the margin"], slips, digits=True),
    )


def _harchaoui_3(draw: _Draw) -> Made:
    x = [F(v) for v in draw.pick((3, -4), (5, 12), (-8, 6), (4, 3), (-5, -12))]
    length = F(round(float(_dot(x, x)) ** 0.5))
    unit = [v / length for v in x]
    slips = [
        ([v / _dot(x, x) for v in x], "Divide by the length, which is the root of the sum of squares."),
        ([v / sum(map(abs, x)) for v in x], "Divide by the root of the sum of squares, not by the sum of sizes."),
    ]
    return (
        "A row of length 1",
        f"Scale $x = {_show(x)}$ to $\\lVert x\\rVert_2 = 1$. Three digits are enough.",
        "[x1, x2]",
        f"$\\lVert x\\rVert$ = {_show(length)}, so the row is {_show(unit)}. The label does not change.",
        _float(unit),
        _expect(unit, ["x1", "x2"], slips, digits=True),
    )


def _harchaoui_runs(draw: _Draw) -> tuple[list[Vector], list[int], list[_Update]]:
    """Return rows on which the run of the notes makes updates and ends without a tie."""
    if draw.seed is None:
        rows = [[F(a), F(b)] for a, b in ((1, 2), (2, -1), (-1, 1), (1, -1), (3, 2), (-2, -1))]
        labels = [1 if row[1] > row[0] else -1 for row in rows]
        return rows, labels, _run(presets.get("harchaoui"), rows, labels)
    while True:
        rows, labels = _harchaoui_cloud(draw)
        done = _run(presets.get("harchaoui"), rows, labels)
        if done and all(y * _dot(done[-1].after[:2], x) > 0 for x, y in zip(rows, labels, strict=True)):
            return rows, labels, done


def _harchaoui_4(draw: _Draw) -> Made:
    rows, labels, done = _harchaoui_runs(draw)
    end = done[-1].after[:2]
    zero = _run(presets.Preset("plain", "", "", "", {"bias": None}), rows, labels)[-1].after[:2]
    slips = [
        (zero, "This run starts at zero. The notes start at y₁x₁."),
        ([labels[0] * v for v in rows[0]], "This is the start. Some rows are misclassified by it."),
        *(
            (each.after[:2], f"This W is on the way, but row {later.row + 1} is still misclassified by it.")
            for each, later in pairwise(done)
        ),
    ]
    return (
        "The algorithm",
        "Run the algorithm of the notes: start at $W_1 = y_1x_1$, go through the rows in order, and add $yx$ "
        "where $yW^Tx < 0$. Which "
        "$W$ is the output?\n\n" + _table(rows, labels),
        "[W1, W2]",
        f"The start is {_show([labels[0] * v for v in rows[0]])}. Then "
        + "; ".join(f"row {each.row + 1}: {_show(each.after[:2])}" for each in done)
        + ".",
        _float(end),
        _expect(end, ["W1", "W2"], slips),
    )


def _harchaoui_5(draw: _Draw) -> Made:
    rows, labels, done = _harchaoui_runs(draw)
    needed = sorted({0, *(each.row for each in done)})
    solution = [i + 1 for i in needed]

    def judge(answer: Any) -> str:
        found = sorted({int(each) for each in _numbers(list(answer) if isinstance(answer, set) else answer)})
        if not found or not all(1 <= i <= len(rows) for i in found):
            return f"Pass row numbers from 1 to {len(rows)}."
        missing = [i for i in solution if i not in found]
        if missing:
            return (
                f"Row {missing[0]} is missing: "
                f"{'the run starts with it' if missing[0] == 1 else 'it was a mistake of the run'}."
            )
        extra = [i for i in found if i not in solution]
        return f"Row {extra[0]} was never a mistake, so it can be left out." if extra else ""

    return (
        "The rows that matter",
        "The corollary says that the rows of the start and of the mistakes are enough. Which rows are these, for "
        "the run from "
        "$W_1 = y_1x_1$ in order?\n\n" + _table(rows, labels),
        "a list of row numbers",
        f"The mistakes are at the rows {[each.row + 1 for each in done]}, and row 1 is the start: {solution}. In "
        "Python `trace_.compressed` has the rows of the mistakes.",
        solution,
        judge,
    )


def _harchaoui_6(draw: _Draw) -> Made:
    rows, labels = _harchaoui_cloud(draw, 4)
    rows, labels = rows[:4], labels[:4]
    u, gamma = [F(-3, 5), F(4, 5)], draw.pick(F(2), F(1), F(1, 2), F(2))
    losses = [max(F(0), 1 - y * _dot(u, x) / gamma) for x, y in zip(rows, labels, strict=True)]
    slips = [
        (
            [1 - y * _dot(u, x) / gamma for x, y in zip(rows, labels, strict=True)],
            "A loss is never negative: take the larger of 0 and it.",
        ),
        ([max(F(0), 1 - y * _dot(u, x)) for x, y in zip(rows, labels, strict=True)], "Divide yuᵀx by γ."),
        ([loss * gamma for loss in losses], "These are γ times the losses. The loss is 1 − yuᵀx/γ, or 0."),
        (
            [y * _dot(u, x) / gamma for x, y in zip(rows, labels, strict=True)],
            "This is yuᵀx/γ. The loss is what it lacks to 1, or 0.",
        ),
    ]
    return (
        "Hinge losses",
        f"For $u = {_show(u)}$ and $\\gamma = {_show(gamma)}$, compute $l_\\gamma = \\max(0, 1 - yu^Tx/\\gamma)$ "
        f"of each row.\n\n" + _table(rows, labels),
        "[l1, l2, l3, l4]",
        f"The values $yu^Tx$ are {', '.join(_show(y * _dot(u, x)) for x, y in zip(rows, labels, strict=True))}, "
        f"and the losses are "
        f"{_show(losses)}. Their sum is {_show(sum(losses, F(0)))}.",
        _float(losses),
        _expect(losses, [f"the loss of row {i}" for i in range(1, 5)], slips, digits=True),
    )


def _harchaoui_7(draw: _Draw) -> Made:
    rows, labels = _harchaoui_cloud(draw)
    gamma = draw.pick(F(1), F(1), F(2))
    first, second = draw.vector([-1, 1], -2, 2), draw.vector([0, 2], -2, 2)
    counts = [sum(y * _dot(w, x) >= gamma for x, y in zip(rows, labels, strict=True)) for w in (first, second)]
    keep = 2 if counts[1] > counts[0] else 1
    strict = [sum(y * _dot(w, x) > gamma for x, y in zip(rows, labels, strict=True)) for w in (first, second)]
    slips = [
        ([F(strict[0]), F(strict[1]), F(2 if strict[1] > strict[0] else 1)], "A value equal to γ counts."),
        (
            [F(counts[0]), F(counts[1]), F(3 - keep)],
            "The counts are right. The pocket changes only for a larger count.",
        ),
    ]
    return (
        "The pocket",
        f"The pocket counts rows with $yw^Tx \\ge \\gamma$, here $\\gamma = {_show(gamma)}$. The run has first "
        f"$w = {_show(first)}$ and then "
        f"$w = {_show(second)}$. Give both counts, and which $w$ is in the pocket at the end, 1 or 2.\n\n"
        + _table(rows, labels),
        "[count of the first, count of the second, 1 or 2]",
        f"The counts are {counts[0]} and {counts[1]}. The second goes into the pocket only if its count is "
        f"larger: {keep}.",
        [*counts, keep],
        _expect(
            [F(counts[0]), F(counts[1]), F(keep)], ["the first count", "the second count", "the pocket"], slips
        ),
    )


SCALES = ((F(3, 5), F(4, 5)), (F(4, 5), F(3, 5)), (F(5, 13), F(12, 13)))
"""Pairs of a and √(1 − a²) that are fractions."""


def _harchaoui_8(draw: _Draw) -> Made:
    a, rest = draw.pick(SCALES[0], *SCALES)
    n, i = 4, draw.pick(2, 1, 2, 3, 4)
    x = draw.vector([1, 0], -2, 2)
    lifted = [a * v for v in x] + [rest if j == i else F(0) for j in range(1, n + 1)]
    slips = [
        (
            [a * v for v in x] + [1 - a if j == i else F(0) for j in range(1, n + 1)],
            "The own coordinate is √(1 − a²), not 1 − a.",
        ),
        (list(x) + [rest if j == i else F(0) for j in range(1, n + 1)], "Multiply x by a."),
        (
            list(x) + [F(j == i) for j in range(1, n + 1)],
            "Multiply x by a, and its own coordinate by √(1 − a²).",
        ),
        *(
            (
                [a * v for v in x] + [rest if j == other else F(0) for j in range(1, n + 1)],
                f"This lifts row {other}. Row {i} has its own number in coordinate {i + 2}.",
            )
            for other in range(1, n + 1)
            if other != i
        ),
    ]
    return (
        "A lifted row",
        f"Row {i} of {n} is $x = {_show(x)}$. Lift it with $a = {_show(a)}$. Give all its coordinates.",
        "[x1, x2, then 4 more]",
        f"$\\sqrt{{1 - a^2}}$ = {_show(rest)}, so the lifted row is {_show(lifted)}.",
        _float(lifted),
        _expect(lifted, [f"coordinate {j}" for j in range(1, n + 3)], slips, digits=True),
    )


def _harchaoui_9(draw: _Draw) -> Made:
    a, rest = draw.pick(SCALES[0], *SCALES)
    rows = [[F(0), F(0)], [F(1), F(0)], [F(0), F(1)], [F(1), F(1)]]
    labels = list(draw.pick((-1, 1, 1, -1), (-1, 1, 1, -1), (1, -1, -1, 1)))
    lifted = [[a * v for v in row] + [rest if j == i else F(0) for j in range(4)] for i, row in enumerate(rows)]
    solution = [F(0), F(0), *[F(label) for label in labels]]

    def judge(answer: Any) -> str:
        return _separates(lifted, labels, answer)[1]

    return (
        "Prove that lifting works",
        "No line separates these rows. Prove that one does after lifting: give a vector $w$ with 6 coordinates "
        "that has every lifted row "
        f"$\\tilde x_i = [a x_i; \\sqrt{{1 - a^2}}\\, e_i]$ on its right side, for $a = {_show(a)}$. There is no "
        f"bias.\n\n" + _table(rows, labels),
        "six numbers: two for x, four for the rows",
        "Leave the weights of $x$ at 0, and give each row its label in its own coordinate: then $y_iw^T\\tilde "
        "x_i = \\sqrt{1 - a^2}$ = "
        f"{_show(rest)} for every row. This is the lemma with $w^*$ of no use at all.",
        _float(solution),
        judge,
    )


# Slides on perceptrons and kernels


def _kernels_1(draw: _Draw) -> Made:
    eta, y = draw.pick(F(1), F(1, 2), F(2), F(1, 5)), draw.pick(1, 1, -1)
    steps = [F(0), eta * y, eta * y / 2]
    slips = [
        ([F(0), 2 * eta * y, eta * y], "The factor is η/2, not η."),
        ([F(0), eta * y, F(0)], "With sgn(0) = 0 the difference y − 0 is y, so it is no zero."),
        ([eta * y, F(0), eta * y / 2], "If g(x) is right, y − g(x) is 0, and nothing changes."),
    ]
    return (
        "The factor of a step",
        f"The rule adds $\\frac\\eta2(y - g(x))\\,x$. With $\\eta = {_show(eta)}$ and $y = {y:+d}$, what is the "
        f"factor of $x$ if $g(x)$ is right, "
        "if it is wrong, and if $g(x) = 0$?",
        "[right, wrong, zero]",
        f"$y - g$ is 0, {2 * y} and {y}. Times $\\eta/2$ = {_show(eta / 2)} this is {_show(steps)}.",
        _float(steps),
        _expect(steps, ["the factor if right", "the factor if wrong", "the factor if g = 0"], slips),
    )


def _kernels_2(draw: _Draw) -> Made:
    w, b, eta = draw.vector([1, 0], -2, 2), draw.pick(F(1), F(-1), F(0)), draw.pick(F(1), F(1, 2), F(1, 5))
    x = draw.vector([0, 1], -3, 3)
    score = _dot(w, x) + b
    y = -1 if score > 0 else 1
    g = 1 if score > 0 else -1  # sgn(0) = −1
    after = [*_plus(w, eta / 2 * (y - g), x), b + eta / 2 * (y - g)]
    slips = [
        ([*_plus(w, eta * (y - g), x), b + eta * (y - g)], "The factor is η/2: y − g is 2 or −2 at a mistake."),
        ([*w, b], f"f(x) = {_show(score)}, so g(x) = {g:+d} and y − g is not 0."),
        ([*_plus(w, -eta * y, x), b - eta * y], f"You went the other way: y − g is {y - g:+d}."),
    ]
    return (
        "An update",
        f"Let $w = {_show(w)}$, $b = {_show(b)}$, $\\eta = {_show(eta)}$ and sgn(0) = −1. Show the machine $x = "
        f"{_show(x)}$ with $y = {y:+d}$. "
        "Give $w_1$, $w_2$ and $b$ afterwards.",
        "[w1, w2, b]",
        f"$f(x)$ = {_sum_of(w, x, b)} = {_show(score)}, so $g$ = {g:+d} and the factor is "
        f"{_show(eta / 2 * (y - g))}. The new weights are "
        f"{_show(after[:2])}, and the bias is {_show(after[2])}.",
        _float(after),
        _expect(after, ["w1", "w2", "b"], slips),
    )


def _kernels_3(draw: _Draw) -> Made:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    done = _run(presets.get("kernels"), rows, labels)
    alpha = [F(sum(each.row == i for each in done)) for i in range(len(rows))]
    tie = _run(presets.get("zhang"), rows, labels)
    slips = [
        (
            [F(sum(each.row == i for each in tie)) for i in range(len(rows))],
            "Here sgn(0) = −1: a score of 0 is right for the label −1.",
        )
    ]
    return (
        "Sample expansion",
        "Run the rule from zero with $\\eta = 1$ and sgn(0) = −1 until it rests. How often is each row added?\n\n"
        + _table(rows, labels),
        "four counts, one for each row",
        f"The mistakes are at the rows {[each.row + 1 for each in done]}, so the counts are {_show(alpha)}. "
        "In Python: `trace_.alpha`.",
        _float(alpha),
        _expect(alpha, [f"the count of row {i}" for i in range(1, 5)], slips),
    )


def _kernels_4(draw: _Draw) -> Made:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    alpha = draw.vector([5, 2, 2, 0], 0, 4)
    w = [sum((a * y * x[j] for a, y, x in zip(alpha, labels, rows, strict=True)), F(0)) for j in range(2)]
    b = sum((a * y for a, y in zip(alpha, labels, strict=True)), F(0))
    unsigned = [sum((a * x[j] for a, x in zip(alpha, rows, strict=True)), F(0)) for j in range(2)]
    slips = [([*unsigned, sum(alpha, F(0))], "Each row is added with its label: α_i y_i x_i.")]
    return (
        "From counts to weights",
        f"From zero with $\\eta = 1$, the rows were added {_show(alpha)} times. What are $w_1$, $w_2$ and $b$?\n\n"
        + _table(rows, labels),
        "[w1, w2, b]",
        f"$w = \\sum_i \\alpha_i y_i x_i$ = {_show(w)} and $b = \\sum_i \\alpha_i y_i$ = {_show(b)}.",
        _float([*w, b]),
        _expect([*w, b], ["w1", "w2", "b"], slips),
    )


def _kernels_5(draw: _Draw) -> Made:
    x, z = draw.vector([1, 2], -3, 3), draw.vector([3, 1], -3, 3)
    inner = _dot(x, z)
    slips = [
        ([inner], "Square it: the product of the features is the square of the inner product."),
        ([_dot([v * v for v in x], [v * v for v in z])], "The middle feature √2·x₁x₂ is missing."),
        (
            [_dot([v * v for v in x], [v * v for v in z]) + x[0] * x[1] * z[0] * z[1]],
            "The middle feature has √2 in both, so it counts twice.",
        ),
    ]
    return (
        "Quadratic features",
        f"With $\\Phi(x) = (x_1^2, \\sqrt2\\,x_1x_2, x_2^2)$, compute $\\langle\\Phi(x), \\Phi(x')\\rangle$ for "
        f"$x = {_show(x)}$ and $x' = {_show(z)}$.",
        "a number",
        f"It is $\\langle x, x'\\rangle^2$. The inner product is {_sum_of(x, z)} = {_show(inner)}, and its "
        f"square is {_show(inner**2)}.",
        _float(inner**2),
        _expect([inner**2], ["the product"], slips),
    )


def _kernels_6(draw: _Draw) -> Made:
    rows = [draw.vector(usual, -2, 2) for usual in ((-1, -1), (1, -1), (-1, 1))]
    c, degree = draw.pick(F(0), F(0), F(1)), draw.pick(2, 2, 3)
    matrix = [[(_dot(x, z) + c) ** degree for z in rows] for x in rows]
    flat = [v for row in matrix for v in row]
    slips = [([_dot(x, z) + c for x in rows for z in rows], f"Take the power {degree} of each entry.")]
    body = f"(\\langle x, x'\\rangle + {_show(c)})^{degree}" if c else f"\\langle x, x'\\rangle^{degree}"
    return (
        "A kernel matrix",
        f"Compute the matrix of $k(x, x') = {body}$ for the points "
        + ", ".join(f"${_show(row)}$" for row in rows)
        + ".",
        "three rows of three numbers",
        "The rows of the matrix are " + ", ".join(map(_show, matrix)) + ". It is symmetric.",
        _float(matrix),
        _expect(flat, [f"the entry in row {i}, column {j}," for i in (1, 2, 3) for j in (1, 2, 3)], slips),
    )


def _kernels_7(draw: _Draw) -> Made:
    rows = [[F(0), F(0)], [F(1), F(0)], [F(0), F(1)], [F(1), F(1)]]
    w, b = list(draw.pick(UNIT_ROWS[0], *UNIT_ROWS[:4])), draw.pick(-HALF, F(-1, 4), F(-1, 3), F(-9, 10))
    labels = [1 if _dot(w, x) + b > 0 else -1 for x in rows]
    rho = min(y * (_dot(w, x) + b) for x, y in zip(rows, labels, strict=True))
    square = max(_dot(x, x) for x in rows)
    bound = (b * b + 1) * (square + 1) / rho**2
    slips = [
        ([(b * b + 1) * (square + 1) / rho], "Divide by the square of ρ."),
        ([square / rho**2], "This has no bias: (b*² + 1) and (R² + 1) are missing."),
        ([(b * b + 1) * square / rho**2], "R² + 1, because the constant 1 belongs to each row."),
        ([(square + 1) / rho**2], "The factor b*² + 1 is missing: the bias belongs to the machine."),
    ]
    return (
        "The bound",
        f"The machine $w^* = {_show(w)}$, $b^* = {_show(b)}$ separates these rows, and $\\lVert w^*\\rVert = 1$. "
        f"What is the bound on updates, "
        "$(b^{*2} + 1)(R^2 + 1)/\\rho^2$, with the $\\rho$ of this machine?\n\n" + _table(rows, labels),
        "a number",
        f"$\\rho$ = {_show(rho)}, $R^2$ = {_show(square)}, so the bound is "
        f"{_show((b * b + 1) * (square + 1))}/{_show(rho**2)} = {float(bound):.6g}.",
        float(bound),
        _expect([bound], ["the bound"], slips, digits=True),
    )


def _kernels_8(draw: _Draw) -> Made:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    line = draw.vector([1, -1, 0.5], -2, 2, HALF)
    scores = [_dot(line, [*x, F(1)]) for x in rows]
    while 0 in scores:  # at a tie there are many subgradients
        line[2] += F(1, 4)
        scores = [_dot(line, [*x, F(1)]) for x in rows]
    wrong = [i for i in range(4) if labels[i] * scores[i] < 0]
    value = sum((-labels[i] * scores[i] for i in wrong), F(0))
    slope = [sum((-labels[i] * [*rows[i], F(1)][j] for i in wrong), F(0)) for j in range(3)]
    printed = [i for i in range(4) if scores[i] < 0]
    slips = [
        (
            [value, *[-v for v in slope]],
            "The value is right. The subgradient is the sum of −y x, so its sign is the other.",
        ),
        (
            [value, *[sum((-labels[i] * [*rows[i], F(1)][j] for i in printed), F(0)) for j in range(3)]],
            "The case is yf < 0, not f < 0: rows on their right side have the subgradient 0.",
        ),
    ]
    return (
        "The objective and its slope",
        f"At $w = {_show(line[:2])}$, $b = {_show(line[2])}$, compute $R[f] = \\sum_i \\max(0, -y_if(x_i))$ and "
        f"its subgradient in $w_1$, $w_2$ and "
        "$b$.\n\n" + _table(rows, labels),
        "[R, in w1, in w2, in b]",
        f"The scores are {_show(scores)}. Wrong are the rows {[i + 1 for i in wrong]}, so $R[f]$ = "
        f"{_show(value)} and the subgradient is "
        f"{_show(slope)}.",
        _float([value, *slope]),
        _expect(
            [value, *slope],
            ["R[f]", "the subgradient in w1", "the subgradient in w2", "the subgradient in b"],
            slips,
        ),
    )


def _kernels_9(draw: _Draw) -> Made:
    p, q, r = draw.pick((0, 1, 0), (1, 2, 1), (2, 3, 4), (0, 2, 1), (1, -3, 2))
    matrix = [[F(p), F(q)], [F(q), F(r)]]
    # with p > 0 the minimum over the first entry is at −q/p times the second
    solution = [F(-q, p), F(1)] if p else [F(-1 if q > 0 else 1) * (F(r, abs(q)) + 1), F(1)]

    def judge(answer: Any) -> str:
        z = _numbers(answer, 2)
        value = _dot(z, [_dot(row, z) for row in matrix])
        return (
            ""
            if value < 0
            else (
                f"zᵀKz = {_show(value)} is not negative. Entries of different signs use the {q} beside the "
                f"diagonal."
            )
        )

    value = _dot(solution, [_dot(row, solution) for row in matrix])
    return (
        "Prove that it is no kernel",
        f"A function has the matrix $K$ with the rows ${_show(matrix[0])}$ and ${_show(matrix[1])}$ on two "
        f"points. Prove that it is no kernel: find "
        "a vector $z$ with $z^TKz < 0$.",
        "[z1, z2]",
        f"$z$ = {_show(solution)} has $z^TKz$ = {_show(value)}. For a kernel it would be $\\lVert z_1\\Phi(x_1) "
        f"+ z_2\\Phi(x_2)\\rVert^2 \\ge 0$.",
        _float(solution),
        judge,
    )


# Zhang


def _zhang_1(draw: _Draw) -> Made:
    w, b = draw.vector([0, 2, 0, -1, 1], -2, 2), draw.pick(F(0), F(1), F(-1))
    x = draw.vector([1, 1, 0, 0, 0], 0, 1)
    score = _dot(w, x) + b
    sign = 1 if score > 0 else -1
    slips = [
        ([score, F(-sign)], "The score is right. sign(t) is +1 for t > 0, and −1 otherwise."),
        ([score - b, F(1 if score - b > 0 else -1)], "The bias is missing."),
    ]
    return (
        "A new mail",
        f"The weights of *and, viagra, the, of, nigeria* are $w = {_show(w)}$, and $b = {_show(b)}$. The new "
        f"mail is $x' = {_show(x)}$. Give its "
        "score and its prediction.",
        "[score, +1 or -1]",
        f"The score is {_sum_of(w, x, b)} = {_show(score)}, so the prediction is {sign:+d}.",
        _float([score, F(sign)]),
        _expect([score, F(sign)], ["the score", "the prediction"], slips),
    )


def _zhang_2(draw: _Draw) -> Made:
    rows, labels = draw.cloud("spam-table", 6, 5, 0, 1, 1)
    done = [each for each in _run(presets.get("zhang"), rows, labels) if each.number == 1]
    end = done[-1].after
    without = _run(presets.Preset("plain", "", "", "", {"bias": None}), rows, labels, 1)
    slips = [(without[-1].after, "This run has no bias. The update adds y to b as well.")]
    return (
        "One pass over the mails",
        "Run Algorithm 1 from zero, once through these mails in order. Give the five weights and the bias "
        "afterwards.\n\n" + _table(rows, labels),
        "six numbers: w1, …, w5, b",
        "The updates are "
        + "; ".join(f"mail {each.row + 1}: {_show(each.after)}" for each in done)
        + ", each as $(w_1, \\dots, w_5, b)$.",
        _float(end),
        _expect(end, ["w1", "w2", "w3", "w4", "w5", "b"], slips),
    )


def _zhang_3(draw: _Draw) -> Made:
    w, b = draw.vector([2, 3], 1, 5), draw.pick(F(-1), F(2), F(-3))
    solution = [-w[1], w[0]]

    def judge(answer: Any) -> str:
        v = _numbers(answer, 2)
        if not any(v):
            return "The zero vector has no direction."
        product = _dot(w, v)
        if product == 0:
            return ""
        on = " It is a point of H, but a direction is a difference of two points." if product == -b else ""
        return f"⟨w, v⟩ = {_show(product)}, and it must be 0.{on}"

    return (
        "Along the boundary",
        f"The boundary $H$ has $w = {_show(w)}$ and $b = {_show(b)}$. Find a vector $v \\ne 0$ that points along "
        f"$H$.",
        "[v1, v2]",
        f"It must have $\\langle w, v\\rangle = 0$. Exchange the entries of $w$ and change one sign: "
        f"{_show(solution)}. The bias plays no part.",
        _float(solution),
        judge,
    )


def _zhang_4(draw: _Draw) -> Made:
    w, b = draw.vector([3, -2], -4, 4), draw.pick(F(1), F(-2), F(5))
    values = [b, w[0] + b, w[1] + b]
    slips = [
        ([w[0] + b, w[1] + b, b], "These are f(e₁) and f(e₂). Subtract f(0)."),
        ([w[0] + b, w[1] + b, F(0)], "The bias is f(0). Subtract it from f(e₁) and f(e₂)."),
        ([*w, F(0)], "The weights are right. The bias is f(0)."),
    ]
    return (
        "Weights from values",
        f"An affine function has $f(0, 0) = {_show(values[0])}$, $f(1, 0) = {_show(values[1])}$ and $f(0, 1) = "
        f"{_show(values[2])}$. What are "
        "$w_1$, $w_2$ and $b$?",
        "[w1, w2, b]",
        f"$b = f(0)$ = {_show(b)}, and $w_j = f(e_j) - f(0)$: {_show(w)}.",
        _float([*w, b]),
        _expect([*w, b], ["w1", "w2", "b"], slips),
    )


def _zhang_5(draw: _Draw) -> Made:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    padded = _padded(rows)
    square = max(_dot(row, row) for row in padded)
    best = square / _squared_margin(padded, labels, bias=False)
    limit = int(best * F(5, 4)) + 1
    from rosenblatt.estimators.max_margin import MaxMarginClassifier

    wide = MaxMarginClassifier(fit_intercept=False).fit([[float(v) for v in row] for row in padded], labels)
    solution = [round(float(v), 3) for v in wide.coef_[0]]

    def judge(answer: Any) -> str:
        u, hint = _separates(padded, labels, answer)
        if hint:
            return hint
        least = min(y * _dot(u, x) for x, y in zip(padded, labels, strict=True))
        bound = square * _dot(u, u) / least**2
        return (
            ""
            if bound <= limit
            else f"This proves only C²/γ² = {float(bound):.1f}. Find a vector with a larger γ."
        )

    return (
        "Prove a bound",
        f"Prove that Algorithm 1 from zero makes at most {limit} mistakes on these rows. A proof is a vector $u$ "
        f"for the padded rows $(x, 1)$ with "
        f"$C^2/\\gamma^2 \\le {limit}$. You need not give it length 1.\n\n" + _table(rows, labels),
        "[u1, u2, u3]",
        f"$C^2$ = {_show(square)}. The widest $u$ is about {_show([F(str(v)) for v in solution])}, and gives "
        f"$C^2/\\gamma^2$ = {float(best):.2f}.",
        solution,
        judge,
    )


def _zhang_6(draw: _Draw) -> Made:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    line = draw.vector([1, -1, 0], -2, 2)
    terms = [max(F(0), -y * _dot(line, [*x, F(1)])) for x, y in zip(rows, labels, strict=True)]
    mean = sum(terms, F(0)) / len(rows)
    slips = [
        ([sum(terms, F(0))], "This is the sum. L is the mean over all n rows."),
        ([-mean], "The loss is not negative."),
    ]
    return (
        "The perceptron loss",
        f"Compute $L(w)$, the mean of $\\max(0, -y f(x))$, at $w = {_show(line[:2])}$, $b = {_show(line[2])}$.\n\n"
        + _table(rows, labels),
        "a number",
        f"The terms are {_show(terms)}, so $L$ = {_show(mean)}.",
        _float(mean),
        _expect([mean], ["L"], slips),
    )


def _zhang_7(draw: _Draw) -> Made:
    shift, scale = (
        draw.vector([0, 0], -2, 2) if draw.seed is not None else [F(0), F(0)],
        draw.pick(F(1), F(1), F(2), F(3)),
    )
    corners = [[F(0), F(0)], [F(1), F(0)], [F(0), F(1)], [F(1), F(1)]]
    rows = [_plus(shift, scale, corner) for corner in corners]
    labels = list(draw.pick((-1, 1, 1, -1), (-1, 1, 1, -1), (1, -1, -1, 1)))
    found = _certified(rows, labels)
    solution = [F(0)] * 4
    for i, weight in zip(found.support, found.weights, strict=True):
        solution[int(i)] = F(weight)

    def judge(answer: Any) -> str:
        weights = _numbers(answer, 4)
        if any(v < 0 for v in weights) or not any(weights):
            return (
                "The factors must not be negative, and not all 0: an inequality times a negative number turns "
                "round."
            )
        total = [F(0)] * 3
        for weight, label, row in zip(weights, labels, _padded(rows), strict=True):
            total = _plus(total, weight * label, row)
        left = [f"{_show(v)}·{name}" for v, name in zip(total, ("w₁", "w₂", "b"), strict=True) if v]
        return (
            f"In the sum {' and '.join(left)} {'is' if len(left) == 1 else 'are'} left over. Everything must "
            f"cancel."
            if left
            else ""
        )

    return (
        "Prove that no line exists",
        "Suppose a line separates these rows. Then $y_i(w_1x_{i1} + w_2x_{i2} + b) > 0$ for all four. Find "
        "factors $\\lambda_i \\ge 0$, not all 0, such "
        "that the four inequalities, each times its factor, add up to $0 > 0$.\n\n" + _table(rows, labels),
        "four numbers",
        f"$\\lambda$ = {_show(solution)} will do: $w_1$, $w_2$ and $b$ all cancel. So no line exists.",
        _float(solution),
        judge,
    )


def _zhang_8(draw: _Draw) -> Made:
    corners = [[F(0), F(0)], [F(1), F(0)], [F(0), F(1)], [F(1), F(1)]]
    order = list(draw.pick((0, 1, 2, 3), (0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (3, 1, 2, 0)))
    rows, labels = [corners[i] for i in order], [[-1, 1, 1, -1][i] for i in order]
    rule = presets.Preset("plain", "", "", "", {})
    done = _run(rule, rows, labels, 1)
    end = done[-1].after
    flat = [v for each in done for v in each.after]
    back = (
        "It is back at zero, so it will repeat for ever." if not any(end) else "Go on, and the weights come back."
    )
    return (
        "Around in a circle",
        "Run Algorithm 1 from zero through these rows of XOR once. Every row is a mistake. Give $w_1$, $w_2$ and "
        "$b$ after each of the four "
        "updates.\n\n" + _table(rows, labels),
        "four lists [w1, w2, b]",
        "; ".join(f"row {each.row + 1}: {_show(each.after)}" for each in done) + f". {back}",
        _float([each.after for each in done]),
        _expect(flat, [f"{name} after update {k}" for k in range(1, len(done) + 1) for name in ("w1", "w2", "b")]),
    )


def _zhang_9(draw: _Draw) -> Made:
    c = draw.pick(4, 3, 4, 5, 6)
    pairs = list(combinations(range(c), 2))
    usual = [(each * 5) % 7 - 3 for each in range(1, len(pairs) + 1)]
    scores = draw.vector(usual, -3, 3)
    votes = [
        sum((s if k == i else -s if k == j else F(0) for (i, j), s in zip(pairs, scores, strict=True)), F(0))
        for k in range(c)
    ]
    best = votes.index(max(votes)) + 1
    one_sided = [sum((s for (i, _), s in zip(pairs, scores, strict=True) if k == i), F(0)) for k in range(c)]
    slips = [
        (
            [F(len(pairs)), F(one_sided.index(max(one_sided)) + 1)],
            "The number is right. The machine of (k, l) counts for l too, with the other sign.",
        ),
        ([F(c), F(best)], "One against the rest needs c machines; here there is one for each pair."),
        ([F(2 * len(pairs)), F(best)], "A pair has one machine: (k, l) and (l, k) are the same one."),
        *(
            ([F(len(pairs)), F(k + 1)], f"Its sum is {_show(votes[k])}, as large as that of a class before it.")
            for k in range(best, c)
            if votes[k] == votes[best - 1]
        ),
    ]
    listed = ", ".join(f"({i + 1},{j + 1}): {_show(s)}" for (i, j), s in zip(pairs, scores, strict=True))
    return (
        "One against one",
        f"There are {c} classes, and a machine for each pair $k < l$ whose score is positive for $k$. How many "
        f"machines are there? Their scores for an "
        f"example are {listed}. Which class has the largest $\\sum_{{l \\ne k}}\\langle x, w_{{k,l}}\\rangle$, "
        f"with $w_{{l,k}} = -w_{{k,l}}$? Of equals "
        "the first.",
        "[number of machines, class]",
        f"There are {c}·{c - 1}/2 = {len(pairs)} machines. The sums are {_show(votes)}, so class {best} wins.",
        [len(pairs), best],
        _expect([F(len(pairs)), F(best)], ["the number of machines", "the class"], slips),
    )


_MAKERS: dict[str, tuple[Callable[[_Draw], Made], ...]] = {
    "koski": (_koski_1, _koski_2, _koski_3, _koski_4, _koski_5, _koski_6, _koski_7, _koski_8, _koski_9, _koski_10),
    "hladka-holub": (
        _hladka_holub_1,
        _hladka_holub_2,
        _hladka_holub_3,
        _hladka_holub_4,
        _hladka_holub_5,
        _hladka_holub_6,
        _hladka_holub_7,
        _hladka_holub_8,
        _hladka_holub_9,
    ),
    "harchaoui": (
        _harchaoui_1,
        _harchaoui_2,
        _harchaoui_3,
        _harchaoui_4,
        _harchaoui_5,
        _harchaoui_6,
        _harchaoui_7,
        _harchaoui_8,
        _harchaoui_9,
    ),
    "kernels": (
        _kernels_1,
        _kernels_2,
        _kernels_3,
        _kernels_4,
        _kernels_5,
        _kernels_6,
        _kernels_7,
        _kernels_8,
        _kernels_9,
    ),
    "zhang": (_zhang_1, _zhang_2, _zhang_3, _zhang_4, _zhang_5, _zhang_6, _zhang_7, _zhang_8, _zhang_9),
}


def names(lecture: str | None = None) -> list[str]:
    """Return the names of all exercises, or of those on one lecture.

    Examples
    --------
    >>> names("zhang")[:2]
    ['zhang-1', 'zhang-2']
    """
    if lecture is not None and lecture not in _MAKERS:
        raise ParameterError(f"There are no exercises on {lecture!r}. Choose one of {', '.join(_MAKERS)}.")
    chosen = _MAKERS if lecture is None else [lecture]
    return [f"{each}-{i + 1}" for each in chosen for i in range(len(_MAKERS[each]))]


def get(name: str, seed: int | None = None) -> Exercise:
    """Return an exercise, with the numbers of the lecture or with others.

    Parameters
    ----------
    name : str
        The lecture and a number, such as "koski-3".
    seed : int or None
        Draws other numbers, the same for the same seed. None means those of the lecture.

    Examples
    --------
    >>> get("koski-1").question
    'The weights are $w = (1, 0.5)$ and the bias is $b = 0$. Compute $f(x)$ for $x = (2, -2)$.'
    """
    lecture, _, number = str(name).rpartition("-")
    if name not in (names(lecture) if lecture in _MAKERS else []):
        raise ParameterError(
            f"There is no exercise {name!r}. Choose one such as 'koski-1'; names() lists them all."
        )
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ParameterError(
            f"seed={seed!r} must be a whole number from 0, or None for the numbers of the lecture."
        )
    maker = _MAKERS[lecture][int(number) - 1]
    return Exercise(str(name), *maker(_Draw(None if seed is None else int(seed), name)))


def check(name: str, answer: Any, seed: int | None = None) -> Result:
    """Return whether an answer to an exercise is right, or a hint.

    Parameters
    ----------
    name : str
        The exercise, such as "koski-3".
    answer : number, text, or nested lists of them
        Fractions can be written as text: "1/3".
    seed : int or None
        The seed of the sheet that the exercise is from.

    Examples
    --------
    >>> check("koski-2", [0.6, 0.9, -0.2])
    Right.
    >>> check("koski-2", [0.6, 0.9, 0.0])
    Not yet: b = 0 is too large. The weights are right. The bias gains η·y too.
    """
    return get(name, seed).check(answer)


def sheet(lecture: str, seed: int | None = None, *, answers: bool = False) -> str:
    """Return the exercises on a lecture as Markdown, to hand out.

    Parameters
    ----------
    lecture : str
        One of "koski", "hladka-holub", "harchaoui", "kernels" and "zhang".
    seed : int or None
        Draws other numbers, the same for the same seed.
    answers : bool
        Whether to add the worked answers.

    Examples
    --------
    >>> print(sheet("koski", seed=7).splitlines()[0])
    # Exercises: koski, numbers of seed 7
    """
    told = "" if seed is None else f", numbers of seed {seed}"
    parts = [f"# Exercises: {lecture}{told}"]
    for name in names(lecture):
        each = get(name, seed)
        call = f'rb.exercises.check("{name}", …{"" if seed is None else f", seed={seed}"})'
        parts += [f"## {name}: {each.title}", each.question, f"Answer: {each.form}. Check it with `{call}`."]
        parts += [f"**Worked answer.** {each.worked}"] if answers else []
    return "\n\n".join(parts) + "\n"
