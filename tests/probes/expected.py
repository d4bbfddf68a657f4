"""The bits that the engine of the GPU must give, by the library's loop; run as a module, it writes them.

A machine with a GPU may have no numba, so it compares with the fingerprints in ``expected.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.loops.layout import Log, Sides
from rosenblatt.loops.passes import train
from rosenblatt.loops.rules import Rule
from rosenblatt.probes.engine import Problems
from tests.probes.gpu_cases import Case, Made, cases, digest, make

FILE = Path(__file__).with_name("expected.json")


def problems_of(made: Made) -> Problems:
    """Return the labels as engines take them."""
    return Problems(made.labels, made.column, made.fold, made.left_out, made.weight)


def by_the_loop(case: Case) -> dict[str, Any]:
    """Train each problem alone by the library's loop; return mistakes of each pass, and fingerprints."""
    made = make(case)
    n, d = made.wide.shape
    signs = problems_of(made).signs(slice(None)).astype(np.float64)
    rule = Rule(case.eta, case.beta, case.margin, *case.ties)
    w, u, visits = np.zeros((case.k, d + 1)), np.zeros((case.k, d + 1)), np.zeros(case.k, np.int64)
    if made.begin is not None:
        w[:], u[:], visits[:] = made.begin
    X = made.wide if made.rows.dtype != np.float32 else made.rows
    mistakes = []
    for order, active in zip(made.orders, made.actives, strict=True):
        visited = np.arange(n, dtype=np.uint64) if order is None else order
        counts = []
        for p in active:
            pull = signs[:, p] * (1.0 if made.weight is None else made.weight)
            log = Log.room(n)
            count, done = train(
                X, Sides(pull), visited, rule, w[p], u[p] if case.average else None, int(visits[p]), log
            )
            assert done == n, case.name
            counts.append(int(count))
        visits[active] += n
        mistakes.append(counts)
    assert np.isfinite(w).all(), case.name
    return {"mistakes": mistakes, "w": digest(w), "u": digest(u) if case.average else ""}


def main() -> None:
    """Write the fingerprints of all cases."""
    FILE.write_text(
        "{\n"
        + ",\n".join(f"{json.dumps(case.name)}: {json.dumps(by_the_loop(case))}" for case in cases())
        + "\n}\n"
    )


if __name__ == "__main__":
    main()
