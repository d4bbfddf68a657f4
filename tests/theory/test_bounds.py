"""Every bound against a direct evaluation by other means, and no run beyond any bound that speaks of it."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import (
    InputError,
    LabelError,
    NonFiniteError,
    ParameterError,
    ShapeError,
    UndecidedError,
)
from rosenblatt.rows.batch import as_batch
from rosenblatt.theory.training_set import TrainingSet, largest_square
from tests.shared.examples import examples
from tests.shared.margin_oracles import largest_margin
from tests.shared.outside_rule import CoolingPerceptron
from tests.shared.strategies import DYADIC, noisy, problems, quietly

BIASES = ["unit", "radius", None]


@st.composite
def separable_sets(draw, through_origin=None):
    """Integers or dyadic fractions with labels that some hyperplane gives them, through the origin or not."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    whole = st.integers(-6, 6)
    X = np.array(draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=n, max_size=n)), float)
    X *= draw(st.sampled_from([1.0, 1 / 8, 4.0]))
    w = np.array(draw(st.lists(whole, min_size=d, max_size=d)), float)
    b = 0.0 if through_origin or (through_origin is None and draw(st.booleans())) else draw(whole) * 0.5
    f = X @ w + b
    X, f = X[f != 0], f[f != 0]
    assume((f > 0).any() and (f < 0).any())
    return X, np.where(f > 0, 1, -1)


def trained(X, y, *, fit=None, **parameters):
    """Train until it separates."""
    clf = rb.Perceptron(max_iter=10**6, n_iter_no_change=10**6, **parameters)
    return quietly(clf.fit, X, y, **(fit or {}))


def check_all(found, model):
    """No bound is exceeded, and each value is at least the rational it was rounded from."""
    for bound in found.values():
        assert bound.applies == (not bound.reason)
        if bound.rational is not None:
            assert Fraction(bound.value) >= bound.rational
        if not bound.applies:
            assert bound.observed is None
        elif bound.limits == "mistakes" and model is not None:
            assert bound.observed == model.n_mistakes_
        if bound.observed is not None and bound.limits != "error":
            assert bound.observed <= bound.value, bound


# Theorems as tests.


@settings(max_examples=examples(100))
@given(
    data=separable_sets(),
    bias=st.sampled_from([*BIASES, 3]),
    eta=st.sampled_from([0.25, 1.0, 3.0]),
    order=st.sampled_from(["cyclic", "shuffle"]),
    seed=st.integers(0, 99),
    tie=st.sampled_from(["mistake", "sign", "correct"]),
)
def test_runs_from_zero_stay_within_every_bound(data, bias, eta, order, seed, tie):
    X, y = data
    clf = rb.Perceptron(bias=bias, eta0=eta, order=order, random_state=seed, tie=tie, max_iter=2000)
    clf = quietly(clf.fit, X, y)
    found = rb.bounds(X, y, model=clf)
    check_all(found, clf)
    assert found.separable
    if bias is not None:
        names = {"unit": ["padded", "offset"], "radius": ["radius", "radius_padded"], 3: []}[bias]
        assert all(found[name].applies for name in [*names, "start", "sweeps", "a_priori", "online"])
        assert found["rounds_widest"].applies


@settings(max_examples=examples(70))
@given(
    data=separable_sets(),
    bias=st.sampled_from(BIASES),
    eta=st.sampled_from([0.5, 1.0]),
    margin=st.sampled_from([0.0, 0.5, 3.0]),
    start=st.lists(st.integers(-9, 9), min_size=5, max_size=5),
    seed=st.integers(0, 99),
)
def test_runs_from_anywhere_with_any_margin_stay_within_theirs(data, bias, eta, margin, start, seed):
    X, y = data
    fit = {"coef_init": start[: X.shape[1]], "intercept_init": [0 if bias is None else start[-1]]}
    clf = rb.Perceptron(bias=bias, eta0=eta, margin=margin, random_state=seed, max_iter=2000)
    clf = quietly(clf.fit, X, y, **fit)
    found = rb.bounds(X, y, model=clf)
    check_all(found, clf)
    if bias is not None:
        assert found["start"].applies
    if margin:
        assert "margin" in found["a_priori"].reason


