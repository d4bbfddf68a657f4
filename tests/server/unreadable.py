"""``LD_PRELOAD=shim.so python -m tests.server.unreadable FOLDER``: let the disk fail when a server reads.

One read after the other of a data folder fails, once or from then on. A server that starts must refuse with exit
code 2 and one line, or hold exactly what it held before. One that runs must answer as before, or with 503.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import io
import json
import logging
import os
import re
import shutil
import sys
import uuid
import warnings
from contextlib import redirect_stderr
from pathlib import Path

from rosenblatt.cli.main import main
from rosenblatt.server import processes
from rosenblatt.server.journal import Journal
from rosenblatt.server.messages import new_id, read_key
from rosenblatt.server.replay import History
from tests.server.serving import calling
from tests.server.test_damage import scenario, told_by, whole

FIRST, SPREAD = 8, 8
"""Reads that fail in turn at the start: the first ones, and some of the others."""
MOST = 12
"""Reads that fail in turn during one call."""
OLD_KEY = "018f0000-0000-7000-8000-000000000000"
"""A key that was made in 2024."""


class Disk:
    """Faults of one folder."""

    def __init__(self, folder):
        self.folder, self.shim = folder, ctypes.CDLL(None)

    def fail(self, n, lasting=0):
        """Let read number `n` fail; none if it is 0, but they are counted."""
        self.shim.fault_set(str(self.folder).encode(), b"read", n, errno.EIO, lasting)

    def recover(self):
        """Let no read fail, and return how many there were."""
        seen = self.shim.fault_seen()
        self.shim.fault_set(b"", b"none", 0, 0, 0)
        return seen


def some(count):
    """Return numbers from 1 to `count`."""
    step = max(1, (count - FIRST) // SPREAD)
    return sorted({*range(1, min(count, FIRST) + 1), *range(FIRST, count + 1, step), *([count] if count else [])})


def starts(folder, name, problems):
    """Start on a copy of a folder while reads fail; return how often."""
    place, told, runs = folder / "disk", [], 0
    disk = Disk(place)
    truth = whole(copied(folder / name, place))
    counted = []

    def serving(host, **_):
        counted.append(disk.recover())
        try:
            told.append(told_by(host, place))
        finally:
            host.close()
        return 0

    processes.serve = serving
    disk.fail(0)
    assert main(["serve", "--data", str(copied(folder / name, place))]) == 0
    for n in some(counted[0]):
        for lasting in (0, 1):
            runs += 1
            copied(folder / name, place)
            told.clear()
            disk.fail(n, lasting)
            with redirect_stderr(io.StringIO()) as said:
                code = main(["serve", "--data", str(place)])
            disk.recover()
            line = said.getvalue()
            which = f"{name}, read {n} of {counted[0]}, lasting {lasting}"
            if code not in (0, 2) or (lasting and code != 2):
                problems.append(f"{which}: exit code {code}: {line}")
            if code == 0 and told != [truth]:
                problems.append(f"{which}: it serves something else")
            if code == 2 and not is_refusal(line, place):
                problems.append(f"{which}: it says {line}")
    assert whole(copied(folder / name, place)) == truth
    return runs


def is_refusal(line, place):
    """Return whether a message is one line that names a file, and the disk as the cause."""
    return line.count("\n") == 1 and str(place) in line and "defect" not in line and not blames_others(line)


def blames_others(text):
    """Return whether a message does not name the disk as the cause."""
    return re.search("I/O error|Input/output error|or the disk cannot be read", text) is None


def copied(source, place):
    """Copy a data folder, private as it must be."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
    os.chmod(place, 0o700)
    return place


