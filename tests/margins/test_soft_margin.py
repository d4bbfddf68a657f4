"""Solvers of soft-margin problems against other people's, and the ends a pursuit may come to."""

from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from rosenblatt.loops.descent import Hinge, Logistic, SquaredHinge
from rosenblatt.margins import interior as interior_module
from rosenblatt.margins import matrix as matrix_module
from rosenblatt.margins import newton as newton_module
from rosenblatt.margins import softest as soft_margin
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.interior import interior, row_terms
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.newton import Newton, NewtonFirst
from rosenblatt.margins.objective import Deadline, Iterate, Objective
from rosenblatt.margins.softest import Limits, SoftPlan, active_set, fit, minimise, squared_hinge_minimum
from rosenblatt.margins.stochastic import DescentSettings
from rosenblatt.rows.batch import as_batch
from tests.margins.test_objective import LOSS, make
from tests.shared.examples import examples
from tests.shared.margin_oracles import least_objective
from tests.shared.strategies import Problem, noisy, problems

CYCLES = Problem(np.array([[0.0, 1.0, -3.0], [2.0, -2.0, 2.0]]), np.array([-1, 1]))
PENALTIES = [(0.0, 0.1), (0.1, 0.0), (0.02, 0.1), (0.0, 0.0)]


@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
@pytest.mark.parametrize("loss", LOSS)
@settings(max_examples=15)
@example(problem=CYCLES, bias=False)  # steps that looked too far ahead went in circles here
@given(problem=problems(), bias=st.booleans())
def test_the_interior_point_method_reaches_the_minimum(loss, l1, l2, problem, bias):
    p = make(problem, loss, l1, l2, bias=bias)
    found = minimise(p, np.zeros(p.matrix.width), interior, Limits(1e-7, 200))
    least = least_objective(problem.X, problem.y, loss=loss, l1=l1, l2=l2, margin=0.5, bias=bias)
    if loss != "logistic" or l1 or l2:  # which may have no minimum, and then may not even separate
        assert found.reason == "tol"
    assert found.value - found.gap <= least + 1e-8
    if found.reason == "tol":
        assert found.value <= least + 1e-6 * least + 1e-9
        assert found.converged


@pytest.mark.parametrize("loss", LOSS)
@settings(max_examples=examples(25))
@given(
    problem=problems(),
    l2=st.sampled_from([1e-3, 0.1, 3.0]),
    bias=st.booleans(),
    by=st.sampled_from(["newton", "rows", "conjugate", "given up", "coordinate", "both"]),
)
def test_newton_and_ascent_reach_the_minimum_within_the_gap_they_prove(loss, problem, l2, bias, by):
    if by == "coordinate":
        l2 = max(l2, 0.1)  # with less it takes thousands of passes where rows repeat
    p = make(problem, loss, 0.0, l2, bias=bias)
    start = np.zeros(p.matrix.width)
    with pytest.MonkeyPatch.context() as patch:
        if by == "rows":
            patch.setattr(newton_module, "MAX_ROWS_SHARE", np.inf)
        if by in ("conjugate", "given up"):
            patch.setattr(matrix_module, "GRADIENT_PASSES", 0.0)
        if by == "given up":
            patch.setattr(newton_module, "MAX_CONJUGATE_STEPS", 1)
        solver = partial(coordinate, seed=0) if by == "coordinate" else Newton(1e-4)
        if by == "both":
            patch.setattr(matrix_module, "GRADIENT_PASSES", 0.0)
            patch.setattr(newton_module, "FIRST_OF_HINGE", 3)
            solver = NewtonFirst(1e-4, seed=0)
        found = minimise(p, start, solver, Limits(1e-4, 5000))
    least = least_objective(problem.X, problem.y, loss=loss, l2=l2, margin=0.5, bias=bias)
    assert found.reason == "tol"
    assert found.value - found.gap - 1e-8 <= least <= found.value + 1e-8
    assert found.gap <= 1e-4 * found.value


@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize("bias", ["free", "penalised", None])
@pytest.mark.parametrize("shape", [(400, 12), (30, 60)])
def test_newton_s_steps_by_rows_and_by_features_agree(loss, bias, shape, monkeypatch):
    X, y = noisy(*shape, seed=5)
    matrix = Matrix(as_batch(X, y), bias=bias is not None, pad=2.0)
    p = Objective(matrix, y.astype(float), np.full(shape[0], 1 / shape[0]), LOSS[loss], 0.0, 0.01, bias)
    values = []
    for smaller in (0.0, np.inf):
        monkeypatch.setattr(newton_module, "MAX_ROWS_SHARE", smaller)
        found = minimise(p, np.zeros(matrix.width), Newton(1e-9), Limits(1e-9, 200))
        assert found.reason == "tol"
        values.append(found.value)
    assert values[0] == pytest.approx(values[1], rel=2e-9)


