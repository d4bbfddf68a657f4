"""`bounds`: every bound on the perceptron's mistakes, for given data and for a model trained on it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, floor, inf, log, nextafter, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.certify.rationals import UNIT, above, exact, root_above, root_below
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import Given, InputError, LabelError, ParameterError, UndecidedError
from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import POSITIVE, SECONDS, check_number, optional
from rosenblatt.rooms import find
from rosenblatt.rows.features import as_rows
from rosenblatt.rows.labels import as_measurements, encode_labels
from rosenblatt.rows.pairs import as_groups, pairs_of
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.inseparable import inseparable_bounds, lifted_bound, passive_losses_bound
from rosenblatt.theory.observed_run import LIFTED, UNIT_BIAS, ObservedRun, read_run
from rosenblatt.theory.separable import (
    INSEPARABLE,
    NOT_THROUGH_THE_ORIGIN,
    mixed_bound,
    passive_bound,
    root,
    separable_bounds,
    start_bound,
)
from rosenblatt.theory.training_set import GivenHyperplane, TrainingSet, as_hyperplane, norm_square, raise_bound
from rosenblatt.typing import ColumnLike, Floats, MatrixLike


def bounds(
    X: MatrixLike,
    y: ColumnLike,
    *,
    model: Any = None,
    delta: float = 0.05,
    w_star: ArrayLike | None = None,
    b_star: float = 0.0,
    gamma: float | None = None,
    qid: ArrayLike | None = None,
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
    check_number("delta", delta, above=0, below=1)
    SECONDS("time_limit", time_limit)
    optional(POSITIVE)("gamma", gamma)
    if w_star is None and (gamma is not None or b_star):
        both = Given("gamma") + " and " + Given("b_star")
        raise ParameterError(both + " belong to a hyperplane. Pass its normal vector as w_star too.")
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


def _evaluated(sample: TrainingSet, X: MatrixLike, y: ColumnLike, model: Any, delta: float) -> Bounds:
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
    rule = UNIT_BIAS if run is None else run.rule
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


# The bound on the mistakes of the p-norm perceptron (Grove, Littlestone and Schuurmans 2001).
#
# If u separates the padded rows by y <u, x> ≥ γ, there are at most (p − 1) X_p² ‖u‖_q² / γ² mistakes, where X_p
# is the largest p-norm of a row and 1/p + 1/q = 1. Any u gives a bound. Two are tried: that of maximum margin,
# and that of smallest 1-norm, which is best where few features matter. Floats propose it; its margin is exact,
# and roots are rounded up.


MAX_PROGRAM_VALUES = 1 << 22  # of rows that the linear program is tried on


def power_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return the bound on the mistakes of a `PNormPerceptron` on separable rows."""
    bound = Bound(
        "p_norm", "Grove, Littlestone and Schuurmans 2001", "(p − 1) X_p² ‖u‖_q²/γ²", rule="PNormPerceptron"
    )
    if run is None or run.power is None:
        return bound.without("it is about PNormPerceptron; pass one as model")
    if run.odd_steps or run.start.any():
        return bound.without(run.odd_steps or "the start is not the origin")
    margin = sample.margin(run.beta)
    if margin is None:
        return bound.without(sample.refusal(run.beta) or (INSEPARABLE if run.beta else NOT_THROUGH_THE_ORIGIN))
    p, root = run.power, (root_below(run.beta), root_above(run.beta))
    tried = [(tuple(map(abs, margin.w)), abs(margin.b), margin.least)]
    proposal = _sparsest(sample, p, run.beta)
    if proposal is not None:
        least = sample.least(*proposal)
        if least > 0:
            tried.append((tuple(abs(exact(v)) for v in proposal[0].tolist()), abs(exact(proposal[1])), least))
    longest = _longest(sample, p, root[1])
    norms = [
        exact(norm_above([above(v) for v in (*w, b / exact(root[0]) if run.beta else Fraction(0)) if v], p))
        / least
        for w, b, least in tried
    ]
    value = (p - 1) * exact(longest) ** 2 * min(norms) ** 2
    uses = {"p": (float(p), float(p)), "X_p": (longest, longest), "‖u‖_q": (above(min(norms)), above(min(norms)))}
    rows = "x" if not run.beta else f"(x, {root[1]:g})"
    return replace(bound, value=above(value), of=f"{rows} with γ = 1", uses=uses, observed=run.mistakes)


