"""The commands of the server: `rosenblatt serve` and `rosenblatt token`.

They read options, and import the server when they are called: their help needs none of its packages.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import Output, Sectioned, common

if TYPE_CHECKING:
    from rosenblatt.server.front_door import FrontDoor
    from rosenblatt.server.tokens import Token, TokenFile


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
@click.option("--tls-cert", "certificate", type=click.Path(exists=True, dir_okay=False), help="Certificate for "
              "TLS, as PEM.")  # fmt: skip
@click.option("--tls-key", "key", type=click.Path(exists=True, dir_okay=False), help="Key of the certificate, as "
              "PEM.")  # fmt: skip
@click.option("--no-tls", "without_tls", is_flag=True, help="Answer others without TLS, as behind a proxy that "
              "encrypts.")  # fmt: skip
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
def serve(models: tuple[str, ...], folder: str, output: Output, descriptor: int | None, **options: Any) -> int:
    """Serve models that learn while they predict. MODEL is a file, or NAME=FILE."""
    try:
        from rosenblatt.server.host import Host
        from rosenblatt.server.processes import follow
        from rosenblatt.server.processes import serve as serving
    except ImportError as error:
        raise ImportError(f"The server needs {error.name}: pip install starlette uvicorn h11 msgspec") from error

    door = _door(options, output)
    if descriptor is not None:
        return follow(folder, descriptor, door)
    host = Host(folder, _sources(models), grow=options["grow"], keep=options["keep"], limits=door.limits)

    def ready(address: str) -> None:
        output.remark(f"Serving {', '.join(host.models)} at {address}; end it with Ctrl-C.")

    worker = [sys.executable, "-m", "rosenblatt", "serve", "--data", folder, *_words(options)]
    worker += ["--quiet", "--follow"] if output.quiet else ["--follow"]
    return serving(host, door=door, port=options["port"], ready=ready, workers=options["workers"], command=worker)


def _door(options: dict[str, Any], output: Output) -> FrontDoor:
    from rosenblatt.server.front_door import FrontDoor
    from rosenblatt.server.limits import RequestLimits
    from rosenblatt.server.metrics import RequestLog

    return FrontDoor(
        address=options["host"],
        names=options["names"],
        certificate=options["certificate"],
        key=options["key"],
        without_tls=options["without_tls"],
        limits=RequestLimits(rate=options["rate"]),
        log=None if output.quiet else RequestLog(every=options["log_all"]),
    )


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


DATA_FOLDER = click.option(
    "--data",
    type=click.Path(file_okay=False),
    default="rosenblatt-data",
    show_default=True,
    help="The data folder of the server.",
)


@click.group(
    epilog="""\b
Examples:
  rosenblatt token create website --scope predict
  rosenblatt token create teacher --scope learn:spam --days 30
  rosenblatt token list
  rosenblatt token revoke website

With tokens, every call of the server needs one. A running server notices changes within a second.""",
)
def token() -> None:
    """Make, list and revoke the tokens of a server."""


@token.command(cls=Sectioned)
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="SCOPE[:MODEL]",
    help="What it allows: predict, learn or admin, for every model or for the one named. May be repeated.",
)
@click.option("--days", type=click.FloatRange(0, min_open=True), default=90.0, show_default=True,
              help="Days until it expires.")  # fmt: skip
@click.option("--forever", is_flag=True, help="Do not let it expire.")
@DATA_FOLDER
@common
def create(name: str, scopes: tuple[str, ...], days: float, forever: bool, data: str, output: Output) -> None:
    """Make a token, and print it once: it is stored nowhere, only its hash is."""
    from rosenblatt.server.tokens import read_grants

    made, secret = _file(data).create(name, read_grants(scopes), None if forever else days)
    output.remark(f"{_described(made, time.time())}\nThis is the only time that the token is shown:")
    output.result(secret, {"token": secret} | _shown(made, time.time()))


@token.command("list", cls=Sectioned)
@DATA_FOLDER
@common
def list_tokens(data: str, output: Output) -> None:
    """List the tokens, without their secrets."""
    now = time.time()
    tokens = _file(data).read()
    lines = [_described(each, now) for each in tokens]
    output.result("\n".join(lines) or "There are no tokens.", [_shown(each, now) for each in tokens])


@token.command(cls=Sectioned)
@click.argument("which", metavar="ID_OR_NAME")
@DATA_FOLDER
@common
def revoke(which: str, data: str, output: Output) -> None:
    """Remove a token: it opens nothing any more."""
    gone = _file(data).revoke(which)
    output.result(f"revoked {gone.id} {gone.name}", {"revoked": gone.id, "name": gone.name})


def _file(folder: str) -> TokenFile:
    try:
        from rosenblatt.server.tokens import TokenFile
    except ImportError as error:
        raise ImportError(f"Tokens need {error.name}: pip install starlette uvicorn h11 msgspec") from error
    return TokenFile(folder)


def _shown(each: Token, now: float) -> dict[str, Any]:
    return {
        "id": each.id,
        "name": each.name,
        "scopes": {model: list(scopes) for model, scopes in each.scopes.items()},
        "created": _date(each.created),
        "expires": None if each.expires is None else _date(each.expires),
        "expired": not each.is_valid_at(now),
    }


def _described(each: Token, now: float) -> str:
    scopes = ", ".join(
        scope if model == "*" else f"{scope}:{model}" for model, given in each.scopes.items() for scope in given
    )
    end = "does not expire"
    if each.expires is not None:
        end = f"{'expires' if each.is_valid_at(now) else 'expired'} {_date(each.expires)}"
    return f"{each.id}  {each.name}  {scopes}  {end}"


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
