"""The Open Inference Protocol: tensors to rows, and answers to tensors.

A model with named columns takes one tensor for each column; one without takes a matrix, or one tensor of texts.
Texts are BYTES. Labels come back as the tensor ``label``, scores as ``score``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from rosenblatt._version import __version__
from rosenblatt.server.application import MOST_DIGITS, Asked, Call, readyz
from rosenblatt.server.host import Host
from rosenblatt.server.messages import ModelAnswer, PredictAnswer, PredictRequest, RequestError
from rosenblatt.server.served_model import ServedModel
from rosenblatt.tables.recipe import TableRecipe

Datatype = Literal[
    "BOOL",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "FP16",
    "FP32",
    "FP64",
    "BYTES",
]
Element = str | int | float | bool
Parameters = dict[str, Element]
LABEL, SCORE = "label", "score"


class InferTensor(msgspec.Struct, kw_only=True):
    """One input: its elements row by row, flat or nested."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[Element | list[Element]]
    parameters: Parameters = {}


class RequestedOutput(msgspec.Struct, kw_only=True):
    """An output that is wanted."""

    name: str
    parameters: Parameters = {}


class InferRequest(msgspec.Struct, kw_only=True):
    """Inputs to predict."""

    inputs: list[InferTensor]
    id: str | None = None
    outputs: list[RequestedOutput] | None = None
    parameters: Parameters = {}


class OutputTensor(msgspec.Struct, kw_only=True):
    """One output."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[Element]


class InferAnswer(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Labels and scores, and the version that answered."""

    model_name: str
    model_version: str
    outputs: list[OutputTensor]
    id: str | None = None


class TensorMetadata(msgspec.Struct, kw_only=True):
    """A tensor of a model; -1 stands for any number."""

    name: str
    datatype: Datatype
    shape: list[int]


