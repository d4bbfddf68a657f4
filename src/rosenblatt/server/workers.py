"""Further processes that predict. Everything else they pass to the process that writes, over a Unix socket."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rosenblatt.server.application import failures
from rosenblatt.server.following import Follower
from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.limits import USUAL, RequestLimits, read_message
from rosenblatt.server.messages import PredictRequest
from rosenblatt.server.metrics import Metrics
from rosenblatt.server.problems import RequestError

__all__ = ["SOCKET", "Workers", "follow", "worker_application"]

log = logging.getLogger("rosenblatt.server")

SOCKET = "writer.socket"
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"te", b"trailer", b"upgrade"}
"""Headers of one connection, which are not passed on."""
GRACE = 5
"""Seconds that requests under way get to end."""
BETWEEN_FIGURES = 0.5
"""Seconds between two writings of what was counted."""
LONGEST = 60.0
"""Seconds that the writer may take to answer."""
YOUNG = 10.0
"""Seconds that a process lives at least, unless something is wrong with it."""
MOST_YOUNG = 3
"""Processes that may end so soon, one after the other, before the server gives up."""
PAUSE = 1.0
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
        answer = await asyncio.wait_for(_exchange(place, request, body), LONGEST)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
        raise RequestError.of(
            503, "The process that writes does not answer. Try again.", retry_after=1.0
        ) from error
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


class QuietServer(uvicorn.Server):
    """A server that leaves signals alone: only the process that writes ends it."""

    def capture_signals(self) -> Any:
        """Do nothing."""
        return nullcontext()


class Workers:
    """Processes that predict, started by the one that writes; they end with it, however it ends.

    A process that ends by itself is replaced, unless its successors end as soon as they start.

    Parameters
    ----------
    number : int
        How many.
    command : sequence of str
        What starts one; it gets the number of the descriptor to listen at as a further argument.
    listening : socket
        Where all of them take requests.
    failed : callable
        Is called with the reason when processes end as soon as they start.
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
            young = young + 1 if time.monotonic() - began < YOUNG else 0
            if self._ending.wait(PAUSE):
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
                each.wait(2 * GRACE)
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
        config = uvicorn.Config(
            door.before(app, host.folder, listening.getsockname()[1], metrics),
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=GRACE,
            **door.uvicorn_options(),
        )
        server = QuietServer(config)
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
