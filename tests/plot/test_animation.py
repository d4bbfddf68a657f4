"""Runs as moving pictures and as pages."""

import json
import re

import numpy as np
import pytest
from PIL import Image

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError, ShapeError


@pytest.fixture
def six():
    X, y = rb.datasets.load_six_points()
    return rb.Perceptron(order="cyclic").fit(X, y), X, y


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S)[1])


@pytest.mark.slow
def test_a_picture_has_the_start_and_every_update(six, tmp_path):
    clf, X, y = six
    with Image.open(rb.plot.animate(clf, X, y, tmp_path / "six.gif")) as film:
        assert film.n_frames > len(clf.trace_)
    with Image.open(rb.plot.animate(clf, X, y, tmp_path / "short.gif", frames=2)) as film:
        first, last = (film.seek(k) or np.asarray(film.convert("RGB")) for k in (0, 1))
    assert (first != last).any()


def test_a_page_holds_the_run(six, tmp_path):
    clf, X, y = six
    page = rb.plot.animate(clf.trace_, X, y, tmp_path / "six.html").read_text(encoding="utf-8")
    trace, again, _ = rb.Trace.from_document(embedded(page))
    np.testing.assert_array_equal(again, X)
    assert trace.index.tolist() == clf.trace_.index.tolist()
    assert page.count("<script") == 2


def test_what_cannot_be_shown_is_refused(six, tmp_path, monkeypatch):
    clf, X, y = six
    with pytest.raises(ParameterError, match=r"\.gif, \.mp4 or \.html"):
        rb.plot.animate(clf, X, y, tmp_path / "six.avi")
    with pytest.raises(ParameterError, match="frames=1 must be an integer of at least 2"):
        rb.plot.animate(clf, X, y, tmp_path / "six.gif", frames=1)
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(ParameterError, match=r"ffmpeg.*write a \.gif or \.html"):
        rb.plot.animate(clf, X, y, tmp_path / "six.mp4")
    wide = rb.Perceptron().fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ShapeError):
        rb.plot.animate(wide, np.eye(3), [0, 1, 1], tmp_path / "wide.gif")
    points, labels = [[0, 0], [0, 9], [9, 0]], ["a", "b", "c"]
    many = rb.Perceptron().fit(points, labels)
    with pytest.raises(InputError, match="two classes"):
        rb.plot.animate(many, points, labels, tmp_path / "many.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_line_of_any_update(six):
    clf, X, y = six
    W, b = clf.trace_.path(X, y)
    for update in (1, 2, -1):
        ax = rb.plot.boundary(clf, X, y, update=update)
        drawn = next(line for line in ax.get_lines() if "f(x)" in line.get_label())
        for point in np.column_stack(drawn.get_data()):
            assert abs(W[update] @ point + b[update]) < 1e-9
    assert rb.plot.boundary(clf.trace_, X, y, update=0).get_title() == "w = 0: there is no boundary"
    with pytest.raises(ParameterError, match="made 3 updates"):
        rb.plot.boundary(clf, X, y, update=4)
    with pytest.raises(ParameterError, match="has no trace"):
        rb.plot.boundary(([1.0, 0.0], 0.0), X, y, update=1)


def test_the_path_at_some_updates_is_part_of_the_path(six):
    clf, X, y = six
    W, b = clf.trace_.path(X, y)
    some = [0, 2, 2, 3]
    again, biases = clf.trace_.path(X, y, at=some)
    np.testing.assert_array_equal(again, W[some])
    np.testing.assert_array_equal(biases, b[some])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_long_runs_are_sampled():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    clf = rb.Perceptron(max_iter=10).fit(X, y)
    assert len(clf.trace_) > 1000
    weights = rb.plot.trace(clf, X, y).figure.axes[-1]
    assert "after every" in weights.get_title(loc="left")
    line = weights.get_lines()[0]
    assert len(line.get_xdata()) < 150
    assert line.get_ydata()[-1] == clf.coef_[0, 0]
