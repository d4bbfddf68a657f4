"""The rows that a fit visits: what the fit loop needs of them, and the set that is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.exceptions import OrderError
from rosenblatt.learners.order import Visits
from rosenblatt.learners.plan import Plan
from rosenblatt.learners.report import Model
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.targets import Targets
from rosenblatt.model.state import State
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats, Ints


class First(NamedTuple):
    """The row visited first: where it stands among rows that are at hand, and what is known of it."""

    batch: Batch
    targets: Targets
    row: int
    weight: float


class Pool(Protocol):
    """Rows to train on, all at hand or a block at a time; those held out are never visited.

    Visits are given by `visits` and understood by the pool alone: the fit loop only counts them.

    Attributes
    ----------
    n_rows, n_features, stored : int
        Of all rows, those held out included.
    classes : ndarray
        The labels.
    settled, extra_values
        As of a `Visitor`.
    """

    n_rows: int
    n_features: int
    classes: NDArray[Any]

    @property
    def stored(self) -> int: ...  # noqa: D102
    @property
    def settled(self) -> bool: ...  # noqa: D102
    @property
    def extra_values(self) -> int: ...  # noqa: D102

    def visits(self, epoch: int) -> Sized | None:
        """Return the visits of a pass; None if the order has come to its end."""

    def visit(self, visits: Any, made: int = 0) -> Iterator[Stretch]:
        """Make the visits but for the first `made` of them, and tell of them stretch by stretch, by row of all."""

    def covers(self, visits: Any) -> bool:
        """Whether every row that counts is visited."""

    def first(self, visits: Any) -> First:
        """Return the row visited first."""

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows of the stretch that was told of last."""

    def require_finite(self, visits: Any) -> None:
        """Find NaN and infinity in rows that training will not meet."""

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield all rows with their weights, part by part; a part is good until the next is asked for."""

    def validation_error(self, model: Model) -> float | None:
        """Return the share of rows held out whose class is predicted wrong; None if there are none."""


class BatchPool:
    """A set that is in memory.

    Relatives of the perceptron bring their own `visitor`, called as `Visitor` is.
    """

    def __init__(
        self,
        batch: Batch,
        weight: Floats,
        plan: Plan,
        state: State,
        visitor: Callable[..., Visitor] = Visitor,
    ) -> None:
        self.batch, self.weight = batch, weight
        self.n_rows, self.n_features, self.classes = batch.n_rows, batch.n_features, batch.classes
        self._order = plan.order
        self._validation_batch: Batch | None = None
        self._held_out: NDArray[np.bool_] | None = None
        if plan.held_out is not None:
            self._validation_batch = batch.take(plan.held_out)
            self._held_out = np.zeros(batch.n_rows, np.bool_)
            self._held_out[plan.held_out] = True
            self.weight = np.where(self._held_out, 0.0, weight)
        self.targets = plan.scheme.targets(batch.codes, self.weight, plan.zero)
        self.visitor = visitor(batch, self.targets, plan.rule, state, plan.screened, plan.penalty)

    @property
    def stored(self) -> int:
        """The values stored."""
        return self.batch.stored

    @property
    def settled(self) -> bool:
        """Whether nothing is left to learn."""
        return self.visitor.settled

    @property
    def extra_values(self) -> int:
        """What the visitor has read besides."""
        return self.visitor.extra_values

    def visits(self, epoch: int) -> Visits | None:
        """Return the rows to visit, those held out left out; None if the order has come to its end."""
        visits = self._order.visits(epoch)
        if visits is None or self._held_out is None:
            return visits
        kept: Visits = visits[~self._held_out[visits]]
        if not len(kept):
            raise OrderError("order visits rows held out for validation alone. Let it visit others too.")
        return kept

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits but for the first `made` of them."""
        if made < len(visits):
            yield from self.visitor.visit(visits[made:] if made else visits)

    def covers(self, visits: Visits) -> bool:
        """Whether every row that counts is visited."""
        seen = self.weight == 0.0
        seen[visits] = True
        return bool(seen.all())

    def first(self, visits: Visits) -> First:
        """Return the row visited first."""
        row = int(visits[0])
        return First(self.batch, self.targets, row, float(self.weight[row]))

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows."""
        codes: Ints = self.batch.codes[rows]
        return codes

    def require_finite(self, visits: Visits) -> None:
        """Find NaN and infinity, unless training will meet every row."""
        if len(visits) < self.n_rows or not self.covers(visits):
            require_finite(self.batch)

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield all rows."""
        yield self.batch, self.weight

    def validation_error(self, model: Model) -> float | None:
        """Return the share of rows held out whose class is predicted wrong."""
        if self._validation_batch is None:
            return None
        return model.error(self._validation_batch)


def wrong_rows(batch: Batch, scores: Floats, plan: Plan) -> NDArray[np.bool_]:
    """Tell which rows are not right by their scores: a visit would correct them, or prediction gets them wrong."""
    rule, scheme, codes = plan.rule, plan.scheme, batch.codes
    lead, positive = scheme.leads(scores, codes, plan.zero)
    tie_counts = np.where(positive, rule.tie_plus, rule.tie_minus) > 0.0
    wrong = ((lead < rule.margin) | ((lead == rule.margin) & tie_counts)).any(axis=1)
    return np.asarray(wrong | (scheme.choose(scheme.decision(scores), plan.zero) != codes))
