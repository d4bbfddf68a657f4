"""All rows of DATA at once, for what cannot be answered from a stream."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rosenblatt.cli.data import feature_names, open_data, remark_on_source, require_classes
from rosenblatt.cli.output import Output
from rosenblatt.columns.options import Options
from rosenblatt.data.batch import Batch

if TYPE_CHECKING:
    from rosenblatt.blocks.memory import MemoryBlocks

__all__ = ["Table", "all_blocks", "read_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Labelled rows in memory.

    Attributes
    ----------
    batch : Batch
        The rows.
    names : tuple of str or None
        Of the features.
    fills : bool
        Whether numbers are missing that means are to stand for.
    """

    batch: Batch
    names: tuple[str, ...] | None
    fills: bool

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows as numpy or scipy hold them."""
        return self.batch.native()

    @property
    def y(self) -> NDArray[Any]:
        """The labels."""
        labels: NDArray[Any] = self.batch.classes[self.batch.codes]
        return labels

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.batch.n_rows

    @property
    def n_features(self) -> int:
        """How many features."""
        return self.batch.n_features


def read_table(data: Sequence[str], options: Options, output: Output, *, filled: bool = False) -> Table:
    """Read all rows of DATA; missing numbers are NaN, or `filled` with means if these were asked for."""
    from rosenblatt.blocks.scaled import transformed
    from rosenblatt.cli.fitting import preparation

    source = open_data(data, options)
    blocks: Any = all_blocks(source)
    remark_on_source(source, output)
    require_classes(source, options, len(blocks.classes), blocks.n_rows)
    fills = options.missing == "mean"
    if fills and filled:
        blocks = transformed(blocks, *preparation(blocks, fill=True, scale=False))
    return Table(blocks.batch, feature_names(source), fills and not filled)


def all_blocks(source: Any) -> MemoryBlocks:
    """Read all rows of a source into memory."""
    from rosenblatt.blocks.collect import collect
    from rosenblatt.blocks.memory import MemoryBlocks

    blocks = collect(source, memory=sys.maxsize, cache="no")
    assert isinstance(blocks, MemoryBlocks), "nothing is larger than all memory there can be"
    return blocks
