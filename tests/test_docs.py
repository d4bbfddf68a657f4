"""What README and docs show is what happens."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

from rosenblatt.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


MAIL = "message,label\nwin a prize now,spam\nsee you at lunch,ham\nfree prize inside,spam\nlunch at noon,ham\n"


def test_the_examples_of_the_readme_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail.csv").write_text(MAIL, encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    train = re.search(r"^rosenblatt (train mail.csv [^#\n]*)", text, re.MULTILINE)[1]
    assert main([*train.split(), "--quiet"]) == 0
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks(text, "python"):
            exec(block, names)
    assert printed.getvalue() == "".join(blocks(text, "text"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page(page):
    source = "\n".join(blocks(page.read_text(encoding="utf-8"), "python"))
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert results.failed == 0


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *PAGES], ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text):
        assert (ROOT / "src" / "rosenblatt" / name).exists(), name
