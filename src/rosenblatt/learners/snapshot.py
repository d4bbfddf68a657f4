"""All that a fit needs to go on from where it stands."""

from __future__ import annotations

import time
from typing import NamedTuple

from rosenblatt.exceptions import ModelFileError
from rosenblatt.learners.fit_loop import Complete
from rosenblatt.learners.perceptron import PerceptronFit
from rosenblatt.model.state import State
from rosenblatt.stopping import Plateau, Tolerance, Validation
from rosenblatt.trace.recorder import Mistakes


class Snapshot(NamedTuple):
    """Where a fit stands between two stretches of visits.

    Attributes
    ----------
    state, start : State
        Now, and before the first pass.
    complete : State or None
        After the last complete pass, where that is not now.
    best : State or None
        After the best pass by validation.
    passes : int
        The complete passes.
    mistakes_per_pass, visits_per_pass : list of int
        Counts of all passes, the one under way included.
    mistakes : Mistakes or None
        All mistakes, where the trace keeps them.
    loss, seconds : float
        The loss of the pass under way, and the time spent.
    validation_errors : list of float
        The error on the rows held out after each pass.
    plateau, validation, tolerance
        The rules that end training.
    """

    state: State
    start: State
    complete: State | None
    best: State | None
    passes: int
    mistakes_per_pass: list[int]
    visits_per_pass: list[int]
    mistakes: Mistakes | None
    loss: float
    seconds: float
    validation_errors: list[float]
    plateau: Plateau
    validation: Validation
    tolerance: Tolerance | None


def snapshot(loop: PerceptronFit) -> Snapshot:
    """Return where a fit stands."""
    recorder = loop.recorder
    return Snapshot(
        state=loop.state,
        start=loop.start,
        complete=loop.complete.state if len(recorder.visits_per_pass) > loop.complete.passes else None,
        best=loop.best if loop.validation.best_epoch else None,
        passes=loop.complete.passes,
        mistakes_per_pass=recorder.mistakes_per_pass,
        visits_per_pass=recorder.visits_per_pass,
        mistakes=recorder.mistakes(),
        loss=loop.loss,
        seconds=time.perf_counter() - loop.began,
        validation_errors=loop.validation_errors,
        plateau=loop.plateau,
        validation=loop.validation,
        tolerance=loop.tolerance,
    )


def restore(loop: PerceptronFit, kept: Snapshot) -> None:
    """Let a fit that has not begun go on from a snapshot of a fit with the same plan and data."""
    for state in (kept.state, kept.start, kept.complete, kept.best):
        _require_like(loop.state, state)
    if (kept.tolerance is None) != (loop.tolerance is None):
        raise ModelFileError("The checkpoint was written by a fit with another tol. Remove it, and train again.")
    if (kept.mistakes is None) != (loop.recorder.detail != "mistakes"):
        raise ModelFileError("The checkpoint was written by a fit with another trace. Remove it, and train again.")
    loop.start = kept.start
    loop.state.become(kept.state)
    loop.complete = Complete(kept.complete or kept.state, kept.passes)
    loop.best = kept.best or kept.start
    loop.loss, loop.began = kept.loss, time.perf_counter() - kept.seconds
    loop.validation_errors = kept.validation_errors
    loop.plateau, loop.validation, loop.tolerance = kept.plateau, kept.validation, kept.tolerance
    loop.recorder.go_on_from(kept.mistakes_per_pass, kept.visits_per_pass, kept.mistakes)


def _require_like(state: State, kept: State | None) -> None:
    """Require weights of the same shape, and the same parts besides."""
    if kept is None:
        return
    known, found = (
        (each.w.shape, each.u is not None, each.shrunk is not None and each.shrunk.paid.shape)
        for each in (state, kept)
    )
    if known != found:
        raise ModelFileError(
            f"The checkpoint has weights of shape {kept.w.shape}, but this fit needs {state.w.shape}, or it was "
            "written by a fit with another average or penalty. Remove it, and train again."
        )
