"""The rules that end a run which no longer gets better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.stopping import Plateau, Tolerance, Validation

COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=60)


def _ends(rule, values):
    """Return the pass a rule ends after, or None."""
    return next((epoch for epoch, value in enumerate(values, 1) if rule(epoch, value)), None)


def _since_minimum(values, epoch):
    seen = values[:epoch]
    return epoch - 1 - seen.index(min(seen))


@given(COUNTS, st.integers(1, 10), st.integers(1, 10**9))
def test_plateau_by_patience(counts, patience, stored):
    expected = next((k for k in range(1, len(counts) + 1) if _since_minimum(counts, k) >= patience), None)
    assert _ends(Plateau(stored, patience).ends, counts) == expected


@given(COUNTS, st.sampled_from([10**6, 3 * 10**7, 10**8, 10**12]))
def test_plateau_by_default(counts, stored):
    def patience(epoch):
        return max(10, epoch / 2, 5e8 / stored)

    expected = next((k for k in range(1, len(counts) + 1) if _since_minimum(counts, k) >= patience(k)), None)
    assert _ends(Plateau(stored).ends, counts) == expected


@pytest.mark.parametrize(("stored", "passes"), [(10**9, 11), (10**8, 11), (2 * 10**7, 26), (5 * 10**6, 101)])
def test_plateau_of_constant_mistakes(stored, passes):
    assert _ends(Plateau(stored).ends, [7] * 1000) == passes


def test_plateau_waits_half_as_long_as_it_ran():
    counts = [*range(100, 50, -1), *[60] * 1000]  # falls for 50 passes, then stays
    assert _ends(Plateau(10**9).ends, counts) == 100


def test_plateau_of_nothing_stored():
    assert not Plateau(0).ends(1, 2)


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=40), st.sampled_from([0.0, 1e-3, 0.5, -1.0]), st.integers(1, 6)
)
def test_tolerance_is_scikit_learns(losses, tol, patience):
    """As in its source: count passes whose loss is above best − tol, start again at one that is not."""
    best, waited, expected = np.inf, 0, None
    for epoch, loss in enumerate(losses, 1):
        waited = waited + 1 if loss > best - tol else 0
        if loss < best:
            best = loss
        if waited >= patience:
            expected = epoch
            break
    rule = Tolerance(tol, patience)
    assert _ends(lambda _, loss: rule.ends(loss), losses) == expected


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=1, max_size=40), st.integers(1, 6))
def test_validation(errors, patience):
    rule = Validation(patience)
    best = []
    for epoch, error in enumerate(errors, 1):
        if rule.improves(epoch, error):
            best.append(epoch)
        if rule.ends(epoch):
            break
    seen = errors[:epoch]
    assert rule.best == min(seen)
    assert rule.best_epoch == best[-1] == max(k for k, error in enumerate(seen, 1) if error == min(seen))
    assert all(_since_minimum(errors, k) < patience for k in range(1, epoch))
    assert rule.ends(epoch) == (_since_minimum(errors, epoch) >= patience)


def test_validation_waits_by_default_for_ten_passes_or_half_of_them():
    rule = Validation()
    assert [rule.improves(1, 0.5), rule.ends(1)] == [True, False]
    assert [rule.ends(epoch) for epoch in (10, 11)] == [False, True]
    rule.improves(30, 0.4)
    assert [rule.ends(epoch) for epoch in (59, 60)] == [False, True]
