"""Kill a server again and again while 16 clients use it.

``python -m tests.server.killing FOLDER KILLS [--mutant NAME] [--workers N] [--scaled]``

One process forks servers and kills them; those with workers are killed alone, or with all their workers. Another
one holds the clients: each teaches and asks in turn, and repeats what was not answered with the same key. In the
end all that was answered is compared with the journal, and with a learner that learns it by `learn_one` alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import mmap
import os
import random
import signal
import socket
import sys
import threading
import time
import traceback
import uuid
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

import rosenblatt as rb
from rosenblatt.server import writer as writing
from rosenblatt.server.events import LearnEvent, decode_event
from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host
from rosenblatt.server.journal import JOURNAL, Journal
from rosenblatt.server.messages import new_id
from rosenblatt.server.metrics import LEFT
from rosenblatt.server.processes import serve
from rosenblatt.server.replay import History
from rosenblatt.server.writer import Learn, Writer

CLIENTS = 16
LABELS = ["a", "b", "c"]
PROBE = [[1.0, -2.0, 0.5]]
PAUSE = 0.03
"""Seconds that a mutant takes between its two steps in the wrong order: a kill is likely to fall between them."""


class AnswersFirst(Writer):
    """A deliberate bug: the answer is sent before the event is on disk."""

    def carry_out(self, batch):
        staged = self.stage(batch)
        for work in staged:
            if isinstance(work, Learn):
                body = {"version": work.seq, "rows": len(work.labels), "mistakes": 0, "right": 0}
                work.done(json.dumps(body).encode())
        self._settled(set())
        time.sleep(PAUSE)
        self.commit(staged)
        self.fold(staged)


class FoldsFirst(Writer):
    """A deliberate bug: predictions show an event before it is on disk."""

    def carry_out(self, batch):
        staged = self.stage(batch)
        self.fold(staged)
        kept, recent, self.unwritten = self.unwritten, dict(self._recent), []
        time.sleep(PAUSE)
        self.commit(staged)
        self.unwritten, self._recent = kept, recent
        self.reply(staged)


class Forgets(Writer):
    """A deliberate bug: keys are not written, so that a repetition is learned twice."""

    def commit(self, staged):
        self.journal.add_keys = lambda rows: None
        super().commit(staged)


MUTANTS = {"answers-first": AnswersFirst, "folds-first": FoldsFirst, "forgets-keys": Forgets}


def make_model(path, *, scaled=False):
    """Write an averaged perceptron of three classes, alone or after an online scaler."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 3)).astype(float)
    y = np.array(LABELS)[np.argmax(X, axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = rb.Perceptron(average=True, max_iter=2, decide=False)
        rb.save((make_pipeline(rb.OnlineScaler(), learner) if scaled else learner).fit(X, y), path)


def parts_of(model):
    """Return the scaler of a model, if it has one, and its learner."""
    return (model[0], model[-1]) if isinstance(model, Pipeline) else (None, model)


def learn(model, x, label):
    """Learn one row by the methods of estimators alone."""
    scaler, learner = parts_of(model)
    learner.learn_one(x if scaler is None else scaler.transform_one(x), label)
    if scaler is not None:
        scaler.learn_one(x)


class Client(threading.Thread):
    """Teaches and asks in turn, until it is told to stop; what was not answered is repeated."""

    def __init__(self, number, port, stop, answered, leaves):
        super().__init__()
        self.number, self.port, self.stop, self.answered = number, port, stop, answered
        self.leaves = leaves  # the share of answers after which it connects anew, so that workers get connections
        self.rng = random.Random(number)
        self.learned, self.asked, self.strange = [], [], []
        self.connection = None

    def run(self):
        while not self.stop.is_set():
            if self.rng.random() < 0.3:
                answer = self.call("predict", {"rows": PROBE}, None)
                self.asked.append((answer["version"], answer["scores"][0]))
            else:
                n = self.rng.choice([1, 1, 1, 4])
                rows = [[self.rng.uniform(-3, 3) for _ in range(3)] for _ in range(n)]
                body = {"rows": rows, "labels": [self.rng.choice(LABELS) for _ in rows]}
                key = str(new_id())
                self.learned.append((key, body, self.call("learn", body, key)))

    def call(self, what, body, key):
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        while True:
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                self.connection.request("POST", f"/v1/models/m/{what}", json.dumps(body), headers)
                response = self.connection.getresponse()
                told = response.read()
            except (OSError, http.client.HTTPException):
                self.connection = None
                time.sleep(0.01)
                continue
            if self.leaves and self.rng.random() < self.leaves:
                self.connection.close()
                self.connection = None
            if response.status == 200:
                self.answered[self.number] += 1
                return json.loads(told)
            if response.status not in (409, 503):
                self.strange.append(told.decode())
                self.stop.set()
                return {"version": -1, "scores": [None]}
            time.sleep(0.01)


def clients(port, told, report, answered, leaves):
    """Run the clients until a byte comes, and report what they saw."""
    stop = threading.Event()
    each = [Client(number, port, stop, answered, leaves) for number in range(CLIENTS)]
    for client in each:
        client.start()
    os.read(told, 1)
    stop.set()
    for client in each:
        client.join()
    seen = {name: [getattr(client, name) for client in each] for name in ("learned", "asked", "strange")}
    report.write_text(json.dumps(seen))


def begin(folder, port, kind, workers):
    """Start a server; return its number, and a pipe that says when it takes requests."""
    reading, telling = os.pipe()
    child = forked(server, folder, port, kind, workers, telling)
    with suppress(PermissionError, ProcessLookupError):  # it has done so itself, or has ended
        os.setpgid(child, child)
    os.close(telling)
    return child, reading


def server(folder, port, kind, workers, telling):
    """Serve until killed, as the first process of a group that can be killed at once."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def ready(_address):
        with suppress(BrokenPipeError):
            os.write(telling, b"x")

    host = Host(folder / "data", {"m": folder / "m.model"}, snapshot_every=50, writer=kind)
    command = [sys.executable, "-m", "rosenblatt", "serve", "--data", str(folder / "data"), "--quiet", "--follow"]
    serve(host, door=FrontDoor(), port=port, ready=ready, workers=workers, command=command)


def forked(act, *arguments):
    """Run a function in a copy of this process, and return its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        act(*arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def run(folder, kills, kind=Writer, workers=0, *, scaled=False):
    """Kill as often as asked for, then check everything; return what there was to check."""
    writing.DIGEST_EVERY = 20
    make_model(folder / "m.model", scaled=scaled)
    warm(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    reading, telling = os.pipe()
    rng = random.Random(kills)
    answered = memoryview(mmap.mmap(-1, 8 * CLIENTS)).cast("q")  # by each client, in memory that forks share
    holder = forked(clients, port, reading, folder / "seen.json", answered, 0.2 if workers else 0.0)
    child, by_workers = None, 0
    try:
        for k in range(kills):
            old = set(figures(folder))
            child, started = begin(folder, port, kind, workers)
            starts = rng.random() < 0.8  # else it may die while it starts
            if starts:
                os.read(started, 1)
                by_workers += await_workers(folder, old, workers)
            os.close(started)
            await_answers(answered, sum(answered) + rng.randrange(60))
            end(child, alone=not workers or (starts and k % 2 == 0))
            child = None
        child, started = begin(folder, port, kind, workers)
        os.write(telling, b"x")
        os.waitpid(holder, 0)
        holder = None
        end(child, alone=not workers)
        child = None
    finally:
        if holder is not None:
            os.kill(holder, signal.SIGKILL)
            os.waitpid(holder, 0)
        if child is not None:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
    return check(folder) | ({"by workers": by_workers} if workers else {})


def figures(folder):
    """Return the files in which workers leave what they counted."""
    return list((folder / "data").glob(LEFT.format("*")))


def await_workers(folder, old, workers):
    """Wait until each new worker has predicted something, and return how often they have."""
    late = time.monotonic() + 120.0
    while True:
        counts = []
        for path in set(figures(folder)) - old:
            with suppress(FileNotFoundError):
                told = json.loads(path.read_bytes())["requests"]
                counts.append(sum(each.get("200", 0) for call, each in told.items() if "predict" in call))
        if sum(count > 0 for count in counts) >= workers:
            return sum(counts)
        assert time.monotonic() < late, f"only these workers predict: {counts}"
        time.sleep(0.05)


def await_answers(answered, many):
    """Wait until the clients have so many answers, or for a while: the server may have died while it started."""
    late = time.monotonic() + 3.0
    while sum(answered) < many and time.monotonic() < late:
        time.sleep(0.001)


def end(child, alone=True):
    """Kill a server, which must not have ended before, alone or with its workers."""
    (os.kill if alone else os.killpg)(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "a server ended by itself"


def warm(folder):
    """Load every module and compile every loop before any fork."""
    import uvicorn  # noqa: F401

    model = rb.load(folder / "m.model")
    learn(model, np.array(PROBE[0]), "a")
    host = Host(folder / "warm", {"m": folder / "m.model"})
    host.models["m"].fold([host.models["m"].accept(host.models["m"].features(PROBE), ["a"], None)[0]])
    host.close()


def check(folder):
    """Compare what the clients saw with the journal, and the journal with `learn_one`."""
    seen = json.loads((folder / "seen.json").read_text())
    assert not any(seen["strange"]), f"strange answers: {seen['strange']}"
    journal = Journal(folder / "data" / JOURNAL)
    history = History(journal, folder / "data", "m")
    events = {event.seq: event for some in journal.events(1, 0, history.newest) for event in some}
    assert sorted(events) == list(range(1, history.newest + 1)), "numbers are missing or doubled"
    keys = {bytes(key): seq for key, seq in journal._all("SELECT key, seq FROM keys")}
    assert sorted(keys.values()) == sorted(events), "an event without its key, or learned twice"
    learned = [each for client in seen["learned"] for each in client]
    for key, body, answer in learned:
        seq = keys.get(uuid.UUID(key).bytes)
        assert seq is not None, f"lost: {key} was acknowledged as version {answer['version']}"
        assert seq == answer["version"], f"reordered: {key} is event {seq}, not {answer['version']}"
        event = decode_event(events[seq].body)
        assert event.rows.features().rows.tolist() == body["rows"], f"event {seq} holds other rows"
        assert event.labels == body["labels"]
    for client in seen["learned"]:
        versions = [answer["version"] for _, _, answer in client]
        assert versions == sorted(set(versions)), "the examples of one client are not in the order it sent them"
    compare(folder, history, events, seen, learned)
    journal.close()
    return {"events": len(events), "acknowledged": len(learned), "asked": sum(map(len, seen["asked"]))}


def compare(folder, history, events, seen, learned):
    """Learn the journal by `learn_one` alone, and compare answers, predictions and the state."""
    model = rb.load(folder / "m.model")
    scaler, learner = parts_of(model)
    scores, mistakes = {0: model.decision_function(PROBE)[0].tolist()}, {}
    for seq in sorted(events):
        event = decode_event(events[seq].body)
        assert isinstance(event, LearnEvent)
        before = learner.n_mistakes_
        for x, label in zip(event.rows.features().rows, event.labels, strict=True):
            learn(model, np.array(x), label)
        mistakes[seq] = learner.n_mistakes_ - before
        scores[seq] = model.decision_function(PROBE)[0].tolist()
    for _, _, answer in learned:
        assert answer["mistakes"] == mistakes[answer["version"]], "another number of mistakes"
    for version, score in (each for client in seen["asked"] for each in client):
        assert version in scores, f"a prediction showed version {version}, which is lost"
        assert score == scores[version], f"a prediction showed another version {version} than the journal has"
    replica = history.replica_at(history.newest)
    assert replica.decide(replica_rows())[1][0] == scores[history.newest], "a replay gives other scores"
    assert (replica.online.stream.state.w == learner._state.w).all(), "a replay gives other weights"
    assert (replica.online.stream.state.u == learner._state.u).all(), "a replay gives other averages"
    if scaler is not None:
        assert replica.online.scaler.figures.mean.tolist() == scaler.mean_.tolist(), "a replay gives other means"


def replica_rows():
    """Return the probe as features."""
    from rosenblatt.rows.features import as_rows

    return as_rows(PROBE)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("kills", type=int)
    parser.add_argument("--mutant", choices=sorted(MUTANTS))
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--scaled", action="store_true")
    given = parser.parse_args()
    found = run(given.folder, given.kills, MUTANTS.get(given.mutant, Writer), given.workers, scaled=given.scaled)
    print(f"{given.kills} kills: {json.dumps(found)}")
