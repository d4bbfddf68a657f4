"""The server beside a raw echo, beside itself, and beside what people write.

Each server is a process of its own on this computer. Loads are sent over keep-alive connections by this process;
all ratios are of contestants that take turns in one run.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup
from rosenblatt import Perceptron, save

FEATURES = 100
CONNECTIONS = 32
QUIET: Any = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "start_new_session": True}

ECHO = """
import sys
import uvicorn

ANSWER = b" " * int(sys.argv[2])

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": ANSWER})

uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, server_header=False)
"""

FASTAPI = """
import pickle
import sys
import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.linear_model import Perceptron

app, model = FastAPI(), Perceptron()
model.partial_fit(np.zeros((1, 100)), ["a"], classes=["a", "b"])

class Predict(BaseModel):
    rows: list[list[float]]

class Learn(Predict):
    labels: list[str]

@app.get("/readyz")
def ready():
    return {}

@app.post("/v1/models/m/predict")
def predict(asked: Predict):
    X = np.array(asked.rows)
    return {"labels": model.predict(X).tolist(), "scores": model.decision_function(X).tolist()}

@app.post("/v1/models/m/learn")
def learn(asked: Learn):
    model.partial_fit(np.array(asked.rows), asked.labels)
    with open("model.pickle", "wb") as file:
        pickle.dump(model, file)
    return {"learned": len(asked.rows)}

uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""


def server(setup: Setup) -> Iterator[Comparison]:
    """Predict, learn, replay and restart."""
    with TemporaryDirectory() as folder, ExitStack() as held:
        place = Path(folder)
        rng = np.random.default_rng(0)
        X = rng.standard_normal((2000, FEATURES)).round(4)
        y = np.where(X[:, :10].sum(axis=1) + rng.standard_normal(len(X)) > 0, "a", "b")
        save(Perceptron(max_iter=2, n_iter_no_change=5, decide=False).fit(X[:500], y[:500]), place / "m.model")
        ours = held.enter_context(_serving(_rosenblatt(place)))
        predict = _request("predict", {"rows": [X[0].tolist()]})
        size = len(asyncio.run(_send(ours.port, [predict], 1))[0][1])
        echo = held.enter_context(_serving(lambda port: [sys.executable, "-c", ECHO, str(port), str(size)]))
        n = setup.rows(4000)
        yield _processor(setup, ours, echo, [predict] * n)
        yield from _learning(setup, ours, X, y)
        yield _undisturbed(setup, ours, predict, X, y)
        yield from _peers(setup, held, place, ours, predict, X, y)
    yield from _again(setup, X, y)
    yield _wide(setup)


def _processor(setup: Setup, ours: Any, echo: Any, requests: list[bytes]) -> Comparison:
    """Processor seconds of a prediction."""
    seconds: dict[str, list[float]] = {"ours": [], "echo": []}
    for _ in range(setup.repeats):
        for name, contestant in (("ours", ours), ("echo", echo)):
            before = contestant.processor()
            asyncio.run(_send(contestant.port, requests, 1))
            seconds[name].append((contestant.processor() - before) / len(requests))
    return Comparison("predict 100 features, CPU", "raw ASGI echo", *seconds.values(), AtLeast(0.5))


