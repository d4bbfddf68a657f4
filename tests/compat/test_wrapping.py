"""The wrappers for river with a stand-in for its base classes, where river itself is not installed."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ParameterError

NAME = "rosenblatt.compat.river"


@pytest.fixture
def wrapping(monkeypatch):
    """The module, made with base classes that do nothing."""
    river, base = ModuleType("river"), ModuleType("river.base")
    for each in ("Classifier", "Regressor", "Transformer"):
        setattr(base, each, type(each, (), {}))
    river.base = base
    monkeypatch.setitem(sys.modules, "river", river)
    monkeypatch.setitem(sys.modules, "river.base", base)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    yield import_module(NAME)
    sys.modules.pop(NAME, None)


def test_a_copy_learns_and_labels_are_those_of_python(wrapping):
    given = rb.Perceptron(average=True)
    model = wrapping.RiverClassifier(given)
    plain = rb.Perceptron(average=True)
    assert model.predict_one({"cheap": 1.0}) is None
    for x, y in [({"cheap": 1.0}, "spam"), ({"lunch": 1.0}, "ham"), ({"big": 2.0}, np.str_("press"))]:
        assert model.learn_one(x, y, w=2.0) is None
        plain.learn_one(x, str(y), "grow", 2.0)
    assert model.model.coef_.tobytes() == plain.coef_.tobytes()
    assert type(model.predict_one({"big": 1.0})) is str
    assert not given.__sklearn_is_fitted__()
    assert not wrapping.RiverClassifier(model.model).model.__sklearn_is_fitted__()


def test_numbers_and_scaled_rows(wrapping):
    model, scaler = wrapping.RiverRegressor(), wrapping.RiverScaler()
    plain, own = rb.PassiveAggressiveRegressor(), rb.OnlineScaler()
    assert model.predict_one({"a": 1.0}) == 0.0
    for x, y in [({"a": 1.0}, 3.0), ({"a": -1.0}, -2.0), ({"a": 2.0}, 5.0)]:
        assert scaler.transform_one(x) == own.transform_one(x)
        model.learn_one(scaler.transform_one(x), y)
        plain.learn_one(own.transform_one(x), y)
        scaler.learn_one(x)
        own.learn_one(x)
    assert model.predict_one({"a": 3.0}) == float(plain.predict_one({"a": 3.0}))


STREAM = [({"a": 1.0, "b": k % 3 - 1.0}, k % 3) for k in range(9)]


@pytest.mark.parametrize(
    "learner",
    [rb.Perceptron(multiclass="ovr"), rb.Perceptron(multiclass="ovo"), rb.OrdinalPerceptron(), rb.Perceptron()],
    ids=str,
)
def test_named_classes_are_known_from_the_first_example_on(learner, wrapping):
    model, plain = wrapping.RiverClassifier(learner, classes=[0, 1, 2]), clone(learner)
    for x, y in STREAM:
        model.learn_one(x, y)
        plain.learn_one(x, y, [0, 1, 2])
    assert model.model.coef_.tobytes() == plain.coef_.tobytes()
    assert [model.predict_one(x) for x, _ in STREAM] == [plain.predict_one(x) for x, _ in STREAM]
    with pytest.raises(LabelError, match=r"y=3 is not one of the labels \[0, 1, 2\] of RiverClassifier"):
        model.learn_one({"a": 1.0}, 3)


@pytest.mark.parametrize(
    "learner", [rb.Perceptron(multiclass="ovr"), rb.KernelPerceptron(multiclass="ovo"), rb.OrdinalPerceptron()]
)
def test_learners_that_must_know_all_labels_ask_for_them_at_once(learner, wrapping):
    with pytest.raises(ParameterError, match=r"must know all labels before.*RiverClassifier by classes=\[...\]"):
        wrapping.RiverClassifier(learner)


@pytest.mark.parametrize("learner", [rb.PassiveAggressiveRegressor(), rb.MultilabelPerceptron()])
def test_learners_of_something_else_are_no_classifiers(learner, wrapping):
    with pytest.raises(ParameterError, match="so it is no classifier"):
        wrapping.RiverClassifier(learner)


def test_what_does_not_learn_row_by_row_is_refused(wrapping):
    with pytest.raises(ParameterError, match="MaxMarginClassifier has no learn_one"):
        wrapping.RiverClassifier(rb.MaxMarginClassifier())
