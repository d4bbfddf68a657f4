"""Bounds on the mistakes on any rows (Freund and Schapire 1999; Gentile 2003); every vector v gives a valid one.

Rows are padded with √β and v with b/√β. From zero and without a margin, M mistakes lead to w_M with
M − Σ l_t ≤ Σ y_t <v, x_t> = <v, w_M>/η ≤ ‖v‖ sqrt(Σ ‖x_t‖²), sums over the mistakes and l = max(0, 1 − y <v, x>).
With ‖x_t‖ ≤ C and the losses of all visits, L, that is M ≤ L + ‖v‖ C √M, solved for M.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from rosenblatt.certify.margin import Margin
from rosenblatt.certify.rationals import above, exact, nearest, root_above
from rosenblatt.loops.descent import Hinge
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Objective
from rosenblatt.margins.softest import Limits, minimise, squared_hinge_minimum
from rosenblatt.theory.bound import Bound
from rosenblatt.theory.observed_run import LIFTED, UNIT_BIAS, ObservedRun
from rosenblatt.theory.separable import root
from rosenblatt.theory.training_set import TrainingSet, norm_square, raise_bound
from rosenblatt.typing import Floats

SCALES = np.logspace(-3.0, 3.0, 121)  # scales of a hypothesis, relative to the one with a typical score of 1
DEFAULT_A = 0.5  # that of LiftedPerceptron
MAX_ROUNDS = 20
MAX_SOLUTION_SECONDS = 2.0  # for each solution
MIN_GAIN_SHARE = 1e-4  # rounds end when the bound falls by less than this share
ROUGH_GAP = 1e-5  # the gap of intermediate solutions
# Products per step of the interior-point method, above which coordinate ascent is used
MAX_INTERIOR_PRODUCTS = 10**9


def inseparable_bounds(sample: TrainingSet, run: ObservedRun | None) -> list[Bound]:
    """Return the bound before any run, and with a model the bounds over its mistakes, for named vectors."""
    beta = Fraction(1) if run is None else run.beta
    passes = 1 if run is None else run.passes
    rule = UNIT_BIAS if run is None else run.rule
    formula = "(‖v‖C/2 + sqrt(‖v‖²C²/4 + L(v)))²"
    formula = formula + " at v = w*/γ" if sample.given is not None else "min over v of " + formula
    visits = f"all visits of {passes} pass" + "es" * (passes != 1)
    prior = Bound("a_priori", "Gentile 2003", formula, rule=rule, of=visits)
    if run is not None and (run.rule == LIFTED or run.simplest):
        reason = run.simplest or "the rows are lifted; see 'lifted'"
        return [prior.without(reason), *(each.without(reason) for each in _rounds(sample, run, None))]
    if sample.given is not None and sample.given.b and not beta:
        reason = sample.refusal(beta)
        return [prior.without(reason), *(each.without(reason) for each in _rounds(sample, run, None))]
    least = infimum(sample, beta, passes)
    C, norm = root(sample.square + beta), root(norm_square(least.v.w, least.v.b, beta))
    prior = replace(prior, value=least.value, uses={"C": C, "‖v‖": norm})
    whole = "" if run is None else run.whole_passes
    return [prior.without(whole) if whole else prior, *_rounds(sample, run, least)]


def _rounds(sample: TrainingSet, run: ObservedRun | None, least: Infimum | None) -> list[Bound]:
    """Return the bounds over the mistakes of a run, for named hypotheses and margins.

    At v = 0 the bound is M itself, so hypotheses are scaled to where their bound before any run is smallest.
    """
    formula = "Σ l_t(v) + ‖v‖ sqrt(Σ ‖x_t‖²) over the mistakes t"
    names = {"rounds_last": "the last hypothesis", "rounds_soft": "the soft margin of 'a_priori'"}
    names["rounds_widest"] = "the maximum margin" if sample.given is None else "the hyperplane given"
    if run is not None and "pocket_margin" in run.known:
        names["rounds_pocket"] = "the hypothesis in the pocket"
    found = []
    for name, of in names.items():
        bound = Bound(name, "Gentile 2003", formula, rule="" if run is None else run.rule, of=f"v: {of}")
        if run is None:
            found.append(bound.without("it needs the mistakes of a model; pass model"))
        elif least is None:
            found.append(bound)
        else:
            v = _named(name, sample, run, least)
            none = bound.without("this vector does not exist")
            found.append(none if v is None else _over_mistakes(bound, sample, run, v))
    return found


def _named(name: str, sample: TrainingSet, run: ObservedRun, least: Infimum) -> Comparator | None:
    if name == "rounds_soft":
        return least.soft
    if name == "rounds_widest":
        if sample.given is not None:
            return given_comparator(sample, run.beta, run.passes)
        margin = sample.margin(run.beta)
        return None if margin is None else of_margin(margin)
    if name == "rounds_pocket":
        w, b = np.asarray(run.model.coef_, np.float64)[0], float(run.model.intercept_[0])
    else:
        assert run.last is not None, "a trace without mistakes is unfit"
        w, b = run.last[:-1], float(run.last[-1])
    return _best_multiple(sample, w, b, run.beta, run.passes)


def _best_multiple(sample: TrainingSet, w: Floats, b: float, beta: Fraction, passes: int) -> Comparator | None:
    """Return the multiple of a hypothesis whose bound before any run is smallest, approximately."""
    z, _ = sample.signed_scores(w, b)
    norm = sqrt(above(norm_square(w, b, beta)))
    typical = float(np.median(np.abs(z)))
    if not (0.0 < norm < inf and 0.0 < typical < inf):
        return None
    C = root(sample.square + beta)[1]
    scales = SCALES / typical
    losses = passes * np.maximum(0.0, 1.0 - np.outer(scales, z)).sum(axis=1)
    half = scales * norm * C / 2.0
    scale = float(scales[np.argmin(half + np.sqrt(half**2 + losses))])
    return Comparator(w, b).times(scale)


def given_comparator(sample: TrainingSet, beta: Fraction, passes: int) -> Comparator | None:
    """Return w*/(γ‖w*‖) of the hyperplane given; without a γ its margin if it has one, else the best multiple."""
    assert sample.given is not None, "there is a hyperplane"
    w, b, gamma = sample.given
    if gamma is not None:
        return Comparator(w, b).times(1.0 / root_above(gamma**2 * norm_square(w, b, beta)))
    margin = sample.margin(beta)
    return _best_multiple(sample, w, b, beta, passes) if margin is None else of_margin(margin)


def _over_mistakes(bound: Bound, sample: TrainingSet, run: ObservedRun, v: Comparator) -> Bound:
    if not v.finite:
        return bound.without("its weights are beyond the range of floats")
    losses, squares = sample.hinges(v.w, v.b, times=run.times), sample.squares(run.times, run.beta)
    norm = norm_square(v.w, v.b, run.beta)
    value = raise_bound(losses + root_above(norm * exact(squares))) if max(losses, squares) < inf else inf
    return replace(bound, value=value, uses={"‖v‖": root(norm)}, observed=run.mistakes)


def passive_losses_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return the bound on the mistakes of PA-I or PA-II on any rows (Crammer et al. 2006).

    For any v, PA-I makes at most max(R² + β, 1/C)(‖v‖² + 2C Σ l_t) mistakes, and PA-II at most
    (R² + β + 1/(2C))(‖v‖² + 2C Σ l_t²). Visits without an update add nothing, so that the sums are over updates.
    """
    bound = Bound("passive_losses", "Crammer et al. 2006", "max(R² + β, 1/C)(‖v‖² + 2C Σ l_t)")
    bound = replace(bound, rule="passive-aggressive", of="v: a soft margin, or the last hypothesis")
    rule = None if run is None else run.passive
    if run is None or rule is None:
        return bound.without("it is about PassiveAggressiveClassifier; pass one as model")
    if run.odd_weights or run.start.any() or run.last is None:
        return bound.without(run.odd_weights or "the start is not the origin, or the trace holds counts only")
    if run.eta != 1 or run.margin != 1:
        return bound.without("it is about eta0=1 and margin=1")
    square = sample.square + run.beta
    if rule.soft > 0.0:
        C, power, factor = 1 / (2 * exact(rule.soft)), 2, square + exact(rule.soft)
        bound = replace(bound, formula="(R² + β + 1/(2C))(‖v‖² + 2C Σ l_t²)")
    elif rule.most == inf:
        return bound.without("C is infinite, so that a wrong row is believed at any cost")
    else:
        C, power, factor = exact(rule.most), 1, max(square, 1 / exact(rule.most))
    mean = max(run.mistakes / sample.n, 1.0)
    last = Comparator(run.last[:-1], float(run.last[-1]))
    least, best = inf, last
    for v in (last, Comparator(np.zeros(sample.d), 0.0), _soft(sample, run.beta, 1.0 / (float(C) * mean))):
        losses = sample.hinges(v.w, v.b, power, times=run.times) if v.finite else inf
        if losses < inf:
            value = above(factor * (norm_square(v.w, v.b, run.beta) + 2 * C * exact(losses)))
            least, best = (value, v) if value < least else (least, best)
    norm = root(norm_square(best.w, best.b, run.beta))
    uses = {"R": root(sample.square), "‖v‖": norm}
    return replace(
        bound, value=least, uses=uses, note="no row had a sample weight", observed=run.model.n_mistakes_
    )


