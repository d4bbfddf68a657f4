"""Further processes predict what the writer has learned, and pass everything else on to it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from queue import Queue

import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.server.messages import new_id
from rosenblatt.server.processes import Follower, Workers, bind
from tests.server.serving import calling, saved, table, trained
from tests.shared.killing import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="workers share Unix sockets, which Windows lacks"),
]


@pytest.fixture(scope="module")
def model():
    return trained(rb.Perceptron(average=True))


def test_a_follower_has_every_version(model, tmp_path):
    import asyncio

    X, y = table(20, seed=2)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), snapshot_every=6, keep=8) as server:
            follower = Follower(tmp_path / "data")
            served = follower.models["m"]
            for step, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
                await server.learn([x.tolist()], [label])
                if step == 9:
                    await server.post("rollback", {"version": 5})
                if step == 14:
                    await server.post("erase", {"versions": [{"version": 14}]})
                if step % 4 == 3 or step in (9, 14):
                    follower.catch_up(served)
                    expected = server.host.models["m"].newest()
                    assert served.version == expected.version
                    assert served.newest().digest() == expected.digest()
            follower.close()

    asyncio.run(scenario())


@pytest.fixture
def listening():
    with socket.socket() as found:
        yield found


def test_a_process_that_ends_is_replaced(listening):
    failures = []
    workers = Workers(2, [sys.executable, "-c", "import sys; sys.stdin.read()"], listening, failures.append)
    first, other = workers.processes
    first.kill()
    while workers.processes[0] is first:
        time.sleep(0.01)
    assert workers.processes[0].poll() is None
    assert workers.processes[1] is other
    assert other.poll() is None
    workers.end()
    assert [each.returncode for each in workers.processes] == [0, 0]
    assert not failures


def test_processes_that_cannot_start_end_the_server(listening):
    failures = Queue()
    workers = Workers(1, [sys.executable, "-c", "raise SystemExit(7)"], listening, failures.put)
    assert "3 processes that predict ended soon after their start, with code 7" in failures.get()
    workers.end()


def test_a_start_that_fails_is_tried_again(listening, monkeypatch):
    failures = []
    workers = Workers(1, [sys.executable, "-c", "import sys; sys.stdin.read()"], listening, failures.append)
    [first] = workers.processes
    start, tries = workers._started, []

    def failing_once():
        tries.append(1)
        if len(tries) == 1:
            raise OSError(12, "Cannot allocate memory")
        return start()

    monkeypatch.setattr(workers, "_started", failing_once)
    first.kill()
    while workers.processes[0] is first:
        time.sleep(0.01)
    workers.end()
    assert (len(tries), failures) == (2, [])


def test_a_port_that_becomes_free_is_taken():
    """Workers of a server that was killed hold it for a moment."""
    old, waited = socket.create_server(("127.0.0.1", 0)), []
    port = old.getsockname()[1]

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            old.close()

    with socket.socket() as new:
        bind(new, "127.0.0.1", port, sleep)
        assert len(waited) == 3
        new.listen()
        with socket.socket() as another, pytest.raises(ParameterError, match=f"another program uses .* {port}"):
            bind(another, "127.0.0.1", port, waited.append)


def call(port, method, path, body=None, key=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if response.headers["content-type"].endswith(
            "json"
        ) else content
    finally:
        connection.close()


def test_workers(model, tmp_path):
    saved(model, tmp_path)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        "-m",
        "rosenblatt",
        "serve",
        str(tmp_path / "m.model"),
        "--data",
        str(tmp_path / "d"),
    ]
    process = subprocess.Popen(
        [*command, "--port", "0", "--workers", "2"], env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        port = int(process.stderr.readline().split(":")[2].split(";")[0])
        row = [1.0, -1.0, 0.5, 2.0]
        plain = rb.load(tmp_path / "m.model")
        for version in range(1, 31):  # processes take connections in turn, and each answers alike
            key, body = str(new_id()), {"rows": [row], "labels": ["abc"[version % 3]]}
            assert call(port, "POST", "/v1/models/m/learn", body, key)[1]["version"] == version
            plain.learn_one(__import__("numpy").array(row), body["labels"][0])
            asked = {"rows": [row], "min_version": version}
            status, told = call(port, "POST", "/v1/models/m/predict", asked)
            assert (status, told["version"]) == (200, version)
            assert told["scores"] == plain.decision_function([row]).tolist()
            assert call(port, "GET", "/v1/models/m")[1]["version"] == version
        status, told = call(port, "POST", "/v1/models/m/predict", {"rows": [row], "remember": True})
        assert (status, len(told["ids"])) == (200, 1)
        assert call(port, "GET", "/v1/models/m/export")[1][8:9] == b"{"
        assert call(port, "GET", "/none")[0] == 404
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        time.sleep(0.1)
        with pytest.raises(OSError):
            call(port, "GET", "/healthz")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
