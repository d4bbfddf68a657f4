"""Training on blocks: from an estimator's parameters to the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.checkpoint import Checkpoint, Saved, open_checkpoint
from rosenblatt.blocks.memory import Blocks, MemoryBlocks
from rosenblatt.blocks.pool import BlockPool
from rosenblatt.blocks.scaled import folded
from rosenblatt.columns.scaling import Scaling
from rosenblatt.data.batch import Batch
from rosenblatt.data.memory import require_memory
from rosenblatt.data.weights import weights_by_count
from rosenblatt.estimators import _settings as settings
from rosenblatt.estimators._parameters import check_count, check_flag
from rosenblatt.estimators._preparing import Before, Drawn, Problem, planned
from rosenblatt.exceptions import ParameterError, WeightError
from rosenblatt.learners.cycles import Prove
from rosenblatt.learners.order import BlockCyclic, BlockShuffled, Order
from rosenblatt.learners.perceptron import FitLoop, row_weights
from rosenblatt.learners.plan import Plan, Run
from rosenblatt.learners.pool import BatchPool, Pool
from rosenblatt.learners.snapshot import restore
from rosenblatt.loops.passes import largest_square
from rosenblatt.model.state import State
from rosenblatt.typing import Floats, Ints

BYTES_A_ROW = 40  # that choosing rows to hold out takes
FREE_TO_CHANGE = {"max_iter", "max_time", "verbose", "n_jobs", "callbacks", "warm_start"}
"""Parameters that do not change what a pass does, so that a checkpoint may be gone on from by others."""


class Resuming(NamedTuple):
    """Where checkpoints go, how often, and whether to go on from the one that is there."""

    path: str | os.PathLike[str]
    every: int
    resume: bool

    @classmethod
    def of(cls, path: str | os.PathLike[str] | None, every: Any, resume: Any) -> Resuming | None:
        """Check the arguments."""
        check_flag("resume", resume)
        every = check_count("every", every)
        if path is None and resume:
            raise ParameterError("resume=True needs to know from where. Pass checkpoint=PATH.")
        return None if path is None else cls(path, every, bool(resume))


class TrainedOn(NamedTuple):
    """What an estimator keeps of the data it was trained on."""

    n_features: int
    classes: NDArray[Any]
    names: tuple[str, ...] | None
    counts: Ints

    @classmethod
    def of(cls, blocks: Blocks) -> TrainedOn:
        """Return what is known of blocks by now."""
        return cls(blocks.n_features, blocks.classes, blocks.names, blocks.seen_counts)


def fit_blocks(
    p: Any,
    blocks: Blocks,
    resuming: Resuming | None,
    before: Before | None,
    prover: Callable[[Batch, State], Prove] | None,
) -> tuple[Run, Drawn]:
    """Train an estimator with parameters `p` on blocks; return the run and what it drew at random."""
    batch = blocks.batch if isinstance(blocks, MemoryBlocks) else None
    scaling: Scaling | None = blocks.scaling
    _require_possible(p, batch, scaling, resuming, before)
    class_weight = (
        None if p.class_weight is None else weights_by_count(p.class_weight, blocks.counts, blocks.classes)
    )
    if class_weight is not None and not class_weight.any():
        raise WeightError("class_weight is zero for every class, so nothing is left to learn from. Raise some.")
    saved = _saved(p, blocks, resuming)
    redrawn = None if saved is None else Drawn(saved.seed, saved.held_out)
    with planned(p, _problem(p, blocks), before=before, redrawn=redrawn) as (plan, start, drawn):
        if prover is not None and batch is not None:
            plan = replace(plan, prove=prover(batch, start))
        keeper = None
        if resuming is not None:
            identity = identity_of(p, blocks)
            keeper = Checkpoint(resuming.path, resuming.every, identity, drawn.seed, drawn.held_out)
        loop = FitLoop(plan, start, lambda state: _pool(blocks, class_weight, plan, state), keeper)
        if saved is not None:
            restore(loop, saved.snapshot)
        run = loop.run()
    return (run if scaling is None else replace(run, state=folded(run.state, scaling))), drawn


def identity_of(p: Any, blocks: Blocks) -> dict[str, Any]:
    """Return what must be the same for a fit to go on from another's checkpoint."""
    try:
        release = version("rosenblatt")
    except PackageNotFoundError:
        release = "unknown"
    values = {name: value for name, value in p.get_params(deep=False).items() if name not in FREE_TO_CHANGE}
    if not isinstance(values.get("random_state"), int | np.integer):
        values.pop("random_state", None)  # what was drawn is in the checkpoint
    shown = {name: repr(value) for name, value in values.items()}
    return {"version": release, "learner": type(p).__name__, "parameters": shown, "data": blocks.identity}


