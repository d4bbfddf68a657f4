"""How the weights of a model were mixed, where its rows were in several partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rosenblatt.schema.codecs import Count, Number, Record, Text

__all__ = ["MIXING", "Mixing", "MixingWeights"]

Mixing: TypeAlias = Literal["uniform", "mistakes"]


@dataclass(frozen=True)
class MixingWeights:
    """How a model was mixed.

    Attributes
    ----------
    kind : {"uniform", "mistakes"}
        How partitions were weighted.
    partitions : int
        The number of partitions.
    weighted_mistakes : float
        Σ μ k over all passes and partitions, with k the mistakes of a partition in a pass and μ its weight. If
        rows are separable with margin γ, and training starts at zero, it is at most R²/γ² (McDonald, Hall and Mann
        2010).
    """

    kind: Mixing
    partitions: int
    weighted_mistakes: float


MIXING = Record(
    MixingWeights,
    {"kind": Text(("uniform", "mistakes")), "partitions": Count(1), "weighted_mistakes": Number(least=0.0)},
)
