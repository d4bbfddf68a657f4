"""The visual hierarchy: its three layers, drawn or trained."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, NonFiniteError, ParameterError, ShapeError
from tests.shared.strategies import RaisesAfter, full_state, quietly

X, Y = load_digits(return_X_y=True)
X = X / 16
FEW, LABELS = X[:300], Y[:300]
SMALL = {"sizes": (30, 20, 10), "training": "backpropagation", "max_iter": 5, "batch_size": 50, "eta0": 0.01}


def trained(A=FEW, y=LABELS, **parameters):
    return quietly(rb.VisualHierarchy(**SMALL | parameters).fit, A, y)


def weights(model):
    return b"".join(w.tobytes() for w in model.coefs_)


@pytest.mark.parametrize("training", ["random", "backpropagation"])
def test_the_formulas(training):
    model = trained(training=training, sigma=0.4)
    w1, w2, w3 = model.coefs_
    y1 = np.maximum(FEW @ w1, 0)
    y2 = np.log((y1 @ w2) ** 2 + 1)
    z = y2 / np.sqrt(0.4**2 + np.mean(y2**2, axis=1, keepdims=True))
    assert model.transform(FEW) == pytest.approx(np.maximum(z @ w3, 0), rel=1e-10, abs=1e-12)
    assert [w.shape for w in model.coefs_] == [(64, 30), (30, 20), (20, 10)]
    assert w2.min() == 0.0


def test_default_sizes():
    model = rb.VisualHierarchy().fit(FEW)
    assert [w.shape for w in model.coefs_] == [(64, 600), (600, 100), (100, 50)]
    assert np.count_nonzero(model.coefs_[1], axis=0).tolist() == [10] * 100
    assert not hasattr(model, "n_iter_")
    assert not hasattr(model, "readout_coef_")


def test_weights_stay_at_least_zero_after_every_step():
    least = []

    def look(report):
        least.append(report.model.parts.weights[1].min())

    model = trained(callbacks=[look], max_iter=10, eta0=0.05)
    assert least == [0.0] * 10
    began = trained(training="random").coefs_[1]
    fell = (began > 0) & (model.coefs_[1] == 0.0)
    assert fell.any()  # some would have gone below


def test_contrast_matters_less_under_gain_control():
    changes = []
    for sigma in (0.01, 1000.0):  # it sets in at once, or never
        model = rb.VisualHierarchy(sigma=sigma).fit(FEW)
        weak, strong = model.transform(2 * FEW), model.transform(4 * FEW)
        changes.append(np.abs(strong - weak).mean() / weak.mean())
    assert changes[0] < 0.25 < 0.6 < changes[1]


def test_training_makes_better_features():
    A, B, a, b = train_test_split(X[:900], Y[:900], random_state=0)
    scores = []
    for training in ("random", "backpropagation"):
        features = rb.VisualHierarchy((100, 40, 20), training=training, max_iter=40, eta0=0.01, batch_size=50)
        model = make_pipeline(features, LogisticRegression(C=100, max_iter=5000))
        scores.append(quietly(model.fit, A, a).score(B, b))
    assert scores[1] > scores[0] + 0.05
    assert scores[1] > 0.93


def test_a_run_says_how_it_went():
    model = rb.VisualHierarchy(**SMALL | {"max_iter": 400, "tol": 0.5, "n_iter_no_change": 2}).fit(FEW, LABELS)
    assert (model.stop_reason_, model.converged_) == ("tol", True)
    assert len(model.loss_curve_) == model.n_iter_
    assert (model.readout_coef_.shape, model.readout_intercept_.shape) == ((10, 10), (10,))
    model.set_params(training="random").fit(FEW)
    assert not hasattr(model, "n_iter_")


def test_a_read_out_of_numbers():
    model = trained(y=FEW.mean(axis=1), task="regression")
    assert model.readout_coef_.shape == (10, 1)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_seed_layout_and_precision():
    for training in ("random", "backpropagation"):
        model = trained(training=training)
        assert (
            weights(model)
            == weights(trained(training=training))
            != weights(trained(training=training, random_state=1))
        )
        assert model.transform(csr_array(FEW)) == pytest.approx(model.transform(FEW), abs=1e-12)
        narrow = trained(FEW.astype(np.float32), training=training)
        assert {w.dtype for w in narrow.coefs_} == {narrow.transform(FEW).dtype} == {np.dtype(np.float32)}
        assert narrow.transform(FEW) == pytest.approx(model.transform(FEW), abs=1e-2)


def test_names_and_frames():
    model = trained()
    assert model.get_feature_names_out()[[0, 9]].tolist() == ["visualhierarchy0", "visualhierarchy9"]
    frame = model.set_output(transform="pandas").transform(FEW)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()


def test_interrupted_and_taken_up_again():
    model = rb.VisualHierarchy(**SMALL | {"callbacks": [RaisesAfter(2, KeyboardInterrupt)], "warm_start": True})
    with pytest.raises(KeyboardInterrupt):
        model.fit(FEW, LABELS)
    assert (model.n_iter_, model.stop_reason_) == (2, "interrupted")
    assert weights(model) == weights(trained(max_iter=2))
    quietly(model.set_params(callbacks=None, max_iter=3).fit, FEW, LABELS)
    assert weights(model) == weights(trained(max_iter=5))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sizes", (600, 100)),
        ("sizes", 600),
        ("sizes", (600, 0, 50)),
        ("sizes", None),
        ("sigma", 0.0),
        ("sigma", np.nan),
        ("training", "hebbian"),
        ("training", None),
        ("task", "none"),
        ("eta0", 0),
    ],
)
def test_values_a_parameter_cannot_take(name, value):
    model = trained()
    setattr(model, name, value)
    before = full_state(model)
    with pytest.raises(ParameterError, match=name):
        model.fit(FEW, LABELS)
    assert full_state(model) == before


def test_data_it_cannot_use():
    with pytest.raises(NotFittedError):
        rb.VisualHierarchy().transform(FEW)
    with pytest.raises(LabelError, match="requires y"):
        rb.VisualHierarchy(**SMALL).fit(FEW)
    model = trained()
    before = full_state(model)
    spoilt = FEW.copy()
    spoilt[3, 4] = np.inf
    for training in ("random", "backpropagation"):
        with pytest.raises(NonFiniteError, match="row 3, column 4"):
            model.set_params(training=training).fit(spoilt, LABELS)
    assert full_state(model) == before
    with pytest.raises(NonFiniteError):
        model.transform(spoilt)
    with pytest.raises(ShapeError, match="63 features"):
        model.transform(FEW[:, 1:])
    with pytest.raises(InputError, match="continues from"):
        model.set_params(warm_start=True, sizes=(30, 20, 11)).fit(FEW, LABELS)
