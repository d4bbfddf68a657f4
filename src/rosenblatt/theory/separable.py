"""Bounds on the mistakes on separable rows (Novikoff 1962; Block 1962).

All are one theorem. A rule whose bias moves by β is the perceptron without a bias on rows (x, √β), with weights
(w, b/√β); there, after k mistakes from zero, kηγ ≤ <w_k, w*> ≤ ‖w_k‖ ≤ √k η C with C² = R² + β, so k ≤ C²/γ² for
the margin γ that any hyperplane (w*, b*) has among the padded rows: least y f / sqrt(‖w*‖² + b*²/β).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from rosenblatt.certify.margin import Margin
from rosenblatt.certify.rationals import above, exact, root_above, root_below
from rosenblatt.theory.bound import Bound, Interval
from rosenblatt.theory.observed_run import LIFTED, ORIGIN, RADIUS, UNIT_BIAS, ObservedRun
from rosenblatt.theory.training_set import TrainingSet

SAME = Fraction(1, 10**9)  # the formula shows R if β differs from R² by at most this share of it
INSEPARABLE = "no hyperplane separates the rows"
NOT_THROUGH_THE_ORIGIN = "no hyperplane through the origin separates the rows"


def separable_bounds(sample: TrainingSet, run: ObservedRun | None) -> list[Bound]:
    """Return every bound that needs separable rows; for other rows they say that they do not apply."""
    square = sample.square
    # With a model β is the step of its bias, R² rounded; without, R² itself.
    beta = run.beta if run is not None and run.rule == RADIUS else square
    return [
        _by_radius(sample, beta),
        _padded(sample, "radius_padded", "Novikoff 1962", beta, RADIUS, "(x, R)"),
        _unit_norm(sample),
        _padded(sample, "origin", "Novikoff 1962", Fraction(0), ORIGIN, "x"),
        _padded(sample, "padded", "Zhang 2024", Fraction(1), UNIT_BIAS, "(x, 1)"),
        _offset(sample),
    ]


def _by_radius(sample: TrainingSet, beta: Fraction) -> Bound:
    """Return (R² + β)(1 + R²/β)/γ² for ‖w*‖ = 1 and |b*| ≤ R; for β = R² it is 4R²/γ² (Koski 2017).

    The hyperplane of maximum margin meets this condition: its sides hold a row each, so |b*| ≤ R − γ.
    """
    square = sample.square
    is_radius = abs(beta - square) <= SAME * square
    bound = Bound(
        "radius",
        "Koski 2017",
        "(2R/γ)²" if is_radius else "(R² + β)²/(β γ²)",
        rule=RADIUS,
        of="x, with a free bias",
    )
    margin = sample.margin(None)
    if margin is None or not beta:
        return bound.without(sample.refusal(None) or INSEPARABLE)
    if margin.b**2 > square * margin.normal_square:
        return bound.without("it needs |b*| ≤ R for ‖w*‖ = 1")
    return _valued(bound, (square + beta) ** 2 / beta / margin.squared[0], R=root(square), γ=margin.interval)


def _padded(sample: TrainingSet, name: str, author: str, beta: Fraction, rule: str, rows: str) -> Bound:
    """Return C²/γ² for the rows padded with √β and their margin through the origin."""
    formula = {ORIGIN: "(R/γ)²", RADIUS: "2R²/γ²"}.get(rule, "C²/γ²")
    bound = Bound(name, author, formula, rule=rule, of=rows)
    margin = sample.margin(beta) if rule == ORIGIN or beta else None
    if margin is None:
        return bound.without(sample.refusal(beta) or (NOT_THROUGH_THE_ORIGIN if rule == ORIGIN else INSEPARABLE))
    square = sample.square + beta
    radius = {"R": root(sample.square)} if rule != UNIT_BIAS else {"C": root(square)}
    return _valued(bound, square / margin.squared[0], **radius, γ=margin.interval)


def _unit_norm(sample: TrainingSet) -> Bound:
    """Return 1/γ² for ‖x‖ ≤ 1 (Hladká and Holub 2016), or R²/γ² if R is above 1 by the rounding of unit rows."""
    bound = Bound("unit_norm", "Hladká and Holub 2016", "1/γ²", rule=ORIGIN, of="x")
    margin = sample.margin(Fraction(0))
    if margin is None:
        return bound.without(sample.refusal(Fraction(0)) or NOT_THROUGH_THE_ORIGIN)
    square = max(Fraction(1), sample.square)
    bound = replace(bound, formula="R²/γ²") if square > 1 else bound
    bound = _valued(bound, square / margin.squared[0], R=root(sample.square), γ=margin.interval)
    # Rows divided by their norms in floats have a norm of 1 up to a few units in the last place.
    rounding = (sample.d + 8) * Fraction(float(np.finfo(sample.batch.values.dtype).eps))
    return bound if square <= 1 + rounding else bound.without("a row is longer than 1; see 'origin'")


def _offset(sample: TrainingSet) -> Bound:
    """Return the bound by the widest hyperplane (w*, b*): its margin among the (x, 1) is ρ/sqrt(1 + b*²)."""
    bound = Bound("offset", "Novikoff 1962", "(b*² + 1)(R² + 1)/ρ²", rule=UNIT_BIAS, of="x, with a free bias")
    margin = sample.margin(None)
    if margin is None:
        return bound.without(sample.refusal(None) or INSEPARABLE)
    offset = margin.b**2 / margin.normal_square
    value = (offset + 1) * (sample.square + 1) / margin.squared[0]
    return _valued(bound, value, R=root(sample.square), ρ=margin.interval, **{"|b*|": root(offset)})


def start_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Solve kηγ + <w₀, w*> ≤ sqrt(‖w₀‖² + k(η²C² + 2ηm)) for k, a quadratic inequality; C²/γ² is a special case.

    With a margin m and from zero it is (C² + 2m/η)/γ²; of uneven margins m is the larger one (Li et al. 2002).
    All quantities are those of padded rows, times ‖w*‖, so that only one root remains, which is rounded up.
    """
    formula = "largest k with kηγ + <w₀,w*> ≤ sqrt(‖w₀‖² + k(η²C² + 2ηm))"
    bound = Bound("start", "Novikoff 1962", formula, rule="any start and margin")
    if run is None:
        return bound.without("it needs the start, learning rate and margin of a model; pass model")
    if run.unfit or run.rule == LIFTED:
        return bound.without(run.unfit or "the rows are lifted; see 'lifted'")
    margin = sample.margin(run.beta)
    if margin is None:
        return bound.without(sample.refusal(run.beta) or (INSEPARABLE if run.beta else NOT_THROUGH_THE_ORIGIN))
    uses = {
        "C": root(sample.square + run.beta),
        "γ": margin.interval,
        "η": (float(run.eta), float(run.eta)),
        "m": (float(run.margin), float(run.margin)),
    }
    rows = "x" if not run.beta else f"(x, {float(run.beta) ** 0.5:g})"
    value = _largest_count(margin, run, sample.square + run.beta)
    return replace(bound, value=value, rule=run.rule, of=rows, uses=uses)


