"""``python -m tests.cli.killing FOLDER KILLS``: kill `rosenblatt train` of text, categories and numbers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import rosenblatt as rb
from rosenblatt.cli.main import main
from tests.cli.messages import messages
from tests.shared.killing import Work, run

TRAIN = [
    "--text",
    "message",
    "--memory",
    "1",
    "--cache",
    "rows",
    "--checkpoint",
    "1",
    "--max-iter",
    "40",
    "--quiet",
]


class Command(Work):
    """A command that resumes, through a cache, writes the model file of an undisturbed one."""

    longest = 0.6

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(folder, number)
        write(folder / "mail.csv", 12_000)
        os.chdir(folder)
        self._train("undisturbed")
        Path("rows").unlink()

    def do(self) -> None:
        self._train("model", "--resume")

    def check_done(self) -> None:
        assert weights("model") == weights("undisturbed")
        left = list(Path().glob(".*checkpoint*"))
        assert not left, f"a finished run leaves no checkpoint, nor parts of one: {left}"

    def _train(self, model: str, *more: str) -> None:
        assert main(["train", "mail.csv", "-o", model, *TRAIN, *more]) == 0


def write(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    lines = ["label,hour,sender,message"]
    for (label, text), hour, sender in zip(
        messages(n, spam=0.4), rng.random(n), rng.integers(5, size=n), strict=True
    ):
        lines.append(f'{label},{hour:.3f},sender {sender},"{text} {rng.integers(10**6)}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def weights(path: str) -> list[bytes]:
    model = rb.load(path)[-1]
    return [model.coef_.tobytes(), model.intercept_.tobytes(), model.mistakes_per_pass_.tobytes()]


if __name__ == "__main__":
    run(Command)
