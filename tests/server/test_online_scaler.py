"""A pipeline with an online scaler, served: the scaler learns with the learner, and is replayed with it."""

import asyncio

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.rows import memory
from rosenblatt.server.host import Host
from tests.server.serving import calling, hosted, quiet

NAMES = ["heat", "load"]
rng = np.random.default_rng(5)
ROWS = rng.normal([20.0, 4000.0], [2.0, 900.0], (60, 2)).round(2)
LABELS = np.where(ROWS[:, 1] - 4000.0 > 300.0 * (ROWS[:, 0] - 20.0), "fails", "runs").tolist()
FIRST = 20


def pipeline(learner=None):
    model = make_pipeline(rb.OnlineScaler(), learner or rb.Perceptron())
    return quiet(lambda: model.fit(pd.DataFrame(ROWS[:FIRST], columns=NAMES), LABELS[:FIRST]))


def by_hand(model, rows=range(FIRST, 60)):
    """Go on with a pipeline as the documentation of OnlineScaler says."""
    scaler, learner = (step for _, step in model.steps)
    for i in rows:
        learner.learn_one(scaler.transform_one(ROWS[i]), LABELS[i])
        scaler.learn_one(ROWS[i])
    return model


def figures(model):
    scaler = model[0]
    return [each.tobytes() for each in (scaler.mean_, scaler.var_, scaler.n_samples_seen_)]


def same(one, other):
    table = pd.DataFrame(ROWS, columns=NAMES)
    assert figures(one) == figures(other)
    assert one.decision_function(table).tobytes() == other.decision_function(table).tobytes()


def saved(model, folder):
    rb.save(model, folder / "m.model")
    return {"m": str(folder / "m.model")}


async def taught(call, rows, size=7):
    versions = []
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        answer = await call.learn([dict(zip(NAMES, ROWS[i].tolist(), strict=True)) for i in some],
                                  [LABELS[i] for i in some])  # fmt: skip
        assert answer.status_code == 200, answer.text
        versions.append(answer.json()["version"])
    return versions


async def exported(call, folder, **query):
    answer = await call.of_model("export", **query)
    path = folder / "exported"
    path.write_bytes(answer.content)
    return rb.load(path)


@pytest.mark.parametrize(
    "learner", [rb.Perceptron(), rb.Perceptron(average=True), rb.ConfidenceWeightedClassifier()], ids=str
)
def test_it_learns_as_by_hand_and_is_replayed(tmp_path, learner):
    sources, data = saved(pipeline(learner), tmp_path), tmp_path / "data"

    async def main():
        async with calling(data, sources) as call:
            await taught(call, list(range(FIRST, 60)))
            row = dict(zip(NAMES, ROWS[3].tolist(), strict=True))
            answer = (await call.post("predict", {"rows": [row]})).json()
            digest = call.host.models["m"].published.digest()
            return await exported(call, tmp_path), answer, digest

    model, answer, digest = asyncio.run(main())
    expected = by_hand(pipeline(learner))
    same(model, expected)
    table = pd.DataFrame(ROWS[3:4], columns=NAMES)
    assert answer["scores"] == expected.decision_function(table).tolist()
    with hosted(data, {}) as host:  # replayed in bulk
        assert host.models["m"].published.digest() == digest


def test_a_rollback_has_the_scaler_of_then(tmp_path):
    sources = saved(pipeline(), tmp_path)

    async def main():
        async with calling(tmp_path / "data", sources) as call:
            versions = await taught(call, list(range(FIRST, 60)))
            assert versions[1] == 2
            answer = await call.post("rollback", {"version": 2})
            assert answer.status_code == 200
            back = await exported(call, tmp_path)
            await taught(call, [30, 31])
            return back, await exported(call, tmp_path)

    back, onwards = asyncio.run(main())
    same(back, by_hand(pipeline(), range(FIRST, FIRST + 14)))
    same(onwards, by_hand(pipeline(), [*range(FIRST, FIRST + 14), 30, 31]))


def test_an_erased_row_is_forgotten_by_the_scaler_too(tmp_path):
    sources = saved(pipeline(), tmp_path)

    async def main():
        async with calling(tmp_path / "data", sources) as call:
            await taught(call, list(range(FIRST, 60)))
            answer = await call.post("erase", {"versions": [{"version": 2, "rows": [1, 3]}]})
            assert answer.status_code == 200, answer.text
            return await exported(call, tmp_path), call.host.models["m"].published.digest()

    model, digest = asyncio.run(main())
    kept = [i for i in range(FIRST, 60) if i not in (FIRST + 7 + 1, FIRST + 7 + 3)]
    same(model, by_hand(pipeline(), kept))
    with hosted(tmp_path / "data", {}) as host:
        assert host.models["m"].published.digest() == digest


def test_a_row_whose_variance_overflows_is_refused_and_not_met(tmp_path):
    sources = saved(pipeline(), tmp_path)

    async def main():
        async with calling(tmp_path / "data", sources) as call:
            answer = await call.learn([ROWS[20].tolist(), [1e300, 0.0], ROWS[21].tolist()],
                                      [LABELS[20], "runs", LABELS[21]])  # fmt: skip
            return answer.json(), await exported(call, tmp_path), call.host.models["m"].published.digest()

    answer, model, digest = asyncio.run(main())
    assert [each["row"] for each in answer["refused"]] == [1]
    assert "variance" in answer["refused"][0]["reason"]
    same(model, by_hand(pipeline(), [20, 21]))
    with hosted(tmp_path / "data", {}) as host:
        assert host.models["m"].published.digest() == digest


