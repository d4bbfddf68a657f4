"""Figures are in the format of Prometheus, and count what happened."""

import io
import json
import re

from rosenblatt.server.front_door import access_of
from rosenblatt.server.guard import RequestNote
from rosenblatt.server.metrics import TIME_BOUNDS_SECONDS, Metrics, RequestLog, exposition
from tests.shared.serving import learn, save_models, serving

SAMPLE = re.compile(
    r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)'  # name, labels, value
)


def read(text):
    """Return all samples by name and labels; every line must follow the grammar."""
    kinds, found = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            family = re.sub(r"_(bucket|sum|count)$", "", name) if name not in kinds else name
            assert family in kinds, line
            assert (name, labels) not in found
            found[name, labels or ""] = float(value)
    assert text.endswith("\n")
    return found


def note(seconds, status=200, path="/v1/models/m/predict"):
    return RequestNote(access_of(path), "POST", status=status, seconds=seconds, received=10, sent=20)


def test_requests_are_counted(tmp_path):
    metrics = Metrics(tmp_path)
    for seconds in (0.0001, 0.0005, 0.0006, 0.3, 50.0):
        metrics(note(seconds))
    metrics(note(0.1, 422))
    found = read(exposition(metrics.families()))
    call = 'call="/v1/models/{name}/predict"'
    assert found["rosenblatt_requests_total", call + ',status="200"'] == 5
    assert found["rosenblatt_requests_total", call + ',status="422"'] == 1
    counts = [
        found["rosenblatt_request_seconds_bucket", f'{call},le="{bound:g}"'] for bound in TIME_BOUNDS_SECONDS
    ]
    assert counts == [2, 3, 3, 3, 3, 3, 3, 4, 4, 5]
    assert found["rosenblatt_request_seconds_bucket", call + ',le="+Inf"'] == 6
    assert found["rosenblatt_request_seconds_count", call] == 6
    assert abs(found["rosenblatt_request_seconds_sum", call] - 50.4012) < 1e-9
    assert found["rosenblatt_received_bytes_total", ""] == 60
    assert found["rosenblatt_sent_bytes_total", ""] == 120


def test_processes_are_added_up(tmp_path):
    (tmp_path / "worker-1.figures").write_text("left by an earlier server")
    writer, worker = Metrics(tmp_path), Metrics(tmp_path)
    writer.begin()
    writer(note(0.25))
    worker(note(0.25))
    worker(note(0.5, 422, "/v1/models/m/explain"))
    passed = note(0.5, 200)
    passed.passed_on = True
    worker(passed)
    worker.leave()
    (left,) = tmp_path.glob("*.figures")
    status = left.stat()
    worker.leave()
    assert left.stat().st_ino == status.st_ino  # nothing changed, so nothing is written
    found = read(exposition(writer.families()))
    assert found["rosenblatt_requests_total", 'call="/v1/models/{name}/predict",status="200"'] == 2
    assert found["rosenblatt_requests_total", 'call="/v1/models/{name}/explain",status="422"'] == 1
    assert found["rosenblatt_request_seconds_sum", 'call="/v1/models/{name}/predict"'] == 0.5
    assert found["rosenblatt_received_bytes_total", ""] == 30
    assert read(exposition(writer.families())).keys() == found.keys()


def test_models_are_counted(tmp_path):
    with serving(tmp_path / "data", save_models(tmp_path)) as client:
        learn(client, "spam", ["win", "lunch", "prize"], ["spam", "ham", "ham"])
        told = client.get("/v1/models/spam").json()
        answer = client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = read(answer.text)
        assert found["rosenblatt_model_rows_total", 'model="spam"'] == 3 == told["rows_learned"]
        assert found["rosenblatt_model_mistakes_total", 'model="spam"'] == told["mistakes"]
        assert found["rosenblatt_model_version", 'model="spam"'] == told["version"] == 1
        assert found["rosenblatt_model_rows_total", 'model="places"'] == 0
        assert found["rosenblatt_ready", ""] == 1
        client.host.failure = "the disk failed"
        assert read(client.get("/metrics").text)["rosenblatt_ready", ""] == 0
        for path in ("/readyz", "/v2/health/ready"):
            assert client.get(path).status_code == 503
        assert client.get("/healthz").status_code == client.get("/v2/health/live").status_code == 200


def test_the_log_has_lines_of_json_without_data():
    stream = io.StringIO()
    log = RequestLog(stream=stream, clock=lambda: 5.0)
    log(note(0.25))
    assert stream.getvalue() == ""
    log(note(0.25, 422))
    log(note(0.25, 401, "/secret/path"))
    log(note(0.25, 200, "/v1/models/spam/rollback"))
    log(note(0.25, 421, "/healthz"))
    strange = note(0.1, 405)
    strange.method = "SECRET"
    log(strange)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(each["call"], each["status"]) for each in lines] == [
        ("/v1/models/{name}/predict", 422),
        ("other", 401),
        ("/v1/models/{name}/rollback", 200),
        ("/v1/models/{name}/predict", 405),
    ]
    assert lines[0]["ms"] == 250.0
    assert lines[2]["model"] == "spam"
    assert lines[3]["method"] == "other"
    assert "secret" not in stream.getvalue().lower()
    RequestLog(stream=stream, every=True)(note(0.25))
    assert stream.getvalue().count("\n") == 5
