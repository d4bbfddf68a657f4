"""The OpenAPI document says what the server does."""

from dataclasses import replace

import jsonschema
import pytest

from rosenblatt.server.front_door import ALL_CALLS
from rosenblatt.server.pages import calls_page, openapi_document
from tests.shared.serving import save_models, serving

DOCUMENT = openapi_document(ALL_CALLS)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving(folder / "data", save_models(folder)) as client:
        yield client


def test_every_call_is_described(client):
    served = client.get("/openapi.json").json()
    assert served == DOCUMENT
    described = {(method.upper(), path) for path, methods in served["paths"].items() for method in methods}
    assert described == {(call.method, call.path) for call in ALL_CALLS}


def test_the_schemas_are_schemas():
    for name, schema in DOCUMENT["components"]["schemas"].items():
        whole = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(whole)


def test_operations_have_one_name_each():
    names = [call["operationId"] for methods in DOCUMENT["paths"].values() for call in methods.values()]
    assert len(set(names)) == len(names)


def test_the_page_lists_every_call_and_loads_nothing(client):
    page = client.get("/docs")
    for call in ALL_CALLS:
        assert f"<code>{call.path}</code>" in page.text
    assert "<script" not in page.text
    assert "http" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    evil = openapi_document([replace(ALL_CALLS[0], query=({"name": "<b>", "in": "query", "description": "<i>"},))])
    assert "<b>" not in calls_page(evil)
    assert "<i>" not in calls_page(evil)
