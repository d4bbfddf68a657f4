"""The engine of compiled loops: rows in memory, in a memory map or in shards, problems on threads.

Problems take turns at blocks of rows that fit into the cache. A problem depends on no other, so that it may
visit a whole block before the next problem does. Meanwhile the rows of the block stay in the second-level cache
and its own weights in the first. Rows are scored four at a time, before it is known whether the first of them
moves the weights; after a mistake, scoring begins anew behind it. The sums are those of
`rosenblatt.loops.dense`, so that the bits are those of a `rosenblatt.Perceptron`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DeviceError, NonFiniteError, Remedy, TrainingOverflowError
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import lanes_dots
from rosenblatt.loops.dense import NARROW_LANES, WIDE_LANES, dot_narrow, dot_wide
from rosenblatt.loops.layout import Order
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import correction
from rosenblatt.probes.engine import Matrix, Plan, Problems, Signs, States, Visits, widen
from rosenblatt.rows.memory import require_memory
from rosenblatt.stopping import stop_if_interrupted
from rosenblatt.threads import Pool, allowed
from rosenblatt.typing import Floats, Ints

CACHED_BYTES = 1 << 18  # rows that stay in the second-level cache while one problem after another visits them
READ_BYTES = 1 << 24  # rows of a memory map or a shard that are read at once
STRETCH_VALUES = 1 << 29  # products between two looks for Ctrl-C: about a twentieth of a second
ALIGNED = 8  # weights of a cache line: those of each problem begin with one
AHEAD = 4  # rows that are scored together
_wide = lanes_dots(WIDE_LANES, 1, AHEAD)
_narrow = lanes_dots(NARROW_LANES, 1, AHEAD)


@inline
def score_rows(X: Any, rows: Ints, q: int, last: int, w: Floats, at: int) -> tuple[float, float, float, float]:
    """Return <w, x> of four rows from `q` on, as `dense_dot` would; the row `last` stands for rows behind it."""
    d = X.shape[1]
    i0, i1 = rows[q], rows[min(q + 1, last)]
    i2, i3 = rows[min(q + 2, last)], rows[min(q + 3, last)]
    wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
    a, b, c, e = _wide(w, (at,), X, (i0 * d, i1 * d, i2 * d, i3 * d), wide, None)
    if wide < d:
        tails = (i0 * d + wide, i1 * d + wide, i2 * d + wide, i3 * d + wide)
        a8, b8, c8, e8 = _narrow(w, (at + wide,), X, tails, narrow - wide, None)
        a, b, c, e = a + a8, b + b8, c + c8, e + e8
        for j in range(narrow, d):
            v = w[at + j]
            a += v * X[i0, j]
            b += v * X[i1, j]
            c += v * X[i2, j]
            e += v * X[i3, j]
    else:
        a, b, c, e = a + 0.0, b + 0.0, c + 0.0, e + 0.0  # what `dense_dot` adds where no values are left
    return a, b, c, e


@inline
def score_row(X: Any, i: int, w: Floats, at: int) -> float:
    """Return <w, x> of one row, as `dense_dot` would."""
    d = X.shape[1]
    wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
    f: float = dot_wide(w, at, X, i * d, wide)
    f += dot_narrow(w, at + wide, X, i * d + wide, narrow - wide)
    for j in range(narrow, d):
        f += w[at + j] * X[i, j]
    return f


@inline
def member_signs(
    order: Order, begin: int, end: int, signs: tuple[Any, Any], column: int, left_out: int, rows: Ints, side: Ints
) -> int:
    """Write the visits of a block that are in a problem, and their sides; return their number.

    `signs` are the labels and the fold of each row.
    """
    labels, fold = signs
    count = 0
    for t in range(begin, end):
        s = labels[order[t], column]
        if s != 0 and fold[order[t]] != left_out:
            rows[count] = t
            side[count] = s
            count += 1
    return count


@jit
def train_problems(
    X: Any,
    order: Order,
    places: Order,
    signs: tuple[Any, Any],
    weight: Floats | None,
    problems: Ints,
    column: Ints,
    left_out: Ints,
    rule: Rule,
    w: Floats,
    b: Floats,
    u: Floats | None,
    v: Floats,
    t0: int,
    stride: int,
    block: int,
    room: tuple[Ints, Ints, Ints],
    mistakes: Ints,
) -> tuple[int, int]:
    """Make the visits of `order` by some problems; return −1 twice, or the visit and the problem of a bad score.

    `places` holds the row of `X` of each visit, `signs` the labels and the folds of all rows, and `weight` their
    weights. The weights of problem m begin at ``m * stride`` of `w`, its bias is ``b[m]``; `u` and `v` are their
    sums for averages, after `t0` visits. `room` has space for the visits of a block.
    """
    labels, fold = signs
    at_visit, rows, side = room
    for begin in range(0, order.size, block):
        end = min(begin + block, order.size)
        for p in range(problems.size):
            m = problems[p]
            at = m * stride
            count = member_signs(order, begin, end, (labels, fold), column[m], left_out[m], at_visit, side)
            for q in range(count):
                rows[q] = places[at_visit[q]]
            q, ahead = 0, AHEAD
            while q < count:
                if ahead == 1:
                    one = score_row(X, rows[q], w, at)
                    scores = (one, one, one, one)
                else:
                    scores = score_rows(X, rows, q, count - 1, w, at)
                last, ahead = min(ahead, count - q), AHEAD
                for r in range(last):
                    f = scores[r] + b[m]
                    if f - f != 0.0:
                        return at_visit[q], m
                    pull = np.float64(side[q])
                    if weight is not None:
                        pull *= weight[order[at_visit[q]]]
                    c = correction(rule, pull, f)
                    q += 1
                    if c != 0.0:
                        mistakes[m] += 1
                        add(X, rows[q - 1], c, c * (t0 + at_visit[q - 1]), w, u, at)
                        b[m] += c * rule.beta
                        if u is not None:
                            v[m] += c * (t0 + at_visit[q - 1]) * rule.beta
                        ahead = 1  # this saves about a twentieth of the time
                        break
    return -1, -1


@inline
def add(X: Any, i: int, c: float, late: float, w: Floats, u: Floats | None, at: int) -> None:
    """Add c x_i to the weights, and `late` times x_i to their sums."""
    if u is None:
        for j in range(X.shape[1]):
            w[at + j] += c * X[i, j]
    else:
        for j in range(X.shape[1]):
            x = X[i, j]
            w[at + j] += c * x
            u[at + j] += late * x


@jit
def count_right(
    X: Any,
    order: Order,
    places: Order,
    signs: tuple[Any, Any],
    problems: Ints,
    column: Ints,
    left_out: Ints,
    w: Floats,
    b: Floats,
    stride: int,
    block: int,
    room: tuple[Ints, Ints, Ints],
    right: Ints,
) -> tuple[int, int]:
    """Count the rows that judge a problem and that it predicts right; see `train_problems` for the arguments."""
    labels, fold = signs
    at_visit, rows, side = room
    for begin in range(0, order.size, block):
        end = min(begin + block, order.size)
        for p in range(problems.size):
            m = problems[p]
            count = 0
            for t in range(begin, end):
                s = labels[order[t], column[m]]
                if s != 0 and (left_out[m] < 0 or fold[order[t]] == left_out[m]):
                    at_visit[count], rows[count], side[count] = t, places[t], s
                    count += 1
            for q in range(0, count, AHEAD):
                scores = score_rows(X, rows, q, count - 1, w, m * stride)
                for r in range(min(AHEAD, count - q)):
                    f = scores[r] + b[m]
                    if f - f != 0.0:
                        return at_visit[q + r], m
                    right[m] += (f > 0.0) == (side[q + r] > 0)
    return -1, -1


class CpuEngine:
    """Trains problems on the CPU; see `rosenblatt.probes.engine.Engine`."""

    def __init__(self) -> None:
        self._matrix: Any = None

    @property
    def name(self) -> str:
        """What the engine computes on."""
        threads = allowed()
        return f"the CPU, {threads} thread{'s' * (threads > 1)}"

    def start(self, matrix: Matrix, problems: Problems, plan: Plan, begin: States | None = None) -> None:
        """Prepare training."""
        if matrix.on_device:
            raise DeviceError(
                "X lies in the memory of a GPU. Use " + Remedy("device", "cuda") + ", or copy it to the host."
            )
        k, d = problems.count, matrix.n_features
        self._matrix, self._problems, self._plan = matrix, problems, plan
        self._stride = -(-d // ALIGNED) * ALIGNED
        needed = 16 * k * self._stride * (1 + plan.average)
        require_memory(f"The weights of {k:,} problems", needed, "Train fewer problems at a time.")
        self._w, self._b = _aligned(k * self._stride), np.zeros(k)
        self._u: Floats | None
        self._u, self._v = (_aligned(k * self._stride), np.zeros(k)) if plan.average else (None, np.zeros(1))
        self._visits = np.zeros(k, np.int64)
        self._folds = _column(problems.fold, matrix.n_rows)
        self._left_out = (
            np.full(k, -1, np.int64) if problems.left_out is None else problems.left_out.astype(np.int64)
        )
        self._idle = _idle_rows(problems, self._folds, self._left_out)
        if begin is not None:
            self._weights(self._w)[:], self._b[:] = begin.w[:, :-1], begin.w[:, -1]
            self._visits[:] = begin.visits
            if self._u is not None and begin.u is not None:
                self._weights(self._u)[:], self._v[:] = begin.u[:, :-1], begin.u[:, -1]

    def train_pass(self, active: Ints, order: Visits | None) -> Ints:
        """Make one pass of some problems; return the mistakes of each."""
        w, b, v = _copy(self._w), self._b.copy(), self._v.copy()
        u = None if self._u is None else _copy(self._u)
        mistakes = np.zeros(self._problems.count, np.int64)
        made = int(self._visits[active[0]]) if len(active) else 0
        labels, weight = self._problems.labels, self._problems.weight

        def visit(part: tuple[Ints, NDArray[Any], Visits, Visits, int]) -> tuple[int, int]:
            problems, X, rows, places, before = part
            size, room = self._room(X, len(rows))
            return train_problems(
                X, rows, places, (labels, self._folds), weight, problems, self._problems.column, self._left_out,
                self._plan.rule, w, b, u, v, made + before, self._stride, size, room, mistakes,
            )  # fmt: skip

        self._walk(visit, active, order)
        self._idle[slice(None) if order is None else order] = False  # they have been looked at
        self._w, self._b, self._u, self._v = w, b, u, v
        n = self._matrix.n_rows if order is None else len(order)
        self._visits[active] += n
        return mistakes[active]

    def states(self) -> States:
        """Return copies of all states."""
        u = None if self._u is None else np.column_stack([self._weights(self._u), self._v])
        return States(np.column_stack([self._weights(self._w), self._b]), u, self._visits.copy())

    def count_right(self, hypothesis: Floats, rows: slice | None = None) -> Ints:
        """Return how many of the rows that judge a problem it predicts right."""
        w, b = _aligned(self._problems.count * self._stride), np.ascontiguousarray(hypothesis[:, -1])
        self._weights(w)[:] = hypothesis[:, :-1]
        right = np.zeros(self._problems.count, np.int64)

        def visit(part: tuple[Ints, NDArray[Any], Visits, Visits, int]) -> tuple[int, int]:
            problems, X, names, places, _ = part
            size, room = self._room(X, len(names))
            return count_right(
                X, names, places, (self._problems.labels, self._folds), problems, self._problems.column,
                self._left_out, w, b, self._stride, size, room, right,
            )  # fmt: skip

        order = None if rows is None else np.arange(self._matrix.n_rows, dtype=np.uint64)[rows]
        self._walk(visit, np.arange(self._problems.count), order)
        return right

    def close(self) -> None:
        """Give all memory back."""
        self.__dict__ = {"_matrix": None}

    def _weights(self, flat: Floats) -> Floats:
        return flat.reshape(self._problems.count, self._stride)[:, : self._matrix.n_features]

    def _room(self, X: NDArray[Any], visits: int) -> tuple[int, tuple[Ints, Ints, Ints]]:
        size = max(1, min(visits, CACHED_BYTES // (X.shape[1] * X.itemsize)))
        room = np.empty((3, size), np.int64)
        return size, (room[0], room[1], room[2])

    def _walk(self, visit: Callable[[Any], tuple[int, int]], active: Ints, order: Visits | None) -> None:
        """Let threads make the visits of an order, each those of some problems."""
        if not len(active):
            return
        threads = min(allowed(), len(active))
        groups = [np.ascontiguousarray(active[each::threads]) for each in range(threads)]
        before = 0
        with Pool(threads) as pool:
            for X, rows, places in self._stretches(order, len(active), pool):
                stop_if_interrupted()
                self._check_idle(X, rows, places)
                parts = [(group, X, rows, places, before) for group in groups]
                for at, problem in pool.ordered(visit, parts):
                    if at >= 0:
                        raise self._bad_score(X, int(rows[at]), int(places[at]), problem)
                before += len(rows)

    def _check_idle(self, X: NDArray[Any], rows: Visits, places: Visits) -> None:
        """Require that rows are finite that no problem scores, as those that are scored."""
        idle = np.flatnonzero(self._idle[rows])
        size = max(1, READ_BYTES // (X.shape[1] * X.itemsize))
        for first in range(0, len(idle), size):
            some = idle[first : first + size]
            finite = np.isfinite(X[places[some]]).all(axis=1)
            if not finite.all():
                bad = some[np.argmin(finite)]
                raise self._bad_score(X, int(rows[bad]), int(places[bad]), -1)

    def _stretches(
        self, order: Visits | None, n_problems: int, pool: Pool
    ) -> Iterator[tuple[NDArray[Any], Visits, Visits]]:
        """Yield rows in memory, their numbers among all rows in the order of their visits, and their places."""
        matrix = self._matrix
        n, d = matrix.n_rows, matrix.n_features
        visits = np.arange(n, dtype=np.uint64) if order is None else np.asarray(order, np.uint64)
        if len(matrix.parts) == 1 and not matrix.streamed and matrix.kind in ("float64", "float32", "uint8"):
            size = max(1, STRETCH_VALUES // max(1, d * n_problems))
            for first in range(0, len(visits), size):
                part = visits[first : first + size]
                yield matrix.parts[0], part, part
            return
        size = max(1, READ_BYTES // max(1, d * 8))
        parts = (visits[first : first + size] for first in range(0, len(visits), size))
        places = np.arange(size, dtype=np.uint64)

        def read(rows: Visits) -> tuple[NDArray[Any], Visits]:
            return np.ascontiguousarray(widen(matrix.gather(rows), matrix.kind)), rows

        for X, rows in pool.ordered(read, parts, ahead=1):
            yield X, rows, places[: len(rows)]

    def _bad_score(self, X: NDArray[Any], row: int, place: int, problem: int) -> Exception:
        column = np.flatnonzero(~np.isfinite(X[place]))
        if len(column):
            j = int(column[0])
            return NonFiniteError(
                f"X has {X[place, j]} at row {row}, column {j}. Remove the row, or replace the value.",
                row=row,
                column=j,
            )
        return TrainingOverflowError(
            f"The score of row {row} in problem {problem} exceeds the largest float. Scale the features down."
        )


def _idle_rows(problems: Problems, fold: Signs, left_out: Ints) -> NDArray[np.bool_]:
    """Return which rows no problem visits in training."""
    idle: NDArray[np.bool_] = np.logical_not(problems.labels.any(axis=1))
    for each in np.unique(fold).tolist():
        columns = np.unique(problems.column[left_out != each])
        if len(columns) < problems.labels.shape[1]:
            rows = np.flatnonzero(fold == each)
            idle[rows] = np.logical_not(problems.labels[np.ix_(rows, columns)].any(axis=1))
    return idle


def _aligned(count: int) -> Floats:
    """Return zeros that begin with a cache line."""
    room = np.zeros(count + ALIGNED)
    skipped = (-room.ctypes.data // 8) % ALIGNED
    return room[skipped : skipped + count]


def _copy(weights: Floats) -> Floats:
    """Return a copy that begins with a cache line too."""
    copied = _aligned(len(weights))
    copied[:] = weights
    return copied


def _column(fold: NDArray[np.int8] | None, n_rows: int) -> NDArray[np.int8]:
    return np.zeros(n_rows, np.int8) if fold is None else np.ascontiguousarray(fold)
