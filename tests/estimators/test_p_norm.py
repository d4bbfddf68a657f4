"""The p-norm perceptron: the reference, exact powers, scales, streams, blocks, checkpoints and files."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.learning.trace import Trace
from rosenblatt.loops.rules import Rule
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.oracles.linked import train_linked, winnow
from tests.shared.examples import slowly

RNG = np.random.default_rng(3)
X = RNG.integers(-3, 4, (40, 5)).astype(float)
Y = np.where(X @ [1, 2, -1, 0, 0] + RNG.integers(-2, 3, 40) > 0, 1, -1)
THREE = RNG.integers(0, 3, 40)
EXACT = Rule(1, 1, 0, 1, 1)  # whole numbers, so that fractions stay fractions
LAYOUTS = pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])


def fractions(rows):
    return [[Fraction(value) for value in row] for row in rows.tolist()]


@LAYOUTS
@pytest.mark.parametrize("p", [2, 3, 4, 7])
@pytest.mark.parametrize("average", [False, *slowly(True)])
def test_it_is_the_reference_in_rationals(layout, p, average):
    """Powers of small whole numbers are exact, so that floats and rationals are the same."""
    clf = rb.PNormPerceptron(p, order="cyclic", max_iter=3, average=average, decide=False, n_iter_no_change=9)
    with pytest.warns(match="max_iter") if not average else nothing():
        clf.fit(layout(X), Y)
    exact = train_linked(fractions(X), Y.tolist(), list(range(40)) * 3, p, EXACT)
    assert all(isinstance(w, Fraction | int) for w in exact.w)
    assert clf._state.w.tolist() == [float(w) for w in exact.w]
    assert clf._state.memory["dual"].theta.tolist() == [float(t) for t in exact.theta]
    assert clf.trace_.index.tolist() == [mistake.index for mistake in exact.mistakes]
    assert clf.trace_.score.tolist() == [float(mistake.score) for mistake in exact.mistakes]
    if average:
        np.testing.assert_allclose(clf.coef_[0], [float(w) for w in exact.average[:-1]], rtol=1e-13)
    assert clf.trace_.replay(layout(X), Y).coef.tobytes() == clf.coef_.tobytes()


def nothing():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.slow
@LAYOUTS
def test_with_p_2_it_is_the_perceptron(layout):
    shared = {"order": "cyclic", "decide": False, "max_iter": 7, "average": True}
    for multiclass in ("direct", "ovr", "ovo"):
        for y in (Y, THREE):
            ours = rb.PNormPerceptron(2, multiclass=multiclass, **shared).fit(layout(X), y)
            plain = rb.Perceptron(multiclass=multiclass, **shared).fit(layout(X), y)
            assert ours.coef_.tolist() == plain.coef_.tolist()
            assert ours.n_mistakes_ == plain.n_mistakes_


@given(st.integers(0, 10**6), st.integers(2, 20), st.sampled_from([2.0**-200, 2.0**-30, 2.0**40, 2.0**300]))
@settings(deadline=None, max_examples=25)
def test_the_rule_does_not_depend_on_the_scale(seed, p, scale):
    """Without a bias, a power of two changes no decision: where powers would leave the floats, θ is divided."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((20, 4))
    y = rows[:, 0] > 0
    runs = [
        rb.PNormPerceptron(p, bias=None, order="cyclic", max_iter=20, average=True).fit(each, y)
        for each in (rows, rows * scale)
    ]
    assert runs[0].trace_.index.tolist() == runs[1].trace_.index.tolist()
    assert all(np.isfinite(run.coef_).all() and run.coef_.any() for run in runs)
    assert runs[1].trace_.replay(rows * scale, y).coef.tobytes() == runs[1].coef_.tobytes()


def test_growing_sums_are_divided_on_the_way():
    """Each row outweighs all before it and contradicts them, so that each visit is a mistake."""
    rows, y = np.array([1.0, 0.25]) * 8.0 ** np.arange(40)[:, None], np.tile([1, -1], 20)
    clf = rb.PNormPerceptron(20, bias=None, order="cyclic", max_iter=1, average=True).fit(rows, y)
    assert clf._state.memory["dual"].unit[0] < 1.0
    assert np.isfinite(clf._state.w).all()
    exact = train_linked(fractions(rows), y.tolist(), range(40), 20, EXACT, root=0)
    assert clf.trace_.index.tolist() == [mistake.index for mistake in exact.mistakes] == list(range(40))
    theta = [float(t) * clf._state.memory["dual"].unit[0] for t in exact.theta]
    assert clf._state.memory["dual"].theta.tolist() == theta
    assert clf.trace_.replay(rows, y).coef.tobytes() == clf.coef_.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
