"""Predicting from files: the same bits as the estimator's, and of linear models with next to nothing loaded."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.models import open_model
from rosenblatt.models.files import EstimatorPredictor, Predictor
from rosenblatt.registry import is_linear
from rosenblatt.rows.features import as_rows
from tests.models.models import MODELS, PLAIN, SPARSE, X, answers, asked, bits, made

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
PREDICTING = [name for name in MODELS if hasattr(getattr(rb, name.split("-")[0]), "predict")]


@pytest.mark.parametrize(
    "name", [each if each in PLAIN else pytest.param(each, marks=pytest.mark.slow) for each in PREDICTING]
)
def test_predictors_say_what_the_estimator_says(name, tmp_path):
    model = made(name)
    rb.save(model, tmp_path / "m")
    predictor = open_model(tmp_path / "m").predictor()
    assert isinstance(predictor, Predictor if is_linear(name.split("-")[0]) else EstimatorPredictor)
    if name.startswith(("AdaptiveFilter", "SequencePerceptron")):
        with pytest.raises(InputError, match="no predictions of that kind"):
            predictor.predict(as_rows(X))
        return
    assert predictor.n_features == model.n_features_in_
    rows_asked = asked(model)
    kinds = [] if issparse(rows_asked) else [np.asarray]  # wide rows are sparse
    kinds += [] if name == "Probes" else [csr_array]  # probes read dense rows
    for rows in (kind(rows_asked) for kind in kinds):
        features = as_rows(rows)
        assert bits([predictor.predict(features)]) == bits([model.predict(rows)])
        if hasattr(model, "decision_function"):
            assert bits([predictor.decision(features)]) == bits([model.decision_function(rows)])
            classes = getattr(model, "classes_", None)
            assert predictor.classes is None if classes is None else predictor.classes.tolist() == classes.tolist()


def few_of(model):
    """Return sparse rows for a model."""
    rows = asked(model)
    return SPARSE[:, : model.n_features_in_] if isinstance(rows, np.ndarray) else rows


@pytest.mark.slow
def test_a_fresh_process_predicts_the_same_bits_with_little_loaded(tmp_path):
    models = {name: made(name) for name in MODELS if is_linear(name.split("-")[0])}
    for name, model in models.items():
        rb.save(model, tmp_path / name)
        few = few_of(model)
        held = {"width": few.shape[1], "data": few.data, "indices": few.indices, "indptr": few.indptr}
        if isinstance(asked(model), np.ndarray):
            held["dense"] = asked(model)
        np.savez(tmp_path / f"{name}.rows.npz", **held)
    source = """
import sys
import numpy as np
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.loops.layout import CSR
from rosenblatt.models import open_model
for path in sys.argv[1:]:
    held = np.load(f"{path}.rows.npz")
    predictor = open_model(path).predictor()
    few = CSR(held["data"], held["indices"].astype(np.uint32), held["indptr"].astype(np.uint32))
    features = [as_rows(held["dense"])] if "dense" in held else []
    features.append(Features(few, len(few.indptr) - 1, int(held["width"])))
    scores = [predictor.decision(each) for each in features]
    np.savez(f"{path}.out.npz", *scores, labels=predictor.predict(features[0]).astype(str))
heavy = {"numba", "sklearn", "scipy", "rich", "narwhals", "pandas", "pyarrow", "onnx"} & sys.modules.keys()
assert not heavy, heavy
"""
    subprocess.run(
        [sys.executable, "-c", source, *(str(tmp_path / name) for name in models)], check=True, timeout=600
    )
    for name, model in models.items():
        found, rows = np.load(tmp_path / f"{name}.out.npz"), asked(model)
        both = [rows, few_of(model)] if isinstance(rows, np.ndarray) else [rows]
        wanted = [model.decision_function(each) for each in both]
        assert bits([found[f"arr_{k}"] for k in range(len(both))]) == bits(wanted), name
        assert found["labels"].tolist() == model.predict(rows).astype(str).tolist()


def test_other_features_are_refused(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    for model in (rb.Perceptron(), rb.VotedPerceptron()):
        rb.save(model.fit(frame, X[:, 0] > 0), tmp_path / "m")
        predictor = open_model(tmp_path / "m").predictor()
        assert predictor.predict(as_rows(frame)).tolist() == predictor.predict(as_rows(X[:, :2])).tolist()
        with pytest.raises(InputError, match="'a' and 'b'"):
            predictor.predict(as_rows(frame[["b", "a"]]))
        with pytest.raises(ShapeError, match="3 features"):
            predictor.predict(as_rows(X[:, :3]))


def test_what_transforms_does_not_predict(tmp_path):
    for name in ("MonomialMap", "VisualHierarchy"):
        rb.save(made(name), tmp_path / "m")
        predictor = open_model(tmp_path / "m").predictor()
        with pytest.raises(InputError, match="no predictions of that kind"):
            predictor.predict(as_rows(X))
    assert answers(rb.load(tmp_path / "m"))
