"""``python -m benchmarks.page``: write the documentation's benchmark page and its charts from results.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from statistics import median
from textwrap import fill, wrap
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks import results
from benchmarks.results import Row
from rosenblatt.plot import style

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "look_up" / "benchmarks.md"
HEADINGS = ("workload", "peer", "peer takes", "we take", "ratio")
DETAILS = ("row", "target", "of read limit", "models", "date")
BAR, LINE = 0.27, 0.19
"""Heights in inches: of a bar with its surroundings, and of a line of its name."""
TEXT = {"workload", "peer", "row", "target", "models", "date"}
SAME_OBJECTIVE = ", to the peer's objective"
"""What ends the names of rows that charts leave out: the row before shows the same data."""

CHAPTERS = {
    "defaults": (
        "Default calls",
        "No parameter is set. Each call ends by its own rule, so that speed and accuracy differ.",
        ("defaults",),
    ),
    "fits": (
        "Passes over dense and sparse rows",
        "Both make the same passes over the same rows, so that only the loops are compared. D1 is 200,000 × 100 "
        "and separable, D2 the same with one label in ten flipped, D3 20,000 × 2,000. S1 is 200,000 × 2²⁰ like "
        "text with 90 values a row. M1 is 60,000 × 784 in ten classes, M2 50,000 × 100,000 like text in twenty.",
        ("D1", "D2", "D3", "S1", "M1", "M2"),
    ),
    "margins": (
        "Margins and kernels",
        "Each ends by its own rule. For soft margins *models* says how far above the lower of the two objectives "
        "each ends, ours first. Rows that end with *to the peer's objective* end where the peer did.",
        ("K1", "SMS", "soft", "soft-classes", "soft-raw", "hard"),
    ),
    "rules": (
        "Networks, streams and sentences",
        "The same passes, with the peer for the same task.",
        ("online", "networks", "raw-bytes", "family", "echo", "sequences"),
    ),
    "files": (
        "Files and text",
        "Reading is often slower than learning. Rates are those of the file, ours first.",
        ("svmlight", "words", "csv", "cached-pass", "out-of-core", "R52", "row-groups", "command"),
    ),
    "proofs": (
        "Proofs",
        "The peer answers in floats, without a proof; ours is exact. A ratio of a third is what we aim for.",
        ("proofs", "checks", "real-proofs"),
    ),
    "verdicts": (
        "Fits that end by a proof",
        "Rows drawn at random, one label in ten wrong. The peer of a fit is the same passes without the question "
        "whether the rows are separable; the target is twice their time and 4 ms. The grid has 100 fits of "
        "each library.",
        ("verdicts",),
    ),
    "single": (
        "Single rows, prediction, imports",
        "What a server or a stream pays for each row, and a command before its first one.",
        ("predict", "one", "dicts", "import"),
    ),
    "threads": (
        "Two threads against one",
        "The machine has two cores, so 2× is the most there can be; the results have the same bits.",
        ("cores", "probes"),
    ),
    "scale": (
        "Machines, servers, the lab",
        "Here the peer is often another way to run ours: one worker, one connection, an idle server.",
        ("distributed", "server", "lab-frames", "lab-start"),
    ),
}
"""The chapters of the page: a title, what it shows, and the groups of measurements."""

HEAD = """# Benchmarks

This page is made from the measurements in `benchmarks/results.json`, in the repository. `benchmarks/README.md`
says how they are made, and why some targets are missed. `make bench` repeats them.

