"""The oracle's two ways agree, with each other and with what is known."""

from collections import Counter

import pytest

from tests.certify.oracle import Problem, decide, degenerate, eliminate
from tests.certify.proofs import CASES
from tests.shared.examples import examples

WAYS = pytest.mark.parametrize("way", [decide, eliminate])


@WAYS
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.proof["data"]["negative"] == "0"])
def test_what_is_proved_by_hand(way, name):
    rows, labels, proof = CASES[name]
    part = [i for i, label in enumerate(labels) if label in ("0", "1", "1.0")]
    found = way(Problem([rows[i] for i in part], [-1 if labels[i] == "0" else 1 for i in part], proof["bias"]))
    if "ties" in proof:
        assert found == proof["ties"]["kind"]
    else:
        assert (found == "separable") == (proof["verdict"] == "separable")


@WAYS
@pytest.mark.parametrize(
    "X, y, bias, verdict",
    [
        ([[1.0], [1.0 + 2**-52]], [1, -1], True, "separable"),
        ([[0.1 + 0.2], [0.3]], [1, -1], True, "separable"),
        ([[1.0], [1.0]], [1, -1], True, "overlap"),
        ([[0.0], [0.0]], [1, -1], True, "overlap"),
        ([[0.0]], [1], False, "overlap"),
        ([[0.0], [1.0]], [1, 1], False, "quasi"),
        ([[1e300], [-1e300], [5e-324]], [1, -1, -1], True, "separable"),
        ([[1e300], [-1e300], [5e-324]], [1, -1, -1], False, "overlap"),
        ([[2.0**60, 1.0], [1.0, -(2.0**-70)]], [1, -1], False, "separable"),
        ([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [-1, -1, 1, 1], True, "quasi"),
    ],
)
def test_what_is_known(way, X, y, bias, verdict):
    assert way(Problem(X, y, bias)) == verdict


@pytest.mark.parametrize("seed, most_rows, most_features", [(0, 10, 2), (1, 7, 5)])  # elimination can explode
def test_two_ways_agree(seed, most_rows, most_features):
    answers = Counter()
    for problem in degenerate(seed, examples(1500), most_rows=most_rows, most_features=most_features):
        answers[found := decide(problem)] += 1
        assert found == eliminate(problem), problem
    assert min(answers[verdict] for verdict in ("separable", "quasi", "overlap")) > examples(100)


def test_all_answers_are_common_and_problems_come_back():
    answers = Counter(map(decide, degenerate(2, 1000)))
    assert min(answers[verdict] for verdict in ("separable", "quasi", "overlap")) > examples(100)
    assert list(degenerate(3, 20)) == list(degenerate(3, 20))
