"""Training from files, in Python: the same model as `rosenblatt train` makes."""

import json
import os
import re
import time
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

import rosenblatt as rb
from rosenblatt import threads
from rosenblatt.cli.main import main
from rosenblatt.cli.options import NAMED
from rosenblatt.cli.train import train as command_of_train
from rosenblatt.exceptions import ParameterError
from rosenblatt.registry import BUILT_IN, able, able_in_words
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.collect import measure
from rosenblatt.tables.reading import Options
from rosenblatt.tables.scaling import Transformation
from rosenblatt.tasks import training


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3)).round(2)
    kinds = rng.choice(["u", "v"], 120)
    y = np.where(X @ [1, 2, -1] + (kinds == "u") + 0.3 * rng.standard_normal(120) > 0, "yes", "no")
    rows = [
        ",".join([*map(repr, row), kind, label]) for row, kind, label in zip(X.tolist(), kinds, y, strict=True)
    ]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,kind,label\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("learner", ["averaged", "voted", "soft-margin"])
@pytest.mark.parametrize("scale", [False, True, None])
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_model_of_the_command(table, tmp_path, learner, scale):
    flags = {False: ["--no-scale"], True: ["--scale"], None: []}[scale]
    command = ["train", table, "-o", tmp_path / "m", "--learner", learner, "--max-iter", 30, "--quiet", *flags]
    assert main(list(map(str, command))) == 0
    trained = rb.train(table, learner, parameters={"max_iter": 30}, scale=scale)
    trained.save(tmp_path / "own")
    rows = [{"kind": "u", "c": 0.5, "a": 1.0, "b": -0.25}, {"kind": "w", "c": 0.5, "a": -1.0, "b": -0.25}]
    models = [rb.load(tmp_path / "m"), rb.load(tmp_path / "own"), trained.model]
    assert all(isinstance(model, Pipeline) for model in models)
    scores = [model.decision_function(rows) for model in models]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_the_function_and_the_command_have_one_set_of_defaults():
    usual = {name: each.default for name, each in signature(rb.train).parameters.items()}
    usual |= {each.name: each.default for each in fields(Options)} | {"parameters": {}, "missing": None}
    alike = {"memory": usual.pop("memory"), "no_cache": usual["cache"] == "no", "cache": None}
    assert usual.pop("cache") == "auto"
    alike["every"] = usual.pop("checkpoint")  # --checkpoint N: a number of passes
    assert usual.pop("every") == 1
    alike["online_scale"] = usual["scale"] == "online"
    command = command_of_train.make_context("train", ["t.csv", "-o", "m"]).params
    options = {name: value for name, value in command.items() if name not in OF_THE_COMMAND}
    parameters = {name: options.pop(name) for name in (*NAMED, "settings")}
    assert not any(parameters.values())
    assert {name: options.pop(name) for name in alike} == alike
    several = ("features", "ignore", "text", "categorical", "hashed", "na")
    options |= {name: options[name] or () for name in several}
    assert options == {name: usual[name] for name in options}
    left = {"data", "parameters", "progress", "log", "labelled", "row_groups", "chunk_bytes", "options"}
    left |= {"skip_unlabelled"}  # which missing="error" turns off
    assert usual.keys() - options.keys() == left  # and none is only in Python


OF_THE_COMMAND = ("data", "path", "address", "workers", "mixing", "verbose", "jobs", "as_json", "quiet", "debug")


def test_the_function_and_the_command_train_one_model_without_options(table, tmp_path):
    assert main(["train", str(table), "-o", str(tmp_path / "m"), "--quiet"]) == 0
    rb.train(table).save(tmp_path / "own")
    models = [rb.load(tmp_path / name)[-1] for name in ("m", "own")]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    assert repr(models[0]) == repr(models[1])
    assert rb.train(table).provenance["scaled"]


