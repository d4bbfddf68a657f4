"""The guard refuses what no client of ours sends, before the application sees anything of it."""

import asyncio
import base64
import json
from dataclasses import replace

import pytest

from rosenblatt.server.front_door import access_of
from rosenblatt.server.guard import Guard, RateLimit, Rules
from rosenblatt.server.messages import RequestError
from rosenblatt.server.tokens import TokenFile, TokenWatch, read_grants
from tests.shared.virtual_time import run

HOST = b"localhost:8000"
RULES = Rules(
    access_of=access_of,
    hosts=frozenset({HOST}),
    origins=frozenset({b"http://localhost:8000"}),
    body_bytes=100,
    body_seconds=5.0,
)


class Echo:
    """An application that answers with the body it was given, and counts how often it was asked."""

    def __init__(self, problem=None):
        self.asked, self.problem = [], problem

    async def __call__(self, scope, receive, send):
        message = {"body": b""} if scope["method"] == "GET" else await receive()
        self.asked.append(message["body"])
        if self.problem is not None:
            raise self.problem
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"]})


class Answer:
    def __init__(self, messages, seconds):
        self.status = messages[0]["status"]
        self.headers = {}
        for name, value in messages[0]["headers"]:
            self.headers.setdefault(name.decode(), []).append(value.decode())
        self.body = b"".join(each.get("body", b"") for each in messages[1:])
        self.seconds = seconds

    @property
    def problem(self):
        assert self.headers["content-type"] == ["application/problem+json"]
        found = json.loads(self.body)
        assert found["status"] == self.status
        return found


def ask(guard, method="POST", path="/v1/models/m/predict", body=(b"{}",), waits=(), **headers):
    """Send a request whose body comes in parts, with waits before them; None waits for ever."""
    given = {"host": HOST, "content-type": b"application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.encode(), value) for name, value in given.items() if value is not None],
        "client": ("127.0.0.1", 5),
    }
    parts = list(body)
    delays = list(waits) + [0.0] * (len(parts) + 1)

    async def receive():
        delay = delays.pop(0)
        await (asyncio.Event().wait() if delay is None else asyncio.sleep(delay))
        if not parts:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    sent = []

    async def send(message):
        sent.append(message)

    _, seconds = run(guard(scope, receive, send))
    return Answer(sent, seconds)


def test_a_plain_request_gets_through_with_safe_headers():
    app = Echo()
    answer = ask(Guard(app, RULES), body=(b'{"a"', b":1}"))
    assert (answer.status, answer.body, app.asked) == (200, b'{"a":1}', [b'{"a":1}'])
    assert answer.headers["x-content-type-options"] == ["nosniff"]
    assert answer.headers["content-security-policy"] == ["default-src 'none'; frame-ancestors 'none'"]
    assert answer.headers["cache-control"] == ["no-store"]
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert "strict-transport-security" not in answer.headers
    tls = replace(RULES, tls=True)
    assert "strict-transport-security" in ask(Guard(Echo(), tls)).headers


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"host": b"evil.example"}, 421),
        ({"host": b"localhost:8000.evil.example"}, 421),
        ({"host": b"localhost"}, 421),
        ({"host": None}, 421),
        ({"host": b"LOCALHOST:8000"}, 200),
        ({"origin": b"http://localhost:8000"}, 200),
        ({"origin": b"http://evil.example"}, 403),
        ({"origin": b"https://localhost:8000"}, 403),
        ({"origin": b"null"}, 403),
        ({"origin": b""}, 403),
        ({"content_type": b"text/plain"}, 415),
        ({"content_type": b"application/x-www-form-urlencoded"}, 415),
        ({"content_type": b"multipart/form-data; boundary=x"}, 415),
        ({"content_type": None}, 415),
        ({"content_type": b"application/json; charset=latin-1"}, 415),
        ({"content_type": b'Application/JSON ; charset="UTF-8"'}, 200),
        ({"content_encoding": b"gzip"}, 415),
        ({"content_encoding": b"identity"}, 200),
        ({"content_length": b"101"}, 413),
        ({"content_length": b"-1"}, 413),
        ({"content_length": b"2"}, 200),
    ],
)
def test_hosts_origins_types_and_sizes(headers, status):
    app = Echo()
    answer = ask(Guard(app, RULES), **headers)
    assert answer.status == status
    assert len(app.asked) == (status == 200)
    if status != 200:
        assert answer.problem["title"]
    if status in (413, 415):
        assert answer.headers["connection"] == ["close"]


