"""Predictions of files: the same lines on any number of threads."""

import json
from io import BytesIO

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import FormatError
from rosenblatt.threads import using

ROWS = 400


@pytest.fixture
def trained(tmp_path):
    """Return models and files to predict, by format."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4)).round(3)
    y = np.where(X @ [1, -2, 0, 3] > 0, "yes", "no")
    words = np.array(["red", "blue", "green apple"])[rng.integers(0, 3, ROWS)]
    table = tmp_path / "t.csv"
    lines = [",".join([*map(str, row), word, label]) for row, word, label in zip(X, words, y, strict=True)]
    table.write_text("a,b,c,d,word,label\n" + "\n".join(lines) + "\n")
    sparse = tmp_path / "t.svm"
    lines = [" ".join([str(int(label == "yes")), *(f"{j + 1}:{v}" for j, v in enumerate(row))]) for row, label in
             zip(X, y, strict=True)]  # fmt: skip
    sparse.write_text("\n".join(lines) + "\n")
    np.savez(tmp_path / "t.npz", X=X, y=y)
    files = {"csv": table, "svm": sparse, "npz": tmp_path / "t.npz"}
    return {name: (rb.train(path).model, path) for name, path in files.items()}


def lines_of(model, path, **options):
    file = BytesIO()
    rb.predict_file(model, path, file, chunk_bytes=1000, **options)
    return file.getvalue()


@pytest.mark.parametrize("name", ["csv", "svm", "npz"])
@pytest.mark.parametrize("options", [{}, {"scores": True}, {"scores": True, "as_json": True}])
def test_lines_are_the_same_on_any_number_of_threads(trained, name, options):
    expected = lines_of(*trained[name], **options)
    assert expected.count(b"\n") >= ROWS
    for n_jobs in (2, 5):
        with using(n_jobs):
            assert lines_of(*trained[name], **options) == expected


def test_lines_before_a_bad_one_are_written(trained):
    model, path = trained["csv"]
    path.write_text(path.read_text() + "1,2,oops,4,red,yes\n")
    found = {}
    for n_jobs in (1, 2, 5):
        file = BytesIO()
        with using(n_jobs), pytest.raises(FormatError, match=f":{ROWS + 2}:"):
            rb.predict_file(model, path, file, chunk_bytes=1000)
        found[n_jobs] = file.getvalue()
    assert found[1].count(b"\n") > ROWS // 2
    assert found[1] == found[2] == found[5]


def several(kind):
    """Return a model that predicts two values of each row, and their names."""
    X = np.random.default_rng(0).normal(size=(50, 4)).round(3)
    labels = (X[:, :2] > 0).astype(int)
    if kind == "probes":
        return rb.Probes(folds=None).fit(X, {"warm": labels[:, 0], "tall": labels[:, 1]}), X, ["warm", "tall"]
    return rb.MultilabelPerceptron().fit(X, labels), X, ["0", "1"]


@pytest.mark.parametrize("kind", ["probes", "sets"])
def test_models_of_several_answers_write_a_column_for_each(tmp_path, kind):
    model, X, names = several(kind)
    rb.save(model, tmp_path / "m.safetensors")
    (tmp_path / "x.csv").write_text("a,b,c,d\n" + "".join(",".join(map(str, row)) + "\n" for row in X.tolist()))
    np.save(tmp_path / "x.npy", X)
    expected, scores = model.predict(X).tolist(), model.decision_function(X).tolist()
    for name in ("x.csv", "x.npy"):
        header, *rows = lines_of(tmp_path / "m.safetensors", tmp_path / name).decode().splitlines()
        assert header.split("\t") == names
        assert [list(map(int, row.split("\t"))) for row in rows] == expected
    header, *rows = lines_of(model, tmp_path / "x.csv", scores=True).decode().splitlines()
    assert header.split("\t") == [*names, *(f"score:{name}" for name in names)]
    assert [list(map(float, row.split("\t"))) for row in rows] == [
        a + b for a, b in zip(expected, scores, strict=True)
    ]
    rows = lines_of(model, tmp_path / "x.csv", scores=True, as_json=True).decode().splitlines()
    told = [json.loads(row) for row in rows]
    assert [list(each["label"]) for each in told] == [names] * len(X)
    assert [list(each["label"].values()) for each in told] == expected
    assert [each["score"] for each in told] == scores
