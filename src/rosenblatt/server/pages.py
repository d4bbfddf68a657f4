"""What people and programs read about the server: the OpenAPI document, the page of calls, and the live page.

The document is made from the types that check requests and write answers; the page of calls is made from it. Pages
are whole files without a build step, each with a policy that allows exactly what is in it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from rosenblatt._version import __version__
from rosenblatt.server.application import Call, parameter

NAME = parameter(
    "name", "path", "The model.", required=True, type="string", pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
)
VERSION = parameter(
    "version", "path", "A version of the model.", required=True, type="string", pattern="^[0-9]{1,15}$"
)
KEY = parameter(
    "Idempotency-Key",
    "header",
    "A request that is repeated with its key is learned once. Best is a UUID of version 7, which tells its age: "
    "after seven days it is refused. Any other key is remembered for seven days from when it first came; then it "
    "counts as new. For such a key the answer has the header Idempotency-Key-Kept: seconds.",
    required=True,
    type="string",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
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
ALWAYS = (405, 421, 429)
GUARDED = (401, 403)
OF_A_MODEL = (404, 422)
OF_A_BODY = (400, 408, 413, 415, 422, 503)
OF_LEARNING = (409, 410)


class RemedyDocument(msgspec.Struct):
    """A parameter that could be set: of the server, or of the model when it is trained."""

    parameter: str
    value: str | int | float | bool | list[str | int] | None


class ProblemDocument(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"kind": "type"}):
    """What was wrong (RFC 9457), and where."""

    kind: str
    title: str
    status: int
    detail: str
    code: str
    row: int | None = None
    column: str | int | None = None
    parameter: str | None = None
    parameters: list[str] | None = None
    limit: int | None = None
    error: str | None = None
    remedies: list[RemedyDocument] | None = None


def openapi_document(calls: Iterable[Call]) -> dict[str, Any]:
    """Return the document, with the calls in their order."""
    calls = list(calls)
    types = [each for call in calls for each in (call.request, call.answer) if each not in (None, bytes)]
    kinds = list(dict.fromkeys([*types, ProblemDocument]))
    references, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    named = dict(zip(kinds, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        described = _operation(call, named)
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


def _operation(call: Call, named: Mapping[Any, Any]) -> dict[str, Any]:
    words = (call.handler.__doc__ or "").strip().partition("\n\n")
    parameters: list[Mapping[str, Any]] = [each for each in (NAME, VERSION) if f"{{{each['name']}}}" in call.path]
    if call.path.endswith("/learn"):
        parameters.append(KEY)
    made: dict[str, Any] = {
        "operationId": call.handler.__name__ + ("_of_version" if "{version}" in call.path else ""),
        "summary": words[0],
        "tags": ["Open Inference Protocol" if call.path.startswith("/v2") else "rosenblatt"],
        "parameters": [*parameters, *call.query],
        "responses": {"200": {"description": WORDS[200], "content": _content(call.answer, named)}},
    }
    if call.scope is not None:
        made["security"] = [{"token": []}, {}]
        made["description"] = f"With tokens, needs the scope {call.scope}."
    if call.request is not None:
        made["requestBody"] = {"required": True, "content": _content(call.request, named)}
    problem = {"application/problem+json": {"schema": named[ProblemDocument]}}
    for status in _statuses(call):
        made["responses"][str(status)] = {"description": WORDS[status], "content": problem}
    return made


def _content(kind: Any, named: Mapping[Any, Any]) -> dict[str, Any]:
    if kind is bytes:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {"application/json": {"schema": named[kind]}}


def _statuses(call: Call) -> list[int]:
    found = {*ALWAYS}
    if call.scope is not None:
        found |= {*GUARDED}
    if "{name}" in call.path:
        found |= {*OF_A_MODEL}
    if call.method == "POST":
        found |= {*OF_A_BODY, *OF_LEARNING}
    if call.query or "{version}" in call.path:
        found |= {400, 410, 422}
    reads_files = call.path.endswith(("/versions", "/export")) or "{version}" in call.path
    if reads_files or call.path in ("/readyz", "/v2/health/ready"):
        found.add(503)
    return sorted(found)


def calls_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    info = document["info"]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(info['title'])}: calls</title>\n<style>\n{_file('calls.css')}</style>\n</head>\n<body>"
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"
    yield f'<p>{escape(info["summary"])} {escape(info["description"])} <a href="/">Models</a> · '
    yield '<a href="/openapi.json">This page as OpenAPI</a></p>'
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            yield from _call(path, method.upper(), call, document["components"]["schemas"])
    yield "<h2>Types</h2>"
    for name, schema in document["components"]["schemas"].items():
        yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        yield f"<p>{escape(schema.get('description', ''))}</p>"
        yield from _fields(schema)
        yield "</details>"
    yield "</body>\n</html>"


def _call(path: str, method: str, call: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f'<details><summary><span class="method">{method}</span> <code>{escape(path)}</code><br>'
    yield f'<span class="soft">{escape(call["summary"])}</span></summary>'
    if "description" in call:
        yield f"<p>{escape(call['description'])}</p>"
    if call["parameters"]:
        yield "<table><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr>"
        for each in call["parameters"]:
            optional = "" if each.get("required") else " (optional)"
            yield f"<tr><td><code>{escape(each['name'])}</code>{optional}</td><td>{escape(each['in'])}</td>"
            yield f"<td>{escape(each['description'])}</td></tr>"
        yield "</table>"
    if "requestBody" in call:
        yield f"<p>Takes {_kind(_schema(call['requestBody']))}.</p>"
    yield "<table><tr><th>Status</th><th>Answer</th><th>Meaning</th></tr>"
    for status, answer in call["responses"].items():
        meaning = escape(answer["description"])
        yield f"<tr><td>{status}</td><td>{_kind(_schema(answer))}</td><td>{meaning}</td></tr>"
    yield "</table></details>"


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    yield "<table><tr><th>Field</th><th>Type</th><th>Default</th></tr>"
    for name, each in schema.get("properties", {}).items():
        default = "required" if name in schema.get("required", ()) else escape(repr(each.get("default")))
        yield f"<tr><td><code>{escape(name)}</code></td><td>{_kind(each)}</td><td>{default}</td></tr>"
    yield "</table>"


def _schema(content: Mapping[str, Any]) -> Mapping[str, Any]:
    (kind, found), *_ = content["content"].items()
    schema: Mapping[str, Any] = found["schema"]
    return schema if "json" in kind else {"type": kind}


def _kind(schema: Mapping[str, Any]) -> str:
    """Return a schema in words, with links to the types it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}"><code>{name}</code></a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if "enum" in schema:
        return escape(", ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"object of {_kind(values)}" if values else "object"
    return escape(str(schema.get("type", "anything")))


SCRIPTS, STYLES = re.compile(r"<script>(.*?)</script>", re.DOTALL), re.compile(r"<style>(.*?)</style>", re.DOTALL)


def live_page() -> str:
    """Return the page that shows each model as it learns."""
    return _file("live.html")


def _file(name: str) -> str:
    return (files("rosenblatt") / "server" / name).read_text(encoding="utf-8")


def page_policy(page: str) -> str:
    """Return the content security policy of a page: its own script and style by their hashes, and calls to us.

    Examples
    --------
    >>> page_policy("<p>plain</p>").partition(";")[0]
    "default-src 'none'"
    """
    allowed = {"script-src": SCRIPTS.findall(page), "style-src": STYLES.findall(page)}
    parts = ["default-src 'none'"]
    for what, texts in allowed.items():
        if texts:
            parts.append(f"{what} {' '.join(map(_hash, texts))}")
    if allowed["script-src"]:
        parts.append("connect-src 'self'")
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
