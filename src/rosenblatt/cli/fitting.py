"""From blocks of rows to a trained estimator, with what must be done to rows before it predicts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rosenblatt.blocks.scaled import transformed
from rosenblatt.cli.learners import make_learner
from rosenblatt.columns.preparation import Preparation, encoding_of
from rosenblatt.columns.recipe import Recipe
from rosenblatt.columns.scaling import Transformation
from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import encode_labels
from rosenblatt.evaluation import Evaluation, evaluate
from rosenblatt.registry import abilities

if TYPE_CHECKING:
    from rosenblatt.blocks.memory import Blocks

__all__ = ["Trained", "fit_prepared", "fit_rows", "learns_from_blocks", "preparation"]


@dataclass(frozen=True, eq=False)
class Trained:
    """An estimator, and what is left to be done to rows before it predicts them.

    Attributes
    ----------
    estimator : estimator
        What was trained.
    before : Transformation
        To be done first; hyperplanes are those of features as they are, so that no scaling is left.
    """

    estimator: Any
    before: Transformation

    def preparation(self, blocks: Blocks) -> Preparation:
        """Return all that is done to data like these blocks before the estimator predicts them."""
        told = blocks.facts.get("recipe")
        recipe = None if told is None else Recipe.from_json(told)
        encoding = encoding_of(recipe, self.before, blocks.names, blocks.n_features)
        return Preparation(() if encoding is None else (encoding,))

    def evaluate(self, batch: Batch) -> Evaluation:
        """Compare predictions with labels, of all classes that the batch knows."""
        from rosenblatt.storage.prediction import EstimatorPredictor

        labels = EstimatorPredictor(self.estimator, batch.names).predict(self.before.features(batch))
        return evaluate(batch.codes, encode_labels(labels, batch.classes, batch.n_rows), batch.classes)


def preparation(blocks: Blocks, *, fill: bool, scale: bool) -> Transformation:
    """Return what is done to rows before training, by the means and deviations of blocks."""
    from rosenblatt.blocks.collect import measure

    return Transformation.of(measure(blocks), fill=fill, scale=scale) if fill or scale else Transformation()


def fit_rows(learner: str, parameters: dict[str, Any], batch: Batch, *, fill: bool, scale: bool) -> Trained:
    """Train on rows in memory, prepared by their own means and deviations."""
    from rosenblatt.blocks.memory import MemoryBlocks

    blocks = MemoryBlocks(batch)
    prepare = preparation(blocks, fill=fill, scale=scale)
    return fit_prepared(make_learner(learner, parameters), transformed(blocks, *prepare), prepare)


def fit_prepared(estimator: Any, blocks: Any, done: Transformation, **checkpoints: Any) -> Trained:
    """Train on blocks to which something was done; hyperplanes become those of features as they are."""
    if learns_from_blocks(estimator):
        estimator.fit_blocks(blocks, **checkpoints)
        return Trained(estimator, done._replace(scaling=None))
    batch: Batch = blocks.batch
    estimator.fit(batch.native(), batch.classes[batch.codes])
    if done.scaling is not None and "linear" in abilities(estimator):
        estimator.unscale(done.scaling)
        done = done._replace(scaling=None)
    return Trained(estimator, done)


def learns_from_blocks(estimator: Any) -> bool:
    """Whether rows need not all be in memory."""
    return "blocks" in abilities(estimator)
