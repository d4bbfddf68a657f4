"""The stand-alone checker accepts what is true and shown, and nothing else."""

import copy
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.certify import check as checker
from rosenblatt.certify.check import ProofError, check, number, read_proof, text_of
from tests.certify.proofs import (
    CASES,
    HALF,
    OR_MARGIN,
    SQUARE,
    XOR,
    Case,
    accepted,
    at,
    case,
    holds,
    numbers,
    paths,
    plane,
    put,
    weighted,
)

everyone = pytest.mark.parametrize("name", CASES)


@everyone
def test_true_proofs_are_accepted(name):
    rows, labels, proof = CASES[name]
    assert holds(proof, rows, labels)
    said = check(read_proof(json.dumps(proof)), iter(rows), iter(labels))
    assert said.startswith(proof["verdict"].capitalize())
    assert said.endswith(".")
    assert "\n" not in said
    assert ("through the origin" in said) != proof["bias"]


def test_what_is_proved_is_said():
    def said(name):
        rows, labels, proof = CASES[name]
        return check(read_proof(json.dumps(proof)), rows, labels)

    assert said("or, margin") == (
        "Separable: a hyperplane has '1' (3 rows) and '0' (1 rows) strictly on its two sides; "
        "the largest margin γ has 1/8 ≤ γ² ≤ 1/8."
    )
    assert said("against the rest").startswith("Separable: a hyperplane has 'a' (1 rows) and any other (3 rows)")
    assert said("quasi").endswith("strictly on its two sides; with ties one does, 2 rows strictly.")
    assert said("xor, overlap").endswith("one that has no row on its wrong side has all rows on it.")


@pytest.mark.parametrize("squared", [["0x1p-3", "0x123456789abcdef0123/0xfff"], ["0x1p-5000", "0x1p5000"]])
def test_long_bounds_are_said_shortly(squared):
    rows, labels, proof = copy.deepcopy(CASES["or, margin"])
    proof["margin"]["squared"] = squared
    assert len(check(read_proof(json.dumps(proof)), rows, labels)) < 200


@given(
    st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction) | st.integers().map(Fraction)
)
def test_numbers_come_back(value):
    assert number(text_of(value)) == value


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0x0"),
        (-31, "-0x1f"),
        (Fraction(-6, 4), "-0x3p-1"),
        (Fraction(1, 2**100000), "0x1p-100000"),
        (1 << 64, hex(1 << 64)),
    ],
)
def test_numbers_have_one_form(value, text):
    assert text_of(value) == text


def test_a_denominator_beyond_the_exponents_becomes_a_ratio():
    text = text_of(Fraction(1, 2**100001))
    assert "p" not in text
    assert number(text) == Fraction(1, 2**100001)


def put_case(source: Case, field: str, value) -> Case:
    return source._replace(proof=put(source.proof, (field,), value))


nearby = st.sampled_from([Fraction(1, 2**60), Fraction(-1, 2**60), Fraction(1), Fraction(-1), Fraction(1, 3)])
small = st.fractions(-4, 4, max_denominator=6)


@st.composite
def mutated_numbers(draw, text):
    value = number(text)
    return text_of(
        draw(
            st.one_of(nearby.map(lambda by: value + by), small, small.map(lambda by: value * by), st.just(-value))
        )
    )


@st.composite
def single_mutations(draw):
    """Draw a true proof with one field changed to another value of its kind."""
    rows, labels, proof = CASES[draw(st.sampled_from(sorted(CASES)))]
    path = draw(
        st.sampled_from(
            [path for path in paths(proof) if path and path[0] not in ("format", "version", "verdict")]
        )
    )
    assume(path[-1] != "kind")
    old = at(proof, path)
    if isinstance(old, bool):
        new = not old
    elif isinstance(old, int):
        new = draw(st.integers(0, 6))
    elif path[-1] == "sha256":
        k = draw(st.integers(0, 63))
        new = old[:k] + draw(st.sampled_from("0123456789abcdef")) + old[k + 1 :]
    elif path[-1] in ("positive", "negative"):
        new = draw(
            st.sampled_from(
                [
                    "0",
                    "1",
                    "1.0",
                    "01",
                    "7",
                    "a",
                    "spam",
                    "ham",
                    "+",
                    "-",
                    *([None] if path[-1] == "negative" else []),
                ]
            )
        )
    elif isinstance(old, str):
        new = draw(mutated_numbers(old))
    elif isinstance(old, list) and old:
        i, j = draw(st.integers(0, len(old) - 1)), draw(st.integers(0, len(old) - 1))
        new = draw(
            st.sampled_from(
                [old[:i] + old[i + 1 :], [*old, old[i]], [*old[:i], old[j], *old[i + 1 :]], old[::-1], []]
            )
        )
    else:
        assume(False)
    return Case(rows, labels, put(proof, path, new))


