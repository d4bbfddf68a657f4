"""From features of any kind to rows that the loops can read."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows, Unsigned, part_of
from rosenblatt.typing import Floats, MatrixLike, Reals, SparseMatrix

if TYPE_CHECKING:
    import narwhals as nw

# From an array of any dtype to float64 or float32, without silent rounding.

Finder: TypeAlias = Callable[[int], "Place | str"]
"""Returns the place of a position among values that lie one after the other, as data or in words."""

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


# From any scipy sparse matrix to compressed sparse rows that the loops can read without checks.


def is_sparse(X: object) -> TypeGuard[SparseMatrix]:
    """Return whether X is a scipy sparse matrix or array, without importing scipy: its maker has imported it."""
    # While another thread imports it, the module is there without its names.
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))


def place_in_csr(position: int, indices: NDArray[Any], indptr: NDArray[Any]) -> tuple[int, int]:
    """Return the row and the column of a stored value."""
    # In the type of indptr: a mixed search would turn both into floats.
    row = int(np.searchsorted(indptr, indptr.dtype.type(position), side="right")) - 1
    return row, int(indices[position])


def as_csr(X: SparseMatrix, *, name: str) -> CSR:
    """Return a scipy sparse matrix of any format as read-only CSR in canonical form, with every index checked.

    In canonical form the columns of each row ascend and none is stored twice. Duplicates are summed in the dtype
    of X, as ``X.toarray()`` does. Stored zeros stay. Canonical CSR of float64 or float32 is not copied, and X is
    never changed. Indices are checked here because the loops check none.
    """
    _require_sound(X, name=name)
    try:
        matrix = X.tocsr()
        data, indices, indptr = _sound_csr(matrix, name=name)
        if not _is_canonical(indices, indptr):
            data, indices, indptr = _sum_duplicates(data, indices, indptr, matrix.shape, copy=matrix is X)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise DataTypeError(
            f"{name} is a sparse matrix of dtype {X.dtype}, which scipy does not support: {error}. "
            f"Convert it with {name}.astype(float) or build it from numbers."
        ) from error
    reals = as_reals(data, name=name, where=lambda position: Place(*place_in_csr(position, indices, indptr)))
    return CSR(reals, _unsigned(indices), _unsigned(indptr))


def _require_sound(X: Any, *, name: str) -> None:
    """Check the formats whose conversion to CSR does not check its indices."""
    n_rows, n_features = X.shape
    if X.format == "csc":
        _require_sound_compressed(X, n_features, n_rows, name=name)
    elif X.format == "bsr":
        height, width = X.blocksize
        _require_sound_compressed(X, n_rows // height, n_features // width, name=name)
    elif X.format == "coo":
        for index, size, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            if index.shape != X.data.shape:
                found = f"{what} numbers of shape {index.shape} for values of shape {X.data.shape}"
                raise _malformed(X, found, name)
            _require_in_range(index, size, X, name=name)


def _sound_csr(matrix: Any, *, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    _require_sound_compressed(matrix, *matrix.shape, name=name)
    stored = int(matrix.indptr[-1])  # scipy allows spare room after the last row
    return matrix.data[:stored], matrix.indices[:stored], matrix.indptr


def _require_sound_compressed(matrix: Any, n_major: int, n_minor: int, *, name: str) -> None:
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise _malformed(matrix, "indices and indptr must be one-dimensional and of integers", name)
    if matrix.data.ndim != (3 if matrix.format == "bsr" else 1):
        raise _malformed(matrix, f"data has {matrix.data.ndim} dimensions", name)
    if len(indptr) != n_major + 1:
        raise _malformed(matrix, f"indptr has {len(indptr)} entries instead of {n_major + 1}", name)
    if indptr[0] != 0:
        raise _malformed(matrix, f"indptr starts at {indptr[0]} instead of 0", name)
    if np.any(indptr[1:] < indptr[:-1]):
        raise _malformed(matrix, f"indptr falls after entry {np.argmax(indptr[1:] < indptr[:-1])}", name)
    room = min(len(indices), len(matrix.data))
    if indptr[-1] > room:
        raise _malformed(matrix, f"indptr ends at {indptr[-1]}, but only {room} values are stored", name)
    _require_in_range(indices[: int(indptr[-1])], n_minor, matrix, name=name)


def _require_in_range(index: NDArray[Any], size: int, matrix: Any, *, name: str) -> None:
    if index.size and not (index.min() >= 0 and index.max() < size):
        found = f"an index runs from {index.min()} to {index.max()}, but must lie in 0 … {size - 1}"
        raise _malformed(matrix, found, name)


def _malformed(matrix: Any, found: str, name: str) -> InputError:
    return InputError(
        f"{name} is a malformed sparse {matrix.format} matrix: {found}. "
        "Build it again from its rows, columns and values with scipy.sparse.coo_array."
    )


def _is_canonical(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
    # Not scipy's has_canonical_format, which is cached and may be older than the indices.
    ascends = indices[1:] > indices[:-1]
    first_of_row = indptr[1:-1]
    first_of_row = first_of_row[(first_of_row > 0) & (first_of_row < len(indices))]
    ascends[first_of_row - 1] = True
    return bool(ascends.all())


def _sum_duplicates(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int], *, copy: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import csr_array

    summed: Any = csr_array((data, indices, indptr), shape=shape, copy=copy)
    summed.sum_duplicates()
    return summed.data, summed.indices, summed.indptr


def _unsigned(index: NDArray[Any]) -> Unsigned:
    signed = index if index.dtype in (np.int32, np.int64) else index.astype(np.int64)
    signed = np.require(signed, requirements=["C", "A"])
    return read_only(signed.view(np.uint32)) if signed.itemsize == 4 else read_only(signed.view(np.uint64))


# From dataframes (pandas, polars, pyarrow and all others that narwhals reads) to rows of numbers.

BLOCK_ROWS = 4096
"""Rows filled at a time: all columns of a block stay in the cache while its rows are written."""


def as_frame(X: object, *, name: str) -> nw.DataFrame[Any] | None:
    """Return X as a narwhals dataframe, or None if it is not a dataframe."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.schema  # noqa: B018  pandas and pyarrow notice repeated names only here
    except DuplicateError as error:
        raise InputError(f"{name} has columns of the same name. Rename them. ({error})") from error
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"{name} is a lazy frame, which holds no values yet: collect() it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(frame: nw.DataFrame[Any]) -> tuple[str, ...] | None:
    """Return the names of the columns if all of them are strings."""
    names = tuple(frame.columns)
    return names if all(isinstance(column, str) for column in names) else None


def frame_rows(frame: nw.DataFrame[Any], *, name: str) -> Reals:
    """Return a frame as a read-only array: float32 if every column has at most 32-bit floats, else float64.

    Every column must hold bools, integers, floats or decimals, or objects that are such, and no value may be
    missing.
    """
    series = list(frame.iter_columns())
    _require_numbers(series, name=name)
    _require_no_nulls(series, name=name)
    columns = [column.to_numpy() for column in series]
    for j, column in enumerate(columns):
        where = partial(Place, column=j, name=frame.columns[j])
        if column.dtype == object:
            columns[j] = as_reals(column, name=name, where=where)
        else:
            require_exact(column, name=name, where=where)
    kinds = {real_dtype(column.dtype, name=name) for column in columns}
    rows = np.empty((len(columns[0]), len(columns)), kinds.pop() if len(kinds) == 1 else np.float64)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS]
        for j, column in enumerate(columns):
            block[:, j] = column[start : start + BLOCK_ROWS]
    return read_only(rows)


def _require_numbers(series: list[nw.Series[Any]], *, name: str) -> None:
    import narwhals as nw

    refused = []
    for column in series:
        if not _holds_numbers(column):
            kind = column.to_numpy().dtype if column.dtype == nw.Unknown else column.dtype
            refused.append(f"{show_value(column.name)} ({kind})")
    if refused:
        raise DataTypeError(
            f"{name} has columns that are not numbers: {', '.join(refused)}. Encode categories with "
            "TableEncoder, count dates from a reference date, cast numbers written as text to float, or drop the "
            "columns."
        )


