"""The one writer: it puts waiting requests on disk together, folds them into the models, and only then answers.

A request goes through four steps, always in this order: it is staged (checked, and given its number), committed,
folded and published, answered. So what a client was told, and what a prediction shows, is on disk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from rosenblatt.server.events import Event, LearnEvent
from rosenblatt.server.journal import DamageError, Journal, JournalError
from rosenblatt.server.messages import RequestError, tells_time
from rosenblatt.server.replay import answer_to
from rosenblatt.server.served_model import ServedModel

log = logging.getLogger("rosenblatt.server")

REQUESTS_A_COMMIT = 512
"""Requests that one commit takes."""
MOST_WAITING = 8192
"""Requests that may wait for the writer."""
DIGEST_EVERY = 1000
FAILED, FULL = "the journal failed, and the log of the server says why.", "the disk is full."
"""What clients are told; paths and details are in the log."""


@dataclass(eq=False)
class Work:
    """A request that waits for the writer; `done` gets the answer, or the problem, from the writer's thread."""

    model: ServedModel
    done: Callable[[Any], None]
    answer: Any = field(default=None, init=False)


@dataclass(eq=False)
class Learn(Work):
    """Rows to learn, or the features of a remembered prediction."""

    rows: Any  # as the learner sees them, or by name where names grow
    # labels, weights: of the rows
    labels: Sequence[Any]
    weights: Sequence[float] | None
    # key, digest: what tells this request from others, and its body from other bodies
    key: bytes
    digest: bytes
    seq: int = 0
    event: Event | None = None
    body: bytes = b""
    repeats: bool = False


@dataclass(eq=False)
class Remember(Work):
    """Predictions to keep: id and body of each."""

    predictions: list[tuple[bytes, bytes]]


@dataclass(eq=False)
class Special(Work):
    """Anything else, done alone: `act` is called with the writer, between two batches."""

    act: Callable[[Writer], Any]


