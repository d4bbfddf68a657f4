"""Labels that come chunk by chunk, as classes of one kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import factorize, one_a_row, require_classes
from rosenblatt.data.reals import read_only, shown
from rosenblatt.exceptions import LabelError
from rosenblatt.typing import Ints

NUMBERS = "biuf"
Provisional = NDArray[np.uint32]


class LabelTable:
    """Numbers labels in the order they are first met in, until all classes are known and can be sorted.

    Integers and floats may follow each other, and are floats together in the end; numbers and strings may not.

    Examples
    --------
    >>> table = LabelTable()
    >>> table.encode(np.array(["spam", "ham"]), first=0), table.encode(np.array(["ham"]), first=2)
    (array([0, 1], dtype=uint32), array([1], dtype=uint32))
    >>> table.classes, table.ranks, table.counts
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0]), array([2, 1]))
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._counts: list[int] = []
        self._kinds = ""

    def encode(self, labels: NDArray[Any] | None, first: int) -> Provisional:
        """Return the number of each label; `first` rows came before."""
        if labels is None:
            raise LabelError("The source has no labels to learn from. Name the column that holds them.")
        found, codes = factorize(one_a_row(labels, len(labels)))
        require_classes(found, codes, first)
        self._require_kind(found, codes, first)
        values = found.tolist()
        new = {
            int(np.argmax(codes == code)): label for code, label in enumerate(values) if label not in self._numbers
        }
        for at in sorted(new):
            self._numbers[new[at]] = len(self._numbers)
            self._counts.append(0)
        numbers = np.array([self._numbers[label] for label in values], np.uint32)
        for number, count in zip(
            numbers.tolist(), np.bincount(codes, minlength=len(values)).tolist(), strict=True
        ):
            self._counts[number] += count
        return numbers[codes]

    def _require_kind(self, found: NDArray[Any], codes: Ints, first: int) -> None:
        kinds = {_kind(label) for label in found.tolist()} if found.dtype == object else {found.dtype.kind}
        known = {kind in NUMBERS for kind in {*self._kinds, *kinds}}
        if kinds - set(NUMBERS) - {"U"} or len(known) > 1:
            strange = next((k for k, label in enumerate(found.tolist()) if self._is_strange(label)), 0)
            row = first + int(np.argmax(codes == strange))
            before = f", after labels such as {shown(next(iter(self._numbers)))}" if self._numbers else ""
            raise LabelError(
                f"The label at row {row} is {shown(found[strange])}{before}. Labels must all be numbers or all be "
                "strings: correct it, or read the column as strings."
            )
        self._kinds += "".join(sorted(kinds))

    def _is_strange(self, label: Any) -> bool:
        kind = _kind(label)
        return kind not in NUMBERS + "U" or bool(self._kinds and (kind == "U") != (self._kinds[0] == "U"))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        labels = [label for label, _ in sorted(self._numbers.items())]
        kinds = set(self._kinds)
        if kinds <= {"b"} or kinds <= {"U"}:
            return read_only(np.array(labels))
        if "f" not in kinds:
            return read_only(np.array([int(label) for label in labels]))
        floats = np.array([float(label) for label in labels])
        rounded = [label for label, number in zip(labels, floats.tolist(), strict=True) if label != number]
        if rounded:
            raise LabelError(f"The label {rounded[0]} stands among floats, which would round it. Use integers.")
        return read_only(floats)

    @property
    def ranks(self) -> Ints:
        """For each number given, the position of its class among all, sorted."""
        order = [number for _, number in sorted(self._numbers.items())]
        return np.argsort(np.array(order, np.int64))

    @property
    def counts(self) -> Ints:
        """The rows of each class, sorted as `classes`."""
        return np.array([self._counts[number] for _, number in sorted(self._numbers.items())], np.int64)


def _kind(label: Any) -> str:
    kinds = {str: "U", bool: "b", int: "i", float: "f"}
    return next((kind for each, kind in kinds.items() if isinstance(label, each)), "O")
