"""The exponential function in fixed operations: the same bits on every processor, within a unit in the last place.

`numpy.exp` chooses its instructions by the processor, and its last bits with them. Here x = k ln 2 + r with
|r| ≤ ln 2 / 2, where k ln 2 is subtracted in two parts, the first without rounding (Cody and Waite 1980); e^r is a
Taylor polynomial of degree 13, and 2^k is written into the exponent, in two factors so that results below the
smallest normal number are rounded once. There is no table and no branch, so that the loop is compiled to vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.loops._bits import float_of
from rosenblatt.loops._jit import jit
from rosenblatt.typing import Floats

LOG2_E = float.fromhex("0x1.71547652b82fep+0")
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # 21 zero bits at the end: k times it is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
SHIFT = 1.5 * 2.0**52  # adding it rounds to an integer, which stands in the last bits
SHIFT_BITS = np.int64(0x4338000000000000)
LEAST, MOST = -746.0, 710.0  # from here on the result is 0 or infinite


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of(_context: Any, value: Any) -> Any:
    """Return the bit pattern of a float64."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@jit
def exponentials(values: Floats) -> None:
    """Replace each value of a contiguous table by e^value; NaN stays NaN."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = values[i, j]
            x = LEAST if x < LEAST else x
            x = MOST if x > MOST else x
            shifted = x * LOG2_E + SHIFT
            k = shifted - SHIFT
            high, low = x - k * LN2_HIGH, k * LN2_LOW
            r = high - low
            rest = (high - r) - low
            s = r * r
            t = s * s
            # (e^r - 1 - r) / r² as a Taylor polynomial, its terms added in pairs
            a = (1 / 2 + r * (1 / 6)) + s * (1 / 24 + r * (1 / 120))
            b = (1 / 720 + r * (1 / 5040)) + s * (1 / 40320 + r * (1 / 362880))
            c = (1 / 3628800 + r * (1 / 39916800)) + s * (1 / 479001600 + r * (1 / 6227020800))
            power = 1.0 + (r + (s * (a + t * (b + t * c)) + rest))
            exponent = _bits_of(shifted) - SHIFT_BITS
            half = ((exponent + 2200) >> 1) - 1100
            first = float_of(np.uint64(half + 1023) << np.uint64(52))
            second = float_of(np.uint64(exponent - half + 1023) << np.uint64(52))
            values[i, j] = power * first * second
