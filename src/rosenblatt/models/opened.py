"""A model file opened for prediction; scikit-learn is loaded only where its learner needs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.calibration import Calibration
from rosenblatt.evaluation import Evaluation, RegressionEvaluation, Seen, class_code, evaluate
from rosenblatt.exceptions import Given, LabelError, ParameterError, Remedy
from rosenblatt.models.files import EstimatorPredictor, Predictor, StoredModel, names_of, open_model
from rosenblatt.parameters import UNUSED
from rosenblatt.registry import abilities, is_registered
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features
from rosenblatt.rows.labels import encode_labels
from rosenblatt.rows.pairs import PairEvaluation
from rosenblatt.tables.preparation import Encoding, Preparation
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.typing import Floats, MatrixLike

Opener = Callable[[Sequence[str], Options, Recipe | None], Any]
"""Takes places, options and a recipe, and returns a source of rows."""


def _open_files(places: Sequence[str], options: Options, recipe: Recipe | None) -> Any:
    from rosenblatt.tables.file_source import open_source

    return open_source(places, options, recipe)


@dataclass(frozen=True, eq=False)
class HeldModel:
    """A trained model in memory, with the members of a `StoredModel` that prediction needs."""

    preparation: Preparation  # what is done to data before the learner sees it
    learner: Any  # the trained learner
    calibration: Calibration | None = None  # the curves from its scores to probabilities

    path = "the model"
    provenance: ClassVar[dict[str, Any]] = {}

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """The names of the features."""
        return names_of(self.learner)

    def estimator(self) -> Any:
        """Return the learner."""
        return self.learner

    def predictor(self) -> EstimatorPredictor:
        """Return the learner for prediction."""
        return EstimatorPredictor(self.learner, None if self.preparation.steps else self.feature_names)


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A model: its preparation and its learner, ready to predict.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     rb.save(rb.Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), f"{folder}/m")
    ...     model = OpenedModel.open(f"{folder}/m")
    >>> model.predict([[2.0]])
    array(['yes'], dtype='<U3')
    """

    stored: StoredModel | HeldModel  # the file, or the model in memory

    @classmethod
    def of(cls, model: Any) -> OpenedModel:
        """Return a trained estimator of this package, or a pipeline that ends in one, ready to read files."""
        from sklearn.utils.validation import check_is_fitted

        from rosenblatt.estimators._features import ReadsTables
        from rosenblatt.estimators.calibrated import CalibratedModel
        from rosenblatt.models.files import is_search, take_apart

        calibration = None
        if isinstance(model, CalibratedModel):
            check_is_fitted(model)
            model, calibration = model.model_, model.calibration_
        preparation, learner = take_apart(model)
        if not isinstance(learner, ReadsTables):
            name = type(learner).__name__
            if is_search(learner):
                told = f"model is a {name}, which searches for a model. Pass its best_estimator_."
                raise ParameterError(told, parameter="model")
            lacks = "does not read tables" if is_registered(learner) else "is no learner of this package"
            raise ParameterError(
                f"model is a {name}, which {lacks}. Pass a classifier of this package, a pipeline that ends in "
                "one, the model of a TrainingResult, or the path of a model file.",
                parameter="model",
            )
        check_is_fitted(learner)
        learner = learner._without_names() if preparation.steps else learner
        return cls(HeldModel(preparation, learner, calibration))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> OpenedModel:
        """Read a model file; raise `ModelFileError` if it is none, or damaged."""
        model = cls(open_model(path))
        _ = model.preparation
        return model

    @property
    def preparation(self) -> Preparation:
        """What is done to data before the learner sees it."""
        return self.stored.preparation

    @property
    def recipe(self) -> Recipe | None:
        """How columns become features; None where the data must be features already."""
        return self.preparation.recipe

    @cached_property
    def predictor(self) -> Predictor | EstimatorPredictor:
        """The learner."""
        return self.stored.predictor()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features that the learner sees, where they have any."""
        return self.preparation.names if self.preparation.steps else self.stored.feature_names

    def source(
        self,
        places: Sequence[str],
        options: Options | None = None,
        *,
        labelled: bool = False,
        opener: Opener = _open_files,
    ) -> Any:
        """Open files as the training data was read: columns and their use come from the model."""
        options = Options() if options is None else options
        recipe = self.recipe
        if recipe is not None:
            _require_as_trained(options, recipe)
        elif not options.features:
            recipe = self._by_name
        return opener(places, replace(options, labelled=labelled), recipe)

    @property
    def _by_name(self) -> TableRecipe | None:
        """The recipe of features that a model without one knows by name."""
        steps = self.preparation.steps
        names = (steps[0].columns if steps else self.stored.feature_names) or ()
        named = names and all(isinstance(name, str) for name in names)
        return TableRecipe.of_numbers(names, len(names)) if named else None

    def seen(self, n_rows: int, fingerprint: Callable[[], str]) -> Seen | None:
        """Return whether the learner was trained on some rows; None if the model does not know its training data.

        `fingerprint` is called only if the number of rows could be that of the training data.
        """
        known = self.stored.provenance
        if "data" not in known:
            return None
        held_out = known.get("all_data") is not None and n_rows > known.get("rows", 0)
        if n_rows != known.get("rows", n_rows) and not held_out:
            return "other"
        found = fingerprint()
        if known["data"] == found:
            return "all"
        return "some" if known.get("all_data") == found else "other"

    def features(self, X: MatrixLike) -> Features:
        """Return data in memory as the learner sees it, its columns by name, or else by position."""
        return self.preparation.read(X)

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the label, or the number, of every row of data in memory."""
        return self.predictor.predict(self.features(X))

    def decision(self, X: MatrixLike) -> NDArray[Any]:
        """Return the scores by which labels are chosen: one a row for two classes, else one for each class."""
        return self.predictor.decision(self.features(X))

    def probabilities(self, features: Features) -> Floats:
        """Return the probability of each class for rows as the learner sees them.

        Raises
        ------
        ParameterError
            If the model was not calibrated.
        """
        if self.stored.calibration is not None:
            return self.stored.calibration.probabilities(self.predictor.decision(features))
        found = self.predictor.probabilities(features) if isinstance(self.predictor, EstimatorPredictor) else None
        if found is None:
            raise ParameterError(
                f"{self.stored.path} has no probabilities. Train it with "
                + Remedy("probabilities")
                + ", or use rosenblatt.calibrate.",
                code="no-probabilities",
                parameter="probabilities",
            )
        return found

    def evaluate(self, source: Any, positive: Any = None) -> Evaluation | RegressionEvaluation | PairEvaluation:
        """Compare predictions with the labels of a source, some rows at a time."""
        classes = self.predictor.classes
        if isinstance(self.predictor, EstimatorPredictor) and "groups" in abilities(self.predictor.estimator):
            return self._ranked(source)
        code = None if positive is None or classes is None else class_code(positive, classes)
        ranks = classes is not None and (code is not None or len(classes) == 2) and self.predictor.has_scores
        total: Any = None
        found: Evaluation | RegressionEvaluation
        for batch in source.chunks():
            features = self.preparation.features(batch)
            predicted = self.predictor.predict(features)
            if classes is None:
                found = RegressionEvaluation.of(_numbers(batch, source), predicted)
            else:
                codes = encode_labels(predicted, classes, features.n_rows)
                scores = self.predictor.decision(features) if ranks and (total is None or total.ranking) else None
                truth = _codes(batch, classes, source)
                found = evaluate(truth, codes, classes, positive=code, scores=scores)
            total = found if total is None else total.merged(found)
        assert total is not None, "a source has rows"
        return total  # type: ignore[no-any-return]

    def _ranked(self, source: Any) -> PairEvaluation:
        """Compare the scores of all rows with the order they should have within their groups."""
        scores, numbers = [], []
        for batch in source.chunks():
            scores.append(self.predictor.predict(self.preparation.features(batch)))
            numbers.append(_numbers(batch, source))
        return PairEvaluation.of(np.concatenate(numbers), np.concatenate(scores), source.groups)

    def table(self, batch: Batch, source: Any) -> tuple[Any, NDArray[Any]]:
        """Return all rows of a source as the learner sees them, and their labels as classes of the model."""
        classes = self.predictor.classes
        assert classes is not None, "a report is of a classifier"
        labels = classes[_codes(batch, classes, source)]
        kept = all(isinstance(step, Encoding) and not step.changes(batch) for step in self.preparation.steps)
        return (batch if kept else self.preparation.features(batch)).native(), labels


