"""Pictures of data, boundaries, runs, proofs and bounds. Each function returns a matplotlib Axes.

matplotlib is imported when a picture is drawn, not before: ``pip install rosenblatt[plot]`` brings it.
"""

from __future__ import annotations

from rosenblatt.plot.boundary import boundary
from rosenblatt.plot.bounds import bounds
from rosenblatt.plot.certificate import certificate
from rosenblatt.plot.curve import learning_curve
from rosenblatt.plot.regions import regions
from rosenblatt.plot.trace import trace

__all__ = ["boundary", "bounds", "certificate", "learning_curve", "regions", "trace"]
