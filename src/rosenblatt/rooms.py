"""Rooms of this package that can be deleted: their modules are imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from rosenblatt.exceptions import MissingRoomError

OPTIONAL = {
    "lab": "stepping through runs in the browser or a notebook",
    "sequences": "sentences whose words get labels",
    "distributed": "training, proofs and predictions on a Dask cluster",
    "probes": "very many perceptrons on one matrix, and training on a GPU",
    "networks": "networks, the extreme learning machine and the Mark I",
    "server": "models that learn while they predict over HTTP, and the client",
}
"""What each room that can be deleted is for."""


def find(module: str) -> ModuleType:
    """Import a module of this package, such as ``networks.mark_one``, if the installation has its room."""
    room = module.partition(".")[0]
    try:
        return import_module(f"rosenblatt.{module}")
    except ModuleNotFoundError as error:
        if room in OPTIONAL and error.name == f"rosenblatt.{room}":
            raise MissingRoomError(
                f"This installation of rosenblatt has no room {room!r}, which is for {OPTIONAL[room]}. "
                "Install the whole package to use it."
            ) from None
        raise