def norm_above(values: list[float], p: int) -> float:
    """Return an upper bound on the q-norm of positive numbers, where q = p/(p − 1), within a few last places.

    Examples
    --------
    >>> norm_above([3.0, 4.0], 2)
    5.0
    """
    total = sum((exact(_power_above(exact(value), p, p - 1)) for value in values), Fraction(0))
    return _power_above(total, p - 1, p)


def _power_above(value: Fraction, power: int, root: int) -> float:
    """Return a float not below value^(power / root): floats find it, and whole powers decide."""
    if not value:
        return 0.0
    guess = exp((log(value.numerator) - log(value.denominator)) * power / root)
    rounded, wanted = float(np.round(guess)), value**power
    if rounded and abs(rounded - guess) < 1e-9 * guess and Fraction(rounded) ** root == wanted:
        return rounded
    while guess < inf and Fraction(guess) ** root < wanted:
        guess = nextafter(guess * (1.0 + 4.0 * UNIT), inf)
    return guess


def _longest(sample: TrainingSet, p: int, root: float) -> float:
    """Return an upper bound on the largest p-norm of a row padded with `root`.

    Values are divided by a power of two. Each product and each sum is rounded at most once.
    """
    rows = sample.batch.rows
    values = rows.data if isinstance(rows, CSR) else rows
    scale = 2.0 ** int(np.frexp(max(float(np.abs(values).max(initial=0.0)), root))[1])
    with np.errstate(under="ignore"):
        powers = _powers(np.abs(np.asarray(values, np.float64)) / scale, p)
        if isinstance(rows, CSR):
            lengths: Any = np.diff(rows.indptr.astype(np.int64))
            row = np.repeat(np.arange(sample.n), lengths)
            sums = np.bincount(row, weights=powers, minlength=sample.n)
        else:
            sums = powers.sum(axis=1)
        largest = float(sums.max()) + float(_powers(np.array([root / scale]), p)[0])
    rounding = 1 + 4 * (sample.d + p + 8) * Fraction(UNIT)
    least = Fraction(sample.d + 1) / 2**1000  # what underflow may have taken away
    return nextafter(_power_above(exact(largest) * rounding + least, 1, p) * scale, inf)


def _powers(values: Floats, p: int) -> Floats:
    """Return values^p by squaring."""
    powers, squares = np.ones_like(values), values
    while p:
        powers = powers * squares if p % 2 else powers
        squares, p = squares * squares, p // 2
    return powers


def _sparsest(sample: TrainingSet, p: int, beta: Fraction) -> tuple[Floats, float] | None:
    """Return a hyperplane of about the smallest 1-norm with y f ≥ 1 on every row; None for p = 2 or many rows."""
    if p == 2 or sample.given is not None or sample.n * (sample.d + 1) > MAX_PROGRAM_VALUES:
        return None
    from scipy.optimize import linprog

    root = float(beta) ** 0.5
    rows = np.column_stack([sample.batch.dense(), np.full(sample.n, root)]) * sample.y[:, None]
    limit: Any = {"time_limit": sample.seconds(60.0)}
    both, least = np.hstack([-rows, rows]), -np.ones(sample.n)
    found: Any = linprog(np.ones(both.shape[1]), both, least, method="highs", options=limit)
    if found.x is None:
        return None
    u = found.x[: rows.shape[1]] - found.x[rows.shape[1] :]
    return np.ascontiguousarray(u[:-1]), float(u[-1]) * root


