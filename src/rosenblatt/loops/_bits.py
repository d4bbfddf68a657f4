"""Checksums, and instructions that numba does not offer: eight bytes at a time, 128-bit products, bit patterns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rosenblatt.loops._jit import inline, jit

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing.context import Context as TypingContext
    from numba.core.typing.templates import Signature


_WORD = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(_context: TypingContext, text: types.Array, at: types.Type) -> Any:
    """Return ``text[at]`` as a signed integer, without checking for a negative `at`."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.zext(builder.load(builder.gep(data, [args[1]])), _WORD)

    return types.int64(text, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def eight_at(_context: TypingContext, text: types.Array, at: types.Type) -> Any:
    """Return ``text[at:at + 8]`` as one word, first byte lowest; all eight bytes must exist."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), _WORD.as_pointer())
        word = builder.load(address, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def high_product(_context: TypingContext, a: types.Type, b: types.Type) -> Any:
    """Return the high half of the product of two words; ``a * b`` is the low half."""

    def codegen(
        _context: TypingContext, builder: ir.IRBuilder, _signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), _WORD)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def leading_zeros(_context: TypingContext, word: types.Type) -> Any:
    """Return the number of zeros above the highest set bit of a nonzero word."""

    def codegen(
        _context: TypingContext, builder: ir.IRBuilder, _signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(_context: TypingContext, word: types.Type) -> Any:
    """Return the number of zeros below the lowest set bit of a word, 64 for 0."""

    def codegen(
        _context: TypingContext, builder: ir.IRBuilder, _signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count_below(_context: TypingContext, keys: types.Array, key: types.Type) -> Any:
    """Return how many of the first 64 `keys`, all uint32, are below `key`, by one vector comparison."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        vector = ir.VectorType(ir.IntType(32), 64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        loaded = builder.load(builder.bitcast(data, vector.as_pointer()), align=4)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), args[1], ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
        repeated = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), lanes)
        return builder.ctpop(builder.bitcast(builder.icmp_unsigned("<", loaded, repeated), _WORD))

    return types.uint64(keys, types.uint32), codegen


@intrinsic  # type: ignore[untyped-decorator]
def float_of(_context: TypingContext, bits: types.Type) -> Any:
    """Return the float64 of a bit pattern."""

    def codegen(
        _context: TypingContext, builder: ir.IRBuilder, _signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


# Checksums, as fast as memory, against damage by disks and crashes, not against attackers.

Words: TypeAlias = NDArray[np.uint64]

LANES = 8  # words mixed at the same time, so that none waits for another
MAX_PLAIN_WORDS = 2**10  # words that numpy mixes before a loop is even loaded

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

Word = TypeVar("Word", np.uint64, Words)


@inline
def _mix(lane: Word, word: Word) -> Any:
    """Mix in a word. Each word is a different one-to-one map of the lane, so that no single change is lost."""
    lane = (lane ^ word) * _ODD
    return lane ^ (lane >> _SHIFT)


def absorb(words: Words, lanes: Words) -> None:
    """Mix words into the lanes in place; their number is a multiple of `LANES`."""
    if words.size <= MAX_PLAIN_WORDS:
        for row in words.reshape(-1, LANES):
            lanes[:] = _mix(lanes, row)
    else:
        words = words.view()
        words.flags.writeable = False  # one loop for both kinds
        _absorb(words, lanes)


@jit
def _absorb(words: NDArray[np.uint64], lanes: NDArray[np.uint64]) -> None:
    a, b, c, d, e, f, g, h = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7]
    for i in range(0, words.size, LANES):
        a = _mix(a, words[i])
        b = _mix(b, words[i + 1])
        c = _mix(c, words[i + 2])
        d = _mix(d, words[i + 3])
        e = _mix(e, words[i + 4])
        f = _mix(f, words[i + 5])
        g = _mix(g, words[i + 6])
        h = _mix(h, words[i + 7])
    lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7] = a, b, c, d, e, f, g, h


def combine(lanes: Words) -> int:
    """Return one number from all lanes."""
    total = np.zeros(1, np.uint64)
    for k in range(LANES):
        total = _mix(total, lanes[k : k + 1])
    return int(total[0])
