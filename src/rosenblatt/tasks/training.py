"""Training in five steps, which tables and sentences share: `train`."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt import registry
from rosenblatt.calibration import DEFAULT_FOLDS, Calibration, fit_calibration, size_of
from rosenblatt.escaping import ShowsText
from rosenblatt.estimators._fitting import warn_of_end
from rosenblatt.estimators.perceptron_core import BareParameters
from rosenblatt.evaluation import Evaluation, RegressionEvaluation
from rosenblatt.evaluation import evaluate as compare
from rosenblatt.exceptions import Given, InputError, Message, ParameterError, Remedy, brief_notes, told_by
from rosenblatt.learning.checkpoint import discard
from rosenblatt.learning.visitor import hold_out
from rosenblatt.loops.compilation import Seconds, Stopwatch
from rosenblatt.loops.layout import CSR
from rosenblatt.models.files import EstimatorPredictor, with_largest_words, write_model
from rosenblatt.parameters import (
    COMBINATION,
    RANGE,
    UNUSED,
    TrainingArguments,
    contradiction,
    learned,
    positional,
    unused,
)
from rosenblatt.registry import able_in_words, name_of
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features
from rosenblatt.rows.labels import encode_labels
from rosenblatt.rows.memory import require_memory
from rosenblatt.rows.pairs import PairEvaluation, as_groups
from rosenblatt.tables.blocks import Blocks, MemoryBlocks, TakenBlocks
from rosenblatt.tables.collect import collect, mark_gaps, measure, transform_blocks, weigh
from rosenblatt.tables.data_file import closed_on_error
from rosenblatt.tables.file_source import Source
from rosenblatt.tables.online_scaling import Figures, OnlineScaling
from rosenblatt.tables.preparation import Preparation, encoding_of
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.scaling import Transformation
from rosenblatt.tasks.data import (
    Log,
    Place,
    RareClasses,
    all_rows,
    describe_reading,
    explain_target,
    fills_means,
    keep_notes,
    log_info,
    mark_and_tell,
    note_similar,
    rare_ways,
    reads_sentences,
    require_target,
    source_of,
)
from rosenblatt.tasks.summary import TrainingSummary, margin_of
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from rosenblatt.learning.trace import Trace
    from rosenblatt.models.opened import HeldModel, OpenedModel

__all__ = ["Training", "TrainingInterrupted", "TrainingResult", "checkpoint_of", "train", "watch_passes"]


# The steps of training from files: the learner, what is done to rows, the fit, and how good it is.


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
            told = f" contradicts the learner {name}, which always sets it to {fixed[parameter]}. Use another one."
            raise ParameterError(Given(parameter, parameters[parameter]) + told, code=COMBINATION)
        if parameter not in known or parameter == "callbacks":
            raise not_taken(name, parameter, known)
    return estimator.set_params(**{key: value for key, value in parameters.items() if key in known})


def not_taken(name: str, parameter: str, known: Iterable[str]) -> ParameterError:
    """Return the error of a parameter that a learner does not have: with those that do, or what else it may be."""
    near = get_close_matches(parameter, known := sorted({*known} - {"callbacks"}), 1)
    having = [each for each in registry.commands() if parameter in _parameters_of(each)]
    hint = f"It takes {', '.join(known)}."
    if having and parameter != "callbacks":
        hint = f"It is a parameter of {', '.join(having)}."
    elif near:
        hint = f"Did you mean {near[0]}?"
    return ParameterError(f"The learner {name} does not take " + Given(parameter) + f". {hint}", code=UNUSED)


def parameters_of(settings: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that texts of the form NAME=VALUE set.

    A value is JSON, a number such as ``.5``, or else text. A kernel is named as `kernel_of` reads it.

    Examples
    --------
    >>> parameters_of(["eta0=.5", "bias=None", "order=cyclic"])
    {'eta0': 0.5, 'bias': None, 'order': 'cyclic'}
    """
    parameters = dict(_setting(text, Given("settings")) for text in settings)
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
    named = {name: kernel for name, kernel in NAMED.items() if name != "precomputed"}
    kind, _, inside = text.partition("(")
    if kind not in named or (inside and not inside.endswith(")")):
        told = f" is not a kernel. Use {', '.join(named)}, as in 'rbf(gamma=0.5)'."
        raise ParameterError(Given("kernel", text) + told, code=RANGE)
    parts = (part.strip() for part in inside[:-1].split(",") if part.strip())
    given = dict(_setting(part, Given("kernel", text)) for part in parts)
    known = signature(named[kind]).parameters
    if given.keys() - known:
        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
        raise ParameterError(Given("kernel", text) + f": {kind} {takes}.", code=RANGE)
    try:
        return named[kind](**given)
    except InputError as error:
        raise ParameterError(Given("kernel", text) + f": {error}", code=error.code) from error


