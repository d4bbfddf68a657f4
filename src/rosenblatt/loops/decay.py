"""Training with a penalty: every visit also shrinks the weights, whether it was a mistake or not.

A visit scores its row; then all weights are multiplied by `keep` (the step of an l2 penalty); then a mistake is
corrected; then every weight moves towards zero by `rent`, and stops there (the step of an l1 penalty). The bias is
not penalised.

Touching every weight on every visit would make a sparse row as slow as a dense one. So v is stored instead of w:

    w = scale · soft(v, total − paid),        soft(v, r) = sign(v) · max(|v| − r, 0).

A visit changes two numbers: it multiplies `scale` by `keep` and adds rent / scale to `total`. What a weight has
paid is updated only when a mistake moves it. So the state depends only on the mistakes and the number of visits,
and a record of the mistakes replays it bit for bit.

Without rent, the average of the weights needs two sums: A, of the scales after each visit, and u, to which each
correction of v is added, times the A before it. The sum of all w is then A v − u, because each correction is in
all later w, times their scales. When the scale has become much smaller, A v is moved into u, and A begins again at
0: otherwise large numbers would cancel. The bias is averaged as without a penalty. With rent, each weight would
need the time when it reached zero; such an average is refused.
"""

from __future__ import annotations

from typing import Any

from numba import types

from rosenblatt.loops._jit import Kind, inline, jit, verb
from rosenblatt.loops.layout import CSR, Log, Order, Rows, Targets
from rosenblatt.loops.rows import dot, look_ahead
from rosenblatt.loops.rules import Mean, Penalty, Rule, Shrunk
from rosenblatt.loops.sparse import ONE
from rosenblatt.loops.visits import judge, move, moves
from rosenblatt.typing import Floats, Reals

SMALLEST_SCALE = 1e-9  # a scale below this is multiplied out, so that v does not grow too large
FLUSHED_SHARE = 1.0 / 1024.0  # the scale, in terms of the one when A began, below which A v is moved into u


@inline
def _soft(v: float, rent: float) -> float:
    return v - rent if v > rent else v + rent if v < -rent else 0.0


@verb
def rented_dot(X: Kind, i: Kind, v: Kind, paid: Kind, total: Kind) -> Any:
    """Return <soft(v, total − paid), x_i>, one value after another."""

    def dense(X: Reals, i: int, v: Floats, paid: Floats, total: float) -> Any:
        f = 0.0
        for j in range(X.shape[1]):
            f += _soft(v[j], total - paid[j]) * X[i, j]
        return f

    def sparse(X: CSR, i: int, v: Floats, paid: Floats, total: float) -> Any:
        f = 0.0
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            f += _soft(v[X.indices[p]], total - paid[X.indices[p]]) * X.data[p]
        return f

    return dense if isinstance(X, types.Array) else sparse


@verb
def settle(X: Kind, i: Kind, v: Kind, paid: Kind, total: Kind) -> Any:
    """Subtract the rent that the weights of row i owe."""

    def dense(X: Reals, i: int, v: Floats, paid: Floats, total: float) -> Any:
        for j in range(X.shape[1]):
            v[j] = _soft(v[j], total - paid[j])
            paid[j] = total

    def sparse(X: CSR, i: int, v: Floats, paid: Floats, total: float) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            v[X.indices[p]] = _soft(v[X.indices[p]], total - paid[X.indices[p]])
            paid[X.indices[p]] = total

    return dense if isinstance(X, types.Array) else sparse


@inline
def _score(X: Rows, i: int, after: int, penalty: Penalty, v: Floats, paid: Floats, sums: Floats) -> float:
    if penalty.rent == 0.0:
        return sums[0] * dot(X, i, v, after) + v[-1]
    return sums[0] * rented_dot(X, i, v, paid, sums[1]) + v[-1]


@inline
def _move(X: Rows, i: int, c: float, beta: float, penalty: Penalty, v: Floats, paid: Floats, sums: Floats) -> None:
    if penalty.rent != 0.0:
        settle(X, i, v, paid, sums[1])
    bias = v[-1] + c * beta
    move(X, i, c / sums[0], 0.0, v)
    v[-1] = bias


@inline
def _add_to_mean(X: Rows, i: int, c: float, beta: float, u: Floats, mean: Mean, shrunk: Shrunk, t: int) -> None:
    bias = u[-1] + c * beta * max(t, 0)
    move(X, i, c / shrunk.sums[0] * mean.sums[1], 0.0, u)
    u[-1] = bias