def test_the_default_learner_is_of_the_data(table, tmp_path, capsys):
    """Tables take averaged PA-I, scaled or not; what is taken as it is takes the averaged perceptron."""
    sparse = tmp_path / "t.svm"
    sparse.write_text("1 1:1 3:2\n-1 2:1\n1 1:2\n-1 2:3\n")
    for data, learner in (
        (table, "averaged-pa1"),
        ("@iris", "averaged-pa1"),
        (sparse, "averaged"),
        ("@xor", "averaged"),
    ):
        assert rb.train(data).summary.learner == learner, data
        assert rb.evaluate_folds(None, data, folds=2).learner == learner, data
        assert main(["train", str(data), "-o", str(tmp_path / "m"), "--quiet"]) == 0
        assert capsys.readouterr().out.startswith(f"{learner}: ")
    rows = [{"a": k % 4, "y": "x" if k % 4 < 2 else "z"} for k in range(20)]
    assert rb.train(rows, target="y").summary.learner == "averaged-pa1"
    assert rb.train(table, scale=False).summary.learner == "averaged-pa1"
    X, y, _ = rb.read_table("@iris")
    assert rb.evaluate_folds(None, X, y, folds=2).learner == "averaged"  # rows without a source are not scaled


def test_cross_validation_scales_as_the_command_does(table, capsys):
    assert main(["evaluate", "--cv", "3", str(table), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == rb.evaluate_folds(None, table, folds=3).to_json()


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_summary(table):
    trained = rb.train(table, rb.Perceptron(max_iter=5, n_iter_no_change=2), holdout=0.25)
    summary = trained.summary
    assert (summary.n_rows, summary.held_out.n_rows) == (90, 30)
    assert summary.n_passes == len(summary.mistakes_per_pass) == trained.estimator.n_iter_
    assert summary.stop_reason == trained.estimator.stop_reason_
    assert str(summary).startswith("Perceptron: 90 rows, 5 features, target 'label', 2 classes")
    assert summary.to_json()["rows"] == 90


def test_updates_of_rows_that_are_right_are_told_apart_from_mistakes(table):
    trained = rb.train(table)
    summary, made = trained.summary, trained.estimator
    assert summary.updates_per_pass.sum() == made.n_updates_ > made.n_mistakes_
    told = str(summary).splitlines()
    assert f"; {made.n_updates_} updates, {made.n_mistakes_} mistakes: " in told[1]
    assert summary.to_json()["updates_per_pass"] == made.updates_per_pass_.tolist()
    assert summary.first_pass == 1 - made.mistakes_per_pass_[0] / summary.n_rows
    plain = rb.train(table, "averaged").summary
    assert plain.updates_per_pass is plain.to_json()["updates_per_pass"] is None
    assert "update" not in str(plain)


def test_an_end_at_the_margin_is_that_of_the_last_weights():
    """They reach it, while the average that predicts may be wrong on some rows."""
    summary = rb.train("@breast-cancer").summary
    assert summary.trained_on.n_right < summary.n_rows
    told = str(replace(summary, stop_reason="margin")).splitlines()
    assert told[1].startswith("every row reached the margin by the last weights after ")
    assert told[2].startswith("training accuracy 98.24 % by the average ")


def test_rows_within_a_margin_are_not_counted_as_wrong_predictions(table):
    """`Perceptron(margin=…)` counts them as mistakes, so that its counts say nothing about predictions."""
    found = rb.train(table, "averaged", parameters={"margin": 2.0}).summary
    assert found.first_pass is None
    assert "progressive" not in str(found)
    assert rb.train(table, "averaged", parameters={"margin": (0, 0)}).summary.first_pass is not None


def test_a_separated_run_has_a_margin_and_its_bound():
    summary = rb.train("@or", "perceptron").summary
    assert summary.margin.bound >= summary.mistakes_per_pass.sum()
    assert "mistake bound (R/γ)²" in summary.details()
    assert "bound" not in str(summary)
    assert rb.train("@or", "perceptron", parameters={"trace": None}).summary.margin is None


def test_an_estimator_that_is_passed_is_not_changed():
    clf = rb.Perceptron()
    trained = rb.train("@or", clf)
    assert not hasattr(clf, "coef_")
    assert trained.estimator.converged_


def test_a_checkpoint_is_removed_once_the_model_is_saved(table, tmp_path):
    place = tmp_path / "state"
    trained = rb.train(table, checkpoint=place, parameters={"n_iter_no_change": 3})
    assert place.exists()
    trained.save(tmp_path / "m")
    assert not place.exists()


def test_progress_on_standard_error(capsys):
    rb.train("@or", progress=True)
    assert "Perceptron" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner": "pocket", "checkpoint": "x"}, "but pocket keeps none"),
        (
            {"learner": "averaged", "parameters": {"average": False}},
            "average=False contradicts the learner averaged",
        ),
        ({"learner": "averaged", "parameters": {"eta": 1}}, "Did you mean eta0"),
        ({"learner": rb.Perceptron(), "parameters": {"eta0": 1}}, "Set them on the estimator"),
        ({"learner": "averagd"}, "not a learner"),
    ],
)
def test_what_cannot_be_trained(arguments, message):
    with pytest.raises(ParameterError, match=message):
        rb.train("@or", **arguments)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("holdout", value) for value in (2, 5, 1.0, True, 0.0, -1, "x", float("nan"))),
        *(("scale", value) for value in ("x", 2, "Online")),
        *(("memory", value) for value in (0, -5, 2.5)),
        *(("every", value) for value in (0, "x")),
        *(("seed", value) for value in (-1, 1.5, None)),
        *(("probabilities", value) for value in ("x", True)),
        *(("parameters", value) for value in ("x", [1])),
        *(("label", value) for value in (1.5, True)),
        *(("columns", value) for value in ("a", [1.5])),
        *(("cache", value) for value in (None, 3)),
        *((flag, "no") for flag in ("resume", "progress")),
        ("checkpoint", 3),
        ("log", None),
        ("min_class", 0),
        *((flag, "x") for flag in ("header", "skip_bad", "vocabulary", "zero_based", "labelled")),
        *(("bits", value) for value in ("x", 2.5, 0, 29)),
        *((text, 3) for text in ("delimiter", "encoding", "format")),
        *((columns, 3.5) for columns in ("features", "ignore", "text", "categorical", "hashed", "target")),
        *(("na", value) for value in (3, [3])),
        *((choice, "x") for choice in ("missing", "weighting", "date", "decimal", "thousands")),
        *(("chunk_bytes", value) for value in ("x", 0)),
        *(("row_groups", value) for value in (3, "x", [-1])),
    ],
)
def test_every_argument_is_checked_before_training(table, name, value):
    asked = {"label": 1} if name == "columns" else {}
    with pytest.raises(ParameterError, match=rf"^{name}\W") as caught:
        rb.train(table, Untrained(), **asked, **{name: value})
    assert caught.value.code.startswith("parameter")
    assert caught.value.parameter == name


