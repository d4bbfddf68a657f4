"""Cases for the engine of the GPU: data made of whole random numbers, the same on every machine, by numpy."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

KINDS = ("float64", "float32", "float16", "bfloat16", "uint8")


class Case(NamedTuple):
    """One training: the shape and kind of the rows, how they are drawn, and the rule."""

    name: str
    kind: str = "float32"
    n: int = 1500
    d: int = 96
    k: int = 7
    data: str = "plain"  # plain, scaled, equal, ties, huge, tiny
    noise: float = 0.05  # 1 means that labels are coins
    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    ties: tuple[float, float] = (1.0, 1.0)
    average: bool = True
    weighted: bool = False
    folds: int = 0
    shuffled: bool = True
    absent: float = 0.0  # the share of labels that are missing
    passes: int = 2
    leaves: bool = False  # whether half of the problems leave after the first pass
    warm: bool = False  # whether training begins at given weights


def cases() -> list[Case]:
    """Return two hundred cases: every kind with every option, and widths that no power of two divides."""
    made: list[Case] = []
    widths = (1, 7, 8, 31, 37, 64, 96, 130, 257, 300)
    for i, kind in enumerate(KINDS):
        options: list[dict[str, Any]] = [
            {},
            {"average": False},
            {"k": 1},
            {"k": 2, "average": False},
            {"k": 40},
            {"k": 150, "n": 700},
            {"eta": 0.5},
            {"eta": 0.1},
            {"eta": 0.1, "average": False},
            {"beta": 0.0},
            {"beta": 9.5},
            {"beta": 0.3, "average": False},
            {"beta": 1 / 3},
            {"margin": 1.0},
            {"margin": 2.5, "average": False, "eta": 0.25},
            {"ties": (1.0, 0.0)},
            {"ties": (0.0, 1.0), "average": False},
            {"ties": (0.0, 0.0), "margin": 3.0},
            {"weighted": True},
            {"weighted": True, "average": False, "eta": 0.5},
            {"folds": 3},
            {"absent": 0.3},
            {"shuffled": False},
            {"noise": 1.0},
            {"noise": 1.0, "average": False, "k": 33},
            {"noise": 0.0},
            {"data": "equal"},
            {"data": "ties"},
            {"data": "ties", "average": False, "ties": (1.0, 0.0)},
            {"data": "scaled"},
            {"data": "scaled", "noise": 1.0, "eta": 0.1},
            {"leaves": True},
            {"leaves": True, "folds": 4, "k": 20},
            {"warm": True},
            {"n": 255},
            {"n": 257, "k": 3},
            {"n": 1},
            {"n": 17_000, "k": 3, "passes": 1, "d": 40},
            *({"d": width, "k": 3} for width in widths[i::5]),
        ]
        if kind == "float64":
            options += [{"data": "huge"}, {"data": "tiny"}, {"data": "tiny", "beta": 0.0}]
        for j, option in enumerate(options):
            made.append(Case(**{"name": f"{kind} {j} {option}", "kind": kind, **option}))
    return made


class Made(NamedTuple):
    """What a case trains on, as engines take it."""

    rows: np.ndarray[Any, Any]  # as they are stored; bfloat16 as its 16 bits
    wide: np.ndarray[Any, Any]  # as float64
    labels: np.ndarray[Any, Any]
    column: np.ndarray[Any, Any]
    fold: np.ndarray[Any, Any] | None
    left_out: np.ndarray[Any, Any] | None
    weight: np.ndarray[Any, Any] | None
    orders: list[Any]
    actives: list[Any]
    begin: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], int] | None


def make(case: Case) -> Made:
    """Draw the rows and labels of a case."""
    random = np.random.RandomState(sum(map(ord, case.name)) + case.n + case.d)
    n, d, k = case.n, case.d, case.k
    numbers = random.randint(-1000, 1001, (n, d)).astype(np.float64)
    if case.data == "equal":
        numbers = numbers[random.randint(0, 5, n)]
    if case.data == "ties":
        numbers = random.randint(-1, 2, (n, d)).astype(np.float64)
    if case.data in ("scaled", "huge", "tiny"):
        low, high = {"scaled": (-6, 7), "huge": (440, 500), "tiny": (-990, -300)}[case.data]
        numbers *= 2.0 ** random.randint(low, high, (n, 1))
    truth = random.randint(-100, 101, (d, k))
    with np.errstate(over="ignore"):
        lead = np.sign(numbers) @ truth
    if case.kind == "uint8":
        rows = (
            np.abs(numbers / np.abs(numbers).max() * 255).astype(np.uint8)
            if case.data != "ties"
            else np.abs(numbers).astype(np.uint8)
        )
        lead = (rows.astype(np.float64) - rows.mean(axis=0)) @ truth
        wide = rows.astype(np.float64)
    elif case.kind == "bfloat16":
        rows = (np.ascontiguousarray(numbers / 64, np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        wide = (rows.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    else:
        rows = (numbers / 64 if case.data != "ties" else numbers).astype(case.kind)
        wide = rows.astype(np.float64)
    labels = np.where(lead > 0, 1, -1).astype(np.int8)
    flip = (
        random.randint(0, 1000, (n, k)) < 500 * case.noise
        if case.noise == 1.0
        else random.randint(0, 1000, (n, k)) < 1000 * case.noise
    )
    labels[flip] *= -1
    if case.absent:
        labels[random.randint(0, 1000, (n, k)) < 1000 * case.absent] = 0
    fold = random.randint(0, case.folds, n).astype(np.int8) if case.folds else None
    left_out = (np.arange(k) % (case.folds + 1) - 1).astype(np.int8) if case.folds else None
    column = np.arange(k) // 2 if case.folds else np.arange(k)[::-1].copy()
    weight = random.randint(0, 5, n) / 3.0 if case.weighted else None
    orders = [random.permutation(n).astype(np.uint64) if case.shuffled else None for _ in range(case.passes)]
    actives = [np.arange(k), *(np.arange(k)[::2] if case.leaves else np.arange(k) for _ in range(case.passes - 1))]
    begin = None
    if case.warm:
        begin = (random.randint(-99, 100, (k, d + 1)) / 7.0, random.randint(-99, 100, (k, d + 1)) / 3.0, 1000)
    return Made(rows, wide, labels, column, fold, left_out, weight, orders, actives, begin)


def digest(*arrays: Any) -> str:
    """Return a short fingerprint of all bits."""
    sha = hashlib.sha256()
    for array in arrays:
        if array is not None:
            sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:24]


def some_rows(n: int = 3000, d: int = 40, k: int = 5) -> tuple[Any, Any]:
    """Return random rows, and the sides of so many problems."""
    random = np.random.RandomState(0)
    return random.randn(n, d), np.where(random.randn(n, k) > 0, 1, -1).astype(np.int8)


def begun(X: Any, y: Any, **options: Any) -> Any:
    """Return an engine of the GPU that is ready to train on rows."""
    from rosenblatt.probes.engine import Matrix, Plan, Problems
    from rosenblatt.probes.gpu import GpuEngine

    engine = GpuEngine(**options)
    engine.start(Matrix((X,), str(X.dtype)), Problems(y, np.arange(y.shape[1])), Plan())
    return engine
