"""The one way loops are compiled.

No fastmath: training adds in a fixed order, so that the same visits give the same bits on every machine.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import types
from numba.core.caching import FunctionCache, NullCache
from numba.core.sigutils import normalize_signature
from numba.extending import overload

from rosenblatt.loops.compilation import when_compiling

# Loops own no array: Python keeps the arrays alive. Otherwise numba would count references to every view on every
# visit, which costs more than scoring a short row. So loops neither make nor return arrays.
COUNTS_NO_REFERENCES = {"_nrt": False}

VERB = {"strict": False, "jit_options": COUNTS_NO_REFERENCES | {"forceinline": True}}
"""How the implementations of a verb are compiled: one chosen by the types of its arguments, into each caller."""


numba_log = logging.getLogger("numba")
if numba_log.level == logging.NOTSET:
    numba_log.setLevel(logging.WARNING)  # it writes thousands of lines for each loop where everything is logged


def _begin_compiling() -> None:
    for begins in tuple(when_compiling):
        begins()


class OwnTypesCache(FunctionCache):  # type: ignore[misc]
    """A cache on disk of loops compiled for types of this package alone.

    It holds no loop for a rule of another package: other processes could not read the file without that package,
    and numba would not notice that the rule was edited. Such loops are compiled once in each process.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled loop, or None, and then call those that wait for a compilation."""
        found = super().load_overload(sig, target_context) if _is_own(sig) else None
        if found is None:
            _begin_compiling()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled loop to the disk."""
        if _is_own(sig):
            super().save_overload(sig, data)


class NoCache(NullCache):  # type: ignore[misc]
    """No cache on disk: each process compiles anew."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Call those that wait for a compilation."""
        _begin_compiling()


def _is_own(sig: Any) -> bool:
    named = [each.instance_class for each in normalize_signature(sig)[0] if isinstance(each, types.BaseNamedTuple)]
    return all(each.__module__.startswith("rosenblatt.") for each in named)


P = ParamSpec("P")
T = TypeVar("T")


def jit(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` with numba, release the GIL, and cache the result on disk where that is possible."""
    options = COUNTS_NO_REFERENCES | {"nogil": True, "error_model": "numpy"} | options
    compiled = numba.njit(**options)(function)
    try:
        compiled._cache = OwnTypesCache(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written to
        compiled._cache = NoCache()
    return cast("Callable[P, T]", compiled)


def inline(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` into each loop that calls it: a call would pass a dozen words for each array."""
    return jit(function, forceinline=True, **options)


def inline_any_order(function: Callable[P, T]) -> Callable[P, T]:
    """Like `inline`, but sums may be reordered: only for sums whose error bound holds in any order."""
    return inline(function, fastmath={"reassoc", "contract"})


def verb(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that means something else for other types, such as dense and sparse rows.

    `choose` takes the numba types of the arguments and returns the implementation, which is compiled into each
    loop that calls the verb.
    """

    @wraps(choose)
    def called(*_: Any) -> Any:
        raise TypeError(f"{choose.__name__} is called from compiled loops only")

    overload(called, **VERB)(choose)
    return called
