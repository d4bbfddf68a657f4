"""Coroutines that are tried before they are awaited: what is there already needs no timer."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

__all__ = ["Begun"]


class Begun:
    """A coroutine whose first step is done; it may have ended with that.

    Parameters
    ----------
    coroutine : coroutine
        It is run until it waits for something.

    Attributes
    ----------
    is_done : bool
        Whether it has ended.
    result : object
        What it returned then; otherwise awaiting this object returns it.
    """

    __slots__ = ("_coroutine", "_waits_for", "is_done", "result")

    def __init__(self, coroutine: Any) -> None:
        self._coroutine, self.is_done, self.result = coroutine, False, None
        try:
            self._waits_for = coroutine.send(None)
        except StopIteration as end:
            self.is_done, self.result = True, end.value

    def __await__(self) -> Generator[Any, Any, Any]:
        if self.is_done:
            return self.result
        while True:
            thrown: BaseException | None = None
            try:
                yield self._waits_for
            except BaseException as error:
                thrown = error
            try:
                goes_on = self._coroutine.send(None) if thrown is None else self._coroutine.throw(thrown)
            except StopIteration as end:
                return end.value
            self._waits_for = goes_on