def _learning(setup: Setup, ours: Any, X: Any, y: Any) -> Iterator[Comparison]:
    """Examples learned a second, on one connection and on many."""
    n = setup.rows(2000)
    one, many = [], []
    for _ in range(setup.repeats):
        one.append(_seconds(ours.port, _lessons(X, y, n // 4), 1))
        many.append(_seconds(ours.port, _lessons(X, y, n), CONNECTIONS))
    rate = f"{1 / np.median(many):,.0f} / {1 / np.median(one):,.0f} examples a second"
    yield Comparison(f"learn, {CONNECTIONS} connections", "one connection", many, one, AtLeast(3), models=rate)


def _undisturbed(setup: Setup, ours: Any, predict: bytes, X: Any, y: Any) -> Comparison:
    """Compare the 99th percentile of predictions while examples are learned."""
    idle, busy = [], []
    for _ in range(max(5, setup.repeats)):
        idle.append(_percentile(asyncio.run(_send(ours.port, [predict] * 500, 1))))
        busy.append(_percentile(asyncio.run(_beside(ours.port, predict, X, y))))
    return Comparison("predict while it learns, p99", "idle", busy, idle, AtLeast(0.5))


async def _beside(port: int, predict: bytes, X: Any, y: Any) -> list[tuple[float, bytes]]:
    """Predict while another connection teaches."""
    teaching = asyncio.create_task(_send(port, _lessons(X, y, 100_000), 1))
    try:
        await asyncio.sleep(0.2)
        return await _send(port, [predict] * 500, 1)
    finally:
        teaching.cancel()
        await asyncio.gather(teaching, return_exceptions=True)


def _again(setup: Setup, X: Any, y: Any) -> Iterator[Comparison]:
    """Measure a restart: the time until requests are taken, and the events replayed a second."""
    from rosenblatt.server.journal import JOURNAL, Journal
    from rosenblatt.server.replay import History

    with TemporaryDirectory() as folder:
        place = Path(folder)
        save(Perceptron(max_iter=2, n_iter_no_change=5, decide=False).fit(X[:500], y[:500]), place / "m.model")
        n = setup.rows(6000)
        with _serving(_rosenblatt(place)) as ours:
            live = _seconds(ours.port, _lessons(X, y, n), CONNECTIONS)
        replayed, started = [], []
        for _ in range(setup.repeats):
            journal = Journal(place / "data" / JOURNAL)
            before = time.perf_counter()
            History(journal, place / "data", "m").start()
            tail = time.perf_counter() - before
            replayed.append(tail / n)
            journal.close()
            before = time.perf_counter()
            with _serving(_rosenblatt(place)):
                started.append(time.perf_counter() - before - tail)
        rate = f"{1 / np.median(replayed):,.0f} / {1 / live:,.0f} examples a second"
        yield Comparison("replay", "live learning", replayed, [live] * len(replayed), AtLeast(10), models=rate)
        yield Comparison("restart, without the tail", "1.5 s", started, [1.5] * len(started), AtLeast(1))


def _wide(setup: Setup) -> Comparison:
    """Measure how long a model of 52 × 2^18 weights takes for one row, in both of its replicas."""
    from scipy.sparse import random_array

    from rosenblatt.rows.features import as_rows
    from rosenblatt.server.events import LearnEvent, PackedRows
    from rosenblatt.server.replica import Replica

    rng = np.random.default_rng(1)
    X = random_array((600, 1 << 18), density=2e-4, format="csr", rng=rng)
    labels = [f"c{k % 52:02}" for k in range(600)]
    learner = Perceptron(max_iter=1, n_iter_no_change=5, decide=False).fit(X[:52], labels[:52])
    first, second = Replica(learner, 0), None
    first.learner._state.w = np.asfortranarray(first.learner._state.spread().w)
    first.learner._state.met = None
    second = first.copy()
    events = [
        LearnEvent(PackedRows.of(as_rows(X[[k]])), [labels[(7 * k) % 600]])
        for k in range(52, 52 + setup.rows(500))
    ]
    begun = time.perf_counter()
    for event in events:
        first.fold(event)
        second.fold(event, judged=False)
    seconds = (time.perf_counter() - begun) / len(events)
    return Comparison("fold and publish 52 × 2^18 weights", "10 ms", [seconds], [0.01], AtLeast(1))


def _peers(
    setup: Setup, held: ExitStack, place: Path, ours: Any, predict: bytes, X: Any, y: Any
) -> Iterator[Comparison]:
    n = setup.rows(1000)
    python = os.environ.get("ROSENBLATT_PEERS", sys.executable)
    if python == sys.executable and importlib.util.find_spec("fastapi") is None:
        print("server: FastAPI is not installed; ROSENBLATT_PEERS names a Python that has it", file=sys.stderr)
    else:
        peer = held.enter_context(_serving(lambda port: [python, "-c", FASTAPI, str(port)], place))
        for what, make in (("predict", lambda: [predict] * n), ("learn", lambda: _lessons(X, y, n))):
            seconds: tuple[list[float], list[float]] = ([], [])
            for _ in range(setup.repeats):
                for each, port in zip(seconds, (ours.port, peer.port), strict=True):
                    each.append(_seconds(port, make(), CONNECTIONS))
            yield Comparison(
                f"{what}, {CONNECTIONS} connections", "FastAPI, scikit-learn, pickle", *seconds, AtLeast(1)
            )
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("server: vowpalwabbit is not installed", file=sys.stderr)
        return
    yield from _vowpal_wabbit(setup, held, ours, X, y, n)


def _vowpal_wabbit(setup: Setup, held: ExitStack, ours: Any, X: Any, y: Any, n: int) -> Iterator[Comparison]:
    """VW learns a line at a time and keeps nothing on disk.

    Its module reads from the socket only if it is told of passes.
    """
    command = [sys.executable, "-m", "vowpalwabbit", "--daemon", "--foreground", "--quiet", "--passes", "1"]
    peer = held.enter_context(_serving(lambda port: [*command, "--port", str(port)], http=False))
    lines = [
        (f"{1 if y[k % len(y)] == 'b' else -1} | " + " ".join(f"f{j}:{v}" for j, v in enumerate(X[k % len(X)]))
         + "\n").encode()
        for k in range(n)
    ]  # fmt: skip
    ours_, theirs = [], []
    for _ in range(setup.repeats):
        ours_.append(_seconds(ours.port, _lessons(X, y, n), 1))
        begun = time.perf_counter()
        with (
            socket.create_connection(("127.0.0.1", peer.port)) as connection,
            connection.makefile("rb") as answers,
        ):
            for line in lines:
                connection.sendall(line)
                if not answers.readline():
                    print("server: VW's daemon does not answer", file=sys.stderr)
                    return
        theirs.append((time.perf_counter() - begun) / n)
    yield Comparison("learn, one connection, durable", "VW's daemon, in memory", ours_, theirs, None)


class Contestant:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def processor(self) -> float:
        """Return the processor seconds it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rosenblatt(place: Path) -> Callable[[int], list[str]]:
    command = [sys.executable, "-m", "rosenblatt", "serve", str(place / "m.model"), "--data", str(place / "data")]
    return lambda port: [*command, "--name", "127.0.0.1", "--port", str(port)]


@contextmanager
def _serving(
    command: Callable[[int], list[str]], folder: Path | None = None, http: bool = True
) -> Iterator[Contestant]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(command(port), cwd=folder, **QUIET)
    try:
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"{' '.join(command(port))[:80]} ended with {process.returncode}")
            try:
                if http:
                    asyncio.run(_send(port, [b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"], 1))
                else:
                    socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.01)
        yield Contestant(process, port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # with the processes it started
        process.wait()


def _request(call: str, body: Any, key: str | None = None) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST /v1/models/m/{call} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    head += f"content-length: {len(content)}\r\n" + ("" if key is None else f"idempotency-key: {key}\r\n")
    return head.encode() + b"\r\n" + content


def _lessons(X: Any, y: Any, n: int) -> Iterator[bytes]:
    from rosenblatt.server.messages import new_id

    rows, labels = X.tolist(), y.tolist()
    for k in range(n):
        body = {"rows": [rows[k % len(rows)]], "labels": [labels[k % len(rows)]]}
        yield _request("learn", body, str(new_id()))


def _seconds(port: int, requests: Any, connections: int) -> float:
    """Return the seconds a request, all of them sent over so many connections."""
    waiting = list(requests)
    begun = time.perf_counter()
    told = asyncio.run(_send(port, waiting, connections))
    return (time.perf_counter() - begun) / len(told)


async def _send(port: int, requests: Any, connections: int) -> list[tuple[float, bytes]]:
    """Send requests, each connection one at a time; return the seconds and the body of each answer."""
    waiting, told = iter(requests), []

    async def one() -> None:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        try:
            for request in waiting:
                begun = time.perf_counter()
                writing.write(request)
                head = await reading.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(head.decode())
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await reading.readexactly(length)
                told.append((time.perf_counter() - begun, body))
        finally:
            writing.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return told


def _percentile(told: Sequence[tuple[float, bytes]]) -> float:
    return float(np.percentile([seconds for seconds, _ in told], 99))
