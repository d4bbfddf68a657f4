"""How training went: its end in words, its curve, and its mistakes against every bound."""

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
"""Passes whose mistakes are listed, besides the picture."""

ENDINGS = {
    "separated": "A whole pass went by without a mistake.",
    "plateau": "Training ended because it had stopped getting better.",
    "tol": "Training ended when it was as near its goal as tol asks.",
    "max_iter": "Training ended at its limit of passes, max_iter, not because it was done.",
    "max_time": "Training ended because its time was over, not because it was done.",
    "validation": "Training ended when the error on held-out rows had stopped falling.",
    "cycle": "Training went in a cycle: the weights came back to what they had been, so no hyperplane separates "
    "the rows.",
    "interrupted": "Training was interrupted.",
    "stalled": "Training ended where floats allow no better.",
    "no_minimum": "The loss of these data falls for ever, so there is no best model.",
}


@dataclass(frozen=True)
class Training:
    """What is told of training.

    Attributes
    ----------
    ending : str
        How it ended; empty where nothing is known of it.
    facts : list of (str, str)
        Numbers, by name.
    curve : Markup or None
        The learning curve; `no_curve` says why there is none.
    bounds : Bounds or None
        The mistakes against every bound; `no_bounds` says why there are none.
    picture : Markup or None
        The same as a picture.
    """

    ending: str
    facts: list[tuple[str, str]]
    curve: Markup | None = None
    no_curve: str = ""
    bounds: Bounds | None = None
    no_bounds: str = ""
    picture: Markup | None = None

    @property
    def applying(self) -> list[Bound]:
        """The bounds that apply to the run."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if each.applies]

    @property
    def others(self) -> list[Bound]:
        """Those that do not."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if not each.applies]


def training_of(subject: Subject, clock: Clock) -> Training:
    """Find out what can be told of the training of a model."""
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
    gap = getattr(model, "gap_", None)
    known = [
        ("passes", getattr(model, "n_iter_", None)),
        ("mistakes in training", getattr(model, "n_mistakes_", None)),
        ("visits to rows", getattr(model, "t_", None)),
        ("hypotheses that vote", getattr(model, "n_hypotheses_", None)),
        ("errors of the hypothesis in the pocket", getattr(model, "pocket_errors_", None)),
        ("rows kept by the kernel", _length(getattr(model, "support_", None))),
        ("margin γ", getattr(model, "margin_", None)),
        ("objective", getattr(model, "objective_", None)),
        ("relative gap to the widest" if hasattr(model, "margin_") else "gap to the least, at most", gap),
        ("last loss", getattr(model, "loss_", None)),
    ]
    facts = [(name, _number(value)) for name, value in known if value is not None]
    counts = getattr(model, "mistakes_per_pass_", None)
    if counts is not None and 1 < len(counts) <= LISTED:
        facts.append(("mistakes of each pass", ", ".join(f"{count:,}" for count in counts.tolist())))
    elif counts is not None and len(counts) > LISTED:
        last, least = int(counts[-1]), int(counts.min())
        first_least = int(np.argmin(counts)) + 1
        facts.append(("mistakes of the last pass", f"{last:,}"))
        facts.append(("fewest mistakes of a pass", f"{least:,}, in pass {first_least:,}"))
    return facts


def _length(rows: Any) -> int | None:
    return None if rows is None else len(rows)


def _number(value: Any) -> str:
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
    held = "" if curve.validation is None else ", and on held-out rows"
    described = f"Share of mistakes in each of {len(curve.passes)} passes{held}"
    return picture(lambda ax: learning_curve(curve, ax=ax), (6.4, 3.2), "curve", described), ""


def _bounds(subject: Subject, clock: Clock) -> tuple[Bounds | None, str]:
    from rosenblatt.theory.bounds import bounds

    if getattr(subject.model, "mistakes_per_pass_", None) is None:
        return None, f"The bounds are on mistakes made in training; {subject.kind} does not learn by mistakes."
    if hasattr(subject.model, "kernel"):
        return None, "The bounds are of hyperplanes in the features given, not in the space of a kernel."
    if subject.hyperplanes is None and not hasattr(subject.model, "n_hypotheses_"):
        return None, f"The bounds are of hyperplanes in the features given; {subject.kind} has none there."
    if not hasattr(subject.model, "trace_"):
        return None, "The model has no record of its run, so that its mistakes cannot be set against the bounds."
    if len(subject.batch.classes) != 2:
        return None, f"The bounds are of two classes; this model has {len(subject.batch.classes)}."
    if subject.dear:
        return None, f"The bounds need margins. {subject.dear}"
    if subject.of_training is False:
        return None, "The bounds are of the rows a model was trained on, and these are others."
    try:
        left = None if clock.left is None else max(clock.left, 0.0)
        return bounds(subject.X, subject.y, model=subject.model, time_limit=left), ""
    except UndecidedError as error:
        return None, str(error)
    except InputError as error:  # another record than of these rows, or none that bounds are of
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
