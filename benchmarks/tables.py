"""Tables to rows: CSV beside the library that parses it, and passes over a cache beside passes in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import Perceptron
from rosenblatt.tables.collect import collect, transform_blocks
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.tasks.training import preparation

ROWS, FEATURES = 200_000, 30
MEGABYTE = 1e6
MIXED_ROWS, NUMBERS, CATEGORIES = 1_000_000, 25, {"colour": 4, "town": 12}
DIGITS = 4
PASSES = 10
ALL, NOTHING = 1 << 40, 1 << 20
"""Bytes of rows that stay in memory: all of them, or less than there are."""


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


def write_mixed(path: Path, n_rows: int) -> None:
    """Write a table of numbers with four digits after the point, and of a few categories."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((n_rows, NUMBERS)), DIGITS)
    noise = 2 * rng.random(n_rows) - 1
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(NUMBERS)}
    for name, several in CATEGORIES.items():
        columns[name] = np.array([f"{name}{k}" for k in range(several)])[rng.integers(0, several, n_rows)]
    columns["label"] = np.where(X.sum(axis=1) + noise > 0, "yes", "no")
    csv.write_csv(pa.table(columns), path, csv.WriteOptions(quoting_style="none"))


def cached_passes(setup: Setup) -> Iterator[Comparison]:
    """Visit standardised rows in a cache, which the system keeps in memory, and rows in memory.

    Seconds are those of the processor, of the thread that reads too; labels are so noisy that no pass is screened.
    """
    with TemporaryDirectory() as folder:
        mixed, numbers = Path(folder) / "mixed.csv", Path(folder) / "numbers.csv"
        write_mixed(mixed, setup.rows(MIXED_ROWS))
        X = np.random.default_rng(0).standard_normal((setup.rows(ROWS), 5 * FEATURES))
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
        columns["label"] = np.where(X[:, 0] + X[::-1, 1] > 0, "yes", "no")  # a half of it is of another row
        csv.write_csv(pa.table(columns), numbers)
        for path, name in ((mixed, "numbers and categories"), (numbers, "numbers")):
            blocks = {"cache": _standardised(path, NOTHING), "memory": _standardised(path, ALL)}
            assert blocks["cache"].whole is None
            assert blocks["memory"].whole is not None
            fits = {where: (lambda rows=rows: _fit(rows)) for where, rows in blocks.items()}
            race(fits, 1)
            timed = race(fits, setup.repeats)
            same = bool((timed["cache"].result == timed["memory"].result).all())
            n_rows, width = blocks["memory"].n_rows, blocks["memory"].n_features
            yield Comparison(
                f"a pass over a cache, {n_rows:,} × {width} standardised {name}",
                "a pass in memory",
                *([seconds / PASSES for seconds in each.seconds] for each in timed.values()),
                AtLeast(0.5),
                models="identical" if same else "different",
            )


def _standardised(path: Path, memory: int) -> Any:
    blocks = collect(open_source([str(path)], Options(target="label")), memory=memory, statistics=True)
    return transform_blocks(blocks, *preparation(blocks, blocks.facts.recipe, fill=False, scale=True))


def _fit(blocks: Any) -> Any:
    model = Perceptron(average=True, max_iter=PASSES, n_iter_no_change=PASSES + 1)
    return model.fit_blocks(blocks).coef_
