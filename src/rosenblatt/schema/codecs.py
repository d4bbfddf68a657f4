"""How values become JSON and arrays, and back: one codec a kind of value, put together from a few.

A codec is a schema as well: what it reads is of its kind, of a closed set of names, and sound, or it raises
`UnsoundError`. It looks at what it writes with the same eyes, so that nothing is written that could not be read.
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
MOST = 2**53
"""The largest count: visits of three million years."""


class UnsoundError(Exception):
    """What a document says cannot be; the message is the rest of a sentence about the file."""


def wrong(at: str, why: str) -> NoReturn:
    """Say what is wrong with a part."""
    raise UnsoundError(f"{at} {why}") from None


@dataclass
class Context:
    """What the parts of one model share: its arrays, and names and labels, which are written once.

    Attributes
    ----------
    tensors : Tensors
        When writing, those so far; when reading, those not yet asked for.
    names : tuple or None
        Of the features.
    classes : ndarray or None
        The labels.
    """

    tensors: Tensors = field(default_factory=Tensors)
    names: tuple[Any, ...] | None = None
    classes: NDArray[Any] | None = None

    def take(self, name: Any) -> NDArray[Any] | None:
        """Return a copy of an array that nobody else has asked for, or None."""
        array = self.tensors.pop(name, None) if isinstance(name, str) else None
        return None if array is None else array.copy()


class Codec(Protocol):
    """Writes and reads one kind of value; `at` is what it is called."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return JSON, and put arrays in the context."""

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the value, or raise `UnsoundError`."""


class Simple(ABC):
    """A value that is its own JSON."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the value, if it is one of these."""
        plain = value.item() if isinstance(value, np.generic) else value
        return self.decode(plain, at, context)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the value, if it is one of these."""
        if not self.fits(told):
            wrong(at, f"is {shown(told)}, which it cannot be")
        return told

    @abstractmethod
    def fits(self, told: Any) -> bool:
        """Say whether a value is one of these."""


@dataclass(frozen=True)
class Count(Simple):
    """An integer within bounds."""

    least: int = 0
    most: int = MOST

    def fits(self, told: Any) -> bool:
        """Say whether a value is such an integer."""
        return type(told) is int and self.least <= told <= self.most


@dataclass(frozen=True)
class Flag(Simple):
    """True or False."""

    def fits(self, told: Any) -> bool:
        """Say whether a value is either."""
        return type(told) is bool


@dataclass(frozen=True)
class Text(Simple):
    """A string, one of a few if these are given."""

    choices: tuple[str, ...] = ()

    def fits(self, told: Any) -> bool:
        """Say whether a value is such a string."""
        return type(told) is str and (not self.choices or told in self.choices)


@dataclass(frozen=True)
class Number:
    """A float; what is not finite is written as text, if it is allowed at all."""

    finite: bool = True
    least: float = -math.inf

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a number, or its name."""
        number = float(value)
        self._look(number, at)
        return number if math.isfinite(number) else str(number)

    def decode(self, told: Any, at: str, context: Context) -> float:
        """Return the number."""
        if type(told) is str and told in ("inf", "-inf", "nan"):
            told = float(told)
        elif type(told) is not float or not math.isfinite(told):
            wrong(at, f"is {shown(told)}, which is no number")
        self._look(told, at)
        return float(told)

    def _look(self, number: float, at: str) -> None:
        if self.finite and not (math.isfinite(number) and number >= self.least):
            wrong(at, f"is {number}, which it cannot be")


@dataclass(frozen=True)
class Scalar:
    """Anything that is one value: None, a flag, an integer, a float or a string."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return it; floats that are not finite become a table with their name."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, float) and not math.isfinite(plain):
            return {"float": str(plain)}
        if plain is None or type(plain) in (bool, int, float, str):
            return plain
        return wrong(at, f"is {shown(value)}, of the type {type(value).__name__}, which no model file can hold")

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the value."""
        if isinstance(told, dict) and told.keys() == {"float"} and told["float"] in ("inf", "-inf", "nan"):
            return float(told["float"])
        if told is None or type(told) in (bool, int, str) or (type(told) is float and math.isfinite(told)):
            return told
        return wrong(at, f"is {shown(told)}, which is no single value")


