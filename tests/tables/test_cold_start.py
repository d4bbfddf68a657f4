"""Reading a small file imports nothing that takes long."""

import subprocess
import sys

import pytest

from tests.tables.files import write

SLOW = ("numba", "scipy", "sklearn", "pandas", "narwhals", "rich", "matplotlib")


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "jsonl"])
def test_small_files(tmp_path, ending):
    path = write(tmp_path, {"a": [1.0, 2.0], "kind": ["p", "q"], "label": ["yes", "no"]}, ending)
    code = (
        "import sys\n"
        "from rosenblatt.tables.reading import Options\n"
        "from rosenblatt.tables.file_source import open_source\n"
        f"source = open_source([{path!r}])\n"
        "list(source.chunks())\n"
        f"list(open_source([{path!r}], Options(labelled=False), source.recipe).chunks())\n"
        f"print(*[name for name in {SLOW} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == ""
