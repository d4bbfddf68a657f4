"""The server as others see it: its calls, documents and pages behind the guard."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rosenblatt.exceptions import Given, ParameterError, Remedy
from rosenblatt.parameters import COMBINATION
from rosenblatt.server.application import CALLS, application
from rosenblatt.server.connection import MOST_HEADER_BYTES, make_protocol
from rosenblatt.server.guard import HOLDER, Guard, RateLimit, Rules, read_scopes
from rosenblatt.server.host import Host
from rosenblatt.server.inference import INFERENCE_CALLS
from rosenblatt.server.limits import USUAL, RequestLimits
from rosenblatt.server.messages import ModelAnswer
from rosenblatt.server.metrics import CONTENT_TYPE, Family, Metrics, RequestLog, exposition
from rosenblatt.server.pages import calls_page, live_page, openapi_document, page_policy
from rosenblatt.server.tokens import Token, TokenFile, TokenWatch

# Where the server may listen, and by which names it may be called.


def is_loopback(host: str) -> bool:
    """Return whether an address is only reached from this computer.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_safe(host: str, *, tokens: bool, tls: bool, without_tls: bool) -> None:
    """Raise `ParameterError` if listening at this address would let strangers in, or show them what is sent.

    With `without_tls` the user accepts unencrypted connections, as behind a proxy that encrypts.
    """
    if is_loopback(host):
        return
    if not tokens:
        told = f"others can reach {host}, and without tokens they could change your models. Make one first with "
        raise ParameterError(
            told + "`rosenblatt token create`, or listen at 127.0.0.1.", parameter="host", value=host
        )
    if not tls and not without_tls:
        raise ParameterError(
            f"others can reach {host}, and without TLS they could read tokens and rows on the way. Give "
            + Remedy("certificate")
            + " and "
            + Remedy("key")
            + ", or "
            + Remedy("without_tls", True)
            + " behind a proxy that encrypts.",
            parameter="host",
            value=host,
        )


