"""The rules of the lectures: the numbers that they print, in Python, on the command line and in the lab."""

import base64
import json
import re
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.tasks.updates import trace_updates

ROOT = Path(__file__).parents[1]


def run_of(preset, X, y):
    """Return the rows and weights of each update, in fractions: what the lecture prints, without the library."""
    rows, labels = [[Fraction(str(v)) for v in row] for row in X], [int(label) for label in y]
    n, rule = len(rows), preset.rule
    eta, zero, tie = Fraction(str(rule.get("eta0", 1))), rule.get("zero", -1), rule.get("tie", "mistake")
    gain = {"unit": 1, "radius": max(sum(v * v for v in row) for row in rows), None: 0}[rule.get("bias", "unit")]
    first = preset.first - 1
    w, b = [Fraction(0)] * len(rows[0]), Fraction(0)
    if preset.start is not None:
        w, b = [Fraction(str(v)) for v in preset.start], Fraction(str(preset.start_bias))
    elif rule.get("init") == "first":
        w, b = [labels[first] * v for v in rows[first]], Fraction(labels[first] * gain)
    done = []
    for _ in range(1000):
        before = len(done)
        for i in [*range(first, n), *range(first)]:
            f = sum((a * c for a, c in zip(w, rows[i], strict=True)), b)
            wrong = {"mistake": labels[i] * f <= 0, "correct": labels[i] * f < 0,
                     "sign": (1 if f > 0 else -1 if f < 0 else zero) != labels[i]}[tie]  # fmt: skip
            if wrong:
                w = [a + eta * labels[i] * c for a, c in zip(w, rows[i], strict=True)]
                b += eta * labels[i] * gain
                done.append((i, *w, b))
        if len(done) == before:
            return done
        if rule.get("stop_on_cycle") and not any(w) and not b:
            return done
    raise AssertionError("does not end")


@pytest.mark.parametrize("name", rb.presets.names())
@pytest.mark.parametrize("load", ["load_six_points", "load_or", "load_and"])
def test_a_preset_makes_the_updates_of_its_lecture(name, load):
    preset, (X, y) = rb.presets.get(name), getattr(rb.datasets, load)()
    X = np.column_stack([X, np.ones(len(X))]) if name == "harchaoui" else X  # it has no bias
    if preset.first > len(X):
        return
    if name == "harchaoui" and load != "load_six_points":
        return  # ties rest there: the notes' rule need not separate
    clf = rb.presets.fit(name, X, y)
    W, b = clf.trace_.path(X, y)
    expected = run_of(preset, X, y)
    assert clf.trace_.index.tolist() == [i for i, *_ in expected]
    np.testing.assert_allclose(
        np.column_stack([W[1:], b[1:]]), [[float(v) for v in rest] for _, *rest in expected]
    )
    assert clf.stop_reason_ == "separated"


def test_the_numbers_that_the_lectures_print():
    X, y = rb.datasets.load_six_points()
    W, b = rb.presets.fit("koski-example", X, y).trace_.path(X, y)
    printed = [[1, 0.5, 0], [0.6, 0.9, -0.2], [0.2, 1.1, 0], [0.5, 1, 0.2]]
    np.testing.assert_allclose(np.column_stack([W, b]), printed, atol=1e-12)
    X, y = rb.datasets.load_spam_table()
    clf = rb.presets.fit("zhang", X, y)
    assert clf.coef_.tolist() == [[0, 2, 0, -1, 1]]
    assert clf.intercept_.tolist() == [0]


@pytest.mark.parametrize("name", rb.presets.names())
def test_the_command_line_runs_the_same_rule(name, capsys):
    preset = rb.presets.get(name)
    assert main(["trace", f"@{preset.data}", "--preset", name, "--quiet", "--json", "--limit", "10000"]) == 0
    found = json.loads(capsys.readouterr().out)
    data = rb.read_table(f"@{preset.data}")
    clf = rb.presets.fit(name, data.X, data.y)
    assert found["updates"]["index"] == clf.trace_.index.tolist()
    assert np.ravel(found["coef"]).tolist() == clf.coef_.ravel().tolist()


