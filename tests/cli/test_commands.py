"""The three phases and the proof, from files."""

import json

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.learners import LEARNERS
from tests.cli.messages import messages, write_tsv


def write_table(path, n=200, noise=0.0, seed=0, classes=("no", "yes")):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n, 3)).round(3)
    scores = X @ [1, 0.5, 0.25]
    X, scores = (each[np.abs(scores) > 0.1][:n] for each in (X, scores))
    X, scores = X * [1, 4, 0.5] + [0, 2, -1], scores + noise * rng.standard_normal(n)
    codes = np.digitize(scores, np.linspace(-0.8, 0.8, len(classes) + 1)[1:-1])
    labels = [classes[code] for code in codes]
    lines = ["a,b,c,label"] + [
        ",".join(map(repr, row)) + f",{label}" for row, label in zip(X.tolist(), labels, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return X, np.array(labels)


def predictions(text):
    return np.array(text.split())


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "mark-one"])
@pytest.mark.parametrize("scale", [False, True])
def test_a_model_trained_from_a_file_is_the_estimator_trained_in_memory(done, tmp_path, learner, scale):
    X, y = write_table(tmp_path / "t.csv")
    if learner == "max-margin":
        assert rb.certify(X, y).verdict == "separable"
    options = ["--scale"] if scale else []
    done("train", "t.csv", "-o", "m", "--learner", learner, *options)
    kind, fixed = LEARNERS[learner]
    Z = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    expected = getattr(rb, kind)(**fixed).fit(Z, y).predict(Z)
    got = predictions(done("predict", "m", "t.csv"))
    agree = np.mean(got == expected)
    # Folded weights score raw rows with other roundings than scaled ones: rows on the edge may differ.
    assert agree == 1.0 if not scale else agree > 0.97
    found = json.loads(done("evaluate", "m", "t.csv", "--json"))
    assert found["accuracy"] == pytest.approx(np.mean(got == y))


def test_the_weights_are_those_of_python_to_the_bit(done, tmp_path):
    X, y = write_table(tmp_path / "t.csv", noise=1.0)
    done("train", "t.csv", "-o", "m", "--seed", "5", "--max-iter", "20")
    expected = rb.Perceptron(average=True, random_state=5, max_iter=20)
    with pytest.warns(match="max_iter"):
        expected.fit(X, y)
    np.testing.assert_array_equal(rb.load("m").coef_, expected.coef_)
    scores = done("predict", "m", "t.csv", "--scores").splitlines()
    assert scores[0] == "label\tscore"
    told = np.array([float(line.split("\t")[1]) for line in scores[1:]])
    np.testing.assert_array_equal(told, expected.decision_function(X))


def test_many_classes(done, tmp_path):
    write_table(tmp_path / "t.csv", classes=("a", "b", "c"))
    done("train", "t.csv", "-o", "m", "--scale")
    lines = done("predict", "m", "t.csv", "--scores").splitlines()
    assert lines[0] == "label\tscore:a\tscore:b\tscore:c"
    label, *scores = lines[1].split("\t")
    assert label == "abc"[np.argmax([float(score) for score in scores])]
    assert "c" in done("evaluate", "m", "t.csv")


def test_columns_are_found_by_name_and_labels_may_be_missing(done, tmp_path):
    write_table(tmp_path / "t.csv")
    done("train", "t.csv", "-o", "m")
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text().split()]
    (tmp_path / "other.csv").write_text("".join(f"{c},{a},{b}\n" for a, b, c, _ in rows))
    assert done("predict", "m", "other.csv") == done("predict", "m", "t.csv")


def test_summary_tells_of_margin_and_bound(done, tmp_path):
    write_table(tmp_path / "t.csv")
    told = json.loads(done("train", "t.csv", "-o", "m", "--learner", "perceptron", "--json"))
    X, y = write_table(tmp_path / "t.csv")
    clf = rb.Perceptron().fit(X, y)
    sign = np.where(y == "yes", 1, -1)
    margin = (sign * clf.decision_function(X)).min() / np.linalg.norm(clf.coef_)
    assert told["converged"]
    assert told["margin"] == pytest.approx(margin)
    assert sum(told["mistakes_per_pass"]) == clf.n_mistakes_ <= told["bound"]
    certified = rb.bounds(X, y)["padded"].value
    assert told["bound"] >= certified * (1 - 1e-9)  # the widest hyperplane allows the fewest
    assert told["trained_on"]["accuracy"] == 1.0


def test_rows_held_out_are_not_trained_on(done, tmp_path):
    write_table(tmp_path / "t.csv", noise=2.0)
    told = json.loads(done("train", "t.csv", "-o", "m", "--holdout", "0.25", "--max-iter", "5", "--json"))
    assert told["rows"] == 150
    assert told["held_out"]["rows"] == 50


