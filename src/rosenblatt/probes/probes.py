"""`rosenblatt.Probes`: very many perceptrons on one matrix, measured by folds and controls."""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rosenblatt.certify.problem import Direction, SeparationProblem, cover_probability
from rosenblatt.certify.sides import bias_of
from rosenblatt.certify.verdict import verdict
from rosenblatt.codecs import Array, Count, Maybe, Record, Several, StateSchema, Text, require
from rosenblatt.escaping import ShowsText
from rosenblatt.estimators._features import ReadsTables
from rosenblatt.estimators._fitting import generator, progress_bar
from rosenblatt.estimators._one_vector import finite
from rosenblatt.exceptions import NOTE, Given, ParameterError, ShapeError, TrainingOverflowError
from rosenblatt.learning.fit_loop import LEAST_WORK, MISTAKE, VALUE, VISIT
from rosenblatt.learning.linear import loop_scores
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.order import Blockwise, Order, make_order
from rosenblatt.loops.rules import Rule
from rosenblatt.parameters import (
    Declared,
    PerceptronParameters,
    check_callbacks,
    check_count,
    learned,
    like,
    optional,
    param,
)
from rosenblatt.probes.devices import with_engine
from rosenblatt.probes.engine import Engine, Matrix, Plan, Problems, Signs, States, widen
from rosenblatt.probes.matrix import as_matrix, blocks_of
from rosenblatt.probes.measuring import MAX_FOLDS, ProbeResult, as_signs, control_labels, deal_folds
from rosenblatt.registry import built_in
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, read_only
from rosenblatt.rows.memory import usual_memory
from rosenblatt.stopping import (
    BRIEF_PATIENCE_PASSES,
    Plateau,
    StopReason,
    Trend,
    interruptible,
    stop_if_interrupted,
)
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import Floats, Ints

# One training: passes until each problem ends by the library's rule, on any engine.


class PassOfAll(NamedTuple):
    """What callbacks are told of a pass."""

    epoch: int
    mistakes: int  # of all problems
    visits: int  # of all problems
    seconds: float  # since training began
    active: int  # the problems that made the pass


@dataclass(frozen=True)
class Limits:
    """When training ends."""

    max_iter: int  # the most passes
    max_time: float | None  # seconds; training ends between two passes
    # passes without a fall of the mistakes by 2 %; None is 5 for averages, and the trend for last weights
    patience: int | None
    average: bool  # whether hypotheses are averaged
    stored: int  # the values that a pass reads


class Ending:
    """Decides when one problem ends, as the fit of one `rosenblatt.Perceptron` does."""

    def __init__(self, limits: Limits) -> None:
        brief = limits.average or limits.patience is not None
        self._plateau = Plateau(limits.patience or BRIEF_PATIENCE_PASSES) if brief else None
        self._trend = Trend()
        self._limits = limits

    def ends(self, epoch: int, mistakes: int, *, late: bool) -> StopReason | None:
        """Take note of a pass; return why training ends with it, if it does. `late` says that time is over."""
        if mistakes == 0:
            return "separated"
        flat = self._trend.ends(mistakes, self._limits.stored)
        stalled = flat if self._plateau is None else self._plateau.ends(epoch, mistakes)
        if late:
            return "max_time"
        if stalled:
            return "plateau"
        return "max_iter" if epoch == self._limits.max_iter else None


class Trained(NamedTuple):
    """The result of training."""

    states: States  # those after the last whole pass of each problem
    # passes, mistakes, all_mistakes: the passes of each problem, the mistakes of its last one, and of all
    passes: Ints
    mistakes: Ints
    all_mistakes: Ints
    reasons: list[StopReason]  # why each problem ended
    interruption: KeyboardInterrupt | None  # the Ctrl-C that ended training


