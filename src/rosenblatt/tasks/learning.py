"""The steps of training from files: the learner, what is done to rows, the fit, and how good it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from rosenblatt import registry
from rosenblatt.blocks.collect import measure
from rosenblatt.blocks.memory import Blocks, MemoryBlocks
from rosenblatt.blocks.scaled import transformed
from rosenblatt.calibration import FOLDS, Calibration, calibrated_on, size_of
from rosenblatt.columns.recipe import Recipe, TableRecipe
from rosenblatt.columns.scaling import Transformation
from rosenblatt.columns.source import Source
from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import encode_labels
from rosenblatt.data.pairs import PairEvaluation
from rosenblatt.estimators.perceptron_core import BareParameters
from rosenblatt.evaluation import Evaluation
from rosenblatt.evaluation import evaluate as compare
from rosenblatt.exceptions import ParameterError
from rosenblatt.regression_evaluation import RegressionEvaluation
from rosenblatt.storage.prediction import EstimatorPredictor
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


def _parameters_of(name: str) -> Any:
    kind, fixed = registry.command(name)
    return kind(**fixed).get_params(deep=False).keys() - fixed.keys()


def named_learner(
    learner: Any, parameters: Mapping[str, Any] | None, seed: int, *, bare: bool = False
) -> tuple[str, Any]:
    """Return the name of a learner, and an estimator that can be trained; for `bare` see `make_learner`."""
    if isinstance(learner, str):
        return learner, make_learner(learner, {"random_state": seed} | dict(parameters or {}), bare=bare)
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
    return learns_from_blocks(estimator) and "checkpoint" in signature(estimator.fit_blocks).parameters


def preparation(blocks: Blocks, recipe: Recipe | None, *, fill: bool, scale: bool) -> Transformation:
    """Return the transformation of rows before training, by the means and deviations of these rows.

    Of a table only the numbers are scaled: the `recipe` says how many features these are.
    """
    if not (fill or scale):
        return Transformation()
    numbers = None if recipe is None else recipe.n_numbers
    return Transformation.of(measure(blocks), fill=fill, scale=scale, numbers=numbers)


def scales_by_default(source: Source) -> bool:
    """Return whether the command line standardises a source: a table of a file, and no built-in set."""
    return isinstance(source.recipe, TableRecipe)


def fit_prepared(estimator: Any, blocks: Any, groups: Any = None, **checkpoints: Any) -> None:
    """Train on transformed blocks; `groups` are those of the rows, for a learner that ranks them."""
    if learns_from_blocks(estimator):
        estimator.fit_blocks(blocks, **checkpoints)
    else:
        batch: Batch = blocks.batch
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


def evaluated(
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


def calibrated_by_folds(
    again: Callable[[], Any], blocks: MemoryBlocks, method: str, size: float, **prepare: Any
) -> Calibration:
    """Return the calibration of a learner, from the scores of folds that its copies were not trained on."""
    from sklearn.exceptions import ConvergenceWarning

    from rosenblatt.tasks.evaluating import deal

    batch = blocks.batch
    fold_of = deal(batch.codes, FOLDS, seed=0)

    def scores_of(fold: int) -> Floats:
        _, estimator = again()
        rows = MemoryBlocks(batch.take(fold_of != fold))
        before = preparation(rows, **prepare)
        fit_prepared(estimator, transformed(rows, *before))
        found = decision_of(estimator, unscaled(estimator, before), batch)
        return np.asarray(found[fold_of == fold] / size_of(found))

    scores: Any = None
    with warnings.catch_warnings(), using(None, batch.stored), one_blas_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all rows has told of it
        for fold, found in enumerate(ordered(scores_of, range(FOLDS), foreign=True)):
            scores = np.empty((batch.n_rows, *found.shape[1:])) if scores is None else scores
            scores[fold_of == fold] = found
    return calibrated_on(scores, batch.codes, method=method, scale=size)
