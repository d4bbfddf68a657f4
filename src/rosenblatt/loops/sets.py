"""Sets of labels: whether a row has one."""

from __future__ import annotations

from typing import Any

from rosenblatt.loops._jit import inline


@inline
def is_labelled(targets: Any, i: Any, m: Any) -> bool:
    """Return whether label m is in the set of row i."""
    p, end = targets.indptr[i], targets.indptr[i + 1]
    while p < end and targets.labels[p] < m:
        p += 1
    return p < end and targets.labels[p] == m
