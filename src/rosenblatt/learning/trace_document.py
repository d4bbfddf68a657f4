"""Runs as JSON documents, which the lab page plays and which hold everything that a replay needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import InputError
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import State
from rosenblatt.learning.trace import Mistakes, require_sound
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.rules import tie_shares
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

if TYPE_CHECKING:
    from rosenblatt.learning.trace import Trace

FORMAT, VERSION = "rosenblatt-run", 1
# The version of documents with more than two classes: lists of machines, and classes by number
SEVERAL_CLASSES_VERSION = 2
SCHEMES = ("direct", "ovr", "ovo")
MOST_VALUES = 2_000_000  # numbers in X, visits in the order: a document is text, and a browser reads it at once

NUMBER, LIST, TEXT = (int, float), (list,), (str,)
OPTIONAL = type(None)
FIELDS: dict[str, dict[str, Any]] = {
    "data": {"features": LIST, "labels": LIST, "X": LIST, "y": LIST},
    "rule": {
        "eta": (*NUMBER, OPTIONAL),
        "beta": NUMBER,
        "radius": (*NUMBER, OPTIONAL),
        "margin": (*NUMBER, OPTIONAL),
        "tie": (*TEXT, OPTIONAL),
        "zero": NUMBER,
    },
    "start": {"w": LIST, "b": NUMBER, "visits": (int,), "sums": (*LIST, OPTIONAL)},
    "order": {"repeat": (bool,), "passes": LIST},
    "mistakes": {"visit": LIST, "index": LIST, "score": LIST, "step": LIST},
    "passes": {"visits": LIST, "mistakes": LIST},
    "end": {"w": LIST, "b": NUMBER, "average": (*LIST, OPTIONAL), "reason": (*TEXT, OPTIONAL)},
}
FIELDS_OF_SEVERAL: dict[str, dict[str, Any]] = FIELDS | {
    "start": FIELDS["start"] | {"b": LIST},
    "mistakes": FIELDS["mistakes"] | {"machine": LIST},
    "end": FIELDS["end"] | {"b": LIST},
}


def to_document(
    trace: Trace,
    X: MatrixLike,
    y: ColumnLike,
    *,
    eta: float | None = None,
    margin: float | None = None,
    tie: str | None = None,
    order: Sequence[Any] | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the run as plain dicts, lists and numbers; see `Trace.to_document`."""
    if len(trace.classes) < 2:
        raise InputError("A run document holds two or more classes, but this run has met one. Train on more rows.")
    if trace.penalty is not None:
        raise InputError("A run document has no place for a penalty. Train with penalty=None.")
    if trace.start.averaging is not None:
        raise InputError("A run document has no place for an average that begins late. Train with average=True.")
    if trace.start.moves_more:
        raise InputError("A run document has no place for variances or powers of weights. Save the trace as .npz.")
    if trace.n_rows * trace.n_features > MOST_VALUES:
        raise InputError(
            f"X has {trace.n_rows * trace.n_features} values, but a run document holds at most {MOST_VALUES}. "
            "Train on fewer rows or features."
        )
    hypothesis = trace.replay(X, y)  # also checks that this is the data of the run
    start = trace.start.spread()
    last = replace(trace, start=State(start.w, None, start.visits)).replay(X, y)
    batch = trace._batch(X, y)
    if isinstance(batch.rows, CSR):
        raise InputError("A run document holds dense rows, but X is sparse. Train on X.toarray().")
    several = trace.scheme.kind != "binary"
    fields = FIELDS_OF_SEVERAL if several else FIELDS
    return {
        "format": FORMAT,
        "version": SEVERAL_CLASSES_VERSION if several else VERSION,
        **({"scheme": trace.scheme.kind} if several else {}),
        "data": {
            "features": list(batch.names or (f"x{j + 1}" for j in range(trace.n_features))),
            "labels": [_label(label) for label in trace.classes.tolist()],
            "X": batch.rows.astype(np.float64).tolist(),
            "y": (batch.codes if several else batch.signs).tolist(),
        },
        "rule": {
            "eta": None if eta is None else float(eta),
            "beta": float(trace.bias),
            "radius": None if trace.radius is None else float(trace.radius),
            "margin": None if margin is None else float(margin),
            "tie": tie,
            "zero": int(trace.zero),
        },
        "start": {
            "w": start.w[..., :-1].tolist(),
            "b": start.w[..., -1].tolist(),
            "visits": int(start.visits),
            "sums": None if start.u is None else start.u.tolist(),
        },
        "order": None if order is None else _written_order(trace, order),
        "mistakes": {name: getattr(trace, name).tolist() for name in fields["mistakes"]},
        "passes": {"visits": trace.visits_per_pass.tolist(), "mistakes": trace.mistakes_per_pass.tolist()},
        "end": {
            "w": _weights(last, several)[..., :-1].tolist(),
            "b": _weights(last, several)[..., -1].tolist(),
            "average": None if start.u is None else _weights(hypothesis, several).tolist(),
            "reason": reason,
        },
    }


