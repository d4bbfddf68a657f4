"""What the learners take in place of constructor parameters: a rule, an order, a start, weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.exceptions import DataTypeError, LabelError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.learning.order import Order, make_order
from rosenblatt.learning.state import State
from rosenblatt.learning.stream import Balance
from rosenblatt.learning.trace import Detail, Trace
from rosenblatt.loops.rules import Margins, Penalty, Rule, tie_shares
from rosenblatt.parameters import is_kind
from rosenblatt.rows.batch import label_weights, require_some_weight
from rosenblatt.rows.labels import as_labels, list_classes
from rosenblatt.typing import Floats

MISTAKES_KEPT = 2**19
VALUES_A_MISTAKE = 320


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a scikit-learn `random_state` stands for."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    if random_state is None or (is_kind(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(None if random_state is None else int(random_state))
    raise ParameterError(
        f"random_state={random_state!r} must be None, a non-negative integer, a RandomState or a Generator."
    )


def check_penalty(p: Any) -> None:
    """Require that the penalty of a perceptron suits its other parameters."""
    if p.penalty is None:
        return
    penalty = make_penalty(p)
    if p.average and penalty.rent > 0.0:
        raise ParameterError(
            f"penalty={p.penalty!r} cannot be combined with average={p.average!r}: weights that stop at zero have "
            "no average that costs little. Use penalty='l2', or SoftMarginClassifier(solver='sgd'), or drop one."
        )
    if penalty.keep <= 0.0:
        raise ParameterError(
            f"alpha={p.alpha!r} times eta0={p.eta0!r} is 1 or more, so that every visit would undo all before it. "
            "Lower one of them."
        )


def check_classes(classes: Any, or_else: str = " or None") -> NDArray[Any]:
    """Return the labels of an argument `classes`, sorted; `or_else` says what else it may be."""
    message = f"classes={classes!r} must be a list of labels{or_else}."
    if isinstance(classes, str):
        raise LabelError(message)
    try:
        labels = list(classes)
    except TypeError:
        raise LabelError(message) from None
    _, found = as_labels(labels, len(labels))
    if len(found) < 2:
        raise LabelError(f"classes={labels!r} must name at least two different classes.")
    return found


def require_same_classes(declared: NDArray[Any], known: NDArray[Any]) -> None:
    """Require the classes of the first call, in any order: labels that cannot be sorted keep the one they had."""
    if set(declared.tolist()) != set(known.tolist()):
        raise LabelError(
            f"classes={list_classes(declared)} is not the same as on last call to partial_fit: "
            f"{list_classes(known)}."
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
    uneven = isinstance(p.margin, tuple | list)
    plus, minus = map(float, p.margin) if uneven else (float(p.margin), 0.0)
    rule: Any = Rule(float(p.eta0), beta, plus, *tie_shares(p.tie, p.zero))
    return p._own_rule(Margins._make([*rule, minus]) if uneven else rule), radius


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
            "bias='radius' needs R, the largest norm of a row, which is unknown in a stream. "
            "Pass radius=R, or use bias='unit'."
        )
    radius = float(given)
    square = radius * radius
    if not 0.0 < square < np.inf:
        raise ParameterError(f"radius={radius!r} squared is beyond floats. Scale the features.")
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


def most_mistakes(p: Any, n_values: int) -> int | None:
    """Return how many mistakes a fit on so many stored values keeps at most; None if there is no limit.

    A mistake takes up to 32 bytes, and as many again while parts of the record are joined. So by default the
    record takes at most 32 MB, or 2.5 % of larger data.
    """
    return max(MISTAKES_KEPT, n_values // VALUES_A_MISTAKE) if p.trace == "auto" else None


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


def start_from(p: Any, shape: tuple[int, ...], rng: np.random.Generator, *, sparse: bool = False) -> State:
    """Return the start that `init` names; "first" begins at zero and adds the first row later.

    A `sparse` start at zero gives weights only to the features that it meets.
    """
    random = p.init == "random"
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None, sparse=sparse and not random)
    if random:
        drawn = state.n_features + bool(p.fit_intercept and p.bias is not None)
        state.w[..., :drawn] = rng.standard_normal((*shape[:-1], drawn))
    return state


def read_start(
    p: Any, shape: tuple[int, ...], coef_init: ArrayLike | None, intercept_init: ArrayLike | None
) -> State:
    """Return the start that `coef_init` and `intercept_init` give; what is not given is zero."""
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None)
    if coef_init is not None:
        state.w[..., :-1] = _numbers("coef_init", coef_init, (*shape[:-1], shape[-1] - 1))
    if intercept_init is not None:
        state.w[..., -1] = _numbers("intercept_init", intercept_init, shape[:-1])
    return state


def _numbers(name: str, value: object, shape: tuple[int, ...]) -> Floats:
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
