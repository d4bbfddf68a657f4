"""Exercises: solutions are right, wrong answers get hints, and what is computed agrees with the library."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt import exercises, presets
from rosenblatt.exceptions import ParameterError

ROOT = Path(__file__).parents[1]
SEEDS = [None, 0, 1, 2, 7, 2026]


@pytest.mark.parametrize("name", exercises.names())
def test_the_solution_is_right_and_others_are_not(name):
    for seed in SEEDS:
        each = exercises.get(name, seed)
        assert each.check(each.solution), (seed, each.check(each.solution))
        assert "{" not in each.question.replace("\\sum_{", "").replace("_{k,l}", "").replace("_{l,k}", "").replace(
            "\\sqrt{", ""
        ).replace("x_{i1}", "").replace("x_{i2}", "").replace("^{*2}", ""), each.question
        result = each.check([0.123] * np.size(each.solution))
        flawed = each.check("no number")
        assert not flawed
        assert "is not a number" in flawed.hint or "numbers" in flawed.hint or "row" in flawed.hint
        if not result:
            assert len(result.hint) > 10
            assert repr(result).startswith("Not yet: ")


@pytest.mark.parametrize("name", exercises.names())
def test_usual_mistakes_are_recognised(name):
    """Each listed wrong answer is wrong, and gets its own hint."""
    assert len(exercises.get(name).mistakes) >= 2
    for seed in SEEDS:
        each = exercises.get(name, seed)
        for why, wrong in each.mistakes.items():
            result = each.check(wrong)
            assert not result, (seed, why)
            assert why in result.hint, (seed, wrong)
            assert result.hint.count(why) == 1


@pytest.mark.parametrize("name", exercises.names())
def test_no_answer_is_only_too_small(name):
    """A number that nothing explains gets advice beside its size."""
    for seed in SEEDS:
        each = exercises.get(name, seed)
        for odd in (0.123, 77.7):
            hint = each.check([odd] * np.size(each.solution)).hint
            if "is too" in hint:
                assert hint.count(". ") >= 1, hint
                assert not hint.endswith(("is too small.", "is too large.", "wrong.")), hint


def test_mistakes_that_can_happen_to_any_number():
    def hint(name, answer):
        return exercises.check(name, answer).hint

    assert "more digits" in hint("koski-8", [0.198, 0.177])
    assert "All signs are the other way round" in hint("koski-7", [-0.5, -3, 8])
    assert "right numbers in another order" in hint("koski-7", [3, 0.5, -8])
    assert exercises.check("harchaoui-1", set(exercises.get("harchaoui-1").solution))


SINGLE = [name for name in exercises.names() if isinstance(exercises.get(name).solution, (int, float))]


@pytest.mark.parametrize("name", [name for name in SINGLE if name != "koski-10"])  # any small number is right
def test_a_number_that_is_slightly_off_is_wrong(name):
    each = exercises.get(name)
    off = max(0.25, 0.01 * abs(each.solution))
    assert not each.check(each.solution + off)
    assert not each.check(each.solution - off)


@pytest.mark.parametrize("lecture", ["koski", "hladka-holub", "harchaoui", "kernels", "zhang"])
def test_there_are_enough_and_seeds_change_them(lecture):
    assert len(exercises.names(lecture)) >= 8
    sheets = [exercises.sheet(lecture, seed) for seed in (None, 1, 2)]
    assert len(set(sheets)) == 3
    assert exercises.sheet(lecture, 1) == sheets[1]
    assert "Worked answer" not in sheets[1]
    assert exercises.sheet(lecture, 1, answers=True).count("Worked answer") == len(exercises.names(lecture))
    for name in exercises.names(lecture):
        drawn = {exercises.get(name, seed).question for seed in range(8)}
        assert len(drawn) > 1, name


@pytest.mark.filterwarnings("ignore:.*exactly on the hyperplane")
@pytest.mark.parametrize("preset", presets.names())
def test_the_exact_run_is_the_run_of_the_library(preset):
    """Answers about runs come from a loop in fractions; the library's floats are exact on halves."""
    chosen = presets.get(preset)
    for seed in range(6):
        draw = exercises._Draw(seed, "runs")
        rows, labels = draw.cloud("six-points", 6, 2, bias=preset != "harchaoui")
        X = np.array(rows, dtype=float)
        clf = presets.fit(preset, X, labels)
        done = exercises._run(chosen, rows, labels)
        assert clf.trace_.index.tolist() == [each.row for each in done]
        W, b = clf.trace_.path(X, labels)
        if done:
            np.testing.assert_allclose([*W[-1], b[-1]], np.array(done[-1].after, dtype=float), atol=1e-9)


