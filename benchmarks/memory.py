"""``python -m benchmarks.memory``: what a fit allocates beside X, at its peak, and what commands take.

The peak of a command is that of its process, loaded libraries included; that on a small table is shown beside it.
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.data import clusters, gaussian
from benchmarks.out_of_core import MEGABYTE
from benchmarks.tables import MIXED_ROWS, write_mixed
from rosenblatt import Perceptron

LIMIT = 1.3
FILES = 3.0
"""The aim for a command: so many times the bytes of its file."""
FEW_ROWS = 50
COMMANDS = {
    "train": ("train", "{data}", "-o", "{model}"),
    "certify": ("certify", "{data}"),
    "evaluate --cv 5": ("evaluate", "--cv", "5", "{data}"),
    "report": ("report", "{model}", "{data}", "-o", "{page}"),
}


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = gaussian(200_000, 100, margin=0.075, seed=4)
    patient = {"n_iter_no_change": 1_000_000}
    _tell("200,000 × 100, float64, screened", X, y, **patient)
    _tell("200,000 × 100, float64, screened, averaged", X, y, average=True, **patient)
    _tell("200,000 × 100, float32, screened", X.astype("f4"), y, **patient)
    X, y = gaussian(40_000, 784, margin=0.1, seed=4)
    _tell("40,000 × 784, float32, screened", X.astype("f4"), y, **patient)
    X, y = clusters(60_000, 784, 10, spread=9.0)
    _tell("60,000 × 784, ten classes, float64", X, y, max_iter=5)
    del X, y
    _tell_commands()


def _tell_commands() -> None:
    """Print the peak of each command on a table of numbers and categories, beside that on a few of its rows."""
    with TemporaryDirectory() as folder:
        peaks: dict[int, list[float]] = {}
        for n_rows in (FEW_ROWS, MIXED_ROWS):
            paths = {name: str(Path(folder) / f"{n_rows}.{name}") for name in ("model", "page")}
            paths["data"] = str(Path(folder) / f"{n_rows}.csv")
            write_mixed(Path(paths["data"]), n_rows)
            told = [[each.format_map(paths) for each in command] for command in COMMANDS.values()]
            peaks[n_rows] = [_peak_of(command) for command in told]
        size = Path(paths["data"]).stat().st_size
        for name, few, peak in zip(COMMANDS, *peaks.values(), strict=True):
            within = "yes" if peak <= FILES * size else "no"
            print(
                f"| {name} | {size / MEGABYTE:.0f} MB | {peak / MEGABYTE:.0f} MB | {peak / size:.1f} × the file "
                f"| {few / MEGABYTE:.0f} MB | {within} |",
                flush=True,
            )


def _peak_of(command: list[str]) -> float:
    """Return the peak memory of a command in a process of its own; `certify` ends with 1 for inseparable rows."""
    code = (
        "import sys\nfrom benchmarks.out_of_core import peak_memory\nfrom rosenblatt.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\nprint(peak_memory())"
    )
    ran = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(ran.stdout.splitlines()[-1])


def _tell(name: str, X: Any, y: Any, **params: Any) -> None:
    model = Perceptron(**params).fit(X, y)  # compiles, which takes memory of its own
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = (X.nbytes + peak) / X.nbytes
    print(
        f"| {name} | {X.nbytes / 1e6:.0f} MB | {times:.2f} × X | {'yes' if times <= LIMIT else 'no'} |", flush=True
    )


if __name__ == "__main__":
    main()
