"""Bounds on the mistakes of the structured perceptron (Collins 2002), with a certified margin.

Let a unit vector U have U·Δ(z) ≥ γ for every sentence and every labelling z other than the truth. An update adds
Δ_j, so after k mistakes U·w ≥ kγ, and ‖w‖ ≥ kγ. Where no update is at a gap above 0, ‖w‖² ≤ Σ ‖Δ_j‖² ≤ kR². The
bounds follow from these two lines, and are the closer the more of the run they use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certify.rationals import above, exact, root_above
from rosenblatt.certify.time_limit import Clock
from rosenblatt.exceptions import UndecidedError
from rosenblatt.sequences.sentence_problem import Delta, Labelled, SequenceProblem, require_all_features
from rosenblatt.sequences.sentence_proof import SequenceSeparable, SequenceUndecided
from rosenblatt.sequences.sentence_verdict import certify_sequences, pose_question
from rosenblatt.sequences.sentences import as_sentences
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.separable import root

AUTHOR, RULE = "Collins 2002", "SequencePerceptron"
TRIED_GAMMAS = 200  # values of γ that are tried; any of them gives a bound


class SequenceRunRecord(NamedTuple):
    """The mistakes of a fit, in exact numbers."""

    squares: list[Fraction]  # ‖Δ_j‖² of each mistake
    first: int  # the number of mistakes in the first pass
    # last, average: the weights after the last mistake, and their average times a number
    last: Delta
    average: Delta


def sequence_bounds(X: Iterable[Any], y: Any, model: Any, time_limit: float | None) -> Bounds:
    """Return the bounds on mistakes for sentences, beside those of the model if it is trained on them."""
    require_all_features(model, "A bound")
    problem, *_ = pose_question(as_sentences(X), y, model.templates, model.constraints)
    found = certify_sequences(
        X, y, templates=model.templates, constraints=model.constraints, time_limit=time_limit
    )
    if isinstance(found, SequenceUndecided):
        raise UndecidedError(f"The bounds are not known: {found.reason}")
    separable = isinstance(found, SequenceSeparable)
    margin = found.margin if isinstance(found, SequenceSeparable) else None
    gamma = None if margin is None else margin.squared[0]
    run, unfit = _read_run(model, problem)
    made = [_collins(problem, gamma), *_of_run(problem, gamma, run)]
    if not separable or gamma is None:
        reason = "no sentence has another labelling" if separable else "no weights label every sentence correctly"
        made = [each.without(reason) for each in made]
    one_pass = _one_pass(problem, run)
    if run is None:
        names = {each.name for each in made} - {"collins"}
        made = [each.without(unfit) if each.name in names else each for each in made]
        one_pass = one_pass.without(unfit)
    else:
        made = [replace(each, observed=len(run.squares)) if each.applies else each for each in made]
        one_pass = replace(one_pass, observed=run.first)
    if float(model.margin) > 0.0:
        reason = "updates are also made at gaps above 0 (margin)"
        made = [each if each.name == "run_norm" else each.without(reason) for each in made]
        one_pass = one_pass.without(reason)
    return Bounds([*made, one_pass], separable=separable)


def _collins(problem: SequenceProblem, gamma: Fraction | None) -> Bound:
    """Return R²/γ² for any run; R² ≤ 2n Σ‖x_i‖² + 2n² for a sentence of n tokens.

    Δ sums n differences of two labels with the features x_i, each of norm at most √2 ‖x_i‖, and n differences of
    two pairs of labels, each of norm at most √2. The inequality of Cauchy does the rest.
    """
    largest = Fraction(0)
    for sentence in problem.sentences.tolist():
        tokens = problem.tokens(sentence)
        squares = sum(
            (problem.square({(f, 0): v for f, v in _sums(token).items()}) for token in tokens), Fraction(0)
        )
        largest = max(largest, 2 * len(tokens) * (squares + len(tokens)))
    return _squared("collins", "R²/γ²", largest, gamma, "all labellings")


def _sums(token: list[tuple[int, int]]) -> dict[int, int]:
    sums: dict[int, int] = {}
    for feature, value in token:
        sums[feature] = sums.get(feature, 0) + value
    return sums


def _squared(name: str, formula: str, square: Fraction, gamma: Fraction | None, of: str) -> Bound:
    bound = Bound(name, AUTHOR, formula, rule=RULE, of=of)
    if not gamma:
        return bound
    value = square / gamma
    return replace(bound, value=above(value), rational=value, uses={"R": root(square), "γ": root(gamma)})


def _of_run(problem: SequenceProblem, gamma: Fraction | None, run: SequenceRunRecord | None) -> list[Bound]:
    """Return the bounds that use the mistakes of a run."""
    squares = [] if run is None else run.squares
    radius = _squared("run_radius", "R²/γ²", max(squares, default=Fraction(0)), gamma, "the mistakes made")
    made = [radius]
    of_norm = Fraction(0) if run is None else problem.square(run.last)
    for name, formula, square, letter in (
        ("run_sum", "sqrt(Σ‖Δ‖²)/γ", sum(squares, Fraction(0)), "sqrt(Σ‖Δ‖²)"),
        ("run_norm", "‖w‖/γ", of_norm, "‖w‖"),
    ):
        bound = Bound(name, AUTHOR, formula, rule=RULE, of="the mistakes made")
        if gamma:
            uses = {letter: root(square), "γ": root(gamma)}
            bound = replace(bound, value=root_above(square / gamma), uses=uses)
        made.append(bound)
    return made


def _one_pass(problem: SequenceProblem, run: SequenceRunRecord | None) -> Bound:
    """Return (R + D)²/γ² for the first pass, at the last weights or their average, for a γ that makes it small."""
    bound = Bound(
        "one_pass", AUTHOR, "(R + D)²/γ²", rule=f"{RULE}, first pass", of="the last weights or the average"
    )
    if run is None or not run.first:
        return bound if run is None else replace(bound, value=0.0)
    square = max(run.squares[: run.first])
    made = [found for each in (run.last, run.average) if (found := _at(problem, each, square)) is not None]
    if not made:
        return bound.without("the values of features are no whole numbers, or weights are too large")
    value, uses = min(made, key=lambda each: each[0])
    return replace(bound, value=value, uses=uses)


def _at(problem: SequenceProblem, weights: Delta, square: Fraction) -> tuple[float, dict[str, Any]] | None:
    """Return the bound at some weights, with R, D and γ; None if floats cannot hold their scores.

    With whole weights w and gaps g_i, take γ = c/‖w‖. Then D‖w‖ = sqrt(Σ max(0, c − g_i)²), and the bound is
    (R‖w‖ + D‖w‖)²/c².
    """
    w, t = problem.tables(weights)
    norm = problem.square(weights)
    if not norm or not problem.exact_in_floats(w, t):
        return None
    gaps, _ = problem.float_gaps(w, t, Clock(None))
    gaps = gaps[np.isfinite(gaps)]
    if not len(gaps):
        return None

    def value(c: int) -> tuple[float, float]:
        short = sum(int(c - gap) ** 2 for gap in gaps.tolist() if gap < c)
        far = root_above(square * norm), root_above(Fraction(short))
        return above(((exact(far[0]) + exact(far[1])) / c) ** 2), far[1]

    largest = max(1, int(np.abs(gaps).max()))
    tried = {max(1, round(largest * 2.0**-k)) for k in np.linspace(-6.0, 20.0, TRIED_GAMMAS)}
    best = min(tried, key=lambda c: value(c)[0])
    found, short = value(best)
    length = Fraction(norm)
    uses = {
        "R": root(square),
        "D": root(exact(short) ** 2 / length),
        "γ": root(Fraction(best) ** 2 / length),
    }
    return found, uses


def _read_run(model: Any, problem: SequenceProblem) -> tuple[SequenceRunRecord | None, str]:
    """Return the mistakes of the last fit of a model, or the reason why bounds do not apply to it."""
    trace = getattr(model, "trace_", None)
    if trace is None:
        return None, "the model is not trained by fit"
    if model.beam is not None:
        return None, "search by a beam is not exact, and the margin of prefixes is not certified"
    if trace.log is None:
        return None, "the trace holds counts only"
    if trace.n_sentences != problem.rows.n_sentences:
        return None, "the model was trained on other sentences"
    others: list[Labelled] = problem.logged(trace.log)
    visits, total = trace.log.visit.tolist(), int(trace.visits_per_pass.sum())
    squares = []
    last: Delta = {}
    average: Delta = {}
    for other, visit in zip(others, visits, strict=True):
        delta = problem.delta(other)
        squares.append(problem.square(delta))
        for place, value in delta.items():
            last[place] = last.get(place, 0) + value
            average[place] = average.get(place, 0) + (total - visit) * value
    state = model._state
    own = float(np.square(state.w).sum() + np.square(state.t[np.isfinite(state.t)]).sum())
    if not np.isclose(own, float(problem.square(last)), rtol=1e-9):
        return None, "sentences have weights, for which no bound is claimed, or others were trained on"
    first = int(trace.mistakes_per_pass[0]) if len(trace.mistakes_per_pass) else 0
    return SequenceRunRecord(squares, first, last, average), ""
