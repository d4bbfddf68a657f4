"""The SHA-256 by which a proof identifies its data; it is the same for dense rows, sparse rows and `check.py`."""

from __future__ import annotations

import struct
from functools import cached_property
from hashlib import sha256

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Ints

BLOCK = 2**18  # values processed together


class Fingerprint:
    """The fingerprint of some rows, for any labels.

    Examples
    --------
    >>> from rosenblatt.data.features import as_rows
    >>> Fingerprint(as_rows([[0.5, 0.0]])).of(np.array([1]))[:16]
    'f941b4a39d74369a'
    """

    def __init__(self, features: Features) -> None:
        self.features = features

    def of(self, signs: Ints) -> str:
        """Return the fingerprint of the rows with signs 1, −1, or 0 for rows that are left out."""
        head = b"rosenblatt-data-1\n" + struct.pack("<QQ", self.features.n_rows, self.features.n_features)
        labels = sha256(signs.astype("i1").tobytes()).digest()
        return sha256(head + labels + self._of_rows).hexdigest()

    def of_classes(self, codes: Ints) -> str:
        """Return the fingerprint of the rows with the numbers of their classes."""
        head = b"rosenblatt-classes-1\n" + struct.pack("<QQ", self.features.n_rows, self.features.n_features)
        labels = sha256(codes.astype("<u8").tobytes()).digest()
        return sha256(head + labels + self._of_rows).hexdigest()

    @cached_property
    def _of_rows(self) -> bytes:
        """The digests of the lengths, columns and values of the rows without their zeros."""
        lengths, columns, values = sha256(), sha256(), sha256()
        X = self.features.rows
        step = max(1, BLOCK // self.features.n_features)
        if isinstance(X, CSR):
            stored = X.data != 0.0
            ends = np.append(0, np.cumsum(stored))[X.indptr.astype(np.int64)]
            lengths.update(np.diff(ends).astype("<u8").tobytes())
            columns.update(X.indices[stored].astype("<u8").tobytes())
            values.update(X.data[stored].astype("<f8").tobytes())
        else:
            whole = np.tile(np.arange(self.features.n_features, dtype="<u8"), step)
            for start in range(0, self.features.n_rows, step):
                block = X[start : start + step]
                stored = block != 0.0
                counts, places, kept = np.full(len(block), block.shape[1]), whole[: block.size], block
                if not stored.all():
                    counts, places, kept = stored.sum(axis=1), stored.nonzero()[1], block[stored]
                lengths.update(counts.astype("<u8").tobytes())
                columns.update(places.astype("<u8").tobytes())
                values.update(np.ascontiguousarray(kept, "<f8").tobytes())
        return lengths.digest() + columns.digest() + values.digest()
