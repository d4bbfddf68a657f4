"""Measure the house: ``python scripts/house.py`` prints what ARCHITECTURE.md states, ``--write`` puts it there.

Sizes are counted in the sources. The walks are real calls: a module counts if a function of it ran.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rosenblatt"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- made by scripts/house.py -->", "<!-- end -->"

Tree = dict[str, tuple[str, ast.Module]]


@cache
def sources() -> Tree:
    """Return the text and the syntax of each module, by its path within the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in paths}
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def code_lines(text: str, tree: ast.Module) -> int:
    """Count the lines that are neither blank, comment nor docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" and n not in docstrings for n, line in lines)


def levels() -> int:
    """Count the levels of imports, as `make check` enforces them."""
    layers = (ROOT / ".importlinter").read_text("utf-8").split("layers =\n")[1]
    return len(re.match(r"(?:    .+\n)+", layers)[0].splitlines())  # type: ignore[index]


def names_twice(tree: Tree) -> list[str]:
    """Return the file names that occur in more than one folder."""
    names = Counter(Path(name).name for name in tree)
    return sorted(name for name, times in names.items() if times > 1 and name != "__init__.py")


def parameters(tree: Tree) -> tuple[int, int]:
    """Count the annotated parameters, and those annotated `Any`."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for _, module in tree.values() for node in ast.walk(module) if isinstance(node, kinds)]
    given = [
        each.annotation
        for function in functions
        for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if each.annotation is not None
    ]
    return len(given), sum(isinstance(each, ast.Name) and each.id == "Any" for each in given)


def options_below_the_commands(tree: Tree) -> list[str]:
    """Return the places outside commands where a string that is no docstring names an option such as ``--na``."""
    found = []
    for name, (_, module) in tree.items():
        if name.startswith("cli/"):
            continue
        prose = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
        calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
        declared = [each for each in calls if getattr(each.func, "attr", "") == "add_argument"]  # of check.py
        prose |= {id(each.args[0]) for each in declared}
        for node in ast.walk(module):
            text = node.value if isinstance(node, ast.Constant) and id(node) not in prose else None
            if isinstance(text, str) and re.search(r"(?<![\w-])--(?:[a-z]|\Z)", text) and text != "--":
                found.append(f"{name}:{node.lineno}")  # type: ignore[attr-defined]
    return found


N_ROWS = 40
"""The rows of the table that the walk of `rosenblatt train` reads."""
NO_KIND = {"ByteStream"}  # the file itself


@cache
def kinds_of_rows() -> list[str]:
    """Return the classes whose objects hold rows in `rosenblatt train`, from the file to the visitor.

    An object holds rows if one of its attributes, or one of an attribute of these, is an array with a value for
    each row, or the text of the rows.
    """
    seen: dict[str, None] = {}
    visits = False

    def note(frame: FrameType, _: str, value: Any) -> None:
        nonlocal visits
        file = frame.f_code.co_filename
        visits = visits or file.endswith("visitor.py")
        if not visits and file.startswith(str(PACKAGE)):
            for each in (value, *frame.f_locals.values()):
                kind = type(each)
                if _of_the_package(each) and kind.__name__ not in seen and _holds_rows(each):
                    seen[kind.__name__] = None

    for _, call in walks():
        sys.setprofile(note)
        try:
            with redirect_stdout(io.StringIO()):
                call()
        finally:
            sys.setprofile(None)
        break  # the others read no file
    return list(seen)


def _holds_rows(value: Any, depth: int = 1) -> bool:
    names = [*getattr(value, "__dict__", ()), *(name for kind in type(value).__mro__ for name in _slots(kind))]
    parts = [getattr(value, name, None) for name in names] + list(value if isinstance(value, tuple) else ())
    inner = [part for part in parts if depth and _of_the_package(part)]
    return any(map(_is_rows, parts)) or any(_holds_rows(part, depth - 1) for part in inner)


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _of_the_package(value: Any) -> bool:
    return type(value).__module__.startswith("rosenblatt") and type(value).__name__ not in NO_KIND


def _is_rows(part: Any) -> bool:
    """Return whether this is the text of the rows, an array with a value for each, or a list of such arrays."""
    if isinstance(part, bytes):
        return part.count(b"\n") >= N_ROWS
    if isinstance(part, list):
        return any(map(_is_rows, part[:1]))
    is_array = type(part).__module__.partition(".")[0] in ("numpy", "pyarrow") and hasattr(part, "__len__")
    return is_array and getattr(part, "shape", None) != () and len(part) == N_ROWS


