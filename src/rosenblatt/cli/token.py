"""`rosenblatt token`: make, list and revoke the tokens of a server."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import Number, Output, Sectioned, common
from rosenblatt.rooms import find

if TYPE_CHECKING:
    from rosenblatt.server.tokens import Token, TokenFile

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
@click.option("--days", type=Number(0, min_open=True), default=90.0, show_default=True,
              help="Days until it expires.")  # fmt: skip
@click.option("--forever", is_flag=True, help="Do not let it expire.")
@DATA_FOLDER
@common
def create(name: str, scopes: tuple[str, ...], days: float, forever: bool, data: str, output: Output) -> None:
    """Make a token, and print it once: it is stored nowhere, only its hash is."""
    tokens = _file(data)
    made, secret = tokens.create(name, find("server.tokens").read_grants(scopes), None if forever else days)
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
        file: TokenFile = find("server.tokens").TokenFile(folder)
    except ModuleNotFoundError as error:
        raise ImportError(f"Tokens need {error.name}: pip install starlette uvicorn h11 msgspec") from error
    return file


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
