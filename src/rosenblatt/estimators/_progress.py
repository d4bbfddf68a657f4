"""A progress bar for long fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rosenblatt.learners.report import Callback, PassReport


@contextmanager
def progress_bar(max_iter: int) -> Iterator[Callback]:
    """Show passes, mistakes and rate on standard error; yields the callback to feed with each pass."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("passes"),
        TextColumn("{task.fields[mistakes]} mistakes"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    visits = 0
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("Perceptron", total=max_iter, mistakes="no", rate="")

        def show(report: PassReport) -> None:
            nonlocal visits
            visits += report.visits
            rate = visits / max(report.seconds, 1e-9)
            progress.update(
                task, completed=report.epoch, mistakes=f"{report.mistakes:,}", rate=f"{_short(rate)} rows/s"
            )

        yield show


def _short(number: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"
