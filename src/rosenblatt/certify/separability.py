"""`certify`: from data to a certificate."""

from __future__ import annotations

import warnings
from copy import copy
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.certificate import (
    Answer,
    Certificate,
    Data,
    Inseparable,
    Separable,
    Undecided,
    distinct_labels,
)
from rosenblatt.certify.class_rows import ClassRows
from rosenblatt.certify.class_tables import ClassTables
from rosenblatt.certify.decide import SMALL, Plane, decide
from rosenblatt.certify.direct_certificate import certify_direct
from rosenblatt.certify.margin import margin_of
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.tie_verdicts import Overlap, Quasi
from rosenblatt.certify.ties import by_single_features, tidied, tidy_factor
from rosenblatt.certify.ties import ties as facial_reduction
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.data.batch import Batch, as_batch
from rosenblatt.data.features import require_finite
from rosenblatt.data.memory import require_features
from rosenblatt.exceptions import DataTypeError, ParameterError, ShapeError, TrivialSeparationWarning
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import Floats, Ints

SHARE = 0.5  # of the work of the verdict that ties may take
LEAST = 5e8  # units of work that ties may take where the verdict took less: less than a second
SHOWN = 1000  # sparse rows of more features are not shown
OBJECTS = 32  # how much more data threads need here than for folds: small questions are work of Python


def certify(
    X: Any,
    y: Any,
    *,
    bias: bool = True,
    margin: bool = False,
    ties: bool | None = None,
    time_limit: float | None = None,
    multiclass: Literal["direct"] | None = None,
    guess: Any = None,
    n_jobs: int | None = None,
) -> Certificate:
    """Decide whether classes are linearly separable, and prove it.

    The answer is exact for the float64 values of X; float32 values are converted exactly. `Certificate.verify`
    checks proofs, and so does ``certify/check.py``, which needs no other file.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The rows.
    y : sequence, shape (n_rows,)
        Their labels. For more than two classes every pair, and each class against the rest, is decided.
    bias : bool
        Whether hyperplanes have a bias; without one they contain the origin.
    margin : bool
        Whether to enclose the largest margin, too.
    ties : bool or None
        Whether to decide, too, if inseparable classes are separable with ties. None allows half the work for it
        that the verdict took, and more for small data; the result says if that was not enough. True has no limit.
    time_limit : float or None
        Seconds after which the answer is "undecided"; None means no limit.
    multiclass : "direct" or None
        What is asked about more than two classes: with "direct", whether an argmax of linear functions, one for
        each class, makes no error; by default about every pair, and each class against the rest.
    guess : array-like, shape (n_features,), or None
        The normal vector of a hyperplane to try first, for two classes. The answer is quick if it separates them
        with some bias; the verdict does not depend on it.
    n_jobs : int or None
        The number of threads that answer the questions about more than two classes; −1 means all cores. The proofs
        are the same. None means ROSENBLATT_THREADS, or one.

    Returns
    -------
    Separable, Inseparable or Undecided
        For more than two classes a `ClassTables` of them, or with ``multiclass="direct"`` a `DirectSeparable`,
        `DirectInseparable` or `DirectUndecided`.

    Warns
    -----
    TrivialSeparationWarning
        If there are so few rows that almost any labels are separable.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> print(certify(*load_xor()))
    Inseparable: '1' against '-1'. A point lies in the convex hulls of both classes, a combination of 4 rows.
    ½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)
    Even allowing rows exactly on the plane, none separates the classes.
    Labels drawn at random would be separable with probability 0.875 (Cover 1965).
    """
    for name, value in (("bias", bias), ("margin", margin)):
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {value!r}.")
    if time_limit is not None and not (isinstance(time_limit, int | float | np.number) and time_limit >= 0):
        raise ParameterError(f"time_limit must be None or a number of seconds ≥ 0, got {time_limit!r}.")
    if multiclass not in (None, "direct"):
        raise ParameterError(f"multiclass must be 'direct' or None, got {multiclass!r}.")
    if _are_sentences(X, y):
        raise DataTypeError(
            "X holds sentences and y their labels, but certify takes a table. Use "
            "SequencePerceptron(…).certify(X, y)."
        )
    batch = as_batch(X, y)
    require_features(batch.n_features)
    require_finite(batch)
    if ties is not None and not isinstance(ties, bool | np.bool_):
        raise ParameterError(f"ties must be True, False or None, got {ties!r}.")
    ask = Question(batch, bool(bias), bool(margin), Clock(time_limit), ties if ties is None else bool(ties))
    k = len(batch.classes)
    normal = None if guess is None else _normal(guess, batch)
    if k > 2 and multiclass == "direct":
        return certify_direct(batch, bias=bool(bias), clock=Clock(time_limit))
    if k > 2:
        labels = batch.classes.tolist()
        splits: list[tuple[int, int | None]] = [*combinations(range(k), 2), *((a, None) for a in range(k))]
        if time_limit is None:  # the largest questions first, so that threads end at about the same time
            splits.reverse()
        with using(n_jobs, batch.stored / OBJECTS), one_blas_thread():
            ask.read()
            answers = ordered(lambda split: ask.apart().pair(*split), splits, ahead=len(splits))
            found = dict(zip(splits, answers, strict=True))
        pairs = {(labels[a], labels[b]): found[a, b] for a, b in combinations(range(k), 2)}
        return ClassTables(pairs, {labels[a]: found[a, None] for a in range(k)})
    answer = ask.pair(1, 0, normal) if k == 2 else ask.pair(0, None)
    if isinstance(answer, Separable) and batch.n_rows <= batch.n_features + bias:
        warnings.warn(
            f"{batch.n_rows} rows with {batch.n_features} features in general position are separable for any "
            "labels, so this answer says nothing about the labels. Use more rows.",
            TrivialSeparationWarning,
            stacklevel=3,
        )
    return answer


