"""Where problems are trained: on the CPU, or on a GPU through CuPy."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from rosenblatt.exceptions import DeviceError, Message
from rosenblatt.probes.engine import Engine
from rosenblatt.rooms import find

R = TypeVar("R")

_told: set[str] = set()


def open_engine(device: str) -> Engine:
    """Return an engine: of the CPU, or of the GPU."""
    if device == "cuda":
        engine: Engine = find("probes.gpu").GpuEngine()
        return engine
    from rosenblatt.probes.cpu import CpuEngine

    return CpuEngine()


def with_engine(device: str, use: Callable[[Engine], R], otherwise: Callable[[], R] | None = None) -> R:
    """Call `use` with an engine, and close it; "auto" is the GPU, or where it cannot be used the CPU.

    Training that a GPU has begun and cannot end is begun anew on the CPU. Each reason is said once. `otherwise`,
    if it is given, is called in place of `use` with the engine of the CPU.
    """
    if device == "auto":
        try:
            with closing(open_engine("cuda")) as engine:
                return use(engine)
        except DeviceError as error:
            if str(error) not in _told:
                _told.add(str(error))
                told: Any = Message(error.args[0]) + " Meanwhile the CPU is used."
                warnings.warn(told, stacklevel=_users_level())
    if otherwise is not None and device != "cuda":
        return otherwise()
    with closing(open_engine("cuda" if device == "cuda" else "cpu")) as engine:
        return use(engine)


def _users_level() -> int:
    """Return how many frames there are from the caller to the first one that is not of this package."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rosenblatt":
        level, frame = level + 1, frame.f_back
    return level
