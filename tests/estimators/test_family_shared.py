"""What the perceptron and its relatives do alike: one start, one record, one way of becoming a result."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from tests.shared.strategies import quietly, separable

STREAMS = (rb.Perceptron, rb.VotedPerceptron)
BATCHES = (rb.PocketPerceptron, rb.LiftedPerceptron, rb.SoftMarginClassifier, rb.MaxMarginClassifier)
STARTED = (rb.Perceptron, rb.VotedPerceptron, rb.PocketPerceptron)


@pytest.mark.parametrize("kind", STARTED)
@pytest.mark.parametrize("init", ["first", "random"])
def test_a_bias_given_alone_stands_in_the_place_of_init(kind, init):
    X, y = separable(30, 3)
    clf = quietly(kind(init=init, max_iter=1).fit, X, y, intercept_init=[0.5])
    assert clf.trace_.start.w.tolist() == [0.0, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("kind", [rb.Perceptron, *BATCHES])
def test_coefficients_are_dense_again_after_a_new_fit(kind):
    X, y = separable(30, 3)
    clf = quietly(kind().fit, X, y).sparsify()
    assert issparse(clf.coef_)
    assert not issparse(quietly(clf.fit, X, y).coef_)


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.PocketPerceptron, rb.LiftedPerceptron])
def test_the_run_decides_whether_there_is_a_trace(kind):
    X, y = separable(30, 3)
    clf = kind().fit(X, y).set_params(trace=None)
    assert len(clf.trace_) == clf.n_mistakes_
    clf.fit(X, y).set_params(trace="auto")
    with pytest.raises(AttributeError, match="kept no trace"):
        _ = clf.trace_


def test_a_stream_decides_whether_there_is_a_trace():
    X, y = separable(30, 3)
    clf = rb.Perceptron(trace=None).fit(X, y).set_params(trace="mistakes").partial_fit(X, y)
    assert len(clf.trace_) == clf.mistakes_per_pass_[-1]
    clf = rb.Perceptron().fit(X, y).set_params(trace=None).partial_fit(X, y)
    with pytest.raises(AttributeError, match="kept no trace"):
        _ = clf.trace_


@pytest.mark.parametrize("kind", [*STREAMS, *BATCHES])
def test_an_untrained_estimator_names_only_what_it_can_do(kind):
    said = "Call fit or partial_fit first" if kind in STREAMS else "Call fit first"
    with pytest.raises(NotFittedError, match=said):
        kind().predict(np.zeros((1, 2)))
