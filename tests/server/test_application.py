"""The calls over HTTP, each against the same learner by hand."""

import asyncio
import json
import threading
import time
import uuid

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.server import host as hosting
from rosenblatt.server import predicting_host
from rosenblatt.server.journal import JournalError
from rosenblatt.server.messages import at_time, new_id
from tests.server.serving import calling, noted, quiet, saved, table, trained


@pytest.fixture(scope="module")
def model():
    return trained(rb.Perceptron(average=True))


def key_of(seconds):
    raw = bytearray(at_time(seconds))
    raw[6], raw[8] = 0x70, 0x80
    return str(uuid.UUID(bytes=bytes(raw)))


def run(scenario):
    asyncio.run(scenario())


def test_learning_is_learning(model, tmp_path):
    X, y = table(30, seed=5)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            plain = rb.load(tmp_path / "m.model")
            for version, (x, label) in enumerate(zip(X, y.tolist(), strict=True), 1):
                before, right = plain.n_mistakes_, int(plain.predict_one(x) == label)
                plain.learn_one(x, label)
                told = await server.learn([x.tolist()], [label])
                assert told.json() == {
                    "version": version, "rows": 1, "mistakes": plain.n_mistakes_ - before, "right": right
                }  # fmt: skip
            told = (await server.post("predict", {"rows": X.tolist()})).json()
            assert told["labels"] == plain.predict(X).tolist()
            assert told["scores"] == plain.decision_function(X).tolist()
            assert told["version"] == 30
            described = (await server.of_model("")).json()
            assert (described["version"], described["rows_learned"]) == (30, 30)
            assert described["rolling"]["rows"] == 30
            exported = (await server.of_model("export")).content
            (tmp_path / "out.model").write_bytes(exported)
            again = rb.load(tmp_path / "out.model")
            assert (again._state.w == plain._state.w).all()
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": X.tolist()})).json() == told
            assert (await server.of_model("")).json() == described

    run(scenario)


def test_keys(model, tmp_path):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            body = {"rows": [[1.0, 2.0, 3.0, 4.0]], "labels": ["a"]}
            assert (await server.post("learn", body)).status_code == 400
            for wrong in ("two words", "", "k" * 256):
                assert (await server.post("learn", body, wrong)).status_code == 400
            assert (await server.post("learn", body, key_of(time.time() + 3600))).status_code == 400
            old = await server.post("learn", body, key_of(time.time() - hosting.KEYS_KEPT - 60))
            assert old.status_code == 410
            key = str(new_id())
            first = await server.post("learn", body, key)
            assert (await server.post("learn", body, key)).json() == first.json()
            assert (await server.post("learn", body | {"labels": ["b"]}, key)).status_code == 422
            again = await asyncio.gather(*(server.post("learn", body, str(new_id())) for _ in range(20)))
            assert sorted(each.json()["version"] for each in again) == list(range(2, 22))
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("learn", body, key)).json() == first.json()
            assert (await server.of_model("")).json()["version"] == 21

    run(scenario)


def test_keys_that_do_not_tell_their_time(model, tmp_path, monkeypatch):
    """They are remembered for a period from when they first came; the answer says for how many seconds."""

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            body = {"rows": [[1.0, 2.0, 3.0, 4.0]], "labels": ["a"]}
            now = time.time()
            keys = [str(uuid.uuid4()), "k" * 255, "order-17", str(new_id())]
            first = [await server.post("learn", body, key) for key in keys]
            assert [each.json()["version"] for each in first] == [1, 2, 3, 4]
            kept = [each.headers.get("idempotency-key-kept") for each in first]
            assert kept == [f"{hosting.KEYS_KEPT:.0f}"] * 3 + [None]
            assert (await server.post("learn", body | {"labels": ["b"]}, keys[0])).status_code == 422
            monkeypatch.setattr(hosting.time, "time", lambda: now + hosting.KEYS_KEPT - 60)
            await server.host.special(server.host.models["m"], lambda _: server.host.forget())
            again = [await server.post("learn", body, key) for key in keys]
            assert [each.json() for each in again] == [each.json() for each in first]
            assert (await server.post("erase", {"keys": ["order-17"]})).json()["erased"] == 1
            assert (await server.post("learn", body, "order-17")).status_code == 410
            monkeypatch.setattr(hosting.time, "time", lambda: now + hosting.KEYS_KEPT + 60)
            await server.host.special(server.host.models["m"], lambda _: server.host.forget())
            late = [await server.post("learn", body, key) for key in keys]
            assert [each.status_code for each in late] == [200, 200, 200, 410]
            assert [each.json()["version"] for each in late[:3]] == [6, 7, 8]

    run(scenario)


