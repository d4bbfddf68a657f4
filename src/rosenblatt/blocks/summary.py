"""What is known about all rows of data in blocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from numpy.typing import NDArray

from rosenblatt.typing import Ints

NOTHING: Mapping[str, Any] = MappingProxyType({})


class DataSummary(NamedTuple):
    """The sizes, classes and names of data in blocks.

    Attributes
    ----------
    n_rows, n_features, stored : int
        The size; `stored` is the number of stored values.
    classes : ndarray
        The labels, sorted.
    counts : ndarray of int
        The number of rows of each class.
    boundaries : ndarray of int
        The first row of each block, followed by the number of rows.
    names : tuple of str or None
        The names of the features.
    facts : mapping
        What the source said about itself, as JSON values: "recipe", "skipped" and "description".
    """

    n_rows: int
    n_features: int
    stored: int
    classes: NDArray[Any]
    counts: Ints
    boundaries: Ints
    names: tuple[str, ...] | None = None
    facts: Mapping[str, Any] = NOTHING

    def fingerprint(self, checksums: Sequence[str]) -> str:
        """Return a digest of the data, given the checksums of its blocks."""
        known = [self.n_rows, self.n_features, self.classes.tolist(), self.names, self.boundaries.tolist()]
        return hashlib.sha256(json.dumps([known, list(checksums)]).encode()).hexdigest()


def digest(value: Any) -> str:
    """Return a digest of JSON values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
