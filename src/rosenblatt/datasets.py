"""Data sets by name: worked examples of lectures, random data with a known truth, and sets such as ``iris``.

Each function returns a `Dataset`, a pair that unpacks as ``X, y = load_xor()`` and has a name and a description;
only `make_echo` returns signals. Labels are the integers −1 and +1. The same seed gives the same bits.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.parameters import check_count, check_number, unknown_name
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.file_source import Source
from rosenblatt.typing import Floats, Ints, Reals

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Dataset",
    "Echo",
    "load_and",
    "load_or",
    "load_six_points",
    "load_spam_table",
    "load_xor",
    "make_cards",
    "make_diagonal",
    "make_echo",
    "make_separable",
    "make_text",
]

# The pair that every data set is, and checks of the arguments of makers.

Rows = TypeVar("Rows")
Seed: TypeAlias = int | np.random.Generator
"""A seed, or a generator to draw from."""


def float_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Return float64 or float32 as a dtype."""
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ParameterError(f"dtype must be float64 or float32, got {kind}", parameter="dtype")
    return kind


def flip_share(y: Ints, share: float, rng: np.random.Generator) -> Ints:
    """Flip a share of the labels in place, and return which."""
    rows = np.sort(rng.choice(y.size, round(share * y.size), replace=False))
    y[rows] *= -1
    return rows


class Dataset(tuple[Rows, Ints], Generic[Rows]):
    """A pair ``(X, y)`` with a name and a description.

    Attributes
    ----------
    X : array or sparse array of shape (n, d)
        The rows.
    y : int array of shape (n,)
        The labels, −1 or +1.
    name, description : str
        Texts about the data.
    feature_names : tuple of str or None
        One name for each column.
    w : array of shape (d,) or None
        The unit normal of a hyperplane through the origin that separates the rows (before any flip), if known.
    margin : float or None
        The largest geometric margin of any hyperplane, if known exactly.
    flipped : int array
        The rows whose label was flipped, in order.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> data = load_or()
    >>> data
    <Dataset 'or': 4 rows, 2 features (x1, x2), 3 positive and 1 negative>
    >>> X, y = data
    >>> y
    array([-1,  1,  1,  1])
    """

    name: str
    description: str
    feature_names: tuple[str, ...] | None
    w: Floats | None
    margin: float | None
    flipped: Ints

    def __new__(
        cls,
        X: Rows,
        y: Ints,
        *,
        name: str = "data",
        description: str = "",
        feature_names: tuple[str, ...] | None = None,
        w: Floats | None = None,
        margin: float | None = None,
        flipped: Ints | None = None,
    ) -> Dataset[Rows]:
        """Pair X with y."""
        self = super().__new__(cls, (X, y))
        self.name, self.description, self.feature_names = name, description, feature_names
        self.w, self.margin = w, margin
        self.flipped = np.empty(0, np.int64) if flipped is None else flipped
        return self

    def __getnewargs__(self) -> tuple[Rows, Ints]:
        # The arguments with which copy and pickle call __new__; __dict__ holds the other attributes.
        return self.X, self.y

    @property
    def X(self) -> Rows:  # noqa: N802
        """The rows."""
        return self[0]

    @property
    def y(self) -> Ints:
        """The labels, −1 or +1."""
        return self[1]

    def __repr__(self) -> str:
        n, d = self.X.shape  # type: ignore[attr-defined]
        few = self.feature_names is not None and len(self.feature_names) <= 8
        names = f" ({', '.join(self.feature_names or ())})" if few else ""
        positive = int(np.count_nonzero(self.y > 0))
        return (
            f"<Dataset {self.name!r}: {n} row{'s' * (n != 1)}, {d} feature{'s' * (d != 1)}{names}, "
            f"{positive} positive and {n - positive} negative>"
        )


# Worked examples of lectures, with rows in their order, and the cards of Rosenblatt's demonstration.


def _named(rows: Any, labels: Any, names: tuple[str, ...], name: str, text: str) -> Dataset[Floats]:
    X, y = np.array(rows, dtype=np.float64), np.array(labels, dtype=np.int64)
    return Dataset(X, y, name=name, feature_names=names, description=text)


def _truth_table(labels: list[int], name: str, text: str) -> Dataset[Floats]:
    return _named([[0, 0], [1, 0], [0, 1], [1, 1]], labels, ("x1", "x2"), name, text)


