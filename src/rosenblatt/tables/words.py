"""Bags of words: texts as counts of their words, and of short runs of words, each hashed to a feature.

A word is a longest run of letters, digits and underscores, in lower case. Every byte beyond ASCII counts as a
letter, so words of any script stay whole. Words of one letter count too: in short messages ("2", "u") they carry
meaning, and leaving them out gained nothing on SMS spam (F1 fell by 0.1 to 0.4 points, less than folds vary).

The hash of a word folds its bytes, eight at a time as one little-endian number: h ← mix(h ⊕ number), starting from
a constant. mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection: no two words of up to
eight bytes have the same 64 bits. A run of words folds the hashes of its words in the same way, starting from 0.
The low bits are the number of the feature, and its value is how often it occurs.

Runs of characters are taken within a word that has a space before and after it, so that beginnings and ends differ
from what lies between. A character is a byte with the continuation bytes of UTF-8 behind it. A word shorter than
the shortest run counts once as a whole. Such a run is hashed as a run of one word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import check_count
from rosenblatt.tables.reading import MOST_BITS, Runs, loop_pays, runs_of
from rosenblatt.threads import allowed, ordered

__all__ = [
    "LONGEST_WORD",
    "MetWords",
    "bucket",
    "bucket_of",
    "find_grams",
    "grams",
    "hash_texts",
    "text_buffers",
    "tokens",
]

LONGEST_WORD = 64
LONGEST_WORD_BYTES = 4 * LONGEST_WORD
"""The most characters that are shown of a word, and the most bytes of these."""

MAX_PLAIN_BYTES = 1 << 17
"""Bytes that plain Python hashes in less time than loading the compiled loop takes."""

MIN_PART_BYTES, PARTS_A_THREAD = 1 << 18, 4
"""The fewest bytes that a thread hashes at a time, and the most parts for each thread."""

_WORD = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_CHARACTER = re.compile(rb".[\x80-\xbf]*", re.DOTALL)
_SEED = 0x9E3779B97F4A7C15
_LOW_64 = (1 << 64) - 1


def tokens(text: bytes) -> list[bytes]:
    """Return the words of a text, in order.

    Examples
    --------
    >>> tokens(b"Free entry: text WIN_1 to 80086!")
    [b'free', b'entry', b'text', b'win_1', b'to', b'80086']
    """
    return _WORD.findall(text.lower())  # bytes.lower changes ASCII letters only


def grams(text: bytes, ngrams: int | str) -> list[bytes]:
    """Return the runs of words of a text, ordered by where they end, the longest first; or those of characters.

    Examples
    --------
    >>> grams(b"Win a prize", 2)
    [b'win', b'win a', b'a', b'a prize', b'prize']
    >>> grams(b"Win a", "char:3-4")
    [b' wi', b' win', b'win', b'win ', b'in ', b' a ']
    """
    runs, words = runs_of(ngrams), tokens(text)
    if runs.characters:
        return [gram for word in words for gram in _within(word, runs)]
    lengths = range(runs.most, runs.least - 1, -1)
    return [b" ".join(words[end - n : end]) for end in range(1, len(words) + 1) for n in lengths if n <= end]


def _within(word: bytes, runs: Runs) -> list[bytes]:
    """Return the runs of characters of a word, ordered by where they begin, the shortest first."""
    letters = _CHARACTER.findall(b" " + word + b" ")
    if len(letters) < runs.least:
        return [b"".join(letters)]
    lengths, end = range(runs.least, runs.most + 1), len(letters)
    return [b"".join(letters[at : at + n]) for at in range(end) for n in lengths if at + n <= end]


def bucket(gram: bytes, bits: int) -> int:
    """Return the number of the feature, below 2^bits, of lower-case words separated by single spaces.

    Examples
    --------
    >>> bucket(b"win a prize", 18)
    87195
    """
    state = 0
    for word in gram.split(b" "):
        state = _mix(state ^ _hash(word))
    return state & ((1 << bits) - 1)


def bucket_of(gram: bytes, ngrams: int | str, bits: int) -> int:
    """Return the number of the feature of one of the runs that `grams` returns."""
    return _mix(_hash(gram)) & ((1 << bits) - 1) if runs_of(ngrams).characters else bucket(gram, bits)


def hash_texts(values: NDArray[np.uint8], offsets: NDArray[Any], *, ngrams: int | str, bits: int) -> CSR:
    """Return texts as compressed sparse rows: how often each of 2^bits features occurs.

    Parameters
    ----------
    values : ndarray of uint8
        UTF-8; this is not checked.
    offsets : ndarray of int32 or int64
        Text i is ``values[offsets[i]:offsets[i + 1]]``.
    ngrams : int or str
        Which runs of words or characters count as one feature; see `rosenblatt.tables.reading.runs_of`.
    bits : int
        From 1 to `MOST_BITS`.

    Examples
    --------
    >>> text = np.frombuffer(b"to be or not to be", dtype=np.uint8)
    >>> rows = hash_texts(text, np.array([0, 18]), ngrams=1, bits=18)
    >>> rows.data
    array([1., 1., 2., 2.])
    """
    runs = runs_of(ngrams)
    check_count("bits", bits, most=MOST_BITS)
    if not loop_pays(int(offsets[-1] - offsets[0]), MAX_PLAIN_BYTES):
        return _hash_plainly(values, offsets, ngrams, bits)

    offsets = offsets.astype(np.int64, copy=False)
    parts = (
        min(PARTS_A_THREAD * allowed(), int(offsets[-1] - offsets[0]) // MIN_PART_BYTES) if allowed() > 1 else 1
    )
    if parts < 2:
        return _hash_by_loop(values, offsets, runs, bits)
    cuts = np.searchsorted(offsets, np.linspace(offsets[0], offsets[-1], parts + 1))
    ends = np.unique([0, *cuts[1:-1], len(offsets) - 1]).tolist()
    hashed = ordered(lambda cut: _hash_by_loop(values, offsets[cut[0] : cut[1] + 1], runs, bits), pairwise(ends))
    return _stacked(list(hashed))


def find_grams(
    values: NDArray[np.uint8], offsets: NDArray[Any], wanted: NDArray[np.bool_], *, ngrams: int
) -> list[tuple[int, bytes]]:
    """Return a run of words for each wanted bucket: the one that ends first, and of these the longest.

    Parameters
    ----------
    values, offsets, ngrams
        See `hash_texts`; only runs of words from one word on.
    wanted : ndarray of bool
        For each bucket whether a run is asked for, and there is one. It is cleared.

    Examples
    --------
    >>> text = np.frombuffer(b"win a prize", dtype=np.uint8)
    >>> wanted = np.zeros(1 << 18, bool)
    >>> wanted[87195] = True
    >>> find_grams(text, np.array([0, 11]), wanted, ngrams=3)
    [(87195, b'win a prize')]
    """
    count = int(np.count_nonzero(wanted))
    if not count:
        return []
    if not loop_pays(int(offsets[-1] - offsets[0]), MAX_PLAIN_BYTES):
        return _find_plainly(values, offsets, wanted, ngrams)
    from rosenblatt.loops.encoding import find_words

    found = np.empty((count, 3), np.int64)
    states, mask = np.zeros(2 * ngrams, np.uint64), np.uint64(len(wanted) - 1)
    n = find_words(values, offsets.astype(np.int64, copy=False), mask, ngrams, wanted, count, states, found)
    return [(bucket, b" ".join(tokens(values[begin:end].tobytes()))) for bucket, begin, end in found[:n].tolist()]


def _find_plainly(
    values: NDArray[np.uint8], offsets: NDArray[Any], wanted: NDArray[np.bool_], ngrams: int
) -> list[tuple[int, bytes]]:
    """Look at every run until each bucket has one. The compiled loop must return the same."""
    text, found = values.tobytes(), []
    mask, bits = len(wanted) - 1, (len(wanted) - 1).bit_length()
    assert mask + 1 == 1 << bits, "buckets are a power of two"
    for start, stop in pairwise(offsets.tolist()):
        for gram in grams(text[start:stop], ngrams):
            number = bucket(gram, bits)
            if wanted[number]:
                wanted[number] = False
                found.append((number, gram))
    return found


class MetWords(Mapping[int, tuple[str, ...]]):
    """The first word met of each hashed feature, in few bytes.

    Examples
    --------
    >>> met = MetWords(18)
    >>> met.add(87195, b"win a prize")
    >>> met[87195], len(met), 5 in met
    (('win a prize',), 1, False)
    """

    def __init__(self, bits: int) -> None:
        self.starts = np.zeros(1 << bits, np.uint32)  # 0: no word
        self._ends = np.zeros(1 << bits, np.uint32)
        self._letters, self._count = bytearray(1), 0

    @classmethod
    def of(cls, bits: int, words: Mapping[int, tuple[str, ...]]) -> MetWords:
        """Return words that were kept before, which go on alone."""
        if isinstance(words, MetWords):
            return words.copy()
        made = cls(bits)
        for feature, known in words.items():
            made.add(feature, "|".join(known).encode())
        return made

    def add(self, feature: int, word: bytes) -> None:
        """Keep a word of a feature that has none yet; do nothing once the words take 4 GiB."""
        if len(self._letters) + LONGEST_WORD_BYTES < 1 << 32:
            text = word.decode(errors="replace")
            told = (text if len(text) <= LONGEST_WORD else text[: LONGEST_WORD - 1] + "…").encode()
            self.starts[feature] = len(self._letters)
            self._letters += told
            self._ends[feature] = len(self._letters)
            self._count += 1

    def copy(self) -> MetWords:
        """Return a copy that goes on alone."""
        made = MetWords.__new__(MetWords)
        made.starts, made._ends = self.starts.copy(), self._ends.copy()
        made._letters, made._count = self._letters[:], self._count
        return made

    def __getitem__(self, feature: int) -> tuple[str, ...]:
        if feature not in self:
            raise KeyError(feature)
        return (self._letters[int(self.starts[feature]) : int(self._ends[feature])].decode(),)

    def __contains__(self, feature: object) -> bool:
        if not isinstance(feature, int | np.integer):
            return False
        return bool(0 <= feature < len(self.starts) and self.starts[feature])

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.starts).tolist())

    def __len__(self) -> int:
        return self._count


def _stacked(parts: list[CSR]) -> CSR:
    """Return the rows of parts, one part after the other."""
    stored = np.cumsum([0, *(len(part.data) for part in parts)]).tolist()
    rows = np.cumsum([1, *(len(part.indptr) - 1 for part in parts)]).tolist()
    data, indices = np.empty(stored[-1]), np.empty(stored[-1], np.uint32)
    indptr: Any = np.zeros(rows[-1], np.uint32 if stored[-1] < 1 << 32 else np.uint64)

    def copy(k: int) -> None:
        part, own = parts[k], slice(stored[k], stored[k + 1])
        data[own], indices[own] = part.data, part.indices
        indptr[rows[k] : rows[k + 1]] = part.indptr[1:] + indptr.dtype.type(stored[k])

    for _ in ordered(copy, range(len(parts))):
        pass
    return CSR(data, indices, indptr)


def _hash_by_loop(values: NDArray[np.uint8], offsets: NDArray[np.int64], runs: Runs, bits: int) -> CSR:
    from rosenblatt.loops.encoding import (
        MAX_COMPARED_BUCKETS,
        N_DIGITS,
        count_words,
        hash_characters,
        hash_words,
    )

    n_rows, lengths = len(offsets) - 1, runs.most - runs.least + 1
    # Words that end one text and begin the next are one word to the count.
    most = count_words(values, offsets[0], offsets[-1]) + n_rows
    longest = int(np.diff(offsets).max(initial=0)) + 1
    in_a_text = longest // 2  # every other byte of a text may be a word
    if runs.characters:  # a word has two spaces more than letters; a run begins at each, and there is one at least
        most, in_a_text = int(offsets[-1] - offsets[0]) + 2 * most, 2 * longest
    most, in_a_text = most * lengths, in_a_text * lengths
    data, indices = np.empty(most), np.empty(most, dtype=np.uint32)
    indptr = np.empty(n_rows + 1, dtype="u4" if most < 1 << 32 else "u8")
    sorting = np.empty(max(MAX_COMPARED_BUCKETS, min(most, in_a_text)), dtype=np.uint32)
    states: NDArray[Any] = np.empty(longest + 2, np.uint8) if runs.characters else np.zeros(runs.most, np.uint64)
    scratch = states, sorting, np.empty(N_DIGITS, dtype=np.uint64)
    loop, room = hash_characters if runs.characters else hash_words, (data, indices, indptr)
    loop(values, offsets, np.uint64((1 << bits) - 1), runs[:2], room, scratch)
    stored = int(indptr[-1])
    return CSR(data[:stored], indices[:stored], indptr)


def text_buffers(array: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the bytes of a pyarrow array of strings, and the offsets of the strings in them, without a copy.

    Missing strings become empty. Chunked arrays, and strings that are not contiguous (dictionaries, views), are
    copied.

    Examples
    --------
    >>> import pyarrow as pa
    >>> values, offsets = text_buffers(pa.array(["one", "two", "three"])[1:])
    >>> bytes(values), offsets
    (b'onetwothree', array([ 3,  6, 11], dtype=int32))
    """
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    if array.null_count:
        array = array.fill_null("")
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    if len(array) == 0:
        return np.empty(0, dtype=np.uint8), np.zeros(1, dtype=kind)
    _, offsets, values = array.buffers()
    here = np.frombuffer(offsets, dtype=kind)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(values if values is not None else b"", dtype=np.uint8), here


def _hash_plainly(values: NDArray[np.uint8], offsets: NDArray[Any], ngrams: int | str, bits: int) -> CSR:
    """Count buckets text by text. The compiled loop must return the same bits."""
    text, places = values.tobytes(), offsets.tolist()
    rows = [
        sorted(Counter(bucket_of(gram, ngrams, bits) for gram in grams(text[start:stop], ngrams)).items())
        for start, stop in pairwise(places)
    ]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.uint32)
    indices = np.array([index for row in rows for index, _ in row], dtype=np.uint32)
    return CSR(np.array([count for row in rows for _, count in row], dtype=np.float64), indices, indptr)


@lru_cache(maxsize=1 << 14)
def _hash(word: bytes) -> int:
    state = _SEED
    for at in range(0, len(word), 8):
        state = _mix(state ^ int.from_bytes(word[at : at + 8], "little"))
    return state


def _mix(bits: int) -> int:
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _LOW_64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _LOW_64
    return bits ^ (bits >> 31)