def _setting(text: str, given: Given) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(given + f": {text!r} must be NAME=VALUE, such as alpha=0.01.")
    try:
        return name, json.loads(value)
    except ValueError:
        pass
    try:
        return name, float(value)  # .5 and 1. are no JSON
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
            "data; pass arrays of rows and labels to the fit of an estimator, such as Perceptron().fit(X, y).",
            parameter="learner",
        )
    if parameters:
        raise ParameterError(
            "parameters are for a learner given by name. Set them on the estimator.", parameter="parameters"
        )
    from sklearn.base import clone

    return type(learner).__name__, clone(learner)


def default_learner(measured: bool) -> str:
    """Return the learner that is taken where none is named; `measured` is that of the source."""
    return registry.OF_TABLES if measured else registry.OF_OTHERS


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
    """Return the transformation of rows before training, by the figures of these rows.

    Of a table only the numbers are scaled, and the words of texts weighted: the `recipe` says which these are.
    """
    done = Transformation()
    numbers = None if recipe is None else recipe.n_numbers
    scale = scale and _has_numbers(recipe)
    if fill or scale:
        done = Transformation.of(measure(blocks), fill=fill, scale=scale, numbers=numbers)
    return done._replace(weighting=weigh(blocks, recipe))


def scaled_as_trained(blocks: Blocks, source: Source) -> Any:
    """Return training rows as they were scaled for the learner, by figures of the same rows."""
    marked, _ = mark_gaps(blocks)
    before = preparation(marked, marked.facts.recipe, fill=fills_means(source), scale=True)
    batch: Any = transform_blocks(marked, *before).whole
    return batch.native()


def run_of(learner: Any, n_rows: int) -> Trace | None:
    """Return the trace of a learner's training if it had so many rows."""
    from rosenblatt.learning.trace import Trace

    trace = getattr(learner, "trace_", None)
    if not isinstance(trace, Trace) or trace.mistakes is None or not len(trace) or trace.n_rows != n_rows:
        return None
    return trace


def was_trained_on(model: HeldModel, opened: OpenedModel, source: Source, n_rows: int) -> bool:
    """Return whether a model in memory is known to be trained on a source, as it is or scaled: by its trace."""
    run = run_of(model.learner, n_rows)
    if run is None or opened.predictor.classes is None:
        return False
    blocks = all_rows(source)
    X, y = opened.table(blocks.whole, source)
    return run.is_of(X, y) or (bool(opened.preparation.steps) and run.is_of(scaled_as_trained(blocks, source), y))


def _has_numbers(recipe: Recipe | None) -> bool:
    """Return whether there may be numbers to scale."""
    return recipe is None or recipe.n_numbers != 0


def scales_by_default(source: Source) -> bool:
    """Return whether the command line standardises a source: one of measurements, and no worked example."""
    return source.measured


