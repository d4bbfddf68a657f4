"""The SHA-256 by which a proof identifies its data; it is the same for dense rows, sparse rows and `check.py`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import CSR, row_slices
from rosenblatt.rows.features import Features
from rosenblatt.threads import Pool, allowed
from rosenblatt.typing import Ints

BLOCK_VALUES = 2**18  # values processed together

Signs: TypeAlias = Ints | NDArray[np.int8]


class Fingerprint:
    """The fingerprint of some rows, for any labels.

    Examples
    --------
    >>> from rosenblatt.rows.features import as_rows
    >>> Fingerprint(as_rows([[0.5, 0.0]])).of(np.array([1]))[:16]
    'f941b4a39d74369a'
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self._parts: dict[tuple[int, int], Fingerprint] = {}

    def of(self, signs: Signs) -> str:
        """Return the fingerprint of the rows with signs 1, −1, or 0 for rows that are left out."""
        head = b"rosenblatt-data-1\n" + struct.pack("<QQ", self.features.n_rows, self.features.n_features)
        labels = sha256(signs.astype("i1").tobytes()).digest()
        return sha256(head + labels + self._of_rows).hexdigest()

    def of_classes(self, codes: Ints) -> str:
        """Return the fingerprint of the rows with the numbers of their classes."""
        head = b"rosenblatt-classes-1\n" + struct.pack("<QQ", self.features.n_rows, self.features.n_features)
        labels = sha256(codes.astype("<u8").tobytes()).digest()
        return sha256(head + labels + self._of_rows).hexdigest()

    def of_parts(self, signs: Signs, lengths: Sequence[int]) -> tuple[tuple[int, str], ...]:
        """Return the length and the fingerprint of each of several parts, one after the other."""
        starts = np.append(0, np.cumsum(lengths))
        return tuple(
            (stop - start, self._of_part(start, stop).of(signs[start:stop]))
            for start, stop in pairwise(starts.tolist())
        )

    def _of_part(self, start: int, stop: int) -> Fingerprint:
        """Return the fingerprint of some rows; it is kept for other labels."""
        if (start, stop) not in self._parts:
            self._parts[start, stop] = Fingerprint(_part(self.features, start, stop))
        return self._parts[start, stop]

    @cached_property
    def _of_rows(self) -> bytes:
        """The digests of the lengths, columns and values of the rows without their zeros."""
        X, n, d = self.features.rows, self.features.n_rows, self.features.n_features
        if not isinstance(X, CSR) and X.dtype == np.float64 and X.flags.c_contiguous and X.all():
            return _of_whole_rows(n, d) + sha256(X.astype("<f8", copy=False).data).digest()
        digests = RowDigests()
        digests.add(self.features)
        return digests.digest()


@lru_cache(maxsize=16)
def _of_whole_rows(n_rows: int, n_features: int) -> bytes:
    """Return the digests of lengths and columns of rows without zeros: many fits have data of the same shape."""
    columns, step = sha256(), max(1, BLOCK_VALUES // n_features)
    block = np.tile(np.arange(n_features, dtype="<u8"), min(step, n_rows))
    for start in range(0, n_rows, step):
        columns.update(block[: n_features * min(step, n_rows - start)].data)
    return sha256(np.full(n_rows, n_features, "<u8").data).digest() + columns.digest()


class RowDigests:
    """The digests of the lengths, columns and values of rows that come block by block, without their zeros."""

    def __init__(self) -> None:
        self._lengths, self._columns, self._values = sha256(), sha256(), sha256()

    def digest(self) -> bytes:
        """Return the three digests of all rows so far."""
        return self._lengths.digest() + self._columns.digest() + self._values.digest()

    def add(self, features: Features) -> None:
        """Add rows, each digest on a thread of its own if several are allowed."""
        digests = self._lengths, self._columns, self._values
        with Pool(min(allowed(), 2) if features.n_rows * features.n_features > BLOCK_VALUES else 1) as pool:
            for arrays in _arrays(features):
                for _ in pool.ordered(_update, zip(digests, arrays, strict=True)):
                    pass


def _update(pair: tuple[Any, NDArray[Any]]) -> None:
    digest, values = pair
    digest.update(values)


def _arrays(features: Features) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield the lengths, columns and values of some rows at a time, without their zeros."""
    X = features.rows
    if isinstance(X, CSR):
        for some in row_slices(X):
            ends = X.indptr[some.start : some.stop + 1].astype(np.int64)
            places, kept = X.indices[ends[0] : ends[-1]], X.data[ends[0] : ends[-1]]
            ends -= ends[0]
            stored = kept != 0.0
            if not stored.all():
                ends, places, kept = np.append(0, np.cumsum(stored))[ends], places[stored], kept[stored]
            yield np.diff(ends).astype("<u8"), places.astype("<u8"), np.ascontiguousarray(kept, "<f8")
        return
    d = features.n_features
    step = max(1, min(BLOCK_VALUES // d, features.n_rows))
    whole, starts = np.tile(np.arange(d, dtype="<u8"), step), np.arange(step + 1) * d
    for start in range(0, features.n_rows, step):
        kept = X[start : start + step].reshape(-1)
        counts, places, stored = np.full(kept.size // d, d), whole[: kept.size], kept != 0.0
        if not stored.all():
            at = np.flatnonzero(stored)  # taking values by position is many times as fast as by a mask
            counts = np.diff(np.searchsorted(at, starts[: len(counts) + 1]))
            places, kept = places.take(at), kept.take(at)
        yield counts.astype("<u8"), places, np.ascontiguousarray(kept, "<f8")


def fingerprint_of_blocks(blocks: Iterable[tuple[Features, Ints]], n_rows: int, n_features: int) -> str:
    """Return `Fingerprint.of` of rows that come block by block, each with its signs."""
    labels, digests = sha256(), RowDigests()
    for features, signs in blocks:
        labels.update(signs.astype("i1").tobytes())
        digests.add(features)
    head = b"rosenblatt-data-1\n" + struct.pack("<QQ", n_rows, n_features)
    return sha256(head + labels.digest() + digests.digest()).hexdigest()


def _part(features: Features, start: int, stop: int) -> Features:
    X = features.rows
    if not isinstance(X, CSR):
        return Features(X[start:stop], stop - start, features.n_features)
    first, last = int(X.indptr[start]), int(X.indptr[stop])
    rows = CSR(X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - X.indptr[start])
    return Features(rows, stop - start, features.n_features)
