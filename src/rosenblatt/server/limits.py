"""How much a request may hold, and where in it something is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from rosenblatt.server.messages import RequestError

OUTER, FIELD = re.compile(r"at `\$\.(\w+)"), re.compile(r"field `(\w+)`")
"""Where a message of msgspec names fields, for which it has no other place: of a request, and of what is in it."""
PLACE = re.compile(r" - at `\$\.(rows|labels|weights)\[(\d+)\](?:\[(\d+|\.\.\.)\])?")
MAX_SEARCHED_BYTES = 1_000_000
"""Bytes of a body in which the column of a wrong value is looked for."""
LONGEST_LABEL = 1000
"""Characters of a label, and of the name of a feature that a model has not met."""


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """The most of everything."""

    body_bytes: int = 4_194_304  # bytes of a body
    rows: int = 10_000  # rows of a request
    features: int = 100_000  # values of a row
    classes: int = 1_000  # classes of a model that learns new ones
    new_features: int = 1_000_000  # features that a model meets for the first time in a day
    connections: int = 512  # connections at once
    # header_seconds, body_seconds: time for the headers, and for the body, to arrive
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    # requests a second of each token or, without tokens, of each address; None sets no limit
    rate: float | None = None

    def require(self, message: Any) -> None:
        """Raise `RequestError` if a request has too many rows, a row too many values, or a label is too long."""
        rows = getattr(message, "rows", None)
        if rows is not None:
            if len(rows) > self.rows:
                raise RequestError(
                    413, f"There are {len(rows)} rows, but a request may have {self.rows}. Send several requests.",
                    limit=self.rows,
                )  # fmt: skip
            for number, row in enumerate(rows):
                if len(row) > self.features and not isinstance(row, str):
                    raise RequestError(
                        422, f"Row {number} has {len(row)} values, but a row may have {self.features}.",
                        row=number, limit=self.features,
                    )  # fmt: skip
        one = getattr(message, "label", None)
        for number, label in enumerate(getattr(message, "labels", (one,))):
            if isinstance(label, str) and len(label) > LONGEST_LABEL:
                raise RequestError(
                    422, f"The label of row {number} has {len(label)} characters, but a label may have "
                    f"{LONGEST_LABEL}.", row=number, limit=LONGEST_LABEL,
                )  # fmt: skip


USUAL = RequestLimits()


def read_message(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """Return the body of a request as its type; raise `RequestError` with the place of what is wrong.

    Examples
    --------
    >>> from rosenblatt.server.messages import LearnRequest
    >>> read_message(msgspec.json.Decoder(LearnRequest), b'{"rows": [[1.5]], "labels": ["a"]}').labels
    ['a']
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _misfit(str(error), body) from error
    except RecursionError as error:
        raise RequestError(422, "The body is nested too deeply. A row holds plain values only.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(400, f"The body is not JSON in UTF-8: {error}.") from error


def _misfit(error: str, body: bytes) -> RequestError:
    found = PLACE.search(error)
    if found is None:
        field = OUTER.search(error) or FIELD.search(error)
        named: dict[str, Any] = {} if field is None else {"parameter": field[1]}
        return RequestError(422, f"The body is not what this call takes: {error.replace('`', '')}.", **named)
    what = error[: found.start()].replace("`", "")
    row, inner = int(found[2]), found[3]
    column: str | int | None = None
    if inner == "...":
        column = _column(body, row)
    elif inner is not None:
        column = int(inner)
    where = f"Row {row}" + (f", column {column!r}" if column is not None else "")
    place: dict[str, Any] = {"parameter": found[1], "row": row} | ({} if column is None else {"column": column})
    return RequestError(422, f"{where}: {what}. Rows hold finite numbers, texts, true, false and null.", **place)


def _column(body: bytes, row: int) -> str | None:
    """Return the name of the first value of a row that is no plain, finite value."""
    if len(body) > MAX_SEARCHED_BYTES:
        return None
    try:
        values = json.loads(body)["rows"][row]
    except (ValueError, RecursionError):
        return None
    return next((name for name, value in values.items() if not _is_plain(value)), None)


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) < 1 << 64
    return value is None or isinstance(value, str)


def place_of(rows: Sequence[Any], columns: Sequence[str] | None, numbers: Collection[str]) -> dict[str, Any]:
    """Return the row and the column of the first value that is wrong, where they can be told.

    `columns` are those of the model, where they have names; `numbers` are those of them that must hold numbers.

    Examples
    --------
    >>> place_of([{"age": 1}, {"age": "old"}], ["age"], {"age"})
    {'row': 1, 'column': 'age'}
    """
    for number, row in enumerate(rows):
        if type(row) is not type(rows[0]) or (isinstance(row, list) and len(row) != len(rows[0])):
            return {"row": number}
        wrong = _wrong_column(row, columns, numbers)
        if wrong is not None:
            return {"row": number, "column": wrong}
    return {}


def _wrong_column(row: Any, columns: Sequence[str] | None, numbers: Collection[str]) -> str | int | None:
    if isinstance(row, dict) and columns is not None:
        for column in columns:
            if column not in row or (column in numbers and not _is_number(row[column])):
                return column
    if isinstance(row, list) and columns is None:
        return next((position for position, value in enumerate(row) if not _is_number(value)), None)
    return None


def _is_number(value: object) -> bool:
    if not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
