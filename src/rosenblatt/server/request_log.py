"""The log: one JSON object a line, about requests and the server, never with anything out of rows or labels."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import msgspec

from rosenblatt.server.access import ANYONE, HOLDER
from rosenblatt.server.guard import RequestNote

__all__ = ["RequestLog"]


class RequestLog:
    """Writes lines about requests; an observer of the guard.

    Parameters
    ----------
    every : bool
        Whether each request gets a line. Otherwise those do that were refused, failed, or needed the scope admin.
    stream : text stream or None
        Where lines go; standard error by default.
    clock : callable
        Returns the time in seconds since 1970.
    """

    def __init__(
        self, *, every: bool = False, stream: TextIO | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.every, self.clock = every, clock
        self.stream = sys.stderr if stream is None else stream

    def __call__(self, note: RequestNote) -> None:
        """Write a line about a request, if it is to have one."""
        if note.passed_on:
            return
        refused = note.status >= 400 or not note.status
        if not (self.every or refused or note.access.scope == "admin"):
            return
        if refused and note.access.scope is ANYONE and not self.every:  # probes ask every few seconds
            return
        self.event(
            "request",
            call=note.access.call,
            method=note.method if note.method in METHODS else "other",
            model=note.access.model if note.status < 400 and note.access.scope != HOLDER else None,
            status=note.status,
            problem=note.problem,
            ms=round(note.seconds * 1000, 3),
            received=note.received,
            sent=note.sent,
            token=note.token,
            client=note.client,
        )

    def event(self, what: str, **values: Any) -> None:
        """Write a line about the server."""
        line = {"time": round(self.clock(), 3), "event": what} | {k: v for k, v in values.items() if v is not None}
        self.stream.write(msgspec.json.encode(line).decode() + "\n")
        self.stream.flush()


METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