def passive_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return the bound on the mistakes of PA, PA-I or PA-II on separable rows (Crammer et al. 2006).

    For u with y <u, x> ≥ 1 on all padded rows, ‖u‖² = 1/γ². Every step brings w nearer to u, which bounds the sum
    of the squared losses by (R² + β)‖u‖² (PA) or (R² + β + 1/(2C))‖u‖² (PA-II); a mistake has a loss of 1 or
    more. A mistake of PA-I takes a step of at least min(C, 1/(R² + β)), which gives max(R² + β, 1/C)‖u‖². Of steps
    times η each brings w nearer by η(2 − η) of that. With the margin m the losses and u are m times as large, so
    that only C becomes C/m.
    """
    bound = Bound("passive", "Crammer et al. 2006", "max(R² + β, 1/C)/γ²", rule="passive-aggressive")
    rule = None if run is None else run.passive
    if run is None or rule is None:
        return bound.without("it is about PassiveAggressiveClassifier; pass one as model")
    square = sample.square + run.beta
    if rule.soft > 0.0:
        bound, factor = replace(bound, formula="(R² + β + 1/(2C))/γ²"), square + exact(rule.soft)
    elif rule.most == inf:
        bound, factor = replace(bound, formula="(R² + β)/γ²"), square
    else:
        factor = max(square, run.margin / exact(rule.most))
        if run.margin != 1:
            bound = replace(bound, formula="max(R² + β, m/C)/γ²")
    if run.start.any():
        return bound.without("the start is not the origin")
    if not 0 < run.eta < 2 or run.margin == 0:
        return bound.without("it needs an eta0 below 2 and a margin above 0")
    if run.eta != 1:
        bound, factor = replace(bound, formula=f"{bound.formula}/(η(2 − η))"), factor / (run.eta * (2 - run.eta))
    if run.odd_weights:
        return bound.without(run.odd_weights)
    margin = sample.margin(run.beta)
    if margin is None:
        return bound.without(sample.refusal(run.beta) or (INSEPARABLE if run.beta else NOT_THROUGH_THE_ORIGIN))
    rows = "x" if not run.beta else f"(x, {float(run.beta) ** 0.5:g})"
    bound = replace(bound, of=rows, note="no row had a sample weight", observed=run.model.n_mistakes_)
    return _valued(bound, factor / margin.squared[0], R=root(sample.square), γ=margin.interval)


def mixed_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return the bound on Σ μ k of parameter mixing, over all passes and partitions (McDonald, Hall, Mann 2010).

    A partition that makes k mistakes from w moves <w, w*> by at least kγ and ‖w‖² by at most kC². Mixing keeps the
    first on average, and makes ‖w‖² at most the average. So with K = Σ μ k: Kγ ≤ <w, w*> ≤ ‖w‖ ≤ √K C.
    """
    bound = Bound("mixed", "McDonald, Hall and Mann 2010", "Σ μ k ≤ C²/γ²", rule="parameter mixing")
    mixing = None if run is None else run.known.get("mixing_")
    if run is None or mixing is None:
        return bound.without("it is about models that rosenblatt.distributed.fit mixed; pass one as model")
    if run.unmixed:
        return bound.without(run.unmixed)
    margin = sample.margin(run.beta)
    if margin is None:
        return bound.without(sample.refusal(run.beta) or (INSEPARABLE if run.beta else NOT_THROUGH_THE_ORIGIN))
    rows = "x" if not run.beta else f"(x, {float(run.beta) ** 0.5:g})"
    square = sample.square + run.beta
    bound = replace(bound, of=rows, observed=mixing.weighted_mistakes)
    return _valued(bound, square / margin.squared[0], C=root(square), γ=margin.interval)


def _largest_count(margin: Margin, run: ObservedRun, square: Fraction) -> float:
    """Return an upper bound on the larger root of a k² + p k + q = 0; q ≤ 0 by Cauchy and Schwarz."""
    w0, b0 = [exact(value) for value in run.start[:-1].tolist()], exact(float(run.start[-1]))
    along = sum((p * q for p, q in zip(w0, margin.w, strict=True)), Fraction(0))
    length = sum((p * p for p in w0), Fraction(0))
    if run.beta:
        along, length = along + b0 * margin.b / run.beta, length + b0**2 / run.beta
    normal = margin.normal_square
    pull = run.eta * margin.least
    a = pull**2
    p = 2 * along * pull - normal * (run.eta**2 * square + 2 * run.eta * run.margin)
    q = along**2 - normal * length
    if q == 0 and p <= 0:
        return above(-p / a)
    halves = -p / (2 * a)
    root = root_above(halves**2 - q / a)
    return above(halves + exact(root)) if root < inf else inf


def _valued(bound: Bound, value: Fraction, **uses: Interval) -> Bound:
    return replace(bound, value=above(value), rational=value, uses=uses)


def root(square: Fraction) -> Interval:
    """Return two floats that enclose a root."""
    return root_below(square), root_above(square)
