"""Which columns are what."""

import pytest

from rosenblatt.exceptions import FormatError, InputError, ParameterError
from tests.formats.files import read, write

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
        ({"features": ("colours",)}, r"--features: there is no column 'colours' \(did you mean 'colour'"),
        ({"ignore": (6,)}, "--ignore: there is no column 6; positions run from 1 to 5"),
        ({"text": (0,)}, "no column 0"),
        ({"target": "colour", "features": ("colour",)}, "is the target and cannot be in --features"),
        ({"ignore": ("Class",)}, "is the target and cannot be ignored"),
        ({"text": ("remark",), "ignore": ("remark",)}, "is in --ignore and in --text"),
        ({"features": ("width",), "ignore": ("width",)}, "is in --features and in --ignore"),
        ({"text": ("remark",), "categorical": ("remark",)}, "--text and in --categorical"),
        ({"ignore": (1, 2, 3, 5)}, "nothing is left to learn from"),
        ({"missing": "guess"}, "missing is 'guess'"),
        ({"bits": 0}, "bits is 0"),
        ({"bits": 40}, "bits is 40"),
        ({"ngrams": 0}, "ngrams is 0"),
        ({"chunk_bytes": 0}, "chunk_bytes is 0"),
        ({"format": "xls"}, "format is 'xls'"),
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
