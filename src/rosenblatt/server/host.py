"""A data folder and the models in it, served by one process.

Nobody else may read the folder, and each model begins there as a copy of its file.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec

from rosenblatt.atomic import ASIDE, HAS_OWNERS, replacing
from rosenblatt.exceptions import ParameterError, Remedy, StorageError
from rosenblatt.locking import hold_lock
from rosenblatt.models.files import write_model
from rosenblatt.models.streamed import StreamedLearner
from rosenblatt.server.administration import Administration
from rosenblatt.server.events import PackedRows
from rosenblatt.server.journal import JOURNAL, Journal, JournalError, StoredSnapshot
from rosenblatt.server.limits import USUAL, RequestLimits
from rosenblatt.server.messages import (
    FeedbackRequest,
    LearnRequest,
    ModelAnswer,
    PredictAnswer,
    PredictRequest,
    RequestError,
    Rolling,
    at_time,
    new_id,
    read_id,
    read_key,
    tells_time,
    time_of,
)
from rosenblatt.server.predicting_host import PREDICTIONS_KEPT, PredictingHost
from rosenblatt.server.replay import History, ReplayError
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import Counts, ServedModel, read_learner
from rosenblatt.server.tokens import MODEL_NAME
from rosenblatt.server.writer import FAILED, FULL, Learn, Remember, Special, Work, Writer

log = logging.getLogger("rosenblatt.server")


def prepare_folder(folder: Path) -> None:
    """Make a data folder, or check that no other user can read it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be the data folder: {error.strerror}. Choose another place."
        ) from error
    if not HAS_OWNERS:
        return
    for place, most in [
        (folder, 0o700),
        *((each, 0o600) for each in folder.iterdir() if each.is_file() and each.suffix != ASIDE),
    ]:
        found = place.lstat()
        if found.st_mode & 0o777 & ~most or found.st_uid != os.geteuid():
            raise StorageError(
                f"{place} has the permissions {found.st_mode & 0o777:04o} of user {found.st_uid}, but others may "
                f"not read what was learned. Run: chmod {most:o} {place}"
            )


def tidy_folder(journal: Journal, folder: Path) -> None:
    """Remove what a process left behind that was killed: files it was writing, snapshots that were dropped."""
    for left in folder.glob(f".*{ASIDE}"):
        left.unlink()
    for name, row in journal.models().items():
        known = {each.file for each in journal.snapshots(row.number)}
        for path in folder.glob(f"{name}-*.model"):
            if path.name not in known and path.name[len(name) + 1 : -len(".model")].isdecimal():
                path.unlink()
    try:
        journal.clean()
    except JournalError as error:
        if not error.full:
            raise
        log.warning("Traces of erased rows are still in the journal: %s", error)


def add_model(journal: Journal, folder: Path, name: str, path: str) -> None:
    """Make a model known to the journal, or check that it is the one that is known."""
    if not MODEL_NAME.fullmatch(name):
        told = f"{name!r} cannot be the name of a model: use letters, digits, '_', '-' and '.'."
        raise ParameterError(told, parameter="models", value=name)
    source = hashlib.sha256(Path(path).read_bytes()).digest()
    known = journal.models().get(name)
    if known is not None:
        if known.source != source:
            raise ParameterError(
                f"{folder} serves another model file as {name!r}. Give this one another name with "
                f"NAME={path}, or another folder (" + Remedy("folder") + ").",
                parameter="models",
                value=name,
            )
        return
    stored, learner = read_learner(path)
    file = f"{name}-0.model"
    replica = Replica.of(stored, learner, 0)
    if isinstance(learner, StreamedLearner):
        with open(path, "rb") as old, replacing(folder / file, private=True) as new:
            shutil.copyfileobj(old, new)
    else:  # with the stream that begins now: the next start needs no scikit-learn
        write_model(stored.preparation, learner, folder / file, provenance=stored.provenance)
        os.chmod(folder / file, 0o600)
    digest = replica.digest()
    with journal.transaction():
        number = journal.add_model(name, source)
        journal.add_snapshot(number, StoredSnapshot(0, file, digest, msgspec.json.encode(Counts())))


KEYS_KEPT = 7 * 24 * 3600.0
"""Seconds that a key is remembered."""
MOST_PREDICTIONS = 100_000
SNAPSHOT_EVERY = 10_000


