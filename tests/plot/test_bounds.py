"""Mistakes below the bounds, and the cosine above what the proof says of it."""

from __future__ import annotations

from math import floor

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError, ShapeError
from rosenblatt.plot import bounds
from rosenblatt.theory.proof import proof_quantities

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def six_points(**settings):
    X, y = rb.datasets.load_six_points()
    settings = {"bias": "radius", "order": "cyclic"} | settings
    return rb.Perceptron(**settings).fit(X, y), X, y


def drawn(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def levels(ax):
    """The height of each bound, by name."""
    return {
        name: line.get_ydata()[0]
        for label, line in drawn(ax).items()
        if label not in ("mistakes", "_end")
        for name in label.split(", ")
    }


def test_mistakes_and_bounds():
    clf, X, y = six_points()
    ax = bounds(clf, X, y)
    found = rb.bounds(X, y, model=clf)
    expected = {name: floor(each.value) for name, each in found.items() if each.observed == 11}
    assert levels(ax) == expected
    assert {"radius", "radius_padded", "start", "a_priori", "rounds_last"} <= set(expected)
    count = drawn(ax)["mistakes"]
    assert_array_equal(count.get_xdata(), np.arange(1, 12))
    assert_array_equal(count.get_ydata(), np.arange(1, 12))
    assert ax.get_yscale() == "log"
    texts = [text.get_text() for text in ax.texts]
    assert "11 mistakes" in texts
    assert "65: margin and radius" in texts
    assert "36: margin, rows with R as a feature, and 1 more" in texts
    assert drawn(ax)["radius"].get_linestyle() == "-"
    assert drawn(ax)["rounds_widest"].get_linestyle() == "--"


def test_the_cosine_and_what_it_is_at_least():
    clf, X, y = six_points(eta0=0.25)
    ax = bounds(clf, X, y)
    upper, lower = ax.figure.axes
    assert ax is upper
    found = proof_quantities(clf.trace_, X, y)
    assert_array_equal(drawn(lower)["of the run"].get_ydata(), found.cosine[1:])
    k, least = drawn(lower)["at least"].get_data()
    inside = k <= found.k[-1]
    proved = found.lower / np.sqrt(np.maximum(found.upper, 1e-300))
    assert_allclose(least[inside], np.interp(k[inside], found.k, proved), rtol=0.05)
    assert_allclose(least[0], proved[1])
    assert (np.interp(found.k[1:], k, least) <= found.cosine[1:] + 1e-12).all()
    most = rb.bounds(X, y, model=clf)["start"].value
    assert_allclose([k[-1], least[-1]], [most, 1.0])  # the bound is where it would be a cosine of 1
    assert_array_equal(upper.get_xlim(), lower.get_xlim())


@pytest.mark.parametrize("settings", [{"margin": 0.5}, {"eta0": 2.0, "bias": None}])
def test_a_start_and_a_margin(settings):
    X, y = rb.datasets.make_separable(100, 3, margin=0.1, seed=2)
    clf = rb.Perceptron(**settings).fit(X, y, coef_init=[0.3, -0.1, 0.2])
    ax = bounds(clf, X, y)
    assert set(levels(ax)) == {"start"}
    k, least = drawn(ax.figure.axes[1])["at least"].get_data()
    assert_allclose([k[-1], least[-1]], [rb.bounds(X, y, model=clf)["start"].value, 1.0])


def test_given_axes_hold_the_first_panel_alone():
    clf, X, y = six_points()
    figure, given_ax = plt.subplots()
    assert bounds(clf, X, y, ax=given_ax) is given_ax
    assert figure.axes == [given_ax]
    assert given_ax.get_xlabel() == "updates $k$"


@pytest.mark.parametrize("settings", [{}, {"eta0": 0.25}, {"margin": 5.0}])
def test_a_trace_is_drawn_as_its_model(settings):
    clf, X, y = six_points(**settings)
    own, of_trace = levels(bounds(clf, X, y)), levels(bounds(clf.trace_, X, y))
    assert set(of_trace) <= set(own)
    assert len(own) - len(of_trace) == (
        "a_priori" in own
    )  # which needs whole passes, of which a trace does not tell
    if not settings.get("margin"):
        assert of_trace == {name: own[name] for name in of_trace}
    else:  # its updates tell a margin that is at most what was asked for
        assert set(own) == {"start"}
        assert len(clf.trace_) <= of_trace["start"] <= own["start"]


def test_rows_that_do_not_separate():
    X, y = rb.datasets.make_separable(80, 3, margin=0.05, flip=0.1, seed=1)
    with pytest.warns(ConvergenceWarning):
        clf = rb.Perceptron(max_iter=3).fit(X, y)
    ax = bounds(clf, X, y)
    assert len(ax.figure.axes) == 1
    assert {"a_priori", "rounds_last", "rounds_soft"} == set(levels(ax))
    ax.figure.canvas.draw()


def test_lifted_rows():
    X, y = rb.datasets.load_or()
    clf = rb.LiftedPerceptron(a=0.5, order="cyclic").fit(X, y)
    ax = bounds(clf, X, y)
    assert len(ax.figure.axes) == 1
    assert levels(ax) == {"lifted": floor(rb.bounds(X, y, model=clf)["lifted"].value)}


def test_many_updates_are_thinned():
    X, y = rb.datasets.make_separable(400, 10, margin=0.0005, seed=3)
    clf = rb.Perceptron(bias=None).fit(X, y)
    ax = bounds(clf, X, y)
    count = drawn(ax)["mistakes"]
    assert clf.n_mistakes_ > 1000 >= count.get_xdata().size
    assert count.get_xdata()[-1] == clf.n_mistakes_
    k = drawn(ax.figure.axes[1])["of the run"].get_xdata()
    found = proof_quantities(clf.trace_, X, y)
    assert_array_equal(drawn(ax.figure.axes[1])["of the run"].get_ydata(), found.cosine[k])


def test_errors():
    clf, X, y = six_points()
    with pytest.raises(ShapeError, match="training data"):
        bounds(clf, X[:5], y[:5])
    with pytest.raises(ParameterError, match="fitted Perceptron"):
        bounds(rb.MaxMarginClassifier().fit(X, y), X, y)
    shrunk = rb.Perceptron(penalty="l2", alpha=0.01).fit(X, y)
    for model in (shrunk, shrunk.trace_):
        with pytest.raises(InputError, match="No bound on mistakes applies to this run: the penalty shrinks"):
            bounds(model, X, y)
    done = rb.Perceptron(order="cyclic").fit(X, y, coef_init=clf.coef_, intercept_init=clf.intercept_)
    assert done.n_mistakes_ == 0
    with pytest.raises(InputError, match="made no mistake"):
        bounds(done, X, y)
    assert not plt.get_fignums()