@settings(max_examples=examples(60))
@given(problem=problems(), bias=st.sampled_from([*BIASES, 2]), passes=st.integers(1, 6), seed=st.integers(0, 99))
def test_runs_that_do_not_separate_stay_within_theirs(problem, bias, passes, seed):
    assume(problem.X.any())
    clf = quietly(rb.Perceptron(bias=bias, max_iter=passes, random_state=seed).fit, *problem)
    found = rb.bounds(*problem, model=clf)
    check_all(found, clf)
    assert found["a_priori"].applies
    assert found["a_priori"].value <= clf.n_iter_ * len(problem.y)


@settings(max_examples=examples(60))
@given(problem=problems(), a=st.sampled_from([0.25, 0.5, 0.75, 0.9]), bias=st.sampled_from(BIASES))
def test_lifted_runs_stay_within_the_lifted_bound(problem, a, bias):
    assume(problem.X.any())
    clf = rb.LiftedPerceptron(a=a, bias=bias).fit(*problem)
    found = rb.bounds(*problem, model=clf)
    assert {name for name, each in found.items() if each.applies} <= {"lifted", "sweeps"}
    assert clf.n_mistakes_ <= found["lifted"].value
    assert clf.n_iter_ <= found["sweeps"].value
    assert found["lifted"].value == pytest.approx(clf.mistake_bound_, rel=1e-6)


def test_a_bound_that_is_met_exactly():
    """Orthogonal unit vectors: γ² = 1/d, and exactly R²/γ² = d mistakes: one less would be false."""
    X, y = np.vstack([np.eye(4), -np.eye(4)]), [1] * 4 + [-1] * 4
    clf = rb.Perceptron(bias=None, order="cyclic").fit(X, y)
    found = rb.bounds(X, y, model=clf)
    assert found["origin"].observed == found["origin"].value == found["unit_norm"].value == 4
    assert found["start"].value == 4


# Direct evaluations.


def padded(X, constant):
    return np.hstack([X, np.full((len(X), 1), constant)])


@settings(max_examples=examples(60))
@given(separable_sets())
def test_values_by_another_program(data):
    X, y = data
    found = rb.bounds(X, y)
    check_all(found, None)
    square = (X**2).sum(axis=1).max()
    R = np.sqrt(square)
    free = largest_margin(X, y)
    expected = {
        "radius": 4 * square / free**2,
        "radius_padded": 2 * square / largest_margin(padded(X, R), y, bias=False) ** 2,
        "padded": (square + 1) / largest_margin(padded(X, 1.0), y, bias=False) ** 2,
    }
    origin = largest_margin(X, y, bias=False)
    if origin > 1e-6:
        expected["origin"] = square / origin**2
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-5), name
    assert found["origin"].applies == (origin > 1e-6)
    assert found["unit_norm"].applies == (origin > 1e-6 and square <= 1)
    assert found["radius_padded"].value <= found["radius"].value * (1 + 1e-12)
    assert found["padded"].value <= found["offset"].value * (1 + 1e-12)
    widest = rb.MaxMarginClassifier().fit(X, y)
    offset = (widest.intercept_[0] / np.linalg.norm(widest.coef_)) ** 2
    assert found["offset"].value == pytest.approx((offset + 1) * (square + 1) / free**2, rel=1e-5)
    assert found["online"].value == pytest.approx(min(found["padded"].value, found["offset"].value) / len(y))
    assert found["sweeps"].value == np.floor(min(found["padded"].value, found["offset"].value)) + 1


