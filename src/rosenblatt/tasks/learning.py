"""The steps of training from files: the learner, what is done to rows, the fit, and how good it is."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from rosenblatt import registry
from rosenblatt.calibration import DEFAULT_FOLDS, Calibration, fit_calibration, size_of
from rosenblatt.estimators.perceptron_core import BareParameters
from rosenblatt.evaluation import Evaluation, RegressionEvaluation
from rosenblatt.evaluation import evaluate as compare
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.learning.scaled import transform_blocks
from rosenblatt.models.stored import EstimatorPredictor
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.labels import encode_labels
from rosenblatt.rows.pairs import PairEvaluation
from rosenblatt.tables.blocks import Blocks, MemoryBlocks
from rosenblatt.tables.collect import measure
from rosenblatt.tables.recipe import Recipe
from rosenblatt.tables.scaling import Transformation
from rosenblatt.tables.source import Source
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import Floats


def make_learner(name: str, parameters: Mapping[str, Any], *, bare: bool = False) -> Any:
    """Return the estimator with a name of the registry.

    Parameters
    ----------
    name : str
        A name that ``rosenblatt train --learner`` takes.
    parameters : mapping
        Its parameters; `random_state` is ignored if nothing about the learner is random.
    bare : bool
        Whether it may be a learner without scikit-learn, such as a `BarePerceptron`.

    Examples
    --------
    >>> make_learner("averaged", {"eta0": 0.5, "random_state": 0})
    Perceptron(average=True, eta0=0.5)
    """
    kind, fixed = registry.command(name, bare=bare)
    estimator = kind(**fixed)
    known = estimator.get_params(deep=False)
    for parameter in parameters:
        if parameter == "random_state" and parameter not in known:
            continue
        if parameter in fixed:
            raise ParameterError(
                f"The learner {name} always sets {parameter}={fixed[parameter]}. Use another learner."
            )
        if parameter not in known or parameter == "callbacks":
            near = get_close_matches(parameter, known, 1)
            having = [each for each in registry.commands() if parameter in _parameters_of(each)]
            hint = f"It takes {', '.join(sorted(known))}."
            if having and parameter != "callbacks":
                hint = f"It is a parameter of {', '.join(having)}."
            elif near:
                hint = f"Did you mean {near[0]}?"
            raise ParameterError(f"The learner {name} has no parameter {parameter}. {hint}")
    return estimator.set_params(**{key: value for key, value in parameters.items() if key in known})


def parameters_of(settings: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that texts of the form NAME=VALUE set.

    A value is JSON or, if it is not valid JSON, text. A kernel is named as `kernel_of` reads it.

    Examples
    --------
    >>> parameters_of(["eta0=0.5", "bias=None", "order=cyclic"])
    {'eta0': 0.5, 'bias': None, 'order': 'cyclic'}
    """
    parameters = dict(map(_setting, settings))
    if isinstance(parameters.get("kernel"), str):
        parameters["kernel"] = kernel_of(parameters["kernel"])
    return parameters


def kernel_of(text: str) -> Any:
    """Return a kernel by its name, with its parameters in parentheses.

    Examples
    --------
    >>> kernel_of("polynomial(degree=3, c=1)")
    Polynomial(degree=3, c=1)
    """
    from rosenblatt.kernels.values import NAMED

    # A file holds rows, not their kernel values.
    named = {
        name: kernel for name, kernel in NAMED.items() if name != "precomputed"
    }  # a file holds rows, not their kernel values
    kind, _, inside = text.partition("(")
    if kind not in named or (inside and not inside.endswith(")")):
        raise ParameterError(f"{text!r} is not a kernel. Use {', '.join(named)}, as in 'rbf(gamma=0.5)'.")
    try:
        given = dict(_setting(part.strip()) for part in inside[:-1].split(",") if part.strip())
        return named[kind](**given)
    except (TypeError, InputError) as error:
        raise ParameterError(f"{text!r}: {error}") from error


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"{text!r} must be NAME=VALUE, such as alpha=0.01.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, {"None": None, "True": True, "False": False}.get(value, value)


def _parameters_of(name: str) -> Any:
    kind, fixed = registry.command(name)
    return kind(**fixed).get_params(deep=False).keys() - fixed.keys()


def named_learner(
    learner: Any, parameters: Mapping[str, Any] | None, seed: int, *, bare: bool = False
) -> tuple[str, Any]:
    """Return the name of a learner, and an estimator that can be trained; for `bare` see `make_learner`."""
    if isinstance(learner, str):
        return learner, make_learner(learner, {"random_state": seed} | dict(parameters or {}), bare=bare)
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        named = learner if isinstance(learner, type) else type(learner)
        kind = f"{'the class' if named is learner else 'of type'} {named.__name__}"
        raise ParameterError(
            f"learner is {kind}, but must be the name of a learner or an estimator. Labels are a column of the "
            "data; pass arrays of rows and labels to the fit of an estimator, such as Perceptron().fit(X, y)."
        )
    if parameters:
        raise ParameterError("parameters are for a learner given by name. Set them on the estimator.")
    from sklearn.base import clone

    return type(learner).__name__, clone(learner)


