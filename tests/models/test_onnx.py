"""ONNX graphs of our models answer in onnxruntime as the models do."""

import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError
from tests.golden.trained.make import FOLDER
from tests.models.models import NOISY, NUMBERS, TWO, X, made
from tests.shared.strategies import quietly

THINGS = pd.read_csv(FOLDER / "things.csv")
THREE = np.array(["a", "b", "c"])[np.arange(24) % 3]


def run(graph, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, {"X": X}), strict=True))


def require_equal(model, X, tolerance=1e-12):
    out = run(rb.to_onnx(model, dtype=X.dtype), X)
    assert out["label"].tolist() == model.predict(X).tolist()
    wanted = model.decision_function(X)
    assert out["scores"].shape == wanted.shape
    assert out["scores"].dtype == wanted.dtype
    np.testing.assert_allclose(out["scores"], wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_perceptrons(y, multiclass, dtype):
    model = quietly(rb.Perceptron(multiclass=multiclass, average=True, max_iter=5).fit, X, y)
    require_equal(model, X.astype(dtype))


@pytest.mark.parametrize(
    "name", ["PocketPerceptron", "LiftedPerceptron", "SoftMarginClassifier", "MaxMarginClassifier"]
)
def test_other_linear_models(name):
    require_equal(made(name), X)


@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=4, max_size=8),
    st.sampled_from(["direct", "ovr", "ovo"]),
    st.sampled_from([-1, 1]),
    st.integers(2, 4),
)
@settings(max_examples=25)
def test_ties_go_where_ours_do(rows, multiclass, zero, n_classes):
    # Sums of small integers are exact in any order, so that ties are ties everywhere.
    rows = np.array(rows, float)
    y = np.arange(len(rows)) % n_classes
    model = quietly(rb.Perceptron(multiclass=multiclass, zero=zero, order="cyclic", max_iter=2).fit, rows, y)
    grid = np.mgrid[-2:3, -2:3].reshape(2, -1).T.astype(float)
    out = run(rb.to_onnx(model), grid)
    assert out["label"].tolist() == model.predict(grid).tolist()
    assert out["scores"].tolist() == model.decision_function(grid).tolist()


@pytest.mark.parametrize("zero", [-1, 1])
def test_a_tie_of_every_kind_is_met(zero):
    for labels in ([0, 1], [0, 1, 2], [0, 1, 2, 3]):
        model = rb.Perceptron(zero=zero).partial_fit(np.zeros((1, 2)), labels[:1], classes=labels)
        model._state.w[...] = 0.0
        winner = labels[0] if zero < 0 else labels[-1]
        assert (
            run(rb.to_onnx(model), np.ones((1, 2)))["label"].tolist()
            == [winner]
            == model.predict([[1, 1]]).tolist()
        )


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu", "identity"])
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy"])
@pytest.mark.parametrize("y", [NOISY, THREE], ids=["two", "three"])
def test_networks(activation, loss, y):
    model = rb.MultilayerPerceptron(hidden_layer_sizes=(4, 3), activation=activation, loss=loss, max_iter=3)
    require_equal(quietly(model.fit, X, y), X)
    # Networks keep their precision, whatever that of the rows is.
    require_equal(quietly(model.fit, X.astype(np.float32), y), X.astype(np.float32), tolerance=1e-5)


@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy"])
def test_two_outputs_of_two_classes(loss):
    model = rb.MultilayerPerceptron(hidden_layer_sizes=(3,), loss=loss, one_hot=True, max_iter=3)
    require_equal(quietly(model.fit, X, TWO), X)


def test_outputs_of_tanh_lie_around_zero():
    model = rb.MultilayerPerceptron(output_activation="tanh", hidden_layer_sizes=(), max_iter=3)
    require_equal(quietly(model.fit, X, TWO), X)


