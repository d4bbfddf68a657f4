"""How a training went, in a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.cli.fitting import learns_from_blocks
from rosenblatt.cli.text import count, number, percent
from rosenblatt.escaping import printable
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from rosenblatt.blocks.memory import Blocks
    from rosenblatt.evaluation import Evaluation

__all__ = ["Margin", "Summary", "margin_of"]

SHOWN = 8  # passes whose mistakes are listed
LONG = 1e12  # numbers from here on are told by their size


@dataclass(frozen=True)
class Margin:
    """How far the rows are from the last hyperplane.

    Attributes
    ----------
    margin : float
        The least distance y f / ‖w‖.
    radius : float
        The largest norm of a row.
    bound : float or None
        Where a theorem speaks of the run: the mistakes that it allows, C² / γ² with the bias padded (S-26).
    """

    margin: float
    radius: float
    bound: float | None


def margin_of(estimator: Any, blocks: Blocks) -> Margin | None:
    """Measure the last hyperplane of a separated run on the rows it was trained on; None of any other run.

    A hyperplane that separates proves a bound by itself: whatever unit vector has margin γ on all rows, padded
    with what the bias learns by, allows at most C² / γ² mistakes to a run from zero.
    """
    from rosenblatt.loops.passes import largest_square
    from rosenblatt.model.linear import LinearModel

    if not learns_from_blocks(estimator) or not estimator.converged_ or len(blocks.classes) != 2:
        return None
    record = estimator.trace_
    scaling = blocks.scaling
    last = estimator._state.last()
    weights = last if scaling is None else scaling.unfold(last)
    model = LinearModel(weights, record.scheme, blocks.classes, record.zero)
    least, square = inf, 0.0
    for batch in blocks.walk(range(len(blocks.boundaries) - 1)):
        least = min(least, float((batch.signs * model.scores(batch)).min()))
        square = max(square, float(largest_square(batch.rows, batch.n_rows)))
    norm = float(np.linalg.norm(weights[:-1]))
    if not (least > 0.0 and norm > 0.0):
        return None
    return Margin(least / norm, square**0.5, _bound(estimator, weights, least, square))


def _bound(estimator: Any, weights: Floats, least: float, square: float) -> float | None:
    """Return C²‖w̃‖² / (min y f)²: a constant feature √β makes a weight of a bias that gains β by a step."""
    record = estimator.trace_
    plain = not record.start.w.any() and record.penalty is None and estimator.margin == 0.0
    if not plain or estimator.class_weight is not None or estimator.warm_start:
        return None
    beta = float(record.bias)
    norm = float(np.linalg.norm(weights[:-1]))
    padded = hypot(norm, float(weights[-1]) / beta**0.5) if beta else norm
    return (square + beta) * (padded / least) ** 2


@dataclass(frozen=True, eq=False)
class Summary:
    """What `train` says in the end."""

    learner: str
    estimator: Any
    blocks: Blocks
    margin: Margin | None
    trained_on: Evaluation | None
    held_out: Evaluation | None
    seconds: float

    def __str__(self) -> str:
        return "\n".join([self._data(), *self._training(), *self._margins(), *self._right()])

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        estimator, blocks = self.estimator, self.blocks
        counts = getattr(estimator, "mistakes_per_pass_", None)
        return {
            "learner": self.learner,
            "rows": blocks.n_rows,
            "features": blocks.n_features,
            "classes": dict(zip(map(str, blocks.classes.tolist()), blocks.counts.tolist(), strict=True)),
            "passes": getattr(estimator, "n_iter_", None),
            "mistakes_per_pass": None if counts is None else counts.tolist(),
            "stop_reason": getattr(estimator, "stop_reason_", None),
            "converged": getattr(estimator, "converged_", None),
            "margin": None if self.margin is None else self.margin.margin,
            "radius": None if self.margin is None else self.margin.radius,
            "bound": None if self.margin is None else self.margin.bound,
            "trained_on": None if self.trained_on is None else self.trained_on.to_json(),
            "held_out": None if self.held_out is None else self.held_out.to_json(),
            "seconds": round(self.seconds, 3),
        }

    def _data(self) -> str:
        blocks = self.blocks
        classes = [
            f"{printable(label)} {n:,}"
            for label, n in zip(blocks.classes.tolist(), blocks.counts.tolist(), strict=True)
        ]
        more = ", …" if len(classes) > SHOWN else ""
        return (
            f"{self.learner}: {count(blocks.n_rows, 'row')}, {count(blocks.n_features, 'feature')}, "
            f"{len(classes)} classes ({', '.join(classes[:SHOWN])}{more})"
        )

    def _training(self) -> list[str]:
        estimator = self.estimator
        reason, passes = getattr(estimator, "stop_reason_", None), getattr(estimator, "n_iter_", None)
        if reason is None or passes is None:
            return [f"trained in {self.seconds:.2f} s"]
        counts = getattr(estimator, "mistakes_per_pass_", None)
        took = f"{reason} after {count(int(np.max(passes)), 'pass', 'passes')}, {self.seconds:.2f} s"
        if counts is None or not len(counts):
            return [took]
        listed = [f"{each:,}" for each in counts.tolist()]
        if len(listed) > SHOWN:
            listed = [*listed[: SHOWN - 3], "…", *listed[-2:]]
        return [f"{took}; {count(int(counts.sum()), 'mistake')}: {', '.join(listed)}"]

    def _margins(self) -> list[str]:
        margin = self.margin
        if margin is None:
            return []
        scaled = " of the scaled rows" if self.blocks.scaling is not None else ""
        line = f"margin {number(margin.margin)}{scaled}, radius {number(margin.radius)}"
        if margin.bound is None:
            return [line]
        bound = f"{margin.bound:,.0f}" if margin.bound < LONG else number(margin.bound)
        return [f"{line}; with it theory allows {bound} mistakes"]

    def _right(self) -> list[str]:
        lines = []
        if self.trained_on is not None:
            lines.append(f"training rows: {percent(self.trained_on.accuracy)} right by the model saved")
        if self.held_out is not None:
            held = self.held_out
            f1 = "" if held.f1_positive is None else f", F1 of {printable(held.classes[1])} {held.f1_positive:.4f}"
            lines.append(f"held out: {percent(held.accuracy)} of {count(held.n_rows, 'row')} right{f1}")
        elif self._progressive is not None:
            lines.append(f"first pass: {percent(self._progressive)} right before they were learned from")
        return lines

    @property
    def _progressive(self) -> float | None:
        """The share of rows that were right when they were first met, which is an estimate for rows never met."""
        counts = getattr(self.estimator, "mistakes_per_pass_", None)
        visits = getattr(getattr(self.estimator, "trace_", None), "visits_per_pass", None)
        if counts is None or visits is None or not len(counts) or not visits[0] or len(self.blocks.classes) > 2:
            return None
        return 1.0 - float(counts[0]) / float(visits[0])
