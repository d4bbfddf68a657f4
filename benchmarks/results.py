"""The measurements that the documentation shows: one JSON file, to which a run with ``--record`` adds."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.comparison import Comparison, duration

FILE = Path(__file__).with_name("results.json")
PACKAGES = ("scikit-learn", "numpy", "numba", "river", "vowpalwabbit")


@dataclass(frozen=True)
class Row:
    """One comparison, as it is kept: the least disturbed turn of each side, in seconds."""

    workload: str
    group: str
    peer: str
    ours: float
    peers: float | None
    target: str
    reached: bool | None
    share_of_limit: float | None
    models: str
    date: str

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the peer."""
        return self.peers / self.ours if self.peers else None

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the row in a table."""
        return (
            self.workload,
            self.peer,
            duration(self.peers) if self.peers else "",
            duration(self.ours),
            f"{self.ratio:.3g}×" if self.ratio else "",
            self.target,
            {True: "yes", False: "no", None: ""}[self.reached],
            f"{self.share_of_limit:.0%}" if self.share_of_limit else "",
            self.models,
            self.date,
        )


def read(path: Path = FILE) -> list[Row]:
    """Return the rows of the file."""
    return [Row(**row) for row in json.loads(path.read_text("utf-8"))["rows"]]


def record(group: str, comparisons: Iterable[Comparison], path: Path = FILE) -> None:
    """Put these rows of a group in the place of those of the same workloads and peers, or behind all others."""
    today = datetime.now(UTC).date().isoformat()
    new = {(each.workload, each.peer): _row(group, each, today) for each in comparisons}
    kept = [new.pop((row.workload, row.peer), row) if row.group == group else row for row in read(path)]
    write([*kept, *new.values()], path)


def write(rows: Iterable[Row], path: Path = FILE) -> None:
    """Write the file, with the versions that are installed here."""
    machine = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    kept = {"versions": machine, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(group: str, each: Comparison, date: str) -> Row:
    return Row(
        each.workload,
        group,
        each.peer,
        min(each.our_seconds),
        min(each.peer_seconds) if each.peer_seconds else None,
        str(each.target or ""),
        each.reached,
        each.share_of_limit,
        each.models,
        date,
    )
