"""JSON as our files may hold it: each name once in a table, and only finite numbers."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def strict_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError with a short reason for any other text.

    Examples
    --------
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: a name occurs twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(str(error)[:200]) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is no number")


def _finite(written: str) -> float:
    number = float(written)
    return number if math.isfinite(number) else _no_number(written)
