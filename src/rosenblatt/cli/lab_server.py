"""The server behind the lab page: for one person on this computer, and for nobody else.

The address printed holds a code that works once. It is exchanged for a cookie that scripts cannot read and other
sites cannot send, and disappears from the address. Requests must name this host, and a WebSocket must come from
this page; everything else is refused. Each message is checked by type before anything is done.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rosenblatt.exceptions import RosenblattError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

COOKIE = "rosenblatt-lab"
LARGEST_MESSAGE = 16_000_000
MOST_VALUES = 2_000_000
LONGEST_PROOF = 60.0  # seconds that a decision may take
MOST_PASSES = 100_000

Read: TypeAlias = Callable[[], tuple[Any, Any, tuple[str, ...] | None]] | None


@dataclass(frozen=True, kw_only=True)
class PageMessage:
    """A message of the page; its answer has the same number."""

    id: int


@dataclass(frozen=True, kw_only=True)
class DataMessage(PageMessage):
    """Asks for the data that the lab was started with, as a run."""


@dataclass(frozen=True, kw_only=True)
class PointsMessage(PageMessage):
    """Rows and their sides."""

    X: list[list[float]]
    y: list[Literal[-1, 1]]


@dataclass(frozen=True, kw_only=True)
class RunMessage(PointsMessage):
    """Asks for a run by a rule."""

    labels: tuple[str, str]
    eta: float = 1.0
    bias: Literal["unit", "radius", "none"] = "unit"
    margin: float = 0.0
    tie: Literal["mistake", "sign", "half", "correct"] = "mistake"
    zero: Literal[-1, 1] = -1
    order: Literal["cyclic", "shuffle", "random"] = "cyclic"
    seed: int = 0
    passes: int = 1000
    average: bool = False


@dataclass(frozen=True, kw_only=True)
class CertifyMessage(PointsMessage):
    """Asks whether a hyperplane separates the rows, with a proof."""

    bias: bool


@dataclass(frozen=True, kw_only=True)
class CancelMessage(PageMessage):
    """Gives up the question with this number."""


MESSAGES: dict[str, type[PageMessage]] = {
    "data": DataMessage,
    "run": RunMessage,
    "certify": CertifyMessage,
    "cancel": CancelMessage,
}


def read_message(text: str) -> Any:
    """Return the message that a text holds; what it asks for is its "do"."""
    import msgspec

    given = msgspec.json.decode(text, type=dict[str, Any])
    kind = MESSAGES.get(str(given.pop("do", None)))
    if kind is None:
        raise msgspec.ValidationError(f"do must be one of {', '.join(MESSAGES)}")
    unknown = given.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise msgspec.ValidationError(f"the field {min(unknown)!r} is unknown")
    return msgspec.convert(given, kind)


def serve(read: Read, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page on this computer until Ctrl-C; `ready` gets the address once it can be opened."""
    try:
        import msgspec  # noqa: F401 - asked for here, so that it is not missed later
        import uvicorn
    except ImportError as error:
        raise ImportError(f"The lab needs {error.name}. Install rosenblatt[lab].") from error
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        lab = LabServer(read, listening.getsockname()[1])
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
    """What one lab knows: its data, its port, its code and its cookie.

    Parameters
    ----------
    read : callable or None
        Returns X, y and the names of the features; called when the page asks for them. None shows an example.
    port : int
        The port that the server listens on.
    """

    def __init__(self, read: Read, port: int) -> None:
        self.read, self.port = read, port
        self.code: str | None = secrets.token_urlsafe(24)
        self.cookie = secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def address(self) -> str:
        """The address with its code."""
        return f"http://127.0.0.1:{self.port}/?code={self.code}"

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
        text = _page_for(request.headers["host"])
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
        try:
            while True:
                await work.take(await connection.receive_text())
        except (WebSocketDisconnect, KeyError):  # KeyError: bytes where text is expected
            pass
        finally:
            work.cancel()

    def _knows(self, connection: HTTPConnection) -> bool:
        return secrets.compare_digest(connection.cookies.get(COOKIE, "").encode(), self.cookie.encode())


