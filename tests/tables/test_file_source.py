"""Every format, read the same way."""

import io
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError, InputError
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe
from rosenblatt.tables.words import bucket
from tests.tables.files import EVERY, TYPED, dense, read, write

NUMBERS = {"a": [1.5, -2.0, 0.0, 4.0] * 6, "b": [5, 6, 7, 0] * 6, "label": ["yes", "no", "no", "yes"] * 6}
MIXED = {
    "colour": ["red", "blue", "red", "green"] * 6,
    "size": [1.0, 0.0, 3.5, -4.0] * 6,
    "shape": ["flat", "flat", "round", "flat"] * 6,
    "label": [1, 0, 1, 1] * 6,
}
TEXTS = {
    "text": ["Free call!", "...", "call me, call me", "ω free"] * 6,
    "label": ["spam", "ham", "ham", "spam"] * 6,
}


@pytest.fixture(params=EVERY)
def ending(request):
    return request.param


def test_numbers(tmp_path, ending):
    X, y, source = read(write(tmp_path, NUMBERS, ending))
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert X.tolist() == [list(row) for row in zip(NUMBERS["a"], NUMBERS["b"], strict=True)]
    assert y.tolist() == NUMBERS["label"]
    assert source.names == ("a", "b")
    assert "target 'label'; 2 numbers" in source.description


def test_categories_are_numbered_as_they_are_met(tmp_path, ending):
    X, y, source = read(write(tmp_path, MIXED, ending))
    assert source.names == ("size", "colour=red", "shape=flat", "colour=blue", "shape=round", "colour=green")
    assert X[:4].tolist() == [
        [1.0, 1, 1, 0, 0, 0],
        [0.0, 0, 1, 1, 0, 0],
        [3.5, 1, 0, 0, 1, 0],
        [-4.0, 0, 1, 0, 0, 1],
    ]
    assert y.dtype == np.int64
    assert y.tolist() == MIXED["label"]


def test_texts(tmp_path, ending):
    X, y, source = read(write(tmp_path, TEXTS, ending), text=("text",), bits=10, ngrams=2, vocabulary=True)
    assert X.shape == (24, 1024)
    assert X[1].sum() == 0
    assert X[2, bucket(b"call", 10)] == 2
    assert X[2, bucket(b"me call", 10)] == 1
    assert X[3, bucket("ω".encode(), 10)] == 1
    names = source.recipe.names(source.n_features)
    assert "call" in names[bucket(b"call", 10)].removeprefix("text=").split("|")
    assert sum("#" in name for name in names) == 1024 - np.count_nonzero(X.any(axis=0))
    assert y[0] == "spam"


def test_hashed_categories(tmp_path, ending):
    X, _, source = read(write(tmp_path, MIXED, ending), hashed=("colour",), bits=8, vocabulary=True)
    red = bucket(b"colour=red", 8)
    assert X[:4, 1 + red].tolist() == [1, 0, 1, 0]
    names = source.recipe.names(source.n_features)
    assert "red" in names[1 + red]
    assert X.shape[1] == 1 + 256 + 2
    assert names[-2:] == ("shape=flat", "shape=round")


@pytest.mark.parametrize(
    "columns, more", [(NUMBERS, {}), (MIXED, {}), (MIXED, {"hashed": (1,)}), (TEXTS, {"text": (1,)})]
)
def test_the_size_of_chunks_changes_nothing(tmp_path, ending, columns, more):
    path = write(tmp_path, columns, ending)
    X, y, whole = read(path, bits=6, **more)
    for chunk_bytes in (1, 17, 64, 300):
        part_X, part_y, source = read(path, chunk_bytes=chunk_bytes, bits=6, **more)
        np.testing.assert_array_equal(part_X, X)
        assert part_y.tolist() == y.tolist()
        assert source.recipe == whole.recipe


