"""Codecs: they turn values into JSON and named arrays, and read them back. Each kind of value has one.

A codec is also a schema. Reading either returns a value of the right kind with valid parts, or raises
`UnsoundError`. Writing makes the same checks, so that every file that was written can be read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.schema.container import Tensors

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
    """What the parts of one model share: arrays, feature names and labels, each written once.

    Attributes
    ----------
    tensors : Tensors
        When writing, the arrays so far; when reading, those that no part has taken yet.
    names : tuple or None
        The names of the features.
    classes : ndarray or None
        The labels.
    """

    tensors: Tensors = field(default_factory=Tensors)
    names: tuple[Any, ...] | None = None
    classes: NDArray[Any] | None = None

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


class Simple(ABC):
    """A value that JSON holds directly."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the value, or raise `UnsoundError`."""
        plain = value.item() if isinstance(value, np.generic) else value
        return self.decode(plain, at, context)

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
        plain = value.item() if isinstance(value, np.generic) else value
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
    """An object with exactly these named parts.

    Attributes
    ----------
    make : callable
        Takes the parts by name, and returns the object.
    parts : mapping of str to Codec
        The codec of each part.
    take : callable or None
        Returns the parts of an object, where they are not its attributes of these names.
    check : callable or None
        Raises `UnsoundError` or ValueError for an object whose parts contradict each other.
    """

    make: Callable[..., Any]
    parts: Mapping[str, Codec]
    take: Callable[[Any], Mapping[str, Any]] | None = None
    check: Callable[[Any], None] | None = None

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a table of the parts."""
        self._look(value, at)
        held = {name: getattr(value, name) for name in self.parts} if self.take is None else self.take(value)
        return {name: codec.encode(held[name], f"{at}.{name}", context) for name, codec in self.parts.items()}

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the object."""
        if not isinstance(stored, dict) or stored.keys() != self.parts.keys():
            wrong(at, "does not have exactly the expected parts")
        held = {name: codec.decode(stored[name], f"{at}.{name}", context) for name, codec in self.parts.items()}
        try:
            value = self.make(**held)
        except (ValueError, TypeError, ArithmeticError) as error:  # a constructor that checks its arguments
            wrong(at, f"is invalid: {error}")
        self._look(value, at)
        return value

    def _look(self, value: Any, at: str) -> None:
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


def show_short(value: Any) -> str:
    """Return a short text of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
