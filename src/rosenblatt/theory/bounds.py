"""Every bound of the theory on one set of rows, and on the model trained with it."""

from __future__ import annotations

from dataclasses import replace
from math import floor, inf
from numbers import Real
from typing import Any

from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import ParameterError, UndecidedError
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.generalisation import online_bound, pocket_bounds
from rosenblatt.theory.inseparable import inseparable_bounds, lifted_bound
from rosenblatt.theory.observed_run import LIFTED, UNIT, ObservedRun, read_run
from rosenblatt.theory.separable import separable_bounds, start_bound
from rosenblatt.theory.training_set import TrainingSet


def bounds(X: Any, y: Any, *, model: Any = None, delta: float = 0.05, time_limit: float | None = None) -> Bounds:
    """Evaluate every bound on the perceptron's mistakes, with the quantities that it uses, certified.

    Each margin is that of the right problem, enclosed exactly, and each value is rounded up: it is at least what
    the theorem says. The theorems are of exact arithmetic; training rounds where sums are not exact.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The examples.
    y : sequence, shape (n_rows,)
        Their labels, of two classes.
    model : estimator or None
        A perceptron trained on X and y: what it did stands beside each bound that speaks of its rule, and the
        other bounds say why they do not apply.
    delta : float
        δ of S-21: the bound holds with probability 1 − δ.
    time_limit : float or None
        Seconds that all of it may take, about; by default margins are enclosed however long it takes.

    Returns
    -------
    Bounds
        By name: "radius" and "radius_padded" (S-25), "unit_norm", "origin" and "padded" (S-26), "offset" and
        "start" (S-27), "sweeps", "a_priori" and ``"rounds_…"`` (S-28), "lifted" (S-22), "pocket" and
        "pocket_usual" (S-21), "online" (S-44). ``print(bounds(X, y))`` shows them as a table.

    Raises
    ------
    UndecidedError
        If `time_limit` is over.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> found = bounds(*load_or())
    >>> found["padded"].value, found["padded"].rational, found["offset"].value
    (27.0, Fraction(27, 1), 27.0)
    >>> found["origin"].applies, found["origin"].reason
    (False, 'no hyperplane through the origin separates the rows')
    """
    _check_share(delta)
    _check_limit(time_limit)
    sample = TrainingSet(X, y, Clock(time_limit))
    try:
        return _evaluated(sample, X, y, model, float(delta))
    except Unsettled as end:
        raise UndecidedError(f"The bounds are not known: {end}") from end


def _evaluated(sample: TrainingSet, X: Any, y: Any, model: Any, delta: float) -> Bounds:
    run = None if model is None else read_run(model, X, y, sample)
    mistakes = [_beside(each, run) for each in separable_bounds(sample, run)]
    start = start_bound(sample, run)
    if run is not None and start.applies:
        start = replace(start, observed=run.mistakes)
    prior, *rounds = inseparable_bounds(sample, run)
    if run is not None and prior.applies:
        prior = replace(prior, observed=run.mistakes)
    lifted = lifted_bound(sample, run)
    best = _best([*mistakes, start], run)
    of_all = _best([*mistakes, start, lifted], run) if run is not None and run.rule == LIFTED else best
    found = [
        *mistakes,
        start,
        _sweeps(of_all, run),
        prior,
        *rounds,
        lifted,
        *pocket_bounds(sample, run, delta),
        online_bound(sample, run, best),
    ]
    return Bounds(found, separable=sample.separable)


def _check_share(delta: Any) -> None:
    if not (isinstance(delta, Real) and 0.0 < float(delta) < 1.0):
        raise ParameterError(f"delta={delta!r} must be a number between 0 and 1.")


def _check_limit(seconds: Any) -> None:
    if seconds is not None and not (isinstance(seconds, Real) and float(seconds) >= 0.0):
        raise ParameterError(f"time_limit must be None or a number of seconds ≥ 0, got {seconds!r}.")


def _beside(bound: Bound, run: ObservedRun | None) -> Bound:
    """Return a bound for runs from zero with what a run did, or why it does not speak of that run."""
    if run is None:
        return bound
    if run.rule == LIFTED:
        return bound.without("the rows are lifted; see 'lifted'")
    if bound.rule != run.rule:
        return bound.without(f"the model has {run.rule}, and this is of {bound.rule}")
    if run.simple:
        return bound.without(run.simple)
    return replace(bound, observed=run.mistakes) if bound.applies else bound


def _best(found: list[Bound], run: ObservedRun | None) -> Bound | None:
    """Return the least bound that applies to the rule of a run, or without one to the plain rule."""
    rule = UNIT if run is None else run.rule
    least = [each for each in found if each.applies and each.rule == rule]
    return min(least, key=lambda each: each.value, default=None)


def _sweeps(best: Bound | None, run: ObservedRun | None) -> Bound:
    """K: each pass but the last makes a mistake."""
    bound = Bound("sweeps", "S-27", "mistakes + 1", limits="sweeps", rule="" if best is None else best.rule)
    if best is None:
        return bound.without((run.unfit if run is not None else "") or "no bound on mistakes applies")
    value = floor(best.value) + 1.0 if best.value < inf else inf
    bound = replace(bound, value=value, of=f"bound {best.name!r}", uses={"mistakes": (best.value, best.value)})
    if run is None:
        return bound
    return bound.without(run.whole_passes) if run.whole_passes else replace(bound, observed=run.passes)
