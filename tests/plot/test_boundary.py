"""What is drawn, asked of the artists themselves."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

from rosenblatt import Perceptron, TableEncoder
from rosenblatt.datasets import load_six_points, load_xor, make_diagonal
from rosenblatt.exceptions import DataTypeError, LabelError, ShapeError
from rosenblatt.geometry import geometric_margin, signed_distance
from rosenblatt.plot import boundary, regions

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lines(ax):
    """The line D, and the lines of the band."""
    drawn = [line.get_xydata() for line in ax.get_lines()]
    return drawn[:1], drawn[1:]


def scatters(ax):
    return {each.get_label(): np.asarray(each.get_offsets()) for each in ax.collections}


def arrow(ax):
    (found,) = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    return np.array(found.xyann), np.array(found.xy)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def model(w, b, classes=(-1, 1)):
    return SimpleNamespace(coef_=np.array([w]), intercept_=np.array([b]), classes_=np.array(classes))


W, B = [0.5, 1.0], 0.2


def test_the_six_points():
    X, y = load_six_points()
    ax = boundary(model(W, B), X, y)
    (line,), band = lines(ax)
    assert_allclose(signed_distance(line, W, B), 0, atol=1e-12)
    assert_allclose(line[:, 0], ax.get_xlim()[::-1])  # it spans the view from side to side
    margin = geometric_margin(X, y, W, B).min()
    assert_allclose(sorted(signed_distance(np.vstack(band), W, B)), [-margin, -margin, margin, margin])
    tail, tip = arrow(ax)
    assert_allclose(signed_distance(tail, W, B), 0, atol=1e-12)
    assert_allclose(np.cross([*W, 0], [*(tip - tail), 0]), 0, atol=1e-12)
    assert np.dot(tip - tail, W) > 0
    points = scatters(ax)
    assert_array_equal(points["class +1"], X[y > 0])
    assert_array_equal(points["class −1"], X[y < 0])
    assert legend(ax) == ["class +1", "class −1", "boundary, $f(x) = 0$", "margin $\\gamma$ = 0.179"]
    assert ax.get_aspect() == 1
    assert not ax.get_title()


def test_axes_of_other_units_have_their_own_scales():
    """Ages beside incomes fill the picture; the line and the arrow lie in it, and the sides are right."""
    X = np.array([[25, 20_000], [40, 30_000], [60, 40_000], [30, 60_000], [45, 70_000], [62, 80_000]], dtype=float)
    y = np.array([-1, -1, -1, 1, 1, 1])
    w, b = np.array([0.1, 0.0002]), -14.0
    ax = boundary((w, b), X, y)
    assert ax.get_aspect() == "auto"
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    assert (np.ptp(X, axis=0) > 0.5 * (high - low)).all()
    tail, tip = arrow(ax)
    assert_allclose(signed_distance(tail, w, b), 0, atol=1e-9)
    assert w @ (tip - tail) > 0
    assert (low < tip).all()
    assert (tip < high).all()
    badges = {text.get_text(): np.array(text.get_position()) for text in ax.texts if text.get_text() in "+−"}
    assert w @ badges["+"] + b > 0 > w @ badges["−"] + b
    assert all((low < place).all() and (place < high).all() for place in badges.values())


def test_everything_lies_in_the_view():
    X, y = load_six_points()
    ax = boundary((W, B), X, y)
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    for artist in [
        *X,
        *arrow(ax),
        *(np.array(text.get_position()) for text in ax.texts if text.get_text() in "+−"),
    ]:
        assert (low <= artist).all()
        assert (artist <= high).all()


def test_misclassified_points_are_ringed_and_there_is_no_band():
    X, y = load_six_points()
    ax = boundary(([1, 0.5], 0.0), X, y)
    assert_array_equal(scatters(ax)["misclassified"], X[[2, 4]])
    assert not lines(ax)[1]
    assert "misclassified" in legend(ax)


def test_a_vertical_line():
    X, y = load_xor()
    ax = boundary(([2.0, 0.0], -1.0), X, y)
    (line,), band = lines(ax)
    assert_array_equal(line[:, 0], [0.5, 0.5])
    assert_allclose(sorted(line[:, 1]), ax.get_ylim())
    assert not band
    assert_array_equal(scatters(ax)["misclassified"], [[0, 1], [1, 1]])


def test_a_zero_normal_has_no_line():
    ax = boundary(([0.0, 0.0], -1.0), *load_xor())
    assert not ax.get_lines()
    assert not ax.texts
    assert not ax.patches
    assert "no boundary" in ax.get_title()
    assert_array_equal(scatters(ax)["misclassified"], [[1, 0], [0, 1]])


def test_a_line_far_away():
    ax = boundary(([1.0, 0.0], -1e6), *load_xor())
    assert not ax.get_lines()
    assert "outside" in ax.get_title()
    assert len(ax.patches) == 1  # all of the view is negative


def test_a_line_somewhat_away_is_brought_into_view():
    ax = boundary(([1.0, 0.0], -1.6), *load_xor())
    assert lines(ax)[0]
    assert ax.get_xlim()[1] > 1.6


def test_names_of_classes_and_features():
    X, y = load_six_points()
    names = np.where(y > 0, "spam", "ham")
    ax = boundary(model(W, B, ["ham", "spam"]), X, names, feature_names=("length", "links"))
    assert legend(ax)[:2] == ["class spam", "class ham"]
    assert_array_equal(scatters(ax)["class spam"], X[y > 0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "links")
    assert legend(boundary((W, B), X, names))[:2] == ["class spam", "class ham"]


def test_the_model_decides_points_on_the_line():
    on_line = [[0.0, 0.0], [1.0, 1.0]]
    assert "misclassified" in legend(boundary(([1, 1], 0), on_line, [1, 1]))
    kind = model([1, 1], 0)
    kind.predict = lambda X: np.ones(len(X), int)
    ax = boundary(kind, on_line, [1, 1])
    assert "misclassified" not in legend(ax)


def test_given_axes_and_parts_left_out():
    _, given_ax = plt.subplots()
    ax = boundary((W, B), *load_six_points(), ax=given_ax, band=False, shade=False)
    assert ax is given_ax
    assert not lines(ax)[1]
    assert not ax.patches
    assert len(plt.get_fignums()) == 1


def test_the_sides_are_tinted_where_they_are():
    ax = boundary((W, B), *load_six_points())
    positive, negative = (patch.get_xy() for patch in ax.patches)
    assert signed_distance(positive, W, B).min() > -1e-12
    assert signed_distance(negative, W, B).max() < 1e-12
    signs = {text.get_text(): text.get_position() for text in ax.texts if text.get_text() in ("+", "−")}
    assert signed_distance(signs["+"], W, B) > 0
    assert signed_distance(signs["−"], W, B) < 0


@settings(max_examples=25)
@example(1e-313, 0.0, 1.0)
@given(st.floats(0, 2 * np.pi), st.floats(-0.9, 0.9), st.sampled_from([1e-200, 1e-3, 1.0, 1e200]))
def test_any_line_through_the_points(angle, offset, size):
    X, y = make_diagonal(10, seed=0)
    w, b = np.array([np.cos(angle), np.sin(angle)]) * size, offset * size
    assume(np.abs(signed_distance(np.zeros(2), w, b)) < 1)
    ax = boundary((w, b), X, y)
    (line,), _ = lines(ax)
    assert_allclose(signed_distance(line, w, b), 0, atol=1e-9)
    for x, height in line:
        assert (
            min(np.abs([*(x - np.array(ax.get_xlim())), *(height - np.array(ax.get_ylim()))])) < 1e-9
        )  # it ends at the rim
    plt.close(ax.figure)


@pytest.mark.parametrize("X, y", [([[1.0, 2.0]], [1]), ([[1, 2], [1, 2]], [1, 1])])
def test_few_points(X, y):
    ax = boundary(([1.0, 1.0], -2.5), X, np.array(y, dtype=int))
    assert len(lines(ax)[0]) == 1
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        (((W, B), np.ones((4, 3)), np.ones(4)), ShapeError, r"\(4, 3\)"),
        (((W, B), np.ones(2), np.ones(1)), ShapeError, "Expected 2D X"),
        (((W, B), np.empty((0, 2)), []), ShapeError, "X has no rows"),
        (((W, B), np.ones((4, 2)), np.ones(3)), ShapeError, "4 rows"),
        ((([1, 2, 3], B), np.ones((4, 2)), np.ones(4)), ShapeError, "two weights"),
        (((W, [1, 2]), np.ones((4, 2)), np.ones(4)), ShapeError, "one bias"),
        (((W, B), np.ones((3, 2)), [1, 2, 3]), LabelError, "two classes, got 3"),
        ((model(W, B), np.ones((2, 2)), [0, 1]), LabelError, "label 0 at row 0"),
    ],
)
def test_errors(arguments, error, words):
    with pytest.raises(error, match=words):
        boundary(*arguments)
    assert not plt.get_fignums()  # nothing half drawn


@pytest.mark.parametrize("kind", ["frame", "sparse", "tuples"])
def test_whatever_the_model_was_trained_on_can_be_drawn(kind):
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, 0.5]])
    y = ["b", "b", "a", "a"] if kind != "tuples" else [(1, 2), (1, 2), (0, 1), (0, 1)]
    given = {"frame": pd.DataFrame(X, columns=["length", "width"]), "sparse": csr_array(X), "tuples": X}[kind]
    ax = boundary(Perceptron().fit(given, y), given, y)
    assert ax.get_xlabel() == ("length" if kind == "frame" else "$x_1$")
    plt.close(ax.figure)


@pytest.mark.parametrize(
    "columns, says",
    [
        (
            ["mass", "sex", "wing"],
            r"numbers\. 'mass', 'wing' hold numbers: train a model on two of these",
        ),
        (["mass", "sex"], r"numbers\. Only 'mass' holds numbers; rb\.explain shows"),
        (["sex"], r"numbers\. No column holds numbers; rb\.explain shows"),
    ],
)
def test_a_pipeline_with_categories_names_what_can_be_drawn(columns, says):
    frame = pd.DataFrame({"mass": [1.0, 2.0, 8.0, 9.0], "sex": [*"mmff"], "wing": [3.0, 4.0, 1.0, 0.0]})
    pipeline = make_pipeline(TableEncoder(), Perceptron()).fit(frame[columns], frame["sex"])
    for draw in (boundary, regions):
        with pytest.raises(DataTypeError, match=says):
            draw(pipeline, frame[columns], frame["sex"])
    numbers = frame[["mass", "wing"]]
    boundary(make_pipeline(TableEncoder(), Perceptron()).fit(numbers, frame["sex"]), numbers, frame["sex"])


def test_sparse_weights_draw_the_same_line():
    X, y = load_six_points()
    clf = Perceptron().fit(X, y)
    dense = boundary(clf, X, y).lines[0].get_xydata()
    assert_array_equal(boundary(clf.sparsify(), X, y).lines[0].get_xydata(), dense)
