"""Which columns are what."""

from pathlib import Path
from unittest.mock import Mock

import pytest

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError, ParameterError
from rosenblatt.tables import delimited
from tests.tables.files import read, write

COLUMNS = {
    "height": [1.0, 2.0],
    "width": [3.0, 4.0],
    "colour": ["red", "blue"],
    "Class": ["p", "q"],
    "remark": ["well, well", "no"],
}


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def path(request, tmp_path):
    return write(tmp_path, COLUMNS, request.param)


def test_the_target_is_found_by_name_or_is_the_last(path, tmp_path):
    _, y, source = read(path)
    assert y.tolist() == ["p", "q"]
    assert source.recipe.target == ("Class", 3)
    plain = write(tmp_path, {"a": [1.0], "b": [2.0]}, "csv", "plain")
    assert read(plain)[2].recipe.target == ("b", 1)
    assert read(plain, labelled=False)[2].recipe.target is None


@pytest.mark.parametrize("target", ["remark", 5, -1, "5", "-1"])
def test_columns_by_name_or_position(path, target):
    _, y, source = read(path, target=target, ignore=("Class", 3))
    assert y.tolist() == COLUMNS["remark"]
    assert source.names == ("height", "width")


def test_choosing_features(path):
    assert read(path, features=("width", "colour"))[2].names == ("width", "colour=red", "colour=blue")
    assert read(path, features=(-4,))[2].names == ("width",)
    assert read(path, ignore=("remark", "colour"))[2].names == ("height", "width")
    X, _, source = read(path, features=("height",), text=("remark",), bits=4)
    assert X.shape == (2, 17)
    assert source.names is None
    assert source.recipe.names(source.n_features)[1] == "remark#0"


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"target": "hight"}, r"no column 'hight' \(did you mean 'height'"),
        ({"features": ("colours",)}, r"features: there is no column 'colours' \(did you mean 'colour'"),
        ({"ignore": (6,)}, "ignore: there is no column 6; positions run from 1 to 5"),
        ({"text": (0,)}, "no column 0"),
        ({"target": "colour", "features": ("colour",)}, "is the target and cannot be in features"),
        ({"ignore": ("Class",)}, "is the target and cannot be ignored"),
        ({"text": ("remark",), "ignore": ("remark",)}, "is in ignore and in text"),
        ({"features": ("width",), "ignore": ("width",)}, "is in features and in ignore"),
        ({"text": ("remark",), "categorical": ("remark",)}, "text and in categorical"),
        ({"ignore": (1, 2, 3, 5)}, "nothing is left to learn from"),
        ({"missing": "guess"}, "missing='guess'"),
        ({"bits": 0}, "bits=0"),
        ({"bits": 40}, "bits=40"),
        ({"ngrams": 0}, "ngrams=0 must"),
        ({"chunk_bytes": 0}, "chunk_bytes=0"),
        ({"format": "xls"}, "format='xls' is not one of 'csv'"),
    ],
)
def test_what_contradicts(path, options, problem):
    with pytest.raises((FormatError, ParameterError), match=problem):
        read(path, **options)


def test_means_must_have_been_learned(path):
    recipe = read(path)[2].recipe
    with pytest.raises(ParameterError, match="needs the means of the training rows"):
        read(path, recipe, missing="mean")
    assert isinstance(ParameterError("x"), InputError)
    read(path, recipe, missing="zero")


def test_another_target_to_evaluate_on(path, tmp_path):
    recipe = read(path, ignore=("remark", "colour"))[2].recipe
    other = write(tmp_path, {"width": [1.0], "height": [2.0], "truth": ["q"]}, "csv", "other")
    X, y, _ = read(other, recipe, target="truth")
    assert (X.tolist(), y.tolist()) == ([[2, 1]], ["q"])
    with pytest.raises(FormatError, match="is a feature of the model too"):
        read(other, recipe, target="width")


def measured(n=60):
    return {
        "x": [float(k) for k in range(n)],
        "y": [(7 * k) % n for k in range(n)],
        "c": ["ab"[k % 2] for k in range(n)],
    }


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow", "arrows"])
def test_a_name_does_not_make_a_target_of_measurements(tmp_path, ending):
    columns = measured()
    path = write(tmp_path, columns, ending)
    X, y, source = read(path)
    assert source.recipe.target == ("c", 2)
    assert y.tolist() == columns["c"]
    assert X.tolist() == [list(row) for row in zip(columns["x"], columns["y"], strict=True)]
    [note] = source.notes
    assert note == "'c' was taken as the target, because 'y' holds numbers; target='y' takes 'y'"
    assert not read(path, target="c")[2].notes
    assert read(path, target="y")[1].tolist() == columns["y"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "codes, takes", [((0, 1), "y"), ((2, 1), "y"), ((1, -1), "y"), ((2, 3), "c"), ((0, 1, 2), "c")]
)
def test_numbers_with_a_usual_name_are_the_target_only_as_two_codes(tmp_path, codes, takes, ending):
    columns = measured() | {"y": [codes[k % len(codes)] for k in range(60)]}
    for order in (("x", "y", "c"), ("c", "y", "x")):
        _, y, source = read(write(tmp_path, {name: columns[name] for name in order}, ending))
        assert (source.recipe.target[0], y.tolist()) == (takes, columns[takes])
        other, why = ("c", "") if takes == "y" else ("y", ", because 'y' holds numbers")
        told = f"{takes!r} was taken as the target{why}; target={other!r} takes {other!r}"
        assert source.notes == ((told,) if takes == "c" or order[-1] == "c" else ())


