"""What a fitted model did, and whether the theorems speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.data.labels import listed
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.rationals.dyadic import exact
from rosenblatt.theory.training_set import TrainingSet
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Floats, Ints

ORIGIN, UNIT, RADIUS, LIFTED = "bias=None", 'bias="unit"', 'bias="radius"', "LiftedPerceptron"


@dataclass(frozen=True, eq=False)
class ObservedRun:
    """A run of training.

    Attributes
    ----------
    model : object
        The estimator.
    trace : Trace
        Its record.
    rule : str
        The rule by name; one that no theorem names has the bias as a number.
    beta, eta, margin : Fraction
        β, η and the margin m below which a visit is a mistake.
    start, last : ndarray
        The first and the last hypothesis, bias last; `last` is None where it is not known.
    from_zero : bool
        Whether it began at the origin, or at what a mistake leads to from there.
    unfit : str
        Why no bound on mistakes holds for it; empty if they do.
    """

    model: Any
    trace: Trace
    rule: str
    beta: Fraction
    eta: Fraction
    margin: Fraction
    start: Floats
    last: Floats | None
    from_zero: bool
    unfit: str

    @property
    def mistakes(self) -> int:
        """The mistakes made."""
        return len(self.trace)

    @property
    def passes(self) -> int:
        """The passes made."""
        return len(self.trace.mistakes_per_pass)

    @property
    def times(self) -> Ints:
        """The mistakes on each row."""
        return self.trace.alpha

    @property
    def simple(self) -> str:
        """Why a bound for runs from zero with no margin does not hold; empty if it does."""
        if self.unfit:
            return self.unfit
        if self.margin:
            return f"mistakes are counted with margin={float(self.margin):g}, not 0; see 'start'"
        return "" if self.from_zero else "the start is not the origin; see 'start'"

    @property
    def simplest(self) -> str:
        """Why a bound that adds up the losses of all updates does not hold; empty if it does."""
        return self.simple or ("the start is an update that is not counted" if self.start.any() else "")

    @property
    def whole_passes(self) -> str:
        """Why passes may leave rows out; empty if they do not."""
        if not hasattr(self.model, "stop_reason_"):
            return "a stream has no passes"
        order = getattr(self.model, "order", None)
        shuffled = isinstance(order, str) and order in ("shuffle", "cyclic")
        return "" if shuffled else "only order='shuffle' and 'cyclic' visit each row once in a pass"


def read_run(model: Any, X: Any, y: Any, sample: TrainingSet) -> ObservedRun:
    """Return what a fitted model did on the data given, which must be what it was trained on."""
    trace = _trace(model)
    if (trace.n_rows, trace.n_features) != (sample.n, sample.d):
        raise ShapeError(
            f"X has shape ({sample.n}, {sample.d}), but the model was trained on ({trace.n_rows}, "
            f"{trace.n_features}). Pass the training data of the model."
        )
    if not np.array_equal(trace.classes, sample.batch.classes):
        raise LabelError(
            f"y has the classes {listed(sample.batch.classes)}, but the model was trained on "
            f"{listed(trace.classes)}. Pass the training data of the model."
        )
    lifts = hasattr(model, "lift_")
    last = None
    if trace.mistakes is not None:
        replayed = trace.replay(X, y)  # says so if this is other data
        last = np.append(replayed.coef, replayed.intercept)
    beta = exact(trace.bias)
    eta = exact(float(getattr(model, "eta0", 1.0)))
    start = np.asarray(trace.start.w, np.float64).reshape(-1)
    names = {Fraction(0): ORIGIN, Fraction(1): UNIT}
    rule = RADIUS if trace.radius is not None else names.get(beta, f"bias={trace.bias:g}")
    return ObservedRun(
        model=model,
        trace=trace,
        rule=LIFTED if lifts else rule,
        beta=beta,
        eta=eta,
        margin=exact(float(getattr(model, "margin", 0.0))),
        start=start,
        last=last,
        from_zero=not start.any() or _is_one_step(start, eta, trace.bias, sample),
        unfit="" if lifts else _unfit(model, trace, eta, start),
    )


def _trace(model: Any) -> Trace:
    name = type(model).__name__
    if hasattr(model, "kernel"):
        raise ParameterError(
            f"model is a {name}, but the bounds are of hyperplanes in the features given. Pass None."
        )
    try:
        trace = model.trace_
    except AttributeError as error:
        why = str(error).rstrip(".")
        raise ParameterError(
            f"model is a {name} without a record of its run, so it has no mistakes to compare: {why}. Pass a "
            "fitted Perceptron, VotedPerceptron, PocketPerceptron or LiftedPerceptron."
        ) from error
    if not isinstance(trace, Trace) or trace.scheme.kind != "binary":
        raise ParameterError(f"model is a {name} that is not one hyperplane. Pass a model of two classes.")
    return trace


def _unfit(model: Any, trace: Trace, eta: Fraction, start: Floats) -> str:
    if trace.penalty is not None:
        return "the penalty shrinks the weights between mistakes"
    if getattr(model, "tie", "mistake") == "half":
        return "ties take half a step"
    if trace.mistakes is None:
        return "the trace holds counts only, so steps cannot be seen to be equal; train with trace='mistakes'"
    if any(exact(step) != eta for step in np.unique(trace.step).tolist()):
        return "rows or classes have weights, for which no bound is claimed"
    if trace.bias == 0.0 and start[-1] != 0.0:
        return "the start has a bias that never moves"
    return ""


def _is_one_step(start: Floats, eta: Fraction, beta: float, sample: TrainingSet) -> bool:
    """Whether the start is η y (x, β) of a row: from zero, a mistake on that row leads there (S-10)."""
    rate = float(eta)
    X: Any = sample.batch.native()
    with np.errstate(over="ignore", under="ignore"):
        same_bias = (rate * sample.y) * beta == start[-1]
        for i in np.flatnonzero(same_bias):
            row = X[[i]]
            dense = np.asarray(row if isinstance(row, np.ndarray) else row.toarray(), np.float64)[0]
            if np.array_equal(rate * sample.y[i] * dense, start[:-1]):
                return True
    return False
