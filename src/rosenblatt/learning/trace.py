"""The record of a run: its mistakes, collected while it goes on, and the models that can be rebuilt from them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.atomic import replacing
from rosenblatt.escaping import ShowsText, html_table
from rosenblatt.exceptions import Given, InputError, ParameterError, ShapeError
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import State
from rosenblatt.loops.layout import Log, Rows, Targets
from rosenblatt.loops.rules import MEMORIES, Memory, Penalty
from rosenblatt.parameters import check_choice
from rosenblatt.rows.batch import Batch, as_labelled
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike


@dataclass(frozen=True, eq=False)
class Curve:
    """The errors of each pass.

    Attributes
    ----------
    training : ndarray
        The share of visits in each pass that were mistakes, or, from `exact_curve`, the share of training rows
        that are wrong after it.
    validation : ndarray or None
        The share of validation rows that are wrong after each pass.
    """

    training: Floats
    validation: Floats | None = None

    @property
    def passes(self) -> Ints:
        """1, 2, …: the passes."""
        return np.arange(1, len(self.training) + 1)

    @property
    def best(self) -> int | None:
        """The last of the passes with the lowest validation error."""
        if self.validation is None or not len(self.validation):
            return None
        return int(np.flatnonzero(self.validation == self.validation.min())[-1]) + 1


def exact_curve(
    trace: Trace, X: MatrixLike, y: ColumnLike, validation: tuple[MatrixLike, ColumnLike] | None = None
) -> Curve:
    """Replay a run, and measure the model at the end of each pass on its data and on validation data.

    Training only counts mistakes, by the weights at each visit. This reads all data once for each pass, and so is
    done on request.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> exact_curve(clf.trace_, X, y).training.tolist()[-1]
    0.0
    """
    models = trace.after_each_pass(X, y)
    sets = [as_labelled(*pair, trace.classes) for pair in ((X, y), validation) if pair is not None]
    return Curve(*(np.array([model.error(batch) for model in models]) for batch in sets))


Detail: TypeAlias = Literal["mistakes", "counts"] | None


class Mistakes(NamedTuple):
    """Mistakes in order, as one array for each of their properties.

    Inseparable data makes millions of mistakes, so they are kept small: row numbers in 32 bits if these suffice,
    and equal steps as one number repeated without memory. `machine` is the hyperplane that erred; for classes
    compared directly, the class predicted.
    """

    visit: Ints
    index: NDArray[Any]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    score: Floats
    step: Floats
    machine: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[Mistakes], count: int) -> Mistakes:
        """Return the first `count` mistakes of several parts, in order."""
        if not parts:
            integers, floats = np.empty(0, np.int64), np.empty(0)
            return cls(integers, integers, floats, floats, np.empty(0, np.int32))
        visit, index, score, step, machine = (
            np.concatenate(column)[:count] for column in zip(*parts, strict=True)
        )
        return cls(visit, index, score, _small(step), _small(machine))


def _small(column: NDArray[Any]) -> NDArray[Any]:
    """Return equal values as one number repeated without memory."""
    if not len(column) or (column != column[0]).any():
        return column
    return np.broadcast_to(np.array(column[0]), column.shape)


class Stretch(NamedTuple):
    """Some visits, the mistakes among them, with places in `visits`, and the number of visits before."""

    visits: NDArray[np.unsignedinteger]
    log: Log
    first: int

    @property
    def rows(self) -> NDArray[np.unsignedinteger]:
        """The row of each mistake."""
        return self.visits[self.log.at]


class Recorder:
    """Counts the mistakes of each pass, and keeps the mistakes themselves if `detail` is "mistakes".

    Once there are more than `most`, all of them are dropped and only counts are kept.
    """

    def __init__(self, detail: Detail, most: int | None = None) -> None:
        self.detail, self.most = detail, most
        self._is_cut = False
        self.mistakes_per_pass: list[int] = []
        self.visits_per_pass: list[int] = []
        # of rules that also correct rows on their right side: those with y f ≤ 0
        self.wrong_per_pass: list[int] = []
        self._parts: list[Mistakes] = []

    def begin_pass(self) -> None:
        """Start counting a new pass."""
        self.mistakes_per_pass.append(0)
        self.visits_per_pass.append(0)
        self.wrong_per_pass.append(0)

    def add(self, stretch: Stretch, wrong: int = 0) -> None:
        """Record some visits; `wrong` of their updates were made on a row on its wrong side."""
        log = stretch.log
        self.wrong_per_pass[-1] += wrong
        self.mistakes_per_pass[-1] += len(log.at)
        self.visits_per_pass[-1] += len(stretch.visits)
        if self.detail != "mistakes" or self._is_cut or not len(log.at):
            return
        if self.most is not None and sum(self.mistakes_per_pass) > self.most:
            self._is_cut, self._parts = True, []
        else:
            rows = stretch.rows
            small = np.int32 if rows.max() <= np.iinfo(np.int32).max else np.int64
            kept = log.score.copy(), _small(log.step.copy()), _small(log.machine.copy())
            self._parts.append(Mistakes(log.at + stretch.first, rows.astype(small), *kept))

    def last_rows(self, count: int) -> Ints:
        """Return the rows of the last `count` mistakes recorded."""
        parts: list[NDArray[Any]] = []
        for part in reversed(self._parts):
            parts.insert(0, part.index[-count:])
            count -= len(parts[0])
            if count <= 0:
                break
        return np.concatenate(parts).astype(np.int64)

    def keep(self, passes: int) -> None:
        """Drop all counts after the first `passes` passes."""
        del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:], self.wrong_per_pass[passes:]

    def go_on_from(self, mistakes: list[int], visits: list[int], wrong: list[int], kept: Mistakes | None) -> None:
        """Continue from another recorder of the same detail: its counts of each pass, and its mistakes."""
        self.mistakes_per_pass, self.visits_per_pass = list(mistakes), list(visits)
        self.wrong_per_pass = list(wrong)
        self._parts = [] if kept is None or not len(kept.visit) else [kept]
        self._is_cut = self.detail == "mistakes" and kept is None

    @property
    def cut(self) -> int | None:
        """The number of mistakes after which all of them were dropped, or None if that did not happen."""
        return self.most if self._is_cut else None

    def fork(self) -> Recorder:
        """Return a recorder that continues from here and does not change this one."""
        fork = Recorder(self.detail, self.most)
        fork.mistakes_per_pass = list(self.mistakes_per_pass)
        fork.visits_per_pass = list(self.visits_per_pass)
        fork.wrong_per_pass = list(self.wrong_per_pass)
        fork._parts, fork._is_cut = list(self._parts), self._is_cut
        return fork

    def mirror(self) -> None:
        """Negate the scores, as for opposite labels, and swap the two rivals."""
        self._parts = [part._replace(score=0.0 - part.score, machine=1 - part.machine) for part in self._parts]

    def unfold(self) -> None:
        """Turn scores of one machine, whose mistakes name their rivals, into leads of one class over the other.

        The lead is y f − (−y f), exactly twice y f; y is positive if the rival is class 0.
        """
        self._parts = [
            part._replace(score=np.where(part.machine == 0, 2.0, -2.0) * part.score) for part in self._parts
        ]

    def make_room(self, code: int) -> None:
        """Renumber rivals for a new class at position `code`."""
        self._parts = [part._replace(machine=part.machine + (part.machine >= code)) for part in self._parts]

    def mistakes(self, passes: int | None = None) -> Mistakes | None:
        """Return the mistakes of the first passes, or of all passes; None if they were not kept."""
        if self.detail != "mistakes" or self._is_cut:
            return None
        count = sum(self.mistakes_per_pass[:passes])
        joined = Mistakes.joined(self._parts, count)
        if len(self._parts) > 1 and count == sum(self.mistakes_per_pass):
            self._parts = [joined]  # the next call joins only the new ones
        return joined


class CompressedSet(NamedTuple):
    """The rows with mistakes, and the order of visits that trains the same model from them.

    A class without a mistake has one row, which is not visited.

    ``Perceptron(order=order, bias=bias, max_iter=1)``, with the start and learning rate of the run, errs on every
    visit and ends with the weights of the run, bit for bit. If the run separated its data, these few rows
    therefore lead to zero errors on all rows.
    """

    X: Any
    y: Any
    order: Ints
    rows: Ints
    bias: float


class _Labelled(NamedTuple):
    """Rows, the class of each, and the classes as the loops read them."""

    rows: Rows
    codes: Ints
    targets: Targets


SHOWN_ROWS = 5
"""Rows of a table that notebooks show from its beginning, and from its end."""


def _ends(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the first and the last rows of a table, with dots between them if it is longer."""
    if len(rows) <= 2 * SHOWN_ROWS:
        return rows
    return [*rows[:SHOWN_ROWS], ("…",) + (None,) * (len(rows[0]) - 1), *rows[-SHOWN_ROWS:]]


