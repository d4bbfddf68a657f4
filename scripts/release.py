"""Check that this tree can be released, and print the release notes: ``python scripts/release.py [v0.2.0]``.

Without a tag it is a dry run: versions must agree, but the changelog may still say "unreleased".
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes_of(root: Path, tag: str | None = None) -> str:
    """Return the section of CHANGELOG.md for the version of this tree, or exit with what disagrees."""
    version = _find(root / "src/rosenblatt/_version.py", r'^__version__ = "(.+)"$')
    cited = _find(root / "CITATION.cff", r"^version: (.+)$")
    if cited != version:
        raise SystemExit(f"CITATION.cff has version {cited}, the package has {version}: change CITATION.cff")
    sections = re.split(r"^## ", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    first = sections[1] if len(sections) > 1 else ""
    heading, _, notes = first.partition("\n")
    if not heading.startswith(f"{version} ("):
        raise SystemExit(f"the first section of CHANGELOG.md is {heading!r}: begin it with '## {version} ('")
    if tag is not None:
        if tag != f"v{version}":
            raise SystemExit(f"the tag is {tag}, the package has version {version}: tag v{version}")
        if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
            raise SystemExit(
                f"CHANGELOG.md says {heading!r}: write the day of the release, '## {version} (2026-01-31)'"
            )
    if not notes.strip():
        raise SystemExit(f"CHANGELOG.md says nothing about {version}: write what changed")
    return f"{heading}\n{notes.rstrip()}\n"


def _find(path: Path, pattern: str) -> str:
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise SystemExit(f"{path.name} has no line like {pattern}")
    return found[1]


if __name__ == "__main__":
    print(notes_of(ROOT, *sys.argv[1:2]), end="")
