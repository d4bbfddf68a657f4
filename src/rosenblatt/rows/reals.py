"""From an array of any dtype to float64 or float32, without silent rounding."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError
from rosenblatt.typing import Floats, Reals

Finder: TypeAlias = Callable[[int], "Place | str"]
"""Returns the place of a position among values that lie one after the other, as data or in words."""
"""Returns in words the place of a position in the flattened values."""

Array = TypeVar("Array", bound=NDArray[Any])

EXACT_BITS = 53

ON_ITS_SIDE = "X has as many columns as y has entries: did you mean X.T?"

SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = 80


def show_value(value: object) -> str:
    """Return a value as short text for a message, without numpy's type around it."""
    return SHORT.repr(value.item() if isinstance(value, np.generic) else value)


def unreadable(value: object, name: str) -> str:
    """Return the way out for something that is no array but holds what could be one."""
    if isinstance(value, Mapping):
        return f"For a dict of columns pass pandas.DataFrame({name})."
    if isinstance(value, Iterator):
        return f"It can be read only once, one item at a time: pass list({name})."
    return "Pass a list, an array or a dataframe."


class Place(NamedTuple):
    """The place of a value: its row, its column in a table, and the name of that."""

    row: int
    column: int | None = None
    name: object = None

    def __str__(self) -> str:
        column = "" if self.column is None else f", column {self.column}"
        return f"row {self.row}{column}" + ("" if self.name is None else f" ({show_value(self.name)})")


def place_data(place: Place | str) -> dict[str, Any]:
    """Return the data of an error at a place: its row and column."""
    return {"row": place.row, "column": place.column} if isinstance(place, Place) else {}


def read_only(array: Array) -> Array:
    """Return a read-only view; the array itself keeps its flags."""
    view = array.view()
    view.flags.writeable = False
    return view


def protect(matrix: Any) -> Any:
    """Return an array, or a sparse matrix, whose values cannot be written to."""
    if isinstance(matrix, np.ndarray):
        return read_only(matrix)
    parts = (read_only(each) for each in (matrix.data, matrix.indices, matrix.indptr))
    return type(matrix)(tuple(parts), matrix.shape, copy=False)


def first_masked(array: object) -> tuple[int, ...] | None:
    """Return the first masked place of a numpy masked array, or None."""
    # Only subclasses are checked, because numpy imports its masked arrays when they are first named.
    if type(array) is np.ndarray or not isinstance(array, np.ndarray):
        return None
    if not isinstance(array, np.ma.MaskedArray) or not np.ma.is_masked(array):
        return None
    return tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(array))[0])


def real_dtype(dtype: np.dtype[Any], *, name: str) -> np.dtype[np.float64] | np.dtype[np.float32]:
    """Return float32 for floats of at most 32 bits and float64 for every other real number."""
    match dtype.kind:
        case "f" if dtype.itemsize <= 4:
            return np.dtype(np.float32)
        case "f" | "b" | "i" | "u":
            return np.dtype(np.float64)
        case "c":
            raise DataTypeError(
                f"Complex data not supported: {name} has dtype {dtype}. "
                f"Pass {name}.real and {name}.imag as separate columns."
            )
    raise DataTypeError(
        f"{name} has dtype {dtype}, but must hold real numbers. Convert text that spells numbers with "
        f"{name}.astype(float), one-hot encode categories, and count dates from a reference date."
    )


def require_exact(values: NDArray[Any], *, name: str, where: Finder) -> None:
    """Raise `DataTypeError` for integers and long floats that float64 would round."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        inexact = _rounded_integers(values)
    elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
        inexact = _rounded_floats(values)
    else:
        return
    if inexact.size:
        first = int(inexact[0])
        raise _would_round(values.flat[first], name=name, place=where(first))


def as_reals(values: NDArray[Any], *, name: str, where: Finder) -> Reals:
    """Return the values as a read-only, aligned, native, C-contiguous float64 or float32 array.

    Values that already are such an array are not copied. Messages call them `name` and use `where` for the place.
    """
    if values.dtype.kind == "O":
        values = _from_objects(values, name=name, where=where)
    dtype = real_dtype(values.dtype, name=name)
    require_exact(values, name=name, where=where)
    reals: Reals = np.require(values, dtype=dtype, requirements=["C", "A"])
    return read_only(reals)


def _rounded_integers(values: NDArray[Any]) -> NDArray[np.intp]:
    limit = 2**EXACT_BITS
    if values.max(initial=0) <= limit and values.min(initial=0) >= -limit:
        return np.empty(0, np.intp)
    # An integer fits if it does without its trailing zero bits. The magnitude of the smallest int64 wraps round to
    # itself in abs, and is right again as uint64.
    magnitude = np.abs(values).astype(np.uint64)
    lowest_bit = np.maximum(magnitude & (~magnitude + np.uint64(1)), np.uint64(1))
    return np.flatnonzero(magnitude // lowest_bit > limit)


def _rounded_floats(values: NDArray[Any]) -> NDArray[np.intp]:
    with np.errstate(over="ignore"):
        return np.flatnonzero((values.astype(np.float64) != values) & ~np.isnan(values))


def _from_objects(values: NDArray[Any], *, name: str, where: Finder) -> Floats:
    floats = np.empty(values.size)
    for position, value in enumerate(values.flat):
        floats[position] = value if type(value) is float else _as_float(value, position, name, where)
    return floats.reshape(values.shape)


def _as_float(value: Any, position: int, name: str, where: Finder) -> float:
    """Return a number as a float that equals it; a decimal fraction becomes the nearest float, as in a file."""
    if isinstance(value, Decimal):
        if not value.is_finite() or value != value.to_integral_value():
            return float("nan") if value.is_nan() else float(value)
        value = int(value)
    if not isinstance(value, Real | np.bool_):
        # The first words are the ones scikit-learn's estimator checks look for.
        raise DataTypeError(
            f"Every value of the {name} argument must be a number, not a string that spells a number: the "
            f"one at {where(position)} is {show_value(value)} ({type(value).__name__}). Convert it with float, "
            "one-hot encode categories, and drop or impute missing values.",
            value=value,
            **place_data(where(position)),
        )
    if isinstance(value, Integral):
        value = int(value)  # Python compares integers and floats exactly; numpy rounds the integer first
    try:
        number = float(value)
    except OverflowError:
        raise _would_round(value, name=name, place=where(position)) from None
    if number != value and value == value:
        raise _would_round(value, name=name, place=where(position))
    return number


def _would_round(value: Any, *, name: str, place: Place | str) -> DataTypeError:
    # In full, because reprlib would omit the digits that matter, unless there are too many.
    large = isinstance(value, int) and value.bit_length() > 10_000
    written = f"an integer of {value.bit_length()} bits" if large else str(value)
    return DataTypeError(
        f"{name} at {place} is {written}, which float64 would round. Scale the values down (integers are "
        f"safe up to 2**{EXACT_BITS}), or accept the rounding with an explicit conversion to float64.",
        code="inexact-integer",
        value=value,
        **place_data(place),
    )
