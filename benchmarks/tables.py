"""Tables to rows: CSV beside the library that parses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt.tables.file_source import open_source

ROWS, FEATURES = 200_000, 30
MEGABYTE = 1e6


def delimited(setup: Setup) -> Iterator[Comparison]:
    """Read about 110 MB of numbers and labels to rows for training; the peer only parses, into columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((setup.rows(ROWS), FEATURES))
    columns = {f"x{j}": X[:, j] for j in range(FEATURES)} | {"label": np.where(X[:, 0] > 0, "yes", "no")}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        csv.write_csv(pa.table(columns), path)
        timed = race({"ours": lambda: _ours(path), "pyarrow": lambda: _theirs(path)}, setup.repeats)
        assert timed["ours"].result == timed["pyarrow"].result == len(X)
        speeds = [path.stat().st_size / MEGABYTE / min(each.seconds) for each in timed.values()]
    said = f"{speeds[0]:.0f} / {speeds[1]:.0f} MB/s"
    times = (each.seconds for each in timed.values())
    yield Comparison("CSV of numbers", "pyarrow.csv.open_csv", *times, AtLeast(0.8), models=said)


def _ours(path: Path) -> int:
    return sum(chunk.n_rows for chunk in open_source([str(path)]).chunks())


def _theirs(path: Path) -> int:
    with csv.open_csv(path, csv.ReadOptions(block_size=1 << 23)) as batches:
        return sum(batch.num_rows for batch in batches)
