"""Cheap attempts before the search: rows that single features force, equal rows, and normal vectors in floats.

Forced and equal rows are found by comparisons alone, which are exact. The vectors are only proposals: each is
checked exactly before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import frexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.loops._jit import jit
from rosenblatt.loops.layout import Log, Sides, Targets, row_slices
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.features import Features
from rosenblatt.typing import Floats, Ints

MAX_EQUATIONS = 1500  # features up to which Newton's method solves its equations
LARGE_VALUES = 2**18  # values from which the perceptron is tried: its loops may have to be compiled first
MAX_PASSES = 64  # passes over all rows that its visits may amount to
PASSES_BEFORE_JUDGED = 3  # passes over all rows before it is judged
MAX_INNER_PASSES = 100  # passes over the rows that it was wrong on
PRODUCTS_A_UNIT = 8  # multiplications of a matrix product for each unit of work
SAMPLE_ROWS = 512  # read first, where few may decide
GROWTH_FACTOR = 8  # how many times as many are read next


def guess(problem: SeparationProblem, clock: Clock) -> Iterator[Direction]:
    """Yield normal vectors that may separate the rows: the perceptron's if they are many, then least squares."""
    if problem.size >= LARGE_VALUES and (w := by_mistakes(problem, clock)) is not None:
        yield w
    if takes_newton(problem):
        return
    for v in _fit_least_squares(problem, clock):
        found = Direction.of_floats(v)
        if found is not None:
            yield found


def takes_newton(problem: SeparationProblem) -> bool:
    """Return whether the features are few enough for `HingeNewton`, and not more than the rows."""
    return problem.width <= min(MAX_EQUATIONS, problem.n)


def by_mistakes(problem: SeparationProblem, clock: Clock) -> Direction | None:
    """Return the perceptron's normal vector if it separates the rows within so many passes, else None."""
    w = np.zeros(problem.d + 1)
    passes = (
        min(MAX_PASSES, problem.width / PRODUCTS_A_UNIT) if takes_newton(problem) else MAX_PASSES
    )  # less than a step of Newton's
    most = problem.width if takes_newton(problem) else problem.n
    if not train_by_mistakes(
        problem.features, Sides(problem.y), w, problem.size, passes, most, clock, bias=problem.bias
    ):
        return None
    found = problem.direction(w[:-1])
    return None if found is None else found[0]


def train_by_mistakes(
    features: Features,
    targets: Targets,
    w: Floats,
    size: float,
    passes: float,
    most: int,
    clock: Clock,
    *,
    bias: bool,
) -> bool:
    """Train weights by the perceptron in place; return whether a pass over all rows came to have no mistake.

    A pass over all rows, of work `size`, is followed by passes over the few that it was ever wrong on. In all they
    take the work of `passes` passes. They end early if the third pass over all rows has more than `most` mistakes.
    """
    from rosenblatt.loops.passes import train
    from rosenblatt.loops.rules import Rule

    n = features.n_rows
    rule, log = Rule(beta=float(bias)), Log.room(n, 1 if w.ndim == 1 else len(w))
    every, wrong = np.arange(n, dtype=np.uint64), np.zeros(n, np.bool_)
    left = passes * size
    full = 0
    while left > 0:
        order = every
        full += 1
        for _ in range(MAX_INNER_PASSES):
            work = size * len(order) / n
            left -= work
            clock.spend(work, "running the perceptron")
            mistakes, made = train(features.rows, targets, order, rule, w, None, 0, log)
            if made < len(order):  # a score was not finite
                return False
            if not mistakes:
                break
            if order is every:
                if full >= PASSES_BEFORE_JUDGED and mistakes > most:
                    return False
                wrong[log.at[:mistakes]] = True
                order = np.flatnonzero(wrong).astype(np.uint64)
            if left <= 0:  # no pass over all rows can follow
                return False
        if order is every:
            return True
    return False


