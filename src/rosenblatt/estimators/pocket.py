"""The pocket perceptron as a scikit-learn classifier.

The pocket algorithm (Gallant 1986): after each visit that moved weights, count the rows that are wrong.

A count ends as soon as it can no longer win. It begins with the rows that are wrong most often: each wrong row
moves half of the way up to the wrong rows before it. So a hypothesis that is no better than the pocket is rejected
after little more rows than the pocket has errors.

Reading rows takes most of the time, so several hypotheses are counted together (`Waiting`). Those that such a
count does not rule out are then counted alone, in the order of their visits. So the result is that of counting
each at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.estimators._fitting import conclude, make_plan, publish_attributes, whole
from rosenblatt.estimators._linear import BATCH, VisitingClassifier, facts, hyperplane_state, warn_of_column
from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.learning.fit_loop import PerceptronFit
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.plan import PerceptronRun, Plan
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Stretch
from rosenblatt.learning.visitor import BLOCK_VALUES, Visitor
from rosenblatt.loops import passes
from rosenblatt.loops._jit import Kind, inline, jit, verb
from rosenblatt.loops.layout import Log, Order, Rows, Sides, Targets, oriented
from rosenblatt.loops.order import Visits
from rosenblatt.loops.rows import dot, dots, look_ahead
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import decide, follow, take
from rosenblatt.parameters import RelatedParameters, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import require_finite
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

VISIT, READ, ENOUGH = 0, 1, 2
ROWS_A_STRETCH = 256  # rows read by counts of several hypotheses before they ask whether one can still win
EIGHT = 8  # hypotheses whose count of a row is one reading


class ErrorCount(NamedTuple):
    """Which rows count as errors."""

    margin: float  # 0 counts wrong labels; more than 0 counts rows whose lead is smaller
    geometric: int  # 1 measures the lead as a distance, y f / ‖w‖; 0 as y f
    # whether f = 0 and ties between classes predict the positive or highest class (1), or the other (0)
    last_wins: int
    slack: float  # a bound on the relative rounding of a sum of weights; 0 if such sums are exact


class Waiting(NamedTuple):
    """Room for hypotheses that are counted together, as many as `w` has rows."""

    w: Floats  # their weights, in the order in memory that `dots` reads
    lanes: Ints  # their numbers
    scores: Floats  # of a row
    biases: Floats
    norms: Floats
    errors: Floats
    at: Any  # for each the visits and the mistakes of this stretch when it was found
    one: Floats  # the weights of one of them


class Pocket(NamedTuple):
    """The best hypothesis so far, changed in place."""

    w: Floats  # its padded weights
    errors: Floats  # one number: the total weight of its errors
    # the visits made when it was found, the rows read by counts so far (eight hypotheses count a row as one),
    # and how many to read before a pause
    progress: Ints
    rows: Any  # the rows that have weight, as they are stored
    front: Any  # the same in the order of counting
    right: ErrorCount  # which rows count as errors
    machines: Ints  # the numbers of the machines
    scores: Floats  # room for their scores of a row
    waiting: Waiting  # hypotheses still to be counted; of one row if each is counted at once


@jit
def consider(X: Rows, targets: Targets, w: Floats, pocket: Pocket, visit: int) -> bool:
    """Count the errors of `w`, and pocket it if they are fewer; return whether they are."""
    front, count = pocket.front, pocket.right
    norm = _norm(w, count)
    errors, found = 0.0, 0
    for p in range(front.size):
        after = look_ahead(X, front, p)
        i = front[p]
        if misses(targets, X, i, after, w, norm, pocket):
            ahead = found + (p - found) // 2
            front[p], front[ahead] = front[ahead], i
            found += 1
            errors += weight_of(targets, i)
            if errors - errors * count.slack >= pocket.errors[0]:
                pocket.progress[READ] += p + 1
                return False
    pocket.progress[READ] += front.size
    if count.slack > 0.0:  # so that the sum does not depend on the order of counting
        errors = 0.0
        for p in range(front.size):
            i = pocket.rows[p]
            if misses(targets, X, i, i, w, norm, pocket):
                errors += weight_of(targets, i)
        if errors >= pocket.errors[0]:
            return False
    put(w, pocket.w)
    pocket.errors[0] = errors
    pocket.progress[VISIT] = visit
    return True


@jit
def train(
    X: Rows, targets: Targets, order: Order, rule: Rule, w: Floats, t0: int, log: Log, pocket: Pocket
) -> tuple[int, int, bool]:
    """Visit the rows of `order`, correcting `w`, and keep the best hypothesis; return (mistakes, visits, finite).

    Training ends early if no row is wrong, if counts have read enough rows, or before a row whose score is not
    finite. `t0` visits came before.
    """
    k = waiting = 0
    for t in range(order.size):
        end = decide(targets, X, order, t, rule, w, log, k)
        if end < 0:
            done = count_waiting(w, X, targets, pocket, waiting, t0)
            return (k, t, False) if done < 0 else (pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True)
        if k == end:
            continue
        while k < end:
            log.at[k] = t
            take(targets, X, order[t], log, k, 1.0, rule.beta, w)
            follow(targets, X, order, t, w, log, k)
            k += 1
        if pocket.waiting.lanes.size == 1:
            consider(X, targets, w, pocket, t0 + t + 1)
        else:
            wait(w, pocket, waiting, t + 1, k)
            waiting += 1
            if waiting < pocket.waiting.lanes.size:
                continue
            done = count_waiting(w, X, targets, pocket, waiting, t0)
            waiting = 0
            if done >= 0:
                return pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True
        if pocket.errors[0] == 0.0 or pocket.progress[READ] >= pocket.progress[ENOUGH]:
            return k, t + 1, True
    done = count_waiting(w, X, targets, pocket, waiting, t0)
    if done >= 0:
        return pocket.waiting.at[done, 1], pocket.waiting.at[done, 0], True
    return k, order.size, True


@inline
def _wait(w: Floats, pocket: Pocket, m: int, visits: int, mistakes: int) -> None:
    waiting = pocket.waiting
    for j in range(w.size):
        waiting.w[m, j] = w[j]
    waiting.norms[m] = _norm(w, pocket.right)
    waiting.at[m, 0], waiting.at[m, 1] = visits, mistakes


@inline
def _open_eights(pocket: Pocket, n: int) -> int:
    """Return how many eights of the first n hypotheses that wait have one that can still win."""
    errors, slack, eights = pocket.waiting.errors, pocket.right.slack, 0
    for first in range(0, n, EIGHT):
        is_open = False
        for m in range(first, min(first + EIGHT, n)):
            is_open |= errors[m] - errors[m] * slack < pocket.errors[0]
        eights += is_open
    return eights


@inline
def _count_waiting(w: Floats, X: Rows, targets: Any, pocket: Pocket, n: int, t0: int) -> int:
    if n == 0:
        return -1
    waiting, front, count = pocket.waiting, pocket.front, pocket.right
    for m in range(waiting.lanes.size):
        waiting.errors[m] = 0.0
        waiting.biases[m] = waiting.w[m, w.size - 1]
    read = found = 0
    eights = _open_eights(pocket, n)
    while eights > 0 and read < front.size:
        stop = min(read + ROWS_A_STRETCH, front.size)
        for p in range(read, stop):
            i = front[p]
            dots(X, i, waiting.w, waiting.lanes, look_ahead(X, front, p), waiting.scores)
            weight = weight_of(targets, i)
            if count.margin > 0.0:
                for m in range(n):
                    f = waiting.scores[m] + waiting.biases[m]
                    waiting.errors[m] += weight if is_wrong(targets, i, f, waiting.norms[m], count) else 0.0
            else:  # the same without branches
                side = 1.0 if targets.pull[i] > 0.0 else -1.0
                tie = 1.0 if (side > 0.0) == (count.last_wins == 1) else 0.0
                for m in range(waiting.lanes.size):
                    lead = side * (waiting.scores[m] + waiting.biases[m])
                    right = (lead > 0.0) | ((lead == 0.0) & (tie > 0.0))
                    waiting.errors[m] += 0.0 if right & (lead < np.inf) else weight
            if is_wrong(targets, i, waiting.scores[0] + waiting.biases[0], waiting.norms[0], count):
                ahead = found + (p - found) // 2
                front[p], front[ahead] = front[ahead], i
                found += 1
        pocket.progress[READ] += eights * (stop - read)
        read = stop
        eights = _open_eights(pocket, n)
    for m in range(n):
        if waiting.errors[m] - waiting.errors[m] * count.slack < pocket.errors[0]:
            for j in range(w.size):
                waiting.one[j] = waiting.w[m, j]
            consider(X, targets, waiting.one, pocket, t0 + waiting.at[m, 0])
            if pocket.errors[0] == 0.0:
                put(waiting.one, w)
                return m
    return -1


@verb
def wait(w: Kind, pocket: Kind, m: Kind, visits: Kind, mistakes: Kind) -> Any:
    """Keep a hypothesis to be counted later; several machines are counted at once."""
    if w.ndim == 1:
        return _wait
    return lambda w, pocket, m, visits, mistakes: None


@verb
def count_waiting(w: Kind, X: Kind, targets: Kind, pocket: Kind, n: Kind, t0: Kind) -> Any:
    """Count the first n hypotheses that wait; return the one with no errors, made `w` again, or −1."""
    if w.ndim == 1:
        return _count_waiting
    return lambda w, X, targets, pocket, n, t0: -1


@inline
def _short(lead: float, norm: float, count: ErrorCount) -> bool:
    # The zero vector has no distances, so no row is far enough from it.
    return not lead / norm >= count.margin if norm > 0.0 else True


@inline
def is_wrong(targets: Any, i: int, f: float, norm: float, count: ErrorCount) -> bool:
    """Return whether a score f of row i is an error."""
    if f - f != 0.0:
        return True
    if count.margin > 0.0:
        return _short(f if targets.pull[i] > 0.0 else -f, norm, count)
    positive = f >= 0.0 if count.last_wins else f > 0.0
    return positive != (targets.pull[i] > 0.0)


@inline
def _sides_misses(targets: Any, X: Rows, i: int, after: int, w: Floats, norm: float, count: ErrorCount) -> bool:
    return is_wrong(targets, i, dot(X, i, w, after) + w[-1], norm, count)


@inline
def _classes_miss(targets: Any, X: Rows, i: int, after: int, w: Floats, pocket: Pocket) -> bool:
    scores, count = pocket.scores, pocket.right
    dots(X, i, w, pocket.machines, after, scores)
    y = targets.code[i]
    own = scores[y] + w[y, w.shape[1] - 1]
    lead = np.inf
    for c in range(scores.size):
        if c != y:
            ahead = own - (scores[c] + w[c, w.shape[1] - 1])
            if ahead - ahead != 0.0:
                return True
            if count.margin == 0.0 and ahead == 0.0 and (c > y) == (count.last_wins == 1):
                return True  # the tie goes to the other class
            lead = min(lead, ahead)
    return lead < count.margin


def _is_sides(targets: Any) -> bool:
    return targets.instance_class is Sides


@verb
def misses(targets: Kind, X: Kind, i: Kind, after: Kind, w: Kind, norm: Kind, pocket: Kind) -> Any:
    """Return whether row i is an error of `w`, as is every row whose score is not finite."""
    if _is_sides(targets):
        return lambda targets, X, i, after, w, norm, pocket: _sides_misses(
            targets, X, i, after, w, norm, pocket.right
        )
    return lambda targets, X, i, after, w, norm, pocket: _classes_miss(targets, X, i, after, w, pocket)


@verb
def weight_of(targets: Kind, i: Kind) -> Any:
    """Return the weight of row i."""
    if _is_sides(targets):
        return lambda targets, i: abs(targets.pull[i])
    return lambda targets, i: targets.weight[i]


@verb
def put(w: Kind, into: Kind) -> Any:
    """Copy weights."""

    def vector(w: Floats, into: Any) -> None:
        for j in range(w.size):
            into[j] = w[j]

    def matrix(w: Floats, into: Any) -> None:
        for m in range(w.shape[0]):
            for j in range(w.shape[1]):
                into[m, j] = w[m, j]

    return vector if w.ndim == 1 else matrix


@verb
def _norm(w: Kind, count: Kind) -> Any:
    """Return ‖w‖ without the bias, or 1 if leads are not distances."""

    def norm(w: Floats, count: ErrorCount) -> Any:
        if count.geometric == 0 or count.margin == 0.0:
            return 1.0
        square = 0.0
        for j in range(w.size - 1):
            square += w[j] * w[j]
        return np.sqrt(square)

    return norm if w.ndim == 1 else lambda w, count: 1.0


# The pocket perceptron: train, and keep the hypothesis with the fewest errors on all rows (Gallant 1986).
#
# After each pass the average of its hypotheses so far may compete, too. On noisy data it is better than any of
# them.

COUNT_COST = 3  # the cost of counting a row relative to visiting it: counting reads rows in scattered order
MAX_EIGHTS = 4  # eights of hypotheses counted together, at most
MIN_COPY_RATIO = 16  # an eight is copied where the rows store this many times as many values as a hypothesis has

Measure: TypeAlias = Literal["geometric", "functional"]


@dataclass(frozen=True)
class Counting:
    """Which rows count as right for the pocket."""

    margin: float = 0.0  # γ: with 0 the rows predicted right, with more those whose margin is at least γ
    measure: Measure = "geometric"  # the margin as a distance, y f / ‖w‖, or functional, y f
    averages: bool = False  # whether the average after each pass is counted as well


class Pocketed(NamedTuple):
    """A run, and the best of its hypotheses."""

    run: PerceptronRun  # its state is the last hypothesis
    weights: Floats  # the padded weights of the best
    errors: float  # the weight of the rows that are wrong by it
    row_weight: Floats  # the weight of each row
    visit: int  # the visits made when it was found
    rows_read: int  # by counting


def fit_pocket(batch: Batch, plan: Plan, start: State, counting: Counting) -> Pocketed:
    """Train until a stop of `plan`, or until no row is wrong; return the run and the best hypothesis met.

    A hypothesis replaces the pocket only if it is strictly better (the ratchet); the start is the first in it.
    """
    visitor = PocketVisitor(batch, plan, start.copy(), counting)
    run = PerceptronFit(visitor, start).run()
    found = visitor.found_by(run.state.visits)
    visit, read, _ = map(int, found.progress)
    return Pocketed(run, found.w, float(found.errors[0]), visitor.weight, visit, read)


class PocketVisitor(Visitor):
    """Visits rows and counts errors after each that moved weights."""

    may_screen = False

    def __init__(self, batch: Batch, plan: Plan, state: State, counting: Counting) -> None:
        super().__init__(batch, plan, state)
        weight = self.weight
        exact = bool((weight == np.floor(weight)).all()) and float(weight.sum()) < 2.0**53
        count = ErrorCount(
            counting.margin,
            int(counting.measure == "geometric"),
            int(plan.zero > 0),
            0.0 if exact else len(weight) * float(np.finfo(np.float64).eps),
        )
        rows = np.flatnonzero(weight).astype(np.uint64)
        self._pocket = Pocket(
            w=state.w.copy(order="K"),
            errors=np.array([np.inf]),
            progress=np.zeros(3, np.int64),
            rows=rows,
            front=rows.copy(),
            right=count,
            machines=np.arange(len(state.machines)),
            scores=np.empty(len(state.machines)),
            waiting=_waiting(batch, state.w),
        )
        self._before = self._pocket  # when the present pass began
        self._u = np.zeros_like(state.w) if counting.averages else None
        self._cost_of_row = COUNT_COST * batch.stored / batch.n_rows
        self._most = max(1, BLOCK_VALUES * batch.n_rows // max(1, batch.stored))

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of one pass, or of as much of it as it takes until no row is wrong."""
        pocket, state = self._pocket, self.state
        self._begin()
        self._before = _copy(pocket)
        first = 0
        self.settled = self._nothing_wrong()
        while first < len(visits) and not self.settled:
            block = visits[first : first + self._block]
            log = self._log_for(len(block) * self._mistakes_a_visit)
            pocket.progress[ENOUGH] = pocket.progress[READ] + self._most
            k, made, finite = train(
                self.X, self.targets, block, self.plan.rule, state.w, state.visits, log, pocket
            )
            if not finite:
                require_finite(self.batch)
                raise overflow_error(state.visits + made)
            if self._u is not None:
                passes.defer(self.X, self.targets, block, log, k, self.plan.rule.beta, self._u, state.visits)
            state.visits += made
            first += made
            self.settled = self._nothing_wrong()
            self.extra_values = int(pocket.progress[READ] * self._cost_of_row)
            yield Stretch(block[:made], log.part(slice(k)), state.visits - made)
        if self._u is not None and not self.settled:
            consider(self.X, self.targets, state.w - self._u / state.visits, pocket, state.visits)
            self.settled = self._nothing_wrong()

    def _begin(self) -> None:
        """Put the start in the pocket, unless something is in it already."""
        if np.isinf(self._pocket.errors[0]):
            consider(self.X, self.targets, self.state.w, self._pocket, 0)

    def _nothing_wrong(self) -> bool:
        if self._pocket.errors[0] > 0.0:
            return False
        require_finite(self.batch)  # some rows may not have been visited
        return True

    def found_by(self, visits: int) -> Pocket:
        """Return the pocket after so many visits: this moment's, or that of the last completed pass."""
        self._begin()  # Ctrl-C may have come before the first visit
        return self._pocket if self._pocket.progress[VISIT] <= visits else self._before


