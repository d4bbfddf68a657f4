"""The online model below scikit-learn learns what estimators learn, to the bit, and can be copied and packed."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, ShapeError
from rosenblatt.kernels import RBF
from rosenblatt.learning.online import OnlineModel
from rosenblatt.loops.rules import Confidence, Passive, Power, Rule
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.online_scaling import Figures, OnlineScaling

X = np.random.default_rng(2).integers(-3, 4, (40, 4)).astype(float)
LABELS = [["b", "a", "c"][k] for k in np.random.default_rng(3).integers(0, 3, 40)]
RULES = {
    "perceptron": (Rule(), rb.Perceptron()),
    "averaged": (Rule(), rb.Perceptron(average=True)),
    "pa": (Passive(most=1.0), rb.PassiveAggressiveClassifier()),
    "arow": (Confidence(), rb.ConfidenceWeightedClassifier()),
    "p-norm": (Power(p=4.0), rb.PNormPerceptron(p=4)),
}


def begun(name, **given):
    rule, estimator = RULES[name]
    return OnlineModel.begin(rule, average=estimator.average, **given)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("named", [False, True])
def test_it_learns_what_its_estimator_learns(name, named):
    model = begun(name, n_features=None if named else 4)
    estimator = type(RULES[name][1])(**RULES[name][1].get_params())
    rows = [{f"f{j}": value for j, value in enumerate(x) if value} or {"f0": 0.0} for x in X] if named else X
    updates = 0
    for x, label in zip(rows, LABELS, strict=True):
        if model.seen > 1:
            assert model.predict(x) == estimator.predict_one(x)
            np.testing.assert_array_equal(model.score(x), estimator.score_one(x))
        updates += model.learn(x, label)
        estimator.learn_one(x, label, classes="grow")
    assert model.digest() == estimator.online_model().digest()
    assert (model.seen, updates) == (40, model.mistakes)
    assert model.classes.tolist() == ["a", "b", "c"]
    assert (model.feature_names is not None) == named


@pytest.mark.parametrize("name", RULES)
def test_copies_and_packed_models_go_on_by_themselves(name):
    model = begun(name, n_features=4)
    for x, label in zip(X[:25], LABELS[:25], strict=True):
        model.learn(x, label)
    before = model.digest()
    copied, packed = model.copy(), OnlineModel.unpack(pickle.loads(pickle.dumps(model.pack())))
    assert copied.digest() == packed.digest() == before
    for each in (copied, packed):
        for x, label in zip(X[25:], LABELS[25:], strict=True):
            each.learn(x, label)
    assert model.digest() == before
    assert copied.digest() == packed.digest() != before


def test_a_model_packed_twice_is_the_same():
    model = begun("arow", n_features=4)
    model.learn(X[0], "a")
    packed = model.pack()
    first = OnlineModel.unpack(packed)
    first.learn(X[1], "b")
    assert OnlineModel.unpack(packed).digest() == model.digest()


def test_classes_and_features_join():
    model = begun("arow", n_features=2, classes=["a", "b"])
    with pytest.raises(LabelError, match="not one of the classes"):
        model.learn([1.0, 2.0], "c")
    model.meet("c", anyway=True)
    assert model.classes.tolist() == ["a", "b", "c"]
    with pytest.raises(LabelError):
        model.meet("d")
    model.grow(5)
    assert model.learn([1.0, 2.0, 0.0, 0.0, 1.0], "c")
    with pytest.raises(ShapeError):
        model.learn([1.0, 2.0], "c")
    with pytest.raises(InputError, match="without names"):
        model.learn({"x": 1.0}, "c")


def test_rows_are_decided_together_as_one_by_one():
    model = begun("averaged", n_features=4)
    for x, label in zip(X, LABELS, strict=True):
        model.learn(x, label)
    labels, scores = model.decide(as_rows(X))
    few, alone = model.decide(as_rows(X[:3]))
    assert labels.tolist() == [model.predict(x) for x in X]
    np.testing.assert_array_equal(scores[:3], alone)
    assert labels[:3].tolist() == few.tolist()


def test_every_number_counts_in_a_digest():
    """Also what only the memory of a rule holds."""
    digests = set()
    for name in RULES:
        model = begun(name, n_features=4)
        model.learn(X[0], "a")
        digests.add(model.digest())
        for memory in model.stream.state.memory.values():
            for array in (*memory.shaped, *memory.shared):
                array.reshape(-1)[0] += 0.25
                assert model.digest() not in digests
                digests.add(model.digest())


def test_a_kernel_has_no_packed_form():
    model = rb.KernelPerceptron(RBF(0.5), budget=5).partial_fit(X, LABELS, classes=["a", "b", "c"]).online_model()
    assert model.predict(X[0]) in LABELS
    assert model.copy().digest() == model.digest()
    with pytest.raises(InputError, match="hyperplanes"):
        model.pack()


def test_it_needs_no_scikit_learn():
    source = (
        "import sys; from rosenblatt.learning.online import OnlineModel; m = OnlineModel.begin(n_features=1);"
        "m.learn([1.0], 'a'); m.learn([-1.0], 'b'); m.pack(); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", source], check=True)


def test_a_scaler_is_part_of_the_model():
    model = OnlineModel.begin(n_features=2)
    model.scaler = OnlineScaling(True, True, Figures.of(2), ("a", "b"))
    scaler, learner = rb.OnlineScaler(), rb.Perceptron()
    for x, label in zip(X[:, :2], np.resize(["n", "y"], len(X)).tolist(), strict=True):
        learner.learn_one(scaler.transform_one(x), label)
        scaler.learn_one(x)
        model.learn(x, label)
    assert model.scaler.figures.mean.tolist() == scaler.mean_.tolist()
    assert model.score(X[0, :2]) == learner.score_one(scaler.transform_one(X[0, :2]))
    again, other = OnlineModel.unpack(model.pack()), model.copy()
    assert again.digest() == model.digest() == other.digest()
    other.scaler.learn(X[:1, :2])
    assert other.digest() != model.digest() == again.digest()
    assert again.score(X[0, :2]) == model.score(X[0, :2])
    with pytest.raises(InputError, match="Sparse"):
        model.decide(as_rows(csr_array(X[:, :2])))
