"""A disk that fails or is full: nothing is acknowledged that is not there, and the answer comes after fsync."""

import asyncio
import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from rosenblatt.server.journal import JOURNAL, Journal
from rosenblatt.server.messages import new_id
from tests.server.killing import PROBE, make_model
from tests.shared.killing import ROOT

pytestmark = pytest.mark.slow

LINUX = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None,
    reason="faults are injected by a library that gcc builds on Linux",
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = ROOT / "tests" / "faults" / "shim.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


class Served:
    """A server in a process of its own."""

    def __init__(self, folder, *before, fault="", preload=None):
        self.folder = folder
        make_model(folder / "m.model")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path, "FAULT": fault}
        if preload is not None:
            environment["LD_PRELOAD"] = str(preload)
        command = [*before, sys.executable, "-m", "tests.server.faulty", str(folder), str(self.port)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def call(self, method, path, body=None, key=None):
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def learn(self, key=None):
        body = {"rows": PROBE, "labels": ["a"]}
        return self.call("POST", "/v1/models/m/learn", body, key or str(new_id()))

    def acknowledged(self):
        journal = Journal(self.folder / "data" / JOURNAL)
        try:
            return [event.seq for some in journal.events(1, 0, 10**9) for event in some]
        finally:
            journal.close()


@LINUX
@pytest.mark.parametrize(
    "call, code",
    [
        ("fsync", errno.EIO),
        pytest.param("write", errno.EIO, marks=pytest.mark.slow),
        pytest.param("fsync", errno.ENOSPC, marks=pytest.mark.slow),
    ],
)
def test_a_disk_that_fails_ends_the_server(tmp_path, shim, call, code):
    """The third commit fails; the server acknowledges nothing more and ends. All it acknowledged is there."""
    with Served(tmp_path, fault=f"{call} {code}", preload=shim) as served:
        told = [served.learn()[0] for _ in range(2)]
        served.process.send_signal(signal.SIGUSR1)
        while not (tmp_path / "failing").exists():
            time.sleep(0.01)
        told.append(served.learn()[0])
        assert told == [200, 200, 503]
        try:
            ready = served.call("GET", "/readyz")[0]
        except OSError:
            ready = 503  # it has ended already
        assert ready == 503
        assert served.process.wait(timeout=60) == 1
        assert served.acknowledged()[:2] == [1, 2]


@LINUX
def test_a_full_disk_is_survived(tmp_path, shim):
    """Writing fails for lack of space: 503, predictions go on, and learning does once there is room again."""
    with Served(tmp_path, fault=f"write {errno.ENOSPC}", preload=shim) as served:
        assert served.learn()[0] == 200
        served.process.send_signal(signal.SIGUSR1)
        while not (tmp_path / "failing").exists():
            time.sleep(0.01)
        key = str(new_id())
        assert served.learn(key)[0] == 503
        assert served.call("GET", "/readyz")[0] == 503
        assert served.call("POST", "/v1/models/m/predict", {"rows": PROBE})[1]["version"] == 1
        served.process.send_signal(signal.SIGUSR2)
        while (tmp_path / "failing").exists():
            time.sleep(0.01)
        status, answer = served.learn(key)
        assert (status, answer["version"]) == (200, 2)
        assert served.call("GET", "/readyz")[0] == 200
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(timeout=60) == 0
        assert served.acknowledged() == [1, 2]


@LINUX
def test_what_cannot_be_read_is_not_told(tmp_path, shim):
    """Calls that read the journal get 503 and no path. Predictions go on, and so does the rest afterwards."""
    with Served(tmp_path, fault=f"read {errno.EIO}", preload=shim) as served:
        assert [served.learn()[0] for _ in range(3)] == [200, 200, 200]
        before = served.call("GET", "/v1/models/m/versions")
        served.process.send_signal(signal.SIGUSR1)
        while not (tmp_path / "failing").exists():
            time.sleep(0.01)
        for path in ("versions", "events", "export?version=1"):
            status, told = served.call("GET", f"/v1/models/m/{path}")
            assert status == 503
            assert told["detail"] == "What this call needs cannot be read, and the log of the server says why."
        assert served.call("POST", "/v1/models/m/predict", {"rows": PROBE})[1]["version"] == 3
        served.process.send_signal(signal.SIGUSR2)
        while (tmp_path / "failing").exists():
            time.sleep(0.01)
        assert served.call("GET", "/v1/models/m/versions") == before
        assert served.learn()[1]["version"] == 4


@LINUX
@pytest.mark.slow
def test_no_read_that_fails_gives_another_model(tmp_path, shim):
    """See `tests.server.unreadable`: at the start, during a replay, and in calls of a server that runs."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.server.unreadable", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": path, "LD_PRELOAD": str(shim)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["problems"] == []
    assert min(found["runs"]["killed"], found["runs"]["closed"]) > 30  # failing starts
    assert min(found["runs"]["answers"].values()) > 4
    assert found["runs"]["refused"] > 100


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace, which shows the order of system calls, is not installed"
)
def test_the_disk_comes_before_the_answer(tmp_path):
    """Between the request and its answer, the log is written and synchronised, in this order."""
    log = tmp_path / "calls"
    wanted = "trace=fsync,fdatasync,pwrite64,write,sendto,sendmsg,send"
    with Served(tmp_path, "strace", "-f", "-y", "-s", "40", "-o", str(log), "-e", wanted) as served:
        assert served.learn()[0] == 200
        calls = log.read_text().count("\n")
        assert served.learn()[0] == 200
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
        served.process.wait(timeout=60)
    lines = log.read_text().splitlines()[calls:]
    answer = next(k for k, line in enumerate(lines) if re.search(r"(sendto|sendmsg|write)\(.*HTTP/1.1 200", line))
    before = lines[:answer]
    written = [k for k, line in enumerate(before) if "pwrite64" in line and f"{JOURNAL}-wal" in line]
    synced = [
        k for k, line in enumerate(before) if re.search(r"f(data)?sync\(", line) and f"{JOURNAL}-wal" in line
    ]
    assert written, before
    assert synced, before
    assert max(synced) > max(written), before


def test_a_damaged_journal_is_refused(tmp_path):
    """A changed event gives another state than the digest has: the server does not start, and names the event."""
    from rosenblatt.server import writer
    from rosenblatt.server.events import LearnEvent, decode_event, encode_event
    from rosenblatt.server.host import Host
    from rosenblatt.server.replay import ReplayError
    from tests.server.serving import calling

    make_model(tmp_path / "m.model")
    every, writer.DIGEST_EVERY = writer.DIGEST_EVERY, 5
    rows = [[float(k), 1.0 - k, 2.0] for k in range(12)]

    async def scenario():
        async with calling(tmp_path / "data", {"m": tmp_path / "m.model"}) as server:
            for k, row in enumerate(rows):
                assert (await server.learn([row], ["abc"[k % 3]])).status_code == 200

    try:
        asyncio.run(scenario())
    finally:
        writer.DIGEST_EVERY = every
    journal = Journal(tmp_path / "data" / JOURNAL)
    event = decode_event(journal.event(1, 7).body)
    assert isinstance(event, LearnEvent)
    other = ["b" if event.labels == ["a"] else "a"]
    with journal.transaction():
        journal.replace_body(1, 7, encode_event(LearnEvent(event.rows, other)))
    journal.close()
    with pytest.raises(ReplayError, match=r"after event 10 .* an event after 5"):
        Host(tmp_path / "data", {})
