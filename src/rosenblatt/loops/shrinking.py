"""What a penalty does to weights, as values; `rosenblatt.loops.decay` trains by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.typing import Floats


class Penalty(NamedTuple):
    """What a visit does to every weight: multiply it by `keep`, and move it towards zero by `rent`."""

    keep: float
    rent: float


class Shrunk(NamedTuple):
    """How far weights have shrunk since they were written down: `sums` are scale and total, `paid` is as w."""

    sums: Floats
    paid: Floats

    def weights(self, w: Floats) -> Floats:
        """Return what the weights written down have become: scale · soft(w, total − paid), the bias as it is."""
        scale, total = self.sums
        v, rent = w[..., :-1], total - self.paid[..., :-1]
        weights = w.copy(order="K")
        weights[..., :-1] = scale * (np.sign(v) * np.maximum(np.abs(v) - rent, 0.0))
        return weights
