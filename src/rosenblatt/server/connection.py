"""Connections to the server: at most so many at once, each with a deadline for the headers of a request."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from rosenblatt.server.problems import PROBLEM_TYPE, RequestError

__all__ = ["MOST_HEADER_BYTES", "GuardedConnection", "guarded"]

MOST_HEADER_BYTES = 16_384
"""For ``h11_max_incomplete_event_size``: h11 answers longer headers with 400."""


class GuardedConnection(H11Protocol):  # type: ignore[misc, unused-ignore]
    """A connection over HTTP/1.1 whose requests must arrive in time; see `guarded`."""

    most_connections = 512
    header_seconds = 10.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request, or refuse the connection."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._refuse(
                RequestError(
                    503, "Too many connections", "The server has as many as it takes. Retry.", retry_after=1
                )
            )
        else:
            self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Read what has arrived; between two requests, begin to wait for the next."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_between():
            if self._deadline is None and not self.transport.is_closing():
                self._await_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, or has too long headers."""
        self._refuse(
            RequestError.of(400, f"This is not HTTP/1.1, or its headers exceed {MOST_HEADER_BYTES} bytes.")
        )

    def _is_between(self) -> bool:
        return self.cycle is None or (self.cycle.response_complete and self.conn.their_state is h11.IDLE)

    def _await_headers(self) -> None:
        self._deadline = self.loop.call_later(self.header_seconds, self._too_late)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._refuse(
                RequestError(
                    408, "Too slow", f"The headers did not arrive within {self.header_seconds:g} seconds."
                )
            )

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


def guarded(most_connections: int, header_seconds: float) -> type[GuardedConnection]:
    """Return the protocol for uvicorn, with these limits."""
    return type(
        "LimitedConnection",
        (GuardedConnection,),
        {"most_connections": most_connections, "header_seconds": header_seconds},
    )
