"""The server behind the lab page: for one person on this computer only.

The address printed holds a code that works once. It is exchanged for a cookie that scripts cannot read and other
sites cannot send, and disappears from the address. Requests must name this host, and a WebSocket must come from
this page; everything else is refused. Each message is checked by type before anything is done.
"""

from __future__ import annotations

import asyncio
import html
import json
import secrets
import socket
from collections.abc import Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt import registry
from rosenblatt.lab.questions import CancelMessage, MoreMessage, Worker, read_message

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

COOKIE = "rosenblatt-lab"
LARGEST_MESSAGE = 16_000_000
PIECE_BYTES = 262_144  # bytes of an answer that are sent at a time


def serve(places: tuple[str, ...], options: dict[str, Any], port: int, ready: Callable[[str], None]) -> None:
    """Serve the page on this computer until Ctrl-C; `ready` gets the address once it can be opened."""
    try:
        import msgspec  # noqa: F401 - asked for here, so that it is not missed later
        import uvicorn
    except ImportError as error:
        raise ImportError(
            f"The lab needs {error.name}: pip install starlette uvicorn websockets msgspec"
        ) from error
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        lab = LabServer(places, options, listening.getsockname()[1])
        config = uvicorn.Config(
            lab.app(lambda: ready(lab.address)),
            log_level="error",
            access_log=False,
            server_header=False,
            ws_max_size=LARGEST_MESSAGE,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listening])


class LabServer:
    """What one lab knows: its data (an example if there are no places), its port, its code and its cookie."""

    def __init__(self, places: tuple[str, ...], options: dict[str, Any], port: int) -> None:
        self.places, self.options, self.port = places, options, port
        self.code: str | None = secrets.token_urlsafe(24)
        self.cookie = secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def address(self) -> str:
        """The address with its code."""
        return f"http://127.0.0.1:{self.port}/?code={self.code}"

    def worker(self) -> Worker:
        """Start a process that answers questions about the data."""
        return Worker(self.places, self.options)

    def app(self, started: Callable[[], None]) -> Starlette:
        """Return the application; `started` is called when it takes requests."""
        from starlette.applications import Starlette
        from starlette.routing import Route, WebSocketRoute

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> Any:
            asyncio.get_running_loop().call_later(0.05, started)
            yield

        routes = [Route("/", self.page), WebSocketRoute("/ws", self.talk)]
        return Starlette(routes=routes, lifespan=lifespan)

    def page(self, request: Request) -> Response:
        """Return the page, or exchange the code for a cookie."""
        from starlette.responses import RedirectResponse, Response

        if request.headers.get("host") not in self.hosts:
            return _refused("This server answers only under the address it printed.")
        code = request.query_params.get("code")
        if code is not None:
            if self.code is None or not secrets.compare_digest(code.encode(), self.code.encode()):
                return _refused("This address was used before, or is not ours. Start `rosenblatt lab` again.")
            self.code = None
            response = RedirectResponse("/", status_code=303, headers=_headers())
            response.set_cookie(COOKIE, self.cookie, httponly=True, samesite="strict", path="/")
            return response
        if not self._knows(request):
            return _refused("Open the address that `rosenblatt lab` printed.")
        text = _page_for(request.headers["host"], name_of(self.places))
        return Response(text, media_type="text/html", headers=_headers())

    async def talk(self, connection: WebSocket) -> None:
        """Answer questions until the page is closed."""
        from starlette.websockets import WebSocketDisconnect

        host = connection.headers.get("host")
        origin = connection.headers.get("origin")
        if host not in self.hosts or origin != f"http://{host}" or not self._knows(connection):
            await connection.close(code=1008)
            return
        await connection.accept()
        work = Conversation(self, connection)
        work.worker = self.worker()  # it imports what it needs while the page draws
        try:
            while True:
                await work.take(await connection.receive_text())
        except (WebSocketDisconnect, KeyError):  # KeyError: bytes where text is expected
            pass
        finally:
            work.cancel()
            work.close()

    def _knows(self, connection: HTTPConnection) -> bool:
        return secrets.compare_digest(connection.cookies.get(COOKIE, "").encode(), self.cookie.encode())


class Conversation:
    """The questions of one page, one at a time; a new one gives up the one before."""

    def __init__(self, lab: LabServer, connection: WebSocket) -> None:
        self.lab, self.connection = lab, connection
        self.task: asyncio.Task[None] | None = None
        self.worker: Worker | None = None
        # The rest of a long answer, which goes out piece by piece, each when the page asks for it.
        self.rest: tuple[int, memoryview] | None = None

    def cancel(self) -> None:
        """Give up what is being done, at once: its process is killed, and no answer is sent."""
        self.rest = None
        if self.task is None or self.task.done():
            return
        self.task.cancel()
        self.close()

    def close(self) -> None:
        """End the process that answers; the next question starts another."""
        if self.worker is not None:
            self.worker.kill()
        self.worker = None

    async def take(self, text: str) -> None:
        """Read a message and begin to answer it."""
        import msgspec

        try:
            question = read_message(text)
        except msgspec.DecodeError as error:
            await self._send(0, {"error": f"The page asked badly: {error}."})
            return
        if isinstance(question, MoreMessage):
            await self._send_piece(question.id)
            return
        self.cancel()
        if not isinstance(question, CancelMessage):
            self.task = asyncio.create_task(self._answer(question.id, text))

    async def _answer(self, number: int, text: str) -> None:
        if self.worker is None:
            self.worker = self.lab.worker()
        loop = asyncio.get_running_loop()

        def note(told: str) -> None:
            asyncio.run_coroutine_threadsafe(self._send(number, {"note": told}), loop)

        reply = await asyncio.to_thread(self.worker.ask, text.encode(), note)
        if reply is None:
            self.close()
            await self._send(
                number, {"error": "Python ended before it had an answer. Use less data, or ask again."}
            )
        elif len(reply) <= PIECE_BYTES:
            await self._send(number, json.loads(reply))
        else:
            self.rest = number, memoryview(reply)
            await self._send(number, {"bytes": len(reply)})

    async def _send_piece(self, number: int) -> None:
        if self.rest is None or self.rest[0] != number:
            return  # given up meanwhile
        piece, rest = self.rest[1][:PIECE_BYTES], self.rest[1][PIECE_BYTES:]
        self.rest = (number, rest) if len(rest) else None
        await self.connection.send_bytes(bytes(piece))

    async def _send(self, number: int, reply: dict[str, Any]) -> None:
        await self.connection.send_text(json.dumps({"id": number, **reply}, allow_nan=False))


def name_of(places: tuple[str, ...]) -> str:
    """Return what the data of a lab is called; nothing if it has none."""
    names = [place if place.startswith("@") else Path(place).name for place in places]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else "".join(names)


def _page_for(host: str, name: str) -> str:
    """Return the page with leave to talk to this server, the name of its data, and the learners."""
    text = (files("rosenblatt.lab") / "index.html").read_text(encoding="utf-8")
    allowed = text.replace("connect-src 'none'", f"connect-src ws://{host}", 1)
    numbers = registry.able("numbers")  # the page has classes
    learners = [[command, registry.title_of(command)] for command in registry.commands() if command not in numbers]
    told = html.escape(json.dumps({"name": name, "learners": learners}))
    return allowed.replace("<title>", f'<meta name="lab-server" content="{told}">\n<title>', 1)


def _headers() -> dict[str, str]:
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def _refused(sentence: str) -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(sentence, status_code=403, headers=_headers())