def train(
    engine: Engine, k: int, order: Order, limits: Limits, callbacks: Sequence[Callable[[PassOfAll], object]] = ()
) -> Trained:
    """Make passes until every problem has ended; the engine has been started.

    Ctrl-C ends training with the last whole pass of all problems. In the first pass it is raised.
    """
    began = time.perf_counter()
    endings = [Ending(limits) for _ in range(k)]
    reasons: list[StopReason] = ["interrupted"] * k
    passes, last, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)
    active, epoch = np.arange(k), 0
    interruption: KeyboardInterrupt | None = None
    try:
        while len(active):
            stop_if_interrupted()
            visits = order.visits(epoch + 1)
            assert visits is not None, "orders of probes have no end"
            mistakes = engine.train_pass(active, visits)
            epoch += 1
            passes[active], last[active] = epoch, mistakes
            total[active] += mistakes
            seconds = time.perf_counter() - began
            report = PassOfAll(epoch, int(mistakes.sum()), len(active) * len(visits), seconds, len(active))
            answers = [callback(report) for callback in callbacks]
            late = limits.max_time is not None and seconds >= limits.max_time
            found = [endings[m].ends(epoch, int(last[m]), late=late) for m in active.tolist()]
            for m, reason in zip(active.tolist(), found, strict=True):
                reasons[m] = reason or "interrupted"
            active = active[[reason is None for reason in found]]
            if any(answers):
                break
    except KeyboardInterrupt as caught:
        if not epoch:
            raise
        interruption = caught
    states = engine.states()
    finite = np.isfinite(states.hypothesis()).all(axis=1)
    if not finite.all():
        raise TrainingOverflowError(
            f"Training problem {int(np.argmin(finite))} drove a weight beyond the largest float. Scale the "
            "features down."
        )
    return Trained(states, passes, last, total, reasons, interruption)


# What was measured.


