"""Calls beside learning: the last events, and the Open Inference Protocol."""

from __future__ import annotations

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

MOST_EVENTS = 100
ANSWER = msgspec.json.Decoder(messages.LearnAnswer)


async def events(host: Host, asked: Asked) -> messages.EventsAnswer:
    """List the last events of a model."""
    model = host.model(asked.name)
    wanted = asked.query.get("last", "20")
    if not wanted.isascii() or not wanted.isdigit() or not 1 <= int(wanted) <= MOST_EVENTS:
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
    model = host.model(asked.name)
    _require_current(host, asked)
    told = host.describe(asked.name)
    return inference.metadata_of(told, [told.version], _inputs(model, told.n_features))


async def model_ready(host: Host, asked: Asked) -> inference.ModelReady:
    """Say whether a model answers."""
    host.model(asked.name)
    _require_current(host, asked)
    return inference.ModelReady(name=asked.name, ready=True)


async def infer(host: Host, asked: Asked) -> inference.InferAnswer:
    """Predict tensors."""
    model = host.model(asked.name)
    _require_current(host, asked)
    rows = inference.rows_of(asked.message, model.columns)
    host.limits.require(messages.PredictRequest(rows))
    found = await host.predict(asked.name, messages.PredictRequest(rows))
    return inference.answer_of(asked.name, asked.message, found)


def _require_current(host: Host, asked: Asked) -> None:
    """Only the version that predicts is in memory; `export` gives any other as a file."""
    version = host.model(asked.name).version
    if asked.version is not None and asked.version != str(version):
        raise RequestError.of(
            404, f"Version {version} of this model is served. Its earlier versions can be exported or restored."
        )


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
    "/v1/models/{name}/events": (
        {
            "name": "last",
            "in": "query",
            "description": "How many events.",
            "schema": {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": 20},
        },
    ),
}
