"""How a block of rows lies in a cache file: a few arrays in a row, and a checksum over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Ints

ALIGNMENT_BYTES = 64  # bytes; every array begins at a multiple of it
VALUE_TYPES, INDEX_TYPES = ("f4", "f8"), ("", "u4", "u8")

Bytes: TypeAlias = NDArray[np.uint8]


class BlockLayout(NamedTuple):
    """The place of a block in its file, and the sizes and types of its arrays.

    Attributes
    ----------
    offset : int
        The position of the first byte.
    n_rows, stored : int
        The number of rows, and the number of values they store.
    dtype, index_type : str
        The type of the values, and of the column numbers of sparse rows; "" means dense rows.
    checksum : str
        Of all bytes of the block.
    """

    offset: int
    n_rows: int
    stored: int
    dtype: str
    index_type: str
    checksum: str

    @classmethod
    def of(cls, arrays: list[NDArray[Any]], offset: int) -> BlockLayout:
        """Return the layout of the arrays of a block that begins at `offset`."""
        values, codes = arrays[0], arrays[-1]
        index_type = arrays[1].dtype.str[1:] if len(arrays) > 2 else ""
        return cls(offset, len(codes), values.size, values.dtype.str[1:], index_type, checksum(arrays))

    @property
    def sizes(self) -> list[tuple[int, str]]:
        """The length and the type of each array."""
        columns = [(self.stored, self.index_type), (self.n_rows + 1, self.index_type)] if self.index_type else []
        return [(self.stored, self.dtype), *columns, (self.n_rows, "u4")]

    @property
    def n_bytes(self) -> int:
        """The number of bytes of the block in its file."""
        return sum(align_place(length * np.dtype(dtype).itemsize) for length, dtype in self.sizes)

    def parse(self, content: Bytes, n_features: int) -> tuple[Rows, NDArray[np.uint32]]:
        """Return the rows in the bytes of a block, without a copy, and the number of each row's label."""
        arrays, at = [], 0
        for length, dtype in self.sizes:
            size = length * np.dtype(dtype).itemsize
            arrays.append(content[at : at + size].view(dtype))
            at += align_place(size)
        *rows, codes = arrays
        return CSR(*rows) if self.index_type else rows[0].reshape(self.n_rows, n_features), codes

    def is_sound(self, content: Bytes, n_features: int, n_labels: int) -> bool:
        """Return whether bytes match the checksum, and their rows have only features and labels that there are."""
        rows, codes = self.parse(content, n_features)
        if checksum([content]) != self.checksum or int(codes.max()) >= n_labels:
            return False
        if not isinstance(rows, CSR):
            return True
        starts = rows.indptr
        ordered = starts[0] == 0 and starts[-1] == self.stored and bool((starts[:-1] <= starts[1:]).all())
        return bool(ordered) and int(rows.indices.max(initial=0)) < n_features


def stored_arrays(rows: Rows, codes: Ints) -> list[NDArray[Any]]:
    """Return the arrays of a block in the order of the file."""
    return [*(rows if isinstance(rows, CSR) else [rows]), codes.astype(np.uint32)]


def narrow_indices(rows: Rows) -> Rows:
    """Return sparse rows with the narrowest indices that a file may hold, and dense rows unchanged."""
    if not isinstance(rows, CSR):
        return rows
    largest = max(rows.data.size, int(rows.indices.max(initial=0)))
    index: Any = np.uint32 if largest <= np.iinfo(np.int32).max else np.uint64
    return CSR(rows.data, rows.indices.astype(index), rows.indptr.astype(index))


def align_place(n_bytes: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-n_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def pieces(array: NDArray[Any]) -> Iterator[Bytes]:
    """Yield the bytes of an array in two pieces, the second filled with zeros up to the alignment."""
    content = array.reshape(-1).view(np.uint8)
    whole = len(content) - len(content) % ALIGNMENT_BYTES
    yield content[:whole]
    if whole < len(content):
        rest = np.zeros(ALIGNMENT_BYTES, np.uint8)
        rest[: len(content) - whole] = content[whole:]
        yield rest


def checksum(arrays: list[NDArray[Any]]) -> str:
    """Return the checksum of arrays as they lie in a file."""
    from rosenblatt.loops.checksum import LANES, absorb, combine

    lanes = np.zeros(LANES, np.uint64)
    for array in arrays:
        for piece in pieces(array):
            absorb(piece.view(np.uint64), lanes)
    return f"{combine(lanes):016x}"