class ProbeTable(ShowsText):
    """What was measured of each probe: a sequence of `ProbeResult`, which prints as a table.

    Attributes
    ----------
    columns : list of str
        The names of the columns that were measured; see `rosenblatt.Probes.table`.
    weights : list of int
        The number of weights of each probe: one for each feature, and one for the bias.
    """

    def __init__(
        self, results: Sequence[ProbeResult], weights: Sequence[int], layers: Sequence[str] | None = None
    ) -> None:
        self.results, self.weights = list(results), list(weights)
        self.layers = None if layers is None else list(layers)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, k: int) -> ProbeResult:
        return self.results[k]

    def __iter__(self) -> Iterator[ProbeResult]:
        return iter(self.results)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(dict.fromkeys(name for row in self.to_dicts() for name in row))

    @property
    def notes(self) -> list[str]:
        """What the verdicts do not say: which probes have so few rows that random labels would be separable too.

        Those with more rows than twice their weights have no note: there the probability is below one half.
        """
        asked = [
            (result.rows, weights)
            for result, weights in zip(self.results, self.weights, strict=True)
            if result.separable is not None
        ]
        few = [cover_probability(rows, weights) for rows, weights in asked if rows <= 2 * weights]
        if not few:
            return []
        least = max(0.5, math.floor(min(few) * 1000) / 1000)  # it is 0.5 for twice as many, but for rounding
        chance = f"with probability {'at least ' * (least < 1)}{least:g}"
        who = f"{len(few)} of {len(asked)} probes have" if len(few) > 1 else f"1 of {len(asked)} probes has"
        return [
            f"{who} at most twice as many rows as weights. So few rows in general position would be separable for "
            f'random labels, too, {chance} (Cover 1965), so that "yes" says little there.'
        ]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a mapping of column to value for each probe, for other libraries: ``pandas.DataFrame(…)``."""
        rows = [result.cells() for result in self.results]
        if self.layers is None:
            return rows
        return [{"layer": layer, **row} for layer, row in zip(self.layers, rows, strict=True)]

    def to_csv(self) -> str:
        """Return the table as CSV; shares are written in full."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.to_dicts())
        return text.getvalue()

    def cells(self) -> list[list[str]]:
        """Return the table in words for people, the names of its columns first; intervals are one column."""
        rows = []
        for row in self.to_dicts():
            told = {
                name: f"{value:.3f}" if isinstance(value, float) else str(value) for name, value in row.items()
            }
            for name, low, high in (("accuracy", "low", "high"), ("control", "control_low", "control_high")):
                if name in told:
                    told[name] += f" ({told.pop(low)} to {told.pop(high)})"
            rows.append(told)
        names = list(dict.fromkeys(name for row in rows for name in row))
        return [names, *([row.get(name, "") for name in names] for row in rows)]

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        text = {"layer", "probe", "end", "separable"}
        lines = [
            "  ".join(
                cell.ljust(width) if name in text else cell.rjust(width)
                for cell, width, name in zip(row, widths, cells[0], strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *(NOTE + note for note in self.notes)])


RESULT = Record(
    ProbeResult,
    {
        "name": Text(),
        "rows": Count(1),
        "positive": Count(),
        "passes": Count(1),
        "mistakes": Count(),
        "end": Text(),
        "training": Count(),
        "right": Maybe(Count()),
        "control": Maybe(Count()),
        "controlled": Maybe(Count(1)),
        "separable": Maybe(Text(("yes", "no", "undecided"))),
    },
)


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    require(held["_weights"].shape == (len(held["_results"]), held["_width"] + 1), "weights and probes differ")
    fold, most = held["folds_"], max((each.rows for each in held["_results"]), default=0)
    require(fold is None or (len(fold) >= most and (fold >= -1).all()), "folds and probes differ")


class Probes(Declared, ReadsTables, BaseEstimator):  # type: ignore[misc]
    """Very many linear probes on one matrix, such as the embeddings of a model, in one training.

    Each problem is a perceptron of its own: with one problem, the bits are those of a `rosenblatt.Perceptron` with
    the same parameters. All of them share each reading of a row. Folds measure how accurate each probe is on rows
    that it has not seen, and control tasks how accurate it would be for random labels. A verdict says whether the
    problem is linearly separable at all.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_problems, n_features) and (n_problems,)
        The probes, each trained on all rows of its problem. Folds and controls only measure.
    names_ : list of str
        The names of the problems.
    folds_ : ndarray of int8, shape (n_rows,), or None
        The fold of each row.
    device_ : str
        What was trained on.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> probes = Probes(folds=4, controls=1).fit(X, {"first": X[:, 0] > 0, "noisy": X[:, 1] + X[:, 2] ** 2 > 1})
    >>> [result.separable for result in probes.table()]
    ['yes', 'no']
    >>> probes.predict(X[:1]).shape
    (1, 2)
    """

    _learner = built_in(
        "Probes",
        StateSchema(
            {"_weights": Array(ndim=2), "_width": Count(1), "_names": Maybe(Several(Text(), tuple)),
             "_results": Several(RESULT), "folds_": Maybe(Array(dtypes=(np.int8,))), "device_": Text()},
            link=_link,
        ),
    )  # fmt: skip
    folds: int | None = param(
        5,
        "The number of folds: each row is judged by a probe that was trained without its fold. All problems have "
        "the same folds, drawn in proportion to their sides. None leaves them out.",
        check=optional(partial(check_count, least=2, most=MAX_FOLDS)),
    )
    controls: int = param(
        0, "The number of control tasks for each problem: the same folds with shuffled labels.", least=0
    )
    average: bool = param(True, "Whether to predict with the average of the hypotheses after each visit.")
    eta0: float = param(1.0, "The learning rate η.", above=0)
    margin: float = param(0.0, "A row is corrected if y f ≤ margin.", least=0)
    fit_intercept: bool = param(True, "Whether probes have a bias.")
    shuffle: bool = param(
        True,
        "Whether each pass has a random order. Memory maps and shards are shuffled within blocks of 64 MiB, which "
        "come in random order.",
    )
    max_iter: int = param(1000, "The maximum number of passes over the data.")
    max_time: float | None = like(PerceptronParameters, doc="Seconds after which no further pass begins.")
    n_iter_no_change: int | None = param(
        None,
        "Passes without a fall of the mistakes by 2 % after which a problem ends. None means 5, and without "
        "averages a trend, as of `rosenblatt.Perceptron`.",
    )
    decide: bool = param(
        True,
        "Whether to decide if each problem is separable, as `rosenblatt.certify` does, within about the work of "
        "training. This needs float32 or float64 rows in memory: nothing is asked about rows on a GPU, nor about "
        "others that would take over a quarter of the free memory.",
    )
    device: str = like(
        PerceptronParameters,
        doc='Where to train: on the CPU, on an NVIDIA GPU ("cuda", with CuPy), or on a GPU if there is one '
        '("auto"). The bits are the same.',
    )
    n_jobs: int | None = param(
        None,
        "The number of threads, −1 for all cores; the bits are the same. None means ROSENBLATT_THREADS, or one.",
        check=None,
    )
    random_state: Any = like(PerceptronParameters, doc="The random seed of orders, folds and controls.")
    verbose: int = like(PerceptronParameters)
    callbacks: Any = param(
        None,
        "Functions that are called after each pass with a `PassOfAll`: its number, the mistakes and visits of all "
        "problems, the seconds so far, and how many problems made it. Training ends if one of them returns True.",
        kind="list of callables or None",
        check=partial(check_callbacks, report="PassOfAll"),
    )
    _weights: Floats = learned()
    _results: list[ProbeResult] = learned()

    def fit(self, X: Any, Y: Any, types: Any = None) -> Self:
        """Train all probes, and measure them.

        Parameters
        ----------
        X : array-like, dataframe, tensor, path, or list of 2-D arrays or paths, shape (n_rows, n_features)
            The rows. Values are float64, float32, float16, bfloat16 or bytes, and are widened exactly. All must be
            finite, also those of rows that are in no problem. Memory maps and shards are read a block at a time;
            paths are NPY, safetensors or Parquet. A tensor of torch, CuPy or JAX is read where it lies.
        Y : matrix, dataframe, mapping of names to columns, or column
            The labels of each problem. −1 and +1 are the sides; where these occur, 0 is a row that is not in the
            problem, and so is a missing value anywhere. Two other labels are the negative and the positive side,
            in order. More labels make one problem for each class, against the rest.
        types : sequence or None
            The type of each row, such as its word. Control tasks then give all rows of a type one random label
            (Hewitt and Liang 2019).

        Returns
        -------
        Probes
            The trained probes. An error leaves them unchanged; Ctrl-C leaves the last whole pass of all problems.
            After it, only the rows that are right are still counted; a second Ctrl-C leaves that out and changes
            nothing.
        """
        with interruptible(), using(self.n_jobs):
            self._check_parameters()
            if self.controls and self.folds is None:
                raise ParameterError(
                    Given("controls", self.controls) + " is measured by folds. Set folds, or controls=0."
                )
            matrix, names = as_matrix(X)
            problem_names, signs = as_signs(Y, matrix.n_rows)
            problems, seed, fold = self._problems(signs, types)
            order = self._order(matrix, seed)
            result = with_engine(self.device, lambda engine: self._train(engine, matrix, problems, order))
            self._publish(matrix, names, problem_names, signs, fold, *result)
        return self

    def fit_layers(self, layers: Mapping[str, Any], Y: Any, types: Any = None) -> ProbeLayers:
        """Train the same probes on several matrices with the same rows, such as the layers of a model.

        Parameters
        ----------
        layers : mapping of str to X
            The rows of each layer; see `fit`.
        Y, types
            See `fit`. All layers have the same folds and controls.

        Returns
        -------
        ProbeLayers
            The trained probes of each layer, and their common table. This object stays as it is.
        """
        if not layers:
            raise ShapeError("There are no layers. Pass a mapping of names to matrices.")
        made = {}
        for name, X in layers.items():
            probes = type(self)(**self.get_params())
            made[str(name)] = probes.fit(X, Y, types)
        return ProbeLayers(made)

    def table(self) -> ProbeTable:
        """Return what was measured: a row for each probe.

        `rows` are the rows of the problem, and `majority` is the share of the larger side. `training` is the share
        of rows that the probe predicts right after training on them. `accuracy` is that of rows left out, with
        Wilson's interval of 95 % from `low` to `high`. `control` is the accuracy of control tasks, and
        `selectivity` the difference. `separable` is "yes" or "no" where this is proved. `passes`, `mistakes` (of
        the last pass) and `end` are about training on all rows. `notes`, which are printed below, say where there
        are so few rows that "yes" says little (Cover 1965).
        """
        self._require_fitted()
        weights = self._width + bool(self.fit_intercept)
        return ProbeTable(self._results, [weights] * len(self._results))

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row by each probe: the bits that training decides by."""
        self._require_fitted()
        matrix, _ = as_matrix(X)
        if matrix.n_features != self._width:
            raise ShapeError(f"X has {matrix.n_features} features, but the probes have {self._width}.")
        if matrix.on_device:
            raise ParameterError(Given("X") + " lies on a GPU. Copy it to the host to predict.")
        parts = [np.ascontiguousarray(widen(np.asarray(part), matrix.kind)) for part in matrix.parts]
        with using(self.n_jobs):
            rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
            return finite(loop_scores(rows, self._weights), Features(rows, *rows.shape))

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the side of each row by each probe: +1 where its score is above zero, otherwise −1."""
        return np.where(self.decision_function(X) > 0.0, 1, -1).astype(np.int8)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the probes and their table to a file, as `rosenblatt.save` does; `rosenblatt.load` reads it."""
        find("models.files").save(self, path)

    @property
    def coef_(self) -> Floats:
        """The normal vectors."""
        self._require_fitted("coef_")
        return read_only(self._weights[:, :-1].copy())

    @property
    def intercept_(self) -> Floats:
        """The biases."""
        self._require_fitted("intercept_")
        return read_only(self._weights[:, -1].copy())

    @property
    def names_(self) -> list[str]:
        """The names of the problems."""
        self._require_fitted("names_")
        return [result.name for result in self._results]

    def _problems(self, signs: Signs, types: Any) -> tuple[Problems, int, Signs | None]:
        """Return the problems of all rows, then those of the folds, then those of the controls; and the seed."""
        rng = generator(self.random_state)
        seed = int(rng.integers(2**64, dtype=np.uint64))
        n, k = signs.shape
        if self.folds is None:
            return Problems(signs, np.arange(k)), seed, None
        if self.folds > n:
            raise ParameterError(Given("folds", self.folds) + f" needs at least as many rows, but X has {n}.")
        fold = deal_folds(signs, self.folds, rng)
        labels = [signs, *(control_labels(signs, fold, types, rng) for _ in range(self.controls))]
        columns = np.arange(k * len(labels))
        column = np.concatenate([np.arange(k), np.repeat(columns, self.folds)])
        left_out = np.concatenate([np.full(k, -1), np.tile(np.arange(self.folds), len(columns))]).astype(np.int8)
        return Problems(np.concatenate(labels, axis=1), column, fold, left_out), seed, fold

    def _order(self, matrix: Matrix, seed: int) -> Order:
        if matrix.streamed:
            return Blockwise(blocks_of(matrix), seed if self.shuffle else None)
        return make_order("shuffle" if self.shuffle else "cyclic", matrix.n_rows, seed)

    def _train(
        self, engine: Engine, matrix: Matrix, problems: Problems, order: Order
    ) -> tuple[Trained, Ints, Floats, str]:
        rule = Rule(float(self.eta0), 1.0 if self.fit_intercept else 0.0, float(self.margin))
        engine.start(matrix, problems, Plan(rule, self.average))
        limits = Limits(
            self.max_iter,
            self.max_time,
            self.n_iter_no_change,
            self.average,
            matrix.n_rows * matrix.n_features,
        )
        title = f"{problems.count:,} problems"
        bar = progress_bar(self.max_iter, title, _tell) if self.verbose else nullcontext()
        with bar as show:
            callbacks = [*([show] if show else []), *(self.callbacks or ())]
            trained = train(engine, problems.count, order, limits, callbacks)
        hypothesis = trained.states.hypothesis()
        try:
            right = engine.count_right(hypothesis)
        except KeyboardInterrupt as caught:
            if trained.interruption is not None:
                raise
            trained = trained._replace(interruption=caught)  # what was trained is counted anew, and published
            right = engine.count_right(hypothesis)
        return trained, right, hypothesis, engine.name

    def _publish(
        self,
        matrix: Matrix,
        names: tuple[str, ...] | None,
        problem_names: list[str],
        signs: Signs,
        fold: Signs | None,
        trained: Trained,
        right: Ints,
        hypothesis: Floats,
        device: str,
    ) -> None:
        k, folds = len(problem_names), self.folds or 0
        measured = right[k:].reshape(1 + self.controls, k, folds).sum(axis=2) if folds else None
        rows = np.count_nonzero(signs, axis=0)
        told: list[str | None] = [None] * k
        try:
            if trained.interruption is None:
                told = self._verdicts(matrix, signs, trained)
        except KeyboardInterrupt as caught:
            trained = trained._replace(interruption=caught)
        results = [
            ProbeResult(
                name=name,
                rows=int(rows[j]),
                positive=int(np.count_nonzero(signs[:, j] > 0)),
                passes=int(trained.passes[j]),
                mistakes=int(trained.mistakes[j]),
                end=trained.reasons[j],
                training=int(right[j]),
                right=None if measured is None else int(measured[0, j]),
                control=None if measured is None or not self.controls else int(measured[1:, j].sum()),
                controlled=int(rows[j]) * self.controls if self.controls else None,
                separable=told[j],
            )
            for j, name in enumerate(problem_names)
        ]
        self.__dict__.update(
            _weights=hypothesis[:k].copy(),
            _results=results,
            _width=matrix.n_features,
            _names=names,
            folds_=None if fold is None else read_only(fold),
            device_=device,
        )
        if trained.interruption is not None:
            raise trained.interruption

    def _verdicts(self, matrix: Matrix, signs: Signs, trained: Trained) -> list[str | None]:
        """Return whether each problem is separable: "yes", "no" or "undecided"; None if this was not asked."""
        k, width = signs.shape[1], 8 if matrix.kind == "float64" else 4
        copied = matrix.streamed or matrix.kind not in ("float64", "float32")
        too_large = copied and matrix.n_rows * matrix.n_features * width > usual_memory()
        if not self.decide or matrix.on_device or too_large:
            return [None] * k
        rows = matrix.parts[0] if len(matrix.parts) == 1 else np.concatenate(matrix.parts)
        rows = widen(np.asarray(rows), matrix.kind)
        rows = np.ascontiguousarray(rows, np.float32 if rows.dtype == np.uint8 else rows.dtype)
        everything = Features(read_only(rows), *rows.shape)

        def decide(j: int) -> str:
            return _verdict(everything, signs[:, j], trained, j, bias=self.fit_intercept)

        with one_blas_thread():
            return list(ordered(decide, range(k)))


def _verdict(features: Features, signs: Signs, trained: Trained, j: int, *, bias: bool) -> str:
    """Return whether a problem is separable: by its last weights, or by a verdict for the work of training."""
    taking = np.flatnonzero(signs)
    batch = Batch(
        features.rows,
        features.n_rows,
        features.n_features,
        None,
        codes=read_only((signs > 0).astype(np.int64)),
        classes=np.array([-1, 1]),
        weight=read_only((signs != 0).astype(np.float64)),
    )
    if trained.reasons[j] == "separated":
        part = batch if len(taking) == len(signs) else batch.take(taking)
        direction = Direction.of_floats(trained.states.w[j, :-1])
        problem = SeparationProblem(part, part.signs.astype(np.float64), bias=bias)
        scaled = None if direction is None else problem.direction(trained.states.w[j, :-1])
        if scaled is not None and bias_of(problem, scaled[0]) is not None:
            return "yes"
    visits, values = (
        int(trained.passes[j]) * len(taking),
        int(trained.passes[j]) * len(taking) * features.n_features,
    )
    work = VISIT * visits + MISTAKE * int(trained.all_mistakes[j]) + VALUE * values
    found = verdict(batch, bias=bias, work=max(LEAST_WORK, work))
    if found is None:
        return "undecided"
    return {"separable": "yes", "inseparable": "no"}.get(found.verdict, "undecided")


def _tell(report: Any) -> str:
    return f"{report.active:,} left, {report.mistakes:,} mistakes"


@dataclass(frozen=True)
class ProbeLayers(ShowsText):
    """The same probes on several matrices, such as the layers of a model.

    Attributes
    ----------
    layers : dict of str to Probes
        The trained probes of each layer.
    """

    layers: dict[str, Probes]

    def table(self) -> ProbeTable:
        """Return what was measured: a row for each layer and probe; see `Probes.table`."""
        tables = {name: probes.table() for name, probes in self.layers.items()}
        results = [result for table in tables.values() for result in table]
        weights = [count for table in tables.values() for count in table.weights]
        return ProbeTable(results, weights, [name for name, table in tables.items() for _ in table])

    def best(self) -> dict[str, str]:
        """Return for each probe the layer with the highest accuracy; of equal ones the first.

        Without folds there is none.
        """
        found: dict[str, tuple[float, str]] = {}
        for layer, probes in self.layers.items():
            for result in probes.table():
                if result.accuracy is not None and result.accuracy > found.get(result.name, (-1.0, ""))[0]:
                    found[result.name] = result.accuracy, layer
        return {name: layer for name, (_, layer) in found.items()}

    def __str__(self) -> str:
        return str(self.table())
