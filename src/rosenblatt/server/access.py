"""Which call a request is, and what it needs a token for."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

__all__ = ["ANYONE", "HOLDER", "Access", "access_of"]

ANYONE = None  # needs no token
HOLDER = "any"  # needs a token with any scope; for a model, with any scope for that model
ADMIN = "admin"

FIXED = {
    "/healthz": ANYONE,
    "/readyz": ANYONE,
    "/v2/health/live": ANYONE,
    "/v2/health/ready": ANYONE,
}
V1 = {
    "": HOLDER,
    "predict": "predict",
    "explain": "predict",
    "learn": "learn",
    "feedback": "learn",
    "versions": HOLDER,
    "events": HOLDER,
    "rollback": ADMIN,
    "export": ADMIN,
    "erase": ADMIN,
}
V2 = {"": HOLDER, "ready": HOLDER, "infer": "predict"}


class Access(NamedTuple):
    """What a request is.

    Attributes
    ----------
    call : str
        The call, for logs and metrics; never holds text of the request.
    scope : str or None
        The scope it needs, or `ANYONE`, or `HOLDER`.
    model : str or None
        The model it names.
    """

    call: str
    scope: str | None
    model: str | None = None


_KNOWN = {path: Access(path, scope) for path, scope in FIXED.items()} | {
    path: Access(path, HOLDER) for path in ("/", "/docs", "/openapi.json", "/metrics", "/v1/models", "/v2")
}
_OTHER = Access("other", HOLDER)
_V1 = {word: f"/v1/models/{{name}}/{word}".rstrip("/") for word in V1}
_V2 = {word: f"/v2/models/{{name}}/{word}".rstrip("/") for word in V2}


@lru_cache(maxsize=1024)
def access_of(path: str) -> Access:
    """Return what a path is. Whatever is not known needs a token, and below a model the scope admin.

    Examples
    --------
    >>> access_of("/v1/models/spam/learn")
    Access(call='/v1/models/{name}/learn', scope='learn', model='spam')
    >>> access_of("/v2/models/spam/versions/7/infer")
    Access(call='/v2/models/{name}/infer', scope='predict', model='spam')
    >>> access_of("/v1/models/spam/else").scope, access_of("/else").scope
    ('admin', 'any')
    """
    found = _KNOWN.get(path)
    if found is not None:
        return found
    parts = path.split("/")
    if len(parts) < 4 or parts[2] != "models" or not parts[3]:
        return _OTHER
    model, rest = parts[3], parts[4:]
    if parts[1] == "v1":
        word = rest[0] if rest else ""
        return Access(_V1[word] if word in V1 else "other", V1.get(word, ADMIN), model)
    if parts[1] == "v2":
        if len(rest) >= 2 and rest[0] == "versions":
            rest = rest[2:]
        word = rest[0] if rest else ""
        return Access(_V2[word] if word in V2 else "other", V2.get(word, ADMIN), model)
    return _OTHER