def test_hints_name_the_slip():
    def hint(name, answer, seed=None):
        return exercises.check(name, answer, seed).hint

    assert "sign of the second product" in hint("koski-1", 3)
    assert "other way" in hint("koski-2", [1.4, 0.1, 0.2])
    assert "learning rate is missing" in hint("koski-2", [-1, 2.5, -1])
    assert hint("koski-3", [5, 1]).startswith("Entry 2")
    assert "its score is 0.25, and its label is +1" in hint("koski-3", [5, 1, 3])
    assert "begin with point 5" in hint("koski-3", [3, 5, 1])
    assert "wrong before its turn" in hint("koski-3", [5, 4])
    assert "whole numbers" in hint("koski-3", [5, 3.5, 1])
    assert "more entries" in hint("koski-3", [5, 3])
    assert "Divide it by the length" in hint("koski-4", [5, 0.4, 0.2])
    assert hint("koski-5", [1, 0, 0]) == "Row 3 is on the wrong side: its score is -2, and its label is +1."
    assert "A line still exists" in hint("koski-6", [-5, -5])
    assert "R² is 8" in hint("koski-7", [0.5, 2, 1])
    assert "The weights are right. This bias gains y." in hint("koski-7", [0.5, 3, -1])
    assert "proves only" in hint("koski-9", [0.5, 2, 1])
    assert "within it" in hint("koski-10", 1)
    assert "other side" in hint("hladka-holub-2", 3)
    assert "adds 1" in hint("hladka-holub-3", 25)
    assert "other direction" in hint("hladka-holub-6", [-0.6, -0.8])
    assert "within it" in hint("hladka-holub-9", [0.5, -0.5])
    assert "start at y₁x₁" in hint("harchaoui-4", exercises_zero_start())
    assert "row 1 is still misclassified" in hint("harchaoui-4", [-2, 0])
    assert "was never a mistake" in hint("harchaoui-5", [1, 2, 5])
    assert "γ times the losses" in hint("harchaoui-6", [1, 0, 0.6, 0.6])
    assert "The pocket is not 2." in hint("harchaoui-7", [5, 4, 2])
    assert "This lifts row 1." in hint("harchaoui-8", [0.6, 0, 0.8, 0, 0, 0])
    assert "not 1 − a" in hint("harchaoui-8", [0.6, 0, 0, 0.4, 0, 0])
    assert "η/2" in hint("kernels-1", [0, 2, 1])
    assert "Square it" in hint("kernels-5", 5)
    assert "not negative" in hint("kernels-9", [1, 1])
    assert "must be 0" in hint("zhang-3", [1, 1])
    assert "Subtract f(0)" in hint("zhang-4", [4, -1, 1])
    assert "are left over" in hint("zhang-7", [1, 1, 1, 0])
    assert "as large as that of a class before it" in hint("zhang-9", [6, 4])
    assert "turns round" in hint("zhang-7", [0, 0, 0, 0])
    assert "The answer has 2 numbers; 3 are asked for." in hint("koski-2", [1, 2])


def exercises_zero_start():
    rows, labels, _ = exercises._harchaoui_runs(exercises._Draw(None, ""))
    return rb.Perceptron(bias=None, order="cyclic").fit(np.array(rows, float), labels).coef_[0]


def test_answers_may_be_fractions_and_arrays():
    assert exercises.check("koski-2", np.array([0.6, 0.9, -0.2]))
    assert exercises.check("koski-2", ["3/5", "9/10", "-1/5"])
    assert exercises.check("koski-4", [Fraction(1), Fraction(2, 5), Fraction(1, 5)])
    assert not exercises.check("koski-2", None)


def test_the_bound_of_two_unit_rows_is_the_certified_margin():
    """hladka-holub-7 uses γ² = (1 + ⟨a, b⟩)/2; `certify` encloses the margin."""
    for a, b in combinations(exercises.UNIT_ROWS, 2):
        inner = sum(x * z for x, z in zip(a, b, strict=True))
        found = exercises._squared_margin([list(a), [-v for v in b]], [1, -1], bias=False)
        assert abs(found - (1 + inner) / 2) < Fraction(1, 10**9)


def test_what_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="'koski-99' is not an exercise"):
        exercises.get("koski-99")
    with pytest.raises(ParameterError, match="'rosenblatt' is not an exercise"):
        exercises.check("rosenblatt", 1)
    with pytest.raises(
        ParameterError, match=r"'novikoff' is no lecture with exercises\. Use one of koski, hladka-holub"
    ):
        exercises.sheet("novikoff")
    with pytest.raises(ParameterError, match="seed=-1"):
        exercises.get("koski-1", seed=-1)


def test_the_page_is_made_of_the_exercises():
    page = pytest.importorskip("scripts.exercise_page", reason="the sdist does not hold scripts/")
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), "run python scripts/exercise_page.py"
