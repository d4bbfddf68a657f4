"""Features of tokens made from templates, numbered inside the loop.

A template is a tuple of pairs (column, offset). Its feature at a token is the tuple of the values that the columns
have at the offsets. Values are numbers already, one for each column of each kind of token, so that no text is made
for a feature.

Tuples are numbered exactly. A template begins at the node with its own number. One table holds the node that a
node and a value lead to; a second one holds the feature that the last node and the last value lead to. Both are
open hash tables of 64-bit keys: the node above, the value below.

`hash_templates` needs no tables: it hashes the tuples to a fixed number of features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._bits import split_mix
from rosenblatt.loops._jit import inline, jit
from rosenblatt.typing import Ints

BEFORE, BEHIND, UNKNOWN = 0, 1, 2
"""The values before the first token of a sentence, behind the last, and of texts that training did not meet."""
EMPTY = np.uint64(2**64 - 1)
_SHIFT = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class HashTable(NamedTuple):
    """Keys by slot and the number of each, keys by number, and how many there are (one number)."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    keys: NDArray[np.uint64]
    used: Ints


def empty_table(room: int) -> HashTable:
    """Return a table with room for so many keys, half full with them."""
    size = 1 << max(6, int(2 * room - 1).bit_length())
    return HashTable(
        np.full(size, EMPTY), np.zeros(size, np.int32), np.zeros(size // 2, np.uint64), np.zeros(1, np.int64)
    )


@inline
def _slot(table: HashTable, key: Any) -> Any:
    """Return the slot of a key, or the empty one where it would go."""
    mask = np.uint64(table.slots.size - 1)
    at = split_mix(key) & mask
    while table.slots[at] != key and table.slots[at] != EMPTY:
        at = (at + np.uint64(1)) & mask
    return at


@inline
def _number(table: HashTable, key: Any, grows: bool) -> int:
    """Return the number of a key: of a new one the next number if the table grows, and otherwise −1."""
    at = _slot(table, key)
    if table.slots[at] != EMPTY:
        return int(table.numbers[at])
    if not grows:
        return -1
    number = table.used[0]
    table.slots[at], table.numbers[at], table.keys[number] = key, number, key
    table.used[0] += 1
    return number


@jit
def insert_keys(table: HashTable, keys: Any) -> None:
    """Give keys numbers in their order."""
    for i in range(keys.size):
        _number(table, keys[i], True)


@jit
def apply_templates(
    kinds: Any,
    values: Any,
    starts: Any,
    template_starts: Any,
    columns: Any,
    offsets: Any,
    inner: HashTable,
    features: HashTable,
    grows: bool,
    indices: Any,
    indptr: Any,
) -> int:
    """Write the features of each token; return how many there are in all.

    `values` has a row for each kind of token. Template k consists of the pairs from ``template_starts[k]``.
    Features and values that the tables do not hold are left out unless the tables grow.
    """
    n_templates = np.uint64(template_starts.size - 1)
    count = 0
    indptr[0] = 0
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        for i in range(begin, end):
            for k in range(template_starts.size - 1):
                node = np.uint64(k)
                number, last = 0, template_starts[k + 1] - 1
                for p in range(template_starts[k], last + 1):
                    at = i + offsets[p]
                    value = BEFORE
                    if at >= end:
                        value = BEHIND
                    elif at >= begin:
                        value = int(values[kinds[at], columns[p]])
                    if value == UNKNOWN:
                        number = -1
                        break
                    key = (node << _SHIFT) | np.uint64(value)
                    if p == last:
                        number = _number(features, key, grows)
                    else:
                        number = _number(inner, key, grows)
                        if number < 0:
                            break
                        node = np.uint64(number) + n_templates
                if number >= 0:
                    indices[count] = number
                    count += 1
            indptr[i + 1] = count
    return count


@jit
def hash_templates(
    kinds: Any,
    values: Any,
    starts: Any,
    template_starts: Any,
    columns: Any,
    offsets: Any,
    bits: int,
    indices: Any,
) -> None:
    """Write the hashed features of each token, one for each template.

    `values` has a hash for each kind of token and column. The hash of a template folds its number and the values
    of its pairs: h ← mix(h ⊕ value) + 2⁶⁴/φ. The feature is its highest `bits`.
    """
    shift = np.uint64(64 - bits)
    count = 0
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        for i in range(begin, end):
            for k in range(template_starts.size - 1):
                state = np.uint64(k + 1) * _GOLDEN
                for p in range(template_starts[k], template_starts[k + 1]):
                    at = i + offsets[p]
                    value = np.uint64(BEFORE)
                    if at >= end:
                        value = np.uint64(BEHIND)
                    elif at >= begin:
                        value = values[kinds[at], columns[p]]
                    state = split_mix(state ^ value) + _GOLDEN
                indices[count] = split_mix(state) >> shift
                count += 1
