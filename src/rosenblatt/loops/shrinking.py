"""A penalty and its effect on weights as values, which need no compiled loop; `decay` trains with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.typing import Floats


class Penalty(NamedTuple):
    """Every visit multiplies each weight by `keep` and moves it towards zero by `rent`."""

    keep: float
    rent: float


class Shrunk(NamedTuple):
    """How far stored weights have shrunk: `sums` holds scale and total, `paid` has the shape of the weights."""

    sums: Floats
    paid: Floats

    def weights(self, w: Floats) -> Floats:
        """Return the weights that stored ones stand for: scale · soft(w, total − paid), and the same bias."""
        scale, total = self.sums
        v, rent = w[..., :-1], total - self.paid[..., :-1]
        weights = w.copy(order="K")
        weights[..., :-1] = scale * (np.sign(v) * np.maximum(np.abs(v) - rent, 0.0))
        return weights