def fit_prepared(estimator: Any, blocks: Any, groups: ArrayLike | None = None, **checkpoints: Any) -> None:
    """Train on transformed blocks; `groups` are those of the rows, for a learner that ranks them."""
    if learns_from_blocks(estimator):
        estimator.fit_blocks(blocks, **checkpoints)
    else:
        batch: Batch = blocks.whole
        own = {"qid": groups} if takes_groups(estimator) else {}
        estimator.fit(batch.native(), batch.classes[batch.codes], **own, **checkpoints)


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
    estimator: Any,
    before: Transformation,
    batch: Batch,
    *,
    positive: int | None = None,
    groups: ArrayLike | None = None,
) -> Evaluation | RegressionEvaluation | PairEvaluation:
    """Compare predictions with labels, for all classes of the batch, or with numbers."""
    labels = answers(EstimatorPredictor(estimator, batch.names).predict, before, batch)
    if takes_groups(estimator):
        return PairEvaluation.of(batch.classes[batch.codes], labels, groups)
    if is_regression(estimator):
        return RegressionEvaluation.of(batch.classes[batch.codes], labels)
    predicted = encode_labels(labels, batch.classes, batch.n_rows)
    return compare(batch.codes, predicted, batch.classes, positive=positive)


def decision_of(estimator: Any, before: Transformation, batch: Batch) -> Floats:
    """Return the decision scores of rows."""
    return np.asarray(answers(EstimatorPredictor(estimator, batch.names).decision, before, batch), np.float64)


def answers(answer: Callable[[Features], NDArray[Any]], before: Transformation, batch: Batch) -> NDArray[Any]:
    """Return the answers about all rows, which are prepared a block at a time: a copy of all would take memory."""
    if not any(before.steps):
        return answer(batch)
    before.require_width(batch.n_features)
    blocks = MemoryBlocks(batch)
    return np.concatenate([answer(part) for part in blocks.walk(range(blocks.n_blocks), before.into)])


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
        rows = TakenBlocks(batch, fold_of != fold)
        before = preparation(rows, **prepare)
        fit_prepared(estimator, transform_blocks(rows, *before))
        found = decision_of(estimator, unscaled(estimator, before), batch)
        return np.asarray(found[fold_of == fold] / size_of(found))

    scores: Any = None
    with warnings.catch_warnings(), using(None, batch.stored), one_blas_thread(), told_by(lambda _: None):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all rows has told of it
        for fold, found in enumerate(ordered(scores_of, range(DEFAULT_FOLDS), foreign=True)):
            scores = np.empty((batch.n_rows, *found.shape[1:])) if scores is None else scores
            scores[fold_of == fold] = found
    return fit_calibration(scores, batch.codes, method=method, scale=size)


# Training in five steps, which tables and sentences share: `train`.

COPIES_TO_SCALE = 3
"""How many copies of rows there are while an online scaler scales them: as arrays, filled and scaled."""
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
    notes : tuple of str
        What was decided about the data, such as which columns were left out.
    """

    _trained: Any
    preparation: Preparation
    summary: Any
    provenance: dict[str, Any]
    calibration: Calibration | None = None
    _checkpoint: Place | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def estimator(self) -> Any:
        """The trained learner."""
        return self._trained.estimator() if isinstance(self._trained, BareParameters) else self._trained

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in ("estimator", *_SHOWN))
        return f"TrainingResult({', '.join(shown)})"

    def __str__(self) -> str:
        return "\n".join([str(self.summary), *brief_notes(self.notes)])

    def _html_parts(self) -> tuple[object, ...]:
        summary: ShowsText = self.summary
        return (*summary._html_parts(), *brief_notes(self.notes))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: the estimator in place of the learner without scikit-learn."""
        return self.__dict__ | {"_trained": self.estimator}

    @property
    def model(self) -> Any:
        """The whole model, as `rosenblatt.load` returns it: a scikit-learn pipeline, or the learner alone."""
        from rosenblatt.estimators.calibrated import CalibratedModel
        from rosenblatt.models.files import put_together

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


