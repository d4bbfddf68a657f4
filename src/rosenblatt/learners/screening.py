"""When the screen pays: it costs a few passes to set up and saves a part of each later one."""

from __future__ import annotations

from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.screen import WIDEST

SMALLEST = 4 << 20  # bytes; rows that sit in a core's own cache are read as fast as their shadows
FEWEST_FEATURES = 16  # below, the head of a record weighs more than it saves
MISTAKE_RATE = 0.05  # each mistake costs the screen an update of its own
STORED_PASSES = {8: 2, 4: 4}  # passes to wait for, by bytes a value, where rows come as stored
SCATTERED_PASSES = 1  # … and where they do not: a waiting row is dearer than a waiting byte


class Screening:
    """Decides, pass by pass, whether the next one is screened and whether to take reference scores anew.

    Nobody knows how many passes are ahead; that as many again will follow as have been is the usual guess,
    and it makes the set-up cost at most about what not having set up would have cost.

    Parameters
    ----------
    rows : ndarray or CSR
        The training rows.
    wanted : bool or None
        True and False force the answer; None decides by what pays.
    """

    def __init__(self, rows: Rows, wanted: bool | None) -> None:
        self._wanted = wanted
        self._possible = not isinstance(rows, CSR)
        if not isinstance(rows, CSR):
            self._possible = rows.shape[1] <= WIDEST and rows.itemsize > 1  # bytes are as small as their shadows
            self._large = rows.nbytes > SMALLEST and rows.shape[1] >= FEWEST_FEATURES
            self._patience = STORED_PASSES.get(rows.itemsize, 0)
        self._passes = 0
        self._debt = 0.0

    def pays(self, mistake_rate: float, scattered: bool) -> bool:
        """Say whether to screen the next pass, given how the last one went."""
        if not self._possible or self._wanted is not None:
            return self._possible and bool(self._wanted)
        patience = SCATTERED_PASSES if scattered else self._patience
        return self._large and self._passes >= patience and mistake_rate < MISTAKE_RATE

    def passed(self, share_read: float) -> None:
        """Take note of a pass, and of the share of its rows that had to be read."""
        self._passes += 1
        self._debt += share_read

    def should_anchor(self) -> bool:
        """Say whether rows read in vain since the last time amount to the one reading it takes."""
        if self._debt < 1.0:
            return False
        self._debt = 0.0
        return True
