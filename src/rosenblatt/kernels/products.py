"""Products and distances of all pairs of rows, each pair's to the same bits in any company."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Floats


def products(A: Points, B: Points, out: Floats | None = None) -> Floats:
    """Return <a, b> for each row a of A and b of B, written to `out` if it is given."""
    if out is None:
        out = np.empty((A.n_rows, B.n_rows))
    if isinstance(A.rows, CSR):
        from rosenblatt.loops.kernel import sparse_products

        assert isinstance(B.rows, CSR), "points of one layout"
        sparse_products(A.rows, A.n_rows, B.rows, np.zeros(max(A.n_features, B.n_features)), out)
    elif A.n_rows == 1:
        _one_against(A, B, out[0])
    elif B.n_rows == 1:
        _one_against(B, A, out[:, 0])
    elif B.n_rows <= A.n_rows:  # the fewer rows take the place of weights: these are copied
        _dense(A, B, out)
    else:
        turned = np.empty((B.n_rows, A.n_rows))
        _dense(B, A, turned)
        out[:] = turned.T
    return out


def distances(A: Points, B: Points, out: Floats | None = None) -> Floats:
    """Return Σ |a − b| for each row a of A and b of B, written to `out` if it is given."""
    from rosenblatt.loops.kernel import dense_distances, sparse_distances

    if out is None:
        out = np.empty((A.n_rows, B.n_rows))
    (sparse_distances if isinstance(A.rows, CSR) else dense_distances)(A.rows, B.rows, out)
    return out


def _one_against(A: Points, B: Points, out: Floats) -> None:
    from rosenblatt.loops.passes import scores

    w = np.zeros(A.n_features + 1)
    w[:-1] = A.rows[0]
    scores(B.rows, w, out)


def _dense(A: Points, B: Points, out: Floats) -> None:
    from rosenblatt.loops.passes import machine_scores
    from rosenblatt.loops.targets import PAIR

    order, machines, room = np.arange(A.n_rows), np.arange(B.n_rows), np.empty((PAIR, B.n_rows))
    machine_scores(A.rows, B.laid(), order, machines, room, out)
