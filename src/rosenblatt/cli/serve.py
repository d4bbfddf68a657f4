"""`rosenblatt serve`: predictions and online learning over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.options import Output, Sectioned, common


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt serve spam.model
  rosenblatt serve mail=spam.model --data /var/lib/rosenblatt
  rosenblatt serve --data /var/lib/rosenblatt

Every example that was acknowledged is on disk in the data folder, and is there again after a crash. The server
listens to this computer only, until Ctrl-C. It needs the packages of rosenblatt[server].""",
)
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@click.option("--data", default="rosenblatt-data", show_default=True, metavar="DIR", help="The data folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one.")
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=1_000_000,
    show_default=True,
    help="Events to keep; older ones are folded into the oldest version.",
)
@click.option("--workers", type=click.IntRange(0, 64), default=0, help="Further processes, which only predict.")
@click.option("--follow", "descriptor", type=int, hidden=True, help="Only predict, for a server.")
@click.option("--grow", is_flag=True, help="Let labels that a model does not know become classes.")
@common
def serve(models: tuple[str, ...], data: str, output: Output, descriptor: int | None, **options: Any) -> int:
    """Serve models that learn while they predict. MODEL is a file, or NAME=FILE."""
    try:
        from rosenblatt.server.host import Host
        from rosenblatt.server.process import serve as serving
        from rosenblatt.server.workers import follow
    except ImportError as error:
        raise ImportError(f"The server needs {error.name}. Install rosenblatt[server].") from error

    application: dict[str, Any] = {}
    if descriptor is not None:
        return follow(data, descriptor, **application)
    host = Host(data, _sources(models), grow=options["grow"], keep=options["keep"])

    def ready(address: str) -> None:
        output.remark(f"Serving {', '.join(host.models)} at {address}; end it with Ctrl-C.")

    return serving(
        host,
        address=options["host"],
        port=options["port"],
        ready=ready,
        workers=options["workers"],
        command=[sys.executable, "-m", "rosenblatt", "serve", "--data", data, "--follow"],
        **application,
    )


def _sources(models: tuple[str, ...]) -> dict[str, str]:
    """Return the files by the names they are served under: the name given, or that of the file."""
    sources: dict[str, str] = {}
    for each in models:
        name, is_named, path = each.partition("=")
        if not is_named:
            name, path = Path(each).stem, each
        if name in sources:
            raise click.UsageError(f"two models are called {name!r}; name one of them with NAME=FILE")
        sources[name] = path
    return sources
