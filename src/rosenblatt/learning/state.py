"""The state of training, in memory and in files.

How the weights of a model were mixed, where its rows were in several partitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import INTEGERS, Array, Codec, Context, Count, Maybe, Number, Record, Text, require
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.layout import CSR, Rows, Unsigned, oriented
from rosenblatt.loops.rules import MEMORIES, Averaging, Mean, Memory, Penalty, Rule, Shrinking, Shrunk, memory_of
from rosenblatt.rows.features import read_only
from rosenblatt.rows.memory import require_memory, require_weights
from rosenblatt.tables.scaling import Scaling
from rosenblatt.typing import Floats, Ints

Mixing: TypeAlias = Literal["uniform", "mistakes"]


@dataclass(frozen=True)
class MixingWeights:
    """How a model was mixed.

    Attributes
    ----------
    kind : {"uniform", "mistakes"}
        How partitions were weighted.
    partitions : int
        The number of partitions.
    weighted_mistakes : float
        Σ μ k over all passes and partitions, with k the mistakes of a partition in a pass and μ its weight. If
        rows are separable with margin γ, and training starts at zero, it is at most R²/γ² (McDonald, Hall and Mann
        2010).
    """

    kind: Mixing
    partitions: int
    weighted_mistakes: float


MIXING = Record(
    MixingWeights,
    {"kind": Text(("uniform", "mistakes")), "partitions": Count(1), "weighted_mistakes": Number(least=0.0)},
)


# The features that have weights of their own, where most of very many features never occur.

MET_ONLY_BYTES = 1 << 24
"""Bytes of weights from which on only features that were met get some."""
TABLE_FEATURES_A_COLUMN = 64
"""A table of all features is made where there are at most so many of them for each column to look up."""


FEW_NEW_FEATURES = 1000
"""New features up to which weights are moved in pieces."""


def with_zeros(weights: Floats, places: Ints) -> Floats:
    """Return weights with zeros inserted before the features at `places`, ascending, in the same memory order.

    Examples
    --------
    >>> with_zeros(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]))
    array([0., 1., 2., 0., 0., 3.])
    """
    if weights.ndim == 1 or not weights.flags.f_contiguous or len(places) > FEW_NEW_FEATURES:
        return np.insert(weights, places, 0.0, axis=-1)
    old, start = weights.T, 0  # feature by feature: pieces of it are moved at the speed of memory
    made = np.empty((len(old) + len(places), old.shape[1]))
    for k, place in enumerate(places.tolist()):
        made[start + k : place + k] = old[start:place]
        made[place + k] = 0.0
        start = place
    made[start + len(places) :] = old[start:]
    return made.T


def is_wide(shape: tuple[int, ...], stored: int = 0) -> bool:
    """Return whether weights of this shape should be those of the features met.

    That takes a copy of the column numbers of the `stored` values in memory, which must be smaller than they are.
    """
    return 8 * math.prod(shape) >= max(MET_ONLY_BYTES, 4 * stored)


@dataclass(frozen=True, eq=False, slots=True)
class MetFeatures:
    """Features met so far. All others have weights of zero, which take no memory.

    Examples
    --------
    >>> met = MetFeatures(np.array([2, 5]), 8)
    >>> met.spread(np.array([0.5, -1.0, 3.0]))  # the bias is last
    array([ 0. ,  0. ,  0.5,  0. ,  0. , -1. ,  0. ,  0. ,  3. ])
    """

    columns: Ints  # The numbers of the features met, ascending. Weight j belongs to feature ``columns[j]``.
    n_features: int  # the number of all features

    @classmethod
    def none_of(cls, n_features: int) -> MetFeatures:
        """Return that no feature was met."""
        return cls(np.empty(0, np.int64), n_features)

    def numbered(self, X: CSR) -> CSR:
        """Return rows with each column replaced by the place of its weight; one not met gets the next place.

        Values keep their order, so that sums over a row have the same bits.
        """
        start, stop = int(X.indptr[0]), int(X.indptr[-1])
        places, indptr = self._places(X.indices[start:stop]), X.indptr - X.indptr[0]
        return CSR(read_only(X.data[start:stop]), read_only(places), read_only(indptr))

    def _places(self, indices: Unsigned) -> Unsigned:
        count = len(self.columns)
        if self.n_features <= TABLE_FEATURES_A_COLUMN * len(indices):
            table = np.full(self.n_features, count, indices.dtype)
            table[self.columns] = np.arange(count, dtype=indices.dtype)
            places: Unsigned = table[indices]
            return places
        wanted = indices.astype(np.int64)
        at = np.searchsorted(self.columns, wanted)
        found = np.append(self.columns, -1)[at] == wanted
        return np.where(found, at, count).astype(indices.dtype)  # type: ignore[return-value]  # that of the indices

    def with_columns_of(self, X: CSR, numbered: CSR) -> tuple[MetFeatures, Ints]:
        """Return the features met with these rows, and the places where weights of new ones are inserted."""
        indices = X.indices[int(X.indptr[0]) : int(X.indptr[-1])]
        unmet = indices[numbered.indices == len(self.columns)]
        if self.n_features <= TABLE_FEATURES_A_COLUMN * len(unmet):
            flags = np.zeros(self.n_features, np.bool_)
            flags[unmet] = True
            new = np.flatnonzero(flags)
        else:
            new = np.unique(unmet).astype(np.int64)
        places = np.searchsorted(self.columns, new)
        return MetFeatures(np.insert(self.columns, places, new), self.n_features), places

    def up_to(self, n_features: int) -> tuple[MetFeatures, int]:
        """Return the features met among the first `n_features`, and their number."""
        kept = int(np.searchsorted(self.columns, n_features))
        return MetFeatures(self.columns[:kept], n_features), kept

    def spread(self, weights: Floats) -> Floats:
        """Return the weights of all features, bias last."""
        shape = (*weights.shape[:-1], self.n_features + 1)
        require_memory("The weights of all features", 8 * math.prod(shape), "Use only some of the features.")
        spread = np.zeros(shape)
        spread[..., self.columns] = weights[..., :-1]
        spread[..., -1] = weights[..., -1]
        return spread


BYTES_A_GROWING_WEIGHT = 16
"""Bytes that a weight takes while there are more and more: the new array, and the old one until it is copied."""


@dataclass(eq=False, slots=True)
class State:
    """All that training carries from one visit to the next."""

    # (n_features + 1,) or (n_machines, n_features + 1): the weights, the bias last. Training changes them in place
    # (with `met`, those of the features met)
    w: Floats
    u: Floats | None = None  # for averaging: the sum of all corrections, each times the visits before it
    visits: int = 0  # visits so far
    met: MetFeatures | None = None  # the features with weights, if they are not all of them
    # what the rule or the penalty keeps besides, by name; values are replaced together
    memory: Mapping[str, Memory] = field(default_factory=dict)

    @classmethod
    def zero(
        cls, shape: tuple[int, ...], *, average: int = False, shrinks: bool = False, sparse: bool = False
    ) -> State:
        """Return a state of zeros; a `sparse` one gives weights only to features that it meets.

        `average` is the visit from which on hypotheses are averaged: 1 or True is the first, 0 or False is none.
        """
        met = MetFeatures.none_of(shape[-1] - 1) if sparse else None
        shape = (*shape[:-1], 1) if sparse else shape
        require_weights(shape, average=bool(average), shrinks=shrinks)
        w = np.zeros(shape)
        memory: dict[str, Memory] = {Shrinking.name: Shrinking.none_of(w)} if shrinks else {}
        memory |= Averaging.needed(average, 0, shrinks=shrinks)
        return cls(w, np.zeros(shape) if average else None, met=met, memory=memory)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.w.shape[-1]) - 1 if self.met is None else self.met.n_features

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that weights of all features have."""
        return (*self.w.shape[:-1], self.n_features + 1)

    @property
    def machines(self) -> Floats:
        """The weights as a matrix, one row for each machine: a view, through which training changes them."""
        return np.atleast_2d(self.w)

    @property
    def shrunk(self) -> Shrinking | None:
        """How far the weights have shrunk since they were written, with a penalty."""
        found = self.memory.get(Shrinking.name) if self.memory else None
        return cast("Shrinking | None", found)

    @property
    def shrunk_machines(self) -> Shrunk:
        """How far the weights have shrunk, one row for each machine: a view as well."""
        assert self.shrunk is not None, "only weights under a penalty shrink"
        return self.shrunk.machines

    @property
    def averaging(self) -> Averaging | None:
        """When the average begins, and its sums, where it needs more than u."""
        found = self.memory.get(Averaging.name) if self.memory else None
        return cast("Averaging | None", found)

    @property
    def average(self) -> int:
        """The visit from which on hypotheses are averaged; 0 if none are."""
        if self.u is None:
            return 0
        return 1 if self.averaging is None else int(self.averaging.sums[0]) + 1

    @property
    def averaged(self) -> int:
        """The visits whose hypotheses are in the average; negative if it has yet to begin."""
        return self.visits if self.averaging is None else self.visits - int(self.averaging.sums[0])

    @property
    def mean_machines(self) -> Mean | None:
        """The sums of an average whose weights shrink, one row for each machine: a view as well."""
        if self.u is None:
            return None
        assert self.averaging is not None, "its scales are summed"
        return Mean(np.atleast_2d(self.u), self.averaging.sums)

    def copy(self) -> State:
        """Return a state that shares no array with this one."""
        return self._each(lambda w: w.copy(order="K"))

    def meet(self, X: Rows) -> Rows:
        """Get ready for the rows of `X`, and return them as the loops read them with these weights.

        Weights get the memory order that the loops read. If only features met have weights, new ones get some, and
        the columns of the rows returned are numbered as the weights are. Dense rows have all features.
        """
        rows = X
        if self.met is not None and isinstance(X, CSR):
            rows = self.met.numbered(X)
            if (rows.indices == len(self.met.columns)).any():
                met, places = self.met.with_columns_of(X, rows)
                self._take(replace(self._each(lambda w: with_zeros(w, places)), met=met))
                rows = met.numbered(X)
        elif self.met is not None:
            self._take(self.spread())
        self.w = oriented(self.w, X)
        self.u = None if self.u is None else oriented(self.u, X)
        if self.memory and self.w.ndim > 1:  # one machine has one order
            self.memory = self._memory_by(lambda memory: memory.oriented_by(lambda w: oriented(w, X)))
        return rows

    def _memory_by(self, change: Callable[[Memory], Memory]) -> dict[str, Memory]:
        return {name: change(memory) for name, memory in self.memory.items()}

    @property
    def moves_more(self) -> bool:
        """Whether an update moves more than weights, so that their sum for averaging must move with them."""
        return bool(self.memory) and any(memory.rule is not None for memory in self.memory.values())

    def rule_of_loops(self, rule: Any) -> Any:
        """Return a rule as the loops read it: with what this state keeps for it."""
        for memory in self.memory.values():
            rule = memory.rule_of_loops(rule)
        return rule

    def rule_of_replay(self, beta: float) -> Any:
        """Return all of the rule that recorded steps depend on, as the loops read it."""
        own = [memory for memory in self.memory.values() if memory.rule is not None]
        return own[0].rule_of_loops(own[0].rule_of_replay(beta)) if own else Rule(beta=beta)

    def for_updates_by(self, rule: Any) -> State:
        """Return the same state with what the rule moves besides weights: its own, or that of a start."""
        kind = memory_of(rule)
        held = {name: memory for name, memory in self.memory.items() if memory.rule is None}
        if kind is not None:
            own = self.memory.get(kind.name)
            if own is None or not own.suits(rule):
                own = kind.begin(rule, self.w, self.n_features)
            held[kind.name] = own
        return self if held == self.memory else replace(self, memory=held)

    def become(self, other: State) -> None:
        """Copy the values of a state of the same features."""
        if self.w.shape != other.w.shape:  # it has met more of them, or fewer
            self._take(other.copy())
            return
        np.copyto(self.w, other.w)
        if self.u is not None and other.u is not None:
            np.copyto(self.u, other.u)
        for name, memory in self.memory.items():
            if name in other.memory:
                memory.become(other.memory[name])
        self.visits, self.met = other.visits, other.met

    def spread(self) -> State:
        """Return the same state with weights for all features."""
        return self if self.met is None else replace(self._each(self.met.spread), met=None)

    def gathered(self) -> State:
        """Return the same state with weights only for features some of whose numbers are not zero, nor −0."""
        kept = np.zeros(self.w.shape[-1] - 1, np.bool_)
        moved = [array for memory in self.memory.values() for array in memory.moved]
        for w in (self.w, self.u, *moved):
            if w is not None:
                numbers = w[..., :-1].view(np.int64)
                kept |= numbers.astype(np.bool_) if w.ndim == 1 else numbers.any(axis=0)
        places = np.flatnonzero(kept)
        met = MetFeatures(places if self.met is None else self.met.columns[places], self.n_features)
        return replace(self._each(lambda w: w[..., np.append(places, -1)]), met=met)

    def bits(self) -> Iterator[bytes]:
        """Yield what decides predictions and learning, however it lies in memory.

        Features whose numbers are those of weights that nothing has moved are left out.
        """
        columns = None if self.met is None else self.met.columns
        moved = [array for memory in self.memory.values() for array in memory.moved]
        for array in (self.w, self.u, *moved):
            if array is None:
                continue
            bits = np.atleast_2d(array).view(np.int64).T  # in memory feature by feature for sparse rows
            kept = bits[:-1].any(axis=1)
            numbers = np.flatnonzero(kept) if columns is None else columns[kept]
            yield np.ascontiguousarray(numbers, np.int64).tobytes()
            yield np.ascontiguousarray(bits[:-1] if kept.all() else bits[:-1][kept]).tobytes()
            yield np.ascontiguousarray(bits[-1]).tobytes()
        for memory in self.memory.values():
            for array in memory.shared:
                yield array.tobytes()

    def last(self) -> Floats:
        """Return the weights after the last visit, bias last."""
        w = self.w
        for memory in self.memory.values():
            w = memory.weights(w)
        return w.copy(order="K") if w is self.w else w

    def hypothesis(self) -> Floats:
        """Return the weights that predict, bias last: the last ones, or their average over the visits."""
        count = self.averaged
        if self.u is None or count <= 0:
            return self.last()
        if self.shrunk is None or self.averaging is None:
            return self.w - self.u / count
        mean: Floats = (self.averaging.sums[1] * self.w - self.u) / count
        mean[..., -1] = self.w[..., -1] - self.u[..., -1] / count
        return mean

    def grown(self, n_features: int) -> State:
        """Return the same state with more features, whose weights are zero."""
        if self.met is not None:
            return replace(self.copy(), met=MetFeatures(self.met.columns, n_features))
        self._require_room((*self.w.shape[:-1], n_features + 1))

        def widened(w: Floats) -> Floats:
            wide = np.zeros((*w.shape[:-1], n_features + 1), order="F" if w.flags.fnc else "C")
            wide[..., : w.shape[-1] - 1], wide[..., -1] = w[..., :-1], w[..., -1]
            return wide

        return self._each(widened)

    def narrowed(self, n_features: int) -> State:
        """Return the same state with the first features only."""
        if self.met is None:
            return self._each(lambda w: w[..., np.r_[0:n_features, -1]])
        met, kept = self.met.up_to(n_features)
        return replace(self._each(lambda w: w[..., np.r_[0:kept, -1]]), met=met)

    def part(self, features: NDArray[Any]) -> State:
        """Return the same state with some features only."""
        met = self.met
        if met is None:
            kept = np.append(features.astype(np.int64), -1)
            return self._each(lambda w: w[..., kept])
        places = np.searchsorted(met.columns, features)
        unmet = np.append(met.columns, -1)[places] != features

        def taken(w: Floats) -> Floats:
            part = w[..., np.append(places, -1)]
            part[..., :-1][..., unmet] = 0.0
            return part

        return replace(self._each(taken), met=None)

    def for_rule(self, *, average: int, shrinks: bool) -> State:
        """Return the state from which a rule that averages, or shrinks weights, or does neither, continues.

        An average that begins now covers the visits from now on; `average` is as in `zero`.
        """
        begins = bool(average) and int(average) != self.average
        w, u, memory = self.w, self.u, dict(self.memory)
        if shrinks != (self.shrunk is not None):
            w, u = self.last(), self.plain_sums()
            memory.pop(Shrinking.name, None)
            memory |= {Shrinking.name: Shrinking.none_of(w)} if shrinks else {}
            memory.pop(Averaging.name, None)
        u = np.zeros_like(w) if begins else u if average else None
        visits = 0 if begins else self.visits
        if begins or not average:
            memory.pop(Averaging.name, None)
        if Averaging.name not in memory:
            memory |= Averaging.needed(average, visits, shrinks=shrinks)
        return State(w, u, visits, self.met, memory)

    def plain_sums(self) -> Floats | None:
        """Return the u by which weights without a penalty have the same average."""
        if self.u is None or self.shrunk is None:
            return self.u
        return max(self.averaged, 0) * (self.last() - self.hypothesis())

    def mirrored(self) -> State:
        """Return the state that training with the opposite labels would have reached.

        Subtraction from zero, unlike negation, keeps zeros positive, as training does.
        """
        return self._each(lambda w: 0.0 - w, lambda s: s.copy(order="K"))

    def unfolded(self) -> State:
        """Return the one machine of two classes as one vector for each class.

        Comparing the classes directly from zero would have reached this state: a mistake adds to one vector what
        it subtracts from the other.
        """
        return self._each(lambda w: np.stack([0.0 - w, w]), lambda s: np.stack([s, s]))

    def some(self, machines: Ints, X: Rows) -> State:
        """Return a copy of some machines, in the memory order that the loops for `X` read."""
        which = _span(machines)

        def taken(w: Floats) -> Floats:  # along the memory order, which is several times as fast
            if isinstance(which, slice):
                return oriented(w[which].copy(order="K"), X)
            return oriented(np.take(w.T, which, axis=1).T if w.flags.f_contiguous else w[which], X)

        return self._each(taken)

    def take_machines(self, machines: Ints, other: State) -> None:
        """Copy the values of some machines, which are a state of their own; see `some`."""
        which = _span(machines)
        self.w.T[:, which] = other.w.T
        if self.u is not None and other.u is not None:
            self.u.T[:, which] = other.u.T
        for name in self.memory.keys() & other.memory.keys():
            self.memory[name].take(other.memory[name], which)

    def with_class(self, code: int) -> State:
        """Return the same state with one more class, with weights of zero, at position `code`."""
        self._require_room((self.w.shape[0] + 1, *self.w.shape[1:]))
        return self._each(lambda w: np.insert(w, code, 0.0, axis=0))

    def _require_room(self, shape: tuple[int, ...]) -> None:
        """Raise `InputError` if a larger state, and the start of a trace, exceed the free memory."""
        n_arrays = 1 + (self.u is not None) + sum(len(memory.slots) for memory in self.memory.values())
        require_memory(
            f"Going on with {math.prod(shape):,} weights",
            2 * BYTES_A_GROWING_WEIGHT * n_arrays * math.prod(shape),
            "Hash the names of features into fewer, such as with rosenblatt.TableEncoder, or learn fewer classes.",
        )

    def _each(self, change: Callable[[Floats], Floats], even: Callable[[Floats], Floats] | None = None) -> State:
        u = None if self.u is None else change(self.u)
        memory = self._memory_by(lambda memory: memory.each(change, even)) if self.memory else {}
        return State(change(self.w), u, self.visits, self.met, memory)

    def _take(self, other: State) -> None:
        self.w, self.u, self.visits = other.w, other.u, other.visits
        self.met, self.memory = other.met, other.memory


