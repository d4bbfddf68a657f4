"""One example at a time: a vector, or a mapping from feature names to values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Unsigned
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.rows.labels import object_array
from rosenblatt.rows.reals import EXACT_BITS, as_reals, read_only
from rosenblatt.typing import Floats, Ints, Reals

FLOAT64 = np.dtype(np.float64)
_REALS = (FLOAT64, np.dtype(np.float32))  # native byte order only


def vector_row(x: Any, n_features: int | None) -> Reals:
    """Return one example as a matrix of one row; `n_features`, if given, is the number expected."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype in _REALS and x.flags.c_contiguous and x.flags.aligned:
        row = x[None]
        row.flags.writeable = False
    else:
        if np.ndim(x) != 1:
            raise ShapeError(
                f"x must be one example, a 1-D sequence of values or a mapping of feature names to values; its "
                f"shape is {np.shape(x)}. Use partial_fit or predict for several."
            )
        several = [list(x)] if isinstance(x, list | tuple) else np.asanyarray(x)[None]
        row = cast("Reals", as_rows(several, name="x").rows)
    if n_features is not None and row.shape[1] != n_features:
        raise ShapeError(f"x has {row.shape[1]} features, but {n_features} are expected.")
    return row


class Vocabulary:
    """The names of features and their numbers; if it does not grow, a new name is an error."""

    def __init__(self, names: Iterable[Any] = (), *, grows: bool) -> None:
        # Floats, because numpy makes an array of floats faster: see `rosenblatt.loops.named_features`.
        self._numbers: dict[Any, float] = {name: float(j) for j, name in enumerate(names)}
        self.grows = grows
        self._last: tuple[tuple[Any, ...], Ints, Unsigned, Unsigned] | None = None

    @classmethod
    def of(cls, names: Sequence[Any] | None) -> Vocabulary:
        """Return the names of a model that was trained on a table; raise `InputError` if it had none."""
        if names is None:
            raise InputError(
                "x is a mapping of feature names to values, but the model was trained on features without names. "
                "Pass a sequence of values."
            )
        return cls(names, grows=False)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> list[Any]:
        """The names in the order of their numbers."""
        return list(self._numbers)

    def pairs(self, x: Mapping[Any, Any]) -> Floats | None:
        """Return one example as `rosenblatt.loops.named_features` reads it.

        None if a name is new, or if a value is not an ordinary number: `row` then says what is wrong.
        """
        try:
            pairs = np.array([0.0, len(x), *map(self._numbers.__getitem__, x), *x.values()])
        except (KeyError, ValueError, TypeError):  # a new name, or a value that is a sequence or a date
            return None
        return pairs if pairs.dtype is FLOAT64 else None

    def copy(self) -> Vocabulary:
        """Return a vocabulary that grows by itself."""
        return Vocabulary(self._numbers, grows=self.grows)

    def rows(self, several: Sequence[Mapping[Any, Any]], *, learn: bool) -> tuple[Features, list[Any]]:
        """Return examples as sparse rows, and the names in them that are new; see `row`."""
        met: dict[Any, float] = {}
        parts = [self.row(x, learn=learn, name=f"X[{k}]", met=met)[0] for k, x in enumerate(several)]
        ends = np.cumsum([0, *(len(part.data) for part in parts)])
        data, indices = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:2])
        rows = CSR(read_only(data), read_only(indices), read_only(ends.astype(np.uint64)))
        return Features(rows, len(parts), len(self) + len(met)), list(met)

    def row(
        self, x: Mapping[Any, Any], *, learn: bool, name: str = "x", met: dict[Any, float] | None = None
    ) -> tuple[CSR, list[Any]]:
        """Return one example as a sparse matrix of one row, and the names in it that are new.

        For prediction, new names are ignored. For learning they are numbered after the known ones, and become
        features with `add` after the example has been learned. `met` holds the new names of the examples before
        this one, and gets those of this one. Messages call the example `name`.
        """
        names = tuple(x)
        last = self._last
        if last is not None and names == last[0]:  # most streams repeat their names
            by, indices, starts = last[1:]
            return CSR(_values(x, by, name), indices, starts), []
        numbers = self._numbers
        late = {} if met is None else met
        new = [each for each in names if each not in numbers and each not in late]
        if new and not self.grows:
            raise InputError(f"{name} has features that were not in training: {new[:5]!r}. Leave them out.")
        if new and not learn:
            known = {each: value for each, value in x.items() if each in numbers}
            return self.row(known, learn=False, name=name)
        late |= {each: float(len(numbers) + len(late) + j) for j, each in enumerate(new)}
        places = [numbers[each] if each in numbers else late[each] for each in names]
        by = np.argsort(places)  # so that the bits do not depend on the order of names
        indices = read_only(np.array(places, np.uint32)[by])
        starts = read_only(np.array([0, len(names)], np.uint32))
        if late.keys().isdisjoint(names):
            self._last = names, by, indices, starts
        return CSR(_values(x, by, name), indices, starts), new

    def add(self, names: Iterable[Any]) -> None:
        """Make features of names."""
        for name in names:
            self._numbers[name] = float(len(self._numbers))


def are_mappings(X: Any) -> bool:
    """Return whether X is a list or tuple of examples that are mappings of feature names to values."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Mapping) for x in X)


def _values(x: Mapping[Any, Any], by: Ints, name: str) -> Floats:
    """Return the values in the order `by`, checked like those of a table."""
    values = list(x.values())
    try:
        held = np.array(values)
    except ValueError:
        held = np.empty((0, 0))  # a value that is itself a sequence
    # Floats of ordinary size need no further check: none is NaN, and no integer among them was rounded.
    if held.dtype == np.float64 and held.ndim == 1 and (np.abs(held) < 2.0**EXACT_BITS).all():
        return read_only(held[by])
    if held.shape != (len(values),) or held.dtype.kind not in "iub":
        held = object_array(values)
    names = list(x)
    data = as_reals(held, name=name, where=lambda position: f"{name}[{names[position]!r}]").astype(np.float64)
    if not np.isfinite(data).all():
        feature, value = list(x.items())[int(np.flatnonzero(~np.isfinite(data))[0])]
        raise NonFiniteError(
            f"{name}[{feature!r}] is {value!r}. Leave the feature out, or give it a finite value."
        )
    return read_only(data[by])
