"""The best bias for given scores, and bounds on the margin."""

import numpy as np
import pytest

from rosenblatt.margins.widest import Hulls
from rosenblatt.rows.features import as_rows

X = np.array([[1.0, 1.0], [3.0, 2.0], [-2.0, 0.0], [-1.0, -4.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])


@pytest.mark.parametrize("shift", [-7.0, 0.0, 2.5])
def test_the_best_bias_lies_halfway(shift):
    f = np.array([3.0, 5.0, -1.0, -4.0]) + shift
    least, b = Hulls(as_rows(X), Y, bias=True).least(f, Y)
    assert least == (Y * (f + b)).min() == 2.0
    assert all((Y * (f + other)).min() < least for other in (b - 0.5, b + 0.5))


def test_without_a_bias_the_smallest_score_counts():
    assert Hulls(as_rows(X), Y, bias=False).least(np.array([3.0, 5.0, -1.0, -4.0]), Y) == (1.0, 0.0)


@pytest.mark.parametrize("bias", [True, False])
def test_the_bounds_enclose_the_margin(bias):
    hulls, rows = Hulls(as_rows(X), Y, bias=bias), np.arange(4)
    w = np.array([1.0, 0.5])
    low = hulls.least(hulls.scores(w), Y)[0] / np.linalg.norm(w)
    assert low <= hulls.upper(rows, np.array([1.0, 0.0, 1.0, 0.0]) if bias else np.array([0.5, 0.0, 0.5, 0.0]))
