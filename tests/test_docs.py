"""What README and docs show is what happens."""

import contextlib
import doctest
import importlib.util
import inspect
import io
import json
import re
import shlex
from pathlib import Path

import click
import pytest

import rosenblatt as rb
from benchmarks import page as benchmark_page
from benchmarks import results
from rosenblatt.cli.main import commands, main
from rosenblatt.registry import BUILT_IN, able, able_in_words
from tests.shared.examples import slowly
from tests.shared.pages import BLOCK, commands_of, plain, run

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LESSONS = [page for page in PAGES if page.name in ("first_model.md", "tour.md")]  # the pages that `make test` runs


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


@pytest.mark.parametrize(
    "page", [*LESSONS, *slowly(*(each for each in PAGES if each not in LESSONS))], ids=name_of
)
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
    """Blocks in bash, and commands within a sentence, show no output. Their commands and options must exist."""
    text = page.read_text(encoding="utf-8")
    shown = "\n".join(block for language, block in BLOCK.findall(text) if language == "bash").replace("\\\n", "")
    within = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = re.findall(r"^(?:.*\s)?rosenblatt (\w.*)$", shown, re.MULTILINE)
    for line in [*lines, *re.findall(r"`rosenblatt\s+([a-z][^`]*)`", within)]:
        name, *words = shlex.split(line, comments=True)
        command = commands.get_command(None, name)
        if isinstance(command, click.Group) and words:
            command = command.get_command(None, words.pop(0))
        assert command is not None, line
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        assert {word.split("=")[0] for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_stands_behind_the_output_of_an_example(page):
    """A doctest ends at an empty line, so that nobody would run or compare what stands behind it."""
    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        for part in filter(None, (part.strip("\n") for part in block.split("\n\n"))):
            assert part.startswith((">>> ", "... ")), part


SPEEDS = {  # a row of a page, and the workload and the peer of the benchmarks that it repeats
    "from_scikit_learn.md": {
        "200,000 × 100 until separated, 38 passes": ("D1 f64, 38 passes", "scikit-learn"),
        "the same, shuffled, 52 passes": ("D1 shuffled, 52 passes", "scikit-learn"),
        "ten classes, 60,000 × 784, 5 passes": ("M1 f64, 5 passes", "scikit-learn"),
        "sparse, 200,000 × 2²⁰, 5 passes": ("S1 f64, 5 passes", "scikit-learn"),
        "one example of 100 features, `partial_fit` against `learn_one`": (
            "learn one, 100 features",
            "scikit-learn",
        ),
    },
    "from_river.md": {
        "learn, dictionary of 14 known names": ("learn one dict of 14", "river"),
        "predict, dictionary of 14 known names": ("predict one dict of 14", "river"),
        "learn, 100 numbers (ours as an array)": ("learn one, 100 features", "river"),
    },
    "from_vowpal_wabbit.md": {
        "learn one example, parsed before, 100 features": ("learn one, 100 features", "VW, parsed before"),
        "predict one example, parsed before, 100 features": ("predict one, 100 features", "VW, parsed before"),
    },
}


def cells(text: str) -> list[list[str]]:
    """Return the cells of all rows of all tables."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("name", SPEEDS)
def test_speeds_on_a_page_are_the_kept_ones(name):
    kept = {tuple(row[:2]): row[2:4] for row in cells(benchmark_page.PAGE.read_text("utf-8"))}
    shown = {row[0]: row[1:] for row in cells((ROOT / "docs" / "learn" / name).read_text("utf-8"))}
    for row, workload in SPEEDS[name].items():
        assert shown[row] == kept[workload], row


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *PAGES], ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text):
        assert (ROOT / name).exists() or (ROOT / "src" / "rosenblatt" / name).exists(), name


def test_the_help_names_the_learners_of_the_registry():
    """The registry lists learners of other packages too, if a test before has registered some."""
    ours = [name for entry in BUILT_IN.values() for name in entry.commands]
    page = (ROOT / "docs" / "do" / "resume.md").read_text(encoding="utf-8")
    told = re.search(r"## Which learners\n(.*?)```", page, re.DOTALL)[1]
    classes = {name for name, entry in BUILT_IN.items() if "checkpoints" in entry.abilities}
    assert set(re.findall(r"`([A-Z]\w+)`", told)) == classes
    text = commands.get_command(None, "train").epilog
    told = re.search(r"^(.*?) learn from files of any size", text, re.MULTILINE)[1]
    able_to = [name for name in able("blocks") if name in ours]
    assert [name for name in re.split(", | and ", told) if name in ours] == able_to


def test_what_follows_from_the_registry_is_written():
    """Run `python scripts/learners.py --write`."""
    learners = pytest.importorskip("scripts.learners", reason="the sdist does not hold scripts/")
    for path, text in learners.pages().items():
        assert path.read_text("utf-8") == text, path


def test_memory_that_is_not_enough_is_answered_with_the_learners_of_the_registry(capsys, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rosenblatt.tasks.training.train", exhausted)
    assert main(["train", "@or", "-o", "m"]) == 2
    assert f"{able_in_words('blocks')} train on more rows than memory holds." in capsys.readouterr().err


def test_the_benchmark_page_shows_the_kept_results():
    versions = json.loads(results.FILE.read_text("utf-8"))["versions"]
    assert benchmark_page.PAGE.read_text("utf-8") == benchmark_page.text_of(results.read(), versions)
    charted = {group for _, _, groups in benchmark_page.CHAPTERS.values() for group in groups}
    assert {row.group for row in results.read()} <= charted


def test_every_public_name_has_a_page_of_the_reference():
    """``rb.NAME`` is on a page, and no two names are on pages of one address."""
    spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "docs" / "reference_pages.py")
    reference_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference_pages)
    found = list(reference_pages.all_pages())
    shown = {name.rpartition(".")[2] for page in found for entry in page.entries for name in entry.names()}
    public = {name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))}
    modules_that_are_called = {"certify", "lab"}
    assert public | modules_that_are_called <= shown
    assert len({page.stem for page in found}) == len(found)
    listed = [
        line for line in reference_pages.INDEX.read_text("utf-8").splitlines() if line.startswith("rosenblatt.")
    ]
    assert sum(len(page.entries) for page in found) == len(listed)