_UNUSED: dict[str, str] = {
    "rows": " is for tables, but the data holds sentences",
    "sentences": " is for sentences; tables have " + Remedy("features"),
    "blocks": " is for learners that read rows block by block, but ",
    "checkpoints": " is for learners that keep checkpoints, such as ",
}
"""What is said of an argument without an effect, by what it needs."""


class Training(TrainingArguments, ABC):
    """One training in five steps: open, prepare, fit and judge, and the result can be saved.

    Tables, sentences and the partitions of a cluster fill in the steps. The fields are the arguments of `train`.
    """

    data: Any = positional(kw_only=True, doc="")
    options: Mapping[str, Any] = positional(kw_only=True, doc="")
    learner: Any = positional(kw_only=True, doc="")
    name: str = learned()
    estimator: Any = learned()
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
        warned = list[str]()  # to be told when time is no longer measured: scikit-learn may be loaded for it
        watch, interruption = Stopwatch(), None
        try:
            with (
                told_by(warned.append),
                watch_passes(self.estimator, self.unit) if self.progress else nullcontext(),
            ):
                self.learn()
        except KeyboardInterrupt as caught:
            if getattr(self.estimator, "stop_reason_", None) != "interrupted" or not self.estimator.n_iter_:
                raise
            interruption = caught
        seconds = watch.read()
        for message in warned:
            warn_of_end(message)
        return seconds, interruption

    def run(self) -> TrainingResult:
        """Take all steps but the last: `TrainingResult.save`."""
        self._check_parameters()
        self.open()
        self.prepare()
        seconds, interruption = self.fit()
        result = self.judge(seconds, interrupted=interruption is not None)
        if interruption is not None:
            raise TrainingInterrupted(result) from interruption
        return result

    def refuse_unused(self, abilities: Collection[str], *, whole: str = "") -> None:
        """Refuse arguments that would have no effect, as their declarations say.

        `abilities` are those of the learner; `whole` is the argument that keeps all rows in memory, if one does.
        """
        for name, each in self._declared.items():
            value = getattr(self, name, None)
            kept = each.needs == "blocks" and whole
            if not each.needs or value == each.default or (each.needs in (self.unit, *abilities) and not kept):
                continue
            why: Any = Message(_UNUSED[each.needs])
            if each.needs == "blocks":
                asked = Given(whole, "online") if whole == "scale" else Given(whole)
                why += asked + " keeps" if kept and each.needs in abilities else f"{self.name} keeps"
                why += " all rows in memory"
            elif each.needs == "checkpoints":  # learners of other packages may have joined by now
                why += f"{able_in_words('checkpoints')}, but {self.name} keeps none"
            raise unused(name, value, after=why)
        for name in ("resume", "every") if self.checkpoint is None else ():
            if getattr(self, name) != self._declared[name].default:
                told = Given(name) + " needs a checkpoint. Name its file with " + Remedy("checkpoint") + "."
                raise ParameterError(told, code=UNUSED, parameter=name, value=getattr(self, name))

    @property
    def saving(self) -> dict[str, Any]:
        """The arguments of a fit that keeps a checkpoint."""
        if self.checkpoint is None and not self.resume:
            return {}
        return {"checkpoint": self.checkpoint, "every": self.every, "resume": self.resume}


