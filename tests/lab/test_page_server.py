"""The server of the lab: it answers its own page, and refuses everything else."""

import html
import http.client
import json
import re
import subprocess
import sys
import time
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import rosenblatt as rb
from rosenblatt import registry
from rosenblatt.certify.check import check, read_proof
from tests.lab.lab_engine import CHROMIUM, NODE, WEB, needs_browser, needs_node

pytestmark = pytest.mark.slow


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
        self.cookie = None

    def get(self, path, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=300)
        connection.request("GET", path, headers={"Host": self.host, **headers})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, response.headers, text

    def enter(self):
        """Use the code, once; return the cookie."""
        if self.cookie is None:
            status, headers, _ = self.get(f"/?code={self.code}")
            assert (status, headers["Location"]) == (303, "/")
            self.cookie = headers["Set-Cookie"].partition(";")[0]
        return self.cookie

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


@pytest.fixture(scope="module")
def entered():
    """A lab that several tests talk to."""
    served = Served("@spam-table")
    served.enter()
    yield served
    served.close()


def ask(socket, **question):
    """Ask, and fetch a long answer piece by piece."""
    socket.send(json.dumps({"id": 7, **question}))
    while "note" in (reply := json.loads(socket.recv(timeout=300))):
        assert "compiling" in reply["note"]
    if "bytes" not in reply:
        return reply
    parts = []
    while sum(map(len, parts)) < reply["bytes"]:
        socket.send(json.dumps({"do": "more", "id": 7}))
        parts.append(socket.recv(timeout=300))
        assert isinstance(parts[-1], bytes)
        assert len(parts[-1]) <= 2**18
    return {"id": 7, "pieces": len(parts), **json.loads(b"".join(parts))}


def talk(served):
    """Connect as the page does."""
    headers = {"Cookie": served.enter()}
    url, ours = f"ws://{served.host}/ws", f"http://{served.host}"
    return connect(url, origin=ours, additional_headers=headers, max_size=None)


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
    told = json.loads(html.unescape(re.search('name="lab-server" content="(.*?)"', text)[1]))
    assert told["name"] == "@spam-table"
    assert ["pa1", "Passive-aggressive, PA-I"] in told["learners"]
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
        assert "data" in ask(socket, do="data")


def test_python_answers_the_page(entered):
    with talk(entered) as socket:
        data = ask(socket, do="data")["data"]  # the page trains on it by itself, at once
        X, y = rb.datasets.load_spam_table()
        assert data == {
            "features": ["and", "viagra", "the", "of", "nigeria"],
            "labels": ["-1", "1"],
            "X": X.tolist(),
            "y": y.tolist(),
        }
        points = {"X": X.tolist(), "y": y.tolist(), "labels": ["mail", "spam"]}
        run = ask(socket, do="run", **points, order="shuffle", seed=3, bias="radius", average=True)
        assert run["document"]["data"]["labels"] == ["mail", "spam"]
        rb.Trace.from_document(run["document"])
        w0 = [1.0, 0.0, 0.0, 2.0, 0.0, -1.0]
        run = ask(socket, do="run", **points, order="given", given=[[5, 4, 3, 2, 1, 0]], w0=w0)
        clf = rb.Perceptron(order=[5, 4, 3, 2, 1, 0]).fit(X, y, coef_init=[w0[:5]], intercept_init=[w0[5]])
        assert [*run["document"]["end"]["w"], run["document"]["end"]["b"]] == [*clf.coef_[0], *clf.intercept_]
        assert clf.trace_.index[0] == 5
        passes = ask(socket, do="run", **points, order="given", given=[[0], [1]])["document"]["order"]["passes"]
        assert passes == [[0], [1]]
        found = ask(socket, do="certify", **points, bias=True)
        assert found["verdict"] == "separable"
        check(read_proof(found["proof"]), X.tolist(), y.tolist())
        assert "padded" in ask(socket, do="bounds", **points)["bounds"]
        found = ask(socket, do="certify", bias=True)
        assert "says nothing about the labels" in " ".join(found.pop("warnings"))  # six rows of five features
        assert found == {"id": 7, "verdict": "separable", "proof": None}


