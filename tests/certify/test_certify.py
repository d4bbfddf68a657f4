"""`certify` against an independent exact decision, and on problems that floats get wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.sparse import csr_array, vstack
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import rosenblatt as rb
from rosenblatt.certify import (
    Certificate,
    Inseparable,
    Overlap,
    Quasi,
    Separable,
    Undecided,
    check,
    decide,
    problem,
)
from rosenblatt.exceptions import (
    LabelError,
    NonFiniteError,
    ParameterError,
    TrivialSeparationWarning,
    UndecidedError,
)
from tests.certify import oracle
from tests.shared.examples import examples, slowly
from tests.shared.strategies import quietly

pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")


def proved(X, y, **options) -> Certificate:
    """Certify, and require that both checkers accept the proof, as it is and as it is read back."""
    found = rb.certify(X, y, **options)
    text = found.to_json()
    assert found.verify(X, y)
    assert Certificate.from_json(text).verify(X, y)
    rows = (X.toarray() if hasattr(X, "toarray") else np.asarray(X)).astype(float).tolist()
    for proof in check.read_proofs(text):
        check.check(proof, rows, [str(label) for label in np.asarray(y).tolist()])
    return found


def kind(found: Certificate) -> str:
    """The verdict in the oracle's words."""
    if isinstance(found, Separable):
        return "separable"
    assert isinstance(found, Inseparable)
    assert found.ties is not None
    return found.ties.kind


@pytest.mark.parametrize("seed", [*range(5), *slowly(*range(5, 20))])
def test_degenerate_problems(seed):
    """Ten thousand in `make test-all`."""
    for case in oracle.degenerate(seed, examples(500)):
        found = proved(case.X, case.y, bias=case.bias)
        assert kind(found) == oracle.decide(case), case
        if isinstance(found, Inseparable):
            assert len(found.support) <= len(case.X[0]) + 1 + case.bias


@pytest.mark.parametrize("seed", range(4))
def test_the_way_of_large_problems_decides_small_ones_alike(seed, monkeypatch):
    monkeypatch.setattr(decide, "SMALL_VALUES", 0)
    for case in oracle.degenerate(100 + seed, examples(250)):
        assert kind(proved(case.X, case.y, bias=case.bias)) == oracle.decide(case), case


@pytest.mark.parametrize("seed", range(3))
def test_the_exact_method_alone_decides_alike(seed, monkeypatch):
    """As if floats had proposed nothing of use."""
    monkeypatch.setattr(decide, "SMALL_VALUES", 0)
    monkeypatch.setattr(decide, "guess", lambda problem, clock: iter(()))
    monkeypatch.setattr(decide.Search, "run", lambda self: iter(()))
    for case in oracle.degenerate(200 + seed, examples(100)):
        assert kind(proved(case.X, case.y, bias=case.bias)) == oracle.decide(case), case


def test_xor_in_words():
    X, y = rb.datasets.load_xor()
    found = proved(X, y)
    assert "½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)" in str(found)
    assert found.weights == (Fraction(1, 2),) * 4
    assert found.point == (Fraction(1, 2), Fraction(1, 2))
    assert isinstance(found.ties, Overlap)
    assert found.chance == 0.875


@pytest.mark.parametrize(
    ("maker", "squared"), [("or", Fraction(1, 8)), ("and", Fraction(1, 8)), ("six_points", Fraction(289, 592))]
)
def test_margins_of_the_named_sets(maker, squared):
    X, y = getattr(rb.datasets, f"load_{maker}")()
    found = proved(X, y, margin=True)
    assert found.margin.squared == (squared, squared)
    low, high = found.margin
    assert low <= float(squared) ** 0.5 <= high
    assert proved(X, y).margin is None


def test_iris():
    X, y = load_iris(return_X_y=True)
    tables = proved(X, y)
    assert tables.verdict == "inseparable"
    assert {pair: each.verdict for pair, each in tables.pairs.items()} == {
        (0, 1): "separable",
        (0, 2): "separable",
        (1, 2): "inseparable",
    }
    assert [each.verdict for each in tables.rest.values()] == ["separable", "inseparable", "inseparable"]
    assert len(tables.pairs[1, 2].support) == 6
    assert set(np.asarray(y)[list(tables.pairs[1, 2].support)]) == {1, 2}
    read = Certificate.from_json(tables.to_json())
    assert read.verify(X, y)
    assert str(read) == str(tables)
    assert "1 of 3 pairs of classes is not separable (1 and 2)" in str(tables)
    assert str(tables).splitlines()[2].split() == ["0", "·", "yes", "yes", "yes"]


