"""Training and validation error over passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.batch import as_labelled
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from rosenblatt.trace.record import Trace


@dataclass(frozen=True, eq=False)
class Curve:
    """The errors of each pass.

    Attributes
    ----------
    training : ndarray
        The share of visits in each pass that were mistakes, or, from `exact_curve`, the share of training rows
        that are wrong after it.
    validation : ndarray or None
        The share of validation rows that are wrong after each pass.
    """

    training: Floats
    validation: Floats | None = None

    @property
    def passes(self) -> Ints:
        """1, 2, …: the passes."""
        return np.arange(1, len(self.training) + 1)

    @property
    def best(self) -> int | None:
        """The last of the passes with the lowest validation error."""
        if self.validation is None or not len(self.validation):
            return None
        return int(np.flatnonzero(self.validation == self.validation.min())[-1]) + 1


def exact_curve(trace: Trace, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Curve:
    """Replay a run, and measure the model at the end of each pass on its data and on validation data.

    Training only counts mistakes, by the weights at each visit. This reads all data once for each pass, and so is
    done on request.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> rb.exact_curve(clf.trace_, X, y).training.tolist()[-1]
    0.0
    """
    models = trace.after_each_pass(X, y)
    sets = [as_labelled(*pair, trace.classes) for pair in ((X, y), validation) if pair is not None]
    return Curve(*(np.array([model.error(batch) for model in models]) for batch in sets))