def _waiting(batch: Batch, w: Floats) -> Waiting:
    """Return room for hypotheses to be counted together, or for one if copies would cost more than they spare."""
    eights = 0
    while w.ndim == 1 and eights < MAX_EIGHTS and MIN_COPY_RATIO * (eights + 1) * w.size <= batch.stored:
        eights += 1
    together = max(1, EIGHT * eights)
    return Waiting(
        w=oriented(np.zeros((together, w.shape[-1])), batch.rows),
        lanes=np.arange(together),
        scores=np.empty(together),
        biases=np.zeros(together),
        norms=np.ones(together),
        errors=np.zeros(together),
        at=np.zeros((together, 2), np.int64),
        one=np.zeros(w.shape[-1]),
    )


def _copy(pocket: Pocket) -> Pocket:
    return pocket._replace(
        w=pocket.w.copy(order="K"), errors=pocket.errors.copy(), progress=pocket.progress.copy()
    )


class PocketPerceptron(RelatedParameters, VisitingClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron that keeps the best hypothesis it meets, for inseparable data (Gallant 1986).

    After each update the errors on all rows are counted. A hypothesis with fewer errors than any before goes into
    the pocket, and the pocket is the result: no hypothesis of the run has fewer training errors. The average of
    the hypotheses competes after each pass. Training ends when no row is wrong.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The hypothesis in the pocket.
    pocket_errors_ : float
        The number of rows that it classifies wrongly; with weights, their total weight.
    pocket_score_ : float
        The share of rows that it classifies correctly; with weights, the share of the weight.
    pocket_visit_ : int
        The visits made when it was found; 0 is the start.
    n_rows_counted_ : int
        The rows read to count errors; up to eight hypotheses that are counted together count a row once.
    converged_ : bool
        Whether every training row is classified correctly; rows of weight 0 do not count.
    stop_reason_, n_iter_, n_mistakes_, mistakes_per_pass_, trace_, curve_, t_, classes_
        As in `Perceptron`, of the whole run. The last pass may be cut short: training ends once no row is wrong.
        If the start makes no error, `n_iter_` is 0.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = PocketPerceptron(n_iter_no_change=20).fit(X, y)
    >>> clf.pocket_errors_, clf.pocket_score_, clf.stop_reason_
    (1.0, 0.75, 'plateau')
    """

    _learner = built_in(
        "PocketPerceptron",
        hyperplane_state(
            BATCH | facts("pocket_errors_", "pocket_score_", "pocket_visit_", "n_rows_counted_"),
        ),
    )

    pocket_margin: float = param(
        0.0,
        "γ. With 0 a row is right if its label is predicted; with more, if its margin is at least γ.",
        least=0,
    )
    count: str = param(
        "geometric",
        "How margins are measured where γ > 0: as distances, y f / ‖w‖, or as they are, y f. More than two "
        "classes have functional ones only: the lead over the best rival.",
        one_of=("geometric", "functional"),
    )
    averages: bool = param(
        True,
        "Whether the average of all hypotheses so far is counted after each pass, too. On noisy data it usually "
        "makes the fewest errors. False leaves the algorithm as Gallant wrote it.",
    )
    margin: float = param(0.0, more="It is for the mistakes in training; `pocket_margin` is for the pocket.")
    class_weight: Any = param(None, "Multiplies the step of each class, and the weight of its errors.")
    multiclass: str = param("direct", "How more than two classes become hyperplanes.", one_of=("direct", "ovr"))
    n_iter_no_change: int | None = param(
        None,
        "How many passes may go by before the mistakes of a pass fall by 2 %; then training ends. With None the "
        "data is visited until 5·10⁸ values were read, those that counting reads included. Then training ends "
        "when the mistakes of the second half of all passes are not 5 % fewer than those of the quarter before.",
    )
    callbacks: Any = param(None, more="They get the current hypothesis, not the pocket.")

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train until a stopping rule ends it, and keep the best hypothesis; parameters as in `Perceptron.fit`.

        `sample_weight` also weighs the errors. An error leaves the estimator unchanged; Ctrl-C
        leaves the best of the completed passes.
        """
        with interruptible():
            self._check_parameters()
            measure: Any = self.count
            counting = Counting(float(self.pocket_margin), measure, self.averages)
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight)
            if counting.margin > 0 and counting.measure == "geometric" and len(batch.classes) > 2:
                raise ParameterError(
                    Given("pocket_margin", self.pocket_margin) + f" with count='geometric' is a distance from one "
                    f"hyperplane, but y has {len(batch.classes)} classes. "
                    "Use count='functional', or pocket_margin=0."
                )
            blocks = whole(batch)
            with make_plan(self, blocks, coef_init, intercept_init) as (plan, start, _):
                found = fit_pocket(batch, plan, start, counting)
            run, total = found.run, float(found.row_weight.sum())
            model = LinearModel(found.weights, run.trace.scheme, batch.classes, self.zero)
            right = (model.codes(batch) == batch.codes) | (found.row_weight == 0.0)
            self.__dict__.update(
                publish_attributes(self, run, blocks)
                | {
                    "converged_": bool(right.all()),
                    "pocket_errors_": found.errors,
                    "pocket_score_": 1.0 - found.errors / total,
                    "pocket_visit_": found.visit,
                    "n_rows_counted_": found.rows_read,
                    "_state": State(found.weights, None, run.state.visits),
                }
            )
            conclude(self, run, rows=None if right.all() else blocks, best=True)
            return self
