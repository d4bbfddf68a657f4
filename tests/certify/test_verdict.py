"""`verdict`: the answer alone, within a limit of work."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.certify import Inseparable, Separable
from rosenblatt.certify.time_limit import Clock, Exhausted
from rosenblatt.certify.verdict import verdict
from rosenblatt.rows.batch import as_batch
from tests.certify import oracle
from tests.shared.examples import examples


def test_it_agrees_with_the_oracle():
    for case in oracle.degenerate(300, examples(300)):
        found = verdict(as_batch(case.X, case.y), bias=case.bias)
        assert (found.verdict == "separable") == (oracle.decide(case) == "separable"), case
        assert found.verify(case.X, case.y)


def overlapping(n=300, d=12):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.integers(0, 2, n)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_work_decides_where_it_ends_and_seconds_do_not(form):
    X, y = overlapping()
    batch = as_batch(form(X), y)
    known = [verdict(batch, work=10.0**k) is not None for k in range(3, 11)]
    assert known == sorted(known)
    assert not known[0]
    assert known[-1]
    assert known == [verdict(batch, work=10.0**k) is not None for k in range(3, 11)]


def test_rows_without_weight_take_no_part():
    X = [[0.0], [1.0], [2.0], [3.0]]
    flipped = [0, 1, 0, 1]
    found = verdict(as_batch(X, flipped, [1.0, 0.0, 1.0, 1.0]))
    assert isinstance(found, Separable)
    assert found.verify([X[0], X[2], X[3]], [0, 0, 1])
    again = verdict(as_batch([*X, [9.0]], [*flipped, 0], [1.0, 1.0, 1.0, 1.0, 0.0]))
    assert isinstance(again, Inseparable)
    assert 4 not in again.support
    assert again.verify([*X, [9.0]], [*flipped, 0])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_several_classes(multiclass):
    line = as_batch([[0.0], [1.0], [2.0]], [0, 1, 2])
    found = verdict(line, multiclass=multiclass)
    assert found.verdict == ("separable" if multiclass == "ovo" else "inseparable")
    assert found.verify([[0.0], [1.0], [2.0]], [0, 1, 2])
    assert verdict(line, multiclass=multiclass, work=1) is None


@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
def test_classes_whose_rows_have_no_weight(multiclass):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2]
    found = verdict(as_batch(X, y, [1.0, 1.0, 0.0, 0.0]), multiclass=multiclass)
    assert found.verdict == "separable"


def test_work_is_counted_before_it_is_done():
    clock = Clock(None, work=10)
    clock.spend(10, "reading")
    with pytest.raises(Exhausted, match="while reading"):
        clock.spend(1, "reading")
    assert clock.spent == 10
    assert clock.part(5).work_left == 0
