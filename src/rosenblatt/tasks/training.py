"""Training in five steps, which tables and sentences share: `train`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.calibration import Calibration, require_method, size_of
from rosenblatt.escaping import ShowsText
from rosenblatt.estimators.perceptron_core import BarePerceptron
from rosenblatt.exceptions import ParameterError
from rosenblatt.learning.checkpoint import discard
from rosenblatt.learning.scaled import transform_blocks
from rosenblatt.learning.visitor import hold_out
from rosenblatt.loops.compilation import Seconds, Stopwatch
from rosenblatt.models.files import write_model
from rosenblatt.registry import able_in_words, name_of
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.pairs import as_groups
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.collect import DEFAULT_MEMORY_BYTES, collect
from rosenblatt.tables.preparation import Preparation, encoding_of
from rosenblatt.tables.source import Source
from rosenblatt.tasks.data import (
    Log,
    Place,
    all_rows,
    describe_reading,
    explain_target,
    fills_means,
    log_info,
    note_similar,
    reads_sentences,
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

__all__ = ["Training", "TrainingInterrupted", "TrainingResult", "checkpoint_of", "train", "watch_passes"]


_SHOWN = ("preparation", "summary", "provenance", "calibration")


@dataclass(frozen=True, eq=False, repr=False)
class TrainingResult(ShowsText):
    """A trained model and how its training went.

    Attributes
    ----------
    estimator : estimator
        The trained learner.
    preparation : Preparation
        What is done to data before the learner sees it.
    summary : TrainingSummary or TaggerSummary
        How training went; ``print`` shows it.
    provenance : dict
        What a model file says about the origin of the model.
    calibration : Calibration or None
        The curves from scores to probabilities, where `train` was asked for them.
    """

    _trained: Any
    preparation: Preparation
    summary: Any
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

    def _html_parts(self) -> tuple[object, ...]:
        summary: ShowsText = self.summary
        return summary._html_parts()

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
    result : TrainingResult
        The model after the last completed pass.
    """

    def __init__(self, result: TrainingResult) -> None:
        super().__init__("training was interrupted")
        self.result = result


@dataclass(eq=False, kw_only=True)
class Training(ABC):
    """One training in five steps: open, prepare, fit and judge, and the result can be saved.

    Tables, sentences and the partitions of a cluster fill in the steps. The fields are the arguments of `train`.
    """

    data: Any
    options: Mapping[str, Any]
    learner: Any
    parameters: Mapping[str, Any] | None = None
    label: str | int | None = None
    columns: Sequence[str | int] | None = None
    scale: bool | None = None
    holdout: float | None = None
    probabilities: str | None = None
    seed: int = 0
    memory: int = DEFAULT_MEMORY_BYTES
    cache: Place = "auto"
    checkpoint: Place | None = None
    every: int = 1
    resume: bool = False
    progress: bool = False
    log: Log = log_info
    name: str = field(init=False)
    estimator: Any = field(init=False)
    unit: ClassVar[str] = "rows"

    @abstractmethod
    def open(self) -> None:
        """Make the learner, and open the data."""

    @abstractmethod
    def prepare(self) -> None:
        """Hold out what is measured on, and transform what is trained on."""

    @abstractmethod
    def learn(self) -> None:
        """Train the estimator on what was prepared."""

    @abstractmethod
    def judge(self, seconds: Seconds, *, interrupted: bool) -> TrainingResult:
        """Measure the trained estimator, and return it with what can be said about it."""

    def fit(self) -> tuple[Seconds, KeyboardInterrupt | None]:
        """Train, and return how long it took, and Ctrl-C if it ended training after a complete pass."""
        if self.resume and self.checkpoint is not None and not Path(self.checkpoint).exists():
            self.log(f"there is no checkpoint {self.checkpoint}; training starts from the beginning")
        watch, interruption = Stopwatch(), None
        try:
            with watch_passes(self.estimator, self.unit) if self.progress else nullcontext():
                self.learn()
        except KeyboardInterrupt as caught:
            if getattr(self.estimator, "stop_reason_", None) != "interrupted" or not self.estimator.n_iter_:
                raise
            interruption = caught
        return watch.read(), interruption

    def run(self) -> TrainingResult:
        """Take all steps but the last: `TrainingResult.save`."""
        self.open()
        self.prepare()
        seconds, interruption = self.fit()
        result = self.judge(seconds, interrupted=interruption is not None)
        if interruption is not None:
            raise TrainingInterrupted(result) from interruption
        return result

    @property
    def saving(self) -> dict[str, Any]:
        """The arguments of a fit that keeps a checkpoint."""
        if self.checkpoint is None and not self.resume:
            return {}
        return {"checkpoint": self.checkpoint, "every": self.every, "resume": self.resume}


