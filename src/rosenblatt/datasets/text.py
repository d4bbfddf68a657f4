"""Random sparse rows that look like text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from rosenblatt.datasets.dataset import Dataset, Seed, check_share, flip_share, float_type, whole
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORDS_AT_ONCE = 1 << 18
"""Words drawn at a time, so that they stay in the cache. Results depend on it."""


def make_text(
    n: int, d: int, *, nnz: int = 90, seed: Seed, flip: float = 0.0, dtype: DTypeLike = np.float64
) -> Dataset[csr_array[Any]]:
    """Return sparse rows that look like tf–idf of text, separable unless labels are flipped.

    Words follow a law like Zipf's: the word of rank r has a probability proportional to 1/r, with r rounded down
    to a power of two. A row counts a fixed number of draws, each count c becomes (1 + log c)·idf, and the row is
    scaled to length 1. Labels are the sign of <w, x> for a hidden unit vector ``w``, which gives opposite weights
    to the words of ranks 2k and 2k + 1. These are equally frequent, so both labels are equally likely. Rows whose
    ``|<w, x>|`` is below a tenth of the typical value are drawn again, so that the rows are separable by a margin.

    Parameters
    ----------
    n, d : int
        Number of rows and of features (words, at least 3).
    nnz : int
        The average number of different words in a row, at most half of d.
    seed : int or numpy Generator
        The source of randomness.
    flip : float
        This random share of the labels, up to one half, is flipped.
    dtype : float64 or float32
        The dtype of the values. Indices are int32, sorted, without duplicates.

    Examples
    --------
    >>> data = make_text(100, 1000, nnz=20, seed=0)
    >>> data
    <Dataset 'text': 100 rows, 1000 features, 41 positive and 59 negative>
    >>> bool((data.y * (data.X @ data.w) > 0).all())
    True
    """
    from scipy.sparse import csr_array

    n, d, nnz = whole("n", n, 1), whole("d", d, 3), whole("nnz", nnz, 1)
    kind, rng = float_type(dtype), np.random.default_rng(seed)
    check_share(flip)
    if nnz > d // 2:
        raise ParameterError(f"nnz must be at most half of d = {d}, got {nnz}: these rows are sparse")
    word, idf, w = _vocabulary(d, rng)
    draws = _draws_for(nnz, d)
    step = max(
        64, _WORDS_AT_ONCE // draws
    )  # the first part also determines the scale of scores, so it needs some rows
    parts, kept, near = [], 0, None
    while kept < n:
        indices, values, lengths = _bags(_zipf(step, draws, word, rng), idf)
        values = values.astype(kind)
        scores = np.add.reduceat(values * w[indices], np.cumsum(lengths) - lengths)
        if near is None:
            near = 0.1 * np.sqrt(np.mean(scores * scores))
        keep = np.abs(scores) > near
        inside = np.repeat(keep, lengths)
        parts.append((indices[inside], values[inside], lengths[keep], scores[keep]))
        kept += int(np.count_nonzero(keep))

    indices, values, lengths, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths[:n])])
    end = int(indptr[-1])
    if end <= np.iinfo(np.int32).max:  # the type of the indices, or scipy would widen those
        indptr = indptr.astype(np.int32)
    X = csr_array((values[:end], indices[:end], indptr), shape=(n, d))
    X.has_canonical_format = True
    y = np.where(scores[:n] > 0, 1, -1).astype(np.int64)
    flipped = flip_share(y, flip, rng)
    text = f"Random rows like text, about {nnz} words each, {flipped.size} labels flipped."
    return Dataset(X, y, name="text", description=text, w=w, flipped=flipped)


def _vocabulary(d: int, rng: np.random.Generator) -> tuple[Any, Floats, Floats]:
    """Return the feature of each rank 1..d, and the idf and the hidden weight of each feature."""
    word = rng.permutation(d).astype(np.int32)
    octave = np.frexp(np.arange(1, d + 1))[1] - 1.0  # log2 of the rank, rounded down
    idf, w = np.empty(d), np.zeros(d)
    idf[word] = 1.0 + octave
    even, odd = word[1 : d - 1 : 2], word[2:d:2]  # ranks 2, 4, … and 3, 5, …
    w[even] = rng.standard_normal(even.size) / idf[even]  # so that rare words do not outweigh the others
    w[odd] = -w[even]
    return word, idf, w / np.sqrt((w * w).sum())


def _draws_for(nnz: int, d: int) -> int:
    """Return the number of draws that find `nnz` different words on average."""
    rank = 2.0 ** np.arange(d.bit_length())
    size = np.minimum(rank, d + 1 - rank)  # of each octave; the last may be cut short
    chance = 1.0 / (rank * (size / rank).sum())  # of each word in it
    low, high = nnz, nnz
    while (size * -np.expm1(high * np.log1p(-chance))).sum() < nnz:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = (size * -np.expm1(middle * np.log1p(-chance))).sum() >= nnz
        low, high = (low, middle) if enough else (middle, high)
    return high


def _zipf(rows: int, draws: int, word: Any, rng: np.random.Generator) -> Any:
    """Draw words, sorted within each row.

    With u uniform on [0, log2(d + 1)) the rank would be 2ᵘ. The chord of 2ᵘ between whole numbers is nearly as
    good and needs no transcendental function, so it is fast and the same on every machine.
    """
    d = word.size
    last = (d + 1).bit_length() - 1
    u = rng.random((rows, draws)) * (last + (d + 1) / 2**last - 1)
    k = u.astype(np.int32)
    rank = (1.0 + (u - k)) * (2.0 ** np.arange(last + 1))[k]
    tokens = word[np.minimum(rank.astype(np.int32), d) - 1]
    tokens.sort(axis=1)
    return tokens


def _bags(tokens: Any, idf: Floats) -> tuple[Any, Floats, Ints]:
    """Turn sorted words into the indices, unit-length tf–idf values and lengths of rows."""
    new = np.ones(tokens.shape, bool)
    np.not_equal(tokens[:, 1:], tokens[:, :-1], out=new[:, 1:])
    first = np.flatnonzero(new)
    counts = np.diff(first, append=tokens.size)
    indices, lengths = tokens.ravel()[first], np.count_nonzero(new, axis=1)
    log_tf = 1.0 + np.log(np.arange(1, counts.max() + 1))
    values = log_tf[counts - 1] * idf[indices]
    squares = np.add.reduceat(values * values, np.cumsum(lengths) - lengths)
    values /= np.repeat(np.sqrt(squares), lengths)
    return indices, values, lengths
