"""Tables in memory: frames, lists of mappings, lists of texts and arrays, as the encoder reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, Given, InputError, LeftOutWarning, ParameterError, ShapeError
from rosenblatt.rows.features import (
    Features,
    as_frame,
    as_rows,
    frame_names,
    is_sparse,
    require_finite,
    require_table,
    show_value,
    stack_rows,
)
from rosenblatt.tables.encoder import Encoder
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import ROLES, Recipe, SparseRecipe, TableRecipe
from rosenblatt.tables.roles import Roles, assign, begin_recipe, find_again, told_identifiers
from rosenblatt.tables.table import (
    FIRST_ROWS,
    MISSING,
    MISSING_NAMES,
    NOTATIONS,
    Block,
    Field,
    Table,
    TypedTable,
    Wanted,
    arrow_block,
    from_numpy,
    from_strings,
    kind_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ArrayTable",
    "FrameTable",
    "learn_sparse",
    "learn_table",
    "n_rows_of",
    "read_table",
    "table_of",
    "take_rows",
]

ROWS_AT_ONCE = 1 << 20
"""Rows encoded at a time."""
UNLABELLED = Options(labelled=False)


class _Column(NamedTuple):
    """A column as Arrow holds it, and whether it has words beside more numbers, all as text."""

    values: pa.Array
    numeric: bool = False


class FrameTable(TypedTable):
    """Columns that Arrow holds.

    Parameters
    ----------
    columns : sequence of _Column
        All of one length.
    names : sequence of str or None
        What they are called; None: x1, x2, ….
    texts : bool
        Whether this is a list of texts: one column without a name.
    file : str
        What messages call it.
    argument : bool
        Whether it is an argument such as X, whose rows count from 0; rows of others count from 1.
    """

    format = "a table in memory"

    def __init__(
        self,
        columns: Sequence[_Column],
        names: Sequence[str] | None,
        *,
        texts: bool = False,
        file: str = "X",
        argument: bool = True,
    ) -> None:
        self.named, self.texts, self._columns = names is not None, texts, [each.values for each in columns]
        self.file, self.argument = file, argument
        called = _numbered(len(columns)) if names is None else names
        self.fields = tuple(
            Field(name, kind_of(column.type), str(column.type), numeric)
            for name, (column, numeric) in zip(called, columns, strict=True)
        )

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""
        return list(self._columns[position][:FIRST_ROWS].drop_null().to_pylist())

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Yield the wanted columns, some rows at a time."""
        import pyarrow as pa

        positions = (*wanted.numbers, *wanted.strings, *(() if wanted.label is None else (wanted.label,)))
        columns = [self._columns[j] for j in positions]
        table = pa.Table.from_arrays(columns, names=_numbered(len(columns)))
        first = 0 if self.argument else 1
        for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
            yield arrow_block(batch, wanted, self, first)
            first += batch.num_rows

    def close(self) -> None:
        """Do nothing: there is no file."""


class ArrayTable(TypedTable):
    """The columns of an array of numbers, without names."""

    format, named, texts, argument = "an array", False, False, True

    def __init__(self, X: Any, file: str) -> None:
        self._features, self.file = as_rows(X, name=file), file
        self._array: NDArray[Any] = np.asarray(X)
        type_ = str(self._array.dtype)
        self.fields = tuple(Field(name, "number", type_) for name in _numbered(self._features.n_features))

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows."""
        return list(self._array[:FIRST_ROWS, position].tolist())

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Yield the wanted columns."""
        import pyarrow as pa

        numbers: Any = self._features.rows
        numbers = (
            np.array(numbers[:, list(wanted.numbers)], order="C")
            if wanted.numbers
            else np.empty((len(numbers), 0))
        )
        strings = [from_numpy(self._array[:, j]).cast(pa.string()) for j in wanted.strings]
        yield Block(numbers, strings, None, lambda row: row)

    def close(self) -> None:
        """Do nothing: there is no file."""


