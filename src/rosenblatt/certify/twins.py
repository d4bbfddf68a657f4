"""Equal rows with different labels: the shortest proof that nothing separates them."""

from __future__ import annotations

import numpy as np

from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.typing import Ints

BLOCK = 2**18


def twins(problem: SeparationProblem) -> tuple[int, int] | None:
    """Return two equal rows of different classes, the positive one first; None if there are none."""
    digests = _digests(problem)
    order = np.lexsort((problem.y, digests))
    same = digests[order[1:]] == digests[order[:-1]]
    differ = problem.y[order[1:]] != problem.y[order[:-1]]
    for k in np.flatnonzero(same & differ):
        negative, positive = int(order[k]), int(order[k + 1])
        if _equal(problem, positive, negative):
            return positive, negative
    return None


def _equal(problem: SeparationProblem, *rows: int) -> bool:
    a, b = (problem.matrix.X[[row]] for row in rows)
    return bool((a != b).nnz == 0 if problem.sparse else (a == b).all())


def _digests(problem: SeparationProblem) -> Ints:
    """Return a number for each row, equal for equal rows: a sum of its bits times odd numbers, wrapping around."""
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, problem.d) * 2 + 1
    X = problem.matrix.X
    if problem.sparse:
        terms = (X.data.astype(np.float64) + 0.0).view(np.int64) * odd[X.indices]  # + 0.0 makes −0.0 a zero
        sums = np.append(0, np.cumsum(terms))
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    step = max(1, BLOCK // problem.d)
    blocks = (X[start : start + step].astype(np.float64) + 0.0 for start in range(0, problem.n, step))
    return np.concatenate([(block.view(np.int64) * odd).sum(axis=1) for block in blocks])
