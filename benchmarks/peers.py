"""Other libraries, set to do what a perceptron does."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.linear_model import Perceptron, SGDClassifier

AVERAGED = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None, "average": True}
VW = "--quiet --sgd --loss_function hinge -b 20"  # has no perceptron; this is its nearest


def installed(name: str) -> ModuleType | None:
    """Import a peer, or return None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def sklearn_perceptron(*, average: bool = False, **params: Any) -> Perceptron | SGDClassifier:
    """Return scikit-learn's perceptron, making exactly `max_iter` passes."""
    return SGDClassifier(tol=None, **AVERAGED, **params) if average else Perceptron(tol=None, **params)


def write_vw_text(path: Path, X: Any, y: Any) -> None:
    """Write sparse rows as Vowpal Wabbit reads them."""
    with path.open("w") as file:
        for label, start, stop in zip(y, X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = zip(X.indices[start:stop], X.data[start:stop], strict=True)
            file.write(f"{label} | {' '.join(f'{j}:{value:.6g}' for j, value in pairs)}\n")


def vw_train_from_text(vw: ModuleType, path: Path, passes: int) -> None:
    """Learn from a text file: the first pass parses it, the others read the cache that it writes."""
    cache = path.with_suffix(".cache")
    vw.Workspace(f"{VW} --data {path} --cache_file {cache} --kill_cache --passes {passes} --holdout_off").finish()