def load_six_points() -> Dataset[Floats]:
    """Return the six points in the plane of Koski's lecture.

    Examples
    --------
    >>> X, y = load_six_points()
    >>> X[4], y[4]
    (array([ 2., -2.]), np.int64(-1))
    """
    rows = [[1.5, -0.5], [1, 1], [-2, 1], [-1, -1.5], [2, -2], [-2, -2]]
    text = "Six points in the plane, three of each class, separable."
    return _named(rows, [1, 1, 1, -1, -1, -1], ("x1", "x2"), "six points", text)


def load_spam_table() -> Dataset[Floats]:
    """Return the six e-mails of Zhang's lecture as bags of five words; +1 is spam.

    Examples
    --------
    >>> load_spam_table().feature_names
    ('and', 'viagra', 'the', 'of', 'nigeria')
    """
    rows = [
        [1, 1, 0, 1, 1],
        [0, 0, 1, 1, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 1, 0],
    ]
    text = "Six e-mails, which of five words each contains, and whether it is spam (+1). Separable."
    return _named(rows, [1, -1, 1, -1, 1, -1], ("and", "viagra", "the", "of", "nigeria"), "spam table", text)


def load_or() -> Dataset[Floats]:
    """Return the truth table of OR, rows in the order 00, 10, 01, 11.

    Examples
    --------
    >>> load_or().y
    array([-1,  1,  1,  1])
    """
    return _truth_table([-1, 1, 1, 1], "or", "The truth table of OR, separable.")


def load_and() -> Dataset[Floats]:
    """Return the truth table of AND, rows in the order 00, 10, 01, 11.

    Examples
    --------
    >>> load_and().y
    array([-1, -1, -1,  1])
    """
    return _truth_table([-1, -1, -1, 1], "and", "The truth table of AND, separable.")


def load_xor() -> Dataset[Floats]:
    """Return the truth table of XOR, rows in the order 00, 10, 01, 11.

    Examples
    --------
    >>> X, y = load_xor()
    >>> bool((X[y > 0].mean(axis=0) == X[y < 0].mean(axis=0)).all())  # so no line can separate them
    True
    """
    text = "The truth table of XOR, not separable: the classes share their midpoint."
    return _truth_table([-1, 1, 1, -1], "xor", text)


def make_diagonal(n: int, seed: Seed) -> Dataset[Floats]:
    """Return points uniform in the square [−1, 1]², positive above the diagonal x2 = x1.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int or numpy Generator
        The source of randomness.

    Examples
    --------
    >>> make_diagonal(200, seed=0)
    <Dataset 'diagonal': 200 rows, 2 features (x1, x2), 90 positive and 110 negative>
    """
    n, rng = check_count("n", n), np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    while (ties := np.flatnonzero(X[:, 0] == X[:, 1])).size:
        X[ties] = rng.uniform(-1, 1, (ties.size, 2))
    y = np.where(X[:, 1] > X[:, 0], 1, -1).astype(np.int64)
    text = "Points uniform in [−1, 1]², positive where x2 > x1."
    w = np.array([-1.0, 1.0]) / np.sqrt(2.0)
    return Dataset(X, y, name="diagonal", feature_names=("x1", "x2"), description=text, w=w)


def make_cards(
    n: int, *, size: int = 20, side: tuple[int, int] = (5, 8), noise: float = 0.0, seed: Seed
) -> Dataset[Floats]:
    """Return cards with a square on the left (−1) or on the right (+1), like those of Rosenblatt's demonstration.

    Parameters
    ----------
    n : int
        Number of cards.
    size : int
        Pixels along a card's edge, at least 4.
    side : pair of int
        The shortest and the longest side of a square, at most half of `size`.
    noise : float
        This share of the pixels, up to one half, is flipped.
    seed : int or numpy Generator
        The source of randomness.

    Returns
    -------
    Dataset
        Rows of size² pixels, 0 or 1, line by line from the top.

    Examples
    --------
    >>> X, y = make_cards(2, size=8, side=(2, 3), seed=3)
    >>> for line in X[0].reshape(8, 8).astype(int): print(*line, sep="")
    00000000
    00000000
    00000000
    00000000
    00000000
    11000000
    11000000
    00000000
    >>> y[0]
    np.int64(-1)
    """
    n, size, rng = check_count("n", n), check_count("size", size, least=4), np.random.default_rng(seed)
    least, most = check_count("side", side[0]), check_count("side", side[1])
    if not least <= most <= size // 2:
        raise ParameterError(Given("side", side) + f" must be two lengths up to half of size = {size}, in order.")
    check_number("noise", noise, least=0, most=0.5)
    y = rng.permutation(np.where(np.arange(n) % 2, -1, 1)).astype(np.int64)
    length = rng.integers(least, most + 1, n)
    half = size // 2
    across = rng.integers(0, half - length + 1) + np.where(y > 0, size - half, 0)
    down = rng.integers(0, size - length + 1)
    place = np.arange(size)
    columns = (place >= across[:, None]) & (place < (across + length)[:, None])
    lines = (place >= down[:, None]) & (place < (down + length)[:, None])
    X = (lines[:, :, None] & columns[:, None, :]).reshape(n, size * size)
    if noise:
        X = X ^ (rng.random(X.shape) < noise)
    text = f"Cards of {size} × {size} pixels with a square on the left (−1) or on the right (+1)."
    return Dataset(X.astype(np.float64), y, name="cards", description=text)


