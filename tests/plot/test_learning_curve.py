"""Training and validation error, as drawn."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rosenblatt.exceptions import ShapeError
from rosenblatt.plot import learning_curve

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def curve(**change):
    values = {
        "passes": np.array([1, 2, 3, 4]),
        "training": np.array([0.4, 0.2, 0.1, 0.0]),
        "validation": np.array([0.45, 0.25, 0.125, 0.3]),
        "best": 3,
    }
    return SimpleNamespace(**(values | change))


def test_both_curves_and_the_best_pass():
    ax = learning_curve(curve())
    drawn = {line.get_label(): line for line in ax.get_lines()}
    for name in ("training", "validation"):
        assert_array_equal(drawn[name].get_xdata(), [1, 2, 3, 4])
        assert_array_equal(drawn[name].get_ydata(), getattr(curve(), name))
    ring = ax.get_lines()[-1]
    assert_array_equal(ring.get_xydata(), [[3, 0.125]])
    texts = [text.get_text() for text in ax.texts]
    assert "best: pass 3, 12.5%" in texts
    assert {"training", "validation"} < set(texts)
    ax.figure.canvas.draw()
    assert all(label.get_text().endswith("%") for label in ax.get_yticklabels())
    assert (ax.get_xticks() % 1 == 0).all()
    assert ax.get_ylim()[0] == 0


def test_training_alone():
    ax = learning_curve(curve(validation=None, best=None))
    assert [line.get_label() for line in ax.get_lines()] == ["training"]
    assert [text.get_text() for text in ax.texts] == ["training"]


def test_an_estimator_and_given_axes():
    _, given_ax = plt.subplots()
    assert learning_curve(SimpleNamespace(curve_=curve()), ax=given_ax) is given_ax


@pytest.mark.parametrize("n", [1, 2, 500])
def test_short_and_long_and_perfect(n):
    ax = learning_curve(curve(passes=np.arange(1, n + 1), training=np.zeros(n), validation=np.zeros(n), best=1))
    ax.figure.canvas.draw()


def test_lengths_must_agree():
    with pytest.raises(ShapeError, match="3 error rates for 4 passes"):
        learning_curve(curve(validation=[0.1, 0.2, 0.3]))
