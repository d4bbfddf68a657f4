"""Train many configurations, and tell of each by digests of its bits: what a change of structure must not change.

Run as ``python -m tests.golden.bits > numbers.json`` from the root. ``bits.json`` holds what it once told. Where
libraries have a part, there are numbers in the place of digests, which may differ in their last digits.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.golden.runs_blocks import blocks
from tests.golden.runs_family import family
from tests.golden.runs_libraries import libraries
from tests.golden.runs_perceptron import Run, ends, layouts, orders, rules
from tests.golden.runs_streams import streams

STORED = Path(__file__).with_name("bits.json")
NUMBERS = "values"
RELATIVE, ABSOLUTE = 1e-5, 1e-6

GROUPS: dict[str, Callable[[], dict[str, Run]]] = {
    "layouts": layouts,
    "rules": rules,
    "orders": orders,
    "ends": ends,
    "streams": streams,
    "blocks": blocks,
    "family": family,
    "libraries": libraries,
}


def told(group: str) -> dict[str, Any]:
    """Train all configurations of a group, and return what can be told of each, as JSON would give it back."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in GROUPS[group]().items():
            found[f"{group}: {name}"] = json.loads(json.dumps(run()))
    return found


def stored() -> dict[str, Any]:
    """Return what was told once."""
    held: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return held


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return a line for each configuration that is not what it was, and what of it is not."""
    lines = [f"{name}: is not there any more" for name in sorted(set(then) - set(now))]
    lines += [f"{name}: is not in {STORED.name}" for name in sorted(set(now) - set(then))]
    for name in sorted(set(then) & set(now)):
        parts = sorted(set(then[name]) | set(now[name]))
        other = [part for part in parts if not _same(part, then[name].get(part), now[name].get(part))]
        if other:
            shown = "; ".join(f"{part} was {then[name].get(part)}, is {now[name].get(part)}" for part in other)
            lines.append(f"{name}: {shown}")
    return lines


def _same(part: str, then: Any, now: Any) -> bool:
    if isinstance(then, dict) and isinstance(now, dict):
        return set(then) == set(now) and all(_same(key, then[key], now[key]) for key in then)
    if part != NUMBERS or then is None or now is None:
        return bool(then == now)
    near = (math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for a, b in zip(then, now, strict=False))
    return len(then) == len(now) and all(near)


def as_text(every: dict[str, Any]) -> str:
    """Return one line a configuration, sorted."""
    lines = (f"{json.dumps(name)}: {json.dumps(every[name], sort_keys=True)}" for name in sorted(every))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Print what is told of all groups."""
    every: dict[str, Any] = {}
    for group in GROUPS:
        every |= told(group)
    sys.stdout.write(as_text(every))


if __name__ == "__main__":
    main()
