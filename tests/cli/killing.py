"""``python -m tests.cli.killing FOLDER KILLS``: kill `rosenblatt train` again and again, and resume it.

Text, categories and numbers from a CSV file, through a cache, to a model file: whatever was being written when the
process died, the next one goes on, and the model is that of an undisturbed run.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from rosenblatt.cli.main import main
from tests.cli.messages import messages

TRAIN = ["--text", "message", "--memory", "1", "--checkpoint", "1", "--max-iter", "40", "--quiet"]


def write(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    lines = ["label,hour,sender,message"]
    for (label, text), hour, sender in zip(
        messages(n, spam=0.4), rng.random(n), rng.integers(5, size=n), strict=True
    ):
        lines.append(f'{label},{hour:.3f},sender {sender},"{text} {rng.integers(10**6)}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def weights(path: Path) -> list[bytes]:
    import rosenblatt as rb

    model = rb.load(path)[-1]
    return [model.coef_.tobytes(), model.intercept_.tobytes(), model.mistakes_per_pass_.tobytes()]


def train(model: str, *more: str) -> int:
    return main(["train", "mail.csv", "-o", model, *TRAIN, *more])


def ended(seconds: float) -> bool:
    """Let a process train for so long; return whether it came to its end before it was killed."""
    child = os.fork()
    if child == 0:
        os._exit(train("model", "--resume"))
    last = time.monotonic() + seconds
    done = 0
    while not done and time.monotonic() < last:
        time.sleep(0.005)
        done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "a process failed"
    return os.WIFEXITED(status)


def run() -> None:
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    os.chdir(folder)
    write(Path("mail.csv"), 12_000)
    assert train("undisturbed") == 0
    rng, killed = random.Random(0), 0
    while killed < kills:
        Path(".mail.csv.rosenblatt-cache").unlink(missing_ok=True)
        Path("model").unlink(missing_ok=True)
        while not ended(rng.uniform(0.0, 0.6) if killed < kills else 300.0):
            killed += 1
        assert weights(Path("model")) == weights(Path("undisturbed"))
    assert not list(Path().glob(".*checkpoint*")), "a finished run leaves no checkpoint, nor parts of one"
    print(f"{killed} kills: every model is that of the undisturbed run.")


if __name__ == "__main__":
    run()
