"""A proof that no line separates
==============================

``certify`` answers with a point that lies in the convex hulls of both classes. The sizes of the marks are the
weights of the rows. Exact fractions decide it, and anyone can check them.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb


def picture() -> Figure:
    """Draw two proofs: XOR's, and one of clouds that overlap."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    X, y = rb.datasets.load_xor()
    print(rb.certify(X, y))
    rb.plot.certificate(rb.certify(X, y), X, y, ax=left)
    rng = np.random.default_rng(5)
    y = np.repeat([-1, 1], 20)
    X = rng.standard_normal((40, 2)) + 0.9 * y[:, None]
    rb.plot.certificate(rb.certify(X, y), X, y, ax=right)
    left.get_legend().remove()  # one for both
    return figure


if __name__ == "__main__":
    picture()
