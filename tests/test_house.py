"""The house stays in order: its figures are true, it cites no internal numbers, and tests mirror its rooms."""

import ast
import re
from pathlib import Path

import pytest

from rosenblatt import geometry

house = pytest.importorskip("scripts.house", reason="the sdist does not hold scripts/")

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rosenblatt"
WITHOUT_A_ROOM = {"faults", "fuzz", "golden", "oracles", "people", "shared"}
"""Folders of tests not named after a room: stored files, another language, stories, and code that tests share."""
WITHOUT_A_MODULE = {
    "abilities",
    "bibliography",
    "docs",
    "docs_mathematics",
    "examples",
    "house",
    "interrupts",
    "killed",
    "notebooks",
    "new_rule",
    "package",
    "release",
    "supply_chain",
    "words",
}
"""Tests beside the folders that are about the whole package, its pages or its release."""


def rows_of(text):
    return dict(re.findall(r"^\| (.+?) \| (.+) \|$", text, re.MULTILINE))


def counts_of(value):
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", value)]


def test_the_architecture_states_the_figures_of_this_tree():
    """Run `python scripts/house.py --write` after a change of shape. Lines may differ by a fiftieth."""
    page = house.PAGE.read_text("utf-8")
    stated = rows_of(page[page.index(house.BEGIN) : page.index(house.END)])
    made = rows_of(house.page())
    assert stated.keys() == made.keys()
    for name, value in made.items():
        if "lines" in name:
            assert counts_of(stated[name]) == [pytest.approx(each, rel=0.02) for each in counts_of(value)], name
        else:
            assert stated[name] == value, name


def test_nobody_asks_blocks_for_their_class():
    """`Blocks.whole` says whether rows are in memory. The rows of a cluster are no `Blocks`."""
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"isinstance\([^)]*\b(?!Partitioned)\w*Blocks\b", path.read_text("utf-8")), path


def test_only_code_is_counted_as_code():
    text = '"""Doc.\n\nMore.\n"""\n\n# why\nx = 1\n\n\ndef f():\n    """Doc."""\n    return x  # x\n'
    assert house.code_lines(text, house.ast.parse(text)) == 3


def test_a_walk_counts_what_runs():
    assert house.walk(lambda: None) == ([], 0)
    ran, depth = house.walk(lambda: geometry.decision([[1.0]], [2.0]))
    assert "geometry.py" in ran
    assert depth >= 2  # `decision` checks its vector by a function of its own


def test_a_row_is_in_three_kinds_of_objects():
    """`Block`, `Batch` and `Blocks`, and nothing of another name that holds a value for each row."""
    assert house.kinds_of_rows() == ["Block", "Batch", "MemoryBlocks"]


def test_only_commands_name_options():
    """Below them a message names parameters, as `Remedy`: Python says ``missing='mean'``, not an option."""
    assert house.options_below_the_commands(house.sources()) == []
    parse = house.ast.parse
    texts = {"a.py": 'x = "use --na"', "b.py": 'print(f"drop --{name}")', "cli/c.py": 'x = "use --na"'}
    assert house.options_below_the_commands({name: (text, parse(text)) for name, text in texts.items()}) == [
        "a.py:1",
        "b.py:1",
    ]


def test_production_code_imports_no_textbook():
    textbook = r"^\s*(?:from|import) (?:rosenblatt\.loops\.reference|tests)\b|loops import reference"
    importers = [str(path) for path in PACKAGE.rglob("*.py") if re.search(textbook, path.read_text("utf-8"), re.M)]
    assert importers == []


def test_no_internal_numbers():
    """Cite author and year: a reader cannot look up a number of ours."""
    pages = [*(ROOT / "docs").rglob("*.md"), *PACKAGE.rglob("*.py")]
    assert [str(path) for path in pages if re.search(r"\b[SE]-\d", path.read_text("utf-8"))] == []


def test_tests_mirror_the_package():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert {path.name for path in folders if path != ROOT / "tests"} <= rooms | WITHOUT_A_ROOM
    loose = {path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert loose <= modules | WITHOUT_A_MODULE


def test_what_needs_node_or_a_browser_is_slow():
    """`make test` runs everywhere; CI installs Node and Chromium afterwards, for `make test-slow`."""
    found = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                marks = ast.unparse(node.value)
            elif isinstance(node, ast.FunctionDef):
                marks = ast.unparse(ast.List(node.decorator_list))
            else:
                continue
            if "needs_" in marks:
                found.append(path.name)
                assert "pytest.mark.slow" in marks, (path.name, node.lineno)
    assert {"test_engine.py", "test_page.py", "test_pages.py", "test_page_server.py"} <= set(found)


def test_planted_bugs_still_fit():
    """`scripts/plant_bugs.py` shows that fast tests catch bugs: each must fit the code, and each room has one."""
    bugs = pytest.importorskip("scripts.plant_bugs", reason="the sdist does not hold scripts/").BUGS
    for bug in bugs:
        text = (ROOT / bug.path).read_text("utf-8")
        changed = bug.planted(text)
        assert changed != text
        if bug.file.endswith(".py"):
            ast.parse(changed)
    assert len({(bug.file, bug.old) for bug in bugs}) == len(bugs) >= 30
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= {bug.room for bug in bugs}
