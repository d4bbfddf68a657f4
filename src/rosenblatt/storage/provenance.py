"""Where a model comes from: by what software it was trained, when, and from which data."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np

__all__ = ["made_by"]


def made_by(**told: Any) -> dict[str, Any]:
    """Return what can be said of any model, and what is told besides.

    Examples
    --------
    >>> sorted(made_by(command="train mail.csv"))
    ['command', 'created', 'numpy', 'python', 'rosenblatt']
    """
    from rosenblatt._version import __version__

    return {
        "rosenblatt": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    } | told
