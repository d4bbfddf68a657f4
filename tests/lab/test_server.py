"""The server of the lab: it answers its own page, and refuses everything else."""

import http.client
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certify.check import check, read_proof
from tests.lab.lab_engine import NODE

for package in ("starlette", "uvicorn", "msgspec", "websockets"):
    pytest.importorskip(package, reason=f"{package} is not installed: rosenblatt[lab] has it")

from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

WEB = Path(__file__).parents[2] / "web"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Served:
    """A lab as its own process."""

    def __init__(self, *arguments):
        began = time.perf_counter()
        command = [sys.executable, "-m", "rosenblatt.cli.lab", *arguments, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.seconds = time.perf_counter() - began
        self.host = urlsplit(self.address).netloc
        self.code = self.address.partition("code=")[2]

    def get(self, path, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=300)
        connection.request("GET", path, headers={"Host": self.host, **headers})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, response.headers, text

    def enter(self):
        """Use the code; return the cookie."""
        status, headers, _ = self.get(f"/?code={self.code}")
        assert (status, headers["Location"]) == (303, "/")
        return headers["Set-Cookie"].partition(";")[0]

    def close(self):
        self.process.terminate()
        self.process.wait(300)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def served():
    served = Served("@spam-table")
    yield served
    served.close()


def ask(socket, **question):
    socket.send(json.dumps({"id": 7, **question}))
    return json.loads(socket.recv(timeout=300))


def test_the_code_works_once_and_becomes_a_cookie(served):
    assert served.get("/")[0] == 403
    assert served.get("/?code=wrong")[0] == 403
    status, headers, _ = served.get(f"/?code={served.code}")
    assert status == 303
    cookie = headers["Set-Cookie"]
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word in cookie
    assert served.get(f"/?code={served.code}")[0] == 403
    status, headers, text = served.get("/", Cookie=cookie.partition(";")[0])
    assert status == 200
    assert f"connect-src ws://{served.host};" in text
    assert 'name="lab-server"' in text
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert re.search("script-src 'sha256-", text)


def test_other_hosts_pages_and_origins_are_refused(served):
    cookie = served.enter()
    assert served.get("/", Cookie=cookie, Host="evil.example")[0] == 403
    assert served.get("/", Cookie="rosenblatt-lab=guess")[0] == 403
    assert served.get("/etc/passwd", Cookie=cookie)[0] == 404
    url, ours = f"ws://{served.host}/ws", f"http://{served.host}"
    for origin, sent in (
        (None, cookie),
        ("null", cookie),
        ("http://evil.example", cookie),
        (ours, "rosenblatt-lab=x"),
    ):
        with (
            pytest.raises((InvalidStatus, ConnectionClosed)),
            connect(url, origin=origin, additional_headers={"Cookie": sent}) as socket,
        ):
            socket.recv(timeout=300)
    with connect(url, origin=ours, additional_headers={"Cookie": cookie}) as socket:
        assert "document" in ask(socket, do="data")


def test_python_answers_the_page(served):
    cookie = served.enter()
    url, ours = f"ws://{served.host}/ws", f"http://{served.host}"
    with connect(url, origin=ours, additional_headers={"Cookie": cookie}, max_size=None) as socket:
        document = ask(socket, do="data")["document"]
        X, y = rb.datasets.load_spam_table()
        assert document["data"]["X"] == X.tolist()
        assert document["data"]["features"][1] == "viagra"
        rb.Trace.from_document(document)
        points = {"X": X.tolist(), "y": y.tolist()}
        run = ask(
            socket,
            do="run",
            **points,
            labels=["mail", "spam"],
            order="shuffle",
            seed=3,
            bias="radius",
            average=True,
        )
        assert run["document"]["data"]["labels"] == ["mail", "spam"]
        rb.Trace.from_document(run["document"])
        found = ask(socket, do="certify", **points, bias=True)
        assert found["verdict"] == "separable"
        check(read_proof(found["proof"]), X.tolist(), y.tolist())
        for bad in (
            {"do": "shutdown"},
            {"do": "run"},
            {"do": "certify", "X": "x", "y": [], "bias": True},
            {"do": "certify", **points, "bias": True, "file": "/etc/passwd"},
        ):
            assert "asked badly" in ask(socket, **bad)["error"]
        for X_bad in ([], [[]], [[1.0], [1.0, 2.0]], [[1.0]]):
            assert "Python says" in ask(socket, do="certify", X=X_bad, y=[1, -1], bias=True)["error"]
        socket.send("not json")
        assert "asked badly" in json.loads(socket.recv(timeout=300))["error"]


def test_a_run_can_be_cancelled(served):
    cookie = served.enter()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), np.where(np.arange(400) % 2, 1, -1)
    url, ours = f"ws://{served.host}/ws", f"http://{served.host}"
    with connect(url, origin=ours, additional_headers={"Cookie": cookie}, max_size=None) as socket:
        question = {"do": "run", "id": 1, "X": X.tolist(), "y": y.tolist(), "labels": ["a", "b"], "passes": 5000}
        socket.send(json.dumps(question))
        socket.send(json.dumps({"do": "cancel", "id": 1}))
        reply = ask(socket, do="data")  # the next answer is that of the next question
        assert reply["id"] == 7


def test_without_data_the_page_shows_its_example():
    served = Served()
    with connect(
        f"ws://{served.host}/ws", origin=f"http://{served.host}", additional_headers={"Cookie": served.enter()}
    ) as socket:
        assert ask(socket, do="data") == {"id": 7}
    served.close()


def test_what_is_no_data_gets_a_sentence():
    served = Served("no-such-file.csv")
    cookie = served.enter()
    with connect(
        f"ws://{served.host}/ws", origin=f"http://{served.host}", additional_headers={"Cookie": cookie}
    ) as socket:
        assert "no-such-file.csv" in ask(socket, do="data")["error"]
    served.close()


@pytest.mark.slow
@pytest.mark.skipif(
    NODE is None or CHROMIUM is None or not (WEB / "node_modules" / "playwright-core").exists(),
    reason="no node, no Chromium, or web/node_modules is missing",
)
def test_in_the_browser(served):
    command = [NODE, "test/served.mjs", served.address, CHROMIUM]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
