"""Newton's method for the squared hinge loss: what it proposes is right on problems that floats resolve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import decide, hinge, shortcuts
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.rows.features import as_rows


def problem(n, d, *, separable, form=np.asarray, bias=True, seed=0) -> SeparationProblem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, d)).astype(float) * (rng.random((n, d)) < 0.4)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if separable:
        f = X @ rng.standard_normal(d)
        y = np.where(f > np.median(f) * bias, 1.0, -1.0)
    return SeparationProblem(as_rows(form(X)), y, bias=bias)


@pytest.fixture
def alone(monkeypatch):
    """Fail if a linear program is asked."""

    def refuse(*_):
        raise AssertionError("a linear program was needed")

    monkeypatch.setattr(decide, "Search", refuse)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("separable", [True, False])
def test_no_linear_program_is_needed(alone, form, bias, separable):
    for seed in range(5):
        found = decide.decide(problem(400, 20, separable=separable, form=form, bias=bias, seed=seed), Clock(None))
        assert isinstance(found, decide.Plane) == separable
        if not separable:
            assert len(found.rows) <= 20 + 1 + bias
            assert min(found.weights) > 0


def test_combinations_are_of_few_rows_with_unique_weights():
    given = problem(500, 12, separable=False)
    method = hinge.HingeNewton(given, Clock(None))
    found = next(each for each in method.run() if isinstance(each, hinge.Combined))
    assert min(found.weights) > 0
    rows = hinge.choose_fewest(given, found, Clock(None))
    assert len(rows) <= 14
    assert set(rows) <= set(found.rows)


def test_rows_that_a_column_shows_to_have_no_weight():
    X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 4.0]]
    y = np.array([1.0, 1.0, 1.0, 1.0, -1.0])
    for form in (np.asarray, csr_array):
        left = shortcuts.peel(form(np.array(X)), y, bias=False).left
        assert left.tolist() == [False, True, True, True, True]


def test_the_perceptron_is_tried_before(monkeypatch):
    monkeypatch.setattr(shortcuts, "LARGE_VALUES", 0)
    monkeypatch.setattr(shortcuts, "PRODUCTS_A_UNIT", 0.1)  # as if a step of Newton's were dear
    monkeypatch.setattr(decide, "HingeNewton", None)
    monkeypatch.setattr(decide, "MANY_ROWS_A_WEIGHT_EXACTLY", 10**6)
    for form in (np.asarray, csr_array):
        given = problem(400, 30, separable=True, form=form)
        assert isinstance(decide.decide(given, Clock(None)), decide.Plane)
    assert shortcuts.by_mistakes(problem(400, 5, separable=False), Clock(None)) is None


def test_values_beyond_floats_are_left_to_exact_arithmetic(monkeypatch):
    monkeypatch.setattr(shortcuts, "LARGE_VALUES", 0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)) * [1e300, 1.0, 1e-300, 1.0], rng.integers(0, 2, 300)
    found = rb.certify(X, y)
    assert found.verdict == "inseparable"
    assert found.verify(X, y)


def test_it_is_not_slower_to_end_than_its_rounds():
    given = problem(300, 10, separable=False)
    clock = Clock(None)
    proposals = list(hinge.HingeNewton(given, clock).run())
    assert any(isinstance(each, Direction) for each in proposals)
    assert clock.spent < hinge.MAX_NEWTON_STEPS * 1e6
