"""Step sizes of stochastic descent as values (S-17): η_t of the visits t = 1, 2 and so on."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from numba import types
from numba.extending import overload

from rosenblatt.loops._jit import VERB


class Constant(NamedTuple):
    """η_t = eta0."""

    eta0: float


class InverseScaling(NamedTuple):
    """η_t = eta0 / t^power."""

    eta0: float
    power: float


class Optimal(NamedTuple):
    """η_t = 1 / (alpha (start + t − 1)), the best rate for a loss as curved as `alpha`."""

    alpha: float
    start: float


Schedule: TypeAlias = Constant | InverseScaling | Optimal


def rate(schedule: Schedule, t: int) -> float:
    """Return η_t."""
    raise TypeError("called from compiled loops only")


@overload(rate, **VERB)  # type: ignore[untyped-decorator]
def _rate(schedule: Any, t: Any) -> Any:
    if not isinstance(schedule, types.BaseNamedTuple):
        return None
    if schedule.instance_class is Constant:
        return lambda schedule, t: schedule.eta0
    if schedule.instance_class is InverseScaling:
        return lambda schedule, t: schedule.eta0 / t**schedule.power
    return lambda schedule, t: 1.0 / (schedule.alpha * (schedule.start + t - 1.0))
