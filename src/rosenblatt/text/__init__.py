"""Text: lines of a stream, rows of delimited text, and words as features."""

import sys

__all__ = ["MOST_BITS", "MOST_NGRAMS", "loop_pays"]

MOST_BITS = 28
"""Hashed features are at most 2^28 for each column."""

MOST_NGRAMS = 16
"""The most words of a run that counts as one feature."""


def loop_pays(n_bytes: int, small: int) -> bool:
    """Return whether to use a compiled loop: it is loaded already, or there are more than `small` bytes.

    Loading numba takes about half a second; plain Python gives the same result on small inputs before that.
    """
    return n_bytes > small or "numba" in sys.modules
