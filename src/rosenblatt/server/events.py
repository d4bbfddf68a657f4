"""Events as the journal holds them: rows as the learner sees them, so that a replay needs no preparation.

An online scaler belongs to the learner here: the journal has rows before it, so that it is replayed too.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from rosenblatt.loops.layout import CSR
from rosenblatt.rows.features import Features, read_only, stack_rows

INDEX = np.dtype(np.uint32)


class PackedRows(msgspec.Struct, array_like=True, frozen=True):
    """Rows as bytes; `indices` and `ends` only for sparse rows, where `ends` are the ends of the rows."""

    n_rows: int
    n_features: int
    kind: Literal["d", "f"]
    data: bytes
    indices: bytes | None = None
    ends: bytes | None = None

    @classmethod
    def of(cls, features: Features) -> PackedRows:
        """Return features as bytes."""
        rows = features.rows
        if not isinstance(rows, CSR):
            return cls(features.n_rows, features.n_features, _kind(rows), rows.tobytes())
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        ends = (rows.indptr[1:] - rows.indptr[0]).astype(INDEX)
        data, indices = rows.data[first:last], rows.indices[first:last].astype(INDEX, copy=False)
        return cls(
            features.n_rows, features.n_features, _kind(data), data.tobytes(), indices.tobytes(), ends.tobytes()
        )

    def features(self) -> Features:
        """Return the rows as the loops read them."""
        data: Any = np.frombuffer(self.data, self.kind)
        if self.indices is None or self.ends is None:
            return Features(data.reshape(self.n_rows, self.n_features), self.n_rows, self.n_features)
        indptr = np.zeros(self.n_rows + 1, INDEX)
        indptr[1:] = np.frombuffer(self.ends, INDEX)
        rows = CSR(data, np.frombuffer(self.indices, INDEX), read_only(indptr))
        return Features(rows, self.n_rows, self.n_features)


class LearnEvent(msgspec.Struct, array_like=True, frozen=True, tag="learn"):
    """Rows to learn in order."""

    rows: PackedRows  # as the learner sees them
    labels: list[str | int | float | bool]  # one for each row
    weights: list[float] | None = None  # what the steps are multiplied by
    names: list[str] = []  # the features that these rows are the first to have, in the order of their numbers


class RollbackEvent(msgspec.Struct, array_like=True, frozen=True, tag="rollback"):
    """The state becomes that of an earlier version."""

    version: int


class EraseEvent(msgspec.Struct, array_like=True, frozen=True, tag="erase"):
    """Rows were removed; versions from `first` up to this event have ended."""

    first: int


Event = LearnEvent | RollbackEvent | EraseEvent

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Event)
encode_event = _encoder.encode


def decode_event(body: bytes) -> Event:
    """Return the event that bytes of the journal hold."""
    event: Event = _decoder.decode(body)
    return event


def kind_of(event: Event) -> str:
    """Return the kind of an event in one word."""
    return str(event.__struct_config__.tag)


def join_events(parts: list[Features]) -> Features:
    """Return the rows of several events, one below the other, in the layout the loops are compiled for."""
    if len(parts) == 1:
        return parts[0]
    if not all(isinstance(part.rows, CSR) for part in parts):
        return stack_rows(parts)
    rows: list[Any] = [part.rows for part in parts]
    lengths = np.concatenate([np.diff(each.indptr) for each in rows])
    indptr = np.zeros(len(lengths) + 1, INDEX)
    np.cumsum(lengths, out=indptr[1:])
    data = np.concatenate([each.data for each in rows])
    indices = np.concatenate([each.indices for each in rows])
    n_features = max(part.n_features for part in parts)
    return Features(CSR(read_only(data), read_only(indices), read_only(indptr)), len(lengths), n_features)


def _kind(array: Any) -> Literal["d", "f"]:
    return "f" if array.dtype == np.float32 else "d"
