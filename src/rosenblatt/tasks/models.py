"""Models given as a file or as an object, and the data they read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rosenblatt.columns.source import Source
from rosenblatt.exceptions import ModelFileError
from rosenblatt.schema.container import LARGEST_HEADER
from rosenblatt.storage.opened import OpenedModel
from rosenblatt.storage.stored import StoredModel
from rosenblatt.tasks.data import Data, open_places, places_of, read_options, require_no_options

__all__ = ["TAGGER", "is_tagger", "opened_model", "source_for"]

TAGGER = "SequencePerceptron"
"""The learner of sentences, by name: files are told apart without importing it."""


def opened_model(model: Any) -> OpenedModel:
    """Return a model ready to read files: from its file, or from the estimator or pipeline in memory."""
    if isinstance(model, OpenedModel):
        return model
    if not isinstance(model, str | os.PathLike):
        return OpenedModel.of(model)
    if not _begins_as_a_model(model):
        raise ModelFileError(f"{os.fspath(model)} is not a model file; the order is MODEL DATA.")
    return OpenedModel.open(model)


def _begins_as_a_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a safetensors file does: with a length, and an object of JSON."""
    with open(path, "rb") as file:
        head = file.read(9)
    return len(head) < 9 or (int.from_bytes(head[:8], "little") <= LARGEST_HEADER and head[8:] == b"{")


def is_tagger(model: Any) -> bool:
    """Return whether a model, given as an estimator or as an opened file, labels sentences."""
    if isinstance(model, OpenedModel):
        return isinstance(model.stored, StoredModel) and model.stored.learner == TAGGER
    return type(model).__name__ == TAGGER


def source_for(model: OpenedModel, data: Data, options: Mapping[str, Any], *, labelled: bool = True) -> Source:
    """Open data in the same way as the training data of a model was read."""
    if not isinstance(data, Source):
        source: Source = model.source(
            places_of(data), read_options(options), labelled=labelled, opener=open_places
        )
        return source
    require_no_options(options)
    return data
