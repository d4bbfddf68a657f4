"""Threads: how many a call may use, and the pool that runs on them.

The compiled loops release Python's lock, so threads of one process suffice. A pool lives for one call, so that
processes may fork or be spawned between calls. Work is divided in a way that changes no bit of its result, and
work that runs on a thread of a pool starts no other.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rosenblatt.exceptions import ParameterError
from rosenblatt.interrupts import cancelled_by, interruptible, stop_if_interrupted

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Pool", "allowed", "available", "one_blas_thread", "ordered", "resolved", "using"]

VARIABLE = "ROSENBLATT_THREADS"
SECONDS = 0.1  # between two looks for Ctrl-C while a result is waited for
AHEAD = 2  # items per thread that are begun before the first result is used

T = TypeVar("T")
U = TypeVar("U")

_jobs: ContextVar[int | None] = ContextVar("rosenblatt_jobs", default=None)
_in_pool: ContextVar[bool] = ContextVar("rosenblatt_in_pool", default=False)


def available(root: Path = Path("/")) -> int:
    """Return the number of cores that this process may use: by its affinity, and by the quota of its container.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_quotas(root)]))


def resolved(n_jobs: int, name: str = "n_jobs") -> int:
    """Return a number of threads, given in the way of scikit-learn: −1 is all cores, −2 all but one.

    Examples
    --------
    >>> resolved(3), resolved(-1) == available()
    (3, True)
    """
    try:
        number = 0 if isinstance(n_jobs, bool) else index(n_jobs)
    except TypeError:
        number = 0
    if number == 0:
        raise ParameterError(
            f"{name} is {n_jobs!r}, but must be a number of threads such as 4, or -1 for all cores."
        )
    return number if number > 0 else max(1, available() + 1 + number)


@contextmanager
def using(n_jobs: int | None) -> Iterator[None]:
    """Let the work inside use this many threads; None leaves the number that holds outside.

    Examples
    --------
    >>> with using(3):
    ...     allowed()
    3
    """
    if n_jobs is None:
        yield
        return
    before = _jobs.set(resolved(n_jobs))
    try:
        yield
    finally:
        _jobs.reset(before)


def allowed() -> int:
    """Return how many threads may be used here: by `using`, else by ROSENBLATT_THREADS, else one."""
    if _in_pool.get():
        return 1
    jobs = _jobs.get()
    if jobs is not None:
        return jobs
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return 1
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number == 0:
        raise ParameterError(
            f"The environment variable {VARIABLE} is {text!r}, but must be a number of threads such as 4, or -1 "
            "for all cores. Change or unset it."
        )
    return resolved(number)


def ordered(work: Callable[[T], U], items: Iterable[T]) -> Generator[U, None, None]:
    """Yield the result of each item, in order, by as many threads as are allowed here.

    Items are taken from their iterator in this thread, a few ahead of the results used. The first error in the
    order of the items is raised, after the results before it. Ctrl-C ends the work under way. No thread is left
    when the iteration ends, or is closed.

    Examples
    --------
    >>> with using(2):
    ...     list(ordered(abs, [-3, 1, -2]))
    [3, 1, 2]
    """
    n_threads = allowed()
    if n_threads == 1:
        yield from map(work, items)
        return
    with Pool(n_threads) as pool:
        yield from pool.ordered(work, items)


class Pool:
    """Threads for one call; use it in a ``with`` block.

    Parameters
    ----------
    n_threads : int
        How many.
    """

    def __init__(self, n_threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.n_threads = n_threads
        self._executor = ThreadPoolExecutor(n_threads, thread_name_prefix="rosenblatt")
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def ordered(self, work: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Yield the result of each item, in order; see `ordered`."""
        begun: deque[Future[U]] = deque()
        failure: Exception | None = None
        iterator = iter(items)
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                break
            except Exception as error:  # raised in its turn
                failure = error
                break
            with interruptible():  # a thread that Ctrl-C meets while it is started would not be waited for
                begun.append(self._executor.submit(copy_context().run, self._run, work, item))
            if len(begun) >= AHEAD * self.n_threads:
                yield _result(begun.popleft())
        while begun:
            yield _result(begun.popleft())
        if failure is not None:
            raise failure

    def _run(self, work: Callable[[T], U], item: T) -> U:
        _in_pool.set(True)
        cancelled_by(self._over)
        return work(item)


def _result(future: Future[U]) -> U:
    from concurrent.futures import wait

    stop_if_interrupted()
    while not wait([future], timeout=SECONDS).done:
        stop_if_interrupted()
    return future.result()


class _Blas:
    """The limit on threads of BLAS, which is one for the whole process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limits: Any = None

    def limit(self) -> None:
        from threadpoolctl import threadpool_limits

        with self.lock:
            if self.users == 0:
                self.limits = threadpool_limits(1, user_api="blas")
            self.users += 1

    def restore(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limits.restore_original_limits()


_blas = _Blas()


if hasattr(os, "register_at_fork"):  # a child must not begin with a lock that a thread of its parent holds
    os.register_at_fork(
        before=_blas.lock.acquire, after_in_parent=_blas.lock.release, after_in_child=_blas.lock.release
    )


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside, so that pools and BLAS together use no more threads than cores.

    Products by BLAS can depend on its number of threads, so work with BLAS that is divided over threads is done in
    such a block with one thread too. The limit is the whole process's; the last block to end restores it.
    """
    _blas.limit()
    try:
        yield
    finally:
        _blas.restore()


def _quotas(root: Path) -> Iterator[int]:
    """Yield the limits on processor time that control groups set, in cores, rounded up."""
    groups = root / "sys" / "fs" / "cgroup"
    own = _read(root / "proc" / "self" / "cgroup")
    paths = [line.split("::", 1)[1] for line in own.splitlines() if line.startswith("0::")]
    for path in paths or ["/"]:
        place = groups / path.lstrip("/")
        for folder in (place, *place.parents):
            quota, _, period = _read(folder / "cpu.max").partition(" ")
            yield from _cores(quota, period)
            if folder == groups:
                break
    old = groups / "cpu"
    yield from _cores(_read(old / "cpu.cfs_quota_us"), _read(old / "cpu.cfs_period_us"))


def _cores(quota: str, period: str) -> Iterator[int]:
    if quota.isdigit() and period.isdigit() and int(period) > 0:  # "max" and -1 are no limit
        yield -(-int(quota) // int(period))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):  # there is no such limit here, or no right to read it
        return ""
