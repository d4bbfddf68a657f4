"""Products of a matrix: of every layout, against numpy's."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.margins import matrix
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.features import as_rows

X = np.random.default_rng(0).standard_normal((40, 7)).astype(np.float32)
X[np.abs(X) < 0.5] = 0
LAYOUTS = [X.astype(float), X, sp.csr_array(X.astype(float)), sp.csr_array(X)]


@pytest.mark.parametrize("rows", LAYOUTS, ids=["double", "single", "sparse double", "sparse single"])
@pytest.mark.parametrize("bias", [False, True])
def test_products(rows, bias, monkeypatch):
    monkeypatch.setattr(matrix, "BLOCK_VALUES", 30)  # several blocks
    m = Matrix(as_rows(rows), bias=bias)
    A = np.column_stack([X, np.ones(40)]).astype(float) if bias else X.astype(float)
    rng = np.random.default_rng(1)
    theta, r, D, column = rng.random(A.shape[1]), rng.random(40), rng.random(40), rng.random(7)
    tight = {"rel": 1e-12, "abs": 1e-12}
    assert m.times(theta) == pytest.approx(A @ theta, **tight)
    assert m.combine(r) == pytest.approx(A.T @ r, **tight)
    few = r * (np.arange(r.size) % 4 == 1)  # the others are not read
    assert m.combine(few) == pytest.approx(A.T @ few, **tight)
    assert m.combine(0.0 * r).tolist() == [0.0] * m.width
    assert m.gram(D) == pytest.approx(A.T @ (D[:, None] * A), **tight)
    assert m.diagonal(D) == pytest.approx((D[:, None] * A * A).sum(axis=0), **tight)
    for some in (D, D * (np.arange(40) % 3 == 1)):  # rows without curvature are not read
        assert m.bent(some, theta) == pytest.approx(A.T @ (some * (A @ theta)), **tight)
    double = X.astype(float)
    assert m.outer(column) == pytest.approx(double * column @ double.T, **tight)
    assert m.column_sizes == pytest.approx(np.sqrt((A**2).mean(axis=0)), **tight)
    assert m.squares == pytest.approx((double**2).sum(axis=1), **tight)


def test_dense_rows_are_not_copied():
    double = X.astype(float)
    assert np.shares_memory(Matrix(as_rows(double), bias=True).X, double)
