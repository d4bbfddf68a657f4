"""A file of named arrays and one JSON document, in the safetensors format, with a checksum over all of it.

Layout: eight bytes with the length of the header; the header in JSON, with type, shape and place of every array;
then the arrays. Our document is a text in the header's ``__metadata__`` under one key. Its first field is the
SHA-256 of everything else, so that damage anywhere is noticed.

Reading compares every size with the size of the file before it allocates anything.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import open_private, replacing
from rosenblatt.exceptions import ModelFileError

__all__ = ["LARGEST_HEADER", "Tensors", "pack_file", "read_container", "write_container"]


# JSON as our files may hold it: each name once in a table, and only finite numbers.


def strict_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError with a short reason for any other text.

    Examples
    --------
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: a name occurs twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(str(error)[:200]) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is no number")


def _finite(written: str) -> float:
    number = float(written)
    return number if math.isfinite(number) else _no_number(written)


LARGEST_HEADER = 2**26
"""The most bytes of a header: 64 MiB, enough for the names of some million features."""
KEY = "rosenblatt"
SUM = '{"sha256": "'
DIGITS = 64
TYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
"""All array types that a file may have."""
NAMES = {dtype: name for name, dtype in TYPES.items()}


class Entry(NamedTuple):
    """Type, shape and place of an array in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


class Tensors(dict[str, NDArray[Any]]):
    """Arrays by name."""

    def put(self, name: str, array: NDArray[Any]) -> str:
        """Add an array, and return its name."""
        if array.dtype not in NAMES:
            raise TypeError(f"a model file cannot hold an array of {array.dtype}")
        assert name not in self, f"two arrays called {name!r}"
        self[name] = np.array(array, order="C")
        return name


def write_container(
    path: str | os.PathLike[str], document: Mapping[str, Any], tensors: Tensors, *, private: bool = False
) -> None:
    """Write a whole file; see `rosenblatt.atomic.replacing`. After an error the file is unchanged."""
    content = pack_file(path, document, tensors)
    with replacing(path, private=private) as file:
        file.write(content)


def pack_file(path: str | os.PathLike[str], document: Mapping[str, Any], tensors: Tensors) -> bytes:
    """Return the bytes of a file; `path` is only for messages."""
    from safetensors.numpy import save

    rest = json.dumps(document, separators=(",", ":"), allow_nan=False)[1:]
    text = f'{SUM}{_digest(rest, tensors)}",{rest}'
    if len(text) > LARGEST_HEADER // 2:  # quotes and backslashes are written twice in the header
        raise ModelFileError(
            f"{path} would have a header of {len(text):,} bytes, more than the {LARGEST_HEADER // 2:,} that a "
            "model file may have. Names of features take most of it: train without them, or hash them."
        )
    content: bytes = save(dict(tensors), {KEY: text})
    return content


def read_container(path: str | os.PathLike[str], *, private: bool = False) -> tuple[dict[str, Any], Tensors]:
    """Return the document and the arrays of a file, of one that is ours if it is `private`; they are writeable."""
    with os.fdopen(open_private(path), "rb") if private else Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if len(head) < 8 or length > size - 8:
            _refuse(path, "it is cut short, or no safetensors file")
        if length > LARGEST_HEADER:
            _refuse(path, f"its header of {length:,} bytes is larger than {LARGEST_HEADER:,}")
        text, entries = _header(path, file.read(length), size - 8 - length)
        document = _parsed(path, text)
        tensors = Tensors()
        for name, entry in entries.items():
            file.seek(8 + length + entry.start)
            array = np.fromfile(file, entry.dtype, (entry.stop - entry.start) // entry.dtype.itemsize)
            if array.nbytes != entry.stop - entry.start:
                _refuse(path, "it is cut short")
            if entry.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
                _refuse(path, f"the array {name!r} holds values that are neither true nor false")
            tensors[name] = array.reshape(entry.shape)
    if not isinstance(document, dict) or not text.startswith(SUM):
        _refuse(path, "its text does not begin with a checksum")
    found = document.pop("sha256")
    if found != _digest(text[len(SUM) + DIGITS + 2 :], tensors):
        _refuse(path, "its checksum is not that of its content, so it was damaged or changed")
    return document, tensors


def _digest(rest: str, tensors: Tensors) -> str:
    """Return the checksum of a text and arrays; the order of the arrays does not matter."""
    digest = hashlib.sha256(rest.encode(errors="surrogatepass"))
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, NAMES[array.dtype], array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _header(path: Any, raw: bytes, n_bytes: int) -> tuple[str, dict[str, Entry]]:
    """Return our text and the entries of all arrays, checked against the size of the file."""
    try:
        header = _parsed(path, raw.decode())
    except UnicodeDecodeError:
        _refuse(path, "its header is no text")
    if not isinstance(header, dict):
        _refuse(path, "its header is no table")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(KEY), str):
        _refuse(path, "it is a safetensors file, but none written by rosenblatt")
    if len(metadata) > 1:
        _refuse(path, "its header says more than a model's does")
    entries = {name: _entry(path, name, described) for name, described in header.items()}
    end = 0
    for entry in sorted(entries.values(), key=lambda entry: (entry.start, entry.stop)):
        if entry.start != end:
            _refuse(path, "its arrays overlap, or leave room between them")
        end = entry.stop
    if end != n_bytes:
        _refuse(path, f"its arrays take {end:,} bytes, but there are {n_bytes:,}")
    return metadata[KEY], entries


def _entry(path: Any, name: str, described: Any) -> Entry:
    if not isinstance(described, dict) or described.keys() != {"dtype", "shape", "data_offsets"}:
        _refuse(path, f"the array {name!r} is not described by type, shape and place")
    kind, shape, offsets = described["dtype"], described["shape"], described["data_offsets"]
    if not isinstance(kind, str) or kind not in TYPES:
        _refuse(path, f"the array {name!r} has a type that is not allowed")
    if not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2 or len(shape) > 4:
        _refuse(path, f"the array {name!r} has no proper shape or place")
    dtype, (start, stop) = TYPES[kind], offsets
    if stop - start != math.prod(shape) * dtype.itemsize:
        _refuse(path, f"the array {name!r} of shape {tuple(shape)} does not fit in its place")
    return Entry(dtype, tuple(shape), start, stop)


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**62 for value in values)


def _parsed(path: Any, text: str) -> Any:
    try:
        return strict_json(text)
    except ValueError as error:
        _refuse(path, f"its header cannot be read: {error}")


def _refuse(path: Any, why: str) -> NoReturn:
    raise ModelFileError(
        f"{path} is not a model that can be trusted: {why}. Save the model again, or use another copy of the file."
    ) from None
