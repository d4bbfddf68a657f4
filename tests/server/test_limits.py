"""What is wrong with a body is told with the row and the column."""

import msgspec
import pytest

from rosenblatt.server.limits import RequestLimits, read_message
from rosenblatt.server.messages import LearnRequest, PredictRequest, RequestError

PREDICT, LEARN = msgspec.json.Decoder(PredictRequest), msgspec.json.Decoder(LearnRequest)


@pytest.mark.parametrize(
    "body, status, row, column",
    [
        (b"", 400, None, None),
        (b"{", 400, None, None),
        (b"\xff", 400, None, None),
        (b'{"rows":["\xff"]}', 400, None, None),
        (b'{"rows":[[NaN]]}', 400, None, None),
        (b'{"rows":[[Infinity]]}', 400, None, None),
        (b"null", 422, None, None),
        (b"[]", 422, None, None),
        (b"{}", 422, None, None),
        (b'{"rows":"text"}', 422, None, None),
        (b'{"rows":[],"else":1}', 422, None, None),
        (b'{"rows":["a",5]}', 422, 1, None),
        (b'{"rows":[null]}', 422, 0, None),
        (b'{"rows":[[1],[1,[2]]]}', 422, 1, 1),
        (b'{"rows":[[1],[1,1e999]]}', 422, 1, 1),
        (b'{"rows":[{"a":1},{"a":1,"b":1e999}]}', 422, 1, "b"),
        (b'{"rows":[{"a":1},{"a":-1e999}]}', 422, 1, "a"),
        (b'{"rows":[{"a":1,"b":{}}]}', 422, 0, "b"),
        (b'{"rows":[{"a":[1]}]}', 422, 0, "a"),
        (b'{"rows":[[1' + b"0" * 5000 + b"]]}", 422, 0, 0),
        (b'{"rows":' + b"[" * 100_000, 422, 0, 0),
        (b'{"rows":[[' + b'{"a":' * 100_000, 422, 0, 0),
    ],
)
def test_the_place_of_what_is_wrong(body, status, row, column):
    with pytest.raises(RequestError) as caught:
        read_message(PREDICT, body)
    problem = caught.value
    assert (problem.status, problem.where.get("row"), problem.where.get("column")) == (status, row, column)
    assert problem.detail.endswith(".")


@pytest.mark.parametrize(
    "body",
    [b'{"rows":[[1]],"labels":[null]}', b'{"rows":[[1]],"labels":[[1]]}', b'{"rows":[[1]],"labels":[1e999]}'],
)
def test_the_place_of_a_wrong_label(body):
    with pytest.raises(RequestError) as caught:
        read_message(LEARN, body)
    assert caught.value.where == {"parameter": "labels", "row": 0}


def test_limits_count_rows_values_and_letters():
    limits = RequestLimits(rows=2, features=3)
    limits.require(PredictRequest(rows=[[1, 2, 3], {"a": 1, "b": 2, "c": 3}]))
    limits.require(PredictRequest(rows=["a long text is one value"]))
    for rows, status, row in (([[1]] * 3, 413, None), ([[1], [1] * 4], 422, 1), ([dict.fromkeys("abcd")], 422, 0)):
        with pytest.raises(RequestError) as caught:
            limits.require(PredictRequest(rows=rows))
        assert (caught.value.status, caught.value.where.get("row")) == (status, row)
    limits.require(LearnRequest(rows=["a"], labels=["x" * 1000]))
    with pytest.raises(RequestError) as caught:
        limits.require(LearnRequest(rows=["a", "b"], labels=["x", "x" * 1001]))
    assert caught.value.where["row"] == 1
