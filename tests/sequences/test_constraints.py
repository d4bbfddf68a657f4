"""Which labels may follow each other."""

import itertools

import numpy as np
import pytest

from rosenblatt.exceptions import LabelError, ParameterError
from rosenblatt.sequences.sentence_problem import as_constraints, require_allowed

BIO = np.array(["B-X", "B-Y", "I-X", "I-Y", "O"])
BIOES = np.array(["B-X", "E-X", "E-Y", "I-X", "O", "S-X", "S-Y"])


def allowed(labels, classes, constraints):
    held = as_constraints(constraints, classes)
    codes = np.array([classes.tolist().index(label) for label in labels])
    try:
        require_allowed(held, codes, np.array([0, len(codes)]), classes)
    except LabelError:
        return False
    return True


def is_bio(labels):
    """Every I continues a span of its type."""
    return all(
        label[0] != "I" or (before != "O" and before[2:] == label[2:])
        for before, label in itertools.pairwise(["O", *labels])
    )


def is_bioes(labels):
    """Read spans one after the other."""
    inside = None
    for label in labels:
        kind, span = label[0], label[2:]
        if (inside is not None) != (kind in "IE") or (kind in "IE" and span != inside):
            return False
        inside = span if kind in "BI" else None
    return inside is None


@pytest.mark.parametrize("name, classes, rule", [("bio", BIO, is_bio), ("bioes", BIOES, is_bioes)])
def test_a_scheme_allows_its_spans_and_nothing_else(name, classes, rule):
    for n in (1, 2, 3):
        for labels in itertools.product(classes.tolist(), repeat=n):
            assert allowed(labels, classes, name) == rule(labels), labels


def test_pairs_are_forbidden():
    classes, pairs = np.array(["a", "b"]), [("a", "b"), (None, "b"), ("a", None)]
    assert [
        labels for n in (1, 2) for labels in itertools.product("ab", repeat=n) if allowed(labels, classes, pairs)
    ] == []
    assert allowed("ba", classes, [("a", "b")])
    assert not allowed("ab", classes, [("a", "b")])


def test_the_place_is_named():
    held = as_constraints("bio", BIO)
    starts = np.array([0, 2, 2, 4])
    with pytest.raises(LabelError, match=r"y\[2\]\[1\] is 'I-X' after 'O'"):
        require_allowed(held, np.array([0, 2, 4, 2]), starts, BIO)
    with pytest.raises(LabelError, match=r"y\[2\]\[0\] is 'I-X' at the start"):
        require_allowed(held, np.array([0, 2, 2, 2]), starts, BIO)
    with pytest.raises(LabelError, match=r"y\[0\]\[0\] is 'B-X' at the end"):
        require_allowed(as_constraints("bioes", BIOES), np.array([0]), np.array([0, 1]), BIOES)


NO_CONSTRAINTS = ["iob", 3, [("a",)], [(None, None)], [("O", "Q")], [(["O"], "O")], {"a": "b"}]


@pytest.mark.parametrize("constraints", NO_CONSTRAINTS)
def test_bad_constraints(constraints):
    with pytest.raises(ParameterError, match="constraints"):
        as_constraints(constraints, BIO)


@pytest.mark.parametrize("label", ["NOUN", "O-X", "B", "start"])
def test_labels_of_no_scheme(label):
    with pytest.raises(LabelError, match="is not a label of constraints='bio'"):
        as_constraints("bio", np.array(["O", label]))
