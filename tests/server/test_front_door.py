"""Every call over HTTP: who may use it, what hostile requests get, and what documents say."""

from contextlib import closing
from dataclasses import fields

import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.server import administration
from rosenblatt.server.application import Call
from rosenblatt.server.front_door import ALL_CALLS, DOCUMENTS, FrontDoor, access_of
from rosenblatt.server.host import Host
from rosenblatt.server.limits import RequestLimits
from rosenblatt.server.served_model import HOUR_SECONDS, Counts, EventTally
from rosenblatt.server.tokens import TokenFile, read_grants
from tests.shared.serving import learn, save_models, serving

SCOPES = ("predict", "learn", "admin")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def client(sources, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "data", sources) as client:
        yield client


def filled(path, model="spam"):
    return path.replace("{name}", model).replace("{version}", "0")


@pytest.fixture(scope="module")
def guarded(sources, tmp_path_factory):
    """A server with a token for each scope, for all models, for ours and for another one."""
    folder = tmp_path_factory.mktemp("guarded") / "data"
    now = [1e9]
    tokens = TokenFile(folder, clock=lambda: now[0])
    secrets = {"expired": tokens.create("expired", read_grants(SCOPES), days=1)[1]}
    now[0] = 2e9
    for scope in SCOPES:
        for model in ("", ":spam", ":places"):
            secrets[scope + model] = tokens.create(scope + model, read_grants([scope + model]))[1]
    with serving(folder, sources) as client:
        yield client, secrets


CALLS = [(call.method, call.path, call.scope) for call in ALL_CALLS] + [("GET", path, "any") for path in DOCUMENTS]


@pytest.mark.parametrize("method, path, scope", CALLS)
def test_every_call_with_every_token(guarded, method, path, scope):
    client, secrets = guarded
    assert access_of(filled(path)).scope == scope
    of_a_model = "{name}" in path

    def status(secret):
        headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
        return client.request(
            method, filled(path), headers=headers, **({"json": {}} if method == "POST" else {})
        ).status_code

    refused = {401} if scope is not None else {200}
    assert {status(each) for each in (None, "", "wrong", secrets["expired"])} == refused
    for word, secret in secrets.items():
        if word == "expired":
            continue
        given, _, model = word.partition(":")
        allowed = scope is None or (scope in ("any", given) and (not of_a_model or model in ("", "spam")))
        if allowed:
            assert status(secret) not in (401, 403), word
        else:
            assert status(secret) == 403, word


def test_a_token_shows_only_its_models(guarded):
    client, secrets = guarded
    headers = {"authorization": f"Bearer {secrets['predict:spam']}"}
    assert [each["name"] for each in client.get("/v1/models", headers=headers).json()["models"]] == ["spam"]
    figures = client.get("/metrics", headers=headers).text
    assert 'model="spam"' in figures
    assert "places" not in figures
    absent = client.post("/v1/models/absent/predict", json={"rows": ["a"]}, headers=headers)
    assert absent.status_code == 403  # not 404: names of models are not told to those who may not see them


def test_the_guard_knows_every_route(sources, tmp_path):
    with closing(Host(tmp_path / "data", sources)) as host:
        paths = [route.path for route in FrontDoor().behind(host, 8000).app.routes]
    assert len(paths) == len(CALLS)
    assert [access_of(filled(path)).call for path in paths] == paths


def test_a_call_without_a_scope_is_none():
    for each in ALL_CALLS:
        values = {field.name: getattr(each, field.name) for field in fields(each) if field.name != "scope"}
        with pytest.raises(TypeError, match="scope"):
            Call(**values)


@pytest.mark.parametrize("method, path, scope", CALLS)
def test_no_page_of_another_site_may_call(client, method, path, scope):
    more = {"json": {}} if method == "POST" else {}
    for origin in ("http://evil.example", "null", "https://localhost:8000", "http://localhost:8001"):
        assert client.request(method, filled(path), headers={"origin": origin}, **more).status_code == 403
    for host in ("evil.example", "evil.example:8000", "localhost", "127.0.0.1.evil.example:8000"):
        assert client.request(method, filled(path), headers={"host": host}, **more).status_code == 421
    answer = client.request(method, filled(path), headers={"origin": "http://localhost:8000"}, **more)
    assert answer.status_code not in (403, 421)
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert client.options(filled(path)).status_code in (405, 415)


POSTS = [path for method, path, _ in CALLS if method == "POST"]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "content, headers, status",
    [
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", {"content-type": "application/x-www-form-urlencoded"}, 415),
        (b"{}", {}, 415),
        (b"{}", {"content-type": "application/json", "content-encoding": "gzip"}, 415),
        (b"{}", {"content-type": "application/json", "content-encoding": "br"}, 415),
        (b"", {"content-type": "application/json"}, 400),
        (b"\xff\xfe", {"content-type": "application/json"}, 400),
        (b"[" * 200_000, {"content-type": "application/json"}, 422),
        (b'{"a":' * 200_000, {"content-type": "application/json"}, 422),
        (b"[]", {"content-type": "application/json"}, 422),
        (b"null", {"content-type": "application/json"}, 422),
        (b'{"unknown_field": 1e999}', {"content-type": "application/json"}, 422),
        (b" " * 5_000_000, {"content-type": "application/json"}, 413),
    ],
)
def test_hostile_bodies(client, path, content, headers, status):
    answer = client.post(filled(path), content=content, headers=headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, -1])