def _saved(p: Any, blocks: Blocks, resuming: Resuming | None) -> Saved | None:
    if resuming is None or not resuming.resume:
        return None
    saved = open_checkpoint(resuming.path, identity_of(p, blocks))
    if saved is not None and len(saved.snapshot.facts.get("visits_per_pass", [])) > p.max_iter:
        raise ParameterError(
            f"max_iter={p.max_iter} has been passed already: the checkpoint {resuming.path} is of pass "
            f"{len(saved.snapshot.facts['visits_per_pass'])}. Allow more, or train from the beginning."
        )
    return saved


def _pool(blocks: Blocks, class_weight: Floats | None, plan: Plan, state: State) -> Pool:
    """Return the rows to visit: at once if they are in memory, where the screen can spare most of the reading."""
    if isinstance(blocks, MemoryBlocks):
        return BatchPool(blocks.batch, row_weights(blocks.batch, class_weight), plan, state)
    return BlockPool(blocks, class_weight, plan, state)


def _problem(p: Any, blocks: Blocks) -> Problem:
    def order(seed: int, made: int) -> Order:
        if isinstance(p.order, str) and p.order == "shuffle" and p.shuffle:
            return BlockShuffled(blocks.boundaries, seed, made)
        if isinstance(p.order, str) and p.order in ("shuffle", "cyclic"):
            return BlockCyclic(blocks.boundaries)
        return settings.resolve_order(p, blocks.n_rows, seed, made)

    def codes() -> Ints:
        require_memory(
            "Choosing rows to hold out",
            BYTES_A_ROW * blocks.n_rows,
            "Set early_stopping=False, and validate apart.",
        )
        return np.concatenate([batch.codes for batch in blocks.walk(range(len(blocks.boundaries) - 1))])

    def largest() -> float:
        walked = blocks.walk(range(len(blocks.boundaries) - 1))
        return max(largest_square(batch.rows, batch.n_rows) for batch in walked)

    at_hand = isinstance(blocks, MemoryBlocks)
    return Problem(blocks.n_rows, blocks.n_features, blocks.classes, codes, largest, order, at_hand)


def _require_possible(
    p: Any, batch: Batch | None, scaling: Scaling | None, resuming: Resuming | None, before: Before | None
) -> None:
    """Refuse what would need all rows at once, or what a checkpoint does not hold."""
    named = isinstance(p.order, str)
    if batch is None and not (named and p.order in ("shuffle", "cyclic")):
        raise ParameterError(
            f"order={p.order if named else '...'!r} needs all rows in memory. "
            "Out of core use 'shuffle' or 'cyclic'."
        )
    if batch is None and p.stop_on_cycle:
        raise ParameterError("stop_on_cycle=True needs all rows in memory. Set it to False.")
    if resuming is not None and p.stop_on_cycle:
        raise ParameterError("stop_on_cycle=True does not go with a checkpoint. Drop one of them.")
    if resuming is not None and not named:
        raise ParameterError("A checkpoint does not go with an order given row by row. Use 'shuffle' or 'cyclic'.")
    if resuming is not None and before is not None:
        raise ParameterError("A checkpoint does not go with warm_start=True. Drop one of them.")
    if scaling is not None and before is not None:
        raise ParameterError(
            "warm_start=True cannot go on with scaled features: the weights are those of the features as they "
            "are. Set warm_start=False."
        )
