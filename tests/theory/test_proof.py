"""The quantities of the proof along a run: against the path of weights, and on the right side of their lines."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import InputError, NotSeparableError, ParameterError
from rosenblatt.theory.proof import proof_quantities
from tests.shared.examples import examples
from tests.shared.strategies import problems, quietly, separable


@settings(max_examples=examples(60))
@given(
    problem=problems(),
    w=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    bias=st.sampled_from(["unit", "radius", None]),
    margin=st.sampled_from([0.0, 1.0]),
    start=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    weighted=st.booleans(),
)
def test_they_are_those_of_the_path(problem, w, bias, margin, start, weighted):
    X, y = problem
    d = X.shape[1]
    b = 0.0 if bias is None else float(w[-1])
    w = np.array(w[:d], float)
    assume((w.any() or b) and X.any())
    clf = rb.Perceptron(bias=bias, eta0=0.5, margin=margin, max_iter=4)
    fit = {"coef_init": start[:d], "intercept_init": [0 if bias is None else start[-1]]}
    fit["sample_weight"] = np.arange(1, len(y) + 1) if weighted else None
    clf = quietly(clf.fit, X, y, **fit)
    found = proof_quantities(clf.trace_, X, y, w, b, margin=margin)
    W, B = clf.trace_.path(X, y)
    root = np.sqrt(clf.trace_.bias)
    path = np.column_stack([W, B / root]) if root else W
    star = np.append(w, b / root) if root else w
    star = star / np.linalg.norm(star)
    assert found.inner == pytest.approx(path @ star, abs=1e-9)
    assert found.squared_norm == pytest.approx((path**2).sum(axis=1), abs=1e-9)
    lengths = np.linalg.norm(path, axis=1)
    some = lengths > 0
    assert found.cosine[some] == pytest.approx((path @ star)[some] / lengths[some], abs=1e-9)
    assert np.isnan(found.cosine[~some]).all()
    rows = np.column_stack([X, np.full(len(X), root)]) if root else X
    assert found.gamma == pytest.approx((y * (rows @ star)).min(), abs=1e-12)
    assert found.radius == pytest.approx(np.linalg.norm(rows, axis=1).max())
    steps = np.append(0.0, clf.trace_.step)
    lines = steps * found.gamma, steps**2 * found.radius**2 + 2 * steps * margin
    assert found.lower == pytest.approx(path[0] @ star + np.cumsum(lines[0]), abs=1e-9)
    assert found.upper == pytest.approx(path[0] @ path[0] + np.cumsum(lines[1]), abs=1e-9)
    assert (found.inner >= found.lower - 1e-9).all()
    assert (found.squared_norm <= found.upper + 1e-9).all()


def test_the_lines_are_those_of_the_proof():
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(bias="radius", order="cyclic", eta0=0.5).fit(X, y)
    found = proof_quantities(clf.trace_, X, y)
    k = np.arange(12)
    assert found.k.tolist() == k.tolist()
    gamma = np.sqrt(16 / rb.bounds(X, y)["radius_padded"].value)
    assert found.lower == pytest.approx(k * 0.5 * gamma)
    assert found.upper == pytest.approx(k * 0.25 * 16)
    # Where the lines cross is the bound.
    assert (gamma / 4) ** -2 == pytest.approx(rb.bounds(X, y, model=clf)["radius_padded"].value)


def test_by_default_it_is_the_widest_hyperplane_of_the_rule():
    X, y = separable(40, 3, seed=2)
    for bias in ("unit", None):
        clf = quietly(rb.Perceptron(bias=bias).fit, X, y)
        found = proof_quantities(clf.trace_, X, y)
        name = "origin" if bias is None else "padded"
        bound = rb.bounds(X, y, model=clf)[name]
        assert found.gamma == pytest.approx(bound.uses["γ"][0], rel=1e-12)


def test_what_is_refused():
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron().fit(X, y)
    with pytest.raises(ParameterError, match="zero"):
        proof_quantities(clf.trace_, X, y, [0, 0])
    with pytest.raises(ParameterError, match="2 finite numbers"):
        proof_quantities(clf.trace_, X, y, [1, 2, 3])
    with pytest.raises(InputError, match="not the data"):
        proof_quantities(clf.trace_, X + 1, y)
    with pytest.raises(ParameterError, match="without a bias"):
        proof_quantities(quietly(rb.Perceptron(bias=None).fit, X, y).trace_, X, y, [1, 1], 2.0)
    with pytest.raises(InputError, match="penalty"):
        proof_quantities(quietly(rb.Perceptron(penalty="l2", max_iter=3).fit, X, y).trace_, X, y)
    with pytest.raises(InputError, match="two classes"):
        proof_quantities(quietly(rb.Perceptron().fit, X, [0, 1, 2] * 2).trace_, X, [0, 1, 2] * 2)
    with pytest.raises(InputError, match="counts only"):
        proof_quantities(rb.Perceptron(trace="counts").fit(X, y).trace_, X, y)
    xor = rb.datasets.load_xor()
    trace = quietly(rb.Perceptron(max_iter=2).fit, *xor).trace_
    with pytest.raises(NotSeparableError, match="Pass w_star"):
        proof_quantities(trace, *xor)
    assert len(proof_quantities(trace, *xor, [1.0, 1.0], -0.5).k) == len(trace) + 1
