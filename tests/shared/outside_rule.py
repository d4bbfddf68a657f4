"""A rule that no module of the package knows, with its memory and its estimator: all that a new rule takes.

Each weight moves half as far after each correction of it: w_j gains c s_j x_j, and s_j is halved if x_j is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import types

import rosenblatt as rb
from rosenblatt.estimators._linear import perceptron_state
from rosenblatt.loops._jit import inline, verb
from rosenblatt.loops._vector import machine
from rosenblatt.loops.rule_steps import add_scaled
from rosenblatt.loops.rules import Memory, Slot, plain
from rosenblatt.loops.steps import move_of


@plain
class Cooling(NamedTuple):
    """The numbers of the rule."""

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0


@plain
class Cooled(NamedTuple):
    """The rule as the loops read it."""

    eta: float
    beta: float
    margin: float
    tie_plus: float
    tie_minus: float
    s: Any


@dataclass(frozen=True, eq=False)
class Heat(Memory):
    """How far each weight moves."""

    name = "heat"
    slots: ClassVar[Mapping[str, Slot]] = {"s": Slot(fill=1.0, odd=False)}
    rule = Cooling

    s: Any

    @classmethod
    def begin(cls, rule, w, n_features):
        return cls(np.ones_like(w))

    def anew(self, w, n_features):
        return Heat(np.ones_like(w))

    def rule_of_loops(self, rule):
        return Cooled(*rule, self.s)

    def rule_of_replay(self, beta):
        return Cooling(beta=beta)


@move_of(Cooled)
@inline
def move_cooled(rule, X, i, f, c, t, m, m2, c2, w, u):
    _move(rule, X, i, c, t, m, w, u)
    if c2 != 0.0:
        _move(rule, X, i, c2, t, m2, w, u)


@inline
def _move(rule, X, i, c, t, m, w, u):
    own, s = machine(w, m), machine(rule.s, m)
    if u is not None:
        sums = machine(u, m)
        add_scaled(X, i, c * t, s, sums)
        sums[-1] += c * t * s[-1] * rule.beta
    add_scaled(X, i, c, s, own)
    own[-1] += c * s[-1] * rule.beta
    cool(X, i, s)
    s[-1] *= 0.5


@verb
def cool(X, i, s):
    def dense(X, i, s):
        for j in range(X.shape[1]):
            s[j] *= 0.5 if X[i, j] != 0.0 else 1.0

    def sparse(X, i, s):
        for p in range(X.indptr[i], X.indptr[i + np.uint64(1)]):
            s[X.indices[p]] *= 0.5 if X.data[p] != 0.0 else 1.0

    return dense if isinstance(X, types.Array) else sparse


@rb.register
class CoolingPerceptron(rb.Perceptron):
    """The estimator."""

    _learner = replace(
        rb.Perceptron._learner,
        state=perceptron_state(Cooling),
        commands={"cooling": {}},
        abilities=rb.Perceptron._learner.abilities - {"mixing"},
    )

    def _own_rule(self, rule):
        return Cooling(*rule)


def plain_twin(X, y, order, w=None, s=None):
    """Return weights and steps after visits, in plain Python; the bias is last."""
    d = len(X[0])
    w, s = (w or [0.0] * (d + 1)), (s or [1.0] * (d + 1))
    mistakes = 0
    for i in order:
        x = [*X[i], 1.0]
        if y[i] * sum(each * value for each, value in zip(w, x, strict=True)) <= 0.0:
            mistakes += 1
            w = [each + y[i] * at * value for each, at, value in zip(w, s, x, strict=True)]
            s = [at * 0.5 if value != 0.0 else at for at, value in zip(s, x, strict=True)]
    return w, s, mistakes
