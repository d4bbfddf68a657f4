"""On-line learning: one example at a time, usable at any moment (S-14).

A stream is one endless pass in the order the examples come. It does to each example what a fit does, by the
same loops: rows learned one by one, in chunks, or in one fit of one pass in this order leave the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, require_finite
from rosenblatt.data.labels import as_labels, listed
from rosenblatt.exceptions import LabelError
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.passes import learn_row, step
from rosenblatt.loops.rules import Rule
from rosenblatt.model.state import State, overflowed
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Detail, Recorder
from rosenblatt.typing import Floats


class Stream:
    """Learns from examples as they come.

    Parameters
    ----------
    state : State
        Where to go on from.
    rule : Rule
        What a mistake is and what it adds.
    classes : ndarray
        The labels known so far, sorted: two, or fewer if they are to be met on the way.
    class_weight : mapping
        The weights of labels; one that is not in it weighs 1.
    may_mirror : bool
        Whether the opposite labels would have led to exactly the opposite weights, so that a stream may begin
        before it knows which of its two classes is the positive one.
    detail : {"mistakes", "counts"} or None
        What to keep of the stream.
    radius : float or None
        R, where the rule's bias step is R²; for the record.

    Attributes
    ----------
    mistakes, seen : int
        The mistakes made and the examples seen since the stream began.
    """

    def __init__(
        self,
        state: State,
        rule: Rule,
        *,
        classes: NDArray[Any],
        class_weight: Mapping[Any, float],
        may_mirror: bool,
        detail: Detail,
        radius: float | None,
    ) -> None:
        self.state, self.start = state, state.copy()
        self.rule, self.radius = rule, radius
        self.mistakes = self.seen = 0
        self.recorder = Recorder(detail)
        self.recorder.begin_pass()
        self.class_weight = class_weight
        self._may_mirror = may_mirror
        self._know(classes)

    @property
    def rule(self) -> Rule:
        """What a mistake is and what it adds."""
        return self._rule

    @rule.setter
    def rule(self, rule: Rule) -> None:
        self._rule = rule
        self._plain_rule = tuple(rule)  # crosses into compiled code in a third of the time

    def begin_at(self, X: Rows, pull: float) -> None:
        """Add the first row of X to the start itself, unless it weighs nothing (S-10)."""
        step(X, 0, float(np.sign(pull)), self.rule.beta, self.state.w)
        self.start = self.state.copy()

    def fork(self) -> Stream:
        """Return a stream that goes on from here and leaves this one as it is."""
        fork = copy(self)
        fork.state, fork.recorder = self.state.copy(), self.recorder.fork()
        return fork

    def known_pull(self, label: Any) -> float | None:
        """Return ±1 times the weight of a label, or None if it was never met."""
        try:
            return self._pulls.get(label)
        except TypeError:
            raise LabelError(f"y={label!r} cannot be a label: it is not hashable.") from None

    def pull(self, label: Any) -> float:
        """Return ±1 times the weight of a label; one never met becomes a class if there is room."""
        pull = self.known_pull(label)
        if pull is None:
            self._meet(label)
            return self._pulls[label]
        return pull

    def pulls(self, labels: Iterable[Any]) -> Floats:
        """Return the pull of each label, once all of them have been met."""
        labels = list(labels)
        for label in labels:
            self.pull(label)
        return np.array([self.pull(label) for label in labels])

    def grow(self, n_features: int) -> None:
        """Make room for more features."""
        self.state, self.start = self.state.grown(n_features), self.start.grown(n_features)

    def trace(self, n_features: int, zero: int) -> Trace:
        """Return the record of the stream so far, over its first `n_features` features."""
        counts = np.array([self.mistakes], np.int64), np.array([self.seen], np.int64)
        return Trace(
            self.recorder.mistakes(),
            *counts,
            self.start.narrowed(n_features),
            n_rows=self.seen,
            n_features=n_features,
            classes=self.classes,
            bias=self.rule.beta,
            radius=self.radius,
            zero=zero,
        )

    def learn_row(self, X: Rows, pull: float) -> None:
        """Visit one example: a matrix of one row, and its label ±1 times its weight."""
        state = self.state
        score, correction = learn_row(X, pull, self._plain_rule, state.w, state.u, state.visits)
        if score - score != 0.0:
            require_finite(Features(X, 1, state.n_features), name="x")
            raise overflowed(self.state.visits)
        if correction != 0.0:
            self.mistakes += 1
        if self.recorder.detail == "mistakes":
            self._keep(score, abs(correction))
        state.visits += 1
        self.seen += 1

    def learn_rows(self, features: Features, pull: Floats) -> None:
        """Visit rows in order."""
        visitor = Visitor(features, pull, self.rule, self.state, screened=False)
        for stretch in visitor.visit(np.arange(features.n_rows, dtype=np.uint64)):
            self.recorder.add(*stretch._replace(visits=stretch.visits + np.uint64(self.seen)))
            self.mistakes += len(stretch.at)
        self.seen += features.n_rows
        if not np.isfinite(self.state.hypothesis()).all():
            raise overflowed(self.state.visits)

    def _know(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        # One class alone is taken for the positive one until the other is met.
        signs = (1.0,) if len(classes) == 1 else (-1.0, 1.0)
        labels = classes.tolist()
        self._pulls = {
            label: sign * self.class_weight.get(label, 1.0) for label, sign in zip(labels, signs, strict=False)
        }

    def _meet(self, label: Any) -> None:
        if len(self.classes) == 2:
            raise LabelError(
                f"y={label!r} is neither of the two classes {listed(self.classes)}. "
                "Name the classes with classes=[...] on the first call."
            )
        known = self.classes.tolist()
        if not self._may_mirror:
            raise LabelError(
                "With tie='sign' or init='random' the classes must be known from the beginning. "
                "Pass classes=[...] on the first call."
            )
        _, classes = as_labels([*known, label], len(known) + 1)
        if known and classes[0] == known[0]:
            self._mirror()
        self._know(classes)

    def _mirror(self) -> None:
        self.state, self.start = self.state.mirrored(), self.start.mirrored()
        self.recorder.mirror()

    def _keep(self, score: float, step: float) -> None:
        at = np.arange(1 if step else 0)
        row = np.array([self.seen], np.uint64)
        self.recorder.add(row, at, np.full(len(at), score), np.full(len(at), step), self.state.visits)
