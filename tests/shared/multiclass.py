"""What tests of several classes share: small exact problems, and the textbook's answer to them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from rosenblatt.learning.linear import Scheme
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Rule
from tests.shared.strategies import exact

SCHEMES = ("direct", "ovr", "ovo")


class Classes(NamedTuple):
    """Rows of small integers, and labels 0 … K − 1, all of which occur."""

    X: np.ndarray
    y: np.ndarray
    K: int


@st.composite
def class_problems(draw: Any, most_classes: int = 5, most_rows: int = 10, most_features: int = 3) -> Classes:
    """Draw a problem of three classes or more, small enough that ties and contradictions are common."""
    K = draw(st.integers(3, most_classes))
    n, d = draw(st.integers(K, max(K, most_rows))), draw(st.integers(1, most_features))
    X = draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    rest = draw(st.lists(st.integers(0, K - 1), min_size=n - K, max_size=n - K))
    return Classes(np.array(X, float), np.array(draw(st.permutations([*range(K), *rest]))), K)


def blobs(n: int, K: int, d: int, *, seed: int = 0, dtype: Any = float) -> tuple[np.ndarray, np.ndarray]:
    """Return floats around K centres that lie so close that no scheme separates them."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    return (rng.standard_normal((K, d))[y] + rng.standard_normal((n, d))).astype(dtype), y


class Book(NamedTuple):
    """The reference's answer."""

    result: reference.TrainedClasses
    visits: int

    @property
    def weights(self) -> np.ndarray:
        """The last weights, bias last."""
        return np.array(self.result.w, float)

    @property
    def averaged(self) -> np.ndarray:
        """The average, rounded as the deferred sum rounds it: its own terms are exact."""
        if not self.visits:
            return self.weights
        u = [
            [(w - a) * self.visits for w, a in zip(last, average, strict=True)]
            for last, average in zip(self.result.w, self.result.average, strict=True)
        ]
        return self.weights - np.array(u, float) / self.visits


def class_book(
    scheme: str, problem: Classes, visits: Any, rule: Rule, *, w: Any = None, weight: Any = None, zero: int = -1
) -> Book:
    """Run the reference on fractions over a sequence of visits, from padded weights `w`."""
    X, y, K = problem
    start = np.zeros(Scheme(scheme, K).shape(X.shape[1])) if w is None else w
    order = [int(i) for i in visits]
    weight = [Fraction(1)] * len(y) if weight is None else exact(weight)
    plain: Any = exact(X), y.tolist(), order, rule
    if scheme == "direct":
        result = reference.train_direct(*plain, w=exact(start), weight=weight, zero=zero)
    else:
        sides = reference.sides(scheme, K)
        result = reference.train_machines(*plain, sides=sides, w=exact(start), weight=weight)
    return Book(result, len(order))


def padded(clf: Any) -> np.ndarray:
    """Return the hypothesis of an estimator, bias last."""
    return np.column_stack([clf.coef_, clf.intercept_])
