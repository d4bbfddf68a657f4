"""What the process behind the lab page answers, asked without a page."""

import json

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ScaleWarning
from rosenblatt.lab.questions import read_message
from rosenblatt.lab.replies import Answers, answered

X = [[30000.0, 25.0], [52000.0, 41.0], [33000.0, 58.0], [71000.0, 52.0], [28000.0, 22.0], [64000.0, 30.0]]
Y = [-1, 1, 1, -1, 1, -1]


def asked(known=None, **question):
    question = {"id": 1, **question}
    return answered(known or Answers((), {}), read_message(json.dumps(question).encode()))


def points(**more):
    return {"do": "run", "X": X, "y": Y, "labels": ["no", "yes"], "features": ["income", "age"], **more}


def warned_of(fit):
    with pytest.warns(ScaleWarning) as told:
        fit()
    return [str(each.message) for each in told if each.category is ScaleWarning]


@pytest.mark.parametrize("learner", ["voted", "pocket", "kernel", "perceptron"])
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_page_gets_the_warnings_of_the_library_with_the_names_of_columns(learner):
    (told,) = (each for each in asked(**points(learner=learner))["warnings"] if "larger than" in each)
    assert "column 'income' is more than 1,000 times larger than column 'age'" in told
    cls, fixed = rb.registry.command(learner)
    (said,) = warned_of(lambda: cls(**fixed).fit(np.array(X), Y))
    assert told == said.replace("column 0", "column 'income'").replace("column 1", "column 'age'")


def test_a_run_by_the_rule_of_the_page_warns_too():
    (told,) = (each for each in asked(**points(passes=5))["warnings"] if "larger than" in each)
    assert "'income'" in told
    (told,) = (each for each in asked(**points(passes=5) | {"features": []})["warnings"] if "larger than" in each)
    assert "column 0" in told


def test_names_change_no_bit_of_a_run():
    named, nameless = (asked(**points(passes=9, features=names)) for names in (["income", "age"], []))
    assert named["document"]["end"] == nameless["document"]["end"]
    assert named["document"]["mistakes"] == nameless["document"]["mistakes"]


def test_a_table_of_a_file_warns_with_its_own_names(tmp_path):
    lines = ["income,age,status", *(f"{a},{b},{c}" for (a, b), c in zip(X, Y, strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    known = Answers((str(tmp_path / "people.csv"),), {})
    assert "warnings" not in asked(known, do="data")
    assert "'income'" in " ".join(asked(known, do="run", learner="voted")["warnings"])


def test_what_ends_well_comes_without_warnings():
    scaled = ((np.array(X) - np.mean(X, axis=0)) / np.std(X, axis=0)).tolist()
    reply = asked(**points(learner="perceptron") | {"X": scaled, "y": [-1, 1, -1, 1, -1, 1]})
    assert "warnings" not in reply
    assert asked(do="data") == {}
