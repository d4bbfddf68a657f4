"""Idempotency keys and ids of predictions: UUIDs of version 7, which tell when they were made."""

from __future__ import annotations

import os
import time
import uuid

from rosenblatt.server.problems import RequestError

__all__ = ["at_time", "new_id", "read_key", "time_of"]

AHEAD = 600.0
"""Seconds that the clock of a client may be ahead."""


def new_id() -> uuid.UUID:
    """Return a new UUIDv7.

    Examples
    --------
    >>> new_id().version
    7
    """
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high, low = random >> 68, random & ((1 << 62) - 1)
    return uuid.UUID(int=(milliseconds << 80) | (7 << 76) | (high << 64) | (2 << 62) | low)


def at_time(seconds: float) -> bytes:
    """Return the least id of a time: ids sort by time."""
    return max(0, int(seconds * 1000)).to_bytes(6, "big") + bytes(10)


def time_of(key: bytes) -> float:
    """Return when an id was made."""
    return int.from_bytes(key[:6], "big") / 1000


def read_key(text: str, what: str, status: int) -> bytes:
    """Return a UUIDv7 as bytes.

    Parameters
    ----------
    text : str
        As the client wrote it.
    what : str
        What it is, for messages.
    status : int
        The status of the problem if it is none.
    """
    try:
        key = uuid.UUID(text)
    except ValueError:
        key = None
    if key is None or key.version != 7 or str(key) != text.lower():
        raise RequestError.of(
            status, f"{what} {text[:60]!r} is not a UUID of version 7. Send one, such as {new_id()}."
        )
    if time_of(key.bytes) > time.time() + AHEAD:
        raise RequestError.of(status, f"{what} {text} is from the future. Set the clock of the client.")
    return key.bytes
