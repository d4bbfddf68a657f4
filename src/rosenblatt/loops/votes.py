"""The vote of all hypotheses of a run, by a running sum over its mistakes (Freund and Schapire 1999).

Each hypothesis is the one before it moved by a mistake on a row x_r, so its score of x is the score before plus a
step times <x_r, x> + β. The products of x with the rows of mistakes therefore give the scores of all hypotheses
one after another. Several rows are predicted side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import CACHE_LINE, prefetch
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.rows import add
from rosenblatt.typing import Floats, Ints, Reals

TILE_ROWS = 64  # rows of mistakes
NUMBERS_A_LINE = CACHE_LINE // 8  # numbers
MOVES_AHEAD = 8  # moves ahead whose products are fetched


class Moves(NamedTuple):
    """How each hypothesis differs from the one before.

    `row` is the number of x_r among the rows of mistakes, `target` the class whose score moves (0 for two
    classes), `step` the multiple of <x_r, x> + β, and `survived` the visits that the hypothesis survived, or 0 if
    the next move belongs to the same visit.
    """

    row: Ints
    target: Ints
    step: Floats
    survived: Ints


@jit
def products_of_sparse(M: CSR, X: CSR, first: int, products: Floats) -> None:
    """Add <x_r, x_b> to ``products[b, r]``, for sparse rows x_b of X from `first` on.

    `M` holds the rows x_r feature by feature, so that only rows that share a feature with x_b are read.
    """
    for b in range(products.shape[0]):
        for q in range(X.indptr[first + b], X.indptr[first + b + 1]):
            j = X.indices[q]
            if j + 1 < M.indptr.size:  # no row of a mistake has a later feature
                for p in range(M.indptr[j], M.indptr[j + 1]):
                    products[b, M.indices[p]] += X.data[q] * M.data[p]


@jit
def products_of_dense(M: CSR, X: Reals, first: int, products: Floats) -> None:
    """Add <x_r, x_b> to ``products[b, r]``, for dense rows x_b: the bits of `products_of_sparse`."""
    for b in range(products.shape[0]):
        for j in range(min(X.shape[1], M.indptr.size - 1)):
            x = np.float64(X[first + b, j])
            if x != 0.0:
                for p in range(M.indptr[j], M.indptr[j + 1]):
                    products[b, M.indices[p]] += x * M.data[p]


@jit
def turn(products: Floats, g: Floats) -> None:
    """Copy ``products[b, r]`` to ``g[r, b]``, so many r at a time that they stay in the cache."""
    n = products.shape[1]
    for begin in range(0, n, TILE_ROWS):
        for b in range(products.shape[0]):
            for r in range(begin, min(begin + TILE_ROWS, n)):
                g[r, b] = products[b, r]


@jit
def lay(X: Rows, first: int, w: Floats) -> None:
    """Add the rows of X, from `first` on, to the rows of w."""
    for b in range(w.shape[0]):
        add(X, first + b, 1.0, w[b])


@jit
def vote_for_sides(g: Floats, moves: Moves, last_wins: int, f: Floats, votes: Ints) -> None:
    """Add to `votes` the visits survived by hypotheses that predict +1; f holds the scores so far.

    ``g[r, b]`` is <x_r, x_b> + β. With `last_wins`, f = 0 predicts +1.
    """
    for k in range(moves.row.size):
        products, step, survived = g[moves.row[k]], moves.step[k], moves.survived[k]
        soon = moves.row[min(k + MOVES_AHEAD, moves.row.size - 1)] * f.size
        for line in range(0, f.size, NUMBERS_A_LINE):
            prefetch(g, soon + line)
        if last_wins:
            for b in range(f.size):
                f[b] += step * products[b]
                votes[b] += survived if f[b] >= 0.0 else 0
        else:
            for b in range(f.size):
                f[b] += step * products[b]
                votes[b] += survived if f[b] > 0.0 else 0


@jit
def vote_for_classes(g: Floats, moves: Moves, last_wins: int, s: Floats, votes: Ints) -> None:
    """Add to ``votes[b, c]`` the visits survived by hypotheses that predict class c for row b; s are the scores.

    ``g[b, r]`` is <x_r, x_b> + β. Ties go to the lowest class, or with `last_wins` to the highest. The best class
    is kept from one hypothesis to the next and searched for only if its own score fell.
    """
    for b in range(s.shape[0]):
        scores, products = s[b], g[b]
        best = _best(scores, last_wins)
        for k in range(moves.row.size):
            c = moves.target[k]
            move = moves.step[k] * products[moves.row[k]]
            scores[c] += move
            if c == best:
                if move < 0.0:
                    best = _best(scores, last_wins)
            elif scores[c] > scores[best] or (scores[c] == scores[best] and (c > best) == (last_wins == 1)):
                best = c
            votes[b, best] += moves.survived[k]


@inline
def _best(scores: Floats, last_wins: int) -> int:
    best = 0
    for c in range(1, scores.size):
        if scores[c] > scores[best] or (last_wins and scores[c] == scores[best]):
            best = c
    return best
