"""A Dask cluster: tasks that may be run again, answers that are waited for, and errors that say what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import Client, Future, KilledWorker, default_client, wait
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.comm import CommClosedError, get_address_host_port

from rosenblatt.exceptions import ClusterError, Given, ParameterError
from rosenblatt.stopping import stop_if_interrupted

POLL_SECONDS = 0.1  # seconds between looks at Ctrl-C and at the scheduler
WORKER_CHECK_SECONDS = 1.0  # seconds between looks for workers
LOST_AFTER_SECONDS = 10.0  # seconds without a connection after which the scheduler counts as lost
NO_WORKERS = 300.0  # seconds without a worker after which waiting ends
MAX_RETRIES = 20  # times that tasks are begun again because a worker died


class WorkerRoom(NamedTuple):
    """What a worker has: threads, and bytes of memory; 0 bytes mean no limit."""

    threads: int
    memory: int


class Cluster:
    """The client of a Dask cluster: given, made from the address of a scheduler, or with None the one in use.

    Tasks here are functions of their arguments alone, so that Dask may run them twice, and run them again where a
    worker died. Nothing else holds a result.
    """

    def __init__(self, client: Client | str | None = None) -> None:
        self.client: Any = _client(client)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a task; it may take futures as arguments."""
        return self.client.submit(function, *arguments, pure=False)

    def run_each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Future[Any]]:
        """Submit a task for each position of the arguments, all in one message."""
        return list(self.client.map(function, *arguments, pure=False))

    def share(self, value: object) -> Future[Any]:
        """Carry a value to the workers by a task, which is run again where they died."""
        return self.run(_carried, value)

    def answer(self, future: Future[Any]) -> Any:
        """Wait for one result."""
        return self.answers([future])[0]

    def answers(self, futures: Sequence[Future[Any]]) -> list[Any]:
        """Wait for results, in the order of the futures.

        An error of a task is raised here. Ctrl-C cancels the tasks. A task whose worker died is run again. If the
        scheduler is lost, there are no workers, or a task has ended too many of them, a `ClusterError` is raised.
        """
        return self._complete(futures, self.client.gather)

    def wait(self, futures: Sequence[Future[Any]]) -> None:
        """Wait until workers hold all results; raise what `answers` raises."""
        self._complete(futures, lambda wanted: [future.result() for future in wanted if future.status == "error"])

    def holders(self, futures: Sequence[Future[Any]]) -> list[list[str]]:
        """Return the addresses of the workers that hold each result; none where it is being computed again."""
        try:
            found = self.client.who_has(list(futures))
        except (CommClosedError, OSError) as error:
            raise self._lost(str(error)) from error
        return [list(found.get(future.key, ())) for future in futures]

    def rooms(self) -> dict[str, WorkerRoom]:
        """Return the threads and the memory of each worker, by its address."""
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
        except (CommClosedError, OSError) as error:
            raise self._lost(str(error)) from error
        return {
            address: WorkerRoom(int(each["nthreads"]), int(each["memory_limit"] or 0))
            for address, each in workers.items()
        }

    def _complete(self, futures: Sequence[Future[Any]], gather: Callable[[list[Future[Any]]], Any]) -> list[Any]:
        """Wait for futures and gather them; begin tasks again whose workers died."""
        wanted = list(futures)
        try:
            for attempt in range(MAX_RETRIES):
                try:
                    self._wait(wanted)
                    return list(gather(wanted))
                except KilledWorker as error:
                    if attempt + 1 == MAX_RETRIES:
                        raise _killing(error) from error
                    self._begin_again([future for future in wanted if future.status == "error"])
                finally:
                    self._forget_errors(wanted)
        except (FutureCancelledError, FuturesCancelledError, CommClosedError, OSError) as error:
            raise self._lost(str(error)) from error
        except KeyboardInterrupt:
            self.client.cancel(wanted)
            raise
        raise AssertionError("the loop returns or raises")

    def _wait(self, futures: Sequence[Future[Any]]) -> None:
        """Wait until all are done or one has failed."""
        connected = present = looked = time.monotonic()
        while True:
            stop_if_interrupted()
            states = {future.status for future in futures}
            if states == {"finished"} or not states.isdisjoint({"error", "cancelled"}):
                return
            self._wait_a_moment(futures)
            now = time.monotonic()
            if self.client.status == "running":
                connected = now
            elif self.client.status in ("closed", "closing") or now - connected > LOST_AFTER_SECONDS:
                raise self._lost(f"the connection is {self.client.status}")
            if now - looked > WORKER_CHECK_SECONDS:
                looked = now
                present = now if self.client.status != "running" or self._n_workers() else present
            if now - present > NO_WORKERS:
                raise ClusterError(
                    f"The cluster {self.address} has had no workers for {NO_WORKERS:g} seconds. Start some: "
                    f"dask worker {self.address}."
                )

    def _wait_a_moment(self, futures: Sequence[Future[Any]]) -> None:
        """Wait until all are done, for `POLL_SECONDS` at most.

        The end of that time is no error here: its traceback would hold all futures of this thread, and so their
        results on the cluster, until Python next looks for cycles.
        """

        async def done() -> None:
            with suppress(TimeoutError), self.client.as_current():
                await wait(futures, timeout=POLL_SECONDS)

        self.client.sync(done)

    def _begin_again(self, futures: Sequence[Future[Any]]) -> None:
        """Let tasks be run again, and those that they wait for, which may be known to the scheduler alone."""

        async def retry() -> None:
            keys = [future.key for future in futures]
            for key in keys:  # before the scheduler hears of it: results may arrive before its answer
                self.client.futures[key].retry()
            await self.client.scheduler.retry(keys=keys, client=self.client.id)

        self.client.sync(retry)

    def _forget_errors(self, futures: Sequence[Future[Any]]) -> None:
        """Let the client forget errors that were raised: their tracebacks hold futures, and so results."""
        for future in futures:
            state = self.client.futures.get(future.key)
            if state is not None and state.exception is not None:
                state.exception = state.traceback = None

    def _n_workers(self) -> int:
        return len(self.client.scheduler_info(n_workers=1)["workers"])

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "of this client"

    def _lost(self, why: str) -> ClusterError:
        return ClusterError(
            f"The scheduler {self.address} is lost ({why.rstrip('.')}). Start it again, and run again; with a "
            "checkpoint and resume=True, training goes on after its last complete pass."
        )