def test_numbers_that_no_journal_holds(sources, tmp_path, number):
    with serving(tmp_path / "data", sources, grow=True) as client:
        for call, body in (
            ("rollback", {"version": number}),
            ("erase", {"versions": [{"version": number}]}),
            ("predict", {"rows": [[0.0, 0.0]], "min_version": number}),
        ):
            assert client.post(f"/v1/models/places/{call}", json=body).status_code == 422
        assert learn(client, "places", [[0.0, 0.0]], [number]).status_code == (200 if number == -1 else 422)
        assert learn(client, "places", [[number, 0.0]], [1]).status_code in (200, 422)
        assert client.get(f"/v1/models/places/events?last={'9' * 5000}").status_code == 422
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("row", [{"age": "old", "city": "Ulm"}, {"age": "", "city": "Ulm"}, ["old", "Ulm"]])
def test_a_word_for_a_number(client, row):
    answer = client.post("/v1/models/people/predict", json={"rows": [row]})
    assert answer.status_code == 422
    assert answer.json()["row"] == 0
    assert answer.json()["column"] == ("age" if isinstance(row, dict) else "x1")


def test_a_value_is_refused_with_its_place(client):
    before = client.get("/v1/models/people").json()["version"]
    rows = [{"age": 1.0, "city": "Ulm"}, {"age": "old", "city": "Ulm"}]
    answer = learn(client, "people", rows, ["a", "b"])
    assert answer.status_code == 422
    assert (answer.json()["row"], answer.json()["column"]) == (1, "age")
    assert client.get("/v1/models/people").json()["version"] == before


def test_too_many_rows_or_values(sources, tmp_path):
    with serving(tmp_path / "data", sources, limits=RequestLimits(rows=2, features=3)) as client:
        three = [[0.0, 0.0]] * 3
        assert client.post("/v1/models/places/predict", json={"rows": three}).status_code == 413
        wide = client.post("/v1/models/places/predict", json={"rows": [[0.0, 0.0], [0.0] * 4]})
        assert (wide.status_code, wide.json()["row"]) == (422, 1)
        tensor = {"name": "input", "shape": [3, 2], "datatype": "FP64", "data": [0.0] * 6}
        assert client.post("/v2/models/places/infer", json={"inputs": [tensor]}).status_code == 413


def test_too_many_classes(sources, tmp_path):
    with serving(tmp_path / "data", sources, grow=True, limits=RequestLimits(classes=4)) as client:
        assert learn(client, "places", [[5.0, 5.0]], [3]).status_code == 200
        refused = learn(client, "places", [[6.0, 6.0]], [4])
        assert (refused.status_code, refused.json()["limit"]) == (422, 4)
        assert learn(client, "places", [[5.0, 5.0]], [3]).status_code == 200


def test_too_many_new_features(tmp_path):
    grown = rb.Perceptron()
    for row, label in (({"a": 1.0}, "x"), ({"b": 1.0}, "y")):
        grown.learn_one(row, label)
    rb.save(grown, tmp_path / "m.model")
    with serving(tmp_path / "data", {"m": tmp_path / "m.model"}, limits=RequestLimits(new_features=3)) as client:
        assert learn(client, "m", [{"c": 1.0, "d": 2.0}], ["x"]).status_code == 200
        late = learn(client, "m", [{"e": 1.0, "f": 1.0}], ["x"])
        assert late.status_code == 429
        assert int(late.headers["retry-after"]) > 3600
        assert learn(client, "m", [{"a": 1.0, "c": 1.0}], ["x"]).status_code == 200
        assert learn(client, "m", [{"g": 1.0}], ["y"]).status_code == 200
        assert client.get("/v1/models/m").json()["n_features"] == 5
    with serving(tmp_path / "data", {}, limits=RequestLimits(new_features=3)) as client:
        assert learn(client, "m", [{"h": 1.0}], ["y"]).status_code == 429
    with serving(tmp_path / "data", {}, limits=RequestLimits(new_features=4), snapshot_every=1) as client:
        assert learn(client, "m", [{"h": 1.0}], ["y"]).status_code == 200
        client.host.close()  # which waits for the snapshot
    with serving(tmp_path / "data", {}, limits=RequestLimits(new_features=4)) as client:
        assert client.host.models["m"].tally.counts().met[0][1] == 4
        assert learn(client, "m", [{"i": 1.0}], ["y"]).status_code == 429