@pytest.mark.parametrize(
    "values, why",
    [
        ([None] * 60, "no names of classes"),
        ([f"2024-01-{1 + k % 28:02}" for k in range(60)], "no names of classes"),
        ([f"n{k}" for k in range(60)], "many different values"),
        ([k / 7 for k in range(60)], "numbers"),
    ],
)
def test_why_a_usual_name_was_not_taken(tmp_path, values, why):
    source = read(write(tmp_path, measured() | {"y": values}, "csv"), date="none")[2]
    assert source.notes[0] == f"'c' was taken as the target, because 'y' holds {why}; target='y' takes 'y'"


def test_digits_beside_pixels_are_the_target(tmp_path):
    pixels = {f"p{j}": [(k * j) % 5 for k in range(60)] for j in range(1, 4)}
    for columns in (
        {"label": [k % 10 for k in range(60)]} | pixels,
        pixels | {"label": [k % 10 for k in range(60)]},
    ):
        source = read(write(tmp_path, columns, "csv"))[2]
        assert (source.recipe.target[0], source.notes) == ("label", ())


WORDS = ["ab"[k % 2] for k in range(60)]
ANSWERED = [("Yes", "no")[k % 2] for k in range(60)]
PLAIN = [k / 7 for k in range(60)]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "columns, target, other",
    [
        ({"species": WORDS, "mass": PLAIN, "sex": WORDS}, "sex", "species"),
        ({"species": WORDS, "mass": PLAIN, "rings": [k % 3 for k in range(60)]}, "rings", "species"),
        ({"": [*range(60)], "species": WORDS, "mass": PLAIN, "sex": WORDS}, "sex", "species"),
        ({"c": WORDS, "x": PLAIN, "y": [k % 28 for k in range(60)]}, "y", "c"),
        ({"employed": ANSWERED, "mass": PLAIN, "foreign": ANSWERED}, "foreign", "employed"),
        ({"city": WORDS, "mass": PLAIN, "buys": ANSWERED}, "buys", None),  # an answer is likelier than a name
        ({"city": WORDS, "mass": PLAIN, "buys": [k % 2 for k in range(60)]}, "buys", None),
        ({"class": WORDS, "age": PLAIN, "survived": WORDS}, "class", "survived"),
        ({"sex": WORDS, "mass": PLAIN, "label": WORDS}, "label", None),  # its name and its place agree
        ({"sex": WORDS, "mass": PLAIN, "y": [k % 2 for k in range(60)]}, "y", None),
        ({"label": WORDS, "sex": WORDS, "mass": PLAIN}, "label", None),
        ({"mass": PLAIN, "sex": WORDS, "species": WORDS}, "species", None),
        ({"rings": [k % 3 for k in range(60)], "mass": PLAIN, "sex": WORDS}, "sex", None),
    ],
)
def test_two_columns_that_could_be_the_target_are_noted(tmp_path, columns, target, other, ending):
    path = write(tmp_path, columns, ending)
    source = read(path)[2]
    told = f"{target!r} was taken as the target; target={other!r} takes {other!r}"
    assert (source.recipe.target[0], source.other_target) == (target, other)
    assert [note for note in source.notes if "as the target" in note] == ([told] if other else [])
    if other:
        notes = read(path, target=target)[2].notes + read(path, ignore=(other,))[2].notes
        assert not any("as the target" in note for note in notes)


