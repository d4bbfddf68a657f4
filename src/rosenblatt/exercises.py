"""Exercises on the lectures: questions, answers that check themselves, and sheets with other numbers.

Every right answer is computed in fractions from the numbers of the question. A wrong answer gets a hint, which is
computed too: the first number that is wrong and the mistake that leads to it, or the row on the wrong side.

>>> import rosenblatt as rb
>>> rb.exercises.check("koski-1", 1)
Right.
>>> rb.exercises.check("koski-1", 3)
Not yet: f(x) = 3 is too large. You may have the sign of the second product wrong: -2 is negative.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np

from rosenblatt import presets
from rosenblatt.exceptions import ParameterError
from rosenblatt.parameters import check_count, unknown_name

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
    form : str
        What an answer looks like in Python.
    question : str
        The question, in Markdown.
    worked : str
        The worked answer, in Markdown.
    solution : object
        One right answer. Other answers can be right as well, where the question asks for any.
    mistakes : mapping of str to object
        Usual wrong answers, each by the hint that it gets.

    Examples
    --------
    >>> exercise = get("hladka-holub-3")
    >>> exercise.title, exercise.solution
    ('Why an update helps', 26)
    >>> exercise.mistakes["The bias grows too: that adds 1."]
    25
    """

    name: str
    title: str
    form: str
    question: str
    worked: str
    solution: Any
    mistakes: Mapping[str, Any]
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
    answer = sorted(answer) if isinstance(answer, set) else answer
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


def _plain(value: Any, digits: int | None = None) -> Any:
    """Return plain Python numbers that a reader can paste, rounded if `digits` says so."""
    if isinstance(value, list | tuple):
        return [_plain(each, digits) for each in value]
    value = F(value)
    if value.denominator == 1:
        return value.numerator
    return float(value) if digits is None else round(float(value), digits)


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
    """Return every update of a preset's run, in fractions.

    A wrong rule may have the bias "length", which gains R, or the tie "always", which corrects every row.
    """
    rule = preset.rule
    eta, tie, zero = F(str(rule.get("eta0", 1))), rule.get("tie", "mistake"), rule.get("zero", -1)
    square = max(_dot(row, row) for row in rows)
    gains = {"unit": F(1), "radius": square, "length": F(float(square) ** 0.5), None: F(0)}
    gain = gains[rule.get("bias", "unit")]
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
            wrong = signed < 0 or (signed == 0 and (tie == "mistake" or (tie == "sign" and labels[i] != zero)))
            if wrong or tie == "always":
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
            from rosenblatt.datasets import BUILTIN

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


# What an exercise declares, and how its answers are judged


@dataclass(frozen=True)
class _Asked:
    """An exercise with its numbers.

    `answer` holds the right numbers by their names. Where many answers are right it is one of them, and `judge`
    returns what is wrong with another. `mistakes` are usual wrong answers, by the hint for each; `advice` is for
    others. With `digits`, three are enough, because a number has no end. `width` numbers make a row of the
    solution. A `table` of rows and labels follows the question.
    """

    question: str
    worked: str
    answer: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""
    judge: Judge | None = None
    digits: bool = False
    width: int = 0
    table: tuple[Sequence[Vector], Sequence[int]] | None = None

    def exercise(self, name: str, title: str, form: str) -> Exercise:
        """Return the exercise, with those mistakes that are wrong for its numbers."""
        judge = self.judge
        if judge is None:
            values = list(self.answer.values())
            judge = _expect(self.answer, F(1, 1000) if self.digits else F(1, 10**6))
            rows = (
                [values[k : k + self.width] for k in range(0, len(values), self.width)] if self.width else values
            )
            solution = _plain(rows if len(rows) > 1 else rows[0], 6 if self.digits else None)
        else:
            values, solution = [], _plain(self.answer)
        known: dict[str, Vector] = {}
        for why, wrong in self.mistakes.items():
            numbers = _numbers(wrong)
            if numbers not in known.values() and judge(numbers):
                known[why] = numbers
        told = {why: _plain(wrong if len(wrong) != 1 else wrong[0]) for why, wrong in known.items()}

        def explain(answer: Any) -> str:
            hint = judge(answer)
            if not hint:
                return ""
            found = _numbers(answer)
            usual = (why for why, wrong in known.items() if _agree(found, wrong, F(1, 1000)))
            why = next(usual, "") or _pattern(found, values) or self.advice
            return hint if why in hint else f"{hint} {why}"

        question = self.question if self.table is None else f"{self.question}\n\n{_table(*self.table)}"
        return Exercise(name, title, form, question, self.worked, solution, told, explain)


_MAKERS: dict[str, tuple[str, str, Callable[[_Draw], _Asked]]] = {}
"""Title, form of the answer and maker of each exercise, by its name."""


def _exercise(title: str, form: str) -> Callable[[Callable[[_Draw], _Asked]], Callable[[_Draw], _Asked]]:
    """Register a maker; its own name is that of the exercise, such as _koski_3 of "koski-3"."""

    def register(make: Callable[[_Draw], _Asked]) -> Callable[[_Draw], _Asked]:
        _MAKERS[make.__name__[1:].replace("_", "-")] = title, form, make
        return make

    return register


def _agree(a: Vector, b: Vector, part: Fraction) -> bool:
    """Return whether numbers are equal up to a part of them."""
    return len(a) == len(b) and all(abs(x - z) <= part * max(F(1), abs(z)) for x, z in zip(a, b, strict=True))


def _pattern(found: Vector, wanted: Vector) -> str:
    """Return a mistake that can happen to any numbers, or nothing."""
    near = F(1, 1000)
    if _agree(found, wanted, F(1, 50)):
        return "This is near. Give more digits, or a fraction as text such as '1/3'."
    if _agree(found, [-each for each in wanted], near):
        return "The sign is the other one." if len(found) == 1 else "All signs are the other way round."
    if _agree(sorted(found), sorted(wanted), near):
        return "These are the right numbers in another order."
    return ""


CHOICES = ("the output", "the prediction", "the class", "the pocket")
"""Numbers that are names: such a one is wrong, and not too large or too small."""


def _expect(wanted: Mapping[str, Any], part: Fraction) -> Judge:
    """Return a judge of numbers by their names; it tells the first wrong one."""

    def judge(answer: Any) -> str:
        found = _numbers(answer, len(wanted))
        wrong = [
            (name, a, F(b))
            for (name, b), a in zip(wanted.items(), found, strict=True)
            if not _agree([a], [F(b)], part)
        ]
        if not wrong:
            return ""
        (name, a, b), others = wrong[0], len(wrong) - 1
        more = (
            ""
            if not others
            else f" {others} more numbers are wrong."
            if others > 1
            else " One more number is wrong."
        )
        if name in CHOICES:
            return f"{name[0].upper()}{name[1:]} is not {_show(a)}.{more}"
        return f"{name} = {_show(a)} is too {'small' if a < b else 'large'}.{more}"

    return judge


