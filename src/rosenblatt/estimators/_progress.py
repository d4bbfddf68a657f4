"""A progress bar for long fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rosenblatt.loops.compilation import announced


def _mistakes(report: Any) -> str:
    return f"{report.mistakes:,} mistakes"


@contextmanager
def progress_bar(
    max_iter: int, title: str = "Perceptron", telling: Callable[[Any], str] = _mistakes
) -> Iterator[Callable[[Any], None]]:
    """Show passes, how well they went, and rate on standard error; yields the callback to feed with each pass.

    `telling` says of a report how well its pass went.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("passes"),
        TextColumn("{task.fields[told]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    visits = 0
    console = Console(stderr=True)
    with Progress(*columns, console=console) as progress, announced(console.print):
        task = progress.add_task(title, total=max_iter, told="", rate="")

        def show(report: Any) -> None:
            nonlocal visits
            visits += report.visits
            rate = visits / max(report.seconds, 1e-9)
            progress.update(task, completed=report.epoch, told=telling(report), rate=f"{_short(rate)} rows/s")

        yield show


def _short(number: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"
