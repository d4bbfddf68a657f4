"""What tests of learning share: small exact problems, the textbook's answer to them, and quiet training."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import ScaleWarning
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Rule, tie_shares

DYADIC = (0.25, 0.5, 1.0, 2.0, 3.0)


class Problem(NamedTuple):
    """Rows of small integers, and labels −1 and +1, both of which occur."""

    X: np.ndarray
    y: np.ndarray


@st.composite
def problems(draw: Any, most_rows: int = 8, most_features: int = 3, largest: int = 3) -> Problem:
    """Draw a problem small enough that ties, repeated rows and contradictions are common."""
    n = draw(st.integers(2, most_rows))
    d = draw(st.integers(1, most_features))
    values = st.integers(-largest, largest)
    X = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(lambda y: len(set(y)) == 2))
    return Problem(np.array(X, float), np.array(y))


class RaisesAfter:
    """A callback that raises at the end of a pass: KeyboardInterrupt is Ctrl-C."""

    def __init__(self, epoch: int, error: type[BaseException]) -> None:
        self.epoch, self.error = epoch, error

    def __call__(self, report: Any) -> None:
        if report.epoch == self.epoch:
            raise self.error


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call, without the warnings that training did not succeed and that columns differ in scale."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        return function(*args, **kwargs)


def trained(X: Any, y: Any, *, fit: Any = None, **parameters: Any) -> rb.Perceptron:
    """Return a perceptron trained on X and y; `fit` are arguments of `fit` itself."""
    return quietly(rb.Perceptron(**parameters).fit, X, y, **(fit or {}))


def bits(model: Any) -> tuple[bytes, bytes, int]:
    """Return the hypothesis of an estimator and its visits, bit for bit."""
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.t_


def full_state(model: Any) -> bytes:
    """Return all that an estimator is."""
    return pickle.dumps(model.__dict__)


def noisy(
    n: int, d: int, *, seed: int = 0, dtype: Any = float, flip: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Return floats with labels that a plane gives them, some of them flipped: not separable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.random(n) < flip] *= -1
    y[:2] = 1, -1
    return X, y


def separable(n: int, d: int, *, seed: int = 0, gap: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return floats on both sides of a plane, none close to it."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    X = rng.standard_normal((20 * n, d))
    f = X @ w / np.linalg.norm(w)
    far = np.flatnonzero(np.abs(f) > gap)[:n]
    return X[far], np.where(f[far] > 0, 1, -1)


def exact(values: Any) -> list[Any]:
    """Return numbers as fractions, nested as they are."""
    return [exact(each) if np.ndim(each) else Fraction(float(each)) for each in values]


def exact_rule(
    *, eta: float = 1, beta: float = 1, margin: float = 0, tie: str = "mistake", zero: int = -1
) -> Rule:
    """Return a rule of fractions."""
    return Rule(*map(Fraction, (eta, beta, margin, *tie_shares(tie, zero))))


class Textbook(NamedTuple):
    """The reference's answer: passes made, and what they left."""

    passes: int
    result: reference.TrainedBinary
    visits: int
    settled: bool

    @property
    def padded(self) -> np.ndarray:
        """The last weights, bias last."""
        return np.array([*self.result.w, self.result.b], float)

    @property
    def averaged(self) -> np.ndarray:
        """The average, rounded as the deferred sum rounds it: its own terms are exact."""
        average = [*self.result.average_w, self.result.average_b]
        last = [*self.result.w, self.result.b]
        u = [(w - a) * self.visits for w, a in zip(last, average, strict=True)]
        return np.array(last, float) - np.array(u, float) / self.visits


def textbook(
    problem: Problem,
    passes: list[list[int]],
    rule: Rule,
    *,
    zero: int = -1,
    w: Any = None,
    b: Any = 0,
    weight: Any = None,
) -> Textbook:
    """Run the reference on fractions, pass by pass, until a pass without a mistake that settles it.

    It does if every row that counts is right by then, or if it was a visit to each.
    """
    X, y = exact(problem.X), [int(label) for label in problem.y]
    weight = [Fraction(1)] * len(y) if weight is None else exact(weight)
    w = [Fraction(0)] * len(X[0]) if w is None else exact(w)
    counts = {i for i in range(len(y)) if weight[i] > 0}
    settled = False
    visits: list[int] = []
    mistakes = 0
    made = 0
    for order in passes:
        made += 1
        visits += [int(i) for i in order]
        result = reference.train(X, y, visits, rule, w, Fraction(b), weight)
        new, mistakes = len(result.mistakes) - mistakes, len(result.mistakes)
        if new == 0 and (_all_right(X, y, counts, result, rule, zero) or counts <= {int(i) for i in order}):
            settled = True
            break
    return Textbook(made, result, len(visits), settled)


def _all_right(X: Any, y: Any, counts: Any, result: Any, rule: Rule, zero: int) -> bool:
    for i in counts:
        f = sum(w * x for w, x in zip(result.w, X[i], strict=True)) + result.b
        side = 1 if f > 0 or (f == 0 and zero > 0) else -1
        if side != y[i] or reference.share_of_step(rule, y[i], f) > 0:
            return False
    return True
