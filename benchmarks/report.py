"""Comparisons as a table on the screen, in Markdown, or as raw numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from itertools import chain

from rich.console import Console
from rich.table import Table

from benchmarks.comparison import Comparison, duration

HEADINGS = ("workload", "peer", "peer takes", "we take", "ratio", "target", "reached", "of read limit", "models")
TEXT = {"workload", "peer", "models"}
QUICK = "Quick: a tenth of the rows, so there are no targets, and nothing here is worth quoting."


def print_table(comparisons: Iterable[Comparison], *, quick: bool) -> None:
    """Print a table for a person."""
    table = Table(caption=QUICK if quick else _limits(comparisons), caption_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in TEXT else "right")
    for comparison in comparisons:
        colour = {True: "green", False: "red", None: ""}[comparison.reached]
        table.add_row(*_cells(comparison), style=colour)
    Console(width=None if Console().is_terminal else 160).print(table)


def print_markdown(comparisons: Iterable[Comparison], *, quick: bool) -> None:
    """Print the table of README.md."""
    sides = ("---" if heading in TEXT else "--:" for heading in HEADINGS)
    rows = chain([HEADINGS, sides], map(_cells, comparisons))
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    print(f"\n{QUICK if quick else _limits(comparisons)}")


def one_line(comparison: Comparison) -> str:
    """Say the essential of a comparison, while others are still to come."""
    workload, peer, peer_takes, we_take, ratio, *_ = _cells(comparison)
    return f"{workload}: {we_take}, {peer} {peer_takes} ({ratio})"


def as_json(comparisons: Iterable[Comparison]) -> str:
    """Return every measurement."""
    return json.dumps(
        [asdict(each) | {"ratio": each.ratio, "reached": each.reached} for each in comparisons], indent=1
    )


def _cells(comparison: Comparison) -> tuple[str, ...]:
    ratio, share = comparison.ratio, comparison.share_of_limit
    return (
        comparison.workload,
        comparison.peer,
        duration(min(comparison.peer_seconds)) if comparison.peer_seconds else "not installed",
        duration(min(comparison.our_seconds)),
        f"{ratio:.3g}×" if ratio else "",
        str(comparison.target or ""),
        {True: "yes", False: "no", None: ""}[comparison.reached],
        f"{share:.0%}" if share else "",
        comparison.models,
    )


def _limits(comparisons: Iterable[Comparison]) -> str:
    limits = [each.limit / 1e9 for each in comparisons if each.limit]
    return f"Read limit: {min(limits):.1f} to {max(limits):.1f} GB/s." if limits else ""
