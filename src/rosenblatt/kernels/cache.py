"""Kernel rows, of which the latest are kept in bounded memory."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import Kernel
from rosenblatt.typing import Floats

MEGABYTE = 1 << 20
SLAB = 1 << 23  # bytes allocated at once: enough for the system to use large pages


class CachedRows:
    """The rows of the Gram matrix of some points by a resolved kernel, one at a time.

    Beyond the limit of `megabytes` the least recently used rows are dropped. `computed` counts the rows computed.
    """

    def __init__(self, kernel: Kernel, points: Points, megabytes: float) -> None:
        self.kernel, self.points = kernel, points
        self.most = int(megabytes * MEGABYTE) // (8 * points.n_rows)
        self.computed = 0
        self._rows: OrderedDict[int, Floats] = OrderedDict()
        self._room: list[Floats] = []

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, i: int) -> Floats:
        """Return k(x_i, x) for every point x."""
        row = self._rows.get(i)
        if row is not None:
            self._rows.move_to_end(i)
            return row
        row = self._empty()
        self.kernel.gram(self.points.row(i), self.points, out=row[None])
        self.computed += 1
        if self.most:
            self._rows[i] = row
        return row

    def _empty(self) -> Floats:
        """Return room for a row: new, or that of the least recently used row."""
        if not self.most:
            return np.empty(self.points.n_rows)
        if len(self._rows) >= self.most:
            return self._rows.popitem(last=False)[1]
        if not self._room:
            rows = max(1, min(SLAB // (8 * self.points.n_rows), self.most - len(self._rows)))
            self._room = list(np.empty((rows, self.points.n_rows)))
        return self._room.pop()