@pytest.mark.parametrize(
    "columns, more", [(NUMBERS, {}), (MIXED, {"hashed": ("shape",)}), (TEXTS, {"text": ("text",)})]
)
def test_predicting_encodes_as_training_did(tmp_path, ending, columns, more):
    path = write(tmp_path, columns, ending)
    X, y, source = read(path, bits=6, **more)
    recipe = Recipe.from_json(source.recipe.to_json())
    assert recipe == source.recipe
    permuted = {name: columns[name][::-1] for name in reversed(columns)}
    again, labels, _ = read(write(tmp_path, permuted, ending, "permuted"), recipe)
    np.testing.assert_array_equal(again, X[::-1])
    assert labels.tolist() == y[::-1].tolist()
    without = {name: columns[name] for name in columns if name != "label"}
    again, labels, _ = read(write(tmp_path, without, ending, "without"), recipe, labelled=False)
    np.testing.assert_array_equal(again, X)
    assert labels is None
    with pytest.raises(FormatError, match="no column of labels"):
        read(write(tmp_path, without, ending, "without"), recipe)


def test_what_training_did_not_meet_is_nothing(tmp_path, ending):
    _, _, source = read(write(tmp_path, MIXED, ending))
    new = {"colour": ["violet", "red"], "size": [1.0, 2.0], "shape": ["flat", "bent"], "extra": ["p", "q"]}
    X, labels, again = read(write(tmp_path, new, ending, "new"), source.recipe, labelled=False)
    assert X.tolist() == [[1, 0, 1, 0, 0, 0], [2, 1, 0, 0, 0, 0]]
    assert labels is None
    assert dict(again.unknown) == {"colour": 1, "shape": 1}
    assert again.n_read == 2
    assert not source.unknown


def test_a_column_that_is_gone(tmp_path, ending):
    _, _, source = read(write(tmp_path, NUMBERS, ending))
    path = write(tmp_path, {"a": [1.0], "bb": [2.0]}, ending, "new")
    if "jsonl" in ending:  # a key that is not there is a missing value
        with pytest.raises(FormatError, match=r":1:2: 'b' is missing"):
            read(path, source.recipe, labelled=False)
    else:
        with pytest.raises(FormatError, match=r"no column 'b' \(did you mean 'bb'\?\)"):
            read(path, source.recipe, labelled=False)


GAPS = {"a": [1.0, None, 3.0], "kind": ["p", "q", None], "label": ["x", "y", "x"]}


def test_missing_values(tmp_path, ending):
    path = write(tmp_path, GAPS, ending)
    with pytest.raises(FormatError, match=r"'a' is missing; .*missing='zero'") as caught:
        read(path)
    first = 3 if ending[:3] in ("csv", "tsv") else 2
    assert (caught.value.line, caught.value.column, caught.value.file) == (first, 1, path)
    X, _, source = read(path, ignore=("a",))
    assert X.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert source.names == ("kind=p", "kind=q", "kind is missing")
    X, _, _ = read(path, missing="zero")
    assert X.tolist() == [[1, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]]
    X, _, _ = read(path, missing="mean")
    np.testing.assert_array_equal(X, [[1, 1, 0, 0], [np.nan, 0, 1, 0], [3, 0, 0, 1]])
    X, _, _ = read(path, missing="mean", ignore=("kind",))
    np.testing.assert_array_equal(X, [[1], [np.nan], [3]])
    X, y, source = read(path, skip_bad=True)
    assert X.tolist() == [[1, 1, 0], [3, 0, 1]]
    assert y.tolist() == ["x", "x"]
    assert source.skipped.count == 1
    assert [problem.line for problem in source.skipped.first] == [first]


