"""What builds and what runs is pinned, and its licences are listed."""

import re
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
    page = read("docs/licences.md")
    listed = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \|", page, re.MULTILINE))
    listed.pop("package", None)
    found = licences.needed()
    assert set(listed) >= set(found)
    assert all(licences.licence_of(each) for each in found.values())
    assert set(licences.CARRIES) <= set(listed)
    assert "LGPL" in listed["python-flint"] + page
