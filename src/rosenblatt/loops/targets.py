"""What the loops are told of the labels: two sides, several classes against each other, or many machines."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints

PAIR = 2  # visits, and machines, that are scored together


class Sides(NamedTuple):
    """Two classes, one machine: for each row its label ±1 times its weight."""

    pull: Floats


class Direct(NamedTuple):
    """One vector a class, all of them compared on each visit (S-31).

    Parameters
    ----------
    code
        The class of each row.
    weight
        The weight of each row.
    machines
        0, 1, …: the numbers of the vectors.
    last_wins
        Which of equally good rivals is named: 0 the lowest class, 1 the highest.
    """

    code: Ints
    weight: Floats
    machines: Ints
    last_wins: int


class Machines(NamedTuple):
    """Machines of two sides each, side by side: one against the rest, or one against one (S-32, S-33).

    Parameters
    ----------
    code
        The class of each row.
    weight
        The weight of each row.
    members
        For each class, the machines that learn from it.
    side
        For each class, whether they take it for the positive side (+1) or the negative one (−1).
    """

    code: Ints
    weight: Floats
    members: Ints
    side: Floats


Targets: TypeAlias = Sides | Direct | Machines


class Log(NamedTuple):
    """Room for the mistakes of a stretch of visits.

    For each the position in the order, the score before, the step taken and, of several machines, which one: in
    `Direct` the class that the row was taken for. `scores` is where loops note the scores of two visits.
    """

    at: Ints
    score: Floats
    step: Floats
    machine: NDArray[np.int32]
    scores: Floats

    @classmethod
    def room(cls, mistakes: int, machines: int = 1) -> Log:
        """Return an empty log; one machine writes no number, and so is number 0."""
        at, score, step = np.zeros(mistakes, np.int64), np.empty(mistakes), np.empty(mistakes)
        return cls(at, score, step, np.zeros(mistakes, np.int32), np.empty((PAIR, machines)))

    def part(self, part: slice) -> Log:
        """Return some of the mistakes."""
        return Log(self.at[part], self.score[part], self.step[part], self.machine[part], self.scores)
