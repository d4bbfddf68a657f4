"""`certify`: from data to a certificate."""

from __future__ import annotations

import warnings
from copy import copy
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.certificate import (
    Answer,
    Certificate,
    Data,
    Inseparable,
    InseparableVerdict,
    Overlap,
    Quasi,
    Separable,
    Undecided,
    distinct_labels,
)
from rosenblatt.certify.class_rows import ClassRows
from rosenblatt.certify.class_tables import ClassTables
from rosenblatt.certify.decide import SMALL_VALUES, Decision, Plane, decide, decide_in_floats, prove
from rosenblatt.certify.direct_certificate import certify_direct
from rosenblatt.certify.margin import margin_of
from rosenblatt.certify.problem import Direction, SeparationProblem, cover_probability
from rosenblatt.certify.rationals import shifted
from rosenblatt.certify.rigorous import Bound, Contradiction
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.ties import MAX_TIDY_INTEGER, by_single_features, tidy_factor
from rosenblatt.certify.ties import ties as facial_reduction
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import DataTypeError, Given, ParameterError, ShapeError, TrivialSeparationWarning
from rosenblatt.parameters import CertifyArguments
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import require_finite
from rosenblatt.rows.memory import require_features
from rosenblatt.threads import one_blas_thread, ordered, resolve_threads, using
from rosenblatt.typing import Floats, Ints

MAX_VALUES_FOR_TIES = 4000  # values up to which ties are decided with the verdict
TIES_WORK = 5e8  # units of work that ties may take then: less than a second
KEPT_ROWS_A_WEIGHT = 4  # rows for each weight, the most that a verdict keeps for its proof
MAX_KEPT_BYTES = 2**24  # the most bytes of them
MAX_SHOWN_FEATURES = 1000  # sparse rows of more features are not shown
THREAD_SIZE_FACTOR = 32  # how much more data threads need here than for folds: small questions are work of Python


