"""The three phases and the proof, from files."""

import json
import shlex

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certify.check import main as checker
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.registry import BUILT_IN, command
from rosenblatt.tasks.evaluating import deal
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


OTHERS = {"mark-one", "pa-regressor", "ranking"}
"""Learners of pictures and of numbers."""
COMMANDS = [name for each in BUILT_IN.values() for name in each.commands if name not in OTHERS]


@pytest.mark.parametrize("learner", COMMANDS)
@pytest.mark.parametrize("scale", [False, True])
def test_a_model_trained_from_a_file_is_the_estimator_trained_in_memory(done, tmp_path, learner, scale):
    X, y = write_table(tmp_path / "t.csv")
    if learner == "max-margin":
        assert rb.certify(X, y).verdict == "separable"
    done("train", "t.csv", "-o", "m", "--learner", learner, "--scale" if scale else "--no-scale")
    kind, fixed = command(learner)
    Z = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    expected = kind(**fixed).fit(Z, y).predict(Z)
    got = predictions(done("predict", "m", "t.csv"))
    agree = np.mean(got == expected)
    # Folded weights score raw rows with other roundings than scaled ones: rows on the edge may differ.
    assert agree == 1.0 if not scale else agree > 0.97
    found = json.loads(done("evaluate", "m", "t.csv", "--json"))
    assert found["accuracy"] == pytest.approx(np.mean(got == y))


def test_the_weights_are_those_of_python_to_the_bit(done, tmp_path):
    X, y = write_table(tmp_path / "t.csv", noise=1.0)
    done("train", "t.csv", "-o", "m", "--seed", "5", "--max-iter", "20", "--no-scale")
    expected = rb.PassiveAggressiveClassifier(average=True, random_state=5, max_iter=20)
    expected.fit(X, y)
    np.testing.assert_array_equal(rb.load("m")[-1].coef_, expected.coef_)
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
    told = json.loads(done("train", "t.csv", "-o", "m", "--learner", "perceptron", "--no-scale", "--json"))
    X, y = write_table(tmp_path / "t.csv")
    clf = rb.Perceptron().fit(X, y)
    sign = np.where(y == "yes", 1, -1)
    margin = (sign * clf.decision_function(X)).min() / np.linalg.norm(clf.coef_)
    assert told["converged"]
    assert told["margin"] == pytest.approx(margin)
    assert sum(told["mistakes_per_pass"]) == clf.n_mistakes_ <= told["bound"]
    padded = np.append(clf.coef_, clf.intercept_)
    largest = (X**2).sum(axis=1).max() + 1
    least = (sign * clf.decision_function(X)).min()
    assert told["bound"] == pytest.approx(largest * (padded @ padded) / least**2)
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
    ran = run("train", "t.csv", "-o", "m", "--missing", "error")
    assert ran.code == 2
    assert "t.csv:3:1" in ran.err
    done("train", "t.csv", "-o", "m", "--missing", "mean", "--learner", "perceptron", "--no-scale")
    filled = np.array([[1, 2], [1, 4], [3, 2], [-1, 0]])
    expected = rb.Perceptron().fit(filled, ["x", "y", "y", "x"])
    assert predictions(done("predict", "m", "t.csv")).tolist() == expected.predict(filled).tolist()
    np.testing.assert_array_equal(rb.load("m")[-1].coef_, expected.coef_)
    done("train", "t.csv", "-o", "m", "--missing", "zero")


