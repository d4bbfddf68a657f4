"""Models that are hyperplanes: how several classes become hyperplanes, and scores become a label."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Codec, Count, Labels, Names, Record, Text, require
from rosenblatt.exceptions import Message, NonFiniteError, PredictionOverflowError, Term
from rosenblatt.learning.state import STATE, WEIGHTS, MetFeatures, State
from rosenblatt.loops.layout import CSR, PAIR, Direct, Machines, Rows, Sides, Targets, oriented, part_of
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, read_only, require_finite, require_width
from rosenblatt.threads import in_parts, ordered
from rosenblatt.typing import Floats, Ints, Reals

Kind: TypeAlias = Literal["binary", "direct", "ovr", "ovo"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """One hyperplane for two classes, or several for many."""

    # one machine whose sign decides; one vector for each class, compared directly; one machine for each class
    # against the rest; or one machine for each pair of classes
    kind: Kind
    n_classes: int

    @classmethod
    def of(cls, multiclass: Any, n_classes: int) -> Scheme:
        """Return the scheme that `multiclass` names; two classes always need one machine."""
        return cls("binary" if n_classes <= 2 else multiclass, n_classes)

    @property
    def n_machines(self) -> int:
        """The number of hyperplanes."""
        match self.kind:
            case "binary":
                return 1
            case "ovo":
                return self.n_classes * (self.n_classes - 1) // 2
            case _:
                return self.n_classes

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The negative and the positive class of each machine, one against one."""
        return list(combinations(range(self.n_classes), 2))

    def titles(self, classes: NDArray[Any]) -> list[str]:
        """Return the meaning of the positive side of each machine."""
        labels = [str(label) for label in classes.tolist()]
        match self.kind:
            case "binary":
                return labels[-1:]
            case "ovo":
                return [f"{labels[positive]} against {labels[negative]}" for negative, positive in self.pairs]
            case _:
                return labels

    def shape(self, n_features: int) -> tuple[int, ...]:
        """Return the shape of padded weights."""
        return (n_features + 1,) if self.kind == "binary" else (self.n_machines, n_features + 1)

    def targets(self, codes: Ints, weight: Floats, zero: int) -> Targets:
        """Return the class and the weight of each row as the loops read them."""
        match self.kind:
            case "binary":
                return Sides(np.where(codes == 1, weight, -weight))
            case "direct":
                return Direct(codes, weight, np.arange(self.n_machines), int(zero > 0))
            case _:
                members, side = self._memberships()
                return Machines(codes, weight, members, side)

    def _memberships(self) -> tuple[Ints, Floats]:
        """Return for each class the machines that learn from it, and its side in each."""
        K = self.n_classes
        if self.kind == "ovr":
            return np.tile(np.arange(K), (K, 1)), np.where(np.eye(K, dtype=np.bool_), 1.0, -1.0)
        machines: list[list[int]] = [[] for _ in range(K)]
        sides: list[list[float]] = [[] for _ in range(K)]
        for m, pair in enumerate(self.pairs):
            for c, side in zip(pair, (-1.0, 1.0), strict=True):
                machines[c].append(m)
                sides[c].append(side)
        return np.array(machines), np.array(sides)

    def sides(self, machine: int) -> Ints:
        """Return the side of each class for one machine of `ovr` or `ovo`: +1, −1, or 0 if it does not take part.

        Examples
        --------
        >>> Scheme.of("ovr", 3).sides(1).tolist(), Scheme.of("ovo", 3).sides(1).tolist()
        ([-1, 1, -1], [-1, 0, 1])
        """
        members, side = self._memberships()
        sides: Ints = np.where(members == machine, side, 0.0).sum(axis=1).astype(np.int64)
        return sides

    def divided(self, groups: int) -> list[Ints]:
        """Return the machines in at most so many groups, in each of which every class has equally many machines.

        One against one, classes meet as in a tournament. An even number of them plays rounds, in which each class
        meets one other. An odd number plays in circles through all classes, in which each meets two.

        Examples
        --------
        >>> [machines.tolist() for machines in Scheme("ovr", 5).divided(2)]
        [[0, 1, 2], [3, 4]]
        >>> [machines.tolist() for machines in Scheme("ovo", 4).divided(3)]
        [[2, 3], [1, 4], [0, 5]]
        """
        if self.kind != "ovo":
            return [each for each in np.array_split(np.arange(self.n_machines), groups) if len(each)]
        number = {pair: m for m, pair in enumerate(self.pairs)}
        rounds = [[number[min(pair), max(pair)] for pair in each] for each in _rounds(self.n_classes)]
        return [np.sort(np.concatenate(rounds[k::groups])) for k in range(min(groups, len(rounds)))]

    def decision(self, scores: Floats) -> Floats:
        """Return the decision values from the scores of all machines: f itself, or one number for each class.

        One against one, this is the sum of the signed scores of each class, added in the order of the pairs.
        """
        if self.kind != "ovo":
            return scores
        sums = np.zeros((len(scores), self.n_classes))
        for m, (negative, positive) in enumerate(self.pairs):
            sums[:, negative] -= scores[:, m]
            sums[:, positive] += scores[:, m]
        return sums

    def choose(self, decision: Floats, zero: int) -> Ints:
        """Return the class of each row.

        Ties go to the lowest of the best classes, or with ``zero=+1`` to the highest. For two classes this means
        sgn(0) = `zero`.
        """
        if self.kind == "binary":
            positive = decision >= 0.0 if zero > 0 else decision > 0.0
            # A stream that has seen one class so far can predict no other.
            return np.where(positive, self.n_classes - 1, 0)
        if zero > 0:
            return np.asarray(self.n_classes - 1 - np.argmax(decision[:, ::-1], axis=1))
        return np.asarray(np.argmax(decision, axis=1))

    def leads(self, scores: Floats, codes: Ints, zero: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the lead of each row by each machine that learns from it, and whether its side is positive.

        Both have one column for each machine, and a single column for two classes (the lead is y f) and for
        classes compared directly (the lead over the best rival).
        """
        if self.kind == "binary":
            positive = codes == 1
            return np.where(positive, scores, -scores)[:, None], positive[:, None]
        rows = np.arange(len(codes))
        if self.kind == "direct":
            others = scores.copy()
            others[rows, codes] = -np.inf
            rival = self.choose(others, zero)
            return (scores[rows, codes] - others[rows, rival])[:, None], (codes > rival)[:, None]
        members, side = self._memberships()
        own = side[codes]
        return own * np.take_along_axis(scores, members[codes], axis=1), own > 0.0

    def can_err(self, codes: Ints, machine: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for rows of these classes whether the machine given for each can err on it."""
        match self.kind:
            case "direct":
                return np.asarray(machine != codes)
            case "ovo":
                return np.asarray((np.array(self.pairs)[machine] == codes[:, None]).any(axis=1))
            case _:
                return np.ones(len(codes), np.bool_)

    def lead_of_mistakes(self, score: Floats, machine: NDArray[Any], codes: Ints) -> Floats:
        """Return the lead of each mistake from its score, its machine and the class of its row."""
        match self.kind:
            case "binary":
                return np.where(codes == 1, score, -score)
            case "direct":
                return score
            case "ovr":
                return np.where(machine == codes, score, -score)
            case _:
                positive = np.array([pair[1] for pair in self.pairs])
                return np.where(positive[machine] == codes, score, -score)

    def first_steps(self, code: int, zero: int) -> Ints:
        """Return the machines that start from a first row of class `code`; compared directly, the rival.

        All scores are equal at the start, so the rival is the lowest other class, or with ``zero=+1`` the highest.
        """
        if self.kind == "binary":
            return np.zeros(1, np.int64)
        if self.kind == "direct":
            others = [c for c in range(self.n_classes) if c != code]
            return np.array([others[-1 if zero > 0 else 0]])
        return np.asarray(self._memberships()[0][code])


def _rounds(n_classes: int) -> list[list[tuple[int, int]]]:
    """Return all pairs of classes in rounds, in each of which every class is in one pair, or in two if n is odd.

    All classes but the last sit at a round table, and the last stands apart.
    """
    last = seats = n_classes - 1
    if seats % 2:
        across = [[((k + j) % seats, (k - j) % seats) for j in range(1, n_classes // 2)] for k in range(seats)]
        return [[(k, last), *pairs] for k, pairs in enumerate(across)]
    found = []
    for k in range(seats // 2):
        path = [(k + (j + 1) // 2 * (-1) ** (j + 1)) % seats for j in range(seats)]
        found.append([(last, path[0]), *pairwise(path), (path[-1], last)])
    return found


class ClassModel(ABC):
    """A trained model that predicts classes by decision values."""

    __slots__ = ()

    scheme: Scheme
    classes: NDArray[Any]
    zero: int

    @abstractmethod
    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: one number, or one for each class."""

    def codes(self, features: Features) -> Ints:
        """Return the class of every row, as a position in `classes`."""
        return self.scheme.choose(self.decision(features), self.zero)

    def error(self, batch: Batch) -> float:
        """Return the share of rows whose label is predicted wrong."""
        return float(np.mean(self.codes(batch) != batch.codes))

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        return self.classes[self.codes(features)]


MAX_PLAIN_PRODUCTS, MAX_PLAIN_STEPS = 2**21, 2**12
"""Products, and consecutive steps, up to which this is faster than loading the loops: a third of a second."""
# Scores by numpy alone, the same bits as those of the compiled loops.
#
# Loading numba takes longer than scoring a small table. The dense loops fuse each multiplication and addition into
# one rounding, which numpy cannot do, so it is built from ordinary operations (Boldo and Melquiond 2008): product
# and sums are split without error into a float and a rest, and the rests are rounded to odd before the last
# addition, so that rounding twice gives the same as rounding once. Where a number is too large or too small for
# their conditions, exact fractions decide.


PRODUCTS_AT_ONCE = 2**15
"""Products computed together: their few megabytes stay in the cache."""
WIDE_LANES, NARROW_LANES = 32, 8  # lanes, as in `rosenblatt.loops.dense`
SPLITTER = 2.0**27 + 1.0
LARGEST_SAFE_SIZE, LEAST_SAFE_SIZE = 2.0**990, 2.0**-960
"""Between these sizes of factors and products no part overflows or underflows."""


def suffices(rows: Rows, n_machines: int) -> bool:
    """Return whether numba is not loaded yet and there is too little to score to load it."""
    if "numba" in sys.modules:
        return False
    if isinstance(rows, CSR):
        lengths = np.diff(rows.indptr.astype(np.int64))
        values, steps = int(lengths.sum()), int(lengths.max(initial=0)) // 4
    else:
        n, d = rows.shape
        values, steps = rows.size, -(-n // _side_by_side(n_machines)) * (d // WIDE_LANES)
    return values * n_machines <= MAX_PLAIN_PRODUCTS and steps <= MAX_PLAIN_STEPS


def plain_scores(rows: Rows, weights: Floats) -> Floats:
    """Return f(x) of every row and machine, in the shape of `LinearModel.scores`.

    Examples
    --------
    >>> plain_scores(np.array([[1.0, 2.0], [0.5, 0.0]]), np.array([2.0, -1.0, 0.25]))
    array([0.25, 1.25])
    """
    machines = np.atleast_2d(weights)
    with np.errstate(all="ignore"):  # the scores show what is not finite
        dots = _sparse_dots(rows, machines) if isinstance(rows, CSR) else _dense_dots(rows, machines)
        scores: Floats = dots + machines[:, -1]
    return scores[:, 0] if weights.ndim == 1 else scores


def _dense_dots(X: Reals, w: Floats) -> Floats:
    """Return <w_m, x_i> by 32 lanes, then 8, then one by one, in the order of `dense_dot`."""
    n, d = X.shape
    out = np.empty((n, len(w)))
    step = _side_by_side(len(w))
    for first in range(0, n, step):
        x = X[first : first + step].astype(np.float64)[:, None, :]
        wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
        f = _lanes(x[..., :wide], w[:, :wide], WIDE_LANES)
        f += _lanes(x[..., wide:narrow], w[:, wide:narrow], NARROW_LANES)
        for j in range(narrow, d):
            f += w[:, j] * x[..., j]
        out[first : first + step] = f
    return out


def _side_by_side(n_machines: int) -> int:
    return max(1, PRODUCTS_AT_ONCE // (WIDE_LANES * n_machines))


def _lanes(x: Floats, w: Floats, lanes: int) -> Floats:
    """Return dot products by one running sum for each lane, folded in halves."""
    sums = np.zeros((len(x), len(w), lanes))
    for j in range(0, w.shape[1], lanes):
        sums = multiply_add(w[:, j : j + lanes], x[..., j : j + lanes], sums)
    while lanes > 1:
        lanes //= 2
        sums = sums[..., :lanes] + sums[..., lanes:]
    return sums[..., 0]


def _sparse_dots(X: CSR, w: Floats) -> Floats:
    """Return <w_m, x_i> by four running sums, then one by one, in the order of `sparse_dot`.

    Rows are summed side by side, the longest first, so that rows with values left are always the first ones.
    """
    starts = X.indptr.astype(np.int64)
    lengths = np.diff(starts)
    by = np.argsort(-lengths, kind="stable")
    starts, fours, rest = starts[:-1][by], lengths[by] // 4, lengths[by] % 4
    columns = np.ascontiguousarray(w.T)

    def products(at: NDArray[np.int64]) -> Floats:
        return np.asarray(columns[X.indices[at]] * X.data[at].astype(np.float64)[:, None])

    sums = np.zeros((4, len(by), len(w)))
    for k in range(int(fours.max(initial=0))):
        active = int(np.searchsorted(-fours, -k, side="left"))
        for lane in range(4):
            sums[lane, :active] += products(starts[:active] + (4 * k + lane))
    f = (sums[0] + sums[1]) + (sums[2] + sums[3])
    for k in range(3):
        left = np.flatnonzero(rest > k)
        f[left] += products(starts[left] + 4 * fours[left] + k)
    out: Floats = np.empty_like(f)
    out[by] = f
    return out


def multiply_add(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a b + c, rounded once.

    Examples
    --------
    >>> tiny = 2.0**-30
    >>> a, b, c = (np.array([value]) for value in (1 + tiny, 1 - tiny, -1.0))
    >>> (a * b + c).item(), multiply_add(a, b, c).item() == -(tiny**2)
    (0.0, True)
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    product, left = _product(a, b)
    low, lost = _sum(c, left)
    high, kept = _sum(product, low)
    result: Floats = high + _to_odd(kept, lost)
    size = np.abs(product)
    exact = (a == 0.0) | (b == 0.0)  # one rounding, that of the addition
    result = np.where(exact, product + c, result)
    doubtful = (
        (size < LEAST_SAFE_SIZE)
        | ~(size < LARGEST_SAFE_SIZE)
        | ~(np.abs(a) < LARGEST_SAFE_SIZE)
        | ~(np.abs(b) < LARGEST_SAFE_SIZE)
    )
    doubtful |= ~(np.abs(c) < LARGEST_SAFE_SIZE)
    doubtful &= ~exact
    for at in np.argwhere(doubtful):
        place = tuple(at)
        result[place] = _exactly(float(a[place]), float(b[place]), float(c[place]))
    return result


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """Return two numbers of half as many digits, whose sum is a (Veltkamp)."""
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a b and its rounding error (Dekker)."""
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def _to_odd(a: Floats, b: Floats) -> Floats:
    """Return a + b if it is a float, and otherwise the one of its two neighbours whose last bit is odd."""
    s, lost = _sum(a, b)
    digits = s.view(np.int64)
    even = (lost != 0.0) & (digits & 1 == 0)
    outwards = (lost > 0.0) == (s > 0.0)
    odd: Any = np.where(even, np.where(outwards, digits + 1, digits - 1), digits)
    return np.asarray(odd.view(np.float64))


def _exactly(a: float, b: float, c: float) -> float:
    """Return a b + c by fractions; infinite beyond the largest float."""
    if not np.isfinite([a, b]).all():
        return a * b + c
    if not np.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


DENSE_NANOSECONDS, SPARSE_NANOSECONDS, READING_PRODUCTS = 0.1, 0.3, 3
"""Nanoseconds for a value times the weight of a machine, and how many such products take as long as reading it."""


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel(ClassModel):
    """f(x) = <w, x> + b for one or several machines, and how f becomes a class."""

    # (n_features + 1,) or (n_machines, n_features + 1): w with b last; two classes need one machine.
    # (with `met`, those of the features met)
    weights: Floats
    scheme: Scheme  # how scores become classes
    classes: NDArray[Any]  # the labels; of two, the negative one comes first
    # the side of f = 0: −1 or +1. Among many classes, whether a tie goes to the lowest or the highest
    zero: int = -1
    met: MetFeatures | None = None  # the features with weights, if they are not all of them

    @classmethod
    def of(cls, state: State, width: int, scheme: Scheme, classes: NDArray[Any], zero: int) -> LinearModel:
        """Return the model of a state, over its first `width` features: a stream keeps room for more."""
        weights, met = state.hypothesis(), state.met
        if met is not None:
            met, width = met.up_to(width)
        if width < weights.shape[-1] - 1:
            weights = weights[..., np.r_[0:width, -1]]
        return cls(weights, scheme, classes, zero, met)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[-1]) - 1 if self.met is None else self.met.n_features

    @property
    def all_weights(self) -> Floats:
        """The weights of all features, with the bias last."""
        return self.weights if self.met is None else self.met.spread(self.weights)

    @property
    def coef(self) -> Floats:
        """The normal vector w, or one for each machine."""
        return self.all_weights[..., :-1]

    @property
    def sizes(self) -> Floats:
        """The largest absolute weight of each feature, without making room for those that were never met."""
        largest: Floats = np.abs(np.atleast_2d(self.weights)[:, :-1]).max(axis=0)
        return largest if self.met is None else self.met.spread(np.append(largest, 0.0))[:-1]

    @property
    def intercept(self) -> Any:
        """The bias b, or one for each machine."""
        return float(self.weights[-1]) if self.weights.ndim == 1 else self.weights[:, -1]

    def scores(self, features: Features) -> Floats:
        """Return f(x) for every row and machine, by the arithmetic of training.

        So a row that is right at the end of training is always predicted right.
        """
        require_width(features, self.n_features)
        rows, weights = self._numbered(features.rows)
        few = suffices(rows, len(np.atleast_2d(weights)))
        out = (plain_scores if few else loop_scores)(rows, weights)
        # A score is finite only if its row is, so checking n scores replaces checking n × d values.
        finite = np.isfinite(out)
        if not finite.all():
            require_finite(features)
            raise overflow(int(np.argwhere(~finite)[0, 0]))
        return out

    def _numbered(self, rows: Rows) -> tuple[Rows, Floats]:
        """Return rows and weights that belong together; a column without a weight gets one of zero.

        Leaving such values out would change the order of sums, and so their bits, and would hide a NaN.
        """
        if self.met is None or not isinstance(rows, CSR):
            return rows, self.all_weights
        return self.met.numbered(rows), np.insert(self.weights, len(self.met.columns), 0.0, axis=-1)

    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: f(x), or one number for each class."""
        return self.scheme.decision(self.scores(features))


def loop_scores(rows: Rows, weights: Floats) -> Floats:
    """Return f(x) for every row and machine by the compiled loops, on as many threads as are allowed."""
    n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
    weights = oriented(weights, rows)
    out = np.empty((n_rows, *weights.shape[:-1]))
    values, a_machine = (
        (rows.data.size, SPARSE_NANOSECONDS) if isinstance(rows, CSR) else (rows.size, DENSE_NANOSECONDS)
    )
    at_memory_speed = weights.ndim == 1 and not isinstance(rows, CSR)  # one thread reads as fast as two
    work = 0.0 if at_memory_speed else values * a_machine * (weights.size // weights.shape[-1] + READING_PRODUCTS)
    parts = in_parts(n_rows, work)
    if len(parts) == 1:  # without the detour by way of a pool, which takes longer than a short row
        _write_scores(rows, weights, out, parts[0])
        return out
    for _ in ordered(lambda part: _write_scores(rows, weights, out, part), parts):
        pass
    return out


def _write_scores(rows: Rows, weights: Floats, out: Floats, which: range) -> None:
    from rosenblatt.loops.passes import machine_scores, scores

    part, room = part_of(rows, which.start, which.stop), out[which.start : which.stop]
    if weights.ndim == 1:
        scores(part, weights, room)
    else:
        machines, pair = np.arange(len(weights)), np.empty((PAIR, len(weights)))
        machine_scores(part, weights, np.arange(len(which), dtype=np.uint64), machines, pair, room)


def overflow(row: int | None = None) -> PredictionOverflowError:
    """Return the error for a finite row whose score is not finite: one of X, or x alone."""
    what = Message("x") if row is None else f"row {row} of " + Term("rows", "X")
    return PredictionOverflowError(
        "The score of "
        + what
        + " exceeds the largest float, so it cannot be predicted. Look for a wrong value or "
        "unit in this row; if the features are so large, scale them down before training and predicting.",
        row=row,
    )


def score_of_row(row: Rows, state: State, scheme: Scheme, classes: NDArray[Any], zero: int) -> Any:
    """Return the score of one row by any state, at the cost of its own features."""
    own, n_features = row, state.n_features
    if not isinstance(row, CSR):
        state = state.spread()
    else:
        state = state.part(row.indices)
        own = row._replace(indices=read_only(np.arange(len(row.indices), dtype=np.uint32)))
    model = LinearModel(state.hypothesis(), scheme, classes, zero)
    try:
        score = model.decision(Features(own, 1, state.n_features))[0]
    except NonFiniteError:
        require_finite(Features(row, 1, n_features), name="x")
        raise
    except PredictionOverflowError:
        raise overflow() from None
    return float(score) if score.ndim == 0 else score


# Linear models in a file.

LABELS = Labels()
SIDE = Count(-1, 1)
"""The side of zero: −1 or 1."""


def _sound_scheme(scheme: Scheme) -> None:
    require((scheme.kind == "binary") == (scheme.n_classes <= 2), "the scheme does not fit its number of classes")


SCHEME = Record(
    Scheme,
    {"kind": Text(("binary", "direct", "ovr", "ovo")), "n_classes": Count(most=2**31)},
    check=_sound_scheme,
)

HYPERPLANES: dict[str, Codec] = {
    "_state": STATE,
    "_scheme": SCHEME,
    "_classes": LABELS,
    "_zero": SIDE,
    "_width": Count(1),
    "_names": Names(),
}
"""The stored state of every classifier with hyperplanes."""


def require_hyperplanes(held: dict[str, Any]) -> None:
    """Require that state, scheme, classes and number of features of a linear model agree."""
    state, scheme, width = held["_state"], held["_scheme"], held["_width"]
    require_problem(held)
    require(width <= state.n_features, "there are fewer weights than features")
    require_shape(state, scheme, state.n_features)


def require_problem(held: dict[str, Any]) -> None:
    """Require as many classes as the scheme has, and a side of zero."""
    require(held["_scheme"].n_classes == len(held["_classes"]) > 0, "classes and scheme contradict each other")
    require(held["_zero"] != 0, "zero must be -1 or 1")


def require_shape(state: State, scheme: Scheme, n_features: int) -> None:
    """Require one row of weights for each machine of the scheme, before anything is allocated."""
    require(
        scheme.n_classes < 2**20 and state.shape == scheme.shape(n_features),
        "weights do not have the shape of their scheme",
    )


def linear_model(held: dict[str, Any]) -> LinearModel:
    """Return the model that predicts what the estimator would."""
    return LinearModel.of(*(held[name] for name in ("_state", "_width", "_scheme", "_classes", "_zero")))


def _sound_linear(model: LinearModel) -> None:
    require(model.scheme.n_classes == len(model.classes), "classes and scheme contradict each other")
    n_features = model.weights.shape[-1] - 1
    require(n_features >= 1 and model.scheme.n_classes < 2**20, "there are no weights")
    require(model.weights.shape == model.scheme.shape(n_features), "weights do not have the shape of their scheme")


LINEAR_MODEL = Record(
    LinearModel, {"weights": WEIGHTS, "scheme": SCHEME, "classes": LABELS, "zero": SIDE}, check=_sound_linear
)
