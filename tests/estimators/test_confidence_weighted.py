"""AROW and SCW-I: the reference, the problems they solve, and what every learner of the family promises."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Confidence
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.oracles.confidence import coefficients, train_confidence
from tests.shared.examples import slowly

RNG = np.random.default_rng(5)
X = RNG.integers(-8, 9, (36, 11)) / 8
TWO = (X[:, 0] + X[:, 1] + RNG.integers(-2, 3, 36) / 4 > 0).astype(int)
THREE = np.digitize(X[:, 0] - X[:, 2], (-0.5, 0.5))
WEIGHT = RNG.integers(0, 5, 36) / 2
PHI = NormalDist().inv_cdf(0.8)
RULES = {
    "arow": ({"r": 0.5}, Confidence(r=0.5)),
    "scw": ({"rule": "scw", "C": 0.5, "confidence": 0.8}, Confidence(C=0.5, phi=PHI, margin=0.0)),
}


@pytest.fixture(params=["dense", *slowly("sparse")])
def layout(request):
    return np.asarray if request.param == "dense" else csr_array


def quietly(**parameters):
    """Return a learner that ends on a limit without a warning: an average is never warned of."""
    return rb.ConfidenceWeightedClassifier(order="cyclic", average=True, n_iter_no_change=None, **parameters)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("how", ["two", "two weighted", "direct", *slowly("ovr", "ovo")])
def test_it_is_the_reference(name, how, layout):
    parameters, rule = RULES[name]
    weight = WEIGHT if how == "two weighted" else None
    y = TWO if how.startswith("two") else THREE
    multiclass = how if how in ("direct", "ovr", "ovo") else "direct"
    clf = quietly(multiclass=multiclass, max_iter=2, **parameters).fit(layout(X), y, sample_weight=weight)
    weights = None if weight is None else weight.tolist()
    sides = [[-1, 1]] if how.startswith("two") else None if how == "direct" else reference.sides(how, 3)
    true = train_confidence(
        X.tolist(), sides, y.tolist(), list(range(36)) * 2, rule, len(sides or [0] * 3), weights
    )
    np.testing.assert_allclose(np.atleast_2d(clf._state.last()), np.array(true.w, float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.variance_, np.array(true.s, float)[:, :-1], rtol=1e-9)
    np.testing.assert_allclose(clf.coef_, np.array(true.average, float)[:, :-1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("how", ["two", "direct", "ovr"])
def test_arow_is_the_reference_over_fractions(how):
    """Fractions grow threefold with each update, so there are few."""
    y = TWO if how == "two" else THREE
    few = [int(np.flatnonzero(y == label)[k]) for k in range(2) for label in np.unique(y)]
    rows = [[Fraction(value) for value in row[:2]] for row in X[few].tolist()]
    clf = quietly(multiclass="direct" if how == "two" else how, max_iter=1, r=0.5).fit(X[few][:, :2], y[few])
    sides = [[-1, 1]] if how == "two" else None if how == "direct" else reference.sides(how, 3)
    rule = Confidence(*map(Fraction, Confidence(r=0.5)))
    true = train_confidence(rows, sides, y[few].tolist(), range(len(few)), rule, len(sides or [0] * 3))
    assert isinstance(true.w[0][0], Fraction)
    np.testing.assert_allclose(np.atleast_2d(clf._state.last()), np.array(true.w, float), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(clf.variance_, np.array(true.s, float)[:, :-1], rtol=1e-12)


numbers = st.floats(-3, 3)


@given(numbers, st.floats(0.05, 4), st.floats(0.05, 4), st.floats(0.1, 2), numbers, st.floats(-0.9, 3))
@settings(deadline=None)
def test_no_other_gaussian_is_better(z, v, r, C, other_mean, other_spread):
    """Moved along the row, the mean and the precision minimise the divergence from the old ones plus the loss.

    With one feature x² = 1 and the old variance v, the divergence of N(m, s) from N(z, v) is
    ½(ln(v/s) + s/v + (m − z)²/v − 1).
    """

    def divergence(mean, s):
        return 0.5 * (math.log(v / s) + s / v + (mean - z) ** 2 / v - 1)

    def arow(mean, s):
        return divergence(mean, s) + (max(0.0, 1 - mean) ** 2 + s) / (2 * r)

    phi = 1.2

    def scw(mean, s):
        return divergence(mean, s) + C * max(0.0, phi * math.sqrt(s) - mean)

    other = z + other_mean, v / (1 + other_spread)
    for objective, rule in ((arow, Confidence(r=r)), (scw, Confidence(C=C, phi=phi, margin=0.0))):
        c, b = coefficients(rule, z, v)
        if c == 0 and rule.phi == 0:
            continue  # AROW leaves rows with a margin of 1 alone, variances included
        found = objective(z + c * v, v - b * v * v)
        assert found <= objective(*other) + 1e-9


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("y", [TWO, *slowly(THREE)], ids=["two", "three"])
@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr")])
def test_fit_replay_stream_and_blocks_leave_the_same_bits(name, y, multiclass, layout, tmp_path):
    rows = layout(X)
    options = {"multiclass": multiclass, "trace": "mistakes", **RULES[name][0]}
    fitted = quietly(max_iter=1, **options).fit(rows, y)
    assert np.array_equal(fitted.trace_.replay(rows, y).coef, np.squeeze(fitted.coef_))
    fitted.trace_.save(tmp_path / "trace.npz")
    assert np.array_equal(rb.Trace.load(tmp_path / "trace.npz").replay(rows, y).coef, np.squeeze(fitted.coef_))
    chunks, single = quietly(**options), quietly(**options)
    for part in (slice(0, 7), slice(7, 36)):
        chunks.partial_fit(rows[part], y[part], classes=np.unique(y))
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, classes=np.unique(y))
    blocks = quietly(max_iter=1, **options).fit_blocks(MemoryBlocks(as_batch(rows, y), np.array([0, 13, 36])))
    for other in [chunks, blocks, *([single] if isinstance(rows, np.ndarray) else [])]:
        assert other.coef_.tobytes() == fitted.coef_.tobytes()
        assert other.variance_.tobytes() == fitted.variance_.tobytes()
        assert (other.n_mistakes_, other.n_updates_) == (fitted.n_mistakes_, fitted.n_updates_)
    rb.save(chunks, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for each in (again, chunks):
        each.partial_fit(rows, y)
    assert again.coef_.tobytes() == chunks.coef_.tobytes()
    assert again.variance_.tobytes() == chunks.variance_.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_features_and_classes_that_come_later_have_a_variance_of_one(name):
    clf = rb.ConfidenceWeightedClassifier(**RULES[name][0])
    clf.learn_one({"a": 1.0}, "x", classes="grow").learn_one({"b": 2.0}, "y").learn_one({"c": 1.0, "a": 1.0}, "z")
    assert clf.variance_.shape == (3, 3)
    assert (clf.variance_ > 0.0).all()
    assert (clf.variance_ == 1.0).any()
    wide = csr_array((np.ones(2), ([0, 1], [5, 2**21])), (2, 2**21 + 1))
    clf = rb.ConfidenceWeightedClassifier(**RULES[name][0]).partial_fit(wide, [0, 1])
    assert (clf.variance_[0] < 1.0).sum() == 2


def test_a_resumed_checkpoint_has_the_same_variances(tmp_path):
    blocks = MemoryBlocks(as_batch(X, TWO))
    whole = quietly(max_iter=5).fit_blocks(blocks)
    part = quietly(max_iter=2).fit_blocks(blocks, checkpoint=tmp_path / "c")
    part.set_params(max_iter=5).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)
    assert part.variance_.tobytes() == whole.variance_.tobytes()
    assert part.coef_.tobytes() == whole.coef_.tobytes()


def test_a_warm_start_goes_on():
    whole = quietly(max_iter=4).fit(X, TWO)
    part = quietly(max_iter=2, warm_start=True).fit(X, TWO).fit(X, TWO)
    assert part.coef_.tobytes() == whole.coef_.tobytes()


def test_confidence_cannot_change_in_a_stream():
    clf = rb.ConfidenceWeightedClassifier(rule="scw").partial_fit(X, TWO)
    with pytest.raises(ParameterError, match="confidence cannot change"):
        clf.set_params(confidence=0.7)
    assert clf.confidence == 0.9


@pytest.mark.parametrize("wrong", [{"rule": "cw"}, {"r": 0}, {"C": -1}, {"confidence": 0.5}, {"confidence": 1.0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        rb.ConfidenceWeightedClassifier(**wrong).fit(X, TWO)


def test_the_lab_cannot_play_variances():
    clf = quietly(max_iter=1).fit(X, TWO)
    with pytest.raises(InputError, match="no place for variances"):
        clf.trace_.to_document(X, TWO)


@pytest.mark.parametrize(("rule", "reason"), [("arow", "margin"), ("scw", "separated")])
def test_a_pass_without_an_update_ends_training(rule, reason):
    clf = rb.ConfidenceWeightedClassifier(rule=rule, bias=None)
    clf.fit([[4.0, 0.0], [-4.0, 0.0]], [1, 0], coef_init=[[2.0, 0.0]])
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_, clf.n_updates_) == (reason, True, 1, 0)
    assert (clf.variance_ == 1.0).all()
