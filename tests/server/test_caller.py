"""The client sends the same request, with the same key, until it is answered."""

import contextlib
import inspect
import json
import subprocess
import sys
import uuid

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from rosenblatt.client import CallError, Client, UnreachableError, new_key
from rosenblatt.exceptions import DataTypeError, ParameterError

LEARNED = {"version": 3, "rows": 1, "mistakes": 1, "right": 0}


class Fake:
    """A server that plays answers in order: a response, or an exception."""

    def __init__(self, *answers):
        self.answers, self.seen, self.slept = list(answers), [], []

    def __call__(self, request):
        self.seen.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options):
        return Client(
            "http://127.0.0.1:1", transport=httpx.MockTransport(self), sleep=self.slept.append, **options
        )


def problem(status, **more):
    headers = more.pop("headers", {})
    return httpx.Response(status, json={"title": "T", "detail": "D", "status": status} | more, headers=headers)


def test_a_retry_is_the_same_request_with_the_same_key():
    fake = Fake(
        httpx.ConnectError("refused"),
        problem(503, headers={"retry-after": "2"}),
        httpx.ReadTimeout("slow"),
        httpx.Response(200, json=LEARNED),
    )
    assert fake.client().learn("spam", ["win"], ["spam"]).version == 3
    assert len({(each.headers["idempotency-key"], each.content, str(each.url)) for each in fake.seen}) == 1
    assert uuid.UUID(fake.seen[0].headers["idempotency-key"]).version == 7
    assert len(fake.slept) == 3
    assert fake.slept[1] == 2.0
    assert 0 < fake.slept[0] < fake.slept[2] < 2


def test_two_calls_have_two_keys():
    fake = Fake(httpx.Response(200, json=LEARNED), httpx.Response(200, json=LEARNED))
    client = fake.client()
    for _ in range(2):
        client.learn("spam", ["win"], ["spam"])
    assert len({each.headers["idempotency-key"] for each in fake.seen}) == 2


def test_a_server_that_never_answers_leaves_the_key():
    fake = Fake(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(UnreachableError, match="call again with key") as caught:
        fake.client(attempts=3).learn("spam", ["win"], ["spam"])
    assert caught.value.key == fake.seen[0].headers["idempotency-key"]
    again = Fake(httpx.Response(200, json=LEARNED))
    again.client().learn("spam", ["win"], ["spam"], key=caught.value.key)
    assert again.seen[0].headers["idempotency-key"] == caught.value.key
    assert again.seen[0].content == fake.seen[0].content


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 415, 421, 422, 500])
def test_a_refusal_is_not_repeated(status):
    fake = Fake(problem(status, row=3, column="age"))
    with pytest.raises(CallError) as caught:
        fake.client().predict("spam", ["win"])
    error = caught.value
    assert (error.status, error.title, error.detail, error.row, error.column) == (status, "T", "D", 3, "age")
    assert fake.slept == []


def test_a_call_in_flight_is_repeated():
    fake = Fake(problem(409, headers={"retry-after": "1"}), httpx.Response(200, json=LEARNED))
    assert fake.client().learn("spam", ["win"], ["spam"]).mistakes == 1


def test_a_rollback_that_may_have_been_done_is_not_repeated():
    fake = Fake(httpx.ConnectError("refused"), problem(503), httpx.ReadTimeout("slow"))
    with pytest.raises(UnreachableError):
        fake.client().rollback("spam", 3)
    assert len(fake.seen) == 3
    assert Fake(httpx.Response(200, json={"version": 9, "restored": 3})).client().rollback("spam", 3) == 9


def test_the_other_calls():
    fake = Fake(
        httpx.Response(200, json=LEARNED),
        httpx.Response(200, json={"version": 1, "label": "ham", "explanations": []}),
        httpx.Response(200, json={"name": "spam", "oldest": 0}),
    )
    client = fake.client()
    assert client.feedback("spam", "id", "ham").rows == 1
    assert client.explain("spam", {"a": 1}).label == "ham"
    assert client.versions("spam")["oldest"] == 0
    assert json.loads(fake.seen[0].content) == {"id": "id", "label": "ham"}
    assert fake.seen[1].url.params["row"] == '{"a":1}'


