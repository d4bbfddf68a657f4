"""The OpenAPI document says what the server does; schemathesis sends what it allows, and what it does not."""

import copy
from datetime import timedelta

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, settings, strategies
from schemathesis.checks import CHECKS

import rosenblatt as rb
from rosenblatt.client import new_key
from rosenblatt.server.application import QUERIES
from rosenblatt.server.front_door import ALL_CALLS
from rosenblatt.server.pages import calls_page, openapi_document
from tests.shared.serving import save_models, serving

DOCUMENT = openapi_document(ALL_CALLS, QUERIES)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving(folder / "data", save_models(folder) | save_words(folder), grow=True) as client:
        yield client


def save_words(folder):
    """Write a model that takes new features and new classes as they come."""
    learner = rb.Perceptron(multiclass="direct").learn_one({"a": 1.0}, "x", classes="grow")
    rb.save(learner.learn_one({"b": 1.0}, "y"), folder / "words.model")
    return {"words": folder / "words.model"}


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
    evil = openapi_document(ALL_CALLS, {"/v1/models": ({"name": "<b>", "in": "query", "description": "<i>"},)})
    assert "<b>" not in calls_page(evil)
    assert "<i>" not in calls_page(evil)


def of_our_models(document):
    """Return the document with the names of the models that are there, and keys that the server takes."""
    narrowed = copy.deepcopy(document)
    for methods in narrowed["paths"].values():
        for call in methods.values():
            for each in call["parameters"]:
                if each["name"] == "name":
                    each["schema"] = {"enum": ["spam", "places", "people", "words", "absent"]}
                if each["name"] == "Idempotency-Key":
                    each["schema"] = {"type": "string", "format": "new-key"}
    return narrowed


schemathesis.openapi.format("new-key", strategies.builds(new_key))
SCHEMA = schemathesis.openapi.from_dict(of_our_models(DOCUMENT))
WANTED = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
}
CHOSEN = [each for each in CHECKS.get_all() if each.__name__ in WANTED]


def answered_as_described(client, case):
    assert {each.__name__ for each in CHOSEN} == WANTED
    sent = case.as_transport_kwargs(base_url="http://localhost:8000")
    sent.pop("cookies", None)
    content = sent.pop("data", None)
    if isinstance(content, bytes | str):
        sent["content"] = content
    answer = client.request(sent.pop("method"), sent.pop("url"), **sent)
    answer.elapsed = timedelta()
    case.validate_response(schemathesis.Response.from_any(answer), checks=CHOSEN)


USUAL = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=20, derandomize=True, **USUAL)
def test_what_the_document_allows_is_answered_as_it_says(client, case):
    answered_as_described(client, case)


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=100, **USUAL)
def test_whatever_the_document_allows_is_answered_as_it_says(client, case):
    answered_as_described(client, case)
