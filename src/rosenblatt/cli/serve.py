"""`rosenblatt serve`: serve models that learn while they predict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import Number, Output, Sectioned, Whole, common
from rosenblatt.rooms import find

if TYPE_CHECKING:
    from rosenblatt.server.front_door import FrontDoor


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt serve spam.model
  rosenblatt serve mail=spam.model --data /var/lib/rosenblatt
  rosenblatt serve --data /var/lib/rosenblatt

Every example that was acknowledged is on disk in the data folder, and is there again after a crash. The server
listens to this computer only, until Ctrl-C. It needs starlette, uvicorn, h11 and msgspec.""",
)
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@click.option("--data", "folder", default="rosenblatt-data", show_default=True, metavar="DIR", help="The data "
              "folder.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=Whole(0, 65535), default=8000, show_default=True, help="0: any free one.")
@click.option(
    "--keep",
    type=Whole(min=0),
    default=1_000_000,
    show_default=True,
    help="Events to keep; older ones are folded into the oldest version.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Another name by which the server is called, such as models.example. May be repeated.",
)
@click.option("--tls-cert", "certificate", type=click.Path(exists=True, dir_okay=False), help="Certificate for "
              "TLS, as PEM.")  # fmt: skip
@click.option("--tls-key", "key", type=click.Path(exists=True, dir_okay=False), help="Key of the certificate, as "
              "PEM.")  # fmt: skip
@click.option("--no-tls", "without_tls", is_flag=True, help="Answer others without TLS, as behind a proxy that "
              "encrypts.")  # fmt: skip
@click.option(
    "--rate",
    type=Number(0, min_open=True),
    help="Requests a second that a caller may send. [default: no limit]",
)
@click.option("--log-all", is_flag=True, help="Log every request, not only refused and administrative ones.")
@click.option("--workers", type=Whole(0, 64), default=0, help="Further processes, which only predict.")
@click.option("--follow", "descriptor", type=int, hidden=True, help="Only predict, for a server.")
@click.option("--grow", is_flag=True, help="Let labels that a model does not know become classes.")
@common
def serve(models: tuple[str, ...], folder: str, output: Output, descriptor: int | None, **options: Any) -> int:
    """Serve models that learn while they predict. MODEL is a file, or NAME=FILE."""
    try:
        host_of, processes = find("server.host").Host, find("server.processes")
    except ModuleNotFoundError as error:
        raise ImportError(f"The server needs {error.name}: pip install starlette uvicorn h11 msgspec") from error

    door = _door(options, output)
    if descriptor is not None:
        return int(processes.follow(folder, descriptor, door))
    host = host_of(folder, _sources(models), grow=options["grow"], keep=options["keep"], limits=door.limits)

    def ready(address: str) -> None:
        output.remark(f"Serving {', '.join(host.models)} at {address}; end it with Ctrl-C.")

    worker = [sys.executable, "-m", "rosenblatt", "serve", "--data", folder, *_words(options)]
    worker += ["--quiet", "--follow"] if output.quiet else ["--follow"]
    how = {"port": options["port"], "ready": ready, "workers": options["workers"], "command": worker}
    return int(processes.serve(host, door=door, **how))


def _door(options: dict[str, Any], output: Output) -> FrontDoor:
    door: FrontDoor = find("server.front_door").FrontDoor(
        address=options["host"],
        names=options["names"],
        certificate=options["certificate"],
        key=options["key"],
        without_tls=options["without_tls"],
        limits=find("server.limits").RequestLimits(rate=options["rate"]),
        log=None if output.quiet else find("server.metrics").RequestLog(every=options["log_all"]),
    )
    return door


def _words(options: dict[str, Any]) -> list[str]:
    """Return the options of the door as a user types them, for processes that share it."""
    words = ["--host", options["host"], *(word for name in options["names"] for word in ("--name", name))]
    for option, name in (("--tls-cert", "certificate"), ("--tls-key", "key"), ("--rate", "rate")):
        if options[name] is not None:
            words += [option, str(options[name])]
    return words + ["--no-tls"] * options["without_tls"] + ["--log-all"] * options["log_all"]


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
