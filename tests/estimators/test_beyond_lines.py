"""What lines cannot do: a polynomial kernel is a perceptron on monomials, and XOR is solved in four ways."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.kernels import Linear, Polynomial
from tests.shared.examples import examples, slowly
from tests.shared.strategies import quietly

CLEAR = 1e-10
"""Of the sum of magnitudes: √2 is rounded in monomials, and what is nearer to a tie may fall either way."""


def mistakes_of_textbook(K, codes, n_classes, passes, margin, beta):
    """Return (visit, row, rival) of each mistake of cyclic passes, or None if a visit came near a tie."""
    machines = n_classes if n_classes > 2 else 1
    alpha, b = np.zeros((machines, len(K))), np.zeros(machines)
    mistakes = []
    for visit in range(passes * len(K)):
        i = visit % len(K)
        own = codes[i]
        f = alpha @ K[i] + b
        noise = CLEAR * float((np.abs(alpha) @ np.abs(K[i]) + np.abs(b)).max())
        if machines == 1:
            lead, rival = f[0] * (2 * own - 1), -1
        else:
            order = sorted((c for c in range(n_classes) if c != own), key=lambda c: (-f[c], c))
            rival = order[0]
            lead = f[own] - f[rival]
            untouched = not alpha[order[:2]].any()  # both scores are zero, however they are computed
            if f[order[0]] - f[order[1]] <= noise and not untouched:
                return None
        if abs(lead - margin) <= noise and noise:
            return None
        if lead <= margin:
            if machines == 1:
                alpha[0, i] += 2 * own - 1
                b += beta * (2 * own - 1)
            else:
                alpha[[own, rival], i] += [1, -1]
                b[[own, rival]] += [beta, -beta]
            mistakes.append((visit, i, rival))
    return mistakes


@st.composite
def tables(draw):
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 4))
    values = st.one_of(st.just(0.0), st.floats(-3, 3, allow_subnormal=False, width=32))
    return np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("degree", [1, 2, *slowly(3)])
@given(
    X=tables(),
    c=st.sampled_from([0.0, 1.0, 0.5]),
    sparse=st.booleans(),
    bias=st.sampled_from(["unit", None]),
    margin=st.sampled_from([0.0, 1.0]),
    data=st.data(),
)
@settings(max_examples=examples(100))
def test_a_polynomial_kernel_makes_the_mistakes_of_monomials(degree, n_classes, X, c, sparse, bias, margin, data):
    n = len(X)
    rest = st.lists(st.integers(0, n_classes - 1), min_size=n - n_classes, max_size=n - n_classes)
    y = np.array(data.draw(st.permutations([*range(n_classes), *data.draw(rest)])))
    expected = mistakes_of_textbook((X @ X.T + c) ** degree, y, n_classes, 6, margin, float(bias is not None))
    assume(expected is not None)
    table = csr_array(X) if sparse else X
    features = rb.MonomialMap(degree, c).fit_transform(table)
    assert issparse(features) == sparse
    rule = {"order": "cyclic", "bias": bias, "margin": margin, "max_iter": 6}
    ours = quietly(rb.KernelPerceptron(Polynomial(degree, c), **rule).fit, table, y)
    plain = quietly(rb.Perceptron(**rule, decide=False).fit, features, y)
    made = [mistakes(clf, n_classes) for clf in (ours, plain)]
    assert made[0] == made[1]
    assert made[0] == [each for each in expected if each[0] < ours.n_iter_ * n]
    assert ours.stop_reason_ == plain.stop_reason_
    np.testing.assert_allclose(
        ours.decision_function(table), plain.decision_function(features), rtol=1e-9, atol=1e-9
    )


def mistakes(clf, n_classes):
    trace = clf.trace_
    rivals = trace.machine.tolist() if n_classes > 2 else [-1] * len(trace)
    return list(zip(trace.visit.tolist(), trace.index.tolist(), rivals, strict=True))


def cards(X):
    """Light the left and the right half of a retina."""
    images = np.zeros((len(X), 20, 20))
    for image, (left, right) in zip(images, X, strict=True):
        image[6:14, 1:9], image[6:14, 11:19] = left, right
    return images.reshape(len(X), -1)


FOUR_WAYS = {
    "monomials": (make_pipeline(rb.MonomialMap(2), rb.Perceptron()), np.asarray),
    "kernel": (rb.KernelPerceptron(Polynomial(2, 1)), np.asarray),
    "network": (rb.MultilayerPerceptron(hidden_layer_sizes=4), np.asarray),
    "Mark I": (rb.MarkOne(), cards),
}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("way", FOUR_WAYS)
def test_xor_in_four_ways(way, seed):
    X, y = rb.datasets.load_xor()
    clf, seen = FOUR_WAYS[way]
    last = clf[-1] if way == "monomials" else clf
    last.set_params(random_state=seed)
    assert (clf.fit(seen(X), y).predict(seen(X)) == y).all()


def test_a_line_does_not_solve_xor():
    X, y = rb.datasets.load_xor()
    assert quietly(rb.KernelPerceptron(Linear()).fit, X, y).score(X, y) < 1.0
    assert quietly(rb.Perceptron().fit, X, y).score(X, y) < 1.0
