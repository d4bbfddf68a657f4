"""MODEL on the command line: opened without executing anything, with what its rows must go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.scaling import Filling, Scaling, Transformation
from rosenblatt.cli.data import open_data, remark_on_source, shown
from rosenblatt.cli.output import Output
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import Recipe
from rosenblatt.data.features import Features
from rosenblatt.data.labels import encode_labels
from rosenblatt.evaluation import Evaluation, evaluate
from rosenblatt.exceptions import LabelError, ModelFileError, ParameterError
from rosenblatt.storage.stored import StoredModel, open_model

__all__ = ["Model", "as_codes", "measure"]


@dataclass(frozen=True, eq=False)
class Model:
    """A model file, and how to bring rows before it.

    Attributes
    ----------
    stored : StoredModel
        What the file says.
    recipe : Recipe or None
        How columns become features; None of models that were not trained from files.
    before : Transformation
        What is done to rows before they are predicted.
    """

    stored: StoredModel
    recipe: Recipe | None
    before: Transformation

    @classmethod
    def open(cls, path: str) -> Model:
        """Read a model file."""
        stored = open_model(path)
        try:
            recipe = None if stored.recipe is None else Recipe.from_json(stored.recipe)
            before = Transformation(
                None if stored.filling is None else Filling.from_json(stored.filling),
                None if stored.scaling is None else Scaling.from_json(stored.scaling),
            )
        except ModelFileError as error:
            raise ModelFileError(f"{path} is no model that can be used: {error}") from error
        return cls(stored, recipe, before)

    def source(self, data: Sequence[str], options: Options, *, labelled: bool) -> Any:
        """Open DATA as the model's own data was read."""
        if self.recipe is not None:
            _require_as_trained(options, self.recipe)
        options = replace(options, labelled=labelled)
        return open_data(data, options, self.recipe, () if self.recipe else self._columns)

    @property
    def _columns(self) -> tuple[str, ...]:
        names = self.stored.feature_names or ()
        return names if all(isinstance(name, str) for name in names) else ()

    def rows(self, source: Any) -> Iterator[tuple[Features, NDArray[Any] | None]]:
        """Yield rows, as the model takes them, and their labels."""
        for chunk in source.chunks():
            yield self.before.features(chunk.features), chunk.labels

    def table(self, source: Any) -> tuple[Any, NDArray[Any]]:
        """Return all rows at once, as the model takes them, and their labels as its classes."""
        from rosenblatt.data.features import stacked

        parts = list(self.rows(source))
        classes = self.stored.predictor().classes
        labels = [
            classes[as_codes(each, classes, source.files)]
            for _, each in parts
            if each is not None and classes is not None
        ]
        return stacked([features for features, _ in parts]).native(), np.concatenate(labels)


def measure(model: Model, data: Sequence[str], options: Options, output: Output) -> Evaluation:
    """Compare the predictions of a model with the labels of DATA, chunk by chunk."""
    source = model.source(data, options, labelled=True)
    predictor = model.stored.predictor()
    classes = predictor.classes
    if classes is None:
        raise LabelError(f"{model.stored.path} predicts no classes, so there is nothing to compare labels with.")
    total = None
    for features, labels in model.rows(source):
        assert labels is not None, "a labelled source has labels"
        predicted = encode_labels(predictor.predict(features), classes, features.n_rows)
        found = evaluate(as_codes(labels, classes, data), predicted, classes)
        total = found if total is None else total.merged(found)
    assert total is not None, "a source has rows"
    remark_on_source(source, output)
    return total


def _require_as_trained(options: Options, recipe: Recipe) -> None:
    """Refuse options that would be ignored: the model says which columns there are, and what becomes of them."""
    usual = Options()
    for name in ("features", "ignore", "text", "categorical", "hashed", "ngrams", "bits", "vocabulary"):
        if getattr(options, name) != getattr(usual, name):
            raise ParameterError(f"the model reads columns as it did in training. Drop --{name}.")
    filled = getattr(recipe, "missing", "error")
    if filled != "error" and options.missing not in ("error", filled):
        raise ParameterError(f"the model was trained with --missing {filled}. Drop --missing {options.missing}.")


def as_codes(labels: NDArray[Any], classes: NDArray[Any], data: Sequence[str]) -> Any:
    """Return labels of DATA as positions among classes; numbers are compared with texts as they are written."""
    if classes.dtype.kind in "U" and labels.dtype.kind not in "U":
        labels = labels.astype(np.str_)
    unknown = labels[~np.isin(labels, classes)]
    if len(unknown):
        known = ", ".join(map(str, classes[:20].tolist())) + (", …" if len(classes) > 20 else "")
        raise LabelError(
            f"{shown(data)}: the label {unknown[0]!s} is no class of the model, which knows {known}. "
            "Leave such rows out, or train on them."
        )
    return encode_labels(labels, classes, len(labels))