class Posed(NamedTuple):
    """A question about two sides: its rows, their numbers in the data, and the signs of all rows."""

    problem: SeparationProblem
    names: Ints
    signs: NDArray[np.int8]
    labels: tuple[str, str | None]


class Question:
    """The data, and the questions about splits of it into two sides."""

    def __init__(self, batch: Batch, bias: bool, margin: bool, clock: Clock, ties: bool | None = None) -> None:
        self.batch, self.bias, self.margin, self.clock, self.ties = batch, bias, margin, clock, ties
        self.rows = ClassRows(batch)
        self.labels = distinct_labels(batch)

    def read(self) -> None:
        """Read the rows once for all questions, before threads ask them."""
        self.rows.fingerprint.of(self.batch.codes)
        self.rows.read(digests=self.batch.n_rows * self.batch.n_features > SMALL)

    def apart(self) -> Question:
        """Return the same questions with a clock of their own, which counts work from zero, for another thread."""
        other = copy(self)
        other.clock = Clock(None)
        other.clock.end = self.clock.end
        return other

    def pair(self, positive: int, negative: int | None, guess: Floats | None = None) -> Answer:
        """Decide one class against another, by their codes; with None against all others."""
        posed = self.posed(positive, negative)
        try:
            return self.decided(posed, guess)
        except Unsettled as end:
            return Undecided(**self.known(posed), why=str(end))

    def alone(self, positive: int, negative: int | None) -> Separable | Inseparable:
        """Decide as `pair` does, without margin and ties; raise `Unsettled` if that takes too long.

        Few rows are not tried alone: fits ask, and on noisy data would end after too few passes for good weights.
        """
        posed = self.posed(positive, negative)
        found = self.trivial(posed) or decide(posed.problem, self.clock)
        return self.separable(posed, found) if isinstance(found, Plane) else self.inseparable(posed, found)

    def posed(self, positive: int, negative: int | None) -> Posed:
        """Pose a question: one class against another, or with None against all others."""
        classes = np.full(len(self.batch.classes), -1 if negative is None else 0, np.int8)
        classes[positive] = 1
        if negative is not None:
            classes[negative] = -1
        labels = self.label(positive), None if negative is None else self.label(negative)
        return Posed(*self.rows.sides(classes, bias=self.bias), labels)

    def known(self, posed: Posed) -> dict[str, Any]:
        """Return the fields of any answer to a question; the fingerprint takes a reading of the data."""
        sha256 = self.rows.fingerprint.of(posed.signs)
        return {
            "bias": self.bias,
            "data": Data(self.batch.n_rows, self.batch.n_features, *posed.labels, sha256),
            "chance": cover_probability(posed.problem.n, posed.problem.width),
            "names": self.batch.names,
        }

    def label(self, code: int) -> str:
        """Return a label as text."""
        return self.labels[code]

    def decided(self, posed: Posed, guess: Floats | None) -> Answer:
        """Decide a question, and express the proof in terms of the data."""
        problem, names = posed.problem, posed.names
        if (one_class := self.trivial(posed)) is not None:
            return self.separable(posed, one_class)
        before = self.clock.spent
        direction = None if guess is None else problem.direction(guess)
        found = decide(problem, self.clock, None if direction is None else direction[0], few=True)
        if isinstance(found, Plane):
            margin = margin_of(problem, found, self.clock) if self.margin else None
            if margin is not None:
                margin = margin.rewritten(names, tidy_factor((*margin.w, margin.b)))
                return Separable(**self.known(posed), w=margin.w, b=margin.b, margin=margin)
            return self.separable(posed, found)
        if self.ties is False:
            return self.inseparable(posed, found)
        tied = self.tied(posed, found, self.clock.spent - before)
        return self.inseparable(posed, found, tied, ties_open=tied is None)

    def tied(self, posed: Posed, found: Meeting, work: float) -> Quasi | Overlap | None:
        """Decide whether rows that nothing separates are separable with ties; None if that takes too long."""
        clock = self.clock if self.ties else self.clock.part(max(SHARE * work, LEAST))
        try:
            return facial_reduction(posed.problem, found, posed.names, clock)
        except Unsettled:
            pass
        try:
            return by_single_features(posed.problem, posed.names, self.clock)
        except Unsettled:
            return None

    def trivial(self, posed: Posed) -> Plane | None:
        """Return the plane that has all rows on one side, if only one side has rows and there is a bias."""
        problem = posed.problem
        if not self.bias or (len(problem.positive) and len(problem.negative)):
            return None
        return Plane(Direction([0] * problem.d, 0, np.zeros(problem.d)), Fraction(int(problem.y[0])))

    def separable(self, posed: Posed, found: Plane) -> Separable:
        """Express a hyperplane in terms of the data."""
        *w, b = tidied([*posed.problem.original(found.v.integers, found.v.power), found.b])
        return Separable(**self.known(posed), w=tuple(w), b=b)

    def inseparable(
        self, posed: Posed, found: Meeting, ties: Quasi | Overlap | None = None, *, ties_open: bool = False
    ) -> Inseparable:
        """Express a combination of rows to 0 in terms of the data."""
        order = np.argsort(found.rows)
        rows = found.rows[order]
        return Inseparable(
            **self.known(posed),
            support=tuple(posed.names[rows].tolist()),
            integers=tuple(found.weights[k] for k in order),
            ties=ties,
            ties_open=ties_open,
            points=_points(posed.problem, rows),
        )