def train(
    data: Any,
    learner: Any = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    label: str | int | None = None,
    columns: Sequence[str | int] | None = None,
    scale: bool | Literal["online"] | None = None,
    holdout: float | None = None,
    min_class: int | str | None = None,
    probabilities: str | None = None,
    seed: int = 0,
    memory: int | None = None,
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
    data : str, path, several of them, dataframe, list of mappings, Source, Corpus, or list of sentences
        See `open_data`. Sentences are files in CoNLL-U, or with one token a line and columns (named ``.conllu`` or
        ``.conll``, or with `label`). In memory they are lists of tokens, each a tuple of its columns, such as
        ``("dog", "NOUN")``.
    learner : str, estimator or None
        A name that ``rosenblatt train --learner`` takes, or an estimator of this package, which is not changed.
        None: "averaged-pa1" for tables, "averaged" for sparse files and worked examples such as ``@xor``.
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
    scale : bool, "online" or None
        Whether to standardise the numbers of a table, or to divide sparse features by their deviations. The
        weights of linear models are turned into weights of the original features afterwards. None: yes for tables,
        no for sparse files and worked examples such as ``@xor``. "online" puts an `OnlineScaler` before the
        learner, which goes on learning means and deviations in a server; it takes numbers and categories.
    holdout : float or None
        The share of each class that is not trained on, to measure the model; of all rows in a regression, of all
        groups in a ranking, and of all sentences. All rows are then kept in memory.
    min_class : int, str or None
        Classes with fewer rows are left out, such as 5, or become one class, such as "5:other". All rows are then
        kept in memory.
    probabilities : "sigmoid", "isotonic" or None
        Whether the model gives calibrated probabilities, and by which curves; see `rosenblatt.calibrate`. The
        learner is trained five more times, on four fifths of the rows each, all in memory.
    seed : int
        Chooses what is held out, and is the `random_state` of a learner given by name.
    memory, cache
        Data of more than `memory` bytes, by default a quarter of the free memory, goes through a cache file; see
        `rosenblatt.tables.collect.collect`.
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
        How to read files; see `open_data`. Sentences have ``format`` and ``encoding``. Rows of a table without a
        label are left out, and a note counts them; ``missing="error"`` refuses them.

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
    ('plateau', 4)
    >>> tagged = [[("the", "DET"), ("dog", "NOUN")], [("dogs", "NOUN"), ("bark", "VERB")]]
    >>> rb.train(tagged).model.predict([["the", "dogs", "bark"]])
    [['DET', 'NOUN', 'VERB']]
    """
    kind: type[Training] = TableTraining
    if reads_sentences(data, label, options.get("format")):
        kind = find("sequences.tagger_tasks").SentenceTraining
    return kind(
        data=data,
        learner=learner,
        parameters=parameters,
        label=label,
        columns=columns,
        scale=scale,
        holdout=holdout,
        min_class=min_class,
        probabilities=probabilities,
        seed=seed,
        memory=memory,
        cache=cache,
        checkpoint=checkpoint,
        every=every,
        resume=resume,
        progress=progress,
        log=log,
        options=options,
    ).run()


class TableTraining(Training):
    """The training on a table, or on any source of rows."""

    source: Source = learned()
    blocks: Any = learned()
    groups: Any = None
    online: OnlineScaling | None = None
    densified: bool = False
    held: Batch | None = None
    held_groups: Any = None
    all_data: str | None = None
    rare: RareClasses | None = None
    notes: list[str] = learned()

    def open(self) -> None:
        """Make the learner, and read the rows: all into memory if the learner, a holdout or folds need it."""
        self.notes = []
        self.log = keep_notes(self.log, self.notes)
        with closed_on_error(source_of(self.data, self.options, learning=True)) as self.source:
            self._make_learner()
            self.scale = scales_by_default(self.source) if self.scale is None else self.scale
            with explain_target(self.source):
                self.blocks = self._read()
        describe_reading(self.source, self.log, self.blocks.facts)
        note_similar(self.blocks.classes, self.log, self.source.options)
        require_target(self.source, self.blocks, regression=is_regression(self.estimator))

    def _make_learner(self) -> None:
        """Make the learner, and refuse what it cannot do before any row is read."""
        if self.learner is None:
            self.learner = default_learner(self.source.measured)
        self.name, self.estimator = named_learner(self.learner, self.parameters, self.seed, bare=True)
        estimator = self.estimator
        has_curves = hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba")
        if self.probabilities is not None and not has_curves:
            told = f"The learner {self.name} has no decision scores to calibrate, or has probabilities. Drop "
            raise ParameterError(told + Given("probabilities") + ".", code=UNUSED)
        self.rare = RareClasses.of(self.min_class)
        if self.rare is not None and (is_regression(estimator) or takes_groups(estimator)):
            told = f"The learner {self.name} predicts no classes. Drop " + Given("min_class") + "."
            raise ParameterError(told, code=UNUSED)
        self.refuse_unused(registry.abilities(estimator), whole=self._whole)
        if self.scale == "online" and (self.probabilities is not None or takes_groups(estimator)):
            also = Given("learner", self.name) if self.probabilities is None else Given("probabilities")
            raise contradiction(Given("scale", "online"), also, ", because such a scaler goes on learning")

    @property
    def _whole(self) -> str:
        """The argument that needs all rows in memory, or ""."""
        asked = ("holdout", "probabilities", "min_class") + ("scale",) * (self.scale == "online")
        return next((name for name in asked if getattr(self, name) is not None), "")

    def _read(self) -> Any:
        source, estimator = self.source, self.estimator
        if self._whole or not learns_from_blocks(estimator):
            return all_rows(source, numbers=is_regression(estimator))
        return collect(
            source,
            memory=self.memory,
            cache=self.cache,
            passes=estimator.get_params(deep=False).get("max_iter"),
            statistics=fills_means(source) or (bool(self.scale) and _has_numbers(source.recipe)),
            log=self.log,
        )

    def prepare(self) -> None:
        """Hold out rows, and fill and scale those that are trained on."""
        if takes_groups(self.estimator):
            self.groups = self.source.groups
            if self.groups is None:
                self.log("note: the rows have no groups (qid:), so that all of them are compared")
        if self.rare is not None:
            before, self.blocks = self.blocks, self.rare.apart(self.blocks, self.log)
            self.all_data = None if self.blocks is before else before.fingerprint
        self.blocks, _ = mark_and_tell(self.blocks, self.log)
        if self.holdout is not None:
            self._hold_out(self.holdout)
        recipe, fill = self.blocks.facts.recipe, fills_means(self.source)
        if self.scale == "online":
            self._prepare_online(recipe, fill)
            return
        self.before = preparation(self.blocks, recipe, fill=fill, scale=bool(self.scale))
        self.prepared = transform_blocks(self.blocks, *self.before)

    def _prepare_online(self, recipe: Recipe | None, fill: bool) -> None:
        """Scale rows by an online scaler that has met all of them; the weights stay those of scaled rows."""
        before = preparation(self.blocks, recipe, fill=fill, scale=False)
        filled: Batch = transform_blocks(self.blocks, *before).whole  # type: ignore[assignment]  # all in memory
        self.densified = isinstance(filled.rows, CSR)
        if self.densified and (not isinstance(recipe, TableRecipe) or recipe.texts or recipe.hashed):
            raise ParameterError(
                Given("scale", "online") + " needs a number for every feature, but these rows are sparse: they "
                "have words or hashed columns, or come from a sparse file. Ignore such columns, or use "
                + Remedy("scale", True)
                + "."
            )
        filled = self._as_scaled(filled)
        self.online = OnlineScaling(True, True, Figures.of(filled.n_features), filled.names)
        self.online.learn(filled.rows)
        batch = replace(filled, rows=self.online.scale(filled.rows))
        self.prepared = MemoryBlocks(batch, self.blocks.boundaries, facts=self.blocks.facts)
        self.before = before._replace(scaling=self.online.as_scaling())

    def _as_scaled(self, batch: Batch) -> Batch:
        """Return rows in the layout that is scaled: categories become arrays for an online scaler."""
        if not self.densified:
            return batch
        require_memory(
            f"{batch.n_rows:,} rows of {batch.n_features:,} features as arrays, which an online scaler needs,",
            COPIES_TO_SCALE * 8 * batch.n_rows * batch.n_features,
            "Ignore columns with many categories, train on fewer rows, or use " + Remedy("scale", True) + ".",
        )
        return replace(batch, rows=batch.native().toarray())

    def _hold_out(self, share: float) -> None:
        blocks, groups = self.blocks, self.groups
        self.all_data = self.all_data or blocks.fingerprint
        by_class = not is_regression(self.estimator)
        rows = _rows_held_out(blocks, share, self.seed, by_class=by_class, groups=groups, rare=self.rare)
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
        left = unscaled(estimator, self.before) if self.online is None else self.before
        recipe, calibration = blocks.facts.recipe, None  # complete only now, if training read the source
        if self.probabilities is not None and not interrupted:
            again = partial(named_learner, self.learner, self.parameters, self.seed, bare=True)
            size = size_of(decision_of(estimator, left, blocks.whole))
            how = {"recipe": recipe, "fill": fills_means(self.source), "scale": self.scale}
            calibration = calibrate_by_folds(again, blocks, self.probabilities, size, **how)
        trained_on = held_out = None
        if blocks.whole is not None:
            whole = self._as_scaled(blocks.whole)
            trained_on = evaluate_predictions(estimator, left, whole, groups=self.groups)
        if self.held is not None:
            held_out = evaluate_predictions(estimator, left, self._as_scaled(self.held), groups=self.held_groups)
        summary = TrainingSummary.of(
            self.name,
            estimator,
            self.prepared,
            margin_of(estimator, self.prepared, scaled=self.online is not None),
            trained_on=trained_on,
            held_out=held_out,
            seconds=seconds,
            target=recipe.target[0] if isinstance(recipe, TableRecipe) and recipe.target is not None else None,
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
        if self.online is not None:
            left = left._replace(scaling=None)
        encoding = encoding_of(recipe, left, blocks.names, blocks.n_features)
        if encoding is not None and self.densified:
            encoding = replace(encoding, parameters=encoding.encoder_parameters | {"sparse_output": False})
        done = Preparation(tuple(step for step in (encoding, self.online) if step is not None))
        if self.source.options is not None and self.source.options.vocabulary is None:
            done = with_largest_words(done, estimator)
        notes = tuple(self.notes)
        return TrainingResult(estimator, done, summary, provenance, calibration, self.checkpoint, notes)


def checkpoint_of(path: Place) -> Path:
    """Return where `rosenblatt train` keeps the checkpoint of a model: beside it.

    Examples
    --------
    >>> checkpoint_of("models/spam.model").as_posix()
    'models/.spam.model.checkpoint'
    """
    return Path(path).with_name(f".{Path(path).name}.checkpoint")


def _rows_held_out(
    blocks: MemoryBlocks,
    share: float,
    seed: int,
    *,
    by_class: bool,
    groups: ArrayLike | None,
    rare: RareClasses | None,
) -> NDArray[np.bool_]:
    """Return which rows to measure on: the given share of each class, of all rows, or of all groups."""
    batch = blocks.whole
    codes = batch.codes if by_class else np.zeros_like(batch.codes)
    if by_class and blocks.counts.min() < 2:
        raise ParameterError(
            "A holdout needs two rows of each class, one to train on and one to measure on; class "
            f"{blocks.classes[blocks.counts.argmin()]!s} has one. "
            + rare_ways(blocks.counts, blocks.classes, 2, rare)
            + ", or train without a holdout.",
            parameter="holdout",
        )
    if batch.n_rows < 2:
        raise ParameterError(Given("holdout") + " needs two rows, one to train on and one to measure on.")
    held = np.zeros(batch.n_rows, np.bool_)
    if groups is None:
        held[hold_out(codes, share, np.random.default_rng(seed))] = True
        return held
    numbers = as_groups(groups, batch.n_rows)
    if numbers.max() == 0:
        raise ParameterError(Given("holdout") + " needs two groups, one to train on and one to measure on.")
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
