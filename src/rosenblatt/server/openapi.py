"""The OpenAPI document of the server, made from the types that check requests and write answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from rosenblatt._version import __version__

__all__ = ["DescribedCall", "ProblemDocument", "openapi_document"]

NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The model.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"},
}
VERSION = {
    "name": "version",
    "in": "path",
    "required": True,
    "description": "A version of the model.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,15}$"},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "A UUID of version 7. A request that is repeated with its key is learned once.",
    "schema": {"type": "string", "format": "uuid"},
}
WORDS = {
    200: "Done.",
    400: "What was sent is not JSON, or a header is missing.",
    401: "There is no valid token.",
    403: "The token does not allow this, or the request comes from a page of another site.",
    404: "There is no such model, version or prediction.",
    405: "This path takes another method.",
    408: "The body did not arrive in time.",
    409: "Not yet: a request with this key is under way, or the version is not reached.",
    410: "What was asked for is no longer kept.",
    413: "The body is too large, or has too many rows.",
    415: "The body is not JSON, or is compressed.",
    421: "The server is not called by this name.",
    422: "The request cannot be used; `row` and `column` say where.",
    429: "Too many requests, or too many new features; `Retry-After` says when to try again.",
    503: "Not now; `Retry-After` says when to try again.",
}
ALWAYS = (421, 429)
GUARDED = (401, 403)
OF_A_MODEL = (404, 422)
OF_A_BODY = (400, 408, 413, 415, 422, 503)
OF_LEARNING = (409, 410)


class ProblemDocument(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"kind": "type"}):
    """What was wrong (RFC 9457), and where."""

    kind: str
    title: str
    status: int
    detail: str
    row: int | None = None
    column: str | int | None = None
    limit: int | None = None
    error: str | None = None


class DescribedCall(Protocol):
    """What the document needs of a call."""

    @property
    def method(self) -> str:
        """The HTTP method."""

    @property
    def path(self) -> str:
        """The path, with names in braces."""

    @property
    def scope(self) -> str | None:
        """The scope it needs, or None."""

    @property
    def request(self) -> Any:
        """The type of its body, or None."""

    @property
    def answer(self) -> Any:
        """The type of its answer; bytes for a file."""

    @property
    def handler(self) -> Callable[..., Any]:
        """The function that answers; its name and docstring are those of the call."""


def openapi_document(
    calls: Iterable[DescribedCall], queries: Mapping[str, Sequence[Mapping[str, Any]]] = {}
) -> dict[str, Any]:
    """Return the document.

    Parameters
    ----------
    calls : iterable of calls
        In the order in which they are shown.
    queries : mapping of str to parameters
        The query parameters of calls by their paths, as OpenAPI writes them.
    """
    calls = list(calls)
    types = [each for call in calls for each in (call.request, call.answer) if each not in (None, bytes)]
    kinds = list(dict.fromkeys([*types, ProblemDocument]))
    references, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    named = dict(zip(kinds, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        described = _operation(call, named, queries.get(call.path, ()))
        paths.setdefault(call.path, {})[call.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rosenblatt",
            "version": __version__,
            "summary": "Models that learn while they predict.",
            "description": "Every example that was acknowledged is on disk. Errors are problem documents.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Made by `rosenblatt token create`. Without tokens, the server needs none.",
                }
            },
        },
    }


def _operation(
    call: DescribedCall, named: Mapping[Any, Any], query: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    words = (call.handler.__doc__ or "").strip().partition("\n\n")
    parameters: list[Mapping[str, Any]] = [each for each in (NAME, VERSION) if f"{{{each['name']}}}" in call.path]
    if call.path.endswith("/learn"):
        parameters.append(KEY)
    made: dict[str, Any] = {
        "operationId": call.handler.__name__ + ("_of_version" if "{version}" in call.path else ""),
        "summary": words[0],
        "tags": ["Open Inference Protocol" if call.path.startswith("/v2") else "rosenblatt"],
        "parameters": [*parameters, *query],
        "responses": {"200": {"description": WORDS[200], "content": _content(call.answer, named)}},
    }
    if call.scope is not None:
        made["security"] = [{"token": []}, {}]
        made["description"] = f"With tokens, needs the scope {call.scope}."
    if call.request is not None:
        made["requestBody"] = {"required": True, "content": _content(call.request, named)}
    problem = {"application/problem+json": {"schema": named[ProblemDocument]}}
    for status in _statuses(call, bool(query)):
        made["responses"][str(status)] = {"description": WORDS[status], "content": problem}
    return made


def _content(kind: Any, named: Mapping[Any, Any]) -> dict[str, Any]:
    if kind is bytes:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {"application/json": {"schema": named[kind]}}


def _statuses(call: DescribedCall, has_query: bool) -> list[int]:
    found = {*ALWAYS}
    if call.scope is not None:
        found |= {*GUARDED}
    if "{name}" in call.path:
        found |= {*OF_A_MODEL}
    if call.method == "POST":
        found |= {*OF_A_BODY, *OF_LEARNING}
    if has_query or "{version}" in call.path:
        found |= {400, 410, 422}
    reads_files = call.path.endswith(("/versions", "/export")) or "{version}" in call.path
    if reads_files or call.path in ("/readyz", "/v2/health/ready"):
        found.add(503)
    return sorted(found)
