"""Kernels as files hold them."""

from __future__ import annotations

from rosenblatt.kernels.values import RBF, Laplacian, Linear, Polynomial, Precomputed
from rosenblatt.schema.codecs import Count, Either, Record, Scalar

KERNEL = Either(
    {
        "linear": (Linear, Record(Linear, {})),
        "polynomial": (Polynomial, Record(Polynomial, {"degree": Count(1, 2**20), "c": Scalar()})),
        "rbf": (RBF, Record(RBF, {"gamma": Scalar()})),
        "laplacian": (Laplacian, Record(Laplacian, {"gamma": Scalar()})),
        "precomputed": (Precomputed, Record(Precomputed, {})),
    }
)
"""Kernels that are values. Functions have no place in a file: reading one would mean running it."""
