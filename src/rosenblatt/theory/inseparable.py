"""Bounds on the mistakes of rows that need not separate (S-28, S-22); any vector v gives one that holds.

Rows are padded with √β and v with b/√β. From zero and with no margin, M mistakes lead to w_M with
M − Σ l_t ≤ Σ y_t <v, x_t> = <v, w_M>/η ≤ ‖v‖ sqrt(Σ ‖x_t‖²), sums over the mistakes and l = max(0, 1 − y <v, x>).
With ‖x_t‖ ≤ C and the losses of all visits, L, that is M ≤ L + ‖v‖ C √M, solved for M.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, sqrt

import numpy as np

from rosenblatt.margins.soft_fit import squared_hinge_minimum
from rosenblatt.margins.soft_margin import Limits
from rosenblatt.rationals.dyadic import exact
from rosenblatt.rationals.dyadic import above, root_above
from rosenblatt.theory.bound import Bound
from rosenblatt.theory.infimum import SECONDS, Comparator, Infimum, infimum, of_margin
from rosenblatt.theory.observed_run import LIFTED, UNIT, ObservedRun
from rosenblatt.theory.separable import root
from rosenblatt.theory.training_set import TrainingSet, norm_square, raised

SCALES = np.logspace(-3.0, 3.0, 121)  # of a hypothesis, about the one that brings its typical score to 1
DEFAULT_A = 0.5  # that of LiftedPerceptron


def inseparable_bounds(sample: TrainingSet, run: ObservedRun | None) -> list[Bound]:
    """Return S-28: a priori, and with a model over its mistakes, at named vectors."""
    beta = Fraction(1) if run is None else run.beta
    passes = 1 if run is None else run.passes
    rule = UNIT if run is None else run.rule
    formula = "min over v of (‖v‖C/2 + sqrt(‖v‖²C²/4 + L(v)))²"
    prior = Bound("a_priori", "S-28", formula, rule=rule, of=f"all visits of {passes} pass" + "es" * (passes != 1))
    if run is not None and (run.rule == LIFTED or run.simplest):
        reason = run.simplest or "the rows are lifted; see 'lifted'"
        return [prior.without(reason), *(each.without(reason) for each in _rounds(sample, run, None))]
    least = infimum(sample, beta, passes)
    C, norm = root(sample.square + beta), root(norm_square(least.v.w, least.v.b, beta))
    prior = replace(prior, value=least.value, uses={"C": C, "‖v‖": norm})
    whole = "" if run is None else run.whole_passes
    return [prior.without(whole) if whole else prior, *_rounds(sample, run, least)]


def _rounds(sample: TrainingSet, run: ObservedRun | None, least: Infimum | None) -> list[Bound]:
    """Return the bounds over the mistakes made, at the hypotheses and the margins' vectors that have a name.

    At v = 0 the bound is M itself. Hypotheses are therefore scaled to where their a-priori bound is least.
    """
    formula = "Σ l_t(v) + ‖v‖ sqrt(Σ ‖x_t‖²) over the mistakes t"
    names = {"rounds_last": "the last hypothesis", "rounds_soft": "the soft margin of 'a_priori'"}
    names["rounds_widest"] = "the maximum margin"
    if run is not None and hasattr(run.model, "pocket_errors_"):
        names["rounds_pocket"] = "the hypothesis in the pocket"
    found = []
    for name, of in names.items():
        bound = Bound(name, "S-28", formula, rule="" if run is None else run.rule, of=f"v: {of}")
        if run is None:
            found.append(bound.without("it is over the mistakes of a model; pass model"))
        elif least is None:
            found.append(bound)
        else:
            v = _named(name, sample, run, least)
            found.append(
                bound.without("there is no such vector") if v is None else _over_mistakes(bound, sample, run, v)
            )
    return found


def _named(name: str, sample: TrainingSet, run: ObservedRun, least: Infimum) -> Comparator | None:
    if name == "rounds_soft":
        return least.soft
    if name == "rounds_widest":
        margin = sample.margin(run.beta)
        return None if margin is None else of_margin(margin)
    if name == "rounds_pocket":
        w, b = np.asarray(run.model.coef_, np.float64)[0], float(run.model.intercept_[0])
    else:
        assert run.last is not None, "a trace without mistakes is unfit"
        w, b = run.last[:-1], float(run.last[-1])
    z, _ = sample.signed_scores(w, b)
    norm = sqrt(above(norm_square(w, b, run.beta)))
    typical = float(np.median(np.abs(z)))
    if not (0.0 < norm < inf and 0.0 < typical < inf):
        return None
    C = root(sample.square + run.beta)[1]
    scales = SCALES / typical
    losses = run.passes * np.maximum(0.0, 1.0 - np.outer(scales, z)).sum(axis=1)
    half = scales * norm * C / 2.0
    scale = float(scales[np.argmin(half + np.sqrt(half**2 + losses))])
    return Comparator(w, b).times(scale)


def _over_mistakes(bound: Bound, sample: TrainingSet, run: ObservedRun, v: Comparator) -> Bound:
    if not v.finite:
        return bound.without("its weights are beyond the range of floats")
    losses, squares = sample.hinges(v.w, v.b, times=run.times), sample.squares(run.times, run.beta)
    norm = norm_square(v.w, v.b, run.beta)
    value = raised(losses + root_above(norm * exact(squares))) if max(losses, squares) < inf else inf
    return replace(bound, value=value, uses={"‖v‖": root(norm)}, observed=run.mistakes)


def lifted_bound(sample: TrainingSet, run: ObservedRun | None) -> Bound:
    """S-22: with v = w*/γ, (a²C² + 1 − a²)/γ'² is (a²C² + 1 − a²)(‖v‖² + a²/(1 − a²) Σ l²)/a², for any v."""
    is_lifted = run is not None and run.rule == LIFTED
    a = float(run.model.a) if is_lifted and run is not None else DEFAULT_A
    beta = run.beta if is_lifted and run is not None else Fraction(1)
    share = exact(a * a)  # what training multiplies with
    C = share / (1 - share)
    found = squared_hinge_minimum(
        sample.batch, float(C), pad=sqrt(above(beta)), limits=Limits(1e-10, max_time=sample.seconds(SECONDS))
    )
    pad = sqrt(above(beta))
    v = Comparator(found.theta[: sample.d], pad * float(found.theta[-1]) if beta else 0.0)
    least = Fraction(sample.n) * C  # of v = 0
    if v.finite and (losses := sample.hinges(v.w, v.b, 2)) < inf:
        least = min(least, norm_square(v.w, v.b, beta) + C * exact(losses))
    value = (share * (sample.square + beta) + 1 - share) * least / share
    bound = Bound(
        "lifted",
        "S-22",
        "(a²C² + 1 − a²)/γ'²",
        above(value),
        rule=LIFTED,
        of=f"rows (x, {float(beta) ** 0.5:g}) lifted" if beta else "rows lifted",
        uses={"a": (a, a), "C": root(sample.square + beta), "γ'": root(share / least)},
    )
    if run is None:
        return bound
    return (
        replace(bound, observed=run.mistakes) if is_lifted else bound.without("the model does not lift its rows")
    )
