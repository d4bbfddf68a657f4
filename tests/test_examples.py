"""The examples do what they draw."""

import importlib
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import rosenblatt as rb

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def example(monkeypatch):
    """Import a script by name; what it changes in matplotlib is undone."""
    monkeypatch.syspath_prepend(EXAMPLES)
    before, backend = set(sys.modules), mpl.get_backend()
    yield importlib.import_module
    mpl.use(backend)
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == EXAMPLES:
            del sys.modules[name]


def test_xor_four_ways(example):
    found = example("xor_four_ways").four_ways()
    assert [errors for _, errors in found.values()] == [0, 0, 0, 0]


def test_spirals(example):
    spirals = example("spirals")
    clf, right = spirals.told_apart(150)
    assert clf.stop_reason_ == "separated"
    assert right > 0.95
    X, y = spirals.two_spirals(2000, 0.0, seed=0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    turn = (2 * np.pi * spirals.TURNS * radius - angle) / np.pi  # an even number of half turns on one arm
    np.testing.assert_allclose(np.cos(np.pi * turn), y, atol=1e-9)


def test_polynomial_boundaries(example):
    boundaries = example("polynomial_boundaries")
    line, cubic = (boundaries.fitted(degree, n_held_out=500, passes=50) for degree in (1, 3))
    assert cubic.held_out < line.held_out
    assert cubic.training < line.training
    X, y = boundaries.wave(4000, seed=0)
    wrong = (X[:, 1] > boundaries.truth(X[:, 0])) != (y > 0)
    assert wrong.mean() == pytest.approx(boundaries.WRONG, abs=0.015)


def test_one_pass(example):
    one_pass = example("one_pass")
    X = (np.random.default_rng(1).random((3000, 600)) < 0.05).astype(float)
    y = X[:, :4].any(axis=1)
    found = one_pass.mistakes_on_the_way(X, y)
    assert found["p-norm"][-1] < found["perceptron"][-1] / 2
    for name, clf in one_pass.learners().items():
        assert found[name][-1] == clf.fit(X, y).n_mistakes_


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["drift", "hulls", "one_pass", "polynomial_boundaries", "six_points", "spirals", "xor_four_ways"]
)
def test_pictures_are_drawn(example, name, monkeypatch, tmp_path):
    pictures, script = example("pictures"), example(name)
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    pictures.save(script.picture(), f"{name}.png")
    script.plt.close("all")
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


FIRST = ["neuron", "geometry", "update", "six_points_steps", "six_points_runs", "two_curves", "cycle"]
LATER = ["four_inequalities", "pocket", "lifting", "kernel_trick", "layers"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "name"), [*(("understand", name) for name in FIRST), *(("beyond", name) for name in LATER)]
)
def test_pictures_of_the_chapters_are_drawn(example, script, name, monkeypatch, tmp_path):
    module = example(f"pictures_{script}")
    monkeypatch.setattr(sys.modules["pictures"], "IMAGES", tmp_path)
    getattr(module, name)()
    module.plt.close("all")
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


LECTURES = [
    *("koski_steps", "system", "cell", "network", "hierarchy", "convex"),
    *("margins", "diagonal", "or", "classes", "losses", "organisation"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", LECTURES)
def test_pictures_of_the_lectures_are_drawn_light_and_dark(example, name, tmp_path):
    module = example("pictures_lectures")
    assert [each.__name__ for each in module.PICTURES] == [f"lecture_{each}" for each in LECTURES]
    before = dict(module.LIGHT)
    module.save_both(getattr(module, f"lecture_{name}"), tmp_path)
    light, dark = ((tmp_path / f"lecture_{name}{suffix}.svg").read_text("utf-8") for suffix in ("", "_dark"))
    assert len(light) > 5000
    assert module.DARK["INK"].lower() in dark.lower()
    assert module.DARK["INK"].lower() not in light.lower()
    assert {key: getattr(module.style, key) for key in before} == before


def test_the_moving_run_ends_where_every_point_is_on_its_side(example):
    run = example("pictures_run")
    X, y = run.clouds()
    clf = run.rb.Perceptron(order="cyclic").fit(X, y)
    shown = run.frames(clf, X, y)
    assert (y * (X @ shown[-1].w + shown[-1].b) > 0).all()
    mistakes = [frame for frame in shown if ": a mistake" in frame.text]
    assert len(mistakes) == clf.n_mistakes_
    assert all(y[at.row] * (X[at.row] @ at.w + at.b) <= 0 for at in mistakes)


def test_annotation(example, tmp_path):
    annotation = example("annotation")
    wrong = annotation.made_corpus(tmp_path / "x.conllu")
    before, after = annotation.checked(tmp_path / "x.conllu")
    assert (before.verdict, after.verdict) == ("inseparable", "separable")
    assert {sentence + 1 for sentence in after.left_out} == wrong


def test_names(example, capsys):
    example("names").main()
    told = capsys.readouterr().out
    assert "tokens     1.0000" in told
    assert "Shannon   I-person" in told


def test_drift(example):
    drift = example("drift")
    X, y = drift.stream()
    half = drift.ROWS // 2
    plain, average = (drift.right_on_the_way(rb.Perceptron(average=a), X, y) for a in (False, True))
    assert average[:half].mean() > plain[:half].mean()
    assert average[half:].mean() < plain[half:].mean()
