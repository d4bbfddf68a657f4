"""The process of the server: sockets, signals and the exit code."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from rosenblatt.server.application import application
from rosenblatt.server.host import Host

__all__ = ["serve"]


def serve(host: Host, *, address: str, port: int, ready: Callable[[str], None], **options: Any) -> int:
    """Serve until a signal ends it; return 0, or 1 if the journal failed.

    Parameters
    ----------
    host : Host
        The models.
    address, port
        Where to listen; port 0 is any free one.
    ready : callable
        Gets the address once requests are taken.
    options
        Further arguments of `application`.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        shown = f"[{address}]" if ":" in address else address
        place = f"http://{shown}:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            application(host, **options),
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=10,
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