def _fit_least_squares(problem: SeparationProblem, clock: Clock) -> Iterator[Floats]:
    """Yield the results of few and of many steps of LSQR, which does not copy X."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    matrix, left = problem.floats
    bias = problem.bias

    def times(v: Floats) -> Floats:
        f = matrix.times(np.ldexp(v[: problem.d], -left))
        return f + v[-1] if bias else f

    def combine(r: Floats) -> Floats:
        sums = np.ldexp(matrix.combine(r), -left)
        return np.append(sums, r.sum()) if bias else sums

    operator = LinearOperator((problem.n, problem.width), matvec=times, rmatvec=combine, dtype=np.float64)
    start = np.zeros(problem.width)
    for steps in (20, 100, 400):
        clock.spend(4 * steps * (problem.size + problem.width), "fitting least squares")
        start = lsqr(operator, problem.y, atol=1e-12, btol=1e-12, iter_lim=steps, x0=start)[0]
        yield start[: problem.d]


# Forced rows. If a feature is at least c in one class and at most c in the other, rows where it is not c have
# weight 0 in every combination to 0: the vector ±(e_j, −c) has no row on its wrong side, and these strictly on
# their right one. Without them others may be forced, and so on. The verdict for the rows left is that for all; if
# none is left, they are separable.


class Layer(NamedTuple):
    """The rows of one round, and u: the sum of side_j (e_j, −c_j) over some features, positive for these rows.

    It is 0 for the rows of later rounds. Without features u is the bias alone.
    """

    rows: Ints
    features: Ints
    sides: Ints
    low: Floats  # c_j is midway
    high: Floats
    bias: int = 0


@dataclass(frozen=True, eq=False)
class Peeling:
    """Which rows are left when forced ones are removed, and those removed in each round."""

    left: NDArray[np.bool_]
    layers: list[Layer]

    def normal(self, X: Any, last: Floats | None) -> Floats:
        """Return weights that should separate all rows, from weights for the rows left; the bias is the last.

        The vector of each layer gets a factor that outweighs those of later ones on its own rows. All of this is
        rounded: the result is a proposal.
        """
        w = np.zeros(X.shape[1] + 1) if last is None else last.copy()
        with np.errstate(all="ignore"):
            for layer in reversed(self.layers):
                own = np.zeros(X.shape[1] + 1)
                own[layer.features] = layer.sides
                own[-1] = layer.bias - np.sum(layer.sides * (layer.low / 2.0 + layer.high / 2.0))
                factor = 1.0
                if w.any():
                    part = X[layer.rows]
                    most = float(np.max(-_score(part, w) / _score(part, own)))
                    factor = 2.0 ** (frexp(most)[1] + 1) if 0.0 < most < 2.0**900 else 1.0
                w += factor * own
        return w


def _score(X: Any, w: Floats) -> Floats:
    """Return the scores of rows, the bias last in w; dense ones feature by feature: in a fixed order."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ w[:-1] + w[-1])
    f = np.full(len(X), w[-1])
    for j in np.flatnonzero(w[:-1]):
        f += X[:, j] * w[j]
    return f


def peel(X: Any, y: Floats, *, bias: bool, least: float = 0.0) -> Peeling:
    """Remove rows that single features force, again and again; X is dense, or CSR, where c is always 0.

    A round that would remove less than the share `least` of the rows ends it.
    """
    rows, layers = np.arange(X.shape[0]), list[Layer]()
    forced_by = _force_dense if isinstance(X, np.ndarray) else _force_sparse
    while len(rows):
        sides = y[rows]
        if bias and (sides == sides[0]).all():
            none = np.empty(0, np.int64)
            layers.append(Layer(rows, none, none, np.empty(0), np.empty(0), bias=int(sides[0])))
            rows = rows[:0]
            break
        layer = forced_by(X if len(rows) == X.shape[0] else X[rows], sides, bias)
        if layer is None or len(layer.rows) < least * len(rows):
            break
        layers.append(layer._replace(rows=rows[layer.rows]))
        rows = np.delete(rows, layer.rows)
    left = np.zeros(X.shape[0], np.bool_)
    left[rows] = True
    return Peeling(left, layers)


def _force_dense(X: Any, y: Floats, bias: bool) -> Layer | None:
    """Return the rows that features of dense rows force, or None.

    Few rows are read first, then ever more: features whose classes overlap in few rows do so in all.
    """
    lowest, highest = (-np.inf, np.inf) if X.dtype.kind == "f" else (0, np.iinfo(X.dtype).max)
    least, most = np.full((2, X.shape[1]), highest, X.dtype), np.full((2, X.shape[1]), lowest, X.dtype)
    stop = 0
    while stop < len(X):
        start, stop = stop, max(SAMPLE_ROWS, GROWTH_FACTOR * stop)
        widen(X[start:stop], y[start:stop], least, most)
        if bias:
            up, down = least[1] >= most[0], most[1] <= least[0]
        else:
            up, down = (least[1] >= 0.0) & (most[0] <= 0.0), (most[1] <= 0.0) & (least[0] >= 0.0)
        if not (up | down).any():
            return None
    used = np.flatnonzero(up != down)  # both: a feature with the same value in all rows
    low = high = np.zeros(len(used))
    if bias:
        low, high = (
            np.where(up, *ends)[used].astype(np.float64) for ends in ((most[0], most[1]), (least[1], least[0]))
        )
    forced = np.flatnonzero(((X[:, used] != low) | (low < high)).any(axis=1))
    return Layer(forced, used, np.where(up[used], 1, -1), low, high) if len(forced) else None


@jit
def widen(X: Any, y: Floats, least: Any, most: Any) -> None:
    """Let the range of each feature include some rows; those of negative rows come first, then positive ones."""
    for i in range(X.shape[0]):
        side = 1 if y[i] > 0.0 else 0
        for j in range(X.shape[1]):
            value = X[i, j]
            least[side, j] = min(least[side, j], value)
            most[side, j] = max(most[side, j], value)