def table_of(
    X: Any, expected: Sequence[str] = (), *, file: str = "X", argument: bool = True
) -> FrameTable | ArrayTable:
    """Return X as a table.

    Parameters
    ----------
    X : dataframe, list of mappings, list or 1-D array of texts, or 2-D array
        Dataframes of pandas, polars, pyarrow and all that narwhals reads.
    expected : sequence of str
        Columns that a list of mappings has even if no mapping names them: all their values are missing.
    file : str
        What messages call it.
    argument : bool
        See `FrameTable`.

    Examples
    --------
    >>> [field.kind for field in table_of([{"age": 3, "name": "bob"}, {"name": "eve"}]).fields]
    ['number', 'string']
    >>> table_of(["win a prize"]).texts
    True
    """
    if not isinstance(X, np.ndarray | list | tuple):
        frame = as_frame(X, name=file)
        if frame is not None:
            require_table(frame.shape, name=file)
            columns = [_converted(series, file) for series in frame.iter_columns()]
            return FrameTable(columns, frame_names(frame), file=file, argument=argument)
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        return _of_mappings(X, expected, file)
    if isinstance(X, str):
        raise InputError(f"{file} is one string. Pass a list of texts, [{file}].")
    if is_sparse(X):
        raise InputError(f"{file} is sparse, but the encoder reads a table. Pass the columns of the table.")
    return _of_array(X, file)


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a table in memory, or of a sparse matrix."""
    shape = getattr(X, "shape", None)
    return len(X) if shape is None else int(shape[0])


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a table in memory, of the same kind.

    Examples
    --------
    >>> take_rows(["win a prize", "home at six", "free prize"], np.array([2, 0]))
    ['free prize', 'win a prize']
    """
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    frame = None if isinstance(X, np.ndarray) or is_sparse(X) else as_frame(X, name="X")
    return X[rows] if frame is None else frame[rows.tolist()].to_native()


def read_table(X: Any, recipe: TableRecipe, file: str = "X") -> Features:
    """Return X as the features that a recipe makes of it, before any filling and scaling.

    Categories that the recipe does not know get zeros. Messages call X by the name of `file`.
    """
    table = table_of(X, expected=recipe.may_lack, file=file)
    return encode(table, find_columns(table, recipe), Encoder(recipe, learning=False))


def find_columns(table: FrameTable | ArrayTable, recipe: TableRecipe) -> Roles:
    """Return which columns of a table a recipe reads; a list of texts is the only column there is."""
    if not table.texts:
        return find_again(table, recipe, UNLABELLED)
    names = [name for name, _ in recipe.columns]
    if len(names) > 1:
        listed = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
        raise ShapeError(
            f"{table.file} is a list of texts, which is one column, but {len(names)} are read: {listed}. Pass a "
            "table."
        )
    by_role: dict[str, Any] = {role: tuple(0 for _ in getattr(recipe, role)) for role in ROLES}
    return Roles(None, **by_role)


def learn_table(
    X: Any, options: Options, before: Recipe | None
) -> tuple[Features, TableRecipe, tuple[str, ...] | None]:
    """Learn a recipe from a table, or go on learning one.

    Parameters
    ----------
    X : dataframe, list of mappings, list or 1-D array of texts, or 2-D array
        The table.
    options : Options
        Which columns are text, categorical, hashed or ignored, positions from 0, and how they are encoded.
    before : Recipe or None
        What was learned from tables before.

    Returns
    -------
    features : Features
        Of the table, before any filling and scaling.
    recipe : TableRecipe
        What was learned.
    names : tuple of str or None
        Those of the columns, where they have any.
    """
    table = table_of(X)
    if table.texts and not (options.categorical or options.hashed):
        options = replace(options, text=(0,))
    if before is None:
        roles = assign(table, options, None)
        recipe = begin_recipe(table, roles, options)
        if roles.identifiers:
            warnings.warn(f"{told_identifiers(table, roles.identifiers)}.", LeftOutWarning, stacklevel=4)
    elif isinstance(before, TableRecipe):
        recipe, roles = before, find_columns(table, before)
    else:
        raise InputError("X is a table, but the encoder was fitted on sparse rows. Pass a sparse matrix.")
    encoder = Encoder(recipe, learning=True, vocabulary=options.vocabulary)
    features = encode(table, roles, encoder)
    return features, encoder.recipe, tuple(field.name for field in table.fields) if table.named else None


def learn_sparse(X: Any, options: Options, before: Recipe | None) -> tuple[Features, SparseRecipe]:
    """Return a sparse matrix of numbers as features, and its recipe; see `learn_table`."""
    for name in ("text", "categorical", "hashed", "ignore"):
        if getattr(options, name):
            raise ParameterError(
                Given(name, getattr(options, name)) + " names columns of a table, but X is sparse."
            )
    features = as_rows(X)
    if options.missing in ("error", "indicator"):
        require_finite(features)
    recipe = SparseRecipe(features.n_features, None) if before is None else before
    if not isinstance(recipe, SparseRecipe) or recipe.width != features.n_features:
        raise ShapeError(
            f"X is sparse with {features.n_features} features, unlike the data before. Pass the same features."
        )
    return features, recipe


