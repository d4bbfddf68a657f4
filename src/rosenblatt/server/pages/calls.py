"""The page that lists the calls: made from the OpenAPI document, without scripts and without other servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["calls_page"]

STYLE = """
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #1b2430; --soft: #576275;
  --line: #d9dee6; --accent: #2454a6; }
@media (prefers-color-scheme: dark) { :root { --ground: #11161d; --card: #1a212b; --ink: #e8ecf2; --soft: #a3adbd;
  --line: #323c4a; --accent: #8db5ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: .5rem 0;
  padding: .5rem .8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
code, pre { font: .9em ui-monospace, monospace; } pre { overflow-x: auto; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; color: var(--accent); }
.soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; } th { color: var(--soft); font-weight: 500; }
th, td { text-align: left; vertical-align: top; padding: .2rem .5rem; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; }
"""


def calls_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    info = document["info"]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(info['title'])}: calls</title>\n<style>{STYLE}</style>\n</head>\n<body>"
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