class Log(logging.Handler):
    """Keeps what operators would read."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


class Calls:
    """Calls of a server; each is a coroutine that returns a response."""

    def __init__(self, server, learned):
        self.server, self.learned = server, learned

    async def prepare(self):
        """Learn a row, remember a prediction, and let the writer forget what it has read."""
        self.server.host.administration._held.clear()
        self.key = str(new_id())
        answer = await self.server.learn([{"a": 1.0, "b": 0.5}], ["x"], self.key)
        assert answer.status_code == 200, answer.text
        self.version = answer.json()["version"]
        self.learned.append((self.key, self.version))
        answer = await self.server.post("predict", {"rows": [{"a": 1.0}], "remember": True})
        self.id = answer.json()["ids"][0]
        host = self.server.host
        await host.special(host.models["m"], lambda writer: writer.journal._all("PRAGMA shrink_memory"))

    async def versions(self):
        return await self.server.of_model("versions")

    async def events(self):
        return await self.server.of_model("events", last=100)

    async def export(self):
        return await self.server.of_model("export", version=20)

    async def explain(self):
        return await self.server.of_model("explain", id=self.id)

    async def repeat(self):
        return await self.server.learn([{"a": 1.0, "b": 0.5}], ["x"], self.key)

    async def old_key(self):
        return await self.server.learn([{"a": 1.0, "b": 0.5}], ["x"], OLD_KEY)

    async def learn(self):
        key = str(uuid.uuid4())
        answer = await self.server.learn([{"a": 1.0, "b": -0.5}], ["y"], key)
        if answer.status_code == 200:
            self.learned.append((key, answer.json()["version"]))
        return answer

    async def feedback(self):
        return await self.server.post("feedback", {"id": self.id, "label": "z"})

    async def rollback(self):
        return await self.server.post("rollback", {"version": 20})

    async def erase(self):
        return await self.server.post("erase", {"versions": [{"version": self.version}]})


READING = ("versions", "events", "export", "explain", "repeat", "old_key")
CHANGING = ("learn", "feedback", "rollback", "erase")


async def answers(folder, problems):
    """Call a server while reads fail; return how often, and how often it refused."""
    place = copied(folder / "closed", folder / "disk")
    disk, learned, runs, refused, log = Disk(place), [], {}, 0, Log()
    logger = logging.getLogger("rosenblatt.server")
    logger.addHandler(log)
    logger.propagate = False
    for name in (*READING, *CHANGING):
        count = 0
        for n, lasting in [(0, 0), *((n, lasting) for n in range(1, MOST + 1) for lasting in (0, 1))]:
            if n > count:
                break
            async with calling(place, {}) as server:
                calls, which = Calls(server, learned), f"{name}, read {n} of {count}, lasting {lasting}"
                await calls.prepare()
                disk.fail(n, lasting)
                try:
                    answer = await getattr(calls, name)()
                except Exception as error:
                    problems.append(f"{which}: {type(error).__name__}: {error}")
                    disk.recover()
                    continue
                seen, failed = disk.recover(), server.host.failure
                count = count or seen
                runs[name] = runs.get(name, 0) + 1
                status, text = answer.status_code, answer.content
                refused += status == 503
                if not n and status not in (200, 410):
                    problems.append(f"{which}: {status} {text}")
                if status == 503 and (str(place).encode() in text or b"sqlite" in text.lower()):
                    problems.append(f"{which}: it tells {text}")
                if status != 503 and name in READING:
                    again = await getattr(calls, name)()
                    if (status, text) != (again.status_code, again.content):
                        problems.append(f"{which}: {status} {text}, later {again.status_code} {again.content}")
                if status not in (503, 410 if name == "old_key" else 200):
                    problems.append(f"{which}: {status} {text}")
                if failed is None and not is_same(server.host, place):
                    problems.append(f"{which}: the state that is served is not that of the journal")
                if status == 503 and all(map(blames_others, log.lines)):
                    problems.append(f"{which}: the log says {log.lines}")
                log.lines.clear()
        journal = Journal(place / "journal.sqlite", writes=False)
        missing = [key for key, version in learned if (known := journal.key(1, read_key(key, 'It', 400))) is None
                   or known.seq != version]  # fmt: skip
        journal.close()
        if missing:
            problems.append(f"{name}: {len(missing)} acknowledged examples are not in the journal")
    whole(place)
    return runs, refused


def is_same(host, place):
    """Return whether the journal gives the state that is served."""
    journal = host.journal.reader()
    try:
        history = History(journal, place, "m")
        return history.replica_at(history.newest).digest() == host.models["m"].newest().digest()
    finally:
        journal.close()


def run(folder):
    """Let reads fail at the start and while a server runs."""
    scenario(folder)
    problems: list[str] = []
    runs = {name: starts(folder, name, problems) for name in ("killed", "closed")}
    runs["answers"], runs["refused"] = asyncio.run(answers(folder, problems))
    return {"runs": runs, "problems": problems}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(run(Path(sys.argv[1]).resolve())))
