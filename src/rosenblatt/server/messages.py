"""What clients send and what they get: problems, requests, answers, keys.

Types of requests and answers are the source of the checks and of the OpenAPI document. A UUID of version 7 tells
when it was made. An idempotency key may also be any other text. It does not tell its age, so it is remembered for
a time from when it first came.
"""

from __future__ import annotations

import math
import os
import time
import uuid
from typing import Annotated, Any

import msgspec

from rosenblatt.exceptions import FormatError, Given, Message, Remedy, RosenblattError, Term, remedies_of

PROBLEM_TYPE = b"application/problem+json"

KINDS = {
    400: ("bad-request", "The request is incomplete"),
    401: ("no-token", "No valid token"),
    403: ("forbidden", "Not allowed"),
    404: ("not-found", "Not found"),
    405: ("method", "Another method"),
    408: ("too-slow", "Too slow"),
    409: ("conflict", "Not now"),
    410: ("gone", "Gone"),
    413: ("too-large", "Too large"),
    415: ("not-json", "Not JSON"),
    421: ("unknown-host", "Unknown host"),
    422: ("unusable", "The request cannot be used"),
    429: ("too-many", "Too many requests"),
    503: ("unavailable", "Not available now"),
}
"""The code and the title of a problem that has none of its own."""
MAX_TOLD_CHARACTERS = 400
"""Characters of the message of a library error: it may quote a value."""


def in_calls(text: str) -> str:
    """Return a message in the words of a request: parameters have their names, and values are JSON.

    Examples
    --------
    >>> in_calls("Leave it out with " + Remedy("skip_bad", True) + ", or use " + Remedy("missing", "mean") + ".")
    'Leave it out with skip_bad=true, or use missing="mean".'
    >>> in_calls("Row 1 of " + Term("rows", "X") + " is wrong.")
    'Row 1 of rows is wrong.'
    """

    def said(slot: Remedy | Given | Term) -> str:
        if isinstance(slot, Term):
            return slot.name if slot.name == "rows" else slot.python
        if isinstance(slot, Given) and not isinstance(slot.value, str | bool | int | float | None):
            return str(slot)
        if isinstance(slot, Remedy) and slot.value is None:
            return slot.parameter
        return slot.parameter + "=" + msgspec.json.encode(slot.value).decode()

    return text.told(said) if isinstance(text, Message) else text


class RequestError(RosenblattError):
    """A request that is refused.

    `title` is the same for all problems of a kind; `detail` tells what was wrong, where, and what to do. By
    default the code is that of the status. `retry_after` is in seconds. `where` is the place, such as ``row=3,
    column="age"``.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        title: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        **where: Any,
    ) -> None:
        usual_code, usual_title = KINDS[status]
        place = {name: where[name] for name in ("row", "column", "parameter", "parameters") if name in where}
        super().__init__(detail, code=code or usual_code, **place)
        self.status, self.title, self.detail = status, title or usual_title, in_calls(detail)
        self.retry_after, self.where = retry_after, where
        self.given: tuple[Remedy, ...] = ()

    @classmethod
    def by(cls, error: RosenblattError, **where: Any) -> RequestError:
        """Return the problem of an error of the library, at its place or else at the one that is given.

        Ways out that a caller cannot take, because they are parameters, are left out of the sentence.
        """
        text = error.args[0] if error.args else ""
        if isinstance(error, FormatError):
            text = error.told(tuple(way for way in error.ways if not remedies_of(way)))
        if error.row is not None:
            where = {"row": error.row} | ({} if error.column is None else {"column": error.column})
        if error.parameters:
            where["parameter"] = error.parameter
        if len(error.parameters) > 1:
            where["parameters"] = error.parameters
        problem = cls(422, text, code=error.code, **where)
        problem.given = error.remedies
        if len(problem.detail) > MAX_TOLD_CHARACTERS:
            problem.detail = f"{problem.detail[:MAX_TOLD_CHARACTERS]} …"
        return problem

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The parameters that could be set: of the server, or of the model when it is trained."""
        return self.given or super().remedies

    def document(self) -> dict[str, Any]:
        """Return the problem as RFC 9457 writes it."""
        told = {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.detail}
        ways = [{"parameter": each.parameter, "value": each.value} for each in self.remedies]
        return told | {"code": self.code} | self.where | ({"remedies": ways} if ways else {})

    def body(self, call: str = "") -> bytes:
        """Return the problem as JSON; clients of the Open Inference Protocol look for it under ``error``."""
        also = {"error": self.detail} if call.startswith("/v2") else {}
        return msgspec.json.encode(self.document() | also)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of the answer."""
        found = [(b"content-type", PROBLEM_TYPE)]
        if self.retry_after is not None:
            found.append((b"retry-after", str(max(1, math.ceil(self.retry_after))).encode()))
        if self.status == 401:
            found.append((b"www-authenticate", b'Bearer realm="rosenblatt"'))
        return found


MOST_VERSION = 10**15
"""No model learns so often; greater numbers do not fit into the journal."""
Version = Annotated[int, msgspec.Meta(ge=0, le=MOST_VERSION)]
Label = str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | float | bool
Value = str | int | float | bool | None
Row = dict[str, Value] | list[Value] | str
"""One row: an object by column name, an array of values, or a text."""


class PredictRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to predict.

    With `remember`, each prediction gets an id, by which `feedback` takes its label later. With `min_version`, the
    answer comes from this version or a later one.
    """

    rows: list[Row]
    remember: bool = False
    min_version: Version | None = None


