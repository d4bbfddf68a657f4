"""Files of version 1 load for ever, and say what they said."""

import json

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.models import open_model
from rosenblatt.registry import BUILT_IN
from tests.golden.make import FOLDER, MODEL, told
from tests.models.models import MODELS, answers, gone_on
from tests.shared.examples import slowly

FILES = sorted(FOLDER.glob("*.safetensors"))
BY_LIBRARIES = ("Multilayer", "Extreme", "Visual", "KernelPerceptron-stream")
"""What BLAS, LAPACK or exponentials of the machine have a part in: their last digits are not ours to promise."""


def numbers(values):
    return np.array([[float.fromhex(part) for part in np.atleast_1d(value)] for value in values])


def test_there_is_a_file_of_every_model_and_they_are_small():
    assert {path.name for path in FILES} >= {MODEL.format(name=name) for name in MODELS}
    assert {name.split("-")[0] for name in MODELS} >= set(BUILT_IN)
    assert sum(path.stat().st_size for path in FOLDER.glob("*.v*")) < 400_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".safetensors"))
@pytest.mark.parametrize("moment", ["now", *slowly("gone on")])
def test_it_says_what_it_said(path, moment):
    name = path.name.split(".")[0]
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))[moment]
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
    stored = open_model(FOLDER / MODEL.format(name="Perceptron-named"))
    assert (stored.learner, stored.schema, stored.preparation.steps) == ("Perceptron", 1, ())
    assert stored.feature_names == ("a", "b", "c", "d", "e")
    assert stored.classes.tolist() == ["no", "yes"]
    assert stored.parameters["average"] is True
    assert stored.provenance["created"] == "2026-01-01T00:00:00+00:00"