def _named(names: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return numbers by names that are written with spaces between them."""
    return dict(zip(names.split(), values, strict=True))


def _expect_rows(expected: Sequence[int], what: str, why: Callable[[int, int], str]) -> Judge:
    """Return a judge of a list of row numbers, counted from 1, in order; `why` explains a wrong entry."""

    def judge(answer: Any) -> str:
        found = _whole(answer)
        for k, (a, b) in enumerate(zip(found, expected, strict=False), 1):
            if a != b:
                return f"Entry {k} of {what} is not {a}. {why(k, a)}"
        name = f"{what[0].upper()}{what[1:]}"
        if len(found) < len(expected):
            return f"{name} has more entries than these {len(found)}."
        return f"{name} ends after {len(expected)} entries." if len(found) > len(expected) else ""

    return judge


def _whole(answer: Any) -> list[int]:
    """Return the whole numbers of an answer."""
    numbers = _numbers(answer)
    found = [int(each) for each in numbers]
    if found != numbers:
        raise _NotAnAnswerError("The answer is a list of whole numbers.")
    return found


TURNED = "Every row is on the wrong side: change all signs."
BIAS_FIRST = "With its first number at the end it would separate: the bias comes last."


def _separates(rows: Sequence[Vector], labels: Sequence[int], answer: Any) -> tuple[Vector, str]:
    """Return the vector of an answer, and a hint if it leaves a row on the wrong side."""
    found = _numbers(answer, len(rows[0]))

    def wrong(w: Vector) -> list[int]:
        return [i for i, (row, label) in enumerate(zip(rows, labels, strict=True)) if label * _dot(w, row) <= 0]

    left = wrong(found)
    if not left:
        return found, ""
    if not wrong([-each for each in found]):
        return found, TURNED
    i, score = left[0], _dot(found, rows[left[0]])
    where = "on the hyperplane" if score == 0 else "on the wrong side"
    more = "" if rows[0][-1] != rows[1][-1] or wrong([*found[1:], found[0]]) else f" {BIAS_FIRST}"
    return found, f"Row {i + 1} is {where}: its score is {_show(score)}, and its label is {labels[i]:+d}.{more}"


def _mistakes_of_run(
    preset: presets.Preset,
    rows: Sequence[Vector],
    labels: Sequence[int],
    read: Callable[[list[_Update]], Any],
    passes: int,
) -> dict[str, Any]:
    """Return what `read` finds in runs with one mistake in the rule, by the hint for each."""
    rule = preset.rule
    square = _show(max(_dot(row, row) for row in rows))
    gain = f"In the pseudocode it gains y·R², and R² is {square}."
    biases: dict[str | None, list[tuple[str, dict[str, Any]]]] = {
        "radius": [
            (f"This bias gains y. {gain}", {"bias": "unit"}),
            (f"This bias gains y·R. {gain}", {"bias": "length"}),
            ("The bias is missing.", {"bias": None}),
        ],
        "unit": [("This run has no bias. Each update adds y to it as well.", {"bias": None})],
        None: [("This run has a bias. The rule has none.", {"bias": "unit"})],
    }
    changes = biases[rule.get("bias", "unit")]
    if rule.get("tie", "mistake") == "mistake":
        changes += [
            ("A score of 0 is a mistake too, so even the first row is one.", {"tie": "correct"}),
            ("A score of 0 is a mistake too, also for the label −1.", {"tie": "sign", "zero": -1}),
        ]
    else:
        changes.append(("A score of 0 was taken for a mistake.", {"tie": "mistake"}))
    if rule.get("init") == "first":
        changes.insert(
            0, ("This run starts at zero. The notes start at y₁x₁.", {"init": "zero", "tie": "mistake"})
        )
    runs = {why: _run(replace(preset, rule={**rule, **one}), rows, labels, passes) for why, one in changes}
    # a run that does not end is nobody's answer
    found = {why: read(run) for why, run in runs.items() if passes == 1 or not run or run[-1].number < passes}
    every = _run(replace(preset, rule={**rule, "tie": "always"}), rows, labels, 1)
    done = _run(preset, rows, labels, passes)
    found["This adds every row. Only mistakes are added."] = read(every)
    found["The last update is missing: row " + f"{done[-1].row + 1} is a mistake once more."] = read(done[:-1])
    return found


def _sum_of(w: Sequence[Fraction], x: Sequence[Fraction], b: Fraction | int | None = None) -> str:
    """Return a score as a sum of products, in words."""
    parts = " + ".join(f"{_show(a)}·{_show(c) if c >= 0 else f'({_show(c)})'}" for a, c in zip(w, x, strict=True))
    return parts if b is None else f"{parts} + {_show(b) if b >= 0 else f'({_show(F(b))})'}"


def _values(rows: Sequence[Vector], labels: Sequence[int], w: Sequence[Fraction]) -> Vector:
    """Return y·f(x) of each row; a weight more than features is the bias."""
    return [y * _dot(w, [*x, F(1)][: len(w)]) for x, y in zip(rows, labels, strict=True)]


def _signed(labels: Sequence[int], values: Sequence[Fraction]) -> Vector:
    return [y * value for y, value in zip(labels, values, strict=True)]


def _mean(rows: Sequence[Vector]) -> Vector:
    return [sum(column, F(0)) / len(rows) for column in zip(*rows, strict=True)]


def _updates(done: Sequence[_Update], what: str = "row", n: int | None = None) -> str:
    """Return the rows of updates with the first n weights after each, in words."""
    return "; ".join(f"{what} {each.row + 1}: {_show(each.after[:n])}" for each in done)


def _end(done: Sequence[_Update], d: int = 3) -> Vector:
    """Return the first d weights after the last update, or zeros."""
    return done[-1].after[:d] if done else [F(0)] * d


def _widest(rows: Sequence[Vector], labels: Sequence[int], *, bias: bool) -> list[float]:
    """Return the widest hyperplane to three digits, with its bias last if it has one."""
    from rosenblatt.estimators.max_margin import MaxMarginClassifier

    found = MaxMarginClassifier(fit_intercept=bias).fit([[float(v) for v in row] for row in rows], labels)
    return [round(float(v), 3) for v in (*found.coef_[0], *found.intercept_)[: len(rows[0]) + bias]]


# Koski


@_exercise("A score", "a number")
def _koski_1(draw: _Draw) -> _Asked:
    w, b, x = draw.vector([1, 0.5], 1, 5, HALF), draw.pick(F(0), F(1), F(-1)), draw.vector([2, -2], -4, -1)
    score = _dot(w, x) + b
    return _Asked(
        f"The weights are $w = {_show(w)}$ and the bias is $b = {_show(b)}$. Compute $f(x)$ for $x = {_show(x)}$.",
        f"$f(x)$ = {_sum_of(w, x, b)} = {_show(score)}.",
        {"f(x)": score},
        {
            f"You may have the sign of the second product wrong: {_show(x[1])} is negative.": score
            - 2 * w[1] * x[1],
            "The bias is missing.": score - b,
            "The bias is added, not subtracted.": score - 2 * b,
            "Both features need their weight: one product is missing.": w[0] * x[0] + b,
            "Multiply each feature by its own weight.": w[0] * x[0] + w[0] * x[1] + b,
        },
        "Multiply each feature by its weight, add the products, and add b.",
    )


@_exercise("An update", "[w1, w2, b]")
def _koski_2(draw: _Draw) -> _Asked:
    w, b = draw.vector([1, 0.5], -4, 4, HALF), draw.pick(F(0), F(1), F(-1))
    x, eta = draw.vector([2, -2], -4, 4), draw.pick(F(1, 5), F(1, 10), F(1, 2), F(1, 4))
    y = -1 if _dot(w, x) + b >= 0 else 1
    state, row = [*w, b], [*x, F(1)]
    after = _plus(state, eta * y, row)
    return _Asked(
        f"The weights are $w = {_show(w)}$, $b = {_show(b)}$, and $\\eta = {_show(eta)}$. The example $x = "
        f"{_show(x)}$ has the label $y = {y:+d}$, and is a mistake. What are $w_1$, $w_2$ and $b$ after the "
        "update?",
        f"Add $\\eta y x$ = {_show([eta * y * v for v in x])} to $w$ and $\\eta y$ = {_show(eta * y)} to $b$: "
        f"$w$ = {_show(after[:2])}, $b$ = {_show(after[2])}.",
        _named("w1 w2 b", after),
        {
            f"You went the other way: the label is {y:+d}.": _plus(state, -eta * y, row),
            f"The learning rate is missing: the step is η = {_show(eta)}.": _plus(state, y, row),
            "The weights are right. The bias gains η·y too.": [*after[:2], b],
            "The weights are right. The bias gains η·y, not y.": [*after[:2], b + y],
            "This is the step alone. Add it to the old weights.": [eta * y * v for v in row],
        },
        "Add η·y·x to the weights and η·y to the bias.",
    )


@_exercise("A whole run", "a list of point numbers, such as [5, 2]")
def _koski_3(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    preset = presets.get("koski-example")
    done = _run(preset, rows, labels)
    visited = [each.row + 1 for each in done]
    listed = _updates(done, "point") or "no update at all"
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

    def other(**changes: Any) -> list[int]:
        return [each.row + 1 for each in _run(replace(preset, **changes), rows, labels)]

    return _Asked(
        "Run the worked example on these points: start at $w = (1, 0.5)$, $b = 0$, with $\\eta = 0.2$, and "
        "begin with point 5. After point 6 comes point 1. A score of 0 means +1. Which points are corrected, in "
        "order?",
        f"The weights $(w_1, w_2, b)$ after each update are: {listed}. Then a whole pass has no mistake.",
        visited,
        {
            "This run begins with point 1.": other(first=1),
            "This run starts at zero weights.": other(start=None),
            "This run has η = 1.": other(rule={**preset.rule, "eta0": 1}),
            "This run has no bias.": other(rule={**preset.rule, "bias": None}),
            "The last correction is missing.": visited[:-1],
        },
        judge=_expect_rows(visited, "the list of corrected points", why),
        table=(rows, labels),
    )


@_exercise("Distance and projection", "[r, p1, p2]")
def _koski_4(draw: _Draw) -> _Asked:
    w = [F(each) for each in draw.pick((3, 4), (4, 3), (-3, 4), (6, -8), (5, 12))]
    b, x = draw.pick(F(-2), F(1), F(-3), F(5)), draw.vector([1, 1], -3, 3)
    length = F(round(float(_dot(w, w)) ** 0.5))
    score = _dot(w, x) + b
    r = score / length
    foot = _plus(x, -r / length, w)
    return _Asked(
        f"For $w = {_show(w)}$ and $b = {_show(b)}$, find the signed distance $r_x$ of $x = {_show(x)}$ from "
        "$D$, and its projection $x_p$.",
        f"$\\lVert w\\rVert$ = {_show(length)} and $f(x)$ = {_show(score)}, so $r_x$ = {_show(r)}. Then $x_p = x "
        f"- r_x w/\\lVert w\\rVert$ = {_show(foot)}, and indeed $f(x_p)$ = {_show(_dot(w, foot) + b)}.",
        {"r": r, "the first coordinate of x_p": foot[0], "the second coordinate of x_p": foot[1]},
        {
            "This is the score. Divide it by the length of w.": [score, *foot],
            "This is the score, not the distance. Divide it by the length of w.": [score, *_plus(x, -score, w)],
            "The distance is right. Walk along the unit vector w/‖w‖, not along w.": [r, *_plus(x, -r, w)],
            "The distance is right. From x you walk against w.": [r, *_plus(x, r / length, w)],
            "The point is right. The distance has the sign of f(x).": [-r, *foot],
            "The bias is missing.": [(score - b) / length, *_plus(x, (b - score) / length**2, w)],
        },
        "First divide f(x) by the length of w. Then walk this far from x, against w.",
        digits=True,
    )


@_exercise("Find a line", "[w1, w2, b]")
def _koski_5(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    line = _run(presets.get("hladka-holub"), rows, labels)[-1].after
    return _Asked(
        "Find $w_1$, $w_2$ and $b$ that put every point on its right side. Any line will do.",
        f"One line is $w$ = {_show(line[:2])}, $b$ = {_show(line[2])}. Times $y$, its scores are "
        f"{', '.join(map(_show, _values(rows, labels, line)))}: all above 0.",
        line,
        {
            TURNED: [-v for v in line],
            BIAS_FIRST: [line[2], *line[:2]],
            "Its direction is right, but it is shifted too far.": [*line[:2], line[2] + 100],
        },
        judge=lambda answer: _separates(_padded(rows), labels, answer)[1],
        table=(rows, labels),
    )


@_exercise("Make it impossible", "[x1, x2]")
def _koski_6(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    own = [row for row, label in zip(rows, labels, strict=True) if label == labels[-1]]
    middle = _mean([row for row, label in zip(rows, labels, strict=True) if label != labels[-1]])

    def judge(answer: Any) -> str:
        found = _certified([*rows[:-1], _numbers(answer, 2)], labels, bias=True)
        if found.verdict == "inseparable":
            return ""
        line = [round(F(float(each)), 3) for each in (*found.w, found.b)]
        return f"A line still exists: w = {_show(line[:2])}, b = {_show(line[2])}."

    return _Asked(
        f"Move point {len(rows)}, and keep its label {labels[-1]:+d}, so that no line separates the points any "
        f"more. Where do you put it?{'' if len(own) > 1 else ' It is the only point of its label.'}",
        f"Anywhere in the convex hull of the other label. Their mean is {_show(middle)}: a line that has them "
        "all on one side has their mean there too.",
        middle,
        {
            "The point is where it was.": rows[-1],
            "This is in the middle of its own label. Put it among the points of the other one.": _mean(own),
            "It went the wrong way, away from the other label.": _plus(rows[-1], -1, _plus(middle, -1, rows[-1])),
            "It stopped halfway. It must be in the hull of the other label.": _mean([rows[-1], middle]),
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("Rosenblatt's algorithm", "[w1, w2, b]")
def _koski_7(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    preset = presets.get("koski")
    square = max(_dot(row, row) for row in rows)
    first = _run(preset, rows, labels, 1)
    after = first[-1].after
    gain = f"The weights are right. This bias gains y. In the pseudocode it gains y·R², and R² is {_show(square)}."
    return _Asked(
        "Do one pass of Rosenblatt's algorithm from zero with $\\eta = 1$, where the bias gains $y_i R^2$ and a "
        "score of 0 is a mistake. What are $w_1$, $w_2$ and $b$ after it?",
        f"$R^2$ = {_show(square)}. The updates are {_updates(first, 'point')}.",
        _named("w1 w2 b", after),
        {**_mistakes_of_run(preset, rows, labels, _end, 1), gain: [*after[:2], after[2] / square]},
        f"R² is {_show(square)}. Begin at zero, where the first point is a mistake, and use the new weights at "
        "once.",
        table=(rows, labels),
    )


@_exercise("Two margins", "[functional, geometric]")
def _koski_8(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    line = [HALF, F(1), F(1, 5)]
    if draw.seed is not None:
        line = _run(presets.get("hladka-holub"), rows, labels)[-1].after
    margins = _values(rows, labels, line)
    least = min(margins)
    length = F(float(_dot(line[:2], line[:2])) ** 0.5)
    bare = min(y * _dot(line[:2], x) for x, y in zip(rows, labels, strict=True))
    return _Asked(
        "Compute the functional and the geometric margin of these points with regard to $w = "
        f"{_show(line[:2])}$, $b = {_show(line[2])}$. Three digits are enough.",
        f"The values $y_i f(x_i)$ are {', '.join(map(_show, margins))}. The smallest is {_show(least)}. Divided "
        f"by $\\lVert w\\rVert$ = {float(length):.4f} it is {float(least / length):.4f}.",
        {"the functional margin": least, "the geometric margin": least / length},
        {
            "The functional margin is right. Divide it by the length of w for the other.": [least, least],
            "Divide by the length of w, not by its square.": [least, least / length**2],
            "A margin of a set is its smallest one, not its largest.": [max(margins), max(margins) / length],
            "The bias is missing.": [bare, bare / length],
        },
        "Compute y·f(x) of each row, and take the smallest. Divide it by the length of w.",
        digits=True,
        table=(rows, labels),
    )


@_exercise("Prove a bound", "[w1, w2, b]")
def _koski_9(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("six-points", 6, 2)
    square = max(_dot(row, row) for row in rows)
    best = 4 * square / _squared_margin(rows, labels)
    limit = int(best * F(6, 5)) + 1
    solution = _widest(rows, labels, bias=True)

    def judge(answer: Any) -> str:
        line, hint = _separates(_padded(rows), labels, answer)
        if hint:
            return f"A bound needs a line that separates. {hint}"
        bound = 4 * square * _dot(line[:2], line[:2]) / min(_values(rows, labels, line)) ** 2
        if bound <= limit:
            return ""
        return f"This line separates, but proves only (2R/γ)² = {float(bound):.1f}. Find a wider one."

    return _Asked(
        f"Prove that Rosenblatt's algorithm makes at most {limit} mistakes on these points. A proof is a line "
        f"$(w_*, b_*)$ with $(2R/\\gamma)^2 \\le {limit}$, where $\\gamma$ is its smallest $y_i f(x_i)/\\lVert "
        "w_*\\rVert$.",
        f"$R^2$ = {_show(square)}, and the widest line has $\\gamma$ = {float(4 * square / best) ** 0.5:.4f}, so "
        f"$(2R/\\gamma)^2$ = {float(best):.2f}. That line is about {_show([F(str(v)) for v in solution])}.",
        solution,
        {
            TURNED: [-v for v in solution],
            BIAS_FIRST: [solution[2], *solution[:2]],
            "Find a wider one.": _run(presets.get("hladka-holub"), rows, labels)[-1].after,
            "Its direction is right, but it is shifted too far.": [*solution[:2], 100],
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("Refute a bound", "a number c")
def _koski_10(draw: _Draw) -> _Asked:
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

    return _Asked(
        "A theorem in the lecture is printed with at most $R^2/\\gamma$ repeats. Show that this cannot be: "
        "multiply all points by a number $c > 0$, so that $R^2/\\gamma$ is below the number of repeats. From "
        f"zero the algorithm makes {repeats} repeats for every $c$, the last one without a mistake.",
        "For the points $c\\,x$ the weights are $c$ times the old ones and the bias is $c^2$ times. So all "
        "scores gain $c^2$, and no mistake changes. $R^2$ gains $c^2$ and $\\gamma$ gains $c$, so the printed "
        f"bound gains $c$. Any $c$ below {largest:.4f} refutes it.",
        solution,
        {
            "The number must be positive.": -solution,
            "This makes the points larger, and the printed bound with them.": 1 / solution + largest + 1,
            "Make the points smaller.": max(1.0, 2 * largest),
        },
        judge=judge,
        table=(rows, labels),
    )


# Hladká and Holub


@_exercise("An activation", "[a, output]")
def _hladka_holub_1(draw: _Draw) -> _Asked:
    theta, bias = draw.vector([2, 3], -3, 3), draw.pick(F(-4), F(-2), F(1), F(3))
    x = draw.vector([1, 1], -3, 3)
    a = _dot(theta, x) + bias

    def fires(value: Fraction) -> Vector:
        return [value, F(1 if value > 0 else -1)]

    output = int(fires(a)[1])
    return _Asked(
        f"With $\\Theta = {_show(theta)}$ and $\\Theta_0 = {_show(bias)}$, compute the activation $a$ of $x = "
        f"{_show(x)}$, and the output.",
        f"$a$ = {_sum_of(theta, x, bias)} = {_show(a)}, so the output is {output:+d}.",
        {"a": a, "the output": output},
        {
            "The activation is right. The output is +1 if a > 0, else −1.": [a, -output],
            "The bias Θ₀ is missing.": fires(a - bias),
            "The bias Θ₀ is added, not subtracted.": fires(a - 2 * bias),
            "The output is the sign, +1 or −1, not the activation.": [a, a],
        },
        "Multiply each feature by its weight, add the products, and add Θ₀. The output is its sign.",
    )


@_exercise("A threshold", "a number")
def _hladka_holub_2(draw: _Draw) -> _Asked:
    delta = draw.pick(F(3), F(-2), F(5, 2), F(1, 2), F(-4))
    return _Asked(
        f"A neuron fires if $\\Theta^Tx > {_show(delta)}$. Which bias $\\Theta_0$ gives the same neuron with the "
        "threshold 0?",
        f"$\\Theta^Tx > {_show(delta)}$ means $\\Theta^Tx - ({_show(delta)}) > 0$. So $\\Theta_0$ = "
        f"{_show(-delta)}.",
        {"Θ₀": -delta},
        {
            "Bring the threshold to the other side: its sign changes.": delta,
            "Without a bias the neuron fires at another place.": 0,
            "Nothing is divided here: move the threshold to the other side.": -1 / delta,
        },
        "Write the condition with 0 on its right side, and read off the constant.",
    )


@_exercise("Why an update helps", "a number")
def _hladka_holub_3(draw: _Draw) -> _Asked:
    x, y = draw.vector([3, 4], -4, 4), draw.pick(1, 1, -1)
    square = _dot(x, x)
    length = F(float(square) ** 0.5)
    return _Asked(
        f"The example $x = {_show(x)}$ with label $y = {y:+d}$ was a mistake, and has been corrected once. By "
        "how much has $y a$ of the same example grown?",
        f"$y a' = y(\\Theta_0 + y) + y(\\Theta + yx)^Tx = ya + 1 + x^Tx$. It grew by 1 + {_show(square)} = "
        f"{_show(square + 1)}.",
        {"the growth": square + 1},
        {
            "The bias grows too: that adds 1.": square,
            "Only the weights and the bias change, each once.": square * 2,
            "Square the length of x. The bias adds 1.": length,
            "Square the length of x.": length + 1,
            "Square each feature before you add them.": sum(x, F(0)) + 1,
        },
        "Put Θ + yx and Θ₀ + y into ya, and compare it with what it was.",
    )


@_exercise("One pass by hand", "[Θ1, Θ2, Θ0]")
def _hladka_holub_4(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("and", 4, 2, -2, 2, 1)
    preset = presets.get("hladka-holub")
    first = _run(preset, rows, labels, 1)
    return _Asked(
        "Do one pass of the training algorithm from zero. What are $\\Theta_1$, $\\Theta_2$ and $\\Theta_0$ "
        "after it?",
        f"The updates are {_updates(first)}, each as $(\\Theta_1, \\Theta_2, \\Theta_0)$.",
        _named("Θ1 Θ2 Θ0", first[-1].after),
        {"An activation of 0 is an error too: ya ≤ 0.": _end(_run(presets.get("kernels"), rows, labels, 1))}
        | _mistakes_of_run(preset, rows, labels, _end, 1),
        "Begin at zero, where every activation is 0. Use the new weights for the next row.",
        table=(rows, labels),
    )


@_exercise("Until it rests", "[updates, passes]")
def _hladka_holub_5(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("and", 4, 2, -2, 2, 1)
    preset = presets.get("hladka-holub")
    done = _run(preset, rows, labels)
    passes = done[-1].number + 1
    counts = ", ".join(str(sum(each.number == p for each in done)) for p in range(1, passes + 1))
    return _Asked(
        "Run the training algorithm from zero on these rows until a pass has no error. How many updates are "
        "made, and how many passes, with the last?",
        f"The updates in each pass are {counts}: {len(done)} updates in {passes} passes. Check with `rosenblatt "
        "trace`.",
        {"the number of updates": len(done), "the number of passes": passes},
        {
            "The updates are right. The pass without an error counts as well.": [len(done), passes - 1],
            "You have exchanged the two numbers.": [passes, len(done)],
            "These are the visits. Only errors are updates.": [passes * len(rows), passes],
        }
        | _mistakes_of_run(
            preset, rows, labels, lambda run: [len(run), run[-1].number + 1 if run else 1], passes=50
        ),
        "Go on until a whole pass changes nothing. An activation of 0 is an error.",
        table=(rows, labels),
    )


@_exercise("A shift", "[x1, x2]")
def _hladka_holub_6(draw: _Draw) -> _Asked:
    theta = [F(each) for each in draw.pick((3, 4), (4, 3), (-3, 4), (6, 8), (-4, -3))]
    bias = draw.pick(F(-5), F(5), F(-10), F(10), F(-2))
    square = _dot(theta, theta)
    near = [-bias * v / square for v in theta]
    length = F(round(float(square) ** 0.5))
    return _Asked(
        "Which point of the hyperplane $\\Theta_0 + \\Theta^Tx = 0$ is nearest to the origin, if $\\Theta = "
        f"{_show(theta)}$ and $\\Theta_0 = {_show(bias)}$?",
        "It is a multiple $t\\Theta$ with $\\Theta_0 + t\\lVert\\Theta\\rVert^2 = 0$, so $t$ = "
        f"{_show(-bias / square)} and the point is {_show(near)}.",
        _named("x1 x2", near),
        {
            "The other direction: a negative bias shifts the hyperplane along Θ.": [-v for v in near],
            "Divide by the square of the length of Θ.": [-bias * v for v in theta],
            "Divide by the square of the length of Θ, not by the length.": [-bias * v / length for v in theta],
            "This is where the hyperplane cuts the axes, not the nearest point.": [-bias / v for v in theta],
        },
        "The nearest point is a multiple of Θ. Find the multiple that lies on the hyperplane.",
        digits=True,
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


@_exercise("The bound", "a number")
def _hladka_holub_7(draw: _Draw) -> _Asked:
    a, b = draw.pick((UNIT_ROWS[0], UNIT_ROWS[5]), *combinations(UNIT_ROWS, 2))
    rows = [list(a), [-v for v in b]]
    inner = _dot(a, b)
    squared = (1 + inner) / 2  # of two unit rows y·x, the widest normal halves their angle
    return _Asked(
        f"Two examples: $x = {_show(rows[0])}$ with label +1 and $x = {_show(rows[1])}$ with label −1. Without a "
        "bias, what is the bound $1/\\gamma^2$? Three digits are enough.",
        f"Both $y x$ have length 1, and their inner product is {_show(inner)}. The best $\\Theta$ halves their "
        f"angle, so $\\gamma^2 = (1 + {_show(inner)})/2$ = {_show(squared)} and $1/\\gamma^2$ = "
        f"{_show(1 / squared)}.",
        {"the bound": 1 / squared},
        {
            "This is γ². The bound is 1/γ².": squared,
            "This is 1/γ. Square it.": F(float(1 / squared) ** 0.5),
            "The best Θ lies halfway between.": F(1) / inner if inner else F(0),
            "Multiply the second example by its label −1 before you take the angle.": 2 / (1 - inner),
        },
        "Multiply each example by its label. The best Θ halves the angle between the two.",
        digits=True,
    )


@_exercise("Three classes", "[[Θ1 of class 1, Θ2 of class 1], …], three pairs")
def _hladka_holub_8(draw: _Draw) -> _Asked:
    thetas = [draw.vector(usual, -2, 2) for usual in ((1, 0), (0, 1), (-1, 1))]
    x = draw.vector([2, 1], -3, 3)
    scores = [_dot(theta, x) for theta in thetas]
    guess = max(range(3), key=lambda i: scores[i])  # the first of equals
    label = draw.pick(2, *[i for i in range(3) if i != guess])
    label = label if label != guess else (guess + 1) % 3

    def moved(right: int, wrong: int) -> list[Vector]:
        """Return all vectors after the one of the label gains x so many times, and the one that won."""
        return [_plus(theta, right * (i == label) + wrong * (i == guess), x) for i, theta in enumerate(thetas)]

    after = moved(1, -1)
    listed = ", ".join(f"$\\Theta^{i + 1} = {_show(theta)}$" for i, theta in enumerate(thetas))
    return _Asked(
        f"The weights of three classes are {listed}. The example $x = {_show(x)}$ belongs to class {label + 1}. "
        "Give all three vectors after the visit. Of equal activations the first wins.",
        f"The activations are {', '.join(map(_show, scores))}, so class {guess + 1} wins, which is wrong. "
        f"$\\Theta^{label + 1}$ gains $x$ and $\\Theta^{guess + 1}$ loses it: {', '.join(map(_show, after))}.",
        {f"weight {j + 1} of class {i + 1}": after[i][j] for i in range(3) for j in range(2)},
        {
            "The vector of the right class gains x. The one that won loses x.": moved(1, 0),
            "The one that won loses x. The vector of the right class gains x.": moved(0, -1),
            "Nothing has changed, but the answer was wrong.": moved(0, 0),
            "You went the other way: the right class gains x.": moved(-1, 1),
        },
        "Compute the three activations. The right class gains x, the one that won loses it.",
        width=2,
    )


@_exercise("Where the bound fails", "a list of numbers, in the order of the visits")
def _hladka_holub_9(draw: _Draw) -> _Asked:
    count = draw.pick(2, 2, 3, 4)
    solution = [F(1), F(-1), F(1), F(-1)][:count]

    def judge(answer: Any) -> str:
        values = _numbers(answer, count)
        if any(abs(v) > 1 for v in values):
            return "The theorem asks for |x| ≤ 1 for every example."
        labels = [1 if v > 0 else -1 for v in values]
        if 0 in values or len(set(labels)) == 1:
            return "Take positive and negative numbers; 0 has no label here."
        gamma = min(abs(a - b) for a in values for b in values if a * b < 0) / 2  # the middle of the gap is widest
        made = len(_run(presets.get("hladka-holub"), [[v] for v in values], labels))
        told = f"Here γ = {_show(gamma)} and 1/γ² = {float(1 / gamma**2):.2f}."
        return "" if made * gamma**2 > 1 else f"{told} The pseudocode makes {made} updates, which is within it."

    return _Asked(
        f"The theorem has a margin with a bias; its proof has no bias. Find {count} numbers between −1 and 1, "
        "positive ones labelled +1 and negative ones −1, on which the pseudocode makes more than $1/\\gamma^2$ "
        "updates. Here $\\gamma$ is half the gap between the labels.",
        f"{_show(solution)} will do. "
        + (
            "The bias needs updates of its own, which $1/\\gamma^2$ does not count."
            if count == 2
            else "A run shows it."
        ),
        solution,
        {
            "The theorem asks for |x| ≤ 1 for every example.": [2 * v for v in solution],
            "Take positive and negative numbers; 0 has no label here.": [abs(v) for v in solution],
            "A wider gap makes the bound smaller.": [v / 2 for v in solution],
        },
        judge=judge,
    )


# Harchaoui


def _harchaoui_cloud(draw: _Draw, n: int = 5) -> tuple[list[Vector], list[int]]:
    if draw.seed is None:
        rows = [[F(1), F(2)], [F(2), F(-1)], [F(-1), F(1)], [F(1), F(-1)], [F(-2), F(-1)]]
        return rows, [1 if row[1] > row[0] else -1 for row in rows]
    return draw.cloud("diagonal", n, 2, -3, 3, 1, bias=False)


@_exercise("Wrong rows", "a list of row numbers, or []")
def _harchaoui_1(draw: _Draw) -> _Asked:
    rows, labels = _harchaoui_cloud(draw)
    W = draw.vector([1, 1], -2, 2)
    values = _values(rows, labels, W)

    def where(holds: Callable[[Fraction], bool], of: Sequence[Fraction] = values) -> list[int]:
        return [i for i, value in enumerate(of, 1) if holds(value)]

    wrong = where(lambda value: value < 0)

    def judge(answer: Any) -> str:
        for i in sorted(set(_whole(answer)) ^ set(wrong)):
            if not 1 <= i <= len(rows):
                return f"There is no row {i}."
            told = "misclassified" if values[i - 1] < 0 else "not misclassified"
            return f"Row {i} has yWᵀx = {_show(values[i - 1])}, so it is {told}."
        return ""

    return _Asked(
        f"Let $W = {_show(W)}$, without a bias. Which rows have $yW^Tx < 0$?",
        f"The values $yW^Tx$ are {', '.join(map(_show, values))}. Below 0 are the rows {wrong}.",
        wrong,
        {
            "These are the rows on their right side.": where(lambda value: value > 0),
            "These rows have Wᵀx < 0. Multiply it by y.": where(lambda value: value < 0, _signed(labels, values)),
            "A value of 0 is not below 0.": where(lambda value: value <= 0),
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("The margin of a vector", "a number")
def _harchaoui_2(draw: _Draw) -> _Asked:
    rows, labels = _harchaoui_cloud(draw)
    W = [F(-3, 5), F(4, 5)] if draw.seed is None else [F(v) for v in draw.pick(None, *UNIT_ROWS)]
    values = _values(rows, labels, W)
    least = min(values)
    return _Asked(
        f"Compute $\\min y W^Tx$ over these rows, for $W = {_show(W)}$, which has length 1.",
        f"The values are {', '.join(map(_show, values))}; the smallest is {_show(least)}."
        + (" It is not positive, so this $W$ does not separate." if least <= 0 else ""),
        {"the margin": least},
        {
            "The margin of a set is the smallest value, not the largest.": max(values),
            "Keep the sign: a row on the wrong side has a negative value.": min(map(abs, values)),
            "Multiply each value by its label.": min(_signed(labels, values)),
            "This is the mean. The margin is the smallest value.": sum(values, F(0)) / len(values),
        },
        "Compute y·Wᵀx of each row, with its sign, and take the smallest.",
        digits=True,
        table=(rows, labels),
    )


@_exercise("A row of length 1", "[x1, x2]")
def _harchaoui_3(draw: _Draw) -> _Asked:
    x = [F(v) for v in draw.pick((3, -4), (5, 12), (-8, 6), (4, 3), (-5, -12))]
    length = F(round(float(_dot(x, x)) ** 0.5))
    unit = [v / length for v in x]
    return _Asked(
        f"Scale $x = {_show(x)}$ to $\\lVert x\\rVert_2 = 1$. Three digits are enough.",
        f"$\\lVert x\\rVert$ = {_show(length)}, so the row is {_show(unit)}. The label does not change.",
        _named("x1 x2", unit),
        {
            "Divide by the length, which is the root of the sum of squares.": [v / _dot(x, x) for v in x],
            "Divide by the length, not by the sum of sizes.": [v / sum(map(abs, x)) for v in x],
            "The signs stay as they are.": [abs(v) for v in unit],
        },
        "The length is the root of the sum of squares. Divide each entry by it.",
        digits=True,
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
        if done and min(_values(rows, labels, done[-1].after[:2])) > 0:
            return rows, labels, done


@_exercise("The algorithm", "[W1, W2]")
def _harchaoui_4(draw: _Draw) -> _Asked:
    rows, labels, done = _harchaoui_runs(draw)
    start = [labels[0] * v for v in rows[0]]
    return _Asked(
        "Run the algorithm of the notes: start at $W_1 = y_1x_1$, go through the rows in order, and add $yx$ "
        "where $yW^Tx < 0$. Which $W$ is the output?",
        f"The start is {_show(start)}. Then {_updates(done, n=2)}.",
        _named("W1 W2", done[-1].after[:2]),
        {"This is the start. Some rows are misclassified by it.": start}
        | {
            f"After update {k} this is W, but by it row {later.row + 1} is still misclassified.": each.after[:2]
            for k, (each, later) in enumerate(pairwise(done), 1)
        }
        | _mistakes_of_run(presets.get("harchaoui"), rows, labels, lambda run: _end(run, 2), 100),
        "Begin at y₁x₁. Go through the rows again and again until none has yWᵀx < 0.",
        table=(rows, labels),
    )


@_exercise("The rows that matter", "a list of row numbers")
def _harchaoui_5(draw: _Draw) -> _Asked:
    rows, labels, done = _harchaoui_runs(draw)
    visited = [each.row + 1 for each in done]
    solution = sorted({1, *visited})

    def judge(answer: Any) -> str:
        found = sorted(set(_whole(answer)))
        if not found or not all(1 <= i <= len(rows) for i in found):
            return f"Pass row numbers from 1 to {len(rows)}."
        missing = [i for i in solution if i not in found]
        if missing:
            told = "the run starts with it" if missing[0] == 1 else "it was a mistake of the run"
            return f"Row {missing[0]} is missing: {told}."
        extra = [i for i in found if i not in solution]
        return f"Row {extra[0]} was never a mistake, so it can be left out." if extra else ""

    return _Asked(
        "The corollary says that the rows of the start and of the mistakes are enough. Which rows are these, "
        "for the run from $W_1 = y_1x_1$ in order?",
        f"The mistakes are at the rows {visited}, and row 1 is the start: {solution}. In Python "
        "`trace_.compressed` has the rows of the mistakes.",
        solution,
        {
            "Row 1 is missing: the run starts with it.": solution[1:],
            "These are all rows. The corollary needs only some.": list(range(1, len(rows) + 1)),
            "This is the start alone.": [1],
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("Hinge losses", "[l1, l2, l3, l4]")
def _harchaoui_6(draw: _Draw) -> _Asked:
    rows, labels = _harchaoui_cloud(draw, 4)
    rows, labels = rows[:4], labels[:4]
    u, gamma = [F(-3, 5), F(4, 5)], draw.pick(F(2), F(1), F(1, 2), F(2))
    values = _values(rows, labels, u)
    losses = [max(F(0), 1 - v / gamma) for v in values]
    return _Asked(
        f"For $u = {_show(u)}$ and $\\gamma = {_show(gamma)}$, compute $l_\\gamma = \\max(0, 1 - yu^Tx/\\gamma)$ "
        "of each row.",
        f"The values $yu^Tx$ are {', '.join(map(_show, values))}, and the losses are {_show(losses)}. Their sum "
        f"is {_show(sum(losses, F(0)))}.",
        {f"the loss of row {i}": loss for i, loss in enumerate(losses, 1)},
        {
            "A loss is never negative: take the larger of 0 and it.": [1 - v / gamma for v in values],
            "Divide yuᵀx by γ.": [max(F(0), 1 - v) for v in values],
            "These are γ times the losses. The loss is 1 − yuᵀx/γ, or 0.": [loss * gamma for loss in losses],
            "This is yuᵀx/γ. The loss is what it lacks to 1, or 0.": [v / gamma for v in values],
            "Multiply uᵀx by the label.": [max(F(0), 1 - v / gamma) for v in _signed(labels, values)],
        },
        "Compute yuᵀx of each row, divide it by γ, and see what it lacks to 1.",
        digits=True,
        table=(rows, labels),
    )


@_exercise("The pocket", "[count of the first, count of the second, 1 or 2]")
def _harchaoui_7(draw: _Draw) -> _Asked:
    rows, labels = _harchaoui_cloud(draw)
    gamma = draw.pick(F(1), F(1), F(2))
    both = draw.vector([-1, 1], -2, 2), draw.vector([0, 2], -2, 2)
    values = [_values(rows, labels, w) for w in both]

    def pocket(counts: Callable[[Fraction], bool]) -> list[int]:
        first, second = (sum(map(counts, each)) for each in values)
        return [first, second, 2 if second > first else 1]

    right = pocket(lambda value: value >= gamma)
    bare = [sum(v >= gamma for v in _signed(labels, each)) for each in values]
    return _Asked(
        f"The pocket counts rows with $yw^Tx \\ge \\gamma$, here $\\gamma = {_show(gamma)}$. The run has first "
        f"$w = {_show(both[0])}$ and then $w = {_show(both[1])}$. Give both counts, and which $w$ is in the "
        "pocket at the end, 1 or 2.",
        f"The counts are {right[0]} and {right[1]}. The second goes into the pocket only if its count is larger: "
        f"{right[2]}.",
        {"the first count": right[0], "the second count": right[1], "the pocket": right[2]},
        {
            "A value equal to γ counts.": pocket(lambda value: value > gamma),
            "The counts are right. The pocket changes only for a larger count.": [*right[:2], 3 - right[2]],
            "These rows have a value above 0. They count from γ on.": pocket(lambda value: value > 0),
            "These are the rows that do not count.": pocket(lambda value: value < gamma),
            "Multiply wᵀx by the label.": [*bare, 2 if bare[1] > bare[0] else 1],
        },
        "Compute ywᵀx of each row for both vectors, and count those from γ on.",
        table=(rows, labels),
    )


SCALES = ((F(3, 5), F(4, 5)), (F(4, 5), F(3, 5)), (F(5, 13), F(12, 13)))
"""Pairs of a and √(1 − a²) that are fractions."""


@_exercise("A lifted row", "[x1, x2, then 4 more]")
def _harchaoui_8(draw: _Draw) -> _Asked:
    a, rest = draw.pick(SCALES[0], *SCALES)
    n, i = 4, draw.pick(2, 1, 2, 3, 4)
    x = draw.vector([1, 0], -2, 2)

    def lift(scale: Fraction | int, own: Fraction | int, place: int = i) -> Vector:
        return [scale * v for v in x] + [own * F(j == place) for j in range(1, n + 1)]

    lifted = lift(a, rest)
    return _Asked(
        f"Row {i} of {n} is $x = {_show(x)}$. Lift it with $a = {_show(a)}$. Give all its coordinates.",
        f"$\\sqrt{{1 - a^2}}$ = {_show(rest)}, so the lifted row is {_show(lifted)}.",
        {f"coordinate {j}": v for j, v in enumerate(lifted, 1)},
        {
            "The own coordinate is √(1 − a²), not 1 − a.": lift(a, 1 - a),
            "Multiply x by a.": lift(1, rest),
            "Multiply x by a, and its own coordinate by √(1 − a²).": lift(1, 1),
        }
        | {
            f"This lifts row {other}. Row {i} has its own number in coordinate {i + 2}.": lift(a, rest, other)
            for other in range(1, n + 1)
            if other != i
        },
        "First come the two numbers a·x. Of the other four only the own one is not 0.",
        digits=True,
    )


CORNERS = [[F(0), F(0)], [F(1), F(0)], [F(0), F(1)], [F(1), F(1)]]
"""The rows of OR, AND and XOR."""


@_exercise("Prove that lifting works", "six numbers: two for x, four for the rows")
def _harchaoui_9(draw: _Draw) -> _Asked:
    a, rest = draw.pick(SCALES[0], *SCALES)
    labels = list(draw.pick((-1, 1, 1, -1), (-1, 1, 1, -1), (1, -1, -1, 1)))
    lifted = [[a * v for v in row] + [rest * F(j == i) for j in range(4)] for i, row in enumerate(CORNERS)]
    own = [F(label) for label in labels]
    return _Asked(
        "No line separates these rows. Prove that one does after lifting: give a vector $w$ with 6 coordinates "
        "that has every lifted row $\\tilde x_i = [a x_i; \\sqrt{1 - a^2}\\, e_i]$ on its right side, for $a "
        f"= {_show(a)}$. There is no bias.",
        "Leave the weights of $x$ at 0, and give each row its label in its own coordinate: then $y_iw^T\\tilde "
        f"x_i = \\sqrt{{1 - a^2}}$ = {_show(rest)} for every row. This is the lemma with $w^*$ of no use at all.",
        [F(0), F(0), *own],
        {
            TURNED: [0, 0, *[-v for v in own]],
            "The first two numbers are the weights of x, the last four those of the rows.": [*own, 0, 0],
            "A row needs its label in its own coordinate: rows of the label −1 need −1.": [0, 0, 1, 1, 1, 1],
        },
        judge=lambda answer: _separates(lifted, labels, answer)[1],
        table=(CORNERS, labels),
    )


# Slides on perceptrons and kernels


@_exercise("The factor of a step", "[right, wrong, zero]")
def _kernels_1(draw: _Draw) -> _Asked:
    eta, y = draw.pick(F(1), F(1, 2), F(2), F(1, 5)), draw.pick(1, 1, -1)
    full = eta * y
    steps = [F(0), full, full / 2]
    return _Asked(
        f"The rule adds $\\frac\\eta2(y - g(x))\\,x$. With $\\eta = {_show(eta)}$ and $y = {y:+d}$, what is the "
        "factor of $x$ if $g(x)$ is right, if it is wrong, and if $g(x) = 0$?",
        f"$y - g$ is 0, {2 * y} and {y}. Times $\\eta/2$ = {_show(eta / 2)} this is {_show(steps)}.",
        {"the factor if right": steps[0], "the factor if wrong": steps[1], "the factor if g = 0": steps[2]},
        {
            "The factor is η/2, not η.": [0, 2 * full, full],
            "With sgn(0) = 0 the difference y − 0 is y, so it is no zero.": [0, full, 0],
            "If g(x) is right, y − g(x) is 0, and nothing changes.": [full, 0, full / 2],
            f"You went the other way: the label is {y:+d}.": [0, -full, -full / 2],
        },
        "Put g = y, g = −y and g = 0 into y − g, and multiply by η/2.",
    )


@_exercise("An update", "[w1, w2, b]")
def _kernels_2(draw: _Draw) -> _Asked:
    w, b, eta = draw.vector([1, 0], -2, 2), draw.pick(F(1), F(-1), F(0)), draw.pick(F(1), F(1, 2), F(1, 5))
    x = draw.vector([0, 1], -3, 3)
    score = _dot(w, x) + b
    y = -1 if score > 0 else 1
    g = 1 if score > 0 else -1  # sgn(0) = −1
    state, row, factor = [*w, b], [*x, F(1)], eta / 2 * (y - g)
    after = _plus(state, factor, row)
    return _Asked(
        f"Let $w = {_show(w)}$, $b = {_show(b)}$, $\\eta = {_show(eta)}$ and sgn(0) = −1. Show the machine $x = "
        f"{_show(x)}$ with $y = {y:+d}$. Give $w_1$, $w_2$ and $b$ afterwards.",
        f"$f(x)$ = {_sum_of(w, x, b)} = {_show(score)}, so $g$ = {g:+d} and the factor is {_show(factor)}. The "
        f"new weights are {_show(after[:2])}, and the bias is {_show(after[2])}.",
        _named("w1 w2 b", after),
        {
            "The factor is η/2: y − g is 2 or −2 at a mistake.": _plus(state, 2 * factor, row),
            f"f(x) = {_show(score)}, so g(x) = {g:+d} and y − g is not 0.": state,
            f"You went the other way: y − g is {y - g:+d}.": _plus(state, -factor, row),
            "The weights are right. The bias gains the factor too.": [*after[:2], b],
        },
        "Compute f(x), then g, then the factor η/2·(y − g). Add the factor times x, and the factor to b.",
    )


@_exercise("Sample expansion", "four counts, one for each row")
def _kernels_3(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    preset, ties = presets.get("kernels"), presets.get("zhang")
    done = _run(preset, rows, labels)

    def count(run: Sequence[_Update]) -> Vector:
        return [F(sum(each.row == i for each in run)) for i in range(len(rows))]

    alpha = count(done)
    return _Asked(
        "Run the rule from zero with $\\eta = 1$ and sgn(0) = −1 until it rests. How often is each row added?",
        f"The mistakes are at the rows {[each.row + 1 for each in done]}, so the counts are {_show(alpha)}. In "
        "Python: `trace_.alpha`.",
        {f"the count of row {i}": each for i, each in enumerate(alpha, 1)},
        {
            "Here sgn(0) = −1: a score of 0 is right for the label −1.": count(_run(ties, rows, labels)),
            "A count is never negative: the label is no part of it.": _signed(labels, alpha),
            "This is the first pass alone. Go on until it rests.": count(_run(preset, rows, labels, 1)),
        }
        | _mistakes_of_run(preset, rows, labels, count, 50),
        "Go through the rows until a whole pass changes nothing, and count the updates of each row.",
        table=(rows, labels),
    )


@_exercise("From counts to weights", "[w1, w2, b]")
def _kernels_4(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    alpha = draw.vector([5, 2, 2, 0], 0, 4)

    def added(factors: Sequence[Fraction | int]) -> Vector:
        """Return the sum of the rows, with their constant 1, each times its factor."""
        total = [F(0)] * 3
        for factor, row in zip(factors, _padded(rows), strict=True):
            total = _plus(total, factor, row)
        return total

    end = added(_signed(labels, alpha))
    return _Asked(
        f"From zero with $\\eta = 1$, the rows were added {_show(alpha)} times. What are $w_1$, $w_2$ and $b$?",
        f"$w = \\sum_i \\alpha_i y_i x_i$ = {_show(end[:2])} and $b = \\sum_i \\alpha_i y_i$ = {_show(end[2])}.",
        _named("w1 w2 b", end),
        {
            "Each row is added with its label: α_i y_i x_i.": added(alpha),
            "The weights are right. The bias is the sum of α_i y_i.": [*end[:2], 0],
            "Each row is added as often as its count says.": added(labels),
            "The bias needs the labels too: it is the sum of α_i y_i.": [*end[:2], sum(alpha, F(0))],
        },
        "Add up count times label times row. The bias adds up count times label.",
        table=(rows, labels),
    )


@_exercise("Quadratic features", "a number")
def _kernels_5(draw: _Draw) -> _Asked:
    x, z = draw.vector([1, 2], -3, 3), draw.vector([3, 1], -3, 3)
    inner = _dot(x, z)
    squares = _dot([v * v for v in x], [v * v for v in z])
    return _Asked(
        "With $\\Phi(x) = (x_1^2, \\sqrt2\\,x_1x_2, x_2^2)$, compute $\\langle\\Phi(x), \\Phi(x')\\rangle$ for "
        f"$x = {_show(x)}$ and $x' = {_show(z)}$.",
        f"It is $\\langle x, x'\\rangle^2$. The inner product is {_sum_of(x, z)} = {_show(inner)}, and its "
        f"square is {_show(inner**2)}.",
        {"the product": inner**2},
        {
            "Square it: the product of the features is the square of the inner product.": inner,
            "The middle feature √2·x₁x₂ is missing.": squares,
            "The middle feature has √2 in both, so it counts twice.": squares + x[0] * x[1] * z[0] * z[1],
            "Square the inner product, do not double it.": 2 * inner,
        },
        "Compute the three features of both, or use that the product is a square.",
    )


@_exercise("A kernel matrix", "three rows of three numbers")
def _kernels_6(draw: _Draw) -> _Asked:
    rows = [draw.vector(usual, -2, 2) for usual in ((-1, -1), (1, -1), (-1, 1))]
    c, degree = draw.pick(F(0), F(0), F(1)), draw.pick(2, 2, 3)

    def matrix(kernel: Callable[[Vector, Vector], Fraction]) -> list[Vector]:
        return [[kernel(x, z) for z in rows] for x in rows]

    right = matrix(lambda x, z: (_dot(x, z) + c) ** degree)
    body = f"(\\langle x, x'\\rangle + {_show(c)})^{degree}" if c else f"\\langle x, x'\\rangle^{degree}"
    return _Asked(
        f"Compute the matrix of $k(x, x') = {body}$ for the points "
        f"{', '.join(f'${_show(row)}$' for row in rows)}.",
        f"The rows of the matrix are {', '.join(map(_show, right))}. It is symmetric.",
        {f"the entry in row {i + 1}, column {j + 1},": right[i][j] for i in range(3) for j in range(3)},
        {
            f"Take the power {degree} of each entry.": matrix(lambda x, z: _dot(x, z) + c),
            f"Add {_show(c)} before you take the power.": matrix(lambda x, z: _dot(x, z) ** degree),
            "Take the power of the inner product, not of each coordinate.": matrix(
                lambda x, z: _dot([v**degree for v in x], [v**degree for v in z]) + c
            ),
            f"Take the power, do not multiply by {degree}.": matrix(lambda x, z: (_dot(x, z) + c) * degree),
        },
        "Row i, column j has the points i and j. Take their inner product first.",
        width=3,
    )


@_exercise("The bound", "a number")
def _kernels_7(draw: _Draw) -> _Asked:
    w, b = list(draw.pick(UNIT_ROWS[0], *UNIT_ROWS[:4])), draw.pick(-HALF, F(-1, 4), F(-1, 3), F(-9, 10))
    labels = [1 if _dot(w, x) + b > 0 else -1 for x in CORNERS]
    rho = min(_values(CORNERS, labels, [*w, b]))
    square = max(_dot(x, x) for x in CORNERS)
    factors = (b * b + 1) * (square + 1)
    return _Asked(
        f"The machine $w^* = {_show(w)}$, $b^* = {_show(b)}$ separates these rows, and $\\lVert w^*\\rVert = 1$. "
        "What is the bound on updates, $(b^{*2} + 1)(R^2 + 1)/\\rho^2$, with the $\\rho$ of this machine?",
        f"$\\rho$ = {_show(rho)}, $R^2$ = {_show(square)}, so the bound is {_show(factors)}/{_show(rho**2)} = "
        f"{float(factors / rho**2):.6g}.",
        {"the bound": factors / rho**2},
        {
            "Divide by the square of ρ.": factors / rho,
            "This has no bias: (b*² + 1) and (R² + 1) are missing.": square / rho**2,
            "R² + 1, because the constant 1 belongs to each row.": (b * b + 1) * square / rho**2,
            "The factor b*² + 1 is missing: the bias belongs to the machine.": (square + 1) / rho**2,
            "This has R in the place of R².": (b * b + 1) * (F(float(square) ** 0.5) + 1) / rho**2,
        },
        "ρ is the smallest y·f(x), and R the length of the longest row.",
        digits=True,
        table=(CORNERS, labels),
    )


@_exercise("The objective and its slope", "[R, in w1, in w2, in b]")
def _kernels_8(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    line = draw.vector([1, -1, 0.5], -2, 2, HALF)
    while 0 in (scores := [_dot(line, [*x, F(1)]) for x in rows]):  # at a tie there are many subgradients
        line[2] += F(1, 4)

    def slope(over: Sequence[int]) -> Vector:
        return [sum((-labels[i] * [*rows[i], F(1)][j] for i in over), F(0)) for j in range(3)]

    wrong = [i for i in range(4) if labels[i] * scores[i] < 0]
    value = sum((-labels[i] * scores[i] for i in wrong), F(0))
    right = [value, *slope(wrong)]
    turned, printed = [value, *[-v for v in right[1:]]], [value, *slope([i for i in range(4) if scores[i] < 0])]
    return _Asked(
        f"At $w = {_show(line[:2])}$, $b = {_show(line[2])}$, compute $R[f] = \\sum_i \\max(0, -y_if(x_i))$ and "
        "its subgradient in $w_1$, $w_2$ and $b$.",
        f"The scores are {_show(scores)}. Wrong are the rows {[i + 1 for i in wrong]}, so $R[f]$ = "
        f"{_show(value)} and the subgradient is {_show(right[1:])}.",
        dict(zip(("R[f]", *(f"the subgradient in {each}" for each in ("w1", "w2", "b"))), right, strict=True)),
        {
            "The value is right. The subgradient is the sum of −y x, so its sign is the other.": turned,
            "The case is yf < 0, not f < 0: rows on their right side have the subgradient 0.": printed,
            "R[f] and its subgradient are sums, not means.": [v / 4 for v in right],
            "Only rows on their wrong side count.": [-sum(_values(rows, labels, line), F(0)), *slope(range(4))],
        },
        "Find the rows with y·f(x) < 0. Each adds −y·f(x) to R, and −y·x and −y to the subgradient.",
        table=(rows, labels),
    )


@_exercise("Prove that it is no kernel", "[z1, z2]")
def _kernels_9(draw: _Draw) -> _Asked:
    p, q, r = draw.pick((0, 1, 0), (1, 2, 1), (2, 3, 4), (0, 2, 1), (1, -3, 2))
    matrix = [[F(p), F(q)], [F(q), F(r)]]
    # with p > 0 the minimum over the first entry is at −q/p times the second
    solution = [F(-q, p), F(1)] if p else [F(-1 if q > 0 else 1) * (F(r, abs(q)) + 1), F(1)]

    def form(z: Vector) -> Fraction:
        return _dot(z, [_dot(row, z) for row in matrix])

    def judge(answer: Any) -> str:
        z = _numbers(answer, 2)
        if form(z) < 0:
            return ""
        if not any(z):
            return "The zero vector gives 0 with every matrix."
        signs = "different signs" if q > 0 else "the same sign"
        return f"zᵀKz = {_show(form(z))} is not negative. Entries of {signs} use the {q} beside the diagonal."

    return _Asked(
        f"A function has the matrix $K$ with the rows ${_show(matrix[0])}$ and ${_show(matrix[1])}$ on two "
        "points. Prove that it is no kernel: find a vector $z$ with $z^TKz < 0$.",
        f"$z$ = {_show(solution)} has $z^TKz$ = {_show(form(solution))}. For a kernel it would be $\\lVert "
        "z_1\\Phi(x_1) + z_2\\Phi(x_2)\\rVert^2 \\ge 0$.",
        solution,
        {
            "The zero vector gives 0 with every matrix.": [0, 0],
            "This takes one entry of the diagonal. Use both points.": [1, 0],
            "Change the sign of one entry.": [-solution[0], solution[1]],
        },
        judge=judge,
    )


# Zhang


@_exercise("A new mail", "[score, +1 or -1]")
def _zhang_1(draw: _Draw) -> _Asked:
    w, b = draw.vector([0, 2, 0, -1, 1], -2, 2), draw.pick(F(0), F(1), F(-1))
    x = draw.vector([1, 1, 0, 0, 0], 0, 1)
    score = _dot(w, x) + b

    def predict(value: Fraction) -> Vector:
        return [value, F(1 if value > 0 else -1)]

    sign = int(predict(score)[1])
    return _Asked(
        f"The weights of *and, viagra, the, of, nigeria* are $w = {_show(w)}$, and $b = {_show(b)}$. The new "
        f"mail is $x' = {_show(x)}$. Give its score and its prediction.",
        f"The score is {_sum_of(w, x, b)} = {_show(score)}, so the prediction is {sign:+d}.",
        {"the score": score, "the prediction": sign},
        {
            "The score is right. sign(t) is +1 for t > 0, and −1 otherwise.": [score, -sign],
            "The bias is missing.": predict(score - b),
            "The prediction is the sign, +1 or −1, not the score.": [score, score],
            "Only words of the mail count: multiply by x'.": predict(sum(w, F(0)) + b),
            "This counts the words. Multiply each by its weight.": predict(sum(x, F(0)) + b),
        },
        "Add the weights of the words that are in the mail, and add b. The prediction is the sign.",
    )


@_exercise("One pass over the mails", "six numbers: w1, …, w5, b")
def _zhang_2(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("spam-table", 6, 5, 0, 1, 1)
    preset = presets.get("zhang")
    done = _run(preset, rows, labels, 1)
    return _Asked(
        "Run Algorithm 1 from zero, once through these mails in order. Give the five weights and the bias "
        "afterwards.",
        f"The updates are {_updates(done, 'mail')}, each as $(w_1, \\dots, w_5, b)$.",
        _named("w1 w2 w3 w4 w5 b", done[-1].after),
        {"The weights are right. The bias gains y at each mistake.": [*done[-1].after[:5], 0]}
        | _mistakes_of_run(preset, rows, labels, lambda run: _end(run, 6), 1),
        "From zero the first mail is a mistake. Use the new weights for the next mail.",
        table=(rows, labels),
    )


@_exercise("Along the boundary", "[v1, v2]")
def _zhang_3(draw: _Draw) -> _Asked:
    w, b = draw.vector([2, 3], 1, 5), draw.pick(F(-1), F(2), F(-3))
    solution = [-w[1], w[0]]
    on = "It is a point of H, but a direction is a difference of two points."

    def judge(answer: Any) -> str:
        v = _numbers(answer, 2)
        if not any(v):
            return "The zero vector has no direction."
        product = _dot(w, v)
        return (
            f"⟨w, v⟩ = {_show(product)}, and it must be 0.{f' {on}' if product == -b else ''}" if product else ""
        )

    return _Asked(
        f"The boundary $H$ has $w = {_show(w)}$ and $b = {_show(b)}$. Find a vector $v \\ne 0$ that points along "
        "$H$.",
        "It must have $\\langle w, v\\rangle = 0$. Exchange the entries of $w$ and change one sign: "
        f"{_show(solution)}. The bias plays no part.",
        solution,
        {
            on: [-b / w[0], 0],
            "This is w, which stands upright on H.": w,
            "Change the sign of one entry.": [w[1], w[0]],
            "Exchange the entries too.": [-w[0], w[1]],
        },
        judge=judge,
    )


@_exercise("Weights from values", "[w1, w2, b]")
def _zhang_4(draw: _Draw) -> _Asked:
    w, b = draw.vector([3, -2], -4, 4), draw.pick(F(1), F(-2), F(5))
    at = [each + b for each in w]
    return _Asked(
        f"An affine function has $f(0, 0) = {_show(b)}$, $f(1, 0) = {_show(at[0])}$ and $f(0, 1) = "
        f"{_show(at[1])}$. What are $w_1$, $w_2$ and $b$?",
        f"$b = f(0)$ = {_show(b)}, and $w_j = f(e_j) - f(0)$: {_show(w)}.",
        _named("w1 w2 b", [*w, b]),
        {
            "These are f(e₁) and f(e₂). Subtract f(0).": [*at, b],
            "The bias is f(0). Subtract it from f(e₁) and f(e₂).": [*at, 0],
            "The weights are right. The bias is f(0).": [*w, 0],
            "The bias is f(0), with its own sign.": [*w, -b],
        },
        "At zero only the bias is left. At e₁ it is w₁ + b.",
    )


@_exercise("Prove a bound", "[u1, u2, u3]")
def _zhang_5(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    padded = _padded(rows)
    square = max(_dot(row, row) for row in padded)
    best = square / _squared_margin(padded, labels, bias=False)
    limit = int(best * F(5, 4)) + 1
    solution = _widest(padded, labels, bias=False)

    def judge(answer: Any) -> str:
        u, hint = _separates(padded, labels, answer)
        if hint:
            return hint
        bound = square * _dot(u, u) / min(_values(padded, labels, u)) ** 2
        return (
            ""
            if bound <= limit
            else f"This proves only C²/γ² = {float(bound):.1f}. Find a vector with a larger γ."
        )

    return _Asked(
        f"Prove that Algorithm 1 from zero makes at most {limit} mistakes on these rows. A proof is a vector $u$ "
        f"for the padded rows $(x, 1)$ with $C^2/\\gamma^2 \\le {limit}$. You need not give it length 1.",
        f"$C^2$ = {_show(square)}. The widest $u$ is about {_show([F(str(v)) for v in solution])}, and gives "
        f"$C^2/\\gamma^2$ = {float(best):.2f}.",
        solution,
        {
            TURNED: [-v for v in solution],
            BIAS_FIRST: [solution[2], *solution[:2]],
            "Find a vector with a larger γ.": _run(presets.get("hladka-holub"), rows, labels)[-1].after,
            "The last number belongs to the constant 1 of each row, and is missing.": [*solution[:2], 0],
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("The perceptron loss", "a number")
def _zhang_6(draw: _Draw) -> _Asked:
    rows, labels = draw.cloud("or", 4, 2, -2, 2, 1)
    line = draw.vector([1, -1, 0], -2, 2)
    terms = [max(F(0), -each) for each in _values(rows, labels, line)]
    total = sum(terms, F(0))
    return _Asked(
        f"Compute $L(w)$, the mean of $\\max(0, -y f(x))$, at $w = {_show(line[:2])}$, $b = {_show(line[2])}$.",
        f"The terms are {_show(terms)}, so $L$ = {_show(total / 4)}.",
        {"L": total / 4},
        {
            "This is the sum. L is the mean over all n rows.": total,
            "The loss is not negative.": -total / 4,
            "A row on its right side has the loss 0, not a negative one.": -sum(_values(rows, labels, line), F(0))
            / 4,
            "Divide by all rows, not by the wrong ones alone.": total / max(1, sum(each > 0 for each in terms)),
        },
        "Compute y·f(x) of each row. Where it is negative, its size is the loss. Then take the mean.",
        table=(rows, labels),
    )


@_exercise("Prove that no line exists", "four numbers")
def _zhang_7(draw: _Draw) -> _Asked:
    shift = draw.vector([0, 0], -2, 2) if draw.seed is not None else [F(0), F(0)]
    scale = draw.pick(F(1), F(1), F(2), F(3))
    rows = [_plus(shift, scale, corner) for corner in CORNERS]
    labels = list(draw.pick((-1, 1, 1, -1), (-1, 1, 1, -1), (1, -1, -1, 1)))
    found = _certified(rows, labels)
    solution = [F(0)] * 4
    for i, weight in zip(found.support, found.weights, strict=True):
        solution[int(i)] = F(weight)
    negative = (
        "The factors must not be negative, and not all 0: an inequality times a negative number turns round."
    )

    def judge(answer: Any) -> str:
        weights = _numbers(answer, 4)
        if any(v < 0 for v in weights) or not any(weights):
            return negative
        total = [F(0)] * 3
        for weight, label, row in zip(weights, labels, _padded(rows), strict=True):
            total = _plus(total, weight * label, row)
        left = [f"{_show(v)}·{name}" for v, name in zip(total, ("w₁", "w₂", "b"), strict=True) if v]
        verb = "is" if len(left) == 1 else "are"
        return f"In the sum {' and '.join(left)} {verb} left over. Everything must cancel." if left else ""

    return _Asked(
        "Suppose a line separates these rows. Then $y_i(w_1x_{i1} + w_2x_{i2} + b) > 0$ for all four. Find "
        "factors $\\lambda_i \\ge 0$, not all 0, such that the four inequalities, each times its factor, add up "
        "to $0 > 0$.",
        f"$\\lambda$ = {_show(solution)} will do: $w_1$, $w_2$ and $b$ all cancel. So no line exists.",
        solution,
        {
            negative: [-each for each in solution],
            "The labels are in the inequalities already.": _signed(labels, solution),
            "One label alone cannot cancel: b is left over.": [F(label > 0) for label in labels],
            "All four inequalities are needed.": [*solution[:3], 0],
        },
        judge=judge,
        table=(rows, labels),
    )


@_exercise("Around in a circle", "four lists [w1, w2, b]")
def _zhang_8(draw: _Draw) -> _Asked:
    order = list(draw.pick((0, 1, 2, 3), (0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (3, 1, 2, 0)))
    rows, labels = [CORNERS[i] for i in order], [[-1, 1, 1, -1][i] for i in order]
    done = _run(presets.Preset("plain", "", "", "", {}), rows, labels, 1)
    states = [each.after for each in done]
    steps = [[y * v for v in row] for y, row in zip(labels, _padded(rows), strict=True)]
    back = (
        "It is back at zero, so it will repeat for ever."
        if not any(states[-1])
        else "Go on, and the weights come back."
    )
    return _Asked(
        "Run Algorithm 1 from zero through these rows of XOR once. Every row is a mistake. Give $w_1$, $w_2$ "
        "and $b$ after each of the four updates.",
        f"{_updates(done)}. {back}",
        {
            f"{name} after update {k}": value
            for k, state in enumerate(states, 1)
            for name, value in zip(("w1", "w2", "b"), state, strict=True)
        },
        {
            "The weights are right. The bias gains y at each update.": [[*state[:2], F(0)] for state in states],
            "You went the other way: each update adds y·x.": [[-v for v in state] for state in states],
            "These are the steps. Add each to the weights before it.": steps,
            "The first list is the start. Give the weights after each update.": [[F(0)] * 3, *states[:3]],
        },
        "Each update adds y·x to the weights and y to the bias. Go on from the weights before.",
        width=3,
        table=(rows, labels),
    )


@_exercise("One against one", "[number of machines, class]")
def _zhang_9(draw: _Draw) -> _Asked:
    c = draw.pick(4, 3, 4, 5, 6)
    pairs = list(combinations(range(c), 2))
    scores = draw.vector([(each * 5) % 7 - 3 for each in range(1, len(pairs) + 1)], -3, 3)

    def sums(other: int) -> Vector:
        """Return the sum of each class, where a machine counts so many times for its second class."""
        each = [F(0)] * c
        for (i, j), score in zip(pairs, scores, strict=True):
            each[i] += score
            each[j] += other * score
        return each

    def winner(of: Vector) -> int:
        return of.index(max(of)) + 1

    votes, n = sums(-1), len(pairs)
    best = winner(votes)
    listed = ", ".join(f"({i + 1},{j + 1}): {_show(s)}" for (i, j), s in zip(pairs, scores, strict=True))
    return _Asked(
        f"There are {c} classes, and a machine for each pair $k < l$ whose score is positive for $k$. How many "
        f"machines are there? Their scores for an example are {listed}. Which class has the largest $\\sum_{{l "
        "\\ne k}\\langle x, w_{k,l}\\rangle$, with $w_{l,k} = -w_{k,l}$? Of equals the first.",
        f"There are {c}·{c - 1}/2 = {n} machines. The sums are {_show(votes)}, so class {best} wins.",
        {"the number of machines": n, "the class": best},
        {
            "The machine of (k, l) counts for l too, with the other sign.": [n, winner(sums(0))],
            "The machine of (k, l) counts for l with the other sign.": [n, winner(sums(1))],
            "One against the rest needs c machines; here there is one for each pair.": [c, best],
            "A pair has one machine: (k, l) and (l, k) are the same one.": [2 * n, best],
        }
        | {
            f"Class {k + 1} has a sum as large as that of a class before it. The first one wins.": [n, k + 1]
            for k in range(best, c)
            if votes[k] == votes[best - 1]
        },
        "For each class add the scores of its pairs, with the other sign where it is the second.",
    )


def names(lecture: str | None = None) -> list[str]:
    """Return the names of all exercises, or of those on one lecture.

    Examples
    --------
    >>> names("zhang")[:2]
    ['zhang-1', 'zhang-2']
    """
    lectures = dict.fromkeys(name.rpartition("-")[0] for name in _MAKERS)
    if lecture is not None and lecture not in lectures:
        raise unknown_name("lecture", lecture, "is no lecture with exercises", lectures)
    return [name for name in _MAKERS if lecture in (None, name.rpartition("-")[0])]


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
    if name not in _MAKERS:
        told = f"{name!r} is not an exercise. Choose one such as 'koski-1'; names() lists them all."
        raise ParameterError(told, parameter="name", value=name)
    if seed is not None:
        check_count("seed", seed, least=0)
    title, form, make = _MAKERS[name]
    return make(_Draw(None if seed is None else int(seed), name)).exercise(name, title, form)


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
