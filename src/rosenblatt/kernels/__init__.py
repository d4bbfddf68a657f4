"""Mercer kernels as values, for arrays; `rosenblatt.KernelPerceptron` takes data of any kind."""

from __future__ import annotations

from rosenblatt.kernels.psd import Semidefinite, is_psd
from rosenblatt.kernels.space import coordinates
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
