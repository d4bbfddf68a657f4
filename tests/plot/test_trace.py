"""Bars are counts, lines are weights."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rosenblatt import Perceptron
from rosenblatt.datasets import load_and, load_or
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.plot import trace

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


class Run:
    """A trace as the plot sees one."""

    def __init__(self, X, y):
        w, b, states, self.mistakes_per_pass = np.zeros(X.shape[1]), 0.0, [], []
        states.append((w, b))
        while not self.mistakes_per_pass or self.mistakes_per_pass[-1]:
            self.mistakes_per_pass.append(0)
            for x, label in zip(X, y, strict=True):
                if label * (w @ x + b) <= 0:
                    w, b = w + label * x, b + label
                    states.append((w, b))
                    self.mistakes_per_pass[-1] += 1
        self.W, self.b = np.array([w for w, _ in states]), np.array([b for _, b in states])

    @property
    def visit(self):
        return np.arange(len(self.b) - 1)

    def path(self, X, y, at):
        return self.W[at], self.b[at]


def counts_only(counts):
    return SimpleNamespace(mistakes_per_pass=np.array(counts))


def heights(ax):
    return [bar.get_height() for bar in ax.patches]


def test_bars_are_the_counts():
    run = Run(*load_or())
    ax = trace(run)
    assert heights(ax) == run.mistakes_per_pass == [3, 1, 2, 2, 1, 0]
    assert [round(bar.get_x() + bar.get_width() / 2, 9) for bar in ax.patches] == [1, 2, 3, 4, 5, 6]
    assert ax.get_xticks().tolist() == [1, 2, 3, 4, 5, 6]
    assert [text.get_text() for text in ax.texts] == ["3", "1", "2", "2", "1", "0"]
    assert ax.get_yscale() == "linear"
    assert len(ax.figure.axes) == 1


def test_an_estimator_shows_its_trace():
    assert heights(trace(SimpleNamespace(trace_=Run(*load_and())))) == [2, 3, 3, 2, 2, 3, 2, 1, 0]


def test_weights_and_bias():
    X, y = load_and()
    run = Run(X, y)
    ax = trace(run, X, y)
    upper, lower = ax.figure.axes
    assert ax is upper
    assert heights(ax) == run.mistakes_per_pass
    drawn = {line.get_label(): line for line in lower.get_lines()}
    for name, values in (("$w_{1}$", run.W[:, 0]), ("$w_{2}$", run.W[:, 1]), ("$b$", run.b)):
        assert_array_equal(drawn[name].get_xdata()[:-1], np.arange(19))
        assert_array_equal(drawn[name].get_ydata(), [*values, values[-1]])
        assert drawn[name].get_drawstyle() == "steps-post"
    ends = {text.get_text(): text.xy[1] for text in lower.texts}
    assert ends == {"$w_{1}$": 2, "$w_{2}$": 3, "$b$": -4}
    assert not lower.get_title(loc="left")
    assert lower.get_legend() is None


def test_only_the_ten_largest_weights():
    final = np.array([0.0, 9, -8, 7, 6, 5, -4, 3, 2.5, 2, 1.5, 1, 0.5])
    W = np.vstack([np.zeros(13), final])
    run = SimpleNamespace(mistakes_per_pass=[1, 0], visit=[0], path=lambda X, y, at: (W, np.array([0, 1])))
    ax = trace(run, [[1]], [1])
    lower = ax.figure.axes[1]
    labels = [text.get_text() for text in lower.texts]
    assert sorted(labels) == sorted([f"$w_{{{j}}}$" for j in range(2, 12)] + ["$b$"])
    assert lower.get_title(loc="left").startswith("10 of 13 weights")
    colours = [line.get_color() for line in lower.get_lines()]
    assert len(set(colours)) == len(colours)


def test_names():
    X, y = load_or()
    ax = trace(Run(X, y), X, y, feature_names=["left", "right"])
    assert {text.get_text() for text in ax.figure.axes[1].texts} == {"left", "right", "$b$"}


@pytest.mark.parametrize(
    "counts, scale",
    [([500, 40, 3, 0], "symlog"), ([500, 400, 300], "linear"), ([40, 1, 0], "linear"), ([0], "linear")],
)
def test_log_scale_only_where_it_helps(counts, scale):
    ax = trace(counts_only(counts))
    assert ax.get_yscale() == scale
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > max(counts)
    ax.figure.canvas.draw()


def test_ticks_are_whole_numbers():
    ax = trace(counts_only([2, 1, 0]))
    assert (ax.get_yticks() % 1 == 0).all()
    ax = trace(counts_only(range(40, 0, -1)))
    assert (ax.get_xticks() % 1 == 0).all()
    assert not ax.texts


def test_many_passes_are_one_shape():
    counts = np.arange(200)[::-1]
    (shape,) = trace(counts_only(counts)).patches
    assert_array_equal(shape.get_data().values, counts)


def test_no_passes_and_no_updates():
    ax = trace(
        SimpleNamespace(mistakes_per_pass=[], visit=[], path=lambda X, y, at: (np.zeros((1, 2)), np.zeros(1))),
        [[1, 1]],
        [1],
    )
    assert heights(ax) == []
    ax.figure.canvas.draw()


@pytest.mark.parametrize("place", ["grid", "hand"])
def test_given_axes_are_split_in_place(place):
    figure = plt.figure()
    given_ax = figure.add_subplot(1, 2, 2) if place == "grid" else figure.add_axes((0.5, 0.1, 0.4, 0.8))
    before = given_ax.get_position()
    X, y = load_and()
    ax = trace(Run(X, y), X, y, ax=given_ax)
    assert ax is given_ax
    lower = figure.axes[-1]
    for box in (ax.get_position(), lower.get_position()):
        assert before.x0 - 1e-9 <= box.x0
        assert box.x1 <= before.x1 + 1e-9
        assert before.y0 - 1e-9 <= box.y0
        assert box.y1 <= before.y1 + 1e-9
    assert lower.get_position().y1 < ax.get_position().y0


def test_x_without_y():
    with pytest.raises(ParameterError, match="both X and y"):
        trace(counts_only([1]), [[1]])
    assert not plt.get_fignums()


def test_weights_of_several_machines_are_refused_before_anything_is_drawn():
    X, y = np.eye(3), [0, 1, 2]
    clf = Perceptron().fit(X, y)
    with pytest.raises(InputError, match="trained 3 machines"):
        trace(clf, X, y)
    assert not plt.get_fignums()
    assert len(trace(clf).patches) == clf.n_iter_
