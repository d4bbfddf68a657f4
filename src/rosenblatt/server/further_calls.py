"""Calls beside learning: the last events, and the Open Inference Protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from rosenblatt._version import __version__
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.server import inference, messages
from rosenblatt.server.application import Asked, Call
from rosenblatt.server.host import Host
from rosenblatt.server.problems import RequestError
from rosenblatt.server.served_model import ServedModel

__all__ = ["FURTHER_CALLS", "QUERIES"]

MOST_EVENTS, MOST_DIGITS = 100, 15
ANSWER = msgspec.json.Decoder(messages.LearnAnswer)


async def events(host: Host, asked: Asked) -> messages.EventsAnswer:
    """List the last events of a model."""
    model = host.model(asked.name)
    wanted = asked.query.get("last", "20")
    if not wanted.isascii() or not wanted.isdigit() or len(wanted) > 3 or not 1 <= int(wanted) <= MOST_EVENTS:
        raise RequestError.of(422, f"last must be a number from 1 to {MOST_EVENTS}.")
    newest = model.version
    changes = {seq: kind for seq, kind, *_ in host.reader.changes(model.number)}
    found = []
    for some in host.reader.events(model.number, max(model.base, newest - int(wanted)), newest):
        for event in some:
            summary = messages.EventSummary(event.seq, event.at, changes.get(event.seq, "learn"))
            written = event.answer or host.writer.recent(model, event.seq)
            if written is not None and event.seq not in changes:
                answer = ANSWER.decode(written)
                summary.rows, summary.mistakes, summary.right = answer.rows, answer.mistakes, answer.right
            found.append(summary)
    return messages.EventsAnswer(found[::-1])


async def server_metadata(host: Host, asked: Asked) -> inference.ServerMetadata:
    """Describe the server."""
    return inference.ServerMetadata(name="rosenblatt", version=__version__, extensions=[])


async def server_live(host: Host, asked: Asked) -> inference.LiveAnswer:
    """Say that the process runs."""
    return inference.LiveAnswer(True)


async def server_ready(host: Host, asked: Asked) -> inference.ReadyAnswer:
    """Say whether examples can be learned."""
    reason = host.ready()
    if reason is not None:
        raise RequestError.of(503, f"Nothing can be learned: {reason}")
    return inference.ReadyAnswer(True)


async def model_metadata(host: Host, asked: Asked) -> inference.ModelMetadata:
    """Describe the tensors that a model takes and gives."""
    told = host.describe(asked.name)
    version = await _version(host, asked)
    inputs = _inputs(host.model(asked.name), told.n_features)
    return inference.metadata_of(told, [told.version if version is None else version], inputs)


async def model_ready(host: Host, asked: Asked) -> inference.ModelReady:
    """Say whether a model answers."""
    host.model(asked.name)
    await _version(host, asked)
    return inference.ModelReady(name=asked.name, ready=True)


async def infer(host: Host, asked: Asked) -> inference.InferAnswer:
    """Predict tensors."""
    model = host.model(asked.name)
    rows = inference.rows_of(asked.message, model.columns)
    wanted = messages.PredictRequest(rows)
    host.limits.require(wanted)
    version = await _version(host, asked)
    if version is None or version == model.version:
        found = await host.predict(asked.name, wanted)
    else:
        replica = await host.administration.replica_at(asked.name, version)
        found = await asyncio.to_thread(host.answer_of, model, replica, rows)
    return inference.answer_of(asked.name, asked.message, found)


async def _version(host: Host, asked: Asked) -> int | None:
    """Return the version of the address, which must be there; None is the newest."""
    text = asked.version
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise RequestError.of(422, f"A version is a whole number, not {text[:40]!r}.")
    if int(text) != host.model(asked.name).version:
        await host.administration.replica_at(asked.name, int(text))
    return int(text)


def _inputs(model: ServedModel, n_features: int) -> list[inference.TensorMetadata]:
    """Return the tensors that a model takes: one for each column that has a name, else one of all columns."""
    if model.columns is not None:
        kinds = ((name, _datatype(name in model.numbers)) for name in model.columns)
        return [inference.TensorMetadata(name=name, datatype=kind, shape=[-1]) for name, kind in kinds]
    encoding = model.preparation.encoding
    recipe = None if encoding is None else encoding.recipe
    width, is_number = n_features, True
    if isinstance(recipe, TableRecipe):
        width, is_number = len(recipe.columns), len(recipe.numbers) == len(recipe.columns)
    shape = [-1] if width == 1 and not is_number else [-1, width]
    return [inference.TensorMetadata(name="input", datatype=_datatype(is_number), shape=shape)]


def _datatype(is_number: bool) -> inference.Datatype:
    return "FP64" if is_number else "BYTES"


V2 = "/v2/models/{name}"
FURTHER_CALLS: tuple[Call, ...] = (
    Call("GET", "/v1/models/{name}/events", "any", None, messages.EventsAnswer, events),
    Call("GET", "/v2", "any", None, inference.ServerMetadata, server_metadata),
    Call("GET", "/v2/health/live", None, None, inference.LiveAnswer, server_live),
    Call("GET", "/v2/health/ready", None, None, inference.ReadyAnswer, server_ready),
    *(
        call
        for place in (V2, f"{V2}/versions/{{version}}")
        for call in (
            Call("GET", place, "any", None, inference.ModelMetadata, model_metadata),
            Call("GET", f"{place}/ready", "any", None, inference.ModelReady, model_ready),
            Call("POST", f"{place}/infer", "predict", inference.InferRequest, inference.InferAnswer, infer),
        )
    ),
)

QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "/v1/models/{name}/export": (
        {
            "name": "version",
            "in": "query",
            "description": "The version; the newest by default.",
            "schema": {"type": "integer", "minimum": 0, "maximum": 10**MOST_DIGITS},
        },
    ),
    "/v1/models/{name}/explain": (
        {
            "name": "row",
            "in": "query",
            "description": "The row, as JSON. Either this or an id must be given.",
            "schema": {"type": "string"},
        },
        {
            "name": "id",
            "in": "query",
            "description": "The id of a remembered prediction.",
            "schema": {"type": "string", "format": "uuid"},
        },
    ),
    "/v1/models/{name}/events": (
        {
            "name": "last",
            "in": "query",
            "description": "How many events.",
            "schema": {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": 20},
        },
    ),
}
