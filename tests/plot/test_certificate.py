"""Proofs as drawn: hulls, the point in both, the band between, strips and tables."""

from __future__ import annotations

import warnings
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import Certificate
from rosenblatt.exceptions import InputError, ParameterError, TrivialSeparationWarning, UndecidedError
from rosenblatt.geometry import signed_distance
from rosenblatt.plot import certificate, style
from rosenblatt.plot.plane import convex_hull

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from tests.shared.examples import examples

XOR = rb.datasets.load_xor()
SIX = rb.datasets.load_six_points()
TIED = (
    np.array([[0, 0], [1, 0], [2, 0], [0.5, 1], [1.5, 1.5], [2.5, 1], [0.5, -1], [1.5, -0.7]]),
    np.array([1, -1, 1, 1, 1, 1, -1, -1]),
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def scatters(ax):
    return {each.get_label(): np.asarray(each.get_offsets()) for each in ax.collections}


def lines(ax, label):
    return [line.get_xydata() for line in ax.get_lines() if line.get_label() == label]


def weights(ax):
    return {(text.get_text(), *text.xy) for text in ax.texts}


def again(found):
    """The certificate as it is read from a file."""
    return Certificate.from_json(found.to_json())


@pytest.mark.parametrize("read", [False, True])
def test_xor(read):
    X, y = XOR
    found = rb.certify(X, y)
    ax = certificate(again(found) if read else found, X, y)
    drawn = scatters(ax)
    assert_array_equal(drawn["point in both hulls"], [[0.5, 0.5]])
    assert_array_equal(drawn["rows combined"], X)
    assert_array_equal(drawn["class +1"], X[y > 0])
    assert_array_equal(drawn["class −1"], X[y < 0])
    assert weights(ax) == {("½", *x) for x in X.tolist()}
    assert_array_equal([share[0] for share in lines(ax, "_share")], X)
    assert_array_equal([share[1] for share in lines(ax, "_share")], [[0.5, 0.5]] * 4)
    assert ax.get_title() == "inseparable: a point lies in both hulls"
    assert not lines(ax, "line with ties")


def test_the_point_is_the_exact_one_and_the_weights_are_those_of_their_rows():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0], [9.0, 9.0]])
    y = np.array([0, 0, 0, 1, 1])
    found = rb.certify(X, y)
    ax = certificate(found, X, y)
    assert_allclose(scatters(ax)["point in both hulls"], [[float(value) for value in found.point]])
    assert {text for text, *_ in weights(ax)} <= {"½", "¼", "1"}
    for text, *place in weights(ax):
        row = int(np.flatnonzero((X == place).all(axis=1))[0])
        share = found.weights[found.support.index(row)]
        assert {"½": Fraction(1, 2), "¼": Fraction(1, 4), "1": 1}[text] == share


def test_long_weights_are_rounded():
    rng = np.random.default_rng(5)
    y = np.repeat([-1, 1], 20)
    X = rng.standard_normal((40, 2)) + 0.9 * y[:, None]
    found = rb.certify(X, y)
    texts = [text.get_text() for text in certificate(found, X, y).texts]
    assert texts == [f"≈{float(weight):.2g}" if weight != 1 else "1" for weight in found.weights]


def test_hulls_are_filled():
    X, y = SIX
    ax = certificate(rb.certify(X, y), X, y)
    shapes = [patch.get_xy() for patch in ax.patches]
    assert {tuple(point) for point in shapes[0]} == {tuple(point) for point in X[y > 0]}
    assert {tuple(point) for point in shapes[1]} == {tuple(point) for point in X[y < 0]}
    colours = [patch.get_facecolor()[:3] for patch in ax.patches]
    assert colours == [to_rgb(style.POSITIVE), to_rgb(style.NEGATIVE)]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12))
def test_a_hull_is_convex_and_holds_every_point(points):
    X = np.array(points, dtype=float)
    hull = convex_hull(X)
    assert {tuple(corner) for corner in hull} <= {tuple(x) for x in X}
    if len(hull) < 3:
        assert np.linalg.matrix_rank(X - X[0]) == len(hull) - 1
        assert_array_equal(np.unique(X, axis=0)[[0, -1]][: len(hull)], hull)
        return
    for start, end in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        across = (end - start)[0] * (X - start)[:, 1] - (end - start)[1] * (X - start)[:, 0]
        assert (across >= 0).all()
        assert (across == 0).sum() < len(X)
    turns = np.roll(hull, -1, axis=0) - hull
    after = np.roll(turns, -1, axis=0)
    assert (turns[:, 0] * after[:, 1] > turns[:, 1] * after[:, 0]).all()  # no corner is on a side


def test_separable_without_a_margin():
    X, y = SIX
    found = rb.certify(X, y)
    ax = certificate(found, X, y)
    (line,) = lines(ax, "boundary, $f(x) = 0$")
    w, b = [float(value) for value in found.w], float(found.b)
    assert_allclose(signed_distance(line, w, b), 0, atol=1e-12)
    assert ax.get_title() == "separable"
    assert not ax.texts
    assert set(scatters(ax)) == {"class +1", "class −1"}


