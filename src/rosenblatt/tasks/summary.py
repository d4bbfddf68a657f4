"""How a training went: counts, reason of the end, margin with the bound it proves, and accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import ShowsText, count, number, percent, printable
from rosenblatt.evaluation import Evaluation, RegressionEvaluation
from rosenblatt.learning.linear import LinearModel
from rosenblatt.loops.compilation import Seconds
from rosenblatt.loops.passes import largest_square
from rosenblatt.registry import abilities
from rosenblatt.rows.pairs import PairEvaluation
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from rosenblatt.tables.blocks import Blocks

__all__ = ["LastMargin", "TrainingSummary", "margin_of"]

MAX_LISTED_ITEMS = 8
"""The number of classes, and of passes with their mistakes, that are listed."""
SCIENTIFIC_BOUND = 1e12
"""Bounds from here on are shown in scientific notation."""


ENDINGS = {
    "max_iter": "stopped by max_iter",
    "max_time": "stopped by max_time",
    "plateau": "stopped on a plateau",
    "validation": "stopped by validation",
    "tol": "stopped by tol",
    "margin": "every row reached the margin",
    "cycle": "stopped by a cycle (inseparable)",
}
"""Reasons to end that need more than their name."""


@dataclass(frozen=True)
class LastMargin:
    """The distance of the training rows from the last hyperplane of a run that separated them.

    Attributes
    ----------
    margin : float
        The least distance y f / ‖w‖.
    radius : float
        The largest norm of a row.
    bound : float or None
        The most mistakes that the run could make, C² / γ² (Novikoff 1962), with the bias as a constant feature;
        None if the theorem does not cover the run.
    scaled : bool
        Whether the rows were standardised.
    """

    margin: float
    radius: float
    bound: float | None
    scaled: bool

    def __str__(self) -> str:
        scaled = " (standardised rows)" if self.scaled else ""
        line = f"margin γ = {number(self.margin)}, radius R = {number(self.radius)}{scaled}"
        if self.bound is None:
            return line
        bound = f"{self.bound:,.0f}" if self.bound < SCIENTIFIC_BOUND else number(self.bound)
        return f"{line}; mistake bound (R/γ)², with the bias as a feature: {bound}"


def margin_of(estimator: Any, blocks: Blocks, *, scaled: bool = False) -> LastMargin | None:
    """Measure the last hyperplane of a run on its training rows; None unless it separated two classes.

    `scaled` says that the rows were standardised, and the weights left as they are.

    A hyperplane that separates the rows proves a bound on the mistakes: if a unit vector has margin γ on all rows,
    extended by a constant feature for the bias, a run from zero makes at most C² / γ² mistakes.
    """
    record = getattr(estimator, "trace_", None)  # trace=None keeps no record
    separated = (
        "blocks" in abilities(estimator) and getattr(estimator, "converged_", False) and len(blocks.classes) == 2
    )
    if not separated or record is None:
        return None
    state = estimator._state if blocks.scaling is None else estimator._state.spread()
    weights = state.last() if blocks.scaling is None else blocks.scaling.unfold(state.last())
    model = LinearModel(weights, record.scheme, blocks.classes, record.zero, state.met)
    least, square = inf, 0.0
    for batch in blocks.walk(range(blocks.n_blocks)):
        least = min(least, float((batch.signs * model.scores(batch)).min()))
        square = max(square, float(largest_square(batch.rows, batch.n_rows)))
    norm = float(np.linalg.norm(weights[:-1]))
    if not (least > 0.0 and norm > 0.0):
        return None
    bound = _bound(estimator, weights, least, square)
    return LastMargin(least / norm, square**0.5, bound, scaled or blocks.scaling is not None)


def _bound(estimator: Any, weights: Floats, least: float, square: float) -> float | None:
    """Return C²‖w̃‖² / (min y f)², with a bias that grows by β as the weight of a constant feature √β."""
    record = estimator.trace_
    plain = (
        not record.start.w.any()
        and not record.start.moves_more
        and record.penalty is None
        and estimator.margin == 0.0
    )
    if not plain or estimator.class_weight is not None or estimator.warm_start:
        return None
    beta = float(record.bias)
    norm = float(np.linalg.norm(weights[:-1]))
    padded = hypot(norm, float(weights[-1]) / beta**0.5) if beta else norm
    return (square + beta) * (padded / least) ** 2


@dataclass(frozen=True, eq=False)
class TrainingSummary(ShowsText):
    """How a training went; ``print`` shows it in a few lines, and `details` adds the margin and its mistake bound.

    Attributes
    ----------
    learner : str
        The name of the learner.
    n_rows, n_features : int
        The size of the training data.
    target : str or None
        The column of labels, if they come from a table.
    classes, counts : ndarray
        The labels, and the number of rows of each; of a regression, the different numbers.
    n_passes, stop_reason, converged
        How many passes there were, why they ended, and whether the last one made no mistake; None for a learner
        that does not say.
    mistakes_per_pass : ndarray or None
        The mistakes of each pass, where the learner counts them.
    updates_per_pass : ndarray or None
        The updates of each pass, where the learner counts them apart: its rule also moves rows that are right, but
        not by the margin.
    first_pass : float or None
        The share of rows that were predicted right in the first pass, before they were learned from: an estimate
        of the accuracy on new rows. None for more than two classes, and where rows that are right by less than the
        margin count as mistakes.
    margin : LastMargin or None
        The margin of the last hyperplane, if it separates two classes.
    trained_on, held_out : Evaluation, RegressionEvaluation, PairEvaluation or None
        The model on its training rows, if they are in memory, and on the rows held out, if there are any.
    seconds, compile_seconds : float
        The time that training took, without reading and compiling, and the time that compiling loops for it took,
        which is 0 if the cache had them.
    separated_by : tuple of str or None
        What separates the rows after an end by "separated", and what predicts, if these are two things: the last
        weights and their average, for one.
    """

    learner: str
    n_rows: int
    n_features: int
    classes: NDArray[Any]
    counts: Ints
    n_passes: int | None
    stop_reason: str | None
    converged: bool | None
    mistakes_per_pass: Ints | None
    first_pass: float | None
    margin: LastMargin | None
    trained_on: Evaluation | RegressionEvaluation | PairEvaluation | None
    held_out: Evaluation | RegressionEvaluation | PairEvaluation | None
    seconds: float
    compile_seconds: float
    separated_by: tuple[str, str] | None = None
    target: str | None = None
    updates_per_pass: Ints | None = None

    @classmethod
    def of(
        cls,
        learner: str,
        estimator: Any,
        blocks: Blocks,
        margin: LastMargin | None,
        *,
        trained_on: Evaluation | RegressionEvaluation | PairEvaluation | None,
        held_out: Evaluation | RegressionEvaluation | PairEvaluation | None,
        seconds: Seconds,
        target: str | None = None,
    ) -> TrainingSummary:
        """Return the summary of a trained estimator and of the blocks it was trained on."""
        passes = getattr(estimator, "n_iter_", None)
        mistakes: Ints | None = getattr(estimator, "mistakes_per_pass_", None)
        counted = getattr(estimator, "updates_per_pass_", None)
        updates = None if counted is None else np.asarray(counted, np.int64)
        record = getattr(estimator, "trace_", None)
        first = None
        if (
            (updates is not None or not np.any(getattr(estimator, "margin", 0.0)))
            and record is not None
            and mistakes is not None
            and len(mistakes)
            and record.visits_per_pass[0]
            and len(blocks.classes) <= 2
        ):
            first = 1.0 - float(mistakes[0]) / float(record.visits_per_pass[0])
        return cls(
            learner=learner,
            n_rows=blocks.n_rows,
            n_features=blocks.n_features,
            classes=blocks.classes,
            counts=blocks.counts,
            n_passes=None if passes is None else int(np.max(passes)),
            stop_reason=getattr(estimator, "stop_reason_", None),
            converged=getattr(estimator, "converged_", None),
            mistakes_per_pass=mistakes,
            first_pass=first,
            margin=margin,
            trained_on=trained_on,
            held_out=held_out,
            seconds=seconds.own,
            compile_seconds=seconds.compiling,
            separated_by=getattr(estimator, "_separated_by", None),
            target=target,
            updates_per_pass=updates,
        )

    def __str__(self) -> str:
        return "\n".join([self._data(), self._training(), *self._accuracies()])

    def _html_parts(self) -> tuple[object, ...]:
        parts: list[object] = [self._training(), *self._accuracies()]
        if self.margin is not None:
            parts += str(self.margin).splitlines()
        if self.held_out is not None:
            _, *held_out = self.held_out._html_parts()
            parts += ["held-out rows:", *held_out]
        return self._data(), *parts

    def details(self) -> str:
        """Return the lines of ``print`` and the margin with its mistake bound, if the classes were separated."""
        return str(self) if self.margin is None else f"{self}\n{self.margin}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        margin = self.margin
        return {
            "learner": self.learner,
            "rows": self.n_rows,
            "features": self.n_features,
            "target": self.target,
            "classes": None
            if isinstance(self.trained_on, RegressionEvaluation | PairEvaluation)
            else dict(zip(map(str, self.classes.tolist()), self.counts.tolist(), strict=True)),
            "passes": self.n_passes,
            "mistakes_per_pass": None if self.mistakes_per_pass is None else self.mistakes_per_pass.tolist(),
            "updates_per_pass": None if self.updates_per_pass is None else self.updates_per_pass.tolist(),
            "stop_reason": self.stop_reason,
            "converged": self.converged,
            "margin": None if margin is None else margin.margin,
            "radius": None if margin is None else margin.radius,
            "bound": None if margin is None else margin.bound,
            "trained_on": None if self.trained_on is None else self.trained_on.to_json(),
            "held_out": None if self.held_out is None else self.held_out.to_json(),
            "seconds": round(self.seconds, 3),
            "compile_seconds": round(self.compile_seconds, 3),
        }

    def _data(self) -> str:
        size = f"{self.learner}: {count(self.n_rows, 'row')}, {count(self.n_features, 'feature')}"
        target = "" if self.target is None else f" {self.target!r}"
        if isinstance(self.trained_on, RegressionEvaluation | PairEvaluation):
            least, most = float(self.classes.min()), float(self.classes.max())
            return f"{size}, target{target} from {least:g} to {most:g}"
        classes = [
            f"{printable(label)} {n:,}"
            for label, n in zip(self.classes.tolist(), self.counts.tolist(), strict=True)
        ]
        more = ", …" if len(classes) > MAX_LISTED_ITEMS else ""
        size += f", target{target}" if target else ""
        return f"{size}, {len(classes)} classes ({', '.join(classes[:MAX_LISTED_ITEMS])}{more})"

    def _training(self) -> str:
        took = Seconds(self.seconds, self.compile_seconds)
        if self.stop_reason is None or self.n_passes is None:
            return f"trained in {took}"
        how = ENDINGS.get(self.stop_reason, self.stop_reason)
        if self._apart is not None:
            how = f"{how} by {self._apart[0]}"
        end = f"{how} after {count(self.n_passes, 'pass', 'passes')}, {took}"
        if self.mistakes_per_pass is None or not len(self.mistakes_per_pass):
            return end
        listed = [f"{each:,}" for each in self.mistakes_per_pass.tolist()]
        if len(listed) > MAX_LISTED_ITEMS:
            listed = [*listed[: MAX_LISTED_ITEMS - 3], "…", *listed[-2:]]
        mistakes = count(int(self.mistakes_per_pass.sum()), "mistake")
        if self.updates_per_pass is not None:
            mistakes = f"{count(int(self.updates_per_pass.sum()), 'update')}, {mistakes}"
        return f"{end}; {mistakes}: {', '.join(listed)}"

    @property
    def _apart(self) -> tuple[str, str] | None:
        """What separates the rows, and what predicts, if it is known that this is wrong on some of them."""
        trained = self.trained_on
        wrong = isinstance(trained, Evaluation) and trained.n_right < trained.n_rows
        return self.separated_by if self.stop_reason in ("separated", "margin") and wrong else None

    def _accuracies(self) -> list[str]:
        lines = []
        if self.trained_on is not None:
            by = "" if self._apart is None else f" by {self._apart[1]}"
            lines.append(f"training {_measure(self.trained_on)}{by} ({_baseline(self.trained_on)})")
        if self.held_out is not None:
            held, f1 = self.held_out, ""
            if isinstance(held, Evaluation) and held.f1_positive is not None:
                f1 = f", F1 of {printable(held.classes[1])} {held.f1_positive:.4f}"
            rows = count(held.n_rows, "held-out row")
            lines.append(f"{_measure(held)} on {rows}{f1} ({_baseline(held)})")
        elif self.first_pass is not None:
            lines.append(
                f"progressive accuracy {percent(self.first_pass)} (each row predicted before it was learned)"
            )
        return lines


def _measure(found: Evaluation | RegressionEvaluation | PairEvaluation) -> str:
    if isinstance(found, RegressionEvaluation):
        return f"MSE {found.mse:g}"
    if isinstance(found, PairEvaluation):
        return f"pairs in order {percent(found.share)}"
    return f"accuracy {percent(found.accuracy)}"


def _baseline(found: Evaluation | RegressionEvaluation | PairEvaluation) -> str:
    """Return what a constant prediction reaches on the same rows."""
    if isinstance(found, RegressionEvaluation):
        return f"always the mean: {found.variance:g}"
    if isinstance(found, PairEvaluation):
        return "by chance: half"
    return f"always the majority class: {percent(found.majority)}"
