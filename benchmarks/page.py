"""``python -m benchmarks.page``: write the documentation's benchmark page and its charts from results.json."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from benchmarks import results
from benchmarks.results import Row
from rosenblatt.plot import style

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "look_up" / "benchmarks.md"
HEADINGS = ("workload", "peer", "peer takes", "we take", "ratio", "target", "reached", "of read limit", "models")
TEXT = {"workload", "peer", "models"}

RULES = (
    "online",
    "K1",
    "SMS",
    "soft",
    "soft-classes",
    "soft-raw",
    "hard",
    "networks",
    "raw-bytes",
    "family",
    "echo",
    "sequences",
)
CHAPTERS = {
    "defaults": ("Default calls", "No parameter is set. Each call ends by its own rule.", ("defaults",)),
    "fits": (
        "Passes over dense and sparse rows",
        "Both make the same passes.",
        ("D1", "D2", "D3", "S1", "M1", "M2"),
    ),
    "rules": ("Other learners", "", RULES),
    "files": ("Files and text", "", ("svmlight", "words", "csv", "out-of-core", "R52", "row-groups", "command")),
    "proofs": ("Proofs", "The peer answers in floats, without a proof.", ("proofs", "checks", "real-proofs")),
    "single": ("Single rows, prediction, imports", "", ("predict", "one", "dicts", "import")),
    "scale": ("Threads, machines, servers", "", ("cores", "distributed", "server", "lab-frames", "lab-start")),
}
"""The chapters of the page: a title, a remark, and the groups of measurements."""

HEAD = """# Benchmarks

This page is made from the measurements in `benchmarks/results.json`, in the repository. `benchmarks/README.md`
says how they are made, and why some targets are missed. `make bench` repeats them.

The machine has two virtual cores of an AMD EPYC (Zen 4) that it shares with others. The ratio is the peer's time
over ours, so more than 1 means that ours is faster. Ours and the peer take turns in one run, and the least
disturbed turn of each counts. Versions: {versions}. Each row has the date of its run.
"""


def chart(rows: list[Row]) -> Figure:
    """Draw the ratios of a chapter as bars on a logarithmic axis."""
    shown = [row for row in rows if row.ratio]
    figure, ax = plt.subplots(figsize=(9, 0.9 + 0.27 * len(shown)), layout="constrained")
    places = range(len(shown), 0, -1)
    colours = [style.POSITIVE if row.ratio >= 1 else style.NEGATIVE for row in shown]
    ax.barh(places, [row.ratio - 1 for row in shown], left=1, color=colours, height=0.7)
    for place, row in zip(places, shown, strict=True):
        side = "left" if row.ratio >= 1 else "right"
        ax.annotate(
            f"{row.ratio:.3g}×",
            (row.ratio, place),
            (4 if side == "left" else -4, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=8,
        )
    ax.set_xscale("log")
    low, high = min(row.ratio for row in shown), max(row.ratio for row in shown)
    ax.set_xlim(min(0.4, low / 2), max(3, high * 2.2))
    ax.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}×")
    ax.set_yticks(places, [f"{row.workload[:52]} · {row.peer[:34]}" for row in shown], fontsize=8)
    ax.axvline(1, color=style.INK, linewidth=0.9)
    style.tidy(ax, "peer's time over ours", "")
    ax.tick_params(axis="y", length=0, labelsize=8)
    return figure


def text_of(rows: list[Row], versions: dict[str, str]) -> str:
    """Return the text of the page."""
    parts = [HEAD.format(versions=", ".join(f"{name} {number}" for name, number in versions.items()))]
    for name, (title, remark, groups) in CHAPTERS.items():
        chosen = of_groups(rows, groups)
        if not chosen:
            continue
        alt = f"Bars of the ratios of the table below: {title.lower()}"
        parts.append(f"\n## {title}\n")
        parts.append(f"\n{remark}\n" if remark else "")
        parts.append(
            f"\n![{alt}](../images/benchmarks_{name}.png)\n\n" if any(row.ratio for row in chosen) else "\n"
        )
        headings = (*HEADINGS, "date")
        lines = [headings, tuple("---" if each in {*TEXT, "date"} else "--:" for each in headings)]
        lines += [row.cells() for row in chosen]
        parts.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "".join(parts)


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
