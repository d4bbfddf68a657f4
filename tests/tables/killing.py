"""``python -m tests.tables.killing FOLDER KILLS``: kill training that writes a cache and many checkpoints."""

from __future__ import annotations

from pathlib import Path

import rosenblatt as rb
from rosenblatt.atomic import write_whole
from rosenblatt.learning import checkpoint
from rosenblatt.tables.collect import collect
from tests.shared.killing import Work, run
from tests.shared.strategies import noisy
from tests.tables.sources import FileSource

BLOCK_BYTES = 1 << 15


class Training(Work):
    """Training that resumes from its checkpoint ends with the model of an undisturbed run, bit for bit."""

    longest = 0.25

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(folder, number)
        self.known = bool(number % 2)
        checkpoint.CHECKPOINT_SECONDS = 0.01
        FileSource.write(folder / "data.npy", *noisy(8000, 10, seed=number), step=500, known=self.known)
        self.expected = self._trained(disturbed=False)

    def do(self) -> None:
        write_whole(self.folder / "model", self._trained(disturbed=True))

    def check_done(self) -> None:
        assert (self.folder / "model").read_bytes() == self.expected

    def _trained(self, *, disturbed: bool) -> bytes:
        """Return all of a model as bytes."""
        source = FileSource(self.folder / "data.npy", step=500, known=self.known)
        if disturbed:
            blocks = collect(source, memory=0, block_bytes=BLOCK_BYTES)
            settings = {"checkpoint": self.folder / "checkpoint", "every": 2, "resume": True}
        else:
            blocks, settings = collect(source, cache="no", block_bytes=BLOCK_BYTES), {}
        model = rb.Perceptron(max_iter=30, average=True, early_stopping=True, trace="counts").fit_blocks(
            blocks, **settings
        )
        told = [model.stop_reason_, model.mistakes_per_pass_.tolist(), model.curve_.validation.tolist(), model.t_]
        return model._state.w.tobytes() + model._state.u.tobytes() + repr(told).encode()


if __name__ == "__main__":
    run(Training)
