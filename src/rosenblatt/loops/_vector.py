"""Vector instructions, written out because numba would leave their order, or vectorisation itself, to chance.

The order of additions is a promise. Compilers choose registers for these instructions but never another order.
Several running sums also hide the latency of additions, so that the loops wait for memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing.context import Context as TypingContext
    from numba.core.typing.templates import Signature


CACHE_LINE = 64
FIRST_LEVEL, SECOND_LEVEL = 3, 2  # the cache that a prefetch fills


def lanes_dot(lanes: int) -> Any:
    """Build a dot product of n values, n a multiple of `lanes`, with one running sum for each lane.

    Lane l adds the products l, l + lanes, l + 2·lanes, …, each multiplication fused with its addition into one
    rounding. The lanes are then folded in halves. Sums have the type of w, to which x is widened exactly.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def dot(
        _context: TypingContext, w: types.Array, w_at: types.Type, x: types.Array, x_at: types.Type, n: types.Type
    ) -> Any:
        def codegen(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
        ) -> Any:
            (f,) = _lanes_dots(context, builder, signature, args, ([args[1]], [args[3]]), lanes)
            return f

        return w.dtype(w, w_at, x, x_at, n), codegen

    return dot


def lanes_dots(lanes: int, machines: int, rows: int) -> Any:
    """Build the dot products of several w with several x, each the same bits as `lanes_dot` gives.

    Each value is loaded once. Meanwhile the row of x that begins at `ahead` is prefetched, unless `ahead` is None.
    The tuple returned holds the scores of all rows by the first machine, then by the second.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def dots(
        _context: TypingContext,
        w: types.Array,
        w_at: types.Type,
        x: types.Array,
        x_at: types.Type,
        n: types.Type,
        ahead: types.Type,
    ) -> Any:
        def codegen(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
        ) -> Any:
            places = cgutils.unpack_tuple(builder, args[1], machines), cgutils.unpack_tuple(builder, args[3], rows)
            asked_for = None if ahead == types.none else args[5]
            values = _lanes_dots(context, builder, signature, args, places, lanes, asked_for)
            return context.make_tuple(builder, signature.return_type, values)

        return types.UniTuple(w.dtype, machines * rows)(w, w_at, x, x_at, n, ahead), codegen

    return dots


def _lanes_dots(
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    args: Sequence[ir.Value],
    places: tuple[Sequence[ir.Value], Sequence[ir.Value]],
    lanes: int,
    ahead: ir.Value | None = None,
) -> list[Any]:
    w, x, count = signature.args[0], signature.args[2], args[4]
    w_pointers = [_element(context, builder, w, args[0], place) for place in places[0]]
    x_pointers = [_element(context, builder, x, args[2], place) for place in places[1]]
    sum_type = ir.VectorType(w_pointers[0].type.pointee, lanes)
    zero = ir.Constant(sum_type, [0.0] * lanes)
    sums = [[cgutils.alloca_once_value(builder, zero) for _ in x_pointers] for _ in w_pointers]
    with _counted(builder, count.type(0), count, lanes) as j:
        if ahead is not None:
            pointer = builder.gep(_element(context, builder, x, args[2], ahead), [j])
            for line in range(0, lanes, CACHE_LINE * 8 // x.dtype.bitwidth):
                _prefetch(builder, builder.gep(pointer, [ir.IntType(64)(line)]), SECOND_LEVEL)
        loaded = [_load(builder, x_pointer, j, lanes, x.dtype) for x_pointer in x_pointers]
        x_j = [_widen(builder, vector, sum_type, x.dtype) for vector in loaded]
        for w_pointer, totals in zip(w_pointers, sums, strict=True):
            w_j = _load(builder, w_pointer, j, lanes, w.dtype)
            for x_r, total in zip(x_j, totals, strict=True):
                builder.store(_fused(builder, w_j, x_r, builder.load(total)), total)
    return [_fold(builder, builder.load(total), lanes) for totals in sums for total in totals]


def _fused(builder: ir.IRBuilder, a: ir.Value, b: ir.Value, c: ir.Value) -> Any:
    """Return a b + c, rounded once."""
    kind = a.type
    name = f"llvm.fma.v{kind.count}{'f64' if kind.element == ir.DoubleType() else 'f32'}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
    return builder.call(function, [a, b, c])


def columns_dot(*groups: int) -> Any:
    """Build the dot products of one sparse row with some columns of w, in groups of so many neighbouring columns.

    Each column has a lane of its own. Those of the group that begins at ``at[g]`` are written to ``out`` from
    ``at[g]`` on. Stored values are added in order by four running sums for each column, folded as
    (a + b) + (c + d), and the rest one by one: the bits of `rosenblatt.loops.sparse.sparse_dot`. While the values
    from `start` to `stop` are summed, the weights of the values `ahead` of them are prefetched.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def dots(
        _context: TypingContext,
        w: types.Array,
        at: types.Type,
        data: types.Array,
        indices: types.Array,
        start: types.Type,
        stop: types.Type,
        ahead: types.Type,
        out: types.Array,
    ) -> Any:
        def codegen(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
        ) -> Any:
            w_type, _, data_type, indices_type, _, _, _, out_type = signature.args
            w_array = context.make_array(w_type)(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, w_array.shape, 2)[1]
            begins = cgutils.unpack_tuple(builder, args[1], len(groups))
            data_at = context.make_array(data_type)(context, builder, args[2]).data
            indices_at = context.make_array(indices_type)(context, builder, args[3]).data
            first, last, ahead_by = args[4], args[5], args[6]
            real = w_array.data.type.pointee
            zeros = [ir.Constant(ir.VectorType(real, lanes), [0.0] * lanes) for lanes in groups]
            sums = [[cgutils.alloca_once_value(builder, zero) for zero in zeros] for _ in range(4)]

            def place(p: ir.Value) -> Any:
                column = builder.zext(builder.load(builder.gep(indices_at, [p])), width.type)
                return builder.mul(column, width)

            def ask_for(p: ir.Value) -> None:
                begin = builder.add(place(p), begins[0])
                for line in range(0, sum(groups), CACHE_LINE * 8 // w_type.dtype.bitwidth):
                    pointer = builder.gep(w_array.data, [builder.add(begin, begin.type(line))])
                    _prefetch(builder, pointer, FIRST_LEVEL)

            def add(p: ir.Value, totals: Sequence[ir.Value]) -> None:
                x = builder.load(builder.gep(data_at, [p]))
                x = x if x.type == real else builder.fpext(x, real)
                row = place(p)
                for zero, begin, total in zip(zeros, begins, totals, strict=True):
                    w_p = _load(builder, w_array.data, builder.add(row, begin), zero.type.count, w_type.dtype)
                    product = builder.fmul(w_p, _broadcast(builder, x, zero.type))
                    builder.store(builder.fadd(builder.load(total), product), total)

            four = builder.sub(last, builder.urem(builder.sub(last, first), first.type(4)))
            with _counted(builder, first, four, 4) as p:
                for step, totals in enumerate(sums):
                    here = builder.add(p, p.type(step))
                    ask_for(builder.add(here, ahead_by))
                    add(here, totals)
            for quarters in zip(*sums, strict=True):
                a, b, c, d = map(builder.load, quarters)
                builder.store(builder.fadd(builder.fadd(a, b), builder.fadd(c, d)), quarters[0])
            with _counted(builder, four, last, 1) as p:
                add(p, sums[0])
            for begin, total in zip(begins, sums[0], strict=True):
                out_pointer = _element(context, builder, out_type, args[7], begin)
                out_vector = builder.bitcast(out_pointer, total.type)
                builder.store(builder.load(total), out_vector, align=w_type.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(w, at, data, indices, start, stop, ahead, out), codegen

    return dots


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: TypingContext, array: types.Array, at: types.Type) -> Any:
    """Prefetch the cache line of ``array.flat[at]``; never faults, even past the end.

    For a strided array, such as the weights of one machine for sparse rows, it is the line of ``array[at]``.
    """

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        if array.layout != "A":
            _prefetch(builder, _element(context, builder, signature.args[0], args[0], args[1]), FIRST_LEVEL)
            return context.get_dummy_value()
        strided = context.make_array(array)(context, builder, args[0])
        stride = cgutils.unpack_tuple(builder, strided.strides, 1)[0]
        far = builder.mul(context.cast(builder, args[1], signature.args[1], types.intp), stride)
        _prefetch(builder, cgutils.pointer_add(builder, strided.data, far), FIRST_LEVEL)
        return context.get_dummy_value()

    return types.void(array, at), codegen


@intrinsic  # type: ignore[untyped-decorator]
def machine(_context: TypingContext, w: types.Array, m: types.Type) -> Any:
    """Return the weights of machine m, a row of w, or w itself if it is one vector.

    This is ``w[m]`` for functions that count no references, which numba lets return no view.
    """
    if w.ndim == 1:
        return w(w, m), lambda context, builder, signature, args: args[0]
    row_type = w.copy(ndim=1, layout="C" if w.layout == "C" else "A")

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> Any:
        matrix = context.make_array(w)(context, builder, args[0])
        step, stride = cgutils.unpack_tuple(builder, matrix.strides, 2)
        length = cgutils.unpack_tuple(builder, matrix.shape, 2)[1]
        at = builder.mul(context.cast(builder, args[1], signature.args[1], types.intp), step)
        row = context.make_array(row_type)(context, builder)
        populate_array(
            row,
            data=cgutils.pointer_add(builder, matrix.data, at, return_type=matrix.data.type),
            shape=[length],
            strides=[stride],
            itemsize=matrix.itemsize,
            meminfo=None,
            parent=None,
        )
        return row._getvalue()

    return row_type(w, m), codegen


def _prefetch(builder: ir.IRBuilder, pointer: ir.Value, level: int) -> None:
    byte = ir.IntType(8).as_pointer()
    flag = ir.IntType(32)
    function = builder.module.declare_intrinsic(
        "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    )
    builder.call(function, [builder.bitcast(pointer, byte), flag(0), flag(level), flag(1)])


@contextmanager
def _counted(builder: ir.IRBuilder, start: ir.Value, stop: ir.Value, step: int) -> Iterator[Any]:
    kind = stop.type
    with cgutils.for_range_slice(builder, start, stop, kind(step), intp=kind) as (j, _):
        yield j


def _element(
    context: BaseContext, builder: ir.IRBuilder, array_type: types.Array, array: ir.Value, at: ir.Value
) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [at])


def _load(builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value, lanes: int, dtype: types.Type) -> Any:
    vector = ir.VectorType(pointer.type.pointee, lanes)
    address = builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer())
    return builder.load(address, align=dtype.bitwidth // 8)


def _widen(builder: ir.IRBuilder, vector: ir.Value, wanted: ir.VectorType, dtype: types.Type) -> Any:
    if vector.type == wanted:
        return vector
    if isinstance(vector.type.element, ir.IntType):
        return builder.sitofp(vector, wanted) if dtype.signed else builder.uitofp(vector, wanted)
    return builder.fpext(vector, wanted)


def _broadcast(builder: ir.IRBuilder, value: ir.Value, wanted: ir.VectorType) -> Any:
    undefined = ir.Constant(wanted, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), wanted.count), [0] * wanted.count)
    return builder.shuffle_vector(first, undefined, mask)


def _fold(builder: ir.IRBuilder, vector: ir.Value, lanes: int) -> Any:
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
