"""Read lines of svmlight text into compressed sparse rows.

The loop stops before any line that it is not sure of. `rosenblatt.formats.svmlight_plain`, which defines the
grammar, then reads that line or reports what is wrong with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._bits import byte_at
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.decimals import PADDING, WHOLE_TENS, decimal_at, digits_at

__all__ = ["PADDING", "count_lines_and_colons", "read_lines"]

TAB, NEWLINE, RETURN, SPACE, HASH, COLON = (ord(c) for c in "\t\n\r #:")
LETTER_Q, LETTER_I, LETTER_D = (ord(c) for c in "qid")


@jit
def count_lines_and_colons(text: Any, stop: Any) -> Any:
    """Return the number of lines that end before `stop` and the number of colons: there are no more entries."""
    lines, colons = 0, 0
    for at in range(np.uint64(stop)):
        lines += text[at] == NEWLINE
        colons += text[at] == COLON
    return lines, colons


@jit
def read_lines(text: Any, stop: Any, settings: Any, room: Any, progress: Any) -> Any:
    """Read on to `stop`, the end of a line, or to the first line that this loop is not sure of.

    `text` has `PADDING` readable bytes after `stop`. The settings are the least index, which becomes column 0, and
    the largest. `room` must have space for a label and a query for each line and an entry for each colon; a line
    without a query gets −1. Return the progress: how far reading has come, and the range of indices so far.
    """
    base, most = settings
    labels, data, indices, indptr, queries = room
    at, lines, rows, stored, smallest, largest = progress
    while at < stop:
        begin = at
        token = _after_blanks(text, at)
        if not _ends(text, token):
            label, at, sure = decimal_at(text, token)
            sure, at, query = _query_at(text, at, sure)
            previous, p = base - 1, np.uint64(stored)
            while sure:
                token = _after_blanks(text, at)
                if _ends(text, token):
                    break
                index, colon = _index_at(text, token)
                # A number ends before the first byte that is no digit, so an index has a blank before it.
                sure = previous < index <= most and byte_at(text, colon) == COLON
                if sure:
                    data[p], at, sure = decimal_at(text, colon + 1)
                    indices[p] = index - base
                    p += np.uint64(1)
                    previous = index
            if not sure:
                return begin, lines, rows, stored, smallest, largest
            if previous >= base:
                smallest = min(smallest, np.int64(indices[np.uint64(stored)]) + base)
                largest = max(largest, previous)
            stored = np.int64(p)
            labels[np.uint64(rows)] = label
            queries[np.uint64(rows)] = query
            rows += 1
            indptr[np.uint64(rows)] = stored
        at = _after_line(text, token)
        lines += 1
    return at, lines, rows, stored, smallest, largest


@inline
def _after_blanks(text: Any, at: Any) -> Any:
    byte = byte_at(text, at)
    while byte in (SPACE, TAB):
        at += 1
        byte = byte_at(text, at)
    return at


@inline
def _ends(text: Any, at: Any) -> Any:
    """Return whether nothing but a comment is left of a line."""
    byte = byte_at(text, at)
    return byte in (NEWLINE, HASH) or (byte == RETURN and byte_at(text, at + 1) == NEWLINE)


@inline
def _after_line(text: Any, at: Any) -> Any:
    while byte_at(text, at) != NEWLINE:
        at += 1
    return at + 1


@inline
def _index_at(text: Any, at: Any) -> Any:
    """Return the index at `at`, or −1 if there is none, and where it or its first sixteen digits end."""
    digits, count = digits_at(text, at)
    at += count
    index = np.int64(digits) if count > 0 else -1
    if count == 8:
        digits, count = digits_at(text, at)
        index = index * np.int64(WHOLE_TENS[count]) + np.int64(digits)
        at += count
    return index, at


@inline
def _query_at(text: Any, at: Any, sure: Any) -> Any:
    """Read ``qid:N`` after a label; return whether this is sure, where it ends, and N, or −1 if there is none."""
    token = _after_blanks(text, at)
    if not sure or byte_at(text, token) != LETTER_Q:
        return sure, at, -1
    if byte_at(text, token + 1) != LETTER_I or byte_at(text, token + 2) != LETTER_D:
        return False, at, -1
    digits, count = digits_at(text, token + 4)
    right = token > at and byte_at(text, token + 3) == COLON and 0 < count < 8
    return right, token + 4 + count, np.int64(digits)
