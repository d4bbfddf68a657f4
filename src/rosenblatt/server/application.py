"""The calls of the server over HTTP.

`CALLS` lists each call with its scope, its types and its handler. A handler is a plain async function of the host
and of what was asked, `Asked`; it returns a message, or bytes of JSON, or raises `RequestError`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rosenblatt.exceptions import StorageError
from rosenblatt.server import messages
from rosenblatt.server.events import decode_event, kind_of
from rosenblatt.server.host import KEYS_KEPT, Host
from rosenblatt.server.limits import USUAL, RequestLimits, read_message
from rosenblatt.server.messages import RequestError, read_key, tells_time
from rosenblatt.server.tokens import Token

log = logging.getLogger("rosenblatt.server")

Scope = Literal["predict", "learn", "admin", "any"] | None
"""The scope a token must have for a call; "any" is any of the others, and None needs no token."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for."""

    name: str  # the model of the address, or ""
    message: Any  # the body, decoded as the type of the call
    body: bytes  # the body as it came
    query: Mapping[str, str]  # the parameters of the address
    key: str | None  # the header ``Idempotency-Key``
    token: Token | None = None  # the token of the request, where tokens are needed
    version: str | None = None  # the version of the address


Handler = Callable[[Host, Asked], Awaitable[Any]]


@dataclass(frozen=True)
class Call:
    """One call: method, path, who may use it, what it takes and gives, and what it does.

    `query` are its query parameters, as OpenAPI writes them.
    """

    method: Literal["GET", "POST"]
    path: str
    scope: Scope
    request: type | None
    answer: Any
    handler: Handler
    query: tuple[dict[str, Any], ...] = ()


async def predict(host: Host, asked: Asked) -> messages.PredictAnswer:
    """Predict rows."""
    return await host.predict(asked.name, asked.message)


async def learn(host: Host, asked: Asked) -> Response:
    """Learn rows with their labels; they are on disk before the answer."""
    content = await host.learn(asked.name, asked.message, asked.key, asked.body)
    headers = {}
    if asked.key is not None and not tells_time(read_key(asked.key, "The Idempotency-Key", 400)):
        headers["Idempotency-Key-Kept"] = f"{KEYS_KEPT:.0f}"
    return Response(content, headers=headers, media_type="application/json")


async def feedback(host: Host, asked: Asked) -> bytes:
    """Learn the label of an earlier prediction."""
    return await host.feedback(asked.name, asked.message)


async def models(host: Host, asked: Asked) -> messages.ModelsAnswer:
    """List what is served."""
    sees = (name for name in host.models if asked.token is None or asked.token.sees(name))
    return messages.ModelsAnswer([host.describe(name) for name in sees])


async def model(host: Host, asked: Asked) -> messages.ModelAnswer:
    """Describe a model."""
    return host.describe(asked.name)


async def versions(host: Host, asked: Asked) -> messages.VersionsAnswer:
    """List the versions of a model."""
    return await host.administration.versions(asked.name)


async def events(host: Host, asked: Asked) -> messages.EventsAnswer:
    """List the last events of a model."""
    model = host.model(asked.name)
    wanted = asked.query.get("last", "20")
    if not wanted.isascii() or not wanted.isdigit() or len(wanted) > 3 or not 1 <= int(wanted) <= MOST_EVENTS:
        raise RequestError(422, f"last must be a number from 1 to {MOST_EVENTS}.")
    newest = model.version
    found = []
    for some in host.reader.events(model.number, max(model.base, newest - int(wanted)), newest):
        for event in some:
            summary = messages.EventSummary(event.seq, event.at, kind_of(decode_event(event.body)))
            written = event.answer or host.writer.recent(model, event.seq)
            if written is not None:
                answer = ANSWER.decode(written)
                summary.rows, summary.mistakes, summary.right = answer.rows, answer.mistakes, answer.right
            found.append(summary)
    return messages.EventsAnswer(found[::-1])


async def rollback(host: Host, asked: Asked) -> messages.RollbackAnswer:
    """Return to an earlier version."""
    return await host.administration.rollback(asked.name, asked.message)


async def export(host: Host, asked: Asked) -> Response:
    """Return a version as a model file."""
    content = await host.administration.export(asked.name, _version(asked))
    headers = {"Content-Disposition": f'attachment; filename="{asked.name}.model"'}
    return Response(content, headers=headers, media_type="application/octet-stream")


async def explain(host: Host, asked: Asked) -> messages.ExplainAnswer:
    """Say what each feature of a row, given as JSON, or of a remembered prediction adds to the score."""
    return await host.explain(asked.name, asked.query.get("row"), asked.query.get("id"))


async def erase(host: Host, asked: Asked) -> messages.EraseAnswer:
    """Forget examples."""
    return await host.administration.erase(asked.name, asked.message)


def _version(asked: Asked) -> int | None:
    text = asked.query.get("version")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise RequestError(422, f"version must be a whole number, not {text[:40]!r}.")
    return int(text)


async def healthz(host: Host, asked: Asked) -> messages.HealthAnswer:
    """Say that the process runs."""
    return messages.HealthAnswer("ok")


async def readyz(host: Host, asked: Asked) -> messages.HealthAnswer:
    """Say whether examples can be learned."""
    reason = host.ready()
    if reason is not None:
        raise RequestError(503, f"Nothing can be learned: {reason}")
    return messages.HealthAnswer("ready")