def test_an_explanation_adds_up_to_the_score(tmp_path):
    sources = saved(pipeline(), tmp_path)

    async def main():
        async with calling(tmp_path / "data", sources) as call:
            await taught(call, list(range(FIRST, 40)))
            return (await call.of_model("explain", row="[21.5, 5000.0]")).json()

    found = asyncio.run(main())["explanations"][0]
    parts = [each["contribution"] for each in found["contributions"]]
    assert found["score"] == pytest.approx(found["bias"] + sum(parts))
    assert {each["feature"] for each in found["contributions"]} == set(NAMES)
    scaled = by_hand(pipeline(), range(FIRST, 40))[0].transform(pd.DataFrame([[21.5, 5000.0]], columns=NAMES))
    told = {each["feature"]: (each["value"], each["input"]) for each in found["contributions"]}
    assert told == dict(zip(NAMES, zip([21.5, 5000.0], scaled.ravel().tolist(), strict=True), strict=True))


def test_a_scaler_before_other_steps_is_refused(tmp_path):
    model = make_pipeline(rb.OnlineScaler(), Normalizer(), rb.Perceptron())
    quiet(lambda: model.fit(ROWS, LABELS))
    with pytest.raises(ParameterError, match="directly before the learner"):
        Host(tmp_path / "data", saved(model, tmp_path))


def test_the_command_line_trains_what_a_server_goes_on_with(tmp_path):
    pd.DataFrame(ROWS[:FIRST], columns=NAMES).assign(state=LABELS[:FIRST]).to_csv(tmp_path / "t.csv", index=False)
    command = [str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.model"), "--learner", "perceptron"]
    assert quiet(lambda: main(["train", *command, "--online-scale"])) == 0
    model = rb.load(tmp_path / "m.model")
    assert [name for name, _ in model.steps] == ["encoder", "online", "learner"]
    assert figures(model[1:]) == figures(pipeline())
    assert model[-1].coef_.tobytes() == pipeline()[-1].coef_.tobytes()

    async def served():
        async with calling(tmp_path / "data", {"m": str(tmp_path / "m.model")}) as call:
            await taught(call, list(range(FIRST, 60)))
            return await exported(call, tmp_path)

    found = asyncio.run(served())
    expected = by_hand(pipeline())
    assert figures(found[1:]) == figures(expected)
    table = pd.DataFrame(ROWS, columns=NAMES)
    assert found.decision_function(table).tobytes() == expected.decision_function(table).tobytes()


def test_a_table_with_categories_is_scaled_online(tmp_path, monkeypatch):
    """It is the pipeline of an encoder of arrays, the scaler and the learner, and a server goes on with it."""
    table = pd.DataFrame(ROWS[:FIRST], columns=NAMES).assign(kind=["u", "v", "w", "u"] * (FIRST // 4))
    table.loc[3, NAMES[0]] = np.nan
    by_hand = make_pipeline(rb.TableEncoder(sparse_output=False), rb.OnlineScaler(), rb.Perceptron(random_state=0))
    quiet(lambda: by_hand.fit(table, LABELS[:FIRST]))
    whole = table.assign(state=LABELS[:FIRST])
    result = quiet(lambda: rb.train(whole, "perceptron", target="state", scale="online"))
    assert result.model[-1].coef_.tobytes() == by_hand[-1].coef_.tobytes()
    assert result.summary.trained_on.accuracy == by_hand.score(table, LABELS[:FIRST])
    assert rb.evaluate(result.model, whole.drop(columns="state"), whole.state).seen == "all"
    held = quiet(lambda: rb.train(whole, "perceptron", target="state", scale="online", holdout=0.25)).summary
    assert held.held_out.n_rows + held.trained_on.n_rows == FIRST
    result.save(tmp_path / "m")
    again = rb.load(tmp_path / "m")

    async def served():
        async with calling(tmp_path / "data", {"m": str(tmp_path / "m")}) as call:
            answer = await call.learn([{"heat": 21.5, "load": 4100.0, "kind": "w"}], ["fails"])
            assert answer.status_code == 200, answer.text
            return await exported(call, tmp_path)

    found = asyncio.run(served())
    [row] = again[0].transform(pd.DataFrame([{"heat": 21.5, "load": 4100.0, "kind": "w"}]))
    expected = rb.load(tmp_path / "m")
    expected[2].learn_one(expected[1].transform_one(row), "fails")
    expected[1].learn_one(row)
    assert figures(found[1:]) == figures(expected[1:])
    assert found[-1].coef_.tobytes() == expected[-1].coef_.tobytes()
    assert again.decision_function(table).tobytes() == by_hand.decision_function(table).tobytes()
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"as arrays, which an online scaler needs, would take .* scale=True"):
        rb.train(whole, "perceptron", target="state", scale="online")


def test_an_online_scale_is_for_tables_without_text_on_one_machine(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,y\n1,x,0\n2,z,1\n3,x,0\n")
    command = ["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m"), "--target", "y", "--online-scale"]
    for more, said in (
        (["--text", "b"], "needs a number for every feature"),
        (["--ignore", "b", "--scale"], "drop --scale"),
        (["--ignore", "b", "--probabilities"], "--online-scale cannot be combined with --probabilities"),
        (["--ignore", "b", "--workers", "2"], "one machine"),
    ):
        assert main([*command, *more]) != 0
        assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "m").exists()