@settings(max_examples=examples(40))
@given(
    data=separable_sets(through_origin=True),
    start=st.lists(st.integers(-9, 9), min_size=5, max_size=5),
    eta=st.sampled_from(DYADIC),
    margin=st.sampled_from([0.0, 1.0]),
    bias=st.sampled_from(BIASES),
)
def test_the_bound_from_a_start_by_counting_up(data, start, eta, margin, bias):
    """The value is where the inequality ends: true of it, up to rounding, and false a little above."""
    X, y = data
    w0, b0 = np.array(start[: X.shape[1]], float), 0.0 if bias is None else float(start[-1])
    clf = quietly(
        rb.Perceptron(bias=bias, eta0=eta, margin=margin, max_iter=5).fit, X, y, coef_init=w0, intercept_init=[b0]
    )
    k = rb.bounds(X, y, model=clf)["start"].value
    beta = clf.trace_.bias
    Z = padded(X, np.sqrt(beta))
    w = widest_through_origin(Z, y)
    gamma = (y * (Z @ w)).min()
    begun = np.append(w0, b0 / np.sqrt(beta) if beta else 0.0)

    def excess(k):
        C2 = (Z**2).sum(axis=1).max()
        return k * eta * gamma + begun @ w - np.sqrt(begun @ begun + k * (eta**2 * C2 + 2 * eta * margin))

    assert excess(k * (1 - 1e-6) - 1e-6) <= 1e-6 * (1 + k)
    assert excess(k * (1 + 1e-5) + 1e-5) > 0


def widest_through_origin(Z, y):
    clf = rb.MaxMarginClassifier(fit_intercept=False).fit(Z, y)
    return clf.coef_[0] / np.linalg.norm(clf.coef_[0])


def a_priori(v, Z, y, passes):
    C = np.sqrt((Z**2).sum(axis=1).max())
    losses = passes * np.maximum(0, 1 - y * (Z @ v)).sum()
    half = np.linalg.norm(v) * C / 2
    return (half + np.sqrt(half**2 + losses)) ** 2


@pytest.mark.parametrize("passes", [1, 7])
@pytest.mark.parametrize("bias, pad", [("unit", 1.0), (None, 0.0), (4.0, 2.0)])
def test_the_infimum_by_a_simplex_search(passes, bias, pad):
    X, y = noisy(200, 2, seed=1, flip=0.05)
    clf = quietly(rb.Perceptron(bias=bias, max_iter=passes).fit, X, y)
    found = rb.bounds(X, y, model=clf)["a_priori"]
    Z = padded(X, pad)
    rng = np.random.default_rng(0)
    best = min(
        minimize(
            a_priori, rng.standard_normal(3), (Z, y, clf.n_iter_), "Nelder-Mead", options={"maxiter": 4000}
        ).fun
        for _ in range(8)
    )
    assert found.value == pytest.approx(min(best, clf.n_iter_ * 200), rel=2e-3)
    assert found.value >= best * (1 - 1e-6)


def test_the_bounds_over_mistakes_by_hand():
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(bias="radius", order="cyclic").fit(X, y)
    found = rb.bounds(X, y, model=clf)
    Z = padded(X, np.sqrt(8))
    t = clf.trace_.index
    w = widest_through_origin(Z, y)
    v = w / (y * (Z @ w)).min()
    value = np.maximum(0, 1 - y[t] * (Z[t] @ v)).sum() + np.linalg.norm(v) * np.sqrt((Z[t] ** 2).sum())
    assert found["rounds_widest"].value == pytest.approx(value, rel=1e-9)
    assert found["rounds_widest"].observed == 11
    # The last hypothesis, at whatever scale: the norm that is told says which.
    last = np.append(clf.coef_[0], clf.intercept_[0] / np.sqrt(8))
    v = last / np.linalg.norm(last) * found["rounds_last"].uses["‖v‖"][0]
    value = np.maximum(0, 1 - y[t] * (Z[t] @ v)).sum() + np.linalg.norm(v) * np.sqrt((Z[t] ** 2).sum())
    assert found["rounds_last"].value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("bias, pad", [(None, 0.0), ("unit", 1.0)])
