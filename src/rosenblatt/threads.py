"""Threads: how many a call may use, and the pool that runs on them.

The compiled loops release Python's lock, so threads of one process suffice. A pool lives for one call, so that
processes may fork or be spawned between calls. Work is divided in a way that changes no bit of its result, and
work that runs on a thread of a pool starts no other.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache, partial
from itertools import pairwise
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.stopping import cancel_by, interruptible, stop_if_interrupted

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Cores that this process may use, as the system tells.


def cores_beside(n_threads: int) -> set[int]:
    """Return the cores for the threads of a pool beside the calling one; none if the kernel is to choose.

    The kernel of a virtual machine takes an idle core for one that the host has withdrawn. It leaves a thread for
    many milliseconds on the core of the thread that started or woke it, and the two take turns there. So the other
    threads keep off the core of the calling one, if each can have a core.
    """
    if not hasattr(os, "sched_setaffinity"):
        return set()
    cores = os.sched_getaffinity(0)
    _, _, fields = _read(Path("/proc/thread-self/stat")).rpartition(")")  # a name may hold spaces
    return cores - {int(fields.split()[36])} if fields and n_threads <= len(cores) else set()


@cache
def quota(root: Path) -> float:
    """Return the limit on processor time that control groups set, in cores, rounded up; it is read once."""
    return min(_quotas(root), default=math.inf)


def _quotas(root: Path) -> Iterator[int]:
    groups = root / "sys" / "fs" / "cgroup"
    own = _read(root / "proc" / "self" / "cgroup")
    paths = [line.split("::", 1)[1] for line in own.splitlines() if line.startswith("0::")]
    for path in paths or ["/"]:
        place = groups / path.lstrip("/")
        for folder in (place, *place.parents):
            most, _, period = _read(folder / "cpu.max").partition(" ")
            yield from _cores(most, period)
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


VARIABLE = "ROSENBLATT_THREADS"
INTERRUPT_CHECK_SECONDS = 0.1  # between two looks for Ctrl-C while a result is waited for
ITEMS_AHEAD = 2  # items per thread that are begun before the first result is used
# Nanoseconds of work that several threads do sooner: starting them takes about a quarter of it
WORTH_NANOSECONDS = 2e6
FEW_VALUES = 1 << 14  # of data whose folds, or questions, one thread settles as soon as several
PARTS_A_THREAD = 4  # for each thread, so that one that is held up leaves work to the others

T = TypeVar("T")
U = TypeVar("U")

_jobs: ContextVar[int | None] = ContextVar("rosenblatt_jobs", default=None)
_in_pool: ContextVar[bool] = ContextVar("rosenblatt_in_pool", default=False)


def available() -> int:
    """Return the number of cores that this process may use: by its affinity, and by the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(cores, quota(Path("/")))))


def resolve_threads(n_jobs: int, name: str = "n_jobs") -> int:
    """Return a number of threads, given in the way of scikit-learn: −1 is all cores, −2 all but one.

    Examples
    --------
    >>> resolve_threads(3), resolve_threads(-1) == available()
    (3, True)
    """
    try:
        number = 0 if isinstance(n_jobs, bool) else index(n_jobs)
    except TypeError:
        number = 0
    if number == 0:
        told = Given(name, n_jobs) + " must be a number of threads such as 4, or -1 for all cores."
        raise ParameterError(told, code="parameter.range" if isinstance(n_jobs, int) else "parameter.type")
    return number if number > 0 else max(1, available() + 1 + number)


@contextmanager
def using(n_jobs: int | None, n_values: float = math.inf) -> Iterator[None]:
    """Let the work inside use this many threads; None leaves the number that holds outside.

    Data of few values takes more time in Python than in loops, and so one thread.

    Examples
    --------
    >>> with using(3):
    ...     allowed()
    3
    """
    threads = None if n_jobs is None else _shared(n_jobs)
    if n_values < FEW_VALUES:
        threads = 1
    if threads is None:
        yield
        return
    before = _jobs.set(threads)
    try:
        yield
    finally:
        _jobs.reset(before)


def allowed() -> int:
    """Return how many threads may be used here.

    The number comes from `using`, else from ROSENBLATT_THREADS, else from joblib's ``parallel_config``, else it is
    one. A worker of joblib or Dask uses no more than its share of the cores.
    """
    if _in_pool.get():
        return 1
    jobs = _jobs.get()
    return _default() if jobs is None else jobs


def on_pool() -> bool:
    """Return whether this runs on a thread of a pool, beside others."""
    return _in_pool.get()


def _default() -> int:
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        joblib = sys.modules.get("joblib.parallel")
        number = 1 if joblib is None else joblib.effective_n_jobs(None)
        return 1 if number == 1 else min(number, available(), _share_of_worker())
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number == 0:
        raise ParameterError(
            f"The environment variable {VARIABLE} is {text!r}, but must be a number of threads such as 4, or -1 "
            "for all cores. Change or unset it.",
            parameter=VARIABLE,
            value=text,
        )
    return _shared(number)


def _shared(n_jobs: int) -> int:
    number = resolve_threads(n_jobs)
    return 1 if number == 1 else min(number, _share_of_worker())


