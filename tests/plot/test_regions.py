"""The regions that classifiers of any kind predict."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.plot import regions
from rosenblatt.plot.style import LIGHT


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
    for place, expected in zip(X[:3], LIGHT.classes, strict=False):
        assert [each == colour(expected) for each in coloured(ax, place)] == [True]
    (ring,) = [each for each in ax.collections if each.get_label() == "misclassified"]
    assert_array_equal(ring.get_offsets(), X[3:])


def test_a_classifier_without_scores():
    model = SimpleNamespace(classes_=np.array([0, 1]), predict=lambda X: (np.asarray(X)[:, 0] > 0.5).astype(int))
    ax = regions(model, [[0.0, 0.0], [1.0, 1.0]], [0, 1])
    assert coloured(ax, (0.2, 0.5)) == [colour("#D55E00")]
    assert coloured(ax, (0.8, 0.5)) == [colour("#0072B2")]


def test_names_of_frames():
    X, y = rb.datasets.load_xor()
    frame = pd.DataFrame(X, columns=["cost ($)", "gain ($)"])
    ax = regions(rb.KernelPerceptron("poly").fit(frame, y), frame, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"cost (\$)", r"gain (\$)")


def test_more_features_have_no_plane():
    with pytest.raises(ShapeError, match="two features"):
        regions(SimpleNamespace(), np.eye(3), [0, 1, 0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boundary_draws_what_has_no_single_line_as_regions(n_classes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    kept = y >= 3 - n_classes
    X, y = X.loc[kept, ["petal length (cm)", "petal width (cm)"]], y[kept]
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(average=True)).fit(X, y)
    several = rb.Perceptron(average=True).fit(X, y)
    kernel = rb.KernelPerceptron("rbf", average=True).fit(X, y)
    for model in (pipeline, kernel) if n_classes == 2 else (pipeline, kernel, several):
        one, other = rb.plot.boundary(model, X, y), rb.plot.regions(model, X, y)
        for ax in (one, other):
            ax.figure.canvas.draw()
        assert np.array_equal(np.asarray(one.figure.canvas.buffer_rgba()), other.figure.canvas.buffer_rgba())
        assert one.get_xlabel() == "petal length (cm)"
        plain = rb.plot.boundary(model, X, y, shade=False, view=((0, 8), (0, 4)))
        assert plain.get_xlim() == (0, 8)
        assert len(plain.collections) < len(one.collections)


def test_boundary_says_what_it_can_draw():
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:]
    with pytest.raises(ParameterError, match=r"model is a dict\. Pass a fitted classifier"):
        rb.plot.boundary({}, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = rb.Perceptron(max_iter=2).fit(X, y)
    with pytest.raises(LabelError, match=r"the run has 3\. Pass the classifier without update, or"):
        rb.plot.boundary(clf, X, y, update=1)


def test_numbers_are_no_signs_among_three_classes():
    X, y = load_iris(return_X_y=True)
    ax = rb.plot.regions(rb.Perceptron(average=True).fit(X[:, 2:], y), X[:, 2:], y)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:3] == ["class 0", "class 1", "class 2"]


def test_pipelines_are_drawn_by_their_last_step():
    """Runs, bounds and margins of a pipeline are those of the rows as its learner gets them."""
    X, y = rb.datasets.load_six_points()
    model = make_pipeline(StandardScaler(), rb.Perceptron(order="cyclic")).fit(X, y)
    clf, scaled = model[-1], model[:-1].transform(X)
    heights = [bar.get_height() for bar in plot.trace(model, X, y).patches]
    assert heights == list(clf.mistakes_per_pass_)
    assert len(plot.learning_curve(model).get_lines()[0].get_xdata()) == clf.n_iter_
    ours, theirs = (
        [line.get_ydata()[0] for line in plot.bounds(*each, y).get_lines()] for each in ((model, X), (clf, scaled))
    )
    assert ours == theirs
    least = min(y * (scaled @ clf.coef_[0] + clf.intercept_[0])) / np.linalg.norm(clf.coef_)
    assert f"{least:.3g}" in [text.get_text() for text in plot.margins(model, X, y).texts]
    assert plot.boundary(model, X, y, update=2).get_title() == ""