MOST_EVENTS, MOST_DIGITS = 100, 15
ANSWER = msgspec.json.Decoder(messages.LearnAnswer)
KEY = b"idempotency-key"
OF_A_MODEL = "/v1/models/{name}"


def parameter(name: str, place: str, description: str, *, required: bool = False, **schema: Any) -> dict[str, Any]:
    """Return a parameter of calls as OpenAPI describes it."""
    needed = {"required": True} if required else {}
    return {"name": name, "in": place, **needed, "description": description, "schema": schema}


VERSION = parameter(
    "version", "query", "The version; the newest by default.", type="integer", minimum=0, maximum=10**MOST_DIGITS
)
ROW = parameter("row", "query", "The row, as JSON. Either this or an id must be given.", type="string")
ID = parameter("id", "query", "The id of a remembered prediction.", type="string", format="uuid")
LAST = parameter("last", "query", "How many events.", type="integer", minimum=1, maximum=MOST_EVENTS, default=20)

CALLS: tuple[Call, ...] = (
    Call("POST", f"{OF_A_MODEL}/predict", "predict", messages.PredictRequest, messages.PredictAnswer, predict),
    Call("POST", f"{OF_A_MODEL}/learn", "learn", messages.LearnRequest, messages.LearnAnswer, learn),
    Call("POST", f"{OF_A_MODEL}/feedback", "learn", messages.FeedbackRequest, messages.LearnAnswer, feedback),
    Call("GET", "/v1/models", "any", None, messages.ModelsAnswer, models),
    Call("GET", OF_A_MODEL, "any", None, messages.ModelAnswer, model),
    Call("GET", f"{OF_A_MODEL}/versions", "any", None, messages.VersionsAnswer, versions),
    Call("GET", f"{OF_A_MODEL}/events", "any", None, messages.EventsAnswer, events, (LAST,)),
    Call("POST", f"{OF_A_MODEL}/rollback", "admin", messages.RollbackRequest, messages.RollbackAnswer, rollback),
    Call("GET", f"{OF_A_MODEL}/export", "admin", None, bytes, export, (VERSION,)),
    Call("GET", f"{OF_A_MODEL}/explain", "predict", None, messages.ExplainAnswer, explain, (ROW, ID)),
    Call("POST", f"{OF_A_MODEL}/erase", "admin", messages.EraseRequest, messages.EraseAnswer, erase),
    Call("GET", "/healthz", None, None, messages.HealthAnswer, healthz),
    Call("GET", "/readyz", None, None, messages.HealthAnswer, readyz),
)


def application(
    host: Host,
    *,
    calls: Sequence[Call] = CALLS,
    routes: Sequence[BaseRoute] = (),
    limits: RequestLimits = USUAL,
) -> Starlette:
    """Return the application that serves a host."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> Any:
        host.start()
        yield
        await asyncio.to_thread(host.close)  # all that waits is written and answered

    own = [Route(call.path, _endpoint(host, call, limits), methods=[call.method]) for call in calls]
    return Starlette(
        routes=[*own, *routes],
        exception_handlers=failures(),
        lifespan=lifespan,
    )


def failures() -> dict[Any, Any]:
    """Return what becomes of exceptions."""
    return {RequestError: told, HTTPException: unrouted, StorageError: damaged}


async def told(request: Request, problem: Any) -> Response:
    """Return a problem as a response."""
    return problem_response(problem, request.scope["path"])


async def damaged(request: Request, error: Any) -> Response:
    """Return the problem of what cannot be read; the details are for the log."""
    log.error("A request could not be answered: %s", error)
    problem = RequestError(503, "What this call needs cannot be read, and the log of the server says why.")
    return problem_response(problem, request.scope["path"])


def problem_response(problem: RequestError, path: str = "") -> Response:
    """Return a problem of a path as a response."""
    headers = {name.decode(): value.decode() for name, value in problem.headers()}
    return Response(problem.body(path), problem.status, headers)


async def unrouted(request: Request, error: Any) -> Response:
    """Return the problem of a path or a method that there is not."""
    allowed = {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
    if error.status_code == 405:
        problem = RequestError(405, f"This path takes {allowed.get('Allow', 'another method')}.")
    else:
        problem = RequestError(404, "There is nothing at this path. /docs lists the calls.")
    answer = problem_response(problem, request.scope["path"])
    answer.headers.update(allowed)
    return answer


def _endpoint(host: Host, call: Call, limits: RequestLimits) -> Callable[[Request], Awaitable[Response]]:
    decoder: Any = None if call.request is None else msgspec.json.Decoder(call.request)
    encode = msgspec.json.Encoder().encode

    async def endpoint(request: Request) -> Response:
        message, body = None, b""
        if decoder is not None:
            body = request.scope["body"] if "body" in request.scope else await request.body()
            message = read_message(decoder, body)
            limits.require(message)
        scope, place = request.scope, request.path_params
        # Predictions have neither: objects for all headers and parameters would cost more than decoding the body.
        query: Mapping[str, str] = request.query_params if scope["query_string"] else {}
        key = next((value.decode("latin-1") for name, value in scope["headers"] if name == KEY), None)
        asked = Asked(place.get("name", ""), message, body, query, key, scope.get("token"), place.get("version"))
        answer = await call.handler(host, asked)
        if isinstance(answer, Response):
            return answer
        content = answer if isinstance(answer, bytes) else encode(answer)
        return Response(content, media_type="application/json")

    return endpoint
