"""Rows of a C-contiguous matrix: the fixed-order dot product, the update, the prefetch.

Products and sums are float64 whatever the matrix holds, and widening float32 is exact: a float32 matrix
trains the same bits as its float64 copy, in half the traffic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.loops._jit import inline

WIDE = 32
NARROW = 8
CACHE_LINE = 64


def lanes_dot(lanes: int) -> Any:
    """Build a dot product of n values, n a multiple of `lanes`, with one running sum a lane.

    Written as vector instructions because the order of additions is the promise here: lane l adds the
    products l, l + lanes, l + 2·lanes, …, and the lanes are then folded in halves. Compilers choose registers
    for that, never another order; several sums at once also hide the adder's latency, so that the loop waits
    for memory alone. Sums are of w's type, to which x is widened exactly.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def dot(_context: Any, w: Any, w_at: Any, x: Any, x_at: Any, n: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            w_pointer = _element(context, builder, signature.args[0], args[0], args[1])
            x_pointer = _element(context, builder, signature.args[2], args[2], args[3])
            sum_type = ir.VectorType(w_pointer.type.pointee, lanes)
            sums = cgutils.alloca_once_value(builder, ir.Constant(sum_type, [0.0] * lanes))
            count = args[4]
            with cgutils.for_range_slice(builder, count.type(0), count, count.type(lanes), intp=count.type) as (
                j,
                _,
            ):
                w_j = _load(builder, w_pointer, j, lanes, w.dtype)
                x_j = _widen(builder, _load(builder, x_pointer, j, lanes, x.dtype), sum_type)
                builder.store(builder.fadd(builder.load(sums), builder.fmul(w_j, x_j)), sums)
            return _fold(builder, builder.load(sums), lanes)

        return w.dtype(w, w_at, x, x_at, n), codegen

    return dot


def _element(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [at])


def _load(builder: Any, pointer: Any, at: Any, lanes: int, dtype: Any) -> Any:
    vector = ir.VectorType(pointer.type.pointee, lanes)
    address = builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer())
    return builder.load(address, align=dtype.bitwidth // 8)


def _widen(builder: Any, vector: Any, wanted: Any) -> Any:
    if vector.type == wanted:
        return vector
    if isinstance(vector.type.element, ir.IntType):
        return builder.sitofp(vector, wanted)
    return builder.fpext(vector, wanted)


def _fold(builder: Any, vector: Any, lanes: int) -> Any:
    while lanes > 1:
        lanes //= 2
        halves = [
            builder.shuffle_vector(
                vector,
                ir.Constant(vector.type, ir.Undefined),
                ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(first, first + lanes))),
            )
            for first in (0, lanes)
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.IntType(32)(0))


_dot_wide = lanes_dot(WIDE)
_dot_narrow = lanes_dot(NARROW)


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of ``array.flat[at]`` ahead of its use; never faults, even past the end."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature.args[0], args[0], args[1])
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        )
        builder.call(function, [builder.bitcast(pointer, byte), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, at), codegen


@inline
def dense_dot(X: Any, i: int, w: Any) -> float:
    """Return <w, x_i> by 32 lanes, then 8, then one by one: always this order."""
    n = X.shape[1]
    wide = n - n % WIDE
    narrow = n - n % NARROW
    start = i * n
    f = _dot_wide(w, 0, X, start, wide)
    f += _dot_narrow(w, wide, X, start + wide, narrow - wide)
    for j in range(narrow, n):
        f += w[j] * X[i, j]
    return f


@inline
def dense_add(X: Any, i: int, c: float, w: Any) -> None:
    """Add c x_i to w."""
    for j in range(X.shape[1]):
        w[j] += c * X[i, j]


@inline
def dense_fits(X: Any, i: int, c: float, w: Any) -> bool:
    """Whether adding c x_i to w leaves every weight finite."""
    for j in range(X.shape[1]):
        moved = w[j] + c * X[i, j]
        if moved - moved != 0.0:
            return False
    return True


@inline
def dense_square(X: Any, i: int) -> float:
    """Return ‖x_i‖², one value after another."""
    square = 0.0
    for j in range(X.shape[1]):
        square += np.float64(X[i, j]) * np.float64(X[i, j])
    return square


@inline
def dense_prefetch(X: Any, i: int) -> None:
    """Ask for the head of row i; the hardware follows a row once it has begun."""
    n = X.shape[1]
    line = CACHE_LINE // X.itemsize
    for j in range(0, min(n, 4 * line), line):
        prefetch(X, i * n + j)
