"""The one way loops are compiled.

No fastmath: training adds in a fixed order, so that the same visits give the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.extending import overload

# Loops own no array: Python keeps the arrays alive. Otherwise numba would count references to every view on every
# visit, which costs more than scoring a short row. So loops neither make nor return arrays.
COUNTS_NO_REFERENCES = {"_nrt": False}

P = ParamSpec("P")
T = TypeVar("T")


def jit(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` with numba, release the GIL, and cache the result on disk where that is possible."""
    options = COUNTS_NO_REFERENCES | {"nogil": True, "error_model": "numpy"} | options
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written to
        compiled = numba.njit(**options)(function)
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

    overload(called, strict=False, jit_options=COUNTS_NO_REFERENCES | {"forceinline": True})(choose)
    return called