def learns_from_blocks(estimator: Any) -> bool:
    """Return whether an estimator learns from data that need not fit into memory."""
    return "blocks" in registry.abilities(estimator)


def is_regression(estimator: Any) -> bool:
    """Return whether an estimator predicts numbers, not classes."""
    if isinstance(estimator, BareParameters):  # scikit-learn is not loaded for these
        return False
    from sklearn.base import is_regressor

    return getattr(estimator, "task", None) == "regression" or is_regressor(estimator) or takes_groups(estimator)


def takes_groups(estimator: Any) -> bool:
    """Return whether an estimator ranks rows within their groups."""
    return "groups" in registry.abilities(estimator)


def keeps_checkpoints(estimator: Any) -> bool:
    """Return whether a fit of an estimator can go on from a checkpoint."""
    return "checkpoints" in registry.abilities(estimator)


def preparation(blocks: Blocks, recipe: Recipe | None, *, fill: bool, scale: bool) -> Transformation:
    """Return the transformation of rows before training, by the means and deviations of these rows.

    Of a table only the numbers are scaled: the `recipe` says how many features these are.
    """
    if not (fill or scale):
        return Transformation()
    numbers = None if recipe is None else recipe.n_numbers
    return Transformation.of(measure(blocks), fill=fill, scale=scale, numbers=numbers)


def scales_by_default(source: Source) -> bool:
    """Return whether the command line standardises a source: one of measurements, and no worked example."""
    return source.measured


def fit_prepared(estimator: Any, blocks: Any, groups: Any = None, **checkpoints: Any) -> None:
    """Train on transformed blocks; `groups` are those of the rows, for a learner that ranks them."""
    if learns_from_blocks(estimator):
        estimator.fit_blocks(blocks, **checkpoints)
    else:
        batch: Batch = blocks.whole
        own = {"qid": groups} if takes_groups(estimator) else {}
        estimator.fit(batch.native(), batch.classes[batch.codes], **own)


def unscaled(estimator: Any, done: Transformation) -> Transformation:
    """Return what must still be done to rows before a trained estimator predicts them.

    Hyperplanes are turned into those of unscaled features, so that no scaling is left to do.
    """
    if learns_from_blocks(estimator):
        return done._replace(scaling=None)
    if done.scaling is not None and "linear" in registry.abilities(estimator):
        estimator.unscale(done.scaling)
        return done._replace(scaling=None)
    return done


def evaluate_predictions(
    estimator: Any, before: Transformation, batch: Batch, *, positive: int | None = None, groups: Any = None
) -> Evaluation | RegressionEvaluation | PairEvaluation:
    """Compare predictions with labels, for all classes of the batch, or with numbers."""
    labels = EstimatorPredictor(estimator, batch.names).predict(before.features(batch))
    if takes_groups(estimator):
        return PairEvaluation.of(batch.classes[batch.codes], labels, groups)
    if is_regression(estimator):
        return RegressionEvaluation.of(batch.classes[batch.codes], labels)
    predicted = encode_labels(labels, batch.classes, batch.n_rows)
    return compare(batch.codes, predicted, batch.classes, positive=positive)


def decision_of(estimator: Any, before: Transformation, batch: Batch) -> Floats:
    """Return the decision scores of rows."""
    return np.asarray(EstimatorPredictor(estimator, batch.names).decision(before.features(batch)), np.float64)


def calibrate_by_folds(
    again: Callable[[], Any], blocks: MemoryBlocks, method: str, size: float, **prepare: Any
) -> Calibration:
    """Return the calibration of a learner, from the scores of folds that its copies were not trained on."""
    from sklearn.exceptions import ConvergenceWarning

    from rosenblatt.tasks.evaluating import deal

    batch = blocks.whole
    fold_of = deal(batch.codes, DEFAULT_FOLDS, seed=0)

    def scores_of(fold: int) -> Floats:
        _, estimator = again()
        rows = MemoryBlocks(batch.take(fold_of != fold))
        before = preparation(rows, **prepare)
        fit_prepared(estimator, transform_blocks(rows, *before))
        found = decision_of(estimator, unscaled(estimator, before), batch)
        return np.asarray(found[fold_of == fold] / size_of(found))

    scores: Any = None
    with warnings.catch_warnings(), using(None, batch.stored), one_blas_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all rows has told of it
        for fold, found in enumerate(ordered(scores_of, range(DEFAULT_FOLDS), foreign=True)):
            scores = np.empty((batch.n_rows, *found.shape[1:])) if scores is None else scores
            scores[fold_of == fold] = found
    return fit_calibration(scores, batch.codes, method=method, scale=size)
