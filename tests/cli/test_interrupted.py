"""Ctrl-C while `rosenblatt train` runs: the last completed pass is saved, and how to go on is said."""

from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.learning.fit_loop import FitLoop
from rosenblatt.registry import able
from rosenblatt.tasks.training import TrainingInterrupted, checkpoint_of
from tests.shared.strategies import noisy


@pytest.fixture
def data(tmp_path):
    X, y = noisy(60, 3)
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,label", comments="")
    return tmp_path / "rows.csv"


NAMES = ("m", "undisturbed")


def interrupt(monkeypatch, after):
    """Press Ctrl-C once so many passes are complete."""
    plain = FitLoop.next_pass

    def next_pass(loop, epoch):
        if epoch > after:
            raise KeyboardInterrupt
        return plain(loop, epoch)

    monkeypatch.setattr(FitLoop, "next_pass", next_pass)


@pytest.mark.parametrize("learner", ["perceptron", "voted", "network", "prank", "pa-regressor", "ranking"])
@pytest.mark.parametrize("scale", [[], ["--scale"]], ids=["plain", "scaled"])
def test_the_last_completed_pass_is_saved(run, data, monkeypatch, learner, scale):
    common = ["train", data, "--learner", learner, *scale]
    expected = run(*common, "-o", "three", "--max-iter", 3)
    interrupt(monkeypatch, 3)
    ran = run(*common, "-o", "m", "--max-iter", 9)
    assert ran.code == 130, ran
    assert "saved in m: the model after 3 complete passes. This run cannot go on" in ran.err
    assert ("one with --checkpoint 1 can" in ran.err) is (learner in able("checkpoints"))
    assert ran.err.endswith("rosenblatt: interrupted\n")
    assert expected.code == 0
    X = np.loadtxt(data, delimiter=",", skiprows=1)[:, :3]
    got, wanted = (_scores(rb.load(name), X) for name in ("m", "three"))
    assert got.tobytes() == wanted.tobytes()


def _scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.fixture
def sentences(tmp_path):
    tokens = "\n\n".join(f"w{i % 7} {'AB'[i * i % 11 % 2]}\nv{i % 5} {'ABC'[i % 3]}" for i in range(60))
    (tmp_path / "tiny.conll").write_text(f"{tokens}\n")
    return tmp_path / "tiny.conll"


def test_of_sentences_too(run, sentences, monkeypatch):
    common = ["train", sentences, "--max-time", 3600]
    assert run(*common, "-o", "three", "--max-iter", 3).code == 0
    interrupt(monkeypatch, 3)
    ran = run(*common, "-o", "m", "--max-iter", 9)
    assert ran.code == 130, ran
    got, wanted = (rb.load(name) for name in ("m", "three"))
    assert (got.stop_reason_, got.n_iter_) == ("interrupted", 3)
    assert got.transition_features_ == wanted.transition_features_
    assert got.state_features_ == wanted.state_features_


@pytest.mark.parametrize("learner", ["prank", "pa-regressor", "ranking", "tagger"])
def test_time_that_is_over_ends_a_run(run, data, sentences, learner, monkeypatch):
    monkeypatch.setattr(FitLoop, "out_of_time", lambda loop: loop.plan.max_time == 5.0)
    source = [sentences] if learner == "tagger" else [data, "--learner", learner]
    ran = run("train", *source, "-o", "m", "--max-time", 5, "--max-iter", 9)
    assert ran.code == 0, ran
    assert "stopped by max_time after 1 pass" in ran.out


@pytest.mark.parametrize("learner", ["averaged", "prank", "pa-regressor", "ranking", "tagger"])
def test_with_a_checkpoint_the_run_goes_on(run, data, sentences, monkeypatch, learner):
    source = [sentences] if learner == "tagger" else [data, "--learner", learner]
    common = ["train", *source, "--max-iter", 7]
    assert run(*common, "-o", "undisturbed").code == 0
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        ran = run(*common, "-o", "m", "--checkpoint", 1)
    assert ran.code == 130
    assert "the model after 1 complete pass. Go on with the same command and --resume." in ran.err
    assert checkpoint_of("m").exists()
    resumed = run(*common, "-o", "m", "--checkpoint", 1, "--resume")
    assert resumed.code == 0
    assert "no checkpoint" not in resumed.err
    assert not checkpoint_of("m").exists()
    got, wanted = ((model[-1] if hasattr(model, "steps") else model)._state for model in map(rb.load, NAMES))
    assert got.w.tobytes() == wanted.w.tobytes()
    assert got.visits == wanted.visits
    assert (got.u is None) == (wanted.u is None)
    assert got.u is None or got.u.tobytes() == wanted.u.tobytes()


def test_a_checkpoint_of_other_sentences_is_refused(run, sentences, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        assert run("train", sentences, "-o", "m", "--checkpoint", 1).code == 130
    ran = run("train", sentences, "-o", "m", "--checkpoint", 1, "--resume", "--holdout", 0.2)
    assert ran.code == 2
    assert "written by another fit: the data is not the same. Use the same parameters and data" in ran.err
    ran = run("train", sentences, "-o", "m", "--checkpoint", 1, "--resume", "--set", "margin=2")
    assert (ran.code, "margin was 0.0 then and is 2 now" in ran.err) == (2, True)


def test_before_the_first_pass_nothing_is_saved(run, data, monkeypatch):
    interrupt(monkeypatch, 0)
    ran = run("train", data, "-o", "m")
    assert (ran.code, ran.out) == (130, "")
    assert "saved" not in ran.err
    assert not Path("m").exists()


def test_resuming_without_a_checkpoint_says_so(run, data):
    ran = run("train", data, "-o", "m", "--resume", "--max-iter", 2)
    assert ran.code == 0
    assert "there is no checkpoint .m.checkpoint; training starts from the beginning" in ran.err


def test_in_python_the_result_comes_with_the_interrupt(data, monkeypatch):
    interrupt(monkeypatch, 2)
    with pytest.raises(TrainingInterrupted) as stop:
        rb.train(data, parameters={"max_iter": 9})
    assert stop.value.result.summary.stop_reason == "interrupted"
    assert stop.value.result.estimator.n_iter_ == 2
