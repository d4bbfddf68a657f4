"""The regions that classifiers of any kind predict."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import ShapeError
from rosenblatt.plot import regions
from rosenblatt.plot.style import PALETTE


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def coloured(ax, place):
    """The colours of the regions that a place lies in."""
    tints = [each for each in ax.collections if each.get_alpha() == 0.13]
    return [
        tint.get_facecolor()[0][:3] for tint in tints if any(p.contains_point(place) for p in tint.get_paths())
    ]


def colour(name):
    return pytest.approx(to_rgb(name))


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_xor_by_a_kernel(layout):
    X, y = rb.datasets.load_xor()
    ax = regions(rb.KernelPerceptron("poly").fit(X, y), layout(X), y)
    for place, label in zip(X, y, strict=True):
        (found,) = coloured(ax, place)
        assert found == colour("#0072B2" if label > 0 else "#D55E00")
    assert "misclassified" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_three_classes_and_their_errors():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.1, 0.1]])
    clf = rb.Perceptron().fit(X[:3], ["a", "b", "c"])
    y = ["a", "b", "c", "b"]
    ax = regions(clf, X, y)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("class a", "class b", "class c"),
        "misclassified",
    ]
    for place, expected in zip(X[:3], PALETTE, strict=False):
        assert [each == colour(expected) for each in coloured(ax, place)] == [True]
    (ring,) = [each for each in ax.collections if each.get_label() == "misclassified"]
    assert_array_equal(ring.get_offsets(), X[3:])


def test_a_classifier_without_scores():
    model = SimpleNamespace(classes_=np.array([0, 1]), predict=lambda X: (np.asarray(X)[:, 0] > 0.5).astype(int))
    ax = regions(model, [[0.0, 0.0], [1.0, 1.0]], [0, 1])
    assert coloured(ax, (0.2, 0.5)) == [colour("#D55E00")]
    assert coloured(ax, (0.8, 0.5)) == [colour("#0072B2")]


def test_names_of_frames():
    pandas = pytest.importorskip("pandas")
    X, y = rb.datasets.load_xor()
    frame = pandas.DataFrame(X, columns=["cost ($)", "gain ($)"])
    ax = regions(rb.KernelPerceptron("poly").fit(frame, y), frame, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"cost (\$)", r"gain (\$)")


def test_more_features_have_no_plane():
    with pytest.raises(ShapeError, match="two features"):
        regions(SimpleNamespace(), np.eye(3), [0, 1, 0])