class PredictAnswer(msgspec.Struct, omit_defaults=True):
    """Labels and scores, in the order of the rows, and the version that answered.

    A score is one number for two classes, positive for the second class, and one number for each class otherwise.
    """

    labels: list[Label]
    scores: list[float | list[float]]
    classes: list[Label]
    version: int
    ids: list[str] | None = None


class LearnRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to learn, in order, with a label for each; weights multiply the steps."""

    rows: list[Row]
    labels: list[Label]
    weights: list[float] | None = None


class RefusedRow(msgspec.Struct):
    """A row that could not be learned because its score or the weights would overflow."""

    row: int
    reason: str


class LearnAnswer(msgspec.Struct, omit_defaults=True):
    """What was learned: it is on disk.

    `version` is the model after these rows, `mistakes` the updates made, `right` the rows whose label was
    predicted correctly before they were learned.
    """

    version: int
    rows: int
    mistakes: int
    right: int
    refused: list[RefusedRow] = []


class FeedbackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The true label of an earlier prediction."""

    id: str
    label: Label


class Rolling(msgspec.Struct):
    """How the last rows were predicted just before they were learned."""

    rows: int
    right: int
    accuracy: float | None


class ModelAnswer(msgspec.Struct):
    """What is served under a name."""

    name: str
    learner: str
    classes: list[Label]
    n_features: int
    columns: list[str] | None
    version: int
    base: int
    rows_learned: int
    mistakes: int
    rolling: Rolling
    grows: bool


class ModelsAnswer(msgspec.Struct):
    """All models."""

    models: list[ModelAnswer]


class Change(msgspec.Struct, omit_defaults=True):
    """An event other than learning: a rollback or an erasure."""

    version: int
    kind: str
    at: float
    to: int | None = None


class VersionsAnswer(msgspec.Struct):
    """Which versions there are: all from `oldest` to `newest`, but for the ranges in `ended`: [first, last]."""

    name: str
    oldest: int
    newest: int
    snapshots: list[int]
    changes: list[Change]
    ended: list[list[int]]


class RollbackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The version to return to. The rollback itself is the next version."""

    version: Version


class RollbackAnswer(msgspec.Struct):
    """The new version, and the one whose state it has."""

    version: int
    restored: int


class Contribution(msgspec.Struct):
    """What one feature adds to the score: its input times its weight.

    `value` is the number in the row, and `input` the same as the learner gets it: scaled, with missing values
    filled. `value` is null where the row has none, and for a remembered prediction of a model that prepares its
    rows, since only prepared rows are kept. A kernel has support points in place of features, and its values as
    numbers.
    """

    feature: str
    value: float | None
    input: float
    weight: float
    contribution: float


class ClassExplanation(msgspec.Struct):
    """The score of one class, or of the second of two, as a sum.

    `rounding` is the score minus the exact sum of all parts: what the sum of floats rounded off.
    """

    label: Label
    score: float
    bias: float
    contributions: list[Contribution]
    rounding: float = 0.0


class ExplainAnswer(msgspec.Struct):
    """The weights behind one answer, the largest contributions first."""

    version: int
    label: Label
    explanations: list[ClassExplanation]


class ErasedRows(msgspec.Struct, forbid_unknown_fields=True):
    """Rows of one version; all of them without `rows`, which count from 0."""

    version: Version
    rows: list[int] | None = None


class EraseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The examples to forget, by their versions or by the keys that they were sent with."""

    versions: list[ErasedRows] = []
    keys: list[str] = []


class EraseAnswer(msgspec.Struct):
    """The new version, how many rows are gone, and the first version that ended."""

    version: int
    erased: int
    ended_from: int


class HealthAnswer(msgspec.Struct, omit_defaults=True):
    """Whether the server runs, or is ready, and if not why."""

    status: str
    reason: str | None = None


class EventSummary(msgspec.Struct):
    """One event, without its rows: what happened, when, and how many rows and mistakes it had."""

    version: int
    at: float
    kind: str
    rows: int | None = None
    mistakes: int | None = None
    right: int | None = None


class EventsAnswer(msgspec.Struct):
    """The last events, the newest first."""

    events: list[EventSummary]


OTHER = b"\xff"
"""Begins keys that do not tell their time: no UUID of version 7 begins so before the year 10000."""
LONGEST_KEY = 255

MAX_SECONDS_AHEAD = 600.0
"""Seconds that the clock of a client may be ahead."""


def new_id() -> uuid.UUID:
    """Return a new UUIDv7.

    Examples
    --------
    >>> new_id().version
    7
    """
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high, low = random >> 68, random & ((1 << 62) - 1)
    return uuid.UUID(int=(milliseconds << 80) | (7 << 76) | (high << 64) | (2 << 62) | low)


def at_time(seconds: float) -> bytes:
    """Return the least id of a time: ids sort by time."""
    return max(0, int(seconds * 1000)).to_bytes(6, "big") + bytes(10)


def time_of(key: bytes) -> float:
    """Return when an id was made."""
    return int.from_bytes(key[:6], "big") / 1000


def tells_time(key: bytes) -> bool:
    """Return whether a key tells when it was made."""
    return not key.startswith(OTHER)


def read_key(text: str, what: str, status: int) -> bytes:
    """Return an idempotency key as the journal has it, or raise a problem of this status that calls it `what`.

    Examples
    --------
    >>> read_key("7d444840-9dc0-41d1-b245-5ffdce74fad2", "The key", 400)[1:9]
    b'7d444840'
    >>> len(read_key(str(new_id()), "The key", 400))
    16
    """
    if _read(text) is not None:
        return read_id(text, what, status)
    if not 0 < len(text) <= LONGEST_KEY or not all("!" <= each <= "~" for each in text):
        raise RequestError(
            status, f"{what} must have 1 to {LONGEST_KEY} visible characters of ASCII, without spaces. A new UUID "
            f"of version 7 is best, such as {new_id()}."
        )  # fmt: skip
    return OTHER + text.encode("ascii")


def read_id(text: str, what: str, status: int) -> bytes:
    """Return a UUID of version 7 as bytes; see `read_key`."""
    key = _read(text)
    if key is None:
        raise RequestError(
            status, f"{what} {text[:60]!r} is not a UUID of version 7. Send one, such as {new_id()}."
        )
    if time_of(key.bytes) > time.time() + MAX_SECONDS_AHEAD:
        raise RequestError(
            status, f"{what} {text} is from the future. Set the clock of the client, or of the server."
        )
    return key.bytes


def _read(text: str) -> uuid.UUID | None:
    try:
        key = uuid.UUID(text)
    except ValueError:
        return None
    return key if key.version == 7 and str(key) == text.lower() else None
