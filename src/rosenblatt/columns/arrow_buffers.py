"""Conversions between numpy, strings and Arrow through their buffers.

``pyarrow.array`` and ``Array.to_numpy`` import pandas where it is installed, which takes longer than reading a
small file; buffers do not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["distinct", "from_numpy", "from_strings"]


def distinct(column: pa.Array) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct values in order of their first rows, null as None, and which of them each row has."""
    encoded = column.dictionary_encode(null_encoding="encode")
    codes = encoded.indices
    if len(codes) == 0:
        return [], np.empty(0, np.int32)
    return encoded.dictionary.to_pylist(), np.frombuffer(
        codes.buffers()[1], np.int32, len(codes), 4 * codes.offset
    )


def from_numpy(values: NDArray[Any]) -> pa.Array:
    """Return a 1-D array of bools, numbers or strings as Arrow holds it.

    Raises ValueError for strings of characters that do not exist.

    Examples
    --------
    >>> from_numpy(np.array([True, False, True])).to_pylist()
    [True, False, True]
    >>> from_numpy(np.array([1, 2, 3])[::2]).to_pylist()
    [1, 3]
    """
    import pyarrow as pa

    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.dtype.kind == "U":
        if native.view(np.uint32).max(initial=0) > sys.maxunicode:  # tolist would raise SystemError
            raise ValueError("there are strings of characters that do not exist")
        return from_strings(native.tolist())
    if values.dtype.kind == "b":
        native = np.packbits(native, bitorder="little")
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(native)])


def from_strings(values: Sequence[str | None]) -> pa.Array:
    """Return strings as Arrow holds them; None is null. Raises UnicodeEncodeError for half characters.

    Examples
    --------
    >>> from_strings(["perceptron", None, "ω"]).to_pylist()
    ['perceptron', None, 'ω']
    """
    import pyarrow as pa

    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(each) for each in encoded], out=offsets[1:])
    present = np.packbits(np.array([value is not None for value in values], bool), bitorder="little")
    buffers = [pa.py_buffer(present), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    long = pa.Array.from_buffers(pa.large_string(), len(values), buffers)
    return long.cast(pa.string())