def host_names(host: str, port: int, further: Iterable[str] = ()) -> frozenset[bytes]:
    """Return the values of the header Host that are answered, in lower case.

    People call the server by `further` names too, with a port where it is not this one.

    Examples
    --------
    >>> sorted(host_names("127.0.0.1", 8000, ["spam.example"]))
    [b'127.0.0.1:8000', b'[::1]:8000', b'localhost:8000', b'spam.example', b'spam.example:8000']
    """
    names: list[str] = (
        ["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) or host in ("0.0.0.0", "::") else []
    )
    if host not in ("0.0.0.0", "::", "localhost"):
        names.append(f"[{host}]" if ":" in host else host)
    found = {f"{name}:{port}" for name in names}
    if port in (80, 443):
        found |= set(names)
    for name in further:
        found |= {name} if ":" in name.rpartition("]")[2] else {name, f"{name}:{port}"}
    return frozenset(each.lower().encode("ascii", "replace") for each in found)


def origins_of(hosts: Iterable[bytes], *schemes: str) -> frozenset[bytes]:
    """Return the values of the header Origin that our own pages send.

    Examples
    --------
    >>> sorted(origins_of([b"localhost:8000"], "http"))
    [b'http://localhost:8000']
    """
    return frozenset(scheme.encode() + b"://" + host for host in hosts for scheme in schemes)


ALL_CALLS = (*CALLS, *INFERENCE_CALLS)
DOCUMENTS = ("/", "/docs", "/openapi.json", "/metrics")
access_of = read_scopes({call.path: call.scope for call in ALL_CALLS} | dict.fromkeys(DOCUMENTS, HOLDER))


@dataclass(frozen=True, kw_only=True)
class FrontDoor:
    """Where the server listens, by which names it is called, and what it allows."""

    address: str = "127.0.0.1"  # where to listen
    names: tuple[str, ...] = ()  # further names by which the server is called
    # certificate, key: the files of the certificate for TLS and of its key
    certificate: str | None = None
    key: str | None = None
    without_tls: bool = False  # whether others may be answered without TLS
    limits: RequestLimits = USUAL  # how much a request may hold
    log: RequestLog | None = None  # where requests are noted; None notes none

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            needed = Given("certificate") + " and " + Given("key")
            raise ParameterError("TLS needs " + needed + ", the certificate and its key.", code=COMBINATION)

    @property
    def scheme(self) -> str:
        """What an address begins with."""
        return "http" if self.certificate is None else "https"

    def behind(self, host: Host, port: int) -> Guard:
        """Return the guarded application of a host; see `before`."""
        metrics = Metrics(host.folder)
        metrics.begin()
        app = application(host, calls=ALL_CALLS, routes=list(_documents(host, metrics)), limits=self.limits)
        return self.before(app, host.folder, port, metrics)

    def before(self, app: Any, folder: Path, port: int, metrics: Metrics) -> Guard:
        """Return an application behind its guard; see `require_safe`."""
        tokens = TokenWatch(TokenFile(folder))
        require_safe(
            self.address, tokens=tokens.is_on(), tls=self.certificate is not None, without_tls=self.without_tls
        )
        hosts = host_names(self.address, port, self.names)
        # A proxy that encrypts calls us without TLS, for pages that came with it.
        schemes = {self.scheme, "https"} if self.without_tls or not is_loopback(self.address) else {self.scheme}
        limits = self.limits
        rules = Rules(
            hosts=hosts,
            access_of=access_of,
            origins=origins_of(hosts, *schemes),
            body_bytes=limits.body_bytes,
            body_seconds=limits.body_seconds,
            tls=self.certificate is not None,
        )
        rate = None if limits.rate is None else RateLimit(limits.rate, 2 * limits.rate)
        observers = (metrics,) if self.log is None else (metrics, self.log)
        return Guard(app, rules, tokens=tokens, rate=rate, observers=observers)

    def uvicorn_options(self) -> dict[str, Any]:
        """Return what uvicorn must know: limits on connections, and TLS."""
        found: dict[str, Any] = {
            "http": make_protocol(self.limits.connections, self.limits.header_seconds, self.limits.body_seconds),
            "h11_max_incomplete_event_size": MOST_HEADER_BYTES,
            "proxy_headers": False,
        }
        if self.certificate is not None:
            found |= {"ssl_certfile": self.certificate, "ssl_keyfile": self.key}
        return found


def _documents(host: Host, metrics: Metrics) -> Iterator[Route]:
    document = openapi_document(ALL_CALLS)
    written = msgspec.json.encode(document)
    pages = {"/": live_page(), "/docs": calls_page(document)}

    def page(request: Request) -> Response:
        text = pages[request.url.path]
        return Response(text, media_type="text/html", headers={"Content-Security-Policy": page_policy(text)})

    async def openapi(_request: Request) -> Response:
        return Response(written, media_type="application/json")

    async def show_metrics(request: Request) -> Response:
        found = [*metrics.families(), *_model_families(host, request.scope.get("token"))]
        return Response(exposition(found), headers={"Content-Type": CONTENT_TYPE})

    for path, answer in zip(DOCUMENTS, (page, page, openapi, show_metrics), strict=True):
        yield Route(path, answer)


def _model_families(host: Host, token: Token | None) -> Iterator[Family]:
    """Yield the figures of the models that a token may see."""
    models = [host.describe(name) for name in host.models if token is None or token.sees(name)]
    kinds: tuple[tuple[str, str, str, Callable[[ModelAnswer], float]], ...] = (
        ("version", "gauge", "The version that predicts.", lambda model: model.version),
        ("rows_total", "counter", "Rows learned.", lambda model: model.rows_learned),
        ("mistakes_total", "counter", "Updates made.", lambda model: model.mistakes),
        ("classes", "gauge", "Classes known.", lambda model: len(model.classes)),
        ("features", "gauge", "Features known.", lambda model: model.n_features),
        ("rolling_rows", "gauge", "Rows of the rolling accuracy.", lambda model: model.rolling.rows),
        ("rolling_right", "gauge", "Of these, predicted right.", lambda model: model.rolling.right),
    )
    for name, kind, words, value in kinds:
        values = [("", {"model": model.name}, float(value(model))) for model in models]
        yield Family(f"rosenblatt_model_{name}", kind, words, values)
    ready = float(host.ready() is None)
    yield Family("rosenblatt_ready", "gauge", "Whether examples can be learned.", [("", {}, ready)])
    waiting = float(host.writer.waiting)
    yield Family("rosenblatt_waiting", "gauge", "Requests that wait to be written.", [("", {}, waiting)])
