"""Training: how it ended, its learning curve, and its mistakes against every bound."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import InputError, UndecidedError
from rosenblatt.reports.pictures import picture
from rosenblatt.reports.subject import Subject

if TYPE_CHECKING:
    from markupsafe import Markup

    from rosenblatt.certify.time_limit import Clock
    from rosenblatt.theory.bound import Bound, Bounds

LISTED = 12
"""Up to so many passes their mistakes are listed."""

ENDINGS = {
    "separated": "A whole pass went by without a mistake.",
    "margin": "A whole pass went by without an update: every row reached the margin.",
    "inseparable": "Training ended because no hyperplane separates the rows, which is proved.",
    "plateau": "Training ended because it stopped improving.",
    "tol": "Training ended when tol was reached.",
    "max_iter": "Training ended at its limit of passes, max_iter, before it was done.",
    "max_time": "Training ended at its time limit, max_time, before it was done.",
    "validation": "Training ended when the error on validation rows stopped falling.",
    "cycle": "Training went in a cycle: the weights repeated, so no hyperplane separates the rows.",
    "interrupted": "Training was interrupted.",
    "stalled": "Training ended where floats allow no further progress.",
    "no_minimum": "The loss on these data has no minimum, so there is no best model.",
}


@dataclass(frozen=True)
class Training:
    """The section about training."""

    ending: str  # how it ended; empty if that is not known
    facts: list[tuple[str, str]]  # numbers by name
    curve: Markup | None = None  # the learning curve; `no_curve` says why there is none
    no_curve: str = ""
    bounds: Bounds | None = None  # the mistakes against every bound; `no_bounds` says why there are none
    no_bounds: str = ""
    picture: Markup | None = None  # the bounds as a picture

    @property
    def applying(self) -> list[Bound]:
        """The bounds that apply to the run."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if each.applies]

    @property
    def others(self) -> list[Bound]:
        """The bounds that do not."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if not each.applies]


def training_of(subject: Subject, clock: Clock) -> Training:
    """Return the section about the training of a model."""
    curve, no_curve = _curve(subject)
    found, no_bounds = _bounds(subject, clock)
    drawn = None if found is None else _bounds_picture(subject, found)
    return Training(ending(subject.model), _facts(subject.model), curve, no_curve, found, no_bounds, drawn)


def ending(model: Any) -> str:
    """Return how training ended, in a sentence.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> ending(rb.Perceptron().fit(*rb.datasets.load_or()))
    'A whole pass went by without a mistake.'
    """
    reason = getattr(model, "stop_reason_", None)
    if reason is not None:
        return ENDINGS.get(reason, f"Training ended by {reason!r}.")
    if hasattr(model, "margin_"):
        return "This is the widest of all hyperplanes that separate the training rows."
    visits = getattr(model, "t_", None)
    return "" if visits is None else f"It learned from a stream, one visit to each of {visits:,} rows."


def _facts(model: Any) -> list[tuple[str, str]]:
    known = {
        "n_iter_": "passes",
        "n_mistakes_": "mistakes in training",
        "t_": "visits to rows",
        "n_hypotheses_": "hypotheses that vote",
        "pocket_errors_": "errors of the hypothesis in the pocket",
        "support_": "rows kept by the kernel",
        "margin_": "margin γ",
        "objective_": "objective",
        "gap_": "relative gap to the widest" if hasattr(model, "margin_") else "gap to the least, at most",
        "loss_": "last loss",
    }
    values = [(name, getattr(model, attribute, None)) for attribute, name in known.items()]
    facts = [(name, _number(value)) for name, value in values if value is not None]
    counts = getattr(model, "mistakes_per_pass_", None)
    if counts is not None and 1 < len(counts) <= LISTED:
        facts.append(("mistakes of each pass", ", ".join(f"{count:,}" for count in counts.tolist())))
    elif counts is not None and len(counts) > LISTED:
        last, least = int(counts[-1]), int(counts.min())
        first_least = int(np.argmin(counts)) + 1
        facts.append(("mistakes of the last pass", f"{last:,}"))
        facts.append(("fewest mistakes of a pass", f"{least:,}, in pass {first_least:,}"))
    return facts


def _number(value: Any) -> str:
    value = len(value) if np.ndim(value) else value
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{float(value):.6g}"


def _curve(subject: Subject) -> tuple[Markup | None, str]:
    from rosenblatt.plot import learning_curve

    curve = getattr(subject.model, "curve_", None)
    if curve is None:
        counts = getattr(subject.model, "mistakes_per_pass_", None)
        if counts is None or not len(counts):
            return None, f"{subject.kind} is not trained in passes, so it has no learning curve."
        visits = getattr(subject.model, "t_", 0)
        if len(counts) < 2 or not visits:
            return None, "One pass was made, so there is no curve to draw."
        rate = counts / (visits / len(counts))
        curve = SimpleNamespace(passes=np.arange(1, len(counts) + 1), training=rate, validation=None, best=None)
    if len(curve.passes) < 2:
        return None, "One pass was made, so there is no curve to draw."
    held = "" if curve.validation is None else ", and on validation rows"
    described = f"Share of mistakes in each of {len(curve.passes)} passes{held}"
    return picture(lambda ax: learning_curve(curve, ax=ax), (6.4, 3.2), "curve", described), ""


def _bounds(subject: Subject, clock: Clock) -> tuple[Bounds | None, str]:
    from rosenblatt.theory.bounds import bounds

    if getattr(subject.model, "mistakes_per_pass_", None) is None:
        return None, f"The bounds are on mistakes made in training; {subject.kind} does not learn by mistakes."
    if hasattr(subject.model, "kernel"):
        return None, "The bounds are for hyperplanes in the features given, not in the space of a kernel."
    if subject.hyperplanes is None and not hasattr(subject.model, "n_hypotheses_"):
        return None, f"The bounds are for hyperplanes in the features given; {subject.kind} has none there."
    if not hasattr(subject.model, "trace_"):
        return None, "The model has no trace of its run, so its mistakes cannot be compared with the bounds."
    if len(subject.batch.classes) != 2:
        return None, f"The bounds are for two classes; this model has {len(subject.batch.classes)}."
    if subject.dear:
        return None, f"The bounds need margins. {subject.dear}"
    if subject.of_training is False:
        return None, "The bounds are for the training rows of a model, and these are other rows."
    try:
        left = None if clock.left is None else max(clock.left, 0.0)
        return bounds(subject.X, subject.y, model=subject.model, time_limit=left), ""
    except (UndecidedError, InputError) as error:  # such as the trace of other rows
        return None, str(error)


def _bounds_picture(subject: Subject, found: Bounds) -> Markup | None:
    from rosenblatt.plot import bounds as draw

    shown = [each for each in found.values() if each.limits == "mistakes" and each.observed]
    if not any(each.applies and each.value < inf for each in shown):
        return None
    return picture(
        lambda ax: draw(subject.model, subject.X, subject.y, ax=ax, found=found),
        (6.8, 3.4),
        "bounds",
        "Mistakes of the run below the bounds that apply to it",
    )
