"""The client calls a server, and retries without ever learning a row twice; `rosenblatt.client` is its name.

It needs httpx, and imports nothing of the server.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit
from uuid import UUID

from rosenblatt.atomic import replacing
from rosenblatt.exceptions import DataTypeError, Given, ParameterError, Remedy, RosenblattError
from rosenblatt.parameters import check_count
from rosenblatt.typing import ColumnLike

try:
    import httpx
except ImportError as error:
    raise ImportError(f"The client needs {error.name}: pip install httpx") from error


def new_key() -> str:
    """Return a new idempotency key: a UUID of version 7, which holds the time at which it was made.

    Examples
    --------
    >>> UUID(new_key()).version
    7
    """
    milliseconds = time.time_ns() // 1_000_000
    number = (milliseconds << 80) | secrets.randbits(80)
    number = number & ~(0xF << 76) | (7 << 76)
    number = number & ~(0x3 << 62) | (2 << 62)
    return str(UUID(int=number))


def as_list(values: Any) -> Any:
    """Return rows, labels or weights as lists of plain values."""
    if isinstance(values, (str, bytes, Mapping)):
        raise DataTypeError(
            f"rows, labels and weights are lists, but this is one {type(values).__name__}. Put it into a list."
        )
    if hasattr(values, "to_dicts"):  # polars
        return values.to_dicts()
    if hasattr(values, "to_dict") and hasattr(values, "columns"):  # pandas
        return values.to_dict("records")
    if hasattr(values, "to_pylist"):  # pyarrow
        return values.to_pylist()
    if hasattr(values, "tolist"):  # numpy, and columns of dataframes
        return values.tolist()
    return values if isinstance(values, Sequence) else list(values)


def as_json(value: object) -> str:
    """Return a value as JSON; numpy's numbers become plain ones."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":"))
    except ValueError as error:
        raise DataTypeError(
            "The rows hold NaN or infinity, which the server refuses. Leave such rows out, or send null where the "
            "model fills missing values."
        ) from error


