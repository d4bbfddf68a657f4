"""The process of the server: sockets, signals and the exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn

from rosenblatt.exceptions import StorageError
from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host
from rosenblatt.server.workers import SOCKET, Workers

__all__ = ["ModelServer", "serve"]

GRACE = 10
"""Seconds that requests under way get to end."""
BACKLOG = 2048


class ModelServer(uvicorn.Server):
    """A server that says when it takes requests, and that ends in order after a signal.

    Parameters
    ----------
    config : uvicorn.Config
        What to serve.
    ready : callable
        Is called once requests are taken.
    inner : socket or None
        Where processes of ours send requests, which need no TLS.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], inner: socket.socket | None = None
    ) -> None:
        super().__init__(config)
        self._ready, self._inner = ready, inner

    async def startup(self, sockets: Any = None) -> None:
        """Start, and say so."""
        await super().startup(sockets=sockets)
        if not self.started:
            return
        if self._inner is not None:
            loop = asyncio.get_running_loop()
            self.servers.append(await loop.create_server(self._connected, sock=self._inner, backlog=BACKLOG))
        self._ready()

    def _connected(self) -> Any:
        """Return what handles a connection of a process of ours."""
        kind: Any = self.config.http_protocol_class
        return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in order on SIGINT and SIGTERM, and then return; a second SIGINT ends at once."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    host: Host,
    *,
    door: FrontDoor,
    port: int,
    ready: Callable[[str], None],
    workers: int = 0,
    command: Sequence[str] = (),
) -> int:
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
    workers : int
        Further processes, which only predict.
    command : sequence of str
        What starts one of them; see `rosenblatt.server.workers.Workers`.
    """
    os.umask(0o077)
    address = door.address
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # By its protocol asyncio knows that it may send small answers at once (TCP_NODELAY), not after 40 ms.
    with ExitStack() as held, socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
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
            **door.uvicorn_options(),
        )
        inner = None
        if workers:
            listening.listen(BACKLOG)
            inner = held.enter_context(_for_workers(host))
            held.callback(Workers(workers, command, listening, host.fail).end)
        server = ModelServer(config, lambda: ready(place), inner)

        def end() -> None:
            server.should_exit = True

        host.on_failure = end
        try:
            server.run(sockets=[listening])
        finally:
            host.close()
    return 0 if host.failure is None else 1


def _for_workers(host: Host) -> socket.socket:
    """Return the socket at which workers find the writer; the folder keeps others away from it."""
    place = host.folder / SOCKET
    place.unlink(missing_ok=True)  # of a process that was killed; the lock says that it is gone
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(place))
    except OSError as error:
        listening.close()
        raise StorageError(
            f"{place} cannot be a socket: {error}. Choose a --data folder with a shorter path."
        ) from error
    return listening