def test_the_pocket_theorem_by_its_formula(bias, pad):
    X, y = noisy(400, 3, seed=2)
    gamma, delta = 0.3, 0.1
    clf = quietly(rb.PocketPerceptron(pocket_margin=gamma, bias=bias, max_iter=20).fit, X, y)
    found = rb.bounds(X, y, model=clf, delta=delta)
    Z, w = padded(X, pad), np.append(clf.coef_[0], clf.intercept_[0] / pad if pad else 0.0)
    C = np.linalg.norm(Z, axis=1).max()
    margins = y * (Z @ w) / np.linalg.norm(w) / C
    M = np.mean(margins < gamma / C)
    D = np.log(400 / delta) / ((gamma / C) ** 2 * 400)
    assert found["pocket"].value == pytest.approx(M + np.sqrt(M + 4 * D) + 8 * D, rel=1e-12)
    assert found["pocket_usual"].value == pytest.approx(M + np.sqrt(M * 4 * D) + 8 * D, rel=1e-12)
    assert found["pocket"].value >= found["pocket_usual"].value
    assert {"rounds_pocket", "rounds_last"} <= set(found)
    if bias is None:  # the pocket measures margins as the theorem does
        assert M == clf.pocket_errors_ / 400


# Quantities.


@given(problems(largest=9))
def test_the_radius_is_exact(problem):
    X = problem.X / 7
    expected = max(sum(Fraction(value) ** 2 for value in x) for x in X.tolist())
    assert TrainingSet(X, problem.y).square == expected
    assert largest_square(as_batch(csr_array(X), problem.y)) == expected
    assert largest_square(as_batch(X * 2.0**900, problem.y)) == expected * 4**900