class ModelMetadata(msgspec.Struct, kw_only=True):
    """What a model takes and gives."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


class ModelReady(msgspec.Struct, kw_only=True):
    """Whether a model answers."""

    name: str
    ready: bool


class ServerMetadata(msgspec.Struct, kw_only=True):
    """What the server is."""

    name: str
    version: str
    extensions: list[str]


class LiveAnswer(msgspec.Struct):
    """Whether the process runs."""

    live: bool


class ReadyAnswer(msgspec.Struct):
    """Whether calls are answered."""

    ready: bool


def rows_of(request: InferRequest, columns: Sequence[str] | None) -> list[Any]:
    """Return the rows that inputs hold.

    Examples
    --------
    >>> age = InferTensor(name="age", shape=[2], datatype="FP64", data=[1.5, 2.0])
    >>> rows_of(InferRequest(inputs=[age]), ["age"])
    [{'age': 1.5}, {'age': 2.0}]
    >>> rows_of(InferRequest(inputs=[InferTensor(name="input", shape=[1, 2], datatype="FP64", data=[1, 2])]), None)
    [[1, 2]]
    """
    inputs = request.inputs
    if not inputs:
        raise RequestError(422, "inputs is empty. Send a tensor for each column, or one matrix.")
    if columns is None and len(inputs) == 1:
        return _matrix(inputs[0])
    names = [each.name for each in inputs]
    if len(set(names)) < len(names):
        raise RequestError(422, "Two inputs have the same name. Send one tensor for each column.")
    lists = [_column(each) for each in inputs]
    lengths = {len(each) for each in lists}
    if len(lengths) > 1:
        raise RequestError(
            422, "The inputs have different numbers of rows. Send as many elements for each column."
        )
    return [dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True)]


def _matrix(tensor: InferTensor) -> list[Any]:
    if len(tensor.shape) not in (1, 2) or min(tensor.shape) < 1:
        raise _misshapen(tensor, "[rows] or [rows, features]")
    width = tensor.shape[1] if len(tensor.shape) == 2 else 1
    values = _elements(tensor, tensor.shape[0] * width)
    if tensor.datatype == "BYTES" and width == 1:
        return values
    if len(tensor.shape) == 1:
        raise _misshapen(tensor, "[rows, features]")
    return [values[i * width : (i + 1) * width] for i in range(tensor.shape[0])]


def _column(tensor: InferTensor) -> list[Element]:
    shape = tensor.shape
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] != 1):
        raise _misshapen(tensor, "[rows] or [rows, 1]")
    return _elements(tensor, shape[0])


def _elements(tensor: InferTensor, count: int) -> list[Element]:
    """Return the elements of a tensor in order, each checked against its datatype."""
    values: list[Any] = []
    for each in tensor.data:
        if isinstance(each, list):
            values += each
        else:
            values.append(each)
    if len(values) != count:
        raise RequestError(
            422, f"The input {tensor.name!r} has {len(values)} elements, but its shape has {count}.",
            column=tensor.name,
        )  # fmt: skip
    fits = _fits(tensor.datatype)
    for number, value in enumerate(values):
        if not isinstance(value, fits) or (isinstance(value, bool) and tensor.datatype != "BOOL"):
            raise RequestError(
                422, f"The input {tensor.name!r} is of type {tensor.datatype}, but element {number} is not.",
                row=number, column=tensor.name,
            )  # fmt: skip
    return values


def _fits(datatype: str) -> Any:
    if datatype == "BYTES":
        return str
    if datatype == "BOOL":
        return bool
    return (int, float) if datatype.startswith("FP") else int


def _misshapen(tensor: InferTensor, shape: str) -> RequestError:
    return RequestError(
        422, f"The input {tensor.name!r} has the shape {tensor.shape}, but must have {shape}.", column=tensor.name
    )


def answer_of(name: str, request: InferRequest, found: PredictAnswer) -> InferAnswer:
    """Return labels and scores as tensors: all, or those that the request names."""
    rows = len(found.labels)
    scores: list[Any] = []
    for each in found.scores:
        if isinstance(each, list):
            scores += each
        else:
            scores.append(each)
    several = bool(found.scores) and isinstance(found.scores[0], list)
    outputs = {
        LABEL: OutputTensor(name=LABEL, shape=[rows], datatype=_datatype(found.classes), data=found.labels),
        SCORE: OutputTensor(
            name=SCORE, shape=[rows, len(scores) // rows] if several else [rows], datatype="FP64", data=scores
        ),
    }
    wanted = [each.name for each in request.outputs] if request.outputs else list(outputs)
    for name_of_output in wanted:
        if name_of_output not in outputs:
            raise RequestError(422, f"There is no output {name_of_output[:64]!r}. Ask for {LABEL!r} or {SCORE!r}.")
    return InferAnswer(
        model_name=name,
        model_version=str(found.version),
        outputs=[outputs[each] for each in wanted],
        id=request.id,
    )


def metadata_of(model: ModelAnswer, versions: Iterable[int], inputs: list[TensorMetadata]) -> ModelMetadata:
    """Return what a model takes and gives."""
    n_scores = len(model.classes)
    return ModelMetadata(
        name=model.name,
        versions=[str(each) for each in versions],
        platform=f"rosenblatt_{model.learner.lower()}",
        inputs=inputs,
        outputs=[
            TensorMetadata(name=LABEL, datatype=_datatype(model.classes), shape=[-1]),
            TensorMetadata(name=SCORE, datatype="FP64", shape=[-1, n_scores] if n_scores > 2 else [-1]),
        ],
    )


def _datatype(labels: Sequence[Any]) -> Datatype:
    kinds = {type(label) for label in labels}
    if kinds == {bool}:
        return "BOOL"
    if kinds == {int}:
        return "INT64"
    return "FP64" if kinds <= {int, float} and kinds else "BYTES"


async def server_metadata(host: Host, asked: Asked) -> ServerMetadata:
    """Describe the server."""
    return ServerMetadata(name="rosenblatt", version=__version__, extensions=[])


async def server_live(host: Host, asked: Asked) -> LiveAnswer:
    """Say that the process runs."""
    return LiveAnswer(True)


async def server_ready(host: Host, asked: Asked) -> ReadyAnswer:
    """Say whether examples can be learned."""
    await readyz(host, asked)
    return ReadyAnswer(True)


async def model_metadata(host: Host, asked: Asked) -> ModelMetadata:
    """Describe the tensors that a model takes and gives."""
    told = host.describe(asked.name)
    version = await _version(host, asked)
    inputs = _inputs(host.model(asked.name), told.n_features)
    return metadata_of(told, [told.version if version is None else version], inputs)


async def model_ready(host: Host, asked: Asked) -> ModelReady:
    """Say whether a model answers."""
    host.model(asked.name)
    await _version(host, asked)
    return ModelReady(name=asked.name, ready=True)


async def infer(host: Host, asked: Asked) -> InferAnswer:
    """Predict tensors."""
    model = host.model(asked.name)
    rows = rows_of(asked.message, model.columns)
    wanted = PredictRequest(rows)
    host.limits.require(wanted)
    version = await _version(host, asked)
    if version is None or version == model.version:
        found = await host.predict(asked.name, wanted)
    else:
        replica = await host.administration.replica_at(asked.name, version)
        found = await asyncio.to_thread(host.answer_of, model, replica, rows)
    return answer_of(asked.name, asked.message, found)


async def _version(host: Host, asked: Asked) -> int | None:
    """Return the version of the address, which must be there; None is the newest."""
    text = asked.version
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise RequestError(422, f"A version is a whole number, not {text[:40]!r}.")
    if int(text) != host.model(asked.name).version:
        await host.administration.replica_at(asked.name, int(text))
    return int(text)


def _inputs(model: ServedModel, n_features: int) -> list[TensorMetadata]:
    """Return the tensors that a model takes: one for each column that has a name, else one of all columns."""
    if model.columns is not None:
        kinds = ((name, _datatype_of_column(name in model.numbers)) for name in model.columns)
        return [TensorMetadata(name=name, datatype=kind, shape=[-1]) for name, kind in kinds]
    encoding = model.preparation.encoding
    recipe = None if encoding is None else encoding.recipe
    width, is_number = n_features, True
    if isinstance(recipe, TableRecipe):
        width, is_number = len(recipe.columns), len(recipe.numbers) == len(recipe.columns)
    shape = [-1] if width == 1 and not is_number else [-1, width]
    return [TensorMetadata(name="input", datatype=_datatype_of_column(is_number), shape=shape)]


def _datatype_of_column(is_number: bool) -> Datatype:
    return "FP64" if is_number else "BYTES"


V2 = "/v2/models/{name}"
INFERENCE_CALLS: tuple[Call, ...] = (
    Call("GET", "/v2", "any", None, ServerMetadata, server_metadata),
    Call("GET", "/v2/health/live", None, None, LiveAnswer, server_live),
    Call("GET", "/v2/health/ready", None, None, ReadyAnswer, server_ready),
    *(
        call
        for place in (V2, f"{V2}/versions/{{version}}")
        for call in (
            Call("GET", place, "any", None, ModelMetadata, model_metadata),
            Call("GET", f"{place}/ready", "any", None, ModelReady, model_ready),
            Call("POST", f"{place}/infer", "predict", InferRequest, InferAnswer, infer),
        )
    ),
)
