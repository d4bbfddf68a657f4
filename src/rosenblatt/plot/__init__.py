"""Pictures of data, boundaries, runs, proofs and bounds. Each function returns a matplotlib Axes.

matplotlib is imported when a picture is drawn: it comes with rosenblatt.
"""

from __future__ import annotations

from rosenblatt.plot.bars import explanation, probes
from rosenblatt.plot.boundary import boundary, margins, regions
from rosenblatt.plot.bounds import bounds
from rosenblatt.plot.certificate import certificate
from rosenblatt.plot.diagrams import network, neuron
from rosenblatt.plot.trace import animate, learning_curve, trace

__all__ = [
    "animate",
    "boundary",
    "bounds",
    "certificate",
    "explanation",
    "learning_curve",
    "margins",
    "network",
    "neuron",
    "probes",
    "regions",
    "trace",
]
