"""The page as a whole: every classifier, one file that needs nothing else, the same bytes again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError, StorageError
from rosenblatt.reports.page import render_report, write_report

SECTIONS = ["head", "scores", "looks", "errors", "training", "certificate", "provenance"]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def clouds(n_classes=2, n=40, d=4, seed=0):
    """Integer rows of overlapping classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = rng.integers(-3, 4, (n, d)) + 3 * np.eye(n_classes, d)[y]
    return X.astype(float), np.array(["ham", "spam", "eggs", "toast"])[y]


LINEAR = [
    rb.Perceptron(),
    rb.Perceptron(average=True, early_stopping=True),
    rb.Perceptron(bias=None),
    rb.PocketPerceptron(),
    rb.LiftedPerceptron(max_iter=20),
    rb.SoftMarginClassifier(),
    rb.KernelPerceptron("linear"),
]
OTHERS = [
    rb.VotedPerceptron(),
    rb.KernelPerceptron("rbf"),
    rb.MultilayerPerceptron(max_iter=5),
    rb.MarkOne(50, retina=(4, 4)),
    rb.ExtremeLearningMachine(10),
    make_pipeline(rb.MonomialMap(2), rb.Perceptron()),
]


@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.ScaleWarning")  # of monomials
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [*LINEAR, *OTHERS], ids=lambda model: str(model)[:45])
def test_every_classifier(read, model, n_classes):
    if n_classes > 2 and isinstance(model, rb.LiftedPerceptron):
        return  # of two classes only
    X, y = clouds(n_classes)
    page = read(render_report(fitted(model, X, y), X, y))
    assert list(page.sections) == SECTIONS
    right = int((model.predict(X) == y).sum())
    assert f"{right} of 40 rows right" in page.sections["head"]
    assert ("has no weights in the features given" in page.sections["looks"]) == (model in OTHERS)
    decided = r"Inseparable: |Separable: |[Cc]lass(es)? (\w+ )*(is|are) (not )?separable"
    assert re.search(decided, page.sections["certificate"])
    assert_alone(page)


@pytest.mark.slow
def test_widest_hyperplane(read):
    X, y = rb.datasets.load_or()
    page = read(render_report(rb.MaxMarginClassifier().fit(X, y), X, y))
    assert "This is the widest of all hyperplanes" in page.sections["head"]
    assert "margin γ 0.353553" in page.sections["training"]
    assert "MaxMarginClassifier is not trained in passes" in page.sections["training"]
    assert "does not learn by mistakes" in page.sections["training"]


def assert_alone(page):
    """A page needs nothing else, runs nothing, and names each thing once."""
    assert "http" not in page.html.lower().replace("http-equiv", "")
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith(("#", "data:"))
    assert not re.search(r"url\((?!#)", page.html)
    assert "@import" not in page.html
    assert len(page.ids) == len(set(page.ids))
    for target in re.findall(r'(?:href="|url\()#([\w.-]+)', page.html):
        assert target in page.ids


def test_pictures_with_images_inside_stand_alone(read):
    X, y = rb.datasets.make_diagonal(4000, 0)
    html = render_report(fitted(rb.Perceptron(max_iter=2), X, y), X, y)
    assert "data:image/png;base64," in html
    assert len(html.encode()) < 1_000_000
    assert_alone(read(html))


NASTY = ["<script>alert(1)</script>", "a&b", '"quoted" onload="x"', "$x$y$ \\frac{", "<!-- --> ]]>", "x'y"]


@pytest.mark.parametrize("n_features", [2, 6])
def test_names_and_labels_are_data(read, n_features):
    X, y = clouds(d=n_features)
    labels = np.where(y == "ham", "<b>ham</b>", "$spam$ & $")
    rows = ["<img src=x onerror=alert(1)>"] * len(y)
    clf = fitted(rb.Perceptron(max_iter=3), X, labels)
    told = {
        "names": NASTY[:n_features],
        "rows": rows,
        "title": "</title><script>",
        "provenance": {"<i>": ["</pre>"]},
    }
    page = read(render_report(clf, X, labels, **told))
    assert not {"script", "img"} & set(page.tags)
    assert "<b>ham</b>" not in page.html
    assert "<script>" not in page.html
    assert "<img" not in page.html
    for name in NASTY[:n_features]:
        assert name in page.sections["looks"]
    assert "<b>ham</b>" in page.sections["scores"]
    assert "</title><script>" in page.sections["head"]
    assert "<img src=x onerror=alert(1)>" in page.sections["errors"]


