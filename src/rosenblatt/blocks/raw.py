"""Blocks of rows as they lie in a file: a few arrays, one behind the other, and a checksum over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Ints

ALIGNMENT = 64  # bytes; every array begins at a multiple of it

Bytes: TypeAlias = NDArray[np.uint8]


class Raw(NamedTuple):
    """Rows, and the number that each one's label was given when it was first met."""

    rows: Rows
    codes: NDArray[np.uint32]

    @property
    def stored(self) -> int:
        """The number of values stored."""
        return self.rows.data.size if isinstance(self.rows, CSR) else self.rows.size

    @property
    def sections(self) -> list[NDArray[Any]]:
        """The arrays, in the order of the file."""
        return [*self.rows, self.codes] if isinstance(self.rows, CSR) else [self.rows, self.codes]

    @property
    def n_bytes(self) -> int:
        """What the arrays take in memory."""
        return sum(section.nbytes for section in self.sections)

    def batch(self, n_features: int, names: tuple[str, ...] | None, ranks: Ints, classes: NDArray[Any]) -> Batch:
        """Return the rows with their classes, without a copy of the rows."""
        rows = self.rows
        shown = protected(rows)
        return Batch(
            shown, len(self.codes), n_features, names, codes=read_only(ranks[self.codes]), classes=classes
        )


def protected(rows: Rows) -> Rows:
    """Return rows without the right to write to them."""
    if not isinstance(rows, CSR):
        return read_only(rows)
    return CSR(read_only(rows.data), read_only(rows.indices), read_only(rows.indptr))


class Shape(NamedTuple):
    """What tells how a block lies in its file.

    Attributes
    ----------
    offset : int
        Where it begins.
    n_rows, stored : int
        Its rows, and the values they store.
    dtype, index_type : str
        Of the values, and of the column numbers of sparse rows; no index means dense rows.
    checksum : str
        Over all of its bytes.
    """

    offset: int
    n_rows: int
    stored: int
    dtype: str
    index_type: str
    checksum: str

    @classmethod
    def of(cls, raw: Raw, offset: int) -> Shape:
        """Return the shape of a block that is to lie at `offset`."""
        sparse = isinstance(raw.rows, CSR)
        values = raw.rows.data if isinstance(raw.rows, CSR) else raw.rows
        index = raw.rows.indices.dtype.str[1:] if isinstance(raw.rows, CSR) else ""
        assert not sparse or raw.rows.indptr.dtype == raw.rows.indices.dtype  # type: ignore[union-attr]
        return cls(offset, len(raw.codes), raw.stored, values.dtype.str[1:], index, checksum(raw.sections))

    @property
    def sizes(self) -> list[tuple[int, str]]:
        """The length and the type of each array."""
        if not self.index_type:
            return [(self.stored, self.dtype), (self.n_rows, "u4")]
        columns = (self.stored, self.index_type), (self.n_rows + 1, self.index_type)
        return [(self.stored, self.dtype), *columns, (self.n_rows, "u4")]

    @property
    def n_bytes(self) -> int:
        """What the block takes in the file."""
        return sum(padded(length * np.dtype(dtype).itemsize) for length, dtype in self.sizes)

    def parse(self, content: Bytes, n_features: int) -> Raw:
        """Return the block that its bytes hold, without a copy."""
        arrays, at = [], 0
        for length, dtype in self.sizes:
            size = length * np.dtype(dtype).itemsize
            arrays.append(content[at : at + size].view(dtype))
            at += padded(size)
        *rows, codes = arrays
        return Raw(CSR(*rows) if self.index_type else rows[0].reshape(self.n_rows, n_features), codes)


def padded(n_bytes: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


def pieces(section: NDArray[Any]) -> Iterator[Bytes]:
    """Yield the bytes of an array, and then those that fill it up to the alignment together with its last ones."""
    content = section.reshape(-1).view(np.uint8)
    whole = len(content) - len(content) % ALIGNMENT
    yield content[:whole]
    if whole < len(content):
        rest = np.zeros(ALIGNMENT, np.uint8)
        rest[: len(content) - whole] = content[whole:]
        yield rest


def checksum(sections: list[NDArray[Any]]) -> str:
    """Return a checksum of arrays as they lie in a file."""
    from rosenblatt.loops.checksum import LANES, absorb, combine

    lanes = np.zeros(LANES, np.uint64)
    for section in sections:
        for piece in pieces(section):
            absorb(piece.view(np.uint64), lanes)
    return f"{int(combine(lanes)):016x}"
