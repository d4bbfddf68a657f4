"""Saving and loading models: one file each, from which nothing is ever executed."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from rosenblatt import registry
from rosenblatt.calibration import Calibration
from rosenblatt.codecs import SCALAR, Context, UnsoundError, write_container, write_labels, wrong
from rosenblatt.exceptions import ParameterError
from rosenblatt.models.stored import CALIBRATION, FORMAT, PARAMETER, SCHEMA, names_of, open_model
from rosenblatt.tables.preparation import Preparation

__all__ = ["load", "made_by", "save", "write_model"]


# Where a model comes from: by what software it was trained, when, and from which data.


def made_by(**told: Any) -> dict[str, Any]:
    """Return what can be said of any model, and what is told besides.

    Examples
    --------
    >>> sorted(made_by(command="train mail.csv"))
    ['command', 'created', 'numpy', 'python', 'rosenblatt']
    """
    from rosenblatt._version import __version__

    return {
        "rosenblatt": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    } | told


def save(model: Any, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
    """Write a trained model to a file, from which `load` makes the same one.

    The file is a safetensors file; ``docs/look_up/model_files.md`` specifies what is in it. It is written whole or
    not at all: after an error, or a crash, the file that was there before is unchanged.

    Parameters
    ----------
    model : estimator of this package, scikit-learn Pipeline, or CalibratedModel
        Trained. A pipeline has a `TableEncoder`, `StandardScaler`, `OnlineScaler`, `Normalizer`, `MonomialMap` or
        `VisualHierarchy`, or several of them, before a learner of this package. A stream goes on after loading
        with the same bits as without.
    path : str or path
        The file; any name will do.
    provenance : mapping or None
        Where the model comes from, such as the hash of its data; versions and the time are added.

    Raises
    ------
    ParameterError
        If the model or a step is of another package, or holds what no file can: functions (callable kernels,
        orders, callbacks), generators of random numbers, labels that are neither numbers nor texts.
    StorageError
        If the file cannot be written.

    Notes
    -----
    A record of a fit with more than 65,536 mistakes is saved without the mistakes: the counts and the curve are
    kept, and ``trace_`` of the loaded model says so. A stream's record is kept whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import Perceptron, TableEncoder
    >>> mail = ["win a prize", "see you at home", "free prize", "home at six"]
    >>> model = make_pipeline(TableEncoder(), Perceptron()).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/spam.model")
    ...     load(f"{folder}/spam.model").predict(["a prize", "at home"])
    array(['spam', 'ham'], dtype='<U4')
    """
    from rosenblatt.estimators.calibrated import CalibratedModel
    from rosenblatt.models.steps import take_apart

    calibration = None
    if isinstance(model, CalibratedModel):
        _require_trained(model)
        model, calibration = model.model_, model.calibration_
    write_model(*take_apart(model), path, provenance=provenance, calibration=calibration)


def write_model(
    preparation: Preparation,
    learner: Any,
    path: str | os.PathLike[str],
    *,
    provenance: Mapping[str, Any] | None,
    calibration: Calibration | None = None,
) -> None:
    """Write a learner, and what is done to data before it, to a file; see `save`."""
    from rosenblatt.estimators._features import ReadsTables
    from rosenblatt.models.steps import PREPARATION

    name = registry.name_of(learner)
    if not registry.is_registered(learner):
        raise ParameterError(
            f"model={learner!r} cannot be saved: {name} is not a registered learner, nor a pipeline that ends in "
            "one. Call rosenblatt.register on your class first."
        )
    _require_trained(learner)
    if preparation.steps:
        if not isinstance(learner, ReadsTables):
            raise ParameterError(f"model cannot be saved: a {name} reads signals, and has no place in a pipeline.")
        learner = learner._without_names()
    context = Context(names=names_of(learner), classes=_classes_of(learner))
    try:
        classes = None if context.classes is None else write_labels(context.classes, "classes")
        names = None
        if context.names is not None:
            names = [_name(each, context) for each in context.names]
            context.names = tuple(names)
        made = registry.declaration_of(learner).state.encode(learner, "", context)
        prepared = PREPARATION.encode(preparation, "preparation", context)
        curves = CALIBRATION.encode(calibration, "calibration", context)
        told = PARAMETER.encode(made_by(**(provenance or {})), "provenance", context)
    except UnsoundError as error:
        raise ParameterError(f"model cannot be saved: {error}.") from None
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "learner": name,
        "parameters": made["parameters"],
        "feature_names": names,
        "classes": classes,
        "state": made["state"],
        "preparation": prepared,
        "calibration": curves,
        "provenance": told,
    }
    write_container(path, document, context.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a trained model from a file that `save` or ``rosenblatt train`` wrote.

    Nothing in the file is executed. It is checked against its checksum, and every part of it against all others,
    before an estimator is made.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or Pipeline
        The learner, with the same parameters and the same bits. If other steps come first, the result is a
        scikit-learn pipeline of these steps and the learner. A model that was trained from a table begins with a
        `TableEncoder` called "encoder". Then come "scaler", "online", "normalizer", "monomials" or "hierarchy",
        and at last "learner". A calibrated model is a `CalibratedModel` of these.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or contradicts itself.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from tempfile import TemporaryDirectory
    >>> clf = rb.Perceptron().fit(*rb.datasets.load_or())
    >>> with TemporaryDirectory() as folder:
    ...     rb.save(clf, f"{folder}/or.model")
    ...     again = rb.load(f"{folder}/or.model")
    >>> again
    Perceptron()
    """
    from rosenblatt.models.steps import put_together

    stored = open_model(path)
    model = put_together(stored.preparation, stored.estimator())
    if stored.calibration is None:
        return model
    from rosenblatt.estimators.calibrated import CalibratedModel

    return CalibratedModel.of(model, stored.calibration)


def _name(name: Any, context: Context) -> Any:
    told = SCALAR.encode(name, "feature_names", context)
    if told is None or isinstance(told, dict):
        wrong("feature_names", f"has the name {name!r}, which no model file can hold")
    return told


def _classes_of(model: Any) -> Any:
    return vars(model).get("_classes", getattr(model, "classes_", None))


def _require_trained(model: Any) -> None:
    if not model.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {registry.name_of(model)} is not trained yet, so there is nothing to save.")
