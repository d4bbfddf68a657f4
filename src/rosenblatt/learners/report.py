"""What is told of each pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from rosenblatt.model.kernel import KernelModel
from rosenblatt.model.linear import LinearModel

Model: TypeAlias = LinearModel | KernelModel


@dataclass(frozen=True)
class PassReport:
    """What is told of each pass once it is over.

    Attributes
    ----------
    epoch : int
        The number of the pass, from 1.
    mistakes, visits : int
        Of this pass.
    loss : float
        The mean of max(0, −y f) over its visits; several machines' are added, and of classes compared directly y f
        is the lead over the best rival.
    validation_error : float or None
        The share of validation rows wrong after it.
    seconds : float
        Since training began.
    model : LinearModel or KernelModel
        The hypothesis after the pass.
    """

    epoch: int
    mistakes: int
    visits: int
    loss: float
    validation_error: float | None
    seconds: float
    model: Model = field(repr=False)


Callback: TypeAlias = Callable[[PassReport], object]
