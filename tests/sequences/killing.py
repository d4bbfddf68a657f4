"""``python -m tests.sequences.killing FOLDER KILLS``: kill the training of a tagger that writes checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import rosenblatt as rb
from rosenblatt.atomic import write_whole
from rosenblatt.learning import checkpoint
from rosenblatt.sequences import tagger_fit
from tests.shared.killing import Work, run


class Tagging(Work):
    """A tagger that resumes from its checkpoint ends as one that was not disturbed, bit for bit."""

    longest = 0.4

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(folder, number)
        checkpoint.CHECKPOINT_SECONDS, tagger_fit.SENTENCES_AT_ONCE = 0.01, 100
        rng = np.random.default_rng(number)
        self.X = [[f"w{k}" for k in rng.integers(60, size=8)] for _ in range(600)]
        self.y = [["ABC"[k] for k in rng.integers(3, size=8)] for _ in self.X]
        self.parameters = {"beam": 2, "order": 2} if number % 2 else {}
        self.expected = self._trained()

    def do(self) -> None:
        write_whole(self.folder / "model", self._trained(checkpoint=self.folder / "state", every=3, resume=True))

    def check_done(self) -> None:
        assert (self.folder / "model").read_bytes() == self.expected

    def _trained(self, **settings: object) -> bytes:
        """Return all of a tagger as bytes."""
        tagger = rb.SequencePerceptron(templates="words", max_iter=400, **self.parameters)
        tagger.fit(self.X, self.y, **settings)
        state, told = tagger._state, [tagger.stop_reason_, tagger.mistakes_per_pass_.tolist()]
        arrays = state.w, state.u, state.t, state.tu, *tagger.trace_.log
        return b"".join(each.tobytes() for each in arrays) + repr(told).encode()


if __name__ == "__main__":
    run(Tagging)
