"""The quantities in the proof of the mistake bound (Novikoff 1962), along a run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.certify.rationals import above, exact, root_above, root_below
from rosenblatt.exceptions import Given, InputError, NotSeparableError, ParameterError
from rosenblatt.learning.trace import Trace
from rosenblatt.margins.matrix import Matrix
from rosenblatt.theory.inseparable import of_margin
from rosenblatt.theory.training_set import TrainingSet, norm_square
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike


@dataclass(frozen=True, eq=False)
class ProofQuantities:
    """The two quantities of the proof, their bounds, and the angle between w_k and w*, after 0, 1, … updates.

    All are of weights (w, b/√β) and rows (x, √β), and w* has length 1.

    Attributes
    ----------
    k : ndarray of int
        The number of updates.
    inner, lower : ndarray
        <w_k, w*>, and its lower bound <w₀, w*> + kηγ.
    squared_norm, upper : ndarray
        ‖w_k‖², and its upper bound ‖w₀‖² + k(η²C² + 2ηm).
    cosine : ndarray
        cos(w_k, w*); NaN where w_k is zero.
    gamma, radius : float
        γ, the smallest y f of w* over all rows, rounded down, and C, rounded up.
    """

    k: Ints
    inner: Floats
    lower: Floats
    squared_norm: Floats
    upper: Floats
    cosine: Floats
    gamma: float
    radius: float


def proof_quantities(
    trace: Trace,
    X: MatrixLike,
    y: ColumnLike,
    w_star: ArrayLike | None = None,
    b_star: float = 0.0,
    *,
    margin: float = 0.0,
) -> ProofQuantities:
    """Compute <w_k, w*>, ‖w_k‖² and cos(w_k, w*) along a recorded run, with their bounds in the proof.

    With sample weights the steps differ; the bounds then use each step in the place of η.

    Parameters
    ----------
    trace : Trace
        The record of a run on two classes, with its mistakes.
    X, y
        The training data of the run.
    w_star, b_star : array-like, float
        A hyperplane; by default that of maximum margin for the padded rows.
    margin : float
        The margin m of the run: visits with y f ≤ m are mistakes.

    Returns
    -------
    ProofQuantities
        Arrays with one entry more than the run has mistakes.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> found = proof_quantities(clf.trace_, X, y)
    >>> found.inner.round(2)[:4], found.squared_norm[:4]
    (array([0.  , 0.33, 0.67, 1.  ]), array([0., 1., 1., 3.]))
    >>> bool((found.inner >= found.lower - 1e-12).all()), bool((found.squared_norm <= found.upper).all())
    (True, True)
    """
    if trace.scheme.kind != "binary":
        raise InputError("The proof is about one hyperplane, but this run has more than two classes.")
    if trace.penalty is not None:
        raise InputError("A penalty shrinks the weights between mistakes, which the proof does not allow.")
    trace.replay(X, y)  # raises an error if this is other data
    sample, beta = TrainingSet(X, y), exact(trace.bias)
    w, b = _hyperplane(sample, w_star, b_star, beta)
    norm = norm_square(w, b, beta)
    if not norm:
        raise ParameterError(
            "w_star is zero, so there is no hyperplane. Pass another vector, or None.", parameter="w_star"
        )
    length = sqrt(above(norm))
    index, step = trace.index, trace.step
    sides = sample.y[index]
    start = np.asarray(trace.start.spread().w, np.float64).reshape(-1)
    pad = float(beta)

    z, _ = sample.signed_scores(w, b)
    along = float(start[:-1] @ w) + (float(start[-1]) * b / pad if pad else 0.0)
    inner = _sums(along, step * z[index]) / length
    squares = Matrix(sample.batch, bias=False).squares[index] + pad
    begun = float(start[:-1] @ start[:-1]) + (float(start[-1]) ** 2 / pad if pad else 0.0)
    # ‖w + s y x‖² = ‖w‖² + 2 s y f(x) + s²‖x‖², where f(x) is the recorded score.
    squared = _sums(begun, 2.0 * step * sides * trace.score + step**2 * squares)
    least = sample.least(w, b)
    gamma = root_below(least**2 / norm) if least > 0 else -root_above(least**2 / norm)
    radius = root_above(sample.square + beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(squared > 0.0, inner / np.sqrt(np.maximum(squared, 0.0)), np.nan)
    return ProofQuantities(
        k=np.arange(len(step) + 1),
        inner=inner,
        lower=_sums(along / length, step * gamma),
        squared_norm=squared,
        upper=_sums(begun, step**2 * float(above(sample.square + beta)) + 2.0 * step * margin),
        cosine=cosine,
        gamma=gamma,
        radius=radius,
    )


def _hyperplane(
    sample: TrainingSet, w_star: ArrayLike | None, b_star: float, beta: Fraction
) -> tuple[Floats, float]:
    if w_star is None:
        margin = sample.margin(beta)
        if margin is None:
            raise NotSeparableError(
                "No hyperplane separates the rows, so there is none to compare with. Pass w_star and b_star."
            )
        return of_margin(margin)
    w = np.asarray(w_star, np.float64).reshape(-1)
    if w.size != sample.d or not np.isfinite(w).all() or not abs(b_star) < inf:
        raise ParameterError(
            f"w_star must hold {sample.d} finite numbers, one for each feature, and b_star one.",
            parameter="w_star",
        )
    if b_star and not beta:
        raise ParameterError(Given("b_star", b_star) + " is not 0, but the run was without a bias. Leave it out.")
    return w, float(b_star)


def _sums(first: float, steps: Floats) -> Floats:
    """Return the partial sums of a number and of steps."""
    return np.cumsum(np.append(first, steps))
