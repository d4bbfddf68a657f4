"""On-line learning: one example at a time, usable at any moment.

A stream is one endless pass in the order of the examples, by the loops of a fit: rows learned one by one, in
chunks, or in one fit of one pass in this order leave the same bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from itertools import pairwise
from threading import RLock
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import LabelError
from rosenblatt.learning.linear import LinearModel, Scheme, score_of_row
from rosenblatt.learning.plan import Model, Plan
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Detail, Recorder, Stretch, Trace
from rosenblatt.learning.visitor import Visitor
from rosenblatt.loops.decay import train_shrinking
from rosenblatt.loops.layout import Direct, Log, Machines, Rows, Sides, Targets
from rosenblatt.loops.named_features import learn_named
from rosenblatt.loops.order import Cyclic
from rosenblatt.loops.passes import ONLY_ROW, learn_row, learn_row_by_machines
from rosenblatt.loops.rules import Penalty, Rule, is_plain
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, read_only, require_finite
from rosenblatt.rows.labels import as_labels, list_classes
from rosenblatt.typing import Floats, Ints

# Class balance from running counts, for streams that cannot know the whole.


class Balance:
    """Weighs each example by how rare its class has been so far, itself included: n / (classes · count).

    Over a whole set this is what "balanced" means. Along a stream the weights depend on what has been seen, but
    not on how it is cut into chunks.
    """

    def __init__(self, counts: dict[Any, int] | None = None) -> None:
        self.counts: dict[Any, int] = {} if counts is None else counts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Balance)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Balance:
        """Return a balance that goes on counting by itself."""
        return Balance(dict(self.counts))

    def see(self, label: Hashable) -> float:
        """Count an example, and return its weight."""
        self.counts[label] = count = self.counts.get(label, 0) + 1
        return sum(self.counts.values()) / (len(self.counts) * count)

    def see_all(self, codes: Ints, labels: list[Any]) -> Floats:
        """Count examples in order, `codes` being positions in `labels`, and return their weights."""
        before = np.array([self.counts.get(label, 0) for label in labels])
        own = np.zeros(len(codes), np.int64)
        classes = np.full(len(codes), len(self.counts), np.int64)
        for code in np.unique(codes):
            at = np.flatnonzero(codes == code)
            own[at] = before[code] + np.arange(1, len(at) + 1)
            self.counts[labels[code]] = int(own[at[-1]])
            if before[code] == 0:
                classes[at[0] :] += 1
        total = before.sum() + self._unlisted(labels) + np.arange(1, len(codes) + 1)
        weights: Floats = total / (classes * own)
        return weights

    def _unlisted(self, labels: list[Any]) -> int:
        """Count the examples of labels that a chunk does not have."""
        listed = set(labels)
        return sum(count for label, count in self.counts.items() if label not in listed)


Target: TypeAlias = float | Targets
"""What one example is to be: y times its weight for one machine, the targets of one row for several."""


class Stream:
    """Learns from examples in the order they come.

    Parameters
    ----------
    state : State
        Where to go on from.
    rule, multiclass, zero, penalty, radius
        As in `Plan`; `multiclass` becomes a scheme once the number of classes is known.
    classes : ndarray
        The labels known so far, sorted.
    grows : bool
        Whether each new label becomes a class; otherwise only two may, if none are known from the beginning.
    class_weight : mapping or Balance
        The weights of labels; one that is not in it weighs 1.
    may_mirror : bool
        Whether the opposite labels would have led to exactly the opposite weights, so that a stream may begin
        before it knows which of its two classes is the positive one.
    detail : {"mistakes", "counts"} or None
        What to keep of the stream.

    Attributes
    ----------
    mistakes, seen : int
        The mistakes made and the examples seen since the stream began.
    wrong : int
        The mistakes on examples on their wrong side, counted for rules other than `Rule`.
    lock : RLock
        Is held while an example is learned. Forks have the same.
    """

    own_parts: ClassVar[tuple[str, ...]] = ()  # attributes that a file keeps of a family's own stream
    linear: ClassVar[bool] = True  # whether scores are those of hyperplanes

    def __init__(
        self,
        state: State,
        rule: Rule,
        *,
        multiclass: str,
        zero: int,
        penalty: Penalty | None,
        classes: NDArray[Any],
        grows: bool,
        class_weight: Mapping[Any, float] | Balance,
        may_mirror: bool,
        detail: Detail,
        radius: float | None,
    ) -> None:
        self.state, self.start = state, state.copy()
        self.rule, self.radius = rule, radius
        self.mistakes = self.seen = self.wrong = 0
        self.recorder = Recorder(detail)
        self.recorder.begin_pass()
        self.multiclass, self.zero, self.penalty = multiclass, zero, penalty
        self.class_weight, self.grows = class_weight, grows
        self._may_mirror = may_mirror
        self.lock = RLock()
        self._know(classes)

    def __getstate__(self) -> dict[str, Any]:
        # The log is room to write in: what stands there is no part of the stream, nor of a file of it.
        return {name: value for name, value in self.__dict__.items() if name not in ("_log", "lock")}

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self._log, self.lock = self._room(), RLock()

    @property
    def rule(self) -> Rule:
        """What a mistake is and what it adds."""
        return self._rule

    @rule.setter
    def rule(self, rule: Rule) -> None:
        self._rule = rule
        # A plain tuple crosses into compiled code in a third of the time.
        self._plain_rule = tuple(rule) if type(rule) is Rule else rule

    def begin_at(self, X: Rows, label: Hashable) -> None:
        """Add the first row of X to the start itself, unless its label weighs nothing."""
        self.meet(label)
        codes, weight = np.array([self._codes[label]]), np.array([self._weight(label)])
        n_features = self.state.n_features
        self._visitor(Batch(X, 1, n_features, codes=codes, classes=self.classes, weight=weight)).begin_at(0)
        self.start = self.state.copy()

    def fork(self) -> Stream:
        """Return a stream that goes on from here and leaves this one as it is."""
        fork = copy(self)
        fork.state, fork.recorder = self.state.copy(), self.recorder.fork()
        if isinstance(self.class_weight, Balance):
            fork.class_weight = self.class_weight.copy()
        return fork

    def known_target(self, label: Hashable) -> Target | None:
        """Return what an example of a label is to be, or None if it has to be found out first."""
        try:
            return self._targets.get(label)
        except TypeError:
            raise LabelError(f"y={label!r} cannot be a label: it is not hashable.") from None

    def knows(self, label: Hashable) -> bool:
        """Say whether a label is one of the classes."""
        return label in self._codes

    def target(self, label: Hashable, weight: float = 1.0) -> Target:
        """Return what an example of a label that has been met is to be, as the next one of the stream."""
        known = self._targets.get(label)
        if known is not None and weight == 1.0:
            return known
        balance = self.class_weight
        own = balance.see(label) if isinstance(balance, Balance) else self._weight(label)
        return self._target(label, own * weight)

    def meet(self, label: Hashable) -> None:
        """Make a label a class, if it is not yet one and there is room."""
        if not self.knows(label):
            self._meet(label)

    def make_room(self, n_features: int) -> None:
        """Have at least so many features, and room for more to come."""
        if n_features > self.state.n_features:
            self.grow(max(n_features, 2 * self.state.n_features))

    def grow(self, n_features: int) -> None:
        """Have so many features."""
        self.state, self.start = self.state.grown(n_features), self.start.grown(n_features)

    def model(self, n_features: int) -> Model:
        """Return what predicts by the state as it is now, over its first `n_features` features."""
        return LinearModel.of(self.state, n_features, self.scheme, self.classes, self.zero)

    def score(self, row: Rows) -> Any:
        """Return the score of one row, at the cost of its own features."""
        return score_of_row(row, self.state, self.scheme, self.classes, self.zero)

    def bytes_of_state(self, n_features: int) -> Iterable[bytes]:
        """Return what decides predictions and learning, over the first `n_features` features."""
        state = self.state
        return (state if state.n_features == n_features else state.narrowed(n_features)).bits()

    def trace(self, n_features: int) -> Trace:
        """Return the record of the stream so far, over its first `n_features` features."""
        counts = np.array([self.mistakes], np.int64), np.array([self.seen], np.int64)
        return Trace(
            self.recorder.mistakes(),
            *counts,
            self.start.narrowed(n_features),
            n_rows=self.seen,
            n_features=n_features,
            scheme=self.scheme,
            penalty=self.penalty,
            classes=self.classes,
            bias=self.rule.beta,
            radius=self.radius,
            zero=self.zero,
        )

    def learn_row(self, X: Rows, target: Target) -> None:
        """Visit one example: a matrix of one row, and what it is to be."""
        state = self.state
        if self.penalty is not None:
            self._learn_shrinking(X, target)
            return
        if isinstance(target, float):
            rows = X if state.met is None else state.meet(X)
            rule = state.rule_of_loops(self._rule) if state.moves_more else self._plain_rule
            t = max(state.averaged, 0) if state.memory else state.visits
            score, correction = learn_row(rows, target, rule, state.w, state.u, t)
            if score - score != 0.0:
                raise self._not_finite(X)
            self._count(score, correction, target)
            return
        rows = state.meet(X)
        rule = state.rule_of_loops(self._rule)
        count = learn_row_by_machines(rows, target, rule, state.w, state.u, max(state.averaged, 0), self._log)
        if count < 0:
            raise self._not_finite(X)
        self.mistakes += count
        if not is_plain(self._rule) and isinstance(target, Direct | Machines):
            self._count_wrong(self._log.part(slice(count)), np.repeat(target.code, count))
        if self.recorder.detail == "mistakes":
            self._keep(count)
        state.visits += 1
        self.seen += 1

    def learn_pairs(self, pairs: Floats, target: float) -> bool:
        """Visit one example of names and values; return False, and change nothing, if it needs a closer look."""
        state = self.state
        if state.met is not None or state.moves_more:
            return False
        t = max(state.averaged, 0) if state.memory else state.visits
        score, correction = learn_named(pairs, target, self._plain_rule, state.w, state.u, t)
        if score - score != 0.0:
            return False
        self._count(score, correction, target)
        return True

    def _count(self, score: float, correction: float, target: float) -> None:
        """Count a visit by one machine, and its mistake if it made one."""
        if correction != 0.0:
            self.mistakes += 1
            self.wrong += score <= 0.0 if target > 0.0 else score >= 0.0
            if self.recorder.detail == "mistakes":
                log = self._log
                log.score[0], log.step[0], log.machine[0] = score, abs(correction), target <= 0.0
                self._keep(1)
        self.state.visits += 1
        self.seen += 1

    def learn_rows(self, features: Features, codes: Ints, labels: list[Any], weight: Floats | None) -> None:
        """Visit rows in order; `codes` are positions in `labels`. New labels become classes as they are met."""
        parts = self._between_new_labels(codes, labels)
        if len(parts) > 1:
            require_finite(features)  # an error in a part would name a row of the part
        for part in parts:
            self.meet(labels[codes[part.start]])
            known = np.array([self._codes.get(label, -1) for label in labels])[codes[part]]
            own = self._weights_of(codes[part], labels)
            if weight is not None:
                own = own * weight[part]
            self._learn(features.part(part), known, own)
        if not np.isfinite(self.state.hypothesis()).all():
            raise overflow_error(self.state.visits)

    def _learn_shrinking(self, X: Rows, target: Target) -> None:
        """Visit one example by the loop for many, on a copy: it does not look whether weights stay finite."""
        state = self.state.copy()
        rows = state.meet(X)
        assert self.penalty is not None, "weights shrink"
        targets, log = Sides(np.array([target])) if isinstance(target, float) else target, self._log
        weights = state.machines, state.shrunk_machines, state.mean_machines
        count, made = train_shrinking(
            rows, targets, ONLY_ROW, self.rule, self.penalty, *weights, state.averaged, log
        )
        if not made:
            raise self._not_finite(X)
        state.visits += 1
        if not np.isfinite(state.hypothesis()).all():
            raise overflow_error(self.state.visits)
        if isinstance(target, float):
            log.machine[:] = target <= 0.0
        self._keep(count)
        self.mistakes += count
        self.state.become(state)
        self.seen += 1

    def _learn(self, features: Features, codes: Ints, weight: Floats) -> None:
        known = (features.rows, features.n_rows, features.n_features)
        visitor = self._visitor(Batch(*known, codes=read_only(codes), classes=self.classes, weight=weight))
        for stretch in visitor.visit(visitor.visits(1)):
            log = stretch.log
            if not is_plain(self._rule):
                self._count_wrong(log, codes[stretch.rows])
            if self.scheme.kind == "binary":  # a mistake names its rival, should there come to be more than one
                log = log._replace(machine=(1 - codes[stretch.rows]).astype(np.int32))
            self.recorder.add(Stretch(stretch.visits + np.uint64(self.seen), log, stretch.first))
            self.mistakes += len(log.at)
        self.seen += features.n_rows

    def _count_wrong(self, log: Log, codes: Ints) -> None:
        lead = self.scheme.lead_of_mistakes(log.score, log.machine, codes)
        self.wrong += int(np.count_nonzero(lead <= 0.0))

    def _visitor(self, batch: Batch) -> Visitor:
        return Visitor(batch, self._plan(batch.n_rows), self.state)

    def _plan(self, n_rows: int) -> Plan:
        """Return the plan of one pass over rows as they come."""
        return Plan(self.rule, Cyclic(n_rows), self.scheme, self.penalty, zero=self.zero, screened=False)

    def _between_new_labels(self, codes: Ints, labels: list[Any]) -> list[slice]:
        """Cut a chunk before each new label: a class is no rival before it is met."""
        _, firsts = np.unique(codes, return_index=True)
        news = sorted(int(first) for first in firsts if not self.knows(labels[codes[first]]))
        cuts = [0, *(new for new in news if new > 0), len(codes)]
        return [slice(first, last) for first, last in pairwise(cuts)]

    def _weights_of(self, codes: Ints, labels: list[Any]) -> Floats:
        if isinstance(self.class_weight, Balance):
            return self.class_weight.see_all(codes, labels)
        return np.array([self.class_weight.get(label, 1.0) for label in labels])[codes]

    def _weight(self, label: Hashable) -> float:
        return 1.0 if isinstance(self.class_weight, Balance) else self.class_weight.get(label, 1.0)

    def _know(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.scheme = Scheme.of(self.multiclass, len(classes))
        # One class alone is taken for the positive one until the other is met.
        codes = [1] if len(classes) == 1 else range(len(classes))
        labels = classes.tolist()
        self._codes = dict(zip(labels, codes, strict=True))
        # Only the plain rule learns from pairs: others keep their rows, or read them by other loops.
        self.learns_pairs = type(self) is Stream and self.scheme.kind == "binary" and self.penalty is None
        balanced = isinstance(self.class_weight, Balance)
        self._targets = {} if balanced else {label: self._target(label, self._weight(label)) for label in labels}
        self._log = self._room()

    def _room(self) -> Log:
        """Return room for the mistakes of one example."""
        return Log.room(self.scheme.n_machines, self.scheme.n_machines)

    def _target(self, label: Hashable, weight: float) -> Target:
        code = self._codes[label]
        if self.scheme.kind == "binary":
            return weight if code == 1 else -weight
        return self.scheme.targets(np.array([code]), np.array([weight]), self.zero)

    def _meet(self, label: Hashable) -> None:
        known = self.classes.tolist()
        if len(known) >= 2 and not self.grows:
            raise LabelError(
                f"y={label!r} is not one of the classes {list_classes(self.classes)}. "
                "Name all classes with classes=[...] on the first call, or let them grow with classes='grow'.",
                code="unknown-label",
                value=label,
            )
        if len(known) < 2 and not self._may_mirror:
            raise LabelError(
                "With tie='sign' or init='random' the classes must be known from the beginning. "
                "Pass classes=[...] on the first call."
            )
        _, classes = as_labels([*known, label], len(known) + 1)
        at = classes.tolist().index(label)
        if len(known) == 1 and classes[0] == known[0]:
            self._mirror()
        if len(known) == 2:
            self.state, self.start = self.state.unfolded(), self.start.unfolded()
            self.recorder.unfold()
        if len(known) >= 2:
            self.state, self.start = self.state.with_class(at), self.start.with_class(at)
            self.recorder.make_room(at)
        self._know(classes)

    def _mirror(self) -> None:
        self.state, self.start = self.state.mirrored(), self.start.mirrored()
        self.recorder.mirror()

    def _keep(self, count: int) -> None:
        row = np.array([self.seen], np.uint64)
        self.recorder.add(Stretch(row, self._log.part(slice(count)), self.state.visits))

    def _not_finite(self, X: Rows) -> Exception:
        require_finite(Features(X, 1, self.state.n_features), name="x")
        return overflow_error(self.state.visits)