def test_a_label_of_feedback_has_the_limit_of_labels(model, tmp_path):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), grow=True) as server:
            asked = {"rows": [[1.0, 2.0, 3.0, 4.0]], "remember": True}
            number = (await server.post("predict", asked)).json()["ids"][0]
            long = await server.post("feedback", {"id": number, "label": "x" * 1001})
            assert (long.status_code, long.json()["limit"]) == (422, 1000)
            assert (await server.post("feedback", {"id": number, "label": "x" * 1000})).status_code == 200

    run(scenario)


def test_a_disk_that_is_full_is_told_without_its_path(model, tmp_path, monkeypatch):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            journal, full = server.host.journal, JournalError(f"{tmp_path} is full.", full=True)

            def fails(*_):
                raise full

            monkeypatch.setattr(journal, "add_events", fails)
            told = [await server.learn([[1.0, 2.0, 3.0, 4.0]], ["a"]), await server.get("/readyz")]
            assert [each.status_code for each in told] == [503, 503]
            full.full = False
            told += [await server.learn([[1.0, 2.0, 3.0, 4.0]], ["a"]), await server.get("/readyz")]
            told += [await server.learn([[1.0, 2.0, 3.0, 4.0]], ["a"])]
            assert [each.status_code for each in told] == [503] * 5
            assert not any(str(tmp_path) in each.text for each in told)
            assert told[1].json()["detail"] == "Nothing can be learned: the disk is full."
            assert "the log of the server says why" in told[3].json()["detail"]

    run(scenario)


def test_damage_that_is_met_later_is_told_and_changes_nothing(model, tmp_path, caplog):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            for k in range(4):
                await server.learn([[1.0, 2.0, 3.0, float(k)]], ["a"])
            with server.host.journal.transaction():
                server.host.journal._do("UPDATE events SET body = x'00' WHERE seq = 2")
            told = [await server.of_model("export", version=3), await server.post("rollback", {"version": 3})]
            assert [each.status_code for each in told] == [503, 503]
            assert all(each.headers["content-type"] == "application/problem+json" for each in told)
            assert "Event 2 of m is damaged" in caplog.text
            assert (await server.of_model("export", version=1)).status_code == 200
            assert (await server.learn([[1.0, 2.0, 3.0, 9.0]], ["a"])).json()["version"] == 5

    run(scenario)


@pytest.mark.parametrize("jump", [-400 * 86_400.0, 400 * 86_400.0])
def test_a_clock_that_jumps(model, tmp_path, monkeypatch, jump):
    """Nothing that was learned depends on the clock, and all goes on when it is right again."""

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), snapshot_every=2) as server:
            body = {"rows": [[1.0, 2.0, 3.0, 4.0]], "labels": ["a"]}
            key, now = str(new_id()), time.time()
            assert (await server.post("learn", body, key)).status_code == 200
            remembered = (await server.post("predict", {"rows": body["rows"], "remember": True})).json()["ids"][0]
            with monkeypatch.context() as patch:
                patch.setattr(hosting.time, "time", lambda: now + jump)
                assert (await server.post("learn", body, str(uuid.uuid4()))).json()["version"] == 2
                own = key_of(now + jump)
                assert (await server.post("learn", body, own)).json()["version"] == 3
                told = await server.post("learn", body, key_of(now))
                assert told.status_code == (400 if jump < 0 else 410)
                if jump < 0:
                    assert "Set the clock" in told.json()["detail"]
                    await server.host.special(server.host.models["m"], lambda _: server.host.forget())
            assert (await server.post("learn", body, str(new_id()))).json()["version"] == 4
            assert (await server.post("learn", body, key)).json()["version"] == 1
            assert (await server.post("feedback", {"id": remembered, "label": "b"})).json()["version"] == 5
            digest = server.host.models["m"].newest().digest()
        async with calling(tmp_path / "data", {}) as server:
            assert server.host.models["m"].newest().digest() == digest

    run(scenario)


