"""Where rules say what their updates are. `rosenblatt.loops.visits` compiles it into every loop and names no rule.

A rule is a NamedTuple of numbers, the five of `rosenblatt.loops.rules.Rule` first. A rule that keeps more than
weights also declares a `rosenblatt.loops.rules.Memory`; the loops then read the rule that this memory returns. Its
type is the one to name here. Functions are registered before a loop is first compiled for the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

NO_RIVAL = -1
"""Stands for the rival of a machine that has none."""

Compiled: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Compiled)

STEPS: dict[type, Compiled] = {}
SIZES: dict[type, Compiled] = {}
MOVES: dict[type, Compiled] = {}


def step_of(*rules: type) -> Callable[[F], F]:
    """Register a function of (rule, pull, f, X, i, m, rival) that returns the whole step: when, and how far.

    `pull` is y times the weight of row i, and `f` its score by machine m, or the lead over the machine `rival`,
    which is negative if there is none. The step is signed as `pull` is, and 0 where nothing moves.
    """
    return _register(STEPS, rules)


def size_of(*rules: type) -> Callable[[F], F]:
    """Register a function of (rule, c, lead, X, i, machines) that returns the step in place of the perceptron's c.

    It is called only where the perceptron would update. `lead` is y f, or the lead over the rival; the step moves
    one or two `machines`.
    """
    return _register(SIZES, rules)


def move_of(*rules: type) -> Callable[[F], F]:
    """Register a function of (rule, X, i, f, c, t, m, m2, c2, w, u) that moves weights and memory by a step.

    Machine m moves by c and, if c2 is not 0, machine m2 by c2; f is the score that was corrected. The sum u for
    averaging, unless it is None, gains each change times t, the visits made before.
    """
    return _register(MOVES, rules)


def _register(table: dict[type, Compiled], rules: tuple[type, ...]) -> Callable[[F], F]:
    def add(function: F) -> F:
        table.update(dict.fromkeys(rules, function))
        return function

    return add