def _weights(model: LinearModel, several: bool) -> Floats:
    """Return the weights of a model with the bias last: of one machine, or of each."""
    padded = np.column_stack([np.atleast_2d(model.coef), np.ravel(model.intercept)])
    return padded if several else padded[0]


def from_document(document: Any) -> tuple[Trace, Floats, NDArray[Any]]:
    """Read a run document; return its trace, X and y. See `Trace.from_document`."""
    from rosenblatt.learning.trace import Trace

    _require_shape(document)
    data, rule, start, end = (document[name] for name in ("data", "rule", "start", "end"))
    several = document["version"] == SEVERAL_CLASSES_VERSION
    alike = len({type(label) for label in data["labels"]}) == 1
    classes = np.array(data["labels"], None if alike else object)
    X, y = np.array(data["X"], np.float64), np.array(data["y"], np.int64)
    codes = y if several else (y + 1) // 2
    weights = np.column_stack([np.atleast_2d(np.array(start["w"], np.float64)), np.ravel(start["b"])])
    weights = np.ascontiguousarray(weights if several else weights[0], np.float64)
    sums = None if start["sums"] is None else np.array(start["sums"], np.float64)
    passes, kept = document["passes"], document["mistakes"]
    trace = Trace(
        mistakes=Mistakes(
            visit=np.array(kept["visit"], np.int64),
            index=np.array(kept["index"], np.int64),
            score=np.array(kept["score"], np.float64),
            step=np.array(kept["step"], np.float64),
            machine=np.array(kept["machine"] if several else [0] * len(kept["visit"]), np.int32),
        ),
        mistakes_per_pass=np.array(passes["mistakes"], np.int64),
        visits_per_pass=np.array(passes["visits"], np.int64),
        start=State(weights, sums, start["visits"]),
        n_rows=len(X),
        n_features=len(data["features"]),
        scheme=Scheme(document["scheme"], len(classes)) if several else Scheme("binary", 2),
        classes=classes,
        bias=float(rule["beta"]),
        radius=None if rule["radius"] is None else float(rule["radius"]),
        zero=int(rule["zero"]),
    )
    try:
        require_sound(trace)
    except ValueError as error:
        raise InputError(f"The run document cannot be a run: {error}. Write it again from the trace.") from None
    if document["order"] is not None:
        _require_visits(document["order"], trace)
    labels = classes[codes]
    last = replace(trace, start=State(weights, None, start["visits"])).replay(X, labels)
    # Other programs write large floats without a point; as floats they are equal again.
    ends = [np.array(end[name], np.float64) for name in ("w", "b")]
    if not all(map(np.array_equal, (_weights(last, several)[..., :-1], _weights(last, several)[..., -1]), ends)):
        raise InputError("The run document ends with other weights than its mistakes lead to. Write it again.")
    return trace, X, labels


def _label(label: Hashable) -> Any:
    if not isinstance(label, bool | int | float | str) or (isinstance(label, float) and not isfinite(label)):
        raise InputError(f"The label {label!r} has no place in a run document. Use numbers or strings.")
    return label


def _written_order(trace: Trace, order: Sequence[Any]) -> dict[str, Any]:
    """Write the visits: one array is the order of each pass, a list of arrays has one for each."""
    several = len(order) > 0 and np.ndim(order[0]) == 1
    passes = [np.asarray(each, np.int64).tolist() for each in (order if several else [order])]
    passes = passes[: len(trace.visits_per_pass)] if several else passes
    written = {"repeat": not several, "passes": passes}
    if sum(len(each) for each in passes) > MOST_VALUES:
        raise InputError(
            f"The order has more than {MOST_VALUES} visits. Leave it out, and the lab steps from mistake to "
            "mistake."
        )
    _require_visits(written, trace)
    return written


def _require_visits(order: dict[str, Any], trace: Trace) -> None:
    """Require that an order makes the visits of the run: its mistakes lie on the rows that it names."""
    passes: Iterable[list[int]] = order["passes"]
    if order["repeat"]:
        passes = [order["passes"][0]] * len(trace.visits_per_pass) if len(order["passes"]) == 1 else []
    made = list(zip(passes, trace.visits_per_pass.tolist(), strict=False))
    if len(made) < len(trace.visits_per_pass) or any(len(rows) < count for rows, count in made):
        raise InputError("The order has fewer visits than the run made. Pass the order of the run, pass by pass.")
    visits = np.array([row for rows, count in made for row in rows[:count]], np.int64)
    wrong = np.flatnonzero(visits[trace.visit - trace.start.visits] != trace.index)
    if wrong.size or ((visits < 0) | (visits >= trace.n_rows)).any():
        place = f": mistake {wrong[0]} was on row {trace.index[wrong[0]]}" if wrong.size else ""
        raise InputError(f"The order is not that of the run{place}. Pass the order that the run had.")


