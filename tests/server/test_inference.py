"""The Open Inference Protocol gives the answers of `predict`, whatever the shape of the tensors."""

import pytest

from tests.shared.serving import MAIL, PLACES, TABLE, save_models, serving


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving(folder / "data", save_models(folder)) as client:
        yield client


def tensor(name, datatype, data, shape=None, **more):
    return {
        "name": name,
        "datatype": datatype,
        "data": data,
        "shape": [len(data)] if shape is None else shape,
    } | more


def infer(client, name, *inputs, place="", **more):
    return client.post(f"/v2/models/{name}{place}/infer", json={"inputs": list(inputs)} | more)


def outputs(answer):
    assert answer.status_code == 200, answer.text
    return {each["name"]: each for each in answer.json()["outputs"]}


FLAT = [value for row in PLACES for value in row]
COLUMNS = {name: [row[name] for row in TABLE] for name in ("age", "city")}


@pytest.mark.parametrize(
    "name, rows, inputs",
    [
        ("spam", MAIL, [tensor("text", "BYTES", MAIL)]),
        ("spam", MAIL, [tensor("text", "BYTES", [[each] for each in MAIL], [4, 1])]),
        ("places", PLACES, [tensor("input", "FP64", FLAT, [6, 2])]),
        ("places", PLACES, [tensor("anything", "FP32", PLACES, [6, 2])]),
        ("people", TABLE, [tensor("age", "FP64", COLUMNS["age"]), tensor("city", "BYTES", COLUMNS["city"])]),
        ("people", TABLE, [tensor("city", "BYTES", COLUMNS["city"], [3, 1]), tensor("age", "INT64", [1, 7, 2])]),
    ],
)
def test_the_answers_are_those_of_predict(client, name, rows, inputs):
    plain = client.post(f"/v1/models/{name}/predict", json={"rows": rows}).json()
    answer = infer(client, name, *inputs, id="7", parameters={"a": 1})
    found = outputs(answer)
    assert answer.json()["id"] == "7"
    assert answer.json()["model_version"] == str(plain["version"])
    assert found["label"]["data"] == plain["labels"]
    assert found["label"]["shape"] == [len(rows)]
    scores = plain["scores"]
    if isinstance(scores[0], list):
        assert found["score"]["shape"] == [len(rows), len(plain["classes"])]
        scores = [value for row in scores for value in row]
    assert found["score"]["data"] == scores
    assert found["score"]["datatype"] == "FP64"


def test_outputs_may_be_chosen(client):
    mail = tensor("text", "BYTES", ["win"])
    assert list(outputs(infer(client, "spam", mail, outputs=[{"name": "score"}]))) == ["score"]
    assert infer(client, "spam", mail, outputs=[{"name": "other"}]).status_code == 422


def test_metadata_says_what_to_send(client):
    for name in ("spam", "places", "people"):
        told = client.get(f"/v2/models/{name}").json()
        values = {"FP64": 1.0, "BYTES": "Ulm"}
        sent = []
        for each in told["inputs"]:
            assert each["shape"][0] == -1
            width = each["shape"][1] if len(each["shape"]) == 2 else 1
            sent.append(
                tensor(each["name"], each["datatype"], [values[each["datatype"]]] * width, [1, *each["shape"][1:]])
            )
        found = outputs(infer(client, name, *sent))
        for each in told["outputs"]:
            assert found[each["name"]]["datatype"] == each["datatype"]
            assert found[each["name"]]["shape"] == [1, *each["shape"][1:]]


def test_versions(client):
    mail = tensor("text", "BYTES", ["win"])
    version = client.get("/v1/models/spam").json()["version"]
    assert infer(client, "spam", mail, place=f"/versions/{version}").status_code == 200
    assert client.get(f"/v2/models/spam/versions/{version}/ready").json() == {"name": "spam", "ready": True}
    for other, status in ((version + 1, 404), ("x", 422), ("-1", 422), ("9" * 30, 422)):
        assert infer(client, "spam", mail, place=f"/versions/{other}").status_code == status
        assert client.get(f"/v2/models/spam/versions/{other}").status_code == status
    assert client.get("/v2/models/absent/ready").status_code == 404
    assert client.get("/v2").json()["name"] == "rosenblatt"
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}


@pytest.mark.parametrize(
    "name, inputs",
    [
        ("spam", []),
        ("spam", [tensor("t", "BYTES", ["a"], [2])]),
        ("spam", [tensor("t", "BYTES", [1])]),
        ("spam", [tensor("t", "BYTES", [], [0])]),
        ("spam", [tensor("t", "BYTES", ["a"], [1, 1, 1])]),
        ("spam", [tensor("t", "BYTES", ["a"], [-1])]),
        ("spam", [tensor("t", "BYTES", ["a"], [])]),
        ("places", [tensor("t", "FP64", [1.0, 2.0])]),
        ("places", [tensor("t", "FP64", [], [1_000_000_000, 0])]),
        ("places", [tensor("t", "FP64", [True, False], [1, 2])]),
        ("places", [tensor("t", "INT64", [1.5, 2.0], [1, 2])]),
        ("places", [tensor("t", "BOOL", [1, 0], [1, 2])]),
        ("places", [tensor("t", "COMPLEX", [1, 0], [1, 2])]),
        ("places", [tensor("t", "FP64", [[[1.0]]], [1, 1])]),
        ("people", [tensor("age", "FP64", [1.0, 2.0]), tensor("city", "BYTES", ["Ulm"])]),
        ("people", [tensor("age", "FP64", [1.0]), tensor("age", "FP64", [1.0])]),
        ("people", [tensor("age", "FP64", [1.0])]),
        ("people", [tensor("age", "FP64", [1.0, 2.0], [1, 2]), tensor("city", "BYTES", ["Ulm"])]),
    ],
)
def test_tensors_that_cannot_be_used(client, name, inputs):
    answer = infer(client, name, *inputs)
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(".")
    assert answer.json()["error"] == answer.json()["detail"]  # where clients of the protocol look
    assert "error" not in client.post("/v1/models/spam/predict", json={}).json()
