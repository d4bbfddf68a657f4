"""Recipes are written and read strictly."""

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import InputError, ModelFileError, ParameterError
from rosenblatt.rows import memory
from rosenblatt.tables.recipe import Recipe, SparseRecipe, TableRecipe

TABLE = TableRecipe(
    named=True,
    n_columns=7,
    target=("label", 6),
    labels="name",
    numbers=(("age", 0), ("size", 3)),
    texts=(("text", 1),),
    hashed=(("zip", 2),),
    categorical=(("colour", 4), ("shape", 5)),
    categories=((0, "red"), (1, "flat"), (0, "blue")),
    ngrams=2,
    bits=3,
    missing="mean",
    words=({1: ("free",), 5: ("call", "me")}, {0: ("9000",)}),
)


WRITTEN = replace(TABLE, na=("=gone",), decimal=",", thousands=".")


@pytest.mark.parametrize("recipe", [TABLE, WRITTEN, SparseRecipe(9, True), SparseRecipe(1, None)])
def test_there_and_back(recipe):
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe


def test_names_and_layout():
    names = TABLE.names(TABLE.n_features)
    assert TABLE.n_features == 2 + 8 + 8 + 3 == len(names)
    assert names[:4] == ("age", "size", "text#0", "text=free")
    assert names[7] == "text=call|me"
    assert names[10] == "zip=9000"
    assert names[-3:] == ("colour=red", "shape=flat", "colour=blue")
    assert SparseRecipe(9, True).names(9) is None
    with pytest.raises(ParameterError, match="makes 21 features"):
        TABLE.names(20)


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(each, (*path, key))


PATHS = list(paths(TABLE.to_json()))
wrong = st.sampled_from(
    [None, -1, 2**40, 1.5, "?", True, [], {}, [[]], [1, 2, 3], {"a": 1}, "\ud800", float("nan")]
)


@given(path=st.sampled_from(PATHS), value=wrong)
def test_anything_else_is_refused(path, value):
    whole = copy.deepcopy(TABLE.to_json())
    if path:
        at = whole
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
    else:
        whole = value
    try:
        found = Recipe.from_json(whole)
    except ModelFileError:
        return
    assert found.to_json() == whole  # it happened to be another recipe
    found.names(found.n_features)


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"extra": 1}, "exactly the expected parts"),
        ({"kind": "magic"}, "must be 'table' or 'sparse'"),
        ({"bits": 29}, "recipe.bits is 29, which is not allowed there"),
        ({"ngrams": True}, "recipe.ngrams is True"),
        ({"labels": None}, "null exactly where"),
        ({"target": ["label", 5]}, "one column twice"),
        ({"words": [[], [], []]}, "words are not of each hashed column"),
        ({"words": [[[1, "a", "b", "c", "d"]], []]}, "one to three words"),
        ({"words": [[[8, "a"]], []]}, "a feature that there is not"),
        ({"categories": [[0, "red"], [0, "red"]]}, "twice"),
        ({"categories": [[2, "red"]]}, "a category is of no column"),
        ({"numbers": [["age", 7]]}, "beyond the last one"),
        ({"decimal": ";"}, "recipe.decimal is ';', which is not allowed there"),
        ({"thousands": "00"}, "recipe.thousands is '00'"),
        ({"thousands": "."}, "decimal and thousands must differ"),
    ],
)
def test_what_is_said(change, problem):
    with pytest.raises(ModelFileError, match=problem):
        Recipe.from_json({**TABLE.to_json(), **change})


def test_every_key_is_needed():
    for key in TABLE.to_json().keys() - {"weighting", "indicators", "dates", "date_forms", "date_parts"}:
        with pytest.raises(ModelFileError):
            Recipe.from_json({k: v for k, v in TABLE.to_json().items() if k != key})


def test_recipes_of_older_files_count_words():
    older = {key: value for key, value in TABLE.to_json().items() if key != "weighting"}
    assert Recipe.from_json(older) == replace(TABLE, weighting="count")


def test_names_that_take_more_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    recipe = TableRecipe(True, 2, ("y", 1), "name", texts=(("mail", 0),), bits=28)
    with pytest.raises(InputError, match=r"The names of 268,435,456 features would take 26\.8 GB, but 1 GB"):
        recipe.names(2**28)