def _span(machines: Ints) -> slice | Ints:
    """Return ascending numbers as a slice if they are neighbours, because slices are copied faster."""
    first, last = int(machines[0]), int(machines[-1])
    return slice(first, last + 1) if last - first + 1 == len(machines) else machines


def overflow_error(visits: int) -> TrainingOverflowError:
    """Return the error for weights or scores beyond the largest float on finite data."""
    return TrainingOverflowError(
        f"Training overflowed: a score, weight or squared length exceeds the largest float after {visits} visits, "
        "although X is finite. Scale the features down, or lower eta0 or the weights."
    )


def fold_state(state: State, scaling: Scaling) -> State:
    """Return a state for unscaled features; the sum behind an average is folded as the weights are.

    What a rule keeps besides becomes that of the weights.
    """
    met = state.met
    if met is not None:
        scaling = Scaling(scaling.mean[met.columns], scaling.deviation[met.columns])
    u = state.plain_sums()
    u = None if u is None else scaling.fold(u)
    w = scaling.fold(state.last())
    memory = {name: kept.anew(w, state.n_features) for name, kept in state.memory.items() if kept.rule is not None}
    memory |= Averaging.needed(state.average, state.visits, shrinks=False)
    return State(w, u, state.visits, met, memory)


# The state in a file.

