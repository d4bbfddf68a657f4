"""The order in which rows are visited.

Shuffling is several times faster than numpy's, which would take as long as a screened pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import OrderError
from rosenblatt.loops._jit import inline, jit
from rosenblatt.typing import Ints

Visits: TypeAlias = NDArray[np.uint64]

WORD = 2**64 - 1
FIRST_FACTOR, SECOND_FACTOR = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of SplitMix64

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@inline
def split_mix(bits: np.uint64) -> Any:
    """Spread every bit over the whole word: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return bits ^ (bits >> np.uint64(31))


def split_mix_plain(bits: int) -> int:
    """Do what `split_mix` does, in Python."""
    bits = (bits ^ (bits >> 30)) * FIRST_FACTOR & WORD
    bits = (bits ^ (bits >> 27)) * SECOND_FACTOR & WORD
    return bits ^ (bits >> 31)


@inline
def mixed_seed(seed: np.uint64 | int, number: int) -> Any:
    """Return the seed of a pass from the seed of the run and the number of the pass, inside a loop."""
    return split_mix(np.uint64(seed) + np.uint64(number) * _STEP)


def seed_of_pass(seed: np.uint64 | int, number: np.uint64 | int) -> np.uint64:
    """Return the seed of a pass from the seed of the run and the number of the pass."""
    return np.uint64(split_mix_plain((int(seed) + int(number) * int(_STEP)) & WORD))


@jit
def shuffle(order: Visits | Ints, seed: np.uint64) -> None:
    """Shuffle fewer than 2³² rows in place (Fisher–Yates), all permutations equally likely.

    Numbers below a bound are the high half of a product; the few that would make some likelier are drawn again
    (Lemire 2019).
    """
    state = np.uint64(seed)
    for left in range(order.size, 1, -1):
        bound = np.uint64(left)
        while True:
            state += _STEP
            product = (split_mix(state) >> _HALF) * bound
            low = product & _LOW
            if low >= bound or low >= ((_LOW - bound) + np.uint64(1)) % bound:
                break
        drawn = product >> _HALF
        last = bound - np.uint64(1)
        order[last], order[drawn] = order[drawn], order[last]


_ORDER_OF_BLOCKS = np.uint64(1 << 63)  # stands for the number of a block, which none has


class Order(Protocol):
    """Gives each pass its sequence of rows."""

    @property
    def settles(self) -> bool:
        """Whether a pass without a mistake means that no later pass will have one."""

    @property
    def complete(self) -> bool:
        """Whether every pass visits every row."""

    def visits(self, epoch: int) -> Visits | None:
        """Return the rows of pass `epoch` (from 1) in order, or None if there are no more passes."""


class Cyclic:
    """Every row once a pass, as stored, beginning anywhere."""

    settles = complete = True

    def __init__(self, n_rows: int, first: int = 0) -> None:
        self._visits = np.roll(np.arange(n_rows, dtype=np.uint64), -first)

    def visits(self, epoch: int) -> Visits:
        """Return the same rows for every pass."""
        return self._visits


class Shuffled:
    """Every row once a pass, in a new random order each time.

    The order of a pass is a function of the seed and the number of the pass, so that a run that was cut short
    goes on with the order it would have had; `made` passes came before.
    """

    settles = complete = True

    def __init__(self, n_rows: int, seed: int, made: int = 0) -> None:
        self._n_rows, self._seed, self._made = n_rows, seed, made

    def visits(self, epoch: int) -> Visits:
        """Return the permutation of this pass."""
        visits = np.arange(self._n_rows, dtype=np.uint64)
        shuffle(visits, np.uint64(seed_of_pass(np.uint64(self._seed), np.uint64(self._made + epoch))))
        return visits


class Blockwise:
    """Every row once a pass, block by block, as data that does not fit into memory is visited.

    With a seed, blocks come in random order, and so do the rows within their block. The first pass takes the
    blocks as they are stored, so that it can be made while they are read for the first time. The order within a
    block depends on the seed, the pass and the block, so that any block can be visited without the others. A
    single block is visited as by `Shuffled` or `Cyclic`. `made` are the passes of the run that this one continues.

    Examples
    --------
    >>> order = Blockwise(np.array([0, 2, 5]), seed=0)
    >>> order.visits(1).tolist()
    [0, 1, 4, 3, 2]
    """

    settles = complete = True

    def __init__(self, boundaries: Ints, seed: int | None = None, made: int = 0) -> None:
        self.boundaries, self._seed, self._made = boundaries, seed, made

    def blocks(self, epoch: int) -> Ints:
        """Return the numbers of the blocks in the order of pass `epoch`."""
        order = np.arange(len(self.boundaries) - 1)
        if self._seed is not None and self._made + epoch > 1:
            shuffle(order, np.uint64(seed_of_pass(self._seed_of(self._seed, epoch), _ORDER_OF_BLOCKS)))
        return order

    def within(self, epoch: int, block: int) -> Visits:
        """Return the rows of a block in the order of pass `epoch`, counted from the first of the block."""
        visits = np.arange(self.boundaries[block + 1] - self.boundaries[block], dtype=np.uint64)
        if self._seed is not None:
            seed = self._seed_of(self._seed, epoch)
            shuffle(visits, seed if block == 0 else np.uint64(seed_of_pass(seed, np.uint64(block))))
        return visits

    def visits(self, epoch: int) -> Visits:
        """Return the rows of all blocks."""
        first = self.boundaries.astype(np.uint64)
        return np.concatenate([self.within(epoch, int(k)) + first[k] for k in self.blocks(epoch)])

    def _seed_of(self, seed: int, epoch: int) -> np.uint64:
        return np.uint64(seed_of_pass(np.uint64(seed), np.uint64(self._made + epoch)))


