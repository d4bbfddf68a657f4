"""Whether two hulls meet: a separating hyperplane says no, a common point yes, and floats may find neither."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from rosenblatt.data.features import as_rows
from rosenblatt.exceptions import NotSeparableError
from rosenblatt.loops.losses import Hinge
from rosenblatt.margins.hulls import Hulls
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Objective
from rosenblatt.margins.quadratic import normalised
from rosenblatt.typing import Floats, Ints

MEETING = 1e-12  # hulls whose distance is at most this share of the data's radius count as meeting
STEPS = 100
LISTED = 12  # rows that an error names


class Unfinished(NotSeparableError):  # noqa: N818 - callers need not tell it from a NotSeparableError
    """The search reached its limit before it separated every row."""


def separating(X: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Return a normal vector that separates the rows, if minimising the hinge loss without a penalty finds one."""
    matrix = Matrix(as_rows(X), bias=bias)
    problem = Objective(matrix, y, np.full(y.size, 1.0 / y.size), Hinge(), bias="free" if bias else None)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for iterate in interior(problem, np.zeros(matrix.width)):
            if iterate.t is not None and (iterate.t < 0.5).all():  # y f > ½ everywhere: well away from zero
                return iterate.theta[: X.shape[1]]
            if iterate.made >= STEPS:
                break
    return None


def common_point(X: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Return weights, summing to 1 in each class, of two hull points as near each other as possible.

    Each class has at most one more row with weight than there are dimensions. Without a bias the weights are of
    one point, near the origin. None if there are no such weights.
    """
    scale = max(float(np.sqrt((X * X).sum(axis=1).max())), np.finfo(float).tiny)
    Z = (y[:, None] * X / scale).T
    sums = np.stack([y > 0.0, y < 0.0]) if bias else np.ones((1, y.size))
    lam, _ = nnls(np.vstack([Z, sums]), np.append(np.zeros(len(Z)), np.ones(len(sums))), maxiter=30 * y.size)
    return normalised(lam, y, bias=bias)


def why_not(hulls: Hulls, rows: Ints, names: Ints, near: float = MEETING) -> NotSeparableError:
    """Return the error for rows that no hyperplane was found to separate; `names` are the row numbers it shows.

    Hulls whose distance is at most `near` times the radius count as meeting.
    """
    lam = common_point(hulls.place(rows).rows, hulls.y[rows], bias=hulls.bias)
    radius = hulls.radius or 1.0
    distance = np.inf if lam is None else hulls.distance(rows, lam) / radius
    if lam is None or not distance <= near:  # a distance that is not a number proves nothing
        return undecided(distance)
    held = names[rows[lam > 0.0]]
    shown = ", ".join(map(str, held[:LISTED])) + (f" and {len(held) - LISTED} more" if len(held) > LISTED else "")
    which, what = "hyperplane", "the convex hulls of the two classes meet"
    if not hulls.bias:
        which, what = "hyperplane through the origin", "the hull of the rows y·x holds the origin"
    return NotSeparableError(
        f"No {which} separates the classes: {what}, in a combination of rows {shown} (to {distance:.1g} of the "
        "radius of the data). Use SoftMarginClassifier, which allows for rows on the wrong side."
    )


def undecided(distance: float) -> NotSeparableError:
    """Return the error for classes so near each other that floats cannot decide whether they touch."""
    return NotSeparableError(
        "Floats cannot decide whether the classes are separable: their hulls come within "
        f"{distance:.1g} of the radius of the data, and no hyperplane separates them by more than rounding. "
        "Scale the features, or use SoftMarginClassifier."
    )