@dataclass(frozen=True, eq=False)
class Trace(ShowsText):
    """Every mistake of a run in order, its start, and the counts of each pass.

    The mistakes determine the model: w is the start plus the sum of ``step * y[index] * X[index]``, in this order.
    For classes compared directly, `predicted` is the class that the row was taken for; its vector loses what the
    vector of the row's class gains. Otherwise `machine` is the number of the machine that erred.

    Attributes
    ----------
    epoch, visit, index, score, step : ndarray
        For each mistake: the pass (from 1), the visits before it, the row, f(x) before the update, and the step
        η·weight.
    mistakes_per_pass, visits_per_pass : ndarray of int
        For each pass; the last one is shorter if time ran out.
    n_rows, n_features : int
        The shape of the training data.
    scheme : Scheme
        How classes became hyperplanes.
    penalty : Penalty or None
        How weights shrank with every visit.
    classes : ndarray
        The labels; of two, the negative one first.
    bias : float
        β, the gain of the bias for each unit of step: 1, R² or 0.
    radius : float or None
        R, where β = R².
    zero : int
        The side of f = 0.
    cut : int or None
        The number of mistakes after which the record was cut to bound its memory: it then holds counts only. None
        if it was not cut.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> trace = rb.Perceptron(order="cyclic").fit(X, y).trace_
    >>> len(trace), trace.alpha.tolist(), trace.replay(X, y).intercept
    (9, [5, 2, 2, 0], -1.0)
    """

    mistakes: Mistakes | None = field(repr=False)
    mistakes_per_pass: Ints
    visits_per_pass: Ints
    start: State = field(repr=False)
    n_rows: int
    n_features: int
    scheme: Scheme
    classes: NDArray[Any]
    bias: float
    radius: float | None = None
    zero: int = -1
    penalty: Penalty | None = None
    cut: int | None = None

    def __repr__(self) -> str:
        passes = len(self.mistakes_per_pass)
        kept = "" if self.mistakes is not None else ", counts only"
        kept += "" if self.cut is None else f": cut after {self.cut:,} mistakes"
        return f"Trace({len(self)} mistakes in {passes} passes over {self.n_rows} rows{kept})"

    def _html_parts(self) -> tuple[object, ...]:
        counts = zip(self.mistakes_per_pass.tolist(), self.visits_per_pass.tolist(), strict=True)
        passes = [(k + 1, mistakes, visits) for k, (mistakes, visits) in enumerate(counts)]
        parts: list[object] = [html_table(("pass", "mistakes", "visits"), _ends(passes))]
        if self.mistakes is not None and len(self):
            columns = [getattr(self, name).tolist() for name in self.columns]
            parts += [html_table(self.columns, _ends(list(zip(*columns, strict=True))))]
        return repr(self), *parts

    def __len__(self) -> int:
        return int(self.mistakes_per_pass.sum())

    def _require_mistakes(self) -> Mistakes:
        if self.mistakes is None and self.cut is not None:
            raise InputError(
                f"The trace was cut after {self.cut:,} mistakes to bound its memory; fit with "
                "trace='mistakes' to keep everything."
            )
        if self.mistakes is None:
            raise InputError("This trace holds counts only, not the single mistakes. Train with trace='mistakes'.")
        return self.mistakes

    @property
    def epoch(self) -> Ints:
        """The pass of each mistake, from 1."""
        self._require_mistakes()
        return np.repeat(np.arange(1, len(self.mistakes_per_pass) + 1), self.mistakes_per_pass)

    @property
    def visit(self) -> Ints:
        """The number of visits made before each mistake."""
        return self._require_mistakes().visit

    @property
    def index(self) -> Ints:
        """The row of each mistake."""
        return self._require_mistakes().index.astype(np.int64)

    @property
    def score(self) -> Floats:
        """The score f(x) of each mistake."""
        return self._require_mistakes().score

    @property
    def step(self) -> Floats:
        """The step η·weight of each mistake."""
        return self._require_mistakes().step

    @property
    def machine(self) -> Ints:
        """The machine that made each mistake; for classes compared directly, the code of the class predicted."""
        return self._require_mistakes().machine.astype(np.int64)

    @property
    def predicted(self) -> NDArray[Any]:
        """The label that was predicted at each mistake, if classes are compared directly."""
        if self.scheme.kind != "direct":
            raise AttributeError("Only a run that compares several classes directly has predicted classes.")
        return self.classes[self.machine]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of `to_frame`."""
        known = ("epoch", "visit", "index", "score", "step")
        match self.scheme.kind:
            case "binary":
                return known
            case "direct":
                return (*known, "predicted")
            case _:
                return (*known, "machine")

    @property
    def alpha(self) -> Ints:
        """The number of mistakes on each row: the coefficients α of the sample expansion."""
        return np.bincount(self.index, minlength=self.n_rows).astype(np.int64)

    @property
    def expansion(self) -> Floats:
        """The sum of the steps on each row: w = w₀ + Σ expansion_i y_i x_i, for any weights and ties."""
        return np.bincount(self.index, weights=self.step, minlength=self.n_rows).astype(np.float64)

    def replay(self, X: MatrixLike, y: ColumnLike) -> LinearModel:
        """Train again from the record alone, and return the model of the run, bit for bit.

        X and y are the training data of the run. Each step is checked: if a row does not have the score of the
        record, X or y is not the data of the run, and an error names the first such mistake. The model has
        ``coef``, ``intercept`` and ``predict``.
        """
        state = self.start.copy()
        visits = state.visits + int(self.visits_per_pass.sum())
        self._take(self._labelled(X, y, state), state, slice(0, len(self)), visits)
        return self._model(state)

    def is_of(self, X: MatrixLike, y: ColumnLike) -> bool:
        """Return whether the run replays on X and y, which it does on its training data."""
        try:
            self.replay(X, y)
        except InputError:
            return False
        return True

    def path(self, X: MatrixLike, y: ColumnLike, at: Any = None) -> tuple[Floats, Floats]:
        """Return the weights (k + 1, d) and biases (k + 1,) after 0, 1, …, k updates.

        Several machines add an axis in the middle: (k + 1, m, d) and (k + 1, m). Machines that erred on the same
        visit moved together, which counts as one update.

        Parameters
        ----------
        X, y
            The training data of the run.
        at : sequence of int or None
            Numbers of updates in rising order, to return only the weights after these.
        """
        state = self.start.copy().spread()
        data = self._labelled(X, y, state)
        moments, first = np.unique(self.visit, return_index=True)
        ends = np.append(first, len(self))
        counts = np.arange(len(moments) + 1) if at is None else np.asarray(at, np.int64)
        states = np.empty((len(counts), *state.w.shape))
        done = 0
        for k, count in enumerate(counts.tolist()):
            if count > done:
                self._take(data, state, slice(int(ends[done]), int(ends[count])), int(moments[count - 1]) + 1)
                done = count
            states[k] = state.last()
        return states[..., :-1], states[..., -1]

    def after_each_pass(self, X: MatrixLike, y: ColumnLike) -> list[LinearModel]:
        """Return the model at the end of each pass."""
        state = self.start.copy()
        data = self._labelled(X, y, state)
        models, first = [], 0
        for mistakes, visits in zip(self.mistakes_per_pass, self.visits_per_pass, strict=True):
            self._take(data, state, slice(first, first + int(mistakes)), state.visits + int(visits))
            first += int(mistakes)
            models.append(self._model(state))
        return models

    def compressed(self, X: MatrixLike, y: ColumnLike) -> CompressedSet:
        """Return the rows with mistakes, and the order of visits that trains the same model from them."""
        batch = self._batch(X, y)
        if self.penalty is not None:
            raise InputError(
                "With a penalty the visits between two mistakes shrink the weights, so the mistakes alone do not "
                "train the same model. Train with penalty=None."
            )
        if not len(self):
            raise InputError("This run made no mistake, so no row was needed: its start is its model.")
        _, first = np.unique(self.visit, return_index=True)  # several machines may err on one visit
        rows, order = np.unique(self.index[first], return_inverse=True)
        # A class without a mistake must still exist: it has one row, which is never visited.
        for code in np.setdiff1d(np.arange(len(self.classes)), batch.codes[rows]):
            rows = np.append(rows, np.flatnonzero(batch.codes == code)[:1])
        few = batch.take(rows)
        return CompressedSet(few.native(), self.classes[few.codes], order.astype(np.int64), rows, self.bias)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row for each mistake as a DataFrame of "pandas", "polars" or "pyarrow"."""
        return to_frame(self, backend)

    def save(self, path: str | Path) -> None:
        """Write a file: the whole record as ``.npz``, or its mistakes as ``.csv`` or ``.parquet``."""
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a record that `save` wrote as ``.npz``; nothing in the file is executed."""
        return load(Path(path))

    def to_document(
        self,
        X: MatrixLike,
        y: ColumnLike,
        *,
        eta: float | None = None,
        margin: float | None = None,
        tie: str | None = None,
        order: Sequence[Any] | None = None,
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Return the run as a JSON document that the lab page plays: the data, the rule, and every mistake.

        Parameters
        ----------
        X, y
            The training data of the run.
        eta, margin, tie
            Of the rule, where known; the steps taken are in the document in any case.
        order : sequence or None
            The rows visited: an array for every pass, or a list with one array a pass. Without it the lab steps
            from mistake to mistake.
        reason : str or None
            Why training ended, as `stop_reason_` says.

        Returns
        -------
        dict
            For ``json.dumps(document, allow_nan=False)``.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> from rosenblatt.datasets import load_or
        >>> X, y = load_or()
        >>> clf = Perceptron(order="cyclic").fit(X, y)
        >>> document = clf.trace_.to_document(X, y, eta=1.0, order=range(4), reason=clf.stop_reason_)
        >>> document["end"]
        {'w': [2.0, 2.0], 'b': -1.0, 'average': None, 'reason': 'separated'}
        """
        from rosenblatt.learning.trace_document import to_document

        return to_document(self, X, y, eta=eta, margin=margin, tie=tie, order=order, reason=reason)

    @classmethod
    def from_document(cls, document: Any) -> tuple[Trace, Floats, NDArray[Any]]:
        """Return the trace, X and y of a run document, after replaying it: its mistakes must lead to its end."""
        from rosenblatt.learning.trace_document import from_document

        return from_document(document)

    def _batch(self, X: MatrixLike, y: ColumnLike) -> Batch:
        batch = as_labelled(X, y, self.classes)
        if (batch.n_rows, batch.n_features) != (self.n_rows, self.n_features):
            raise ShapeError(
                f"X has shape ({batch.n_rows}, {batch.n_features}), but the run was trained on "
                f"({self.n_rows}, {self.n_features}). Pass the training data of the run."
            )
        return batch

    def _labelled(self, X: MatrixLike, y: ColumnLike, state: State) -> _Labelled:
        """Return the training data as the loops read it with a state; see `State.meet`."""
        batch = self._batch(X, y)
        rows = state.meet(batch.rows)
        # A stream takes a single class for the positive one until the other appears.
        codes = batch.codes + int(len(self.classes) == 1)
        return _Labelled(rows, codes, self.scheme.targets(codes, np.ones(batch.n_rows), self.zero))

    def _model(self, state: State) -> LinearModel:
        return LinearModel(state.hypothesis(), self.scheme, self.classes, self.zero, state.met)

    def _take(self, data: _Labelled, state: State, part: slice, visits: int) -> None:
        """Take some of the mistakes again, and bring the state to a number of visits."""
        from rosenblatt.loops.decay import idle, replay_shrinking
        from rosenblatt.loops.passes import replay

        mistakes = self._require_mistakes()
        # One kind of arrays, so that one loop is compiled: equal steps are kept as one number, which is read-only.
        columns: Any = (mistakes.visit, mistakes.score, mistakes.step, mistakes.machine)
        visit, score, step, machine = (np.require(each[part], requirements=["C", "W"]) for each in columns)
        log = Log(visit, score, step, machine, np.empty((0, 0)))  # a replay needs no room for scores
        index = mistakes.index[part]
        self._require_possible(data.codes, index, log.machine, part.start)
        rows = index.astype(np.uint64)
        if self.penalty is None:
            if state.averaging is not None:
                log = log._replace(at=np.maximum(log.at + (state.averaged - state.visits), 0))
            wrong = replay(data.rows, data.targets, rows, log, state.rule_of_replay(self.bias), state.w, state.u)
        else:
            log = log._replace(at=log.at - state.visits)
            shrinking = (self.penalty, state.machines, state.shrunk_machines, state.mean_machines)
            t0, made = state.averaged, int(log.at[-1] + 1 if len(log.at) else 0)
            wrong = replay_shrinking(data.rows, data.targets, rows, log, self.bias, *shrinking, t0)
            idle(visits - state.visits - made, *shrinking, t0 + made)
        state.visits = visits
        if wrong >= 0:
            raise other_score(part.start + wrong, int(index[wrong]), float(log.score[wrong]))

    def _require_possible(self, codes: Ints, index: NDArray[Any], machine: NDArray[Any], first: int = 0) -> None:
        """Require that each mistake is possible on a row of its class: loops search for its machine unchecked."""
        strange = np.flatnonzero(~self.scheme.can_err(codes[index], machine))
        if strange.size:
            raise InputError(
                f"This is not the data of the run: mistake {first + strange[0]}, on row {index[strange[0]]}, "
                "cannot be one on a row of that label. Pass the y of the run."
            )