@given(single_mutations())
def test_a_changed_field_is_rejected_unless_true(mutated):
    rows, labels, proof = mutated
    assert accepted(proof, rows, labels) == holds(proof, rows, labels)


@st.composite
def pairs_of_mutations(draw):
    """Draw proofs of the smaller cases whose numbers are all anew, so that truth is not rare."""
    rows, labels, proof = copy.deepcopy(CASES[draw(st.sampled_from(sorted(CASES)))])
    for path in [
        path
        for path in paths(proof)
        if isinstance(at(proof, path), str) and at(proof, path)[:3].lstrip("-").startswith("0x")
    ]:
        if draw(st.booleans()):
            proof = put(proof, path, text_of(draw(st.integers(-3, 3).map(Fraction))))
    return Case(rows, labels, proof)


@given(pairs_of_mutations())
def test_many_changed_numbers_are_rejected_unless_true(mutated):
    rows, labels, proof = mutated
    assert accepted(proof, rows, labels) == holds(proof, rows, labels)


PAIR = case([(1,), (1,), (2,), (5,)], "0 1 1 7", combination=weighted(r0=1, r1=1))
OR = CASES["or, margin"]
FALSE = {
    "a negative weight": case(SQUARE, "0 0 0 1", combination=weighted(r0=-1, r1=1, r2=1, r3=1)),
    "a weight of zero": case(SQUARE, "0 1 1 0", combination=weighted(r0=1, r1=1, r2=1, r3=1)),
    "no rows": case(SQUARE, "0 0 0 1", combination=weighted()),
    "no rows without bias": case(SQUARE, "0 0 0 1", bias=False, combination=weighted()),
    "a row twice": put_case(PAIR, "combination", {"rows": [0, 1, 0], "weights": numbers(HALF, 1, HALF)}),
    "a weight of zero beside others": put_case(PAIR, "combination", weighted(r0=1, r1=1, r2=0)),
    "a row of another class": put_case(PAIR, "combination", weighted(r0=1, r1=1, r3=1)),
    "a row of another class alone": put_case(PAIR, "combination", weighted(r3=1)),
    "sums that differ in the constant": case([(0,), (0,)], "0 1", combination=weighted(r0=1, r1=2)),
    "a class against itself": case(SQUARE, "1 1 1 1", negative="1.0", hyperplane=plane(0, 0, b=1)),
    "a plane that touches": case(SQUARE, "0 0 0 1", hyperplane=plane(1, 1, b=-1)),
    "a lower bound above γ²": put_case(OR, "margin", OR.proof["margin"] | {"squared": numbers(HALF, HALF)}),
    "a least margin that rows do not keep": put_case(
        OR, "margin", OR.proof["margin"] | {"least": "0x2", "squared": numbers(HALF**3, HALF)}
    ),
    "a lower bound of 0": put_case(OR, "margin", OR.proof["margin"] | {"squared": numbers(0, 1)}),
    "a negative lower bound": put_case(OR, "margin", OR.proof["margin"] | {"squared": numbers(-1, 1)}),
    "a negative least margin": put_case(
        OR, "margin", OR.proof["margin"] | {"least": "-0x1", "squared": numbers(HALF**4, 1)}
    ),
    "weights that sum to 1 over both classes": put_case(
        OR,
        "margin",
        {"least": "0x1", "squared": numbers(HALF**6, HALF**5), **weighted(r0=HALF, r1=HALF**2, r2=HALF**2)},
    ),
    "weights of one class that do not sum to 1": put_case(
        OR, "margin", OR_MARGIN | weighted(r0=HALF, r1=HALF, r2=HALF)
    ),
    "weights of the other that do not": put_case(OR, "margin", OR_MARGIN | weighted(r0=1, r1=HALF)),
    "an upper bound for want of one class": put_case(
        OR, "margin", {"least": "0x1", "squared": numbers(HALF**6, HALF**6), **weighted(r0=1)}
    ),
    "an upper bound as if with bias": put_case(
        CASES["margin without bias"],
        "margin",
        {"least": "0x1", "squared": numbers(HALF**3, HALF**3), **weighted(r0=HALF, r1=HALF)},
    ),
    "ties without a strict row": put_case(XOR, "ties", {"kind": "quasi", **plane(0, 0, b=0), "strict": 0}),
    "ties with fewer strict rows than said": put_case(
        CASES["quasi"], "ties", CASES["quasi"].proof["ties"] | {"strict": 3}
    ),
    "ties with more strict rows than said": put_case(
        CASES["quasi"], "ties", CASES["quasi"].proof["ties"] | {"strict": 1}
    ),
    "ties with a row on the wrong side": put_case(XOR, "ties", {"kind": "quasi", **plane(1, 1, b=0), "strict": 2}),
    "overlap of some rows only": put_case(
        PAIR, "ties", {"kind": "overlap", **weighted(r0=1, r1=1), "null": [numbers(1, -1)]}
    ),
    "overlap that spans too little": put_case(
        PAIR, "ties", {"kind": "overlap", **weighted(r0=1, r1=1), "null": []}
    ),
    "overlap with a null vector twice": put_case(
        CASES["overlap at a point"],
        "ties",
        {"kind": "overlap", **weighted(r0=1, r1=1), "null": [numbers(1, 0, -3), numbers(2, 0, -6)]},
    ),
    "overlap that does not balance": put_case(
        CASES["xor, overlap"], "ties", {"kind": "overlap", **weighted(r0=1, r1=1, r2=1, r3=2), "null": []}
    ),
    "overlap with a null vector of zeros": put_case(
        CASES["overlap at a point"],
        "ties",
        {"kind": "overlap", **weighted(r0=1, r1=1), "null": [numbers(1, 0, -3), numbers(0, 0, 0)]},
    ),
}
FALSE["a weight of zero"].proof["combination"]["weights"][0] = "0x0"


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_in_good_form_are_rejected(name):
    rows, labels, proof = FALSE[name]
    assert not holds(proof, rows, labels)
    assert not accepted(proof, rows, labels)