def _require_shape(document: Any) -> None:
    """Require every field of a document to be there and of its type, and numbers to be finite."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f'This is not a run document: it has no "format": "{FORMAT}".')
    several = document.get("version") == SEVERAL_CLASSES_VERSION
    if not several and document.get("version") != VERSION:
        raise InputError(
            f"The run document has version {document.get('version')!r}; "
            f"{VERSION} and {SEVERAL_CLASSES_VERSION} can be read."
        )
    if several and document.get("scheme") not in SCHEMES:
        raise InputError(f"The scheme of the run document must be one of {', '.join(SCHEMES)}. Write it again.")
    for part, fields in (FIELDS_OF_SEVERAL if several else FIELDS).items():
        value = document.get(part)
        if part == "order" and value is None and part in document:
            continue
        if not isinstance(value, dict):
            raise InputError(f"The run document has no object {part!r}. Write it again from the trace.")
        for name, kinds in fields.items():
            if name not in value or not isinstance(value[name], kinds) or _is_odd(value[name], kinds):
                raise InputError(
                    f"{part}.{name} of the run document is missing or of another type. Write it again."
                )
    _require_lists(document)


def _is_odd(value: object, kinds: tuple[type, ...]) -> bool:
    """Whether a number is not finite, or a truth value where a number is meant."""
    if isinstance(value, bool):
        return bool not in kinds
    return isinstance(value, float) and not isfinite(value)


def _require_lists(document: dict[str, Any]) -> None:
    data, rule, start, end = (document[name] for name in ("data", "rule", "start", "end"))
    width = len(data["features"])
    several = document["version"] == SEVERAL_CLASSES_VERSION
    machines = Scheme(document["scheme"], len(data["labels"])).n_machines if several else 1
    order = document["order"] or {"passes": []}

    def vectors(name: str, value: Any, length: int) -> dict[str, tuple[Any, int | None]]:
        """Return one list of numbers, or one for each machine."""
        if not several:
            return {name: (value, length)}
        if len(value) != machines:
            raise InputError(f"{name} of the run document must hold {machines} lists, but holds {len(value)}.")
        return {f"{name}[{m}]": (each, length) for m, each in enumerate(value)}

    numbers = {
        **{f"data.X[{i}]": (row, width) for i, row in enumerate(data["X"])},
        **vectors("start.w", start["w"], width),
        **vectors("end.w", end["w"], width),
        **({} if start["sums"] is None else vectors("start.sums", start["sums"], width + 1)),
        **({} if end["average"] is None else vectors("end.average", end["average"], width + 1)),
        **({"start.b": (start["b"], machines), "end.b": (end["b"], machines)} if several else {}),
        "mistakes.score": (document["mistakes"]["score"], None),
        "mistakes.step": (document["mistakes"]["step"], None),
    }
    whole = {
        "data.y": (data["y"], len(data["X"])),
        "passes.visits": (document["passes"]["visits"], None),
        "passes.mistakes": (document["passes"]["mistakes"], None),
        "mistakes.visit": (document["mistakes"]["visit"], None),
        "mistakes.index": (document["mistakes"]["index"], None),
        **({"mistakes.machine": (document["mistakes"]["machine"], None)} if several else {}),
        **{f"order.passes[{p}]": (rows, None) for p, rows in enumerate(order["passes"])},
    }
    for lists, kinds in ((numbers, NUMBER), (whole, (int,))):
        for name, (values, length) in lists.items():
            sound = isinstance(values, list) and all(
                isinstance(each, kinds) and not isinstance(each, bool) and isfinite(each) for each in values
            )
            if not sound or (length is not None and len(values) != length):
                raise InputError(f"{name} of the run document is not a list of {length or 'finite'} numbers.")
    classes = len(data["labels"])
    if (classes < 3 if several else classes != 2) or not width or not data["X"]:
        raise InputError(
            f"The run document needs {'three or more' if several else 'two'} labels, a feature and a row."
        )
    for label in data["labels"]:
        _label(label)
    if len(set(data["labels"])) < classes:
        raise InputError("The run document needs different labels. Write it again from the trace.")
    if not all(0 <= each < classes if several else each in (-1, 1) for each in data["y"]):
        raise InputError(f"data.y of the run document must be {'classes from 0' if several else '−1 or 1'}.")
    if rule["zero"] not in (-1, 1):
        raise InputError("rule.zero of the run document must be −1 or 1.")
    if several and not all(0 <= each < machines for each in document["mistakes"]["machine"]):
        raise InputError("mistakes.machine of the run document names a machine that does not exist.")
    if rule["tie"] is not None:
        tie_shares(rule["tie"], rule["zero"])
