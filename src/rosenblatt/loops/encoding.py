"""Encode columns: count the hashed words of texts in one pass over their bytes, and centre sparse rows.

`rosenblatt.tables.words` defines words and their hashes in plain Python; these loops give the same rows.
`rosenblatt.tables.scaling` centres in numpy, whose temporary arrays take several times as long as training on the
rows does. Rows of a cache are scaled again in each pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._bits import count_below, eight_at, trailing_zeros
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Unsigned
from rosenblatt.loops.order import split_mix
from rosenblatt.typing import Floats, Ints, Reals

SEED = np.uint64(0x9E3779B97F4A7C15)

ONES = 0x0101010101010101  # a 1 in each byte of a 64-bit word
HIGH_BITS = np.uint64(0x80 * ONES)
LOW_BITS = np.uint64(0x7F * ONES)
CASE = np.uint64(0x20 * ONES)  # the bit by which capital letters differ
UNDERSCORES = np.uint64(ord("_") * ONES)
ALL = np.uint64(2**64 - 1)

MAX_COMPARED_BUCKETS = 64  # up to so many buckets are sorted by comparing each with all others
NO_BUCKET = np.uint32(2**32 - 1)
DIGIT_BITS = 8  # bits of a digit of the radix sort
N_DIGITS = 1 << DIGIT_BITS  # values of so many bits


@jit
def count_words(values: NDArray[np.uint8], start: int, stop: int) -> Any:
    """Return how many words begin in a part of the bytes, taken as one text."""
    count, before = 0, False
    for at in range(np.uint64(start), np.uint64(stop)):
        byte = values[at]
        letter = byte | 32
        within = (byte >= 128) | ((letter >= 97) & (letter <= 122)) | ((byte >= 48) & (byte <= 57)) | (byte == 95)
        count += within > before
        before = within
    return count


@jit
def hash_words(
    values: NDArray[np.uint8], offsets: Ints, mask: np.uint64, lengths: tuple[int, int], room: Any, scratch: Any
) -> None:
    """Count the hashed runs of words of each text, ``values[offsets[i]:offsets[i + 1]]``.

    `mask` is the number of buckets, a power of two, minus 1. `lengths` are those of the shortest and the longest
    runs. `room` must have space for every word once for each
    length of runs. In `scratch`, states has an entry for each length of runs, sorting at least
    `MAX_COMPARED_BUCKETS` entries and as many as a text has runs, and counts has `N_DIGITS`.
    """
    data, indices, indptr = room
    states, sorting, counts = scratch
    stored = np.uint64(0)
    indptr[0] = 0
    for row in range(np.uint64(offsets.size - 1)):
        end = _buckets(
            values, offsets[row], offsets[row + np.uint64(1)], mask, lengths[0], states, indices, stored
        )
        stored = _counted(data, indices, stored, end, mask, sorting, counts)
        indptr[row + np.uint64(1)] = stored


@jit
def hash_characters(
    values: NDArray[np.uint8], offsets: Ints, mask: np.uint64, lengths: tuple[int, int], room: Any, scratch: Any
) -> None:
    """Count the hashed runs of characters within the words of each text, as `hash_words` does those of words.

    In `scratch`, letters has room for the longest word and two spaces.
    """
    data, indices, indptr = room
    letters, sorting, counts = scratch
    stored = np.uint64(0)
    indptr[0] = 0
    for row in range(np.uint64(offsets.size - 1)):
        at, stop, end = offsets[row], offsets[row + np.uint64(1)], stored
        while at < stop:
            n = 1
            letters[0] = 32
            while at < stop:
                byte = values[at]
                letter = byte | 32
                within = (byte >= 128) | ((letter >= 97) & (letter <= 122)) | ((byte >= 48) & (byte <= 57))
                at += 1
                if not (within | (byte == 95)):
                    break
                letters[n] = letter if (byte >= 65) & (byte <= 90) else byte
                n += 1
            letters[n] = 32
            if n > 1:
                end = _buckets_within(letters, n + 1, lengths, mask, indices, end)
        stored = _counted(data, indices, stored, end, mask, sorting, counts)
        indptr[row + np.uint64(1)] = stored


@inline
def _buckets_within(
    letters: NDArray[np.uint8],
    stop: int,
    lengths: tuple[int, int],
    mask: np.uint64,
    indices: NDArray[np.uint32],
    p: np.uint64,
) -> Any:
    """Write the bucket of every run of characters of a word, from p on; return where they end."""
    least, most = lengths
    for begin in range(stop):
        if _continues(letters[begin]):
            continue
        state, block, filled, count, at = SEED, np.uint64(0), 0, 0, begin
        while at < stop and count < most:
            block |= np.uint64(letters[at]) << np.uint64(8 * filled)
            filled += 1
            at += 1
            if filled == 8:
                state, block, filled = split_mix(state ^ block), np.uint64(0), 0
            if at < stop and _continues(letters[at]):
                continue
            count += 1
            if count >= least or (begin == 0 and at == stop):
                whole = split_mix(state ^ block) if filled > 0 else state
                indices[p] = split_mix(whole) & mask
                p += np.uint64(1)
    return p


@inline
def _continues(byte: int) -> Any:
    """Return whether a byte of UTF-8 belongs to the character before it."""
    return (byte & 192) == 128


@inline
def _counted(
    data: Floats,
    indices: NDArray[np.uint32],
    start: np.uint64,
    end: np.uint64,
    mask: np.uint64,
    sorting: NDArray[np.uint32],
    counts: NDArray[np.uint64],
) -> Any:
    """Sort the buckets of a text, keep each once with its count, and return where they end."""
    if end - start <= np.uint64(MAX_COMPARED_BUCKETS):
        return _tally_few(data, indices, start, end, sorting)
    _sort(indices, start, end, mask, sorting, counts)
    return _tally(data, indices, start, end)


@inline
def _buckets(
    values: NDArray[np.uint8],
    at: int,
    stop: np.uint64,
    mask: np.uint64,
    least: int,
    states: NDArray[np.uint64],
    indices: NDArray[np.uint32],
    p: np.uint64,
) -> Any:
    """Write the bucket of every run of words of a text, from p on; return where they end.

    ``states[k]`` is the hash of the last k + 1 words.
    """
    runs = 0
    while at < stop:
        begin, word, length = at, SEED, 8
        while length == 8:
            block, length = _start_of_word(values, at, stop)
            at += length
            if length > 0:
                word = split_mix(word ^ block)
        at += 1  # skip the byte after a word, or a byte that begins none
        if at == begin + 1:
            continue
        runs = min(runs + 1, states.size)
        for k in range(runs - 1, -1, -1):
            states[k] = split_mix(word ^ states[k - 1] if k > 0 else word)
            indices[p] = states[k] & mask
            p += np.uint64(k + 1 >= least)
    return p


@jit
def find_words(
    values: NDArray[np.uint8],
    offsets: Any,
    mask: Any,
    longest: int,
    wanted: Any,
    n_wanted: int,
    states: Any,
    found: Any,
) -> Any:
    """Find a run of words for each bucket that is wanted; return how many were found.

    `longest` is the length of the longest runs. `wanted` has an entry for each bucket, which is cleared once a run
    of it was met. `states` is as in `hash_words`, but with twice the entries: behind the hashes it has the places
    where the last words begin. ``found[k]`` becomes a bucket, and where the bytes of its run begin and end.
    """
    n, row = 0, 0
    while row < offsets.size - 1 and n < n_wanted:
        at, stop, runs = offsets[row], offsets[row + 1], 0
        while at < stop and n < n_wanted:
            begin, word, length = at, SEED, 8
            while length == 8:
                block, length = _start_of_word(values, at, stop)
                at += length
                if length > 0:
                    word = split_mix(word ^ block)
            end = at
            at += 1
            if end == begin:
                continue
            runs = min(runs + 1, longest)
            for k in range(runs - 1, -1, -1):
                states[k] = split_mix(word ^ states[k - 1] if k > 0 else word)
                states[longest + k] = states[longest + k - 1] if k > 0 else np.uint64(begin)
                bucket = np.int64(states[k] & mask)
                if wanted[bucket] and n < n_wanted:
                    wanted[bucket] = False
                    found[n, 0], found[n, 1], found[n, 2] = bucket, np.int64(states[longest + k]), end
                    n += 1
        row += 1
    return n


@inline
def _start_of_word(values: NDArray[np.uint8], at: int, stop: np.uint64 | int) -> Any:
    """Return the word at `at`, or its first eight bytes, in lower case, and the number of bytes.

    Eight bytes are handled at a time. With their highest bits cleared, additions do not carry into the next byte,
    and adding 128 − c sets the highest bit of the bytes from c on.
    """
    block = np.uint64(0)
    if at + 8 <= values.size:
        block = eight_at(values, at)
    else:
        for byte in range(min(values.size - at, 8)):
            block |= np.uint64(values[at + byte]) << np.uint64(8 * byte)
    low = block & LOW_BITS
    letters = _from(low | CASE, 97) & ~_from(low | CASE, 123)
    digits = _from(low, 48) & ~_from(low, 58)
    underscores = ~_from(low ^ UNDERSCORES, 1)
    length = trailing_zeros(~(letters | digits | underscores | block) & HIGH_BITS) >> 3
    length = min(length, stop - at)
    if length == 0:
        return np.uint64(0), 0
    capitals = _from(low, 65) & ~_from(low, 91) & ~block & HIGH_BITS
    return (block | (capitals >> np.uint64(2))) & (ALL >> np.uint64(64 - 8 * length)), length


@inline
def _from(low: np.uint64, c: int) -> Any:
    """Set the highest bit of each byte that is at least c; all bytes are below 128."""
    return low + np.uint64((128 - c) * ONES)


@inline
def _tally_few(
    data: Floats, indices: NDArray[np.uint32], start: np.uint64, stop: np.uint64, sorting: NDArray[np.uint32]
) -> Any:
    """Sort a few buckets, keep each once with its count, and return where they end.

    The number of smaller buckets is the place of each. No branch depends on a bucket, because mispredicted
    branches would take longer than all these vector comparisons.
    """
    n = stop - start
    for i in range(n):
        sorting[i] = indices[start + i]
        data[start + i] = 0.0
    for i in range(n, np.uint64(MAX_COMPARED_BUCKETS)):
        sorting[i] = NO_BUCKET
    for i in range(n):
        place = start + count_below(sorting, sorting[i])
        indices[place] = sorting[i]
        data[place] += 1.0
    last = start
    for p in range(start, stop):
        count = data[p]
        indices[last] = indices[p]
        data[last] = count
        last += np.uint64(count > 0.0)
    return last


@jit
def weight_words(
    data: Reals,
    indices: Unsigned,
    indptr: Ints,
    first: int,
    n_texts: int,
    bits: int,
    logs: Floats,
    idf: Floats,
) -> None:
    """Weight the counts of words of each text, and divide them by the length of the text.

    Text k has the features from first + k · 2^bits on, and `idf` has a weight for each feature from `first` on.
    """
    for row in range(indptr.size - 1):
        p, end = indptr[row], indptr[row + 1]
        while p < end and np.int64(indices[p]) < first:
            p += 1
        for text in range(n_texts):
            start, stop = p, first + ((text + 1) << bits)
            square = 0.0
            while p < end and np.int64(indices[p]) < stop:
                value = logs[np.int64(data[p])] * idf[np.int64(indices[p]) - first]
                data[p] = value
                square += value * value
                p += 1
            length = np.sqrt(square)
            for q in range(start, p):
                data[q] /= length


@jit
def _sort(
    keys: NDArray[np.uint32],
    start: np.uint64,
    stop: np.uint64,
    mask: np.uint64,
    sorting: NDArray[np.uint32],
    counts: NDArray[np.uint64],
) -> None:
    """Sort by one digit after another, the lowest first (radix sort)."""
    shift = np.uint64(0)
    while mask >> shift > np.uint64(0):
        counts[:] = 0
        for p in range(start, stop):
            counts[(keys[p] >> shift) & np.uint64(N_DIGITS - 1)] += np.uint64(1)
        before = np.uint64(0)
        for digit in range(N_DIGITS):
            before, counts[digit] = before + counts[digit], before
        for p in range(start, stop):
            digit = (keys[p] >> shift) & np.uint64(N_DIGITS - 1)
            sorting[counts[digit]] = keys[p]
            counts[digit] += np.uint64(1)
        for p in range(start, stop):
            keys[p] = sorting[p - start]
        shift += np.uint64(DIGIT_BITS)


@inline
def _tally(data: Floats, indices: NDArray[np.uint32], start: np.uint64, stop: np.uint64) -> Any:
    """Keep each of the sorted buckets once with its count, and return where they end."""
    last = start
    for p in range(start, stop):
        if p > start and indices[p] == indices[last - np.uint64(1)]:
            data[last - np.uint64(1)] += 1.0
        else:
            indices[last] = indices[p]
            data[last] = 1.0
            last += np.uint64(1)
    return last


# Centred sparse rows, which store every value of the first features, zeros too.


@jit
def scale_rows(rows: Reals, mean: Floats, deviation: Floats) -> None:
    """Turn each value of dense rows into (value − mean) / deviation, rounded once more to the type of the rows."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = (rows[i, j] - mean[j]) / deviation[j]


