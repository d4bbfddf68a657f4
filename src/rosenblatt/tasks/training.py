"""Training from files of any size: `train`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.calibration import Calibration, require_method, size_of
from rosenblatt.estimators.perceptron_core import BarePerceptron
from rosenblatt.exceptions import ParameterError
from rosenblatt.learning.checkpoint import discard
from rosenblatt.learning.scaled import transform_blocks
from rosenblatt.learning.visitor import hold_out
from rosenblatt.loops.compilation import Stopwatch
from rosenblatt.models.files import write_model
from rosenblatt.registry import able_in_words, name_of
from rosenblatt.rows.pairs import as_groups
from rosenblatt.tables.blocks import Blocks, MemoryBlocks
from rosenblatt.tables.cache import CachedBlocks
from rosenblatt.tables.collect import DEFAULT_MEMORY_BYTES, collect
from rosenblatt.tables.preparation import Preparation, encoding_of
from rosenblatt.tables.recipe import Recipe
from rosenblatt.tables.scaling import Transformation
from rosenblatt.tables.source import Source
from rosenblatt.tasks.data import (
    Data,
    Log,
    Place,
    all_rows,
    describe_reading,
    explain_target,
    fills_means,
    log_info,
    note_similar,
    require_target,
    source_of,
)
from rosenblatt.tasks.learning import (
    calibrate_by_folds,
    decision_of,
    evaluate_predictions,
    fit_prepared,
    is_regression,
    keeps_checkpoints,
    learns_from_blocks,
    named_learner,
    preparation,
    scales_by_default,
    takes_groups,
    unscaled,
)
from rosenblatt.tasks.summary import TrainingSummary, margin_of

__all__ = ["TrainingResult", "checkpoint_of", "train", "watch_passes"]


_SHOWN = ("preparation", "summary", "provenance", "calibration")


@dataclass(frozen=True, eq=False, repr=False)
class TrainingResult:
    """A trained model and how its training went.

    Attributes
    ----------
    estimator : estimator
        The trained learner.
    preparation : Preparation
        What is done to data before the learner sees it.
    summary : TrainingSummary
        How training went; ``print`` shows it.
    provenance : dict
        What a model file says about the origin of the model.
    calibration : Calibration or None
        The curves from scores to probabilities, where `train` was asked for them.
    """

    _trained: Any
    preparation: Preparation
    summary: TrainingSummary
    provenance: dict[str, Any]
    calibration: Calibration | None = None
    _checkpoint: Place | None = None

    @cached_property
    def estimator(self) -> Any:
        """The trained learner."""
        return self._trained.estimator() if isinstance(self._trained, BarePerceptron) else self._trained

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in ("estimator", *_SHOWN))
        return f"TrainingResult({', '.join(shown)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: the estimator in place of the learner without scikit-learn."""
        return self.__dict__ | {"_trained": self.estimator}

    @property
    def model(self) -> Any:
        """The whole model, as `rosenblatt.load` returns it: a scikit-learn pipeline, or the learner alone."""
        from rosenblatt.estimators.calibrated import CalibratedModel
        from rosenblatt.models.steps import put_together

        learner = self.estimator._without_names() if self.preparation.steps else self.estimator
        model = put_together(self.preparation, learner)
        return model if self.calibration is None else CalibratedModel.of(model, self.calibration)

    def save(self, path: Place, *, ended: bool = True) -> None:
        """Write the model to a file, and remove the checkpoint unless the run is to go on."""
        known = "estimator" in self.__dict__
        learner = self.estimator if known else self._trained  # scikit-learn is not loaded only to save
        write_model(self.preparation, learner, path, provenance=self.provenance, calibration=self.calibration)
        if self._checkpoint is not None and ended:
            discard(self._checkpoint)


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C ended training after at least one pass.

    Attributes
    ----------
    result : TrainingResult or TrainedTagger
        The model after the last completed pass.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("training was interrupted")
        self.result = result