def _require_as_trained(options: Options, recipe: Recipe) -> None:
    """Refuse options that would be ignored: the model knows which columns there are, and how they are used."""
    usual = Options()
    for name in (
        "features",
        "ignore",
        "text",
        "categorical",
        "hashed",
        "ngrams",
        "weighting",
        "bits",
        "vocabulary",
    ):
        if getattr(options, name) != getattr(usual, name):
            told = "the model reads columns as it did in training. Drop " + Given(name) + "."
            raise ParameterError(told, code=UNUSED, value=getattr(options, name))
    filled = recipe.missing if isinstance(recipe, TableRecipe) else "error"
    if filled != "error" and options.missing not in ("error", filled):
        given = Given("missing", options.missing)
        raise ParameterError("the model was trained with " + Remedy("missing", filled) + ". Drop " + given + ".")


def _numbers(batch: Batch, source: Any) -> NDArray[Any]:
    """Return the true values of a regression."""
    labels = batch.labels
    if labels.dtype.kind not in "iuf":
        raise LabelError(
            f"{source.files[0]}: the target holds {labels[0]!s}, but the model predicts numbers. Choose the "
            "column of numbers with " + Remedy("target") + ".",
            code="names-as-numbers",
            value=str(labels[0]),
        )
    return labels


def _codes(batch: Batch, classes: NDArray[Any], source: Any) -> Any:
    """Return labels as positions among classes; numbers and truth values are compared with texts as written."""
    labels = batch.classes
    if classes.dtype.kind == "U" and labels.dtype.kind != "U":
        labels = labels.astype(np.str_)
    elif classes.dtype.kind == "b" and labels.dtype.kind == "U":
        lowered = np.char.lower(labels)
        labels = lowered == "true" if np.isin(lowered, ["true", "false"]).all() else labels
    unknown = labels[batch.codes[~np.isin(labels, classes)[batch.codes]]]
    if len(unknown):
        known = ", ".join(map(str, classes[:20].tolist())) + (", …" if len(classes) > 20 else "")
        more = f" and {len(source.files) - 1} more" if len(source.files) > 1 else ""
        raise LabelError(
            f"{source.files[0]}{more}: the label {unknown[0]!s} is not a class of the model, whose classes are "
            f"{known}. Leave such rows out, or train on them."
        )
    return encode_labels(labels, classes, len(labels))[batch.codes]
