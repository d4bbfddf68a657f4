"""The rules that end a run which no longer gets better."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.stopping import Plateau, Tolerance, Trend, Validation

COUNTS = st.lists(st.integers(0, 200), min_size=1, max_size=60)


def _ends(rule, values):
    """Return the pass a rule ends after, or None."""
    return next((epoch for epoch, value in enumerate(values, 1) if rule(epoch, value)), None)


def _since_minimum(values, epoch):
    seen = values[:epoch]
    return epoch - 1 - seen.index(min(seen))


@given(COUNTS, st.integers(1, 10))
def test_plateau_waits_since_the_last_fall(counts, patience):
    """As in its sentence: a fall is a pass at least 2 % below the last one that fell; the first one fell."""
    fell, expected = [1], None
    for epoch in range(1, len(counts) + 1):
        if counts[epoch - 1] < 0.98 * counts[fell[-1] - 1]:
            fell.append(epoch)
        if epoch - fell[-1] >= patience:
            expected = epoch
            break
    assert _ends(Plateau(patience).ends, counts) == expected


def test_a_minimum_that_is_a_hair_lower_does_not_renew_patience():
    assert _ends(Plateau(5).ends, [1000, 990, 985, 982, 981, 980, 979]) == 6
    assert _ends(Plateau(5).ends, [1000, 990, 985, 982, 979, *[979] * 9]) == 10  # but small falls add up


@given(COUNTS, st.sampled_from([None, 10**6, 3 * 10**7, 10**8, 10**12]))
def test_trend_compares_the_second_half_with_the_quarter_before(counts, stored):
    def steady(epoch):
        half = epoch // 2
        late, early = counts[half:epoch], counts[half // 2 : half]
        return not early or Fraction(sum(late), len(late)) >= 0.95 * Fraction(sum(early), len(early))

    fewest = 12 if stored is None else max(12, 5e8 / stored)
    expected = next(
        (k for k in range(3, len(counts) + 1) if k >= fewest and all(map(steady, (k - 2, k - 1, k)))), None
    )
    trend = Trend()
    assert _ends(lambda _, mistakes: trend.ends(mistakes, stored), counts) == expected


@pytest.mark.parametrize(("stored", "passes"), [(10**9, 12), (10**8, 12), (2 * 10**7, 25), (5 * 10**6, 100)])
def test_trend_of_constant_mistakes(stored, passes):
    trend = Trend()
    assert _ends(lambda _, mistakes: trend.ends(mistakes, stored), [7] * 1000) == passes


def test_trend_goes_on_while_mistakes_fall_by_a_tenth_with_each_doubling():
    falling = [round(1000 * epoch**-0.16) for epoch in range(1, 1000)]
    rising = Trend()
    assert _ends(lambda _, mistakes: rising.ends(mistakes), falling) is None
    still = [round(1000 * epoch**-0.06) for epoch in range(1, 1000)]
    flat = Trend()
    assert _ends(lambda _, mistakes: flat.ends(mistakes), still) == 12


def test_trend_of_nothing_stored():
    assert not Trend().ends(2, 0)


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


def test_a_loss_that_hardly_falls_ends_training():
    rule = Tolerance(tol=0.125, patience=2)
    assert [rule.ends(loss) for loss in (1.0, 0.9375, 0.5, 0.4375, 0.40625)] == [False, False, False, False, True]
