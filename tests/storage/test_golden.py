"""Files of every version of the format load for ever, and say what they said."""

import json
import re

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.registry import BUILT_IN
from rosenblatt.storage import SCHEMA, open_model
from tests.golden.make import EXPECTED, FOLDER, MODEL, told
from tests.storage.models import MODELS, answers, gone_on

FILES = sorted(FOLDER.glob("*.safetensors"))
BY_LIBRARIES = ("Multilayer", "Extreme", "Visual", "KernelPerceptron-stream")
"""What BLAS, LAPACK or exponentials of the machine have a part in: their last digits are not ours to promise."""


def numbers(values):
    return np.array([[float.fromhex(part) for part in np.atleast_1d(value)] for value in values])


WIDE = {"Perceptron-wide", "Perceptron-wide-stream"}
"""What version 3 was made for; all else is still written as version 2."""


LATER = {
    "PassiveAggressiveClassifier": {2},
    "ConfidenceWeightedClassifier": {3},
    "PassiveAggressiveRegressor": {2},
    "OrdinalPerceptron": {2},
    "PNormPerceptron": {3},
    "RankingPerceptron": {2},
    "MultilabelPerceptron": {2},
    "MultilabelPerceptron-arow": {3},
    "SequencePerceptron": {2},
    "Perceptron-uneven-stream": {2},
}
"""Learners and rules that came later, with the versions of their files."""


def versions_of(name):
    if name in WIDE:
        return {3}
    return LATER.get(name, LATER.get(name.split("-")[0], {1, 2}))


def test_there_are_files_of_this_version_for_every_learner():
    for schema in (1, 2, 3):
        found = {path.name.split(".")[0].split("-")[0] for path in FILES if f".v{schema}." in path.name}
        assert found >= {name for name in BUILT_IN if schema in versions_of(name)}


def test_there_are_files_of_every_version_and_they_are_small():
    versions = {int(re.search(r"\.v(\d+)\.", path.name)[1]) for path in FILES}
    assert versions == set(range(1, SCHEMA + 1))
    assert {path.name for path in FILES} >= {
        MODEL.format(name=name, schema=schema) for name in MODELS for schema in versions_of(name)
    }
    assert sum(path.stat().st_size for path in FOLDER.glob("*.v*")) < 600_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".safetensors"))
@pytest.mark.parametrize("moment", ["now", "gone on"])
def test_it_says_what_it_said(path, moment):
    name, schema = re.fullmatch(r"(.+)\.v(\d+)\.safetensors", path.name).groups()
    expected = json.loads((FOLDER / EXPECTED.format(name=name, schema=schema)).read_text(encoding="utf-8"))[moment]
    model = rb.load(path)
    found = told(answers(model if moment == "now" else gone_on(model)))
    if not name.startswith(BY_LIBRARIES):
        assert found == expected
        return
    assert len(found) == len(expected)
    for (kind, shape, values), (kind_then, shape_then, values_then) in zip(found, expected, strict=True):
        assert (kind, shape) == (kind_then, shape_then)
        if kind in "fc":
            np.testing.assert_allclose(numbers(values), numbers(values_then), rtol=1e-5, atol=1e-6)
        else:
            assert values == values_then


def test_the_header_says_what_it_said():
    stored = open_model(FOLDER / MODEL.format(name="Perceptron-named", schema=1))
    assert (stored.learner, stored.schema, stored.preparation.steps) == ("Perceptron", 1, ())
    assert stored.feature_names == ("a", "b", "c", "d", "e")
    assert stored.classes.tolist() == ["no", "yes"]
    assert stored.parameters["average"] is True
    assert stored.provenance["created"] == "2026-01-01T00:00:00+00:00"
