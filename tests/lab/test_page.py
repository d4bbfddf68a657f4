"""The lab page in a real browser, and what it writes in Python's hands."""

import csv
import hashlib
import io
import json
import re
import subprocess
import warnings
from base64 import b64encode

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certify.check import check, read_proof, read_table
from tests.lab.lab_engine import CHROMIUM, NODE, PAGE, WEB, Engine, needs_browser, needs_node, needs_packages

CHECKS = (
    "every_step",
    "random_walk",
    "address",
    "kept",
    "moving",
    "own_data",
    "numbers",
    "starts",
    "framed",
    "lectures",
    "keyboard_lesson",
    "keyboard_points",
    "pointer",
    "phone",
    "reading",
    "overflow",
    "dragging",
    "feature_map",
    "lessons",
    "lesson_kept",
    "lesson_example",
    "recorded",
    "comparing",
    "hashes",
    "proofs",
    "files",
    "accessible",
    "playing",
    "crowded",
    "many_points",
    "several",
    "forced_colours",
    "live_region",
    "announcements",
    "tab_order",
    "hostile_server",
    "widget",
)


def page():
    return PAGE.read_text(encoding="utf-8")


def test_the_page_is_one_small_file_that_asks_for_nothing():
    text = page()
    assert len(text.encode()) <= 280_000
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert "connect-src 'none'" in text
    assert "default-src 'none'" in text
    assert not re.search(r"\bfetch\(|XMLHttpRequest|sendBeacon|\bimport\(", text)


@pytest.mark.parametrize("tag", ["script", "style"])
def test_the_policy_names_the_very_script_and_style(tag):
    content = re.search(rf"<{tag}>(.*)</{tag}>", page(), re.DOTALL)[1]
    digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
    assert f"{tag}-src 'sha256-{digest}'" in page()


@pytest.mark.slow
@needs_node
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_lines_of_python_give_the_same_run():
    engine = Engine()
    rng = np.random.default_rng(8)
    for k in range(60):
        n, d = int(rng.integers(2, 10)), int(rng.integers(1, 8))
        X, y = np.round(rng.normal(size=(n, d)), 2), np.where(np.arange(n) % 2, 1, -1)
        question = {
            "X": X.tolist(),
            "y": y.tolist(),
            "bias": str(rng.choice(["unit", "radius", "none"])),
            "tie": str(rng.choice(["mistake", "sign", "half", "correct"])),
            "eta": float(rng.choice([1.0, 0.1])),
            "zero": int(rng.choice([-1, 1])),
            "passes": 6,
        }
        if k % 2:
            question["order"] = [rng.permutation(n).tolist() for _ in range(6)]
        if k % 3:
            question["w0"] = [
                *np.round(rng.normal(size=d), 1).tolist(),
                0.5 if question["bias"] != "none" else 0.0,
            ]
        scope = {"print": lambda *_: None}
        exec(engine.ask(do="python", **question), scope)
        end = engine.ask(do="run", **question)["document"]
        clf = scope["clf"]
        assert [*clf.coef_[0], clf.intercept_[0]] == [*end["end"]["w"], end["end"]["b"]]
        assert clf.trace_.visit.tolist() == end["mistakes"]["visit"]
    engine.close()


@pytest.mark.slow
@needs_node
@needs_packages
def test_building_again_gives_the_same_bytes(tmp_path):
    subprocess.run([NODE, "build.mjs", str(tmp_path)], cwd=WEB, check=True, capture_output=True)
    assert (tmp_path / "index.html").read_bytes() == PAGE.read_bytes(), "run `make web` and commit the page"


@pytest.mark.slow
@needs_node
@needs_packages
def test_the_tests_of_the_script_pass():
    done = subprocess.run([NODE, "test/run.mjs"], cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.slow
@needs_node
@needs_browser
def test_in_the_browser(tmp_path):
    """Run all checks in one browser, and compare what they return with Python."""
    assert NODE is not None, "node is not installed"
    assert CHROMIUM is not None, "there is no Chromium"
    command = [NODE, "test/browser.mjs", str(PAGE), CHROMIUM]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=900, check=False)
    outcomes = {each["check"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert outcomes.keys() == set(CHECKS), done.stderr[-2000:]
    assert [(name, each["say"]) for name, each in outcomes.items() if not each["ok"]] == []
    require_states_of_python(outcomes["every_step"]["data"])
    require_runs_of_lectures(outcomes["lectures"]["data"])
    require_files_for_python(outcomes["files"]["data"], tmp_path)
    xor, labels = rb.datasets.load_xor()
    check(read_proof(outcomes["proofs"]["data"]), xor.tolist(), labels.tolist())


def require_runs_of_lectures(ends):
    assert list(ends) == rb.presets.names()
    for name, end in ends.items():
        preset = rb.presets.get(name)
        X, y, _ = pytest.importorskip("scripts.lab_presets", reason="the sdist does not hold scripts/").shown(name)
        clf = preset.fit(X, y)
        assert end["lecture"] == preset.lecture
        assert list(map(float, end["w"])) == [*clf.coef_[0], *clf.intercept_]


def require_states_of_python(states):
    X, y = rb.datasets.load_six_points()
    assert len(states) == 13
    for state in states[1:]:
        visits = state["visits"]
        passes, rest = divmod(visits, len(X))
        order = [list(range(len(X)))] * passes + ([list(range(rest))] if rest else [])
        limit = {"max_iter": len(order), "n_iter_no_change": 99}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # most of these runs end before they have separated the points
            clf = rb.Perceptron(order=order, average=True, **limit).fit(X, y)
        w, u = ([float(value) for value in state[name]] for name in ("w", "u"))
        average = [a - b / visits for a, b in zip(w, u, strict=True)]
        assert average == [*clf.coef_[0], clf.intercept_[0]]
        assert w == clf._state.w.tolist()


def require_files_for_python(files, folder):
    (folder / "points.csv").write_text(files["csv"])
    rows = list(read_table(str(folder / "points.csv")))
    check(read_proof(files["proof"]), [row for row, _ in rows], [label for _, label in rows])
    X, _ = rb.datasets.load_six_points()
    assert [row for row, _ in rows] == X.tolist()
    trace, _, _ = rb.Trace.from_document(json.loads(files["run"]))
    assert len(trace) == 3
    assert next(csv.reader(io.StringIO(files["csv"]))) == ["x1", "x2", "label"]
