"""Worked examples of lectures, with rows in their order, and the cards of Rosenblatt's demonstration.

Small data sets by name, such as ``iris``, as sources of rows.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.datasets.dataset import Dataset, Seed, check_share, whole
from rosenblatt.exceptions import ParameterError
from rosenblatt.rows.batch import Chunk
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.file_source import Source
from rosenblatt.typing import Floats

__all__ = ["BUILTIN", "BuiltinSource"]


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
    n, rng = whole("n", n, 1), np.random.default_rng(seed)
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
    n, size, rng = whole("n", n, 1), whole("size", size, 4), np.random.default_rng(seed)
    least, most = whole("side", side[0], 1), whole("side", side[1], 1)
    if not least <= most <= size // 2:
        raise ParameterError(f"side must be two lengths up to half of size = {size}, in order, got {side!r}")
    check_share(noise)
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
    """A built-in data set, read as a file would be.

    Parameters
    ----------
    name : str
        One of `BUILTIN`.

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
            near = get_close_matches(name, BUILTIN, 1)
            hint = f"did you mean @{near[0]}?" if near else f"there are {', '.join(f'@{n}' for n in BUILTIN)}."
            raise ParameterError(f"@{name} is not a built-in set; {hint}")
        X, y, names = BUILTIN[name].load()
        self._chunk = Chunk.of(as_rows(X), np.asarray(y))
        self.names, self.files = tuple(map(str, names)), (f"@{name}",)
        self.n_features, self.measured = self._chunk.n_features, BUILTIN[name].measured
        self.description = f"built in: {self._chunk.n_rows} rows, {self.n_features} features"

    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows at once."""
        yield self._chunk