@pytest.mark.parametrize("digit", range(10))
def test_digits_against_the_rest(digit):
    X, y = load_digits(return_X_y=True)
    found = proved(X, np.where(y == digit, "yes", "no"), ties=True)
    assert found.verdict == ("inseparable" if digit in (8, 9) else "separable")
    if digit in (8, 9):
        assert isinstance(found.ties, Quasi)
        side = np.where(y == digit, 1, -1) * (X @ np.array(found.ties.w, float) + float(found.ties.b))
        assert side.min() == 0
        assert tuple(np.flatnonzero(side > 0)) == found.ties.rows


def test_breast_cancer():
    found = proved(*load_breast_cancer(return_X_y=True), margin=True)
    assert found.verdict == "separable"
    assert 0 < found.margin.low <= found.margin.high < 1e-3


@pytest.mark.parametrize("ratio", [1.7, 2.3])
def test_random_labels_about_covers_number(ratio):
    rng = np.random.default_rng(0)
    n = int(61 * ratio)
    X, y = rng.normal(size=(n, 60)), rng.integers(0, 2, n)
    assert proved(X, y).verdict == ("separable" if ratio < 2 else "inseparable")


def near_pairs(gap: float | None, n: int = 3000, d: int = 12, pairs: int = 60, seed: int = 0):
    """Points, some with one of the other class right across the hyperplane; None: one pair, an ulp apart."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    f = X @ w
    y = np.where(f > 0, 1, -1)
    on = X - np.outer(f, w)
    if gap is None:
        X[0] = X[1] = on[0]
        X[1, 0] = np.nextafter(X[0, 0], np.inf)
        y[:2] = (-1, 1) if w[0] > 0 else (1, -1)
    else:
        X[: 2 * pairs : 2] = on[: 2 * pairs : 2] + gap / 2 * w
        X[1 : 2 * pairs : 2] = on[: 2 * pairs : 2] - gap / 2 * w
        y[: 2 * pairs] = np.tile([1, -1], pairs)
    return X, y


@pytest.mark.parametrize("gap", [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, None])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_hulls_a_hair_apart(gap, layout):
    X, y = near_pairs(gap)
    assert proved(layout(X), y).verdict == "separable"


@pytest.mark.parametrize("gap", [1e-6, 1e-12, None])
def test_a_flipped_label(gap):
    X, y = near_pairs(gap)
    y[2000] *= -1
    found = proved(X, y, ties=True)
    assert found.verdict == "inseparable"
    assert len(found.support) <= 14
    assert isinstance(found.ties, Overlap)


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        ([[0.1 + 0.2], [0.3]], [1, -1], "separable"),
        ([[0.3], [0.3]], [1, -1], "quasi?"),
        ([[1e300], [-1e300], [1e-300], [-1e-300]], [1, -1, 1, -1], "separable"),
        ([[5e-324], [0.0]], [1, -1], "separable"),
        ([[5e-324, 1e308], [0.0, 1e308]], [1, -1], "separable"),
        ([[5e-324, 1e308], [0.0, 1e308], [1e-323, 1e308]], [1, -1, -1], "overlap"),
        ([[0, 0], [2, 2], [1, 1], [3, 3]], [1, 1, -1, -1], "overlap"),
        ([[0, 7], [1, 7], [2, 7], [3, 7]], [1, 1, -1, -1], "separable"),
        ([[0, 0], [1, 0], [1, 0], [2, 5]], [1, 1, -1, -1], "quasi"),
        ([[1e308, 1e308], [-1e308, -1e308], [0, 1e-308]], [1, -1, 1], "separable"),
    ],
)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("small", [1000, 0])
def test_what_floats_get_wrong(X, y, expected, layout, small, monkeypatch):
    monkeypatch.setattr(decide, "SMALL_VALUES", small)
    found = proved(layout(np.array(X, float)), y)
    case = oracle.Problem(np.array(X, float).tolist(), y, True)
    assert kind(found) == oracle.decide(case)
    if not expected.endswith("?"):
        assert kind(found) == expected


def test_float32_is_what_it_is():
    X = np.array([[0.1], [0.1]], np.float32)
    assert proved(np.array([[np.float32(0.1)], [0.1]]), [1, -1]).verdict == "separable"
    assert proved(X, [1, -1]).verdict == "inseparable"
    wide, y = near_pairs(1e-3)
    narrow = wide.astype(np.float32)
    assert rb.certify(narrow, y).data.sha256 == rb.certify(narrow.astype(float), y).data.sha256
    assert rb.certify(narrow, y).verify(narrow.astype(float), y)


def test_layouts_have_one_fingerprint():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3)
    X[3, 3] = -0.0
    y = rng.integers(0, 2, 300)
    dense, sparse = rb.certify(X, y), rb.certify(csr_array(X), y)
    assert dense.data == sparse.data
    assert dense.verify(csr_array(X), y)
    assert sparse.verify(X, y)
    assert dense.data.sha256 == check.fingerprint(X.tolist(), np.where(y == 1, 1, -1).tolist(), 20)


def test_wide_sparse_rows_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    n, d = 400, 30_000
    X = csr_array(
        (rng.normal(size=n * 20), (np.repeat(np.arange(n), 20), rng.integers(0, d, n * 20))), shape=(n, d)
    )
    X.sum_duplicates()
    y = np.where(X @ rng.normal(size=d) > 0, 1, -1)
    monkeypatch.setattr(csr_array, "toarray", lambda self: pytest.fail("made dense"))
    found = rb.certify(X, y)
    assert found.verdict == "separable"
    assert found.verify(X, y)
    assert Certificate.from_json(found.to_json()).verify(X, y)


def test_quasi_separation_names_features_and_rows():
    import pandas as pd

    X = pd.DataFrame({"age": [1, 2, 1, 2, 3, 1], "treated": [0, 0, 0, 0, 1, 1]})
    found = proved(X, list("abbaab"), bias=True)
    assert found.verdict == "inseparable"
    found = proved(X, ["ill", "well", "well", "ill", "well", "well"])
    assert isinstance(found.ties, Quasi)
    assert found.ties.features == (1,)
    assert found.ties.rows == (4, 5)
    assert "the features involved are treated" in str(found)
    assert "rows 4, 5" in str(found)


def test_equal_rows_with_different_labels():
    X, y = near_pairs(1e-3)
    X[700] = X[55]
    y[700] = -y[55]
    found = proved(X, y)
    assert found.support == (55, 700)
    assert found.weights == (1, 1)


def test_few_rows_are_separable_whatever_their_labels():
    with pytest.warns(TrivialSeparationWarning, match="3 rows with 2 features"):
        assert rb.certify([[0, 0], [0, 1], [1, 0]], [1, 0, 1]).chance == 1.0
    assert rb.certify([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 0, 1, 1]).chance == 0.875


def test_one_class():
    found = proved([[1.0], [-1.0]], ["a", "a"])
    assert (found.w, found.b) == ((0,), 1)
    assert proved([[1.0], [-1.0]], ["a", "a"], bias=False).verdict == "inseparable"
    assert proved([[1.0], [2.0]], ["a", "a"], bias=False).verdict == "separable"


def test_time_ends_undecided_and_says_so():
    X, y = near_pairs(1e-12)
    found = rb.certify(X, y, time_limit=0)
    assert isinstance(found, Undecided)
    assert found.verdict == "undecided"
    assert "time_limit" in found.reason
    assert not found.verify(X, y)
    with pytest.raises(UndecidedError):
        found.to_json()
    with pytest.raises(ParameterError, match="time_limit"):
        rb.certify(X, y, time_limit=-1)


def test_what_is_too_large_for_integers_is_said(monkeypatch):
    monkeypatch.setattr(problem, "MAX_INTEGERS", 100)
    X, y = near_pairs(1e-12)
    found = rb.certify(X, y)
    assert isinstance(found, Undecided)
    assert "too many for exact arithmetic" in found.reason


def test_what_is_not_finite_is_refused():
    with pytest.raises(NonFiniteError):
        rb.certify([[np.nan], [1.0]], [0, 1])


@pytest.mark.parametrize("which", ["separable", "inseparable"])
def test_other_data_are_refused(which):
    X, y = near_pairs(1e-3, n=200)
    if which == "inseparable":
        y[150] *= -1
    found = proved(X, y)
    assert found.verdict == which
    other = X.copy()
    other[17, 3] = np.nextafter(other[17, 3], 9.0)
    swapped = y.copy()
    swapped[5] *= -1
    for refused in (
        found.verify(other, y),
        found.verify(X, swapped),
        found.verify(X, -y),
        found.verify(X[1:], y[1:]),
    ):
        assert not refused
        assert "data" in refused.reason


def test_powers_of_two_keep_their_rank():
    """A prime of the form 2^k − 1 takes 2^k for 1."""
    a = 2.0**61
    for X, y, bias in (
        ([[a], [1], [a], [1]], [1, 1, 0, 0], True),
        (
            [[1, 1, 0], [2.0**61, 1, 0], [-(2.0**81 + 2.0**40), -(2.0**20 + 2.0**40), 0], [0, 1, 1], [0, 3, -1]],
            [1] * 5,
            False,
        ),
        (block_diag(*([[1, 1], [a, 1], [-1, -1], [-a, -1]] for a in (a, 2.0**89))), [1] * 8, False),
    ):
        assert kind(proved(X, y, bias=bias)) == "overlap"


@pytest.mark.parametrize(
    "labels", [["1", "1.0"], [" a", "a"], [1, "1"], ["True", True], ["", " "], ["1", "1.0", "2"], ["1e0", "1"]]
)
def test_labels_that_a_proof_cannot_tell_apart(labels):
    X = np.arange(2.0 * len(labels))[:, None]
    with pytest.raises(LabelError, match="cannot be distinguished"):
        rb.certify(X, np.array(labels * 2, dtype=object))


def test_labels_that_only_look_alike():
    X = np.arange(4.0)[:, None]
    for labels in (["10", "1_0"], ["3", "٣"], ["nan", "inf"], ["0x1", "1"]):
        assert proved(X, np.repeat(labels, 2)).verdict == "separable"


def test_classes_with_equal_means():
    rng = np.random.default_rng(0)
    A, B = rng.integers(-99, 99, (2, 5000, 10)).astype(float)
    X, y = np.vstack([A, -A, B, -B]), np.repeat([1, 0], 10_000)
    found = rb.certify(X, y)
    assert found.verdict == "inseparable"
    assert found.verify(X, y)


def test_few_rows_of_wide_sparse_data_contradict_each_other():
    rng = np.random.default_rng(0)
    n, d = 600, 20_000
    X = csr_array(
        (rng.integers(1, 9, n * 20).astype(float), (np.repeat(np.arange(n), 20), rng.integers(0, d, n * 20)))
    )
    X.resize(n, d)
    X.sum_duplicates()
    X = csr_array(vstack([X, (X[:5] + X[5:10]) / 2]))
    y = np.append(rng.integers(0, 2, n), np.zeros(5, int))
    y[:10] = 1
    found = rb.certify(X, y)
    assert found.verdict == "inseparable"
    assert len(found.support) == 3
    assert found.verify(X, y)


@pytest.mark.parametrize("name", ["bias", "margin"])
def test_flags_are_flags(name):
    with pytest.raises(ParameterError, match=name):
        rb.certify([[0.0], [1.0]], [0, 1], **{name: "no"})


def test_representations_are_short():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 100)), rng.integers(0, 2, 300)
    assert len(repr(rb.certify(X, y))) < 2000
    assert len(str(rb.certify(X, np.where(y, "a" * 10_000, "b")))) < 2000


@pytest.mark.parametrize(
    ("X", "general"),
    [
        ([[0, 0], [1, 0], [0, 1], [1, 1]], True),  # so the bound is reached
        ([[0, 0], [0, 0], [1, 0], [2, 0]], False),  # equal rows, and all of them on a line
        ([[0, 0], [1, 1], [2, 2], [0, 1], [1, 1]], False),
        ([[3, 0, 1], [3, 0, 1], [0, 0, 0]], False),  # fewer rows than weights
    ],
)
def test_the_probability_printed_holds_in_any_position(X, general):
    """Ask about every labelling: no more of them are separable than the last line allows."""
    labellings = list(product([-1, 1], repeat=len(X)))
    answers = [quietly(rb.certify, X, y) for y in labellings if len(set(y)) == 2]
    separable = 2 + sum(answer.verdict == "separable" for answer in answers)  # one class alone always is
    last = str(answers[0]).splitlines()[-1]
    if "at most" not in last:
        assert last == "So few rows in general position would be separable for any labels (Cover 1965)."
        assert len(X) <= len(X[0]) + 1
        return
    most = float(last.split("at most ")[1].split()[0])
    assert separable / len(labellings) <= most
    assert (separable / len(labellings) == most) is general


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bias", 1),
        ("margin", "x"),
        ("ties", "x"),
        *(("time_limit", value) for value in (-1, "x", True, float("nan"))),
        ("multiclass", "ovr"),
        ("proof", "verdict "),
        *(("n_jobs", value) for value in (0, "x")),
    ],
)
@pytest.mark.parametrize("data", ["@xor", [["a", "b"]]])
def test_arguments_are_checked(data, name, value):
    with pytest.raises(ParameterError, match=rf"^{name}\W") as caught:
        rb.certify(data, **{name: value})
    assert caught.value.code in ("parameter.type", "parameter.range")
    assert caught.value.parameter == name


@pytest.mark.parametrize("name", ["columns", "templates", "constraints", "without_inconsistent"])
def test_rows_have_no_arguments_of_sentences(name):
    with pytest.raises(ParameterError, match=f"{name} is for sentences"):
        rb.certify("@xor", **{name: "words"})
