"""Small data sets by name, such as ``iris``, as sources of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np

from rosenblatt.columns.source import Source
from rosenblatt.data.chunk import Chunk
from rosenblatt.data.features import as_rows
from rosenblatt.datasets import named
from rosenblatt.exceptions import ParameterError

__all__ = ["BUILTIN", "BuiltinSource"]

OWN: dict[str, Callable[[], Any]] = {
    "six-points": named.load_six_points,
    "spam-table": named.load_spam_table,
    "or": named.load_or,
    "and": named.load_and,
    "xor": named.load_xor,
}
BUILTIN = (*OWN, "iris", "wine", "breast-cancer", "digits")
"""The names of all sets; those that are not our own are loaded by scikit-learn."""


def _load(name: str) -> tuple[Any, Any, Iterable[Any]]:
    """Return the rows, the labels and the names of the features of a set."""
    if name in OWN:
        own = OWN[name]()
        return own.X, own.y, own.feature_names
    from sklearn import datasets

    data = getattr(datasets, f"load_{name.replace('-', '_')}")()
    labels = data.target if name == "digits" else np.array(data.target_names, np.str_)[data.target]
    return data.data, labels, data.feature_names


class BuiltinSource(Source):
    """A built-in data set, read as a file would be.

    Parameters
    ----------
    name : str
        One of `BUILTIN`.

    Examples
    --------
    >>> BuiltinSource("xor").description
    'built in: 4 rows, 2 features'
    """

    names: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()
    n_features: int = 0
    description: str = ""

    def __init__(self, name: str) -> None:
        if name not in BUILTIN:
            near = get_close_matches(name, BUILTIN, 1)
            hint = f"did you mean @{near[0]}?" if near else f"there are {', '.join(f'@{n}' for n in BUILTIN)}."
            raise ParameterError(f"@{name} is not a built-in set; {hint}")
        X, y, names = _load(name)
        self._chunk = Chunk.of(as_rows(X), np.asarray(y))
        self.names, self.files = tuple(map(str, names)), (f"@{name}",)
        self.n_features = self._chunk.n_features
        self.description = f"built in: {self._chunk.n_rows} rows, {self.n_features} features"

    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows at once."""
        yield self._chunk