# The bounds on the ranks that the ordinal perceptron is off, and on the updates of the ranking perceptron.
#
# A row of rank y is K − 1 examples of two classes: (x, −e_r) with the label +1 for thresholds r below y, and −1
# for the others. A vector with thresholds b separates the ranks if (w, b) separates these examples through the
# origin, and an update sums the examples that are wrong (Crammer and Singer 2001).
#
# A pair of rows to be ranked is the example x⁺ − x⁻ of a perceptron without a bias (Novikoff 1962).


MAX_THRESHOLD_VALUES = 1 << 24


def rank_bounds(X: MatrixLike, y: ColumnLike, model: Any, clock: Clock) -> Bounds:
    """Return (K − 1)(R² + 1)/γ² beside the ranks that the model was off in its last fit."""
    features = as_rows(X)
    dense = features.dense()
    codes = encode_labels(y, model.classes_, features.n_rows)
    K = len(model.classes_)
    if K * dense.size > MAX_THRESHOLD_VALUES:
        raise ParameterError(
            f"X has {dense.size:,} values, too many for the bound on ranks. Pass fewer rows.", parameter="X"
        )
    thresholds = np.repeat(-np.eye(K - 1)[None], features.n_rows, axis=0).reshape(-1, K - 1)
    rows = np.hstack([np.repeat(dense, K - 1, axis=0), thresholds])
    sides = np.where(codes[:, None] > np.arange(K - 1), 1, -1).reshape(-1)
    bound = Bound("ranks", "Crammer and Singer 2001", "(K − 1)(R² + 1)/γ²", rule="PRank", of="(x, −e_r)")
    try:
        sample = TrainingSet(rows, sides, clock)
        margin = sample.margin(Fraction(0))
    except Unsettled as end:
        raise UndecidedError(f"The bound is not known: {end}") from end
    if margin is None:
        return Bounds([bound.without("no vector and thresholds separate the ranks")], separable=False)
    value = (K - 1) * sample.square / margin.squared[0]  # the norm of (x, −e_r) is R² + 1
    uses = {"R": root(sample.square - 1), "γ": margin.interval, "K": (float(K), float(K))}
    unweighted = replace(bound, value=above(value), rational=value, uses=uses, note="no row had a sample weight")
    if "_run" not in vars(model):
        return Bounds([unweighted], separable=True)
    if model._run.start.w.any():
        return Bounds([unweighted.without("the start is not the origin")], separable=True)
    return Bounds([replace(unweighted, observed=model.rank_errors_)], separable=True)


def pair_bounds(X: MatrixLike, y: ColumnLike, qid: ArrayLike | None, model: Any, clock: Clock) -> Bounds:
    """Return (R² + 2m/η)/γ² for the differences x⁺ − x⁻ of all pairs, beside the updates of the last fit."""
    features = as_rows(X)
    dense = features.dense()
    plus, minus = pairs_of(
        as_measurements(y, features.n_rows).reshape(features.n_rows), as_groups(qid, len(dense))
    )
    if not len(plus):
        raise LabelError("No group has rows with different y, so there is no pair to rank. Pass other rows.")
    if len(plus) * dense.shape[1] > MAX_THRESHOLD_VALUES:
        raise InputError(f"There are {len(plus):,} pairs, too many for the bound on them. Pass fewer rows.")
    apart = dense[plus] - dense[minus]
    whole = bool(((apart + dense[minus] == dense[plus]) & (dense[plus] - apart == dense[minus])).all())
    bound = Bound("pairs", "Novikoff 1962", "(R² + 2m/η)/γ²", rule="RankingPerceptron", of="x⁺ − x⁻")
    notes = ["no row had a sample weight", *([] if whole else ["differences of rows were rounded to floats"])]
    try:
        sample = TrainingSet(np.vstack([apart, -apart]), np.repeat([1, -1], len(apart)), clock)
        margin = sample.margin(Fraction(0))
    except Unsettled as end:
        raise UndecidedError(f"The bound is not known: {end}") from end
    if margin is None:
        return Bounds([bound.without("no vector ranks all pairs")], separable=False)
    slack = Fraction(0) if model is None else 2 * exact(float(model.margin)) / exact(float(model.eta0))
    value = (sample.square + slack) / margin.squared[0]
    uses = {"R": root(sample.square), "γ": margin.interval}
    found = replace(bound, value=above(value), rational=value, uses=uses, note="; ".join(notes))
    if model is None or "_run" not in vars(model):
        return Bounds([found], separable=True)
    if model._run.start.w.any():
        return Bounds([found.without("the start is not the origin")], separable=True)
    return Bounds([replace(found, observed=sum(model._run.recorder.mistakes_per_pass))], separable=True)