@dataclass(frozen=True)
class Maybe:
    """None, or what another codec takes."""

    inner: Codec

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return null for None."""
        return None if value is None else self.inner.encode(value, at, context)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return None for null."""
        return None if told is None else self.inner.decode(told, at, context)


@dataclass(frozen=True)
class Boxed:
    """What another codec takes, in a list of its own: so that its null differs from nothing at all."""

    inner: Codec

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a list of one."""
        return [self.inner.encode(value, at, context)]

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return what is in the list."""
        if not isinstance(told, list) or len(told) != 1:
            wrong(at, "is not the list of one that it should be")
        return self.inner.decode(told[0], at, context)


@dataclass(frozen=True)
class Several:
    """A list or tuple of values of one kind."""

    inner: Codec
    make: Callable[[Any], Any] = list
    length: int | None = None

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return a list."""
        return [self.inner.encode(each, f"{at}.{k}", context) for k, each in enumerate(value)]

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the values."""
        if not isinstance(told, list) or (self.length is not None and len(told) != self.length):
            wrong(at, "is not the list it should be")
        return self.make(self.inner.decode(each, f"{at}.{k}", context) for k, each in enumerate(told))


@dataclass(frozen=True)
class Array:
    """An array of one of a few types, of so many dimensions; its JSON is the name it has among the arrays."""

    ndim: int | tuple[int, ...] = 1
    dtypes: tuple[Any, ...] = (np.float64,)
    finite: bool = True

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Put the array in the context."""
        array = np.asarray(value)
        self._look(array, at)
        return context.tensors.put(at, array)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Take the array from the context."""
        array = context.take(told)
        if array is None:
            wrong(at, "is an array that is not there, or is somebody else's")
        self._look(array, at)
        return array

    def _look(self, array: NDArray[Any], at: str) -> None:
        dimensions = self.ndim if isinstance(self.ndim, tuple) else (self.ndim,)
        if array.ndim not in dimensions or array.dtype not in [np.dtype(each) for each in self.dtypes]:
            wrong(at, f"is an array of {array.dtype} and shape {array.shape}, which it cannot be")
        if self.finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            wrong(at, "holds NaN or infinity")


@dataclass(frozen=True)
class Record:
    """An object with named parts: exactly these.

    Attributes
    ----------
    make : callable
        Takes the parts by name, and returns the object.
    parts : mapping of str to Codec
        What each part is.
    take : callable or None
        Returns the parts of an object, where they are not its attributes of these names.
    check : callable or None
        Raises `UnsoundError`, or an error of its own, for an object whose parts contradict each other.
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

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the object."""
        if not isinstance(told, dict) or told.keys() != self.parts.keys():
            wrong(at, "does not have the parts it should have")
        held = {name: codec.decode(told[name], f"{at}.{name}", context) for name, codec in self.parts.items()}
        try:
            value = self.make(**held)
        except (ValueError, TypeError, ArithmeticError) as error:  # a constructor that looks at its arguments
            wrong(at, f"cannot be: {error}")
        self._look(value, at)
        return value

    def _look(self, value: Any, at: str) -> None:
        if self.check is None:
            return
        try:
            self.check(value)
        except (UnsoundError, ValueError) as error:
            wrong(at, f"cannot be: {error}")


@dataclass(frozen=True)
class Either:
    """One of several kinds of objects, each with its name in the file."""

    kinds: Mapping[str, tuple[type, Codec]]

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the name of the kind, and what its codec makes of the object."""
        for name, (kind, codec) in self.kinds.items():
            if type(value) is kind:
                return [name, codec.encode(value, at, context)]
        return wrong(at, f"is a {type(value).__name__}, which no model file can hold")

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the object."""
        if not isinstance(told, list) or len(told) != 2 or type(told[0]) is not str or told[0] not in self.kinds:
            wrong(at, "is of no known kind")
        return self.kinds[told[0]][1].decode(told[1], at, context)


def require(fact: Any, why: str) -> None:
    """Raise `UnsoundError` unless something is so."""
    if not fact:
        raise UnsoundError(why)


def same_length(*columns: Any) -> bool:
    """Say whether sequences are of one length."""
    return len({len(column) for column in columns}) <= 1


def shown(value: Any) -> str:
    """Write a value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
