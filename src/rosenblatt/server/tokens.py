"""Tokens: who may call the server, for which models and for what, until when.

A token is 256 random bits. The file holds only its SHA-256, so reading the file does not let anyone call the
server. A token is looked up by comparing its hash with every stored one, each in constant time. The server notices
when the file changes: a revoked token ends without a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rosenblatt.atomic import open_private, replacing
from rosenblatt.exceptions import ParameterError, StorageError
from rosenblatt.locking import hold_lock

log = logging.getLogger("rosenblatt.server")

SCOPES = ("predict", "learn", "admin")
EVERY_MODEL = "*"
FILE = "tokens.json"
PREFIX = "rosenblatt_"  # lets scanners of repositories find a token that was committed
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
LONGEST_NAME = 100
DAY_SECONDS = 86_400.0


class Token(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token without its secret."""

    id: str  # eight characters by which people name it
    name: str  # what it is for
    sha256: str  # the hash of its secret, in hexadecimal digits
    # the scopes for each model by its name; the name ``*`` stands for every model
    scopes: dict[str, tuple[str, ...]]
    # created, expires: seconds since 1970; a token without `expires` does not expire
    created: float
    expires: float | None = None

    def allows(self, model: str, scope: str) -> bool:
        """Return whether the token has a scope for a model."""
        return scope in self.scopes.get(model, ()) or scope in self.scopes.get(EVERY_MODEL, ())

    def sees(self, model: str) -> bool:
        """Return whether the token has any scope for a model."""
        return model in self.scopes or EVERY_MODEL in self.scopes

    def is_valid_at(self, now: float) -> bool:
        """Return whether the token has not expired."""
        return self.expires is None or now < self.expires


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    tokens: list[Token]


def read_grants(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the scopes for each model, from words such as ``predict`` for every model, or ``learn:spam`` for one.

    Examples
    --------
    >>> read_grants(["predict", "learn:spam", "admin:spam"])
    {'*': ('predict',), 'spam': ('learn', 'admin')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        scope, colon, model = word.partition(":")
        if scope not in SCOPES:
            told = f"there is no scope {scope!r}. Use {', '.join(SCOPES)}, or such as learn:spam."
            raise ParameterError(told, parameter="scopes", value=word)
        if colon and model != EVERY_MODEL and not MODEL_NAME.fullmatch(model):
            told = f"{model!r} is no name of a model. Names have letters, digits, '_', '-' and '.'."
            raise ParameterError(told, parameter="scopes", value=word)
        model = model or EVERY_MODEL
        if scope not in found.get(model, ()):
            found[model] = (*found.get(model, ()), scope)
    if not found:
        told = "a token needs a scope, or it allows nothing. Name one, such as predict."
        raise ParameterError(told, parameter="scopes")
    return found


def hash_of(secret: str) -> str:
    """Return the hash of a secret. 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """The tokens of a data folder."""

    def __init__(self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        self.path = Path(folder) / FILE
        self.clock = clock

    def read(self) -> list[Token]:
        """Return all tokens; none if there is no file. It may not be damaged, and nobody else may write to it."""
        try:
            descriptor = open_private(self.path)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be used: {error.strerror}. Make it your own, with mode 600."
            ) from error
        with os.fdopen(descriptor, "rb") as file:
            content = file.read()
        try:
            stored = msgspec.json.decode(content, type=_Stored)
        except msgspec.DecodeError as error:
            raise StorageError(
                f"{self.path} is damaged: {error}. Remove it, and make new tokens with `rosenblatt token create`."
            ) from error
        if stored.version != 1:
            raise StorageError(f"{self.path} was written by a later version of rosenblatt. Use that version.")
        return stored.tokens

    def create(
        self, name: str, scopes: Mapping[str, tuple[str, ...]], days: float | None = None
    ) -> tuple[Token, str]:
        """Make a token, by default one for ever, and return it with its secret, which is stored nowhere."""
        if not 0 < len(name) <= LONGEST_NAME:
            told = f"the name of a token has from 1 to {LONGEST_NAME} characters."
            raise ParameterError(told, parameter="name", value=name)
        secret = PREFIX + secrets.token_urlsafe(32)
        now = self.clock()
        token = Token(
            id=secrets.token_hex(4),
            name=name,
            sha256=hash_of(secret),
            scopes=dict(scopes),
            created=now,
            expires=None if days is None else now + days * DAY_SECONDS,
        )
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with hold_lock(self.path):
            self._write([*self.read(), token])
        return token, secret

    def revoke(self, which: str) -> Token:
        """Remove the token with this id, or with this name where only one has it, and return it."""
        with hold_lock(self.path):
            tokens = self.read()
            found = [each for each in tokens if each.id == which] or [
                each for each in tokens if each.name == which
            ]
            if len(found) != 1:
                how = "several tokens have" if found else "no token has"
                raise ParameterError(
                    f"{how} the id or name {which!r}. `rosenblatt token list` shows the id of each.",
                    parameter="which",
                    value=which,
                )
            self._write([each for each in tokens if each is not found[0]])
        return found[0]

    def _write(self, tokens: list[Token]) -> None:
        with replacing(self.path, private=True) as file:
            file.write(msgspec.json.format(msgspec.json.encode(_Stored(1, tokens)), indent=1))


class TokenWatch:
    """The tokens as the server sees them: read again when the file changes; looks are `every` seconds apart."""

    def __init__(
        self, file: TokenFile, *, every: float = 1.0, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self.file, self.every, self.ticks = file, every, ticks
        self._seen: Any = None
        self._next = float("-inf")
        self._tokens: list[Token] = []
        self._look(may_fail=True)

    def is_on(self) -> bool:
        """Return whether calls need a token: there is a file of tokens, or there was one, even if it is empty."""
        if self.ticks() >= self._next:
            self._look()
        return self._seen is not None

    def find(self, secret: str) -> Token | None:
        """Return the valid token with this secret, or None."""
        self.is_on()
        wanted, found = hash_of(secret), None
        for token in self._tokens:  # all of them: the time does not depend on where one is found
            if hmac.compare_digest(token.sha256, wanted):
                found = token
        return found if found is not None and found.is_valid_at(self.file.clock()) else None

    def _look(self, *, may_fail: bool = False) -> None:
        self._next = self.ticks() + self.every
        try:
            status = self.file.path.lstat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode, status.st_uid)
            if seen != self._seen:
                self._tokens = self.file.read()
                self._seen = seen
        except FileNotFoundError:
            if self._seen is not None:  # a server that was started with tokens never runs without
                self._seen, self._tokens = (), []
        except (StorageError, OSError) as error:
            if may_fail:
                raise
            if self._tokens or self._seen is None:
                log.warning("Nobody may call, because the tokens cannot be read: %s", error)
            self._seen, self._tokens = (), []
