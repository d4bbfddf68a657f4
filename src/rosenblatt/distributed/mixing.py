"""Mix the states that partitions reached: the arithmetic of iterative parameter mixing.

In a pass, partition i trains from the mixed weights w to w_i. Then w = Σ μ_i w_i, added in the order of the
partitions, with μ_i = 1/P, or the share of the pass's mistakes that partition i made. A partition of weight 0 adds
nothing. Where no partition made a mistake, all w_i are w, and so is the result.
`tests/oracles/mixing.py` has the same in plain Python.

Averages are mixed with the same weights. A state keeps u, the sum of all corrections, each times the visits
before it, so that w − u/t is the average over t visits. Partition i has n_i of the n rows, so it starts with
t n_i/n visits and u n_i/n, and its average is w_i − u_i/t_i. With u = Σ μ_i (n/n_i) u_i, the mixed w − u/t is
Σ μ_i (w_i − u_i/t_i).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import numpy as np

from rosenblatt.learning.state import MetFeatures, Mixing, State
from rosenblatt.typing import Floats

__all__ = ["MixedPass", "PartialPass", "PassCounts", "begin_state", "mix_states"]


class PassCounts(NamedTuple):
    """What one partition counted in a pass.

    `wrong` counts updates on rows on their wrong side, for rules that correct others too. `loss` is the sum of
    max(0, −y f), where it is asked for.
    """

    mistakes: int
    visits: int
    wrong: int = 0
    loss: float = 0.0


class PartialPass(NamedTuple):
    """The pass of one partition: the state it reached, and what it counted."""

    state: State
    counts: PassCounts


class MixedPass(NamedTuple):
    """The pass of all partitions: the mixed state, and what each partition counted."""

    state: State
    counts: list[PassCounts]


def shares_of(mistakes: Sequence[int], kind: Mixing) -> list[Fraction]:
    """Return the mixing weight of each partition; uniform where no partition made a mistake."""
    total = sum(mistakes)
    if kind == "uniform" or not total:
        return [Fraction(1, len(mistakes))] * len(mistakes)
    return [Fraction(k, total) for k in mistakes]


def weighted_mistakes(mistakes: Sequence[int], kind: Mixing) -> Fraction:
    """Return Σ μ k of one pass, rounded to a float, so that sums over passes stay short."""
    total = sum((share * k for share, k in zip(shares_of(mistakes, kind), mistakes, strict=True)), Fraction(0))
    return Fraction(float(total))


def begin_state(state: State, passes: int, n_rows: int, n_all: int) -> State:
    """Return the state that a partition of `n_rows` of all `n_all` rows starts from, after some passes."""
    own = state.copy()
    if own.u is not None and n_rows != n_all:
        own.u = own.u * (n_rows / n_all)
    own.visits = passes * n_rows
    return own


def mix_states(before: State, parts: Sequence[PartialPass], kind: Mixing) -> State:
    """Return the state after a pass, given the one before it and the pass of each partition, in order."""
    made = [part.counts.visits for part in parts]
    visits = before.visits + sum(made)
    counts = [part.counts.mistakes for part in parts]
    if len(parts) == 1:
        return replace(parts[0].state, visits=visits)
    if not any(counts) and before.shrunk is None:
        return replace(before.copy(), visits=visits)
    if before.shrunk is not None:  # weights shrink without a mistake too; what was paid is paid
        states = [part.state.for_rule(average=False, shrinks=False) for part in parts]
        state = _sum(states, shares_of(counts, kind), [1.0] * len(parts))
        return replace(state.for_rule(average=False, shrinks=True), visits=visits)
    state = _sum([part.state for part in parts], shares_of(counts, kind), [sum(made) / own for own in made])
    return replace(state, visits=visits)


def _sum(states: Sequence[State], shares: Sequence[Fraction], factors: Sequence[float]) -> State:
    met = _all_met(states)
    chosen = [
        (state.spread() if met is None else state.part(met.columns), float(share), factor)
        for state, share, factor in zip(states, shares, factors, strict=True)
        if share
    ]
    w = reduce(_plus, (share * state.w for state, share, _ in chosen))
    sums = [(share * factor) * state.u for state, share, factor in chosen if state.u is not None]
    return State(w, reduce(_plus, sums) if sums else None, met=met)


def _plus(total: Floats, more: Floats) -> Floats:
    return total + more


def _all_met(states: Sequence[State]) -> MetFeatures | None:
    """Return all features that some partition met; None if all features have weights."""
    met = [state.met for state in states]
    if any(each is None for each in met):
        return None
    columns = np.unique(np.concatenate([each.columns for each in met if each is not None]))
    return MetFeatures(columns, states[0].n_features)
