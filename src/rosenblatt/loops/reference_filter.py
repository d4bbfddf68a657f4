"""The adaptive filter as a textbook writes it (S-41): what the compiled loop is tested against.

Plain Python on any numbers that add and multiply: floats, complex numbers, `fractions.Fraction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def adapt(
    far: Sequence[Any], mic: Sequence[Any], n_taps: int, mu: Any, eps: Any = 0, *, normalised: bool
) -> tuple[list[Any], list[Any]]:
    """Adapt from zero taps; return what is left of each microphone sample, and the taps.

    The taps are a linear neuron's weights, the last `n_taps` samples of the far end its input, newest first. What
    the neuron does not explain is the error, and the update is the perceptron's with the error in the label's
    place: w += μ e x̄, divided by ε + ‖x‖² if `normalised`.

    Examples
    --------
    >>> adapt([1, 0, 1], [2, 1, 3], 2, 1, normalised=False)
    ([2, 1, 1], [3, 1])
    """
    w = [0 * mu] * n_taps
    x = [0 * mu] * n_taps
    cleaned = []
    for newest, heard in zip(far, mic, strict=True):
        x = [newest, *x[:-1]]
        e = heard - sum(wk * xk for wk, xk in zip(w, x, strict=True))
        power = eps + sum((xk * xk.conjugate()).real for xk in x)
        step = (mu * e / power if power else 0 * mu) if normalised else mu * e
        w = [wk + step * xk.conjugate() for wk, xk in zip(w, x, strict=True)]
        cleaned.append(e)
    return cleaned, w