def encode(table: Table, roles: Roles, encoder: Encoder) -> Features:
    """Return all rows of a table as features."""
    chunks = [encoder.chunk(block, table) for block in table.blocks(Wanted(roles.numbers, roles.strings))]
    return stack_rows([chunk for chunk in chunks if chunk is not None])


def _of_mappings(X: Sequence[Any], expected: Sequence[str], file: str) -> FrameTable:
    for row, each in enumerate(X):
        if not isinstance(each, Mapping) or not all(isinstance(name, str) for name in each):
            raise DataTypeError(
                f"{file}, row {row}: it is {show_value(each)}, but must be a mapping of column names to values.",
                row=row,
            )
    names = list(dict.fromkeys([*(name for row in X for name in row), *expected]))
    if not names:
        raise ShapeError(f"{file} has 0 feature(s) while a minimum of 1 is required: its mappings are empty.")
    return FrameTable([_arrow([row.get(name) for row in X], name, file) for name in names], names, file=file)


def _of_array(X: Any, file: str) -> FrameTable | ArrayTable:
    array = X if isinstance(X, np.ndarray) else _as_array(X, file)
    if array.ndim == 1 and array.dtype.kind in "OUT" and _are_texts(array.tolist()):
        return FrameTable([_arrow(array.tolist(), "x1", file)], None, texts=True, file=file)
    if array.ndim != 2 or array.dtype.kind not in "OUT":
        return ArrayTable(X if isinstance(X, list | tuple) else array, file)  # which refuses all that is no table
    require_table(array.shape, name=file)
    columns = [_arrow(array[:, j].tolist(), f"x{j + 1}", file) for j in range(array.shape[1])]
    return FrameTable(columns, None, file=file)


def _as_array(X: Any, file: str) -> NDArray[Any]:
    """Return an array of any values; numbers beside text stay numbers."""
    try:
        array = np.asarray(X)
        return np.array(X, dtype=object) if array.dtype.kind in "UT" else array
    except ValueError as error:
        raise ShapeError(f"{file} is not a table: its rows must all be as long as the first. ({error})") from error


def _are_texts(values: list[Any]) -> bool:
    missing = (value is None or value != value for value in values if not isinstance(value, str))
    return bool(values) and all(missing)


def _converted(series: Any, file: str) -> _Column:
    """Return a column of a frame as Arrow holds it."""
    import pyarrow as pa

    try:
        column = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        return _arrow(series.to_list(), str(series.name), file)
    return _Column(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)


def _arrow(values: list[Any], name: str, file: str) -> _Column:
    """Return values as Arrow holds them: through buffers where they are of one plain type, which is faster."""
    import pyarrow as pa

    kinds = set(map(type, values))
    if str in kinds and kinds - {str, type(None)} and kinds <= WRITTEN:
        return _of_words_and_numbers(values)
    try:
        if kinds <= {str, type(None)} and str in kinds:
            return _Column(from_strings(values))
        if kinds <= {float, type(None)} and float in kinds:
            return _Column(from_numpy(np.array(values, np.float64)))  # None becomes NaN
        if kinds in ({int}, {bool}):
            return _Column(from_numpy(np.array(values, np.int64 if int in kinds else np.bool_)))
        return _Column(pa.array(values, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        found = sorted({kind.__name__ for kind in kinds - {type(None)}})
        # The first words are those that scikit-learn's estimator checks look for.
        what = file if file.startswith("the ") else f"the {file} argument"
        raise DataTypeError(
            f"Every value of {what} must be a string or a number, and those of one column alike: "
            f"column {name!r} holds {', '.join(found[:5])}. Convert it, or leave it out. ({error})",
            column=name,
        ) from error


WRITTEN: frozenset[type] = frozenset((str, int, float, bool, type(None), np.float64, np.int64, np.bool_))
"""What may stand beside words in one column, which is then read as in a file of text."""


def _of_words_and_numbers(values: Sequence[Any]) -> _Column:
    """Return a column of words beside numbers as a file of text holds it: numbers if most values are."""
    written = [_written(value) for value in values]
    present = [value for value in written if value is not None and value.strip() not in MISSING]
    numeric = 2 * sum(NOTATIONS[0].plain(value) is not None for value in present) > len(present)
    missing = MISSING if numeric else MISSING_NAMES
    kept = [None if value is None or value.strip() in missing else value for value in written]
    return _Column(from_strings(kept), numeric)


def _written(value: Any) -> str | None:
    """Return a value as a file of text holds it; None and NaN are missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value.item() if isinstance(value, np.generic) else value)


def _numbered(n: int) -> list[str]:
    return [f"x{j}" for j in range(1, n + 1)]