@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize("bias", ["free", "penalised", None])
@pytest.mark.parametrize("sparse", [False, True])
def test_conjugate_gradients_reach_the_minimum_of_direct_solves(loss, bias, sparse, monkeypatch):
    X, y = noisy(300, 20, seed=6)
    matrix = Matrix(as_batch(csr_matrix(X) if sparse else X, y), bias=bias is not None, pad=2.0)
    p = Objective(matrix, y.astype(float), np.full(300, 1 / 300), LOSS[loss], 0.0, 0.01, bias)
    values = []
    for passes in (np.inf, 0.0):
        monkeypatch.setattr(matrix_module, "GRADIENT_PASSES", passes)
        newton = Newton(1e-5)
        found = minimise(p, np.zeros(matrix.width), newton, Limits(1e-5, 200))
        assert found.reason == "tol"
        assert not newton.direct
        values.append(found.value)
    assert values[0] == pytest.approx(values[1], rel=2e-5)


def test_rows_that_take_too_many_conjugate_gradients_are_solved_directly(monkeypatch):
    X, y = noisy(300, 20, seed=6)
    matrix = Matrix(as_batch(X, y), bias=True)
    p = Objective(matrix, y.astype(float), np.full(300, 1 / 300), LOSS["logistic"], 0.0, 0.01)
    monkeypatch.setattr(matrix_module, "GRADIENT_PASSES", 0.0)
    monkeypatch.setattr(newton_module, "MAX_CONJUGATE_STEPS", 2)
    newton = Newton(1e-8)
    assert minimise(p, np.zeros(p.matrix.width), newton, Limits(1e-8, 200)).reason == "tol"
    assert newton.direct


def test_what_is_too_hard_for_newton_s_method_is_left_to_the_interior_point_method(monkeypatch):
    X, y = noisy(100, 4, seed=5)
    p = Objective(Matrix(as_batch(X, y), bias=True), y.astype(float), np.full(100, 0.01), Hinge(), 0.0, 0.01)
    monkeypatch.setattr(newton_module, "MAX_NEWTON_STEPS", 2)
    solver = NewtonFirst(1e-6, seed=0)
    found = [minimise(p, np.zeros(5), solver, Limits(1e-6)) for _ in range(2)]
    alone = minimise(p, np.zeros(5), interior, Limits(1e-6))
    assert [each.n_iter - alone.n_iter for each in found] == [2, 0]
    assert [each.value for each in found] == [alone.value] * 2


@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize("bias", ["free", "penalised", None])
def test_dual_ascent_and_the_interior_point_method_agree(loss, bias):
    X, y = noisy(200, 10, seed=4)
    X += 0.5
    p = Objective(
        Matrix(as_batch(X, y), bias=bias is not None),
        y.astype(float),
        np.full(200, 1 / 200),
        LOSS[loss],
        0,
        0.1,
        bias,
    )
    start = np.zeros(p.matrix.width)
    one = minimise(p, start, interior, Limits(1e-9))
    other = minimise(p, start, partial(coordinate, seed=0), Limits(1e-7, 3000))
    assert one.converged
    assert other.converged
    assert one.value - one.gap <= other.value <= one.value * (1 + 1e-6)
    assert other.theta == pytest.approx(one.theta, abs=2e-3)


@pytest.mark.parametrize(
    ("l1", "l2", "bias"), [(0.0, 0.1, "penalised"), *((*each, b) for each in PENALTIES for b in ("free", None))]
)
@pytest.mark.parametrize("loss", LOSS)
def test_steps_by_rows_and_steps_by_features_are_the_same(loss, l1, l2, bias, monkeypatch):
    X, y = noisy(12, 15, seed=5)
    matrix = Matrix(as_batch(X, y), bias=bias is not None)
    p = Objective(matrix, y.astype(float), np.full(12, 1 / 12), LOSS[loss], l1, l2, bias)
    values = []
    for small in (0, 300):
        monkeypatch.setattr(interior_module, "MAX_SMALL_FEATURES", small)
        found = minimise(p, np.zeros(matrix.width), interior, Limits(1e-5, 100))
        assert found.reason in ("tol", "no_minimum")
        values.append(found.value)
    if l1 or l2:
        assert values[0] == pytest.approx(values[1], rel=2e-5)
    elif loss != "logistic":
        assert values == [0.0, 0.0]


