"""The features that have weights of their own, where most of very many features never occur."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rosenblatt.data.memory import require_memory
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR, Unsigned
from rosenblatt.typing import Floats, Ints

WIDE = 1 << 24
"""Bytes of weights from which on only features that were met get some."""
SPARE = 64
"""A table of all features is made where there are at most so many of them for each column to look up."""


FEW = 1000
"""New features up to which weights are moved in pieces."""


def with_zeros(weights: Floats, places: Ints) -> Floats:
    """Return weights with zeros inserted before features, in the same memory order.

    Parameters
    ----------
    weights : ndarray of shape (n_features,) or (n_machines, n_features)
        Weights.
    places : ndarray of int64
        Where zeros are inserted, ascending.

    Examples
    --------
    >>> with_zeros(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]))
    array([0., 1., 2., 0., 0., 3.])
    """
    if weights.ndim == 1 or not weights.flags.f_contiguous or len(places) > FEW:
        return np.insert(weights, places, 0.0, axis=-1)
    old, start = weights.T, 0  # feature by feature: pieces of it are moved at the speed of memory
    made = np.empty((len(old) + len(places), old.shape[1]))
    for k, place in enumerate(places.tolist()):
        made[start + k : place + k] = old[start:place]
        made[place + k] = 0.0
        start = place
    made[start + len(places) :] = old[start:]
    return made.T


def is_wide(shape: tuple[int, ...], stored: int = 0) -> bool:
    """Return whether weights of this shape should be those of the features met.

    That takes a copy of the column numbers of the `stored` values in memory, which must be smaller than they are.
    """
    return 8 * math.prod(shape) >= max(WIDE, 4 * stored)


@dataclass(frozen=True, eq=False, slots=True)
class MetFeatures:
    """Features met so far. All others have weights of zero, which take no memory.

    Attributes
    ----------
    columns : ndarray of int64
        The numbers of the features met, ascending. Weight j belongs to feature ``columns[j]``.
    n_features : int
        The number of all features.

    Examples
    --------
    >>> met = MetFeatures(np.array([2, 5]), 8)
    >>> met.spread(np.array([0.5, -1.0, 3.0]))  # the bias is last
    array([ 0. ,  0. ,  0.5,  0. ,  0. , -1. ,  0. ,  0. ,  3. ])
    """

    columns: Ints
    n_features: int

    @classmethod
    def none_of(cls, n_features: int) -> MetFeatures:
        """Return that no feature was met."""
        return cls(np.empty(0, np.int64), n_features)

    def numbered(self, X: CSR) -> CSR:
        """Return rows with each column replaced by the place of its weight; one not met gets the next place.

        Values keep their order, so that sums over a row have the same bits.
        """
        start, stop = int(X.indptr[0]), int(X.indptr[-1])
        places, indptr = self._places(X.indices[start:stop]), X.indptr - X.indptr[0]
        return CSR(read_only(X.data[start:stop]), read_only(places), read_only(indptr))

    def _places(self, indices: Unsigned) -> Unsigned:
        count = len(self.columns)
        if self.n_features <= SPARE * len(indices):
            table = np.full(self.n_features, count, indices.dtype)
            table[self.columns] = np.arange(count, dtype=indices.dtype)
            places: Unsigned = table[indices]
            return places
        wanted = indices.astype(np.int64)
        at = np.searchsorted(self.columns, wanted)
        found = np.append(self.columns, -1)[at] == wanted
        return np.where(found, at, count).astype(indices.dtype)  # type: ignore[return-value]  # that of the indices

    def with_columns_of(self, X: CSR, numbered: CSR) -> tuple[MetFeatures, Ints]:
        """Return the features met with these rows, and the places where weights of new ones are inserted.

        Parameters
        ----------
        X : CSR
            Rows.
        numbered : CSR
            The same rows as `numbered` returns them.
        """
        indices = X.indices[int(X.indptr[0]) : int(X.indptr[-1])]
        unmet = indices[numbered.indices == len(self.columns)]
        if self.n_features <= SPARE * len(unmet):
            flags = np.zeros(self.n_features, np.bool_)
            flags[unmet] = True
            new = np.flatnonzero(flags)
        else:
            new = np.unique(unmet).astype(np.int64)
        places = np.searchsorted(self.columns, new)
        return MetFeatures(np.insert(self.columns, places, new), self.n_features), places

    def up_to(self, n_features: int) -> tuple[MetFeatures, int]:
        """Return the features met among the first `n_features`, and their number."""
        kept = int(np.searchsorted(self.columns, n_features))
        return MetFeatures(self.columns[:kept], n_features), kept

    def spread(self, weights: Floats) -> Floats:
        """Return the weights of all features, bias last."""
        shape = (*weights.shape[:-1], self.n_features + 1)
        require_memory("The weights of all features", 8 * math.prod(shape), "Use only some of the features.")
        spread = np.zeros(shape)
        spread[..., self.columns] = weights[..., :-1]
        spread[..., -1] = weights[..., -1]
        return spread
