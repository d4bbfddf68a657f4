"""Pictures of probes show the numbers of their table."""

import numpy as np
import pytest

import rosenblatt as rb

X = np.random.default_rng(0).standard_normal((80, 3))
Y = {"one": X[:, 0] > 0, "two": X[:, 1] > 0.5}


def test_each_probe_is_a_line():
    probes = rb.Probes(controls=1).fit(X, Y)
    ax = rb.plot.probes(probes)
    lines = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert list(lines["probe, 95 % interval"]) == [each.accuracy for each in probes.table()]
    assert list(lines["control"]) == [each.control_accuracy for each in probes.table()]
    assert list(lines["always the larger side"]) == [each.majority for each in probes.table()]


def test_layers_are_columns():
    layers = rb.Probes().fit_layers({"a": X, "b": X[:, 2:]}, Y)
    ax = rb.plot.probes(layers)
    expected = [[each.accuracy for each in layers.layers[name].table()] for name in "ab"]
    assert ax.images[0].get_array().T.tolist() == expected
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]


def test_without_folds_there_is_nothing_to_draw():
    with pytest.raises(rb.exceptions.ParameterError, match="without folds"):
        rb.plot.probes(rb.Probes(folds=None).fit(X, Y))