@pytest.mark.parametrize(("loss", "l2"), [("hinge", 0.0), ("squared_hinge", 0.0), ("logistic", 0.01)])
def test_few_features_at_a_time_reach_the_same_minimum(loss, l2):
    X, y = noisy(80, 400, seed=6)
    p = Objective(Matrix(as_batch(X, y), bias=True), y.astype(float), np.full(80, 1 / 80), LOSS[loss], 0.03, l2)
    start = np.zeros(401)
    some = minimise(p, start, partial(active_set, tol=1e-5), Limits(1e-5))
    every = minimise(p, start, interior, Limits(1e-6))
    assert some.converged
    assert some.value == pytest.approx(every.value, rel=1e-5)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_squared_hinge_with_its_bias_penalised(C):
    X, y = noisy(60, 4, seed=7)
    found = squared_hinge_minimum(as_batch(X, y), C)
    v, value, gap = found.theta, found.value, found.gap
    padded = np.column_stack([X, np.ones(60)])
    assert value == pytest.approx(v @ v + C * (np.maximum(0, 1 - y * (padded @ v)) ** 2).sum())
    least = least_objective(padded, y, loss="squared_hinge", cost=np.full(60, C), l2=2.0, bias=False)
    assert value - gap <= least + 1e-8
    assert value == pytest.approx(least, rel=1e-7)


def test_weights_of_rows_multiply_their_losses_there():
    X, y = noisy(30, 3, seed=8)
    weight = np.arange(30) % 3
    found = squared_hinge_minimum(as_batch(X, y, weight), 1.0)
    again = np.repeat(np.arange(30), weight)
    same = squared_hinge_minimum(as_batch(X[again], y[again]), 1.0)
    assert found.value == pytest.approx(same.value)
    assert found.theta == pytest.approx(same.theta, abs=1e-4)


def small():
    X, y = noisy(30, 3, seed=9)
    return Objective(Matrix(as_batch(X, y), bias=True), y.astype(float), np.full(30, 1 / 30), Hinge(), 0.0, 0.01)


def test_ctrl_c_leaves_the_best_so_far():
    def interrupted(problem, start):
        for iterate in interior(problem, start):
            yield iterate
            if iterate.made == 5:
                raise KeyboardInterrupt

    found = minimise(small(), np.zeros(4), interrupted, Limits(1e-12))
    assert found.reason == "interrupted"
    assert isinstance(found.interruption, KeyboardInterrupt)
    assert found.n_iter == 5
    assert not found.converged
    assert found.value < 1.0


def test_a_worse_iterate_is_not_taken_unless_it_replaces():
    def worse(problem, start, replaces):
        yield Iterate(start, made=1)
        yield Iterate(start + 100.0, made=2, replaces=replaces)

    for replaces in (False, True):
        found = minimise(small(), np.zeros(4), partial(worse, replaces=replaces), Limits(0.0))
        assert (found.theta[0] == 100.0) == replaces
        assert found.reason == "stalled"


def test_an_iterate_nobody_judged_is_judged_at_the_end():
    def silent(problem, start):
        for iterate in interior(problem, start):
            yield Iterate(iterate.theta, alpha=iterate.alpha, made=iterate.made, judge=False)
            if iterate.made == 30:
                return

    found = minimise(small(), np.zeros(4), silent, Limits(1e-6))
    assert found.converged
    assert found.reason == "stalled"


def test_a_separable_set_has_no_logistic_minimum():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    p = Objective(Matrix(as_batch(X, y), bias=True), y, np.full(2, 0.5), Logistic())
    found = minimise(p, np.zeros(2), interior, Limits(1e-4))
    assert found.reason == "no_minimum"
    assert not found.converged
    assert found.gap == found.value


@pytest.mark.parametrize("pad", [25.0, 0.0])
@pytest.mark.parametrize("solver", [interior, partial(coordinate, seed=0)])
def test_rows_wider_than_they_are_many_may_be_padded_with_any_number(solver, pad):
    X, y = noisy(50, 500, seed=1)
    by_hand = np.column_stack([X, np.full(50, pad)]) if pad else X
    found = [
        minimise(
            Objective(matrix, y.astype(float), np.full(50, 0.1), SquaredHinge(), 0.0, 2.0, bias),
            np.zeros(matrix.width),
            solver,
            Limits(1e-9),
        )
        for matrix, bias in (
            (Matrix(as_batch(X, y), bias=pad > 0.0, pad=pad), "penalised" if pad else None),
            (Matrix(as_batch(by_hand, y), bias=False), None),
        )
    ]
    assert [each.reason for each in found] == ["tol", "tol"]
    assert found[0].theta == pytest.approx(found[1].theta, rel=1e-4, abs=1e-7)
    best = squared_hinge_minimum(as_batch(X, y), 0.1, pad=pad)
    assert (best.value, best.converged) == (pytest.approx(found[1].value, rel=1e-7), True)
    assert len(best.theta) == by_hand.shape[1]


