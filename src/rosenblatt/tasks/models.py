"""Models given as a file or as an object, and the data they read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rosenblatt.columns.source import Source
from rosenblatt.storage.opened import OpenedModel
from rosenblatt.tasks.data import Data, open_places, places_of, read_options, require_no_options

__all__ = ["opened_model", "source_for"]


def opened_model(model: Any) -> OpenedModel:
    """Return a model ready to read files: from its file, or from the estimator or pipeline in memory."""
    if isinstance(model, OpenedModel):
        return model
    return OpenedModel.open(model) if isinstance(model, str | os.PathLike) else OpenedModel.of(model)


def source_for(model: OpenedModel, data: Data, options: Mapping[str, Any], *, labelled: bool = True) -> Source:
    """Open data in the same way as the training data of a model was read."""
    if not isinstance(data, Source):
        source: Source = model.source(
            places_of(data), read_options(options), labelled=labelled, opener=open_places
        )
        return source
    require_no_options(options)
    return data
