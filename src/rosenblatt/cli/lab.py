"""`rosenblatt lab`: see a run step by step in the browser, with Python behind the page."""

from __future__ import annotations

import webbrowser
from typing import Any

import click

from rosenblatt.cli.options import Output, Sectioned, Whole, common, reading
from rosenblatt.rooms import find


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt lab
  rosenblatt lab @six-points
  rosenblatt lab data.csv --target species
  rosenblatt lab @spam-table --no-browser

The page is served to this computer only, until Ctrl-C. It needs starlette, uvicorn, websockets and msgspec.""",
)
@click.argument("data", nargs=-1, metavar="[DATA...]")
@reading
@click.option("--port", type=Whole(0, 65535), default=0, help="The port. [default: any free one]")
@click.option("--browser/--no-browser", default=True, help="Open the browser. [default: --browser]")
@common
def lab(data: tuple[str, ...], options: dict[str, Any], port: int, browser: bool, output: Output) -> None:
    """See the perceptron learn DATA step by step in the browser, and any other learner's result; or an example."""
    serve = find("lab.page_server").serve

    def ready(address: str) -> None:
        output.remark("The lab is at this address, for one use; end it with Ctrl-C:")
        click.echo(address)
        if browser:
            webbrowser.open(address)

    serve(data, options, port, ready)


if __name__ == "__main__":
    lab.main()