The machine has two virtual cores of an AMD EPYC (Zen 4) that it shares with others. The ratio is the peer's time
over ours, so more than 1, a blue bar, means that ours is faster. Ours and the peer take turns in one run, and the
least disturbed turn of each counts. Versions: {versions}. Each row has the date of its run.
"""


def charted(rows: list[Row]) -> list[Row]:
    """Return the rows of a chart."""
    return [row for row in rows if row.ratio and not row.workload.endswith(SAME_OBJECTIVE)]


def chart(rows: list[Row]) -> Figure:
    """Draw the ratios of a chapter on a logarithmic axis: a bar for each row, its name above it.

    The figure is narrow, so that its letters can be read on a phone.
    """
    shown = charted(rows)
    names = [wrap(f"{row.workload}  ·  {row.peer}".replace("$", r"\$"), 62) for row in shown]
    tops = list(accumulate((BAR + LINE * len(name) for name in names), initial=0.0))
    figure, ax = plt.subplots(figsize=(5.6, 0.75 + tops[-1]), layout="constrained")
    places = [top + LINE * len(name) + BAR / 2 for top, name in zip(tops, names, strict=False)]
    colours = [style.POSITIVE if row.ratio >= 1 else style.NEGATIVE for row in shown]
    ax.barh(places, [row.ratio - 1 for row in shown], left=1, color=colours, height=0.6 * BAR)
    low, high = min(row.ratio for row in shown), max(row.ratio for row in shown)
    ax.set(xscale="log", xlim=(min(0.4, low / 1.6), max(3, high * 2.5)), ylim=(tops[-1], 0))
    for top, place, row, name in zip(tops, places, shown, names, strict=False):
        ax.annotate("\n".join(name), (ax.get_xlim()[0], top + 0.04), va="top", fontsize=10)
        ax.vlines(1, place - 0.45 * BAR, place + 0.45 * BAR, color=style.INK, linewidth=0.9)
        at: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 10}
        ax.annotate(f"{row.ratio:.3g}×", (max(row.ratio, 1), place), weight="bold", **at)
    if high / low < 10.0:  # few powers of ten are in sight
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}×")
    style.tidy(ax, "how many times as fast as the peer", "")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    return figure


def summary(rows: list[Row]) -> str:
    """Return what the rows of a chapter say together."""
    ratios = [row.ratio for row in rows if row.ratio]
    judged = [row.reached for row in rows if row.reached is not None]
    faster = sum(ratio > 1 for ratio in ratios)
    told = f"Faster than the peer in {faster} of {len(ratios)} rows; the median is {median(ratios):.2g}×."
    return told + (f" {sum(judged)} of {len(judged)} targets are reached." if judged else "")


def text_of(rows: list[Row], versions: dict[str, str]) -> str:
    """Return the text of the page."""
    parts = [HEAD.format(versions=", ".join(f"{name} {number}" for name, number in versions.items()))]
    for name, (title, remark, groups) in CHAPTERS.items():
        chosen = of_groups(rows, groups)
        if not chosen:
            continue
        parts.append(f"\n## {title}\n\n{fill(remark, 118)}\n\n**{summary(chosen)}**\n\n")
        alt = f"Bars of the ratios of the table below: {title.lower()}"
        parts.append(f"![{alt}](../images/benchmarks_{name}.png)\n\n")
        parts.append(table(HEADINGS, [row.cells()[:5] for row in chosen]))
        parts.append(":::{dropdown} Targets, models and dates\n" + table(DETAILS, map(details, chosen)) + ":::\n")
    return "".join(parts)


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown; numbers stand on the right."""
    lines = [headings, tuple("---" if each in TEXT else "--:" for each in headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def details(row: Row) -> tuple[str, ...]:
    """Return what is folded."""
    _, peer, _, _, _, target, reached, limit, models, date = row.cells()
    target = f"{target}: {reached}" if target else ""
    return f"{row.workload} · {peer}" if peer else row.workload, target, limit, models, date


def of_groups(rows: list[Row], groups: tuple[str, ...]) -> list[Row]:
    """Return the rows of these groups, group by group."""
    return [row for group in groups for row in rows if row.group == group]


def main() -> None:
    from examples.pictures import save

    rows = results.read()
    versions = json.loads(results.FILE.read_text("utf-8"))["versions"]
    PAGE.write_text(text_of(rows, versions), encoding="utf-8")
    for name, (_, _, groups) in CHAPTERS.items():
        chosen = of_groups(rows, groups)
        if any(row.ratio for row in chosen):
            save(chart(chosen), f"benchmarks_{name}.png")


if __name__ == "__main__":
    main()