@pytest.mark.parametrize("bias", [True, False])
def test_the_band_of_the_largest_margin(bias):
    X, y = SIX
    found = rb.certify(X, y, bias=bias, margin=True)
    ax = certificate(found, X, y)
    label = f"margin $\\gamma$ = {found.margin.low:.3g}"
    (first,), (second,) = lines(ax, label), lines(ax, "_")
    w, b = [float(value) for value in found.w], float(found.b)
    gamma = found.margin.low
    assert_allclose(np.abs(signed_distance(np.vstack([first, second]), w, b)), gamma, rtol=1e-12)
    rings = scatters(ax)["support vectors"]
    assert_array_equal(rings, X[found.margin.support])
    assert_allclose(np.abs(signed_distance(rings, w, b)), gamma, rtol=1e-9)
    band = ax.patches[-1].get_xy()
    reach = signed_distance(band, w, b)
    assert_allclose([reach.min(), reach.max()], [-gamma, gamma], rtol=1e-9)


@pytest.mark.parametrize("read", [False, True])
def test_ties(read):
    X, y = TIED
    found = rb.certify(X, y)
    ax = certificate(again(found) if read else found, X, y)
    (line,) = lines(ax, "line with ties")
    assert_array_equal(line[:, 1], [0, 0])
    assert_array_equal(scatters(ax)["strictly on their side"], X[3:])
    assert_array_equal(scatters(ax)["point in both hulls"], [[1, 0]])
    assert ax.get_title() == "inseparable, but separable with ties"


def test_through_the_origin_rows_are_mirrored():
    X, y = np.array([[1.0, 0.0], [-1.0, 1.0], [1.0, 2.0]]), np.array([1, 1, -1])
    found = rb.certify(X, y, bias=False)
    ax = certificate(found, X, y)
    assert ax.get_title() == "inseparable: the origin lies in the hull"
    assert_array_equal(scatters(ax)["class −1, mirrored"], [[-1, -2]])
    assert_array_equal(scatters(ax)["the origin"], [[0, 0]])
    assert len(ax.patches) == 1
    assert ax.get_xlabel() == "$y\\,$$x_1$"
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    assert (low < 0).all()
    assert (high > 0).all()


