"""`rosenblatt train`: from files to a model file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from rosenblatt.atomic import require_place
from rosenblatt.blocks.cache import CachedBlocks
from rosenblatt.blocks.checkpoint import discard
from rosenblatt.blocks.collect import collect
from rosenblatt.blocks.memory import MemoryBlocks
from rosenblatt.blocks.scaled import transformed
from rosenblatt.cli.data import DATA, open_data, reading, remark_on_source, require_apart, require_classes
from rosenblatt.cli.fitting import fit_prepared, learns_from_blocks, preparation
from rosenblatt.cli.learners import learning, make_learner
from rosenblatt.cli.options import Sectioned
from rosenblatt.cli.output import Output, common
from rosenblatt.cli.summary import Summary, margin_of
from rosenblatt.cli.table import all_blocks
from rosenblatt.cli.text import size
from rosenblatt.columns.options import Options
from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import ParameterError
from rosenblatt.learners.validation import hold_out
from rosenblatt.storage.files import write_model


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt train mail.csv -o spam.model
  rosenblatt train SMSSpamCollection --target 1 --text 2 -o sms.model --vocabulary
  rosenblatt train 'clicks-*.parquet' -o clicks.model --scale --checkpoint 1
  rosenblatt train a9a.libsvm -o a9a.model --learner pocket --max-iter 50 --holdout 0.2
  rosenblatt train @digits -o digits.model --learner kernel --set budget=500

perceptron and averaged learn from files of any size: what does not fit into --memory goes through a cache beside
the first file, which later runs use again. The other learners need all rows in memory.""",
)
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), required=True, metavar="MODEL",
              help="Where the model goes.")  # fmt: skip
@learning
@click.option(
    "--scale", is_flag=True, help="Standardise features; the weights saved are for features as they are."
)
@click.option("--holdout", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="SHARE",
              help="Keep rows back, and say how well they are predicted (all in memory).")  # fmt: skip
@click.option("--checkpoint", type=click.IntRange(1), metavar="N", help="Save where training stands after every N "
              "passes.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint, to the same model bit for bit.")
@click.option("--memory", type=click.IntRange(1), default=256, show_default=True, metavar="MB",
              help="Rows up to this size stay in memory.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Keep all rows in memory, and write no cache.")
@reading
@common
def train(
    data: tuple[str, ...],
    path: str,
    learner: str,
    parameters: dict[str, Any],
    scale: bool,
    holdout: float | None,
    checkpoint: int | None,
    resume: bool,
    memory: int,
    no_cache: bool,
    options: Options,
    output: Output,
) -> None:
    """Train a model on DATA, say how it went, and save it."""
    estimator = make_learner(learner, parameters)
    _require_possible(estimator, learner, checkpoint, resume)
    require_place(path)
    source = open_data(data, options)
    require_apart(path, source.files)
    if learns_from_blocks(estimator) and holdout is None:
        blocks: Any = collect(
            source,
            memory=memory << 20,
            cache="no" if no_cache else "auto",
            passes=parameters.get("max_iter"),
            statistics=scale or options.missing == "mean",
            log=output.remark,
        )
    else:
        blocks = all_blocks(source)
    if isinstance(blocks, CachedBlocks):
        source.close()
    remark_on_source(source, output, blocks.facts)
    require_classes(source, options, len(blocks.classes), blocks.n_rows)
    held = None
    if holdout is not None:
        held, blocks = _held_back(blocks, holdout, parameters["random_state"])
    prepare = preparation(blocks, fill=options.missing == "mean", scale=scale)
    prepared = transformed(blocks, *prepare)
    checkpoints = {} if checkpoint is None and not resume else _checkpoints(path, checkpoint, resume)
    began = time.perf_counter()
    with _watched(estimator, output):
        trained = fit_prepared(estimator, prepared, prepare, **checkpoints)
    seconds = time.perf_counter() - began
    evaluation = None if held is None else trained.evaluate(held)
    own = trained.evaluate(blocks.batch) if isinstance(blocks, MemoryBlocks) else None
    summary = Summary(learner, estimator, prepared, margin_of(estimator, prepared), own, evaluation, seconds)
    write_model(
        trained.preparation(blocks),
        estimator,
        path,
        provenance=_provenance(source, blocks, learner, scale, holdout),
    )
    if checkpoints:
        discard(checkpoints["checkpoint"])
    output.result(str(summary), summary.to_json() | {"model": path})
    output.remark(f"saved in {path} ({size(Path(path).stat().st_size)})")


def _require_possible(estimator: Any, learner: str, checkpoint: int | None, resume: bool) -> None:
    if (checkpoint is not None or resume) and not learns_from_blocks(estimator):
        raise ParameterError(
            f"--learner {learner} keeps no checkpoints; perceptron and averaged do. Drop --checkpoint, --resume."
        )


def _checkpoints(path: str, every: int | None, resume: bool) -> dict[str, Any]:
    target = Path(path)
    return {
        "checkpoint": target.with_name(f".{target.name}.checkpoint"),
        "every": 1 if every is None else every,
        "resume": resume,
    }


def _held_back(blocks: MemoryBlocks, share: float, seed: int) -> tuple[Batch, MemoryBlocks]:
    """Part rows into those to be measured on, the given share of each class, and those to train on."""
    batch = blocks.batch
    if blocks.counts.min() < 2:
        raise ParameterError(
            "--holdout needs two rows of each class, one to train on and one to keep back; class "
            f"{blocks.classes[blocks.counts.argmin()]!s} has one. Add rows, or train without --holdout."
        )
    rows = hold_out(batch.codes, share, np.random.default_rng(seed))
    kept = np.ones(batch.n_rows, np.bool_)
    kept[rows] = False
    return batch.take(rows), MemoryBlocks(batch.take(kept), facts=blocks.facts)


@contextmanager
def _watched(estimator: Any, output: Output) -> Iterator[None]:
    """Show progress while training goes on, where someone watches."""
    if not output.shows_progress or "callbacks" not in estimator.get_params(deep=False):
        yield
        return
    from rosenblatt.estimators._progress import progress_bar

    def telling(report: Any) -> str:
        return f"{report.mistakes:,} mistakes" if hasattr(report, "mistakes") else f"loss {report.loss:.4g}"

    with progress_bar(estimator.max_iter, type(estimator).__name__, telling) as show:
        estimator.set_params(callbacks=[show])
        try:
            yield
        finally:
            estimator.set_params(callbacks=None)


def _provenance(source: Any, blocks: Any, learner: str, scale: bool, holdout: float | None) -> dict[str, Any]:
    return {
        "learner": learner,
        "files": list(source.files),
        "rows": blocks.n_rows,
        "features": blocks.n_features,
        "data": blocks.fingerprint,
        # With these, the seed and the number of a pass the order of every visit can be had again.
        "block_starts": blocks.boundaries[:-1].tolist(),
        "scaled": scale,
        "held_out": holdout,
    }