WEIGHTS = Array(ndim=(1, 2))
LARGE_WEIGHTS_BYTES = 1 << 16
"""Bytes of weights from which on a file leaves out features whose weights are all zero."""


def require_sound_state(state: State) -> None:
    """Require weights, averages and what rules keep of the same shape, and features that have them."""
    met = state.met
    require(len(state.w) > 0 and state.w.shape[-1] >= (2 if met is None else 1), "there are no weights")
    if met is not None:
        require(len(met.columns) == state.w.shape[-1] - 1, "weights and features met contradict each other")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages have different shapes")
    sums = state.u is None or state.shrunk is None or state.averaging is not None
    require(sums, "an average of shrinking weights has no sums")
    for name, memory in state.memory.items():
        same = all(array.shape == state.w.shape for array in memory.shaped)
        require(same, f"weights and the values of {name} have different shapes")
        fault = memory.fault()
        require(fault is None, fault or "")


def require_memory_of(rule: Any, state: State) -> None:
    """Require that a state keeps what a rule, or a kind of rule, moves besides weights, and nothing else."""
    wanted = memory_of(rule)
    own = {name for name, memory in state.memory.items() if memory.rule is not None}
    odd = own ^ (set() if wanted is None else {wanted.name})
    require(not odd, f"the values of {min(odd, default='')} contradict the rule of the model")