# Bounds on the error on new rows, drawn independently from the same distribution.


DRAWN = "rows are drawn independently, and none is longer than those given"


def pocket_bounds(sample: TrainingSet, run: ObservedRun | None, delta: float) -> list[Bound]:
    """Return two bounds for the pocket algorithm (Gallant 1986): Harchaoui's, and one with a product in the root.

    They assume ‖w‖ = 1 and ‖x‖ ≤ 1, so padded rows and γ are divided by C. M is the share of rows whose margin
    under the final hypothesis is below γ.
    """
    printed = Bound(
        "pocket",
        "Harchaoui",
        "M + sqrt(M + 4 ln(n/δ)/(γ²n)) + 8 ln(n/δ)/(γ²n)",
        limits="error",
        rule="PocketPerceptron(pocket_margin=γ)",
        of="rows divided by C",
        note=DRAWN,
    )
    usual = replace(printed, name="pocket_usual", formula="M + sqrt(M · 4 ln(n/δ)/(γ²n)) + 8 ln(n/δ)/(γ²n)")
    gamma = 0.0 if run is None else float(run.known.get("pocket_margin", 0.0))
    if run is None or gamma <= 0.0:
        reason = "it needs a γ > 0 chosen beforehand: fit PocketPerceptron(pocket_margin=γ) and pass it as model"
        return [printed.without(reason), usual.without(reason)]
    w, b = np.asarray(run.model.coef_, np.float64)[0], float(run.model.intercept_[0])
    z, error = sample.signed_scores(w, b)
    norm, square = norm_square(w, b, run.beta), sample.square + run.beta
    least = root_above(norm * exact(gamma) ** 2)
    near = np.flatnonzero(z - error < least)  # rows that rounding leaves in doubt count as below
    M = len(near) / sample.n
    share = root_below(exact(gamma) ** 2 / square)
    logarithm = raise_bound(log(sample.n / delta))
    D = raise_bound(logarithm / (share * share * (1.0 - 2.0**-50) * sample.n)) if share * share > 0.0 else inf
    uses = {"M": (M, M), "γ": (share, nextafter(share, inf)), "C": root(square), "δ": (delta, delta)}
    return [
        replace(printed, value=raise_bound(M + sqrt(M + 4.0 * D) + 8.0 * D), uses=uses),
        replace(usual, value=raise_bound(M + (sqrt(M * 4.0 * D) if M else 0.0) + 8.0 * D), uses=uses),
    ]


def online_bound(sample: TrainingSet, run: ObservedRun | None, best: Bound | None) -> Bound:
    """Return the bound B/n on the mean error of the hypotheses of one pass, each tested on its next row."""
    bound = Bound(
        "online",
        "Cesa-Bianchi et al. 2004",
        "B/n",
        limits="error",
        rule="one pass" if best is None else f"one pass, {best.rule}",
        of="" if best is None else f"bound {best.name!r}",
        note="rows are drawn independently, and B bounds the mistakes on any n of them",
    )
    if run is not None and run.rule == LIFTED:
        return bound.without("the rows are lifted, which is not possible for new rows")
    if best is None:
        return bound.without((run.simple if run is not None else "") or "no bound on mistakes applies")
    value = above(exact(best.value) / sample.n) if best.value < inf else inf
    n = float(sample.n)
    bound = replace(bound, value=value, uses={"B": (best.value, best.value), "n": (n, n)})
    if run is None:
        return bound
    if run.whole_passes:
        return bound.without(run.whole_passes)
    return replace(bound, observed=float(run.trace.mistakes_per_pass[0]) / sample.n if run.passes else 0.0)
