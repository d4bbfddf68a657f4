"""Codecs of wirings, retinas, random layers and monomials."""

from __future__ import annotations

import numpy as np

from rosenblatt.maps.monomials import LARGEST_DEGREE, Monomials
from rosenblatt.maps.random_layer import ACTIVATIONS, RandomLayer
from rosenblatt.maps.retina import Retina
from rosenblatt.maps.wiring import Wiring
from rosenblatt.schema.codecs import Array, Count, Flag, Maybe, Number, Record, Several, Text, require

MOST_CELLS = 2**26
"""The most photocells of a retina: an image has one number for each."""

PAIR = Several(Count(1, MOST_CELLS), tuple, 2)


def _sound_wiring(wiring: Wiring) -> None:
    n_cells = wiring.retina[0] * wiring.retina[1]
    require(n_cells <= MOST_CELLS, "there are too many photocells")
    require(
        len(wiring.excitatory) == len(wiring.inhibitory) > 0,
        "the numbers of exciting and of inhibiting wires differ",
    )
    for wires in (wiring.excitatory, wiring.inhibitory):
        require(
            wires.min(initial=0) >= 0 and wires.max(initial=0) < n_cells,
            "a wire ends at a photocell that is not there",
        )


WIRES = Array(2, (np.int64,))
WIRING = Record(
    Wiring,
    {"excitatory": WIRES, "inhibitory": WIRES, "threshold": Number(), "retina": PAIR},
    check=_sound_wiring,
)


def _sound_retina(retina: Retina) -> None:
    require(
        retina.exposure is None or retina.exposure[0] != retina.exposure[1],
        "the exposure has the same value for dark and for bright",
    )


RETINA = Record(
    Retina,
    {
        "shape": PAIR,
        "image_shape": Several(Count(1), tuple, 2),
        "graded": Flag(),
        "exposure": Maybe(Several(Number(), tuple, 2)),
    },
    check=_sound_retina,
)
RANDOM_LAYER = Record(RandomLayer, {"weights": Array(2), "activation": Text(tuple(ACTIVATIONS))})
MONOMIALS = Record(Monomials, {"d": Count(1), "degree": Count(1, LARGEST_DEGREE), "c": Number(least=0.0)})
