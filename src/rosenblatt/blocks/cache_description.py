"""The description of a cache file: closed types, and parts that fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.block_layout import INDEX_TYPES, VALUE_TYPES, BlockLayout
from rosenblatt.blocks.summary import DataSummary
from rosenblatt.columns.recipe import Name, Recipe
from rosenblatt.columns.statistics import Statistics
from rosenblatt.schema.codecs import (
    Context,
    Count,
    Flag,
    Maybe,
    Record,
    Several,
    Text,
    require,
    same_length,
    wrong,
)
from rosenblatt.schema.plain import Labels, Parameter
from rosenblatt.typing import Ints

FIRST = 1 << 12
"""Where the first block begins; all begin at a multiple of it."""


@dataclass(frozen=True)
class NumberList:
    """An array of finite numbers, written as a list."""

    kind: type

    def encode(self, value: NDArray[Any], at: str, context: Context) -> Any:
        """Return the list."""
        return value.tolist()

    def decode(self, told: Any, at: str, context: Context) -> NDArray[Any]:
        """Return the array."""
        if not isinstance(told, list) or not {*map(type, told)} <= {self.kind}:
            wrong(at, f"is no list of {self.kind.__name__}s")
        try:
            array: NDArray[Any] = np.array(told, self.kind)
        except OverflowError:
            wrong(at, "holds a number that is too large")
        if not np.isfinite(array).all():
            wrong(at, "holds a number that is not finite")
        return array


class CacheDescription(NamedTuple):
    """What a cache says about its blocks.

    Attributes
    ----------
    summary : DataSummary
        Describes all rows.
    ranks : ndarray of int
        The position among the classes of each label, by the number that blocks have for it.
    blocks : list of BlockLayout
        Where the blocks are.
    statistics : Statistics or None
        The means and variances of the features, if they were gathered and are finite.
    """

    summary: DataSummary
    ranks: Ints
    blocks: list[BlockLayout]
    statistics: Statistics | None

    @property
    def end(self) -> int:
        """The position behind the last block."""
        return next_place(self.blocks[-1])

    def check(self) -> None:
        """Raise an error if the parts contradict each other."""
        blocks, (n_rows, n_features, stored, classes, counts, boundaries, names, facts) = self.blocks, self.summary
        labels, ends = classes.tolist(), np.cumsum([0, *(layout.n_rows for layout in blocks)])
        kinds = {str if isinstance(label, str) else float for label in labels}
        require(len(kinds) == 1 and labels == sorted(labels), "the labels are not sorted")
        require(same_length(labels, counts, self.ranks), "there are not as many counts as labels")
        require(np.array_equal(np.sort(self.ranks), np.arange(len(labels))), "the ranks of the labels are wrong")
        require(sum(counts.tolist()) == n_rows and (counts > 0).all(), "the counts of the labels are wrong")
        require(names is None or len(names) == n_features, "there are not as many names as features")
        require(np.array_equal(boundaries, ends) and n_rows == ends[-1], "the blocks have other rows")
        require(stored == sum(layout.stored for layout in blocks), "the blocks have other values")
        for layout, place in zip(blocks, [FIRST, *map(next_place, blocks)], strict=False):
            size = layout.stored if layout.index_type else layout.n_rows * n_features
            require(layout.offset == place, "the blocks do not follow each other")
            require(bool(layout.index_type) == bool(blocks[0].index_type), "dense and sparse blocks are mixed")
            require(layout.stored == size, "a block does not have the size of its rows")
        if facts["recipe"] is not None:
            Recipe.from_json(facts["recipe"])
        if self.statistics is not None:
            require(is_usable(self.statistics, self.summary), "the statistics do not belong to the rows")


def is_usable(statistics: Statistics, summary: DataSummary) -> bool:
    """Return whether statistics are finite, and can be those of the data."""
    n_rows, count, mean, squares = statistics.n_rows, statistics.count, statistics.mean, statistics.squares
    if n_rows != summary.n_rows or {len(count), len(mean), len(squares)} != {summary.n_features}:
        return False
    finite = np.isfinite(mean) & np.isfinite(squares)
    return bool((finite & (squares >= 0) & (count >= 0) & (count <= n_rows)).all())


def next_place(layout: BlockLayout) -> int:
    """Return where the block that follows begins."""
    return -(-(layout.offset + layout.n_bytes) // FIRST) * FIRST


STATISTICS = Record(
    Statistics,
    {
        "count": NumberList(int),
        "mean": NumberList(float),
        "squares": NumberList(float),
        "n_rows": Count(),
        "sparse": Flag(),
    },
)
LAYOUT = Record(
    BlockLayout,
    {
        "offset": Count(),
        "n_rows": Count(1),
        "stored": Count(),
        "dtype": Text(VALUE_TYPES),
        "index_type": Text(INDEX_TYPES),
        "checksum": Text(),
    },
)
FACTS = Record(dict, {"recipe": Parameter(), "skipped": Count(), "description": Text()}, take=dict)
SUMMARY = Record(
    DataSummary,
    {
        "n_rows": Count(1),
        "n_features": Count(1),
        "stored": Count(),
        "classes": Labels(),
        "counts": NumberList(int),
        "boundaries": NumberList(int),
        "names": Maybe(Several(Name(), tuple)),
        "facts": FACTS,
    },
)
DESCRIPTION = Record(
    CacheDescription,
    {"summary": SUMMARY, "ranks": NumberList(int), "blocks": Several(LAYOUT), "statistics": Maybe(STATISTICS)},
    check=CacheDescription.check,
)