def test_long_names_of_new_features_are_refused(tmp_path):
    grown = rb.Perceptron()
    for row, label in (({"a": 1.0}, "x"), ({"b": 1.0}, "y")):
        grown.learn_one(row, label)
    rb.save(grown, tmp_path / "m.model")
    with serving(tmp_path / "data", {"m": tmp_path / "m.model"}) as client:
        long = learn(client, "m", [{"c" * 1001: 1.0}], ["x"])
        assert (long.status_code, long.json()["limit"]) == (422, 1000)
        assert learn(client, "m", [{"c" * 1000: 1.0}], ["x"]).json()["version"] == 1


def test_new_features_of_tomorrow_do_not_count():
    """The clock was wrong, and was set back."""
    tally = EventTally(Counts())
    tally.meet(9000 * HOUR_SECONDS, 3)
    assert tally.met(1000 * HOUR_SECONDS)[0] == 0
    tally.meet(1000 * HOUR_SECONDS, 2)
    assert tally.met(1000 * HOUR_SECONDS + 1)[0] == 2
    assert tally.counts().met == [(1000, 2)]


def test_new_features_of_yesterday_do_not_count():
    tally = EventTally(Counts())
    tally.meet(1000 * HOUR_SECONDS + 5.0, 3)
    tally.meet(1023 * HOUR_SECONDS, 2)
    assert tally.met(1024 * HOUR_SECONDS) == (5, HOUR_SECONDS)
    assert tally.met(1025 * HOUR_SECONDS) == (2, 23 * HOUR_SECONDS)
    tally.meet(1100 * HOUR_SECONDS, 1)
    assert tally.counts().met == [(1100, 1)]
    assert EventTally(tally.counts()).met(1100 * HOUR_SECONDS)[0] == 1


def test_a_rate_is_kept(sources, tmp_path):
    with serving(tmp_path / "data", sources, limits=RequestLimits(rate=0.001)) as client:
        assert client.get("/v1/models").status_code == 200
        late = client.get("/v1/models")
        assert late.status_code == 429
        assert int(late.headers["retry-after"]) > 900
        assert client.get("/healthz").status_code == 200


def test_paths_and_methods_that_there_are_not(client):
    for path in ("/nothing", "/v1", "/v1/models/spam/nothing", "/v3/models"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    answer = client.get("/v1/models/spam/predict")
    assert (answer.status_code, answer.headers["allow"], answer.json()["status"]) == (405, "POST", 405)
    assert client.get("/v1/models/absent").status_code == 404


def test_a_defect_is_told_without_its_details(sources, tmp_path, monkeypatch):
    with serving(tmp_path / "data", sources) as client:
        monkeypatch.setattr(client.host, "describe", lambda name: 1 / 0)
        answer = client.get("/v1/models/spam")
        assert answer.status_code == 500
        assert "Zero" not in answer.text


def test_a_defect_concerns_its_own_request_only(sources, tmp_path, monkeypatch):
    with serving(tmp_path / "data", sources) as client:
        with monkeypatch.context() as patch:
            patch.setattr(client.host.models["places"], "accept", lambda *_: 1 / 0)
            assert learn(client, "places", [[0.0, 0.0]], [0]).status_code == 500
        with monkeypatch.context() as patch:
            patch.setattr(administration, "History", lambda *_: 1 / 0)
            assert client.post("/v1/models/places/rollback", json={"version": 0}).status_code == 500
        assert learn(client, "places", [[0.0, 0.0]], [0]).json()["version"] == 1


def test_a_defect_after_a_commit_ends_all(sources, tmp_path, monkeypatch):
    with serving(tmp_path / "data", sources) as client:
        monkeypatch.setattr(client.host.models["places"], "restore", lambda _: 1 / 0)
        assert client.post("/v1/models/places/rollback", json={"version": 0}).status_code == 503
        assert client.get("/readyz").status_code == 503


def test_strangers_are_let_in_only_with_tokens_and_tls(sources, tmp_path):
    folder = tmp_path / "data"
    for door in (FrontDoor(address="0.0.0.0"), FrontDoor(address="192.168.1.2", without_tls=True)):
        with pytest.raises(ParameterError, match="without tokens"), serving(folder, sources, door):
            pass
    _, secret = TokenFile(folder).create("t", read_grants(["predict"]))
    with (
        pytest.raises(ParameterError, match="without TLS"),
        serving(folder, sources, FrontDoor(address="0.0.0.0")),
    ):
        pass
    with pytest.raises(ParameterError, match="certificate and key"):
        FrontDoor(certificate="cert.pem")
    door = FrontDoor(address="0.0.0.0", without_tls=True, names=("models.example",))
    with serving(folder, sources, door) as client:
        headers = {"host": "models.example", "origin": "https://models.example"}
        assert client.get("/v1/models", headers=headers).status_code == 401
        headers["authorization"] = f"Bearer {secret}"
        assert client.get("/v1/models", headers=headers).status_code == 200