anything = st.sampled_from(
    [
        None,
        True,
        False,
        -1,
        10**18,
        1.5,
        "",
        "0x",
        "x",
        "0x1",
        [],
        [[]],
        {},
        {"w": []},
        "0x1p100001",
        "0X1",
        " 0x1",
    ]
)


@st.composite
def broken_proofs(draw):
    """Draw a proof with a value of a wrong kind, a field too many, or one too few."""
    rows, labels, proof = CASES[draw(st.sampled_from(sorted(CASES)))]
    path = draw(st.sampled_from([path for path in paths(proof) if path]))
    old = at(proof, path)
    kind = draw(st.sampled_from(["wrong", "more", "less"]))
    if kind == "wrong":
        new = draw(anything)
        assume(type(new) is not type(old))
        assume(not (isinstance(old, (list, dict)) and isinstance(new, (list, dict))))
        assume(not (path[-1] == "negative" and new in (None, "", "x", "0x", "0x1", "0X1", " 0x1", "0x1p100001")))
        return Case(rows, labels, put(proof, path, new))
    assume(isinstance(old, dict))
    if kind == "more":
        return Case(rows, labels, put(proof, (*path, "more"), 1))
    made = copy.deepcopy(proof)
    del at(made, path)[draw(st.sampled_from(sorted(old)))]
    return Case(rows, labels, made)


@given(broken_proofs())
def test_malformed_proofs_are_rejected(broken):
    rows, labels, proof = broken
    assert not accepted(proof, rows, labels)


@pytest.mark.parametrize("field", ["format", "version", "verdict", "bias", "data", "hyperplane"])
def test_every_field_is_needed(field):
    rows, labels, proof = copy.deepcopy(CASES["and"])
    del proof[field]
    assert not accepted(proof, rows, labels)