class Random:
    """As many visits a pass as there are rows, each to a row drawn at random; seeded as `Shuffled` is."""

    settles = complete = False

    def __init__(self, n_rows: int, seed: int, made: int = 0) -> None:
        self._n_rows, self._seed, self._made = n_rows, seed, made

    def visits(self, epoch: int) -> Visits:
        """Return independent draws."""
        rng = np.random.default_rng(seed_of_pass(np.uint64(self._seed), np.uint64(self._made + epoch)))
        return rng.integers(self._n_rows, size=self._n_rows, dtype=np.uint64)


class Given:
    """One sequence, repeated every pass."""

    settles = True

    def __init__(self, sequence: Any, n_rows: int) -> None:
        self._visits = as_visits(sequence, n_rows, "order")
        self.complete = len(np.unique(self._visits)) == n_rows

    def visits(self, epoch: int) -> Visits:
        """Return the same sequence for every pass."""
        return self._visits


class Listed:
    """A sequence for each pass; training ends with the list."""

    settles = complete = False

    def __init__(self, sequences: Sequence[Any], n_rows: int, made: int = 0) -> None:
        passes = [as_visits(each, n_rows, f"order[{p}]") for p, each in enumerate(sequences)]
        self._passes = passes[made % len(passes) :]  # a run cut short goes on, one that had ended begins anew

    def visits(self, epoch: int) -> Visits | None:
        """Return the sequence of this pass."""
        return self._passes[epoch - 1] if epoch <= len(self._passes) else None


class Called:
    """A sequence for each pass, from a function that is called when it begins."""

    settles = complete = False

    def __init__(self, function: Callable[[int], Any], n_rows: int, made: int = 0) -> None:
        self._function, self._n_rows, self._made = function, n_rows, made

    def visits(self, epoch: int) -> Visits:
        """Ask for the sequence of this pass, by its number from 1."""
        number = self._made + epoch
        return as_visits(self._function(number), self._n_rows, f"order({number})")


def make_order(order: Any, n_rows: int, seed: int, made: int = 0) -> Order:
    """Return the order that `order` describes: by name, or as an array of one pass, repeated.

    A list of arrays, or a callable of the pass number (from 1), gives each pass its own. `made` are the passes
    that a run to be continued has made.
    """
    named: dict[str, Callable[[], Order]] = {
        "shuffle": lambda: Shuffled(n_rows, seed, made),
        "cyclic": lambda: Cyclic(n_rows),
        "random": lambda: Random(n_rows, seed, made),
    }
    if isinstance(order, str):
        if order not in named:
            raise OrderError(
                f"order={order!r} is not known; use 'shuffle', 'cyclic', 'random', an array of row numbers, "
                "a list of such arrays, or a function of the pass number."
            )
        return named[order]()
    if callable(order):
        return Called(order, n_rows, made)
    if isinstance(order, list | tuple) and order and all(_is_sequence(each) for each in order):
        return Listed(order, n_rows, made)
    return Given(order, n_rows)


def _is_sequence(each: Any) -> bool:
    return isinstance(each, list | tuple) or getattr(each, "ndim", 0) == 1


def as_visits(sequence: Any, n_rows: int, name: str) -> Visits:
    """Check a sequence of row numbers."""
    try:
        visits = np.asarray(sequence)
    except ValueError as error:
        raise OrderError(f"{name} must be a sequence of row numbers: {error}.") from None
    if visits.ndim != 1 or visits.size == 0:
        raise OrderError(f"{name} must be a sequence of at least one row number; its shape is {visits.shape}.")
    if visits.dtype.kind not in "iu":
        raise OrderError(f"{name} must hold row numbers, which are integers; its type is {visits.dtype}.")
    outside = np.flatnonzero((visits < 0) | (visits >= n_rows))
    if outside.size:
        at = int(outside[0])
        raise OrderError(
            f"{name}[{at}] is {visits[at]}, but X has rows 0 to {n_rows - 1}. Remove it or count rows from 0."
        )
    return visits.astype(np.uint64)
