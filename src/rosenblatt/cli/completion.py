"""`rosenblatt completion`: print a script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(
    epilog='\b\nExamples:\n  eval "$(rosenblatt completion bash)"      # in ~/.bashrc\n'
    "  rosenblatt completion fish > ~/.config/fish/completions/rosenblatt.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in SHELL."""
    from rosenblatt.cli.main import commands

    complete = get_completion_class(shell)
    assert complete is not None, "all three come with click"
    click.echo(complete(commands, {}, "rosenblatt", "_ROSENBLATT_COMPLETE").source())
