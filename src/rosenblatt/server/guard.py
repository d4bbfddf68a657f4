"""The guard at the door of the server: refuses requests before anything is done for them.

A web page that someone has open must not teach a model, even at a server that listens to this computer only. So a
request must name a known host, come from our own page or from no page, and send JSON. Pages of other sites cannot
send JSON unless a server allows it, and this one never does. Bodies are counted as they are read, and must arrive
in time.

First come what each call needs a token for, and the limit on the requests of a caller.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from rosenblatt.exceptions import Remedy
from rosenblatt.server.connection import MOST_HEADER_BYTES
from rosenblatt.server.messages import RequestError
from rosenblatt.server.tokens import Token, TokenWatch

ANYONE = None  # needs no token
HOLDER = "any"  # needs a token with any scope; for a model, with any scope for that model
ADMIN = "admin"
OF_A_MODEL = re.compile("/v[12]/models/([^/]+)")


class Access(NamedTuple):
    """What a request is."""

    call: str  # the call, for logs and metrics; never holds text of the request
    scope: str | None  # the scope it needs, or `ANYONE`, or `HOLDER`
    model: str | None = None  # the model it names


def read_scopes(scopes: Mapping[str, str | None]) -> Callable[[str], Access]:
    """Return a function that says what a path is, by the scope of each call, whose path has names in braces.

    Whatever is not known needs a token, and below a model the scope admin.

    Examples
    --------
    >>> access_of = read_scopes({"/healthz": ANYONE, "/v1/models/{name}/learn": "learn"})
    >>> access_of("/v1/models/spam/learn")
    Access(call='/v1/models/{name}/learn', scope='learn', model='spam')
    >>> access_of("/healthz").scope, access_of("/v1/models/spam/else").scope, access_of("/else").scope
    (None, 'admin', 'any')
    """
    calls = []
    for path, scope in scopes.items():
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path))
        calls.append((re.compile(pattern + "/?" * ("{name}" in path)), path, scope))

    @lru_cache(maxsize=1024)
    def access_of(path: str) -> Access:
        for pattern, call, scope in calls:
            found = pattern.fullmatch(path)
            if found is not None:
                return Access(call, scope, found.groupdict().get("name"))
        below = OF_A_MODEL.match(path)
        return Access("other", HOLDER) if below is None else Access("other", ADMIN, below[1])

    return access_of


MOST_CALLERS = 10_000


class RateLimit:
    """A limit on the requests of each caller: `rate` a second in the long run, of which `burst` may come at once.

    Examples
    --------
    >>> limit = RateLimit(1.0, 2.0, ticks=lambda: 0.0)
    >>> limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")
    (0, 0, 1, 0)
    """

    def __init__(self, rate: float, burst: float, ticks: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.ticks = rate, max(1.0, burst), ticks
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, amount: float = 1.0) -> int:
        """Take from the bucket of a caller; return 0, or the seconds to wait if there is not enough in it."""
        now = self.ticks()
        level, then = self._buckets.pop(caller, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.rate)
        enough = level >= min(amount, self.burst)
        self._buckets[caller] = (level - amount if enough else level, now)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if enough else math.ceil((min(amount, self.burst) - level) / self.rate)


# Coroutines that are tried before they are awaited: what is there already needs no timer.


POLICY = b"content-security-policy"
ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
OF_CALLS = [(POLICY, b"default-src 'none'; frame-ancestors 'none'")]
OF_PAGES = [  # which have a policy of their own
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
]
ONE_YEAR = (b"strict-transport-security", b"max-age=31536000")
READING = ("GET", "HEAD")
JSON = b"application/json"
Headers: TypeAlias = list[tuple[bytes, bytes]]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a request must be.

    Attributes
    ----------
    hosts : frozenset of bytes
        Accepted Host header values.
    access_of : callable
        Takes a path and returns its `Access`; see `read_scopes`.
    origins : frozenset of bytes
        The values of the header Origin of our own pages.
    body_bytes : int
        The largest body.
    body_seconds : float
        How long a body may take to arrive.
    tls : bool
        Whether connections are encrypted.
    """

    hosts: frozenset[bytes]
    access_of: Callable[[str], Access]
    origins: frozenset[bytes] = frozenset()
    body_bytes: int = 16_000_000
    body_seconds: float = 30.0
    tls: bool = False


