"""Pages of small models, read back."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from matplotlib import pyplot as plt

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A page taken apart: its text by section, its tags and attributes; tags must be closed in order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.html, self.open, self.tags, self.attributes, self.ids = html, [], [], [], []
        self.sections, self._section = {}, "head"
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"
        self.sections = {name: " ".join(text.split()) for name, text in self.sections.items()}

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.note(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def note(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        known = dict(attrs)
        if "id" in known:
            self.ids.append(known["id"])
        if tag == "section":
            self._section = known["id"]
        if tag in ("td", "th", "tr", "p", "h2", "h3", "span", "summary", "pre", "br", "b"):
            self.handle_data(" ")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.open):
            self.sections[self._section] = self.sections.get(self._section, "") + data

    def pictures(self):
        return re.findall(r'<svg[^>]* aria-label="([^"]*)"', self.html)


@pytest.fixture
def read():
    return Page


@pytest.fixture(autouse=True)
def _close():
    plt.close("all")  # a doctest of a picture may have run before
    yield
    assert not plt.get_fignums(), "a report leaves no figures open"
