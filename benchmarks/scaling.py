"""How passes on a cluster of this machine scale, and a simulation of larger clusters.

``python -m benchmarks.scaling [--minutes M] [--json FILE]``. The picture of docs/do/scale.md is drawn from
`benchmarks/scaling.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from sklearn.exceptions import ConvergenceWarning

from benchmarks.distributed import CLASSES, FEATURES, rows, workers
from rosenblatt import Perceptron
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks

SIZES = {5_000: 40, 50_000: 20, 400_000: 5}
"""Rows, and the passes of each fit."""
QUIET = 0.15
"""Processors that other programs may use during a turn that counts as undisturbed."""
PARTITIONS = (1, 2, 8, 32)
SIMULATED_ROWS, SIMULATED_FEATURES, PARTITION_ROWS = 10**9, 1_000, 10**6
SIMULATED_WORKERS = (10, 100, 1_000)


class Turn(NamedTuple):
    """One turn: seconds by the clock, processor seconds of all our processes, and processors used by others."""

    seconds: float
    processor: float
    others: float


def own_seconds() -> float:
    """Return the processor seconds of this process and its children so far."""
    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def busy_seconds() -> float:
    """Return the seconds that all processors of this machine worked so far."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def turn(call: Callable[[], Any]) -> Turn:
    """Time one call."""
    own, busy, start = own_seconds(), busy_seconds(), time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    mine = own_seconds() - own
    return Turn(seconds, mine, max(0.0, (busy_seconds() - busy - mine) / seconds))


def turns(calls: Mapping[str, Callable[[], Any]], seconds: float, enough: int = 5) -> dict[str, list[Turn]]:
    """Let calls take turns until each has had enough undisturbed ones, or the time is over."""
    found: dict[str, list[Turn]] = {name: [] for name in calls}
    for call in calls.values():
        call()  # loads the loops
    ends = time.perf_counter() + seconds
    while True:
        for name, call in calls.items():
            found[name].append(turn(call))
        if all(sum(each.others <= QUIET for each in taken) >= enough for taken in found.values()):
            return found
        if time.perf_counter() > ends and all(len(taken) >= 2 for taken in found.values()):
            return found


def least(taken: list[Turn]) -> dict[str, float]:
    """Return the fastest undisturbed turn, or the fastest if all were disturbed, and the least processor time."""
    quiet = [each for each in taken if each.others <= QUIET]
    best = min(quiet or taken, key=lambda each: each.seconds)
    return {
        "seconds": best.seconds,
        "others": best.others,
        "processor": min(each.processor for each in taken),
        "turns": len(taken),
        "quiet": len(quiet),
    }


def fits(seconds: float) -> list[dict[str, Any]]:
    """Measure fits in one process, and on one, two and more workers, of passes of several lengths."""
    counts = [count for count in (1, 2, 4, 8, 16) if count <= max(2, os.cpu_count() or 1)]
    with ExitStack() as stack:
        clients = {count: stack.enter_context(workers(count)) for count in counts}
        return [measured_fit(n_rows, clients, seconds / len(SIZES)) for n_rows in SIZES]