def test_a_key_under_way_and_a_full_queue(model, tmp_path, monkeypatch):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            waiting, go = threading.Event(), threading.Event()

            def hold(_writer):
                waiting.set()
                go.wait()

            server.host.post(server.host.models["m"], hold)
            await asyncio.to_thread(waiting.wait)
            key, body = str(new_id()), {"rows": [[0.0, 0.0, 1.0, 0.0]], "labels": ["c"]}
            first = asyncio.create_task(server.post("learn", body, key))
            while not server.host.writer.waiting:
                await asyncio.sleep(0.001)
            assert (await server.post("learn", body, key)).status_code == 409
            predicted = await server.post("predict", {"rows": [[0.0, 0.0, 1.0, 0.0]]})
            assert predicted.json()["version"] == 0  # it does not wait for the writer
            late = await server.post("predict", {"rows": [[0.0, 0.0, 1.0, 0.0]], "min_version": 1})
            assert late.status_code == 409
            monkeypatch.setattr("rosenblatt.server.writer.MOST_WAITING", 1)
            full = await server.learn([[0.0, 0.0, 1.0, 0.0]], ["c"])
            assert (full.status_code, full.headers["retry-after"]) == (503, "1")
            go.set()
            assert (await first).json()["version"] == 1
            soon = await server.post("predict", {"rows": [[0.0, 0.0, 1.0, 0.0]], "min_version": 1})
            assert soon.json()["version"] == 1

    monkeypatch.setattr(predicting_host, "LONGEST_WAIT", 0.05)
    run(scenario)


def test_feedback(model, tmp_path, monkeypatch):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            rows = [[1.0, -1.0, 0.5, 0.0], [0.0, 2.0, 0.0, 0.0]]
            ids = (await server.post("predict", {"rows": rows, "remember": True})).json()["ids"]
            explained = (await server.of_model("explain", id=ids[0])).json()
            assert explained["version"] == 0
            told = await server.post("feedback", {"id": ids[0], "label": "c"})
            assert told.json()["version"] == 1
            assert (await server.post("feedback", {"id": ids[0], "label": "c"})).json() == told.json()
            assert (await server.post("feedback", {"id": ids[0], "label": "a"})).status_code == 422
            assert (await server.post("feedback", {"id": str(new_id()), "label": "a"})).status_code == 404
            plain = rb.load(tmp_path / "m.model").learn_one(np.array(rows[0]), "c")
            found = (await server.post("predict", {"rows": rows})).json()
            assert found["scores"] == plain.decision_function(rows).tolist()
            assert "ids" not in found
            monkeypatch.setattr(hosting, "MOST_PREDICTIONS", 1)
            more = (await server.post("predict", {"rows": rows, "remember": True})).json()["ids"]
            await server.host.special(server.host.models["m"], lambda _: server.host.forget())
            told = [(await server.post("feedback", {"id": each, "label": "a"})).status_code for each in more]
            assert sorted(told) == [200, 410]
            assert (await server.post("feedback", {"id": ids[1], "label": "a"})).status_code == 410

    run(scenario)


def test_rollback_and_versions(model, tmp_path):
    X, y = table(12, seed=8)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), snapshot_every=5) as server:
            for x, label in zip(X, y.tolist(), strict=True):
                await server.learn([x.tolist()], [label])
            told = (await server.post("rollback", {"version": 4})).json()
            assert told == {"version": 13, "restored": 4}
            await server.learn([X[0].tolist()], ["c"])
            await server.post("rollback", {"version": 14})
            await server.learn([X[1].tolist()], ["a"])
            assert (await server.post("rollback", {"version": 99})).status_code == 404
            plain = rb.load(tmp_path / "m.model")
            for x, label in zip(X[:4], y[:4].tolist(), strict=True):
                plain.learn_one(x, label)
            at_four = plain.decision_function(X).tolist()
            plain.learn_one(X[0], "c")
            plain.learn_one(X[1], "a")
            found = (await server.post("predict", {"rows": X.tolist()})).json()
            assert (found["version"], found["scores"]) == (16, plain.decision_function(X).tolist())
            for version in (4, 13):
                content = (await server.of_model("export", version=version)).content
                (tmp_path / "old.model").write_bytes(content)
                assert rb.load(tmp_path / "old.model").decision_function(X).tolist() == at_four
            versions = (await server.of_model("versions")).json()
            assert [each["to"] for each in versions["changes"]] == [4, 14]
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": X.tolist()})).json() == found

    run(scenario)


