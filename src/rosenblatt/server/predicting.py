"""Predictions: what every process of a server does, the one that writes and the others."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from typing import Any

import msgspec

from rosenblatt.data.features import Features
from rosenblatt.data.single import are_mappings
from rosenblatt.exceptions import PredictionOverflowError
from rosenblatt.server.events import PackedRows
from rosenblatt.server.explaining import explain
from rosenblatt.server.journal import Journal
from rosenblatt.server.keys import read_key, time_of
from rosenblatt.server.limits import read_message
from rosenblatt.server.messages import ExplainAnswer, PredictAnswer, PredictRequest, Row
from rosenblatt.server.places import in_words_of_calls, place_of
from rosenblatt.server.problems import RequestError
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import ServedModel

__all__ = ["PredictingHost"]

PREDICTIONS_KEPT = 24 * 3600.0
"""Seconds that a prediction is remembered."""
AT_ONCE = 64
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
            raise RequestError.of(404, f"There is no model {name[:64]!r}. GET /v1/models lists the models.")
        return found

    async def predict(self, name: str, request: PredictRequest) -> PredictAnswer:
        """Answer with labels and scores."""
        model = self.model(name)
        if request.min_version is not None:
            await self._reach(model, request.min_version)
        if len(request.rows) > AT_ONCE:
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
        names = replica.learner._known_vocabulary() if are_mappings(rows) else None
        return _decided(replica, model.features(rows, names))

    async def _reach(self, model: ServedModel, version: int) -> None:
        end = time.monotonic() + LONGEST_WAIT
        while model.version < version:
            if time.monotonic() > end:
                raise RequestError.of(
                    409, f"{model.name} is at version {model.version}, not yet at {version}.", retry_after=1.0
                )
            await asyncio.sleep(0.005)

    async def explain(self, name: str, row: str | None, number: str | None) -> ExplainAnswer:
        """Return the weights behind the answer to a row of JSON, or to a remembered prediction."""
        model = self.model(name)
        if (row is None) == (number is None):
            raise RequestError.of(422, "Send either row, a row as JSON, or id, that of a remembered prediction.")
        with model.reading() as replica:
            if row is not None:
                features = model.features([read_message(ROW, row.encode("utf-8", "replace"))])
            else:
                features = self._kept(model, str(number))
            try:
                return explain(model, replica, features)
            except PredictionOverflowError as error:
                raise RequestError.of(422, str(error)) from error

    def _kept(self, model: ServedModel, text: str) -> Features:
        """Return the row of a prediction that is remembered."""
        number = read_key(text, "The id", 422)
        body = self.reader.prediction(model.number, number)
        if body is None:
            if time_of(number) < time.time() - PREDICTIONS_KEPT or number <= self.reader.forgotten(model.number):
                raise RequestError.of(410, f"The prediction {text} is no longer kept.")
            raise RequestError.of(404, f"There is no prediction {text}. Predict with remember: true first.")
        features: Features = msgspec.msgpack.decode(body, type=PackedRows).features()
        return features


def _decided(replica: Replica, features: Features) -> PredictAnswer:
    try:
        labels, scores = replica.decide(features)
    except PredictionOverflowError as error:
        place = place_of(str(error), (), None, ())
        raise RequestError.of(422, in_words_of_calls(str(error)), **place) from error
    return PredictAnswer(labels, scores, replica.classes, replica.version)
