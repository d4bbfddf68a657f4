"""Where a fit stands, in a file, so that it can go on after it was cut short.

`Checkpoint` is that of a perceptron. Fits by another loop have a subclass, which says what its file holds.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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

if TYPE_CHECKING:
    from rosenblatt.learning.one_vector import VectorFit

CHECKPOINT_FORMAT = 1
CHECKPOINT_SECONDS = 60.0
"""Within a pass, a checkpoint is written when so much time has passed since the last."""

HASHED_BYTES = 1 << 20
"""The most bytes of an array that are copied at a time to be hashed."""

IDENTITY = Text()
COUNT, COUNTS, FLOAT, PATIENCE = Count(), Several(Count()), Number(finite=False), Maybe(Count(1))
SECONDS = Number(least=0.0)
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


def _require_counted(kept: Any) -> None:
    """Require passes, visits and mistakes that fit together."""
    under_way = len(kept.visits_per_pass) - kept.passes
    require(same_length(kept.mistakes_per_pass, kept.visits_per_pass), "counts are of different numbers of passes")
    require(under_way == int(kept.complete is not None), "the passes are not those that were counted")
    require(kept.start.visits + sum(kept.visits_per_pass) == kept.state.visits, "the visits were not counted")
    machines = len(kept.state.w) if kept.state.w.ndim == 2 else 1
    for mistakes, visits in zip(kept.mistakes_per_pass, kept.visits_per_pass, strict=True):
        require(mistakes <= visits * machines, "there are more mistakes than visits")
    if kept.mistakes is not None:
        require(same_length(*kept.mistakes), "columns of mistakes have different lengths")
        require(
            sum(kept.mistakes_per_pass) == len(kept.mistakes.visit), "mistakes are not those that were counted"
        )
        ends = kept.start.visits + np.repeat(np.cumsum(kept.visits_per_pass), kept.mistakes_per_pass)
        visit, index, _, _, machine = kept.mistakes
        require((visit >= 0).all() and (visit < ends).all(), "mistakes refer to later visits")
        require((np.diff(visit) >= 0).all(), "mistakes are not in order")
        require((index >= 0).all() and (machine >= 0).all(), "a mistake is of no row or of no machine")


def _require_sound(kept: Any) -> None:
    _require_counted(kept)
    require(same_length(kept.wrong_per_pass, kept.visits_per_pass), "counts are of different numbers of passes")
    for epoch in (kept.validation.best_epoch, kept.validation.fell_epoch):
        require(epoch <= len(kept.visits_per_pass), "a stopping rule refers to later passes")
    require(len(kept.validation_errors) in (0, kept.passes), "errors are not of the complete passes")
    if kept.mistakes is not None:
        machines = len(kept.state.w) if kept.state.w.ndim == 2 else 1
        require((kept.mistakes.machine < max(machines, 2)).all(), "a mistake is of no machine")


def _require_sound_vector(kept: Any) -> None:
    _require_counted(kept)
    require(same_length(kept.losses, kept.visits_per_pass), "losses are of different numbers of passes")
    if kept.mistakes is not None and kept.state.w.ndim == 2:
        require((kept.mistakes.machine < len(kept.state.w)).all(), "an update is of no label")


PASSES: dict[str, Codec] = {
    "state": STATE,
    "start": STATE,
    "complete": Maybe(STATE),
    "passes": COUNT,
    "mistakes_per_pass": COUNTS,
    "visits_per_pass": COUNTS,
    "mistakes": Maybe(Record(Mistakes, COLUMNS)),
    "seconds": SECONDS,
    "tolerance": Maybe(TOLERANCE),
}
"""What fits by a perceptron's rule and those of one vector keep alike."""
SNAPSHOT = Record(
    SimpleNamespace,
    PASSES
    | {
        "best": Maybe(STATE),
        "wrong_per_pass": COUNTS,
        "loss": FLOAT,
        "validation_errors": Several(Number(least=0.0)),
        "verdict": Maybe(Text(("separable", "undecided"))),
        "validation": VALIDATION,
    },
    check=_require_sound,
)
VECTOR_SNAPSHOT = Record(SimpleNamespace, PASSES | {"losses": Several(FLOAT)}, check=_require_sound_vector)


