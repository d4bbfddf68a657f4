"""Instructions that numba does not offer: reading eight bytes at a time, 128-bit products, bit patterns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
