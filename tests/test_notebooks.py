"""The companions of the lectures as notebooks: made of the pages, and run by Jupyter's kernel."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
if not DOCS.exists():
    pytest.skip("there is only the package here", allow_module_level=True)
PAGES = ["koski", "hladka_holub", "harchaoui", "kernel_slides", "zhang"]
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print(sum("image/png" in o.get("data", {}) for c in notebook.cells if c.cell_type == "code" for o in c.outputs))
"""


@pytest.fixture(scope="module")
def notebooks():
    spec = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_has_all_of_its_page(notebooks, name):
    assert list(notebooks.PAGES) == PAGES
    page = (DOCS / "sources" / f"{name}.md").read_text(encoding="utf-8")
    made = json.loads(json.dumps(notebooks.notebook(name)))
    code = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert len(code) == 1 + len(re.findall(r"^```(?:python|console)$", page, re.MULTILINE))
    for cell in code:
        ast.parse("\n".join(line for line in cell.splitlines() if not line.startswith(("!", "%"))))
    prose = "\n".join(cell["source"] for cell in made["cells"] if cell["cell_type"] == "markdown")
    for heading in re.findall(r"^## .*$", page, re.MULTILINE):
        assert heading in prose
    assert ".md" not in prose
    assert "://" not in prose
    assert "<a " not in prose
    assert ":::" not in prose
    attached = {key for cell in made["cells"] for key in cell.get("attachments", {})}
    assert attached == set(re.findall(r"images/(\w+(?<!_dark)\.svg)", page))
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_runs_and_shows_a_picture(notebooks, name, tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebooks.write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / f"{name}.ipynb")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(tmp_path / "ipython")},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 1
