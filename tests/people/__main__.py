"""`python -m tests.people --write NAME…` writes the output of stories anew (all without a name). Read the diff."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.people.story import CASES, tell

if sys.argv[1:2] != ["--write"]:
    sys.exit(__doc__)
for name in sys.argv[2:] or sorted(path.stem for path in CASES.glob("*.txt")):
    path = CASES / f"{Path(name).stem}.txt"
    with TemporaryDirectory() as folder:
        path.write_text(tell(path.read_text("utf-8"), folder), "utf-8")
