"""Bounds on the error on new rows, drawn independently from the same distribution."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log, nextafter, sqrt

import numpy as np

from rosenblatt.certify.rationals import above, exact, root_above, root_below
from rosenblatt.theory.bound import Bound
from rosenblatt.theory.observed_run import LIFTED, ObservedRun
from rosenblatt.theory.separable import root
from rosenblatt.theory.training_set import TrainingSet, norm_square, raise_bound

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