# Random rows with an exactly known largest margin, and a telephone call with an echo from a known room.


class Echo(NamedTuple):
    """Both ends of a call, and the room between loudspeaker and microphone.

    Attributes
    ----------
    far_end, microphone : ndarray, shape (n,)
        The signal of the loudspeaker, and its echo at the microphone with noise.
    path : ndarray, shape (n_taps,)
        The impulse response of the room, of norm 1.

    Examples
    --------
    >>> from rosenblatt.datasets import make_echo
    >>> call = make_echo(1000, n_taps=8, seed=0)
    >>> call.far_end.shape, call.path.shape
    ((1000,), (8,))
    """

    far_end: Floats
    microphone: Floats
    path: Floats


def make_echo(far_end: Any, *, n_taps: int = 256, echo_to_noise: float = 40.0, seed: Seed) -> Echo:
    """Return a far end and its echo at a microphone in a random room.

    The echo begins after a sixteenth of the taps, and decays by 60 dB over the rest.

    Parameters
    ----------
    far_end : int or sequence of numbers
        The far end, or the number of samples of white noise to use.
    n_taps : int
        The length of the echo in samples.
    echo_to_noise : float
        The ratio of the echo to the noise of the microphone, in dB.
    seed : int or numpy Generator
        The source of randomness.

    Examples
    --------
    >>> call = make_echo(1000, n_taps=32, seed=0)
    >>> call.microphone.shape, call.path[:2]
    ((1000,), array([0., 0.]))
    """
    rng, n_taps = np.random.default_rng(seed), check_count("n_taps", n_taps)
    check_number("echo_to_noise", echo_to_noise)
    if np.ndim(far_end) == 0:
        far = rng.standard_normal(check_count("far_end", far_end))
    else:
        far = np.array(far_end, dtype=np.float64)
    path = np.zeros(n_taps)
    late = n_taps // 16
    path[late:] = rng.standard_normal(n_taps - late) * 10.0 ** (-3.0 * np.arange(n_taps - late) / (n_taps - late))
    path /= np.sqrt(np.square(path).sum())
    echo = np.convolve(far, path)[: len(far)]
    noise = rng.standard_normal(len(far))
    noise *= np.sqrt(np.square(echo).mean() / np.square(noise).mean()) * 10.0 ** (-echo_to_noise / 20.0)
    return Echo(far, echo + noise, path)


_NUMBERS_AT_ONCE = 1 << 16
"""Numbers computed at a time, so that they stay in the cache. No result depends on it."""


