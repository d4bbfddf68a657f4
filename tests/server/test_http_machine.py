"""A state machine over HTTP: whatever is called in whatever order, the server equals a learner in memory."""

from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import rosenblatt as rb
from rosenblatt.client import new_key
from tests.shared.serving import PLACES, learn, serving

NUMBER = strategies.integers(-8, 8).map(lambda value: value / 4)
ROW = strategies.lists(NUMBER, min_size=2, max_size=2)
EXAMPLES = strategies.lists(strategies.tuples(ROW, strategies.sampled_from([0, 1, 2])), min_size=1, max_size=4)
ROWS = strategies.lists(ROW, min_size=1, max_size=12)
PROBE = [[a / 2, b / 2] for a in range(-3, 4) for b in range(-3, 4)]


class Served(RuleBasedStateMachine):
    """The server on one side; on the other a learner for each version."""

    @initialize(average=strategies.booleans())
    def start(self, average):
        self.folder = TemporaryDirectory()
        self.place = Path(self.folder.name)
        first = rb.Perceptron(average=average).fit(PLACES, [0, 0, 1, 1, 2, 2])
        rb.save(first, self.place / "m.model")
        self.states = [rb.load(self.place / "m.model")]
        self.answers, self.waiting, self.judged = {}, {}, {}
        self.open()

    def open(self):
        self.context = serving(self.place / "data", {"m": self.place / "m.model"}, snapshot_every=3)
        self.client = self.context.__enter__()

    def close(self):
        self.context.__exit__(None, None, None)

    def teardown(self):
        if hasattr(self, "context"):
            self.close()
            self.folder.cleanup()

    def fold(self, rows, labels):
        """Learn in memory, and return what the server must answer."""
        state = deepcopy(self.states[-1])
        right = mistakes = 0
        for row, label in zip(rows, labels, strict=True):
            right += int(state.predict([row])[0] == label)
            before = state.n_mistakes_
            state.learn_one(row, label)
            mistakes += state.n_mistakes_ - before
        self.states.append(state)
        return {"version": len(self.states) - 1, "rows": len(rows), "mistakes": mistakes, "right": right}

    def check(self, answer, rows, version):
        state = self.states[version]
        assert answer["version"] == version
        assert answer["labels"] == state.predict(rows).tolist()
        assert np.array_equal(answer["scores"], state.decision_function(rows))

    @rule(examples=EXAMPLES)
    def teach(self, examples):
        rows, labels = [row for row, _ in examples], [label for _, label in examples]
        key = new_key()
        answer = learn(self.client, "m", rows, labels, key)
        assert answer.status_code == 200
        assert answer.json() == self.fold(rows, labels)
        self.answers[key] = (rows, labels, answer.json())

    @precondition(lambda self: self.answers)
    @rule(data=strategies.data())
    def repeat(self, data):
        key = data.draw(strategies.sampled_from(sorted(self.answers)))
        rows, labels, first = self.answers[key]
        again = learn(self.client, "m", rows, labels, key)
        assert (again.status_code, again.json()) == (200, first)
        other = learn(self.client, "m", rows, [(labels[0] + 1) % 3, *labels[1:]], key)
        assert other.status_code == 422

    @rule(rows=ROWS, remember=strategies.booleans())
    def ask(self, rows, remember):
        asked = {"rows": rows, "remember": remember, "min_version": len(self.states) - 1}
        answer = self.client.post("/v1/models/m/predict", json=asked).json()
        self.check(answer, rows, len(self.states) - 1)
        assert ("ids" in answer) == remember
        for row, each in zip(rows, answer.get("ids", ()), strict=False):
            self.waiting[each] = row

    @precondition(lambda self: self.waiting)
    @rule(data=strategies.data(), label=strategies.sampled_from([0, 1, 2]))
    def judge(self, data, label):
        which = data.draw(strategies.sampled_from(sorted(self.waiting)))
        row = self.waiting.pop(which)
        answer = self.client.post("/v1/models/m/feedback", json={"id": which, "label": label})
        assert (answer.status_code, answer.json()) == (200, self.fold([row], [label]))
        self.judged[which] = (label, answer.json())

    @precondition(lambda self: self.judged)
    @rule(data=strategies.data())
    def judge_again(self, data):
        which = data.draw(strategies.sampled_from(sorted(self.judged)))
        label, first = self.judged[which]
        again = self.client.post("/v1/models/m/feedback", json={"id": which, "label": label})
        assert (again.status_code, again.json()) == (200, first)

    @rule(row=ROW)
    def refused(self, row):
        assert learn(self.client, "m", [row], [7]).status_code == 422
        assert learn(self.client, "m", [[*row, 1.0]], [0]).status_code == 422
        assert learn(self.client, "m", [row], [0, 1]).status_code == 422
        assert learn(self.client, "m", [row], [0], key="no key").status_code == 400
        absent = {"id": new_key(), "label": 0}
        assert self.client.post("/v1/models/m/feedback", json=absent).status_code == 404
        assert learn(self.client, "m", [row], ["0"]).status_code == 422

    @rule(data=strategies.data())
    def go_back(self, data):
        version = data.draw(strategies.integers(0, len(self.states) - 1))
        answer = self.client.post("/v1/models/m/rollback", json={"version": version})
        self.states.append(self.states[version])
        assert answer.json() == {"version": len(self.states) - 1, "restored": version}

    @rule(data=strategies.data())
    def export(self, data):
        version = data.draw(strategies.integers(0, len(self.states) - 1))
        answer = self.client.get("/v1/models/m/export", params={"version": version})
        assert answer.status_code == 200
        (self.place / "exported").write_bytes(answer.content)
        loaded = rb.load(self.place / "exported")
        assert np.array_equal(loaded.decision_function(PROBE), self.states[version].decision_function(PROBE))
        tensor = {"name": "input", "shape": [1, 2], "datatype": "FP64", "data": PROBE[0]}
        told = self.client.post(f"/v2/models/m/versions/{version}/infer", json={"inputs": [tensor]}).json()
        assert told["model_version"] == str(version)
        assert told["outputs"][0]["data"] == self.states[version].predict(PROBE[:1]).tolist()

    @rule()
    def restart(self):
        self.close()
        self.open()

    @invariant()
    def equals_the_learner_in_memory(self):
        if hasattr(self, "client"):
            answer = self.client.post("/v1/models/m/predict", json={"rows": PROBE}).json()
            self.check(answer, PROBE, len(self.states) - 1)
            told = self.client.get("/v1/models/m/versions").json()
            assert (told["oldest"], told["newest"]) == (0, len(self.states) - 1)


TestServed = Served.TestCase
TestServed.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
