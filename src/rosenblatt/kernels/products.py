"""Products and distances of all pairs of rows, each pair's to the same bits in any company."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Floats


def products(A: Points, B: Points) -> Floats:
    """Return <a, b> for each row a of A and b of B."""
    if isinstance(A.rows, CSR):
        from rosenblatt.loops.kernel import sparse_products

        out = np.empty((A.n_rows, B.n_rows))
        assert isinstance(B.rows, CSR), "points of one layout"
        sparse_products(A.rows, A.n_rows, B.rows, np.zeros(max(A.n_features, B.n_features)), out)
        return out
    if A.n_rows == 1:
        return _one_against(A, B)
    if B.n_rows == 1:
        return _one_against(B, A).reshape(-1, 1)
    # The fewer rows take the place of weights: these are copied.
    return _dense(A, B) if B.n_rows <= A.n_rows else np.ascontiguousarray(_dense(B, A).T)


def distances(A: Points, B: Points) -> Floats:
    """Return Σ |a − b| for each row a of A and b of B."""
    from rosenblatt.loops.kernel import dense_distances, sparse_distances

    out = np.empty((A.n_rows, B.n_rows))
    (sparse_distances if isinstance(A.rows, CSR) else dense_distances)(A.rows, B.rows, out)
    return out


def _one_against(A: Points, B: Points) -> Floats:
    from rosenblatt.loops.passes import scores

    out = np.empty((1, B.n_rows))
    scores(B.rows, A.laid()[0], out[0])
    return out


def _dense(A: Points, B: Points) -> Floats:
    from rosenblatt.loops.passes import machine_scores
    from rosenblatt.loops.targets import PAIR

    out = np.empty((A.n_rows, B.n_rows))
    order, machines, room = np.arange(A.n_rows), np.arange(B.n_rows), np.empty((PAIR, B.n_rows))
    machine_scores(A.rows, B.laid(), order, machines, room, out)
    return out
