"""A client of the server: predictions and learning from Python, with retries that never learn a row twice.

Examples
--------
>>> from rosenblatt.client import Client
>>> def ask():
...     with Client("http://127.0.0.1:8000") as client:
...         client.learn("spam", ["win a prize now"], ["spam"])
...         return client.predict("spam", ["see you at lunch"]).labels
"""

try:
    import httpx  # noqa: F401 - asked for here, so that the message names the way out
except ImportError as error:
    raise ImportError(f"The client needs {error.name}. Install rosenblatt[client].") from error

from rosenblatt.client.answers import CallError, Explanation, Learned, Predicted, ServedInfo, UnreachableError
from rosenblatt.client.caller import Client
from rosenblatt.client.values import new_key

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
