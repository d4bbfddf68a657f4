"""The processes of a server: the one that writes, and further ones that only predict.

A process that only predicts learns from the journal what the writer has put there. Everything else it passes to
the process that writes, over a Unix socket.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rosenblatt.exceptions import ParameterError, Remedy, StorageError
from rosenblatt.server.application import failures
from rosenblatt.server.connection import BACKLOG, GuardedServer
from rosenblatt.server.events import LearnEvent, decode_event
from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host
from rosenblatt.server.journal import JOURNAL, Journal
from rosenblatt.server.limits import USUAL, RequestLimits, read_message
from rosenblatt.server.messages import PredictAnswer, PredictRequest, RequestError
from rosenblatt.server.metrics import Metrics
from rosenblatt.server.predicting_host import PredictingHost
from rosenblatt.server.replay import History
from rosenblatt.server.served_model import ServedModel

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

log = logging.getLogger("rosenblatt.server")

JOURNAL_CHECK_SECONDS = 0.005
"""Seconds between two looks at the journal."""
SNAPSHOT_READINGS = 3
"""Times to read snapshots, which the writer may remove meanwhile."""


class Follower(PredictingHost):
    """The models of a data folder that another process serves."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.failure: str | None = None
        self.on_failure: Callable[[], None] = lambda: None
        self.reader = Journal(self.folder / JOURNAL, writes=False)
        self._journal = self.reader.reader()
        self._with_snapshots(self._load)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self._journal.close()
        self.reader.close()

    async def remember(
        self, model: ServedModel, request: PredictRequest, answer: PredictAnswer, features: Any
    ) -> PredictAnswer:
        """Refuse: such requests are passed to the writer."""
        raise RequestError(503, "This process only predicts. Try again.", retry_after=1.0)

    def _follow(self) -> None:
        seen = -1
        try:
            while not self._ended.wait(JOURNAL_CHECK_SECONDS):
                found = self._journal.changed()
                if found != seen:
                    seen = found
                    for model in self.models.values():
                        self._with_snapshots(partial(self.catch_up, model))
        except Exception as error:  # predictions would stay as they are for ever
            self.failure = f"{type(error).__name__}: {error}"
            log.exception("The journal cannot be followed any more.")
            self.on_failure()

    def _load(self) -> None:
        with self._journal.one_state():
            for name in self._journal.models():
                self.models[name] = History(self._journal, self.folder, name).start().model

    def _with_snapshots(self, act: Callable[[], None]) -> None:
        """Do something that reads snapshots; do it again if one was removed meanwhile."""
        for _ in range(SNAPSHOT_READINGS - 1):
            with suppress(FileNotFoundError):
                return act()
        return act()

    def catch_up(self, model: ServedModel) -> None:
        """Fold the events that came since into a model."""
        with self._journal.one_state():
            history = History(self._journal, self.folder, model.name)
            newest, version = history.newest, model.newest().version
            if newest == version:
                return
            if version < history.base:
                model.restore(history.replica_at(newest))
                return
            for events in self._journal.events(model.number, version, newest):
                decoded = [decode_event(event.body) for event in events]
                learned = [event for event in decoded if isinstance(event, LearnEvent)]
                if len(learned) < len(decoded):  # a rollback, or an erasure
                    model.restore(history.replica_at(newest))
                    return
                model.fold(learned)
                model.publish()


SOCKET = "writer.socket"
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"te", b"trailer", b"upgrade"}
"""Headers of one connection, which are not passed on."""
WORKER_GRACE = 5
"""Seconds that requests under way get to end."""
BETWEEN_FIGURES = 0.5
"""Seconds between two writings of what was counted."""
LONGEST_EXCHANGE = 60.0
"""Seconds that the writer may take to answer."""
YOUNG_SECONDS = 10.0
"""Seconds that a process lives at least, unless something is wrong with it."""
MOST_YOUNG = 3
"""Processes that may end so soon, one after the other, before the server gives up."""
RESTART_PAUSE_SECONDS = 1.0
"""Seconds before a process is replaced."""


def worker_application(host: Follower, limits: RequestLimits = USUAL) -> Starlette:
    """Return the application of a process that predicts; see `rosenblatt.server.application.application`."""
    decoder = msgspec.json.Decoder(PredictRequest)
    encode = msgspec.json.Encoder().encode
    place = str(host.folder / SOCKET)

    async def predict(request: Request) -> Response:
        body = request.scope["body"]
        message = read_message(decoder, body)
        limits.require(message)
        if message.remember:
            return await passed_on(place, request, body)
        answer = await host.predict(request.path_params["name"], message)
        return Response(encode(answer), media_type="application/json")

    async def other(request: Request) -> Response:
        return await passed_on(place, request, request.scope.get("body", b""))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> Any:
        host.start()
        yield
        await asyncio.to_thread(host.close)

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    routes = [
        Route("/v1/models/{name}/predict", predict, methods=["POST"]),
        Route("/{path:path}", other, methods=methods),
    ]
    return Starlette(routes=routes, exception_handlers=failures(), lifespan=lifespan)


