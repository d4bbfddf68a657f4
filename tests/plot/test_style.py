"""Labels keep apart, and matplotlib is asked for only when it is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.plot import style
from rosenblatt.plot.style import NORMAL_FONT_POINTS, end_labels, spread

mpl.use("Agg")
from matplotlib import pyplot as plt


@given(st.lists(st.floats(0, 1), min_size=1, max_size=11), st.floats(0.001, 0.09))
def test_labels_keep_apart_in_order_and_inside(heights, gap):
    heights = sorted(heights)
    placed = np.array(spread(heights, gap, 0.0, 1.0))
    assert (np.diff(placed) >= gap - 1e-9).all()
    assert placed.min() >= -1e-9
    assert placed.max() <= 1 + 1e-9


def test_labels_with_room_stay_where_they_are():
    assert spread([0.1, 0.5, 0.9], 0.2, 0.0, 1.0) == [0.1, 0.5, 0.9]
    assert_allclose(spread([0.5, 0.5, 0.9], 0.1, 0.0, 1.0), [0.45, 0.55, 0.9])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_labels_stand_at_the_ends_of_their_lines_on_any_scale(scale):
    figure, ax = plt.subplots()
    ax.set(yscale=scale, ylim=(1, 1000), xlim=(0, 1))
    end_labels(ax, 1.0, [(900.0, "high", "k"), (300.0, "low", "k"), (300.0, "below", "k")])
    points = figure.dpi / 72
    placed = {text.get_text(): ax.transData.transform(text.xy)[1] / points + text.xyann[1] for text in ax.texts}
    at = ax.transData.transform([(1, 900), (1, 300)])[:, 1] / points
    assert_allclose(placed["high"], at[0])
    assert_allclose((placed["low"] + placed["below"]) / 2, at[1])
    assert_allclose(placed["low"] - placed["below"], 1.3 * NORMAL_FONT_POINTS)
    plt.close(figure)


def test_names():
    drawn = [
        "boundary",
        "bounds",
        "certificate",
        "explanation",
        "learning_curve",
        "margins",
        "network",
        "neuron",
        "probes",
        "regions",
        "trace",
    ]
    assert plot.__all__ == ["animate", *drawn]
    assert all(callable(getattr(plot, name)) for name in plot.__all__)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_does_not_import_matplotlib():
    result = run("import sys, rosenblatt.plot; sys.exit('matplotlib' in sys.modules)")
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "boundary(([1, 1], 0), [[1, 2]], [1])",
        "certificate(rb.certify([[0], [1], [3]], [0, 0, 1]), [[0], [1], [3]], [0, 0, 1])",
        "certificate(rb.certify([[0], [1], [3]], [0, 1, 2]))",
        "bounds(rb.Perceptron().fit([[0], [1], [3]], [0, 0, 1]), [[0], [1], [3]], [0, 0, 1])",
        "trace(type('', (), {'mistakes_per_pass': [1]}))",
        "learning_curve(type('', (), {'passes': [1], 'training': [0.5], 'validation': None, 'best': None}))",
    ],
)
def test_without_matplotlib_the_message_says_how_to_get_it(call):
    result = run(f"import sys; sys.modules['matplotlib'] = None; import rosenblatt as rb; rb.plot.{call}")
    assert "ImportError: rosenblatt.plot needs matplotlib: pip install matplotlib" in result.stderr


@pytest.mark.parametrize("text", ["cost ($)", "$a$ and $b$", "$\\frac{", "plain", "100 % \\ $"])
def test_plain_text_is_no_formula(text):
    figure = plt.figure()
    written, is_formula = figure.text(0, 0, "")._preprocess_math(style.plain(text))
    plt.close(figure)
    assert (written, bool(is_formula)) == (text, False)


def test_the_lab_page_has_the_same_colours_and_marks():
    """Colours and marks of classes are declared twice, in Python and in TypeScript: they agree."""
    source = (Path(__file__).parents[2] / "web" / "src" / "palette.ts").read_text()
    for name, ours in (("LIGHT", style.LIGHT), ("DARK", style.DARK)):
        (body,) = re.findall(rf"const {name}: Palette = {{(.*?)}};", source, re.DOTALL)
        theirs = dict(re.findall(r'(\w+): "(#\w{6})"', body))
        wanted = {"plus": ours.positive, "minus": ours.negative, "average": ours.average, "pocket": ours.pocket}
        wanted |= {"ink": ours.ink}
        assert {key: theirs[key] for key in wanted} == {key: each.lower() for key, each in wanted.items()}
        (classes,) = re.findall(r"classes: \[(.*?)\]", body)
        assert json.loads(f"[{classes}]") == [each.lower() for each in ours.classes]
    (marks,) = re.findall(r"MARKS = \[(.*?)\] as const", source)
    assert json.loads(f"[{marks}]") == list(style.MARKS)


def test_each_of_many_classes_has_a_look_of_its_own():
    looks = [style.of_code(code) for code in range(64)]
    assert len(set(looks)) == 64
    assert looks[:2] == [(style.NEGATIVE, "o"), (style.POSITIVE, "P")]


def test_dark_pictures_have_the_colours_of_the_dark_theme():
    """Each artist changes once, whatever draws it: lines, marks, tints, words and their boxes."""
    figure, ax = plt.subplots()
    X, y = rb.datasets.load_six_points()
    plot.boundary(rb.Perceptron().fit(X, y), X, y, ax=ax)
    ax.contourf([0, 1], [0, 1], [[0, 1], [1, 2]], levels=[0, 1, 3], colors=[style.POSITIVE, style.NEGATIVE])
    (line,) = ax.plot([0, 1], [0, 1], "o-", color=style.INK)
    style.darken(figure)
    assert to_hex(figure.get_facecolor()).upper() == style.DARK.paper
    assert to_hex(line.get_color()).upper() == to_hex(line.get_markerfacecolor()).upper() == style.DARK.ink
    figure.canvas.draw()
    marks = {
        each.get_label(): to_hex(each.get_edgecolor()[0]).upper()
        for each in ax.collections
        if len(each.get_edgecolor())
    }
    assert (marks["class +1"], marks["class −1"]) == (style.DARK.positive, style.DARK.negative)
    tints = [to_hex(each).upper() for each in ax.collections[-1].get_facecolor()]
    assert tints == [style.DARK.positive, style.DARK.negative]
    assert to_hex(ax.xaxis.label.get_color()) == to_hex((0.95,) * 3)
    plt.close(figure)


def test_a_legend_stays_off_the_next_picture():
    figure, row = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for ax in row:
        ax.plot([0, 1], [0, 1], label="a line with a long name")
        style.legend_beside(ax)
    figure.canvas.draw()
    first, second = (ax.get_legend().get_window_extent() for ax in row)
    assert first.x1 < row[1].get_window_extent().x0
    assert second.x0 > row[1].get_window_extent().x1  # nothing is beside the last one
    plt.close(figure)
