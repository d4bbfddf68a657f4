"""The perceptron, complete: exact, traceable, and as fast as memory allows.

Public names are loaded when first asked for, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt import datasets as datasets
    from rosenblatt import exceptions as exceptions
    from rosenblatt import geometry as geometry
    from rosenblatt import kernels as kernels
    from rosenblatt import plot as plot
    from rosenblatt import testing as testing
    from rosenblatt.data.batch import as_batch as as_batch
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.estimators.lifted import LiftedPerceptron as LiftedPerceptron
    from rosenblatt.estimators.max_margin import MaxMarginClassifier as MaxMarginClassifier
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.soft_margin import SoftMarginClassifier as SoftMarginClassifier
    from rosenblatt.estimators.voted import VotedPerceptron as VotedPerceptron
    from rosenblatt.trace.curve import exact_curve as exact_curve
    from rosenblatt.trace.record import Trace as Trace

__version__ = "0.1.0"

_MODULES = ("datasets", "exceptions", "geometry", "kernels", "plot", "testing")
_NAMES = {
    "KernelPerceptron": "rosenblatt.estimators.kernel_perceptron",
    "LiftedPerceptron": "rosenblatt.estimators.lifted",
    "MaxMarginClassifier": "rosenblatt.estimators.max_margin",
    "Perceptron": "rosenblatt.estimators.perceptron",
    "PocketPerceptron": "rosenblatt.estimators.pocket",
    "SoftMarginClassifier": "rosenblatt.estimators.soft_margin",
    "Trace": "rosenblatt.trace.record",
    "VotedPerceptron": "rosenblatt.estimators.voted",
    "as_batch": "rosenblatt.data.batch",
    "exact_curve": "rosenblatt.trace.curve",
}

__all__ = [
    "KernelPerceptron",
    "LiftedPerceptron",
    "MaxMarginClassifier",
    "Perceptron",
    "PocketPerceptron",
    "SoftMarginClassifier",
    "Trace",
    "VotedPerceptron",
    "as_batch",
    "datasets",
    "exact_curve",
    "exceptions",
    "geometry",
    "kernels",
    "plot",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rosenblatt.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