def test_missing_numbers(run, done, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n1,2,x\n,4,y\n3,,y\n-1,0,x\n")
    ran = run("train", "t.csv", "-o", "m")
    assert ran.code == 2
    assert "t.csv:3:1" in ran.err
    done("train", "t.csv", "-o", "m", "--missing", "mean", "--learner", "perceptron")
    filled = np.array([[1, 2], [1, 4], [3, 2], [-1, 0]])
    expected = rb.Perceptron().fit(filled, ["x", "y", "y", "x"])
    assert predictions(done("predict", "m", "t.csv")).tolist() == expected.predict(filled).tolist()
    np.testing.assert_array_equal(rb.load("m").coef_, expected.coef_)
    done("train", "t.csv", "-o", "m", "--missing", "zero")


def test_rows_that_cannot_be_read_are_counted(run, tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n-1 1:x\n-1 2:3\n")
    ran = run("train", "t.svm", "-o", "m")
    assert ran.code == 2
    assert "t.svm:2:" in ran.err
    ran = run("train", "t.svm", "-o", "m", "--skip-bad")
    assert ran.code == 0
    assert "could not be read: 1" in ran.err
    assert "t.svm:2:" in ran.err


def test_certify_and_check(run, done, tmp_path):
    write_table(tmp_path / "t.csv")
    assert "Separable" in done("certify", "t.csv", "-o", "p.json", "--margin")
    assert "the proof holds" in done("check", "p.json", "t.csv")
    text = (tmp_path / "t.csv").read_text().splitlines()
    swapped = text[1].replace("yes", "no") if "yes" in text[1] else text[1].replace("no", "yes")
    (tmp_path / "t2.csv").write_text("\n".join([text[0], swapped, *text[2:]]) + "\n")
    ran = run("check", "p.json", "t2.csv")
    assert ran.code == 1
    assert "does not hold" in ran.out
    (tmp_path / "p2.json").write_text("{}")
    assert run("check", "p2.json", "t.csv").code == 2
    (tmp_path / "p3.json").write_bytes(b"\xff")
    assert run("check", "p3.json", "t.csv").code == 2


def test_undecided_is_code_3(run, monkeypatch):
    ran = run("certify", "@digits", "--time-limit", "0.000001")
    assert ran.code == 3


def test_spam_from_text_by_cross_validation(done, tmp_path):
    write_tsv(tmp_path / "sms", messages(1500))
    found = json.loads(done("evaluate", "--cv", "5", "sms", "--target", "1", "--text", "2", "--json"))
    assert found["all"]["f1_positive"] >= 0.93


def test_weights_of_words_have_names(done, tmp_path):
    write_tsv(tmp_path / "sms", messages(400))
    done("train", "sms", "--target", "1", "--text", "2", "-o", "m", "--vocabulary")
    weights = {
        each["feature"]: each["weight"]
        for each in json.loads(done("inspect", "m", "--json", "--weights", "60"))["weights"]
    }
    assert weights["x2=call"] > 0


def test_inspect_tells_where_a_model_came_from(done, tmp_path):
    write_table(tmp_path / "t.csv")
    done("train", "t.csv", "-o", "m", "--eta0", "0.5")
    told = json.loads(done("inspect", "m", "--json"))
    assert told["learner"] == "Perceptron"
    assert told["parameters"]["eta0"] == 0.5
    assert told["provenance"]["files"] == ["t.csv"]
    text = done("inspect", "m")
    assert "Perceptron(average=True, eta0=0.5)" in text
    assert "provenance" in text


def test_models_saved_in_python_predict_from_files(done, tmp_path):
    X, y = write_table(tmp_path / "t.csv")
    clf = rb.Perceptron().fit(X, y)
    rb.save(clf, tmp_path / "m")
    assert predictions(done("predict", "m", "t.csv", "--target", "label")).tolist() == clf.predict(X).tolist()
    np.save(tmp_path / "X.npy", X)
    assert predictions(done("predict", "m", "X.npy")).tolist() == clf.predict(X).tolist()


def test_trace_prints_the_updates_of_the_lecture(done):
    lines = done("trace", "@six-points").splitlines()
    updates = [line.split(None, 5)[2:] for line in lines[4:7]]
    assert [each[0] for each in updates] == ["5", "3", "1"]
    assert updates[0][-1].split("  ") == ["(0.6, 0.9)", "-0.2"]
    assert "(0.2, 1.1)" in lines[5]
    assert "(0.5, 1)" in lines[6]


def test_trace_of_koski_from_zero(done):
    told = json.loads(
        done("trace", "@six-points", "--start", "0,0", "--eta0", "1", "--bias", "radius", "--first", "1", "--json")
    )
    assert told["coef"] == [[1.5, 7.5]]
    assert told["intercept"] == [8.0]
    assert told["passes"] == 6


def test_report_is_written(done, tmp_path):
    write_table(tmp_path / "t.csv", n=60)
    done("train", "t.csv", "-o", "m")
    assert done("report", "m", "t.csv", "-o", "r.html") == "r.html\n"
    page = (tmp_path / "r.html").read_text()
    assert page.lower().startswith("<!doctype html>")


def test_resume_without_a_checkpoint_begins_at_the_beginning(done, tmp_path):
    write_table(tmp_path / "t.csv", noise=1.0)
    arguments = ("--max-iter", "30", "-q")
    done("train", "t.csv", "-o", "plain", *arguments)
    done("train", "t.csv", "-o", "m", *arguments, "--checkpoint", "2", "--resume")
    np.testing.assert_array_equal(rb.load("m").coef_, rb.load("plain").coef_)
    assert not list(tmp_path.glob(".*checkpoint*"))
