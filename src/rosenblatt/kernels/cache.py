"""Kernel rows, the latest ones kept in bounded memory."""

from __future__ import annotations

from collections import OrderedDict

from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import Kernel
from rosenblatt.typing import Floats

MEGABYTE = 1 << 20


class CachedRows:
    """The rows of the Gram matrix of some points, one at a time.

    Parameters
    ----------
    kernel : Kernel
        With numbers for all it takes from data.
    points : Points
        The points.
    megabytes : float
        The most memory that rows may take; those asked for least recently are let go.

    Attributes
    ----------
    computed : int
        The rows computed so far: those asked for that were not, or no longer, there.
    """

    def __init__(self, kernel: Kernel, points: Points, megabytes: float) -> None:
        self.kernel, self.points = kernel, points
        self.most = int(megabytes * MEGABYTE) // (8 * points.n_rows)
        self.computed = 0
        self._rows: OrderedDict[int, Floats] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, i: int) -> Floats:
        """Return k(x_i, x) for every point x."""
        row = self._rows.get(i)
        if row is not None:
            self._rows.move_to_end(i)
            return row
        row = self.kernel.gram(self.points.row(i), self.points)[0]
        self.computed += 1
        if self.most:
            if len(self._rows) >= self.most:
                self._rows.popitem(last=False)
            self._rows[i] = row
        return row
