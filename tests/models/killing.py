"""``python -m tests.models.killing FOLDER KILLS``: kill processes that save models to one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import rosenblatt as rb
from tests.shared.killing import Work, run

SAVES = 100


class Saving(Work):
    """A small and a larger model take turns: the file is always whole."""

    longest = 0.02

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(folder, number)
        self.path = folder / "model"
        self.models = [rb.Perceptron(order="cyclic").fit(np.eye(2, d), [0, 1]) for d in (9, 9009)]
        rb.save(self.models[0], self.path)

    def do(self) -> None:
        for turn in range(SAVES):
            rb.save(self.models[turn % 2], self.path)

    def check_killed(self) -> None:
        loaded = rb.load(self.path)
        model = self.models[loaded.n_features_in_ > 9]
        assert loaded.coef_.tobytes() == model.coef_.tobytes()

    check_done = check_killed


if __name__ == "__main__":
    run(Saving)
