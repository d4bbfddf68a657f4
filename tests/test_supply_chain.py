"""What is imported is declared, what builds and runs is pinned, and its licences are listed."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.shared.pages import BLOCK

licences = pytest.importorskip("scripts.licences", reason="the sdist does not hold scripts/")
ROOT = Path(__file__).parents[1]
NAMED_OTHERWISE = {
    "PIL": "pillow",
    "flint": "python-flint",
    "pycrfsuite": "python-crfsuite",
    "sklearn": "scikit-learn",
}
"""Packages that are imported by another name than the one that pip installs."""
WHERE_INSTALLED = {"anywidget", "atheris", "cupy", "fastapi", "river", "torch", "traitlets"}
"""Packages that no command installs for the tests: what needs them says so and leaves them out."""
GROUPS = {
    "src": "extras",
    "tests": "test",
    "scripts": "test",
    "examples": "test",
    "docs": "docs",
    "benchmarks": "bench",
    "noxfile.py": "check",
}
"""For each folder the group of packages that the command installs which runs it."""


def read(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is in the repository only, not in the source distribution")
    return path.read_text(encoding="utf-8")


def pins():
    return {
        each.name.lower().replace("_", "-"): each for each in map(Requirement, read("constraints.txt").split())
    }


def packages(*requirements):
    return {Requirement(each).name.lower().replace("_", "-") for each in requirements}


def declared(name):
    """Return the requirements of a group, with those of the groups that it includes."""
    group = tomllib.loads(read("pyproject.toml"))["dependency-groups"][name]
    inner = (declared(each["include-group"]) if isinstance(each, dict) else {each} for each in group)
    return set().union(*inner)


def imported(name):
    """Return the packages that the Python files of a folder import, by the names that pip installs."""
    files = [ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py")
    trees = [ast.parse(path.read_text("utf-8")) for path in files if "_build" not in path.parts]
    modules = set().union(*map(modules_of, trees))
    if name == "docs":
        settings = {"extensions", "html_theme"}
        for line in ast.parse(read("docs/conf.py")).body:
            if isinstance(line, ast.Assign) and line.targets[0].id in settings:
                modules |= {each.value for each in ast.walk(line.value) if isinstance(each, ast.Constant)}
        modules |= imported("examples")  # the gallery runs them
    ours = {path.stem for path in (ROOT / name).glob("*.py")} | {path.stem for path in ROOT.iterdir()}
    others = {each.split(".")[0] for each in modules} - sys.stdlib_module_names - ours - {"rosenblatt"}
    return {NAMED_OTHERWISE.get(each, each.lower().replace("_", "-")) for each in others} - WHERE_INSTALLED


def modules_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func).split(".")[-1]
            if called in ("importorskip", "import_module", "installed", "find_spec"):
                yield node.args[0].value


@pytest.mark.parametrize("folder", GROUPS)
def test_each_group_brings_what_its_folder_imports(folder):
    """What comes along with another package is not enough: the next release may no longer need it."""
    always = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    found = imported(folder)
    assert found, "nothing was found: the folder is elsewhere"
    assert found - packages(*always, *declared(GROUPS[folder])) == set()


def test_pages_run_with_the_tests():
    """The tests run every page, so the group `test` brings what the pages import."""
    pages = "".join(
        lines
        for path in (ROOT / "docs").rglob("*.md")
        for language, lines in BLOCK.findall(path.read_text("utf-8"))
        if language == "python"
    )
    lines = re.findall(r"^(?:>>>|\.\.\.) +(?:import|from) (\w+)", pages, re.MULTILINE)
    others = {NAMED_OTHERWISE.get(each, each) for each in lines} - sys.stdlib_module_names - {"rosenblatt"}
    assert {"numpy", "scikit-learn"} <= others
    always = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    assert others - packages(*always, *declared("test")) == set()


def test_the_groups_bring_all_extras():
    """Pages, tests and benchmarks use every part of the package; no group may lag behind an extra."""
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    everywhere = [name for name in extras if name not in ("all", "cuda12", "cuda13")]  # those need a GPU
    assert {each for name in everywhere for each in extras[name]} == declared("extras")
    assert extras["all"] == [f"rosenblatt[{','.join(everywhere)}]"]
    for name in ("test", "docs", "bench"):
        assert declared("extras") <= declared(name)


def test_what_builds_is_pinned():
    (builder,) = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    assert builder == str(pins()["hatchling"])
    for name in ("pip", "build", "packaging", "pathspec", "pluggy", "trove-classifiers", "pyproject-hooks"):
        assert str(pins()[name].specifier).startswith("==")
    for name in ("Makefile", "noxfile.py", ".github/workflows/tests.yml"):
        assert not re.search(r"pip[>~]=", read(name)), name
    assert f'"{pins()["pip"]}"' in read("noxfile.py")


def test_what_runs_is_pinned():
    for name in licences.needed():
        assert str(pins()[name].specifier).startswith("=="), name


def test_every_licence_is_listed():
    page = read("docs/look_up/licences.md")
    listed = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \|", page, re.MULTILINE))
    listed.pop("package", None)
    found = licences.needed()
    assert set(listed) >= set(found)
    assert all(licences.licence_of(each) for each in found.values())
    assert set(licences.CARRIES) <= set(listed)
    assert "LGPL" in listed["python-flint"] + page


def test_the_image_is_pinned_and_not_root():
    lines = re.sub(r"\\\n\s*", " ", read("Dockerfile")).splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    for word, rest in steps:
        if word == "FROM":
            assert re.match(r"python:\d+\.\d+\.\d+-slim-\w+", rest)
        assert word != "ADD"
    users = [rest for word, rest in steps if word == "USER"]
    assert users[-1].split(":")[0].isdigit()
    assert int(users[-1].split(":")[0]) > 0
    (started,) = (json.loads(rest) for word, rest in steps if word == "ENTRYPOINT")
    assert started[:2] == ["rosenblatt", "serve"]
    install = next(rest for word, rest in steps if word == "RUN" and "pip install" in rest)
    assert "--constraint constraints.txt" in install
    assert "--no-cache-dir" in install
    # Loops are compiled by the user that runs the server, into the folder where it looks for them.
    last, user = (len(steps) - 1 - [word for word, _ in reversed(steps)].index(each) for each in ("RUN", "USER"))
    assert steps[last] == ["RUN", "rosenblatt compile --all --quiet"]
    assert user < last
    assert any(word == "ENV" and "NUMBA_CACHE_DIR=" in rest for word, rest in steps)


def test_the_image_gets_what_it_copies():
    kept = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", read("Dockerfile"), re.MULTILINE)
    assert {each for line in copied for each in line.split()} == kept
    for each in kept:
        assert (ROOT / each).exists()


def test_the_image_is_linted():
    read("Dockerfile")
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if linter is None:
        pytest.skip("hadolint is not installed here; `make check` installs it and lints the Dockerfile")
    subprocess.run([linter, ROOT / "Dockerfile"], check=True)
