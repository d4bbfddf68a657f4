"""Neurons, networks and the margins of single rows as pictures."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, ShapeError
from rosenblatt.plot import margins, network, neuron, style


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_a_neuron_shows_its_arithmetic():
    assert texts(neuron([0.5, 2.0], 1.0, [1.5, -0.5]))[-2:] == ["sum\n$f = 0.75$", "answer\n$+1$"]
    assert texts(neuron([1.0], -1.0, [1.0]))[-1] == "answer\n$-1$"  # f = 0
    assert "$w_2$" in texts(neuron([1.0, 1.0]))
    X, y = rb.datasets.load_six_points()
    shown = texts(neuron(rb.Perceptron(order="cyclic").fit(X, y), x=X[0], names=["a", "b"]))
    assert {"a = 1.5", "$w_2$ = 2", "$b$ = 1", "sum\n$f = 0.75$"} <= set(shown)


def test_what_is_no_neuron_is_refused():
    with pytest.raises(ShapeError, match="one vector of 1 to 9 weights"):
        neuron(np.eye(2))
    with pytest.raises(ShapeError, match="they must agree"):
        neuron([1.0, 2.0], 0.0, [1.0])
    with pytest.raises(ParameterError, match="1 names for 2 weights"):
        neuron([1.0, 2.0], names=["a"])
    with pytest.raises(ShapeError, match="3 hyperplanes"):
        neuron(rb.Perceptron().fit(np.eye(3), [0, 1, 2]))


def test_a_network_has_a_line_for_each_weight():
    assert len(network([3, 4, 2]).lines) == 3 * 4 + 4 * 2
    ax = network([2, 600, 1], names=["x", "many", "y"])
    assert len(ax.lines) == 2 * 6 + 6
    assert texts(ax) == ["x", "⋮ 600 ⋮", "many", "y"]


def test_lines_show_the_signs_of_weights():
    class Net:
        coefs_ = (np.array([[2.0], [-1.0]]),)

    first, second = network(Net()).lines
    assert (to_hex(first.get_color()), to_hex(second.get_color())) == (
        style.POSITIVE.lower(),
        style.NEGATIVE.lower(),
    )
    assert first.get_linewidth() > second.get_linewidth()


def test_what_is_no_network_is_refused():
    for layers in ([3], [3, 0], []):
        with pytest.raises(ParameterError, match="are no network"):
            network(layers)
    with pytest.raises(ParameterError, match="1 names for 2 layers"):
        network([1, 2], names=["a"])


def test_margins_of_rows_are_their_distances():
    X, y = rb.datasets.load_six_points()
    ax = margins(([0.5, 1.0], 0.2), X, y)
    expected = [f"{each:.3g}" for each in rb.geometry.geometric_margin(X, y, [0.5, 1.0], 0.2)]
    shown = [each for each in ax.texts if each.get_text() in expected]
    assert [each.get_text() for each in shown] == expected
    assert [each.get_text() for each in shown if each.get_weight() == "bold"] == ["0.179"]
    with pytest.raises(ParameterError, match="margins needs one line"):
        margins(rb.Perceptron().fit(np.eye(3)[:, :2], [0, 1, 2]), X, y)
    with pytest.raises(ParameterError, match="w = 0 has no line"):
        margins(([0.0, 0.0], 1.0), X, y)