def test_missing_values_in_prediction(tmp_path, ending):
    recipe = read(write(tmp_path, MIXED, ending))[2].recipe
    new = write(tmp_path, {"colour": [None, "red"], "size": [None, 2.0], "shape": ["flat", None]}, ending, "new")
    X, _, source = read(new, recipe, labelled=False, missing="zero")
    assert X.tolist() == [[0, 0, 1, 0, 0, 0], [2, 1, 0, 0, 0, 0]]
    assert dict(source.unknown) == {"colour": 1, "shape": 1}  # training had no missing values
    recipe = read(write(tmp_path, MIXED, ending), missing="mean")[2].recipe
    X, _, _ = read(new, recipe, labelled=False)
    np.testing.assert_array_equal(X, [[np.nan, 0, 1, 0, 0, 0], [2, 1, 0, 0, 0, 0]])


def test_places_count_through_all_chunks(tmp_path, ending):
    values = [float(k) for k in range(30)]
    values[23] = None
    path = write(tmp_path, {"a": values, "label": ["p", "q"] * 15}, ending)
    for chunk_bytes in (1, 60, 1 << 20):
        with pytest.raises(FormatError, match="'a' is missing") as caught:
            read(path, chunk_bytes=chunk_bytes)
        assert caught.value.line == (25 if ending[:3] in ("csv", "tsv") else 24)


def test_missing_labels_are_never_accepted(tmp_path, ending):
    path = write(tmp_path, {"a": [1.0, 2.0, 3.0], "label": ["x", None, "y"]}, ending)
    with pytest.raises(FormatError, match="the label is missing"):
        read(path, missing="zero")
    X, y, source = read(path, skip_bad=True)
    assert (X.tolist(), y.tolist(), source.skipped.count) == ([[1], [3]], ["x", "y"], 1)


def test_several_files_are_one(tmp_path, ending):
    parts = [{name: values[k : k + 8] for name, values in MIXED.items()} for k in (0, 8, 16)]
    parts[1] = {name: parts[1][name] for name in reversed(parts[1])}
    for number, part in enumerate(parts):
        write(tmp_path, part, ending, f"part{number}")
    X, y, source = read(f"{tmp_path}/part*.{ending}")
    expected, labels, _ = read(write(tmp_path, MIXED, ending))
    np.testing.assert_array_equal(X, expected)
    assert y.tolist() == labels.tolist()
    assert [file[-len(ending) - 6 :] for file in source.files] == [f"part{k}.{ending}" for k in range(3)]
    again, _, _ = read(list(source.files))
    np.testing.assert_array_equal(again, X)


@pytest.mark.parametrize("ending", [each for each in EVERY if "jsonl" not in each])  # objects may lack any key
def test_files_that_differ(tmp_path, ending):
    first = write(tmp_path, NUMBERS, ending)
    for change, problem in (({"c": [1.0] * 24}, "has in addition the column 'c'"), ({}, "lacks the column 'b'")):
        other = {"a": NUMBERS["a"], "label": NUMBERS["label"], **change}
        other = {**NUMBERS, **change} if change else other
        with pytest.raises(FormatError, match=problem) as caught:
            read([first, write(tmp_path, other, ending, "other")])
        assert "other" in caught.value.file


def test_a_second_pass_is_the_first(tmp_path, ending):
    source = open_source([write(tmp_path, GAPS, ending)], Options(skip_bad=True))
    for _ in range(2):
        [chunk] = source.chunks()
        assert dense(chunk).tolist() == [[1, 1, 0], [3, 0, 1]]
        assert source.skipped.count == 1
        assert source.n_read == 2