async def passed_on(place: str, request: Request, body: bytes) -> Response:
    """Return what the writer answers to a request."""
    try:
        answer = await asyncio.wait_for(_exchange(place, request, body), LONGEST_EXCHANGE)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
        raise RequestError(503, "The process that writes does not answer. Try again.", retry_after=1.0) from error
    request.scope["passed_on"] = True
    return answer


async def _exchange(place: str, request: Request, body: bytes) -> Response:
    reading, writing = await asyncio.open_unix_connection(place, limit=1 << 20)
    try:
        path = request.scope["raw_path"]
        query = request.scope["query_string"]
        head = [b"%s %s HTTP/1.1" % (request.method.encode(), path + (b"?" + query if query else b""))]
        head += [b"%s: %s" % pair for pair in request.headers.raw if pair[0].lower() not in HOP]
        head += [b"content-length: %d" % len(body), b"connection: close", b"", b""]
        writing.write(b"\r\n".join(head) + body)
        await writing.drain()
        status, *lines = (await reading.readuntil(b"\r\n\r\n")).split(b"\r\n")
        pairs = [line.split(b": ", 1) for line in lines if line]
        content = b"" if request.method == "HEAD" else await _content(reading, dict(pairs))
        response = Response(content, int(status.split(b" ")[1]))
        response.raw_headers = [(name, value) for name, value in pairs if name.lower() not in HOP]
        response.raw_headers.append((b"content-length", b"%d" % len(content)))
        return response
    finally:
        writing.close()


async def _content(reading: asyncio.StreamReader, headers: dict[bytes, bytes]) -> bytes:
    length = headers.get(b"content-length")
    return await reading.read() if length is None else await reading.readexactly(int(length))


class QuietServer(GuardedServer):
    """A server that leaves signals alone: only the process that writes ends it."""

    def capture_signals(self) -> Any:
        """Do nothing."""
        return nullcontext()


class Workers:
    """Processes that predict, started by the one that writes; they end with it, however it ends.

    A process that ends by itself is replaced, unless its successors end as soon as they start: then `failed` gets
    the reason. `command` starts one, with the number of the descriptor to listen at as a further argument.
    """

    def __init__(
        self, number: int, command: Sequence[str], listening: socket.socket, failed: Callable[[str], None]
    ) -> None:
        self._command, self._descriptor, self._failed = command, listening.fileno(), failed
        self._ending, self._lock = threading.Event(), threading.Lock()
        self.processes = [self._started() for _ in range(number)]
        for place in range(number):
            threading.Thread(target=self._watch, args=(place,), daemon=True).start()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [*self._command, str(self._descriptor)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[self._descriptor])

    def _watch(self, place: int) -> None:
        young = 0
        while True:
            process, began = self.processes[place], time.monotonic()
            code = process.wait()
            young = young + 1 if time.monotonic() - began < YOUNG_SECONDS else 0
            if self._ending.wait(RESTART_PAUSE_SECONDS):
                return
            with self._lock:
                if self._ending.is_set():
                    return
                if young == MOST_YOUNG:
                    self._failed(f"{young} processes that predict ended soon after their start, with code {code}.")
                    return
                log.error("A process that predicts ended with code %s. Another one takes its place.", code)
                _close(process)
                try:
                    self.processes[place] = self._started()
                except OSError:  # counts as one that ended at once, and is tried again
                    log.exception("It cannot be started.")

    def end(self) -> None:
        """End all of them, and wait for it."""
        with self._lock:
            self._ending.set()
        for each in self.processes:
            _close(each)
        for each in self.processes:
            try:
                each.wait(2 * WORKER_GRACE)
            except subprocess.TimeoutExpired:  # it is still loading; it has nothing to lose
                each.kill()
                each.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None, "it was asked for"
    process.stdin.close()