def test_erasing(model, tmp_path):
    X, y = table(8, seed=4)
    labels = y.tolist()

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), snapshot_every=2) as server:
            await server.learn(X[:3].tolist(), labels[:3])
            key = str(new_id())
            secret = [0.123456789, 9.87654321, 5.0, 6.0]
            await server.learn([secret], ["c"], key)
            await server.learn(X[3:6].tolist(), labels[3:6])
            told = await server.post("erase", {"keys": [key], "versions": [{"version": 3, "rows": [1]}]})
            assert told.json() == {"version": 4, "erased": 2, "ended_from": 2}
            await server.learn(X[6:].tolist(), labels[6:])
            plain = rb.load(tmp_path / "m.model")
            for row in (0, 1, 2, 3, 5, 6, 7):
                plain.learn_one(X[row], labels[row])
            found = (await server.post("predict", {"rows": X.tolist()})).json()
            assert found["scores"] == plain.decision_function(X).tolist()
            assert (await server.of_model("export", version=2)).status_code == 410
            assert (await server.of_model("export", version=1)).status_code == 200
            assert (await server.learn([secret], ["c"], key)).status_code == 410
            assert (await server.post("erase", {})).status_code == 422
            assert (await server.post("erase", {"versions": [{"version": 4}]})).status_code == 404
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": X.tolist()})).json() == found
        left = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())
        assert np.array(secret).tobytes() not in left

    run(scenario)


def test_old_events_are_folded(model, tmp_path):
    X, y = table(40, seed=6)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path), snapshot_every=5, keep=10) as server:
            key = str(new_id())
            first = await server.learn([X[0].tolist()], [y[0]], key)
            for x, label in zip(X[1:], y[1:].tolist(), strict=True):
                await server.learn([x.tolist()], [label])
                await noted(server.host)
            versions = (await server.of_model("versions")).json()
            assert (versions["oldest"], versions["snapshots"]) == (30, [30, 35, 40])
            assert (await server.of_model("export", version=3)).status_code == 410
            assert (await server.of_model("export", version=versions["oldest"])).status_code == 200
            assert (await server.post("erase", {"versions": [{"version": 3}]})).status_code == 410
            assert (await server.learn([X[0].tolist()], [y[0]], key)).json() == first.json()
            found = (await server.post("predict", {"rows": X.tolist()})).json()
            plain = rb.load(tmp_path / "m.model")
            for x, label in zip(X, y.tolist(), strict=True):
                plain.learn_one(x, label)
            assert found["scores"] == plain.decision_function(X).tolist()
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": X.tolist()})).json() == found

    run(scenario)


def test_rows_as_people_have_them(tmp_path):
    mails = ["win a prize", "see you at home", "free prize", "home at six"]
    rows = [{"text": mail, "size": float(k), "from": "ab"[k % 2]} for k, mail in enumerate(mails)]
    labels = ["spam", "ham", "spam", "ham"]
    encoder = rb.TableEncoder(text=["text"], bits=10, scale=True)
    from sklearn.pipeline import make_pipeline

    model = quiet(lambda: make_pipeline(encoder, rb.Perceptron()).fit(rows, labels))

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            told = (await server.post("predict", {"rows": rows})).json()
            assert told["scores"] == model.decision_function(rows).tolist()
            assert [(await server.post("predict", {"rows": [row]})).json()["scores"][0] for row in rows] == told[
                "scores"
            ]
            assert (await server.of_model("")).json()["columns"] == ["size", "text", "from"]
            learned = {"text": "free home", "size": 2.0, "from": "b"}
            await server.learn([learned], ["spam"])
            model[-1].learn_one(model[0].transform([learned]).toarray()[0], "spam")
            found = (await server.post("predict", {"rows": rows})).json()["scores"]
            assert found == pytest.approx(model.decision_function(rows).tolist())
            missing = await server.post("predict", {"rows": [{"text": "x"}]})
            assert missing.status_code == 422
            bad = await server.post("predict", {"rows": [rows[0], {"text": "x", "size": "big", "from": "a"}]})
            assert bad.status_code == 422
            explained = (await server.of_model("explain", row='{"text": "free", "size": 2.5, "from": "a"}')).json()
            one = explained["explanations"][0]
            total = one["bias"] + sum(each["contribution"] for each in one["contributions"])
            assert total == pytest.approx(one["score"])
            assert {each["feature"]: each["value"] for each in one["contributions"]}["size"] == 2.5

    run(scenario)


