"""The theorem of parameter mixing, on data whose margin is known exactly."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.distributed.mixing import PartialPass, PassCounts, mix_states, shares_of, weighted_mistakes
from rosenblatt.learning.state import State
from tests.oracles import mixing as oracle

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.sampled_from(["uniform", "mistakes"]))
def test_weights_are_those_of_the_reference(mistakes, kind):
    assert shares_of(mistakes, kind) == oracle.shares(mistakes, kind)
    assert sum(shares_of(mistakes, kind)) == 1
    assert weighted_mistakes(mistakes, kind) <= max(mistakes)


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=6),
    st.data(),
    st.sampled_from(["uniform", "mistakes"]),
)
def test_mixed_weights_are_those_of_the_reference(vectors, data, kind):
    counts = [data.draw(st.integers(0, 9)) for _ in vectors]
    before = State(np.array([1.0, 2.0, 3.0]))
    parts = [PartialPass(State(np.array(w)), PassCounts(k, 10)) for w, k in zip(vectors, counts, strict=True)]
    found = mix_states(before, parts, kind)
    shares = [float(share) for share in oracle.shares(counts, kind)]
    wanted = oracle.mix(vectors, shares) if any(counts) else before.w.tolist()
    if len(vectors) == 1:
        wanted = vectors[0]
    assert found.w.tolist() == wanted
    assert found.visits == 10 * len(vectors)


@pytest.mark.parametrize("kind", ["uniform", "mistakes"])
@pytest.mark.parametrize("bias", ["unit", "radius", None])
def test_weighted_mistakes_stay_below_the_bound(client, kind, bias):
    rng = np.random.default_rng(4)
    X = rng.integers(-4, 5, (120, 3)).astype(float)
    scores = X @ [3, -2, 1] + (2 if bias else 0)
    X, y = X[np.abs(scores) >= 2], np.where(scores[np.abs(scores) >= 2] > 0, 1, -1)
    cuts = [slice(k, k + 30) for k in range(0, len(X), 30)]
    model = rb.Perceptron(bias=bias, max_iter=500)
    rd.fit(model, [dask.delayed((X[c], y[c])) for c in cuts], client=client, mixing=kind)
    assert model.stop_reason_ == "separated"
    found = rb.bounds(X, y, model=model)
    assert 0.0 < found["mixed"].observed <= found["mixed"].value
    assert found["mixed"].observed == model.mixing_.weighted_mistakes
    assert not found["padded"].applies or bias != "unit"
    assert "mixed" in rb.bounds(X, y)
    assert not rb.bounds(X, y)["mixed"].applies


def test_the_bound_says_where_it_does_not_hold(client):
    X, y = np.array([[0.0, 1], [1, 0], [2, 0], [0, 2]]), np.array([1, 0, 0, 1])
    parts = [dask.delayed((X[:2], y[:2])), dask.delayed((X[2:], y[2:]))]
    for name, value in (("margin", 0.5), ("init", "random"), ("class_weight", {0: 2.0}), ("penalty", "l2")):
        model = rd.fit(rb.Perceptron(**{name: value}, max_iter=3), parts, client=client)
        assert not rb.bounds(X, y, model=model)["mixed"].applies


def test_a_model_keeps_how_it_was_mixed(client, tmp_path):
    X, y = np.array([[0.0, 1], [1, 0], [2, 0], [0, 2]]), np.array([1, 0, 0, 1])
    parts = [dask.delayed((X[:2], y[:2])), dask.delayed((X[2:], y[2:]))]
    model = rd.fit(rb.Perceptron(max_iter=3), parts, client=client)
    rb.save(model, tmp_path / "model")
    assert rb.load(tmp_path / "model").mixing_ == model.mixing_
    assert not hasattr(model.fit(X, y), "mixing_")