def follow(folder: str | os.PathLike[str], descriptor: int, door: FrontDoor) -> int:
    """Predict until the process that writes ends: its end of our standard input is closed then."""
    for each in (signal.SIGINT, signal.SIGTERM):  # they go to all processes of a terminal, or of a service
        signal.signal(each, signal.SIG_IGN)
    host, metrics = Follower(folder), Metrics(folder)
    with socket.socket(fileno=descriptor) as listening:
        app = worker_application(host, door.limits)
        guarded = door.before(app, host.folder, listening.getsockname()[1], metrics)
        server = QuietServer(_config(guarded, door, WORKER_GRACE))
        ended = threading.Event()

        def count() -> None:
            while not ended.wait(BETWEEN_FIGURES):
                metrics.leave()

        def watch() -> None:
            while os.read(0, 1024):
                pass
            end()

        def end() -> None:
            server.should_exit = True

        host.on_failure = end
        threading.Thread(target=watch, daemon=True).start()
        counting = threading.Thread(target=count)
        counting.start()
        try:
            server.run(sockets=[listening])
        finally:
            ended.set()
            counting.join()
            metrics.leave()
    return 0 if host.failure is None else 1


GRACE_SECONDS = 10
"""Seconds that requests under way get to end."""
MOST_FILES = 16_384
PORT_ATTEMPTS, BETWEEN_PORT_ATTEMPTS = 30, 0.2
"""How often, and after how many seconds, a port is tried again: workers end within five seconds."""


class ModelServer(GuardedServer):
    """A server that calls `ready` once it takes requests, and that ends in order after a signal.

    At `inner`, processes of ours send requests, which need no TLS.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], inner: socket.socket | None = None
    ) -> None:
        super().__init__(config)
        self._ready, self._inner = ready, inner

    async def startup(self, sockets: Any = None) -> None:
        """Start, and say so."""
        await super().startup(sockets=sockets)
        if self._inner is not None:
            self.servers.append(self.listen(self._inner))
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in order on SIGINT and SIGTERM, and then return; a second SIGINT ends at once."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    host: Host,
    *,
    door: FrontDoor,
    port: int,
    ready: Callable[[str], None],
    workers: int = 0,
    command: Sequence[str] = (),
) -> int:
    """Serve until a signal ends it; return 0, or 1 if the journal failed.

    Port 0 is any free one; `ready` gets the address once requests are taken. `workers` are further processes,
    which only predict; `command` starts one of them, see `Workers`.
    """
    os.umask(0o077)
    _allow_files()
    address = door.address
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # By its protocol asyncio knows that it may send small answers at once (TCP_NODELAY), not after 40 ms.
    with ExitStack() as held, socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind(listening, address, port)
        shown = f"[{address}]" if ":" in address else address
        found = listening.getsockname()[1]
        place = f"{door.scheme}://{shown}:{found}"
        config = _config(door.behind(host, found), door, GRACE_SECONDS)
        inner = None
        if workers:
            listening.listen(BACKLOG)
            inner = held.enter_context(_for_workers(host))
            held.callback(Workers(workers, command, listening, host.fail).end)
        server = ModelServer(config, lambda: ready(place), inner)

        def end() -> None:
            server.should_exit = True

        host.on_failure = end
        try:
            server.run(sockets=[listening])
        finally:
            host.close()
    return 0 if host.failure is None else 1


def _config(app: Any, door: FrontDoor, grace: int) -> uvicorn.Config:
    """Return how an application is served, and how many seconds requests under way get to end."""
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=grace,
        **door.uvicorn_options(),
    )


def bind(listening: socket.socket, address: str, port: int, sleep: Callable[[float], None] = time.sleep) -> None:
    """Take an address; wait a little for it, because processes of a server that was killed may still end."""
    for attempt in range(PORT_ATTEMPTS):
        try:
            listening.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            if attempt == PORT_ATTEMPTS - 1:
                told = f"another program uses {address}, port {port}. End it, or choose another "
                raise ParameterError(told + Remedy("port") + ".", parameter="port", value=port) from error
            sleep(BETWEEN_PORT_ATTEMPTS)
        else:
            return


def _allow_files() -> None:
    """Let this process, and those it starts, have as many files and connections open as the system allows."""
    if resource is not None:
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= now < MOST_FILES:
            wanted = MOST_FILES if most < 0 else min(most, MOST_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, wanted), most))


def _for_workers(host: Host) -> socket.socket:
    """Return the socket at which workers find the writer; the folder keeps others away from it."""
    place = host.folder / SOCKET
    place.unlink(missing_ok=True)  # of a process that was killed; the lock says that it is gone
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(place))
    except OSError as error:
        listening.close()
        raise StorageError(
            f"{place} cannot be a socket: {error}. Choose a folder with a shorter path (" + Remedy("folder") + ")."
        ) from error
    return listening