@pytest.mark.parametrize(
    "values, noted",
    [
        (["7.700", "950", "12.345", "800"], True),
        (["-7.700", "950", "+1.000", "0"], True),
        (["7.700", "950", "12.345", "800.5"], False),  # points are decimal marks here
        (["7.700", "12.345", "1.250", "3.125"], False),  # three decimals throughout
        (["7.700", "950", "3", "800"], False),  # one could be a decimal number
        (["0.700", "950", "0.345", "800"], False),
        (["7.700", "1950", "12.345", "800"], False),  # thousands without a point
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_points_that_could_separate_thousands_are_noted(tmp_path, values, noted, ending):
    mark = "," if ending == "csv" else "\t"
    lines = [mark.join(row) for row in (("p", "n", "c"), *zip(values, "1234", "abab", strict=True))]
    path = [str(tmp_path / f"t.{ending}")]
    Path(path[0]).write_text("\n".join(lines) + "\n")
    X, _, source = read(path)
    assert X[:, 0].tolist() == [float(value) for value in values]
    said = "in 'p' was read as a decimal mark; if it separates thousands, use"
    assert source.notes == ((f"the point of {values[0]} {said} thousands='.'",) if noted else ())
    assert not read(path, decimal=".")[2].notes
    if noted:
        X, _, source = read(path, thousands=".")
        assert X[:, 0].tolist() == [float(value.replace(".", "")) for value in values]
        assert not source.notes


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "arrow"])
def test_numbers_as_text_of_typed_files_are_noted(tmp_path, ending):
    columns = {"p": ["7,700", "950", "8,100", "800"], "zip": ["10115", "20095", "10115", "20095"], "c": [*"abab"]}
    notes = read(write(tmp_path, columns, ending))[2].notes
    assert notes == (
        "'p' holds numbers as text ('7,700'), which were taken as categories; cast them to numbers to use them so",
    )
    assert not read(write(tmp_path, columns, ending), categorical=("p",))[2].notes
    columns["p"] = ["7,700", "high", "low", "middle"]
    assert not read(write(tmp_path, columns, ending))[2].notes


@pytest.mark.parametrize("n_different, role", [(30, "categorical"), (31, "texts")])
def test_sentences_that_rows_repeat_are_categories(tmp_path, n_different, role):
    said = [f"number {k % n_different} of the answers that they could choose from" for k in range(60)]
    recipe = read(write(tmp_path, {"x": PLAIN, "said": said, "c": WORDS}, "csv"))[2].recipe
    assert [name for name, _ in getattr(recipe, role)] == ["said"]


def test_several_columns_with_usual_names(tmp_path):
    columns = {
        "y": [k % 2 for k in range(60)],
        "label": ["pq"[k % 3 > 0] for k in range(60)],
        "a": measured()["x"],
    }
    _, y, source = read(write(tmp_path, columns, "csv"))
    assert y.tolist() == columns["label"]
    assert source.notes == ("'label' was taken as the target; target='y' takes 'y'",)
    columns = {"label": measured()["x"], "class": columns["label"], "a": measured()["y"]}
    _, y, source = read(write(tmp_path, columns, "csv"))
    assert y.tolist() == columns["class"]  # the column called label holds measurements
    assert not source.notes


@pytest.mark.parametrize(
    "columns, target",
    [
        (
            {"y": [float(k) / 7 for k in range(60)], "c": [k % 2 for k in range(60)]},
            "c",
        ),  # few numbers are classes
        ({"label": [f"n{k}" for k in range(60)], "c": ["ab"[k % 2] for k in range(60)]}, "c"),
        ({"y": [float(k) for k in range(60)], "c": [float(k) for k in range(60)]}, "y"),  # neither holds classes
        ({"label": [k % 2 for k in range(60)], "text": [f"word {k}" for k in range(60)]}, "label"),
        ({"label": [0, 1, 1], "text": ["p q", "r s", "t u"]}, "label"),
        ({"a": [float(k) for k in range(60)], "y": [k % 40 for k in range(60)]}, "y"),  # it is the last
    ],
)
def test_which_column_is_the_target(tmp_path, columns, target):
    _, _, source = read(write(tmp_path, columns, "csv"), skip_bad=True, hashed=("text",) * ("text" in columns))
    assert source.recipe.target[0] == target
    assert bool(source.notes) == (target == "c")


@pytest.mark.parametrize("kept", [500_000, 0])
def test_the_first_rows_are_split_once_for_all_columns_that_may_name_rows(tmp_path, monkeypatch, kept):
    """Splitting them for each of many columns takes a time that grows with the square of their number."""
    monkeypatch.setattr(delimited, "KEPT_CELLS", kept)
    split = Mock(side_effect=delimited.fields_of)
    monkeypatch.setattr(delimited, "fields_of", split)
    for n_rows, most in ((40, 3), (60, 3 if kept else 99)):
        path = tmp_path / f"{n_rows}.csv"
        rows = [",".join([*(str((7 * i + j) % 5) for j in range(30)), "ab"[i % 2]]) for i in range(n_rows)]
        path.write_text("\n".join([",".join([*(f"n{j}" for j in range(30)), "label"]), *rows]) + "\n")
        split.reset_mock()
        rb.open_data(path)
        assert split.call_count <= most + 3, (n_rows, split.call_count)