def test_a_page_of_another_site_may_not_even_read():
    assert ask(Guard(Echo(), RULES), "GET", "/v1/models/m/export", origin=b"http://evil.example").status == 403
    assert ask(Guard(Echo(), RULES), "GET", "/v1/models/m/export", host=b"evil.example").status == 421


def test_bytes_are_counted_as_they_are_read():
    """The length may be a lie, or absent: what counts is what arrives, and no more is read than the limit."""
    parts = [b"x" * 60] * 10
    answer = ask(Guard(Echo(), RULES), body=parts, content_length=b"10")
    assert answer.status == 413
    assert answer.problem["limit"] == 100
    notes = []
    ask(Guard(Echo(), RULES, observers=(notes.append,)), body=parts)
    assert notes[0].received == 120
    assert ask(Guard(Echo(), RULES), body=(b"x" * 100,)).status == 200


def test_a_slow_body_ends_at_the_deadline():
    answer = ask(Guard(Echo(), RULES), body=[b" "] * 20, waits=[1.0] * 20)
    assert (answer.status, answer.seconds) == (408, 5.0)
    answer = ask(Guard(Echo(), RULES), body=(b"{", b"}"), waits=[0.0, None])
    assert (answer.status, answer.seconds) == (408, 5.0)
    assert ask(Guard(Echo(), RULES), body=(b"{", b"}"), waits=[2.0, 2.9]).status == 200


def test_a_body_cut_off_is_not_answered_by_the_application():
    app = Echo()
    assert ask(Guard(app, RULES), body=()).status == 400
    assert app.asked == []


def test_a_problem_of_the_application_is_told():
    answer = ask(Guard(Echo(RequestError(422, "No.", title="Bad row", row=3, column="age")), RULES))
    assert answer.problem == {
        "type": "about:blank",
        "title": "Bad row",
        "status": 422,
        "detail": "No.",
        "code": "unusable",
        "row": 3,
        "column": "age",
    }
    late = ask(Guard(Echo(RequestError(503, "Wait.", title="Full", retry_after=7)), RULES))
    assert late.headers["retry-after"] == ["7"]


def test_too_many_requests():
    now = [0.0]
    guard = Guard(Echo(), RULES, rate=RateLimit(0.5, 2, ticks=lambda: now[0]))
    assert [ask(guard).status for _ in range(3)] == [200, 200, 429]
    assert ask(guard).headers["retry-after"] == ["2"]
    assert ask(guard, "GET", "/healthz").status == 200
    now[0] = 2.0
    assert [ask(guard).status for _ in range(2)] == [200, 429]


def test_refused_tokens_count_too(tmp_path):
    file = TokenFile(tmp_path)
    _, secret = file.create("t", read_grants(["predict"]))
    guard = Guard(Echo(), RULES, tokens=TokenWatch(file), rate=RateLimit(0.5, 2, ticks=lambda: 0.0))
    assert [ask(guard, authorization=b"Bearer %d" % k).status for k in range(4)] == [401, 401, 429, 429]
    assert ask(guard, host=b"evil.example").status == 429
    assert ask(guard, authorization=b"Bearer " + secret.encode()).status == 200  # a caller of its own


def test_long_headers_that_arrive_at_once_are_refused():
    app = Echo()
    answer = ask(Guard(app, RULES), x=b"a" * 20_000)
    assert (answer.status, answer.problem["limit"]) == (400, 16_384)
    assert ask(Guard(app, RULES), path="/" + "a" * 20_000).status == 400
    assert app.asked == []
    assert ask(Guard(app, RULES), x=b"a" * 16_000).status == 200


