"""`bounds`: every bound on the perceptron's mistakes, for given data and for a model trained on it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, inf
from numbers import Real
from typing import Any

from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import ParameterError, UndecidedError
from rosenblatt.rooms import find
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.generalisation import online_bound, pocket_bounds
from rosenblatt.theory.inseparable import inseparable_bounds, lifted_bound, passive_losses_bound
from rosenblatt.theory.observed_run import LIFTED, UNIT, ObservedRun, read_run
from rosenblatt.theory.powers import power_bound
from rosenblatt.theory.ranks import pair_bounds, rank_bounds
from rosenblatt.theory.separable import mixed_bound, passive_bound, separable_bounds, start_bound
from rosenblatt.theory.training_set import GivenHyperplane, TrainingSet, as_hyperplane


def bounds(
    X: Any,
    y: Any,
    *,
    model: Any = None,
    delta: float = 0.05,
    w_star: Any = None,
    b_star: float = 0.0,
    gamma: float | None = None,
    qid: Any = None,
    time_limit: float | None = None,
) -> Bounds:
    """Evaluate every bound on the perceptron's mistakes, with the quantities that it uses, certified.

    Each bound uses the margin of the problem that its theorem is about, enclosed exactly, and each value is
    rounded up. The theorems assume exact arithmetic; training rounds where sums are not exact.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The examples.
    y : sequence, shape (n_rows,)
        Their labels, of two classes; with an `OrdinalPerceptron` their ranks, and with `qid` numbers to rank by.
        With a `SequencePerceptron` X and y are sentences and their labels.
    model : estimator or None
        A perceptron trained on X and y. Its mistakes stand beside each bound for its rule, and the other bounds
        say why they do not apply.
    delta : float
        The bounds on the error of `PocketPerceptron` hold with probability 1 − delta.
    w_star, b_star : array-like and float, optional
        A hyperplane at which all bounds are evaluated. By default each bound uses the hyperplane for which it is
        smallest.
    gamma : float or None
        The margin of this hyperplane at which they are evaluated, as a distance. None takes the margin that it has
        for the theorem in question; if it does not separate the rows, bounds for any rows take the best γ found.
    qid : sequence or None
        The group of each row, for the bound of `RankingPerceptron`: rows of the same group are compared.
    time_limit : float or None
        Seconds that the evaluation may take, approximately; None means no limit.

    Returns
    -------
    Bounds
        By name. For separable rows (Novikoff 1962): "radius", "radius_padded", "unit_norm", "origin", "padded",
        "offset", "start", "passive" (Crammer et al. 2006), "p_norm" (Grove, Littlestone and Schuurmans 2001),
        "mixed" (McDonald, Hall and Mann 2010) and "sweeps". For any rows: "a_priori" and ``"rounds_…"`` (Gentile
        2003), "passive_losses" (Crammer et al. 2006), "lifted" (Freund and Schapire 1999). For the error on new
        rows: "pocket" and
        "pocket_usual" (Harchaoui), "online" (Cesa-Bianchi, Conconi and Gentile 2004); those of 1 or more are
        marked as vacuous. For an `OrdinalPerceptron` there is one, "ranks" (Crammer and Singer 2001), on the sum
        of the ranks that visits are off, and for a `RankingPerceptron` "pairs" (Novikoff 1962). For a
        `SequencePerceptron` (Collins 2002): "collins", "run_radius", "run_sum", "run_norm" and "one_pass".
        ``print(bounds(X, y))`` shows them as a table.

    Raises
    ------
    UndecidedError
        If the time limit is reached.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> found = bounds(*load_or())
    >>> found["padded"].value, found["padded"].rational, found["offset"].value
    (27.0, Fraction(27, 1), 27.0)
    >>> found["origin"].applies, found["origin"].reason
    (False, 'no hyperplane through the origin separates the rows')
    """
    if not (_is_number(delta) and 0.0 < float(delta) < 1.0):
        raise ParameterError(f"delta={delta!r} must be a number between 0 and 1.")
    if time_limit is not None and not (_is_number(time_limit) and float(time_limit) >= 0.0):
        raise ParameterError(f"time_limit must be None or a number of seconds ≥ 0, got {time_limit!r}.")
    if gamma is not None and not (_is_number(gamma) and 0.0 < float(gamma) < inf):
        raise ParameterError(f"gamma={gamma!r} must be None or a finite number above 0.")
    if w_star is None and (gamma is not None or b_star):
        raise ParameterError("gamma and b_star belong to a hyperplane. Pass its normal vector as w_star too.")
    if hasattr(type(model), "transition_features_"):
        found: Bounds = find("sequences.sentence_bounds").sequence_bounds(X, y, model, time_limit)
        return found
    if hasattr(model, "thresholds_"):
        return rank_bounds(X, y, model, Clock(time_limit))
    if qid is not None or hasattr(model, "_pairs"):
        return pair_bounds(X, y, qid, model, Clock(time_limit))
    sample = TrainingSet(X, y, Clock(time_limit))
    if w_star is not None:
        sample.given = GivenHyperplane(
            *as_hyperplane(sample, w_star, b_star), None if gamma is None else Fraction(gamma)
        )
    try:
        return _evaluated(sample, X, y, model, float(delta))
    except Unsettled as end:
        raise UndecidedError(f"The bounds are not known: {end}") from end


def _evaluated(sample: TrainingSet, X: Any, y: Any, model: Any, delta: float) -> Bounds:
    run = None if model is None else read_run(model, X, y, sample)
    mistakes = [_beside(each, run) for each in separable_bounds(sample, run)]
    start = _observed(start_bound(sample, run), run)
    prior, *rounds = inseparable_bounds(sample, run)
    prior = _observed(prior, run)
    losses, lifted = passive_losses_bound(sample, run), lifted_bound(sample, run)
    others = passive_bound(sample, run), power_bound(sample, run)
    best = _best([*mistakes, start], run)
    of_all = _best([*mistakes, start, lifted], run) if run is not None and run.rule == LIFTED else best
    found = [
        *mistakes,
        start,
        *others,
        mixed_bound(sample, run),
        _sweeps(of_all, run),
        prior,
        *rounds,
        losses,
        lifted,
        *pocket_bounds(sample, run, delta),
        online_bound(sample, run, best),
    ]
    return Bounds(found, separable=sample.separable)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


def _observed(bound: Bound, run: ObservedRun | None) -> Bound:
    """Return a bound with the mistakes of a run, if it applies to the run."""
    return bound if run is None or not bound.applies else replace(bound, observed=run.mistakes)


def _beside(bound: Bound, run: ObservedRun | None) -> Bound:
    """Return a bound for runs from zero with the mistakes of a run, or with the reason why it does not apply."""
    if run is None:
        return bound
    if run.rule == LIFTED:
        return bound.without("the rows are lifted; see 'lifted'")
    if bound.rule != run.rule:
        return bound.without(f"it is about {bound.rule}, but the model has {run.rule}")
    return bound.without(run.simple) if run.simple else _observed(bound, run)


def _best(found: list[Bound], run: ObservedRun | None) -> Bound | None:
    """Return the smallest bound that applies to the rule of a run, or to bias="unit" if there is no run."""
    rule = UNIT if run is None else run.rule
    least = [each for each in found if each.applies and each.rule == rule]
    return min(least, key=lambda each: each.value, default=None)


def _sweeps(best: Bound | None, run: ObservedRun | None) -> Bound:
    """Return the bound on the number of passes: each pass but the last makes a mistake."""
    bound = Bound("sweeps", "Koski 2017", "mistakes + 1", limits="sweeps", rule="" if best is None else best.rule)
    if best is None:
        return bound.without((run.unfit if run is not None else "") or "no bound on mistakes applies")
    value = floor(best.value) + 1.0 if best.value < inf else inf
    bound = replace(bound, value=value, of=f"bound {best.name!r}", uses={"mistakes": (best.value, best.value)})
    if run is None:
        return bound
    return bound.without(run.whole_passes) if run.whole_passes else replace(bound, observed=run.passes)
