"""Probabilities, thresholds, and what a report says about the rows, on the command line."""

import json
import re

import numpy as np
import pytest


def test_probabilities_are_trained_and_predicted(done):
    done("train", "@iris", "-o", "m", "--probabilities", "-q")
    table = done("predict", "m", "@iris", "--probabilities").splitlines()
    assert table[0].split("\t") == ["label", *(f"probability:{c}" for c in ("setosa", "versicolor", "virginica"))]
    np.testing.assert_allclose([sum(map(float, line.split("\t")[1:])) for line in table[1:]], 1.0)
    first = json.loads(done("predict", "m", "@iris", "--probabilities", "--json").splitlines()[0])
    assert max(first["probabilities"], key=first["probabilities"].get) == first["label"] == "setosa"
    both = done("predict", "m", "@iris", "--probabilities", "--scores").splitlines()
    assert len(both[0].split("\t")) == len(both[1].split("\t")) == 7


def test_a_model_without_probabilities_says_how_to_get_them(done, run):
    done("train", "@iris", "-o", "m", "-q")
    refused = run("predict", "m", "@iris", "--probabilities")
    assert refused.code == 2
    assert "Train it with --probabilities" in refused.err


def test_the_positive_class_is_chosen(done, run):
    done("train", "@breast-cancer", "-o", "m", "-q", "--max-iter", "10")
    for label in ("benign", "malignant"):
        found = json.loads(done("evaluate", "m", "@breast-cancer", "--positive", label, "--json"))
        rates = next(each for each in found["classes"] if each["label"] == label)
        assert (found["positive"], found["f1_positive"]) == (label, rates["f1"])
        assert 0.9 < found["ranking"]["roc_auc"] < 1.0
    unknown = run("evaluate", "m", "@breast-cancer", "--positive", "spam")
    assert unknown.code == 2
    assert "--positive spam is not one of the classes benign, malignant" in unknown.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "The model was trained on these rows."),
        (["--holdout", "0.3"], "The model was trained on most of these rows."),
        (["other"], "These are not the rows that the model was trained on"),
    ],
)
def test_a_report_says_whether_rows_were_seen_in_training(done, tmp_path, options, words):
    lines = [f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(60)]
    for name, part in (("data.csv", lines), ("other.csv", lines[:40])):
        (tmp_path / name).write_text("\n".join(["a,b,label", *part]))
    trained_on = "other.csv" if options == ["other"] else "data.csv"
    done("train", trained_on, "-o", "m", "-q", *(each for each in options if each != "other"))
    done("report", "m", "data.csv", "-o", "r.html")
    page = re.sub(r"\s+", " ", (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert words in page
    assert "Thresholds" in page


def test_a_report_compares_scaled_training_with_its_bounds(done, tmp_path):
    """The run replays on the rows as they were scaled; the page says how, and counts rows from 1."""
    rows = [f"{1000 * k},{k % 7},{'yes' if k % 7 + k / 10 > 4 else 'no'}" for k in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["income,age,good", *rows]), encoding="utf-8")
    done("train", "data.csv", "-o", "m", "--learner", "perceptron", "--scale", "--holdout", "0.25")
    done("report", "m", "data.csv", "-o", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "trained on 45 rows; 0.25 of all were held out" in page
    done("train", "data.csv", "-o", "m", "--learner", "perceptron", "--scale")
    done("report", "m", "data.csv", "-o", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "numbers were standardised for training" in page
    assert "Training made" in page
    assert "The bounds are about the scaled rows" in page
    assert "Rows are counted from 1" in page
