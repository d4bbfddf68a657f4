"""Data to train on, the same bits everywhere: dyadic fractions, whose sums are exact, and plain floats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

HELD = 20
"""Rows that are predicted, and never trained on."""


class Sample(NamedTuple):
    """Rows, labels of two classes (with and without noise) and of four, and rows to predict."""

    X: Any
    two: Any
    clean: Any
    four: Any
    held: Any

    def with_rows(self, change: Any) -> Sample:
        """Return the same data in another layout."""
        return self._replace(X=change(self.X), held=change(self.held))

    def labels(self, how: str) -> Any:
        """Return the labels for "two" classes, "clean" ones, or a scheme for four."""
        return {"two": self.two, "clean": self.clean}.get(how, self.four)


def _sample(X: Any, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    W = rng.integers(-8, 9, (4, X.shape[1])) / 4
    scores = np.array([[(row * w).sum() for w in W] for row in X])  # numpy's own sums, not those of a BLAS
    wrong = rng.random(len(X)) < 0.15
    positive = scores[:, 0] > 0
    four = np.where(wrong, rng.integers(0, 4, len(X)), scores.argmax(axis=1))
    n = len(X) - HELD
    return Sample(
        X[:n],
        np.where(positive ^ wrong, "yes", "no")[:n],
        np.where(positive, 1, -1)[:n],
        np.array([3, 5, 8, 9])[four][:n],
        X[n:],
    )


def _made() -> dict[str, Sample]:
    rng = np.random.default_rng(12)
    dyadic = rng.integers(-32, 33, (100 + HELD, 9)) / 16
    floats = 4.0 * rng.random((130 + HELD, 70)) - 2.0
    thin = np.where(rng.random((120 + HELD, 40)) < 0.2, 4.0 * rng.random((120 + HELD, 40)) - 2.0, 0.0)
    thin[7] = 0.0
    sparse = _sample(thin, 3).with_rows(csr_array)
    plain = _sample(floats, 2)
    return {
        "dyadic": _sample(dyadic, 1),
        "floats": plain,
        "floats32": plain.with_rows(lambda X: X.astype(np.float32)),
        "sparse": sparse,
        "sparse32": sparse.with_rows(lambda X: X.astype(np.float32)),
    }


SAMPLES = _made()
SCHEMES = ("two", "direct", "ovr", "ovo")


def scheme_of(how: str) -> dict[str, Any]:
    """Return the parameters of a scheme."""
    return {} if how in ("two", "clean") else {"multiclass": how}


def weights_of(sample: Sample) -> Any:
    """Return weights of rows: quarters, some of them zero."""
    return np.random.default_rng(5).integers(0, 9, sample.X.shape[0]) / 4
