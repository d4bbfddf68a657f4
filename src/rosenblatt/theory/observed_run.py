"""What a fitted model did in training, and whether the theorems apply to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify.rationals import exact
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.learning.trace import Trace
from rosenblatt.loops.rules import Confidence, Margins, Passive, Power, Rule
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.labels import list_classes
from rosenblatt.theory.training_set import TrainingSet
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

ORIGIN, UNIT_BIAS, RADIUS, LIFTED = "bias=None", 'bias="unit"', 'bias="radius"', "LiftedPerceptron"


@dataclass(frozen=True, eq=False)
class ObservedRun:
    """A run of training; each `str` property says why some bound does not apply, and is empty if it does."""

    model: Any  # the estimator
    known: Mapping[str, Any]  # its parameters and fitted attributes
    trace: Trace
    rule: str  # the rule by name; with the bias as a number if no theorem names it
    beta: Fraction  # the bias moves by β for a step of 1
    eta: Fraction  # the learning rate
    margin: Fraction  # a visit with y f at most this is a mistake; of uneven margins the larger one
    passive: Passive | None  # the rule, if it is passive-aggressive
    power: int | None  # p, if the rule is the p-norm perceptron's
    start: Floats  # the first hypothesis, bias last
    last: Floats | None  # the last hypothesis, None if the trace has counts only
    from_zero: bool  # whether it began at the origin, or at the result of one mistake from there
    other_rule: str  # why the rule is not the perceptron's
    unfit: str  # why no bound on mistakes applies
    odd_steps: str  # why the steps are not those of a perceptron, whatever they move

    @property
    def odd_weights(self) -> str:
        """Why examples do not weigh the same, as far as the parameters say."""
        weighs = self.known.get("class_weight") is not None
        return "classes have weights, for which no bound is claimed" if weighs else ""

    @property
    def mistakes(self) -> int:
        """The number of mistakes."""
        return len(self.trace)

    @property
    def passes(self) -> int:
        """The number of passes."""
        return len(self.trace.mistakes_per_pass)

    @property
    def times(self) -> Ints:
        """The number of mistakes on each row."""
        return self.trace.alpha

    @property
    def simple(self) -> str:
        """Why bounds for runs from zero without a margin do not apply."""
        if self.unfit:
            return self.unfit
        if self.margin:
            return f"mistakes are counted with margin={float(self.margin):g}, not 0; see 'start'"
        return "" if self.from_zero else "the start is not the origin; see 'start'"

    @property
    def simplest(self) -> str:
        """Why bounds that sum the losses of all updates do not apply."""
        return self.simple or ("the start is an update that is not counted" if self.start.any() else "")

    @property
    def unmixed(self) -> str:
        """Why the bound on mixed mistakes does not apply."""
        if self.other_rule or self.trace.penalty is not None or self.known.get("tie") == "half":
            return "it is about mistakes that move the weights by η y x"
        if self.margin:
            return f"mistakes are counted with margin={float(self.margin):g}, not 0"
        if self.known.get("class_weight") is not None:
            return "classes have weights, for which no bound is claimed"
        return "the start is not the origin" if self.start.any() else ""

    @property
    def whole_passes(self) -> str:
        """Why passes may leave rows out."""
        if "stop_reason_" not in self.known:
            return "a stream has no passes"
        order = self.known.get("order")
        shuffled = isinstance(order, str) and order in ("shuffle", "cyclic")
        return "" if shuffled else "only order='shuffle' and 'cyclic' visit each row once in a pass"


def read_run(model: Any, X: MatrixLike, y: ColumnLike, sample: TrainingSet) -> ObservedRun:
    """Return what a fitted model did on X and y, which must be its training data."""
    trace, known = _trace(model), vars(model)
    if (trace.n_rows, trace.n_features) != (sample.n, sample.d):
        raise ShapeError(
            f"X has shape ({sample.n}, {sample.d}), but the model was trained on ({trace.n_rows}, "
            f"{trace.n_features}). Pass the training data of the model."
        )
    if not np.array_equal(trace.classes, sample.batch.classes):
        raise LabelError(
            f"y has the classes {list_classes(sample.batch.classes)}, but the model was trained on "
            f"{list_classes(trace.classes)}. Pass the training data of the model."
        )
    lifts = "a" in known
    last = None
    if trace.mistakes is not None:
        replayed = trace.replay(X, y)  # raises an error if this is other data
        last = np.append(replayed.coef, replayed.intercept)
    beta, eta = exact(trace.bias), exact(float(known.get("eta0", 1.0)))
    start = np.asarray(trace.start.spread().w, np.float64).reshape(-1)
    names = {Fraction(0): ORIGIN, Fraction(1): UNIT_BIAS}
    rule = RADIUS if trace.radius is not None else names.get(beta, f"bias={trace.bias:g}")
    own = model._own_rule(Rule()) if hasattr(model, "_own_rule") else None
    odd, other = _unfit(known, trace, eta, start), _other_rule(own, model)
    return ObservedRun(
        model=model,
        known=known,
        trace=trace,
        rule=LIFTED if lifts else rule,
        beta=beta,
        eta=eta,
        margin=exact(max(np.ravel(known.get("margin", 0.0)).tolist())),
        passive=own if isinstance(own, Passive) else None,
        power=model.p_ if isinstance(own, Power) else None,
        start=start,
        last=last,
        from_zero=not start.any() or _is_one_step(start, eta, trace.bias, sample),
        other_rule=other,
        unfit="" if lifts else other or odd,
        odd_steps=odd,
    )


def _trace(model: Any) -> Trace:
    """Return the record of a model, which must be one hyperplane in the original features."""
    name = type(model).__name__
    try:
        trace = model.trace_
    except AttributeError as error:
        why = str(error).rstrip(".")
        raise ParameterError(
            f"model is a {name} without a record of its run, so it has no mistakes to compare: {why}. Pass a "
            "fitted Perceptron, VotedPerceptron, PocketPerceptron or LiftedPerceptron.",
            parameter="model",
        ) from error
    if "kernel" in vars(model):
        raise ParameterError(
            f"model is a {name}, but the bounds are about hyperplanes in the original features. Pass None.",
            parameter="model",
        )
    if not isinstance(trace, Trace) or trace.scheme.kind != "binary":
        raise ParameterError(
            f"model is a {name} that is not one hyperplane. Pass a model of two classes.", parameter="model"
        )
    return trace


def _other_rule(own: Any, model: Any) -> str:
    """Return why the bounds of the perceptron are not about a rule; a rule that nothing is known of has none."""
    if own is None or isinstance(own, Rule | Margins) or (isinstance(own, Power) and model.p_ <= 2):
        return ""
    if isinstance(own, Power):
        return "its weights are powers of what steps move; see 'p_norm'"
    if isinstance(own, Passive):
        return "its steps are as long as their rows need; see 'passive'"
    if isinstance(own, Confidence):
        return "its steps depend on variances, for which no bound is evaluated"
    return f"its rule is {type(own).__name__}, for which no bound is evaluated"


def _unfit(known: Mapping[str, Any], trace: Trace, eta: Fraction, start: Floats) -> str:
    if trace.penalty is not None:
        return "the penalty shrinks the weights between mistakes"
    if known.get("tie", "mistake") == "half":
        return "ties take half a step"
    if "mixing_" in known and known["mixing_"].partitions > 1:
        return "the weights were mixed from partitions; see 'mixed'"
    if trace.mistakes is None:
        return "the trace holds counts only, so steps cannot be seen to be equal; train with trace='mistakes'"
    if any(exact(step) != eta for step in np.unique(trace.step).tolist()):
        return "rows or classes have weights, for which no bound is claimed"
    if trace.bias == 0.0 and start[-1] != 0.0:
        return "the start has a bias that never moves"
    return ""


def _is_one_step(start: Floats, eta: Fraction, beta: float, sample: TrainingSet) -> bool:
    """Return whether the start is η y (x, β) of some row, which a mistake on that row leads to from zero."""
    rate, matrix = float(eta), Matrix(sample.batch, bias=False)
    with np.errstate(over="ignore", under="ignore"):
        same_bias = (rate * sample.y) * beta == start[-1]
        rows = ((i, matrix.dense([i])[0]) for i in np.flatnonzero(same_bias))
        return any(np.array_equal(rate * sample.y[i] * x, start[:-1]) for i, x in rows)
