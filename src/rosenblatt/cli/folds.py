"""Cross-validation: each fold predicted by a model that has not seen it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.cli.fitting import fit_rows
from rosenblatt.cli.table import Table
from rosenblatt.evaluation import Evaluation
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Ints

__all__ = ["cross_validate", "deal"]


def cross_validate(
    learner: str, parameters: dict[str, Any], table: Table, folds: int, *, scale: bool
) -> list[Evaluation]:
    """Return the evaluation of each fold; means and scales are those of the rows trained on."""
    batch = table.batch
    fill = table.fills
    fold = deal(batch.codes, folds, int(parameters.get("random_state") or 0))
    found = []
    for k in range(folds):
        trained = fit_rows(learner, parameters, batch.take(fold != k), fill=fill, scale=scale)
        found.append(trained.evaluate(batch.take(fold == k)))
    return found


def deal(codes: Ints, folds: int, seed: int) -> Ints:
    """Return the fold of each row: every class is shuffled, and dealt out evenly.

    The classes are dealt one after the other, so that folds differ by one row at most.

    Examples
    --------
    >>> np.bincount(deal(np.array([0, 0, 1, 0, 1, 0, 1]), 3, seed=0)).tolist()
    [3, 2, 2]
    """
    counts = np.bincount(codes)
    if counts[counts > 0].min() < folds:
        raise ParameterError(
            f"--cv {folds} needs {folds} rows of each class, but one has {counts[counts > 0].min()}. "
            "Take fewer folds."
        )
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    fold = np.empty(len(codes), np.int64)
    fold[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % folds
    return fold