class Untrained(rb.Perceptron):
    """Must not be trained."""

    def fit_blocks(self, *arguments, **options):
        raise AssertionError("a parameter was to be refused first")

    fit = fit_blocks


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("holdout", value) for value in ("0", "1", "2", "-1", "x")),
        *(("memory", value) for value in ("0", "-5", "2.5")),
        ("seed", "-1"),
        ("probabilities", "x"),
    ],
)
def test_the_command_refuses_what_the_function_refuses(table, tmp_path, capsys, option, value):
    assert main(["train", str(table), "-o", str(tmp_path / "m"), f"--{option}={value}"]) == 2
    assert f"--{option}" in capsys.readouterr().err
    value = float(value) if option == "holdout" and value != "x" else value
    with pytest.raises(ParameterError, match=f"^{option}="):
        rb.train(table, **{option: value})


@pytest.mark.parametrize("name", [name for entry in BUILT_IN.values() for name in entry.commands])
@pytest.mark.filterwarnings("ignore")  # a few rows are not enough for most of them
def test_the_registry_says_which_learners_take_files_of_any_size(name, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(-9, 10, (60, 4))
    file, state = tmp_path / "t.csv", tmp_path / "state"
    file.write_text("a,b,c,d,y\n" + "".join(f"{','.join(map(str, row))},{int(sum(row) > 0)}\n" for row in rows))
    said = []
    if name in able("blocks"):
        rb.train(file, name, target="y", memory=2**9, log=said.append)
        assert any("go into a cache" in each for each in said)
    else:
        with pytest.raises(ParameterError, match=f"^memory is .* {name} keeps all rows in memory. Drop memory"):
            rb.train(file, name, target="y", memory=2**9)
        assert rb.train(file, name, target="y").estimator is not None
    if name in able("checkpoints"):
        rb.train(file, name, target="y", checkpoint=state)
        assert state.exists()
    else:
        with pytest.raises(ParameterError) as caught:
            rb.train(file, name, target="y", checkpoint=state)
        those = f"checkpoint is for learners that keep checkpoints, such as {able_in_words('checkpoints')}, but "
        assert str(caught.value) == those + f"{name} keeps none. Drop checkpoint."


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list open files")
@pytest.mark.parametrize("refused", [rb.train, rb.evaluate_folds])
def test_a_refused_learner_leaves_no_file_open(refused, tmp_path):
    def opened():
        return [fd for fd in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{fd}") == str(file)]

    file = (tmp_path / "t.csv").resolve()
    file.write_text("a,y\n1,p\n2,q\n")
    with pytest.raises(ParameterError) as kept:
        refused(data=file, learner="no learner")
    assert kept
    assert not opened()


def test_options_go_with_places_alone():
    with pytest.raises(ParameterError, match="missing is an option of reading files"):
        rb.train(rb.open_data("@or"), missing="mean")


def ages(path, n, seed, cities=("Rome", "Oslo", "Bern")):
    """Write a table whose columns differ in scale, and whose classes are not equally frequent."""
    rng = np.random.default_rng(seed)
    age, income, city = rng.integers(18, 80, n), rng.lognormal(10.3, 0.6, n).round(), rng.integers(0, 3, n)
    score = 1.6 + 0.05 * (age - 45) - 2.5 * (np.log(income) - 10.3) + np.array([0.8, -0.6, 0.0])[city]
    rows = zip(age, income, city, score + 0.6 * rng.standard_normal(n) > 0, strict=True)
    lines = [f"{a},{i:.0f},{cities[c]},{'yes' if y else 'no'}" for a, i, c, y in rows]
    path.write_text("\n".join(["age,income,city,bought", *lines]) + "\n")
    return str(path)


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_tables_are_standardised_and_unknown_values_told(tmp_path, capsys):
    train, new = ages(tmp_path / "t.csv", 1000, 0), ages(tmp_path / "new.csv", 500, 1)
    unknown = ages(tmp_path / "unknown.csv", 500, 1, ("Ulm", "Bonn", "Köln"))
    model = str(tmp_path / "m")
    found = {}
    for option in ("--no-scale", "--scale", ""):
        assert main(["train", train, "-o", model, "--max-iter", "50", "-q", *filter(None, [option])]) == 0
        for name, path in (("new", new), ("unknown", unknown)):
            capsys.readouterr()
            assert main(["evaluate", model, path, "--json"]) == 0
            printed = capsys.readouterr()
            found[option, name] = json.loads(printed.out)
            told = "city: 500 of 500 rows hold a value not seen in training"
            assert (told in printed.err) == (name == "unknown")
    assert found["", "new"] == found["--scale", "new"]
    assert found["", "new"]["accuracy"] > max(0.9, found["--no-scale", "new"]["accuracy"] + 0.05)
    assert found["", "unknown"]["accuracy"] > found["", "unknown"]["majority"] + 0.02
    predicted = str(tmp_path / "lines")
    assert main(["predict", model, unknown, "-o", predicted]) == 0
    assert "city: 500 of 500 rows hold a value not seen in training" in capsys.readouterr().err


def test_built_in_sets_and_sparse_files_are_not_scaled(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:3 2:1\n0 2:3\n")
    for data in ("@and", tmp_path / "t.svm"):
        assert not rb.train(data, scale=None).provenance["scaled"]
    assert rb.train(tmp_path / "t.svm", scale=True).provenance["scaled"]


def test_regression(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    rows = [
        f"{a!r},{3 * a * a + 1 + 0.01 * b!r}"
        for a, b in zip(x.tolist(), rng.standard_normal(300).tolist(), strict=True)
    ]
    path, model = tmp_path / "t.csv", str(tmp_path / "m")
    path.write_text("x,height\n" + "\n".join(rows) + "\n")
    assert main(["train", str(path), "-o", model, "-q"]) == 2
    assert capsys.readouterr().err == (
        f"rosenblatt: {path}: the last column, 'height', was taken as the target and holds continuous numbers; "
        "choose another with --target, or predict numbers with --learner extreme --set task=regression.\n"
    )
    assert main(["train", str(path), "-o", model, "-q", "--target", "height"]) == 2
    assert "the target, 'height', holds continuous numbers" in capsys.readouterr().err
    regression = ["--learner", "extreme", "--set", "task=regression", "--set", "n_hidden=30", "-q"]
    assert main(["train", str(path), "-o", model, "--holdout", "0.3", *regression]) == 0
    printed = capsys.readouterr().out
    assert "target from 0.98" in printed
    assert re.search(r"^MSE [0-9.e-]+ on 90 held-out rows \(always the mean: 0\.88", printed, re.M)
    assert main(["evaluate", model, str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    X, y, _ = rb.read_table(path, target="height")
    loaded = rb.load(model)
    assert found["mse"] == pytest.approx(np.mean((loaded.predict(X) - y) ** 2))
    assert found["mse"] < 0.01 < found["variance"] == pytest.approx(y.var())
    assert found["r2"] == pytest.approx(loaded.score(X, y))
    assert rb.evaluate(loaded, X, y).mse == pytest.approx(found["mse"])
    assert main(["evaluate", "--cv", "3", str(path), "--json", *regression]) == 0
    total = json.loads(capsys.readouterr().out)["all"]
    assert total["rows"] == 300
    assert total["mse"] < 0.01
    path.write_text("x,name\n1,p\n2,q\n")
    assert main(["train", str(path), "-o", model, *regression]) == 2
    assert "the last column, 'name', was taken as the target and holds names such as p" in capsys.readouterr().err


def test_any_number_of_threads_trains_the_same_model(monkeypatch, table, tmp_path):
    """Reading, folds for probabilities and the fit itself use threads."""
    monkeypatch.setattr(threads, "FEW_VALUES", 0)
    rows = [{"kind": "u", "c": 0.5, "a": 1.0, "b": k / 8} for k in range(-8, 8)]
    found = set()
    for n_jobs in (1, 2, 5):
        command = ["train", table, "-o", tmp_path / "m", "--probabilities", "--quiet", "--jobs", n_jobs]
        assert main(list(map(str, command))) == 0
        model = rb.load(tmp_path / "m")
        found.add((model.predict_proba(rows).tobytes(), model.decision_function(rows).tobytes()))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("learner", "by", "predicts"),
    [
        ("averaged", "the last weights", "the average"),
        ("voted", "the last weights", "the vote"),
        ("lifted", "the lifted weights", "their first coordinates"),
    ],
)
def test_a_run_that_separated_says_by_what_and_what_predicts(tmp_path, learner, by, predicts):
    X, y = _nearly_touching()
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    found = rb.train(tmp_path / "t.csv", learner, scale=False)
    right, n_rows = found.summary.trained_on.n_right, found.summary.trained_on.n_rows
    assert found.summary.stop_reason == "separated"
    assert right < n_rows
    lines = str(found.summary).splitlines()
    assert lines[1].startswith(f"separated by {by} after ")
    share = f"{100 * right / n_rows:.2f} %"
    assert lines[2].startswith(f"training accuracy {share} by {predicts} (always")
    found.save(tmp_path / "m")
    page = rb.report(tmp_path / "m", tmp_path / "t.csv", path=tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"That is by {by}." in page
    assert f"used to predict, got {right} of {n_rows} rows right." in page


def test_a_run_whose_average_is_right_too_says_no_more():
    found = rb.train("@six-points")
    assert found.summary.trained_on.accuracy == 1.0
    assert str(found.summary).splitlines()[1].startswith("separated after ")


def _nearly_touching():
    """Return rows that the last weights separate and their average does not."""
    X = np.random.default_rng(5).normal(size=(30, 2))
    side = X[:, 0] + 0.7 * X[:, 1] + 0.3
    kept = np.abs(side) > 0.05
    return X[kept].round(4), np.where(side > 0, "yes", "no")[kept]


def test_warnings_come_after_what_is_measured(tmp_path, monkeypatch):
    """Scikit-learn may be loaded for them, which takes a second."""
    path, told = tmp_path / "t.csv", []
    path.write_text("a,label\n0,x\n1,y\n2,x\n3,y\n")

    def tell(message, **_):
        told.append(message)
        time.sleep(1.0)

    monkeypatch.setattr(training, "warn_of_end", tell)
    rb.train(path, "perceptron")  # loops are loaded
    result = rb.train(path, "perceptron")
    assert result.summary.seconds < 1.0
    assert len(told) == 2
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning, match="No hyperplane separates these rows"):
        rb.train(path, "perceptron")


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_rows_are_prepared_a_block_at_a_time_to_be_judged(layout):
    """A copy of all rows would take as much memory again."""
    X = np.random.default_rng(0).standard_normal((400_000, 3))
    batch = as_batch(layout(X), X[:, 0] > 0)
    how = Transformation.of(measure(MemoryBlocks(batch)), fill=False, scale=True)
    sizes = []

    def answer(features):
        sizes.append(features.n_rows)
        return features.native().sum(axis=1)

    found = training.answers(answer, how, batch)
    assert max(sizes) < batch.n_rows
    assert found.tolist() == answer(how.features(batch)).tolist()
