"""`rosenblatt compile`: compile loops ahead of their first use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from rosenblatt.cli.options import Output, Sectioned, common


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt compile                              # what the commands and Perceptron need
  rosenblatt compile taggers kernels
  rosenblatt compile --all
  NUMBA_CACHE_DIR=/opt/loops rosenblatt compile   # in an image; set the same variable when it runs

Groups: perceptrons and files (the default), narrow, machines, large, relatives, kernels, streams, taggers and
margins.
A loop that was not compiled ahead is compiled at its first use, which takes about a second.""",
)
@click.argument("groups", nargs=-1, metavar="[GROUP...]")
@click.option("--all", "everything", is_flag=True, help="Compile all groups.")
@common
def compile(groups: tuple[str, ...], everything: bool, output: Output) -> None:
    """Compile loops for this processor, and store them."""
    from rosenblatt.escaping import count
    from rosenblatt.tasks.compiling import compile_loops

    names, began = ("all",) if everything else groups, time.perf_counter()
    if output.shows_progress:
        with _progress_bar() as (log, step):
            loops = compile_loops(*names, log=log, progress=step)
    else:
        loops = compile_loops(*names, log=output.remark)
    seconds = time.perf_counter() - began
    output.result(
        f"compiled {count(loops, 'loop')} in {seconds:.1f} s", {"compiled": loops, "seconds": round(seconds, 3)}
    )


@contextmanager
def _progress_bar() -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None]]]:
    """Show a progress bar on standard error; yields functions that take the present group and the steps done."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        yield (
            lambda title: progress.update(task, description=title),
            lambda done, total: progress.update(task, completed=done, total=total),
        )