def test_options_change_parts_of_a_preset():
    def updates(*places, **options):
        return trace_updates(*places, **options).estimator

    assert updates("@or", preset="kernels").n_mistakes_ == 4
    assert updates("@or", preset="kernels", zero=1).n_mistakes_ == 5
    assert updates("@or", preset="kernels", tie="half").coef_.tolist() == [[1, 1]]
    assert updates("@diagonal", preset="harchaoui", bias="unit").bias == "unit"
    assert updates("@six-points", preset="koski", bias=None).bias is None
    started = updates("@six-points", preset="koski-example", start="first")
    assert started.trace_.start.w.tolist() == [-2, 2, -1]
    with pytest.warns(UserWarning, match="went in a cycle"):
        xor = updates("@xor", preset="zhang")
    assert (xor.stop_reason_, xor.n_mistakes_) == ("cycle", 4)
    with pytest.warns(UserWarning, match="No hyperplane separates"):
        xor = updates("@xor", preset="zhang", stop_on_cycle=False)
    assert xor.stop_reason_ == "inseparable"


def test_what_is_no_preset_is_refused():
    with pytest.raises(ParameterError, match=r"'novikoff' is not a preset\. Use one of koski, koski-example"):
        rb.presets.get("novikoff")
    with pytest.raises(ParameterError, match="starts from 2 weights, but the data has 5 features"):
        trace_updates("@spam-table", preset="koski-example")
    with pytest.raises(ParameterError, match="starts from 2 weights, but the data has 3"):
        rb.presets.fit("koski-example", np.eye(3), [1, -1, 1])
    with pytest.raises(ParameterError, match="start='second' must be"):
        trace_updates("@or", start="second")
    with pytest.raises(ParameterError, match="sets the bias as well"):
        trace_updates("@or", start="first", start_bias=2.0)
    with pytest.raises(ParameterError, match="needs two"):
        rb.presets.get("zhang").lab_address(np.eye(3), [1, 2, 3])
    X, y = rb.datasets.make_separable(2000, 3, margin=0.1, seed=0)
    with pytest.raises(InputError, match="do not fit into an address"):
        rb.presets.get("zhang").lab_address(X, y)


def unpacked(address):
    text = address.removeprefix("#v1.")
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -zlib.MAX_WBITS))


def test_an_address_holds_the_rule_and_the_rows():
    setup = (ROOT / "web" / "src" / "setup.ts").read_text(encoding="utf-8")
    known = set(re.findall(r"readonly (\w+):", re.search(r"interface Config \{(.*?)\n\}", setup, re.DOTALL)[1]))
    X, y = rb.datasets.load_six_points()
    rules = {}
    for name in rb.presets.names():
        found = unpacked(rb.presets.get(name).lab_address(X, y))
        assert (found["X"], found["y"], found["l"]) == (X.tolist(), "111000", ["-1", "1"])
        assert set(found["a"]) <= known
        rules[name] = found["a"]
    assert rules["harchaoui"] == {"passes": 200, "bias": "none", "tie": "correct", "start": "first"}
    assert rules["koski-example"] == {
        "passes": 200,
        "eta": 0.2,
        "tie": "sign",
        "zero": 1,
        "order": "given",
        "given": [[4, 5, 0, 1, 2, 3]],
        "start": "given",
        "w0": [1, 0.5, 0],
    }


def test_the_lab_lists_and_links_the_presets():
    """The menu of the page and the links of the companions are made of the presets; the page holds the menu."""
    made = pytest.importorskip("scripts.lab_presets", reason="the sdist does not hold scripts/")
    assert made.MENU.read_text(encoding="utf-8") == made.menu(), "run python scripts/lab_presets.py and make web"
    page = (ROOT / "src" / "rosenblatt" / "lab" / "index.html").read_text(encoding="utf-8")
    for name in rb.presets.names():
        assert rb.presets.get(name).says in page
    for companion in made.COMPANIONS:
        text = (ROOT / "docs" / "sources" / f"{companion}.md").read_text(encoding="utf-8")
        assert made.LINK.findall(text) == made.addresses(companion)
    words = unpacked(made.addresses("zhang")[0])["f"]
    assert words == ["and", "viagra", "the", "of", "nigeria"]