def _force_sparse(X: Any, y: Floats, bias: bool) -> Layer | None:
    """Return the rows that features of sparse rows force, or None: rows where a feature of one sign is not 0.

    Rows are read some at a time: copies of all values would take several times the memory of the rows. Once each
    feature has met both signs, none forces a row.
    """
    up, down = np.zeros((2, X.shape[1]), np.bool_)
    for some in row_slices(X):
        of, places, positive = _stored_signs(X, some)
        above = positive == (y[of] > 0.0)
        up[places[above]] = True
        down[places[~above]] = True
        if (up & down).all():
            return None
    one_sided = up != down
    features = np.flatnonzero(one_sided)
    if not len(features):
        return None
    forced, zeros = np.zeros(X.shape[0], np.bool_), np.zeros(len(features))
    for some in row_slices(X):
        of, places, _ = _stored_signs(X, some)
        forced[of[one_sided[places]]] = True
    return Layer(np.flatnonzero(forced), features, np.where(up[features], 1, -1), zeros, zeros)


def _stored_signs(X: Any, some: slice) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the row, the feature and whether it is positive, of each value that is not 0 in some sparse rows."""
    ends = X.indptr[some.start : some.stop + 1]
    data, places = X.data[ends[0] : ends[-1]], X.indices[ends[0] : ends[-1]]
    stored = data != 0.0
    of = np.repeat(np.arange(some.start, some.stop), np.diff(ends))
    return of[stored], places[stored], data[stored] > 0.0


def find_equal_rows(
    matrix: Matrix, codes: Floats | Ints, digests: Ints | None = None, *, among: int | None = None
) -> tuple[int, int] | None:
    """Return two equal rows of different classes, that of the larger code first; None if there are none.

    Few rows are looked through first, then ever more: data that contradicts itself often does so early. The
    digests of the rows can be given if they are known already. With `among`, only so many rows are looked through.
    """
    found, odd = np.empty(matrix.n, np.int64) if digests is None else digests, _odd_numbers(matrix)
    stop = 0
    while stop < min(matrix.n, among or matrix.n):
        start, stop = stop, min(matrix.n, max(SAMPLE_ROWS, GROWTH_FACTOR * stop))
        if digests is None:
            _digest(matrix, odd, slice(start, stop), found)
        for pair in _same_digests(found[:stop], codes):
            differences = matrix.X[pair[:1]] != matrix.X[pair[1:]]
            if not (differences.nnz if matrix.sparse else differences.any()):
                smaller, larger = pair.tolist()
                return larger, smaller
    return None


def digest_rows(matrix: Matrix) -> Ints:
    """Return a hash of each row, for `find_equal_rows`."""
    digests = np.empty(matrix.n, np.int64)
    _digest(matrix, _odd_numbers(matrix), slice(0, matrix.n), digests)
    return digests


def _odd_numbers(matrix: Matrix) -> Ints:
    return np.random.default_rng(0).integers(-(2**62), 2**62, matrix.d) * 2 + 1


def _same_digests(digests: Ints, codes: Floats | Ints) -> Ints:
    """Return pairs of rows with the same hash, of a smaller and a larger code; those of the first rows first."""
    ascending = np.sort(digests)  # several times as fast as their order, which is rarely needed
    if not (ascending[1:] == ascending[:-1]).any():
        return np.empty((0, 2), np.int64)
    order = np.argsort(digests)
    same = digests[order[1:]] == digests[order[:-1]]
    rows = np.sort(order[np.append(same, False) | np.append(False, same)])
    rows = rows[np.lexsort((codes[rows], digests[rows]))]
    pairs = np.column_stack([rows[:-1], rows[1:]])
    clash = (digests[rows[:-1]] == digests[rows[1:]]) & (codes[rows[:-1]] != codes[rows[1:]])
    pairs = pairs[clash]
    return np.asarray(pairs[np.argsort(pairs.max(axis=1), kind="stable")])


def _digest(matrix: Matrix, odd: Ints, rows: slice, digests: Ints) -> None:
    """Put a hash of some rows into `digests`: the sum of their entries' bits times odd numbers, modulo 2⁶⁴."""
    X = matrix.X
    if matrix.sparse:
        ends = X.indptr[rows.start : rows.stop + 1]
        stored = slice(ends[0], ends[-1])
        sums = np.append(0, np.cumsum(_bits(X.data[stored]) * odd[X.indices[stored]]))
        digests[rows] = np.diff(sums[ends - ends[0]])
        return
    part = X[rows]
    floating = part.dtype.kind == "f"
    hash_rows(part.view(f"i{part.itemsize}") if floating else part, odd, 4 * part.itemsize, digests[rows])


@jit
def hash_rows(bits: Any, odd: Ints, half: int, digests: Ints) -> None:
    """Hash dense rows, given as the bits of their values.

    The last bits of short numbers, such as 1.0, are zeros, and so would be those of their products. The first half
    of the bits is therefore added to the second one. −0.0, a sign alone, counts as 0.
    """
    negative_zero = -(1 << (2 * half - 1))
    for i in range(bits.shape[0]):
        total = 0
        for j in range(bits.shape[1]):
            value = np.int64(0 if bits[i, j] == negative_zero else bits[i, j])
            total += (value + (value >> half)) * odd[j]
        digests[i] = total


def _bits(values: Any) -> Ints:
    """Return the bits of values as doubles, the first half mixed into the second one; those of zero are 0."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.int64)  # + 0.0 turns −0.0 into 0.0
    bits ^= bits >> 32
    return np.asarray(bits)