@pytest.mark.parametrize(
    ("learner", "part"),
    [
        (rb.Perceptron(average=True), "x1"),
        (rb.KernelPerceptron(kernel=rb.kernels.RBF(0.5), budget=20, max_iter=5), "support point 0"),
    ],
)
def test_an_explanation_adds_up_for_every_kind_of_learner(learner, part, tmp_path):
    """The parts and the rounding make the score, and are those of `rb.explain`."""
    model = trained(learner)
    X, _ = table(3, seed=9)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            told = (await server.of_model("explain", row=str(X[1].tolist()))).json()
            plain = rb.load(tmp_path / "m.model")
            assert [one["label"] for one in told["explanations"]] == plain.classes_.tolist()
            for one in told["explanations"]:
                (own,) = rb.explain(plain, X[1:2], label=one["label"])
                assert told["label"] == own.label
                adds = dict(zip(own.names, own.contributions.tolist(), strict=True))
                assert {each["feature"]: each["contribution"] for each in one["contributions"]} == adds
                assert part in own.names
                assert [one[name] for name in ("score", "bias", "rounding")] == [own.score, own.bias, own.rounding]
                assert abs(one["rounding"]) < 1e-12

    run(scenario)


@pytest.mark.parametrize("scaled", [False, True])
def test_an_explanation_shows_the_values_of_the_data(scaled, tmp_path):
    """As `rb.explain` does; a remembered row is known only as the learner gets it."""
    rows = pd.DataFrame({"size": [1.0, 5.0, 2.0, np.nan], "colour": ["red", "blue", "red", "blue"]})
    model = make_pipeline(rb.TableEncoder(scale=scaled, missing="mean" if scaled else "zero"), rb.Perceptron())
    model.fit(rows, ["a", "b", "a", "b"])
    sent = [{"size": 4.0, "colour": "red"}, {"size": None, "colour": "blue"}]

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            for row, own in zip(sent, rb.explain(tmp_path / "m.model", sent), strict=True):
                one = (await server.of_model("explain", row=json.dumps(row))).json()["explanations"][0]
                told = [dict(part, name=part.pop("feature")) for part in one["contributions"]]
                assert told == own.to_json()["parts"]
            ids = (await server.post("predict", {"rows": sent[:1], "remember": True})).json()["ids"]
            one = (await server.of_model("explain", id=ids[0])).json()["explanations"][0]
            own = rb.explain(model, sent[:1])[0].to_json()["parts"]
            assert [(part["value"], part["input"]) for part in one["contributions"]] == [
                (None, part["input"]) for part in own
            ]

    run(scenario)


def test_names_that_grow(tmp_path):
    model = rb.Perceptron()
    for x, label in [({"a": 1.0, "b": 2.0}, "no"), ({"b": -1.0, "c": 1.0}, "yes")]:
        model.learn_one(x, label)

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            plain = rb.load(tmp_path / "m.model")
            rows = [{"d": 3.0, "a": 1.0}, {"e": 1.0}, {"d": -1.0, "c": 0.5, "f": 2.0}]
            for row, label in zip(rows, ["yes", "no", "no"], strict=True):
                assert (await server.learn([row], [label])).status_code == 200
                plain.learn_one(row, label)
            found = (await server.post("predict", {"rows": [*rows, {"never": 1.0}]})).json()
            assert found["scores"] == [plain.score_one(row) for row in [*rows, {"never": 1.0}]]
            assert (await server.post("erase", {"versions": [{"version": 2}]})).json()["erased"] == 1
            after = (await server.post("predict", {"rows": rows})).json()
            exported = (await server.of_model("export")).content
            assert b'"e"' not in exported
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": rows})).json() == after

    run(scenario)


def test_labels(model, tmp_path):
    row = [1.0, 0.0, 0.0, 1.0]

    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            assert (await server.learn([row], ["d"])).status_code == 422
            assert (await server.learn([row], [1])).status_code == 422
            assert (await server.learn([row], ["a", "b"])).status_code == 422
            assert (await server.learn([], [])).status_code == 422
            assert (await server.learn([row], ["a"], weights=[-1.0])).status_code == 422
            assert (await server.learn([[1.0]], ["a"])).status_code == 422
            assert (await server.post("predict", {"rows": [row]}, name="other")).status_code == 404
            assert (await server.of_model("")).json()["version"] == 0
        async with calling(tmp_path / "data", {}, grow=True) as server:
            assert (await server.learn([row, row], ["d", "a"])).json()["version"] == 1
            assert (await server.of_model("")).json()["classes"] == ["a", "b", "c", "d"]
            found = (await server.post("predict", {"rows": [row]})).json()
        async with calling(tmp_path / "data", {}) as server:
            assert (await server.post("predict", {"rows": [row]})).json() == found

    run(scenario)
