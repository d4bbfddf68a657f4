"""What any source of rows offers: files, built-in data sets, and sources written by users."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError
from rosenblatt.rows.batch import Chunk, Skipped
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, TableRecipe

if TYPE_CHECKING:
    from rosenblatt.tables.blocks import Blocks

__all__ = ["Known", "ReadAgainError", "Source"]


class ReadAgainError(FormatError):
    """Rows read so far were read wrongly; the source has learned how to read them, and must be read again."""


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What a source can say without reading all of its rows.

    Attributes
    ----------
    classes : ndarray
        The distinct labels, sorted.
    n_rows, n_features : int
        The size of the data.
    dtype : dtype or None
        The type of the values; None if only the rows tell.
    """

    classes: NDArray[Any]
    n_rows: int
    n_features: int
    dtype: np.dtype[Any] | None = None


class Source(ABC):
    """Labelled rows that come in chunks, from the first row each time they are read.

    Subclasses define `chunks`; every other member has a default.

    Examples
    --------
    >>> from rosenblatt.rows.features import as_rows
    >>> class Squares(Source):
    ...     def chunks(self):
    ...         for n in range(4):
    ...             yield Chunk.of(as_rows([[n, n * n]]), np.array([n > 1]))
    >>> [chunk.labels.tolist() for chunk in Squares().chunks()]
    [[False], [False], [True], [True]]
    >>> Squares().names is None
    True
    """

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows, chunk by chunk."""

    def blocks(self, *, memory: int | None = None, cache: str | os.PathLike[str] = "auto") -> Blocks:
        r"""Read all rows into blocks, for `fit_blocks`: in memory, or in a cache.

        Parameters
        ----------
        memory, cache
            See `rosenblatt.tables.collect.collect`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import rosenblatt as rb
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder) / "or.csv"
        ...     _ = table.write_text("a,b,either\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
        ...     blocks = rb.open_data(table, target="either").blocks()
        >>> blocks.n_rows, blocks.names
        (4, ('a', 'b'))
        >>> rb.Perceptron(order="cyclic").fit_blocks(blocks).coef_
        array([[2., 2.]])
        """
        from rosenblatt.tables.collect import collect

        return collect(self, memory=memory, cache=cache)

    def known(self) -> Known | None:
        """Return the classes and the size if they are known without reading all rows, else None."""
        return None

    def close(self) -> None:
        """Close files of a source that will not be read to its end."""
        return

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are read."""
        return ()

    @property
    def title(self) -> str:
        """What messages call a source without files."""
        return type(self).__name__

    @property
    def options(self) -> Options | None:
        """How the files are read; None if the rows cannot be read again from files."""
        return None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, complete once all chunks were read; None if they have none."""
        return None

    @property
    def n_features(self) -> int:
        """The number of features read so far."""
        return 0

    @property
    def recipe(self) -> Recipe | None:
        """How columns become features, complete once all chunks were read; None if nothing is encoded."""
        return None

    @property
    def measured(self) -> bool:
        """Whether features are measurements in units of their own, which the command line standardises."""
        return isinstance(self.recipe, TableRecipe)

    @property
    def description(self) -> str:
        """What is read and how, in one line."""
        return ""

    @property
    def skipped(self) -> Skipped:
        """The rows that the last reading left out because they could not be read."""
        return Skipped()

    @property
    def unmet(self) -> int:
        """The number of values that the last reading left out because training had not seen their feature."""
        return 0

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each row of the last reading, for learners that rank rows; None if there are none."""
        return None

    @property
    def unknown(self) -> Mapping[str, int]:
        """For each categorical column, the rows of the last reading whose value training had not seen."""
        return {}

    @property
    def n_read(self) -> int:
        """The number of rows of the last reading, as far as `unknown` counts them."""
        return 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about columns that a user may want to change, a sentence each."""
        return ()
