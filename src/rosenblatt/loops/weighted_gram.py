"""Σ weight_i x_i x_iᵀ of sparse rows: what Newton's method needs of them."""

from __future__ import annotations

import numpy as np

from rosenblatt.loops._jit import jit
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.sparse import ONE
from rosenblatt.typing import Floats


@jit
def weighted_gram(X: CSR, weight: Floats, out: Floats) -> None:
    """Add weight_i x_ij x_ik to ``out[j, k]`` for k ≤ j; column numbers ascend within a row."""
    for i in range(weight.size):
        if weight[i] == 0.0:
            continue
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            c = weight[i] * np.float64(X.data[p])
            for q in range(X.indptr[i], p + ONE):
                out[X.indices[p], X.indices[q]] += c * X.data[q]