def files_of_a_rule() -> list[str]:
    """Return the files that know the rule which tests add from outside: its module, its test and its page."""
    told = re.compile(r"outside_rule|\bCooling")
    referring = {"ARCHITECTURE.md", "scripts/house.py", "tests/test_new_rule.py", "tests/theory/test_bounds.py"}
    files = [
        *ROOT.glob("src/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("scripts/*.py"),
        *ROOT.glob("*.md"),
    ]
    files += ROOT.glob("docs/**/*.md")
    knowing = {path.relative_to(ROOT).as_posix() for path in files if told.search(path.read_text("utf-8"))}
    return sorted(knowing - referring)


def figures() -> dict[str, str]:
    """Return the sizes of the sources, in words."""
    tree = sources()
    code = sum(code_lines(*each) for each in tree.values())
    packages = sum(Path(name).name == "__init__.py" for name in tree)
    given, free = parameters(tree)
    return {
        "lines in `src` / of code": f"{sum(len(text.splitlines()) for text, _ in tree.values()):,} / {code:,}",
        "modules / packages / levels of imports": f"{len(tree)} / {packages} / {levels()}",
        "file names that occur twice": str(len(names_twice(tree))),
        "kinds of objects that a row is in before the visitor": str(len(kinds_of_rows())),
        "files for a new rule with its estimator": str(len(files_of_a_rule())),
        "parameters annotated `Any`": f"{100 * free / given:.0f} %",
        "strings below `cli` that name an `--option`": str(len(options_below_the_commands(tree))),
    }


def walk(call: Callable[[], Any]) -> tuple[list[str], int]:
    """Return the modules whose functions run in `call`, in this order, and the greatest depth of their frames."""
    ran: dict[str, None] = {}
    depth = deepest = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if not code.co_filename.startswith(str(PACKAGE)) or code.co_name.startswith("<"):
            return  # comprehensions have a frame in some versions of Python only; imports are not part of a call
        depth += {"call": 1, "return": -1}.get(event, 0)
        deepest = max(deepest, depth)
        if event == "call":
            ran[Path(code.co_filename).relative_to(PACKAGE).as_posix()] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(ran), deepest


def walks() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the calls of ARCHITECTURE.md, each run once before so that nothing is imported or compiled."""
    import rosenblatt as rb
    from rosenblatt.cli.main import main

    X, y = rb.datasets.load_six_points()
    stream = rb.Perceptron().partial_fit(X, y, classes=[-1, 1])
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder, "t.csv"), Path(folder, "m")
        table.write_text(
            "a,b,label\n" + "".join(f"{k % 7},{k % 5},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(N_ROWS))
        )
        calls: dict[str, Callable[[], Any]] = {
            "`rosenblatt train t.csv -o m`": lambda: main(["train", str(table), "-o", str(model), "--quiet"]),
            "`Perceptron().fit(X, y)`": lambda: rb.Perceptron().fit(X, y),
            "`certify(X, y)`": lambda: rb.certify(X, y),
            "`learn_one(x, y)`": lambda: stream.learn_one(X[0], y[0]),
        }
        for name, call in calls.items():
            with redirect_stdout(io.StringIO()):
                call()
                yield name, call


def rooms_of(modules: list[str]) -> str:
    """Return the rooms that modules belong to, each once."""
    return ", ".join(dict.fromkeys(f"`{Path(name).parent}`" for name in modules if "/" in name))


def page() -> str:
    """Return the figures and the walks as two tables."""
    sizes = [f"| {name} | {value} |" for name, value in figures().items()]
    counted = [(name, *walk(call)) for name, call in walks()]
    trips = [f"| {name} | {len(ran)} | {depth} | {rooms_of(ran)} |" for name, ran, depth in counted]
    return "\n".join(
        [
            "| the sources | |",
            "|---|---|",
            *sizes,
            "",
            "| call | modules that run | depth | rooms, in the order they are entered |",
            "|---|---|---|---|",
            *trips,
        ]
    )


if __name__ == "__main__":
    made = page()
    if "--write" in sys.argv:
        text = PAGE.read_text("utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}", "utf-8")
    print(made)
