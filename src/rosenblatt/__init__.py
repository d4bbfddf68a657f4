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
    from rosenblatt.blocks.collect import read_blocks as read_blocks
    from rosenblatt.certify.separability import certify as certify
    from rosenblatt.data.batch import as_batch as as_batch
    from rosenblatt.estimators.adaptive_filter import AdaptiveFilter as AdaptiveFilter
    from rosenblatt.estimators.extreme_learning import ExtremeLearningMachine as ExtremeLearningMachine
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.estimators.lifted import LiftedPerceptron as LiftedPerceptron
    from rosenblatt.estimators.mark_one import MarkOne as MarkOne
    from rosenblatt.estimators.max_margin import MaxMarginClassifier as MaxMarginClassifier
    from rosenblatt.estimators.monomial_map import MonomialMap as MonomialMap
    from rosenblatt.estimators.multilayer_perceptron import MultilayerPerceptron as MultilayerPerceptron
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.soft_margin import SoftMarginClassifier as SoftMarginClassifier
    from rosenblatt.estimators.table_encoder import TableEncoder as TableEncoder
    from rosenblatt.estimators.visual_hierarchy import VisualHierarchy as VisualHierarchy
    from rosenblatt.estimators.voted import VotedPerceptron as VotedPerceptron
    from rosenblatt.registry import register as register
    from rosenblatt.storage.files import load as load
    from rosenblatt.storage.files import save as save
    from rosenblatt.storage.graphs import to_onnx as to_onnx
    from rosenblatt.theory.bounds import bounds as bounds
    from rosenblatt.trace.curve import exact_curve as exact_curve
    from rosenblatt.trace.record import Trace as Trace

__version__ = "0.1.0"

_MODULES = ("certify", "datasets", "exceptions", "geometry", "kernels", "plot", "testing")
_NAMES = {
    "TableEncoder": "rosenblatt.estimators.table_encoder",
    "Trace": "rosenblatt.trace.record",
    "as_batch": "rosenblatt.data.batch",
    "bounds": "rosenblatt.theory.bounds",
    "exact_curve": "rosenblatt.trace.curve",
    "read_blocks": "rosenblatt.blocks.collect",
    "register": "rosenblatt.registry",
    "load": "rosenblatt.storage.files",
    "save": "rosenblatt.storage.files",
    "to_onnx": "rosenblatt.storage.graphs",
}

__all__ = [
    "AdaptiveFilter",
    "ExtremeLearningMachine",
    "KernelPerceptron",
    "LiftedPerceptron",
    "MarkOne",
    "MaxMarginClassifier",
    "MonomialMap",
    "MultilayerPerceptron",
    "Perceptron",
    "PocketPerceptron",
    "SoftMarginClassifier",
    "TableEncoder",
    "Trace",
    "VisualHierarchy",
    "VotedPerceptron",
    "as_batch",
    "bounds",
    "certify",
    "datasets",
    "exact_curve",
    "exceptions",
    "geometry",
    "kernels",
    "load",
    "plot",
    "read_blocks",
    "register",
    "save",
    "testing",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rosenblatt.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    if name in __all__:
        return import_module("rosenblatt.registry").class_of(name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
