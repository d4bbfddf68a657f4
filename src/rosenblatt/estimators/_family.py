"""What the perceptron's relatives share that learn from one batch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from rosenblatt.estimators._linear import VisitingClassifier
from rosenblatt.trace.record import Trace
from rosenblatt.typing import Ints

# What a perceptron may be told of, and its relatives have one value of, unless they have a parameter of that name.
ONE_VALUE = {
    "penalty": None,
    "alpha": 0.0001,
    "l1_ratio": 0.15,
    "average": False,
    "early_stopping": False,
    "validation_fraction": 0.1,
    "warm_start": False,
    "shuffle": True,
    "tie": "mistake",
    "init": "zero",
    "margin": 0.0,
    "eta0": 1.0,
    "class_weight": None,
    "multiclass": "direct",
    "tol": None,
    "n_iter_no_change": None,
    "verbose": 0,
}


def parameters(estimator: Any) -> SimpleNamespace:
    """Return the parameters of a perceptron: the estimator's, and the one value of those it does not have."""
    return SimpleNamespace(_own_rule=lambda rule: rule, **ONE_VALUE | estimator.get_params(deep=False))


class Recorded(VisitingClassifier):
    """A classifier trained by one run."""

    _fit_counts: list[int]
    _trace: Trace
    _traced: bool
    _untraced: str | None = None

    @property
    def n_mistakes_(self) -> int:
        """The mistakes made."""
        self._require_fitted("n_mistakes_")
        return sum(self._fit_counts)

    @property
    def mistakes_per_pass_(self) -> Ints:
        """The mistakes of each pass."""
        self._require_fitted("mistakes_per_pass_")
        return np.array(self._fit_counts, np.int64)

    @property
    def trace_(self) -> Trace:
        """The record of the run."""
        self._require_fitted("trace_")
        if not self._traced:
            raise AttributeError(self._untraced or "This run kept no trace, as trace=None asked for.")
        return self._trace