def _share_of_worker() -> int:
    """Return how many threads may be used by what runs here: a task of joblib or Dask has others beside it.

    Both give the processes that they start the variable OMP_NUM_THREADS, so that all of them together use no more
    threads than there are cores. A task on a thread among others is one thread.
    """
    from multiprocessing import parent_process

    if parent_process() is not None:
        share = os.environ.get("OMP_NUM_THREADS", "")
        return int(share) if share.isdigit() and int(share) > 0 else sys.maxsize
    joblib, dask = sys.modules.get("joblib.parallel"), sys.modules.get("distributed.worker")
    if joblib is not None and joblib.get_active_backend()[0].nesting_level:
        return 1
    try:
        if dask is not None and dask.get_worker():
            return 1
    except ValueError:  # this is no task of Dask
        pass
    return sys.maxsize


def ordered(
    work: Callable[[T], U], items: Iterable[T], *, ahead: int = ITEMS_AHEAD, foreign: bool = False
) -> Generator[U, None, None]:
    """Yield the result of each item, in order, by as many threads as are allowed here.

    Items are taken from their iterator in this thread, `ahead` for each thread before the first result is used. A
    long item holds up the others if these are few. The first error in the order of the items is raised, after the
    results before it. Ctrl-C ends the work under way. No thread is left when the iteration ends, or is closed. For
    `foreign`, see `Pool`.

    Examples
    --------
    >>> with using(2):
    ...     list(ordered(abs, [-3, 1, -2]))
    [3, 1, 2]
    """
    with Pool(allowed(), foreign=foreign) as pool:
        yield from pool.ordered(work, items, ahead=ahead)


def in_parts(n_items: int, nanoseconds: float) -> list[range]:
    """Return the numbers of items in parts for `ordered`: one part if one thread does the work as soon as several.

    `nanoseconds` is about how long one thread takes for all of them.

    Examples
    --------
    >>> with using(2):
    ...     in_parts(10, 100.0), len(in_parts(10, 1e9))
    ([range(0, 10)], 8)
    """
    n_threads = 1 if nanoseconds < WORTH_NANOSECONDS else allowed()
    n_parts = (
        1 if n_threads == 1 else min(n_items, PARTS_A_THREAD * n_threads, int(2 * nanoseconds / WORTH_NANOSECONDS))
    )
    ends = [n_items * k // n_parts for k in range(n_parts + 1)] if n_items else [0, 0]
    return [range(first, last) for first, last in pairwise(ends)]


class Pool:
    """Threads for one call; use it in a ``with`` block.

    The calling thread is one of them: while it waits for a result, it does work that no other has begun. Work that
    is `foreign` calls code of others. Threads and processes that this starts may outlive the pool, and would be
    bound to the cores of its threads; so the kernel chooses these cores.
    """

    def __init__(self, n_threads: int, *, foreign: bool = False) -> None:
        self.n_threads, self.foreign = n_threads, foreign
        self._executor: ThreadPoolExecutor | None = None
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def ordered(
        self, work: Callable[[T], U], items: Iterable[T], *, ahead: int = ITEMS_AHEAD
    ) -> Generator[U, None, None]:
        """Yield the result of each item, in order; see `ordered`.

        A pool may serve several iterations at a time, of which one takes the results of another as its items.
        """
        if self.n_threads == 1:
            for item in items:
                yield work(item)
            return
        executor = self._started()
        begun: deque[_Task[U]] = deque()
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
                begun.append(_Task(executor, partial(copy_context().run, self._run, work, item)))
            if len(begun) >= ahead * self.n_threads:
                yield _first(begun)
        while begun:
            yield _first(begun)
        if failure is not None:
            raise failure

    def _started(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        if self._executor is None:
            cores: set[int] = set() if self.foreign else cores_beside(self.n_threads)
            self._executor = ThreadPoolExecutor(
                self.n_threads - 1, "rosenblatt", initializer=_stay_on, initargs=(cores,)
            )
        return self._executor

    def _run(self, work: Callable[[T], U], item: T) -> U:
        _in_pool.set(True)
        cancel_by(self._over)
        return work(item)


def _stay_on(cores: set[int]) -> None:
    """Let this thread use these cores alone, if there are any."""
    if cores:
        with suppress(OSError):  # a sandbox may forbid it, which costs time only
            os.sched_setaffinity(0, cores)


class _Task(Generic[U]):
    """Work that a thread of the pool does, or the calling one."""

    def __init__(self, executor: ThreadPoolExecutor, call: Callable[[], U]) -> None:
        self.call = call
        self.future: Future[U] = executor.submit(call)

    def done_here(self) -> bool:
        """Do the work in this thread, unless another has begun it; return whether it was done here."""
        if not self.future.cancel():
            return False
        self.future = type(self.future)()
        try:
            self.future.set_result(self.call())
        except Exception as error:  # raised in its turn
            self.future.set_exception(error)
        return True


def _first(begun: deque[_Task[U]]) -> U:
    """Return the result of the first task; until it is there, do those that come after it."""
    from concurrent.futures import wait

    stop_if_interrupted()
    first = begun.popleft()
    if not first.done_here():
        waiting = iter(tuple(begun))
        while not first.future.done() and any(task.done_here() for task in waiting):
            stop_if_interrupted()
    while not wait([first.future], timeout=INTERRUPT_CHECK_SECONDS).done:
        stop_if_interrupted()
    return first.future.result()


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