@pytest.mark.parametrize("seed", [2, 5, 13, 18])
def test_unit_rows_whose_norms_differ_by_rounding(seed):
    """The rows that are longest in floats are not the longest, as of these seeds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    exact = max(sum(Fraction(value) ** 2 for value in x) for x in X.tolist())
    assert TrainingSet(X, X[:, 0] > 0).square == exact


def test_floats_sums_are_certified():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((200, 7)) * 1e3, rng.choice([-1, 1], 200)
    sample, w, b = TrainingSet(X, y), rng.standard_normal(7) * 1e-3, 0.1
    f = [
        sum(Fraction(p) * Fraction(q) for p, q in zip(w.tolist(), x, strict=True)) + Fraction(b)
        for x in X.tolist()
    ]
    losses = [max(Fraction(0), 1 - int(label) * value) for label, value in zip(y, f, strict=True)]
    for power in (1, 2):
        true = sum(each**power for each in losses)
        assert true <= Fraction(sample.hinges(w, b, power)) <= true * (1 + Fraction(1, 10**9))
    times = rng.integers(0, 5, 200)
    squares = [sum(Fraction(value) ** 2 for value in x) + Fraction(1, 3) for x in X.tolist()]
    true = sum(int(k) * square for k, square in zip(times, squares, strict=True))
    assert true <= Fraction(sample.squares(times, Fraction(1, 3))) <= true * (1 + Fraction(1, 10**9))
    assert sample.least(w, b) == min(int(label) * value for label, value in zip(y, f, strict=True))


def test_sums_are_certified_where_scores_cancel():
    """Scores of about 1 from products of 10¹²: what rounding may have taken is added, not forgotten."""
    rng = np.random.default_rng(4)
    far = rng.uniform(1, 2, 5) * 1e12
    X, y, w = np.column_stack([far, 0.3 - far]), np.array([1, -1, 1, -1, 1]), np.array([1.1, 1.1])
    f = [sum(Fraction(p) * Fraction(1.1) for p in x) for x in X.tolist()]
    for power in (1, 2):
        true = sum(max(Fraction(0), 1 - int(label) * value) ** power for label, value in zip(y, f, strict=True))
        assert true <= Fraction(TrainingSet(X, y).hinges(w, 0.0, power)) <= true * Fraction(101, 100)


@pytest.mark.parametrize("scale", [1e-160, 1e160, 1e300])
def test_data_of_any_scale(scale):
    X, y = rb.datasets.load_six_points()
    unit, found = rb.bounds(X, y), rb.bounds(X * scale, y)
    for name in ("radius", "radius_padded", "origin"):
        assert found[name].value == pytest.approx(unit[name].value, rel=1e-9), name


# What does not apply, and what is refused.


@pytest.mark.parametrize(
    "parameters, fit, word",
    [
        ({"penalty": "l2"}, {}, "penalty"),
        ({"class_weight": {1: 2.0}}, {}, "weights"),
        ({}, {"sample_weight": [2] * 6}, "weights"),
        ({"tie": "half"}, {}, "half"),
        ({"trace": "counts"}, {}, "counts only"),
        ({"bias": None}, {"intercept_init": [1.0]}, "never moves"),
    ],
)
def test_runs_of_which_no_theorem_speaks(parameters, fit, word):
    X, y = rb.datasets.load_six_points()
    clf = quietly(rb.Perceptron(max_iter=5, **parameters).fit, X, y, **fit)
    found = rb.bounds(X, y, model=clf)
    assert not any(each.applies for each in found.values())
    assert word in found["start"].reason
    assert word in found["a_priori"].reason


def test_the_rule_decides_which_bounds_speak():
    X, y = rb.datasets.load_six_points()
    speak = {"unit": {"padded", "offset"}, "radius": {"radius", "radius_padded"}, None: {"origin"}}
    for bias, names in speak.items():
        found = rb.bounds(X, y, model=trained(X, y, bias=bias))
        others = set().union(*speak.values()) - names
        assert all(found[name].applies for name in names)
        assert not any(found[name].applies for name in others)
    random = rb.bounds(X, y, model=trained(X, y, order="random"))
    assert random["padded"].applies
    assert not random["sweeps"].applies
    assert not random["a_priori"].applies


def test_the_start_at_the_first_row_is_a_mistake_from_zero():
    X, y = rb.datasets.make_separable(40, 3, margin=0.1, seed=1)
    clf = trained(X, y, bias=None, init="first", tie="correct")
    found = rb.bounds(X, y, model=clf)
    assert found["origin"].applies
    assert found["unit_norm"].applies
    assert "not counted" in found["a_priori"].reason
    elsewhere = trained(X, y, bias=None, fit={"coef_init": [1.0, 2.0, 3.0]})
    assert "not the origin" in rb.bounds(X, y, model=elsewhere)["origin"].reason


def test_relatives_and_streams():
    X, y = rb.datasets.make_separable(60, 3, margin=0.1, seed=0)
    voted = rb.bounds(X, y, model=rb.VotedPerceptron().fit(X, y))
    assert voted["padded"].applies
    stream = rb.Perceptron(trace="mistakes")
    for part in (slice(0, 30), slice(30, 60)):
        stream.partial_fit(X[part], y[part], classes=[-1, 1])
    found = rb.bounds(X, y, model=stream)
    assert found["padded"].observed == stream.n_mistakes_
    assert found["sweeps"].reason == found["a_priori"].reason == "a stream has no passes"


def test_bad_input():
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron().fit(X, y)
    for delta in (0, 1, -0.5, "a", np.nan):
        with pytest.raises(ParameterError, match="delta"):
            rb.bounds(X, y, delta=delta)
    with pytest.raises(ParameterError, match="Pass a fitted"):
        rb.bounds(X, y, model=rb.Perceptron())
    with pytest.raises(ParameterError, match="Pass a fitted"):
        rb.bounds(X, y, model=rb.MaxMarginClassifier().fit(X, y))
    with pytest.raises(ParameterError, match="one hyperplane"):
        rb.bounds(X, y, model=quietly(rb.Perceptron().fit, X, [0, 1, 2, 0, 1, 2]))
    with pytest.raises(ShapeError, match="training data"):
        rb.bounds(X[:5], y[:5], model=clf)
    with pytest.raises(InputError, match="not the data of the run"):
        rb.bounds(X * 2, y, model=clf)
    with pytest.raises(LabelError, match="trained on"):
        rb.bounds(X, ["a", "b"] * 3, model=clf)
    with pytest.raises(LabelError):
        rb.bounds(X, [0, 1, 2, 0, 1, 2])
    with pytest.raises(LabelError):
        rb.bounds(X, np.ones(6))
    with pytest.raises(NonFiniteError):
        rb.bounds(np.where(X == 1, np.nan, X), y)


def test_tables_and_plain_values():
    X, y = rb.datasets.load_or()
    found = rb.bounds(X, y, model=rb.Perceptron(order="cyclic").fit(X, y))
    lines = str(found).splitlines()
    assert lines[0].split() == ["bound", "author", "at", "most", "observed", "rule", "with"]
    padded = next(line for line in lines if line.startswith("padded"))
    assert padded.split()[:5] == ["padded", "Zhang", "2024", "27", "9"]
    assert "Assumptions" in lines
    assert 'radius (Koski 2017): it is about bias="radius", but the model has bias="unit"' in lines
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["separable"] is True
    assert [each["name"] for each in plain["bounds"]] == list(found)
    assert {each["name"]: each["rational"] for each in plain["bounds"]}["padded"] == "27"
    assert all(each["value"] is None or np.isfinite(each["value"]) for each in plain["bounds"])


def test_values_are_shown_rounded_up():
    found = rb.bounds(*rb.datasets.load_six_points())
    line = next(line for line in str(found).splitlines() if line.startswith("padded"))
    assert float(line.split()[2]) >= found["padded"].value > 31.1538


def test_sparse_rows_have_the_same_bounds():
    X, y = rb.datasets.load_spam_table()
    dense, sparse = rb.bounds(X, y), rb.bounds(csr_array(X), y)
    for name in ("radius", "padded", "offset", "origin"):
        assert dense[name].rational == sparse[name].rational
    X, y = rb.datasets.make_separable(50, 4, margin=0.1, seed=3)
    X = X.astype(np.float32)  # as the exact doubles of its values
    for table in (csr_array(X), X, X.astype(float)):
        clf = trained(table, y, init="first")
        check_all(rb.bounds(table, y, model=clf), clf)
    narrow, wide = rb.bounds(X, y), rb.bounds(csr_array(X.astype(float)), y)
    assert narrow["radius"].rational == wide["radius"].rational


def test_labels_are_whatever_they_are():
    X, y = rb.datasets.load_or()
    words = np.where(y > 0, "yes", "no")
    clf = trained(X, words, order="cyclic")
    found = rb.bounds(X, words, model=clf)
    assert (found["padded"].value, found["padded"].observed) == (27.0, 9)


def test_time_may_be_over():
    X, y = rb.datasets.make_separable(60, 5, margin=0.1, seed=0)
    with pytest.raises(UndecidedError, match="The bounds are not known: Time"):
        rb.bounds(X, y, time_limit=0)
    assert rb.bounds(X, y, time_limit=100).to_dict() == rb.bounds(X, y).to_dict()
    with pytest.raises(ParameterError, match=r"time_limit=.* must be a finite number of at least 0"):
        rb.bounds(X, y, time_limit=-1)


def test_each_part_looks_at_the_clock():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 30)), rng.integers(0, 2, 400)
    sample = TrainingSet(X, y, Clock(0))
    with pytest.raises(Unsettled):
        sample.decision(bias=True)
    with pytest.raises(Unsettled):
        sample.seconds(2.0)
    assert 0.0 < TrainingSet(X, y, Clock(1000.0)).seconds(1e9) < 1e9
    assert TrainingSet(X, y).seconds(2.0) == 2.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_normalised_in_floats_have_the_unit_norm_bound(dtype):
    """A norm may be 1 + 1 ulp; the theorem then holds with the true R."""
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(dtype)
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = X[:, 0] > 0
    found = rb.bounds(X, y)
    assert largest_square(as_batch(X, y)) > 1
    assert found["unit_norm"].applies
    assert found["unit_norm"].formula == "R²/γ²"
    assert found["unit_norm"].rational == found["origin"].rational
    longer = rb.bounds(X * dtype(1.001), y)["unit_norm"]
    assert not longer.applies
    assert longer.reason == "a row is longer than 1; see 'origin'"


def test_a_bound_of_one_on_an_error_rate_is_vacuous():
    X, y = rb.datasets.load_or()
    clf = rb.PocketPerceptron(pocket_margin=0.1).fit(X, y)
    found = rb.bounds(X, y, model=clf)
    assert {name for name, each in found.items() if each.vacuous} == {"pocket", "pocket_usual", "online"}
    assert found["online"].at_most == "6.75 (vacuous)"
    assert found["online"].to_dict()["vacuous"]
    assert not found["padded"].vacuous
    assert str(found).count("(vacuous)") == 3
    many = np.random.default_rng(0).choice([-1.0, 1.0], (3000, 1))
    assert not rb.bounds(many, many[:, 0])["online"].vacuous


@settings(max_examples=examples(60))
@given(
    data=separable_sets(),
    w=st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    b=st.integers(-3, 3),
    gamma=st.sampled_from([None, 0.05, 0.5, 3.0]),
    bias=st.sampled_from(BIASES),
)
def test_at_any_hyperplane_and_margin_the_bounds_hold_and_are_no_better(data, w, b, gamma, bias):
    X, y = data
    w = w[: X.shape[1]]
    assume(any(w))
    clf = quietly(rb.Perceptron(bias=bias, max_iter=2000, order="cyclic").fit, X, y)
    best, found = rb.bounds(X, y, model=clf), rb.bounds(X, y, model=clf, w_star=w, b_star=b, gamma=gamma)
    check_all(found, clf)
    least = (y * (X @ w + b)).min()
    for name in ("radius", "radius_padded", "origin", "padded", "offset", "start"):
        if found[name].applies:
            assert least > 0
            if name == "offset":
                # The largest margin ρ, which it uses, need not give the least (b*² + 1)/ρ². That least value is
                # 1/γ² of the padded rows, so no hyperplane gives less than the padded bound.
                assert found[name].value >= best["padded"].value * (1 - 1e-12)
                continue
            assert found[name].value >= best[name].value * (1 - 1e-12)
            if gamma is not None:
                assert found[name].uses["γ"] == pytest.approx((gamma, gamma))


def test_bounds_at_a_hyperplane_by_hand():
    X, y = rb.datasets.load_or()
    found = rb.bounds(X, y, w_star=[1, 1], b_star=-0.5)
    assert found["padded"].rational == 27
    assert rb.bounds(X, y, w_star=[1, 1], b_star=-0.5, gamma=0.25)["padded"].rational == 48
    assert rb.bounds(X, y, w_star=[1, 1], b_star=-0.5, gamma=0.5)["padded"].reason == (
        "the margin of the hyperplane given is smaller than gamma"
    )
    assert found["origin"].reason == "the hyperplane given does not contain the origin"
    wrong = rb.bounds(X, y, w_star=[1, 0], b_star=-0.5, gamma=0.5)
    assert wrong["padded"].reason == "the hyperplane given does not separate the rows"
    # v = w*/(γ‖(w*, b*)‖) = (1, 0, −½)/(½·sqrt(5/4)); one row of four is on the wrong side.
    norm = np.hypot(1, 0.5)
    v = np.array([1, 0, -0.5]) / (0.5 * norm)
    losses = np.maximum(0, 1 - np.where(y > 0, 1, -1) * (np.c_[X, np.ones(4)] @ v)).sum()
    half = np.linalg.norm(v) * np.sqrt(3) / 2
    assert wrong["a_priori"].value == pytest.approx((half + np.sqrt(half**2 + losses)) ** 2)
    for bad in ({"gamma": 0.5}, {"b_star": 1.0}, {"w_star": [1, 1], "gamma": 0}, {"w_star": [0, 0]}):
        with pytest.raises(ParameterError):
            rb.bounds(X, y, **bad)
    with pytest.raises(ShapeError):
        rb.bounds(X, y, w_star=[1, 1, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_bound_of_the_perceptron_is_claimed_for_an_unknown_rule():
    # Its steps are logged as the perceptron's are, but weights move less: the theorems say nothing about it.
    X, y = rb.datasets.make_diagonal(60, seed=1)
    plain = rb.Perceptron(order="cyclic").fit(X, y)
    assert rb.bounds(X, y, model=plain)["padded"].applies
    found = rb.bounds(X, y, model=CoolingPerceptron(order="cyclic", max_iter=4, decide=False).fit(X, y))
    assert [name for name, bound in found.items() if bound.applies] == []
    assert "Cooling" in found["padded"].reason