def _plain(value: object) -> Any:
    """Return numpy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise DataTypeError(f"A row holds a {type(value).__name__}, which JSON cannot. Send numbers, texts or null.")


Label: TypeAlias = str | int | float | bool


PLACES = ("code", "row", "column", "parameter", "parameters")


class CallError(RosenblattError):
    """The server refused a call.

    Attributes
    ----------
    status : int
        The HTTP status.
    title, detail : str
        What kind of problem it is, and what was wrong, where, and what to do.
    code, row, column, parameter, parameters, remedies
        See `RosenblattError`. The row and the column are those of the rows that were sent.
    key : str or None
        The idempotency key of the call.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], key: str | None = None) -> None:
        self.status, self.key = status, key
        self.title, self.detail = str(problem.get("title", "Refused")), str(problem.get("detail", ""))
        place = {name: problem[name] for name in PLACES if name in problem}
        if not isinstance(
            place.get("parameters", []), list
        ):  # what stands between may answer in fields of its own
            del place["parameters"]
        super().__init__(f"{status} {self.title}: {self.detail}", **place)
        self._given = problem.get("remedies", ())

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The parameters that could be set, of the server or of the model when it is trained."""
        return tuple(Remedy(each["parameter"], each.get("value")) for each in self._given)


class UnreachableError(RosenblattError, ConnectionError):
    """The server did not answer, and it is not known whether it did what was asked.

    Attributes
    ----------
    key : str or None
        The idempotency key of the call. The same call with this key is never done twice.
    """

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """Labels and scores of rows, in their order.

    Attributes
    ----------
    labels : list
        One for each row.
    scores : list
        One number for each row for two classes, positive for the second; else one for each class.
    classes : list
        The labels that the model knows.
    version : int
        The version that answered.
    ids : list of str or None
        The ids by which `Client.feedback` takes labels, if the predictions are remembered.
    """

    labels: list[Label]
    scores: list[Any]
    classes: list[Label]
    version: int
    ids: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What was learned: it is on the server's disk.

    Attributes
    ----------
    version : int
        The version of the model after these rows.
    rows, mistakes, right : int
        The rows learned, the updates made, and the rows predicted correctly before they were learned.
    refused : list of dict
        Rows that were left out, each with its reason.
    """

    version: int
    rows: int
    mistakes: int
    right: int
    refused: list[dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class ServedInfo:
    """A model that is served.

    Attributes
    ----------
    name, learner : str
        What it is called, and what learns.
    classes : list
        The labels that it knows.
    columns : list of str or None
        The columns of rows, where they have names.
    version, base : int
        The version that predicts, and the oldest that can be restored.
    rows_learned, mistakes : int
        The counts since version 0.
    rolling : dict
        How the last rows were predicted before they were learned: ``rows``, ``right`` and ``accuracy``.
    """

    name: str
    learner: str
    classes: list[Label]
    columns: list[str] | None
    version: int
    base: int
    rows_learned: int
    mistakes: int
    rolling: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The weights behind one answer.

    Attributes
    ----------
    version : int
        The version that answered.
    label : label
        The answer.
    explanations : list of dict
        The score of each class as a sum: its ``bias``, the ``contributions`` of features, or of the support points
        of a kernel, the largest first, and the ``rounding`` of the sum of floats. A contribution has the
        ``feature``, its ``value`` in the row, its ``input`` to the learner after scaling, its ``weight`` and the
        ``contribution``, which is input times weight.
    """

    version: int
    label: Label
    explanations: list[dict[str, Any]]


LOOPBACK = ("localhost", "127.0.0.1", "::1")
AGAIN = {429, 502, 503, 504}
"""Statuses that say that nothing was done, or that the same request may be sent again."""
LONGEST_WAIT = 30.0
Result = TypeVar("Result")


class Client:
    """Calls a server.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000``.
    token : str or None
        The token, where the server needs one.
    timeout : float
        Seconds to wait for an answer.
    attempts : int
        How often a call is tried. A call is tried again if the server cannot be reached, or is busy.
    verify : bool, str or ssl.SSLContext
        The certificates to trust, as in httpx: True takes those of the system, a context any other.
    unencrypted : bool
        Whether a token may be sent without TLS to another computer.
    transport : httpx.BaseTransport or None
        What sends requests; for tests.
    sleep : callable
        What waits between attempts; for tests.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        attempts: int = 5,
        verify: Any = True,
        unencrypted: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        where = urlsplit(address)
        if where.scheme not in ("http", "https") or not where.hostname:
            told = " is no address of a server. Use such as http://127.0.0.1:8000."
            raise ParameterError(Given("address", address) + told)
        check_count("attempts", attempts)
        if token is not None and where.scheme == "http" and where.hostname not in LOOPBACK and not unencrypted:
            raise ParameterError(
                f"The token would be readable on the way to {where.hostname}. Use https, or unencrypted=True in a "
                "network that you trust.",
                parameters=("token", "unencrypted"),
            )
        self.attempts, self._sleep = attempts, sleep
        self._http = httpx.Client(
            base_url=address,
            timeout=timeout,
            verify=verify,
            transport=transport,
            headers={} if token is None else {"authorization": f"Bearer {token}"},
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def is_ready(self) -> bool:
        """Return whether the server takes calls now; False if it cannot be reached."""
        return self._answers("/readyz")

    def is_running(self) -> bool:
        """Return whether the process of the server answers, ready or not."""
        return self._answers("/healthz")

    def _answers(self, path: str) -> bool:
        try:
            return self._http.get(path).status_code == 200
        except httpx.TransportError:
            return False

    def models(self) -> list[ServedInfo]:
        """Return all models that the token allows to see."""
        return [_made(ServedInfo, each) for each in self._get("/v1/models")["models"]]

    def model(self, name: str) -> ServedInfo:
        """Return what is served under a name."""
        return _made(ServedInfo, self._get(_path(name)))

    def predict(
        self, name: str, rows: Any, *, remember: bool = False, min_version: int | None = None
    ) -> Predicted:
        """Return labels and scores of rows.

        Parameters
        ----------
        name : str
            The model.
        rows : list of dict, of list or of str, array, or dataframe
            As the model was trained on.
        remember : bool
            Whether each prediction gets an id, for `feedback`.
        min_version : int or None
            The oldest version that may answer, such as that of your last `learn`.
        """
        asked: dict[str, Any] = {"rows": as_list(rows)}
        if remember:
            asked["remember"] = True
        if min_version is not None:
            asked["min_version"] = min_version
        return _made(Predicted, self._post(_path(name, "predict"), asked))

    def learn(
        self,
        name: str,
        rows: Any,
        labels: ColumnLike,
        *,
        weights: Any = None,
        key: str | None = None,
    ) -> Learned:
        """Learn rows in order; when this returns, they are on the server's disk.

        Parameters
        ----------
        name : str
            The model.
        rows : list of dict, of list or of str, array, or dataframe
            As the model was trained on.
        labels : sequence
            One for each row.
        weights : sequence of float or None
            What the steps are multiplied by.
        key : str or None
            The idempotency key: a call that is repeated with its key is learned once. Made here if None; pass
            the one of an `UnreachableError` to try again later.
        """
        asked = {"rows": as_list(rows), "labels": as_list(labels)}
        if weights is not None:
            asked["weights"] = as_list(weights)
        return _made(Learned, self._post(_path(name, "learn"), asked, key or new_key()))

    def feedback(self, name: str, id: str, label: Label) -> Learned:
        """Learn the true label of an earlier prediction by its id, once; see `predict` with ``remember``."""
        return _made(Learned, self._post(_path(name, "feedback"), {"id": id, "label": label}))

    def explain(self, name: str, row: Any = None, *, id: str | None = None) -> Explanation:
        """Return the weights behind the answer for one row, or for a remembered prediction by its id."""
        if (row is None) == (id is None):
            raise ParameterError(
                "explain takes a row, or the id of a prediction. Give one of them.", parameter="row"
            )
        asked = {"row": as_json(row)} if id is None else {"id": id}
        return _made(Explanation, self._get(_path(name, "explain"), **asked))

    def versions(self, name: str) -> dict[str, Any]:
        """Return which versions can be restored or exported, and what changed them."""
        found: dict[str, Any] = self._get(_path(name, "versions"))
        return found

    def events(self, name: str, *, last: int = 20) -> list[dict[str, Any]]:
        """Return the last events, the newest first, each with ``version``, ``kind``, time ``at`` and counts."""
        found: list[dict[str, Any]] = self._get(_path(name, "events"), last=str(last))["events"]
        return found

    def erase(
        self, name: str, versions: Sequence[int | Mapping[str, Any]] = (), *, keys: Sequence[str] = ()
    ) -> dict[str, int]:
        """Forget examples: the model becomes the one that never learned them.

        Parameters
        ----------
        name : str
            The model.
        versions : sequence of int or mapping
            The versions whose rows are forgotten; of some rows only, ``{"version": 7, "rows": [0, 2]}``.
        keys : sequence of str
            The idempotency keys that the examples were sent with.

        Returns
        -------
        dict
            The new ``version``, how many rows are ``erased``, and ``ended_from``, the first version that ended.
        """
        rows = [dict(each) if isinstance(each, Mapping) else {"version": each} for each in versions]
        found: dict[str, int] = self._post(_path(name, "erase"), {"versions": rows, "keys": list(keys)})
        return found

    def rollback(self, name: str, version: int) -> int:
        """Restore an earlier version, and return the number of the new version that equals it.

        A call that may have been done is not repeated: it would undo what others taught meanwhile.
        """
        return int(self._post(_path(name, "rollback"), {"version": version}, repeats=False)["version"])

    def export(self, name: str, path: str | os.PathLike[str], *, version: int | None = None) -> None:
        """Write a version of a model, the newest by default, to a file that `rosenblatt.load` reads."""
        asked = {} if version is None else {"version": str(version)}
        content = self._call("GET", _path(name, "export"), params=asked).content
        with replacing(path) as file:
            file.write(content)

    def _get(self, path: str, **params: str) -> Any:
        return self._call("GET", path, params=params).json()

    def _post(self, path: str, asked: Any, key: str | None = None, *, repeats: bool = True) -> Any:
        headers = {"content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = key
        content = as_json(asked).encode()
        return self._call("POST", path, content=content, headers=headers, key=key, repeats=repeats).json()

    def _call(
        self, method: str, path: str, *, key: str | None = None, repeats: bool = True, **request: Any
    ) -> httpx.Response:
        """Send a request until it is answered; every attempt is the same to the byte, key included.

        A request that must not be done twice is sent again only if the server has not seen it.
        """
        for attempt in range(1, self.attempts + 1):
            wait = random.uniform(0.5, 1.0) * min(0.1 * 2**attempt, LONGEST_WAIT)
            try:
                answer = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                if attempt == self.attempts or not (repeats or isinstance(error, httpx.ConnectError)):
                    again = "" if key is None else f" It is safe to call again with key={key!r}."
                    raise UnreachableError(
                        f"{self._http.base_url} did not answer ({attempt} attempts): {error}.{again}", key
                    ) from error
            else:
                if answer.is_success:
                    return answer
                problem = CallError(answer.status_code, _problem(answer), key)
                after = answer.headers.get("retry-after", "")
                may_repeat = answer.status_code in AGAIN or (answer.status_code == 409 and after)
                if not may_repeat or attempt == self.attempts or (after.isdigit() and int(after) > LONGEST_WAIT):
                    raise problem
                wait = max(wait, float(after)) if after.isdigit() else wait
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _path(name: str, call: str = "") -> str:
    return f"/v1/models/{quote(name, safe='')}" + (f"/{call}" if call else "")


def _made(kind: type[Result], found: Any) -> Result:
    """Return an answer as a value; fields that a later server added are left out."""
    return kind(**{each.name: found[each.name] for each in fields(kind) if each.name in found})  # type: ignore[arg-type]


def _problem(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"title": answer.reason_phrase, "detail": answer.text[:200]}
