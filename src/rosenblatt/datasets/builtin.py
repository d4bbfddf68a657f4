"""Small data sets by name, such as ``iris``, as sources of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np

from rosenblatt.columns.source import Source
from rosenblatt.data.chunk import Chunk
from rosenblatt.data.features import as_rows
from rosenblatt.datasets import named
from rosenblatt.exceptions import ParameterError

__all__ = ["BUILTIN", "BuiltinSource"]

Loader = Callable[[], tuple[Any, Any, Any]]


def _own(load: Callable[[], Any]) -> Loader:
    def loaded() -> tuple[Any, Any, Any]:
        data = load()
        return data.X, data.y, data.feature_names

    return loaded


def _of_sklearn(name: str, *, labelled_by_name: bool = True) -> Loader:
    def loaded() -> tuple[Any, Any, Any]:
        from sklearn import datasets

        data = getattr(datasets, f"load_{name}")()
        labels = np.array([str(each) for each in data.target_names])[data.target]
        return data.data, labels if labelled_by_name else data.target, map(str, data.feature_names)

    return loaded


BUILTIN: dict[str, Loader] = {
    "six-points": _own(named.load_six_points),
    "spam-table": _own(named.load_spam_table),
    "or": _own(named.load_or),
    "and": _own(named.load_and),
    "xor": _own(named.load_xor),
    "iris": _of_sklearn("iris"),
    "wine": _of_sklearn("wine"),
    "breast-cancer": _of_sklearn("breast_cancer"),
    "digits": _of_sklearn("digits", labelled_by_name=False),
}


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
            raise ParameterError(f"@{name} is no built-in set; {hint}")
        X, y, names = BUILTIN[name]()
        self._chunk = Chunk(as_rows(X), np.asarray(y))
        self.names, self.files = tuple(names), (f"@{name}",)
        self.n_features = self._chunk.features.n_features
        self.description = f"built in: {self._chunk.features.n_rows} rows, {self.n_features} features"

    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows at once."""
        yield self._chunk
