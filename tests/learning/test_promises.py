"""What every learner that makes passes promises: limits of time, callbacks, progress, and Ctrl-C."""

import inspect
import math
import time
import warnings

import numpy as np
import pytest
from safetensors.numpy import load_file

import rosenblatt as rb
from rosenblatt.learning.fit_loop import FitLoop
from rosenblatt.registry import BUILT_IN, class_of
from tests.shared.strategies import noisy

NO_PASSES = {
    "SoftMarginClassifier": "solves a convex problem",
    "MaxMarginClassifier": "solves a convex problem",
    "ExtremeLearningMachine": "solves linear equations",
    "VisualHierarchy": "is built by hand, or trains as MultilayerPerceptron",
    "MonomialMap": "does not learn",
    "OnlineScaler": "meets each row once",
    "AdaptiveFilter": "visits each sample once",
    "Probes": "has an end for each problem: tests/probes",
}
LEARNERS = sorted(BUILT_IN.keys() - NO_PASSES.keys())
PARAMETERS = {"MarkOne": {"random_state": 0}, "SequencePerceptron": {"templates": "words"}}


def data(name):
    X, y = noisy(60, 4)
    X, y = X.round(2), np.where(y > 0, 1, 0)
    if name == "SequencePerceptron":
        words = [[f"w{i % 7}", f"v{i % 5}", f"u{i % 3}"] for i in range(60)]
        return words, [["ABC"[(i * i + k) % 11 % 3] for k in (1, 2, 5)] for i in range(60)]
    if name == "PassiveAggressiveRegressor":
        return X, X @ np.arange(4.0) + y
    if name == "MultilabelPerceptron":
        return X, np.column_stack([y, X[:, 0] > 0, X[:, 1] * X[:, 2] > 0]).astype(int)
    if name == "MarkOne":
        return (X > 0).astype(float), y
    return X, y


def fitted(name, **given):
    model = class_of(name)(**PARAMETERS.get(name, {}) | given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*data(name))
    return model


def weights(model, path):
    """Return the arrays that a file keeps, as bytes."""
    rb.save(model.set_params(callbacks=None), path)
    return {key: value.tobytes() for key, value in load_file(path).items() if "trace" not in key}


@pytest.mark.parametrize("name", LEARNERS)
def test_who_makes_passes_has_the_parameters(name):
    assert {"max_iter", "max_time", "callbacks", "verbose"} <= inspect.signature(class_of(name)).parameters.keys()


@pytest.mark.parametrize("name", LEARNERS)
def test_callbacks_see_each_pass_and_can_end_training(name, tmp_path):
    seen = []

    def watch(report):
        seen.append(report)
        return len(seen) == 3

    model = fitted(name, max_iter=50, callbacks=[watch])
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 3)
    assert [report.epoch for report in seen] == [1, 2, 3]
    assert all(report.seconds >= 0.0 and math.isfinite(report.loss) for report in seen)
    assert seen[0].visits > 0
    assert weights(model, tmp_path / "a") == weights(fitted(name, max_iter=3), tmp_path / "b")


@pytest.mark.parametrize("name", LEARNERS)
def test_ctrl_c_leaves_the_last_completed_pass(name, tmp_path, monkeypatch):
    """The signal comes within the third pass, after its visits were made and before they were counted."""
    plain = FitLoop.next_pass

    def next_pass(loop, epoch):
        if epoch == 3:

            def interrupted(loop, step, visits):
                monkeypatch.undo()
                raise KeyboardInterrupt

            monkeypatch.setattr(type(loop), "_note", interrupted)
        return plain(loop, epoch)

    monkeypatch.setattr(FitLoop, "next_pass", next_pass)
    model = class_of(name)(**PARAMETERS.get(name, {}) | {"max_iter": 50})
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data(name))
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 2)
    assert weights(model, tmp_path / "a") == weights(fitted(name, max_iter=2), tmp_path / "b")


@pytest.mark.parametrize("name", LEARNERS)
def test_time_that_is_over_ends_training(name, monkeypatch):
    """The clock is a day later after the second pass."""
    real = time.perf_counter

    def later(report):
        if report.epoch == 2:
            monkeypatch.setattr(time, "perf_counter", lambda: real() + 86_400.0)

    model = fitted(name, max_iter=50, max_time=3_600.0, callbacks=[later])
    assert (model.stop_reason_, model.n_iter_) == ("max_time", 2)


@pytest.mark.parametrize("name", LEARNERS)
def test_progress_is_shown_on_standard_error(name, capsys):
    fitted(name, max_iter=2, verbose=1)
    told = capsys.readouterr()
    assert told.out == ""
    assert "passes" in told.err


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("parameter", "value"), [("max_time", 0.0), ("callbacks", 5), ("verbose", -1)])
def test_what_cannot_be_is_refused(name, parameter, value):
    with pytest.raises(rb.exceptions.ParameterError, match=parameter):
        fitted(name, **{parameter: value})


@pytest.mark.parametrize("name", LEARNERS)
def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(name):
    def fails(report):
        raise RuntimeError("of the callback")

    model = class_of(name)(**PARAMETERS.get(name, {}) | {"callbacks": [fails]})
    with pytest.raises(RuntimeError, match="of the callback"):
        model.fit(*data(name))
    assert not [each for each in vars(model) if each.endswith("_")]


@pytest.mark.parametrize(
    "name",
    [
        "OrdinalPerceptron",
        "RankingPerceptron",
        "MultilabelPerceptron",
        "PassiveAggressiveRegressor",
        "SequencePerceptron",
    ],
)
def test_the_model_of_a_report_predicts_as_the_pass_did(name):
    seen = []
    fitted(name, max_iter=3, callbacks=[seen.append])
    X = data(name)[0]
    for report in seen:
        expected = fitted(name, max_iter=report.epoch).predict(X)
        assert np.array_equal(report.model.predict(X), expected)


def test_ranks_from_blocks_keep_the_same_promises(tmp_path):
    from rosenblatt.rows.batch import as_batch
    from rosenblatt.tables.blocks import MemoryBlocks

    blocks = MemoryBlocks(as_batch(*data("OrdinalPerceptron")), np.array([0, 20, 60]))

    def trained(**given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return rb.OrdinalPerceptron(**given).fit_blocks(blocks)

    seen = []
    model = trained(max_iter=50, callbacks=[lambda report: seen.append(report) or report.epoch == 3])
    assert (model.stop_reason_, [report.visits for report in seen]) == ("interrupted", [60, 60, 60])
    assert weights(model, tmp_path / "a") == weights(trained(max_iter=3), tmp_path / "b")