def train(
    data: Data,
    learner: Any = "averaged",
    *,
    parameters: Mapping[str, Any] | None = None,
    scale: bool | None = False,
    holdout: float | None = None,
    probabilities: str | None = None,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY_BYTES,
    cache: Place = "auto",
    checkpoint: Place | None = None,
    every: int = 1,
    resume: bool = False,
    progress: bool = False,
    log: Log = log_info,
    **options: Any,
) -> TrainingResult:
    r"""Train a learner on files, on a built-in set, or on any source of rows.

    Learners that have `fit_blocks`, such as ``"averaged"`` and ``"arow"``, take data of any size; the others need
    all rows in memory. Unlike ``rosenblatt train``, this function does not scale numbers unless `scale` says so.

    Parameters
    ----------
    data : str, path, several of them, dataframe, or Source
        See `open_data`.
    learner : str or estimator
        A name that ``rosenblatt train --learner`` takes, or an estimator of this package, which is not changed.
    parameters : mapping or None
        Parameters of a learner given by name.
    scale : bool or None
        Whether to standardise the numbers of a table, or to divide sparse features by their deviations. The
        weights of linear models are turned into weights of the original features afterwards. None: only tables, as
        ``rosenblatt train`` does.
    holdout : float or None
        The share of each class that is not trained on, to measure the model; of all rows in a regression, and of
        all groups in a ranking. All rows are then kept in memory.
    probabilities : "sigmoid", "isotonic" or None
        Whether the model gives calibrated probabilities, and by which curves; see `rosenblatt.calibrate`. The
        learner is trained five more times, on four fifths of the rows each, all in memory.
    seed : int
        Chooses the rows that are held out, and is the `random_state` of a learner given by name.
    memory, cache
        Data of more than `memory` bytes goes through a cache file; see `rosenblatt.tables.collect.collect`.
    checkpoint : path or None
        A file that keeps the state of training. `TrainingResult.save` removes it.
    every : int
        The number of passes from one checkpoint to the next.
    resume : bool
        Whether to continue from the checkpoint. The model is the same, bit for bit. If there is no checkpoint, a
        message says so and training starts from the beginning.
    progress : bool
        Whether to show a progress bar on standard error.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        How to read files; see `open_data`.

    Returns
    -------
    TrainingResult
        With `model`, `summary` and `save`.

    Raises
    ------
    TrainingInterrupted
        Ctrl-C ended training after at least one pass. Its `result` is the model after the last completed pass.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     mail = Path(folder) / "mail.csv"
    ...     _ = mail.write_text("text,label\nwin a prize,spam\nsee you at home,ham\nfree prize,spam\nat six,ham\n")
    ...     trained = rb.train(mail, text="text", bits=8)
    ...     trained.save(f"{folder}/spam.model")
    ...     rb.load(f"{folder}/spam.model").predict(["a free prize", "you at home"])
    array(['spam', 'ham'], dtype='<U4')
    >>> trained.summary.stop_reason, trained.summary.n_rows
    ('separated', 4)
    """
    name, estimator = named_learner(learner, parameters, seed, bare=True)
    if probabilities is not None:
        require_method(probabilities)
        if not hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
            raise ParameterError(f"The learner {name} has no decision scores to calibrate, or has probabilities.")
    if (checkpoint is not None or resume) and not keeps_checkpoints(estimator):
        raise ParameterError(f"The learner {name} keeps no checkpoints; {able_in_words('checkpoints')} do.")
    source = source_of(data, options)
    scale = scales_by_default(source) if scale is None else scale
    whole = holdout is not None or probabilities is not None
    with explain_target(source):
        blocks = _read(source, estimator, memory, cache, log, scale=scale, whole=whole)
    describe_reading(source, log, blocks.facts)
    note_similar(blocks.classes, log)
    require_target(source, blocks, regression=is_regression(estimator))
    held, all_data, held_groups = None, None, None
    groups = source.groups if takes_groups(estimator) else None
    if groups is None and takes_groups(estimator):
        log("note: the rows have no groups (qid:), so that all of them are compared")
    if holdout is not None:
        all_data = blocks.fingerprint
        rows = _rows_held_out(blocks, holdout, seed, by_class=not is_regression(estimator), groups=groups)
        held, kept = blocks.batch.take(rows), blocks.batch.take(~rows)
        blocks = MemoryBlocks(kept, facts=blocks.facts)
        groups, held_groups = (None, None) if groups is None else (groups[~rows], groups[rows])
    before = preparation(blocks, _recipe_of(blocks), fill=fills_means(source), scale=scale)
    prepared = transform_blocks(blocks, *before)
    if resume and checkpoint is not None and not Path(checkpoint).exists():
        log(f"there is no checkpoint {checkpoint}; training starts from the beginning")
    saving: dict[str, Any] = {}
    if checkpoint is not None or resume:
        saving = {"checkpoint": checkpoint, "every": every, "resume": resume}
    watch = Stopwatch()
    interruption = None
    try:
        with watch_passes(estimator) if progress else nullcontext():
            fit_prepared(estimator, prepared, groups, **saving)
    except KeyboardInterrupt as caught:
        if getattr(estimator, "stop_reason_", None) != "interrupted" or not estimator.n_iter_:
            raise
        interruption = caught
    left = unscaled(estimator, before)
    seconds = watch.read()
    calibration = None
    if probabilities is not None and interruption is None:
        again = partial(named_learner, learner, parameters, seed, bare=True)
        size = size_of(decision_of(estimator, left, blocks.batch))
        calibration = calibrate_by_folds(
            again, blocks, probabilities, size, recipe=_recipe_of(blocks), fill=fills_means(source), scale=scale
        )
    summary = TrainingSummary.of(
        name,
        estimator,
        prepared,
        margin_of(estimator, prepared),
        trained_on=evaluate_predictions(estimator, left, blocks.batch, groups=groups)
        if isinstance(blocks, MemoryBlocks)
        else None,
        held_out=None if held is None else evaluate_predictions(estimator, left, held, groups=held_groups),
        seconds=seconds,
    )
    provenance = {
        "learner": name,
        "files": list(source.files),
        "rows": blocks.n_rows,
        "features": blocks.n_features,
        "data": blocks.fingerprint,
        # With these, the seed and the number of a pass, the order of every visit can be computed again.
        "block_starts": blocks.boundaries[:-1].tolist(),
        "scaled": scale,
        "held_out": holdout,
        "all_data": all_data,  # with the rows held out
    }
    result = TrainingResult(estimator, _preparation_of(blocks, left), summary, provenance, calibration, checkpoint)
    if interruption is not None:
        raise TrainingInterrupted(result) from interruption
    return result


def checkpoint_of(path: Place) -> Path:
    """Return where `rosenblatt train` keeps the checkpoint of a model: beside it.

    Examples
    --------
    >>> checkpoint_of("models/spam.model").as_posix()
    'models/.spam.model.checkpoint'
    """
    return Path(path).with_name(f".{Path(path).name}.checkpoint")


def _read(source: Source, estimator: Any, memory: int, cache: Place, log: Log, *, scale: bool, whole: bool) -> Any:
    """Read a source into blocks: all in memory if the estimator or a holdout needs it."""
    if whole or not learns_from_blocks(estimator):
        return all_rows(source, numbers=is_regression(estimator))
    blocks = collect(
        source,
        memory=memory,
        cache=cache,
        passes=estimator.get_params(deep=False).get("max_iter"),
        statistics=scale or fills_means(source),
        log=log,
    )
    if isinstance(blocks, CachedBlocks):
        source.close()
    return blocks


def _rows_held_out(
    blocks: MemoryBlocks, share: float, seed: int, *, by_class: bool, groups: Any
) -> NDArray[np.bool_]:
    """Return which rows to measure on: the given share of each class, of all rows, or of all groups."""
    batch = blocks.batch
    codes = batch.codes if by_class else np.zeros_like(batch.codes)
    if by_class and blocks.counts.min() < 2:
        raise ParameterError(
            "A holdout needs two rows of each class, one to train on and one to measure on; class "
            f"{blocks.classes[blocks.counts.argmin()]!s} has one. Add rows, or train without a holdout."
        )
    if batch.n_rows < 2:
        raise ParameterError("A holdout needs two rows, one to train on and one to measure on.")
    held = np.zeros(batch.n_rows, np.bool_)
    if groups is None:
        held[hold_out(codes, share, np.random.default_rng(seed))] = True
        return held
    numbers = as_groups(groups, batch.n_rows)
    if numbers.max() == 0:
        raise ParameterError("A holdout needs two groups, one to train on and one to measure on.")
    chosen = hold_out(np.zeros(int(numbers.max()) + 1, np.int64), share, np.random.default_rng(seed))
    return np.isin(numbers, chosen)


def _recipe_of(blocks: Blocks) -> Recipe | None:
    """Return the recipe by which the source of blocks was read; a cache keeps it."""
    described = blocks.facts.get("recipe")
    return None if described is None else Recipe.from_json(described)


def _preparation_of(blocks: Blocks, left: Transformation) -> Preparation:
    encoding = encoding_of(_recipe_of(blocks), left, blocks.names, blocks.n_features)
    return Preparation(() if encoding is None else (encoding,))


@contextmanager
def watch_passes(estimator: Any, unit: str = "rows") -> Iterator[None]:
    """Show a progress bar while an estimator is trained, if it reports its passes; `unit` is what it visits."""
    parameters = estimator.get_params(deep=False)
    if "callbacks" not in parameters:
        yield
        return
    from rosenblatt.estimators._fitting import progress_bar

    with progress_bar(estimator.max_iter, name_of(estimator), unit=unit) as show:
        estimator.set_params(callbacks=[*(parameters["callbacks"] or ()), show])
        try:
            yield
        finally:
            estimator.set_params(callbacks=parameters["callbacks"])
