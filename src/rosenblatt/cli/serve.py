"""`rosenblatt serve`: predictions and online learning over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import Output, Sectioned, common

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
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Another name by which the server is called, such as models.example. May be repeated.",
)
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False), help="Certificate for TLS, as PEM.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Key of the certificate, as PEM.")
@click.option("--no-tls", is_flag=True, help="Answer others without TLS, as behind a proxy that encrypts.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    help="Requests a second that a caller may send. [default: no limit]",
)
@click.option("--log-all", is_flag=True, help="Log every request, not only refused and administrative ones.")
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

    door = _door(options, output)
    if descriptor is not None:
        return follow(data, descriptor, door)
    host = Host(data, _sources(models), grow=options["grow"], keep=options["keep"], limits=door.limits)

    def ready(address: str) -> None:
        output.remark(f"Serving {', '.join(host.models)} at {address}; end it with Ctrl-C.")

    worker = [sys.executable, "-m", "rosenblatt", "serve", "--data", data, *_words(options)]
    worker += ["--quiet", "--follow"] if output.quiet else ["--follow"]
    return serving(host, door=door, port=options["port"], ready=ready, workers=options["workers"], command=worker)


def _door(options: dict[str, Any], output: Output) -> FrontDoor:
    from rosenblatt.server.front_door import FrontDoor
    from rosenblatt.server.limits import RequestLimits
    from rosenblatt.server.request_log import RequestLog

    return FrontDoor(
        address=options["host"],
        names=options["names"],
        certificate=options["tls_cert"],
        key=options["tls_key"],
        without_tls=options["no_tls"],
        limits=RequestLimits(rate=options["rate"]),
        log=None if output.quiet else RequestLog(every=options["log_all"]),
    )


def _words(options: dict[str, Any]) -> list[str]:
    """Return the options of the door as a user types them, for processes that share it."""
    words = ["--host", options["host"], *(word for name in options["names"] for word in ("--name", name))]
    for name in ("tls_cert", "tls_key", "rate"):
        if options[name] is not None:
            words += ["--" + name.replace("_", "-"), str(options[name])]
    return words + ["--" + name.replace("_", "-") for name in ("no_tls", "log_all") if options[name]]


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