@dataclass(slots=True)
class RequestNote:
    """What is noted of one request, for the log and the metrics; nothing of its content."""

    access: Access
    method: str
    status: int = 0
    seconds: float = 0.0
    received: int = 0
    sent: int = 0
    token: str | None = None
    client: str | None = None
    problem: str | None = None
    passed_on: bool = False  # another process answered, and takes a note as well


Observer: TypeAlias = Callable[[RequestNote], None]
"""Takes a note of each request when it has been answered."""


class Guard:
    """An ASGI application in front of another one.

    That one finds the token of a request, or None, as ``scope["token"]``, and as ``scope["body"]`` the body of one
    that is not a GET. `rate` limits each token or, without tokens, each address.
    """

    def __init__(
        self,
        app: Any,
        rules: Rules,
        *,
        tokens: TokenWatch | None = None,
        rate: RateLimit | None = None,
        observers: tuple[Observer, ...] = (),
        ticks: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.app, self.rules, self.tokens, self.rate = app, rules, tokens, rate
        self.observers, self.ticks = observers, ticks
        always = [*ALWAYS, ONE_YEAR] if rules.tls else ALWAYS
        self.headers = [*always, *OF_CALLS], [*always, *OF_PAGES]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":  # there are none here
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return
        began = self.ticks()
        client = scope.get("client")
        note = RequestNote(
            self.rules.access_of(scope["path"]), scope["method"], client=client[0] if client else None
        )
        reply = Reply(send, note, self.headers)
        try:
            headers = _headers(scope)
            scope["token"] = self._admit(scope, headers, note)
            if scope["method"] not in READING:
                scope["body"] = body = await self._read(headers, receive, note)
                receive = _Body(body, receive)
            await self.app(scope, receive, reply)
        except RequestError as problem:
            if note.status:
                raise
            await refuse(problem, reply, note)
        finally:
            note.seconds, note.passed_on = self.ticks() - began, "passed_on" in scope
            for observer in self.observers:
                observer(note)

    def _admit(self, scope: Any, headers: dict[bytes, bytes], note: RequestNote) -> Token | None:
        """Return the token of a request, or None where none is needed; raise `RequestError` if it is refused."""
        token = refused = None
        try:
            token = self._known(scope, headers, note)
        except RequestError as problem:  # counts too, so that tokens cannot be guessed one by one
            refused = problem
        # A request without a client comes from a process of ours, which has counted it.
        if self.rate is not None and note.access.scope is not ANYONE and note.client is not None:
            wait = self.rate.take(note.token or note.client)
            if wait:
                raise RequestError(
                    429,
                    f"This caller may send {self.rate.rate:g} requests a second. Wait, or send more rows at once.",
                    retry_after=wait,
                )
        if refused is not None:
            raise refused
        return token

    def _known(self, scope: Any, headers: dict[bytes, bytes], note: RequestNote) -> Token | None:
        """Return the token of a request that names a known host, comes from no foreign page, and may call."""
        host = headers.get(b"host", b"").lower()
        if host not in self.rules.hosts:
            raise RequestError(
                421,
                "This server is not called by the name in the header Host. Use the address it printed, or start "
                "it with " + Remedy("names") + " and the name people use.",
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.rules.origins:
            raise RequestError(
                403,
                "Pages of other sites may not call this server. Call it from a program, which sends no Origin.",
                title="Foreign origin",
            )
        return self._authorised(scope["method"], headers, note)

    def _authorised(self, method: str, headers: dict[bytes, bytes], note: RequestNote) -> Token | None:
        access = note.access
        if self.tokens is None or access.scope is ANYONE or not self.tokens.is_on():
            return None
        secret = _secret(headers.get(b"authorization", b""), method)
        token = None if secret is None else self.tokens.find(secret)
        if token is None:
            raise RequestError(
                401,
                "This server needs a token that is known and has not expired, as `Authorization: Bearer TOKEN`. "
                "`rosenblatt token create` makes one.",
            )
        note.token = token.id
        if access.model is not None:
            allowed = (
                token.sees(access.model) if access.scope == HOLDER else token.allows(access.model, access.scope)
            )
            if not allowed:
                need = "any scope" if access.scope == HOLDER else f"the scope {access.scope}"
                raise RequestError(403, f"The token does not have {need} for this model. Use one that has it.")
        return token

    async def _read(self, headers: dict[bytes, bytes], receive: Any, note: RequestNote) -> bytes:
        """Return the body, of which never more than the limit is held."""
        kind = headers.get(b"content-type", b"")
        if kind != JSON and not _is_json(kind):
            raise RequestError(415, "Send JSON in UTF-8, with the header `Content-Type: application/json`.")
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise RequestError(415, "Send the body as it is, without Content-Encoding.", title="Compressed body")
        most = self.rules.body_bytes
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            raise _too_large(most)
        parts, more = [], True
        try:
            async with asyncio.timeout(self.rules.body_seconds):
                while more:
                    part, more = _part(await receive(), most, note)
                    parts.append(part)
            return b"".join(parts)
        except TimeoutError:
            raise RequestError(
                408, f"The body did not arrive within {self.rules.body_seconds:g} seconds."
            ) from None


class Reply:
    """Sends an answer with the headers that every answer has, and notes its status and size."""

    __slots__ = ("headers", "note", "send")

    def __init__(self, send: Any, note: RequestNote, headers: tuple[Headers, Headers]) -> None:
        self.send, self.note, self.headers = send, note, headers

    async def __call__(self, message: Any) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.note.status = message["status"]
            given = message.get("headers", ())
            of_calls, of_pages = self.headers
            names = [name for name, _ in given]
            if ALWAYS[0][0] not in names:  # else another process of ours has added them
                message["headers"] = [*given, *(of_pages if POLICY in names else of_calls)]
        else:
            self.note.sent += len(message.get("body", b""))
        await self.send(message)


class _Body:
    """Gives the application a body that was read already."""

    __slots__ = ("body", "receive")

    def __init__(self, body: bytes, receive: Any) -> None:
        self.body: bytes | None = body
        self.receive = receive

    async def __call__(self) -> Any:
        if self.body is None:
            return await self.receive()
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def refuse(problem: RequestError, send: Any, note: RequestNote | None = None) -> None:
    """Send a problem as the answer."""
    if note is not None:
        note.problem = problem.title
    body = problem.body("" if note is None else note.access.call)
    headers = [*problem.headers(), (b"content-length", str(len(body)).encode())]
    if problem.status in (408, 413, 415):  # the rest of the body is not read
        headers.append((b"connection", b"close"))
    if problem.status == 401 and note is not None and note.method in READING:  # lets a browser ask for the token
        headers.append((b"www-authenticate", b'Basic realm="rosenblatt: the token is the password"'))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _part(message: Any, most: int, note: RequestNote) -> tuple[bytes, bool]:
    """Return a part of a body, and whether there is more of it."""
    if message["type"] == "http.disconnect":
        raise RequestError(400, "The connection ended before the body did.", title="Body cut off")
    part = message.get("body", b"")
    note.received += len(part)
    if note.received > most:
        raise _too_large(most)
    return part, message.get("more_body", False)


def _is_json(kind: bytes) -> bool:
    name, _, rest = kind.partition(b";")
    charset = rest.strip().lower().replace(b'"', b"")
    return name.strip().lower() == JSON and charset in (b"", b"charset=utf-8")


def _too_large(most: int) -> RequestError:
    return RequestError(
        413, f"A body may have {most} bytes. Send fewer rows at once.", title="Body too large", limit=most
    )


def _headers(scope: Any) -> dict[bytes, bytes]:
    """Return the headers by name; those that come twice are joined, so that no Host or token matches them."""
    found: dict[bytes, bytes] = {}
    size = len(scope["path"]) + len(scope.get("query_string", b""))
    for name, value in scope["headers"]:
        size += len(name) + len(value) + 4
        found[name] = found[name] + b", " + value if name in found else value
    if size > MOST_HEADER_BYTES:  # h11 counts only headers that arrive in several parts
        raise RequestError(
            400,
            f"The headers exceed {MOST_HEADER_BYTES} bytes.",
            title="Headers too long",
            limit=MOST_HEADER_BYTES,
        )
    return found


def _secret(header: bytes, method: str) -> str | None:
    """Return the token in an Authorization header.

    Browsers ask for a user and a password, so a page may be read with the token as the password. They send it
    with every request, also with one that another page made; so nothing is changed by it.
    """
    kind, _, value = header.partition(b" ")
    kind, value = kind.lower(), value.strip()
    if kind == b"bearer":
        return value.decode("ascii", "replace")
    if kind == b"basic" and method in READING:
        try:
            user_and_password = base64.b64decode(value, validate=True)
        except binascii.Error:
            return None
        return user_and_password.partition(b":")[2].decode("utf-8", "replace")
    return None