@inline
def _stores_first(indices: Unsigned, start: np.uint64, stop: np.uint64, width: np.uint64) -> Any:
    """Return whether a row stores each of the first `width` features; its columns ascend."""
    last = width - np.uint64(1)
    return stop - start >= width and indices[start + last] == last


@jit
def count_stored(indices: Unsigned, indptr: Unsigned, width: int, ends: Unsigned) -> Any:
    """Return how many values the rows will store, and write where each row ends, after a 0, to `ends`."""
    stored = np.uint64(0)
    ends[0] = 0
    for row in range(np.uint64(indptr.size - 1)):
        start, stop = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        stored += np.uint64(width)
        if _stores_first(indices, start, stop, np.uint64(width)):
            stored += stop - start - np.uint64(width)
        else:
            for at in range(start, stop):
                stored += np.uint64(indices[at] >= width)
        ends[row + np.uint64(1)] = stored
    return stored


@jit
def center_rows(
    data: Reals,
    indices: Unsigned,
    indptr: Unsigned,
    width: int,
    mean: Floats,
    deviation: Floats,
    out: Reals,
    columns: Unsigned,
    ends: Unsigned,
) -> None:
    """Write (value − mean) / deviation of each stored value, and of the first `width` features all values."""
    for row in range(np.uint64(indptr.size - 1)):
        first = np.uint64(ends[row])
        start, stop = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        if _stores_first(indices, start, stop, np.uint64(width)):
            for j in range(np.uint64(width)):
                out[first + j] = (np.float64(data[start + j]) - mean[j]) / deviation[j]
                columns[first + j] = j
            start += np.uint64(width)
        else:
            for j in range(np.uint64(width)):
                out[first + j], columns[first + j] = (0.0 - mean[j]) / deviation[j], j
        behind = first + np.uint64(width)
        for at in range(start, stop):
            column = np.uint64(indices[at])
            value = (np.float64(data[at]) - mean[column]) / deviation[column]
            if column < np.uint64(width):
                out[first + column] = value
            else:
                out[behind], columns[behind] = value, column
                behind += np.uint64(1)