BAD = [
    ({"do": "shutdown"}, "do must be one of"),
    ({"do": "certify"}, "bias"),
    ({"do": "certify", "X": "x", "y": [], "bias": True}, "asked badly"),
    ({"do": "certify", "X": [[1.0]], "y": [1], "bias": True, "file": "/etc/passwd"}, "'file' is unknown"),
    *(
        ({"do": "certify", "X": X, "y": [1, -1], "labels": ["a", "b"], "bias": True}, "different lengths")
        for X in ([], [[]], [[1.0], [1.0, 2.0]], [[1.0]])
    ),
    ({"do": "run", "X": [[1.0], [2.0]], "y": [0, 5], "labels": ["a", "b", "c"]}, "not among the labels"),
    ({"do": "run", "learner": "deep"}, "is not a learner"),
    (
        {"do": "run", "learner": "kernel", "settings": ["bugdet=1"]},
        "The learner kernel does not take bugdet. Did you mean budget?",
    ),
    ({"do": "run", "learner": "kernel", "settings": ["budget"]}, "NAME=VALUE"),
    ({"do": "run", "learner": "kernel", "settings": ["kernel=round"]}, "is not a kernel"),
    ({"do": "run", "learner": "perceptron", "settings": ["eta0=-1"]}, "eta0"),
    ({"do": "run", "passes": 0}, "passes must be"),
    ({"do": "run", "order": "given", "given": [[0, 6]]}, "name points from 1 to 6"),
    ({"do": "run", "order": "given"}, "name points from 1 to 6"),
    ({"do": "run", "w0": [1.0, 2.0, 3.0]}, "does not fit 5 features"),
    ({"do": "picture", "plane": {"origin": [], "across": [], "up": [], "low": [], "high": []}}, "no longer has"),
    ({"do": "picture"}, "plane"),
]


def test_bad_questions_get_a_sentence(entered):
    with talk(entered) as socket:
        for question, sentence in BAD:
            assert sentence in ask(socket, **question)["error"]
        for text in ("not json", "[]", "null", '{"do": "run", "id": "x"}', '{"do": "data", "id": 1e400}'):
            socket.send(text)
            assert "asked badly" in json.loads(socket.recv(timeout=300))["error"]
        socket.send(json.dumps({"do": "more", "id": 3}))  # nothing is left to send
        assert "data" in ask(socket, do="data")


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_every_learner_is_a_run_or_a_picture(entered):
    data = rb.datasets.make_separable(30, 2, margin=0.2, seed=1)
    points = {"X": data.X.tolist(), "y": data.y.tolist(), "labels": ["a", "b"]}
    plane = {"origin": [0.0, 0.0], "across": [1.0, 0.0], "up": [0.0, 1.0], "low": [-1.5, -1.0], "high": [1.5, 2.0]}
    names = registry.able("numbers")
    with talk(entered) as socket:
        runs = set()
        ours = [name for entry in registry.BUILT_IN.values() for name in entry.commands]  # others may have joined
        for learner in (name for name in ours if name not in names):
            assert registry.title_of(learner) != learner, f"what is {learner} called?"
            reply = ask(socket, do="run", **points, learner=learner, plane=plane)
            if "document" in reply:
                rb.Trace.from_document(reply["document"])
                runs.add(learner)
                continue
            outcome = reply["outcome"]
            cls, fixed = registry.command(learner)
            state = {"random_state": 0} if "random_state" in cls().get_params() else {}
            model = cls(**fixed, **state).fit(data.X, data.y)
            assert outcome["predicted"] == (model.predict(data.X) > 0).astype(int).tolist(), learner
            cells, (margins,) = outcome["picture"]["cells"], outcome["picture"]["margins"]
            side = np.arange(cells + 1) / cells
            nodes = np.column_stack([np.tile(-1.5 + 3 * side, cells + 1), np.repeat(-1 + 3 * side, cells + 1)])
            assert ((np.array(margins) > 0) == (model.predict(nodes) > 0)).all(), learner
            assert outcome["title"] == f"{registry.title_of(learner)}, trained in Python"
            assert re.search("points? (is|are) wrong", outcome["lines"][0])
            assert "reason" not in " ".join(outcome["lines"])
            elsewhere = ask(socket, do="picture", plane=plane | {"low": [0.0, 0.0]})["picture"]
            assert elsewhere["low"] == [0.0, 0.0]
        assert {"perceptron", "averaged", "pa", "pa1", "pa2"} <= runs
        assert not runs & {"kernel", "network", "voted", "arow"}


