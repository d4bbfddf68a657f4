"""Run the notebooks of the lectures where only rosenblatt and Jupyter's kernel are installed: exit 0 if all work.

Each runs from top to bottom in an empty folder. A connection to another computer is an error, and each must show a
picture.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks.py"
OFFLINE = """
import sys

def refuse(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        if arguments[1][0] not in ("127.0.0.1", "::1"):
            raise RuntimeError(f"a notebook must not reach {arguments[1]}")

sys.addaudithook(refuse)
"""
RUN = """
import re
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
outputs = [each for cell in notebook.cells for each in cell.get("outputs", ())]
pictures = sum("image/png" in each.get("data", {}) for each in outputs)
failed = [each.text for each in outputs if re.search("Traceback|Error: |not found", str(each.get("text")))]
assert pictures, "no picture is shown"
assert not failed, failed
print(f"{sys.argv[1]}: {pictures} picture{'s' * (pictures > 1)}")
"""


def read_pages() -> ModuleType:
    """Return the module of the documentation that makes notebooks of pages."""
    spec = importlib.util.spec_from_file_location("notebooks", NOTEBOOKS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, folder: Path) -> None:
    """Run a notebook of this folder, in its own process and without a network."""
    hook = folder / "offline"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    paths = [str(hook), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(folder / "ipython"),
    }
    command = [sys.executable, "-c", RUN, f"{name}.ipynb"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-3000:])
    print(done.stdout, end="", flush=True)


def main() -> None:
    """Write all notebooks into an empty folder, and run them there with the installed package."""
    import rosenblatt as rb

    assert "site-packages" in rb.__file__, rb.__file__
    pages = read_pages()
    with tempfile.TemporaryDirectory() as folder:
        pages.write(Path(folder))
        for name in pages.PAGES:
            run(name, Path(folder))


if __name__ == "__main__":
    main()
