"""Checks of inputs: they are never changed, may lie in any memory, and errors leave an estimator unchanged."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from rosenblatt.registry import abilities
from rosenblatt.testing.samples import LabelledRows, answers, require, require_same, samples, streams, trained


def check_inputs_left_alone(estimator: Any) -> None:
    """Training and predicting change neither X nor y, nor whether they may be written to."""
    from scipy.sparse import csr_array

    for X, y in samples(estimator):
        kinds: list[Callable[[Any], Any]] = [np.array, np.asfortranarray]
        if get_tags(estimator).input_tags.sparse:
            kinds.append(csr_array)
        for kind in kinds:
            table, labels = kind(X.copy()), y.copy()
            model = trained(estimator, table, labels)
            model.predict(table)
            if streams(model):
                model.partial_fit(table, labels)
            values = table if isinstance(table, np.ndarray) else table.toarray()
            require(np.array_equal(values, X), f"X was changed ({type(table).__name__})")
            require(np.array_equal(labels, y), "y was changed")
            held = table if isinstance(table, np.ndarray) else table.data
            require(held.flags.writeable and labels.flags.writeable, "X or y can no longer be written to")


def check_labels(estimator: Any) -> None:
    """Classes are sorted, and other labels in the same order train the same model and are predicted instead."""
    # Weights that name labels would have to be renamed as well.
    plain = {"class_weight": None} if isinstance(estimator.get_params().get("class_weight"), dict) else {}
    for X, y in samples(estimator):
        names = np.unique(y)
        model = trained(estimator, X, y, **plain)
        require(model.classes_.tolist() == names.tolist(), f"classes_ are {model.classes_}, not {names}")
        expected = answers(model, X)
        predicted = expected.pop("predict")
        for labels in (10 * names - 7, np.array([f"class {name}" for name in names])):
            other = trained(estimator, X, labels[y], **plain)
            require(other.classes_.tolist() == labels.tolist(), f"classes_ are {other.classes_}, not {labels}")
            here = answers(other, X)
            renamed = here.pop("predict").tolist()
            require_same(here, expected, f"labels {labels[0]!r}, … against 0, 1, …")
            require(
                renamed == labels[predicted].tolist(), f"labels {labels[0]!r}, … are not predicted for 0, 1, …"
            )


def check_memory(estimator: Any) -> None:
    """Rows that may not be written to, lie in a mapped file, in columns, or far apart train the same bits."""
    for X, y in samples(estimator):
        expected = answers(trained(estimator, X, y), X)
        with tempfile.TemporaryDirectory() as folder:
            for kind, table in _held_in(X, Path(folder)):
                labels = y.copy()
                labels.flags.writeable = False
                require_same(
                    answers(trained(estimator, table, labels), table), expected, f"{kind} against an array"
                )


def _held_in(X: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the same rows as they may lie in memory."""
    locked = X.copy()
    locked.flags.writeable = False
    yield "read-only rows", locked
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    yield "a mapped file", mapped
    del mapped
    yield "columns after each other", np.asfortranarray(X)
    spread = np.zeros((2 * len(X), 3 * X.shape[1]))
    spread[::2, ::3] = X
    yield "rows far apart", spread[::2, ::3]
    yield "rows backwards in memory", X[::-1].copy()[::-1]


def check_errors(estimator: Any) -> None:
    """Bad data raises a ValueError or TypeError and leaves the estimator unchanged, to the byte."""
    for sample in samples(estimator):
        for stage, model in _stages(estimator, sample):
            for what, call in _bad_calls(model, sample):
                before = pickle.dumps(vars(model))
                try:
                    call()
                except (ValueError, TypeError):
                    pass
                else:
                    raise AssertionError(f"{what} was taken, {stage}")
                require(pickle.dumps(vars(model)) == before, f"{what} changed the estimator, {stage}")


def _stages(estimator: Any, sample: LabelledRows) -> Iterator[tuple[str, Any]]:
    """Yield estimators at each stage of their lives."""
    yield "before training", clone(estimator)
    yield "after a fit", trained(estimator, *sample)
    if streams(estimator):
        yield "in a stream", clone(estimator).partial_fit(*sample, classes=np.unique(sample.y))


def _bad_calls(model: Any, sample: LabelledRows) -> Iterator[tuple[str, Callable[[], Any]]]:
    X, y = sample
    trainers = {"fit": model.fit} | ({"partial_fit": model.partial_fit} if streams(model) else {})
    for value in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[-1, -1] = value
        for name, train in trainers.items():
            yield f"{name} with {value} in the last row", partial(train, spoilt, y)
        yield f"predict with {value}", partial(model.predict, spoilt)
    for name, train in trainers.items():
        yield f"{name} with a label too few", partial(train, X, y[:-1])
        yield f"{name} with measurements for labels", partial(train, X, np.linspace(0.25, 1.75, len(y)))
        yield f"{name} with no rows", partial(train, X[:0], y[:0])
        yield f"{name} with text", partial(train, X.astype(str), y)
        yield f"{name} with no labels", partial(train, X, None)
    yield "predict with a feature too few", partial(model.predict, X[:, 1:])
    if "examples" in abilities(model):
        for value in (np.nan, np.inf):
            spoilt = np.append(X[0, 1:], value)
            yield f"learn_one with {value}", partial(model.learn_one, spoilt, y[0])
            if hasattr(model, "classes_"):  # before training it returns None
                yield f"predict_one with {value}", partial(model.predict_one, spoilt)


def check_names(estimator: Any) -> None:
    """Frames of pandas and polars train the bits of their values; their names are kept and required."""
    libraries = [library for library in ("pandas", "polars") if _is_installed(library)]
    if not libraries:
        raise SkipTest("neither pandas nor polars is installed")
    for X, y in samples(estimator):
        names = [f"feature {j}" for j in range(X.shape[1])]
        expected = answers(trained(estimator, X, y), X)
        for library in libraries:
            frame = import_module(library).DataFrame({name: X[:, j] for j, name in enumerate(names)})
            model = trained(estimator, frame, y)
            require_same(answers(model, frame), expected, f"a frame of {library} against an array")
            require(
                model.feature_names_in_.tolist() == names, f"feature_names_in_ of {library} are not its columns"
            )
            try:
                model.predict(frame[names[::-1]])
            except ValueError:
                continue
            raise AssertionError(f"columns of {library} in another order were taken")


def _is_installed(library: str) -> bool:
    try:
        import_module(library)
    except ImportError:
        return False
    return True