def number_columns(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame that hold numbers; None if it is no frame."""
    frame = as_frame(X, name="X")
    return None if frame is None else [column.name for column in frame.iter_columns() if _holds_numbers(column)]


def _holds_numbers(column: nw.Series[Any]) -> bool:
    import narwhals as nw

    dtype = column.dtype
    if dtype == nw.Unknown:  # pandas' sparse and longdouble columns, which numpy supports
        return column.to_numpy().dtype.kind in "biuf"
    if dtype == nw.Object:  # read value by value, as an object array is
        return True
    if dtype in (nw.Int128, nw.UInt128):  # which numpy does not support
        return False
    return dtype == nw.Boolean or dtype.is_float() or dtype.is_integer() or dtype.is_decimal()


def _require_no_nulls(series: list[nw.Series[Any]], *, name: str) -> None:
    for j, column in enumerate(series):
        if column.null_count():
            row = int(np.argmax(column.is_null().to_numpy()))
            raise NonFiniteError(
                f"Input {name} contains NaN. The value at {Place(row, j, column.name)} is missing; a perceptron "
                "needs all numbers. Impute missing values or drop their rows.",
                row=row,
                column=j,
            )


# From all of these to rows.

BLOCK_VALUES = 2**16
"""Values that `require_finite` checks at a time: half a megabyte, which stays in the cache."""


@dataclass(frozen=True, eq=False, slots=True)
class Features:
    """Rows of numbers, read-only, in a layout the loops can read."""

    rows: Rows  # C-contiguous float64, float32 or, where asked for, uint8; or compressed sparse rows of floats
    n_rows: int  # at least one, as is n_features
    n_features: int
    names: tuple[str, ...] | None = None  # the names of the columns, if the input has them and all are strings

    @property
    def stored(self) -> int:
        """The number of values stored: all of dense rows, the non-zero ones of sparse rows."""
        return self.values.size

    def part(self, rows: slice) -> Features:
        """Return some consecutive rows, without a copy."""
        first, last, _ = rows.indices(self.n_rows)
        return Features(part_of(self.rows, first, last), last - first, self.n_features, self.names)

    def each(self) -> list[Rows]:
        """Return the rows one by one, each alone in its arrays, of the types that the loops are compiled for."""
        rows = self.rows
        if self.n_rows == 1 and (not isinstance(rows, CSR) or not rows.indptr[0]):
            return [rows]
        if not isinstance(rows, CSR):
            return [rows[i : i + 1] for i in range(self.n_rows)]
        return [
            CSR(rows.data[first:last], rows.indices[first:last], read_only(np.array([0, last - first], np.uint32)))
            for first, last in pairwise(rows.indptr.tolist())
        ]

    def native(self) -> Any:
        """Return the rows as a numpy array or a scipy sparse array."""
        if not isinstance(self.rows, CSR):
            return self.rows
        from scipy.sparse import csr_array

        data, indices, indptr = self.rows
        if indptr[0]:  # some rows of others; scipy counts from the first value
            stored = slice(int(indptr[0]), int(indptr[-1]))
            data, indices, indptr = data[stored], indices[stored], indptr - indptr[0]
        signed = f"i{indices.itemsize}", f"i{indptr.itemsize}"
        parts = (data, indices.view(signed[0]), indptr.view(signed[1]))
        return csr_array(parts, shape=(self.n_rows, self.n_features))

    def dense(self) -> Floats:
        """Return the rows as a float64 array."""
        rows = self.native()
        return np.asarray(rows.toarray() if isinstance(self.rows, CSR) else rows, np.float64)

    @property
    def values(self) -> NDArray[Any]:
        """The stored values, one after the other."""
        return self.rows.data if isinstance(self.rows, CSR) else self.rows.reshape(-1)

    def place(self, position: int, first: int = 0) -> Place:
        """Return the row, counted from `first`, and the column of a position in `values`."""
        if isinstance(self.rows, CSR):
            row, column = place_in_csr(position, self.rows.indices, self.rows.indptr)
        else:
            row, column = divmod(position, self.n_features)
        return Place(first + row, column, self.names[column] if self.names else None)


def as_rows(X: MatrixLike, *, name: str = "X", keep_bytes: bool = False) -> Features:
    """Return X, an array-like, scipy sparse matrix or dataframe, as rows that the loops can read.

    float32 stays float32 and float16 becomes float32. All other numbers become float64, and numbers that float64
    would round are an error. A C-contiguous float64 or float32 array, or canonical CSR of them, is not copied; all
    else is converted once. X is never changed. NaN and infinity pass: see `require_finite`. Messages call it
    `name`. With `keep_bytes`, for callers whose loops read them, an array of bytes or truth values stays uint8.

    Raises
    ------
    ShapeError
        Not two-dimensional, empty or ragged.
    DataTypeError
        Not real numbers, or numbers that float64 cannot hold.
    NonFiniteError
        A dataframe with something missing.
    InputError
        A malformed sparse matrix, a lazy frame, or masked values.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]]).rows
    array([[1., 2.],
           [3., 4.]])
    """
    if is_sparse(X):
        require_table(X.shape, name=name)
        return Features(as_csr(X, name=name), *X.shape)
    if not isinstance(X, np.ndarray | list | tuple):
        frame = as_frame(X, name=name)
        if frame is not None:
            require_table(frame.shape, name=name)
            return Features(frame_rows(frame, name=name), *frame.shape, frame_names(frame))
    array = _as_array(X, name=name)
    if array.ndim < 2:
        _require_no_hint(X, array, name=name)
    require_table(array.shape, name=name)
    n_rows, n_features = array.shape
    if keep_bytes and array.dtype in (np.uint8, np.bool_):
        kept: Any = read_only(np.ascontiguousarray(array).view(np.uint8))
        return Features(kept, n_rows, n_features)
    reals = as_reals(array, name=name, where=lambda position: Place(*divmod(position, n_features)))
    return Features(reals, n_rows, n_features)


def require_finite(features: Features, *, name: str = "X", first: int = 0) -> None:
    """Raise `NonFiniteError` at the first NaN or infinity; rows are counted from `first`.

    Training does not need this: a score is finite only if its row is.
    """
    values = features.values
    for start in range(0, len(values), BLOCK_VALUES):
        block = values[start : start + BLOCK_VALUES]
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        # A finite sum has finite terms. A sum of finite terms may overflow, so check them one by one then.
        if np.isfinite(total) or np.isfinite(block).all():
            continue
        position = start + int(np.argmin(np.isfinite(block)))
        value = float(values[position])
        kind, told = ("NaN", "NaN") if np.isnan(value) else ("infinity", value)
        place = features.place(position, first)
        raise NonFiniteError(
            f"Input {name} contains {kind}. The value at {place} is {told}; a perceptron needs finite numbers. "
            "Impute such values or drop their rows.",
            value=value,
            row=place.row,
            column=place.column,
        )


def require_width(features: Features, n_features: int) -> None:
    """Raise `ShapeError` unless the rows have the features that a model was trained on."""
    if features.n_features != n_features:
        raise ShapeError(
            f"X has {features.n_features} features, but the model was trained on {n_features}. Pass the same "
            "features in the same order as in training."
        )


def stack_rows(parts: Sequence[Features]) -> Features:
    """Return the rows of several parts, one below the other.

    Dense parts with the same number of columns stay dense; otherwise the rows become sparse, as wide as the
    widest.

    Examples
    --------
    >>> stack_rows([as_rows([[1.0, 2.0]]), as_rows([[3.0, 4.0]])]).rows
    array([[1., 2.],
           [3., 4.]])
    """
    if len(parts) == 1:
        return parts[0]
    n_rows, width = sum(part.n_rows for part in parts), max(part.n_features for part in parts)
    tables = [part.rows for part in parts if isinstance(part.rows, np.ndarray)]
    if len(tables) == len(parts) and all(part.n_features == width for part in parts):
        table = np.concatenate(tables, dtype=np.result_type(*tables))
        return Features(read_only(table), n_rows, width)
    from scipy.sparse import csr_array, vstack

    each = [csr_array(part.native()) for part in parts]
    wide = [csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], width)) for part in each]
    return as_rows(csr_array(vstack(wide, format="csr")))


def _as_array(X: MatrixLike, *, name: str) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        masked = first_masked(X)
        if masked is not None:
            where = Place(*masked) if len(masked) == 2 else f"index {masked}"
            raise InputError(
                f"{name} has masked values, the first at {where}. Impute them ({name}.filled) or drop rows.",
                row=masked[0],
            )
        return np.asarray(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ShapeError(f"{name} is not a table: its rows must all be as long as the first. ({error})") from error
    return np.asarray(X, dtype=object) if isinstance(X, list | tuple) and _is_altered(array) else array


def _require_no_hint(X: MatrixLike, array: NDArray[Any], *, name: str) -> None:
    """Raise an error that knows the way out for rows that are dicts or texts, and for objects without rows."""
    if array.ndim == 0:
        raise ShapeError(
            f"Expected 2D {name}, a table of numbers, got a {type(X).__name__}. {unreadable(X, name)}"
        )
    first = array[0] if len(array) else None
    if isinstance(first, Mapping):
        raise DataTypeError(
            f"Each row of {name} is a dict. Pass pandas.DataFrame({name}), or encode the rows with scikit-learn's "
            "DictVectorizer; partial_fit, learn_one and predict_one take dicts."
        )
    if isinstance(first, str | bytes):
        raise DataTypeError(
            f"Each row of {name} is a text. Count its words first, with scikit-learn's CountVectorizer or "
            f"HashingVectorizer, or put the texts into a dataframe for TableEncoder(text=[...])."
        )


def _is_altered(array: NDArray[Any]) -> bool:
    """Return whether numpy may have changed the values of a list to give them one type."""
    if array.dtype.kind in "US":  # numbers next to text became text
        return True
    # Integers next to floats, or too large for one integer type, became floats.
    return array.dtype == np.float64 and bool(np.any(np.abs(array) > 2.0**52))


def require_table(shape: tuple[int, ...], *, name: str) -> None:
    """Require two dimensions, at least one row and one column."""
    # "Reshape your data" and "Found array with 0 …" are what scikit-learn's estimator checks look for.
    if len(shape) == 1:
        raise ShapeError(
            f"Expected 2D {name}, got 1D of shape {shape}. Reshape your data: {name}.reshape(-1, 1) if it is "
            f"one feature, {name}.reshape(1, -1) if it is one row."
        )
    if len(shape) != 2:
        raise ShapeError(
            f"Expected 2D {name}, rows by features, got {len(shape)} dimensions (shape={shape}). "
            f"Pass a table of numbers; {name}.reshape(len({name}), -1) flattens the rows."
        )
    if shape[0] == 0:
        raise ShapeError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required. {name} has no rows."
        )
    if shape[1] == 0:
        raise ShapeError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. "
            f"{name} has no columns."
        )
