"""The data folder: nobody else may read it, and each model begins there as a copy of its file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

import msgspec

from rosenblatt.atomic import ASIDE, HAS_OWNERS, replacing
from rosenblatt.exceptions import ParameterError, StorageError
from rosenblatt.server.journal import Journal, StoredSnapshot
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import Counts, read_learner
from rosenblatt.storage.files import write_model
from rosenblatt.storage.streamed import StreamedLearner

__all__ = ["JOURNAL", "NAME", "add_model", "prepare"]

JOURNAL = "journal.sqlite"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def prepare(folder: Path) -> None:
    """Make a data folder, or check that nobody else can read it."""
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


def add_model(journal: Journal, folder: Path, name: str, path: str) -> None:
    """Make a model known to the journal, or check that it is the one that is known."""
    if not NAME.fullmatch(name):
        raise ParameterError(f"{name!r} cannot be the name of a model: use letters, digits, '_', '-' and '.'.")
    source = hashlib.sha256(Path(path).read_bytes()).digest()
    known = journal.models().get(name)
    if known is not None:
        if known[1] != source:
            raise ParameterError(
                f"{folder} serves another model file as {name!r}. Give this one another name with "
                f"NAME={path}, or another --data folder."
            )
        return
    stored, learner = read_learner(path)
    file = f"{name}-0.model"
    replica = Replica(learner, 0)
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
