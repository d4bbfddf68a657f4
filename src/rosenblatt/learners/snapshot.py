"""All that a fit needs to go on from where it is, as arrays and plain values."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import ModelFileError
from rosenblatt.learners.perceptron import FitLoop
from rosenblatt.loops.shrinking import Shrunk
from rosenblatt.model.state import State
from rosenblatt.trace.recorder import Mistakes


class Snapshot(NamedTuple):
    """Arrays by name, and values that JSON can hold."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]


def snapshot(loop: FitLoop) -> Snapshot:
    """Return where a fit stands, between two stretches of visits."""
    recorder = loop.recorder
    states = {"state": loop.state, "start": loop.start}
    if len(recorder.visits_per_pass) > loop.complete.passes:
        states["complete"] = loop.complete.state
    if loop.validation.best_epoch:
        states["best"] = loop.best
    arrays = {f"{name}.{part}": array for name, state in states.items() for part, array in _parts(state).items()}
    mistakes = recorder.mistakes()
    if mistakes is not None:
        arrays |= {f"mistakes.{name}": array for name, array in mistakes._asdict().items()}
    facts = {
        "passes": loop.complete.passes,
        "mistakes_per_pass": list(recorder.mistakes_per_pass),
        "visits_per_pass": list(recorder.visits_per_pass),
        "loss": loop.loss,
        "seconds": time.perf_counter() - loop.began,
        "visits": {name: state.visits for name, state in states.items()},
        "validation_errors": list(loop.validation_errors),
        "stops": [dict(vars(stop)) for stop in _stops(loop)],
    }
    return Snapshot({name: np.array(array, order="C") for name, array in arrays.items()}, facts)


def restore(loop: FitLoop, kept: Snapshot) -> None:
    """Put a fit that has not begun where another one stood."""
    try:
        _restore(loop, *kept)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The checkpoint holds something else than this fit needs: {error}.") from error


def _restore(loop: FitLoop, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
    states = {name: _state(name, loop.state, arrays, visits) for name, visits in facts["visits"].items()}
    loop.start = states["start"]
    loop.state.become(states["state"])
    loop.note_as_complete(states.get("complete", states["state"]), int(facts["passes"]))
    loop.best = states.get("best", loop.start)
    loop.loss = float(facts["loss"])
    loop.began = time.perf_counter() - float(facts["seconds"])
    loop.validation_errors = [float(error) for error in facts["validation_errors"]]
    for stop, held in zip(_stops(loop), facts["stops"], strict=True):
        if held.keys() != vars(stop).keys():
            raise ModelFileError("The checkpoint is of another rule to end by.")
        vars(stop).update(held)
    mistakes = None
    if loop.recorder.detail == "mistakes":
        mistakes = Mistakes(*(arrays[f"mistakes.{name}"] for name in Mistakes._fields))
    counts = [int(count) for count in facts["mistakes_per_pass"]]
    loop.recorder.go_on_from(counts, [int(count) for count in facts["visits_per_pass"]], mistakes)


def _stops(loop: FitLoop) -> list[Any]:
    """Return the rules that remember earlier passes."""
    return [loop.plateau, loop.validation, *([] if loop.tolerance is None else [loop.tolerance])]


def _parts(state: State) -> dict[str, NDArray[Any]]:
    parts = {"w": state.w, "u": state.u}
    if state.shrunk is not None:
        parts |= {"sums": state.shrunk.sums, "paid": state.shrunk.paid}
    return {name: array for name, array in parts.items() if array is not None}


def _state(name: str, like: State, arrays: dict[str, NDArray[Any]], visits: int) -> State:
    held = {}
    for part, array in _parts(like).items():
        held[part] = arrays[f"{name}.{part}"].copy()  # what a file gives may not be written to
        if held[part].shape != array.shape or held[part].dtype != np.float64:
            raise ModelFileError(f"The checkpoint has weights of shape {held[part].shape}, not {array.shape}.")
    shrunk = Shrunk(held["sums"], held["paid"]) if "paid" in held else None
    return State(held["w"], held.get("u"), int(visits), shrunk)