def test_several_classes(entered):
    X, y = rb.datasets.load_six_points()[0], [0, 1, 2, 0, 1, 2]
    points = {"X": X.tolist(), "y": y, "labels": ["u", "v", "w"]}
    with talk(entered) as socket:
        for scheme in ("direct", "ovr", "ovo"):
            document = ask(socket, do="run", **points, scheme=scheme, passes=50)["document"]
            assert (document["scheme"], document["data"]["labels"]) == (scheme, ["u", "v", "w"])
            rb.Trace.from_document(document)
        found = ask(socket, do="certify", **points, bias=True)
        assert found["verdict"] == rb.certify(X, y, multiclass="direct").verdict
        check(read_proof(found["proof"]), X.tolist(), y)


def test_a_large_table_is_projected_and_a_long_run_comes_in_pieces(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.integers(-8, 9, (3000, 300)).astype(float)
    w = rng.normal(size=300)
    y = np.where(X @ w > 0, "yes", "no")
    lines = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "large.csv").write_text("\n".join(lines))
    served = Served(str(tmp_path / "large.csv"), "--target", "-1")
    with talk(served) as socket:
        reply = ask(socket, do="data")
        points, outcome = reply["points"], reply["outcome"]
        assert 2000 <= len(points["X"]) <= 2002
        assert points["labels"] == ["no", "yes"]
        assert outcome["title"] == "Perceptron, on 3000 rows of 300 features"
        # The first coordinate is the distance from the hyperplane, so its sign is what is predicted.
        assert [int(x > 0) for x, _ in points["X"]] == outcome["predicted"]
        assert ask(socket, do="certify", bias=False)["verdict"] == "separable"
        some = {
            "X": X[:400, :60].tolist(),
            "y": np.where(y[:400] == "yes", 1, -1).tolist(),
            "labels": ["no", "yes"],
        }
        long = ask(socket, do="run", **some, passes=300, order="shuffle")
        assert long["pieces"] > 1
        rb.Trace.from_document(long["document"])
    served.close()


@pytest.mark.parametrize("what", ["run", "certify"])
def test_what_takes_for_ever_is_cancelled_at_once(entered, what):
    rng = np.random.default_rng(0)
    n, d = (5000, 150) if what == "certify" else (2000, 5)
    X, y = rng.integers(-9, 10, (n, d)), np.where(rng.random(n) < 0.5, 1, -1)
    points = {"X": X.tolist(), "y": y.tolist(), "labels": ["a", "b"]}
    hours = {"run": {"learner": "perceptron", "settings": ["max_iter=1000000000", "decide=false", "trace=null"]}}
    with talk(entered) as socket:
        socket.send(json.dumps({"do": what, "id": 1, **points, **hours.get(what, {"bias": True})}))
        socket.send(json.dumps({"do": "cancel", "id": 1}))
        assert ask(socket, do="data")["id"] == 7  # the next answer is that of the next question


def test_without_data_the_page_shows_its_example():
    served = Served()
    with talk(served) as socket:
        assert ask(socket, do="data").keys() == {"id"}
        assert "without data" in ask(socket, do="certify", bias=True)["error"]
    served.close()


def test_what_is_no_data_gets_a_sentence():
    served = Served("no-such-file.csv")
    with talk(served) as socket:
        assert "no-such-file.csv" in ask(socket, do="data")["error"]
    served.close()


@pytest.mark.slow
@needs_node
@needs_browser
def test_in_the_browser(served):
    command = [NODE, "test/served.mjs", served.address, CHROMIUM]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
