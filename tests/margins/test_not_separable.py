"""Whether hulls meet: what counts as a yes, as a no, and as neither."""

import numpy as np
import pytest

from rosenblatt.margins.widest import Hulls, common_point, separating, why_not
from rosenblatt.rows.features import as_rows

X = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0], [9.0, 9.0]])
y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("bias", [True, False])
def test_a_common_point_is_one(bias):
    lam = common_point(X, y, bias=bias)
    assert (lam >= 0).all()
    assert (lam * y) @ X == pytest.approx(0, abs=1e-15)
    assert lam.sum() == pytest.approx(2 if bias else 1)
    assert separating(X, y, bias=bias) is None


def test_a_hyperplane_is_found_where_there_is_one():
    w = separating(X[:, :1], np.array([-1.0, 1.0, -1.0, 1.0, 1.0]), bias=True)
    assert w[0] > 0


@pytest.mark.parametrize(("apart", "words"), [(0.0, "No hyperplane"), (1e-9, "Floats cannot decide")])
def test_only_hulls_that_touch_count_as_meeting(apart, words):
    near = np.array([[0.0, 0.0], [0.0, 1.0], [apart, 0.5], [1.0, 0.5]])
    hulls = Hulls(as_rows(near), np.array([-1.0, -1.0, 1.0, 1.0]), bias=True)
    error = why_not(hulls, np.arange(4), np.arange(10, 14))
    assert words in str(error)
    assert ("rows 10, 11, 12" in str(error)) == (apart == 0.0)


def test_what_is_not_a_number_proves_nothing():
    X = np.array([[-1.0], [-2.0], [1.0], [2.0]]) * 1e160
    with np.errstate(all="ignore"):
        hulls = Hulls(as_rows(X), np.array([-1.0, -1.0, 1.0, 1.0]), bias=True)
        error = why_not(hulls, np.arange(4), np.arange(4))
    assert "cannot decide" in str(error)