class Writer:
    """A thread with the only connection that writes.

    `failed` gets the reason, once, when the journal can no longer be trusted with anything; `settled` gets the
    models that changed after each batch.
    """

    def __init__(
        self, journal: Journal, failed: Callable[[str], None], settled: Callable[[set[ServedModel]], None]
    ) -> None:
        self.journal, self._failed, self._settled = journal, failed, settled
        self.broken: str | None = None  # why nothing is acknowledged any more
        self.full: str | None = None  # the disk was full at the last attempt
        self.last: dict[int, int] = {}  # the last event of each model
        self.unwritten: list[tuple[bytes, int, int]] = []  # answers that the next commit keeps
        self._recent: dict[tuple[int, int], bytes] = {}
        self._digests: list[tuple[int, int, bytes]] = []
        self._digested: dict[int, int] = {}
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._held: deque[Work | None] = deque()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def serve(self, model: ServedModel, answers: Sequence[tuple[bytes, int, int]]) -> None:
        """Take events for a model, and keep the answers that its replay made."""
        self.unwritten += answers
        self._recent |= {(number, seq): answer for answer, number, seq in answers}
        self.last[model.number] = self._digested[model.number] = model.version

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def submit(self, work: Work) -> None:
        """Put a request into the queue; raise `RequestError` if it is full."""
        if self.broken is not None:
            raise RequestError(503, f"Nothing can be learned any more: {FAILED}")
        if self._queue.qsize() >= MOST_WAITING:
            raise RequestError(503, "Too many requests wait to be written. Try again later.", retry_after=1.0)
        self._queue.put(work)

    def recent(self, model: ServedModel, seq: int) -> bytes | None:
        """Return the answer to an event, if the next commit is yet to keep it."""
        return self._recent.get((model.number, seq))

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self._queue.qsize()

    def close(self) -> None:
        """Finish all that waits, and end."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    # The thread

    def _run(self) -> None:
        while True:
            batch, ends = self._take()
            if batch:
                try:
                    self.carry_out(batch)
                except BaseException as error:
                    self._break(f"{type(error).__name__}: {error}", batch)
                self._settle(batch)
            if ends:
                break
        if self.broken is None:
            try:
                self.commit([])
            except JournalError as error:
                self._break(str(error), [])

    def _settle(self, batch: Sequence[Work]) -> None:
        try:
            self._settled({work.model for work in batch})
        except BaseException as error:  # without this thread nobody would get an answer
            self._break(f"{type(error).__name__}: {error}", [])

    def _take(self) -> tuple[list[Work], bool]:
        """Return the requests that wait, as many as one commit takes; a special one comes alone."""
        batch: list[Work] = []
        while len(batch) < REQUESTS_A_COMMIT:
            try:
                work = self._held.popleft() if self._held else self._queue.get(block=not batch)
            except Empty:
                break
            if work is None or (isinstance(work, Special) and batch):
                if work is None:
                    return batch, True
                self._held.append(work)
                break
            batch.append(work)
            if isinstance(work, Special):
                break
        return batch, False

    def carry_out(self, batch: list[Work]) -> None:
        """Take a batch through all steps."""
        if self.broken is not None:
            self.refuse(batch, RequestError(503, f"Nothing can be learned any more: {FAILED}"))
            return
        if isinstance(batch[0], Special):
            self._act(batch[0])
            return
        staged = self.stage(batch)
        try:
            self.commit(staged)
        except JournalError as error:
            if not error.full:
                raise
            log.warning("Nothing can be learned until there is room on the disk: %s", error)
            self._shelve(staged, error)
            return
        self.fold(staged)
        self.reply(staged)

    def stage(self, batch: list[Work]) -> list[Work]:
        """Check requests in order, number them, and answer those that need no commit."""
        staged = []
        for work in batch:
            try:
                if isinstance(work, Learn):
                    self._stage(work)
            except JournalError:  # what cannot be read concerns all requests
                raise
            except Exception as problem:  # a defect too concerns this request alone: nothing of it is written
                work.done(problem)
                continue
            if isinstance(work, Learn) and work.repeats:
                work.done(work.answer)
            else:
                staged.append(work)
        return staged

    def _stage(self, work: Learn) -> None:
        model = work.model
        known = self.journal.key(model.number, work.key)
        if known is not None:
            if not known.digest:
                raise RequestError(410, "The example with this key was erased.")
            if known.digest != work.digest:
                raise RequestError(422, "This Idempotency-Key was used for another body. Use a new key.")
            work.answer = known.answer or self._recent[model.number, known.seq]
            work.repeats = True
            return
        work.event, work.body = model.accept(work.rows, work.labels, work.weights)
        self.last[model.number] += 1
        work.seq = self.last[model.number]

    def commit(self, staged: Sequence[Work]) -> None:
        """Put the events on disk, with what earlier batches left to be written."""
        learns = [work for work in staged if isinstance(work, Learn) and work.event is not None]
        now = time.time()
        events = [(work.model.number, work.seq, now, work.body) for work in learns]
        keys = [
            (work.model.number, work.key, None if tells_time(work.key) else now, work.digest, work.seq)
            for work in learns
        ]
        remembered = [
            (work.model.number, *each)
            for work in staged
            if isinstance(work, Remember)
            for each in work.predictions
        ]
        if not (events or remembered or self.unwritten or self._digests):
            return
        with self.journal.transaction():
            self.journal.add_events(events)
            self.journal.add_keys(keys)
            self.journal.remember(remembered)
            self.journal.drop_predictions_judged([(number, key) for number, key, *_ in keys])
            self.journal.set_answers(self.unwritten)
            self.journal.add_digests(self._digests)
        self.full = None
        self.unwritten, self._digests = [], []
        self._recent.clear()

    def fold(self, staged: Sequence[Work]) -> None:
        """Fold events into their models, in order, and publish the models."""
        by_model: dict[ServedModel, list[Learn]] = {}
        for work in staged:
            if isinstance(work, Learn):
                by_model.setdefault(work.model, []).append(work)
        for model, works in by_model.items():
            events = [work.event for work in works if isinstance(work.event, LearnEvent)]
            for work, outcome in zip(works, model.fold(events), strict=True):
                work.answer = answer_to(work.seq, outcome)
                self.unwritten.append((work.answer, model.number, work.seq))
                self._recent[model.number, work.seq] = work.answer
            model.publish()
            if model.version // DIGEST_EVERY > self._digested[model.number] // DIGEST_EVERY:
                self._digested[model.number] = model.version
                self._digests.append((model.number, model.version, model.published.digest()))

    def reply(self, staged: Sequence[Work]) -> None:
        """Tell the clients."""
        for work in staged:
            work.done(work.answer)

    def _act(self, work: Special) -> None:
        written = None
        try:
            self.commit([])  # the answers of all events so far
            written = self.journal.written
            answer = work.act(self)
        except RequestError as problem:
            answer = problem
        except JournalError as error:
            if not error.full and not (isinstance(error, DamageError) and self.journal.written == written):
                raise
            answer = _full() if error.full else error
        except Exception as defect:
            if self.journal.written != written:  # the models may differ from the journal
                raise
            log.exception("A change was not made. Nothing of it is written.")
            answer = defect
        work.done(answer)

    def _shelve(self, staged: Sequence[Work], error: JournalError) -> None:
        """Take back what was staged: the disk is full, and nothing of it was written."""
        self.full = str(error)
        for work in staged:
            self.last[work.model.number] = work.model.newest().version
            work.model.begin_intake()
        self.refuse(staged, _full())

    def refuse(self, works: Sequence[Work], problem: RequestError) -> None:
        """Answer requests with a problem."""
        for work in works:
            work.done(problem)

    def _break(self, reason: str, batch: Sequence[Work]) -> None:
        """Acknowledge nothing any more: what is on disk is no longer known."""
        self.broken = reason
        self._failed(reason)
        self.refuse(batch, RequestError(503, f"This was not acknowledged: {FAILED} Ask again after a restart."))


def _full() -> RequestError:
    return RequestError(503, f"Nothing can be learned: {FULL}", retry_after=10.0)
