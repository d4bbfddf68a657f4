"""A process that only predicts: it learns what the writer has put into the journal, from the journal."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rosenblatt.server.events import LearnEvent, decode_event
from rosenblatt.server.folder import JOURNAL
from rosenblatt.server.journal import Journal
from rosenblatt.server.messages import PredictAnswer, PredictRequest
from rosenblatt.server.predicting import PredictingHost
from rosenblatt.server.problems import RequestError
from rosenblatt.server.replay import History
from rosenblatt.server.served_model import ServedModel

__all__ = ["Follower"]

log = logging.getLogger("rosenblatt.server")

INTERVAL = 0.005
"""Seconds between two looks at the journal."""
ATTEMPTS = 3
"""Times to read snapshots, which the writer may remove meanwhile."""


class Follower(PredictingHost):
    """The models of a data folder that another process serves.

    Parameters
    ----------
    folder : path
        The data folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.failure: str | None = None
        self.on_failure: Callable[[], None] = lambda: None
        self.reader = Journal(self.folder / JOURNAL, writes=False)
        self._journal = self.reader.reader()
        self._with_snapshots(self._load)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self._journal.close()
        self.reader.close()

    async def remember(
        self, model: ServedModel, request: PredictRequest, answer: PredictAnswer, features: Any
    ) -> PredictAnswer:
        """Refuse: such requests are passed to the writer."""
        raise RequestError.of(503, "This process only predicts. Try again.", retry_after=1.0)

    def _follow(self) -> None:
        seen = -1
        try:
            while not self._ended.wait(INTERVAL):
                found = self._journal.changed()
                if found != seen:
                    seen = found
                    for model in self.models.values():
                        self._with_snapshots(partial(self.catch_up, model))
        except Exception as error:  # predictions would stay as they are for ever
            self.failure = f"{type(error).__name__}: {error}"
            log.exception("The journal cannot be followed any more.")
            self.on_failure()

    def _load(self) -> None:
        with self._journal.one_state():
            for name in self._journal.models():
                self.models[name] = History(self._journal, self.folder, name).start().model

    def _with_snapshots(self, act: Callable[[], None]) -> None:
        """Do something that reads snapshots; do it again if one was removed meanwhile."""
        for _ in range(ATTEMPTS - 1):
            with suppress(FileNotFoundError):
                return act()
        return act()

    def catch_up(self, model: ServedModel) -> None:
        """Fold the events that came since into a model."""
        with self._journal.one_state():
            history = History(self._journal, self.folder, model.name)
            newest, version = history.newest, model.newest().version
            if newest == version:
                return
            if version < history.base:
                model.restore(history.replica_at(newest))
                return
            for events in self._journal.events(model.number, version, newest):
                decoded = [decode_event(event.body) for event in events]
                learned = [event for event in decoded if isinstance(event, LearnEvent)]
                if len(learned) < len(decoded):  # a rollback, or an erasure
                    model.restore(history.replica_at(newest))
                    return
                model.fold(learned)
                model.publish()
