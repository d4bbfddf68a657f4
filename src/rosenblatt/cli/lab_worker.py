"""The process in which the lab trains and proves: a question in, an answer out. Killing it cancels either at once.

Messages on its standard input and output are a length of eight bytes and so many bytes. The first names the data.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

LENGTH = 8


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one message."""
    stream.write(len(content).to_bytes(LENGTH, "little") + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None at the end of the stream."""
    head = stream.read(LENGTH)
    if len(head) < LENGTH:
        return None
    size = int.from_bytes(head, "little")
    content = stream.read(size)
    return content if len(content) == size else None


class Worker:
    """A process that answers one question after another.

    Parameters
    ----------
    places, options
        The data that the lab was started with, as `rosenblatt.read_table` takes it; no place means no data.
    """

    def __init__(self, places: tuple[str, ...], options: dict[str, Any]) -> None:
        # In a session of its own, Ctrl-C does not reach it: the lab ends it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rosenblatt.cli.lab_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        send(self._in, pickle.dumps((places, options)))

    def ask(self, question: bytes) -> bytes | None:
        """Return the answer, or None if the process was killed."""
        try:
            send(self._in, question)
        except (BrokenPipeError, ValueError, OSError):
            return None
        return receive(self._out)

    def kill(self) -> None:
        """End the process at once, even in the middle of work."""
        self._process.kill()
        self._process.wait()


def _read_all(messages: SimpleQueue[bytes]) -> None:
    """Pass on each message; end the process at once when the page's server has closed its end."""
    while (text := receive(sys.stdin.buffer)) is not None:
        messages.put(text)
    os._exit(0)


def main() -> None:
    """Answer questions until the standard input ends."""
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_all, args=(messages,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with answers
    warnings.simplefilter("ignore")  # how a run ended is in its answer
    start = messages.get()
    from rosenblatt.cli.lab_answers import Answers
    from rosenblatt.cli.lab_messages import read_message
    from rosenblatt.exceptions import RosenblattError

    known = Answers(*pickle.loads(start))  # written by the process that started this one
    while True:
        try:
            answer = known.answer(read_message(messages.get()))
        except (RosenblattError, OSError, ImportError, ValueError, TypeError, MemoryError) as error:
            answer = {"error": f"Python says: {error}"}
        send(answers, json.dumps(answer, allow_nan=False).encode())


if __name__ == "__main__":
    main()
