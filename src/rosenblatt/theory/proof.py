"""The quantities of the mistake bound's proof, along a run (S-29)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np

from rosenblatt.exceptions import InputError, NotSeparableError, ParameterError
from rosenblatt.rationals.dyadic import exact
from rosenblatt.rationals.dyadic import above, root_above, root_below
from rosenblatt.theory.infimum import of_margin
from rosenblatt.theory.training_set import TrainingSet, norm_square
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class ProofQuantities:
    """What grows as fast as k, what only as fast as √k, and the angle between, after 0, 1, … updates.

    Everything is of weights (w, b/√β) and rows (x, √β), with w* of length 1.

    Attributes
    ----------
    k : ndarray of int
        The number of updates.
    inner, lower : ndarray
        <w_k, w*>, and what the proof says it is at least: <w₀, w*> + kηγ.
    squared_norm, upper : ndarray
        ‖w_k‖², and what it is at most: ‖w₀‖² + k(η²C² + 2ηm).
    cosine : ndarray
        cos(w_k, w*); not a number where w_k is zero.
    gamma, radius : float
        γ, the least y f of w* over all rows, rounded down, and C, rounded up.
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
    trace: Trace, X: Any, y: Any, w_star: Any = None, b_star: float = 0.0, *, margin: float = 0.0
) -> ProofQuantities:
    """Follow <w_k, w*>, ‖w_k‖² and cos(w_k, w*) along a recorded run, with the lines of the proof.

    With sample weights steps differ, and η stands for each of them: the lines hold all the same.

    Parameters
    ----------
    trace : Trace
        Of two classes, with its mistakes.
    X, y
        The training data of the run.
    w_star, b_star : array-like, float
        A hyperplane; by default the one of maximum margin among the padded rows.
    margin : float
        The margin m that the run took visits below for mistakes.

    Returns
    -------
    ProofQuantities
        Arrays of one more entry than there were mistakes.

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
        raise InputError("The proof is of one hyperplane, but this run told more than two classes apart.")
    if trace.penalty is not None:
        raise InputError("A penalty shrinks the weights between mistakes, which the proof does not know of.")
    trace.replay(X, y)  # says so if this is other data
    sample, beta = TrainingSet(X, y), exact(trace.bias)
    w, b = _hyperplane(sample, w_star, b_star, beta)
    norm = norm_square(w, b, beta)
    if not norm:
        raise ParameterError("w_star is zero, which is no hyperplane. Pass another, or None.")
    length = sqrt(above(norm))
    index, step = trace.index, trace.step
    sides = sample.y[index]
    start = np.asarray(trace.start.w, np.float64).reshape(-1)
    pad = float(beta)

    z, _ = sample.signed_scores(w, b)
    along = float(start[:-1] @ w) + (float(start[-1]) * b / pad if pad else 0.0)
    inner = _sums(along, step * z[index]) / length
    squares = _squares(sample, index, pad)
    begun = float(start[:-1] @ start[:-1]) + (float(start[-1]) ** 2 / pad if pad else 0.0)
    # w + s y x is longer by 2 s y f(x) + s²‖x‖², f(x) being the score on record.
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


def _hyperplane(sample: TrainingSet, w_star: Any, b_star: float, beta: Fraction) -> tuple[Floats, float]:
    if w_star is None:
        margin = sample.margin(beta)
        if margin is None:
            raise NotSeparableError(
                "No hyperplane separates the rows, so there is none to compare with. Pass w_star and b_star."
            )
        return of_margin(margin)
    w = np.asarray(w_star, np.float64).reshape(-1)
    if w.size != sample.d or not np.isfinite(w).all() or not abs(b_star) < inf:
        raise ParameterError(f"w_star must hold {sample.d} finite numbers, one for each feature, and b_star one.")
    if b_star and not beta:
        raise ParameterError(f"b_star={b_star!r} is not 0, but the run was without a bias. Leave it out.")
    return w, float(b_star)


def _squares(sample: TrainingSet, index: Ints, pad: float) -> Floats:
    from rosenblatt.margins.matrix import Matrix

    return np.asarray(Matrix(sample.batch, bias=False).squares()[index] + pad, np.float64)


def _sums(first: float, steps: Floats) -> Floats:
    """Return a number, and what it becomes step by step."""
    return np.cumsum(np.append(first, steps))
