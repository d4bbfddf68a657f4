"""Built-in sets by name, as sources: `@iris`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np

from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.data.features import as_rows
from rosenblatt.exceptions import ParameterError

__all__ = ["BUILTIN", "Builtin", "builtin"]


def _named(loader: str) -> Callable[[], tuple[Any, Any, Any]]:
    def load() -> tuple[Any, Any, Any]:
        from rosenblatt import datasets

        data = getattr(datasets, loader)()
        return data.X, data.y, data.feature_names

    return load


def _learnt(loader: str) -> Callable[[], tuple[Any, Any, Any]]:
    def load() -> tuple[Any, Any, Any]:
        from sklearn import datasets

        data = getattr(datasets, loader)()
        labels = np.array([str(name) for name in data.target_names])[data.target]
        if loader == "load_digits":
            labels = data.target
        return data.data, labels, tuple(str(name) for name in data.feature_names)

    return load


BUILTIN: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "six-points": _named("load_six_points"),
    "spam-table": _named("load_spam_table"),
    "or": _named("load_or"),
    "and": _named("load_and"),
    "xor": _named("load_xor"),
    "iris": _learnt("load_iris"),
    "wine": _learnt("load_wine"),
    "breast-cancer": _learnt("load_breast_cancer"),
    "digits": _learnt("load_digits"),
}


class Builtin:
    """A built-in set, read as a file would be."""

    def __init__(self, name: str) -> None:
        if name not in BUILTIN:
            near = get_close_matches(name, BUILTIN, 1)
            hint = (
                f"did you mean @{near[0]}?" if near else "there are " + ", ".join(f"@{n}" for n in BUILTIN) + "."
            )
            raise ParameterError(f"@{name} is no built-in set; {hint}")
        X, y, names = BUILTIN[name]()
        self._features, self._labels = as_rows(X), np.asarray(y)
        self.names: tuple[str, ...] | None = tuple(names)
        self.files = (f"@{name}",)
        self.skipped = Skipped()
        self.recipe = None
        self.unmet = 0
        self.n_features = self._features.n_features
        self.description = f"built in: {self._features.n_rows} rows, {self.n_features} features"

    def chunks(self) -> Iterator[Chunk]:
        """Return all of it at once."""
        yield Chunk.of(self._features, self._labels)

    def known(self) -> None:
        """Say nothing ahead: it is small."""


def builtin(place: str) -> Builtin | None:
    """Return the set that `place` names by an @, or None if it names a file."""
    return Builtin(place[1:]) if place.startswith("@") else None