def test_standard_input(tmp_path, ending, monkeypatch):
    path = write(tmp_path, MIXED, ending)
    expected, labels, _ = read(path)

    class Stdin:
        buffer = io.BytesIO(Path(path).read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    if ending in ("parquet", "arrow", "feather"):
        with pytest.raises(FormatError, match=r"<stdin>: .* cannot be read from standard input"):
            read("-")
        return
    options = {"format": "tsv"} if ending == "tsv" else {}
    X, y, source = read("-", **options)
    np.testing.assert_array_equal(X, expected)
    assert y.tolist() == labels.tolist()
    with pytest.raises(InputError, match="only once"):
        source.chunks()


def test_missing_files_are_all_named(tmp_path):
    here = write(tmp_path, NUMBERS, "csv")
    with pytest.raises(InputError, match=r"no such file: .*one\.csv, .*two\*\.csv"):
        read([f"{tmp_path}/one.csv", here, f"{tmp_path}/two*.csv"])
    with pytest.raises(InputError, match="folder"):
        read(str(tmp_path))
    with pytest.raises(InputError, match="only once"):
        read(["-", "-"])
    with pytest.raises(InputError, match="nothing to read"):
        read([])


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst", "jsonl.gz"])
def test_truncated_archives(tmp_path, ending):
    path = write(tmp_path, {"a": list(np.linspace(0, 1, 500)), "label": [0, 1] * 250}, ending)
    content = Path(path).read_bytes()
    for length in (len(content) - 1, len(content) - 9, len(content) // 2):
        Path(path).write_bytes(content[:length])
        with pytest.raises(FormatError, match="damaged or cut short"):
            read(path)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow", "npz", "npy", "svmlight", "tsv"])
def test_empty_files(tmp_path, kind):
    path = tmp_path / f"empty.{kind}"
    path.write_bytes(b"")
    with pytest.raises(FormatError):
        read(str(path))
    with pytest.raises(FormatError):
        read(str(path), format=kind)


def test_known_without_reading(tmp_path):
    for ending in ("parquet",):
        path = write(tmp_path, NUMBERS, ending)
        source = open_source([path, path])
        known = source.known()
        assert (known.n_rows, known.n_features, known.classes.tolist()) == (48, 2, ["no", "yes"])
        assert sum(chunk.n_rows for chunk in source.chunks()) == 48
    for ending in ("csv", "jsonl", "arrow"):
        assert open_source([write(tmp_path, NUMBERS, ending)]).known() is None
    assert open_source([write(tmp_path, MIXED, "parquet")]).known() is None
    assert open_source([path], Options(skip_bad=True)).known() is None


@pytest.mark.parametrize("ending", TYPED)
def test_types_of_columns(tmp_path, ending):
    columns = {
        "flag": pa.array([True, False, None]),
        "small": pa.array([1, 2, 3], pa.int8()),
        "half": pa.array([0.5, 1.5, 2.5], pa.float32()),
        "named": pa.array(["p", "q", "p"]).dictionary_encode(),
        "money": pa.array(["1.25", "2.50", "3.75"]).cast(pa.decimal128(6, 2)),
        "long": pa.array(["s", "t", "s"], pa.large_string()),
        "y": pa.array([True, False, True]),
    }
    X, y, source = read(write(tmp_path, columns, ending), missing="zero")
    assert source.names == ("flag", "small", "half", "money", "named=p", "long=s", "named=q", "long=t")
    assert X.tolist() == [
        [1, 1, 0.5, 1.25, 1, 1, 0, 0],
        [0, 2, 1.5, 2.5, 0, 0, 1, 1],
        [0, 3, 2.5, 3.75, 1, 1, 0, 0],
    ]
    assert y.dtype == bool
    single = {"a": pa.array([0.1, 0.2], pa.float32()), "b": pa.array([1, 2], pa.float32()), "y": [0, 1]}
    X, _, _ = read(write(tmp_path, single, ending))
    assert X.dtype == np.float32
    X, _, _ = read(write(tmp_path, {**single, "b": [1.0, 2.0]}, ending))
    assert X.dtype == np.float64


@pytest.mark.parametrize(
    "column, told",
    [
        (pa.array([[1], [2]]), "list"),
        (pa.array([{"p": 1}, {"p": 2}]), "struct"),
        (pa.array([b"p", b"q"]), "binary"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_types_that_are_no_features(tmp_path, ending, column, told):
    path = write(tmp_path, {"a": [1.0, 2.0], "odd": column, "y": [0, 1]}, ending)
    with pytest.raises(FormatError, match=rf"'odd' holds values of type {told}.*ignore=\['odd'\]") as caught:
        read(path)
    assert caught.value.column == 2
    X, _, _ = read(path, ignore=("odd",))
    assert X.tolist() == [[1], [2]]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_integers_that_float64_would_round(tmp_path, ending):
    path = write(tmp_path, {"id": [1, 2**53 + 1, 3], "big": [2**60, 2, 3], "y": [0, 1, 0]}, ending)
    with pytest.raises(
        FormatError, match=r"'id' is '?9007199254740993'?, an integer beyond 2\^53.*ignore=\['id'\]"
    ) as caught:
        read(path)
    assert caught.value.line == (3 if ending == "csv" else 2)
    X, _, _ = read(path, skip_bad=True)
    assert X.tolist() == [[1, 2.0**60], [3, 3]]
    X, _, _ = read(path, categorical=("id",))
    assert X[:, 1:].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather"])
def test_numbers_must_be_finite(tmp_path, ending):
    path = write(tmp_path, {"a": [1.0, float("inf")], "y": [0, 1]}, ending)
    with pytest.raises(FormatError, match="'a' is inf") as caught:
        read(path, missing="zero")
    assert caught.value.column == 1
    large = write(tmp_path, {"a": [1e308, 1e308], "b": [1e308, 1e308], "y": [0, 1]}, ending, "large")
    assert read(large)[0].tolist() == [[1e308, 1e308]] * 2


def test_categories_have_a_limit(tmp_path, monkeypatch):
    # The first name recurs; if none did, they would only tell rows apart.
    names = [f"n{max(k, 1)}" for k in range(1002)]
    columns = {"name": names, "a": [1.0] * 1002, "y": [0, 1] * 501}
    path = write(tmp_path, columns, "csv")
    with monkeypatch.context() as fewer:
        fewer.setattr("rosenblatt.tables.encoder.MOST_CATEGORIES", 1000)
        with pytest.raises(
            FormatError, match=r"'name' holds more than 1,000 .*ignore=\['name'\].*text=\['name'\].*hashed="
        ):
            read(path)
    assert read(path)[0].shape == (1002, 1002)
    assert read(path, categorical=("name",))[0].shape == (1002, 1002)
    assert read(path, hashed=("name",), bits=4)[0].shape == (1002, 17)


names = st.text(st.characters(codec="utf-8", exclude_characters='\0\r\n\t",'), min_size=1, max_size=6)
safe = names.map(lambda text: f"v{text}".strip())
floats = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
@settings(max_examples=25)
@given(rows=st.lists(st.tuples(floats, floats, safe, safe), min_size=1, max_size=12))
def test_round_trip(tmp_path, ending, rows):
    a, b, kind, label = (list(column) for column in zip(*rows, strict=True))
    X, y, source = read(write(tmp_path, {"a": a, "b": b, "kind": kind, "label": label}, ending), chunk_bytes=40)
    np.testing.assert_array_equal(X[:, :2], np.array([a, b]).T)
    met = list(dict.fromkeys(kind))
    assert source.names == ("a", "b", *(f"kind={value}" for value in met))
    np.testing.assert_array_equal(X[:, 2:], np.array(kind)[:, None] == np.array(met)[None, :])
    assert y.tolist() == label


@pytest.mark.parametrize("kind", TYPED)
def test_row_numbers_that_pandas_adds_are_no_column(tmp_path, kind):
    columns = {"a": [1.0, 2.0, 3.0], "spam": ["p", "q", "p"], "__index_level_0__": [7, 3, 5]}
    X, y, source = read(write(tmp_path, columns, kind))
    assert (X.tolist(), y.tolist(), source.names) == ([[1], [2], [3]], ["p", "q", "p"], ("a",))
