"""How several classes become hyperplanes, and how scores become a label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import Direct, Machines, Sides, Targets
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features
from rosenblatt.typing import Floats, Ints

Kind: TypeAlias = Literal["binary", "direct", "ovr", "ovo"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """One hyperplane for two classes, or several for many."""

    # one machine whose sign decides; one vector for each class, compared directly; one machine for each class
    # against the rest; or one machine for each pair of classes
    kind: Kind
    n_classes: int

    @classmethod
    def of(cls, multiclass: Any, n_classes: int) -> Scheme:
        """Return the scheme that `multiclass` names; two classes always need one machine."""
        return cls("binary" if n_classes <= 2 else multiclass, n_classes)

    @property
    def n_machines(self) -> int:
        """The number of hyperplanes."""
        match self.kind:
            case "binary":
                return 1
            case "ovo":
                return self.n_classes * (self.n_classes - 1) // 2
            case _:
                return self.n_classes

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The negative and the positive class of each machine, one against one."""
        return list(combinations(range(self.n_classes), 2))

    def titles(self, classes: NDArray[Any]) -> list[str]:
        """Return the meaning of the positive side of each machine."""
        labels = [str(label) for label in classes.tolist()]
        match self.kind:
            case "binary":
                return labels[-1:]
            case "ovo":
                return [f"{labels[positive]} against {labels[negative]}" for negative, positive in self.pairs]
            case _:
                return labels

    def shape(self, n_features: int) -> tuple[int, ...]:
        """Return the shape of padded weights."""
        return (n_features + 1,) if self.kind == "binary" else (self.n_machines, n_features + 1)

    def targets(self, codes: Ints, weight: Floats, zero: int) -> Targets:
        """Return the class and the weight of each row as the loops read them."""
        match self.kind:
            case "binary":
                return Sides(np.where(codes == 1, weight, -weight))
            case "direct":
                return Direct(codes, weight, np.arange(self.n_machines), int(zero > 0))
            case _:
                members, side = self._memberships()
                return Machines(codes, weight, members, side)

    def _memberships(self) -> tuple[Ints, Floats]:
        """Return for each class the machines that learn from it, and its side in each."""
        K = self.n_classes
        if self.kind == "ovr":
            return np.tile(np.arange(K), (K, 1)), np.where(np.eye(K, dtype=np.bool_), 1.0, -1.0)
        machines: list[list[int]] = [[] for _ in range(K)]
        sides: list[list[float]] = [[] for _ in range(K)]
        for m, pair in enumerate(self.pairs):
            for c, side in zip(pair, (-1.0, 1.0), strict=True):
                machines[c].append(m)
                sides[c].append(side)
        return np.array(machines), np.array(sides)

    def sides(self, machine: int) -> Ints:
        """Return the side of each class for one machine of `ovr` or `ovo`: +1, −1, or 0 if it does not take part.

        Examples
        --------
        >>> Scheme.of("ovr", 3).sides(1).tolist(), Scheme.of("ovo", 3).sides(1).tolist()
        ([-1, 1, -1], [-1, 0, 1])
        """
        members, side = self._memberships()
        sides: Ints = np.where(members == machine, side, 0.0).sum(axis=1).astype(np.int64)
        return sides

    def divided(self, groups: int) -> list[Ints]:
        """Return the machines in at most so many groups, in each of which every class has equally many machines.

        One against one, classes meet as in a tournament. An even number of them plays rounds, in which each class
        meets one other. An odd number plays in circles through all classes, in which each meets two.

        Examples
        --------
        >>> [machines.tolist() for machines in Scheme("ovr", 5).divided(2)]
        [[0, 1, 2], [3, 4]]
        >>> [machines.tolist() for machines in Scheme("ovo", 4).divided(3)]
        [[2, 3], [1, 4], [0, 5]]
        """
        if self.kind != "ovo":
            return [each for each in np.array_split(np.arange(self.n_machines), groups) if len(each)]
        number = {pair: m for m, pair in enumerate(self.pairs)}
        rounds = [[number[min(pair), max(pair)] for pair in each] for each in _rounds(self.n_classes)]
        return [np.sort(np.concatenate(rounds[k::groups])) for k in range(min(groups, len(rounds)))]

    def decision(self, scores: Floats) -> Floats:
        """Return the decision values from the scores of all machines: f itself, or one number for each class.

        One against one, this is the sum of the signed scores of each class, added in the order of the pairs.
        """
        if self.kind != "ovo":
            return scores
        sums = np.zeros((len(scores), self.n_classes))
        for m, (negative, positive) in enumerate(self.pairs):
            sums[:, negative] -= scores[:, m]
            sums[:, positive] += scores[:, m]
        return sums

    def choose(self, decision: Floats, zero: int) -> Ints:
        """Return the class of each row.

        Ties go to the lowest of the best classes, or with ``zero=+1`` to the highest. For two classes this means
        sgn(0) = `zero`.
        """
        if self.kind == "binary":
            positive = decision >= 0.0 if zero > 0 else decision > 0.0
            # A stream that has seen one class so far can predict no other.
            return np.where(positive, self.n_classes - 1, 0)
        if zero > 0:
            return np.asarray(self.n_classes - 1 - np.argmax(decision[:, ::-1], axis=1))
        return np.asarray(np.argmax(decision, axis=1))

    def leads(self, scores: Floats, codes: Ints, zero: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the lead of each row by each machine that learns from it, and whether its side is positive.

        Both have one column for each machine, and a single column for two classes (the lead is y f) and for
        classes compared directly (the lead over the best rival).
        """
        if self.kind == "binary":
            positive = codes == 1
            return np.where(positive, scores, -scores)[:, None], positive[:, None]
        rows = np.arange(len(codes))
        if self.kind == "direct":
            others = scores.copy()
            others[rows, codes] = -np.inf
            rival = self.choose(others, zero)
            return (scores[rows, codes] - others[rows, rival])[:, None], (codes > rival)[:, None]
        members, side = self._memberships()
        own = side[codes]
        return own * np.take_along_axis(scores, members[codes], axis=1), own > 0.0

    def can_err(self, codes: Ints, machine: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for rows of these classes whether the machine given for each can err on it."""
        match self.kind:
            case "direct":
                return np.asarray(machine != codes)
            case "ovo":
                return np.asarray((np.array(self.pairs)[machine] == codes[:, None]).any(axis=1))
            case _:
                return np.ones(len(codes), np.bool_)

    def lead_of_mistakes(self, score: Floats, machine: NDArray[Any], codes: Ints) -> Floats:
        """Return the lead of each mistake from its score, its machine and the class of its row."""
        match self.kind:
            case "binary":
                return np.where(codes == 1, score, -score)
            case "direct":
                return score
            case "ovr":
                return np.where(machine == codes, score, -score)
            case _:
                positive = np.array([pair[1] for pair in self.pairs])
                return np.where(positive[machine] == codes, score, -score)

    def first_steps(self, code: int, zero: int) -> Ints:
        """Return the machines that start from a first row of class `code`; compared directly, the rival.

        All scores are equal at the start, so the rival is the lowest other class, or with ``zero=+1`` the highest.
        """
        if self.kind == "binary":
            return np.zeros(1, np.int64)
        if self.kind == "direct":
            others = [c for c in range(self.n_classes) if c != code]
            return np.array([others[-1 if zero > 0 else 0]])
        return np.asarray(self._memberships()[0][code])


def _rounds(n_classes: int) -> list[list[tuple[int, int]]]:
    """Return all pairs of classes in rounds, in each of which every class is in one pair, or in two if n is odd.

    All classes but the last sit at a round table, and the last stands apart.
    """
    last = seats = n_classes - 1
    if seats % 2:
        across = [[((k + j) % seats, (k - j) % seats) for j in range(1, n_classes // 2)] for k in range(seats)]
        return [[(k, last), *pairs] for k, pairs in enumerate(across)]
    found = []
    for k in range(seats // 2):
        path = [(k + (j + 1) // 2 * (-1) ** (j + 1)) % seats for j in range(seats)]
        found.append([(last, path[0]), *pairwise(path), (path[-1], last)])
    return found


class ClassModel(ABC):
    """A trained model that predicts classes by decision values."""

    __slots__ = ()

    scheme: Scheme
    classes: NDArray[Any]
    zero: int

    @abstractmethod
    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: one number, or one for each class."""

    def codes(self, features: Features) -> Ints:
        """Return the class of every row, as a position in `classes`."""
        return self.scheme.choose(self.decision(features), self.zero)

    def error(self, batch: Batch) -> float:
        """Return the share of rows whose label is predicted wrong."""
        return float(np.mean(self.codes(batch) != batch.codes))

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        return self.classes[self.codes(features)]
