"""The bound on pairs that are ranked holds on random problems that can be ranked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ParameterError


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=15)
def test_the_bound_holds(seed, margin):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, (12, 3)) / 4
    y, qid = X @ rng.integers(-4, 5, 3), rng.integers(0, 3, 12)
    try:
        found = rb.bounds(X, y, qid=qid)["pairs"]
    except ParameterError:
        return  # all y of each group are the same
    ranker = rb.RankingPerceptron(
        eta0=0.5, margin=margin, max_iter=20_000, n_iter_no_change=20_000, random_state=seed
    ).fit(X, y, qid=qid)
    assert ranker.stop_reason_ == "separated"
    bound = rb.bounds(X, y, qid=qid, model=ranker)["pairs"]
    assert bound.observed == ranker.n_updates_ <= bound.value
    assert bound.value >= found.value


def test_the_value_is_that_of_differences():
    X, y = [[0.0, 1.0], [3.0, 1.0], [9.0, 9.0]], [0, 1, 5]
    bound = rb.bounds(X, y, qid=[1, 1, 2])["pairs"]
    assert (bound.value, bound.rational) == (1.0, 1)  # the only pair is (3, 0): R = γ = 3


def test_what_cannot_be_ranked_has_no_bound():
    found = rb.bounds([[0.0], [1.0], [0.5]], [0, 2, 3], qid=[0, 0, 0])
    assert not found.separable
    assert "no vector ranks" in found["pairs"].reason
    with pytest.raises(LabelError, match="no pair"):
        rb.bounds([[0.0], [1.0]], [0, 2], qid=[0, 1])
    ranker = rb.RankingPerceptron().fit([[0.0], [1.0]], [0, 1])
    ranker.set_params(warm_start=True).fit([[0.0], [1.0]], [0, 1])
    assert "start" in rb.bounds([[0.0], [1.0]], [0, 1], model=ranker)["pairs"].reason
