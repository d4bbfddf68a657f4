"""Which rows an erasure names, and events without them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR, csr_take
from rosenblatt.server.events import LearnEvent, PackedRows, decode_event, encode_event
from rosenblatt.server.keys import read_key
from rosenblatt.server.messages import EraseRequest
from rosenblatt.server.problems import RequestError
from rosenblatt.server.replay import History

__all__ = ["emptied", "named_rows"]

Rows = dict[int, set[int] | None]
"""For each event the rows to erase; None: all of them."""


def named_rows(history: History, request: EraseRequest) -> Rows:
    """Return the rows that a request names; raise `RequestError` if one is not there."""
    rows: Rows = {}
    for each in request.versions:
        rows[each.version] = None if each.rows is None else {*each.rows, *(rows.get(each.version) or ())}
    for text in request.keys:
        found = history.journal.key(history.number, read_key(text, "The key", 422))
        if found is None:
            raise RequestError.of(404, f"No example was sent with the key {text}, or it is no longer kept.")
        rows[found.seq] = None
    if not rows:
        raise RequestError.of(422, "Nothing is named. Send versions, or keys, of the examples to forget.")
    for seq, some in rows.items():
        _require(history, seq, some)
    return rows


def _require(history: History, seq: int, rows: set[int] | None) -> None:
    if 0 < seq <= history.base:
        raise RequestError.of(
            410,
            f"Event {seq} of {history.name} was folded into version {history.base} and cannot be taken out of it. "
            "Train the model again without it.",
        )
    event = history.journal.event(history.number, seq)
    learned = None if event is None else decode_event(event.body)
    if not isinstance(learned, LearnEvent):
        raise RequestError.of(404, f"Version {seq} of {history.name} learned no rows.")
    if rows and not all(0 <= row < learned.rows.n_rows for row in rows):
        raise RequestError.of(422, f"Version {seq} has {learned.rows.n_rows} rows, counted from 0.")


def emptied(history: History, rows: Rows) -> tuple[dict[int, bytes], int]:
    """Return the bodies of events without rows, and how many rows that are.

    Names of features that only these rows had are replaced; their numbers stay, because later rows count on them.
    """
    events: dict[int, LearnEvent] = {}
    erased = 0
    for seq, some in rows.items():
        stored = history.journal.event(history.number, seq)
        assert stored is not None, "it was required to be there"
        event = decode_event(stored.body)
        assert isinstance(event, LearnEvent), "it was required to hold rows"
        left = [row for row in range(event.rows.n_rows) if some is not None and row not in some]
        erased += event.rows.n_rows - len(left)
        events[seq] = _with_rows(event, left)
    named = {seq: event for seq, event in events.items() if event.names}
    if named:
        used = _used(history, min(named), events)
        for seq, event in named.items():
            start = event.rows.n_features - len(event.names)
            names = [name if start + k in used else f"erased-{seq}-{k}" for k, name in enumerate(event.names)]
            events[seq] = msgspec.structs.replace(event, names=names)
    return {seq: encode_event(event) for seq, event in events.items()}, erased


def _with_rows(event: LearnEvent, left: list[int]) -> LearnEvent:
    features = event.rows.features()
    index = np.array(left, np.int64)
    rows = features.rows
    taken = csr_take(rows, index) if isinstance(rows, CSR) else rows[index]
    return LearnEvent(
        PackedRows.of(Features(taken, len(left), features.n_features)),
        [event.labels[row] for row in left],
        None if event.weights is None else [event.weights[row] for row in left],
        event.names,
    )


def _used(history: History, first: int, changed: Mapping[int, LearnEvent]) -> set[int]:
    """Return the features that rows have from an event on."""
    used: set[int] = set()
    for events in history.journal.events(history.number, first - 1, history.newest):
        for stored in events:
            event = changed.get(stored.seq) or decode_event(stored.body)
            if isinstance(event, LearnEvent) and event.rows.indices is not None:
                used.update(np.frombuffer(event.rows.indices, np.uint32).tolist())
    return used
