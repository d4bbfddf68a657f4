"""What a caller did wrong, or what the server cannot do now: one exception, told as problem+json."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from rosenblatt.exceptions import RosenblattError

__all__ = ["PROBLEM_TYPE", "RequestError"]

PROBLEM_TYPE = b"application/problem+json"

TITLES = {
    400: "The request is incomplete",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    405: "Another method",
    408: "Too slow",
    409: "Not now",
    410: "Gone",
    413: "Too large",
    415: "Not JSON",
    421: "Unknown host",
    422: "The request cannot be used",
    429: "Too many requests",
    503: "Not available now",
}


class RequestError(RosenblattError):
    """A request that is refused.

    Parameters
    ----------
    status : int
        The status of HTTP.
    title : str
        What kind of problem it is; the same for all problems of a kind.
    detail : str
        What was wrong, where, and what to do.
    retry_after : float or None
        Seconds after which the same request may succeed.
    where
        The place, such as ``row=3, column="age"``.
    """

    def __init__(
        self, status: int, title: str, detail: str, *, retry_after: float | None = None, **where: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail
        self.retry_after, self.where = retry_after, where

    @classmethod
    def of(cls, status: int, detail: str, *, retry_after: float | None = None, **where: Any) -> RequestError:
        """Return a problem with the usual title of its status."""
        return cls(status, TITLES.get(status, "Refused"), detail, retry_after=retry_after, **where)

    def document(self) -> dict[str, Any]:
        """Return the problem as RFC 9457 writes it."""
        told = {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.detail}
        return told | self.where

    def body(self, call: str = "") -> bytes:
        """Return the problem as JSON; clients of the Open Inference Protocol look for it under ``error``."""
        also = {"error": self.detail} if call.startswith("/v2") else {}
        return msgspec.json.encode(self.document() | also)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of the answer."""
        found = [(b"content-type", PROBLEM_TYPE)]
        if self.retry_after is not None:
            found.append((b"retry-after", str(max(1, math.ceil(self.retry_after))).encode()))
        if self.status == 401:
            found.append((b"www-authenticate", b'Bearer realm="rosenblatt"'))
        return found
