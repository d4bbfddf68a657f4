"""What builds and what runs is pinned, and its licences are listed."""

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

licences = pytest.importorskip("scripts.licences")
ROOT = Path(__file__).parents[1]


def read(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip("there is only the package here")
    return path.read_text(encoding="utf-8")


def pins():
    return {
        each.name.lower().replace("_", "-"): each for each in map(Requirement, read("constraints.txt").split())
    }


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
        pytest.skip("there is no hadolint here; `make check` has one")
    subprocess.run([linter, ROOT / "Dockerfile"], check=True)
