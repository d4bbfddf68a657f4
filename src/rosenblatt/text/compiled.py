"""Which of two twins does the work: a compiled loop, or plain Python, which gives the same without loading."""

from __future__ import annotations

import sys

__all__ = ["loop_pays"]


def loop_pays(n_bytes: int, small: int) -> bool:
    """Tell whether to use the loop: it is loaded already, or the input is larger than what is small for the twin.

    Loading takes about half a second, in which a command that predicts a few rows should have ended.
    """
    return n_bytes > small or "numba" in sys.modules
