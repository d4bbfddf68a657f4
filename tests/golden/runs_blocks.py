"""Runs of the perceptron on files: in memory and through a cache, of one block and of several."""

from __future__ import annotations

import atexit
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd

import rosenblatt as rb
from tests.golden.runs_perceptron import Run
from tests.golden.samples import SAMPLES
from tests.golden.telling import digest, hyperplanes


@cache
def folder() -> Path:
    """Write the files into a folder that lives as long as the process."""
    path = Path(mkdtemp(prefix="rosenblatt-bits-"))
    atexit.register(rmtree, path, ignore_errors=True)
    (path / "small.csv").write_text(_small())
    (path / "names.csv").write_text(_names())
    (path / "texts.tsv").write_text(_texts())
    (path / "small.svm").write_text(_sparse())
    (path / "large.csv").write_bytes(_digits(45_000, 60))
    (path / "large.svm").write_bytes(_pairs(18_000, 50))
    rng = np.random.default_rng(8)
    X = rng.integers(-9, 10, (9_000, 120)).astype(np.float64)
    np.savez(path / "large.npz", X=X, y=(X[:, 0] + X[:, 1] > rng.integers(-3, 4, len(X))).astype(np.int64))
    return path


def _small() -> str:
    sample = SAMPLES["floats"]
    rows = zip(sample.X[:, :11].tolist(), sample.two, sample.four, strict=True)
    lines = [",".join([*map(repr, row), two, str(four)]) for row, two, four in rows]
    return "\n".join([",".join([*(f"x{j}" for j in range(11)), "two", "four"]), *lines, ""])


def _names() -> str:
    rng = np.random.default_rng(9)
    lines = []
    for k in range(400):
        user, place, amount = rng.integers(0, 90), rng.integers(0, 5), rng.integers(0, 400) / 8
        held = "" if k % 17 == 3 else f"{amount:g}"
        lines.append(f"u{user},{'abcde'[place]},{held},{int(user % 4 + place + amount / 16 > 4)}")
    return "\n".join(["user,place,amount,label", *lines, ""])


def _texts() -> str:
    rng = np.random.default_rng(10)
    words = [f"w{k}ä{k % 13}"[: 2 + k % 6] for k in range(300)]
    lines = []
    for _ in range(4_000):
        chosen = rng.integers(0, 300, 12)
        text = " ".join(words[k].upper() if k % 5 == 0 else words[k] for k in chosen)
        lines.append(f"{('ham', 'spam')[int(chosen[:7].sum() > 1050)]}\t{text}")
    return "\n".join(["label\ttext", *lines, ""])


def _sparse() -> str:
    sample = SAMPLES["sparse"]
    rows = sample.X
    lines = []
    for i, label in enumerate(sample.four):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        pairs = zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)
        lines.append(" ".join([str(label), *(f"{j + 1}:{value!r}" for j, value in pairs)]))
    return "\n".join([*lines, ""])


