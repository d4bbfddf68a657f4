"""The boundary of a model in the plane, and its strongest features by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.loops.layout import CSR
from rosenblatt.reports.pictures import picture
from rosenblatt.reports.subject import PLANE, Subject
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from markupsafe import Markup

STRONGEST = 20
"""Features shown for one hyperplane."""
OF_CLASS = 8
"""Features shown for each of several classes."""
CLASSES = 6
"""Up to so many classes are shown with bars; of more, the strongest features are listed."""
MOST_CLASSES = 60
"""The most classes that are listed."""


@dataclass(frozen=True)
class Weight:
    """A feature, its weight, and its effect: how far one standard deviation moves the score."""

    name: str
    weight: float
    effect: float
    share: float

    @property
    def towards(self) -> str:
        """The sign of the effect in words."""
        return "for" if self.effect > 0 else "against"


@dataclass(frozen=True)
class Looks:
    """The section about the weights."""

    boundary: Markup | None  # a picture of the plane, if there are two features
    # for each class with bars: its label, its strongest features and its bias
    groups: list[tuple[str, list[Weight], float]]
    listed: list[tuple[str, list[Weight]]]  # the same without bias for the classes that are listed
    left_out: int  # the number of other classes
    spread: bool  # whether features are ordered by their effect, or by their weight alone
    n_weights: int
    missing: str  # why there is nothing


def looks_of(subject: Subject) -> Looks:
    """Return the section about the weights of a model."""
    boundary = _boundary(subject)
    planes = subject.hyperplanes
    if planes is None:
        missing = "" if boundary is not None else f"{subject.kind} has no weights in the features given."
        return Looks(boundary, [], [], 0, False, 0, missing)
    W, b = planes
    used = np.flatnonzero(W.any(axis=0))  # few of the features, where words are hashed
    W, spreads = W[:, used], _spreads(subject)
    spread = bool(np.isfinite(spreads).all() and (spreads[used] * np.abs(W).max(axis=0)).any())
    moved = W * spreads[used] if spread else W
    labels = subject.labels[-1:] if len(W) == 1 else subject.labels
    top = STRONGEST if len(W) == 1 else OF_CLASS
    tops = [_strongest(subject, used, W[c], moved[c], top) for c in range(len(W))]
    shown = len(W) if len(W) <= CLASSES else 0  # many classes are all listed
    groups = [(labels[c], tops[c], float(b[c])) for c in range(shown)]
    listed = [(labels[c], tops[c]) for c in range(shown, min(len(W), MOST_CLASSES))]
    left_out = max(0, len(W) - MOST_CLASSES)
    return Looks(boundary, groups, listed, left_out, spread, len(used), "")


def _strongest(subject: Subject, used: Ints, w: Floats, moved: Floats, top: int) -> list[Weight]:
    order = np.lexsort((np.arange(len(w)), -np.abs(moved)))[:top]
    largest = float(np.abs(moved).max(initial=0.0)) or 1.0
    found = [
        Weight(subject.feature(int(used[j])), float(w[j]), float(moved[j]), abs(float(moved[j])) / largest)
        for j in order.tolist()
        if moved[j]
    ]
    return sorted(found, key=lambda each: -each.effect)


def _spreads(subject: Subject) -> Floats:
    """Return the standard deviation of each feature."""
    rows, n = subject.batch.rows, subject.batch.n_rows
    with np.errstate(over="ignore", invalid="ignore"):
        if not isinstance(rows, CSR):
            return np.asarray(rows.std(axis=0, dtype=np.float64))
        d = subject.batch.n_features
        values, columns = rows.data.astype(np.float64), rows.indices.astype(np.int64)
        mean = np.bincount(columns, values, d) / n
        # Each zero that is not stored is as far from the mean as the mean is from 0.
        stored = np.bincount(columns, minlength=d)
        square = np.bincount(columns, (values - mean[columns]) ** 2, d) + (n - stored) * mean**2
        return np.asarray(np.sqrt(square / n))


def _boundary(subject: Subject) -> Markup | None:
    from rosenblatt.plot import boundary, regions, style

    if subject.batch.n_features != PLANE or subject.pairwise:
        return None
    a, b = style.plane_names(subject.named)
    planes = subject.hyperplanes
    one = planes is not None and len(planes[0]) == 1 and len(subject.batch.classes) == PLANE
    draw = boundary if one else regions
    return picture(
        lambda ax: draw(subject.model, subject.X, subject.y, ax=ax, feature_names=(a, b)),
        (7.2, 4.2),
        "boundary",
        "The rows, and the class predicted at every place of the plane",
    )
