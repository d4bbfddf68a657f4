"""Codecs: they turn values into JSON and named arrays, and read them back. Each kind of value has one.

A codec is also a schema. Reading either returns a value of the right kind with valid parts, or raises
`UnsoundError`. Writing makes the same checks, so that every file that was written can be read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import open_private, replacing
from rosenblatt.exceptions import Given, ModelFileError, ParameterError, RosenblattError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.parameters import Declared
from rosenblatt.rooms import find
from rosenblatt.rows.features import Features
from rosenblatt.rows.memory import UNCHECKED_BYTES, free_memory
from rosenblatt.rows.memory import format_bytes as in_units

# A file of named arrays and one JSON document, in the safetensors format, with a checksum over all of it.

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


# Codecs: they turn values into JSON and named arrays, and read them back. Each kind of value has one.

REALS = (np.float64, np.float32)
LARGEST_COUNT = 2**53
"""The largest count: floats represent all integers up to here."""


class UnsoundError(Exception):
    """A document has an invalid part; the message says which and why."""


def wrong(at: str, why: str) -> NoReturn:
    """Raise `UnsoundError` about the part called `at`."""
    raise UnsoundError(f"{at} {why}") from None


@dataclass
class Context:
    """What the parts of one model share: arrays, feature names and labels, each written once."""

    # when writing, the arrays so far; when reading, those that no part has taken yet
    tensors: Tensors = field(default_factory=Tensors)
    names: tuple[Any, ...] | None = None  # the names of the features
    classes: NDArray[Any] | None = None  # the labels

    def take(self, name: Any) -> NDArray[Any] | None:
        """Return a copy of an array that no other part has taken, or None."""
        array = self.tensors.pop(name, None) if isinstance(name, str) else None
        return None if array is None else array.copy()


class Codec(Protocol):
    """Writes and reads one kind of value; `at` is the name of the part, for messages."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return JSON, and put arrays in the context."""

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value, or raise `UnsoundError`."""


def plain_value(value: Any) -> Any:
    """Return a number of numpy as Python has it, and any other value as it is."""
    return value.item() if isinstance(value, np.generic) else value


class Simple(ABC):
    """A value that JSON holds directly."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the value, or raise `UnsoundError`."""
        return self.decode(plain_value(value), at, context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value, or raise `UnsoundError`."""
        if not self.fits(stored):
            wrong(at, f"is {show_short(stored)}, which is not allowed there")
        return stored

    @abstractmethod
    def fits(self, stored: Any) -> bool:
        """Return whether a value is of this kind."""


@dataclass(frozen=True)
class Count(Simple):
    """An integer within bounds."""

    least: int = 0
    most: int = LARGEST_COUNT

    def fits(self, stored: Any) -> bool:
        """Return whether a value is such an integer."""
        return type(stored) is int and self.least <= stored <= self.most


@dataclass(frozen=True)
class Flag(Simple):
    """True or False."""

    def fits(self, stored: Any) -> bool:
        """Return whether a value is True or False."""
        return type(stored) is bool


@dataclass(frozen=True)
class Text(Simple):
    """A string; if there are choices, one of them."""

    choices: tuple[str, ...] = ()

    def fits(self, stored: Any) -> bool:
        """Return whether a value is such a string."""
        return type(stored) is str and (not self.choices or stored in self.choices)


@dataclass(frozen=True)
class Number:
    """A float. Infinity and NaN are written as text, where `finite` allows them."""

    finite: bool = True
    least: float = -math.inf

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the number, or its name if it is not finite."""
        number = float(value)
        self._look(number, at)
        return number if math.isfinite(number) else str(number)

    def decode(self, stored: Any, at: str, context: Context) -> float:
        """Return the number."""
        if type(stored) is str and stored in ("inf", "-inf", "nan"):
            stored = float(stored)
        elif type(stored) is not float or not math.isfinite(stored):
            wrong(at, f"is {show_short(stored)}, which is not a number")
        self._look(stored, at)
        return float(stored)

    def _look(self, number: float, at: str) -> None:
        if self.finite and not (math.isfinite(number) and number >= self.least):
            wrong(at, f"is {number}, which is not allowed there")


@dataclass(frozen=True)
class Scalar:
    """One value of any simple kind: None, a flag, an integer, a float or a string."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the value; infinity and NaN become a table with their name."""
        plain = plain_value(value)
        if isinstance(plain, float) and not math.isfinite(plain):
            return {"float": str(plain)}
        if plain is None or type(plain) in (bool, int, float, str):
            return plain
        return wrong(
            at, f"is {show_short(value)}, of the type {type(value).__name__}, which no model file can hold"
        )

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value."""
        if isinstance(stored, dict) and stored.keys() == {"float"} and stored["float"] in ("inf", "-inf", "nan"):
            return float(stored["float"])
        if stored is None or type(stored) in (bool, int, str) or (type(stored) is float and math.isfinite(stored)):
            return stored
        return wrong(at, f"is {show_short(stored)}, which is not a single value")


@dataclass(frozen=True)
class Maybe:
    """None, or a value of another codec."""

    inner: Codec

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return null for None."""
        return None if value is None else self.inner.encode(value, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return None for null."""
        return None if stored is None else self.inner.decode(stored, at, context)


@dataclass(frozen=True)
class Boxed:
    """A value of another codec in a list of one, so that its null differs from None."""

    inner: Codec

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a list of one."""
        return [self.inner.encode(value, at, context)]

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value in the list."""
        if not isinstance(stored, list) or len(stored) != 1:
            wrong(at, "is not a list of one value")
        return self.inner.decode(stored[0], at, context)


@dataclass(frozen=True)
class Several:
    """A list or tuple of values of one kind."""

    inner: Codec
    make: Callable[[Any], Any] = list
    length: int | None = None

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a list."""
        return [self.inner.encode(each, f"{at}.{k}", context) for k, each in enumerate(value)]

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the values."""
        if not isinstance(stored, list) or (self.length is not None and len(stored) != self.length):
            wrong(at, "is not a list of the expected length")
        return self.make(self.inner.decode(each, f"{at}.{k}", context) for k, each in enumerate(stored))


@dataclass(frozen=True)
class Array:
    """An array of allowed types and numbers of dimensions. Its JSON is its name among the arrays."""

    ndim: int | tuple[int, ...] = 1
    dtypes: tuple[Any, ...] = (np.float64,)
    finite: bool = True

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Put the array in the context."""
        array = np.asarray(value)
        self._look(array, at)
        return context.tensors.put(at, array)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Take the array from the context."""
        array = context.take(stored)
        if array is None:
            wrong(at, "names an array that is missing or belongs to another part")
        self._look(array, at)
        return array

    def _look(self, array: NDArray[Any], at: str) -> None:
        dimensions = self.ndim if isinstance(self.ndim, tuple) else (self.ndim,)
        if array.ndim not in dimensions or array.dtype not in [np.dtype(each) for each in self.dtypes]:
            wrong(at, f"is an array of {array.dtype} with shape {array.shape}, which is not allowed there")
        if self.finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            wrong(at, "holds NaN or infinity")


INTEGERS = Array(dtypes=(np.int64,))


@dataclass(frozen=True)
class Record:
    """An object with these named parts, and no others."""

    make: Callable[..., Any]  # takes the parts by name, and returns the object
    parts: Mapping[str, Codec]  # the codec of each part
    # returns the parts of an object, where they are not its attributes of these names
    take: Callable[[Any], Mapping[str, Any]] | None = None
    # raises `UnsoundError` or ValueError for an object whose parts contradict each other
    check: Callable[[Any], None] | None = None
    # parts that older files do not have, with the JSON that stands for what they did
    before: dict[str, Any] = field(default_factory=dict)

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a table of the parts."""
        self._look(value, at)
        held = {name: getattr(value, name) for name in self.parts} if self.take is None else self.take(value)
        return {name: codec.encode(held[name], f"{at}.{name}", context) for name, codec in self.parts.items()}

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the object."""
        if not isinstance(stored, dict) or (self.before | stored).keys() != self.parts.keys():
            wrong(at, "does not have exactly the expected parts")
        stored = self.before | stored
        held = {name: codec.decode(stored[name], f"{at}.{name}", context) for name, codec in self.parts.items()}
        try:
            value = self.make(**held)
        except (ValueError, TypeError, ArithmeticError) as error:  # a constructor that checks its arguments
            wrong(at, f"is invalid: {error}")
        self._look(value, at)
        return value

    def _look(self, value: object, at: str) -> None:
        if self.check is None:
            return
        try:
            self.check(value)
        except (UnsoundError, ValueError) as error:
            wrong(at, f"is invalid: {error}")


@dataclass(frozen=True)
class Either:
    """One of several kinds of objects, each with its name in the file."""

    kinds: Mapping[str, tuple[type, Codec]]

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the name of the kind, and the JSON of its codec."""
        for name, (kind, codec) in self.kinds.items():
            if type(value) is kind:
                return [name, codec.encode(value, at, context)]
        return wrong(at, f"is a {type(value).__name__}, which no model file can hold")

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the object."""
        if (
            not isinstance(stored, list)
            or len(stored) != 2
            or type(stored[0]) is not str
            or stored[0] not in self.kinds
        ):
            wrong(at, "has an unknown kind")
        return self.kinds[stored[0]][1].decode(stored[1], at, context)


def require(fact: Any, why: str) -> None:
    """Raise `UnsoundError` unless a condition holds."""
    if not fact:
        raise UnsoundError(why)


def same_length(*columns: Any) -> bool:
    """Return whether all sequences have the same length."""
    return len({len(column) for column in columns}) <= 1


def show_short(value: object) -> str:
    """Return a short text of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Parameters, labels and names of features keep their Python types; rows are dense or sparse.

SCALAR = Scalar()
DTYPES = {name: np.dtype(name) for name in (*["bool", "int8", "int16", "int32", "int64"], "object")} | {
    name: np.dtype(name) for name in ["uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
}
"""Array types of labels; texts come besides, and their type says how long they are."""
LONGEST_TEXT_LABEL = 2**20
MOST_CHARACTERS, MOST_PADDING = 2**24, 64
"""Arrays of texts take the longest label for each: so many characters in all, or so many times those there are."""


def stored_name(attribute: str) -> str:
    """Return the name of an attribute in files, without the underscore of a private one."""
    return attribute.removeprefix("_")


class Labels:
    """Class labels with their type. The labels of the whole model are written once, and as null elsewhere."""

    def encode(self, value: NDArray[Any], at: str, context: Context) -> Any:
        """Return null for the classes of the model, and a table of type and labels for others."""
        if context.classes is not None and _same(value, context.classes):
            return None
        return write_labels(value, at)

    def decode(self, stored: Any, at: str, context: Context) -> NDArray[Any]:
        """Return the labels."""
        if stored is not None:
            return read_labels(stored, at)
        if context.classes is None:
            wrong(at, "is missing")
        return context.classes


def write_labels(labels: NDArray[Any], at: str) -> dict[str, Any]:
    """Return type and labels."""
    kind = "text" if labels.dtype.kind == "U" else labels.dtype.name
    if kind != "text" and kind not in DTYPES:
        wrong(at, f"has labels of the type {labels.dtype}, but a model file holds only numbers and texts")
    values = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
    for value in values:
        if type(value) not in (bool, int, float, str) or value != value or value in (np.inf, -np.inf):
            wrong(at, f"has the label {show_short(value)}, but a model file holds only numbers and texts")
    if kind == "text" and not _is_compact(values, labels.dtype.itemsize // 4):
        wrong(at, "have a label that is far longer than the others, which would take too much memory. Shorten it")
    return {"type": kind if kind != "text" else f"text{labels.dtype.itemsize // 4}", "labels": values}


def read_labels(stored: Any, at: str) -> NDArray[Any]:
    """Return the labels that `write_labels` wrote."""
    if (
        not isinstance(stored, dict)
        or stored.keys() != {"type", "labels"}
        or not isinstance(stored["labels"], list)
    ):
        wrong(at, "are not a table of type and labels")
    kind, values = stored["type"], stored["labels"]
    if any(type(value) not in (bool, int, float, str) or value in (np.inf, -np.inf) for value in values):
        wrong(at, "hold a value that is not a label")
    if len(set(values)) < len(values):
        wrong(at, "name a class twice")
    dtype = _label_type(kind)
    if dtype is None:
        wrong(at, f"have the unknown type {show_short(kind)}")
    kind_of_each = {"U": str, "b": bool, "i": int, "u": int, "f": float}.get(dtype.kind)
    if kind_of_each is not None and not all(type(value) is kind_of_each for value in values):
        wrong(at, f"are not all of their type, {kind}")
    if dtype.kind == "U" and any(len(value) > dtype.itemsize // 4 for value in values):
        wrong(at, "are longer than their type allows")
    if dtype.kind == "U" and not _is_compact(values, dtype.itemsize // 4):
        wrong(at, "would take far more memory than their characters")
    taken = len(values) * dtype.itemsize
    if taken > UNCHECKED_BYTES and taken > (free := free_memory()):
        wrong(at, f"would take {in_units(taken)}, but {in_units(free)} of memory are free")
    labels = np.empty(len(values), dtype)
    try:
        labels[:] = values
    except (OverflowError, ValueError):
        wrong(at, f"are not all of their type, {kind}")
    if labels.tolist() != values:
        wrong(at, f"are not all of their type, {kind}")
    labels.flags.writeable = False
    return labels


def _label_type(kind: Any) -> np.dtype[Any] | None:
    if not isinstance(kind, str):
        return None
    if kind.startswith("text"):
        length = kind[4:]
        if (
            not (length.isascii() and length.isdigit())
            or len(length) > 7
            or not 0 < int(length) <= LONGEST_TEXT_LABEL
        ):
            return None
        return np.dtype(f"<U{int(length)}")
    return DTYPES.get(kind)


def _is_compact(texts: list[str], length: int) -> bool:
    taken = len(texts) * length
    return taken <= MOST_CHARACTERS or taken <= MOST_PADDING * sum(map(len, texts))


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist())


class PerLabel:
    """A dictionary whose keys are labels, written as pairs: keys of JSON are always texts."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return pairs."""
        return [
            [SCALAR.encode(label, at, context), self.inner.encode(each, at, context)]
            for label, each in value.items()
        ]

    def decode(self, stored: Any, at: str, context: Context) -> dict[Any, Any]:
        """Return the dictionary."""
        if not isinstance(stored, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in stored):
            wrong(at, "is not a list of pairs")
        table = {SCALAR.decode(k, at, context): self.inner.decode(v, at, context) for k, v in stored}
        if len(table) < len(stored):
            wrong(at, "names something twice")
        return table


class Parameter:
    """A constructor parameter: a single value, list, tuple, dictionary, array or kernel."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return JSON that marks tuples, dictionaries, arrays and kernels."""
        if isinstance(value, list):
            return [self.encode(each, f"{at}.{k}", context) for k, each in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": self.encode(list(value), at, context)}
        if type(value) is dict and _is_json(value):
            return {"json": value}
        if type(value) is dict:
            pairs = [[key, each] for key, each in value.items()]
            return {"dict": [self.encode(pair, f"{at}.{k}", context) for k, pair in enumerate(pairs)]}
        if type(value) is np.ndarray and value.dtype in NAMES:
            return {"array": context.tensors.put(at, value)}
        if type(value).__module__ == "rosenblatt.kernels.values":
            return {"kernel": find("kernels.kernel_file").KERNEL.encode(value, at, context)}
        return SCALAR.encode(value, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value."""
        if isinstance(stored, list):
            return [self.decode(each, at, context) for each in stored]
        if not isinstance(stored, dict) or len(stored) != 1:
            return SCALAR.decode(stored, at, context)
        ((kind, inner),) = stored.items()
        match kind:
            case "tuple" if isinstance(inner, list):
                return tuple(self.decode(inner, at, context))
            case "dict" if isinstance(inner, list) and all(isinstance(pair, list) for pair in inner):
                return self._dictionary(inner, at, context)
            case "array" if isinstance(inner, str) and inner in context.tensors:
                return context.take(inner)
            case "json" if isinstance(inner, dict):
                return inner
            case "kernel":
                return find("kernels.kernel_file").KERNEL.decode(inner, at, context)
        return SCALAR.decode(stored, at, context)

    def _dictionary(self, pairs: list[Any], at: str, context: Context) -> dict[Any, Any]:
        try:
            table = dict(self.decode(pairs, at, context))
        except (TypeError, ValueError):
            wrong(at, "is not a dictionary")
        if len(table) < len(pairs):
            wrong(at, "names something twice")
        return table


def _is_json(value: object) -> bool:
    """Return whether a value survives JSON unchanged: it then needs no marks, and is read fast."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
    return bool(same)


class Names:
    """The feature names of a table, written as how many of the model's names it has, or null."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the number of names."""
        if value is None:
            return None
        if context.names is None or tuple(value) != context.names[: len(value)]:
            wrong(at, "are not the first names of the features")
        return len(value)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the names."""
        if stored is None:
            return None
        if type(stored) is not int or context.names is None or not 1 <= stored <= len(context.names):
            wrong(at, "is not a number of names")
        names = context.names[:stored]
        if not all(type(name) is str for name in names):
            wrong(at, "are not all texts")
        return names


class VocabularyCodec:
    """The feature names that examples in mappings use."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return whether new names may come."""
        if context.names is None or tuple(value.names) != context.names:
            wrong(at, "has other names than the features")
        return {"grows": value.grows}

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the vocabulary."""
        from rosenblatt.rows.batch import Vocabulary

        if not isinstance(stored, dict) or stored.keys() != {"grows"} or type(stored["grows"]) is not bool:
            wrong(at, "is not a vocabulary")
        return Vocabulary(context.names or (), grows=stored["grows"])


UNSIGNED = (np.uint32, np.uint64)


def _sound_csr(rows: CSR) -> None:
    starts = rows.indptr.astype(np.int64)
    require(same_length(rows.data, rows.indices), "the numbers of values and of column indices differ")
    require(
        len(starts) and starts[0] == 0 and starts[-1] == len(rows.data),
        "rows do not begin at 0 and end at the last value",
    )
    require((np.diff(starts) >= 0).all(), "a row ends before it begins")


CSR_ROWS = Record(
    CSR,
    {"data": Array(dtypes=REALS), "indices": Array(dtypes=UNSIGNED), "indptr": Array(dtypes=UNSIGNED)},
    check=_sound_csr,
)
TABLE = Either({"dense": (np.ndarray, Array(2, REALS)), "sparse": (CSR, CSR_ROWS)})


def require_width(rows: Rows, n_rows: int, n_features: int) -> None:
    """Require a table of the given numbers of rows and columns."""
    if isinstance(rows, CSR):
        require(len(rows.indptr) == n_rows + 1, "the number of rows is wrong")
        require(not len(rows.indices) or rows.indices.max() < n_features, "a value is beyond the last feature")
    else:
        require(rows.shape == (n_rows, n_features), "a table has the wrong shape")


def _sound_features(features: Features) -> None:
    require_width(features.rows, features.n_rows, features.n_features)


def _parts_of_features(features: Features) -> dict[str, Any]:
    rows = features.rows
    if isinstance(rows, CSR):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        starts = (rows.indptr - rows.indptr[0]).astype(rows.indptr.dtype)
        rows = CSR(rows.data[first:last], rows.indices[first:last], starts)
    return {"rows": rows, "n_rows": features.n_rows, "n_features": features.n_features}


FEATURES = Record(
    Features,
    {"rows": TABLE, "n_rows": Count(1), "n_features": Count(1)},
    take=_parts_of_features,
    check=_sound_features,
)


class NativeTable:
    """A numpy array or a scipy sparse array, with its width."""

    def encode(self, value: Any, at: str, context: Any) -> Any:
        """Return the width, and the JSON of `TABLE`."""
        if isinstance(value, np.ndarray):
            return [value.shape[1], TABLE.encode(value, at, context)]
        rows = value.tocsr()
        parts = CSR(rows.data, rows.indices.astype(np.uint64), rows.indptr.astype(np.uint64))
        return [rows.shape[1], TABLE.encode(parts, at, context)]

    def decode(self, stored: Any, at: str, context: Any) -> Any:
        """Return the array."""
        if not isinstance(stored, list) or len(stored) != 2:
            wrong(at, "is not a table")
        width, rows = Count(1).decode(stored[0], at, context), TABLE.decode(stored[1], at, context)
        n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
        try:
            require_width(rows, n_rows, width)
        except UnsoundError as error:
            wrong(at, str(error))
        return Features(rows, n_rows, width).native()


# The codec of an estimator: its constructor parameters, and what its ``__dict__`` holds after training.

PARAMETER = Parameter()
WAYS_OUT = {
    "callbacks": "set_params(callbacks=None)",
    "random_state": "set_params(random_state=0)",
    "order": "set_params(order='shuffle')",
    "kernel": "a value of rosenblatt.kernels, such as RBF(0.5), in place of the function",
    "learning_rate": "set_params(learning_rate='optimal'), which changes no weight",
}
"""For parameters that may hold what no file can, what to use instead."""


def _check_declared(model: Any) -> None:
    """Require parameters as the class of an estimator declares them, if it does."""
    if isinstance(model, Declared):
        model._check_parameters()


@dataclass(frozen=True)
class StateSchema:
    """What a model file keeps of a trained estimator besides its parameters, and which conditions must hold.

    Examples
    --------
    >>> from rosenblatt.codecs import Count
    >>> sorted(StateSchema({"_width": Count(1)}, {"n_iter_": Count()}).parts)
    ['_width', 'n_iter_']
    """

    # required, optional: the codecs of attributes: of those that are always there, and of those that depend on the
    # training
    required: Mapping[str, Codec]
    optional: Mapping[str, Codec] = field(default_factory=dict)
    # Is called with the attributes that were read. It joins parts that share a value, in place, and raises
    # `UnsoundError` if parts contradict each other.
    link: Callable[[dict[str, Any]], None] = lambda held: None
    # takes the attributes of an estimator, and returns those to write
    before: Callable[[dict[str, Any]], dict[str, Any]] = lambda held: held
    # Takes an estimator that is written or was read, and raises `ParameterError` for parameters that its methods
    # cannot use. By default each parameter must be as its class declares it.
    check: Callable[[Any], None] = _check_declared

    @property
    def parts(self) -> dict[str, Codec]:
        """All attributes, required and optional."""
        return {**self.required, **self.optional}

    def encode(self, model: Any, at: str, context: Context) -> dict[str, Any]:
        """Return parameters and state of an estimator."""
        parameters = model.get_params(deep=False)
        values = {
            name: _parameter(name, value, f"{at}parameters.{name}", context) for name, value in parameters.items()
        }
        self.check(model)  # what is written can be read
        made = vars(type(model)(**parameters))  # a subclass may set parameters of its base class
        held = self.before(
            {
                name: value
                for name, value in vars(model).items()
                if name not in parameters and (name not in made or not _is_same(value, made[name]))
            }
        )
        strange = held.keys() - self.parts.keys()
        if strange:
            raise ParameterError(
                f"model has {', '.join(sorted(strange))}, which the file of a {type(model).__name__} does not "
                "keep. Delete it before saving.",
                parameter="model",
            )
        try:
            state = {
                stored_name(name): self.parts[name].encode(value, f"{at}{stored_name(name)}", context)
                for name, value in held.items()
            }
        except UnsoundError as error:
            raise ParameterError(f"model cannot be saved: {error}.", parameter="model") from None
        return {"parameters": values, "state": state}

    def decode(self, estimator: type, stored: Any, at: str, context: Context) -> Any:
        """Return an estimator of the given class."""
        if not isinstance(stored, dict) or stored.keys() != {"parameters", "state"}:
            wrong(at, "does not have exactly the expected parts")
        known = estimator._get_param_names()  # type: ignore[attr-defined]
        if not isinstance(stored["parameters"], dict) or not stored["parameters"].keys() <= set(known):
            wrong(f"{at}parameters", f"are not those of a {estimator.__name__}")
        parameters = {
            name: PARAMETER.decode(value, f"{at}parameters.{name}", context)
            for name, value in stored["parameters"].items()
        }
        state, names = stored["state"], {stored_name(name): name for name in self.parts}
        required = {stored_name(name) for name in self.required}
        if not isinstance(state, dict) or not required <= state.keys() <= names.keys():
            wrong(f"{at}state", f"is not that of a {estimator.__name__}")
        held = {
            names[each]: self.parts[names[each]].decode(value, f"{at}{each}", context)
            for each, value in state.items()
        }
        self.link(held)
        model = estimator(**parameters)
        vars(model).update(held)
        try:
            self.check(model)
        except RosenblattError as error:
            wrong(f"{at}parameters", f"cannot be used: {str(error).removesuffix('.')}")
        return model


@dataclass(frozen=True)
class Nested:
    """An estimator inside another."""

    estimator: type
    state: StateSchema

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return its parameters and state."""
        return self.state.encode(value, f"{at}.", context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the estimator."""
        inner = Context(context.tensors, None, context.classes)
        return self.state.decode(self.estimator, stored, f"{at}.", inner)


@dataclass(frozen=True)
class FixedParameters:
    """The values that certain parameters had when training began."""

    names: tuple[str, ...]

    def encode(self, value: dict[str, Any], at: str, context: Context) -> Any:
        """Return a table of them."""
        return {name: PARAMETER.encode(each, f"{at}.{name}", context) for name, each in value.items()}

    def decode(self, stored: Any, at: str, context: Context) -> dict[str, Any]:
        """Return the parameters."""
        if not isinstance(stored, dict) or stored.keys() != set(self.names):
            wrong(at, "does not have exactly the expected parameters")
        return {name: PARAMETER.decode(each, f"{at}.{name}", context) for name, each in stored.items()}


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and type(one) in (bool, int, float, str) and one == other)


def _parameter(name: str, value: object, at: str, context: Context) -> Any:
    try:
        return PARAMETER.encode(value, at, context)
    except UnsoundError:
        way_out = WAYS_OUT.get(name, "a number, a text, or a list, tuple, dictionary or array of them")
        raise ParameterError(
            Given(name, value) + f" cannot be saved: a model file holds values, nothing that would have to be "
            f"executed. Before saving use {way_out}."
        ) from None
