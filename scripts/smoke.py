"""Use an installed rosenblatt as a newcomer would, far from the repository: exit 0 if all of it works."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = [
    ["demo", "-o", "out"],
    ["train", "mail.csv", "--text", "message", "-o", "spam.model", "--bits", "10"],
    ["predict", "spam.model", "mail.csv"],
    ["evaluate", "spam.model", "mail.csv"],
    ["inspect", "spam.model"],
]
MAIL = "message,label\nwin a prize now,spam\nsee you at lunch,ham\nfree prize inside,spam\nlunch at noon,ham\n"
PYTHON = """
import rosenblatt as rb
assert "site-packages" in rb.__file__, rb.__file__
print(rb.load("spam.model").predict(["a free prize", "lunch"]))
print(rb.certify(*rb.datasets.load_xor()).verdict)
"""


def main() -> None:
    """Run every command in an empty folder."""
    command = str(Path(sys.executable).with_name("rosenblatt"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mail.csv").write_text(MAIL, encoding="utf-8")
        for arguments in [*([command, *each] for each in COMMANDS), [sys.executable, "-c", PYTHON]]:
            print("$", " ".join(arguments[1:3]), flush=True)
            subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        assert (Path(folder) / "out" / "report.html").stat().st_size > 10_000
    print("the installed package works")


if __name__ == "__main__":
    main()