@pytest.mark.parametrize("solver", [interior, partial(coordinate, seed=0)])
def test_what_pads_the_rows_changes_nothing_but_the_scale_of_a_free_bias(solver):
    X, y = noisy(50, 500, seed=2)
    found = []
    for pad in (1.0, 25.0):
        matrix = Matrix(as_batch(X, y), bias=True, pad=pad)
        p = Objective(matrix, y.astype(float), np.full(50, 0.02), SquaredHinge(), 0.0, 0.1, "free")
        found.append(minimise(p, np.zeros(501), solver, Limits(1e-8)))
    assert [each.reason for each in found] == ["tol", "tol"]
    assert found[1].theta[-1] * 25.0 == pytest.approx(found[0].theta[-1], rel=1e-3)
    assert found[1].value == pytest.approx(found[0].value, rel=1e-7)


def test_the_squared_hinge_of_much_data_is_minimised_within_limits_and_without_matrices(monkeypatch):
    def refuse(matrix, weight):
        raise AssertionError("a matrix that large")

    monkeypatch.setattr(Matrix, "gram", refuse)
    monkeypatch.setattr(Matrix, "outer", refuse)
    X, y = noisy(3000, 2500, seed=3, dtype=np.float32)
    found = squared_hinge_minimum(as_batch(X, y), 1 / 3000, pad=2.0, limits=Limits(0.0, 3))
    assert (found.reason, found.n_iter) == ("max_iter", 3)
    assert 0.0 < found.value - found.gap <= found.value < 1.0


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_a_tiny_penalty_for_rows_of_bytes_takes_few_interior_point_steps(loss):
    rng = np.random.default_rng(1)
    X = 255.0 * rng.random((1200, 200)) * (rng.random((1200, 200)) < 0.5)
    f = X @ rng.normal(size=200)
    f += 0.5 * f.std() * rng.normal(size=1200)
    y = np.where(f > np.quantile(f, 0.9), 1.0, -1.0)
    p = Objective(Matrix(as_batch(X, y), bias=True), y, np.full(1200, 1 / 1200), loss, 0.0, 1e-4)
    found = minimise(p, np.zeros(201), interior, Limits(1e-3))
    assert found.reason == "tol"
    assert found.n_iter <= 15  # 17 and 18 without balanced starts and corrections
    exact = minimise(p, np.zeros(201), interior, Limits(1e-9))
    assert found.value - found.gap <= exact.value <= found.value


def test_dual_weights_of_a_free_bias_begin_balanced():
    y = np.where(np.arange(50) < 10, 1.0, -1.0)
    cost = np.linspace(1.0, 2.0, 50)
    for loss in (Hinge(), SquaredHinge()):
        terms = row_terms(loss, cost, y, np.ones(50), 1.0, free=True)
        assert terms.alpha[y > 0.0].sum() == pytest.approx(terms.alpha[y < 0.0].sum(), rel=0.1)
        assert (terms.gaps() > 0.0).all()


def test_a_hinge_that_is_nearly_linear_is_left_to_the_interior_point_method():
    X, y = noisy(100, 4, seed=5)
    found = []
    for scale in (1.0, 1e4):
        matrix = Matrix(as_batch(scale * X, y), bias=True)
        p = Objective(matrix, y.astype(float), np.full(100, 0.01), Hinge(), 0.0, 0.01)
        found.append(
            [minimise(p, np.zeros(5), by, Limits(1e-6)).n_iter for by in (NewtonFirst(1e-6, 0), interior)]
        )
    assert found[0][0] != found[0][1]
    assert found[1][0] == found[1][1]
    timed = replace(p, deadline=Deadline(1e300))  # the first interior points predict nothing yet
    assert minimise(timed, np.zeros(5), NewtonFirst(1e-6, 0), Limits(1e-6)).n_iter != found[1][1]


