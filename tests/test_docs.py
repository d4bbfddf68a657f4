"""What README and docs show is what happens."""

import contextlib
import doctest
import io
import json
import re
import shlex
from pathlib import Path

import click
import pytest

from benchmarks import page as benchmark_page
from benchmarks import results
from rosenblatt.cli.main import commands, main
from tests.shared.pages import BLOCK, commands_of, plain, run

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_of_a_page(page, tmp_path, monkeypatch):
    """Run the Python and the commands of a page from top to bottom, as a reader pastes them into one folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
            runner.run(test, clear_globs=False)
            names = test.globs
        if language == "console":
            for command, shown in commands_of(block):
                assert plain(run(command, tmp_path)) == plain(shown), command
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=name_of)
def test_commands_without_output_exist(page):
    """Blocks in bash show no output. The commands and options of rosenblatt in them must exist."""
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "bash":
            for line in re.findall(r"^(?:.*\s)?rosenblatt (\w.*)$", block.replace("\\\n", ""), re.MULTILINE):
                name, *words = shlex.split(line, comments=True)
                command = commands.get_command(None, name)
                if isinstance(command, click.Group):
                    command = command.get_command(None, words.pop(0))
                assert command is not None, line
                known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
                assert {word.split("=")[0] for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *PAGES], ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text):
        assert (ROOT / "src" / "rosenblatt" / name).exists(), name


def test_the_benchmark_page_shows_the_kept_results():
    versions = json.loads(results.FILE.read_text("utf-8"))["versions"]
    assert benchmark_page.PAGE.read_text("utf-8") == benchmark_page.text_of(results.read(), versions)
    charted = {group for _, _, groups in benchmark_page.CHAPTERS.values() for group in groups}
    assert {row.group for row in results.read()} <= charted
