"""Figures of a running server in the text format of Prometheus."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rosenblatt._version import __version__
from rosenblatt.server.guard import RequestNote

__all__ = ["CONTENT_TYPE", "Family", "Metrics", "exposition"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Upper ends of the times that are counted together, in seconds."""
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Family(NamedTuple):
    """Values of one name: each has labels, and behind the name a suffix where the format asks for one."""

    name: str
    kind: str
    words: str
    values: list[tuple[str, dict[str, str], float]]


def exposition(families: Iterable[Family]) -> str:
    r"""Return families as Prometheus reads them.

    Examples
    --------
    >>> print(exposition([Family("rows_total", "counter", "Rows.", [("", {"model": 'a"b'}, 3)])]), end="")
    # HELP rows_total Rows.
    # TYPE rows_total counter
    rows_total{model="a\"b"} 3
    """
    return "".join(line + "\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.words}"
    yield f"# TYPE {family.name} {family.kind}"
    for suffix, labels, value in family.values:
        told = ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{{{told}}} {value:.17g}" if told else f"{family.name}{suffix} {value:.17g}"


class Metrics:
    """Counts requests; an observer of the guard."""

    def __init__(self) -> None:
        self.started = time.time()
        self._requests: dict[tuple[str, int], int] = {}
        self._times: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._received = self._sent = 0

    def __call__(self, note: RequestNote) -> None:
        """Count a request."""
        call = note.access.call
        which = call, note.status
        self._requests[which] = self._requests.get(which, 0) + 1
        times = self._times.get(call)
        if times is None:
            times = self._times[call] = [0] * (len(BOUNDS) + 1)
            self._seconds[call] = 0.0
        times[bisect_left(BOUNDS, note.seconds)] += 1
        self._seconds[call] += note.seconds
        self._received += note.received
        self._sent += note.sent

    def families(self) -> list[Family]:
        """Return what was counted, and what the process uses."""
        requests = [
            ("", {"call": call, "status": str(status)}, float(count))
            for (call, status), count in sorted(self._requests.items())
        ]
        return [
            Family("rosenblatt_info", "gauge", "The version of rosenblatt.", [("", {"version": __version__}, 1)]),
            Family("rosenblatt_requests_total", "counter", "Requests answered.", requests),
            Family("rosenblatt_request_seconds", "histogram", "Time to an answer.", list(self._histogram())),
            _plain("rosenblatt_received_bytes_total", "counter", "Bytes of bodies received.", self._received),
            _plain("rosenblatt_sent_bytes_total", "counter", "Bytes of bodies sent.", self._sent),
            _plain("process_start_time_seconds", "gauge", "When the process started.", self.started),
            _plain("process_cpu_seconds_total", "counter", "Processor time used.", time.process_time()),
            *_memory(),
        ]

    def _histogram(self) -> Iterator[tuple[str, dict[str, str], float]]:
        for call, times in sorted(self._times.items()):
            total = 0
            for bound, count in zip((*BOUNDS, float("inf")), times, strict=True):
                total += count
                end = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield "_bucket", {"call": call, "le": end}, total
            yield "_sum", {"call": call}, self._seconds[call]
            yield "_count", {"call": call}, total


def _plain(name: str, kind: str, words: str, value: float) -> Family:
    return Family(name, kind, words, [("", {}, float(value))])


def _memory() -> Iterator[Family]:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:  # only Linux has it
        return
    yield _plain("process_resident_memory_bytes", "gauge", "Memory in use.", pages * PAGE)
