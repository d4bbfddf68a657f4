"""A client of the server: predictions and learning from Python, with retries that never learn a row twice.

Examples
--------
>>> from rosenblatt.client import Client
>>> def ask():
...     with Client("http://127.0.0.1:8000") as client:
...         client.learn("spam", ["win a prize now"], ["spam"])
...         return client.predict("spam", ["see you at lunch"]).labels
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.rooms import find

if TYPE_CHECKING:
    from rosenblatt.server.caller import CallError as CallError
    from rosenblatt.server.caller import Client as Client
    from rosenblatt.server.caller import Explanation as Explanation
    from rosenblatt.server.caller import Learned as Learned
    from rosenblatt.server.caller import Predicted as Predicted
    from rosenblatt.server.caller import ServedInfo as ServedInfo
    from rosenblatt.server.caller import UnreachableError as UnreachableError
    from rosenblatt.server.caller import new_key as new_key

__all__ = [
    "CallError",
    "Client",
    "Explanation",
    "Learned",
    "Predicted",
    "ServedInfo",
    "UnreachableError",
    "new_key",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(find("server.caller"), name)
    raise AttributeError(f"module 'rosenblatt.client' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