def test_a_hinge_of_more_features_than_rows_is_not_taken_for_nearly_linear(monkeypatch):
    """Such rows would count as nearly linear. Of rows ten times larger, rounding decides the number of steps."""
    X, y = noisy(30, 60, seed=5)
    p = Objective(
        Matrix(as_batch(1e3 * X, y), bias=True), y.astype(float), np.full(30, 1 / 30), Hinge(), 0.0, 0.01
    )
    asked = []
    monkeypatch.setattr(newton_module, "interior", lambda problem, start: asked.append(problem) or iter(()))
    found = minimise(p, np.zeros(61), NewtonFirst(1e-3, 0), Limits(1e-3))
    assert found.reason == "tol"
    assert asked == []


def test_classes_of_wide_rows_share_one_matrix_of_their_products(monkeypatch):
    outer, made = Matrix.outer, []
    monkeypatch.setattr(Matrix, "outer", lambda self, weight: made.append(self) or outer(self, weight))
    batch = as_batch(
        np.random.default_rng(0).normal(size=(20, interior_module.MAX_SMALL_FEATURES + 10)), np.arange(20) % 4
    )
    found = fit(batch, None, replace(planned(1e-3), solver="interior"), None)
    assert {each.reason for each in found} == {"tol"}
    assert len(made) == 1


@pytest.mark.parametrize(("loss", "passes"), [(Hinge(), 2), (Hinge(), 100), (SquaredHinge(), 100)])
def test_unfinished_ascent_keeps_the_best_weights_that_were_judged(loss, passes):
    X, y = noisy(300, 6, seed=0)
    p = Objective(Matrix(as_batch(X, y), bias=True), y.astype(float), np.full(300, 1 / 300), loss, 0.0, 1e-8)
    tried = []

    def remembered(problem, start):
        for iterate in coordinate(problem, start, 0):
            tried.append(iterate)
            yield iterate

    found = minimise(p, np.zeros(7), remembered, Limits(1e-3, passes))
    values = [p.value(each.theta, each.t) for each in tried if each.t is not None]
    assert found.reason == "max_iter"
    assert found.value <= min(values) < 1.0
    assert np.abs(found.theta[:6]).max() > 0.0
    assert found.value == pytest.approx(p.value(found.theta, p.shortfall(found.theta)))


@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize("bias", ["penalised", None])
def test_the_gap_that_ascent_expects_is_the_gap_that_is_proved(loss, bias):
    X, y = noisy(200, 10, seed=4)
    matrix = Matrix(as_batch(X, y), bias=bias is not None, pad=2.0)
    p = Objective(matrix, y.astype(float), np.full(200, 1 / 200), LOSS[loss], 0.0, 0.1, bias)
    known = [each for each in islice(coordinate(p, np.zeros(matrix.width), 0), 20) if each.likely is not None]
    assert known
    for each in known:
        proved = p.value(each.theta, each.t) - p.lower_bound(each.alpha, each.theta)
        assert each.likely == pytest.approx(proved, rel=1e-6, abs=1e-12)


def several(n=150):
    """Return four classes: the first is far from all others, which overlap."""
    rng = np.random.default_rng(3)
    labels = np.arange(n) % 4
    X = rng.normal(size=(n, 5)) + np.where(labels[:, None] == 0, 8.0, 0.3 * labels[:, None])
    return as_batch(X, labels)


def planned(tol):
    how = DescentSettings("constant", 1.0, 0.5, 1e-4, False, True, tol, 5, 0)
    return SoftPlan(Hinge(), 0.0, 1e-6, True, "auto", how, Limits(tol))


def test_a_tiny_objective_waits_for_what_the_others_leave(monkeypatch):
    found = fit(several(), None, planned(1e-3), None)
    monkeypatch.setattr(soft_margin, "MAX_POSTPONED_ROWS", 0)
    at_once = fit(several(), None, planned(1e-3), None)
    for each in (found, at_once):
        assert {one.reason for one in each} == {"tol"}
        assert sum(one.gap for one in each) <= 1e-3 * sum(one.value for one in each)
    assert found[0].n_iter < at_once[0].n_iter
    assert found[0].gap > 1e-3 * found[0].value


def test_ctrl_c_keeps_what_was_postponed(monkeypatch):
    shortfall, problems = Objective.shortfall, []

    def interrupted(self, theta):
        if self not in problems:
            problems.append(self)
        elif len(problems) == 4:  # the first problem waits, and the last one has begun
            raise KeyboardInterrupt
        return shortfall(self, theta)

    monkeypatch.setattr(Objective, "shortfall", interrupted)
    found = fit(several(), None, planned(1e-3), None)
    assert [each.reason for each in found] == ["interrupted", "tol", "tol", "interrupted"]
    assert [each.interruption is None for each in found] == [True, True, True, False]
