"""Data sets by name: the lectures' worked examples, and random data whose truth is known.

Each function returns a fresh `Dataset`, a pair that unpacks as ``X, y = load_xor()`` and also says what
it is, but for `make_echo`, which makes signals. Labels are the integers −1 and +1. The same seed gives the
same bits.
"""

from __future__ import annotations

from rosenblatt.datasets.cards import make_cards
from rosenblatt.datasets.dataset import Dataset
from rosenblatt.datasets.echo import Echo, make_echo
from rosenblatt.datasets.named import (
    load_and,
    load_or,
    load_six_points,
    load_spam_table,
    load_xor,
    make_diagonal,
)
from rosenblatt.datasets.separable import make_separable
from rosenblatt.datasets.text import make_text

__all__ = [
    "Dataset",
    "Echo",
    "load_and",
    "load_or",
    "load_six_points",
    "load_spam_table",
    "load_xor",
    "make_cards",
    "make_diagonal",
    "make_echo",
    "make_separable",
    "make_text",
]