class Checkpoint:
    """Writes and reads the checkpoints of one fit; the file is replaced in one step each time.

    `identity` is what must be the same for a fit to go on from it: JSON values by name. What the fit drew at
    random, `seed` and `held_out`, is set before the first checkpoint is written.
    """

    snapshot: ClassVar[Record] = SNAPSHOT

    def __init__(self, path: str | os.PathLike[str], every: int, identity: Mapping[str, Any]) -> None:
        self.path, self._every = Path(path), every
        self._identity = json.dumps(dict(identity))
        self.seed = 0
        self.held_out: Ints | None = None
        self._last = time.monotonic()

    def __call__(self, loop: Any) -> None:
        """Write a checkpoint after each `every` passes, and where the last one is old."""
        passes = loop.complete.passes
        between_passes = len(self._visits_per_pass(loop)) == passes
        if (between_passes and passes % self._every == 0) or time.monotonic() - self._last >= CHECKPOINT_SECONDS:
            self._write(loop)

    def _visits_per_pass(self, loop: Any) -> list[int]:
        """Return the visits made in each pass that was begun."""
        counts: list[int] = loop.recorder.visits_per_pass
        return counts

    def _parts(self, loop: Any) -> dict[str, Any]:
        """Return what a fit needs to go on from where it stands, between two stretches of visits."""
        return _passes(loop) | {
            "best": loop.best if loop.validation.best_epoch else None,
            "wrong_per_pass": loop.recorder.wrong_per_pass,
            "loss": loop.loss,
            "validation_errors": loop.validation_errors,
            "verdict": loop.verdict,
            "validation": loop.validation,
        }

    def _codec(self) -> Record:
        seed, held_out = Count(0, 2**64 - 1), Maybe(Array(dtypes=(np.int64,)))
        parts: dict[str, Codec] = {"identity": IDENTITY, "seed": seed, "held_out": held_out}
        return Record(Saved, parts | {"snapshot": self.snapshot})

    def _write(self, loop: Any) -> None:
        context = Context()
        saved = Saved(self._identity, self.seed, self.held_out, SimpleNamespace(**self._parts(loop)))
        document = self._document(loop, saved, context)
        write_container(self.path, document, context.tensors, private=True)
        self._last = time.monotonic()

    def _document(self, loop: Any, saved: Saved, context: Context) -> dict[str, Any]:
        """Return what the file holds beside its arrays; a subclass may add to it."""
        return {"checkpoint": CHECKPOINT_FORMAT, "fit": self._codec().encode(saved, "fit", context)}

    def read(self) -> Saved | None:
        """Return what the file holds, if this fit wrote it and it is not damaged; None if there is no file."""
        try:
            document, tensors = read_container(self.path, private=True)
            require(
                document.get("checkpoint") == CHECKPOINT_FORMAT, f"it does not have format {CHECKPOINT_FORMAT}"
            )
            fit: Any = document.get("fit")
            require(isinstance(fit, dict), "it does not say which fit it is of")
            known = strict_json(IDENTITY.decode(fit.get("identity"), "fit.identity", Context(tensors)))
            require(isinstance(known, dict), "it does not say which fit it is of")
        except FileNotFoundError:
            return None
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise ModelFileError(
                f"The checkpoint {self.path} cannot be used: {why}. Remove it, and train from the beginning."
            ) from error
        except (ModelFileError, UnsoundError, ValueError) as error:
            raise self._unreadable(error) from error
        self._require_same(known, json.loads(self._identity))  # before the rest, which may be of another learner
        try:
            saved: Saved = self._codec().decode(fit, "fit", Context(tensors))
        except (UnsoundError, ValueError) as error:
            raise self._unreadable(error) from error
        return saved

    def _unreadable(self, error: Exception) -> ModelFileError:
        why = f": {error}" if isinstance(error, UnsoundError) else ""
        return ModelFileError(
            f"{self.path} is not a checkpoint of this version, or it is damaged{why}. "
            "Remove it, and train from the beginning."
        )

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
                "Use the same parameters and data, or remove it.",
                parameter="checkpoint",
                value=str(self.path),
            )


class VectorCheckpoint(Checkpoint):
    """The checkpoints of a fit by targets that are no classes."""

    snapshot = VECTOR_SNAPSHOT

    def _parts(self, loop: VectorFit) -> dict[str, Any]:
        return _passes(loop) | {"losses": loop.losses}


def _passes(loop: PerceptronFit | VectorFit) -> dict[str, Any]:
    """Return `PASSES` of a fit."""
    recorder = loop.recorder
    under_way = len(recorder.visits_per_pass) > loop.complete.passes
    return {
        "state": loop.state,
        "start": loop.start,
        "complete": loop.complete.state if under_way else None,
        "passes": loop.complete.passes,
        "mistakes_per_pass": recorder.mistakes_per_pass,
        "visits_per_pass": recorder.visits_per_pass,
        "mistakes": recorder.mistakes(),
        "seconds": time.perf_counter() - loop.began,
        "tolerance": loop.tolerance,
    }