def other_score(mistake: int, row: int, score: float) -> InputError:
    """Return the error for a row that does not have the score of the record."""
    return InputError(
        f"This is not the data of the run: mistake {mistake}, on row {row}, scored {score!r} then and does not "
        "now. Pass the same X and y, in the same order and type."
    )


# The record of a run as a table and as a file.


FORMAT = 1
MOST_VISITS = 10**12  # a month of training; a damaged file may claim more than a replay can count


def to_frame(trace: Trace, backend: Any) -> Any:
    """Return one row for each mistake as a DataFrame of the library named."""
    return frame_of({name: np.ascontiguousarray(getattr(trace, name)) for name in trace.columns}, backend)


def frame_of(columns: dict[str, Any], backend: Any) -> Any:
    """Return columns as a DataFrame of the library named."""
    import narwhals as nw

    check_choice("backend", backend, ("pandas", "polars", "pyarrow"))
    return nw.from_dict(columns, backend=backend).to_native()


def save(trace: Trace, path: Path) -> None:
    """Write the record to `path`, in the format of its suffix."""
    writers = {".npz": _write_npz, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise ParameterError(Given("path", str(path)) + f" must end in {', '.join(writers)}.")
    with replacing(path) as file:
        writers[path.suffix](trace, file)


def load(path: Path) -> Trace:
    """Read an ``.npz`` file that `save` wrote."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
        version = held["format"].item()
        trace = _from_arrays(held) if version == FORMAT else None
    except FileNotFoundError:
        raise
    except Exception as error:  # any error that zip, zlib or numpy raise for a damaged file
        raise InputError(f"{path} is not a trace written by Trace.save: {error}") from error
    if trace is None:
        raise InputError(f"{path} is a trace of format {version}; this version reads format {FORMAT}.")
    return trace


def _from_arrays(held: dict[str, Any]) -> Trace:

    memory = {name: found for name, kind in MEMORIES.items() if (found := _memory(kind, held)) is not None}
    begun = State(held["start_w"], held.get("start_u"), int(held["start_visits"]), memory=memory)
    trace = Trace(
        mistakes=Mistakes(*(held[name] for name in Mistakes._fields)) if "index" in held else None,
        mistakes_per_pass=held["mistakes_per_pass"],
        visits_per_pass=held["visits_per_pass"],
        start=begun,
        n_rows=int(held["n_rows"]),
        n_features=int(held["n_features"]),
        scheme=Scheme(str(held["scheme"]), len(held["classes"])),  # type: ignore[arg-type]  # checked below
        classes=held["classes"],
        bias=float(held["bias"]),
        radius=float(held["radius"]) if "radius" in held else None,
        zero=int(held["zero"]),
        penalty=Penalty(*map(float, held["penalty"])) if "penalty" in held else None,
        cut=int(held["cut"]) if "cut" in held else None,
    )
    require_sound(trace)
    return trace


def _memory(kind: type[Memory], held: dict[str, Any]) -> Memory | None:
    """Return what a record keeps of one kind of memory, if it keeps any."""
    names = {each.name: _exported(kind, each.name) for each in fields(kind)}
    if not held.keys() & set(names.values()):
        return None
    made = {field: float(held[name]) if field in kind.least else held[name] for field, name in names.items()}
    return kind(**made)


def _exported(kind: type[Memory], field: str) -> str:
    return kind.exported.get(field, f"start_{kind.name}_{field}")


def require_sound(trace: Trace) -> None:
    """Require that a record from a file is safe for the loops, which check no index and no length."""
    if not (sound_run(trace) and _sound_start(trace) and (trace.mistakes is None or sound_mistakes(trace))):
        raise ValueError("its parts contradict each other")


def sound_run(trace: Trace) -> bool:
    """Return whether counts, classes and visits of a record fit together."""
    counts, visits, n_classes = trace.mistakes_per_pass, trace.visits_per_pass, len(trace.classes)
    return (
        _is_column(counts, np.int64)
        and _is_column(visits, np.int64)
        and len(counts) == len(visits)
        and trace.scheme.kind in (("binary",) if n_classes in (1, 2) else ("direct", "ovr", "ovo"))
        and trace.n_features >= 1
        and bool((counts >= 0).all())
        and bool((counts <= visits * trace.scheme.n_machines).all())
        and 0 <= trace.start.visits <= MOST_VISITS
        and int(visits.sum()) <= MOST_VISITS
    )


def _sound_start(trace: Trace) -> bool:
    w, u, kept = trace.start.w, trace.start.u, trace.start.memory.values()
    weights = [w, *([] if u is None else [u]), *(array for memory in kept for array in memory.shaped)]
    if any(memory.fault() is not None for memory in kept):
        return False
    shape = trace.scheme.shape(trace.n_features)
    if not all(array.dtype == np.float64 and array.shape == shape for array in weights):
        return False
    if trace.start.shrunk is None or trace.penalty is None:
        return trace.start.shrunk is None and trace.penalty is None
    if u is not None and trace.start.averaging is None:
        return False
    keep, rent = trace.penalty
    return 0.0 < keep <= 1.0 and 0.0 <= rent < np.inf


def sound_mistakes(trace: Trace) -> bool:
    """Return whether the mistakes of a record have rows, machines and visits that exist."""
    visit, index, score, step, machine = trace.mistakes  # type: ignore[misc]  # called only if there are some
    machines = 2 if trace.scheme.kind == "binary" else trace.scheme.n_machines
    ends = trace.start.visits + np.repeat(np.cumsum(trace.visits_per_pass), trace.mistakes_per_pass)
    begins = ends - np.repeat(trace.visits_per_pass, trace.mistakes_per_pass)
    return (
        _is_column(visit, np.int64)
        and (_is_column(index, np.int32) or _is_column(index, np.int64))
        and _is_column(score, np.float64)
        and _is_column(step, np.float64)
        and _is_column(machine, np.int32)
        and all(len(column) == len(trace) for column in (visit, index, score, step, machine))
        and bool(((index >= 0) & (index < trace.n_rows)).all())
        and bool(((machine >= 0) & (machine < machines)).all())
        and bool(((visit >= begins) & (visit < ends)).all())
        and bool((np.diff(visit) >= 0).all())
    )


def _is_column(array: NDArray[Any], dtype: DTypeLike) -> bool:
    return array.dtype == dtype and array.ndim == 1


def _write_npz(trace: Trace, file: BinaryIO) -> None:
    texts = all(isinstance(label, str) for label in trace.classes)
    classes = np.array(trace.classes.tolist()) if texts else trace.classes  # strings of frames are objects
    if classes.dtype.hasobject:
        raise InputError(
            f"Labels of mixed types ({', '.join(map(repr, trace.classes))}) cannot be stored in an .npz file. "
            "Use numbers or strings, or save as .csv."
        )
    held: dict[str, Any] = {} if trace.mistakes is None else trace.mistakes._asdict()
    held |= {
        name: getattr(trace, name)
        for name in ("mistakes_per_pass", "visits_per_pass", "n_rows", "n_features", "bias", "zero")
    }
    held |= {"classes": classes, "scheme": trace.scheme.kind, "format": FORMAT}
    start = trace.start.spread()
    held |= {"start_w": start.w, "start_visits": start.visits}
    if start.u is not None:
        held["start_u"] = start.u
    if trace.penalty is not None:
        held["penalty"] = np.array(trace.penalty)
    for memory in start.memory.values():
        held |= {_exported(type(memory), name): value for name, value in memory.parts.items()}
    held |= {name: value for name in ("radius", "cut") if (value := getattr(trace, name)) is not None}
    np.savez_compressed(file, allow_pickle=False, **held)


def _write_csv(trace: Trace, file: BinaryIO) -> None:
    text = TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(trace.columns)
    writer.writerows(zip(*(getattr(trace, name).tolist() for name in trace.columns), strict=True))
    text.detach()  # the file stays open for the caller


def _write_parquet(trace: Trace, file: BinaryIO) -> None:
    from pyarrow.parquet import write_table

    write_table(to_frame(trace, "pyarrow"), file)
