"""The headline about several classes, computed from the verdicts."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import rosenblatt as rb
from rosenblatt.certify.class_tables import Verdicts
from rosenblatt.certify.proof_reader import verify_proofs
from rosenblatt.cli.main import main

YES, NO, OPEN = "separable", "inseparable", "undecided"


def _said(labels, pairs=None, rest=None):
    """Return the headline of classes that are separable but for those given."""
    found = None if pairs is None else dict.fromkeys(combinations(labels, 2), YES) | pairs
    return Verdicts(found or {}, {} if rest is None else dict.fromkeys(labels, YES) | rest, list(labels))


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        (_said("abc", {}, {}), YES, "Every pair of classes is separable; each class is separable from the rest."),
        (
            _said("0123456789", {}, {"8": NO}),
            YES,
            "Every pair of classes is separable; class 8 is not separable from the rest.",
        ),
        (
            _said("abc", {("b", "c"): NO}, {"b": NO, "c": NO}),
            NO,
            "1 of 3 pairs of classes is not separable (b and c); classes b and c are not separable from the rest.",
        ),
        (
            _said("ab\nc", {("a", "b"): NO, ("a", "c"): OPEN}, dict.fromkeys("ab\nc", NO)),
            NO,
            "1 of 6 pairs of classes is not separable (a and b); 1 of 6 pairs of classes is undecided; no class "
            "is separable from the rest.",
        ),
        (
            _said("abcd", dict.fromkeys(combinations("abcd", 2), NO), None),
            NO,
            "No pair of classes is separable.",
        ),
        (
            _said("abcdefg", dict.fromkeys(combinations("abcd", 2), NO), dict.fromkeys("abcdef", NO)),
            NO,
            "6 of 21 pairs of classes are not separable (a and b, a and c, a and d, b and c, b and d, …); 6 of 7 "
            "classes are not separable from the rest.",
        ),
        (
            _said("abc", {}, {"a": OPEN, "b": OPEN}),
            YES,
            "Every pair of classes is separable; whether classes a and b are separable from the rest is "
            "undecided.",
        ),
        (
            _said("abc", dict.fromkeys(combinations("abc", 2), OPEN), dict.fromkeys("abc", OPEN)),
            OPEN,
            "All 3 pairs of classes are undecided; whether any class is separable from the rest is undecided.",
        ),
        (_said("abc", None, {"a": NO}), NO, "Class a is not separable from the rest."),
        (Verdicts({("a", "b"): YES}, {}, "abc"), OPEN, "2 of 3 pairs of classes are undecided."),
    ],
)
def test_headlines(found, verdict, said):
    assert (found.verdict, found.reason) == (verdict, said)


def test_the_headline_of_digits_is_the_first_line_that_is_printed():
    X, y = load_digits(return_X_y=True)
    found = rb.certify(X[:600], y[:600])
    rest = [label for label, each in found.rest.items() if each.verdict == "inseparable"]
    assert rest == []
    assert str(found).splitlines()[0] == (
        "Every pair of classes is separable; each class is separable from the rest."
    )


def test_undecided_classes_say_why():
    X, y = load_digits(return_X_y=True)
    found = rb.certify(X, y, time_limit=1e-9)
    assert found.verdict == "undecided"
    lines = str(found).splitlines()
    assert lines[0].startswith("All 45 pairs of classes are undecided; whether any class is separable")
    assert lines[-1].startswith("0 against 1 is undecided: Time ")


def test_a_proof_file_claims_no_more_than_it_holds(tmp_path, capsys):
    iris = load_iris()
    X, y = iris.data, iris.target.astype(float)  # labels that proofs hold as text
    whole = rb.certify(X, y)
    proofs = json.loads(whole.to_json())
    found, verdict = verify_proofs(proofs, X, y)
    assert (found.holds, found.reason, verdict) == (True, whole.reason, "inseparable")
    assert "1.0 and 2.0" in found.reason
    part = [each for each in proofs if each["verdict"] == "separable" and each["data"]["negative"] is not None]
    found, verdict = verify_proofs(part, X, y)
    assert (found.reason, verdict) == ("1 of 3 pairs of classes is undecided.", "undecided")
    table = np.c_[X, iris.target]
    np.savetxt(tmp_path / "iris.csv", table, delimiter=",", header="a,b,c,d,label", comments="", fmt="%g")
    assert main(["certify", str(tmp_path / "iris.csv")]) == 1
    said = "1 of 3 pairs of classes is not separable (1 and 2); classes 1 and 2 are not separable from the rest."
    assert capsys.readouterr().out.splitlines()[0] == said
