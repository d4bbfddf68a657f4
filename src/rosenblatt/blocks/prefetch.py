"""The next block is made ready by another thread while this one trains on the last."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

from rosenblatt.interrupts import stop_if_interrupted

__all__ = ["LIVE", "ahead"]

LIVE = 2
"""Items alive at a time: the one in use, and the one being made."""

SECONDS = 0.1
"""Between two looks for Ctrl-C while an item is waited for."""

T = TypeVar("T")


def ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """Yield the items of a generator that runs in a thread of its own, one ahead of what is used.

    An item is in use until the next one is asked for; only then is the one after that begun, so that two buffers
    suffice. An error of the generator is raised here in its turn. Whatever ends this iteration, the generator is
    closed and its thread over by then.
    """
    made: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    room = threading.Semaphore(LIVE)
    over = threading.Event()

    def run() -> None:
        failure: BaseException | None = None
        try:
            while True:
                room.acquire()
                if over.is_set():
                    break
                made.put((next(items), None))
        except StopIteration:
            pass
        except BaseException as error:  # raised by the other thread
            failure = error
        try:
            items.close()
        except BaseException as error:
            failure = failure or error
        made.put((None, failure))

    # In this context, which says how many threads may read.
    thread = threading.Thread(target=copy_context().run, args=(run,), name="rosenblatt reader", daemon=True)
    thread.start()
    try:
        while True:
            stop_if_interrupted()
            try:
                item, failure = made.get(timeout=SECONDS)
            except Empty:
                continue
            if failure is not None:
                raise failure
            if item is None:
                return
            yield item
            room.release()
    finally:
        over.set()
        room.release()
        thread.join()
