"""Where a fit stands, in a file, so that it can go on after it was cut short."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.atomic import remove
from rosenblatt.codecs import (
    Array,
    Codec,
    Context,
    Count,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    UnsoundError,
    read_container,
    require,
    same_length,
    strict_json,
    write_container,
)
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.learning.fit_loop import Complete, PerceptronFit
from rosenblatt.learning.state import State, States
from rosenblatt.learning.trace import Mistakes
from rosenblatt.locking import InUseError, hold_lock
from rosenblatt.stopping import Tolerance, Validation
from rosenblatt.typing import Ints

__all__ = ["Checkpoint", "Saved", "discard", "restore"]

CHECKPOINT_FORMAT = 1
CHECKPOINT_SECONDS = 60.0
"""Within a pass, a checkpoint is written when so much time has passed since the last."""

COUNT, COUNTS, FLOAT, PATIENCE = Count(), Several(Count()), Number(finite=False), Maybe(Count(1))
WEIGHTS = Array((1, 2), finite=False)  # training itself finds weights that overflow
STATE = States(WEIGHTS)
INTEGERS = Array(dtypes=(np.int32, np.int64))
COLUMNS = {"visit": INTEGERS, "index": INTEGERS, "score": Array(), "step": Array(), "machine": INTEGERS}
EPOCHS: dict[str, Codec] = {"best": FLOAT, "best_epoch": COUNT}
VALIDATION = Record(Validation, {"patience": PATIENCE, "tol": FLOAT, **EPOCHS, "fell_epoch": COUNT})
TOLERANCE = Record(Tolerance, {"tol": FLOAT, "patience": Count(1), "best": FLOAT, "waited": COUNT})


class Saved(NamedTuple):
    """What a checkpoint holds: the identity of the fit as JSON, what it drew at random, and where it stood."""

    identity: str
    seed: int
    held_out: Ints | None
    snapshot: SimpleNamespace


def _require_sound(kept: Any) -> None:
    under_way = len(kept.visits_per_pass) - kept.passes
    counts = kept.mistakes_per_pass, kept.visits_per_pass, kept.wrong_per_pass
    require(same_length(*counts), "counts are of different numbers of passes")
    require(under_way == int(kept.complete is not None), "the passes are not those that were counted")
    require(kept.start.visits + sum(kept.visits_per_pass) == kept.state.visits, "the visits were not counted")
    machines = len(kept.state.w) if kept.state.w.ndim == 2 else 1
    for mistakes, visits in zip(kept.mistakes_per_pass, kept.visits_per_pass, strict=True):
        require(mistakes <= visits * machines, "there are more mistakes than visits")
    for epoch in (kept.validation.best_epoch, kept.validation.fell_epoch):
        require(epoch <= len(kept.visits_per_pass), "a stopping rule refers to later passes")
    require(len(kept.validation_errors) in (0, kept.passes), "errors are not of the complete passes")
    if kept.mistakes is not None:
        require(same_length(*kept.mistakes), "columns of mistakes have different lengths")
        require(
            sum(kept.mistakes_per_pass) == len(kept.mistakes.visit), "mistakes are not those that were counted"
        )
        ends = kept.start.visits + np.repeat(np.cumsum(kept.visits_per_pass), kept.mistakes_per_pass)
        visit, _, _, _, machine = kept.mistakes
        require((visit >= 0).all() and (visit < ends).all(), "mistakes refer to later visits")
        require((np.diff(visit) >= 0).all(), "mistakes are not in order")
        require(((machine >= 0) & (machine < max(machines, 2))).all(), "a mistake is of no machine")


SNAPSHOT = Record(
    SimpleNamespace,
    {
        "state": STATE,
        "start": STATE,
        "complete": Maybe(STATE),
        "best": Maybe(STATE),
        "passes": COUNT,
        "mistakes_per_pass": COUNTS,
        "visits_per_pass": COUNTS,
        "wrong_per_pass": COUNTS,
        "mistakes": Maybe(Record(Mistakes, COLUMNS)),
        "loss": FLOAT,
        "seconds": Number(least=0.0),
        "validation_errors": Several(Number(least=0.0)),
        "verdict": Maybe(Text(("separable", "undecided"))),
        "validation": VALIDATION,
        "tolerance": Maybe(TOLERANCE),
    },
    check=_require_sound,
)
SAVED = Record(
    Saved,
    {
        "identity": Text(),
        "seed": Count(0, 2**64 - 1),
        "held_out": Maybe(Array(dtypes=(np.int64,))),
        "snapshot": SNAPSHOT,
    },
)


class Checkpoint:
    """Writes and reads the checkpoints of one fit.

    Parameters
    ----------
    path : path
        The file; it is replaced in one step each time.
    every : int
        The passes from one checkpoint to the next.
    identity : mapping
        What must be the same for a fit to go on from it: JSON values by name.

    Attributes
    ----------
    seed, held_out
        What the fit drew at random; set before the first checkpoint is written.
    """

    def __init__(self, path: str | os.PathLike[str], every: int, identity: Mapping[str, Any]) -> None:
        self.path, self._every = Path(path), every
        self._identity = json.dumps(dict(identity))
        self.seed = 0
        self.held_out: Ints | None = None
        self._last = time.monotonic()

    def __call__(self, loop: PerceptronFit) -> None:
        """Write a checkpoint after each `every` passes, and where the last one is old."""
        passes = loop.complete.passes
        between_passes = len(loop.recorder.visits_per_pass) == passes
        if (between_passes and passes % self._every == 0) or time.monotonic() - self._last >= CHECKPOINT_SECONDS:
            self._write(loop)

    def _write(self, loop: PerceptronFit) -> None:
        context = Context()
        saved = Saved(self._identity, self.seed, self.held_out, SimpleNamespace(**_snapshot(loop)))
        document = self._document(loop, saved, context)
        write_container(self.path, document, context.tensors, private=True)
        self._last = time.monotonic()

    def _document(self, loop: PerceptronFit, saved: Saved, context: Context) -> dict[str, Any]:
        """Return what the file holds beside its arrays; a subclass may add to it."""
        return {"checkpoint": CHECKPOINT_FORMAT, "fit": SAVED.encode(saved, "fit", context)}

    def read(self) -> Saved | None:
        """Return what the file holds; None if there is no file.

        Raises
        ------
        ModelFileError
            The file is not a checkpoint, or it is damaged.
        ParameterError
            The checkpoint was written by another fit.
        """
        try:
            document, tensors = read_container(self.path, private=True)
            require(
                document.get("checkpoint") == CHECKPOINT_FORMAT, f"it does not have format {CHECKPOINT_FORMAT}"
            )
            saved: Saved = SAVED.decode(document.get("fit"), "fit", Context(tensors))
            known = strict_json(saved.identity)
            require(isinstance(known, dict), "it does not say which fit it is of")
        except FileNotFoundError:
            return None
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise ModelFileError(
                f"The checkpoint {self.path} cannot be used: {why}. Remove it, and train from the beginning."
            ) from error
        except (ModelFileError, UnsoundError, ValueError) as error:
            why = f": {error}" if isinstance(error, UnsoundError) else ""
            raise ModelFileError(
                f"{self.path} is not a checkpoint of this version, or it is damaged{why}. "
                "Remove it, and train from the beginning."
            ) from error
        self._require_same(known, json.loads(self._identity))
        return saved

    def _require_same(self, known: dict[str, Any], identity: dict[str, Any]) -> None:
        for name in {**known, **identity}:
            then, now = known.get(name), identity.get(name)
            if then == now:
                continue
            if isinstance(then, dict) and isinstance(now, dict):
                which = next((each for each in {**then, **now} if then.get(each) != now.get(each)), name)
                difference = f"{which:.60} was {then.get(which)!s:.200} then and is {now.get(which)!s:.200} now"
            else:
                difference = f"the {name:.60} is not the same"
            raise ParameterError(
                f"The checkpoint {self.path} was written by another fit: {difference}. "
                "Use the same parameters and data, or remove it."
            )


def _snapshot(loop: PerceptronFit) -> dict[str, Any]:
    """Return all that a fit needs to go on from where it stands, between two stretches of visits."""
    recorder = loop.recorder
    under_way = len(recorder.visits_per_pass) > loop.complete.passes
    return {
        "state": loop.state,
        "start": loop.start,
        "complete": loop.complete.state if under_way else None,
        "best": loop.best if loop.validation.best_epoch else None,
        "passes": loop.complete.passes,
        "mistakes_per_pass": recorder.mistakes_per_pass,
        "visits_per_pass": recorder.visits_per_pass,
        "wrong_per_pass": recorder.wrong_per_pass,
        "mistakes": recorder.mistakes(),
        "loss": loop.loss,
        "seconds": time.perf_counter() - loop.began,
        "validation_errors": loop.validation_errors,
        "verdict": loop.verdict,
        "validation": loop.validation,
        "tolerance": loop.tolerance,
    }


def restore(loop: PerceptronFit, saved: Saved) -> None:
    """Let a fit that has not begun go on from a checkpoint of a fit with the same plan and data."""
    kept = saved.snapshot
    most = loop.recorder.most
    cut = most is not None and sum(kept.mistakes_per_pass) > most
    if loop.state.met is None:  # the file may leave out weights of zero
        for name in ("state", "start", "complete", "best"):
            state = getattr(kept, name)
            setattr(kept, name, None if state is None else state.spread())
    states = [state for state in (kept.state, kept.start, kept.complete, kept.best) if state is not None]
    for held, wanted, what in (
        ({_kind(state) for state in states}, {_kind(loop.state)}, "weights"),
        (kept.tolerance is None, loop.tolerance is None, "tol"),
        (kept.mistakes is None, loop.recorder.detail != "mistakes" or cut, "trace"),
    ):
        if held != wanted:
            raise ModelFileError(f"The checkpoint is of a fit with other {what}. Remove it, and train again.")
    loop.start = kept.start
    loop.state.become(kept.state)
    loop.visitor.renumber()
    loop.complete = Complete(kept.complete or kept.state, kept.passes)
    loop.best = kept.best or kept.start
    loop.loss, loop.began = kept.loss, time.perf_counter() - kept.seconds
    loop.validation_errors = kept.validation_errors
    loop.validation, loop.tolerance = kept.validation, kept.tolerance
    for epoch, mistakes in enumerate(kept.mistakes_per_pass[: kept.passes], 1):
        loop.judge(epoch, mistakes)
    if kept.verdict is not None:
        loop.learn(kept.verdict)
    loop.recorder.go_on_from(kept.mistakes_per_pass, kept.visits_per_pass, kept.wrong_per_pass, kept.mistakes)


def _kind(state: State) -> tuple[Any, ...]:
    return state.shape, state.average, state.met is None, frozenset(state.memory)


def discard(path: str | os.PathLike[str]) -> None:
    """Remove a checkpoint once the model is saved, unless another run has begun to use it."""
    with suppress(InUseError), hold_lock(path):
        remove(path)
