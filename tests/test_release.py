"""A release is checked before it is published: versions agree, the tag is theirs, the changelog is dated."""

import tomllib
from pathlib import Path

import pytest

import rosenblatt

release = pytest.importorskip("scripts.release", reason="the sdist does not hold scripts/")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src/rosenblatt").mkdir(parents=True)

    def write(
        version="1.2.0",
        cited="1.2.0",
        changelog="# Changelog\n\n## 1.2.0 (2026-11-16)\n\n- It is new.\n\n## 1.1.0 (2026-01-01)\n",
    ):
        (tmp_path / "src/rosenblatt/_version.py").write_text(f'"""The version."""\n\n__version__ = "{version}"\n')
        (tmp_path / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {cited}\n")
        (tmp_path / "CHANGELOG.md").write_text(changelog)
        return tmp_path

    return write


def test_this_tree_passes_the_dry_run():
    assert release.notes_of(ROOT).startswith(f"{rosenblatt.__version__} (")


def test_the_version_is_written_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/rosenblatt/_version.py"


def test_a_tagged_release_prints_its_own_notes(tree):
    assert release.notes_of(tree(), "v1.2.0") == "1.2.0 (2026-11-16)\n\n- It is new.\n"


@pytest.mark.parametrize(
    "tag, texts, problem",
    [
        (None, {"cited": "1.1.0"}, "CITATION.cff has version 1.1.0"),
        (None, {"version": "1.3.0", "cited": "1.3.0"}, "begin it with '## 1.3.0 \\('"),
        (
            None,
            {"changelog": "# Changelog\n\n## 1.2.0 (unreleased)\n\n## 1.1.0 (2026-01-01)\n- Old.\n"},
            "says nothing",
        ),
        (None, {"changelog": "# Changelog\n"}, "first section of CHANGELOG.md is ''"),
        ("v1.2.1", {}, "tag v1.2.0"),
        (
            "v1.2.0",
            {"changelog": "# Changelog\n\n## 1.2.0 (unreleased)\n\n- It is new.\n"},
            "the day of the release",
        ),
    ],
)
def test_what_disagrees_stops_a_release(tree, tag, texts, problem):
    with pytest.raises(SystemExit, match=problem):
        release.notes_of(tree(**texts), tag)


def test_an_undated_section_passes_the_dry_run(tree):
    folder = tree(changelog="# Changelog\n\n## 1.2.0 (unreleased)\n\n- It is new.\n")
    assert release.notes_of(folder) == "1.2.0 (unreleased)\n\n- It is new.\n"


def test_only_a_tag_uploads():
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    publish = workflow[workflow.index("\n  publish:") :]
    assert "if: github.event_name == 'push'" in publish
    assert "needs: [version, tests, package]" in publish
    assert 'tags: ["v*"]' in workflow
    assert "branches" not in workflow
    assert workflow.count("id-token: write") == 1 == publish.count("id-token: write")
