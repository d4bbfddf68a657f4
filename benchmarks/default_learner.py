"""Which learner tables should get by default: ``python -m benchmarks.default_learner --data DIR``.

The candidates train on the twenty tables of `first_commands`, and on tables of R by which nothing was chosen
before, as `rosenblatt.train` prepares them. A fifth of the rows is held out. The gap is the accuracy of the better
of scikit-learn's linear models minus that of the candidate, in points, each the mean over the splits.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from statistics import mean, median, stdev
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import rosenblatt as rb
from benchmarks.first_commands import (
    TABLES,
    MissingTableError,
    Table,
    as_frames,
    by_scikit_learn,
    of_r,
    split_rows,
    with_gaps,
    write_split,
)

SPLITS, SPLITS_OF_OTHERS = 20, 8
CANDIDATES: dict[str, tuple[str, dict[str, Any]]] = {
    "averaged": ("averaged", {}),
    "averaged, margin=1": ("averaged", {"margin": 1.0}),
    "averaged, margin=5": ("averaged", {"margin": 5.0}),
    "averaged-pa1": ("averaged-pa1", {}),
    "averaged-pa1, C=0.1": ("averaged-pa1", {"C": 0.1}),
}
PEERS = ("LogisticRegression", "LinearSVC")
OTHERS = [
    Table(name, target, "", of_r(name))
    for name, target in (
        ("Blackmoor", "group"),
        ("Catsup", "choice"),
        ("Computers", "multi"),
        ("Cracker", "choice"),
        ("Fair", "child"),
        ("HI", "whi"),
        ("Heating", "depvar"),
        ("Kakadu", "answer"),
        ("OFP", "medicaid"),
        ("Pima.tr2", "type"),
        ("SLID", "language"),
        ("Star", "classk"),
        ("Tobacco", "occupation"),
        ("Train", "choice"),
        ("UnempDur", "ui"),
        ("VerbAgg", "resp"),
        ("VietNamI", "insurance"),
        ("Wages", "union"),
        ("Workinghours", "occupation"),
        ("crabs", "sp"),
        ("diamonds", "cut"),
        ("fgl", "type"),
        ("flchain", "death"),
        ("infert", "case"),
        ("iris", "Species"),
        ("medpar", "died"),
        ("mexico", "pri82"),
        ("mpg", "drv"),
        ("nwtco", "rel"),
        ("rwm5yr", "outwork"),
        ("vote92", "vote"),
    )
]


def measure(table: Table, content: str, splits: int) -> dict[str, float]:
    """Return the mean accuracy of each candidate and each peer, in percent."""
    whole = with_gaps(pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False), table.target)
    scores: dict[str, list[float]] = {name: [] for name in (*CANDIDATES, *PEERS)}
    for split in range(splits):
        with TemporaryDirectory() as place:
            folder = Path(place)
            write_split(table, *split_rows(whole, table.target, split), folder)
            train, test = as_frames(table, folder)
            test = test.dropna(subset=table.target)
            truth = test[table.target].to_numpy().astype(str)
            for name, (learner, parameters) in CANDIDATES.items():
                model = rb.train(train, learner, target=table.target, parameters=parameters).model
                predicted = model.predict(test.drop(columns=table.target)).astype(str)
                scores[name].append(float(np.mean(predicted == truth)))
            for name in PEERS:
                scores[name].append(by_scikit_learn(table, folder, name))
    return {name: 100 * mean(each) for name, each in scores.items()}


def show(title: str, found: list[dict[str, float]]) -> None:
    """Print the gaps of each candidate, and its gains over the first one."""
    print(f"\n| {title} | mean gap | gain over averaged | median gain | better by 0.1 | worse by 0.1 |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in CANDIDATES:
        gap = mean(max(each[peer] for peer in PEERS) - each[name] for each in found)
        gains = [each[name] - each["averaged"] for each in found]
        error = stdev(gains) / len(gains) ** 0.5
        counts = f"{sum(gain >= 0.1 for gain in gains)} | {sum(gain <= -0.1 for gain in gains)}"
        print(f"| {name} | {gap:+.2f} | {mean(gains):+.2f} ± {error:.2f} | {median(gains):+.2f} | {counts} |")


def main() -> None:
    """Measure all tables that are there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.default_learner", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with the files that no package has")
    data = parser.parse_args().data
    for title, tables, splits in (("twenty", TABLES, SPLITS), ("others", OTHERS, SPLITS_OF_OTHERS)):
        found = []
        for table in tables:
            try:
                content = table.content(data)
            except MissingTableError as missing:
                print(f"{table.name}: left out, {missing}")
                continue
            found.append(measure(table, content, splits))
            print(table.name, *(f"{each:.2f}" for each in found[-1].values()), flush=True)
        show(f"{len(found)} {title}, {splits} splits", found)


if __name__ == "__main__":
    main()
