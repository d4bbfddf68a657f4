"""Mercer kernels as values (S-35), and whether a function is one (S-36).

Everything here takes arrays: `rosenblatt.KernelPerceptron` brings the rest.
"""

from __future__ import annotations

from rosenblatt.kernels.coordinates import coordinates
from rosenblatt.kernels.psd import Semidefinite, is_psd
from rosenblatt.kernels.values import (
    RBF,
    Function,
    Kernel,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    as_kernel,
)

__all__ = [
    "RBF",
    "Function",
    "Kernel",
    "Laplacian",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Semidefinite",
    "as_kernel",
    "coordinates",
    "is_psd",
]
