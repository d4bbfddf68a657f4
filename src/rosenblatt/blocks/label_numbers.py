"""Numbers for labels that come chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import MOST_FRACTIONS, continuous, factorize, one_a_row, require_classes
from rosenblatt.data.reals import EXACT_BITS, read_only, shown
from rosenblatt.exceptions import LabelError
from rosenblatt.typing import Ints

NUMBERS = "biuf"


class LabelTable:
    """Numbers labels in the order in which they are first seen, until all are known and can be sorted.

    Integers and floats may be mixed, and then all become floats; numbers and strings may not be mixed.

    Parameters
    ----------
    numbers : bool
        Whether the labels of a regression are allowed: fractions, which name no classes.

    Examples
    --------
    >>> table = LabelTable()
    >>> table.encode(np.array(["spam", "ham"]), first=0), table.encode(np.array(["ham"]), first=2)
    (array([0, 1]), array([1]))
    >>> table.classes, table.ranks, table.counts
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0]), array([2, 1]))
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self._fractions = numbers
        self._numbers: dict[Any, int] = {}
        self._counts: list[int] = []
        self._kinds = ""

    def encode(self, labels: NDArray[Any] | None, first: int) -> Ints:
        """Return the number of each label; `first` is the number of rows before them."""
        if labels is None:
            raise LabelError("The source has no labels to learn from. Name the column that holds them.")
        found, codes = factorize(one_a_row(labels, len(labels)))
        if not (self._fractions and found.dtype.kind == "f" and np.isfinite(found).all()):
            require_classes(found, codes, first)
        self._require_kind(found, codes, first)
        values = found.tolist()
        for code, label in enumerate(values):
            if isinstance(label, float) and abs(label) >= 2**EXACT_BITS:
                row = first + int(np.argmax(codes == code))
                raise LabelError(
                    f"The label at row {row} is about {label:g}. A float of this size may be a rounded integer. "
                    f"Use integers below 2**{EXACT_BITS} as labels, or strings."
                )
        new = [code for code, label in enumerate(values) if label not in self._numbers]
        where = np.empty(len(values), np.int64)
        where[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the first row of each
        for code in sorted(new, key=where.__getitem__):
            self._numbers[values[code]] = len(self._numbers)
            self._counts.append(0)
            if len(self._numbers) > MOST_FRACTIONS and not self._fractions:
                self._require_whole(values[code], first + int(np.argmax(codes == code)))
        numbers = np.array([self._numbers[label] for label in values], np.int64)
        for number, count in zip(numbers.tolist(), np.bincount(codes).tolist(), strict=True):
            self._counts[number] += count
        return numbers[codes]

    def _require_whole(self, label: Any, row: int) -> None:
        """Raise `LabelError` if one of more than two labels is a float that is not whole."""
        for each in self._numbers:
            if isinstance(each, float) and not each.is_integer():
                raise continuous(label, row)

    def _require_kind(self, found: NDArray[Any], codes: Ints, first: int) -> None:
        kinds = [_kind(label) if found.dtype == object else found.dtype.kind for label in found.tolist()]
        text = (self._kinds or kinds[0])[0] == "U"
        strange = [k for k, kind in enumerate(kinds) if kind not in NUMBERS + "U" or (kind == "U") != text]
        if strange:
            row = first + int(np.argmax(codes == strange[0]))
            before = f", after labels such as {shown(next(iter(self._numbers)))}" if self._numbers else ""
            raise LabelError(
                f"The label at row {row} is {shown(found[strange[0]])}{before}. Labels must all be numbers or all "
                "be strings: correct it, or read the column as strings."
            )
        self._kinds += "".join({*kinds} - {*self._kinds})

    @property
    def _ordered(self) -> list[tuple[Any, int]]:
        return sorted(self._numbers.items())

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        labels, kinds = [label for label, _ in self._ordered], set(self._kinds)
        if kinds <= {"b"} or kinds <= {"U"}:
            return read_only(np.array(labels))
        if "f" not in kinds:
            whole = [int(label) for label in labels]
            if whole[0] < 0 and whole[-1] >= 2**63:
                raise LabelError(
                    f"No integer type of 64 bits holds both labels {whole[0]} and {whole[-1]}. Use smaller "
                    "integers, or read the column as strings."
                )
            return read_only(np.array(whole, np.uint64 if whole[-1] >= 2**63 else np.int64))
        floats = np.array([float(label) for label in labels])
        rounded = [label for label, number in zip(labels, floats.tolist(), strict=True) if label != number]
        if rounded:
            raise LabelError(f"The label {rounded[0]} stands among floats, which would round it. Use integers.")
        return read_only(floats)

    @property
    def ranks(self) -> Ints:
        """The position of each numbered label among the sorted classes."""
        return np.argsort(np.array([number for _, number in self._ordered], np.int64))

    @property
    def counts(self) -> Ints:
        """The number of rows of each class, in the order of `classes`."""
        return np.array([self._counts[number] for _, number in self._ordered], np.int64)


def _kind(label: Any) -> str:
    kinds = {str: "U", bool: "b", int: "i", float: "f"}
    return next((kind for each, kind in kinds.items() if isinstance(label, each)), "O")