@pytest.mark.parametrize("y", [NUMBERS, NUMBERS[:, 0], NUMBERS[:, :1]], ids=["two", "flat", "column"])
def test_regressions(y):
    model = quietly(rb.MultilayerPerceptron(task="regression", hidden_layer_sizes=(3,), max_iter=3).fit, X, y)
    out = run(rb.to_onnx(model), X)
    assert out.keys() == {"values"}
    assert out["values"].shape == model.predict(X).shape
    np.testing.assert_allclose(out["values"], model.predict(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "labels, dtype",
    [
        (np.array([2, 7], np.uint8), np.int64),
        (np.array([False, True]), np.bool_),
        (np.array([1.0, 2.0], np.float32), np.float64),
        (np.array(["ä", "ß"]), np.object_),
        (np.array(["ä", "ß"], object), np.object_),
    ],
)
def test_labels_keep_their_kind(labels, dtype):
    model = rb.Perceptron().fit([[0.0], [1.0]], labels)
    out = run(rb.to_onnx(model), np.array([[0.0], [1.0]]))
    assert out["label"].dtype == dtype
    assert out["label"].tolist() == labels.tolist()


@pytest.mark.parametrize("labels", [np.array(["a", 1], object), np.array([2**63, 0], np.uint64)])
def test_labels_without_a_type_in_onnx(labels):
    model = rb.Perceptron().fit([[0.0], [1.0]], labels)
    with pytest.raises(InputError, match="have no type in ONNX"):
        rb.to_onnx(model)


def test_a_stream_of_one_class_and_room_for_features():
    model = rb.Perceptron()
    model.learn_one({"a": 1.0, "b": 2.0, "c": 1.0}, "only")
    model.learn_one({"d": 1.0}, "only")
    out = run(rb.to_onnx(model), np.eye(4))
    assert out["label"].tolist() == [model.predict_one({name: 1.0}) for name in "abcd"] == ["only"] * 4
    assert model._state.n_features > 4


def test_a_file_of_it(tmp_path):
    import onnx

    model = made("Perceptron")
    graph = rb.to_onnx(model, path=tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == graph
    assert graph.producer_name == "rosenblatt"


def test_what_has_no_graph():
    for name in ("KernelPerceptron", "VotedPerceptron", "MarkOne", "ExtremeLearningMachine", "MonomialMap"):
        with pytest.raises(ParameterError, match="no ONNX graph"):
            rb.to_onnx(made(name))
    with pytest.raises(ParameterError, match="no ONNX graph"):
        rb.to_onnx(3)
    with pytest.raises(ParameterError, match="dtype"):
        rb.to_onnx(made("Perceptron"), dtype=np.int64)


def test_without_onnx_the_way_to_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="needs onnx: pip install onnx"):
        rb.to_onnx(made("Perceptron"))


TABLE = pd.DataFrame(
    {
        "size": [1.5, np.nan, 0.5, 0.25, 3.0, 0.75],
        "colour": ["red", "green", None, "brown", "brown", "green"],
        "cast_0": [1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
        "shape": ["flat", "round", "flat", "flat", "round", "round"],
    }
)
KIND = np.array(["a", "b", "a", "c", "b", "c"])


def run_table(graph, table, dtype=np.float64):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {}
    for each in session.get_inputs():
        column = table[each.name]
        text = each.type == "tensor(string)"
        feeds[each.name] = (column.fillna("").to_numpy(object) if text else column.to_numpy(dtype)).reshape(-1, 1)
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, feeds), strict=True))


