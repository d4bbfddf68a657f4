"""`rosenblatt compile`: compile the loops ahead of their first use."""

from __future__ import annotations

import click

from rosenblatt.cli.options import Output, Sectioned, common


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt compile
  NUMBA_CACHE_DIR=/opt/loops rosenblatt compile   # in an image; set the same variable when it runs

Without this command each loop is compiled at its first use, which takes a few seconds.""",
)
@common
def compile(output: Output) -> None:
    """Compile the loops of training, certifying and predicting for this processor, and store them."""
    from rosenblatt.tasks.compiling import compile_loops
    from rosenblatt.tasks.plain_text import count

    compiled = compile_loops(log=output.remark)
    output.result(f"compiled {count(compiled, 'loop')}", {"compiled": compiled})