@everyone
def test_parts_of_other_verdicts_are_rejected(name):
    rows, labels, proof = CASES[name]
    for field in ("hyperplane", "combination", "margin", "ties", "note"):
        if field not in proof:
            source = next((c.proof[field] for c in CASES.values() if field in c.proof), "a note")
            if (field, proof["verdict"]) not in {("margin", "separable"), ("ties", "inseparable")}:
                assert not accepted(proof | {field: source}, rows, labels)


@everyone
def test_data_one_ulp_off_is_other_data(name):
    rows, labels, proof = CASES[name]
    for i, j in [(0, 0), (len(rows) - 1, len(rows[0]) - 1)]:
        other = copy.deepcopy(rows)
        other[i][j] = math.nextafter(other[i][j], math.inf)
        with pytest.raises(ProofError, match="other data"):
            check(read_proof(json.dumps(proof)), other, labels)


@everyone
def test_other_labels_orders_and_lengths_are_other_data(name):
    rows, labels, proof = CASES[name]
    first, other = 0, next(i for i, label in enumerate(labels) if label != labels[0])
    swapped = list(labels)
    swapped[first], swapped[other] = swapped[other], swapped[first]
    wide = [[*row, 0.0] for row in rows]
    for changed in [
        (rows, swapped),
        (rows[:-1], labels[:-1]),
        (rows + rows[:1], labels + labels[:1]),
        (wide, labels),
    ]:
        if name != "overlap at a point" or changed[1] is not swapped:
            with pytest.raises(ProofError, match="other data"):
                check(read_proof(json.dumps(proof)), *changed)


def test_a_false_statement_of_other_data_is_told_to_be_that():
    rows, labels, proof = CASES["and"]
    with pytest.raises(ProofError, match="other data"):
        check(read_proof(json.dumps(proof)), rows, ["1", *labels[1:]])


def test_a_rejection_names_the_row():
    rows, labels, proof = CASES["and"]
    with pytest.raises(ProofError, match="row 2 is not on its side"):
        check(read_proof(json.dumps(put(proof, ("hyperplane", "b"), "-0x3"))), rows, labels)


def test_classes_that_do_not_occur_are_rejected():
    made = case(SQUARE, "a a b b", hyperplane=plane(0, 0, b=1))
    assert not accepted(made.proof, made.rows, made.labels)


def test_one_class_is_separable():
    made = case(SQUARE, "1 1 1 1", hyperplane=plane(0, 0, b=1))
    assert accepted(made.proof, made.rows, made.labels)


@pytest.mark.parametrize("label", [1, 1.0, " 1", "1", "1e0", "0x1", "one", True])
def test_labels_are_compared_as_numbers_or_text(label):
    assert checker.signer("1", "0")(label) == (1 if str(label).strip() in ("1", "1.0", "1e0") else 0)


@pytest.mark.parametrize(
    "label", ["nan", "inf", "1e999999999", "9007199254740993", "１２x", "1e99999999999999999999"]
)
def test_odd_labels_are_themselves_alone(label):
    sign = checker.signer(label, None)
    assert sign(label) == 1
    assert [sign(other) for other in ("9007199254740992", "1e999999998", "NAN", "Infinity")] == [-1] * 4


def test_the_page_names_every_field_of_a_proof():
    page = Path(__file__).parents[2] / "docs" / "look_up" / "proofs.md"
    if not page.exists():
        pytest.skip("the pages are in the repository only, not in the source distribution")
    text = page.read_text("utf-8")
    shapes = [checker.PROOF, checker.VERDICTS, checker.CLASS_DATA, checker.CLASS_VERDICTS, checker.SENTENCES]
    shapes += [
        checker.SENTENCE_VERDICTS,
        checker.MARGIN,
        checker.TIES,
        checker.VECTOR,
        {"partitions": checker.PARTITIONS},
    ]

    def fields(shape):
        if isinstance(shape, list):
            return fields(shape[0])
        return (
            {*shape, *(name for each in shape.values() for name in fields(each))} if type(shape) is dict else set()
        )

    names = set().union(*map(fields, shapes))
    assert {"least", "strict", "rivals", "labellings", "columns"} <= names
    assert [name for name in sorted(names) if not re.search(rf'[`"{{ ]{name}["`]', text)] == []