def test_one_of_several_questions():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [0.5, 1.0], [50.0, 0.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    tables = rb.certify(X, y)
    ax = certificate(tables.pairs["a", "b"], X, y)
    drawn = scatters(ax)
    assert_array_equal(drawn["class a"], X[:2])
    assert_array_equal(drawn["class b"], X[2:4])
    assert_array_equal(drawn["take no part"], X[4:5])  # the other is far away
    assert ax.get_xlim()[1] < 5
    assert_array_equal(scatters(certificate(tables.rest["a"], X, y))["all others"], X[2:])


def test_names_and_given_axes():
    X, y = SIX
    frame = pd.DataFrame(X, columns=["length", "width"])
    _, given_ax = plt.subplots()
    ax = certificate(rb.certify(frame, y), frame, y, ax=given_ax)
    assert ax is given_ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    ax = certificate(rb.certify(X, y), X, y, feature_names=("p", "q"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("p", "q")
    assert scatters(certificate(rb.certify(X, y), csr_array(X), y)).keys() == scatters(ax).keys()


def test_features_of_different_scale_each_have_their_own():
    X, y = SIX
    ax = certificate(rb.certify(X * [1, 1000], y), X * [1, 1000], y)
    assert ax.get_aspect() == "auto"
    assert np.ptp(ax.get_xlim()) < 10
    assert np.ptp(ax.get_ylim()) > 3000
    assert certificate(rb.certify(X, y), X, y).get_aspect() == 1


def test_one_class():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rb.certify([[1.0, 2.0], [2.0, 3.0]], ["a", "a"])
    ax = certificate(found, [[1.0, 2.0], [2.0, 3.0]], ["a", "a"])
    assert ax.get_title() == "separable: there is one class only"
    assert not lines(ax, "boundary, $f(x) = 0$")


def test_one_feature():
    X, y = np.array([[0.0], [1.0], [3.0], [6.0]]), np.array([-1, -1, 1, 1])
    ax = certificate(rb.certify(X, y, margin=True), X, y)
    (threshold,) = lines(ax, "threshold")
    assert_array_equal(threshold[:, 0], [2, 2])
    (first,), (second,) = lines(ax, "margin $\\gamma$ = 1"), lines(ax, "_")
    assert (first[0, 0], second[0, 0]) == (1, 3)
    assert_array_equal(scatters(ax)["support vectors"], [[1, -1], [3, 1]])
    assert_array_equal(scatters(ax)["class +1"], [[3, 1], [6, 1]])
    y = np.array([-1, 1, -1, 1])
    ax = certificate(rb.certify(X, y), X, y)
    (point,) = lines(ax, "_point")
    assert point[0, 0] == point[1, 0]
    assert 1 <= point[0, 0] <= 3
    assert_array_equal(scatters(ax)["point in both hulls"], [[point[0, 0], 1], [point[0, 0], -1]])
    low, high = lines(ax, "_hull")
    assert_array_equal(low, [[1, 1], [6, 1]])
    assert_array_equal(high, [[0, -1], [3, -1]])


def test_one_feature_through_the_origin():
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, -1, 1])
    ax = certificate(rb.certify(X, y, bias=False), X, y)
    assert_array_equal(scatters(ax)["class −1, mirrored"], [[-2, -1]])
    assert_array_equal(scatters(ax)["the origin"][:, 0], [0, 0])
    assert ax.get_title() == "inseparable: the origin lies in the hull"


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_more_features_show_distances(kind):
    X, y = rb.datasets.make_separable(60, 4, margin=0.1, seed=0)
    found = rb.certify(X, y, margin=True)
    ax = certificate(found, kind(X), y)
    distance = signed_distance(X, [float(value) for value in found.w], float(found.b))
    labels = sorted({label for label in scatters(ax) if label.startswith("class")})
    assert_allclose(scatters(ax)[labels[0]][:, 0], distance[y > 0], rtol=1e-9)
    (plane,) = lines(ax, "hyperplane")
    assert_array_equal(plane[:, 0], [0, 0])
    assert_allclose(np.abs(scatters(ax)["support vectors"][:, 0]), found.margin.low, rtol=1e-9)
    assert ax.get_xlabel() == "distance from the hyperplane"


def test_more_features_with_ties():
    X, y = np.hstack([TIED[0], TIED[0][:, :1] * 0 + 1]), TIED[1]
    ax = certificate(again(rb.certify(csr_array(X), y)), csr_array(X), y)
    assert lines(ax, "hyperplane with ties")
    assert_allclose(scatters(ax)["strictly on their side"][:, 0], X[3:, 1])
    assert "point in both hulls" not in scatters(ax)


def test_a_table_of_classes():
    from sklearn.datasets import load_iris

    data = load_iris()
    X, y = data.data, data.target_names[data.target]
    tables = rb.certify(X, y)
    ax = certificate(tables)
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(cells) == 9
    rest = max(x for x, _ in cells)
    assert [cells[rest, row] for row in range(3)] == ["yes", "no", "no"]
    assert cells[1, 0] == cells[0, 1] == cells[2, 0] == cells[0, 2] == "yes"
    assert cells[2, 1] == cells[1, 2] == "no"
    assert [text.get_text() for text in ax.get_yticklabels()] == ["setosa", "versicolor", "virginica"]
    assert [text.get_text() for text in ax.get_xticklabels()][-1] == "rest"
    assert len({patch.get_facecolor() for patch in ax.patches}) == 2
    assert len(certificate(tables, X, y).texts) == 9
    with pytest.raises(InputError, match="setosa against versicolor: the certificate does not hold"):
        certificate(tables, X + 1.0, y)


def test_a_table_of_what_is_undecided():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), rng.integers(0, 3, 300)
    tables = rb.certify(X, y, time_limit=0)
    assert [text.get_text() for text in certificate(tables, X, y).texts] == ["?"] * 9


def test_it_must_be_of_the_data():
    X, y = XOR
    found = rb.certify(X, y)
    moved = X.copy()
    moved[0, 0] = np.nextafter(0.0, 1.0)
    with pytest.raises(InputError, match="fingerprints differ"):
        certificate(found, moved, y)
    with pytest.raises(InputError, match="does not hold of these data"):
        certificate(found, X, -y)
    with pytest.raises(InputError, match="3 rows and 2 features"):
        certificate(found, X[:3], y[:3])
    assert not plt.get_fignums()


def test_a_false_proof_is_not_drawn():
    from dataclasses import replace

    X, y = XOR
    with pytest.raises(InputError, match="combination of rows is not 0"):
        certificate(replace(rb.certify(X, y), integers=(1, 1, 1, 2)), X, y)


def test_errors():
    X, y = XOR
    found = rb.certify(X, y)
    cube = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    parity = cube.sum(axis=1) % 2
    noise = np.random.default_rng(0).standard_normal((300, 30))
    signs = np.sign(np.random.default_rng(1).standard_normal(300))
    with pytest.warns(TrivialSeparationWarning):
        alone = rb.certify(np.eye(3), ["a"] * 3)
    for arguments, error, words in [
        ((found,), ParameterError, "drawn with its data"),
        ((found, X), ParameterError, "both X and y"),
        (("a proof", X, y), ParameterError, "certificate is a str"),
        ((rb.certify(cube, parity), cube, parity), InputError, "are inseparable has no picture"),
        ((alone, np.eye(3), ["a"] * 3), InputError, "one class alone has no picture"),
        (
            (rb.certify(noise, signs, time_limit=0), noise, signs),
            UndecidedError,
            "no proof to draw: Time was over",
        ),
    ]:
        with pytest.raises(error, match=words):
            certificate(*arguments)
    with pytest.raises(ParameterError, match="3 names for 2 features"):
        certificate(found, X, y, feature_names=("a", "b", "c"))
    assert not plt.get_fignums()  # nothing half drawn
