"""The companions of the lectures as notebooks: made of the pages, and run by Jupyter's kernel."""

import ast
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
run_notebooks = pytest.importorskip("scripts.run_notebooks", reason="the sdist does not hold scripts/")
PAGES = ["koski", "hladka_holub", "harchaoui", "kernel_slides", "zhang"]


@pytest.fixture(scope="module")
def notebooks():
    return run_notebooks.read_pages()


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
def test_a_notebook_runs_and_shows_a_picture(notebooks, name, tmp_path, capsys):
    pytest.importorskip("nbclient", reason="nbclient runs notebooks, and is not installed")
    pytest.importorskip("nbformat", reason="nbformat runs notebooks, and is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel runs notebooks, and is not installed")
    notebooks.write(tmp_path)
    run_notebooks.run(name, tmp_path)
    assert re.fullmatch(rf"{name}\.ipynb: (1 picture|[1-9]\d* pictures)\n", capsys.readouterr().out)


@pytest.mark.slow
def test_a_notebook_that_asks_the_network_fails(tmp_path):
    pytest.importorskip("nbclient", reason="nbclient runs notebooks, and is not installed")
    cells = [{"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [],
              "source": "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"}]  # fmt: skip
    made = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "asks.ipynb").write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(AssertionError, match="must not reach"):
        run_notebooks.run("asks", tmp_path)


SHOWN = {  # the last line of a cell, and words that its plain text has
    "model": "Perceptron(",
    "model.trace_": "mistakes",
    "rb.certify(X, y)": "Separable",
    "rb.certify(*rb.datasets.load_xor())": "Inseparable",
    "rb.certify(X, [0, 1, 2] * 2)": "not separable",
    "rb.bounds(X, y, model=model)": "at most",
    "rb.evaluate(model, X, y)": "accuracy",
    "rb.evaluate_folds('averaged', '@iris', folds=2)": "2 folds",
    "rb.train('@iris')": "averaged-pa1: 150 rows",
    "rb.train('@iris').summary": "averaged-pa1: 150 rows",
    "rb.train([[('the', 'DET'), ('dog', 'NOUN')], [('dogs', 'NOUN'), ('bark', 'VERB')]])": "tagger: 2 sentences",
    "rb.explain(model, X[:2])": "contribution",
    "rb.explain(model, X)[1]": "contribution",
    "rb.lab(model, X, y)": "LabView",
    "rb.plot.animate(model, X, y, 'run.gif')": "run.gif",
}
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


@pytest.mark.slow
def test_every_result_is_shown_as_html_and_as_readable_text(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    first = (
        "import warnings; import rosenblatt as rb; warnings.simplefilter('ignore')\n"
        "X, y = rb.datasets.load_six_points(); model = rb.Perceptron(order='cyclic').fit(X, y)"
    )
    cells = [nbformat.v4.new_code_cell(source) for source in (first, *SHOWN)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "shown.ipynb")
    environment = os.environ | {"JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(tmp_path / "ipython")}
    command = [sys.executable, "-c", EXECUTE, "shown.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    _, *made = nbformat.read(tmp_path / "shown.ipynb", 4).cells
    for cell in made:
        [data] = [each["data"] for each in cell["outputs"] if each["output_type"] == "execute_result"]
        text = data["text/plain"]
        assert SHOWN[cell["source"]] in text, text
        assert not re.search(r"array\(|Fraction\(|<rosenblatt|object at 0x", text), text
        assert re.search("<(div|iframe|img)", data["text/html"]), cell["source"]
        assert not re.search(r"(src|href)=.?https?:", data["text/html"]), cell["source"]