def _are_sentences(X: Any, y: Any) -> bool:
    """Return whether X is a list of lists of tokens, and y one of lists of labels."""
    firsts = [each[0] if isinstance(each, list | tuple) and each else None for each in (X, y)]
    tokens, labels = (each[0] if isinstance(each, list | tuple) and each else None for each in firsts)
    return isinstance(tokens, str | dict | list | tuple | set) and labels is not None


def _normal(guess: Any, batch: Batch) -> Floats:
    """Return a guessed normal vector as floats, after checking it."""
    try:
        w = np.asarray(guess, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"guess must hold {batch.n_features} numbers: one for each feature.") from None
    if w.shape != (batch.n_features,):
        raise ShapeError(f"guess has shape {w.shape}, but ({batch.n_features},) is needed: one for each feature.")
    if len(batch.classes) > 2:
        raise ParameterError(
            f"guess is one normal vector, but y has {len(batch.classes)} classes. Leave it out, or keep two."
        )
    return w


def cover_probability(n: int, width: int) -> float:
    """Return the probability that n points in general position, labelled at random, are separable (Cover 1965).

    Parameters
    ----------
    n : int
        The number of points.
    width : int
        The number of weights: one for each feature, and one for the bias.

    Examples
    --------
    >>> cover_probability(4, 3), cover_probability(3, 3), round(cover_probability(20, 10), 9)
    (0.875, 1.0, 0.5)
    """
    from scipy.special import bdtr

    return 1.0 if n <= width else float(bdtr(width - 1, n - 1, 0.5))


def _points(problem: SeparationProblem, rows: Ints) -> tuple[tuple[tuple[float, ...], int], ...] | None:
    """Return some rows and their sides; None for sparse rows of many features."""
    if problem.sparse and problem.d > SHOWN:
        return None
    table = problem.matrix.dense(rows).tolist()
    return tuple((tuple(values), int(side)) for values, side in zip(table, problem.y[rows], strict=True))
