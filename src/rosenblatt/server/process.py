"""The process of the server: sockets, signals and the exit code."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host

__all__ = ["ModelServer", "serve"]

GRACE = 10
"""Seconds that requests under way get to end."""


class ModelServer(uvicorn.Server):
    """A server that says when it takes requests, and that ends in order after a signal.

    Parameters
    ----------
    config : uvicorn.Config
        What to serve.
    ready : callable
        Is called once requests are taken.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        """Start, and say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in order on SIGINT and SIGTERM, and then return; a second SIGINT ends at once."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(host: Host, *, door: FrontDoor, port: int, ready: Callable[[str], None]) -> int:
    """Serve until a signal ends it; return 0, or 1 if the journal failed.

    Parameters
    ----------
    host : Host
        The models.
    door : FrontDoor
        Where to listen, and what is let in.
    port : int
        The port; 0 is any free one.
    ready : callable
        Gets the address once requests are taken.
    """
    os.umask(0o077)
    address = door.address
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        shown = f"[{address}]" if ":" in address else address
        found = listening.getsockname()[1]
        place = f"{door.scheme}://{shown}:{found}"
        config = uvicorn.Config(
            door.behind(host, found),
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=GRACE,
            **door.uvicorn_options(host.limits),
        )
        server = ModelServer(config, lambda: ready(place))

        def end() -> None:
            server.should_exit = True

        host.on_failure = end
        try:
            server.run(sockets=[listening])
        finally:
            host.close()
    return 0 if host.failure is None else 1
