"""What README and docs show is what happens."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_example_of_the_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(blocks(text, "python")[0], {})
    assert printed.getvalue() == blocks(text, "text")[0]


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