def lifted_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """Return (a²C² + 1 − a²)/γ'² for lifted rows: (a²C² + 1 − a²)(‖v‖² + a²/(1 − a²) Σ l²)/a² for any v."""
    a, beta = DEFAULT_A, Fraction(1)
    if run is not None and run.rule == LIFTED:
        a, beta = float(run.known["a"]), run.beta
    share = exact(a * a)  # training multiplies with this float
    C, pad = share / (1 - share), sqrt(above(beta))
    limits = Limits(1e-10, max_time=sample.seconds(MAX_SOLUTION_SECONDS))
    if sample.given is not None:
        given = given_comparator(sample, beta, 1)
        v = Comparator(np.zeros(sample.d), 0.0) if given is None or (given.b and not beta) else given
    else:
        found = squared_hinge_minimum(sample.batch, float(C), pad=pad, limits=limits)
        v = Comparator(found.theta[: sample.d], pad * float(found.theta[-1]) if beta else 0.0)
    least = Fraction(sample.n) * C  # for v = 0
    if v.finite and (losses := sample.hinges(v.w, v.b, 2)) < inf:
        there = norm_square(v.w, v.b, beta) + C * exact(losses)
        least = there if sample.given is not None else min(least, there)
    value = (share * (sample.square + beta) + 1 - share) * least / share
    bound = Bound(
        "lifted",
        "Freund and Schapire 1999",
        "(a²C² + 1 − a²)/γ'²",
        above(value),
        rule=LIFTED,
        of=f"rows (x, {float(beta) ** 0.5:g}) lifted" if beta else "rows lifted",
        uses={"a": (a, a), "C": root(sample.square + beta), "γ'": root(share / least)},
    )
    if run is not None and run.rule != LIFTED:
        return bound.without("the model does not lift its rows")
    return bound if run is None else replace(bound, observed=run.mistakes)


