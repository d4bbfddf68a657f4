"""Where a fit stands, in a file, so that it can go on after whatever ended it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import remove, write_whole
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.learners.perceptron import FitLoop
from rosenblatt.learners.snapshot import Snapshot, snapshot
from rosenblatt.typing import Ints

__all__ = ["Checkpoint", "Saved", "discard", "open_checkpoint"]

FORMAT = 1
SECONDS = 60.0
"""Within a pass, a checkpoint is written when so much time has passed since the last."""


class Saved(NamedTuple):
    """What a checkpoint holds: of what fit it is, what that drew at random, and where it stood."""

    identity: dict[str, Any]
    seed: int
    held_out: Ints | None
    snapshot: Snapshot


class Checkpoint:
    """Writes checkpoints of one fit to one file.

    Parameters
    ----------
    path : path
        The file; it is replaced in one step each time.
    every : int
        The passes from one checkpoint to the next.
    identity : mapping
        What must be the same for a fit to go on from it: JSON values by name.
    seed, held_out
        What the fit drew at random.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: int,
        identity: Mapping[str, Any],
        seed: int,
        held_out: Ints | None,
    ) -> None:
        self._path, self._every = Path(path), every
        self._identity, self._seed, self._held_out = dict(identity), seed, held_out
        self._last = time.monotonic()

    def after_stretch(self, loop: FitLoop) -> None:
        """Write a checkpoint if the last was long ago."""
        if time.monotonic() - self._last >= SECONDS:
            self._write(loop)

    def after_pass(self, loop: FitLoop) -> None:
        """Write a checkpoint if it is time for one."""
        if loop.complete.passes % self._every == 0:
            self._write(loop)
        else:
            self.after_stretch(loop)

    def _write(self, loop: FitLoop) -> None:
        arrays, facts = snapshot(loop)
        if self._held_out is not None:
            arrays["held_out"] = self._held_out
        described = {"format": FORMAT, "identity": self._identity, "seed": str(self._seed), "facts": facts}
        write_whole(self._path, _packed(arrays, json.dumps(described)))
        self._last = time.monotonic()


def open_checkpoint(path: str | os.PathLike[str], identity: Mapping[str, Any]) -> Saved | None:
    """Read a checkpoint of the fit that `identity` tells from others.

    Returns
    -------
    Saved or None
        None if there is no file.

    Raises
    ------
    ModelFileError
        The file is no checkpoint, or not whole.
    ParameterError
        It is one of another fit.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelFileError(f"The checkpoint {path} could not be read: {error.strerror}.") from error
    try:
        arrays, described = _unpacked(content)
        known, seed, facts = dict(described["identity"]), int(described["seed"]), dict(described["facts"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(
            f"{path} is no checkpoint, or a damaged one: {error}. Remove it, and train from the beginning."
        ) from error
    _require_same(path, known, json.loads(json.dumps(dict(identity))))
    held_out = arrays.pop("held_out", None)
    return Saved(known, seed, held_out, Snapshot(arrays, facts))


def discard(path: str | os.PathLike[str]) -> None:
    """Remove a checkpoint, once the model that it led to is in safety."""
    remove(path)


def _require_same(path: Any, known: dict[str, Any], identity: dict[str, Any]) -> None:
    for name in {**known, **identity}:
        then, now = known.get(name), identity.get(name)
        if then == now:
            continue
        if isinstance(then, dict) and isinstance(now, dict):
            which = next(each for each in {**then, **now} if then.get(each) != now.get(each))
            difference = f"{which} was {then.get(which)} then and is {now.get(which)} now"
        else:
            difference = f"the {name} is not the one it was"
        raise ParameterError(
            f"The checkpoint {path} is of another fit: {difference}. Train as it was begun, or remove it."
        )


def _packed(arrays: dict[str, NDArray[Any]], described: str) -> bytes:
    from safetensors.numpy import save

    content: bytes = save(arrays, metadata={"rosenblatt": described, "sha256": _digest(arrays, described)})
    return content


def _unpacked(content: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(content)
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    length = int.from_bytes(content[:8], "little")
    about = json.loads(content[8 : 8 + length])["__metadata__"]
    described = about["rosenblatt"]
    if about["sha256"] != _digest(arrays, described):
        raise ValueError("its checksum is wrong")
    facts: dict[str, Any] = json.loads(described)
    if facts["format"] != FORMAT:
        raise ValueError(f"it is of format {facts['format']}, not {FORMAT}")
    return arrays, facts


def _digest(arrays: dict[str, NDArray[Any]], described: str) -> str:
    digest = hashlib.sha256(described.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
