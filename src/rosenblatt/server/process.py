"""The process of the server: sockets, signals and the exit code."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host

__all__ = ["serve"]


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
    import uvicorn

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
            timeout_graceful_shutdown=10,
            **door.uvicorn_options(host.limits),
        )
        server = Announcing(config, lambda: ready(place))

        def end() -> None:
            server.should_exit = True

        host.on_failure = end
        try:
            server.run(sockets=[listening])
        finally:
            host.close()
    return 0 if host.failure is None else 1


def _server() -> Any:
    import uvicorn

    class Announcing(uvicorn.Server):
        """A server that says when it takes requests."""

        def __init__(self, config: Any, ready: Callable[[], None]) -> None:
            super().__init__(config)
            self._ready = ready

        async def startup(self, sockets: Any = None) -> None:
            """Start, and say so."""
            await super().startup(sockets=sockets)
            if self.started:
                self._ready()

    return Announcing


Announcing = _server()