def test_a_long_wait_is_left_to_the_caller():
    fake = Fake(problem(429, headers={"retry-after": "3600"}))
    with pytest.raises(CallError, match="429"):
        fake.client().learn("spam", ["win"], ["spam"])
    assert fake.slept == []


def test_an_answer_that_is_no_problem_document_is_told():
    with pytest.raises(CallError, match="502 Bad Gateway: <html>"):
        Fake(httpx.Response(502, text="<html>")).client(attempts=1).models()


ROWS = [{"age": 1.5, "city": "Ulm"}, {"age": 2.0, "city": None}]


@pytest.mark.parametrize(
    "rows, sent",
    [
        (ROWS, ROWS),
        (pl.DataFrame(ROWS), ROWS),
        (pl.DataFrame(ROWS).to_arrow(), ROWS),
        (pd.DataFrame(ROWS).astype(object).where(lambda table: table.notna(), None), ROWS),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ([np.array([1.5, 2.0]), {"a": np.float32(0.5)}], [[1.5, 2.0], {"a": 0.5}]),
        (("a", "b"), ["a", "b"]),
        (iter(["a"]), ["a"]),
    ],
)
def test_rows_of_any_kind(rows, sent):
    fake = Fake(httpx.Response(200, json={"labels": [1], "scores": [0.5], "classes": [1], "version": 1, "new": 1}))
    assert fake.client().predict("m", rows).labels == [1]
    assert json.loads(fake.seen[0].content) == {"rows": sent}


@pytest.mark.parametrize("rows", ["text", {"a": 1}, [[float("nan")]], [[float("inf")]], [{"a": object()}]])
def test_rows_that_cannot_be_sent(rows):
    fake = Fake()
    with pytest.raises(DataTypeError):
        fake.client().predict("m", rows)
    assert fake.seen == []


def test_names_stay_in_the_path():
    fake = Fake(httpx.Response(200, json={"labels": [], "scores": [], "classes": [], "version": 1}))
    fake.client().predict("../a b?", ["x"])
    assert fake.seen[0].url.raw_path == b"/v1/models/..%2Fa%20b%3F/predict"


def test_a_token_is_not_sent_in_the_clear():
    with pytest.raises(ParameterError, match="readable on the way"):
        Client("http://spam.example", token="t")
    for address, options in (
        ("https://spam.example", {}),
        ("http://localhost:8000", {}),
        ("http://spam.example", {"unencrypted": True}),
    ):
        fake = Fake(httpx.Response(200, json={"models": []}))
        with Client(address, "t", transport=httpx.MockTransport(fake), **options) as client:
            assert client.models() == []
        assert fake.seen[0].headers["authorization"] == "Bearer t"


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://x", "http://", ""])
def test_bad_addresses(address):
    with pytest.raises(ParameterError, match="no address"):
        Client(address)


