"""Every work that pages and docstrings cite is in the bibliography, and every entry is cited somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = ROOT / "docs" / "look_up" / "bibliography.md"
FILES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page != BIBLIOGRAPHY),
    *sorted((ROOT / "src").rglob("*.py")),
]
NAME = r"[A-ZÀ-Ž][\w’-]+(?: [A-ZÀ-Ž][\w’-]+)?"
CITATION = re.compile(
    rf"\b({NAME})(?:(?:, {NAME})*(?:,? (?:and|&) {NAME})?| et al\.),? (\(?)((?:18|19|20)\d\d)\b(?=([);])?)"
)
NOT_AUTHORS = {"WNUT", "CoNLL", "July", "July 8"}
"""Words before a year that are not authors."""


def entries():
    """Return the last names of the first authors, with the years; None without a year."""
    found = []
    for line in re.findall(r"^- (.+(?:\n  .+)*)", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE):
        authors, _, rest = line.partition(" (")
        dated = re.match(r"(\d{4})\)\.", rest)
        first = re.split(r", | and |\. ", re.sub(r"^(?:[A-Z]\.[- ]?)+", "", authors))[0]
        found.append((first, dated[1] if dated else None))
    return found


def citations():
    """Return each name and year that a file cites, the file, and whether brackets make it a citation for sure."""
    found = []
    for path in FILES:
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        found += [(m[1], m[3], path, bool(m[2] or m[4])) for m in CITATION.finditer(text)]
    return found


CITED = citations()


def is_by(name, author):
    return author == name or author.endswith(f" {name}") or name.endswith(f" {author}")


def test_the_entries_are_read():
    assert ("Novikoff", "1962") in entries()
    assert ("Tjong Kim Sang", "2000") in entries()
    assert ("Harchaoui", None) in entries()
    assert len(entries()) > 60


@pytest.mark.parametrize("author, year", [each for each in entries() if each[1]], ids=lambda each: each)
def test_every_entry_is_cited(author, year):
    assert any(is_by(name, author) and year == other for name, other, *_ in CITED)


def test_every_citation_has_an_entry():
    known = entries()
    missing = {
        f"{name} {year} in {path.relative_to(ROOT)}"
        for name, year, path, sure in CITED
        if sure
        and name not in NOT_AUTHORS
        and not any(is_by(name, author) and other in (year, None) for author, other in known)
    }
    assert not missing
