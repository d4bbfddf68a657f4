"""The perceptron, complete: exact, traceable, and as fast as memory allows.

Public names are loaded when first asked for, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rosenblatt._version import __version__ as __version__

if TYPE_CHECKING:
    from rosenblatt import datasets as datasets
    from rosenblatt import distributed as distributed
    from rosenblatt import exceptions as exceptions
    from rosenblatt import geometry as geometry
    from rosenblatt import kernels as kernels
    from rosenblatt import plot as plot
    from rosenblatt import testing as testing
    from rosenblatt.blocks.collect import read_blocks as read_blocks
    from rosenblatt.certify.separability import certify as certify
    from rosenblatt.data.batch import as_batch as as_batch
    from rosenblatt.estimators.adaptive_filter import AdaptiveFilter as AdaptiveFilter
    from rosenblatt.estimators.calibrated import CalibratedModel as CalibratedModel
    from rosenblatt.estimators.calibrated import calibrate as calibrate
    from rosenblatt.estimators.confidence_weighted import (
        ConfidenceWeightedClassifier as ConfidenceWeightedClassifier,
    )
    from rosenblatt.estimators.extreme_learning import ExtremeLearningMachine as ExtremeLearningMachine
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.estimators.lifted import LiftedPerceptron as LiftedPerceptron
    from rosenblatt.estimators.mark_one import MarkOne as MarkOne
    from rosenblatt.estimators.max_margin import MaxMarginClassifier as MaxMarginClassifier
    from rosenblatt.estimators.monomial_map import MonomialMap as MonomialMap
    from rosenblatt.estimators.multilabel import MultilabelPerceptron as MultilabelPerceptron
    from rosenblatt.estimators.multilayer_perceptron import MultilayerPerceptron as MultilayerPerceptron
    from rosenblatt.estimators.ordinal import OrdinalPerceptron as OrdinalPerceptron
    from rosenblatt.estimators.p_norm import PNormPerceptron as PNormPerceptron
    from rosenblatt.estimators.passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from rosenblatt.estimators.passive_aggressive_regressor import (
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
    )
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.ranking_perceptron import RankingPerceptron as RankingPerceptron
    from rosenblatt.estimators.sequence import SequencePerceptron as SequencePerceptron
    from rosenblatt.estimators.soft_margin import SoftMarginClassifier as SoftMarginClassifier
    from rosenblatt.estimators.table_encoder import TableEncoder as TableEncoder
    from rosenblatt.estimators.visual_hierarchy import VisualHierarchy as VisualHierarchy
    from rosenblatt.estimators.voted import VotedPerceptron as VotedPerceptron
    from rosenblatt.formats.conll import read_corpus as read_corpus
    from rosenblatt.plot.notebook import lab as lab
    from rosenblatt.registry import register as register
    from rosenblatt.storage.files import load as load
    from rosenblatt.storage.files import save as save
    from rosenblatt.storage.graphs import to_onnx as to_onnx
    from rosenblatt.tasks.annotation import certify_corpus as certify_corpus
    from rosenblatt.tasks.compiling import compile_loops as compile_loops
    from rosenblatt.tasks.contents import inspect_model as inspect_model
    from rosenblatt.tasks.data import open_data as open_data
    from rosenblatt.tasks.data import read_table as read_table
    from rosenblatt.tasks.evaluating import cross_validate as cross_validate
    from rosenblatt.tasks.evaluating import evaluate as evaluate
    from rosenblatt.tasks.predicting import predict_file as predict_file
    from rosenblatt.tasks.reporting import report as report
    from rosenblatt.tasks.tagging import train_tagger as train_tagger
    from rosenblatt.tasks.training import train as train
    from rosenblatt.tasks.updates import trace_updates as trace_updates
    from rosenblatt.theory.bounds import bounds as bounds
    from rosenblatt.trace.curve import exact_curve as exact_curve
    from rosenblatt.trace.record import Trace as Trace

_MODULES = ("certify", "datasets", "distributed", "exceptions", "geometry", "kernels", "plot", "testing")
_NAMES = {
    "CalibratedModel": "rosenblatt.estimators.calibrated",
    "calibrate": "rosenblatt.estimators.calibrated",
    "TableEncoder": "rosenblatt.estimators.table_encoder",
    "Trace": "rosenblatt.trace.record",
    "as_batch": "rosenblatt.data.batch",
    "bounds": "rosenblatt.theory.bounds",
    "exact_curve": "rosenblatt.trace.curve",
    "read_blocks": "rosenblatt.blocks.collect",
    "register": "rosenblatt.registry",
    "lab": "rosenblatt.plot.notebook",
    "load": "rosenblatt.storage.files",
    "save": "rosenblatt.storage.files",
    "to_onnx": "rosenblatt.storage.graphs",
    "certify_corpus": "rosenblatt.tasks.annotation",
    "compile_loops": "rosenblatt.tasks.compiling",
    "cross_validate": "rosenblatt.tasks.evaluating",
    "evaluate": "rosenblatt.tasks.evaluating",
    "inspect_model": "rosenblatt.tasks.contents",
    "open_data": "rosenblatt.tasks.data",
    "predict_file": "rosenblatt.tasks.predicting",
    "read_corpus": "rosenblatt.formats.conll",
    "read_table": "rosenblatt.tasks.data",
    "report": "rosenblatt.tasks.reporting",
    "trace_updates": "rosenblatt.tasks.updates",
    "train": "rosenblatt.tasks.training",
    "train_tagger": "rosenblatt.tasks.tagging",
}

__all__ = [
    "AdaptiveFilter",
    "CalibratedModel",
    "ConfidenceWeightedClassifier",
    "ExtremeLearningMachine",
    "KernelPerceptron",
    "LiftedPerceptron",
    "MarkOne",
    "MaxMarginClassifier",
    "MonomialMap",
    "MultilabelPerceptron",
    "MultilayerPerceptron",
    "OrdinalPerceptron",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PocketPerceptron",
    "RankingPerceptron",
    "SequencePerceptron",
    "SoftMarginClassifier",
    "TableEncoder",
    "Trace",
    "VisualHierarchy",
    "VotedPerceptron",
    "as_batch",
    "bounds",
    "calibrate",
    "certify",
    "certify_corpus",
    "compile_loops",
    "cross_validate",
    "datasets",
    "distributed",
    "evaluate",
    "exact_curve",
    "exceptions",
    "geometry",
    "inspect_model",
    "kernels",
    "lab",
    "load",
    "open_data",
    "plot",
    "predict_file",
    "read_blocks",
    "read_corpus",
    "read_table",
    "register",
    "report",
    "save",
    "testing",
    "to_onnx",
    "trace_updates",
    "train",
    "train_tagger",
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
