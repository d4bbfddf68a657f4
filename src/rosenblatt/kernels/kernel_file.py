"""What files hold of kernels and kernel perceptrons: rows, coefficients, budgets, streams and traces."""

from __future__ import annotations

from typing import Any

from rosenblatt.codecs import (
    INTEGERS,
    TABLE,
    Array,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    Record,
    Scalar,
    Text,
    require,
    require_width,
)
from rosenblatt.kernels.kernel_fit import KernelPlan, KernelStream, KernelTrace
from rosenblatt.kernels.kernel_state import POLICIES, Budget, Kept, KernelState, Support
from rosenblatt.kernels.values import RBF, Laplacian, Linear, Polynomial, Precomputed
from rosenblatt.learning.state import WEIGHTS
from rosenblatt.learning.stored_streams import Kinds, trace_of
from rosenblatt.loops.layout import CSR

KERNEL = Either(
    {
        "linear": (Linear, Record(Linear, {})),
        "polynomial": (Polynomial, Record(Polynomial, {"degree": Count(1, 2**20), "c": Scalar()})),
        "rbf": (RBF, Record(RBF, {"gamma": Scalar()})),
        "laplacian": (Laplacian, Record(Laplacian, {"gamma": Scalar()})),
        "precomputed": (Precomputed, Record(Precomputed, {})),
    }
)
"""Kernels that are values. Functions have no place in a file: reading one would mean running it."""


def _parts_of_support(support: Support) -> dict[str, Any]:
    points = support.points
    held = support.keeps_rows and support.count > 0
    rows = points.rows
    if isinstance(rows, CSR):
        rows = CSR(rows.data[: int(rows.indptr[-1])], rows.indices[: int(rows.indptr[-1])], rows.indptr)
    return {
        "n_features": support.n_features,
        "keeps_rows": support.keeps_rows,
        "ids": support.ids,
        "squares": support._squares[: support.count],
        "rows": rows if held else None,
    }


def _support(n_features: int, keeps_rows: bool, ids: Any, squares: Any, rows: Any) -> Support:
    support = Support(n_features, keeps_rows=keeps_rows)
    support.count, support._ids, support._squares, support._rows = len(ids), ids, squares, rows
    return support


def _sound_support(support: Support) -> None:
    n = support.count
    require(len(support._squares) >= n, "the numbers of rows and of norms differ")
    if not support.keeps_rows:
        ids = support.ids
        require(
            not n or (ids.min() >= 0 and ids.max() < support.n_features), "a kept row is not in the training set"
        )
        return
    require(not n or support._rows is not None, "its rows are missing")
    if n:
        require_width(support.points.rows, n, support.n_features)


SUPPORT = Record(
    _support,
    {
        "n_features": Count(1),
        "keeps_rows": Flag(),
        "ids": INTEGERS,
        "squares": Array(finite=False),
        "rows": Maybe(TABLE),
    },
    take=_parts_of_support,
    check=_sound_support,
)


def _kept(digest: str, scores: Any) -> Kept:
    return Kept(bytes.fromhex(digest), scores)


KEPT = Record(
    _kept,
    {"digest": Text(), "scores": Array(2)},
    take=lambda kept: {"digest": kept.digest.hex(), "scores": kept.scores},
)


def _sound_kernel_state(state: KernelState) -> None:
    n = state.support.count
    require(len(state.w) > 0 and n <= state.w.shape[-1] - 1, "there are fewer weights than rows")
    require(not state.w[..., n:-1].any(), "a row that is not kept has a weight")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages have different shapes")
    require(len(state.born) <= n, "there are more arrival times than rows")
    require(
        state.kept is None or len(state.kept.scores) == len(state.machines),
        "the numbers of scores and of machines differ",
    )
    inverse = state.inverse
    require(inverse is None or inverse.shape[0] == inverse.shape[1], "the inverse is not square")


KERNEL_STATE = Record(
    KernelState,
    {
        "w": WEIGHTS,
        "u": Maybe(WEIGHTS),
        "visits": Count(),
        "support": SUPPORT,
        "kept": Maybe(KEPT),
        "inverse": Maybe(Array(2)),
        "born": INTEGERS,
    },
    check=_sound_kernel_state,
)
BUDGET = Record(Budget, {"size": Count(1, 2**31), "policy": Text(POLICIES), "seed": Count(most=2**63 - 1)})
KERNEL_PLAN = Record(
    KernelPlan,
    {"kernel": KERNEL, "budget": Maybe(BUDGET), "cache_size": Number(least=0.0), "keeps_scores": Flag()},
)
KERNEL_STREAMS: Kinds = {"kernel": (KernelStream, {"start": KERNEL_STATE, "own": KERNEL_PLAN})}
KERNEL_TRACE = trace_of(
    "kernel",
    KernelTrace,
    {"start": KERNEL_STATE, "kernel": KERNEL, "budget": Maybe(BUDGET), "numbered": Flag()},
)