def train(
    data: Any,
    learner: Any = "averaged",
    *,
    parameters: Mapping[str, Any] | None = None,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    scale: bool | None = None,
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
    r"""Train a learner on tables or on sentences: on files, a built-in set, a dataframe, or a source of rows.

    ``rosenblatt train`` calls this function, with the same defaults. Learners that have `fit_blocks`, such as
    ``"averaged"`` and ``"arow"``, take tables of any size; the others need all rows in memory. Sentences train a
    `SequencePerceptron`.

    Parameters
    ----------
    data : str, path, several of them, dataframe, Source, Corpus, or list of sentences
        See `open_data`. Sentences are files in CoNLL-U, or with one token a line and columns (named ``.conllu`` or
        ``.conll``, or with `label`). In memory they are lists of tokens, each a tuple of its columns, such as
        ``("dog", "NOUN")``.
    learner : str or estimator
        A name that ``rosenblatt train --learner`` takes, or an estimator of this package, which is not changed.
        For sentences it can be a `SequencePerceptron` with templates.
    parameters : mapping or None
        Parameters of a learner given by name, and of the `SequencePerceptron` of sentences. There the default of
        `templates` is "words", and for each further column the column of the token, of its neighbours, and the
        pairs of them.
    label : str, int or None
        Of sentences: the column to predict, by name or by position from 1 (−1 is the last). By default ``upos`` of
        CoNLL-U, and the last column of other files.
    columns : sequence of str or int, or None
        Of sentences: the columns that a token consists of, its word first. By default ``form``, or the first one.
    scale : bool or None
        Whether to standardise the numbers of a table, or to divide sparse features by their deviations. The
        weights of linear models are turned into weights of the original features afterwards. None: yes for tables,
        no for sparse files and worked examples such as ``@xor``.
    holdout : float or None
        The share of each class that is not trained on, to measure the model; of all rows in a regression, of all
        groups in a ranking, and of all sentences. All rows are then kept in memory.
    probabilities : "sigmoid", "isotonic" or None
        Whether the model gives calibrated probabilities, and by which curves; see `rosenblatt.calibrate`. The
        learner is trained five more times, on four fifths of the rows each, all in memory.
    seed : int
        Chooses what is held out, and is the `random_state` of a learner given by name.
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
        How to read files; see `open_data`. Sentences have ``format`` and ``encoding``.

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
    >>> tagged = [[("the", "DET"), ("dog", "NOUN")], [("dogs", "NOUN"), ("bark", "VERB")]]
    >>> rb.train(tagged).model.predict([["the", "dogs", "bark"]])
    [['DET', 'NOUN', 'VERB']]
    """
    asked = dict(locals())  # the fields of a training are these arguments
    if reads_sentences(data, label, options.get("format")):
        tagger: TrainingResult = find("sequences.tagger_tasks").SentenceTraining(**asked).run()
        return tagger
    if columns:
        raise ParameterError("columns is for sentences, but the data is a table. Use features.")
    return TableTraining(**asked).run()


@dataclass(eq=False, kw_only=True)
class TableTraining(Training):
    """The training on a table, or on any source of rows."""

    source: Source = field(init=False)
    blocks: Any = field(init=False)
    groups: Any = None
    held: Batch | None = None
    held_groups: Any = None
    all_data: str | None = None

    def open(self) -> None:
        """Make the learner, and read the rows: all into memory if the learner, a holdout or folds need it."""
        self.name, self.estimator = named_learner(self.learner, self.parameters, self.seed, bare=True)
        estimator = self.estimator
        if self.probabilities is not None:
            require_method(self.probabilities)
            if not hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
                raise ParameterError(
                    f"The learner {self.name} has no decision scores to calibrate, or has probabilities."
                )
        if self.saving and not keeps_checkpoints(estimator):
            raise ParameterError(
                f"The learner {self.name} keeps no checkpoints; {able_in_words('checkpoints')} do."
            )
        self.source = source_of(self.data, self.options)
        self.scale = scales_by_default(self.source) if self.scale is None else self.scale
        with explain_target(self.source):
            self.blocks = self._read()
        describe_reading(self.source, self.log, self.blocks.facts)
        note_similar(self.blocks.classes, self.log)
        require_target(self.source, self.blocks, regression=is_regression(estimator))

    def _read(self) -> Any:
        source, estimator = self.source, self.estimator
        if self.holdout is not None or self.probabilities is not None or not learns_from_blocks(estimator):
            return all_rows(source, numbers=is_regression(estimator))
        return collect(
            source,
            memory=self.memory,
            cache=self.cache,
            passes=estimator.get_params(deep=False).get("max_iter"),
            statistics=self.scale or fills_means(source),
            log=self.log,
        )

    def prepare(self) -> None:
        """Hold out rows, and fill and scale those that are trained on."""
        if takes_groups(self.estimator):
            self.groups = self.source.groups
            if self.groups is None:
                self.log("note: the rows have no groups (qid:), so that all of them are compared")
        if self.holdout is not None:
            self._hold_out(self.holdout)
        recipe, fill = self.blocks.facts.recipe, fills_means(self.source)
        self.before = preparation(self.blocks, recipe, fill=fill, scale=bool(self.scale))
        self.prepared = transform_blocks(self.blocks, *self.before)

    def _hold_out(self, share: float) -> None:
        blocks, groups = self.blocks, self.groups
        self.all_data = blocks.fingerprint
        rows = _rows_held_out(blocks, share, self.seed, by_class=not is_regression(self.estimator), groups=groups)
        self.held, kept = blocks.whole.take(rows), blocks.whole.take(~rows)
        self.blocks = MemoryBlocks(kept, facts=blocks.facts)
        if groups is not None:
            self.groups, self.held_groups = groups[~rows], groups[rows]

    def learn(self) -> None:
        """Train on the prepared rows."""
        fit_prepared(self.estimator, self.prepared, self.groups, **self.saving)

    def judge(self, seconds: Seconds, *, interrupted: bool) -> TrainingResult:
        """Turn the weights into those of unscaled features, calibrate, and measure the model."""
        estimator, blocks = self.estimator, self.blocks
        left = unscaled(estimator, self.before)
        recipe, calibration = blocks.facts.recipe, None  # complete only now, if training read the source
        if self.probabilities is not None and not interrupted:
            again = partial(named_learner, self.learner, self.parameters, self.seed, bare=True)
            size = size_of(decision_of(estimator, left, blocks.whole))
            how = {"recipe": recipe, "fill": fills_means(self.source), "scale": self.scale}
            calibration = calibrate_by_folds(again, blocks, self.probabilities, size, **how)
        trained_on = held_out = None
        if blocks.whole is not None:
            trained_on = evaluate_predictions(estimator, left, blocks.whole, groups=self.groups)
        if self.held is not None:
            held_out = evaluate_predictions(estimator, left, self.held, groups=self.held_groups)
        summary = TrainingSummary.of(
            self.name,
            estimator,
            self.prepared,
            margin_of(estimator, self.prepared),
            trained_on=trained_on,
            held_out=held_out,
            seconds=seconds,
        )
        provenance = {
            "learner": self.name,
            "files": list(self.source.files),
            "rows": blocks.n_rows,
            "features": blocks.n_features,
            "data": blocks.fingerprint,
            # With these, the seed and the number of a pass, the order of every visit can be computed again.
            "block_starts": blocks.boundaries[:-1].tolist(),
            "scaled": self.scale,
            "held_out": self.holdout,
            "all_data": self.all_data,  # with the rows held out
        }
        encoding = encoding_of(recipe, left, blocks.names, blocks.n_features)
        done = Preparation(() if encoding is None else (encoding,))
        return TrainingResult(estimator, done, summary, provenance, calibration, self.checkpoint)


def checkpoint_of(path: Place) -> Path:
    """Return where `rosenblatt train` keeps the checkpoint of a model: beside it.

    Examples
    --------
    >>> checkpoint_of("models/spam.model").as_posix()
    'models/.spam.model.checkpoint'
    """
    return Path(path).with_name(f".{Path(path).name}.checkpoint")


def _rows_held_out(
    blocks: MemoryBlocks, share: float, seed: int, *, by_class: bool, groups: Any
) -> NDArray[np.bool_]:
    """Return which rows to measure on: the given share of each class, of all rows, or of all groups."""
    batch = blocks.whole
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
