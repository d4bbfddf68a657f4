"""Training from files, in Python: the same model as `rosenblatt train` makes."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import ParameterError


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


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_summary(table):
    trained = rb.train(table, rb.Perceptron(max_iter=5, n_iter_no_change=2), holdout=0.25)
    summary = trained.summary
    assert (summary.n_rows, summary.held_out.n_rows) == (90, 30)
    assert summary.n_passes == len(summary.mistakes_per_pass) == trained.estimator.n_iter_
    assert summary.stop_reason == trained.estimator.stop_reason_
    assert str(summary).startswith("Perceptron: 90 rows, 5 features, 2 classes")
    assert summary.to_json()["rows"] == 90


def test_a_separated_run_has_a_margin_and_its_bound():
    summary = rb.train("@or", "perceptron").summary
    assert summary.margin.bound >= summary.mistakes_per_pass.sum()
    assert "with it theory allows" in str(summary)
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
        ({"learner": "pocket", "checkpoint": "x"}, "pocket keeps no checkpoints"),
        ({"learner": "averaged", "parameters": {"average": False}}, "always sets average=True"),
        ({"learner": "averaged", "parameters": {"eta": 1}}, "Did you mean eta0"),
        ({"learner": rb.Perceptron(), "parameters": {"eta0": 1}}, "Set them on the estimator"),
        ({"learner": "averagd"}, "not a learner"),
    ],
)
def test_what_cannot_be_trained(arguments, message):
    with pytest.raises(ParameterError, match=message):
        rb.train("@or", **arguments)


def test_options_go_with_places_alone():
    with pytest.raises(ParameterError, match="missing is an option of reading files"):
        rb.train(rb.open_data("@or"), missing="mean")