def restore(loop: PerceptronFit, saved: Saved) -> None:
    """Let a fit that has not begun go on from a checkpoint of a fit with the same plan and data."""
    kept = saved.snapshot
    most = loop.recorder.most
    cut = most is not None and sum(kept.mistakes_per_pass) > most
    _go_on(
        loop, kept, ("state", "start", "complete", "best"), trace=loop.recorder.detail == "mistakes" and not cut
    )
    loop.visitor.renumber()
    loop.best = kept.best or kept.start
    loop.loss, loop.validation_errors, loop.validation = kept.loss, kept.validation_errors, kept.validation
    for epoch, mistakes in enumerate(kept.mistakes_per_pass[: kept.passes], 1):
        loop.judge(epoch, mistakes)
    if kept.verdict is not None:
        loop.learn(kept.verdict)
    loop.recorder.go_on_from(kept.mistakes_per_pass, kept.visits_per_pass, kept.wrong_per_pass, kept.mistakes)


def restore_vector(loop: VectorFit, saved: Saved) -> None:
    """Let a fit of a vector that has not begun go on from a checkpoint of a fit with the same plan and data."""
    kept, n_visits = saved.snapshot, loop.plan.n_visits
    whole, part = kept.visits_per_pass[: kept.passes], kept.visits_per_pass[kept.passes :]
    if any(visits != n_visits for visits in whole) or any(visits >= n_visits for visits in part):
        raise ModelFileError("The checkpoint is of a fit with other visits. Remove it, and train again.")
    if kept.mistakes is not None and not (kept.mistakes.index < n_visits).all():
        raise ModelFileError("The checkpoint has updates beyond the last row. Remove it, and train again.")
    _go_on(loop, kept, ("state", "start", "complete"), trace=True)
    loop.losses = kept.losses
    for epoch, updates in enumerate(kept.mistakes_per_pass[: kept.passes], 1):
        loop.plateau.ends(epoch, updates)
    counts = kept.mistakes_per_pass
    loop.recorder.go_on_from(counts, kept.visits_per_pass, [0] * len(counts), kept.mistakes)


def _go_on(loop: Any, kept: Any, names: tuple[str, ...], *, trace: bool) -> None:
    """Let a fit take over `PASSES`, and the states of these names; `trace` says whether it keeps its mistakes."""
    if loop.state.met is None:  # the file may leave out weights of zero
        for name in names:
            state = getattr(kept, name)
            setattr(kept, name, None if state is None else state.spread())
    states = [state for state in (getattr(kept, name) for name in names) if state is not None]
    for held, wanted, what in (
        ({_kind(state) for state in states}, {_kind(loop.state)}, "weights"),
        (kept.tolerance is None, loop.tolerance is None, "tol"),
        (kept.mistakes is not None, trace, "trace"),
    ):
        if held != wanted:
            raise ModelFileError(f"The checkpoint is of a fit with other {what}. Remove it, and train again.")
    loop.start, loop.tolerance = kept.start, kept.tolerance
    loop.state.become(kept.state)
    loop.complete = Complete(kept.complete or kept.state, kept.passes)
    loop.began = time.perf_counter() - kept.seconds


def _kind(state: State) -> tuple[Any, ...]:
    return state.shape, state.average, state.met is None, frozenset(state.memory)


def discard(path: str | os.PathLike[str]) -> None:
    """Remove a checkpoint once the model is saved, unless another run has begun to use it."""
    with suppress(InUseError), hold_lock(path):
        remove(path)


def fingerprint(*parts: Any) -> str:
    """Return a digest of arrays, of tuples of them, and of other values by what `repr` shows of them.

    Examples
    --------
    >>> rows = np.zeros((3, 2))
    >>> fingerprint(rows, None) == fingerprint(np.asfortranarray(rows), None) != fingerprint(rows.T, None)
    True
    """
    digest = hashlib.sha256()
    for array in _arrays(parts):
        if not isinstance(array, np.ndarray):
            digest.update(repr(array).encode(errors="surrogatepass"))
            continue
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        step = max(1, HASHED_BYTES * len(array) // max(1, array.nbytes))
        for first in range(0, len(array), step):
            digest.update(array[first : first + step].tobytes())
    return digest.hexdigest()


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays and single values inside tuples, with the length of each tuple."""
    if not isinstance(value, tuple):
        yield value
        return
    yield len(value)
    for each in value:
        yield from _arrays(each)