class Conversation:
    """The questions of one page, one at a time; a new one gives up the one before."""

    def __init__(self, lab: LabServer, connection: WebSocket) -> None:
        self.lab, self.connection = lab, connection
        self.task: asyncio.Task[None] | None = None
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        """Give up what is being done: a run ends with its pass, and no answer is sent."""
        self.cancelled.set()
        if self.task is not None:
            self.task.cancel()

    async def take(self, text: str) -> None:
        """Read a message and begin to answer it."""
        import msgspec

        try:
            question = read_message(text)
        except msgspec.DecodeError as error:
            await self.connection.send_text(json.dumps({"id": 0, "error": f"The page asked badly: {error}."}))
            return
        self.cancel()
        if not isinstance(question, CancelMessage):
            self.cancelled = threading.Event()
            self.task = asyncio.create_task(self._answer(question, self.cancelled))

    async def _answer(self, question: Any, cancelled: threading.Event) -> None:
        try:
            reply = await asyncio.to_thread(answer, question, self.lab.read, cancelled.is_set)
        except (RosenblattError, OSError, ImportError, ValueError) as error:
            reply = {"error": f"Python says: {error}"}
        await self.connection.send_text(json.dumps({"id": question.id, **reply}, allow_nan=False))


def answer(question: Any, read: Read, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """Return what a question asks for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how a run ended stands in its document
        match question:
            case DataMessage():
                if read is None:
                    return {}
                X, y, names = read()
                return _first_run(X, y, names, cancelled)
            case RunMessage():
                return _run(question, cancelled)
            case CertifyMessage():
                return _decide(question)
    raise ValueError("This question has no answer.")


def _first_run(X: Any, y: Any, names: tuple[str, ...] | None, cancelled: Callable[[], bool]) -> dict[str, Any]:
    from rosenblatt import Perceptron

    watched = {"callbacks": [lambda _report: cancelled()], "n_iter_no_change": 200}
    clf = Perceptron(order="cyclic", max_iter=200, decide=False, **watched).fit(X, y)
    order = range(X.shape[0])
    document = clf.trace_.to_document(
        X, y, eta=1.0, margin=0.0, tie="mistake", order=order, reason=clf.stop_reason_
    )
    if names is not None:
        document["data"]["features"] = [str(name) for name in names]
    return {"document": document}


def _run(question: RunMessage, cancelled: Callable[[], bool]) -> dict[str, Any]:
    import numpy as np

    from rosenblatt import Perceptron
    from rosenblatt.exceptions import InputError

    X, y = _arrays(question)
    if not 1 <= question.passes <= MOST_PASSES:
        raise InputError(f"The passes must be from 1 to {MOST_PASSES}, but are {question.passes}.")
    n = len(X)
    passes = min(question.passes, max(1, MOST_VALUES // n))
    if question.order == "cyclic":
        order: Any = np.arange(n)
    else:
        rng = np.random.default_rng(abs(question.seed))
        draw = rng.permutation if question.order == "shuffle" else lambda n: rng.integers(n, size=n)
        order = [draw(n) for _ in range(passes)]
    clf = Perceptron(
        order=order,
        max_iter=passes,
        n_iter_no_change=passes + 1,
        eta0=question.eta,
        bias=None if question.bias == "none" else question.bias,
        margin=question.margin,
        tie=question.tie,
        zero=question.zero,
        average=question.average,
        callbacks=[lambda _report: cancelled()],
    )
    clf.fit(X, y)
    document = clf.trace_.to_document(
        X, y, eta=question.eta, margin=question.margin, tie=question.tie, order=order, reason=clf.stop_reason_
    )
    document["data"]["labels"] = list(question.labels)
    return {"document": document}


def _decide(question: CertifyMessage) -> dict[str, Any]:
    from rosenblatt import certify

    X, y = _arrays(question)
    found: Any = certify(X, y, bias=question.bias, margin=False, time_limit=LONGEST_PROOF)
    if found.verdict == "undecided":
        return {"reason": found.reason}
    return {"verdict": found.verdict, "proof": found.to_json()}


def _arrays(points: PointsMessage) -> tuple[Any, Any]:
    import numpy as np

    from rosenblatt.exceptions import ShapeError

    width = len(points.X[0]) if points.X else 0
    if not width or any(len(row) != width for row in points.X) or len(points.y) != len(points.X):
        raise ShapeError("The points have rows of different lengths, or not one label for each row.")
    if width * len(points.X) > MOST_VALUES:
        raise ShapeError(f"There are more than {MOST_VALUES} numbers. Use fewer points.")
    return np.array(points.X, np.float64), np.array(points.y, np.int64)


def _page_for(host: str) -> str:
    """Return the page with leave to talk to this server."""
    text = (files("rosenblatt") / "lab_page" / "index.html").read_text(encoding="utf-8")
    allowed = text.replace("connect-src 'none'", f"connect-src ws://{host}", 1)
    return allowed.replace("<title>", '<meta name="lab-server" content="1">\n<title>', 1)


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
