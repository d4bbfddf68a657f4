"""How many requests a caller may send: a bucket for each, which fills steadily and empties by one a request."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["RateLimit"]

MOST_CALLERS = 10_000


class RateLimit:
    """A limit on the requests of each caller.

    Parameters
    ----------
    rate : float
        Requests a second in the long run.
    burst : float
        Requests that may come at once.
    ticks : callable
        Returns seconds that only grow.

    Examples
    --------
    >>> limit = RateLimit(1.0, 2.0, ticks=lambda: 0.0)
    >>> limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")
    (0, 0, 1, 0)
    """

    def __init__(self, rate: float, burst: float, ticks: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.ticks = rate, max(1.0, burst), ticks
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, amount: float = 1.0) -> int:
        """Take from the bucket of a caller; return 0, or the seconds to wait if there is not enough in it."""
        now = self.ticks()
        level, then = self._buckets.pop(caller, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.rate)
        enough = level >= min(amount, self.burst)
        self._buckets[caller] = (level - amount if enough else level, now)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if enough else math.ceil((min(amount, self.burst) - level) / self.rate)