@pytest.mark.slow
def test_the_same_bytes(tmp_path):
    X, y = rb.datasets.load_six_points()
    first = write_report(tmp_path / "first.html", rb.Perceptron().fit(X, y), X, y)
    code = (
        "import sys, rosenblatt as rb; from rosenblatt.reports.page import write_report;"
        "X, y = rb.datasets.load_six_points(); write_report(sys.argv[1], rb.Perceptron().fit(X, y), X, y)"
    )
    other = tmp_path / "other.html"
    subprocess.run([sys.executable, "-c", code, str(other)], check=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert other.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("model", [rb.Perceptron(order="cyclic"), rb.KernelPerceptron("rbf")])
def test_sparse_rows_make_the_same_page(model):
    """Sums of these integers are exact, so that nothing but the layout differs."""
    X, y = clouds(3)

    def page(X):
        return re.sub(r"(dense|sparse) rows of float64, \d+ values", "", render_report(fitted(model, X, y), X, y))

    assert page(X) == page(csr_array(X))


@pytest.mark.parametrize("to", [int, float, str, bool, lambda label: (label, "x")])
def test_labels_of_any_type(read, to):
    X, y = clouds()
    labels = np.empty(len(y), object)
    labels[:] = [to(label == "spam") for label in y]
    labels = labels if isinstance(labels[0], tuple) else np.array(labels.tolist())
    page = read(render_report(fitted(rb.Perceptron(max_iter=5), X, labels), X, labels))
    assert str(to(True)) in page.sections["scores"]


def test_one_class_alone(read):
    X, y = clouds()
    clf = fitted(rb.Perceptron(max_iter=5), X, y)
    page = read(render_report(clf, X[y == "ham"], y[y == "ham"]))
    assert "Separable" in page.sections["certificate"]
    assert "–" in page.sections["scores"]


def test_frames_and_named_models(read):
    X, y = clouds()
    frame = pd.DataFrame(X, columns=["size", "colour", "weight", "age"])
    clf = fitted(rb.Perceptron(max_iter=5), frame, y)
    for rows in (frame, X):  # the names come from the model as well, without a warning
        assert "colour" in read(render_report(clf, rows, y)).sections["looks"]


def test_streams(read):
    X, y = clouds()
    clf = rb.Perceptron().partial_fit(X, y, classes=["ham", "spam"])
    page = read(render_report(clf, X, y))
    assert "It learned from a stream, one visit to each of 40 rows." in page.sections["head"]
    assert "there is no curve to draw" in page.sections["training"]


def test_written_whole_or_not_at_all(tmp_path, monkeypatch):
    X, y = rb.datasets.load_or()
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rosenblatt.atomic.os.replace", full)
    with pytest.raises(StorageError, match="No space left"):
        write_report(path, rb.Perceptron().fit(X, y), X, y)
    assert path.read_text() == "the old one"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_bad_input_is_named(tmp_path):
    X, y = clouds()
    clf = fitted(rb.Perceptron(max_iter=5), X, y)
    path = tmp_path / "report.html"
    with pytest.raises(ShapeError, match="names has 2 names, but X has 4 features"):
        write_report(path, clf, X, y, names=["a", "b"])
    with pytest.raises(ShapeError, match="rows has 1 names, but X has 40 rows"):
        write_report(path, clf, X, y, rows=["a"])
    with pytest.raises(LabelError, match="'toast' at row 0, which is not one of the known classes"):
        write_report(path, clf, X, np.full(40, "toast"))
    with pytest.raises(ShapeError, match="X has 2 features"):
        write_report(path, clf, X[:, :2], y)
    with pytest.raises(NotFittedError):
        write_report(path, rb.Perceptron(), X, y)
    regressor = fitted(rb.MultilayerPerceptron(task="regression", max_iter=2), X, X[:, 0])
    with pytest.raises(ParameterError, match="MultilayerPerceptron that predicts no classes"):
        write_report(path, regressor, X, y)
    with pytest.raises(ParameterError, match="model is a str"):
        write_report(path, "model", X, y)
    with pytest.raises(ParameterError, match="certificate is a str"):
        write_report(path, clf, X, y, certificate="yes")
    assert not path.exists()


def print_nothing(report):
    pass


def test_provenance_is_complete_and_has_no_addresses(read):
    X, y = clouds()
    clf = fitted(rb.Perceptron(max_iter=5, callbacks=[print_nothing], random_state=np.random.default_rng(3)), X, y)
    page = read(render_report(clf, X, y, provenance={"files": ["a.csv", "b.csv"], "made": {"by": "train"}}))
    told = page.sections["provenance"]
    assert "files a.csv, b.csv made · by train" in told
    assert "dense rows of float64, 160 values" in told
    assert rb.certify(X, y).data.sha256 in told
    assert f"rosenblatt {rb.__version__}" in told
    assert "0x" not in re.sub(r"[0-9a-f]{64}", "", told)
    assert "<b>max_iter</b>" in page.html
    assert "<b>zero</b>" not in page.html
