"""What is noted of requests: figures in the text format of Prometheus, and a log of one JSON object a line.

Neither ever has anything out of rows or labels.
"""

from __future__ import annotations

import os
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import msgspec

from rosenblatt._version import __version__
from rosenblatt.atomic import replacing
from rosenblatt.server.guard import ANYONE, HOLDER, RequestNote

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
TIME_BOUNDS_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Upper ends of the times that are counted together, in seconds."""
LEFT = "worker-{}.figures"
"""The file in which a further process leaves what it counted."""
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


class Tallies(msgspec.Struct):
    """What was counted: requests by call and status, their times, and bytes."""

    requests: dict[str, dict[int, int]] = {}
    times: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}
    received: int = 0
    sent: int = 0

    def add(self, other: Tallies) -> None:
        """Add what another process counted."""
        for call, statuses in other.requests.items():
            mine = self.requests.setdefault(call, {})
            for status, count in statuses.items():
                mine[status] = mine.get(status, 0) + count
        for call, times in other.times.items():
            before = self.times.get(call, [0] * len(times))
            self.times[call] = [a + b for a, b in zip(before, times, strict=True)]
            self.seconds[call] = self.seconds.get(call, 0.0) + other.seconds[call]
        self.received += other.received
        self.sent += other.sent


DECODER = msgspec.json.Decoder(Tallies)


class Metrics:
    """Counts requests; an observer of the guard. Further processes leave what they counted in the data folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.started, self.folder = time.time(), Path(folder)
        self.tallies = Tallies()
        self._kept = b""

    def __call__(self, note: RequestNote) -> None:
        """Count a request, unless another process does."""
        if note.passed_on:
            return
        mine, call = self.tallies, note.access.call
        times = mine.times.get(call)
        if times is None:
            mine.requests[call], mine.seconds[call] = {}, 0.0
            times = mine.times[call] = [0] * (len(TIME_BOUNDS_SECONDS) + 1)
        statuses = mine.requests[call]
        statuses[note.status] = statuses.get(note.status, 0) + 1
        times[bisect_left(TIME_BOUNDS_SECONDS, note.seconds)] += 1
        mine.seconds[call] += note.seconds
        mine.received += note.received
        mine.sent += note.sent

    def begin(self) -> None:
        """Remove what the processes of an earlier server left."""
        for path in self.folder.glob(LEFT.format("*")):
            path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Leave what this process counted, if it changed, for the one that is asked."""
        content = msgspec.json.encode(self.tallies)
        if content != self._kept:
            with replacing(self.folder / LEFT.format(os.getpid()), forced=False, private=True) as file:
                file.write(content)
            self._kept = content

    def families(self) -> list[Family]:
        """Return what all processes counted, and what this one uses."""
        total = Tallies({}, {}, {})
        total.add(self.tallies)
        for path in self.folder.glob(LEFT.format("*")):
            total.add(DECODER.decode(path.read_bytes()))
        requests = [
            ("", {"call": call, "status": str(status)}, float(count))
            for call, statuses in sorted(total.requests.items())
            for status, count in sorted(statuses.items())
        ]
        return [
            Family("rosenblatt_info", "gauge", "The version of rosenblatt.", [("", {"version": __version__}, 1)]),
            Family("rosenblatt_requests_total", "counter", "Requests answered.", requests),
            Family("rosenblatt_request_seconds", "histogram", "Time to an answer.", list(_histogram(total))),
            _plain("rosenblatt_received_bytes_total", "counter", "Bytes of bodies received.", total.received),
            _plain("rosenblatt_sent_bytes_total", "counter", "Bytes of bodies sent.", total.sent),
            _plain("process_start_time_seconds", "gauge", "When the process started.", self.started),
            _plain("process_cpu_seconds_total", "counter", "Processor time used.", time.process_time()),
            *_memory(),
        ]


def _histogram(total: Tallies) -> Iterator[tuple[str, dict[str, str], float]]:
    for call, times in sorted(total.times.items()):
        so_far = 0
        for bound, count in zip((*TIME_BOUNDS_SECONDS, float("inf")), times, strict=True):
            so_far += count
            end = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield "_bucket", {"call": call, "le": end}, so_far
        yield "_sum", {"call": call}, total.seconds[call]
        yield "_count", {"call": call}, so_far


def _plain(name: str, kind: str, words: str, value: float) -> Family:
    return Family(name, kind, words, [("", {}, float(value))])


def _memory() -> Iterator[Family]:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:  # only Linux has it
        return
    yield _plain("process_resident_memory_bytes", "gauge", "Memory in use.", pages * PAGE)


class RequestLog:
    """Writes lines about requests; an observer of the guard.

    With `every`, each request gets a line. Otherwise those do that were refused, failed, or needed the scope
    admin.
    """

    def __init__(
        self, *, every: bool = False, stream: TextIO | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.every, self.clock = every, clock
        self.stream = sys.stderr if stream is None else stream

    def __call__(self, note: RequestNote) -> None:
        """Write a line about a request, if it is to have one."""
        if note.passed_on:
            return
        refused = note.status >= 400 or not note.status
        if not (self.every or refused or note.access.scope == "admin"):
            return
        if refused and note.access.scope is ANYONE and not self.every:  # probes ask every few seconds
            return
        self.event(
            "request",
            call=note.access.call,
            method=note.method if note.method in METHODS else "other",
            model=note.access.model if note.status < 400 and note.access.scope != HOLDER else None,
            status=note.status,
            problem=note.problem,
            ms=round(note.seconds * 1000, 3),
            received=note.received,
            sent=note.sent,
            token=note.token,
            client=note.client,
        )

    def event(self, what: str, **values: Any) -> None:
        """Write a line about the server."""
        line = {"time": round(self.clock(), 3), "event": what} | {k: v for k, v in values.items() if v is not None}
        self.stream.write(msgspec.json.encode(line).decode() + "\n")
        self.stream.flush()


METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
