"""The record of a run as a table and as a file."""

from __future__ import annotations

import csv
from dataclasses import fields
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import replacing
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.learning.recorder import Mistakes
from rosenblatt.learning.scheme import Scheme
from rosenblatt.learning.state import State
from rosenblatt.loops.rules import MEMORIES, Memory, Penalty

if TYPE_CHECKING:
    from rosenblatt.learning.trace import Trace

FORMAT = 1
MOST_VISITS = 10**12  # a month of training; a damaged file may claim more than a replay can count


def to_frame(trace: Trace, backend: Any) -> Any:
    """Return one row for each mistake as a DataFrame of the library named."""
    import narwhals as nw

    if backend not in ("pandas", "polars", "pyarrow"):
        raise ParameterError(f"backend={backend!r} is not known. Use 'pandas', 'polars' or 'pyarrow'.")
    columns = {name: np.ascontiguousarray(getattr(trace, name)) for name in trace.columns}
    return nw.from_dict(columns, backend=backend).to_native()


def save(trace: Trace, path: Path) -> None:
    """Write the record to `path`, in the format of its suffix."""
    writers = {".npz": _write_npz, ".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise ParameterError(f"path={str(path)!r} must end in {', '.join(writers)}.")
    with replacing(path) as file:
        writers[path.suffix](trace, file)


def load(path: Path) -> Trace:
    """Read an ``.npz`` file that `save` wrote."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
        version = held["format"].item()
        trace = _from_arrays(held) if version == FORMAT else None
    except FileNotFoundError:
        raise
    except Exception as error:  # any error that zip, zlib or numpy raise for a damaged file
        raise InputError(f"{path} is not a trace written by Trace.save: {error}") from error
    if trace is None:
        raise InputError(f"{path} is a trace of format {version}; this version reads format {FORMAT}.")
    return trace


def _from_arrays(held: dict[str, Any]) -> Trace:
    from rosenblatt.learning.trace import Trace

    memory = {name: found for name, kind in MEMORIES.items() if (found := _memory(kind, held)) is not None}
    begun = State(held["start_w"], held.get("start_u"), int(held["start_visits"]), memory=memory)
    trace = Trace(
        mistakes=Mistakes(*(held[name] for name in Mistakes._fields)) if "index" in held else None,
        mistakes_per_pass=held["mistakes_per_pass"],
        visits_per_pass=held["visits_per_pass"],
        start=begun,
        n_rows=int(held["n_rows"]),
        n_features=int(held["n_features"]),
        scheme=Scheme(str(held["scheme"]), len(held["classes"])),  # type: ignore[arg-type]  # checked below
        classes=held["classes"],
        bias=float(held["bias"]),
        radius=float(held["radius"]) if "radius" in held else None,
        zero=int(held["zero"]),
        penalty=Penalty(*map(float, held["penalty"])) if "penalty" in held else None,
        cut=int(held["cut"]) if "cut" in held else None,
    )
    require_sound(trace)
    return trace


def _memory(kind: type[Memory], held: dict[str, Any]) -> Memory | None:
    """Return what a record keeps of one kind of memory, if it keeps any."""
    names = {each.name: _exported(kind, each.name) for each in fields(kind)}
    if not held.keys() & set(names.values()):
        return None
    made = {field: float(held[name]) if field in kind.least else held[name] for field, name in names.items()}
    return kind(**made)


def _exported(kind: type[Memory], field: str) -> str:
    return kind.exported.get(field, f"start_{kind.name}_{field}")


def require_sound(trace: Trace) -> None:
    """Require that a record from a file is safe for the loops, which check no index and no length."""
    if not (sound_run(trace) and _sound_start(trace) and (trace.mistakes is None or sound_mistakes(trace))):
        raise ValueError("its parts contradict each other")


def sound_run(trace: Trace) -> bool:
    """Return whether counts, classes and visits of a record fit together."""
    counts, visits, n_classes = trace.mistakes_per_pass, trace.visits_per_pass, len(trace.classes)
    return (
        _is_column(counts, np.int64)
        and _is_column(visits, np.int64)
        and len(counts) == len(visits)
        and trace.scheme.kind in (("binary",) if n_classes in (1, 2) else ("direct", "ovr", "ovo"))
        and trace.n_features >= 1
        and bool((counts >= 0).all())
        and bool((counts <= visits * trace.scheme.n_machines).all())
        and 0 <= trace.start.visits <= MOST_VISITS
        and int(visits.sum()) <= MOST_VISITS
    )


def _sound_start(trace: Trace) -> bool:
    w, u, kept = trace.start.w, trace.start.u, trace.start.memory.values()
    weights = [w, *([] if u is None else [u]), *(array for memory in kept for array in memory.shaped)]
    if any(memory.fault() is not None for memory in kept):
        return False
    shape = trace.scheme.shape(trace.n_features)
    if not all(array.dtype == np.float64 and array.shape == shape for array in weights):
        return False
    if trace.start.shrunk is None or trace.penalty is None:
        return trace.start.shrunk is None and trace.penalty is None
    keep, rent = trace.penalty
    return 0.0 < keep <= 1.0 and 0.0 <= rent < np.inf


def sound_mistakes(trace: Trace) -> bool:
    """Return whether the mistakes of a record have rows, machines and visits that exist."""
    visit, index, score, step, machine = trace.mistakes  # type: ignore[misc]  # called only if there are some
    machines = 2 if trace.scheme.kind == "binary" else trace.scheme.n_machines
    ends = trace.start.visits + np.repeat(np.cumsum(trace.visits_per_pass), trace.mistakes_per_pass)
    begins = ends - np.repeat(trace.visits_per_pass, trace.mistakes_per_pass)
    return (
        _is_column(visit, np.int64)
        and (_is_column(index, np.int32) or _is_column(index, np.int64))
        and _is_column(score, np.float64)
        and _is_column(step, np.float64)
        and _is_column(machine, np.int32)
        and all(len(column) == len(trace) for column in (visit, index, score, step, machine))
        and bool(((index >= 0) & (index < trace.n_rows)).all())
        and bool(((machine >= 0) & (machine < machines)).all())
        and bool(((visit >= begins) & (visit < ends)).all())
        and bool((np.diff(visit) >= 0).all())
    )


def _is_column(array: NDArray[Any], dtype: Any) -> bool:
    return array.dtype == dtype and array.ndim == 1


def _write_npz(trace: Trace, file: BinaryIO) -> None:
    texts = all(isinstance(label, str) for label in trace.classes)
    classes = np.array(trace.classes.tolist()) if texts else trace.classes  # strings of frames are objects
    if classes.dtype.hasobject:
        raise InputError(
            f"Labels of mixed types ({', '.join(map(repr, trace.classes))}) cannot be stored in an .npz file. "
            "Use numbers or strings, or save as .csv."
        )
    held: dict[str, Any] = {} if trace.mistakes is None else trace.mistakes._asdict()
    held |= {
        name: getattr(trace, name)
        for name in ("mistakes_per_pass", "visits_per_pass", "n_rows", "n_features", "bias", "zero")
    }
    held |= {"classes": classes, "scheme": trace.scheme.kind, "format": FORMAT}
    start = trace.start.spread()
    held |= {"start_w": start.w, "start_visits": start.visits}
    if start.u is not None:
        held["start_u"] = start.u
    if trace.penalty is not None:
        held["penalty"] = np.array(trace.penalty)
    for memory in start.memory.values():
        held |= {_exported(type(memory), name): value for name, value in memory.parts.items()}
    held |= {name: value for name in ("radius", "cut") if (value := getattr(trace, name)) is not None}
    np.savez_compressed(file, allow_pickle=False, **held)


def _write_csv(trace: Trace, file: BinaryIO) -> None:
    text = TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(trace.columns)
    writer.writerows(zip(*(getattr(trace, name).tolist() for name in trace.columns), strict=True))
    text.detach()  # the file stays open for the caller


def _write_parquet(trace: Trace, file: BinaryIO) -> None:
    from pyarrow.parquet import write_table

    write_table(to_frame(trace, "pyarrow"), file)
