"""The server as others see it: its calls, documents and pages behind the guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rosenblatt.exceptions import ParameterError
from rosenblatt.server.application import CALLS, application
from rosenblatt.server.connection import MOST_HEADER_BYTES, guarded
from rosenblatt.server.exposure import host_names, is_loopback, origins_of, require_safe
from rosenblatt.server.further_calls import FURTHER_CALLS, QUERIES
from rosenblatt.server.guard import Guard, Rules
from rosenblatt.server.host import Host
from rosenblatt.server.limits import USUAL, RequestLimits
from rosenblatt.server.messages import ModelAnswer
from rosenblatt.server.metrics import CONTENT_TYPE, Family, Metrics, exposition
from rosenblatt.server.openapi import openapi_document
from rosenblatt.server.pages import live_page, page_policy
from rosenblatt.server.pages.calls import calls_page
from rosenblatt.server.rates import RateLimit
from rosenblatt.server.request_log import RequestLog
from rosenblatt.server.tokens import Token, TokenFile, TokenWatch

__all__ = ["ALL_CALLS", "FrontDoor"]

ALL_CALLS = (*CALLS, *FURTHER_CALLS)


@dataclass(frozen=True, kw_only=True)
class FrontDoor:
    """Where the server listens, by which names it is called, and what it allows.

    Attributes
    ----------
    address : str
        Where to listen.
    names : tuple of str
        Further names by which the server is called.
    certificate, key : str or None
        The files of the certificate for TLS and of its key.
    without_tls : bool
        Whether others may be answered without TLS.
    limits : RequestLimits
        How much a request may hold.
    log : RequestLog or None
        Where requests are noted; None notes none.
    """

    address: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    certificate: str | None = None
    key: str | None = None
    without_tls: bool = False
    limits: RequestLimits = USUAL
    log: RequestLog | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ParameterError("TLS needs --tls-cert and --tls-key, the certificate and its key.")

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
        """Return an application behind its guard.

        Raises
        ------
        ParameterError
            If strangers would be let in, or could read what is sent.
        """
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
            "http": guarded(self.limits.connections, self.limits.header_seconds),
            "h11_max_incomplete_event_size": MOST_HEADER_BYTES,
            "proxy_headers": False,
        }
        if self.certificate is not None:
            found |= {"ssl_certfile": self.certificate, "ssl_keyfile": self.key}
        return found


def _documents(host: Host, metrics: Metrics) -> Iterator[Route]:
    document = openapi_document(ALL_CALLS, QUERIES)
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

    for path in pages:
        yield Route(path, page)
    yield Route("/openapi.json", openapi)
    yield Route("/metrics", show_metrics)


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
