"""Evaluations that say whether the model was trained on the rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.tables.collect import collect, fingerprint_of
from rosenblatt.tasks.data import open_data

SAID = "The model was trained on these rows. Expect worse results on new rows."


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a table, and another with the same number of rows, to the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("seen", "new"):
        a, b = rng.normal(size=(2, 80))
        rows = [f"{x},{z},{'yes' if x + z > 0 else 'no'}" for x, z in zip(a, b, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,label", *rows]) + "\n")
    return tmp_path


@pytest.mark.parametrize("learner", ["averaged", "soft-margin"])
def test_files_are_recognised(files, learner):
    rb.train("seen.csv", learner, scale=True).save("m")
    seen, new = rb.evaluate("m", "seen.csv"), rb.evaluate("m", "new.csv")
    assert (seen.seen, new.seen) == ("all", "other")
    assert str(seen).startswith(f"{SAID}\n\naccuracy")
    assert "interval" not in str(seen)  # it is of new rows
    assert "trained on" not in str(new)
    assert "interval" in str(new)
    assert (seen.to_json()["seen"], new.to_json()["seen"]) == ("all", "other")


@pytest.mark.parametrize("frame", [False, True])
def test_models_in_memory_recognise_their_rows(files, frame):
    """The model of `rb.train`, and a learner that was fitted on columns of a data frame."""
    seen, new = (pd.read_csv(f"{name}.csv") if frame else f"{name}.csv" for name in ("seen", "new"))
    model = rb.train(seen).model
    assert (rb.evaluate(model, seen).seen, rb.evaluate(model, new).seen) == ("all", None)
    assert "interval" not in str(rb.evaluate(model, seen))
    alone = rb.Perceptron().fit(pd.read_csv("seen.csv")[["a", "b"]], pd.read_csv("seen.csv")["label"])
    assert (rb.evaluate(alone, seen).seen, rb.evaluate(alone, new).seen) == ("all", None)


def test_rows_held_out_are_among_others_that_were_seen(files):
    rb.train("seen.csv", holdout=0.25).save("m")
    found = rb.evaluate("m", "seen.csv")
    assert found.seen == "some"
    assert str(found).startswith("The model was trained on most of these rows. Expect worse")
    assert rb.evaluate("m", "new.csv").seen == "other"


def test_built_in_sets_and_numbers_are_recognised(files):
    rb.train("@iris").save("m")
    assert rb.evaluate("m", "@iris").seen == "all"
    rng = np.random.default_rng(1)
    lines = [f"{x},{2 * x}" for x in rng.normal(size=30)]
    (files / "numbers.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    rb.train("numbers.csv", "pa-regressor", target="y").save("r")
    found = rb.evaluate("r", "numbers.csv")
    assert found.seen == "all"
    assert str(found).startswith(f"{SAID}\n\nMSE")


def test_a_ranking_says_it(files):
    lines = [f"{k % 3} qid:{k // 6} 1:{k % 3 + 0.1 * k} 2:{(7 * k) % 5}" for k in range(30)]
    (files / "ranks.libsvm").write_text("\n".join(lines) + "\n")
    rb.train("ranks.libsvm", "ranking").save("r")
    found = rb.evaluate("r", "ranks.libsvm")
    assert found.seen == "all"
    assert str(found).startswith(f"{SAID}\n\nin order")


def test_the_command_and_the_report_say_the_same(files, capsys):
    assert main(["train", "seen.csv", "-o", "m", "-q"]) == 0
    assert main(["evaluate", "m", "seen.csv"]) == 0
    assert SAID in capsys.readouterr().out
    assert main(["report", "m", "seen.csv", "-o", "r.html"]) == 0
    page = (files / "r.html").read_text(encoding="utf-8")
    assert SAID in page
    assert "95% interval" not in page


def test_standard_input_is_read_once_and_nothing_is_said(files, monkeypatch):
    rb.train("seen.csv").save("m")
    with open("seen.csv") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert rb.evaluate("m", "-").seen is None


def test_arrays_are_recognised_by_the_trace():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    clf = rb.Perceptron(average=True).fit(X, y)
    assert rb.evaluate(clf, X, y).seen == "all"
    for other in (X[:50], X + 1.0):
        assert rb.evaluate(clf, other, y[: len(other)]).seen is None
    untraced = rb.Perceptron(average=True, trace=None).fit(X, y)
    assert rb.evaluate(untraced, X, y).seen is None


@pytest.mark.parametrize("size", [1 << 10, 1 << 23])
def test_a_fingerprint_is_that_of_the_blocks(files, size, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.collect.BLOCK_BYTES", size)
    source = open_data("seen.csv")
    assert fingerprint_of(source) == collect(source, block_bytes=size).fingerprint


def test_frames_are_recognised(files):
    frame = pd.read_csv("seen.csv")
    rb.train("seen.csv").save("m")
    assert rb.evaluate("m", frame).seen == "all"
    assert rb.evaluate("m", frame[::-1]).seen == "other"
    rb.train(frame).save("f")
    assert rb.evaluate("f", frame).seen == rb.evaluate("f", "seen.csv").seen == "all"
    assert rb.evaluate("f", pd.read_csv("new.csv")).seen == "other"


def test_pipelines_are_recognised_by_the_trace_of_their_last_step():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for steps in ((StandardScaler(),), ()):
        pipeline = make_pipeline(*steps, rb.Perceptron(average=True)).fit(X, y)
        assert rb.evaluate(pipeline, X, y).seen == "all"
        assert rb.evaluate(pipeline, 1.0 - X, y).seen is None


def test_sentences_are_recognised(files, capsys):
    lines = [f"w{k} {'AB'[k % 2]}\n" + "\n" * (k % 3 == 2) for k in range(30)]
    Path("seen.conll").write_text("".join(lines))
    Path("new.conll").write_text("".join(lines[15:] + lines[:15]))
    assert main(["train", "seen.conll", "-o", "t", "-q"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "t", "seen.conll"]) == 0
    said = "The model was trained on these sentences. Expect worse results on new sentences.\n\ntokens"
    assert capsys.readouterr().out.startswith(said)
    assert rb.evaluate("t", "seen.conll").to_json()["seen"] == "all"
    assert rb.evaluate("t", "new.conll").seen == "other"
    assert rb.evaluate(rb.load("t"), "seen.conll").seen is None  # the estimator does not know its data
    rb.train("seen.conll", holdout=0.2).save("h")
    assert str(rb.evaluate("h", "seen.conll")).startswith("The model was trained on most of these sentences.")
