"""The perceptron, complete: exact, traceable, and as fast as memory allows.

Public names are loaded when first asked for, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt._version import __version__ as __version__
from rosenblatt.registry import BUILT_IN

if TYPE_CHECKING:
    from rosenblatt import datasets as datasets
    from rosenblatt import distributed as distributed
    from rosenblatt import exceptions as exceptions
    from rosenblatt import exercises as exercises
    from rosenblatt import geometry as geometry
    from rosenblatt import kernels as kernels
    from rosenblatt import plot as plot
    from rosenblatt import presets as presets
    from rosenblatt import testing as testing
    from rosenblatt.certify.separability import certify as certify
    from rosenblatt.estimators.calibrated import calibrate as calibrate
    from rosenblatt.estimators.table_encoder import TableEncoder as TableEncoder
    from rosenblatt.lab.run_page import lab as lab
    from rosenblatt.learning.trace import Trace as Trace
    from rosenblatt.models.files import load as load
    from rosenblatt.models.files import save as save
    from rosenblatt.models.graphs import to_onnx as to_onnx
    from rosenblatt.registry import register as register
    from rosenblatt.tasks.data import open_data as open_data
    from rosenblatt.tasks.data import read_table as read_table
    from rosenblatt.tasks.evaluating import evaluate as evaluate
    from rosenblatt.tasks.evaluating import evaluate_folds as evaluate_folds
    from rosenblatt.tasks.explaining import explain as explain
    from rosenblatt.tasks.predicting import predict_file as predict_file
    from rosenblatt.tasks.reporting import report as report
    from rosenblatt.tasks.training import train as train
    from rosenblatt.theory.bounds import bounds as bounds

# made by scripts/learners.py
if TYPE_CHECKING:
    from rosenblatt.estimators.adaptive_filter import AdaptiveFilter as AdaptiveFilter
    from rosenblatt.estimators.confidence_weighted import (
        ConfidenceWeightedClassifier as ConfidenceWeightedClassifier,
    )
    from rosenblatt.estimators.lifted import LiftedPerceptron as LiftedPerceptron
    from rosenblatt.estimators.max_margin import MaxMarginClassifier as MaxMarginClassifier
    from rosenblatt.estimators.monomial_map import MonomialMap as MonomialMap
    from rosenblatt.estimators.multilabel import MultilabelPerceptron as MultilabelPerceptron
    from rosenblatt.estimators.online_scaler import OnlineScaler as OnlineScaler
    from rosenblatt.estimators.ordinal import OrdinalPerceptron as OrdinalPerceptron
    from rosenblatt.estimators.p_norm import PNormPerceptron as PNormPerceptron
    from rosenblatt.estimators.passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from rosenblatt.estimators.passive_aggressive import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.ranking_perceptron import RankingPerceptron as RankingPerceptron
    from rosenblatt.estimators.soft_margin import SoftMarginClassifier as SoftMarginClassifier
    from rosenblatt.estimators.voted import VotedPerceptron as VotedPerceptron
    from rosenblatt.kernels.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.networks.extreme_learning import ExtremeLearningMachine as ExtremeLearningMachine
    from rosenblatt.networks.mark_one import MarkOne as MarkOne
    from rosenblatt.networks.multilayer_perceptron import MultilayerPerceptron as MultilayerPerceptron
    from rosenblatt.networks.visual_hierarchy import VisualHierarchy as VisualHierarchy
    from rosenblatt.probes.probes import Probes as Probes
    from rosenblatt.sequences.estimator import SequencePerceptron as SequencePerceptron
# end

_MODULES = (
    "certify",
    "datasets",
    "distributed",
    "exceptions",
    "exercises",
    "geometry",
    "kernels",
    "lab",
    "plot",
    "presets",
    "testing",
)
_NAMES = {
    "calibrate": "estimators.calibrated",
    "TableEncoder": "estimators.table_encoder",
    "Trace": "learning.trace",
    "bounds": "theory.bounds",
    "register": "registry",
    "load": "models.files",
    "save": "models.files",
    "to_onnx": "models.graphs",
    "evaluate_folds": "tasks.evaluating",
    "evaluate": "tasks.evaluating",
    "explain": "tasks.explaining",
    "open_data": "tasks.data",
    "predict_file": "tasks.predicting",
    "read_table": "tasks.data",
    "report": "tasks.reporting",
    "train": "tasks.training",
}

_UNLISTED = {"exercises", "presets", "testing"}
"""Modules for few people."""

__all__ = sorted({*_MODULES, *_NAMES, *BUILT_IN} - _UNLISTED)


def _find(module: str) -> Any:
    from rosenblatt.rooms import find

    return find(module)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _find(name)
    if name in _NAMES:
        return getattr(_find(_NAMES[name]), name)
    if name in BUILT_IN:
        return _find("registry").class_of(name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