def make_separable(
    n: int,
    d: int,
    *,
    margin: float,
    seed: Seed,
    flip: float = 0.0,
    radius: float = 1.0,
    dtype: DTypeLike = np.float64,
) -> Dataset[Reals]:
    """Return separable rows whose largest geometric margin is exactly `margin`, with a bias or without.

    The normal ``w`` has entries ±2⁻ʲ on 4ʲ ≤ d random coordinates and zeros elsewhere, so its length is exactly 1.
    Two rows are ±margin·w: they are 2·margin apart, so no hyperplane is further than `margin` from both. Every
    other row is strictly further from the hyperplane ``<w, x> = 0``, and every row lies within `radius` of the
    origin: the perceptron without bias makes at most (radius/margin)² mistakes (Novikoff 1962).

    Parameters
    ----------
    n, d : int
        Number of rows (at least 2) and of features. Half the rows are positive, one more if n is odd.
    margin : float
        The largest margin, between 0 and `radius`. For float32 it is the nearest float32, which the attribute
        ``margin`` holds.
    seed : int or numpy Generator
        The source of randomness.
    flip : float
        This random share of the labels, up to one half, is flipped. Then the attribute ``margin`` is None.
    radius : float
        No row is longer than this.
    dtype : float64 or float32
        The dtype of the rows.

    Examples
    --------
    >>> data = make_separable(100, 5, margin=0.1, seed=0)
    >>> float((data.y * (data.X @ data.w)).min())
    0.1
    """
    n, d, rng = check_count("n", n, least=2), check_count("d", d), np.random.default_rng(seed)
    kind = float_type(dtype)
    check_number("flip", flip, least=0, most=0.5)
    radius = float(radius)
    margin, gap = _check_margin(float(margin), radius, d, kind)

    w = _exact_unit_vector(d, rng)
    y = rng.permutation(np.where(np.arange(n) % 2, -1, 1)).astype(np.int64)

    # Heights over the hyperplane are distributed as in a uniform ball, but start at the margin. The rest of each
    # row is uniform in the slice of the ball at its height.
    low, high = margin + gap, radius - gap
    height = y * (low + (high - low) * np.sqrt(rng.beta(0.5, (d + 1) / 2, n)))
    width = np.sqrt(np.maximum(high - np.abs(height), 0.0)) * np.sqrt(high + np.abs(height))
    across = width * rng.random(n) ** (1 / max(d - 1, 1))

    X = np.empty((n, d), kind)
    step = max(1, _NUMBERS_AT_ONCE // d)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        X[part] = _rows_at(height[part], across[part], w, rng)
    for sign in (1, -1):
        X[rng.choice(np.flatnonzero(y == sign))] = sign * margin * w

    flipped = flip_share(y, flip, rng)
    text = f"Random rows with margin {margin:g} and radius {radius:g}, {flipped.size} labels flipped."
    known = None if flipped.size else margin
    return Dataset(X, y, name="separable", description=text, w=w, margin=known, flipped=flipped)


def _check_margin(margin: float, radius: float, d: int, kind: np.dtype[Any]) -> tuple[float, float]:
    """Return the margin as `kind` holds it, and the gap that keeps all other rows strictly above it.

    The gap suffices because x has the height <w, x> asked for, up to the rounding of one dot product of d terms
    and one subtraction in float64, and of storing x as `kind`. As ‖w‖ = 1 the first is at most (d + 4)·eps64·‖x‖
    and the second at most eps·‖x‖; the gap is more than twice their sum. The same holds for the length of x and
    `radius`.
    """
    limits = np.finfo(kind)
    most, tiny, eps, eps64 = map(float, (limits.max, limits.tiny, limits.eps, np.finfo(np.float64).eps))
    if not 0 < radius <= most:
        raise ParameterError(Given("radius", radius) + f" must be positive and within {kind}.")
    if not 0 < margin < radius:
        raise ParameterError(Given("margin", margin) + f" must lie between 0 and radius = {radius!r}.")
    stored = float(kind.type(margin))
    gap = (4 * eps + 4 * (d + 16) * eps64) * radius
    if stored + gap >= radius - gap:
        raise ParameterError(
            Given("margin", margin) + f" leaves {kind} rows no room below " + Given("radius", radius) + "."
        )
    if stored < (d + 16) * tiny / eps:  # nothing above holds for subnormal numbers
        raise ParameterError(
            Given("margin", margin) + f" is too small for {kind}. Enlarge it and " + Given("radius") + "."
        )
    return stored, gap


def _exact_unit_vector(d: int, rng: np.random.Generator) -> Floats:
    j = (d.bit_length() - 1) // 2  # the largest j with 4ʲ ≤ d
    w = np.zeros(d)
    w[rng.choice(d, 4**j, replace=False)] = rng.choice([-1.0, 1.0], 4**j) * 2.0**-j
    return w


def _rows_at(height: Floats, across: Floats, w: Floats, rng: np.random.Generator) -> Floats:
    """Draw rows with <w, x> = height whose part orthogonal to w has length `across`."""
    G = rng.standard_normal((height.size, w.size))
    G -= (G * w).sum(axis=1)[:, None] * w
    length = np.sqrt((G * G).sum(axis=1))
    G *= np.divide(across, length, out=np.zeros_like(length), where=length > 0)[:, None]
    G += (height - (G * w).sum(axis=1))[:, None] * w  # measured again, because scaling enlarges rounding
    return G


# Random sparse rows that look like text.

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

    n, d, nnz = check_count("n", n), check_count("d", d, least=3), check_count("nnz", nnz)
    kind, rng = float_type(dtype), np.random.default_rng(seed)
    check_number("flip", flip, least=0, most=0.5)
    if nnz > d // 2:
        raise ParameterError(Given("nnz", nnz) + f" must be at most half of d = {d}: these rows are sparse.")
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


# Small data sets by name, such as ``iris``, as sources of rows.


class BuiltinSet(NamedTuple):
    """A data set with a name.

    `load` returns the rows, the labels and the names of the features. The features of a `measured` set are
    measurements in units of their own, as in tables of files; those of worked examples are exact numbers, and runs
    on them are known step by step.
    """

    load: Callable[[], tuple[Any, Any, Iterable[Any]]]
    measured: bool


def _worked(load: Callable[[], Any]) -> BuiltinSet:
    """Return a worked example of a lecture."""

    def parts() -> tuple[Any, Any, Iterable[Any]]:
        own = load()
        return own.X, own.y, own.feature_names

    return BuiltinSet(parts, measured=False)


def _measured(file: str, names: Iterable[str]) -> BuiltinSet:
    """Return a set of measurements from a file of scikit-learn, which is not imported: that takes a second.

    The first line of a table is its shape and the names of its classes. The digits have neither.
    """

    def parts() -> tuple[Any, Any, Iterable[Any]]:
        package = find_spec("sklearn")
        assert package is not None
        assert package.origin is not None
        path = Path(package.origin).parent / "datasets" / "data" / file
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="ascii") as lines:
            classes = next(lines).rstrip().split(",")[2:] if path.suffix == ".csv" else []
            table = np.loadtxt(lines, delimiter=",")
        labels = table[:, -1].astype(np.int64)
        return table[:, :-1].copy(), np.array(classes)[labels] if classes else labels, names

    return BuiltinSet(parts, measured=True)


