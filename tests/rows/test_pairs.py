"""Pairs of rows to be ranked, and how many are in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.rows import pairs
from rosenblatt.rows.pairs import PairEvaluation, as_groups, pairs_of


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
@settings(deadline=None)
def test_they_are_all_pairs_of_a_group(rows):
    y, group = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])
    plus, minus = pairs_of(y, as_groups(group, len(y)))
    every = [(i, j) for i in range(len(y)) for j in range(len(y)) if group[i] == group[j] and y[i] > y[j]]
    assert sorted(zip(plus.tolist(), minus.tolist(), strict=True)) == every
    assert (np.diff(group[plus]) >= 0).all()


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(pairs, "BYTES_A_PAIR", 10**18)
    with pytest.raises(InputError, match="groups of rows as qid"):
        pairs_of(np.arange(3.0), np.zeros(3, np.int64))


def test_groups_are_checked():
    with pytest.raises(ShapeError):
        as_groups([1, 2], 3)


def test_evaluations_add_up():
    one = PairEvaluation.of([1, 0], [0.5, 0.5])
    other = PairEvaluation.of([1, 0, 3], [0.0, 1.0, 2.0], [1, 1, 2])
    assert (one.share, other.share) == (0.5, 0.0)
    both = one.merged(other)
    assert both == PairEvaluation(5, 3, 2, 0.5)
    assert both.to_json() == {"rows": 5, "groups": 3, "pairs": 2, "in_order": 0.25, "seen": None}
    assert PairEvaluation(0, 0, 0, 0.0).share == 0.0
