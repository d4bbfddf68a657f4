"""Proofs in floats: every bound against rationals, what its terms are for, and mutants that must be caught."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from inspect import getsource

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import InseparableVerdict, Separable, rigorous, shortcuts
from rosenblatt.certify.algebra import BLAS, FIXED
from rosenblatt.certify.decide import choose_least, decide_in_floats
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rigorous import (
    bound_norm,
    bound_residual,
    bound_stretch,
    check_dependence,
    prove_contradiction,
    recode,
    scale_columns,
)
from rosenblatt.certify.shortcuts import peel
from rosenblatt.certify.sides import bias_of
from rosenblatt.certify.time_limit import Clock
from rosenblatt.exceptions import TrivialSeparationWarning
from rosenblatt.rows.features import as_rows
from scripts.attack_verdicts import attack
from tests.shared.examples import examples


def exact(A) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in np.atleast_2d(A).tolist()]


def product(A, B) -> list[list[Fraction]]:
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A]


def transposed(A):
    return [list(row) for row in zip(*A, strict=True)]


def squared(A) -> Fraction:
    return sum((value * value for row in A for value in row), Fraction(0))


def stretches(B, s: float) -> bool:
    """Tell exactly whether σ_min(B) ≥ s ≥ 0: Bᵀ B − s² I has no negative pivot, and no row left where one is 0."""
    M = product(transposed(B), B)
    for i in range(len(M)):
        M[i][i] -= Fraction(s) ** 2
    for k in range(len(M)):
        if M[k][k] < 0 or (M[k][k] == 0 and any(M[k][k + 1 :])):
            return False
        for i in range(k + 1, len(M)):
            share = M[i][k] / M[k][k] if M[k][k] else Fraction(0)
            M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return True


def adversarial(r, shape):
    """Return floats that cancel, or differ in size, or are next to powers of two."""
    A = r.choice([1.0, -1.0, 0.5, 1.0 / 3.0, 2.0**-30, 1e-9, 0.1], shape) * r.choice(
        [1.0, 1.0 + 2**-52, 0.9], shape
    )
    if r.random() < 0.5:
        A = A + r.standard_normal(shape) * 10.0 ** -r.integers(0, 16)
    if r.random() < 0.3:
        A *= 2.0 ** r.integers(-300, 1, shape)
    return A


def prepared(r):
    """Return rows, weights and C as `judge` has them."""
    D = int(r.integers(1, 4))
    T, _ = scale_columns(adversarial(r, (int(r.integers(D, D + 5)), D)))
    weights = rigorous.scale_weights(np.abs(adversarial(r, len(T))) + 2.0**-390)
    A, _, q = rigorous.equilibrate(T, weights)
    found = rigorous.choose_columns(T, weights)
    return T, weights, A, q, None if found is None or len(found[0]) < D else found


def check_bounds(seeds) -> int:
    """Compare every bound with rationals on adversarial rows; return how many stretches were positive."""
    told = 0
    for seed in seeds:
        r = np.random.default_rng(seed)
        T, weights, A, q, found = prepared(r)
        assert Fraction(bound_norm(A)) ** 2 >= squared(exact(A))
        if found is None or not np.isfinite(found[1]).all() or np.abs(found[1]).max() > 1e30:
            continue
        J, C = found
        T, A, q = T[:, J], A[:, J], q[J]
        s = bound_stretch(A, C, FIXED.product(A, C))
        if s > 0.0:
            assert stretches(product(exact(A), exact(C)), s)
            told += 1
        r_ = np.ldexp(FIXED.combine(T, weights), q)
        truth = product(transposed(exact(T)), transposed(exact(weights)))
        truth = [[value * Fraction(2) ** int(power)] for (value,), power in zip(truth, q, strict=True)]
        truth = product(transposed(exact(C)), truth)
        assert Fraction(bound_residual(T, weights, q, r_, C)) ** 2 >= squared(truth)
    return told


def test_bounds_hold_in_rationals():
    assert check_bounds(range(examples(1000))) > examples(1000) / 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_bounds_hold_in_rationals_on_100_000_inputs(part):
    assert check_bounds(range(25_000 * part, 25_000 * (part + 1))) > 25_000 / 4


def scored(seed):
    """Return the bound of the error of scores of adversarial rows, and the largest error."""
    r = np.random.default_rng(seed)
    X = adversarial(r, (int(r.integers(2, 6)), int(r.integers(1, 8))))
    problem = SeparationProblem(as_rows(X), np.resize([1.0, -1.0], len(X)), bias=False)
    v = Direction.of_floats(adversarial(r, X.shape[1]))
    f, error = problem.scores(v)
    truth = problem.exact_scores(np.arange(len(X)), v)
    return Fraction(error), max(abs(Fraction(a) - b) for a, b in zip(f.tolist(), truth, strict=True))


def test_scores_err_by_less_than_their_bound():
    wrong = 0
    for seed in range(examples(1000)):
        error, largest = scored(seed)
        assert largest <= error
        wrong += largest > 0
    assert wrong > examples(1000) / 4  # a bound of 0 would not hold


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_scores_err_by_less_than_their_bound_on_100_000_inputs(part):
    assert all(largest <= error for error, largest in map(scored, range(25_000 * part, 25_000 * (part + 1))))


def test_a_score_that_rounds_to_another_sign_needs_its_error_bound(monkeypatch):
    problem = SeparationProblem(as_rows([[1.0, -1.0, 1.0]]), np.array([1.0]), bias=False)
    v = Direction.of_integers([2**60, 2**60 + 100, 1])  # 1 − 1 + 2⁻⁶⁰ in floats
    assert bias_of(problem, v) is None
    monkeypatch.setattr(SeparationProblem, "error", lambda *_, **__: 0.0)
    assert bias_of(problem, v) is not None


def test_a_sum_that_rounds_to_zero_needs_its_error_bound(monkeypatch):
    T, weights, q = np.array([[1.0], [2.0**-60], [-1.0]]), np.ones(3), np.zeros(1, int)
    r = FIXED.combine(T, weights)
    assert r == 0.0
    assert bound_residual(T, weights, q, r, np.eye(1)) >= 2.0**-60
    monkeypatch.setattr(rigorous, "bound_sum", lambda k: 0.0)
    assert bound_residual(T, weights, q, r, np.eye(1)) < 2.0**-60


def without(monkeypatch, k: int) -> None:
    """Leave out the errors of sums of k products."""
    whole = rigorous.bound_sum
    monkeypatch.setattr(rigorous, "bound_sum", lambda terms: 0.0 if terms == k + 2 else whole(terms))


def test_products_that_cancel_need_the_error_of_their_sum(monkeypatch):
    a, b, tiny = 1.6369616873214543, 1.2697867137638703, 2.0**-20
    A, C = np.array([[a, b], [0.0, tiny], [0.0, 0.0]]), np.array([[1.0 / a, -b / tiny / a], [0.0, 1.0 / tiny]])
    B, AC = FIXED.product(A, C), product(exact(A), exact(C))
    assert B[0, 1] == 0.0 != AC[0][1]  # A C seems orthonormal
    assert stretches(AC, bound_stretch(A, C, B))
    without(monkeypatch, 2)  # products with C have two terms
    assert not stretches(AC, bound_stretch(A, C, B))


def test_a_sum_of_squares_that_rounds_to_one_needs_its_error_bound(monkeypatch):
    A, C = np.full((1000, 1), 0.03162277660168376), np.eye(1)
    AC = exact(A)
    assert stretches(AC, bound_stretch(A, C, A))
    without(monkeypatch, 1000)
    assert not stretches(AC, bound_stretch(A, C, A))


def test_one_row_contradicts_nothing(monkeypatch):
    Z, weights = np.array([[1.0]]), np.array([0.9])
    assert prove_contradiction(Z, weights, bias=False) is None
    with monkeypatch.context() as patch:  # p above the weights
        patch.setattr(rigorous, "equilibrate", _doubled)
        assert prove_contradiction(Z, weights, bias=False) is not None
    with monkeypatch.context() as patch:
        patch.setattr(rigorous.Bound, "ratio", _divided(2.0))
        assert prove_contradiction(Z, weights, bias=False) is not None
    with monkeypatch.context() as patch:  # without what was computed, the errors alone
        patch.setattr(rigorous, "bound_residual", lambda *_: 1e-15)
        assert prove_contradiction(Z, weights, bias=False) is not None


def test_any_matrix_may_be_tried_because_its_stretch_is_bounded(monkeypatch):
    T, weights, C = np.array([[1.0]]), np.array([0.9]), np.array([[2.0**-10]])
    assert rigorous.judge(T, weights, C)[0].ratio >= 1.0
    monkeypatch.setattr(rigorous, "bound_stretch", lambda *_: 1.0)
    assert rigorous.judge(T, weights, C)[0].ratio < 1.0


def test_norms_are_rounded_up(monkeypatch):
    a = np.full(1001, 0.1)
    assert Fraction(bound_norm(a)) ** 2 >= squared(exact(a))
    assert bound_norm(np.array([1e-320, 0.0])) > 0.0
    assert bound_norm(np.array([np.inf])) == bound_norm(np.array([1e300])) * np.inf == np.inf
    monkeypatch.setattr(rigorous, "SAFETY_FACTOR", 1.0)
    low = (np.random.default_rng(k).random(9) for k in range(99))
    assert any(Fraction(bound_norm(a)) ** 2 < squared(exact(a)) for a in low)


def test_values_that_cannot_be_scaled_exactly_are_refused():
    assert scale_columns(np.array([[3.0], [0.25]]))[1]
    for pair in ([1e300, 1e-300], [1.0, 5e-324], [1.0, 2.0**-500]):
        assert not scale_columns(np.array(pair)[:, None])[1]
    assert prove_contradiction(np.array([[1.0], [-1e-300]]), np.array([1e-300, 1.0]), bias=False) is None


def test_weights_must_be_positive():
    Z = np.array([[1.0], [-1.0], [1.0]])
    assert prove_contradiction(Z, np.array([1.0, 2.0, 1.0]), bias=False) is not None
    for wrong in (0.0, -1.0, np.nan, np.inf, 1e-200):
        assert prove_contradiction(Z, np.array([1.0, 1.0, wrong]), bias=False) is None


def test_constant_and_two_valued_features_become_whole_numbers():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    X = np.array([[0.3, 7.0, 1.5], [0.3, -0.1, 2.5], [0.3, 7.0, 3.5], [0.3, -0.1, 4.5]])
    Z = recode(y[:, None] * np.hstack([X, np.ones((4, 1))]))
    assert (Z[:, 0] == 0.0).all()
    assert (Z[:, 1] * y).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert (Z[:, 2] * y).tolist() == [1.5, 2.5, 3.5, 4.5]


def test_dependent_columns_are_checked_in_integers():
    r = np.random.default_rng(0)
    B = r.integers(-50, 50, (30, 3)) / 8.0
    rest = np.column_stack([B @ [1.0, -2.0, 0.5], B @ [1.0, 1.0, 1.0] / 3.0 * 3.0])
    T = np.hstack([B, rest])
    near = np.array([[1.0, 1.0], [-2.0, 1.0], [0.5, 1.0]]) + 1e-9
    assert check_dependence(T, np.arange(3), np.array([3, 4]), near)
    T[7, 4] = np.nextafter(T[7, 4], 99.0)
    assert not check_dependence(T, np.arange(3), np.array([3, 4]), near)
    assert not check_dependence(
        np.array([[0.1, 0.3], [0.7, 2.1]]), np.array([0]), np.array([1]), np.array([[3.0]])
    )


NEARLY = (  # rows whose second column is nearly a multiple of the first, and the factor
    np.array([[2.0**30, 2.0**30], [2.0**30, 2.0**30 + 1.0]]),
    1.0,
)
ROUNDED = (  # 4 · 2251799864016896 is (2²⁶ + 1) (2²⁷ + 1) − 1, and the product rounds to it
    np.array([[2.0**26 + 1.0, 2251799864016896.0], [4.0, 2.0**27 + 1.0]]),
    (2.0**27 + 1.0) / 4.0,
)
CHECKS = {  # a condition of `check_dependence`, what a mutant has in its place, and rows for which that is wrong
    "nearly equal": ("B @ K == others", "np.isclose(B @ K, others)", NEARLY),
    "sums are not limited": (") < MAX_EXACT_SUM\n        )", ") < np.inf\n        )", ROUNDED),
}


@pytest.mark.parametrize("name", CHECKS)
def test_columns_that_nearly_depend_are_told_apart(name):
    condition, other, (T, factor) = CHECKS[name]
    source, changed = getsource(check_dependence), {**vars(rigorous)}
    assert source.count(condition) == 1
    assert int(T[0, 0]) * int(T[1, 1]) != int(T[1, 0]) * int(T[0, 1])  # they are independent
    exec(source.replace(condition, other), changed)
    asked = T, np.array([0]), np.array([1]), np.array([[factor]])
    assert not check_dependence(*asked)
    assert changed["check_dependence"](*asked)


def test_a_stretch_below_zero_proves_nothing():
    """A matrix C that is too long has a bound far below 0, which is no length."""
    A, C = np.array([[1.0]]), np.array([[2.0**10]])
    s = bound_stretch(A, C, FIXED.product(A, C))
    assert s < 0.0
    assert rigorous.Bound(1.0, s).ratio == np.inf
    assert _signless.fget(rigorous.Bound(1.0, s)) < 1.0


def test_the_bound_refuses_and_exact_arithmetic_takes_over():
    Z = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0 + 2.0**-52, 1.0]])
    assert prove_contradiction(Z[:2], np.ones(2), bias=True) is not None  # the same row in both classes
    assert prove_contradiction(Z[1:], np.ones(2), bias=True) is None  # separable, by a rounding
    above = np.abs(np.random.default_rng(0).standard_normal((40, 3)))
    flat = np.array([[0.1, 0.2, 0.0], [0.7, 0.1, 0.0], [0.3, 0.9, 0.0]])
    X = np.vstack([above, flat, [flat.sum(axis=0) / 3.0], -above])  # the hulls touch in x3 = 0, and only there
    y = [1] * 43 + [0] * 41
    found = rb.certify(np.repeat(X, 5, axis=0), np.repeat(y, 5), proof="verdict")
    assert found.verdict == "inseparable"
    assert not isinstance(found, InseparableVerdict)
    assert found.verify(np.repeat(X, 5, axis=0), np.repeat(y, 5))


@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_verdict_is_verified_and_becomes_a_proof(form, bias):
    r = np.random.default_rng(0)
    X, y = (
        form(r.integers(-4, 5, (400, 6)) / 2.0 + r.integers(0, 2**20, (400, 6)) / 2.0**20),
        r.integers(0, 2, 400),
    )
    found = rb.certify(X, y, bias=bias, proof="verdict")
    assert isinstance(found, InseparableVerdict)
    assert found.spanning
    assert found.verify(X, y)
    assert not found.verify(X, 1 - y)
    assert found.proof.verify(X, y)
    assert found.proof is found.proof
    assert set(found.proof.support) <= set(found.support)
    assert "The exact proof is made by its attribute proof." in str(found)
    assert rb.certify.Certificate.from_json(found.to_json()).verify(X, y)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_verdict_on_rows_far_from_the_origin_verifies(bias, seed):
    """Its weights are often improved before the bound holds; it holds for those returned, and from them alone."""
    X, y = np.random.default_rng(seed).standard_normal((300, 5)) + 1e5, np.arange(300) % 2
    found = rb.certify(X, y, bias=bias, proof="verdict")
    assert found.verdict == "inseparable"
    assert found.verify(X, y)


def test_a_verdict_of_separable_rows_is_a_plane():
    X = np.random.default_rng(0).standard_normal((400, 3))
    found = rb.certify(X, X @ [1.0, 2.0, 3.0] > 0.0, proof="verdict")
    assert isinstance(found, Separable)
    assert (np.sign(X @ found.coef_[0] + found.intercept_[0]) == np.sign(X @ [1.0, 2.0, 3.0])).all()


@pytest.mark.parametrize("how", [{"proof": "float"}, {"proof": "verdict", "ties": True}])
def test_what_cannot_be_asked(how):
    with pytest.raises(ValueError, match="proof"):
        rb.certify([[0.0], [1.0]], [0, 1], **how)


def test_a_forged_verdict_does_not_hold():
    X = np.random.default_rng(0).standard_normal((500, 4))
    y = np.arange(500) % 2
    found = rb.certify(X, y, proof="verdict")
    for support in (found.support[:2], (0, 1, 2), (0, 0, 1)):
        forged = {"support": support, "weights": (1.0,) * len(support), "residual": 0.0, "stretch": 1.0}
        assert not InseparableVerdict(**{**vars(found), **forged}).verify(X, y)


def test_adversarial_problems():
    counts, wrong = attack(examples(400))
    assert not wrong
    assert sum(number for (_, found), number in counts.items() if found != "undecided") > examples(400) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_answer_to_100_000_adversarial_problems_is_wrong(seed):
    counts, wrong = attack(12_500, seed)
    assert not wrong
    assert sum(number for (_, found), number in counts.items() if found != "undecided") > 12_500 / 2


@property
def _signless(self):
    return self.residual / self.stretch if self.stretch != 0.0 else np.inf


def _divided(factor):
    return property(lambda self: self.residual / self.stretch / factor if self.stretch > 0.0 else np.inf)


def _doubled(T, weights, equilibrated=rigorous.equilibrate):
    A, p, q = equilibrated(T, weights)
    return 2.0 * A, p + 1, q


def _all_forced(X, y, bias, forced=shortcuts._force_dense):
    layer = forced(X, y, bias)
    return None if layer is None else layer._replace(rows=np.arange(len(X)))


MUTANTS = {
    "weights of twice the size": (rigorous, "equilibrate", _doubled, ["near", "ulp", "touching"]),
    "rows where the feature is c peel off too": (
        shortcuts,
        "_force_dense",
        _all_forced,
        ["touching", "integers"],
    ),
    "half the bound": (rigorous.Bound, "ratio", _divided(2.0), ["near", "ulp", "touching"]),
    "a bound of nearly nothing": (rigorous.Bound, "ratio", _divided(2.0**20), ["near", "ulp", "touching"]),
    "a stretch below 0": (rigorous.Bound, "ratio", _signless, ["near"]),
    "dependence unchecked": (rigorous, "check_dependence", lambda *_: True, ["singular", "collinear"]),
    "weights of 0": (rigorous, "scale_weights", lambda weights: np.maximum(weights, 0.0), ["touching", "near"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(mutant, monkeypatch):
    owner, name, changed, kinds = MUTANTS[mutant]
    monkeypatch.setattr(owner, name, changed)
    assert any(attack(500, seed, whole=0.0, kinds=kinds)[1] for seed in range(8))


@pytest.mark.parametrize("width", [4, 8, 9, 26])  # loops take eight rows at a time, and the rest singly
def test_the_loops_equal_blas_up_to_rounding(width):
    r = np.random.default_rng(0)
    A, b = r.standard_normal((61, width)), r.standard_normal(width)
    G = FIXED.gram(A)
    assert np.allclose(G, BLAS.gram(A), rtol=1e-13)
    assert np.allclose(FIXED.solver(G, 0.5)(b), BLAS.solver(G, 0.5)(b), rtol=1e-12)
    assert np.allclose(FIXED.times(A, b), A @ b, rtol=1e-12)
    assert FIXED.solver(-G, 0.0) is BLAS.solver(-G, 0.0) is None
    R = G.copy()
    assert not FIXED.factorise(G.copy(), 1e9)
    assert FIXED.factorise(R, 1e-9)
    assert np.allclose(np.triu(R), np.linalg.cholesky(G).T)
    assert np.allclose(FIXED.inverse(R), np.linalg.inv(np.triu(R)))
    more = np.hstack([A, A[:, :2] + A[:, 2:4]])
    R, pivots, rank = FIXED.triangle(FIXED.gram(more), 1e-9)
    assert rank == width
    assert sorted(pivots) == list(range(width + 2))
    C = FIXED.inverse(np.ascontiguousarray(R[:width, :width]))
    assert np.allclose(FIXED.gram(FIXED.product(more[:, pivots[:width]], C)), np.eye(width))


@pytest.mark.parametrize("bias", [True, False])
def test_rows_that_peel_off_leave_the_verdict_as_it_is(bias):
    X = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 2.0], [2.0, 4.0], [1.0, 4.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    shown = peel(X, y, bias=bias)
    assert shown.left.any() != bias  # x1 is at most 1 in one class and at least 1 in the other; then x2 decides
    decided = decide_in_floats(
        SeparationProblem(as_rows(np.repeat(X, 200, axis=0)), np.repeat(y, 200), bias=bias), Clock(None)
    )
    assert type(decided).__name__ == "Plane"


def test_wide_sparse_rows_peel_to_a_plane():
    r = np.random.default_rng(0)
    X = csr_array(r.integers(1, 4, (300, 2000)) * (r.random((300, 2000)) < 0.01).astype(float))
    y = r.integers(0, 2, 300)
    with pytest.warns(TrivialSeparationWarning):
        found = rb.certify(X, y)
    assert found.verdict == "separable"
    assert found.verify(X, y)


def test_the_first_of_equal_margins_are_chosen():
    values = np.random.default_rng(0).integers(0, 20, 5000).astype(float)
    assert sorted(choose_least(values, 700)) == sorted(np.argsort(values, kind="stable")[:700])


ENDS = """
import warnings
import numpy as np
import rosenblatt as rb
warnings.simplefilter("ignore")
for seed, (n, d, wrong) in enumerate([(900, 12, 0.1), (400, 40, 0.1), (5000, 6, 0.003)]):
    r = np.random.default_rng(seed)
    whole, X = r.integers(0, 4, (n, d)).astype(float), r.standard_normal((n, d))
    dependent = np.round(np.column_stack([X, X[:, 0], np.eye(4)[r.integers(0, 4, n)]]) * 64.0) / 64.0
    dependent[:, d] = dependent[:, 1] + dependent[:, 2]
    for rows in (X, whole, dependent):
        y = ((rows * np.arange(rows.shape[1])).sum(axis=1) > 2 * d) ^ (r.random(n) < wrong)
        model = rb.Perceptron().fit(rows, y)
        found = model.__dict__["certificate_"]
        print(model.stop_reason_, model.n_iter_, type(found).__name__, vars(found) | {"kept": None})
"""


@pytest.mark.slow
def test_a_fit_ends_alike_with_another_blas_and_another_processor():
    from numpy._core._multiarray_umath import __cpu_dispatch__ as faster

    plain = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(faster)}
    ends = [
        subprocess.run(
            [sys.executable, "-c", ENDS], env=os.environ | more, capture_output=True, text=True, check=True
        )
        for more in ({}, plain)
    ]
    assert ends[0].stdout == ends[1].stdout
    assert ends[0].stdout.count("inseparable") >= 9
