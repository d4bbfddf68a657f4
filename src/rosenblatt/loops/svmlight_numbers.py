"""Read lines of svmlight text into compressed sparse rows.

The loop stops before any line that it is not sure of. `rosenblatt.tables.svmlight_plain`, which defines the
grammar, then reads that line or reports what is wrong with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._bits import byte_at, eight_at, float_of, high_product, leading_zeros, trailing_zeros
from rosenblatt.loops._jit import inline, jit

# Decimal numbers in a text, rounded to float64 exactly as Python's ``float`` rounds them, or left to Python.
#
# A number is an integer m of at most nineteen digits and a power of ten q. If m and 10^|q| are floats, one
# product or quotient rounds once and correctly (Clinger 1990). Otherwise m is multiplied by the leading 128 bits
# of 5^q, which decides all cases that are not too near to half-way between two floats (Lemire 2021). The
# remaining cases are reported to the caller, which asks Python.

PADDING = 8
"""Bytes that must follow a number, because eight bytes are read at a time."""

SMALLEST_POWER, LARGEST_POWER = -342, 308  # beyond, nineteen digits are all 0 or all infinite
_DIGITS = 19  # any number of so many fits into 64 bits


def _powers_of_five() -> NDArray[np.uint64]:
    """Return the leading 128 bits of each 5^q as two words.

    They are truncated, except for negative q whose 5^|q| fits into a word. Those are rounded up, so that exact
    quotients are found exact.
    """
    table = []
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 5 ** abs(q)
        if q >= 0:
            leading = power << 128 >> power.bit_length()
        else:
            leading = (1 << power.bit_length() + 127) // power + (1 if power < 1 << 64 else 0)
        table.append(divmod(leading, 1 << 64))
    return np.array(table, dtype=np.uint64)


FIVES = _powers_of_five()
TENS = np.array([10.0**q for q in range(23)])  # those that are floats
WHOLE_TENS = np.array([10**q for q in range(9)], dtype=np.uint64)

PLUS, MINUS, POINT, ZERO, LETTER_E = (ord(c) for c in "+-.0e")
LOWER_CASE = 32  # the bit by which capital letters differ
ONE, NINE, SIXTEEN, THIRTY_TWO = np.uint64(1), np.uint64(9), np.uint64(16), np.uint64(32)
ALL = np.uint64(2**64 - 1)
ZEROS = np.uint64(0x3030303030303030)
SIXES = np.uint64(0x0606060606060606)
HIGH_HALVES = np.uint64(0xF0F0F0F0F0F0F0F0)
LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x00FF00FF00FF00FF)
PAIRS = np.uint64(0x0000FFFF0000FFFF)
ONE_AND_TEN = np.uint64(1 + (10 << 8))
ONE_AND_HUNDRED = np.uint64(1 + (100 << 16))
ONE_AND_TEN_THOUSAND = np.uint64(1 + (10_000 << 32))
MANTISSA = np.uint64(2**53)  # also the largest m that is a float, with all below it
FRACTION = np.uint64(2**52 - 1)


@inline
def digits_at(text: NDArray[np.uint8], at: int) -> Any:
    """Return the number that the next digits make, at most eight of them, and how many there are.

    Bytes are handled side by side in one word: a digit is a byte whose high half is 3 and stays 3 when 6 is added.
    The digits are moved to the upper end of the word and summed pairwise, by tens, hundreds and ten thousands.
    """
    word = eight_at(text, at)
    other = ((word ^ ZEROS) | ((word + SIXES) ^ ZEROS)) & HIGH_HALVES
    count = trailing_zeros(other) >> 3
    if count == 0:
        return np.uint64(0), 0
    word = (word << np.uint64(64 - 8 * count)) & LOW_HALVES
    word = ((word * ONE_AND_TEN) >> np.uint64(8)) & BYTES
    word = ((word * ONE_AND_HUNDRED) >> SIXTEEN) & PAIRS
    return (word * ONE_AND_TEN_THOUSAND) >> THIRTY_TWO, count


@inline
def decimal_at(text: NDArray[np.uint8], at: int) -> Any:
    """Return the number at `at`, where it ends, and whether this is sure.

    It is not sure if there is no number, if it is not finite, if Python must decide its rounding, or if it is a
    whole number that may have been rounded.
    """
    sign = byte_at(text, at)
    if sign in (PLUS, MINUS):
        at += 1
    begin = at
    m, count = digits_at(text, at)
    n_digits, q = count, 0
    at += count
    while count == 8:
        more, count = digits_at(text, at)
        m = m * WHOLE_TENS[count] + more
        n_digits += count
        at += count
    if byte_at(text, at) == POINT:
        at += 1
        point = at
        count = 8
        while count == 8:
            more, count = digits_at(text, at)
            m = m * WHOLE_TENS[count] + more
            at += count
        q = point - at
        n_digits -= q
    if n_digits == 0:
        return 0.0, at, False
    rounded_down, whole = False, q == 0
    if n_digits > _DIGITS:
        m, q, rounded_down = _leading_digits(text, begin, at)
    if byte_at(text, at) | LOWER_CASE == LETTER_E:
        exponent, end = _exponent(text, at + 1)
        if end < 0:
            return 0.0, at, False
        q += exponent
        at = end
        whole = False
    if m < MANTISSA and -22 <= q <= 22 and not rounded_down:
        value = np.float64(m)
        value = value * TENS[q] if q >= 0 else value / TENS[-q]
    else:
        bits = _nearest(m, q)
        if whole or bits == ALL or (rounded_down and _nearest(m + ONE, q) != bits):
            return 0.0, at, False
        value = float_of(bits)
    return (-value if sign == MINUS else value), at, True


@inline
def _exponent(text: NDArray[np.uint8], at: int) -> Any:
    """Return the exponent at `at` and where it ends, or −1 for the end if there is none or it is too long."""
    sign = byte_at(text, at)
    if sign in (PLUS, MINUS):
        at += 1
    digits, count = digits_at(text, at)
    size = np.int64(digits)
    return (-size if sign == MINUS else size), (at + count if 0 < count < 8 else -1)


@jit
def _leading_digits(text: NDArray[np.uint8], at: int, end: int) -> Any:
    """Return the first nineteen significant digits, their power of ten, and whether nonzero digits follow."""
    m, taken, q, fraction, rounded_down = np.uint64(0), 0, 0, False, False
    for place in range(at, end):
        byte = byte_at(text, place)
        if byte == POINT:
            fraction = True
        elif taken < _DIGITS:
            m = m * np.uint64(10) + np.uint64(byte - ZERO)
            taken += int(m > 0)
            q -= int(fraction)
        else:
            rounded_down |= byte != ZERO
            q += int(not fraction)
    return m, q, rounded_down


@jit
def _nearest(m: Any, q: Any) -> Any:
    """Return the bits of the float nearest to m·10^q, or all ones if this is not certain or the float not normal.

    10^q = 5^q·2^q, so only the product m·5^q is rounded. Its leading bits are m·(leading bits of 5^q), too small
    by less than one in the last place. So the 54 bits that decide are right unless all bits that follow are ones,
    and then the second word of 5^q is used as well.
    """
    if m == 0 or q < SMALLEST_POWER:
        return np.uint64(0)
    if q > LARGEST_POWER:
        return ALL
    shift = leading_zeros(m)
    m <<= np.uint64(shift)
    first, second = FIVES[q - SMALLEST_POWER, 0], FIVES[q - SMALLEST_POWER, 1]
    high, low = high_product(m, first), m * first
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        carried = high_product(m, second)
        low += carried
        high += np.uint64(low < carried)
    if low == ALL and not -27 <= q <= 55:  # 5^q is not exact, and the bits omitted could carry
        return ALL
    upper = high >> np.uint64(63)
    mantissa = high >> (upper + NINE)
    exponent = ((217706 * q) >> 16) + 63 + np.int64(upper) - shift + 1023  # 217706 / 2^16 is log2(10)
    # A number exactly half-way between two floats needs a 5^q or 5^-q below 2^64.
    if low <= ONE and -4 <= q <= 23 and mantissa & ONE and (mantissa << (upper + NINE)) == high:
        return ALL
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa == MANTISSA:
        mantissa >>= ONE
        exponent += 1
    if not 0 < exponent < 2047:
        return ALL
    return (np.uint64(exponent) << np.uint64(52)) | (mantissa & FRACTION)


TAB, NEWLINE, RETURN, SPACE, HASH, COLON = (ord(c) for c in "\t\n\r #:")
LETTER_Q, LETTER_I, LETTER_D = (ord(c) for c in "qid")


@jit
def count_lines_and_colons(text: NDArray[np.uint8], stop: int) -> Any:
    """Return the number of lines that end before `stop` and the number of colons: there are no more entries."""
    lines, colons = 0, 0
    for at in range(np.uint64(stop)):
        lines += text[at] == NEWLINE
        colons += text[at] == COLON
    return lines, colons


@jit
def read_lines(text: NDArray[np.uint8], stop: int, settings: Any, room: Any, progress: Any) -> Any:
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
def _after_blanks(text: NDArray[np.uint8], at: int) -> Any:
    byte = byte_at(text, at)
    while byte in (SPACE, TAB):
        at += 1
        byte = byte_at(text, at)
    return at


@inline
def _ends(text: NDArray[np.uint8], at: int) -> Any:
    """Return whether nothing but a comment is left of a line."""
    byte = byte_at(text, at)
    return byte in (NEWLINE, HASH) or (byte == RETURN and byte_at(text, at + 1) == NEWLINE)


@inline
def _after_line(text: NDArray[np.uint8], at: int) -> Any:
    while byte_at(text, at) != NEWLINE:
        at += 1
    return at + 1


@inline
def _index_at(text: NDArray[np.uint8], at: int) -> Any:
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
def _query_at(text: NDArray[np.uint8], at: int, sure: Any) -> Any:
    """Read ``qid:N`` after a label; return whether this is sure, where it ends, and N, or −1 if there is none."""
    token = _after_blanks(text, at)
    if not sure or byte_at(text, token) != LETTER_Q:
        return sure, at, -1
    if byte_at(text, token + 1) != LETTER_I or byte_at(text, token + 2) != LETTER_D:
        return False, at, -1
    digits, count = digits_at(text, token + 4)
    right = token > at and byte_at(text, token + 3) == COLON and 0 < count < 8
    return right, token + 4 + count, np.int64(digits)
