"""From the constructor's parameters, checked, to what the learners take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.data.weights import label_weights, require_some_weight
from rosenblatt.estimators._parameters import (
    check_callbacks,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_verbose,
)
from rosenblatt.exceptions import DataTypeError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.learners.balance import Balance
from rosenblatt.learners.order import Order, make_order
from rosenblatt.loops.rules import Rule, tie_shares
from rosenblatt.loops.shrinking import Penalty
from rosenblatt.model.state import State
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Detail
from rosenblatt.typing import Floats


def check_parameters(p: Any) -> None:
    """Require every parameter to be usable; nothing has been done by then."""
    _check_penalty(p)
    for name in ("fit_intercept", "shuffle", "early_stopping", "warm_start", "average"):
        check_flag(name, getattr(p, name))
    check_verbose(p.verbose)
    check_count("max_iter", p.max_iter)
    check_number("eta0", p.eta0, above=0)
    check_number("margin", p.margin, least=0)
    check_number("validation_fraction", p.validation_fraction, above=0, below=1)
    if p.n_iter_no_change is not None:
        check_count("n_iter_no_change", p.n_iter_no_change)
    if p.tol is not None:
        check_number("tol", p.tol)
    if p.max_time is not None:
        check_number("max_time", p.max_time, above=0)
    if p.radius is not None:
        check_number("radius", p.radius, above=0)
    if p.bias is None or isinstance(p.bias, str):
        check_choice("bias", p.bias, ("unit", "radius", None))
    else:
        check_number("bias", p.bias, least=0)
    check_choice("zero", p.zero, (-1, 1))
    check_choice("tie", p.tie, ("mistake", "sign", "half", "correct"))
    check_choice("init", p.init, ("zero", "random", "first"))
    check_choice("multiclass", p.multiclass, ("direct", "ovr", "ovo"))
    check_choice("trace", p.trace, ("auto", "mistakes", "counts", None))
    check_callbacks(p.callbacks, "PassReport")


def _check_penalty(p: Any) -> None:
    check_choice("penalty", p.penalty, (None, "l2", "l1", "elasticnet"))
    check_number("alpha", p.alpha, least=0)
    check_number("l1_ratio", p.l1_ratio, least=0)
    if p.l1_ratio > 1:
        raise ParameterError(f"l1_ratio={p.l1_ratio!r} must be a number from 0 to 1.")
    if p.penalty is None:
        return
    if p.average:
        raise ParameterError(
            f"penalty={p.penalty!r} does not go with average=True. Use SoftMarginClassifier(solver='sgd'), or one "
            "of the two."
        )
    check_number("eta0", p.eta0, above=0)
    if make_penalty(p).keep <= 0.0:
        raise ParameterError(
            f"alpha={p.alpha!r} times eta0={p.eta0!r} is 1 or more, so that every visit would undo all before it. "
            "Lower one of them."
        )


def make_penalty(p: Any) -> Penalty:
    """Return how weights shrink with every visit: by scikit-learn's step η·α for its online rule."""
    l1_share = {"l2": 0.0, "l1": 1.0, "elasticnet": float(p.l1_ratio)}[p.penalty]
    step = float(p.eta0) * float(p.alpha)
    return Penalty(keep=1.0 - (1.0 - l1_share) * step, rent=l1_share * step)


def make_rule(
    p: Any, largest_square: Callable[[], float] | None, before: Trace | None = None
) -> tuple[Rule, float | None]:
    """Return the rule, and the radius R if it uses one: given, of the data, or of the run that went `before`."""
    bias = p.bias if p.fit_intercept else None
    radius = None
    match bias:
        case None:
            beta = 0.0
        case "unit":
            beta = 1.0
        case "radius":
            radius, beta = _radius(p.radius, largest_square, before)
        case _:
            beta = float(bias)
    return p._own_rule(Rule(float(p.eta0), beta, float(p.margin), *tie_shares(p.tie, p.zero))), radius


def _radius(
    given: float | None, largest_square: Callable[[], float] | None, before: Trace | None
) -> tuple[float, float]:
    """Return R and R²; of data R² is exact where sums are, and so is never made from R."""
    if given is None and largest_square is not None:
        square = largest_square()
        return float(np.sqrt(square)), square
    if given is None and before is not None and before.radius is not None:
        return before.radius, before.bias
    if given is None:
        raise ParameterError(
            "bias='radius' needs R, the largest norm of a row, which a stream has yet to show. "
            "Pass radius=R, or use bias='unit'."
        )
    radius = float(given)
    square = radius * radius
    if not 0.0 < square < np.inf:
        raise ParameterError(f"radius={radius!r} has no square among floats. Scale the features.")
    return radius, square


def resolve_order(p: Any, n_rows: int, seed: int, made: int) -> Order:
    """Return the order of visits; `shuffle=False` turns the default order into the cyclic one."""
    order = p.order
    if not p.shuffle and isinstance(order, str):
        if order == "random":
            raise ParameterError("order='random' contradicts shuffle=False. Drop one of them.")
        order = "cyclic" if order == "shuffle" else order
    return make_order(order, n_rows, seed, made)


def detail(p: Any, *, stream: bool) -> Detail:
    """Return what to keep: by default the mistakes of a fit, but only the counts of a stream."""
    if p.trace == "auto":
        return "counts" if stream else "mistakes"
    kept: Detail = p.trace
    return kept


def stream_weights(p: Any, counts: dict[Any, int] | None = None) -> dict[Any, float] | Balance:
    """Return the class weights of a stream, label by label; "balanced" counts on from `counts` of a fit."""
    if p.class_weight is None:
        return {}
    if isinstance(p.class_weight, str) and p.class_weight == "balanced":
        return Balance(dict(counts or {}))
    weights = label_weights(p.class_weight)
    if len(weights) > 1:  # a label that is not named weighs 1
        require_some_weight(np.array([*weights.values()]))
    return weights


def start_from(p: Any, shape: tuple[int, ...], rng: np.random.Generator) -> State:
    """Return the start that `init` names; "first" begins at zero and adds the first row later."""
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None)
    if p.init == "random":
        drawn = state.n_features + bool(p.fit_intercept and p.bias is not None)
        state.w[..., :drawn] = rng.standard_normal((*shape[:-1], drawn))
    return state


def given_start(p: Any, shape: tuple[int, ...], coef_init: Any, intercept_init: Any) -> State:
    """Return the start that `coef_init` and `intercept_init` give; what is not given is zero."""
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None)
    if coef_init is not None:
        state.w[..., :-1] = _numbers("coef_init", coef_init, (*shape[:-1], shape[-1] - 1))
    if intercept_init is not None:
        state.w[..., -1] = _numbers("intercept_init", intercept_init, shape[:-1])
    return state


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> Floats:
    size = math.prod(shape)
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name}={value!r} must hold {size} numbers: one for each weight.") from None
    if numbers.size != size or (len(shape) > 1 and numbers.shape != shape):
        wanted = f"shape {shape}" if len(shape) > 1 else f"{size} values"
        raise ShapeError(f"{name} has shape {numbers.shape}, but {wanted} are needed: one for each weight.")
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers.reshape(-1)))[0])
        raise NonFiniteError(
            f"{name} holds {numbers.reshape(-1)[at]} at position {at}. Start from finite weights."
        )
    return numbers.reshape(shape)
