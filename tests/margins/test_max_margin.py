"""A search for the widest hyperplane that is out of time hands over the best so far, and its bounds hold."""

from __future__ import annotations

import numpy as np
import pytest

from rosenblatt.margins.widest import max_margin
from rosenblatt.rows.batch import as_batch


@pytest.mark.parametrize("seed", range(3))
def test_out_of_time(seed):
    """The rows nearest along the class means are not those that hold the hyperplane, which takes some rounds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 6)) * [1, 1, 1, 1, 20, 20] @ np.linalg.qr(rng.standard_normal((6, 6)))[0]
    f = X @ rng.standard_normal(6)
    X, y = X[np.abs(f) > 0.5], np.sign(f[np.abs(f) > 0.5])
    batch = as_batch(X, y)
    whole, part = max_margin(batch), max_margin(batch, end=0.0)
    assert part.n_iter < whole.n_iter
    assert 0.0 < part.margin < whole.margin
    assert whole.upper <= part.upper * (1.0 + 1e-12)
    z = batch.signs * (X @ part.w + part.b)
    assert z.min() / np.linalg.norm(part.w) == pytest.approx(part.margin, rel=1e-6)