def test_websockets_are_closed():
    sent = []

    async def send(message):
        sent.append(message)

    run(Guard(Echo(), RULES)({"type": "websocket", "path": "/"}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


PATHS = {
    "/v1/models/m/predict": "predict",
    "/v1/models/m/explain": "predict",
    "/v1/models/m/learn": "learn",
    "/v1/models/m/feedback": "learn",
    "/v1/models/m/versions": "any",
    "/v1/models/m": "any",
    "/v1/models/m/rollback": "admin",
    "/v1/models/m/export": "admin",
    "/v1/models/m/erase": "admin",
    "/v1/models/m/anything": "admin",
    "/v1/models/m/learn/": "learn",
    "/v2/models/m": "any",
    "/v2/models/m/ready": "any",
    "/v2/models/m/versions/3": "any",
    "/v2/models/m/versions/3/infer": "predict",
    "/v2/models/m/infer": "predict",
    "/v2/models/m/other": "admin",
    "/v1/models": "any",
    "/v2": "any",
    "/": "any",
    "/docs": "any",
    "/openapi.json": "any",
    "/metrics": "any",
    "/nothing": "any",
    "//healthz": "any",
    "/healthz/": "any",
    "/healthz": None,
    "/readyz": None,
    "/v2/health/live": None,
    "/v2/health/ready": None,
}


@pytest.fixture(scope="module")
def holders(tmp_path_factory):
    now = [0.0]
    file = TokenFile(tmp_path_factory.mktemp("data"), clock=lambda: now[0])
    words = ("predict", "learn", "admin", "predict:m", "learn:m", "admin:m", "predict:x", "admin:x")
    return now, file, {word: file.create(word, read_grants([word]), days=1)[1] for word in words}


@pytest.mark.parametrize("path, needs", PATHS.items())
def test_each_path_needs_its_scope(path, needs, holders):
    now, file, secrets = holders
    now[0] = 0.0
    app = Echo()
    guard = Guard(app, RULES, tokens=TokenWatch(file, ticks=lambda: 0.0))

    def status(secret):
        return ask(guard, path=path, authorization=None if secret is None else b"Bearer " + secret.encode()).status

    anyone = needs is None
    assert access_of(path).scope == needs
    assert status(None) == status("wrong") == status("") == (200 if anyone else 401)
    for word, secret in secrets.items():
        scope, _, model = word.partition(":")
        names_it = access_of(path).model is None or model in ("", "m")
        allowed = anyone or (names_it and needs in (scope, "any"))
        assert status(secret) == (200 if allowed else 403), word
    before = len(app.asked)
    now[0] = 86_400.0
    assert {status(secret) for secret in secrets.values()} == {200 if anyone else 401}
    assert (len(app.asked) > before) == anyone


def test_a_browser_may_read_with_the_token_as_password_but_change_nothing(tmp_path):
    file = TokenFile(tmp_path)
    _, secret = file.create("t", read_grants(["predict", "learn", "admin"]))
    guard = Guard(Echo(), RULES, tokens=TokenWatch(file))
    basic = b"Basic " + base64.b64encode(b"me:" + secret.encode())
    assert ask(guard, "GET", "/", authorization=basic).status == 200
    assert ask(guard, "POST", "/v1/models/m/learn", authorization=basic).status == 401
    assert ask(guard, "GET", "/", authorization=b"Basic !!!").status == 401
    refused = ask(guard, "GET", "/")
    assert any("Basic" in each for each in refused.headers["www-authenticate"])
    assert not any("Basic" in each for each in ask(guard).headers["www-authenticate"])


def test_notes_hold_nothing_of_the_content():
    notes = []
    guard = Guard(Echo(), RULES, observers=(notes.append,), ticks=iter(range(9)).__next__)
    ask(guard, path="/v1/models/secret/predict", body=(b"secret",), cookie=b"secret")
    ask(guard, path="/secret", body=(b"secret",), host=b"secret")
    first, second = notes
    assert (first.status, first.received, first.sent, first.seconds) == (200, 6, 6, 1)
    assert first.access.call == "/v1/models/{name}/predict"
    assert (second.access.call, second.status, second.problem) == ("other", 421, "Unknown host")
    assert "secret" not in repr(second)
