"""Schemathesis sends what the OpenAPI document allows, and what it does not."""

import copy
from datetime import timedelta

import pytest
import schemathesis
from hypothesis import HealthCheck, settings, strategies
from schemathesis.checks import CHECKS

import rosenblatt as rb
from rosenblatt.client import new_key
from rosenblatt.server.front_door import ALL_CALLS
from rosenblatt.server.pages import openapi_document
from tests.shared.serving import save_models, serving

pytestmark = (
    pytest.mark.slow
)  # `tests/conftest.py` does not even collect this file for fast tests: it takes seconds


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
SCHEMA = schemathesis.openapi.from_dict(of_our_models(openapi_document(ALL_CALLS)))
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


@SCHEMA.parametrize()
@settings(max_examples=20, derandomize=True, **USUAL)
def test_what_the_document_allows_is_answered_as_it_says(client, case):
    answered_as_described(client, case)


@SCHEMA.parametrize()
@settings(max_examples=100, **USUAL)
def test_whatever_the_document_allows_is_answered_as_it_says(client, case):
    answered_as_described(client, case)
