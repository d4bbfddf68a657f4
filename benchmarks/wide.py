"""``rosenblatt train`` from end to end: hashed text in many classes, and Parquet with large row groups.

Every contestant has a process of its own, started cold, so that time and peak memory are what a user meets.
"""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.out_of_core import MEGABYTE, TARGET, peak_memory
from benchmarks.timing import Setup

TRAINING, TEST = "r52-train.csv.gz", "r52-test.csv.gz"
PASSES = 10
ROWS, FEATURES, GROUPS = 400_000, 50, 5


class Used(NamedTuple):
    """What a contestant used, and how well its model does on rows it was not trained on."""

    seconds: float
    peak: float
    file: float
    right: float


def r52(setup: Setup) -> Iterator[Comparison]:
    """Compare training on 52 classes of texts: ours hashes words to 2¹⁸ features, the peer keeps a vocabulary."""
    if setup.data is None or not (setup.data / TRAINING).is_file():
        print(f"R52: left out; --data DIR names the folder that holds {TRAINING}", file=sys.stderr)
        return
    with TemporaryDirectory(prefix="rosenblatt-benchmark-") as folder:
        yield _compared(
            setup, "R52 as text, train to file", "CountVectorizer, SGD averaged", "texts", setup.data, Path(folder)
        )


def row_groups(setup: Setup) -> Iterator[Comparison]:
    """Compare one pass over a file of large row groups."""
    with TemporaryDirectory(prefix="rosenblatt-benchmark-") as folder:
        path = Path(folder) / "rows.parquet"
        _write(path, setup.rows(ROWS))
        name = f"Parquet, row groups of {setup.rows(ROWS):,} × {FEATURES} f32, train to file"
        yield _compared(setup, name, "partial_fit over iter_batches", "groups", path, Path(folder))


def _compared(setup: Setup, name: str, peer: str, work: str, data: Path, folder: Path) -> Comparison:
    turns: dict[str, list[Used]] = {"ours": [], "peer": []}
    for _ in range(max(1, min(setup.repeats, 3))):
        for who, used in turns.items():
            command = [sys.executable, "-m", "benchmarks.wide", work, who, str(data), str(folder / who)]
            answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            used.append(Used(**json.loads(answer.splitlines()[-1])))
            for cache in folder.glob(".*cache"):
                cache.unlink()
    ours, theirs = (min(turns[who]) for who in ("ours", "peer"))
    return Comparison(
        name,
        peer,
        [each.seconds for each in turns["ours"]],
        [each.seconds for each in turns["peer"]],
        AtLeast(0.5),
        models=(
            f"peak {ours.peak:.0f} / {theirs.peak:.0f} MB, file {ours.file:.1f} / {theirs.file:.1f} MB, "
            f"{ours.right:.2%} / {theirs.right:.2%} right"
        ),
    )


def _write(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(FEATURES)]
    schema = pa.schema([*((name, pa.float32()) for name in names), (TARGET, pa.int32())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(GROUPS):
            X = rng.standard_normal((n_rows, FEATURES), dtype=np.float32)
            y = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
            writer.write_table(pa.Table.from_arrays([*X.T, y], schema=schema), row_group_size=n_rows)


def _texts_by_us(folder: Path, model: Path) -> float:
    _command("train", str(folder / TRAINING), "--text", "text", "--max-iter", str(PASSES), "-q", "-o", str(model))
    return _peak()


def _texts_by_peer(folder: Path, model: Path) -> float:
    import pickle

    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    labels, texts = _rows(folder / TRAINING)
    learner = SGDClassifier(loss="perceptron", average=True, max_iter=PASSES, tol=None, random_state=0)
    clf = make_pipeline(CountVectorizer(), learner).fit(texts, labels)
    model.write_bytes(pickle.dumps(clf))
    return _peak()


def _groups_by_us(path: Path, model: Path) -> float:
    _command("train", str(path), "--max-iter", "1", "-q", "-o", str(model))
    return _peak()


def _groups_by_peer(path: Path, model: Path) -> float:
    import pickle

    import pyarrow.parquet as pq
    from sklearn.linear_model import SGDClassifier

    clf = SGDClassifier(loss="perceptron", average=True)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            frame = batch.to_pandas()
            clf.partial_fit(frame.drop(columns=TARGET).to_numpy(), frame[TARGET].to_numpy(), classes=[0, 1])
    model.write_bytes(pickle.dumps(clf))
    return _peak()


def _right(work: str, who: str, data: Path, model: Path) -> float:
    """Return the share of rows predicted correctly: of the test set, or of the first rows."""
    import pickle

    import pyarrow.parquet as pq

    import rosenblatt as rb

    if work == "texts":
        labels, X = _rows(data / TEST)
        if who == "ours":
            X = [{"text": text} for text in X]  # type: ignore[misc]
    else:
        frame = next(pq.ParquetFile(data).iter_batches(10_000)).to_pandas()
        labels, X = frame[TARGET].to_numpy(), frame.drop(columns=TARGET)
        X = X if who == "ours" else X.to_numpy()
    clf: Any = rb.load(model) if who == "ours" else pickle.loads(model.read_bytes())
    return float(np.mean(clf.predict(X) == np.asarray(labels)))


def _command(*words: str) -> None:
    from rosenblatt.cli.main import main as command

    sys.argv = ["rosenblatt", *words]
    try:
        command()
    except SystemExit as end:
        if end.code:
            raise


def _rows(path: Path) -> tuple[list[str], list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] for row in rows], [row["text"] for row in rows]


def _peak() -> float:
    return peak_memory() / MEGABYTE


def main() -> None:
    work, who, data, model = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    warnings.simplefilter("ignore")
    run = {
        ("texts", "ours"): _texts_by_us,
        ("texts", "peer"): _texts_by_peer,
        ("groups", "ours"): _groups_by_us,
        ("groups", "peer"): _groups_by_peer,
    }[work, who]
    peak = run(data, model)
    used = Used(time.process_time(), peak, model.stat().st_size / MEGABYTE, _right(work, who, data, model))
    print(json.dumps(used._asdict()))


if __name__ == "__main__":
    main()