def test_an_export_is_written_whole(tmp_path):
    fake = Fake(httpx.Response(200, content=b"model"), problem(410))
    client = fake.client()
    client.export("spam", tmp_path / "m", version=7)
    assert (tmp_path / "m").read_bytes() == b"model"
    assert fake.seen[0].url.query == b"version=7"
    with pytest.raises(CallError):
        client.export("spam", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == b"model"


def test_ready_or_not():
    assert Fake(httpx.Response(200)).client().is_ready()
    assert not Fake(problem(503)).client().is_ready()
    assert not Fake(httpx.ConnectError("refused")).client().is_ready()


def test_keys_hold_the_time(monkeypatch):
    monkeypatch.setattr("rosenblatt.server.caller.time.time_ns", lambda: 1_700_000_000_123_456_789)
    key = uuid.UUID(new_key())
    assert key.int >> 80 == 1_700_000_000_123
    assert (key.version, key.variant) == (7, uuid.RFC_4122)


def test_the_client_needs_nothing_of_the_server(tmp_path):
    """An installation with httpx alone has no Starlette, no uvicorn and no msgspec."""
    program = """
import sys
for name in ("starlette", "uvicorn", "msgspec"):
    sys.modules[name] = None
import rosenblatt.client
with rosenblatt.client.Client("http://127.0.0.1:1") as client:
    assert not client.is_ready()
assert not any(name.startswith(("starlette.", "uvicorn.", "msgspec.")) for name in sys.modules)
print(rosenblatt.client.new_key())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert uuid.UUID(done.stdout.strip()).version == 7


def test_public_names_are_found_when_they_are_asked_for():
    import rosenblatt.client as public

    assert {*public.__all__} <= {*dir(public)}
    assert all(getattr(public, name).__module__ == "rosenblatt.server.caller" for name in public.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        public.nothing  # noqa: B018


# The client follows from the table of calls: `CALLS`.

ELSEWHERE = {"healthz": "is_running", "readyz": "is_ready"}
"""Calls whose methods have other names."""
OF_THE_CLIENT = {"learn": {"key"}, "export": {"path"}}
"""Parameters that are no part of a request: a header, and where the answer goes."""
GIVEN = {
    "rows": [{"a": 1}],
    "labels": ["ham"],
    "weights": [1.0],
    "remember": True,
    "min_version": 2,
    "id": new_key(),
    "label": "ham",
    "version": 3,
    "versions": [4, {"version": 5, "rows": [0]}],
    "keys": ["k"],
    "row": {"a": 1},
    "last": 7,
}


def calls():
    pytest.importorskip("starlette", reason="the server needs starlette")
    pytest.importorskip("msgspec", reason="the server needs msgspec")
    from rosenblatt.server.application import CALLS

    return CALLS


def parts_of(call):
    """Return the parameters of a call, and which of them it needs."""
    import msgspec

    own = [] if call.request is None else msgspec.structs.fields(call.request)
    needed = {each.name for each in own if each.required}
    named = {"name"} if "{name}" in call.path else set()
    return named | {each.name for each in own} | {each["name"] for each in call.query}, named | needed


def test_every_call_has_a_method_with_its_parameters():
    public = {name for name in vars(Client) if not name.startswith("_")} - {"close"}
    assert public == {ELSEWHERE.get(each.handler.__name__, each.handler.__name__) for each in calls()}
    for call in calls():
        name = call.handler.__name__
        method = getattr(Client, ELSEWHERE.get(name, name))
        found = dict(list(inspect.signature(method).parameters.items())[1:])
        own, needed = parts_of(call)
        assert found.keys() == own | OF_THE_CLIENT.get(name, set()), name
        least = {each for each, parameter in found.items() if parameter.default is inspect.Parameter.empty}
        assert least - OF_THE_CLIENT.get(name, set()) == needed, name
        assert all(each.annotation is not inspect.Parameter.empty for each in found.values()), name


def test_every_method_sends_its_call(tmp_path):
    import msgspec

    for call in calls():
        seen = []

        def answer(request, seen=seen):
            seen.append(request)
            return httpx.Response(200, json={"models": [], "events": [], "version": 1})

        client = Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer))
        name = call.handler.__name__
        own, _ = parts_of(call)
        given = {each: GIVEN[each] for each in own - {"name", "row"} or own - {"name"}}
        more = {"path": tmp_path / "m"} if name == "export" else {}
        with contextlib.suppress(TypeError):  # the answer is not complete
            getattr(client, ELSEWHERE.get(name, name))(*(["spam"] if "name" in own else []), **given, **more)
        [request] = seen
        assert (request.method, request.url.path) == (call.method, call.path.format(name="spam")), name
        if call.request is None:
            assert dict(request.url.params) == {each: str(value) for each, value in given.items()}
        else:
            message = msgspec.json.decode(request.content, type=call.request)
            told = json.loads(msgspec.json.encode(message))
            expected = given | (
                {"versions": [{"version": 4, "rows": None}, given["versions"][1]]} if name == "erase" else {}
            )
            assert told == expected, name


def test_a_row_or_an_id_is_explained():
    with pytest.raises(ParameterError, match="Give one of them"):
        Fake().client().explain("spam")
    with pytest.raises(ParameterError, match="Give one of them"):
        Fake().client().explain("spam", {"a": 1}, id="x")
