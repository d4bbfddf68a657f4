"""Saving and loading models: one file each, from which nothing is ever executed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from rosenblatt import registry
from rosenblatt.exceptions import ParameterError
from rosenblatt.schema.codecs import Context, UnsoundError, wrong
from rosenblatt.schema.container import write_container
from rosenblatt.schema.plain import SCALAR, write_labels
from rosenblatt.storage.provenance import made_by
from rosenblatt.storage.stored import FORMAT, PARAMETER, PREPROCESSING, SCHEMA, names_of, open_model

__all__ = ["load", "save"]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    recipe: Any = None,
    filling: Any = None,
    scaling: Any = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a trained estimator to a file, from which `load` makes the same one.

    The file is a safetensors file; ``docs/model_files.md`` tells what is in it. It is written whole or not at all:
    after an error, or a crash, what stood there before is as it was.

    Parameters
    ----------
    model : estimator of this package
        Trained. Streams under way are saved as they are, and go on after loading with the same bits as without.
    path : str or path
        The file; any name will do.
    recipe, filling, scaling : None, dict, or object with ``to_json()``
        How columns of data files become features, the means that stand for what is missing, and how features were
        standardised: kept for whoever predicts from such files.
    provenance : mapping or None
        Where the model comes from, such as the hash of its data; versions and the time are added.

    Raises
    ------
    ParameterError
        If the model is of another package, or holds what no file can: functions (callable kernels, orders,
        callbacks), generators of random numbers, labels that are neither numbers nor texts.
    StorageError
        If the file cannot be written.

    Notes
    -----
    Of the record of a fit the mistakes themselves are kept up to 65,536 of them; of a longer one the counts and
    the curve are, and ``trace_`` of the loaded model says so. A stream's record is kept as it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from rosenblatt import Perceptron
    >>> clf = Perceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/or.model")
    ...     load(f"{folder}/or.model").predict([[0, 0], [0, 1]])
    array(['no', 'yes'], dtype='<U3')
    """
    name = type(model).__name__
    if not registry.is_registered(model):
        raise ParameterError(
            f"model={model!r} cannot be saved: {name} is not a registered learner. Call rosenblatt.register on a "
            "class of your own first; of a pipeline, save its parts."
        )
    _require_trained(model)
    context = Context(names=names_of(model), classes=_classes_of(model))
    try:
        classes = None if context.classes is None else write_labels(context.classes, "classes")
        names = None
        if context.names is not None:
            names = [_name(each, context) for each in context.names]
            context.names = tuple(names)
        made = registry.declared(model).state.encode(model, "", context)
        preprocessing = {
            each: PARAMETER.encode(_as_json(value), f"preprocessing.{each}", context)
            for each, value in zip(PREPROCESSING, (recipe, filling, scaling), strict=True)
        }
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
        "preprocessing": preprocessing,
        "provenance": told,
    }
    write_container(path, document, context.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a trained estimator from a file that `save` wrote.

    Nothing in the file is executed. It is checked against its checksum, and every part of it against all others,
    before an estimator is made.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Of the class that was saved, with the same parameters and the same bits. Where its rows were brought to
        scale first (``rosenblatt train --scale`` with a learner that is not linear), so must those be that it
        predicts: a warning says so.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or contradicts itself.
    """
    stored = open_model(path)
    if stored.scaling is not None:
        warnings.warn(
            f"{path} was trained on rows brought to scale, which the estimator alone does not do: standardise X "
            "as the scaling of storage.open_model says before it predicts, or predict with 'rosenblatt predict'.",
            stacklevel=2,
        )
    return stored.estimator()


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

        raise NotFittedError(f"This {type(model).__name__} is not trained yet, so there is nothing to save.")


def _as_json(value: Any) -> Any:
    return value.to_json() if hasattr(value, "to_json") else value