@inline
def _take(
    targets: Targets,
    X: Rows,
    i: int,
    log: Log,
    k: int,
    beta: float,
    penalty: Penalty,
    w: Floats,
    shrunk: Shrunk,
    mean: Mean | None,
    t: int,
) -> None:
    m, c, m2, c2 = moves(targets, i, log, k)
    _move(X, i, c, beta, penalty, w[m], shrunk.paid[m], shrunk.sums)
    if mean is not None:
        _add_to_mean(X, i, c, beta, mean.u[m], mean, shrunk, t)
    if c2 != 0.0:
        _move(X, i, c2, beta, penalty, w[m2], shrunk.paid[m2], shrunk.sums)
        if mean is not None:
            _add_to_mean(X, i, c2, beta, mean.u[m2], mean, shrunk, t)


@inline
def _multiply_out(w: Floats, shrunk: Shrunk) -> None:
    scale, total = shrunk.sums[0], shrunk.sums[1]
    for m in range(w.shape[0]):
        for j in range(w.shape[1] - 1):
            w[m, j] = scale * _soft(w[m, j], total - shrunk.paid[m, j])
            shrunk.paid[m, j] = 0.0
    shrunk.sums[0], shrunk.sums[1] = 1.0, 0.0


@inline
def _flush(w: Floats, shrunk: Shrunk, mean: Mean) -> None:
    for m in range(w.shape[0]):
        for j in range(w.shape[1] - 1):
            mean.u[m, j] -= mean.sums[1] * w[m, j]
    mean.sums[1], mean.sums[2] = 0.0, shrunk.sums[0]


@inline
def _end_visit(penalty: Penalty, w: Floats, shrunk: Shrunk, mean: Mean | None, t: int) -> None:
    shrunk.sums[1] += penalty.rent / shrunk.sums[0]
    small = shrunk.sums[0] < SMALLEST_SCALE
    if mean is not None:
        mean.sums[1] += shrunk.sums[0] if t >= 0 else 0.0
        if small or shrunk.sums[0] < FLUSHED_SHARE * mean.sums[2]:
            _flush(w, shrunk, mean)
    if small:
        _multiply_out(w, shrunk)
        if mean is not None:
            mean.sums[2] = 1.0


@jit
def train_shrinking(
    X: Rows,
    targets: Targets,
    order: Order,
    rule: Rule,
    penalty: Penalty,
    w: Floats,
    shrunk: Shrunk,
    mean: Mean | None,
    t0: int,
    log: Log,
) -> tuple[int, int]:
    """Visit the rows of `order` as `passes.train` does, while weights shrink; `w` holds v, by machines."""
    k = 0
    scores = log.scores[0]
    for t in range(order.size):
        after = look_ahead(X, order, t)
        i = order[t]
        for m in range(w.shape[0]):
            scores[m] = _score(X, i, after, penalty, w[m], shrunk.paid[m], shrunk.sums)
        end = judge(targets, X, i, scores, rule, log, k)
        if end < 0:
            return k, t
        shrunk.sums[0] *= penalty.keep
        while k < end:
            log.at[k] = t
            _take(targets, X, i, log, k, rule.beta, penalty, w, shrunk, mean, t0 + t)
            k += 1
        _end_visit(penalty, w, shrunk, mean, t0 + t)
    return k, order.size


@jit
def replay_shrinking(
    X: Rows,
    targets: Targets,
    index: Order,
    log: Log,
    beta: float,
    penalty: Penalty,
    w: Floats,
    shrunk: Shrunk,
    mean: Mean | None,
    t0: int,
) -> int:
    """Take logged steps again, in place, as `passes.replay` does; ``log.at`` counts visits from the start."""
    k, t = 0, 0
    while k < index.size:
        while t < log.at[k]:
            shrunk.sums[0] *= penalty.keep
            _end_visit(penalty, w, shrunk, mean, t0 + t)
            t += 1
        end = k
        while end < index.size and log.at[end] == t:
            m, _, m2, c2 = moves(targets, index[end], log, end)
            f = _score(X, index[end], index[end], penalty, w[m], shrunk.paid[m], shrunk.sums)
            if c2 != 0.0:
                f -= _score(X, index[end], index[end], penalty, w[m2], shrunk.paid[m2], shrunk.sums)
            if f != log.score[end]:
                return end
            end += 1
        shrunk.sums[0] *= penalty.keep
        while k < end:
            _take(targets, X, index[k], log, k, beta, penalty, w, shrunk, mean, t0 + t)
            k += 1
        _end_visit(penalty, w, shrunk, mean, t0 + t)
        t += 1
    return -1


@jit
def idle(visits: int, penalty: Penalty, w: Floats, shrunk: Shrunk, mean: Mean | None, t0: int) -> None:
    """Shrink the weights as a number of visits without a mistake does."""
    for t in range(visits):
        shrunk.sums[0] *= penalty.keep
        _end_visit(penalty, w, shrunk, mean, t0 + t)