_IRIS = [f"{part} {size} (cm)" for part in ("sepal", "petal") for size in ("length", "width")]
_WINE = [
    *["alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids"],
    *[
        "nonflavanoid_phenols",
        "proanthocyanins",
        "color_intensity",
        "hue",
        "od280/od315_of_diluted_wines",
        "proline",
    ],
]
_NUCLEUS = [
    *["radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points"],
    *["symmetry", "fractal dimension"],
]
_CELLS = [form.format(size) for form in ("mean {}", "{} error", "worst {}") for size in _NUCLEUS]
_PIXELS = [f"pixel_{line}_{column}" for line in range(8) for column in range(8)]

BUILTIN = {
    "six-points": _worked(load_six_points),
    "spam-table": _worked(load_spam_table),
    "or": _worked(load_or),
    "and": _worked(load_and),
    "xor": _worked(load_xor),
    "diagonal": _worked(lambda: make_diagonal(200, seed=0)),
    "iris": _measured("iris.csv", _IRIS),
    "wine": _measured("wine_data.csv", _WINE),
    "breast-cancer": _measured("breast_cancer.csv", _CELLS),
    "digits": _measured("digits.csv.gz", _PIXELS),
}
"""All sets by name."""


class BuiltinSource(Source):
    """A built-in data set, one of `BUILTIN`, read as a file would be.

    Examples
    --------
    >>> BuiltinSource("xor").description
    'built in: 4 rows, 2 features'
    """

    names: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()
    n_features: int = 0
    description: str = ""
    measured: bool = False

    def __init__(self, name: str) -> None:
        if name not in BUILTIN:
            raise unknown_name("data", f"@{name}", "is not a built-in set", [f"@{each}" for each in BUILTIN])
        X, y, names = BUILTIN[name].load()
        self._rows = Batch.of(as_rows(X), np.asarray(y))
        self.names, self.files = tuple(map(str, names)), (f"@{name}",)
        self.n_features, self.measured = self._rows.n_features, BUILTIN[name].measured
        self.description = f"built in: {self._rows.n_rows} rows, {self.n_features} features"

    def chunks(self) -> Iterator[Batch]:
        """Yield all rows at once."""
        yield self._rows
