"""When training ends, and why.

Each rule takes note of every completed pass and returns whether to end there. These rules end runs that no longer
improve; the fit loop itself ends on "separated", "max_iter", "max_time", "cycle" and "interrupted".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

StopReason: TypeAlias = Literal[
    "separated", "plateau", "tol", "max_iter", "max_time", "validation", "cycle", "interrupted"
]

LEAST_PATIENCE = 10
AFFORDABLE = 5e8  # values to read while waiting for a new minimum: about a second


@dataclass
class Plateau:
    """Ends when the mistakes of a pass have had no new minimum for some passes.

    Parameters
    ----------
    stored : int
        The number of values that a pass reads. Small sets get all the passes they need, large ones waste few.
    patience : int or None
        Passes to wait; by default the largest of 10, half of the passes so far, and as many as read
        5·10⁸ values.
    """

    stored: int
    patience: int | None = None
    best: float = np.inf
    best_epoch: int = 0

    def ends(self, epoch: int, mistakes: int) -> bool:
        """Take note of a pass, and say whether to end."""
        if mistakes < self.best:
            self.best, self.best_epoch = mistakes, epoch
        patience = self.patience or max(LEAST_PATIENCE, epoch / 2, AFFORDABLE / max(self.stored, 1))
        return epoch - self.best_epoch >= patience


@dataclass
class Tolerance:
    """Ends when the loss of a pass, the mean of max(0, −y f), has not fallen by `tol` for some passes.

    This is scikit-learn's rule.
    """

    tol: float
    patience: int
    best: float = np.inf
    waited: int = 0

    def ends(self, loss: float) -> bool:
        """Take note of a pass, and say whether to end."""
        self.waited = self.waited + 1 if loss > self.best - self.tol else 0
        self.best = min(self.best, loss)
        return self.waited >= self.patience


@dataclass
class Validation:
    """Ends when the error on rows held out has not fallen for some passes; of equal ones the last is best."""

    patience: int | None = None
    tol: float = 0.0
    best: float = np.inf
    best_epoch: int = 0
    fell_epoch: int = 0

    def improves(self, epoch: int, error: float) -> bool:
        """Take note of a pass, and say whether it is the best so far."""
        if error < self.best - self.tol:
            self.fell_epoch = epoch
        if error <= self.best:
            self.best, self.best_epoch = error, epoch
            return True
        return False

    def ends(self, epoch: int) -> bool:
        """Say whether to end after this pass."""
        patience = self.patience or max(LEAST_PATIENCE, epoch / 2)
        return epoch - self.fell_epoch >= patience


@dataclass
class LossPlateau:
    """Ends when a loss has not fallen by the share `tol` within some passes, or is zero to rounding.

    Many small falls add up: the loss is compared with that of the last pass that brought such a fall.

    Parameters
    ----------
    tol : float
        The share; 0 asks for any new minimum.
    patience : int
        Passes to wait.
    rounding : float
        A loss below this share of the first one is zero to rounding.
    """

    tol: float
    patience: int
    rounding: float = 0.0
    first: float = np.inf
    mark: float = np.inf
    mark_epoch: int = 0

    def ends(self, epoch: int, loss: float) -> bool:
        """Take note of a pass, and say whether to end."""
        if self.mark_epoch == 0:
            self.first = loss
        if self.mark_epoch == 0 or (loss < self.mark * (1.0 - self.tol) and loss > self.first * self.rounding):
            self.mark, self.mark_epoch = loss, epoch
        return epoch - self.mark_epoch >= self.patience