def test_streams_and_blocks_leave_the_bits_of_a_fit(multiclass, tmp_path):
    parameters = {"p": 4, "multiclass": multiclass, "average": True}
    whole = rb.PNormPerceptron(order="cyclic", max_iter=1, **parameters).fit(X, THREE)
    chunks = rb.PNormPerceptron(**parameters).partial_fit(X[:17], THREE[:17], classes=[0, 1, 2])
    rb.save(chunks, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for each in (chunks, again, pickle.loads(pickle.dumps(chunks))):
        each.partial_fit(X[17:], THREE[17:])
        assert each.coef_.tobytes() == whole.coef_.tobytes()
    single = rb.PNormPerceptron(**parameters)
    for x, label in zip(X, THREE, strict=True):
        single.learn_one(x, label, classes=[0, 1, 2])
    assert single.coef_.tobytes() == whole.coef_.tobytes()
    blocks = MemoryBlocks(as_batch(X, THREE), np.array([0, 11, 30, 40]))
    assert rb.PNormPerceptron(order="cyclic", max_iter=1, **parameters).fit_blocks(blocks).coef_.tobytes() == (
        whole.coef_.tobytes()
    )


def test_a_run_goes_on_from_a_checkpoint(tmp_path):
    blocks = MemoryBlocks(as_batch(X, Y), np.array([0, 11, 30, 40]))
    parameters = {"p": 6, "order": "cyclic", "average": True, "decide": False, "n_iter_no_change": 99}
    whole = rb.PNormPerceptron(max_iter=6, **parameters).fit_blocks(blocks)
    place = tmp_path / "checkpoint"
    rb.PNormPerceptron(max_iter=2, **parameters).fit_blocks(blocks, checkpoint=place)
    resumed = rb.PNormPerceptron(max_iter=6, **parameters).fit_blocks(blocks, checkpoint=place, resume=True)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()


def test_names_are_learned_one_by_one():
    clf = rb.PNormPerceptron(3)
    for x, label in [({"a": 1.0}, "no"), ({"b": 1.0}, "yes"), ({"a": 1.0, "c": 2.0}, "no")] * 3:
        clf.learn_one(x, label)
    assert clf.predict_one({"a": 1.0}) == "no"
    assert clf.predict_one({"b": 1.0, "never": 9.0}) == "yes"


def test_a_trace_keeps_theta(tmp_path):
    first = rb.PNormPerceptron(4, order="cyclic", max_iter=2, average=True).fit(X, Y)
    first.set_params(warm_start=True).fit(X, Y)
    first.trace_.save(tmp_path / "run.npz")
    assert Trace.load(tmp_path / "run.npz").replay(X, Y).coef.tobytes() == first.coef_.tobytes()
    with pytest.raises(InputError, match="powers"):
        first.trace_.to_document(X, Y)


def test_scaled_blocks_are_predicted_as_they_were_trained():
    trained = rb.train("@iris", "p-norm", parameters={"average": True}, scale=True)
    found = rb.evaluate(trained.model, "@iris").accuracy
    assert found == trained.summary.trained_on.accuracy > 0.9


def test_the_power_is_chosen_by_the_number_of_features():
    for d, p in ((1, 2), (2, 2), (10, 4), (1000, 14)):
        rows = np.eye(d)[:2] if d > 1 else np.array([[1.0], [-1.0]])
        clf = rb.PNormPerceptron().fit(rows, [0, 1])
        assert clf.p_ == p
        assert rb.PNormPerceptron().partial_fit(rows, [0, 1]).p_ == p
    clf.set_params(p=4)
    with pytest.raises(ParameterError, match="p cannot change"):
        clf.partial_fit(rows, [0, 1])
    for wrong in (1, 2.5, True, "two", 65):
        with pytest.raises(ParameterError, match="whole number from 2"):
            rb.PNormPerceptron(wrong).fit(X, Y)


def test_few_of_many_features_cost_few_mistakes():
    """A disjunction of 5 of 300 features: the perceptron pays for all of them, the others for their logarithm."""
    rng = np.random.default_rng(0)
    rows = (rng.random((4000, 300)) < 0.1).astype(float)
    y = np.where(rows[:, :5].any(axis=1), 1, -1)
    plain = rb.Perceptron(order="cyclic", max_iter=1, average=True).fit(rows, y).n_mistakes_
    power = rb.PNormPerceptron(order="cyclic", max_iter=1, average=True).fit(rows, y).n_mistakes_
    _, halving = winnow(rows.astype(int).tolist(), y.tolist(), range(4000), 300)
    assert power < plain / 3
    assert halving < plain / 3
    assert power < 3 * halving
