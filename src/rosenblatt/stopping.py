"""When training ends, and why.

Each rule takes note of every completed pass and returns whether to end there. These rules end runs that no longer
improve; the fit loop itself ends on "separated", "margin", "inseparable", "max_iter", "max_time", "cycle" and
"interrupted".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

StopReason: TypeAlias = Literal[
    "separated",
    "margin",
    "inseparable",
    "plateau",
    "tol",
    "max_iter",
    "max_time",
    "validation",
    "cycle",
    "interrupted",
]

LEAST_PATIENCE = 10
# Passes without a fall after which averages end, and after which a fit asks whether it can succeed
BRIEF_PATIENCE_PASSES = 5
MIN_FALL_SHARE = 0.02  # the share by which mistakes must fall below their mark
FEWEST_PASSES = 12  # before a trend is judged
AFFORDABLE_VALUES = 5e8  # values to read before a trend is judged: about a second
STEADY_SHARE = 0.95  # mistakes of later passes above this share of those of earlier ones do not fall
IN_A_ROW = 3  # passes that must agree


@dataclass
class Plateau:
    """Ends when the mistakes of a pass have not fallen for some passes.

    They fall where they are more than 2 % below the mark, the count of the last pass that brought such a fall. So
    a minimum that is a hair lower does not renew patience, while many small falls add up.

    Parameters
    ----------
    patience : int
        Passes to wait.
    """

    patience: int = BRIEF_PATIENCE_PASSES
    mark: float = np.inf
    mark_epoch: int = 0

    def ends(self, epoch: int, mistakes: int) -> bool:
        """Take note of a pass, and say whether to end."""
        if mistakes < self.mark * (1.0 - MIN_FALL_SHARE):
            self.mark, self.mark_epoch = mistakes, epoch
        return epoch - self.mark_epoch >= self.patience


@dataclass
class Trend:
    """Ends when the mistakes of later passes are hardly fewer than those of earlier ones.

    After each pass the mean of the second half of all passes is compared with that of the quarter before it. Most
    data that is separated in the end makes at least 5 % fewer mistakes each time the passes double, even where
    single passes scatter. Training ends when three passes in a row find less than that.

    Parameters
    ----------
    fewest : int
        Passes to make before that.
    """

    fewest: int = FEWEST_PASSES
    sums: list[int] = field(default_factory=lambda: [0])  # the mistakes up to each pass
    steady: int = 0

    def ends(self, mistakes: int, stored: int | None = None) -> bool:
        """Take note of a pass, and say whether to end.

        Parameters
        ----------
        mistakes : int
            The mistakes of the pass.
        stored : int or None
            The number of values that a pass reads. If it is given, small sets get all the passes they may need: as
            many as read 5·10⁸ values.
        """
        self.sums.append(self.sums[-1] + mistakes)
        epoch = len(self.sums) - 1
        half, quarter = epoch // 2, epoch // 4
        late = (self.sums[epoch] - self.sums[half]) * (half - quarter)
        early = (self.sums[half] - self.sums[quarter]) * (epoch - half)
        self.steady = self.steady + 1 if late >= STEADY_SHARE * early else 0
        fewest = self.fewest if stored is None else max(self.fewest, AFFORDABLE_VALUES / max(stored, 1))
        return self.steady >= IN_A_ROW and epoch >= fewest


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
