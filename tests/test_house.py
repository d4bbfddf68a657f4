"""The house stays in order: each class name once, short modules, no internal numbers, tests that mirror it."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rosenblatt"
MODULES = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}

MOST_LINES = 400
LONGER = {
    "certify/check.py": 1360,  # one file that can be read and run alone
}
WITHOUT_A_ROOM = {"faults", "fuzz", "golden", "lab", "people", "shared"}
"""Folders of tests not named after a room: stored files, another language, stories, and code that tests share."""


def test_each_class_name_stands_once():
    classes = Counter(
        node.name
        for text in MODULES.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, times in classes.items() if times > 1} == set()


def test_modules_are_short():
    lines = {name: len(text.splitlines()) for name, text in MODULES.items()}
    assert {name: n for name, n in lines.items() if n > LONGER.get(name, MOST_LINES)} == {}


def test_no_internal_numbers():
    """Cite author and year: nobody can look up a number of ours."""
    texts = {str(path): path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")} | MODULES
    assert [name for name, text in texts.items() if re.search(r"\b[SE]-\d", text)] == []


def test_tests_mirror_the_package():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert {path.name for path in folders if path != ROOT / "tests"} <= rooms | WITHOUT_A_ROOM
    loose = {path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py")}
    modules = {Path(name).stem for name in MODULES if "/" not in name}
    assert loose <= modules | {
        "bibliography",
        "docs",
        "examples",
        "house",
        "killed",
        "package",
        "supply_chain",
        "words",
    }
