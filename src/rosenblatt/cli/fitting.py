"""From blocks of rows to a trained estimator, with what must be done to rows before it predicts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.learners import make_learner
from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features
from rosenblatt.data.labels import encode_labels
from rosenblatt.evaluation import Evaluation, evaluate

if TYPE_CHECKING:
    from rosenblatt.engines.blocks import Blocks
    from rosenblatt.engines.scaling import Filling, Scaling

__all__ = ["Preparation", "Trained", "fit_rows"]


@dataclass(frozen=True, eq=False)
class Preparation:
    """What is done to rows: missing numbers filled with means, then features brought to scale.

    Attributes
    ----------
    filling, scaling : Filling or None, Scaling or None
        Either may be missing.
    """

    filling: Filling | None
    scaling: Scaling | None

    @classmethod
    def of(cls, blocks: Blocks, *, fill: bool, scale: bool) -> Preparation:
        """Return the preparation by the means and deviations of blocks."""
        if not fill and not scale:
            return cls(None, None)
        from rosenblatt.engines.collect import measure
        from rosenblatt.engines.scaling import Filling, Scaling

        statistics = measure(blocks)
        return cls(
            Filling.of(statistics) if fill else None, Scaling.of(statistics, filled=fill) if scale else None
        )

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return blocks of prepared rows."""
        from rosenblatt.engines.scaling import transformed

        return transformed(blocks, self.filling, self.scaling)


@dataclass(frozen=True, eq=False)
class Trained:
    """An estimator, and what is left to be done to rows before it predicts them.

    Attributes
    ----------
    estimator : estimator
        For features as they are, where `scaling` is None.
    filling, scaling : Filling or None, Scaling or None
        To be done first.
    """

    estimator: Any
    filling: Filling | None
    scaling: Scaling | None

    def evaluate(self, batch: Batch) -> Evaluation:
        """Compare predictions with labels, of all classes that the batch knows."""
        from rosenblatt.storage.prediction import EstimatorPredictor

        rows = batch.rows
        for step in (self.filling, self.scaling):
            rows = rows if step is None else step.rows(rows)
        prepared = Features(rows, batch.n_rows, batch.n_features, batch.names)
        labels = EstimatorPredictor(self.estimator, batch.names).predict(prepared)
        return evaluate(batch.codes, encode_labels(labels, batch.classes, batch.n_rows), batch.classes)


def fit_rows(learner: str, parameters: dict[str, Any], batch: Batch, *, fill: bool, scale: bool) -> Trained:
    """Train on rows in memory, prepared by their own means and deviations."""
    from rosenblatt.engines.blocks import MemoryBlocks

    blocks = MemoryBlocks(batch)
    preparation = Preparation.of(blocks, fill=fill, scale=scale)
    return fit_prepared(make_learner(learner, parameters), preparation.blocks(blocks), preparation)


def fit_prepared(estimator: Any, blocks: Any, preparation: Preparation, **checkpoints: Any) -> Trained:
    """Train on prepared blocks; hyperplanes become those of features as they are."""
    if learns_from_blocks(estimator):
        estimator.fit_blocks(blocks, **checkpoints)
        return Trained(estimator, preparation.filling, None)
    from rosenblatt.storage.prediction import LINEAR

    batch: Batch = blocks.batch
    estimator.fit(batch.native(), batch.classes[batch.codes])
    scaling = preparation.scaling
    if scaling is not None and type(estimator).__name__ in LINEAR:
        estimator.unscale(scaling)
        scaling = None
    return Trained(estimator, preparation.filling, scaling)


def learns_from_blocks(estimator: Any) -> bool:
    """Whether rows need not all be in memory."""
    return hasattr(estimator, "fit_blocks")