def test_what_is_filled_counts_for_the_scale(done, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n1,2,x\n,4,y\n3,,y\n-1,0,x\n")
    done("train", "t.csv", "-o", "m", "--missing", "mean", "--scale", "--learner", "perceptron")
    filled = np.array([[1, 2], [1, 4], [3, 2], [-1, 0]])
    scaled = rb.Perceptron().fit((filled - filled.mean(axis=0)) / filled.std(axis=0), ["x", "y", "y", "x"])
    np.testing.assert_allclose(rb.load("m")[-1].coef_, scaled.coef_ / filled.std(axis=0), rtol=1e-12)


def test_folds_have_their_share_of_every_class():
    codes = np.repeat([0, 1, 2], [50, 7, 23])
    fold = deal(codes, 5, seed=3)
    for code in range(3):
        counts = np.bincount(fold[codes == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert (deal(codes, 5, seed=4) != fold).any()


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


def test_a_proof_for_all_classes_is_read_as_it_says(done, tmp_path):
    """The options of reading are kept in the proof, and both checkers take them from there."""
    rows = "kind,b,c\nx,0,0\ny,1,5\nz,2,3\nx,3,1\ny,4,9\n"
    (tmp_path / "kinds.csv").write_text(rows, encoding="utf-8")
    done("certify", "kinds.csv", "--target", "kind", "--multiclass", "direct", "-o", "p.json")
    assert "the proof holds" in done("check", "p.json", "kinds.csv")
    assert checker(["p.json", "kinds.csv"]) == 0


def test_certify_ties_and_several_classes(run, done):
    assert "Even allowing rows exactly on the plane, none" in run("certify", "@xor").out
    assert "Even allowing rows exactly on the plane, none" in run("certify", "@xor", "--ties").out
    without = run("certify", "@xor", "--no-ties").out
    assert "Even allowing rows exactly on the plane" in without  # known without another question
    ran = run("certify", "@iris", "--multiclass", "direct", "-o", "p.json")
    assert ran.code == 1
    assert "3 classes by one argmax" in ran.out
    assert "the proof holds" in done("check", "p.json", "@iris")


def test_undecided_is_code_3(run, monkeypatch):
    def over(clock, doing):
        raise Unsettled(f"Time was over while {doing}.")

    monkeypatch.setattr(Clock, "check", over)
    assert run("certify", "@digits", "--time-limit", "0.000001").code == 3


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
    assert told["learner"] == "PassiveAggressiveClassifier"
    assert told["parameters"]["eta0"] == 0.5
    assert told["provenance"]["files"] == ["t.csv"]
    text = done("inspect", "m")
    assert "PassiveAggressiveClassifier(average=True, eta0=0.5)" in text
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
    np.testing.assert_array_equal(rb.load("m")[-1].coef_, rb.load("plain")[-1].coef_)
    assert not list(tmp_path.glob(".*checkpoint*"))


@pytest.mark.parametrize("labels", [("", ""), ("?", "?"), ("unknown", "no")])
def test_predicting_does_not_mind_what_stands_in_the_place_of_labels(done, tmp_path, labels):
    (tmp_path / "t.csv").write_text("a,label\n1,0\n2,0\n3,1\n4,1\n")
    done("train", "t.csv", "-o", "m", "--learner", "perceptron")
    (tmp_path / "new.csv").write_text(
        "a,label\n" + "".join(f"{3 * k},{label}\n" for k, label in enumerate(labels))
    )
    assert predictions(done("predict", "m", "new.csv")).tolist() == ["0", "1"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "t.csv", "-o", "t.csv"),
        ("train", "t.csv", "-o", "link.csv"),
        ("predict", "m", "t.csv", "-o", "./t.csv"),
        ("predict", "m", "t.csv", "-o", "m"),
        ("certify", "t.csv", "-o", "t.csv"),
        ("report", "m", "t.csv", "-o", "t.csv"),
        ("trace", "t.csv", "-o", "t.csv"),
    ],
)
def test_nothing_that_is_read_is_written_over(done, run, tmp_path, arguments):
    write_table(tmp_path / "t.csv")
    (tmp_path / "link.csv").symlink_to("t.csv")
    done("train", "t.csv", "-o", "m")
    before = [(tmp_path / name).read_bytes() for name in ("t.csv", "m")]
    ran = run(*arguments)
    assert ran.code == 2
    assert "is an input and would be overwritten" in ran.err
    assert [(tmp_path / name).read_bytes() for name in ("t.csv", "m")] == before


@pytest.mark.parametrize(
    "arguments, option",
    [
        (("train", "@iris", "-o", "m", "--target", "1"), "--target"),
        (("train", "@iris", "-o", "m", "--features", "1"), "--features"),
        (("certify", "@xor", "--zero-based"), "--zero-based"),
        (("evaluate", "--cv", "2", "@iris", "--text", "1"), "--text"),
    ],
)
def test_options_that_a_built_in_set_has_no_use_for_are_refused(run, arguments, option):
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert f"Drop {option}." in ran.err


def test_labels_that_the_model_does_not_know(done, run, tmp_path):
    write_table(tmp_path / "t.csv")
    write_table(tmp_path / "other.csv", classes=("no", "perhaps"))
    done("train", "t.csv", "-o", "m")
    ran = run("evaluate", "m", "other.csv")
    assert ran.code == 2
    assert "other.csv: the label perhaps is not a class of the model, whose classes are no, yes." in ran.err


def test_what_a_learner_is_cannot_be_set(run):
    ran = run("train", "@iris", "-o", "m", "--set", "average=false")
    assert (ran.code, ran.err) == (
        2,
        "rosenblatt: --set average=false contradicts the learner averaged-pa1, which always sets it to True. "
        "Use another one.\n",
    )  # fmt: skip


def test_too_few_rows_to_keep_some_back(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,y\n3,y\n")
    ran = run("train", "t.csv", "-o", "m", "--holdout", "0.5")
    assert ran.code == 2
    assert "A holdout needs two rows of each class" in ran.err
    assert "class x has one" in ran.err


@pytest.mark.parametrize("command", [("train", "-o", "m"), ("evaluate", "--cv", "2"), ("certify",)])
def test_texts_are_not_taken_for_labels_unless_named(run, tmp_path, command):
    write_tsv(tmp_path / "sms", [(k / 7, text) for k, (_, text) in enumerate(messages(60))])
    ran = run(command[0], "sms", *command[1:])
    assert (ran.code, ran.out) == (2, "")
    assert "the last column, 'x2', was taken as the target and holds " in ran.err
    assert "--target" in ran.err
    (tmp_path / "few.csv").write_text("a,kind\n" + "".join(f"{k},k{k}\n" for k in range(30)))
    assert run("train", "few.csv", "-o", "m").code == 2
    assert run("train", "few.csv", "-o", "m", "--target", "kind", "--max-iter", "2").code == 0


def test_the_check_that_is_told_of_can_be_typed(run, tmp_path):
    (tmp_path / "my data.csv").write_text("p,1,u v\nq,,w\np,3,u\nq,0,w\n")
    ran = run("certify", "my data.csv", "-o", "proof.json", "--target", 1, "--text", 3, "--missing", "mean",
              "--no-header", "--bits", 4)  # fmt: skip
    assert ran.code == 0
    told = ran.err.partition("check it with: rosenblatt ")[2].splitlines()[0]
    checked = run(*shlex.split(told))
    assert checked.code == 0, checked
    assert checked.out.startswith("the proof holds")


@pytest.mark.parametrize(
    "options, dropped",
    [
        (("--text", "a"), "--text"),
        (("--bits", "3"), "--bits"),
        (("--ignore", "a"), "--ignore"),
        (("--missing", "zero"), "--missing zero"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "evaluate", "report"])
def test_options_that_a_model_has_no_use_for_are_refused(done, run, tmp_path, command, options, dropped):
    write_table(tmp_path / "t.csv")
    done("train", "t.csv", "-o", "m", "--missing", "mean")
    done("predict", "m", "t.csv", "--missing", "mean")
    ran = run(command, "m", "t.csv", *options)
    assert (ran.code, ran.out) == (2, "")
    assert f"Drop {dropped}." in ran.err


def test_a_file_that_counts_features_otherwise_than_that_of_training(done, tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1 3:2\n-1 2:1\n")
    (tmp_path / "zero.svm").write_text("1 0:1 2:2\n-1 1:1\n")
    done("train", "one.svm", "-o", "m")
    expected = done("predict", "m", "one.svm", "--scores")
    assert done("predict", "m", "zero.svm", "--scores", "--zero-based") == expected
    done("train", "zero.svm", "-o", "m")
    assert done("predict", "m", "one.svm", "--scores", "--one-based") == expected


def test_weights_of_classes_that_are_numbers(done, run, tmp_path):
    X, y = write_table(tmp_path / "t.csv", noise=1.0, classes=(0, 1))
    done("train", "t.csv", "-o", "m", "--no-scale", "--max-iter", 5, "--set", 'class_weight={"0": 1, "1": 5}')
    expected = rb.PassiveAggressiveClassifier(average=True, max_iter=5, class_weight={0: 1, 1: 5}).fit(X, y)
    np.testing.assert_array_equal(rb.load("m")[-1].coef_, expected.coef_)
    ran = run("train", "t.csv", "-o", "m", "--set", "random_state=3")
    assert (ran.code, "--seed" in ran.err) == (2, True)


def test_any_number_of_jobs_says_the_same(done, run):
    alone = done("evaluate", "--cv", 3, "@digits", "--learner", "perceptron", "--max-iter", 3)
    for jobs in (2, -1):
        assert (
            done("evaluate", "--cv", 3, "@digits", "--learner", "perceptron", "--max-iter", 3, "--jobs", jobs)
            == alone
        )
    for bad in ("0", "many"):
        refused = run("evaluate", "--cv", 3, "@iris", "--jobs", bad)
        assert refused.code == 2
        assert "-1 for all cores" in refused.err