PENALTY = Record(Penalty, {"keep": Number(least=0.0), "rent": Number(least=0.0)})


def _sound_met(met: MetFeatures) -> None:
    """Require features that exist, in ascending order, which loops and searches rely on."""
    columns = met.columns
    require(len(columns) <= met.n_features, "there are more features with weights than features")
    require(not len(columns) or 0 <= columns[0] <= columns[-1] < met.n_features, "a feature is not there")
    require((columns[1:] > columns[:-1]).all(), "features with weights are not in order")


MET = Record(MetFeatures, {"columns": INTEGERS, "n_features": Count(1)}, check=_sound_met)


@dataclass(frozen=True)
class States:
    """A state. One with weights of zero for most of many features is written without these weights."""

    weights: Codec = WEIGHTS  # how each array of weights is written

    def encode(self, value: State, at: str, context: Context) -> Any:
        """Return a table of the parts; `met` is null unless features are left out."""
        state = value
        if value.met is not None or value.w.nbytes >= LARGE_WEIGHTS_BYTES:
            gathered = value.gathered()
            sparse = value.met is not None or 2 * gathered.w.shape[-1] <= value.w.shape[-1]
            state = gathered if sparse else value
        return self._record(state.memory.keys() - FIRST_MEMORIES).encode(state, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> State:
        """Return the state, with weights for all features unless that would take much memory."""
        others = stored.keys() & (MEMORIES.keys() - FIRST_MEMORIES) if isinstance(stored, dict) else set()
        state: State = self._record(others).decode(stored, at, context)
        return state if is_wide(state.shape) else state.spread()

    def _record(self, others: set[str]) -> Record:
        """Return the codec of a state with places for the memories of these names too."""
        first: dict[str, Codec] = {"w": self.weights, "u": Maybe(self.weights), "visits": Count()}
        kept = {name: Maybe(self._memory(MEMORIES[name])) for name in (*FIRST_MEMORIES, *sorted(others))}
        shrunk = {"shrunk": kept.pop("shrunk")}
        return Record(_state, first | shrunk | {"met": Maybe(MET)} | kept, _parts, require_sound_state)

    def _memory(self, kind: type[Memory]) -> Record:
        def codec(name: str) -> Codec:
            if name in kind.slots:
                return self.weights
            return Number(least=kind.least[name]) if name in kind.least else Array()

        return Record(kind, {each.name: codec(each.name) for each in fields(kind)})


def _state(w: Any, u: Any, visits: int, met: Any, **memory: Memory | None) -> State:
    return State(w, u, visits, met, {name: kept for name, kept in memory.items() if kept is not None})


def _parts(state: State) -> dict[str, Any]:
    held = {"w": state.w, "u": state.u, "visits": state.visits, "met": state.met}
    return held | {name: state.memory.get(name) for name in MEMORIES}


FIRST_MEMORIES = ("shrunk", "variance", "dual")
"""The memories that have a place in every file; those of other rules are written where they are used."""
STATE: Codec = States()
