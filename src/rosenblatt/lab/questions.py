"""What the lab page can ask of Python, and the process that is asked. Killing it cancels its work at once.

Each message is checked by type before anything is done. Messages on the standard input and output of the process
are a length of eight bytes and so many bytes. The first names the data.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import IO, Any, Literal

from rosenblatt.exceptions import InputError, ShapeError

MOST_VALUES = 2_000_000
MOST_PASSES = 100_000
SIZE_FIELD_BYTES = 8  # bytes that give the size of a message between processes


NOTE = b"note "
"""How a message begins that says what the process does while it works."""


@dataclass(frozen=True, kw_only=True)
class PageMessage:
    """A message of the page; its answer has the same number."""

    id: int


@dataclass(frozen=True, kw_only=True)
class DataMessage(PageMessage):
    """Asks for the data that the lab was started with, as a run."""


@dataclass(frozen=True, kw_only=True)
class Plane:
    """The part of a plane through the space of the features that the page shows.

    Its points are origin + s·across + t·up, with (s, t) from `low` to `high`.
    """

    origin: list[float]
    across: list[float]
    up: list[float]
    low: list[float]
    high: list[float]

    def nodes(self, n_features: int, cells: int) -> Any:
        """Return the corners of a grid on the plane, row by row from the least t."""
        import numpy as np

        lengths = [len(self.origin), len(self.across), len(self.up)]
        if lengths != [n_features] * 3 or [len(self.low), len(self.high)] != [2, 2]:
            raise ShapeError(f"The plane of the picture does not fit {n_features} features.")
        s, t = (np.linspace(a, b, cells + 1) for a, b in zip(self.low, self.high, strict=True))
        across, up = np.outer(np.tile(s, cells + 1), self.across), np.outer(np.repeat(t, cells + 1), self.up)
        return np.array(self.origin) + across + up


@dataclass(frozen=True, kw_only=True)
class PictureMessage(PageMessage):
    """Asks for what the model that was trained last predicts elsewhere."""

    plane: Plane


@dataclass(frozen=True, kw_only=True)
class PointsMessage(PageMessage):
    """Rows with their classes: −1 and 1 for two labels, places in the labels for more; or no X: the lab's."""

    X: list[list[float]] | None = None
    y: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    """The names of the columns, which warnings use; none means numbers."""

    plane: Plane | None = None
    """Where the page shows what a model predicts."""

    def arrays(self) -> tuple[Any, Any]:
        """Return X and y, after checking that they fit together."""
        import numpy as np

        X, y, k = self.X or [], self.y, len(self.labels)
        width = len(X[0]) if X else 0
        if not width or any(len(row) != width for row in X) or len(y) != len(X):
            raise ShapeError("The points have rows of different lengths, or not one label for each row.")
        if width * len(X) > MOST_VALUES:
            raise ShapeError(f"There are more than {MOST_VALUES} numbers. Use fewer points.")
        if k < 2 or not all(0 <= each < k if k > 2 else each in (-1, 1) for each in y):
            raise InputError("The classes of the points are not among the labels.")
        return np.array(X, np.float64), np.array(y, np.int64)


@dataclass(frozen=True, kw_only=True)
class RunMessage(PointsMessage):
    """Asks for a run: by a learner and settings as on the command line, or by the rule of the page."""

    learner: str | None = None
    settings: list[str] = field(default_factory=list)
    eta: float = 1.0
    bias: Literal["unit", "radius", "none"] = "unit"
    margin: float = 0.0
    tie: Literal["mistake", "sign", "half", "correct"] = "mistake"
    zero: Literal[-1, 1] = -1
    scheme: Literal["direct", "ovr", "ovo"] = "direct"
    order: Literal["cyclic", "shuffle", "random", "given"] = "cyclic"
    given: list[list[int]] = field(default_factory=list)
    """The rows of each pass, for the order "given"; one pass is repeated."""
    w0: list[float] = field(default_factory=list)
    """The weights to start from, machine by machine with the bias last; none means zeros."""
    seed: int = 0
    passes: int = 1000
    average: bool = False


@dataclass(frozen=True, kw_only=True)
class CertifyMessage(PointsMessage):
    """Asks whether hyperplanes separate the rows, with a proof."""

    bias: bool


@dataclass(frozen=True, kw_only=True)
class BoundsMessage(PointsMessage):
    """Asks for every bound on the mistakes, as a table."""


@dataclass(frozen=True, kw_only=True)
class MoreMessage(PageMessage):
    """Asks for the next piece of a long answer."""


@dataclass(frozen=True, kw_only=True)
class CancelMessage(PageMessage):
    """Gives up the question with this number."""


MESSAGES: dict[str, type[PageMessage]] = {
    "data": DataMessage,
    "run": RunMessage,
    "picture": PictureMessage,
    "more": MoreMessage,
    "certify": CertifyMessage,
    "bounds": BoundsMessage,
    "cancel": CancelMessage,
}


def read_message(text: str | bytes) -> Any:
    """Return the message that a text holds; what it asks for is its "do"."""
    import msgspec

    given = msgspec.json.decode(text, type=dict[str, Any])
    kind = MESSAGES.get(str(given.pop("do", None)))
    if kind is None:
        raise msgspec.ValidationError(f"do must be one of {', '.join(MESSAGES)}")
    unknown = given.keys() - {each.name for each in fields(kind)}
    if unknown:
        raise msgspec.ValidationError(f"the field {min(unknown)!r} is unknown")
    return msgspec.convert(given, kind)


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one message."""
    stream.write(len(content).to_bytes(SIZE_FIELD_BYTES, "little") + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None at the end of the stream."""
    head = stream.read(SIZE_FIELD_BYTES)
    if len(head) < SIZE_FIELD_BYTES:
        return None
    size = int.from_bytes(head, "little")
    content = stream.read(size)
    return content if len(content) == size else None


class Worker:
    """A process that answers one question after another about the data of a lab; no place means no data."""

    def __init__(self, places: tuple[str, ...], options: dict[str, Any]) -> None:
        # In a session of its own, Ctrl-C does not reach it: the lab ends it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rosenblatt.lab.replies"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        send(self._in, pickle.dumps((places, options)))

    def ask(self, question: bytes, note: Callable[[str], None]) -> bytes | None:
        """Return the answer, or None if the process was killed; `note` is told what the process does meanwhile."""
        try:
            send(self._in, question)
        except (BrokenPipeError, ValueError, OSError):
            return None
        while (answer := receive(self._out)) is not None and answer.startswith(NOTE):
            note(answer.removeprefix(NOTE).decode())
        return answer

    def kill(self) -> None:
        """End the process at once, even in the middle of work."""
        self._process.kill()
        self._process.wait()