@pytest.mark.parametrize("missing", ["zero", "mean"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(
    "columns", [["size", "colour", "cast_0", "shape"], ["size", "cast_0"], ["shape", "colour"]]
)
@pytest.mark.parametrize(
    "learner", [rb.Perceptron(average=True), rb.MultilayerPerceptron(max_iter=3)], ids=["p", "m"]
)
def test_tables_of_numbers_and_categories(missing, scale, columns, learner):
    table = TABLE[columns]
    model = quietly(make_pipeline(rb.TableEncoder(missing=missing, scale=scale), learner).fit, table, KIND)
    graph = rb.to_onnx(model)
    wanted = sorted(columns, key=lambda name: name in ("colour", "shape"))  # numbers first
    assert [each.name for each in graph.graph.input] == wanted
    unseen = table.assign(**{name: "violet" for name in ("colour", "shape") if name in columns})
    for each in (table, unseen, table[::-1]):
        out = run_table(graph, each)
        assert out["label"].tolist() == model.predict(each).tolist()
        np.testing.assert_allclose(out["scores"], model.decision_function(each), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scaler", [StandardScaler(), rb.OnlineScaler()], ids=["standard", "online"])
@pytest.mark.parametrize("framed", [False, True], ids=["sparse_output", "set_output"])
def test_encoders_of_dense_rows_before_a_scaler(framed, scaler):
    model = make_pipeline(rb.TableEncoder(sparse_output=framed), clone(scaler), rb.Perceptron())
    if framed:
        model.set_output(transform="pandas")
    table = TABLE[["size", "colour"]].fillna({"size": 0.0})
    quietly(model.fit, table, KIND)
    out = run_table(rb.to_onnx(model), table)
    assert out["label"].tolist() == model.predict(table).tolist()
    np.testing.assert_allclose(out["scores"], model.decision_function(table), rtol=1e-9, atol=1e-9)


def test_tables_without_names_and_single_floats():
    model = quietly(make_pipeline(rb.TableEncoder(scale=True, missing="mean"), rb.Perceptron()).fit, X, TWO)
    require_equal(model, X)
    holes = X.copy()
    holes[::3, 1] = np.nan
    require_equal(model, holes)
    model = quietly(make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit, TABLE[["cast_0"]], KIND)
    graph = rb.to_onnx(model, dtype=np.float32)
    assert run_table(graph, TABLE, np.float32)["label"].shape == (6,)


@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}], ids=str)
def test_standard_scaler(parameters):
    model = quietly(make_pipeline(StandardScaler(**parameters), rb.Perceptron(average=True)).fit, X, TWO)
    require_equal(model, X)
    twice = make_pipeline(rb.TableEncoder(), StandardScaler(), StandardScaler(), rb.Perceptron())
    require_equal(quietly(twice.fit, X, THREE), X)


def test_rows_of_unit_length():
    rows = np.vstack([X, np.zeros((1, X.shape[1]))])
    model = quietly(make_pipeline(StandardScaler(), Normalizer(), rb.Perceptron(average=True)).fit, X, TWO)
    require_equal(model, rows)
    require_equal(quietly(make_pipeline(Normalizer(), rb.Perceptron()).fit, X, THREE), rows)


def test_trained_by_the_command_line():
    for name in ("filled", "scaled-categories", "zeros"):
        model = rb.load(FOLDER / f"{name}.v1.model")
        if name == "scaled-categories":
            model.steps[-1] = ("learner", rb.Perceptron().fit(model[0].transform(THINGS), THINGS["kind"]))
        table = THINGS if name == "scaled-categories" else pd.read_csv(FOLDER / "gaps.csv")
        out = run_table(rb.to_onnx(model), table)
        assert out["label"].tolist() == model.predict(table).tolist()
        np.testing.assert_allclose(out["scores"], model.decision_function(table), rtol=1e-12)


def test_pipelines_without_a_graph():
    texts = ["win a prize", "see you", "free", "home", "win", "at home"]
    for model, table, why in [
        (make_pipeline(rb.TableEncoder(bits=4), rb.Perceptron()), texts, "text or hashed columns"),
        (
            make_pipeline(rb.TableEncoder(hashed=["shape"], bits=3), rb.Perceptron()),
            TABLE[["shape"]],
            "text or hashed",
        ),
        (make_pipeline(rb.MonomialMap(2), rb.Perceptron()), TABLE[["cast_0"]], "Monomial step has no ONNX graph"),
        (make_pipeline(rb.TableEncoder(ignore=[0]), rb.Perceptron()), np.eye(6), "ignores columns without names"),
        (
            make_pipeline(rb.TableEncoder(), rb.Perceptron()),
            TABLE[["shape"]].set_axis(["label"], axis=1),
            "'label'",
        ),
        (make_pipeline(MinMaxScaler(), rb.Perceptron()), np.eye(6), "its step 'minmaxscaler'"),
        (make_pipeline(StandardScaler(), rb.VotedPerceptron()), np.eye(6), "no ONNX graph"),
    ]:
        quietly(model.fit, table, KIND)
        with pytest.raises(InputError, match=why):
            rb.to_onnx(model)
