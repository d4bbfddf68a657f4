"""Learning from a Parquet file that is larger than the memory one would give it.

Every contestant has a process of its own, so that its peak memory is its own, and finds the file in the system's
memory; seconds are those of a clock, because reading and training go on at the same time.
"""

from __future__ import annotations

import argparse
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
from benchmarks.timing import Setup

ROWS, FEATURES, GROUP, BATCH, PAGE = 3_000_000, 100, 1 << 17, 1 << 12, 1 << 13
TARGET = "label"
SEVERAL = 5
MEGABYTE = 1e6
PEERS = {  # what they are called, whether they average, whether they read as frugally as we do
    "perceptron": ("Perceptron.partial_fit over iter_batches", False, False),
    "frugal": ("Perceptron.partial_fit, our reading", False, True),
    "averaged": ("SGDClassifier(average) over iter_batches", True, False),
}


class Measured(NamedTuple):
    """What a contestant took, and how well its model does on the first rows."""

    seconds: float
    processor: float
    peak: float
    right: float


def parquet(setup: Setup) -> Iterator[Comparison]:
    """Compare one pass and several over 2.4 GB of numbers."""
    with TemporaryDirectory(prefix="rosenblatt-benchmark-") as folder:
        path = Path(folder) / "rows.parquet"
        n_rows = setup.rows(ROWS)
        _write(path, n_rows)
        for passes in (1, SEVERAL):
            turns: dict[str, list[Measured]] = {name: [] for name in ("ours", *PEERS)}
            for _ in range(max(1, min(setup.repeats, 3))):
                for name, measured in turns.items():
                    measured.append(_in_a_process(name, path, passes))
                    for cache in Path(folder).glob(".*cache"):
                        cache.unlink()
            for peer, (name, _, _) in PEERS.items():
                ours, theirs = (min(turns[each]) for each in ("ours", peer))
                yield Comparison(
                    f"out of core, Parquet {n_rows:,} × {FEATURES}, {passes} pass{'es' if passes > 1 else ''}",
                    name,
                    [each.seconds for each in turns["ours"]],
                    [each.seconds for each in turns[peer]],
                    AtLeast(2.0) if peer == "perceptron" else None,
                    models=(
                        f"{_rate(n_rows, passes, ours)} / {_rate(n_rows, passes, theirs)} M rows/s, "
                        f"{ours.processor:.1f} / {theirs.processor:.1f} processor seconds, "
                        f"peak {ours.peak:.0f} / {theirs.peak:.0f} MB, {ours.right:.1%} / {theirs.right:.1%} right"
                    ),
                )


def _rate(n_rows: int, passes: int, measured: Measured) -> str:
    return f"{passes * n_rows / measured.seconds / 1e6:.2f}"


def _write(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    plane = rng.standard_normal(FEATURES)
    names = [f"x{j}" for j in range(FEATURES)]
    schema = pa.schema([*((name, pa.float64()) for name in names), (TARGET, pa.int64())])
    with pq.ParquetWriter(path, schema, use_dictionary=[TARGET], compression="none") as writer:
        for first in range(0, n_rows, GROUP):
            X = rng.standard_normal((min(GROUP, n_rows - first), FEATURES))
            y = (X @ plane > 0).astype(np.int64)
            y[rng.random(len(y)) < 0.05] ^= 1
            columns = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(FEATURES)]
            writer.write_table(pa.Table.from_arrays([*columns, pa.array(y)], schema=schema), row_group_size=GROUP)


def _frugal(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield rows and labels by pyarrow's most frugal settings; by default it would hold most of the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, buffer_size=PAGE) as file:
        for batch in file.iter_batches(BATCH, use_threads=False):
            *columns, labels = batch.columns
            rows = pa.RecordBatch.from_arrays(columns, names=[""] * len(columns))
            yield rows.to_tensor(row_major=True).to_numpy(), labels.to_numpy()


def _plain(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield rows and labels as pyarrow's documentation has it."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            frame = batch.to_pandas()
            yield frame.drop(columns=TARGET).to_numpy(), frame[TARGET].to_numpy()


def _in_a_process(name: str, path: Path, passes: int) -> Measured:
    command = [sys.executable, "-m", "benchmarks.out_of_core", name, str(path), str(passes)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Measured(**json.loads(answer))


def _ours(path: Path, passes: int, **sizes: int) -> Any:
    from rosenblatt import Perceptron
    from rosenblatt.tables.collect import collect
    from rosenblatt.tables.file_source import open_source
    from rosenblatt.tables.reading import Options

    blocks = collect(open_source([str(path)], Options(target=TARGET)), passes=passes, **sizes)
    return Perceptron(max_iter=passes, n_iter_no_change=passes + 1).fit_blocks(blocks)


def _peer(name: str, path: Path, passes: int) -> Any:
    from benchmarks.peers import sklearn_perceptron

    _, average, frugal = PEERS[name]
    model = sklearn_perceptron(average=average)
    for _ in range(passes):
        for X, y in (_frugal if frugal else _plain)(path):
            model.partial_fit(X, y, classes=[0, 1])
    return model


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("path", type=Path)
    parser.add_argument("passes", type=int)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path, passes = arguments.path, arguments.passes
    _warm_up(arguments.name)
    start, busy = time.perf_counter(), time.process_time()
    model = _ours(path, passes) if arguments.name == "ours" else _peer(arguments.name, path, passes)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    peak = peak_memory() / MEGABYTE
    X, y = next(_frugal(path))
    print(json.dumps(Measured(seconds, processor, peak, float(np.mean(model.predict(X) == y)))._asdict()))


def peak_memory() -> int:
    """Return the most bytes this process had in memory; what `getrusage` tells includes its parent's."""
    line = next(each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _warm_up(name: str) -> None:
    """Import and compile beforehand: a file a hundred times as large would not notice."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "few.parquet"
        _write(path, 1000)
        if name == "ours":
            _ours(path, 2, memory=0, block_bytes=1 << 16)
        else:
            _peer(name, path, 1)


if __name__ == "__main__":
    main()
