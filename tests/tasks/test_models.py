"""Predictions, contents and reports of models, from files and from memory."""

import io
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.tasks.contents import inspect_model
from rosenblatt.tasks.updates import trace_updates
from tests.shared import strategies

GOLDEN = Path(__file__).parents[1] / "golden"


def test_predictions_go_to_a_file_or_a_stream(tmp_path):
    trained = rb.train("@iris", "soft-margin")
    trained.save(tmp_path / "m")
    rb.predict_file(tmp_path / "m", "@iris", tmp_path / "out", scores=True)
    lines = (tmp_path / "out").read_text().splitlines()
    assert len(lines) == 151
    assert lines[0].split("\t") == ["label", "score:setosa", "score:versicolor", "score:virginica"]
    stream = io.BytesIO()
    rb.predict_file(trained.model, "@iris", stream, as_json=True)
    labels = [json.loads(line)["label"] for line in stream.getvalue().splitlines()]
    assert labels == [line.split("\t")[0] for line in lines[1:]]
    with pytest.raises(ParameterError, match="would be overwritten"):
        rb.predict_file(tmp_path / "m", "@iris", tmp_path / "m")


@pytest.mark.parametrize("path", sorted((GOLDEN / "files").glob("*.model")), ids=lambda path: path.stem)
def test_the_contents_of_every_model_are_json(path):
    contents = inspect_model(path, weights=3)
    told = json.loads(json.dumps(contents.to_json(), allow_nan=False))
    assert told["learner"] == contents.learner
    assert len(told["weights"]) <= 3 * max(1, len(contents.classes) * (len(contents.classes) - 1) // 2)
    assert str(contents).startswith(f"{contents.learner}(")


def test_kernels_in_json_are_shown_as_in_python():
    told = inspect_model(GOLDEN / "files" / "missing-scaled-kernel.model").to_json()
    assert told["parameters"]["kernel"].startswith("Polynomial(degree=2")


@pytest.mark.slow
def test_reports_of_files_and_of_rows_in_memory(tmp_path):
    (tmp_path / "t.csv").write_text("size,colour,label\n1,red,x\n2,green,y\n3,red,y\n0,green,x\n")
    trained = rb.train(tmp_path / "t.csv", "perceptron")
    rows = [{"size": s, "colour": c} for s, c in ((1, "red"), (2, "green"), (3, "red"), (0, "green"))]
    pages = [
        rb.report(trained.model, tmp_path / "t.csv", path=tmp_path / "a.html", title="t", time_limit=None),
        rb.report(trained.model, rows, ["x", "y", "y", "x"], path=tmp_path / "b.html", title="t", time_limit=None),
    ]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    assert "colour=red" in texts[0]
    sections = [re.findall(r'<section id="(\w+)">(.*?)</section>', text, re.DOTALL) for text in texts]
    of_file, of_rows = map(dict, sections)
    for same in ("looks", "errors", "certificate"):
        assert of_file[same] == of_rows[same]
    # Training scaled the rows: the file is known by its fingerprint, and of rows in memory nothing is claimed.
    assert "The model was trained on these rows" in of_file["scores"]
    assert "It is not known whether the model was trained on these rows" in of_rows["scores"]
    assert "it is not known whether these are" in of_rows["training"]
    assert "This is not the data of the run" not in texts[0] + texts[1]


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_updates_of_a_run():
    run = trace_updates("@xor", max_iter=3)
    assert run.to_json(limit=2)["updates"]["index"] == run.estimator.trace_.index[:2].tolist()
    assert "more" in run.to_text(limit=1)
    with pytest.raises(ParameterError, match="beyond the 4 rows"):
        trace_updates("@xor", first=5)


@pytest.mark.parametrize("name", ["AdaptiveFilter", "AdaptiveFilter-complex"])
def test_a_filter_of_signals_is_inspected_without_features(name):
    contents = inspect_model(GOLDEN / f"{name}.v1.safetensors")
    assert contents.n_features is None
    assert contents.to_json()["features"] is None
    assert str(contents).startswith("AdaptiveFilter(")


def test_parameters_that_are_arrays_are_inspected(tmp_path):
    clf = rb.MultilayerPerceptron(hidden_layer_sizes=np.array([2, 3]), max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(np.eye(4), [0, 1, 0, 1])
    rb.save(clf, tmp_path / "m")
    assert "[2, 3]" in str(inspect_model(tmp_path / "m"))


def test_inspecting_shows_the_certificate_in_words(tmp_path):
    X, y = strategies.noisy(500, 4)
    model = strategies.trained(X, y)
    rb.save(model, tmp_path / "floats")
    assert model.certificate_.verify(X, y)  # now the exact proof is made
    rb.save(model, tmp_path / "exact")
    floats, exact = (inspect_model(tmp_path / name) for name in ("floats", "exact"))
    assert "rounding errors are counted in" in str(floats)
    assert "made by rosenblatt.certify(X, y)" in str(floats)
    assert "A point lies in the convex hulls of both classes" in str(exact)
    assert "rosenblatt-proof" not in str(exact)
    assert exact.to_json()["certificate"][0].startswith("Inseparable")
    assert floats.certificate.verify(X, y)
    rb.save(strategies.trained([[0.0], [1.0]], [0, 1]), tmp_path / "none")
    none = inspect_model(tmp_path / "none")
    assert none.certificate is none.to_json()["certificate"] is None
    assert "certificate" not in str(none)
