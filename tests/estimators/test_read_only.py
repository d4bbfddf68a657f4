"""Arrays of trained estimators: writing into them would not change what is predicted."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

import rosenblatt as rb
from rosenblatt.registry import BUILT_IN

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)

FITS = {
    "AdaptiveFilter": lambda cls: cls(n_taps=4).fit(X[:, 0], X[:, 1]),
    "CalibratedModel": lambda cls: rb.calibrate(rb.Perceptron(average=True).fit(X, Y), X, Y),
    "MultilabelPerceptron": lambda cls: cls().fit(X, [["a"] if label else ["b"] for label in Y]),
    "SequencePerceptron": lambda cls: cls().fit([[{"a": 1.0}, {"b": 1.0}]] * 3, [["x", "y"]] * 3),
    "MarkOne": lambda cls: cls().fit((RNG.random((40, 16)) < 0.5).astype(float), np.arange(40) % 2),
    "VisualHierarchy": lambda cls: cls(sizes=(8, 6, 4), training="backpropagation", max_iter=2).fit(X, Y),
    "PassiveAggressiveRegressor": lambda cls: cls().fit(X, X[:, 0]),
    "RankingPerceptron": lambda cls: cls().fit(X, X[:, 0]),
    "MultilayerPerceptron": lambda cls: cls(max_iter=3).fit(X, Y),
}
"""How those are trained that are not trained on X and Y by their defaults."""


def _arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    if issparse(value):
        return [value.data]
    return [each for part in value for each in _arrays(part)] if isinstance(value, list | tuple) else []


def _shown(model):
    """Return the arrays of each public attribute that a model has by training."""
    found = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            try:
                found[name] = _arrays(getattr(model, name))
            except AttributeError:
                continue  # not of this model
    return {name: arrays for name, arrays in found.items() if arrays}


def _trained(name):
    cls = getattr(rb, name, None)  # one is made by a function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS.get(name, lambda kind: kind().fit(X, Y))(cls)


@pytest.mark.parametrize("name", [*sorted(BUILT_IN), "CalibratedModel"])
def test_arrays_are_read_only(name):
    model = _trained(name)
    shown = _shown(model)
    assert shown, "a learner shows something of what it learned"
    for attribute, arrays in shown.items():
        assert not any(array.flags.writeable for array in arrays), attribute


def test_writing_raises_and_changes_nothing():
    clf = rb.Perceptron(average=True).fit(X, Y)
    before = clf.coef_.tobytes()
    for array in (clf.coef_, clf.intercept_, clf.classes_, clf.mistakes_per_pass_):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        clf.sparsify().coef_[0, 0] = 1.0
    clf.densify()
    assert clf.coef_.tobytes() == before
    clf.partial_fit(X, 1 - Y)  # and learning goes on
    assert clf.coef_.tobytes() != before
    own = clf.coef_.copy()
    own[0] = 0  # a copy is one's own


def test_supports_of_sparse_rows_go_on_learning():
    clf = rb.KernelPerceptron("linear").fit(csr_array(X), Y)
    assert not clf.support_vectors_.data.flags.writeable
    clf.partial_fit(csr_array(X), 1 - Y)
    assert clf.n_mistakes_ > 0