def _carried(value: object) -> Any:
    return value


def _client(given: Client | str | None) -> Client:
    if isinstance(given, Client):
        return given
    if isinstance(given, str):
        return _connected(given)
    if given is not None:
        raise ParameterError(
            Given("client", given) + " must be a distributed.Client, the address of a scheduler, or None."
        )
    try:
        return default_client()
    except ValueError:
        told = "There is no Dask client in use. Make one, client = distributed.Client(), and pass client=client."
        raise ParameterError(told, parameter="client") from None


def _connected(address: str) -> Client:
    try:
        _, port = get_address_host_port(address)
    except ValueError:
        port = None
    if not port:
        raise ClusterError(f"{address!r} is not the address of a scheduler. Write it as tcp://host:8786.")
    try:
        return Client(address, set_as_default=False)
    except TypeError as error:
        if not address.startswith("tls://"):
            raise
        raise ClusterError(
            f"The scheduler at {address} asks for certificates, but Dask's configuration names none. Set "
            "distributed.comm.tls, or make a Client with a Security and pass it as client."
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(f"There is no scheduler at {address}: {error}. Check the address.") from error


def _killing(error: KilledWorker) -> ClusterError:
    return ClusterError(
        f"The task {error.task} was running on workers that died, again and again. Look for the reason in their "
        "logs: the memory of a worker may be too small for a partition. Use smaller partitions or larger workers."
    )