def measured_fit(n_rows: int, clients: Mapping[int, Any], seconds: float) -> dict[str, Any]:
    """Measure fits of so many rows: in one partition here and on one worker, in several on all clusters."""
    import dask

    import rosenblatt.distributed as rd

    n_passes, n_parts = SIZES[n_rows], max(clients)
    near = MemoryBlocks(as_batch(*rows(0, n_rows)))

    def model() -> Perceptron:
        return Perceptron(max_iter=n_passes, decide=False, n_iter_no_change=n_passes, random_state=0)

    def fit_on(client: Any, parts: int) -> Callable[[], Any]:
        blocks = rd.partition([dask.delayed(rows)(k, n_rows // parts) for k in range(parts)], client=client)
        return lambda: rd.fit(model(), blocks)

    calls = {"fit_blocks": lambda: model().fit_blocks(near), "one partition": fit_on(clients[1], 1)}
    calls |= {f"workers {count}": fit_on(client, n_parts) for count, client in clients.items()}
    line: dict[str, Any] = {"rows": n_rows, "passes": n_passes, "partitions": n_parts}
    line |= {name: least(taken) for name, taken in turns(calls, seconds).items()}
    print(json.dumps(line), flush=True)
    return line


def separable_rows(n_rows: int, margin: float) -> tuple[Any, Any]:
    """Return rows that one hyperplane separates, none nearer to it than the margin."""
    X = np.random.default_rng(0).standard_normal((2 * n_rows, FEATURES))
    side = X @ np.random.default_rng(98).standard_normal(FEATURES) / FEATURES**0.5
    kept = np.flatnonzero(np.abs(side) > margin)[:n_rows]
    return X[kept], (side[kept] > 0).astype(np.int64)


def curves() -> dict[str, Any]:
    """Count what mixing costs in passes: the same rows in one sequence and in partitions. No clock is read."""
    import dask
    from distributed import Client

    import rosenblatt.distributed as rd

    kinds = {
        "noisy": (rows(0, 64_000), rows(7, 20_000), 10),
        "separable": (separable_rows(64_000, 0.1), None, 500),
        "few rows": (separable_rows(640, 0.02), None, 500),
    }
    found: dict[str, Any] = {}
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        for kind, ((X, y), new, most) in kinds.items():
            for n_parts in PARTITIONS:
                right: list[float] = []
                model = Perceptron(
                    max_iter=most,
                    n_iter_no_change=most,
                    decide=False,
                    random_state=0,
                    callbacks=[] if new is None else [partial(_note_accuracy, right, new)],
                )
                ends = np.linspace(0, len(y), n_parts + 1).astype(int)
                rd.fit(model, [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(ends)], client=client)
                found[f"{kind}, {n_parts} partitions"] = {
                    "rows": len(y),
                    "passes": model.n_iter_,
                    "mistakes": int(model.n_mistakes_),
                    "stop_reason": model.stop_reason_,
                    "right": right,
                }
                print(kind, n_parts, model.n_iter_, model.stop_reason_, model.n_mistakes_, flush=True)
    return found


def _note_accuracy(right: list[float], new: tuple[Any, Any], report: Any) -> None:
    X, y = new
    right.append(float(np.mean(report.model.scores(as_batch(X, y)).argmax(axis=1) == y)))


class Times(NamedTuple):
    """What one pass of the simulation is made of, in seconds; measured on this machine."""

    value: float  # to visit one value of a row, in a pass over rows in memory
    task: float  # of scheduler and client, for each task
    byte: float  # to move a byte of weights between processes
    mix: float  # to add one weight to another


def times(repeats: int = 15, n_rows: int = 100_000, tasks: int = 200) -> Times:
    """Measure the parts of a pass: arithmetic in processor seconds, the rest by the clock; the least of each."""
    X, y = rows(0, n_rows, SIMULATED_FEATURES // 4, 2)
    model = Perceptron(max_iter=3, decide=False, trace=None)
    blocks = MemoryBlocks(as_batch(X, y))

    def mix() -> Any:
        w = np.ones(10**6)
        for _ in range(10):
            w = w + 0.5 * w
        return w

    value = _least(lambda: model.fit_blocks(blocks), repeats, time.process_time) / (3 * X.size)
    adding = _least(mix, repeats, time.process_time) / 1e7
    with workers(1) as client:
        payload = client.submit(np.ones, 4_000_000)
        task = _least(lambda: client.gather(client.map(abs, range(tasks), pure=False)), repeats) / tasks
        byte = _least(payload.result, repeats) / 32e6
    return Times(value, task, byte, adding)


def _least(call: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    call()
    found = []
    for _ in range(repeats):
        start = clock()
        call()
        found.append(clock() - start)
    return min(found)


def simulated(measured: Times, n_workers: int) -> dict[str, float]:
    """Return the seconds of one pass over 10⁹ rows of 1,000 features on so many workers of one core each.

    Each worker holds the same number of partitions, and trains them in one task. The client sends the weights to
    each worker, gets those of each partition back, one after the other, and mixes them.
    """
    parts = SIMULATED_ROWS // PARTITION_ROWS
    weights = SIMULATED_FEATURES + 1
    training = -(-parts // n_workers) * PARTITION_ROWS * SIMULATED_FEATURES * measured.value
    scheduling = min(n_workers, parts) * measured.task
    moving = (min(n_workers, parts) + parts) * 8 * weights * measured.byte
    mixing = parts * weights * measured.mix
    total = training + scheduling + moving + mixing
    return {"training": training, "scheduling": scheduling, "moving": moving, "mixing": mixing, "pass": total}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description="Measure how passes scale.")
    parser.add_argument("--minutes", type=float, default=1.0, help="to wait for undisturbed turns")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save every measurement")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of passes is meant
    measured = times()
    print(", ".join(f"{name} {1e9 * seconds:.3g} ns" for name, seconds in measured._asdict().items()))
    simulation = {str(count): simulated(measured, count) for count in SIMULATED_WORKERS}
    for count, parts in simulation.items():
        print(count, "workers:", ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items()))
    document: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "features": FEATURES,
        "classes": CLASSES,
        "quiet": QUIET,
        "times": measured._asdict(),
        "simulation": simulation,
        "curves": curves(),
    }
    document["fits"] = fits(60 * arguments.minutes)
    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
