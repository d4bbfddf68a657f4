"""Connections to the server: at most so many at once, each with a deadline for whatever its client owes.

A client owes the server the headers of a request, its body, or the reading of an answer. Each has its time, and
what arrives bit by bit does not extend it. At the limit of connections, a new one takes the place of the one whose
client has owed something for the longest time; so slow clients never keep others out.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rosenblatt.server.messages import PROBLEM_TYPE, RequestError

log = logging.getLogger("rosenblatt.server")

MOST_HEADER_BYTES = 16_384
"""For ``h11_max_incomplete_event_size``: h11 answers longer headers with 400."""
SLOWEST_READER = 32_768
"""Bytes a second at which a client must read a large answer, after the time that it has for any answer."""
BACKLOG = 2048
BETWEEN_NOTES = 60.0
"""Seconds between two lines of the log about connections that cannot be accepted."""
TURN_SECONDS = 0.001
"""Seconds, for each connection, that a request waits which was sent before the last one was answered."""
CONNECTIONS_AT_ONCE = 64
"""Connections that are accepted before others have their turn: one at a time, many that come would wait long."""
ACCEPT_PAUSE_SECONDS = 0.1
"""Seconds before the next attempt to accept one, if none gives way."""
FAMILY_OF_OURS = getattr(socket, "AF_UNIX", None)

HEADERS, BODY, REST, ANSWER, REQUEST = "headers", "body", "rest", "answer", "request"
"""What a client may owe: the headers of a request that has begun, its body, the rest of a body that was answered
already, the reading of an answer, the next request."""


class GuardedConnection(H11Protocol):  # type: ignore[misc, unused-ignore]
    """A connection over HTTP/1.1 whose client must do its part in time; see `make_protocol`."""

    most_connections = 512
    header_seconds = 10.0
    body_seconds = 30.0
    # since when the client owes what it owes now, in seconds of the event loop; None while the server works for it
    owed_since: float | None = None
    _owed: tuple[str, Any] | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request; at the limit, another connection gives way, or this one is refused."""
        super().connection_made(transport)
        inner = transport.get_extra_info("socket")
        if self.client is None and (inner is None or inner.family != FAMILY_OF_OURS):
            self.client = ("unknown", 0)  # it has gone already; only processes of ours have no address
        # An answer that the client does not take at once is known at once. With TLS, 0 would pause without end.
        transport.set_write_buffer_limits(high=1 if transport.get_extra_info("sslcontext") else 0)
        self._watch()
        if self.client is not None and len(self.connections) > self.most_connections:
            longest = longest_waiting(self.connections - {self})
            if longest is None:
                self._refuse(_too_many())
            else:
                longest.give_way()

    def give_way(self) -> None:
        """End the connection, because others wait: its client owes something."""
        kind = None if self._owed is None else self._owed[0]
        if kind == HEADERS or (kind == BODY and not self.cycle.response_started):
            self._refuse(_too_many())
        else:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read what has arrived."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        """Go on with the next request.

        One that was sent before this answer waits for its turn: those who send a thousand at once must not keep
        the server from the requests of others.
        """
        if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:
            self.loop.call_later(TURN_SECONDS * len(self.connections), self._go_on)
            self._watch()
        else:
            self._go_on()

    def _go_on(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Go on, because the client has read everything."""
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._owed = self.owed_since = None
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, or has too long headers."""
        self._refuse(RequestError(400, f"This is not HTTP/1.1, or its headers exceed {MOST_HEADER_BYTES} bytes."))

    def _owes(self) -> tuple[str, Any] | None:
        """Return what the client owes, and for which request; None if the server has work to do for it."""
        if self.flow.write_paused:
            return ANSWER, None
        cycle: Any = self.cycle
        if cycle is None:
            return HEADERS, None
        if not cycle.response_complete:
            return (BODY, cycle) if cycle.more_body else None
        if self.conn.their_state is not h11.IDLE:
            return REST, cycle
        return (HEADERS if self.conn.trailing_data[0] else REQUEST), cycle

    def _watch(self) -> None:
        """Start the deadline of what the client owes now; one that runs for it already goes on."""
        if self.transport.is_closing():  # what is not yet read keeps its deadline
            return
        owed = self._owes()
        if owed == self._owed:
            return
        self._stop_waiting()
        self._owed = owed
        self.owed_since = None if owed is None else self.loop.time()
        seconds = None if owed is None else self._seconds_for(owed[0])
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self._too_late)

    def _seconds_for(self, kind: str) -> float | None:
        if kind == ANSWER:
            return self.body_seconds + self.transport.get_write_buffer_size() / SLOWEST_READER
        if kind == BODY:  # whoever reads it has a deadline of its own
            return None
        return {HEADERS: self.header_seconds, REST: self.body_seconds, REQUEST: self.timeout_keep_alive}[kind]

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        kind = None if self._owed is None else self._owed[0]
        if kind == ANSWER:
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif kind == HEADERS:
            self._refuse(RequestError(408, f"The headers did not arrive within {self.header_seconds:g} seconds."))
        else:
            self.transport.close()

    def _refuse(self, problem: RequestError) -> None:
        body = problem.body()
        lines = [
            f"HTTP/1.1 {problem.status} {problem.title}".encode(),
            b"content-type: " + PROBLEM_TYPE,
            f"content-length: {len(body)}".encode(),
            b"connection: close",
        ]
        if problem.retry_after is not None:
            lines.append(f"retry-after: {problem.retry_after:g}".encode())
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()


def longest_waiting(connections: Any) -> GuardedConnection | None:
    """Return the connection whose client has owed something for the longest time; None if none owes anything."""
    waiting = [
        each
        for each in connections
        if each.owed_since is not None and each.client is not None and not each.transport.is_closing()
    ]
    return min(waiting, key=lambda each: each.owed_since, default=None)


def _too_many() -> RequestError:
    return RequestError(
        503, "The server has as many as it takes. Retry.", title="Too many connections", retry_after=1
    )


def make_protocol(most_connections: int, header_seconds: float, body_seconds: float) -> type[GuardedConnection]:
    """Return the protocol for uvicorn, with these limits."""
    return type(
        "LimitedConnection",
        (GuardedConnection,),
        {
            "most_connections": most_connections,
            "header_seconds": header_seconds,
            "body_seconds": body_seconds,
        },
    )


class Listener:
    """Accepts connections at a socket: what `asyncio.Server` does, with limits.

    Handshakes of TLS have a deadline, and at most as many are under way as connections may be. When the system has
    no room for another connection, one whose client owes something gives way; the log says so once a minute.
    """

    def __init__(
        self, listening: socket.socket, make: Any, state: Any, limits: type[GuardedConnection], tls: Any = None
    ) -> None:
        self.listening, self.make, self.state, self.limits, self.tls = listening, make, state, limits, tls
        self.arriving: dict[asyncio.Task[Any], None] = {}  # the oldest first
        self._noted = float("-inf")
        listening.setblocking(False)
        listening.listen(BACKLOG)
        self._task = asyncio.get_running_loop().create_task(self._accept())

    async def _accept(self) -> None:
        loop, accepted = asyncio.get_running_loop(), 0
        while True:
            try:
                found, _ = await loop.sock_accept(self.listening)
            except ConnectionError:  # it ended before it was accepted
                continue
            except OSError as error:
                self._note(error)
                longest = longest_waiting(self.state.connections)
                if longest is None:
                    await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
                else:
                    longest.transport.abort()
                    await asyncio.sleep(0)  # its descriptor is free then
                continue
            while len(self.arriving) >= self.limits.most_connections:
                oldest = next(iter(self.arriving))
                del self.arriving[oldest]
                oldest.cancel()
            task = loop.create_task(self._connect(found))
            self.arriving[task] = None
            task.add_done_callback(lambda done: self.arriving.pop(done, None))
            accepted += 1
            if accepted % CONNECTIONS_AT_ONCE == 0:
                await asyncio.sleep(0)  # others have work to do

    async def _connect(self, found: socket.socket) -> None:
        loop, options = asyncio.get_running_loop(), {}
        if self.tls is not None:
            options = {
                "ssl": self.tls,
                "ssl_handshake_timeout": self.limits.header_seconds,
                "ssl_shutdown_timeout": self.limits.header_seconds,
            }
        try:
            await loop.connect_accepted_socket(self.make, found, **options)
        except (OSError, asyncio.CancelledError):  # the client left, or its handshake failed or was too slow
            found.close()

    def _note(self, error: OSError) -> None:
        now = time.monotonic()
        if now - self._noted >= BETWEEN_NOTES:
            self._noted = now
            log.error(
                "A connection cannot be accepted: %s. Those whose clients are slow give way. This is said once a "
                "minute.",
                error.strerror,
            )

    def close(self) -> None:
        """Accept no more connections."""
        for task in (self._task, *self.arriving):
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until nothing is accepted any more."""
        await asyncio.gather(self._task, *self.arriving, return_exceptions=True)


class GuardedServer(uvicorn.Server):
    """A server that takes connections by a `Listener`."""

    async def startup(self, sockets: Any = None) -> None:
        """Start the application, and accept connections at sockets."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise SystemExit(1)  # it has said why
        self.servers: list[Any] = [self.listen(each, self.config.ssl) for each in sockets]
        self.started = True

    def listen(self, listening: socket.socket, tls: Any = None) -> Listener:
        """Return what accepts connections at a socket."""
        kind: Any = self.config.http_protocol_class

        def make() -> Any:
            return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

        return Listener(listening, make, self.server_state, kind, tls)
