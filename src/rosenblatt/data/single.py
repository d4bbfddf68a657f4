"""One example at a time: a vector, or a mapping from feature names to values."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.data.features import as_rows
from rosenblatt.data.reals import read_only
from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Floats


def vector_row(x: Any, n_features: int | None) -> Rows:
    """Give one example as a matrix of one row; `n_features` is what is expected, if anything is."""
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.flags.c_contiguous and x.dtype in (np.float64, np.float32):
        row = x[None]
        row.flags.writeable = False
    else:
        if np.ndim(x) != 1:
            raise ShapeError(
                f"x must be one example, a 1-D sequence of values or a mapping of feature names to values; its "
                f"shape is {np.shape(x)}. Use partial_fit or predict for several."
            )
        row = as_rows([x] if isinstance(x, list | tuple) else np.asarray(x)[None], name="x").rows  # type: ignore[assignment]
    if n_features is not None and row.shape[1] != n_features:
        raise ShapeError(f"x has {row.shape[1]} features, but {n_features} are expected.")
    return row


class Vocabulary:
    """The names of features and their numbers.

    Parameters
    ----------
    names : iterable of str
        Known from the beginning.
    grows : bool
        Whether a name never met becomes a feature; otherwise it is an error.
    """

    def __init__(self, names: Any = (), *, grows: bool) -> None:
        self._numbers: dict[Any, int] = {name: j for j, name in enumerate(names)}
        self.grows = grows

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> list[Any]:
        """The names in the order of their numbers."""
        return list(self._numbers)

    def row(self, x: Mapping[Any, Any], *, learn: bool) -> CSR:
        """Give one example as a sparse matrix of one row.

        When learning, new names become features where the vocabulary grows; when predicting they weigh nothing.
        """
        numbers = self._numbers
        if not self.grows:
            unknown = [name for name in x if name not in numbers]
            if unknown:
                raise InputError(
                    f"x names features that the model does not know: {unknown[:5]!r}. Leave them out."
                )
        elif not learn:
            x = {name: value for name, value in x.items() if name in numbers}
        data = _values(x)
        indices = [numbers.setdefault(name, len(numbers)) for name in x]
        starts = np.array([0, len(x)], np.uint32)
        return CSR(read_only(data), read_only(np.array(indices, np.uint32)), read_only(starts))


def _values(x: Mapping[Any, Any]) -> Floats:
    try:
        data = np.array(list(x.values()), np.float64)
    except (TypeError, ValueError):
        name, value = next((item for item in x.items() if not isinstance(item[1], Real)), (None, None))
        raise DataTypeError(f"x[{name!r}] is {value!r}, which is not a number.") from None
    if not np.isfinite(data).all():
        name, value = next(item for item in x.items() if not np.isfinite(item[1]))
        raise NonFiniteError(f"x[{name!r}] is {value!r}. Leave the feature out, or give it a finite value.")
    return data
