"""Where a model comes from: by what software it was trained, when, and from which data."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["hash_of_files", "made_by"]

PIECE = 2**20


def made_by(**told: Any) -> dict[str, Any]:
    """Return what can be said of any model, and what is told besides.

    Examples
    --------
    >>> sorted(made_by(command="train mail.csv"))
    ['command', 'created', 'numpy', 'python', 'rosenblatt']
    """
    from rosenblatt import __version__

    return {
        "rosenblatt": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    } | told


def hash_of_files(paths: Iterable[str | os.PathLike[str]]) -> str:
    """Return the SHA-256 of files one after the other, read a piece at a time.

    Examples
    --------
    >>> hash_of_files([])[:16]
    'e3b0c44298fc1c14'
    """
    digest = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    return digest.hexdigest()
