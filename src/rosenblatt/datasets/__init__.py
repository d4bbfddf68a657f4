"""Data sets by name: worked examples of lectures, and random data with a known truth.

Each function returns a `Dataset`, a pair that unpacks as ``X, y = load_xor()`` and has a name and a description;
only `make_echo` returns signals. Labels are the integers −1 and +1. The same seed gives the same bits.
"""

from __future__ import annotations

from rosenblatt.datasets.dataset import Dataset
from rosenblatt.datasets.loaded import (
    load_and,
    load_or,
    load_six_points,
    load_spam_table,
    load_xor,
    make_cards,
    make_diagonal,
)
from rosenblatt.datasets.made import Echo, make_echo, make_separable
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