class Comparator(NamedTuple):
    """A vector v that hypotheses are compared with: weights, and a bias, which is its last coordinate times √β."""

    w: Floats
    b: float

    def times(self, scale: float) -> Comparator:
        """Return a multiple."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return Comparator(self.w * scale, self.b * scale)

    @property
    def finite(self) -> bool:
        """Whether all entries are finite."""
        return bool(np.isfinite(self.w).all() and np.isfinite(self.b))


def of_margin(margin: Margin) -> Comparator:
    """Return w*/γ up to rounding, for which every row has y f ≥ 1."""
    w = [nearest((value / margin.least).numerator, (value / margin.least).denominator) for value in margin.w]
    b = margin.b / margin.least
    return Comparator(np.array(w), nearest(b.numerator, b.denominator))


def a_priori_value(sample: TrainingSet, v: Comparator, beta: Fraction, passes: int) -> float:
    """Return (‖v‖C/2 + sqrt(‖v‖²C²/4 + L))², rounded up: A/2 + L + sqrt(A (A/4 + L)) with A = ‖v‖²C²."""
    losses = sample.hinges(v.w, v.b)
    if losses == inf:
        return inf
    A, L = norm_square(v.w, v.b, beta) * (sample.square + beta), passes * exact(losses)
    return raise_bound(above(A / 2 + L) + root_above(A * (A / 4 + L)))


class Infimum(NamedTuple):
    """The smallest bound found before any run, its vector, and the best vector of a soft margin, if any."""

    value: float
    v: Comparator
    soft: Comparator | None = None


def infimum(sample: TrainingSet, beta: Fraction, passes: int) -> Infimum:
    """Minimise the bound before any run over v.

    Its root r is the largest number with r C ‖v‖ + L(v) ≥ r² for all v, and the left side is convex in v. If r is
    too large, the v that minimises the left side gives a smaller r, and so on. A soft margin whose penalty has the
    slope of r C ‖v‖ at the last v finds it. Every v on the way gives a valid bound.
    """
    zero = Comparator(np.zeros(sample.d), 0.0)
    best, softest = Infimum(float(passes * sample.n), zero), inf  # for v = 0 every visit may be a mistake
    if sample.given is not None:
        v = given_comparator(sample, beta, passes)
        return best if v is None or not v.finite else Infimum(a_priori_value(sample, v, beta, passes), v)
    margin = sample.margin(beta)
    if margin is not None and (widest := of_margin(margin)).finite:
        value = a_priori_value(sample, widest, beta, passes)
        best = Infimum(value, widest) if value < best.value else best
    C = sqrt(above(sample.square + beta))
    penalty = C * C
    if not (passes and 0.0 < penalty < inf):
        return best
    for _ in range(MAX_ROUNDS):
        v = _soft(sample, beta, penalty)
        norm = sqrt(above(norm_square(v.w, v.b, beta))) if v.finite else 0.0
        if not 0.0 < norm < inf:
            break
        value = a_priori_value(sample, v, beta, passes)
        last = penalty
        penalty = sqrt(min(value, best.value)) * C / (passes * norm)
        settled = value > best.value * (1.0 - MIN_GAIN_SHARE) and abs(penalty - last) <= 0.01 * last
        if value < softest:
            best, softest = best._replace(soft=v), value
        if value < best.value:
            best = best._replace(value=value, v=v)
        if settled or not 0.0 < penalty < inf:
            break
    return best


def _soft(sample: TrainingSet, beta: Fraction, penalty: float) -> Comparator:
    """Minimise Σ max(0, 1 − y f) + penalty/2 ‖v‖², approximately."""
    pad = sqrt(above(beta))
    matrix = Matrix(sample.batch, bias=pad > 0.0, pad=pad)
    bias = "penalised" if matrix.bias else None
    with np.errstate(all="ignore"):
        problem = Objective(matrix, sample.y, np.ones(sample.n), Hinge(), 0.0, penalty, bias)  # type: ignore[arg-type]
        smaller = min(matrix.n, matrix.width)
        large = float(matrix.n) * matrix.width * smaller > MAX_INTERIOR_PRODUCTS
        solver = partial(coordinate, seed=0) if large else interior
        theta = minimise(
            problem,
            np.zeros(matrix.width),
            solver,
            Limits(ROUGH_GAP, max_time=sample.seconds(MAX_SOLUTION_SECONDS)),
        ).theta
        return Comparator(theta[: sample.d], pad * float(theta[-1]) if matrix.bias else 0.0)
