"""Messy files and situations as people have them, each with everything that a person then sees."""

import pytest

from rosenblatt import registry
from tests.people.story import CASES, tell

STORIES = {path.stem: path.read_text("utf-8") for path in sorted(CASES.glob("*.txt"))}


@pytest.mark.parametrize("name", STORIES)
def test_a_person_sees(name, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})  # other tests add learners
    assert tell(STORIES[name], tmp_path) == STORIES[name]


def test_there_are_sixty():
    assert len(STORIES) >= 60


def test_nobody_is_shown_a_defect():
    assert [
        name for name, text in STORIES.items() if "a defect in rosenblatt" in text or "Traceback" in text
    ] == []
