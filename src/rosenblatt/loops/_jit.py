"""The one way a loop is compiled.

No fastmath: training adds in a fixed order, so that the same visits give the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

# Loops own no array: what they work on outlives them in Python. Otherwise numba would count references to every
# view on every visit, by calls that cost more than a short row. The price: loops neither make nor return arrays.
COUNTS_NO_REFERENCES = {"_nrt": False}

VERB = {"strict": False, "jit_options": COUNTS_NO_REFERENCES | {"forceinline": True}}
"""How the implementations of a verb are compiled: one chosen by the types of its arguments, into each caller."""

P = ParamSpec("P")
T = TypeVar("T")


def jit(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` with numba: cached on disk where there is a place for it, the GIL released."""
    options = COUNTS_NO_REFERENCES | {"nogil": True, "error_model": "numpy"} | options
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written to
        compiled = numba.njit(**options)(function)
    return cast("Callable[P, T]", compiled)


def inline(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` into each loop that calls it: a call would hand over a dozen words of array header."""
    return jit(function, forceinline=True, **options)


def inline_any_order(function: Callable[P, T]) -> Callable[P, T]:
    """Like `inline`, but sums may be reordered: only where a proven slack covers every order."""
    return inline(function, fastmath={"reassoc", "contract"})