class Host(PredictingHost):
    """The models of a data folder, which is made if it is not there.

    `sources` are model files by the names they are to be served under; a model that the folder knows continues
    there. With `grow`, labels that a model does not know become classes. The last `keep` events stay in the
    journal, or all with None. After every `snapshot_every` events a model is written to a file.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        sources: Mapping[str, str | os.PathLike[str]],
        *,
        grow: bool = False,
        keep: int | None = None,
        snapshot_every: int = SNAPSHOT_EVERY,
        limits: RequestLimits = USUAL,
        writer: type[Writer] = Writer,
    ) -> None:
        self.folder, self.snapshot_every = Path(folder), snapshot_every
        self.failure: str | None = None
        self.limits = limits
        self.closed = False
        self.on_failure: Callable[[], None] = lambda: None
        super().__init__()
        self._in_flight: set[tuple[int, bytes]] = set()
        self._outbox: list[tuple[asyncio.Future[Any], Any]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.administration = Administration(self, keep)
        self._snapshots: dict[int, int] = {}
        self._remembered_since, self._forgot = 0, time.monotonic()
        self._saving: threading.Thread | None = None
        self._held = ExitStack()
        try:
            prepare_folder(self.folder)
            self._held.enter_context(hold_lock(self.folder / JOURNAL))
            self.journal = Journal(self.folder / JOURNAL)
            self._held.callback(self.journal.close)
            self.journal.check()
            tidy_folder(self.journal, self.folder)
            self.writer = writer(self.journal, self.fail, self._settled)
            for name, path in sources.items():
                add_model(self.journal, self.folder, name, os.fspath(path))
            for name in self.journal.models():
                self._begin(name, grow)
            self._require_models()
            self.reader = self.journal.reader()
            self._held.callback(self.reader.close)
        except BaseException:
            self._held.close()
            raise

    def _require_models(self) -> None:
        if not self.models:
            raise ParameterError(f"{self.folder} holds no model yet. Name a model file.", parameter="models")

    def _begin(self, name: str, grow: bool) -> None:
        try:
            model, answers = History(self.journal, self.folder, name).start(grows=grow)
        except FileNotFoundError as error:
            raise ReplayError(
                f"{error.filename} is missing, from which {name} starts. Restore the data folder from a backup."
            ) from error
        model.limit(self.limits)
        self.models[name] = model
        self.writer.serve(model, answers)
        self._snapshots[model.number] = self.journal.snapshots(model.number)[-1].seq

    def start(self) -> None:
        """Begin to write; called in the event loop that serves."""
        self._loop = asyncio.get_running_loop()
        self.writer.start()

    def close(self) -> None:
        """Finish what waits, and give up the folder."""
        if self.closed:
            return
        self.closed = True
        self.writer.close()
        if self._saving is not None:
            self._saving.join()
        self._held.close()

    # Answers from the writer's thread to the event loop

    async def _written(self, make: Callable[[Callable[[Any], None]], Work]) -> Any:
        """Hand work to the writer, and return its answer once it is on disk."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self.writer.submit(make(lambda result: self._outbox.append((future, result))))
        return await future

    def _settled(self, models: set[ServedModel]) -> None:
        if self._outbox and self._loop is not None:
            answers, self._outbox = self._outbox, []
            self._loop.call_soon_threadsafe(_deliver, answers)
        for model in models:
            self._consider_snapshot(model)
            self._consider_forgetting(model)

    def fail(self, reason: str) -> None:
        """Give up, for a reason that operators must see."""
        self.failure = reason
        log.error("Nothing is acknowledged any more: %s", reason)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.on_failure)

    async def special(self, model: ServedModel, act: Callable[[Writer], Any]) -> Any:
        """Let the writer do something alone, and return its answer."""
        return await self._written(lambda done: Special(model, done, act))

    def post(self, model: ServedModel, act: Callable[[Writer], Any]) -> None:
        """Let the writer do something alone, without waiting for it."""
        with suppress(RequestError):  # nothing is written any more
            self.writer.submit(Special(model, lambda _: None, act))

    # In the writer's thread, after each batch

    def want_snapshot(self, model: ServedModel) -> None:
        """Write a snapshot as soon as possible."""
        self._snapshots[model.number] = model.version - self.snapshot_every

    def _consider_snapshot(self, model: ServedModel) -> None:
        due = model.version - self._snapshots[model.number] >= self.snapshot_every
        if due and self.failure is None and (self._saving is None or not self._saving.is_alive()):
            self._snapshots[model.number] = model.version
            arguments = model, model.newest().copy(), model.tally.counts()
            saving = threading.Thread(target=self.administration.save, args=arguments, name="snapshot")
            saving.start()
            self._saving = saving

    def _consider_forgetting(self, model: ServedModel) -> None:
        if self._remembered_since > 1000 or time.monotonic() - self._forgot > 600.0:
            self._remembered_since, self._forgot = 0, time.monotonic()
            self.post(model, lambda _: self.forget())

    # Calls

    async def remember(
        self, model: ServedModel, request: PredictRequest, answer: PredictAnswer, features: Any
    ) -> PredictAnswer:
        """Keep predictions, and give each its id."""
        ids = [new_id() for _ in request.rows]
        bodies = [
            (number.bytes, msgspec.msgpack.encode(PackedRows.of(features.part(slice(row, row + 1)))))
            for row, number in enumerate(ids)
        ]
        await self._written(lambda done: Remember(model, done, bodies))
        self._remembered_since += len(ids)
        answer.ids = [str(number) for number in ids]
        return answer

    async def learn(self, name: str, request: LearnRequest, key: str | None, body: bytes) -> bytes:
        """Learn rows; return the answer once they are on disk."""
        model = self.model(name)
        if key is None:
            raise RequestError(
                400, f"The header Idempotency-Key is missing. Send a new key, such as the UUID {new_id()}."
            )
        number = read_key(key, "The Idempotency-Key", 400)
        if len(request.labels) != len(request.rows):
            raise RequestError(
                422, f"There are {len(request.rows)} rows, but {len(request.labels)} labels.", parameter="labels"
            )
        _require_weights(request)
        rows: Any = request.rows
        if not (model.names_grow and rows and all(isinstance(row, dict) for row in rows)):
            rows = model.features(rows)
        digest = hashlib.sha256(body).digest()
        return await self._learned(model, rows, request.labels, request.weights, number, digest)

    async def _learned(
        self, model: ServedModel, rows: Any, labels: Sequence[Any], weights: Any, key: bytes, digest: bytes
    ) -> bytes:
        flight = model.number, key
        if flight in self._in_flight:
            raise RequestError(409, "A request with this key is under way. Wait for its answer.", retry_after=1.0)
        is_old = tells_time(key) and time_of(key) < time.time() - KEYS_KEPT
        if is_old and self.reader.key(model.number, key) is None:
            days = int(KEYS_KEPT // 86_400)
            raise RequestError(410, f"This key is older than the {days} days that keys are kept. Use a new key.")
        self._in_flight.add(flight)
        try:
            answer = await self._written(lambda done: Learn(model, done, rows, labels, weights, key, digest))
        finally:
            self._in_flight.discard(flight)
        return bytes(answer)

    async def feedback(self, name: str, request: FeedbackRequest) -> bytes:
        """Learn the label of an earlier prediction; its id is the key, so that a repetition changes nothing."""
        model = self.model(name)
        number = read_id(request.id, "The id", 422)
        digest = hashlib.sha256(msgspec.json.encode(request.label)).digest()
        if self.reader.key(model.number, number) is not None:  # judged before
            return await self._learned(model, None, [request.label], None, number, digest)
        features = self._kept(model, request.id)
        return await self._learned(model, features, [request.label], None, number, digest)

    def forget(self) -> None:
        """Remove keys and predictions that are too old; called by the writer."""
        now = time.time()
        with self.journal.transaction():
            for model in self.models.values():
                self.journal.drop_keys(model.number, at_time(now - KEYS_KEPT), now - KEYS_KEPT)
                self.journal.drop_predictions(model.number, at_time(now - PREDICTIONS_KEPT), MOST_PREDICTIONS)

    def describe(self, name: str) -> ModelAnswer:
        """Return what is served under a name."""
        model = self.model(name)
        rows, right = model.tally.rolling
        with model.reading() as replica:
            return ModelAnswer(
                name=name,
                learner=model.learner_name,
                classes=replica.classes,
                n_features=int(replica.online.n_features),
                columns=model.columns,
                version=replica.version,
                base=model.base,
                rows_learned=model.tally.rows,
                mistakes=model.tally.mistakes,
                rolling=Rolling(rows, right, right / rows if rows else None),
                grows=model.may_grow,
            )

    def ready(self) -> str | None:
        """Return None, or why nothing can be learned."""
        if self.failure is not None:
            return FAILED
        return None if self.writer.full is None else FULL


def _deliver(answers: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, answer in answers:
        if future.done():
            continue
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)


def _require_weights(request: LearnRequest) -> None:
    weights = request.weights
    if weights is None:
        return
    if len(weights) != len(request.rows):
        raise RequestError(
            422, f"There are {len(request.rows)} rows, but {len(weights)} weights.", parameter="weights"
        )
    for row, weight in enumerate(weights):
        if not 0.0 <= weight < float("inf"):
            raise RequestError(
                422,
                f"The weight of row {row} is {weight}, but must be finite and not negative.",
                parameter="weights",
                row=row,
            )
