"""Instructions that numba has no word for: bytes read eight at a time, products of 128 bits, bit patterns."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(_context: Any, text: Any, at: Any) -> Any:
    """Return ``text[at]`` as a signed integer, without the look for a negative `at`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.zext(builder.load(builder.gep(data, [args[1]])), _WORD)

    return types.int64(text, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def eight_at(_context: Any, text: Any, at: Any) -> Any:
    """Return ``text[at:at + 8]`` as one word, the first byte its lowest; all eight must be there to be read."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), _WORD.as_pointer())
        word = builder.load(address, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def high_product(_context: Any, a: Any, b: Any) -> Any:
    """Return the high half of the product of two words; ``a * b`` is the low one."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), _WORD)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def leading_zeros(_context: Any, word: Any) -> Any:
    """Return how many zeros stand above the highest bit of a word that is not 0."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(_context: Any, word: Any) -> Any:
    """Return how many zeros stand below the lowest bit of a word, 64 for 0."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count_below(_context: Any, keys: Any, key: Any) -> Any:
    """Return how many of the first 64 `keys` are below `key`, all of uint32: one comparison of a long vector."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(32), 64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        loaded = builder.load(builder.bitcast(data, vector.as_pointer()), align=4)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), args[1], ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
        repeated = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), lanes)
        return builder.ctpop(builder.bitcast(builder.icmp_unsigned("<", loaded, repeated), _WORD))

    return types.uint64(keys, types.uint32), codegen


@intrinsic  # type: ignore[untyped-decorator]
def float_of(_context: Any, bits: Any) -> Any:
    """Return the float64 of a bit pattern."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen
