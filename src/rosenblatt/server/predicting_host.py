"""Predictions: what every process of a server does, the one that writes and the others."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from typing import Any

import msgspec
import numpy as np

from rosenblatt.exceptions import PredictionOverflowError
from rosenblatt.reports.row_explanation import RowExplanation, machines_of, row_values
from rosenblatt.rows.batch import are_mappings
from rosenblatt.rows.features import Features
from rosenblatt.server.events import PackedRows
from rosenblatt.server.journal import Journal
from rosenblatt.server.limits import read_message
from rosenblatt.server.messages import (
    ClassExplanation,
    Contribution,
    ExplainAnswer,
    PredictAnswer,
    PredictRequest,
    RequestError,
    Row,
    read_id,
    time_of,
)
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import ServedModel

# The weights behind one answer.

MAX_EXPLAINED_FEATURES = 100
"""Features that an answer names, for each class."""


def explain(model: ServedModel, replica: Replica, features: Features, raw: Features | None) -> ExplainAnswer:
    """Return what the features, or the support points, add to the scores of one row, the largest first.

    The raw row has the values of the data; None where they are not known.
    """
    online = replica.online
    inputs = online.seen_by_stream(features)
    labels, scores = replica.decide(features)
    scheme = online.stream.scheme
    binary = scheme.kind == "binary"
    if online.stream.linear:
        columns, values, used = row_values(inputs if raw is None else raw, inputs)
        weights = np.atleast_2d(online.stream.state.part(columns).hypothesis())
        by, names = "feature", tuple(_name(model.names, column) for column in columns.tolist())
        values = np.full(len(used), np.nan) if raw is None else values
    else:
        expansion: Any = online.model()
        values = used = expansion.kernel_values(inputs)
        weights = np.column_stack([np.atleast_2d(expansion.alpha), np.atleast_1d(expansion.intercept)])
        by, names = "support point", tuple(f"support point {k}" for k in range(len(values)))
    explained = []
    for k, label in enumerate(replica.classes[-1:] if binary else replica.classes):
        which, signs = machines_of(scheme, k)
        machines, biases = weights[which, :-1], weights[which, -1]
        score = scores[0] if binary else scores[0][k]
        found = RowExplanation(
            0, labels[0], label, score, by, names, values, used, machines=machines, biases=biases, signs=signs
        )
        parts = found.to_json()["parts"][:MAX_EXPLAINED_FEATURES]
        contributions = [Contribution(feature=part.pop("name"), **part) for part in parts]
        explained.append(ClassExplanation(label, score, found.bias, contributions, found.rounding))
    return ExplainAnswer(replica.version, labels[0], explained)


def _name(names: tuple[str, ...] | None, place: int) -> str:
    return f"x{place + 1}" if names is None else str(names[place])


PREDICTIONS_KEPT = 24 * 3600.0
"""Seconds that a prediction is remembered."""
MAX_ROWS_INLINE = 64
"""Rows that are predicted without handing them to another thread."""
ROW = msgspec.json.Decoder(Row)
LONGEST_WAIT = 1.0
"""Seconds that a request waits for its `min_version`."""


class PredictingHost(ABC):
    """Models by name, and a connection to their journal that only reads."""

    reader: Journal

    def __init__(self) -> None:
        self.models: dict[str, ServedModel] = {}

    @abstractmethod
    async def remember(
        self, model: ServedModel, request: PredictRequest, answer: PredictAnswer, features: Any
    ) -> PredictAnswer:
        """Keep predictions, and give each its id."""

    def model(self, name: str) -> ServedModel:
        """Return the model with a name."""
        found = self.models.get(name)
        if found is None:
            raise RequestError(404, f"There is no model {name[:64]!r}. GET /v1/models lists the models.")
        return found

    async def predict(self, name: str, request: PredictRequest) -> PredictAnswer:
        """Answer with labels and scores."""
        model = self.model(name)
        if request.min_version is not None:
            await self._reach(model, request.min_version)
        if len(request.rows) > MAX_ROWS_INLINE:
            answer, features = await asyncio.to_thread(self._predict, model, request)
        else:
            answer, features = self._predict(model, request)
        return await self.remember(model, request, answer, features) if request.remember else answer

    def _predict(self, model: ServedModel, request: PredictRequest) -> tuple[PredictAnswer, Any]:
        with model.reading() as replica:
            features = model.features(request.rows)
            return _decided(replica, features), features

    def answer_of(self, model: ServedModel, replica: Replica, rows: list[Any]) -> PredictAnswer:
        """Answer as an earlier version did, whose replica nobody changes."""
        names = replica.online.known_vocabulary if are_mappings(rows) else None
        return _decided(replica, model.features(rows, names))

    async def _reach(self, model: ServedModel, version: int) -> None:
        end = time.monotonic() + LONGEST_WAIT
        while model.version < version:
            if time.monotonic() > end:
                raise RequestError(
                    409, f"{model.name} is at version {model.version}, not yet at {version}.", retry_after=1.0
                )
            await asyncio.sleep(0.005)

    async def explain(self, name: str, row: str | None, number: str | None) -> ExplainAnswer:
        """Return the weights behind the answer to a row of JSON, or to a remembered prediction."""
        model = self.model(name)
        if (row is None) == (number is None):
            raise RequestError(422, "Send either row, a row as JSON, or id, that of a remembered prediction.")
        with model.reading() as replica:
            if row is not None:
                rows = [read_message(ROW, row.encode("utf-8", "replace"))]
                features = model.features(rows)
                raw: Features | None = model.raw(rows, features)
            else:
                features = self._kept(model, str(number))
                raw = None if model.prepares else features
            try:
                return explain(model, replica, features, raw)
            except PredictionOverflowError as error:
                raise RequestError.by(error) from error

    def _kept(self, model: ServedModel, text: str) -> Features:
        """Return the row of a prediction that is remembered."""
        number = read_id(text, "The id", 422)
        body = self.reader.prediction(model.number, number)
        if body is None:
            if (
                time_of(number) < time.time() - PREDICTIONS_KEPT
                or number <= self.reader.models()[model.name].forgotten
            ):
                raise RequestError(410, f"The prediction {text} is no longer kept.")
            raise RequestError(404, f"There is no prediction {text}. Predict with remember: true first.")
        features: Features = msgspec.msgpack.decode(body, type=PackedRows).features()
        return features


def _decided(replica: Replica, features: Features) -> PredictAnswer:
    try:
        labels, scores = replica.decide(features)
    except PredictionOverflowError as error:
        raise RequestError.by(error) from error
    return PredictAnswer(labels, scores, replica.classes, replica.version)
