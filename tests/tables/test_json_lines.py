"""Objects, one a line."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError
from tests.shared.examples import examples
from tests.tables.files import read


@pytest.fixture
def table(tmp_path):
    def written(*lines):
        path = tmp_path / "table.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return str(path)

    return written


def test_missing_keys_are_missing_values(table):
    path = table('{"a": 1, "y": "p"}', "", '{"b": 2, "y": "q", "a": null}')
    with pytest.raises(FormatError, match="'b' is missing") as caught:
        read(path, target="y")
    assert (caught.value.line, caught.value.column) == (1, 3)
    X, y, source = read(path, missing="zero")
    assert (X.tolist(), y.tolist(), source.names) == ([[1, 0], [0, 2]], ["p", "q"], ("a", "b"))


@pytest.mark.parametrize(
    "line, problem, column",
    [
        ('{"a": 1, "y": }', "is no JSON: Expecting value", 15),
        ('{"a": [1], "y": 0}', "'a' is \\[1\\]; nested values", None),
        ('{"a": {"b": 1}, "y": 0}', "nested", None),
        ("[1, 2]", "every line must be an object", None),
        ("3", "every line must be an object", None),
        ('{"a": 1, "y": 0}, {"a": 1, "y": 0}', "Extra data", 17),
        ('{"a": NaN, "y": 0}', "NaN is no JSON", None),
        ('{"a": "many", "y": 0}', "'a' is 'many', but the column holds numbers", 1),
        ('{"a": 1e999, "y": 0}', "'a' is inf", 1),
        (f'{{"a": {"9" * 400}, "y": 0}}', "integer beyond 2", 1),
        (f'{{"a": {"9" * 5000}, "y": 0}}', "no JSON that can be used", None),
        ('{"a": ' + "[" * 100_000 + "}", "no JSON", None),
        ('{"a": 1, "y": null}', "label is missing", 2),
        ('{"a": 1, "y": "x"}', "the label 'x' is no number", 2),
        ('{"a": 1, "new": 2, "y": 0}', "the key 'new' is not among those of the first lines.* features,", None),
        (b'{"a": 1, "y": "\xff"}', "not UTF-8", 16),
        ('{"a": 1, "y": 0', "no JSON", 16),
        ('{"a": 1, "a": 1, "y": 0}', "the key 'a' stands twice in one object", None),
    ],
)
def test_lines_that_are_wrong(table, monkeypatch, line, problem, column):
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 20)
    path = table('{"a": 1, "y": 0}', '{"a": 2, "y": 1}', line, '{"a": 3, "y": 0}')
    for chunk_bytes in (1, 1000):
        with pytest.raises(FormatError, match=problem) as caught:
            read(path, chunk_bytes=chunk_bytes)
        assert (caught.value.line, caught.value.column) == (3, column)
        X, y, source = read(path, chunk_bytes=chunk_bytes, skip_bad=True)
        assert (X.tolist(), y.tolist(), source.skipped.count) == ([[1], [2], [3]], [0, 1, 0], 1)


def test_halves_of_characters(table):
    path = table('{"k": "p", "y": 0}', '{"k": "\\ud800", "y": 1}')
    with pytest.raises(FormatError, match="half of a character") as caught:
        read(path)
    assert (caught.value.line, caught.value.column) == (2, 1)
    assert len(read(path, skip_bad=True)[0]) == 1


def test_lines_are_not_made_of_each_other(table):
    # Joined, these would be as many objects as there are lines.
    with pytest.raises(FormatError) as caught:
        read(table('{"a": 1, "y": 0},{"a": 2, "y": 0}', '{"a": 3,', '"y": 1}'))
    assert caught.value.line == 1
    with pytest.raises(FormatError) as caught:
        read(table('{"a": "x}', '{", "y": 1}', '{"a": "p", "y": 0},{"a": "q", "y": 0}'))
    assert caught.value.line == 1


def test_with_named_features_other_keys_may_come_late(table, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 20)
    path = table('{"a": 1, "y": 0, "late": null}', '{"late": 5, "other": 7, "y": 1}')
    X, _, source = read(path, features=("a", "late"), target="y", missing="zero")
    assert (X.tolist(), source.names) == ([[1, 0], [0, 5]], ("a", "late"))


def test_labels_of_every_kind(table):
    assert read(table('{"a": 1, "y": true}', '{"a": 2, "y": false}'))[1].tolist() == [True, False]
    assert read(table('{"a": 1, "y": 1}', '{"a": 2, "y": 2.0}'))[1].tolist() == [1, 2]
    assert read(table('{"a": 1, "y": 1.5}', '{"a": 2, "y": 2}'))[1].dtype == np.float64
    assert read(table('{"a": 1, "y": "1"}', '{"a": 2, "y": "2"}'))[1].tolist() == ["1", "2"]


def test_categories_of_anything(table):
    path = table('{"k": 1, "y": 0}', '{"k": "1.5", "y": 0}', '{"k": true, "y": 0}')
    assert read(path, categorical=("k",))[2].names == ("k=1", "k=1.5", "k=true")


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53) | st.booleans()
texts = st.text(st.characters(codec="utf-8"), max_size=4).map(lambda text: f"v{text}v")


@settings(max_examples=examples(50))
@given(rows=st.lists(st.tuples(numbers, texts), min_size=1, max_size=8), ascii_only=st.booleans())
def test_round_trip(table, rows, ascii_only):
    lines = [json.dumps({"a": a, "k": k, "y": 1}, ensure_ascii=ascii_only) for a, k in rows]
    X, _, source = read(table(*lines), chunk_bytes=30)
    np.testing.assert_array_equal(X[:, 0], [float(a) for a, _ in rows])
    met = list(dict.fromkeys(k for _, k in rows))
    assert source.names == ("a", *(f"k={value}" for value in met))
    np.testing.assert_array_equal(X[:, 1:], [[k == value for value in met] for _, k in rows])