def _digits(n: int, d: int) -> bytes:
    """Return a table of digits, the last column a noisy label, without a heading."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 10, (n, d), dtype=np.uint8)
    y = X[:, :4].sum(axis=1, dtype=np.int64) + rng.integers(-2, 3, n) > 18
    text = np.full((n, 2 * d + 2), ord(","), np.uint8)
    text[:, 0:-2:2], text[:, -2], text[:, -1] = X + ord("0"), y + ord("0"), ord("\n")
    return text.tobytes()


def _pairs(n: int, d: int) -> bytes:
    """Return svmlight rows of `d` out of 90 features each, digits all of them."""
    rng = np.random.default_rng(7)
    X = rng.integers(1, 10, (n, d), dtype=np.uint8)
    columns = np.sort(rng.permuted(np.tile(np.arange(10, 100, dtype=np.uint8), (n, 1)), axis=1)[:, :d], axis=1)
    y = np.where(columns < 40, X, 0).sum(axis=1, dtype=np.int64) + rng.integers(-9, 10, n) > 83
    text = np.full((n, 5 * d + 2), ord(" "), np.uint8)
    text[:, 0], text[:, -1] = y + ord("1"), ord("\n")
    for place, values in ((2, columns // 10 + ord("0")), (3, columns % 10 + ord("0")), (5, X + ord("0"))):
        text[:, place:-1:5][:, :d] = values
    text[:, 4:-1:5] = ord(":")
    return text.tobytes()


CACHED = {"memory": 1}


def _read(path: Any, memory: int | None = None, cache: Any = "auto", **options: Any) -> Any:
    """Read a file into blocks."""
    return rb.open_data(path, **options).blocks(memory=memory, cache=cache)


def trained(name: str, reading: dict[str, Any], fit: dict[str, Any] | None = None, **parameters: Any) -> Any:
    """Train on a file, and tell of the blocks and of the model."""
    blocks = _read(folder() / name, **reading)
    model = rb.Perceptron(**({"max_iter": 4} | parameters)).fit_blocks(blocks, **(fit or {}))
    return _told(model, blocks)


def _told(model: Any, blocks: Any) -> dict[str, Any]:
    held: Any = np.random.default_rng(1).integers(-8, 9, (5, model.n_features_in_)) / 8
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        held = pd.DataFrame(held, columns=list(names))
    named = digest(model.classes_, np.array(names))
    return {**hyperplanes(model, held), "shape": [blocks.n_rows, blocks.n_features], "names": named}


def resumed(name: str, reading: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """Train some passes, and go on from the checkpoint."""
    kept = folder() / name
    blocks = _read(folder() / "large.csv", target=-1, header=False, **reading)
    for passes in (2, 4):
        model = rb.Perceptron(max_iter=passes, **parameters)
        model.fit_blocks(blocks, checkpoint=kept, resume=passes > 2)
    return _told(model, blocks)


def blocks() -> dict[str, Run]:
    """Every format and size, in memory and through a cache, and what is special about blocks."""
    runs: dict[str, Run] = {}
    two, four = {"target": "two", "ignore": ("four",)}, {"target": "four", "ignore": ("two",)}
    bare = {"target": -1, "header": False}
    names = {"hashed": ("user",), "bits": 8, "missing": "zero"}
    texts = {"text": ("text",), "ngrams": 2, "bits": 9}
    for place, how in (("memory", {}), ("cache", CACHED)):
        usual: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("small.csv", two, {"average": True}),
            ("small.csv", four, {"order": "cyclic", "multiclass": "ovo"}),
            ("small.svm", {}, {"margin": 0.5}),
            ("small.svm", {"zero_based": False}, {"multiclass": "ovr", "average": True, "order": "cyclic"}),
            ("names.csv", names, {"trace": "mistakes"}),
            ("texts.tsv", texts, {"average": True}),
            ("texts.tsv", texts | {"ngrams": 1, "vocabulary": True}, {"max_iter": 2}),
            ("large.csv", bare, {"average": True}),
            ("large.csv", bare, {"order": "cyclic"}),
            ("large.csv", bare, {"shuffle": False, "bias": "radius", "random_state": 2}),
            ("large.svm", {}, {"random_state": 5}),
            ("large.npz", {}, {"average": True, "random_state": 3}),
        ]
        for name, reading, parameters in usual:
            shown = ", ".join(f"{key}={value}" for key, value in ({**reading, **parameters}).items())
            runs[f"{name}, {place}, {shown}"] = partial(trained, name, {**reading, **how}, **parameters)
    special: dict[str, dict[str, Any]] = {
        "early stopping": {"early_stopping": True, "max_iter": 8, "n_iter_no_change": 2},
        "balanced": {"class_weight": "balanced"},
        "all mistakes": {"trace": "mistakes", "max_iter": 2},
        "l1": {"penalty": "l1", "alpha": 1e-6, "max_iter": 2},
        "random weights": {"init": "random", "max_iter": 2, "tie": "half"},
    }
    for what, parameters in special.items():
        for place, how in (("memory", {}), ("cache", CACHED)):
            runs[f"large.csv, {place}, {what}"] = partial(trained, "large.csv", {**bare, **how}, **parameters)
    runs["large.csv, cache, a checkpoint"] = partial(resumed, "one", CACHED, average=True)
    runs["large.csv, memory, a checkpoint"] = partial(resumed, "other", {}, early_stopping=True)
    return runs