def certify(
    X: Any,
    y: Any = None,
    *,
    bias: bool = True,
    margin: bool = False,
    ties: bool | None = None,
    time_limit: float | None = None,
    multiclass: Literal["direct"] | None = None,
    proof: Literal["exact", "verdict"] = "exact",
    guess: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Certificate:
    """Decide whether classes are linearly separable, and prove it; of sentences, whether a tagger can learn them.

    The answer is exact for the float64 values of X; float32 values are converted exactly. `Certificate.verify`
    checks proofs, and so does ``certify/check.py``, which needs no other file.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The rows. Without `y`: files, a built-in set or a dataframe with its labels, as `rosenblatt.train` takes
        them, or annotated sentences in files or in lists. With `y` it can be a list of sentences, too.
    y : sequence, shape (n_rows,), or None
        Their labels. For more than two classes every pair, and each class against the rest, is decided.
    bias : bool
        Whether hyperplanes have a bias; without one they contain the origin.
    margin : bool
        Whether to enclose the largest margin, too.
    ties : bool or None
        Whether to decide, too, if inseparable classes are separable with ties. That can take many times as long as
        the verdict, so None decides it for small data only, in less than a second; the result says if that was not
        enough. True has no limit.
    time_limit : float or None
        Seconds after which the answer is "undecided"; None means no limit.
    multiclass : "direct" or None
        What is asked about more than two classes: with "direct", whether an argmax of linear functions, one for
        each class, makes no error; by default about every pair, and each class against the rest.
    proof : "exact" or "verdict"
        With "verdict", floats may prove that two classes are inseparable, with bounds of all rounding errors: an
        `InseparableVerdict`, many times as fast where there are hundreds of features. Its exact proof is made when
        it is asked for.
    guess : array-like, shape (n_features,), or None
        The normal vector of a hyperplane to try first, for two classes. The answer is quick if it separates them
        with some bias; the verdict does not depend on it.
    n_jobs : int or None
        The number of threads that answer the questions about more than two classes; −1 means all cores. The proofs
        are the same. None means ROSENBLATT_THREADS, or one.
    **options
        Without `y`, how to read files; see `rosenblatt.open_data`. Of sentences: `label`, `columns`, `templates`,
        `constraints` and `without_inconsistent`; see `rosenblatt.sequences.annotation.certify_corpus`.

    Returns
    -------
    Separable, Inseparable, InseparableVerdict or Undecided
        For more than two classes a `ClassTables` of them, or with ``multiclass="direct"`` a `DirectSeparable`,
        `DirectInseparable` or `DirectUndecided`. Of sentences a `CorpusCertificate`, and with `y` a
        `SequenceSeparable`, `SequenceInseparable` or `SequenceUndecided`.

    Warns
    -----
    TrivialSeparationWarning
        If there are so few rows that any labels are separable, if the rows are in general position.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> print(certify(*load_xor()))
    Inseparable: '1' against '-1'. A point lies in the convex hulls of both classes, a combination of 4 rows.
    ½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)
    Even allowing rows exactly on the plane, none separates the classes.
    Labels drawn at random would be separable with probability at most 0.875 (Cover 1965).
    """
    asked: dict[str, Any] = {"bias": bias, "margin": margin, "ties": ties, "multiclass": multiclass}
    asked |= {"proof": proof}
    CertifyArguments(**asked, time_limit=time_limit)._check_parameters()
    if n_jobs is not None:
        resolve_threads(n_jobs)
    if proof == "verdict" and (ties or multiclass == "direct"):
        other = "ties=True" if ties else "multiclass='direct'"
        raise ParameterError(Given("proof", "verdict") + f" cannot be combined with {other}. Use proof='exact'.")
    sentences = y is not None and _are_sentences(X, y)
    if options and y is not None and not sentences:
        raise TypeError(f"certify() got an unexpected keyword argument {next(iter(options))!r}")
    if y is None or sentences:
        asked |= {"guess": guess, "n_jobs": n_jobs}
        told: Certificate = find("tasks.certifying").certify_data(X, y, asked, time_limit=time_limit, **options)
        return told  # of sentences it is another kind of certificate
    batch = as_batch(X, y)
    require_features(batch.n_features)
    require_finite(batch)
    ask = Question(batch, bool(bias), bool(margin), Clock(time_limit), ties if ties is None else bool(ties))
    ask.exact = proof == "exact"
    k = len(batch.classes)
    normal = None if guess is None else _normal(guess, batch)
    if k > 2 and multiclass == "direct":
        return certify_direct(batch, bias=bool(bias), clock=Clock(time_limit))
    if k > 2:
        labels = batch.classes.tolist()
        splits: list[tuple[int, int | None]] = [*combinations(range(k), 2), *((a, None) for a in range(k))]
        if time_limit is None:  # the largest questions first, so that threads end at about the same time
            splits.reverse()
        with using(n_jobs, batch.stored / THREAD_SIZE_FACTOR), one_blas_thread():
            ask.read()
            answers = ordered(lambda split: ask.copy_for_thread().pair(*split), splits, ahead=len(splits))
            found = dict(zip(splits, answers, strict=True))
        pairs = {(labels[a], labels[b]): found[a, b] for a, b in combinations(range(k), 2)}
        return ClassTables(pairs, {labels[a]: found[a, None] for a in range(k)})
    answer = ask.pair(1, 0, normal) if k == 2 else ask.pair(0, None)
    if isinstance(answer, Separable) and batch.n_rows <= batch.n_features + bias:
        warnings.warn(
            f"{batch.n_rows} rows with {batch.n_features} features are separable for any labels if they are in "
            "general position; then this answer says nothing about the labels. Use more rows.",
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
        self.exact = True
        self.rows = ClassRows(batch)
        self.labels = distinct_labels(batch)

    def read(self) -> None:
        """Read the rows once for all questions, before threads ask them."""
        self.rows.fingerprint.of(self.batch.codes)
        self.rows.read(digests=self.batch.n_rows * self.batch.n_features > SMALL_VALUES)

    def copy_for_thread(self) -> Question:
        """Return the same questions with a clock of their own, which counts work from zero, for another thread."""
        other = copy(self)
        other.clock = Clock(None)
        other.clock.end = self.clock.end
        return other

    def pair(self, positive: int, negative: int | None, guess: Floats | None = None) -> Answer:
        """Decide one class against another, by their codes; with None against all others."""
        posed = self.pose(positive, negative)
        try:
            return self.decide(posed, guess)
        except Unsettled as end:
            return Undecided(**self.known(posed), why=str(end))

    def decide_alone(
        self, positive: int, negative: int | None, scores: Floats | None = None
    ) -> Separable | Inseparable | InseparableVerdict:
        """Decide as `pair` does, without margin and ties, and by floats where their bounds suffice.

        `scores` of the rows, those of all classes, tell which to try first. Raises `Unsettled` if that takes too
        long.
        """
        posed = self.pose(positive, negative)
        margins = None if scores is None else posed.problem.y * scores[posed.names]
        found = self.decide_trivial(posed) or decide_in_floats(posed.problem, self.clock, margins=margins)
        return self.express(posed, found)

    def express(
        self, posed: Posed, found: Decision | Contradiction
    ) -> Separable | Inseparable | InseparableVerdict:
        """Express what was found in terms of the data."""
        if isinstance(found, Plane):
            return self.separable(posed, found)
        if isinstance(found, Contradiction):
            return self.express_contradiction(posed, found)
        return self.inseparable(posed, found)

    def pose(self, positive: int, negative: int | None) -> Posed:
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

    def decide(self, posed: Posed, guess: Floats | None) -> Answer:
        """Decide a question, and express the proof in terms of the data."""
        problem, names = posed.problem, posed.names
        if (one_class := self.decide_trivial(posed)) is not None:
            return self.separable(posed, one_class)
        direction = None if guess is None else problem.direction(guess)
        first = None if direction is None else direction[0]
        found = (decide if self.exact else decide_in_floats)(problem, self.clock, first)
        if isinstance(found, Contradiction):
            return self.express_contradiction(posed, found)
        if isinstance(found, Plane):
            margin = margin_of(problem, found, self.clock) if self.margin else None
            if margin is not None:
                margin = margin.rewritten(names, tidy_factor((*margin.w, margin.b)))
                return Separable(**self.known(posed), w=margin.w, b=margin.b, margin=margin)
            return self.separable(posed, found)
        asked = problem.n * problem.width <= MAX_VALUES_FOR_TIES if self.ties is None else self.ties
        if not asked or not self.exact:
            return self.inseparable(posed, found)
        tied = self.decide_ties(posed, found)
        return self.inseparable(posed, found, tied, ties_open=tied is None)

    def decide_ties(self, posed: Posed, found: Meeting) -> Quasi | Overlap | None:
        """Decide whether rows that nothing separates are separable with ties; None if that takes too long."""
        clock = self.clock if self.ties else self.clock.part(TIES_WORK)
        try:
            return facial_reduction(posed.problem, found, posed.names, clock)
        except Unsettled:
            pass
        try:
            return by_single_features(posed.problem, posed.names, self.clock)
        except Unsettled:
            return None

    def decide_trivial(self, posed: Posed) -> Plane | None:
        """Return the plane that has all rows on one side, if only one side has rows and there is a bias."""
        problem = posed.problem
        if not self.bias or (len(problem.positive) and len(problem.negative)):
            return None
        return Plane(Direction([0] * problem.d, 0, np.zeros(problem.d)), Fraction(int(problem.y[0])))

    def separable(self, posed: Posed, found: Plane) -> Separable:
        """Express a hyperplane in terms of the data."""
        *w, b = _tidy(posed.problem, found)
        return Separable(**self.known(posed), w=tuple(w), b=b)

    def inseparable(
        self, posed: Posed, found: Meeting, ties: Quasi | Overlap | None = None, *, ties_open: bool = False
    ) -> Inseparable:
        """Express a combination of rows to 0 in terms of the data; rows that span everything leave no ties."""
        order = np.argsort(found.rows)
        rows = found.rows[order]
        support, integers = tuple(posed.names[rows].tolist()), tuple(found.weights[k] for k in order)
        if found.spanning and ties is None:
            ties, ties_open = Overlap(support, integers, null=()), False
        return Inseparable(
            **self.known(posed),
            support=support,
            integers=integers,
            ties=ties,
            ties_open=ties_open,
            points=_points(posed.problem, rows),
        )

    def express_contradiction(self, posed: Posed, found: Contradiction) -> InseparableVerdict:
        """Express rows that floats have proved to contradict each other; keep a copy of them if they are few."""
        problem = posed.problem
        few = len(found.rows) <= KEPT_ROWS_A_WEIGHT * problem.width
        kept = problem.some(found.rows) if few else None
        if kept is not None and 8 * kept.features.stored > MAX_KEPT_BYTES:
            kept = None
        return InseparableVerdict(
            **self.known(posed),
            support=tuple(posed.names[found.rows].tolist()),
            weights=tuple(found.weights.tolist()),
            residual=found.bound.residual,
            stretch=found.bound.stretch,
            spanning=found.spanning,
            kept=kept,
        )


def make_proof(found: InseparableVerdict) -> Inseparable:
    """Make the exact proof of a verdict from the rows that it kept."""
    problem, rows = found.kept, np.arange(len(found.support))
    bound = Bound(found.residual, found.stretch)
    meeting = prove(problem, Contradiction(rows, np.array(found.weights), bound, found.spanning), Clock(None))
    names, order = np.array(found.support), np.argsort(meeting.rows)
    rows = meeting.rows[order]
    return Inseparable(
        bias=found.bias,
        data=found.data,
        chance=found.chance,
        names=found.names,
        support=tuple(names[rows].tolist()),
        integers=tuple(meeting.weights[k] for k in order),
        ties=facial_reduction(problem, meeting, names, Clock(None)) if found.spanning else None,
        points=_points(problem, rows),
    )


def _tidy(problem: SeparationProblem, found: Plane) -> list[Fraction]:
    """Return a hyperplane in the columns of the data, the bias last, in small integers if it can be.

    Equal numbers become one object: text has many features and few different weights.
    """
    powers = (found.v.power - problem.scale).tolist()
    lowest = min(0, *powers)
    top, bottom = (found.b * (1 << -lowest)).as_integer_ratio()
    whole = [bottom * value << (power - lowest) for value, power in zip(found.v.integers, powers, strict=False)]
    divisor = gcd(top, *set(whole))
    if divisor and max(abs(top), *map(abs, set(whole))) <= MAX_TIDY_INTEGER * divisor:
        small = {value: Fraction(value // divisor) for value in {top, *whole}}
        return [*(small[value] for value in whole), small[top]]
    pairs = list(zip(found.v.integers[: problem.d], powers, strict=True))
    made = {pair: shifted(*pair) for pair in set(pairs)}
    return [*(made[pair] for pair in pairs), found.b]


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
            f"guess is one normal vector, but y has {len(batch.classes)} classes. Leave it out, or keep two.",
            parameter="guess",
        )
    return w


def _points(problem: SeparationProblem, rows: Ints) -> tuple[tuple[tuple[float, ...], int], ...] | None:
    """Return some rows and their sides; None for sparse rows of many features."""
    if problem.sparse and problem.d > MAX_SHOWN_FEATURES:
        return None
    table = problem.matrix.dense(rows).tolist()
    return tuple((tuple(values), int(side)) for values, side in zip(table, problem.y[rows], strict=True))
